//! `urlspool load` from a pipe whose writer is slow.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::{MAIL, check_database, records};
use crate::scene::{Folder, urlspool};

#[test]
fn lines_of_a_slow_pipe_are_committed_while_it_is_open() {
    let folder = Folder::new();
    let lines = records(&folder, "a.mbox", MAIL);
    let mut loading = urlspool(["load", "--into"])
        .arg(folder.path("urls.db"))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = loading.stdin.take().unwrap();
    pipe.write_all(&lines).unwrap();
    let begun = Instant::now();
    loop {
        let db = Connection::open(folder.path("urls.db")).unwrap();
        let count = db.query_row("SELECT count(*) FROM urls", [], |row| row.get::<_, i64>(0));
        if count == Ok(4) {
            // The lock for writing is free.
            db.busy_timeout(Duration::ZERO).unwrap();
            db.execute_batch("BEGIN IMMEDIATE; ROLLBACK").unwrap();
            break;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{count:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(pipe);
    assert!(loading.wait().unwrap().success());
    check_database(&folder.path("urls.db"));
}
