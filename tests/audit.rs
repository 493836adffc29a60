//! `urlspool audit`: links that are planned, checked and asked for, and links that never are.

mod archive;
mod archives;
mod check;
mod http_server;
mod import;
mod inspect;
mod page;
mod plan;
mod protocols;
mod report;
mod save;

use std::path::Path;

use rusqlite::Connection;

use crate::scene::{Ended, Folder, done, ended, urlspool};

/// Loads the records of an mbox into the database `urls.db` in `folder`.
#[track_caller]
pub(crate) fn loaded(folder: &Folder, mail: &str) {
    let path = folder.file("a.mbox", mail);
    let records = done(&["scan", "-q", &path]).stdout;
    let database = folder.path("urls.db");
    let load = ended(urlspool(["load", "-q", "--into"]).arg(database), &records);
    assert_eq!(load.status, Some(0), "{}", load.stderr);
}

/// Runs a step of an audit on `urls.db` in `folder`.
#[track_caller]
pub(crate) fn audit(folder: &Folder, step: &str, args: &[&str]) -> Ended {
    let database = folder.path("urls.db");
    ended(urlspool(["audit", step]).arg(database).args(args), b"")
}

/// Runs a step, which must end with status 0.
#[track_caller]
pub(crate) fn audited(folder: &Folder, step: &str, args: &[&str]) -> Ended {
    let ended = audit(folder, step, args);
    assert_eq!(ended.status, Some(0), "{step} {args:?}: {}", ended.stderr);
    ended
}

pub(crate) fn run(folder: &Folder, sql: &str) {
    let db = Connection::open(folder.path("urls.db")).unwrap();
    db.execute_batch(sql).unwrap();
}

/// Returns the rows of a query, with columns joined by `|`.
#[track_caller]
pub(crate) fn rows(database: &Path, sql: &str) -> Vec<String> {
    let db = Connection::open(database).unwrap();
    let mut statement = db.prepare(sql).unwrap();
    let columns = statement.column_count();
    let shown = statement
        .query_map([], |row| {
            let values = (0..columns).map(|column| match row.get_ref(column)? {
                rusqlite::types::ValueRef::Null => Ok("-".to_owned()),
                rusqlite::types::ValueRef::Integer(number) => Ok(number.to_string()),
                value => Ok(value.as_str()?.to_owned()),
            });
            Ok(values.collect::<rusqlite::Result<Vec<_>>>()?.join("|"))
        })
        .unwrap();
    shown.collect::<rusqlite::Result<_>>().unwrap()
}

/// Formats a message of the mbox, with header fields (such as its date) and a body.
pub(crate) fn message(number: usize, header: &str, body: &str) -> String {
    format!(
        "From a Mon Jan  1 00:00:00 1996\nFrom: a@m.test\nMessage-ID: <{number}@m.test>\n{header}\n\
         {body}\n\n"
    )
}
