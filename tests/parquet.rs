//! Parquet files and folders, compared with the lines of the same scan.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Output;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use urlspool_record::record::arrow_schema;

use crate::scene::{Folder, lines, urlspool};

fn scan(arguments: &[&str]) -> Output {
    urlspool(["scan"].iter().chain(arguments)).output().unwrap()
}

#[track_caller]
fn scanned(arguments: &[&str]) -> Vec<u8> {
    let output = scan(arguments);
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

/// Returns the `id` of each record in a file.
fn ids(path: &Path) -> Vec<String> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let batches = reader.build().unwrap().map(Result::unwrap);
    let texts = batches.flat_map(|batch| {
        let ids = batch
            .column_by_name("id")
            .unwrap()
            .as_string::<i32>()
            .clone();
        (0..ids.len())
            .map(move |row| ids.value(row).to_owned())
            .collect::<Vec<_>>()
    });
    texts.collect()
}

/// Columns without a range, which would let no reader skip a row group of unordered texts.
const UNORDERED_COLUMNS: &str = "id url fragment path query key href parts.list.item.name \
    parts.list.item.value raw anchor message.id message.digest message.subject \
    message.references.list.item";

fn columns_without_statistics(path: &Path) -> Vec<String> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let group = reader.metadata().row_group(0);
    let columns = group.columns().iter();
    let without = columns.filter(|column| column.statistics().is_none());
    without
        .map(|column| column.column_path().string())
        .collect()
}

fn id(record: &Value) -> String {
    record["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_file_holds_the_records_of_the_lines() {
    let folder = Folder::new();
    let path = folder.path("a.parquet");
    let name = path.to_str().unwrap();
    let records = lines(&scanned(&["mail", "text"]));
    scanned(&["mail", "text", "--format", "parquet", "-o", name]);
    assert_eq!(ids(&path), records.iter().map(id).collect::<Vec<_>>());
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
    assert_eq!(reader.schema().fields(), arrow_schema(None).fields());
    assert_eq!(
        columns_without_statistics(&path).join(" "),
        UNORDERED_COLUMNS
    );
    assert!(!PathBuf::from(format!("{name}.partial")).exists());
    // The file is replaced as a whole.
    scanned(&[
        "mail", "--format", "parquet", "--fields", "slim", "-o", name,
    ]);
    assert!(ids(&path).len() < records.len());
}

#[test]
fn a_folder_has_a_file_for_each_year() {
    let folder = Folder::new();
    let mut mail = String::new();
    for number in 0..600 {
        let year = 1950 + number % 60;
        mail += &format!(
            "From x Mon Jan  1 00:00:00 1996\nDate: 2 Jan {year} 00:00:00 GMT\n\n\
             http://a.example/{number}\n\n"
        );
    }
    mail += "From x Mon Jan  1 00:00:00 1996\nSubject: no date\n\nhttp://a.example/undated\n";
    let mbox = folder.write("mbox", &mail);
    let out = folder.path("out");
    let (mbox, name) = (mbox.to_str().unwrap(), out.to_str().unwrap());
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for record in lines(&scanned(&[mbox])) {
        let date = record["message"]["date"].as_str();
        let year = date.map_or("undated", |date| &date[..4]);
        expected
            .entry(format!("year={year}"))
            .or_default()
            .push(id(&record));
    }
    assert_eq!(expected.len(), 61);
    let partitioned = &[
        mbox,
        "--format",
        "parquet",
        "--partition",
        "year",
        "-o",
        name,
    ];
    scanned(partitioned);
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in fs::read_dir(&out).unwrap() {
        let entry = entry.unwrap();
        let mut parts: Vec<_> = fs::read_dir(entry.path())
            .unwrap()
            .map(|part| part.unwrap().path())
            .collect();
        parts.sort();
        let year = entry.file_name().into_string().unwrap();
        found.insert(year, parts.iter().flat_map(|part| ids(part)).collect());
    }
    assert_eq!(found, expected);
    // A folder that is not empty is left alone.
    let refused = scan(partitioned);
    assert_eq!(refused.status.code(), Some(74), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not empty"));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 61);
    assert!(!folder.path("out.partial").exists());
}

#[test]
fn unsupported_parquet_options_are_usage_errors() {
    for (arguments, words) in [
        (&["--format", "parquet"][..], "name it with -o"),
        (&["--format", "jsonl", "--partition", "year"], "--partition"),
        (
            &["--format", "parquet", "--partition", "year", "-o", "mail/x"],
            "is inside the input",
        ),
        (
            &[
                "--format",
                "parquet",
                "--partition",
                "year",
                "--fields",
                "url",
                "-o",
                "x",
            ],
            "message.date",
        ),
    ] {
        let output = scan(&[&["mail"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains(words), "{error}");
    }
}
