//! States that an earlier version of the program wrote.

use rusqlite::Connection;

use super::cli::{code, configure, once};
use super::{message, read_segments};
use crate::scene::Folder;

/// Turns the tables into those of version 3, which knew no holders of messages.
const WITHOUT_HOLDERS: &str = "
DROP TABLE path; DROP TABLE holder; DROP TABLE held; DROP TABLE given;
DROP TABLE fresh_given; DROP TABLE fresh_gone; DROP TABLE fresh_unread;
ALTER TABLE file DROP COLUMN pass; ALTER TABLE tail DROP COLUMN digests;
UPDATE meta SET value=3 WHERE name='schema';";

#[test]
fn a_state_without_holders_is_migrated_and_loses_no_message() {
    let folder = Folder::in_memory();
    configure(folder.root(), "");
    let write = |n: u64| folder.write(format!("spool/md/new/{n}.M1.host"), message(n, 1));
    folder.write("spool/md/cur/.keep", "");
    folder.write("spool/md/tmp/.keep", "");
    write(1);
    folder.write("spool/a.mbox", super::mbox_message(2, 1));
    assert_eq!(code(&once(folder.root(), &[])), 0);
    let state = folder.path("state/state.db");
    let version = |db: &Connection| -> i64 {
        let sql = "SELECT value FROM meta WHERE name='schema'";
        db.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let db = Connection::open(&state).unwrap();
    assert_eq!(version(&db), 4);
    db.execute_batch(WITHOUT_HOLDERS).unwrap();
    drop(db);
    // The hash of the file as it was.
    std::fs::remove_file(state.with_extension("sum")).unwrap();
    write(3);
    let mbox = super::mbox_message(2, 1) + &super::mbox_message(4, 1);
    folder.write("spool/a.mbox", mbox);
    let migrated = once(folder.root(), &[]);
    assert_eq!(
        code(&migrated),
        0,
        "{}",
        String::from_utf8_lossy(&migrated.stderr)
    );
    assert_eq!(version(&Connection::open(&state).unwrap()), 4);
    let urls = read_segments(&folder.path("out")).urls;
    assert_eq!(urls.len(), 8, "{urls:?}");
    assert!(urls.values().all(|count| *count == 1), "{urls:?}");
}
