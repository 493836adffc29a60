//! Databases that earlier versions of the program made.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rusqlite::Connection;

use super::search::folder_with_contexts;
use super::{MAIL, check_database, load, loaded, records, value};
use crate::scene::{Folder, done, ended, urlspool};

/// The tables of version 1, as the program made them at first.
const TABLES_1: &str = r#"CREATE TABLE sources(
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL UNIQUE,
  path TEXT NOT NULL,
  path_b64 TEXT,
  member TEXT,
  member_b64 TEXT,
  mailbox TEXT NOT NULL,
  kind TEXT NOT NULL
);
CREATE TABLE messages(
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL,
  mailbox TEXT NOT NULL,
  message_id TEXT,
  date TEXT,
  date_raw TEXT,
  sender TEXT,
  subject TEXT,
  newsgroups TEXT NOT NULL,
  list_id TEXT,
  reference_ids TEXT NOT NULL,
  UNIQUE(digest, mailbox)
);
CREATE TABLE links(
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  scheme TEXT NOT NULL,
  host TEXT,
  domain TEXT,
  citations INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  first TEXT,
  last TEXT
);
CREATE INDEX links_by_host ON links(host);
CREATE INDEX links_by_domain ON links(domain);
CREATE TABLE urls(
  id INTEGER PRIMARY KEY,
  record_key BLOB NOT NULL UNIQUE,
  record_id TEXT NOT NULL,
  link INTEGER REFERENCES links(id),
  message INTEGER NOT NULL REFERENCES messages(id),
  source INTEGER NOT NULL REFERENCES sources(id),
  url TEXT NOT NULL,
  fragment TEXT,
  scheme TEXT NOT NULL,
  host TEXT,
  domain TEXT,
  port INTEGER,
  href TEXT,
  cited TEXT,
  conforms TEXT NOT NULL,
  warnings TEXT NOT NULL,
  hazards TEXT NOT NULL,
  form TEXT,
  wrapper TEXT NOT NULL,
  repairs TEXT NOT NULL,
  confidence REAL NOT NULL,
  truncated INTEGER NOT NULL,
  region TEXT NOT NULL,
  quote_depth INTEGER NOT NULL,
  anchor TEXT,
  mismatch INTEGER,
  unwrapped_from TEXT,
  unwrapped_by TEXT,
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  line INTEGER NOT NULL,
  exact INTEGER NOT NULL,
  count INTEGER
);
CREATE INDEX urls_by_link ON urls(link, message, cited);
CREATE INDEX urls_by_message ON urls(message);
CREATE INDEX urls_by_source ON urls(source);
CREATE TABLE segments(
  instance TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY(instance, epoch, seq)
) WITHOUT ROWID;
CREATE VIEW texts AS
  SELECT urls.id, urls.url, urls.anchor, messages.subject, messages.sender
  FROM urls JOIN messages ON messages.id = urls.message;"#;

/// The view of version 1.
pub(crate) const VIEW_1: &str = "CREATE VIEW records AS
  SELECT urls.record_id AS id, urls.url, urls.fragment, urls.scheme, urls.host, urls.domain, urls.port,
    links.key, urls.href, urls.conforms, urls.warnings, urls.hazards, urls.form, urls.wrapper, urls.repairs,
    urls.confidence, urls.truncated, urls.region, urls.quote_depth, urls.anchor, urls.mismatch,
    urls.unwrapped_from, urls.unwrapped_by, urls.cited,
    sources.path AS source_path, sources.mailbox AS source_mailbox, sources.member AS source_member,
    sources.kind AS source_kind, urls.start AS source_start, urls.\"end\" AS source_end, urls.line AS source_line,
    messages.message_id, messages.digest AS message_digest, messages.date AS message_date,
    messages.sender AS message_from, messages.subject AS message_subject,
    messages.newsgroups AS message_newsgroups, messages.list_id AS message_list_id, urls.count
  FROM urls
    JOIN messages ON messages.id = urls.message
    JOIN sources ON sources.id = urls.source
    LEFT JOIN links ON links.id = urls.link;";

#[test]
fn roots_are_checked_before_the_tables_are_upgraded() {
    let folder = Folder::new();
    old_database(&folder);
    let missing = folder.path("missing").display().to_string();
    let ended = load(&folder, &["--prune", &missing], b"");
    assert_eq!(ended.status, Some(2), "{}", ended.stderr);
    assert!(!ended.stderr.contains("upgraded"), "{}", ended.stderr);
    assert_eq!(value::<i64>(&folder, "PRAGMA user_version"), 1);
}

/// Makes a database `urls.db` of version 1 in `folder`, with the rows of [`MAIL`], and with the
/// results of an audit.
fn old_database(folder: &Folder) {
    loaded(folder, &[], &records(folder, "a.mbox", MAIL));
    let database = folder.path("urls.db");
    let database = database.to_str().unwrap();
    done(&["audit", "plan", database]);
    let new = folder.path("new.db");
    fs::rename(database, &new).unwrap();
    let db = Connection::open(database).unwrap();
    db.execute("ATTACH ?1 AS new", [new.to_str().unwrap()])
        .unwrap();
    let texts = |sql: &str| -> Vec<String> {
        let mut statement = db.prepare(sql).unwrap();
        let texts = statement.query_map([], |row| row.get(0)).unwrap();
        texts.collect::<Result<_, _>>().unwrap()
    };
    let search = "SELECT sql FROM new.sqlite_master WHERE name = 'search'";
    let tokenizer = texts(search)[0]
        .split_once("tokenize=")
        .unwrap()
        .1
        .to_owned();
    db.execute_batch(&format!(
        "PRAGMA main.application_id = 0x75726C73; PRAGMA main.user_version = 1; {TABLES_1} {VIEW_1}
         CREATE VIRTUAL TABLE search USING fts5(url, anchor, subject, sender,
           content='texts', content_rowid='id', tokenize={tokenizer}"
    ))
    .unwrap();
    for sql in texts("SELECT sql FROM new.sqlite_master WHERE name LIKE 'audit%' AND sql NOT NULL")
    {
        db.execute_batch(&sql).unwrap();
    }
    let tables =
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'search%'";
    for table in texts(tables) {
        let columns = texts(&format!(
            "SELECT '\"' || name || '\"' FROM pragma_table_info('{table}', 'main')"
        ));
        let columns = columns.join(",");
        db.execute_batch(&format!(
            "INSERT INTO main.{table}({columns}) SELECT {columns} FROM new.{table}"
        ))
        .unwrap();
    }
    db.execute_batch(
        "INSERT INTO search(search) VALUES('rebuild');
         INSERT INTO audit_checks(key, checked_at, state, status, checker)
           SELECT key, '2026-01-01T00:00:00Z', 'alive', 200, 'x 1' FROM audit_links;
         DETACH new",
    )
    .unwrap();
    fs::remove_file(&new).unwrap();
}

/// The definitions of all columns, in their order.
fn columns(path: &Path) -> Vec<String> {
    let db = Connection::open(path).unwrap();
    let sql = "SELECT m.name || '.' || c.name || ' ' || c.type || ' ' || c.\"notnull\"
      FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.name NOT LIKE 'audit%'
        AND m.name NOT LIKE 'search_%' ORDER BY m.name, c.cid";
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn the_first_tables_are_upgraded_by_the_next_load() {
    let folder = Folder::new();
    old_database(&folder);
    let database = folder.path("urls.db");
    fs::set_permissions(&database, fs::Permissions::from_mode(0o600)).unwrap();
    let before = columns(&database);
    let message = loaded(&folder, &[], &records(&folder, "a.mbox", MAIL));
    let backup = folder.path("urls.db.v1.backup");
    assert!(
        message.contains("upgraded the tables of")
            && message.contains("urls.db.v1.backup has it as"),
        "{message}"
    );
    assert!(message.contains("4 records, 0 of them new"), "{message}");
    check_database(&database);
    assert_eq!(
        value::<i64>(&folder, "SELECT count(*) FROM links WHERE clean_key = key"),
        2
    );
    assert_eq!(
        value::<i64>(
            &folder,
            "SELECT count(*) FROM audit_checks WHERE status = 200"
        ),
        2
    );
    assert_eq!(columns(&backup), before);
    assert_eq!(
        fs::metadata(&backup).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let rows = "SELECT count(*) FROM urls, pragma_integrity_check WHERE integrity_check = 'ok'";
    let count = |path: &Path| -> i64 {
        Connection::open(path)
            .unwrap()
            .query_row(rows, [], |row| row.get(0))
            .unwrap()
    };
    assert_eq!((count(&backup), count(&database)), (4, 4));
    fs::create_dir(folder.path("new")).unwrap();
    let new = folder.path("new/urls.db");
    done(&["load", "--into", new.to_str().unwrap(), "/dev/null"]);
    assert_eq!(columns(&database), columns(&new));
    assert!(!loaded(&folder, &[], b"").contains("upgraded"));
}

/// Tables of version 2 are those of version 3 without the text around the URLs.
#[test]
fn the_second_tables_get_contexts() {
    let folder = folder_with_contexts();
    let database = folder.path("urls.db");
    let expected = columns(&database);
    let db = Connection::open(&database).unwrap();
    let view = "SELECT sql FROM sqlite_master WHERE name = 'records'";
    let view: String = db.query_row(view, [], |row| row.get(0)).unwrap();
    let added = ",\n    urls.context_before,\n    urls.context_after";
    assert!(view.contains(added), "{view}");
    db.execute_batch(&format!(
        "DROP VIEW records; DROP TABLE search; DROP VIEW texts;
         ALTER TABLE urls DROP COLUMN context_before; ALTER TABLE urls DROP COLUMN context_after;
         CREATE VIEW texts AS SELECT urls.id, urls.url, urls.anchor, messages.subject, messages.sender
           FROM urls JOIN messages ON messages.id = urls.message;
         CREATE VIRTUAL TABLE search USING fts5(url, anchor, subject, sender, content='texts', content_rowid='id');
         INSERT INTO search(search) VALUES('rebuild'); {}; PRAGMA user_version = 2",
        view.replace(added, "")
    ))
    .unwrap();
    drop(db);
    let search = |word| {
        let found = done(&["search", database.to_str().unwrap(), word]);
        found.text().lines().count()
    };
    // They are searched as they are.
    assert_eq!((search("other"), search("fox")), (1, 0));
    let message = loaded(&folder, &[], b"");
    assert!(message.contains("from version 2 to 3"), "{message}");
    assert!(folder.path("urls.db.v2.backup").exists());
    assert_eq!(columns(&database), expected);
    check_database(&database);
    assert_eq!((search("other"), search("fox")), (1, 0));
    let path = folder.path("a.mbox").display().to_string();
    let renamed = folder.file("b.mbox", fs::read_to_string(path).unwrap());
    let lines = done(&["scan", "--context", "24", &renamed]).stdout;
    assert!(loaded(&folder, &[], &lines).contains("4 of them new"));
    assert_eq!((search("other"), search("fox")), (2, 2));
    check_database(&database);
}

#[test]
fn a_backup_does_not_replace_another_file_and_can_be_left_out() {
    let folder = Folder::new();
    old_database(&folder);
    folder.file("urls.db.v1.backup", "mine");
    folder.file("urls.db.v1.backup.next", "of an upgrade that was killed");
    assert!(loaded(&folder, &[], b"").contains("urls.db.v1.backup2 has it as it was"));
    assert_eq!(fs::read(folder.path("urls.db.v1.backup")).unwrap(), b"mine");
    assert!(!folder.path("urls.db.v1.backup.next").exists());
    let folder = Folder::new();
    old_database(&folder);
    let message = loaded(&folder, &["--no-backup"], b"");
    assert!(message.contains("from version 1 to"), "{message}");
    assert!(!folder.path("urls.db.v1.backup").exists());
}

/// A folder stands where the backup would be written.
#[test]
fn without_its_backup_nothing_is_upgraded() {
    let folder = Folder::new();
    old_database(&folder);
    fs::create_dir(folder.path("urls.db.v1.backup.next")).unwrap();
    let ended = load(&folder, &[], b"");
    assert_eq!(ended.status, Some(74), "{}", ended.stderr);
    assert!(ended.stderr.contains("--no-backup"), "{}", ended.stderr);
    assert_eq!(value::<i64>(&folder, "PRAGMA user_version"), 1);
}

#[test]
fn old_tables_are_read_and_searched_as_they_are() {
    let folder = Folder::new();
    old_database(&folder);
    let database = folder.path("urls.db");
    let database = database.to_str().unwrap();
    assert_eq!(
        done(&["search", database, "lamp"]).text().lines().count(),
        4
    );
    done(&["stats", database]);
    let mail = folder.path("a.mbox");
    let dry = ended(
        urlspool(["scan", "--dry-run", "--into", database]).arg(&mail),
        b"",
    );
    assert_eq!(dry.status, Some(2), "{}", dry.stderr);
    assert!(
        dry.stderr.contains("a dry run does not upgrade"),
        "{}",
        dry.stderr
    );
    assert_eq!(value::<i64>(&folder, "PRAGMA user_version"), 1);
    let audit = ended(&mut urlspool(["audit", "plan", database]), b"");
    assert!(
        audit.stderr.contains("upgraded the tables"),
        "{}",
        audit.stderr
    );
    assert_eq!(
        value::<i64>(&folder, "SELECT count(*) FROM audit_checks"),
        2
    );
}

#[test]
fn tables_of_a_newer_version_are_refused() {
    let folder = Folder::new();
    loaded(&folder, &[], b"");
    let db = Connection::open(folder.path("urls.db")).unwrap();
    db.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(db);
    let ended = load(&folder, &[], b"");
    assert_eq!(ended.status, Some(2));
    assert!(
        ended.stderr.contains("a newer urlspool"),
        "{}",
        ended.stderr
    );
}
