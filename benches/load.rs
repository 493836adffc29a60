//! Compares `load` into `SQLite` with its ceiling: the same rows, inserted from memory by prepared
//! statements: `cargo bench -p benches --bench load [-- RECORDS.jsonl]`, by default with generated
//! mail.
//!
//! Both write the same tables and indexes in transactions of the same size, and are measured until
//! the database is closed. The ceiling parses no JSON, makes no lookups and counts no links: all
//! identifiers and numbers are known. The number of rows is asserted.
//!
//! Wall times say little on a shared machine. The second line (on Linux) compares the processor
//! time of the writing thread, which bounds the rate if the parsing thread has its own core.

#[expect(dead_code, reason = "other benchmarks use the other kinds")]
mod generate;
#[path = "../tests/scene/rng.rs"]
mod rng;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use generate::{Kind, mbox};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use urlspool::{Extractor, Options};
use urlspool_files::pipeline::{Job, Report, run};
use urlspool_store::load::{LoadJob, TargetName, load};
use urlspool_text::diagnostic::Event;

/// The allocator of the program: records are allocated on one thread and freed on another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Bytes of generated mail.
const INPUT_BYTES: usize = 32 << 20;

/// Rows per transaction, as in `load`.
const BATCH_ROWS: usize = 50_000;

/// Tables in the order of insertion.
const TABLES: [&str; 4] = ["sources", "messages", "links", "urls"];

const PRAGMAS: &str = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA \
    cache_size=-131072; PRAGMA wal_autocheckpoint=16384; PRAGMA foreign_keys=OFF";

#[expect(clippy::cast_precision_loss, reason = "rates for people, of few rows")]
fn main() {
    let is_test = std::env::args().any(|argument| argument == "--test");
    let folder = std::env::temp_dir().join(format!("urlspool-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder can be created");
    let named = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let records = named.map_or_else(|| generated(&folder, is_test), PathBuf::from);
    let loaded = folder.join("loaded.db");
    let begun = Stopwatch::start();
    let job = LoadJob::new(TargetName::Sqlite(loaded.clone()), vec![records]);
    let counts = load(&job, &mut |event| panic!("{event:?}"));
    let counts = counts.expect("the records can be loaded");
    let load_time = begun.stop();
    let ceiling_time = insert_from_memory(&loaded, &folder.join("ceiling.db"), counts.added);
    let rate = |seconds: f64| counts.added as f64 / seconds;
    println!(
        "{} rows: load {:.0} rows/s, ceiling {:.0} rows/s, {:.0} %",
        counts.added,
        rate(load_time.wall),
        rate(ceiling_time.wall),
        100.0 * ceiling_time.wall / load_time.wall
    );
    if let (Some(load), Some(ceiling)) = (load_time.processor, ceiling_time.processor) {
        println!(
            "of the writing thread: load {load:.2} s, ceiling {ceiling:.2} s, {:.0} %",
            100.0 * ceiling / load
        );
    }
    fs::remove_dir_all(&folder).expect("the folder can be removed");
}

/// Seconds of one part of the run.
struct Seconds {
    wall: f64,
    /// Processor time of this thread.
    processor: Option<f64>,
}

struct Stopwatch {
    begun: Instant,
    processor: Option<f64>,
}

impl Stopwatch {
    fn start() -> Stopwatch {
        Stopwatch {
            begun: Instant::now(),
            processor: processor_seconds(),
        }
    }

    fn stop(&self) -> Seconds {
        Seconds {
            wall: self.begun.elapsed().as_secs_f64(),
            processor: processor_seconds()
                .zip(self.processor)
                .map(|(end, start)| end - start),
        }
    }
}

/// Processor time of this thread in seconds: the first number of `schedstat`.
fn processor_seconds() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_ascii_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// A file of the records of a scan.
struct RecordFile(fs::File);

impl Report for RecordFile {
    fn lines(&mut self, lines: &[u8]) -> io::Result<bool> {
        self.0.write_all(lines)?;
        Ok(true)
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        panic!("generated mail has no events: {event:?}")
    }
}

/// A file of the records of generated mail.
fn generated(folder: &Path, is_test: bool) -> PathBuf {
    let bytes = if is_test { 1 << 20 } else { INPUT_BYTES };
    let (mail, records) = (folder.join("mail.mbox"), folder.join("records.jsonl"));
    fs::write(&mail, mbox(Kind::Dense, bytes).bytes).expect("mail can be written");
    let job = Job {
        roots: vec![mail],
        ..Job::default()
    };
    let mut file = RecordFile(fs::File::create(&records).expect("a file can be created"));
    run(&job, &Extractor::new(Options::default()), &mut file).expect("records can be written");
    records
}

/// Inserts the rows of a loaded database into a new one.
fn insert_from_memory(loaded: &Path, into: &Path, rows: u64) -> Seconds {
    let from = Connection::open(loaded).expect("it was loaded");
    let tables: Vec<_> = TABLES
        .map(|table| all_rows(&from, &format!("SELECT * FROM {table} ORDER BY id")))
        .into();
    let texts = all_rows(&from, "SELECT * FROM texts ORDER BY id");
    assert_eq!(texts.len() as u64, rows, "each record is a row");
    let db = Connection::open(into).expect("it can be created");
    db.execute_batch(PRAGMAS).expect("pragmas are known");
    for sql in all_rows(
        &from,
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'search_%' ORDER BY \
         rowid",
    ) {
        let [Value::Text(sql)] = &*sql else {
            panic!("no text")
        };
        db.execute_batch(sql)
            .expect("a table of the loaded database");
    }
    let begun = Stopwatch::start();
    for (table, rows) in TABLES.iter().zip(&tables) {
        insert(&db, table, rows);
    }
    insert(&db, "search(rowid, url, anchor, subject, sender)", &texts);
    db.close().expect("no statement is in use");
    let seconds = begun.stop();
    let db = Connection::open(into).expect("it was filled");
    let count = db.query_row("SELECT count(*) FROM urls", [], |row| row.get::<_, i64>(0));
    assert_eq!(count.map(i64::cast_unsigned), Ok(rows));
    seconds
}

fn all_rows(db: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = db.prepare(sql).expect("the statement is right");
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| (0..columns).map(|index| row.get(index)).collect());
    rows.and_then(Iterator::collect).expect("rows can be read")
}

fn insert(db: &Connection, table: &str, rows: &[Vec<Value>]) {
    let Some(first) = rows.first() else { return };
    let places = vec!["?"; first.len()].join(",");
    let sql = format!("INSERT INTO {table} VALUES({places})");
    for batch in rows.chunks(BATCH_ROWS) {
        db.execute_batch("BEGIN IMMEDIATE")
            .expect("nobody else writes");
        let mut statement = db.prepare_cached(&sql).expect("the statement is right");
        for row in batch {
            statement
                .execute(params_from_iter(row))
                .expect("the row is new");
        }
        db.execute_batch("COMMIT").expect("there is space");
    }
}
