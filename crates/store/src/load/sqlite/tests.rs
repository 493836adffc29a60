//! Tests of the SQLite target.

use std::fs;
use std::path::PathBuf;

use super::connection::tables;
use super::*;
use urlspool_record::record::{GoneLine, LoadedRecord, RecordLine, read_record_line};

/// Returns the record `id` of a message that cites `key`.
fn record(id: &str, digest: &str, key: &str) -> LoadedRecord {
    parsed(&line(id, digest, key))
}

/// Returns the record as a line.
fn line(id: &str, digest: &str, key: &str) -> String {
    format!(
        r#"{{"schema":1,"type":"url","id":"{id}","url":"{key}","fragment":null,"scheme":"http",
        "host":"a","domain":null,
        "port":80,"key":"{key}","href":null,"conforms":[],"warnings":[],"hazards":[],
        "form":null,"wrapper":"none","repairs":[],
        "confidence":1.0,"truncated":false,"region":"body","quote_depth":0,"anchor":null,
        "mismatch":null,"unwrapped_from":null,
        "unwrapped_by":null,"source":{{"path":"a","path_b64":null,"mailbox":"a",
        "mailbox_b64":null,"member":null,"member_b64":null,"kind":"mbox",
        "start":0,"end":9,"line":1,"exact":true}},"message":{{"start":0,"end":9,"id":null,
        "digest":"{digest}","date":null,
        "date_raw":null,"from":null,"subject":null,"newsgroups":[],"list_id":null,
        "references":[]}},"author":{{"by":"outer"}},"count":null}}"#
    )
}

fn parsed(line: &str) -> LoadedRecord {
    match read_record_line(line.as_bytes()).unwrap() {
        RecordLine::Url(record) => *record,
        other => panic!("{other:?}"),
    }
}

/// Adds the row of a record. Returns the number of rows added.
fn put(target: &mut SqliteTarget, record: &LoadedRecord) -> u64 {
    let row = LoadRow {
        record,
        input: "a",
        number: 1,
        json: b"",
    };
    let before = target.batch.changed.added;
    target.put(&[row]).unwrap();
    target.batch.changed.added - before
}

/// Returns a message that is gone.
fn gone(digest: &str) -> GoneMessages {
    let gone = GoneLine {
        mailbox: "a".to_owned(),
        mailbox_b64: None,
        digests: Vec::new(),
    };
    let mut messages = GoneMessages::default();
    messages.push(&gone, digest);
    messages
}

/// Returns each link with its counts and the number of its rows.
fn links(path: &Path) -> Vec<(String, i64, i64, i64)> {
    let db = Connection::open(path).unwrap();
    let sql = "SELECT key, citations, messages, (SELECT count(*) FROM urls WHERE link = links.id) \
               FROM links ORDER BY key";
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    });
    rows.and_then(Iterator::collect).unwrap()
}

fn database(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("urlspool-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder.join("urls.db")
}

fn open(path: &Path) -> SqliteTarget {
    SqliteTarget::open(path).unwrap()
}

const KEY: &str = "http://a/";

#[test]
fn a_link_that_another_program_removed_is_added_again() {
    let path = database("removed");
    let mut first = open(&path);
    first.begin().unwrap();
    assert_eq!(put(&mut first, &record("00", "00", KEY)), 1);
    first.commit().unwrap();
    let mut second = open(&path);
    second.begin().unwrap();
    second.remove(&gone("00")).unwrap();
    assert_eq!(second.changed().unwrap().removed, 1);
    second.commit().unwrap();
    assert_eq!(links(&path), []);
    first.begin().unwrap();
    assert_eq!(put(&mut first, &record("01", "01", KEY)), 1);
    first.commit().unwrap();
    assert_eq!(links(&path), [(KEY.to_owned(), 1, 1, 1)]);
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

#[test]
fn links_are_found_again_in_the_next_transaction_and_after_a_rollback() {
    let path = database("again");
    let mut target = open(&path);
    target.begin().unwrap();
    put(&mut target, &record("00", "00", KEY));
    target.roll_back();
    for (id, digest) in [("01", "01"), ("02", "02")] {
        target.begin().unwrap();
        put(&mut target, &record(id, digest, "http://b/"));
        put(&mut target, &record(&format!("{id}0"), digest, KEY));
        put(&mut target, &record(&format!("{id}1"), digest, KEY));
        target.commit().unwrap();
    }
    let expected = [(KEY.to_owned(), 4, 2, 4), ("http://b/".to_owned(), 2, 2, 2)];
    assert_eq!(links(&path), expected);
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

/// The full-text index must contain the words of the row in `messages`.
#[test]
fn a_message_has_the_texts_of_the_record_that_was_added_first() {
    let path = database("texts");
    let with_subject = |id: &str, subject: &str| {
        let subject = format!("\"subject\":\"{subject}\"");
        parsed(&line(id, "01", KEY).replace("\"subject\":null", &subject))
    };
    let mut target = open(&path);
    target.begin().unwrap();
    assert_eq!(put(&mut target, &record("00", "00", KEY)), 1);
    // An edited file: a known record, now in another message.
    assert_eq!(put(&mut target, &with_subject("00", "edited")), 0);
    assert_eq!(put(&mut target, &with_subject("02", "added")), 1);
    assert_eq!(put(&mut target, &with_subject("03", "later")), 1);
    target.commit().unwrap();
    let db = Connection::open(&path).unwrap();
    // The index is written to the file once per batch, not once per row.
    let written = "SELECT count(DISTINCT segid) FROM search_idx";
    assert_eq!(db.query_row(written, [], |row| row.get(0)), Ok(1));
    let check = "INSERT INTO search(search, rank) VALUES('integrity-check', 1)";
    assert_eq!(db.execute(check, []), Ok(1));
    let rows = |word: &str| {
        let sql = "SELECT count(*) FROM search WHERE search MATCH ?1";
        db.query_row(sql, [word], |row| row.get::<_, i64>(0))
    };
    assert_eq!(
        (rows("edited"), rows("added"), rows("later")),
        (Ok(0), Ok(2), Ok(0))
    );
    target.begin().unwrap();
    target.remove(&gone("01")).unwrap();
    assert_eq!(target.changed().unwrap().removed, 2);
    target.commit().unwrap();
    assert_eq!((rows("edited"), rows("added")), (Ok(0), Ok(0)));
    assert_eq!(db.execute(check, []), Ok(1));
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

#[test]
fn a_link_has_the_fields_of_the_record_that_was_added_first() {
    let path = database("fields");
    let with_host = |id: &str, key: &str, host: &str| {
        let host = format!("\"host\":\"{host}\"");
        parsed(&line(id, "00", key).replace("\"host\":\"a\"", &host))
    };
    let mut target = open(&path);
    target.begin().unwrap();
    assert_eq!(put(&mut target, &with_host("00", "http://a/", "a")), 1);
    assert_eq!(put(&mut target, &with_host("00", "http://b/", "edited")), 0);
    assert_eq!(put(&mut target, &with_host("01", "http://b/", "b")), 1);
    assert_eq!(put(&mut target, &with_host("02", "http://b/", "later")), 1);
    target.commit().unwrap();
    let db = Connection::open(&path).unwrap();
    let sql = "SELECT group_concat(host, ' ') FROM (SELECT host FROM links ORDER BY key)";
    let hosts = db.query_row(sql, [], |row| row.get::<_, String>(0));
    assert_eq!(hosts.as_deref(), Ok("a b"));
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

#[test]
fn a_known_record_adds_neither_a_link_nor_a_message() {
    let path = database("known");
    let mut target = open(&path);
    target.begin().unwrap();
    assert_eq!(put(&mut target, &record("00", "00", KEY)), 1);
    // A scan never produces two records with one identifier, but a file may have been edited.
    assert_eq!(put(&mut target, &record("00", "01", "http://b/")), 0);
    assert_eq!(put(&mut target, &record("00", "00", KEY)), 0);
    assert_eq!(put(&mut target, &record("02", "02", "http://c/")), 1);
    target.commit().unwrap();
    let expected = [(KEY.to_owned(), 1, 1, 1), ("http://c/".to_owned(), 1, 1, 1)];
    assert_eq!(links(&path), expected);
    target.begin().unwrap();
    assert_eq!(put(&mut target, &record("03", "03", "http://d/")), 1);
    target.commit().unwrap();
    assert_eq!(links(&path).len(), 3);
    let db = Connection::open(&path).unwrap();
    let messages = "SELECT count(*) FROM messages WHERE id IN (SELECT message FROM urls)";
    assert_eq!(db.query_row(messages, [], |row| row.get(0)), Ok(3));
    let all = "SELECT count(*) FROM messages";
    assert_eq!(db.query_row(all, [], |row| row.get(0)), Ok(3));
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

#[test]
fn the_size_of_pending_keys_is_limited() {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(&tables()).unwrap();
    let (record, mut updates) = (record("00", "00", "http://a/"), LinkUpdates::default());
    let message = MessageRow {
        id: 1,
        is_new: true,
    };
    let long = "a".repeat(4 << 20);
    updates.begin(&db).unwrap();
    let mut statements = RowStatements::prepare(&db).unwrap();
    for n in 0..20 {
        let key = format!("http://{n}.example/{long}");
        let cited = updates.cite(&mut statements, &key, &record, message);
        updates.count(&cited.unwrap(), &record, message, None);
        let waiting: usize = updates.places.keys().map(|key| key.len()).sum();
        assert!(waiting <= LOAD_PENDING_LINK_BYTES + key.len());
    }
    updates.write(&db).unwrap();
    let cited = "SELECT count(*) FROM links WHERE citations=1 AND messages=1";
    assert_eq!(db.query_row(cited, [], |row| row.get(0)), Ok(20));
}
