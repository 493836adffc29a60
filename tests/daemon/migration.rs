//! States that an earlier version of the program wrote.

use rusqlite::Connection;

use super::cli::{code, configure, once};
use super::tombstones::{Scene, mbox};
use super::{message, read_segments};
use crate::scene::Folder;

/// Turns the tables into those of version 4, which knew no spools and one position for each mbox.
const WITHOUT_SPOOLS: &str = "
DROP INDEX known_place; ALTER TABLE known DROP COLUMN place; ALTER TABLE known DROP COLUMN len;
DROP INDEX retired_mailbox; DROP INDEX orphan; ALTER TABLE mailbox DROP COLUMN retired;
ALTER TABLE file RENAME TO new_file; ALTER TABLE fresh_file RENAME TO new_fresh_file; ALTER TABLE given RENAME TO new_given;
CREATE TABLE file(dev INTEGER, ino INTEGER, btime INTEGER, first INTEGER NOT NULL, last INTEGER NOT NULL,
  guard INTEGER NOT NULL, head INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
  mailbox INTEGER NOT NULL, gone INTEGER, pass INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(dev, ino, btime)) WITHOUT ROWID;
CREATE TABLE fresh_file(dev INTEGER, ino INTEGER, btime INTEGER, PRIMARY KEY(dev, ino, btime)) WITHOUT ROWID;
CREATE TABLE given(mailbox INTEGER, digest BLOB, path INTEGER NOT NULL, keys BLOB NOT NULL, earlier BLOB NOT NULL,
  files INTEGER NOT NULL, PRIMARY KEY(mailbox, digest)) WITHOUT ROWID;
CREATE INDEX orphan ON given(mailbox) WHERE files=0;
INSERT INTO file SELECT * FROM new_file;
INSERT INTO fresh_file SELECT dev, ino, btime FROM new_fresh_file;
INSERT INTO given SELECT mailbox, digest, path, keys, earlier, files FROM new_given;
DROP TABLE new_file; DROP TABLE new_fresh_file; DROP TABLE new_given;
DROP TABLE spool; DROP TABLE inheritance; DROP TABLE other_path; DROP TABLE fresh_seen;
UPDATE meta SET value=4 WHERE name='schema';";

/// Turns the tables of version 4 into those of version 3, which knew no holders of messages.
const WITHOUT_HOLDERS: &str = "
DROP TABLE path; DROP TABLE holder; DROP TABLE held; DROP TABLE given;
DROP TABLE fresh_given; DROP TABLE fresh_gone; DROP TABLE fresh_unread;
ALTER TABLE file DROP COLUMN pass; ALTER TABLE tail DROP COLUMN digests;
UPDATE meta SET value=3 WHERE name='schema';";

/// The version of the tables.
const SCHEMA: i64 = 6;

fn version(db: &Connection) -> i64 {
    let sql = "SELECT value FROM meta WHERE name='schema'";
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

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
    let db = Connection::open(&state).unwrap();
    assert_eq!(version(&db), SCHEMA);
    db.execute_batch(WITHOUT_SPOOLS).unwrap();
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
    assert_eq!(version(&Connection::open(&state).unwrap()), SCHEMA);
    let urls = read_segments(&folder.path("out")).urls;
    assert_eq!(urls.len(), 8, "{urls:?}");
    assert!(urls.values().all(|count| *count == 1), "{urls:?}");
}

#[test]
fn a_state_without_spools_is_migrated_and_its_messages_can_be_gone() {
    let mut scene = Scene::new();
    // Spelled as only the earlier version keeps it.
    scene.config.spool[0].path = scene.folder.path("spool/../spool");
    scene.write("a", &mbox(&[1, 2]));
    scene.write("b", &mbox(&[3]));
    scene.write("md/new/4.M1.host", &message(4, 1));
    scene.check(&[1, 2, 3, 4], 0);
    let state = scene.config.state.dir.join("state.db");
    let db = Connection::open(&state).unwrap();
    db.execute_batch(WITHOUT_SPOOLS).unwrap();
    drop(db);
    std::fs::remove_file(state.with_extension("sum")).unwrap();
    scene.check(&[1, 2, 3, 4], 0);
    assert_eq!(version(&Connection::open(&state).unwrap()), SCHEMA);
    scene.write("a", &mbox(&[1, 5]));
    scene.remove("md/new/4.M1.host");
    let lives = scene.check(&[1, 3, 5], 2);
    assert_eq!(lives.times_written(1), 1);
    // From now on the spelling does not matter.
    scene.config.spool[0].path = scene.folder.path("spool");
    scene.write("a", &mbox(&[1, 6]));
    let lives = scene.check(&[1, 3, 6], 3);
    assert_eq!((lives.times_written(1), lives.times_written(3)), (1, 1));
}
