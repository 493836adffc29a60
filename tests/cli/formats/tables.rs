//! Tables: columns, formulas, and values read back.

use serde_json::Value;

use super::{all_fields, scan, text};
use crate::scene::{Folder, done, ended, urlspool};

/// Parses the rows of a CSV file (RFC 4180). An empty cell without quotation marks is `None`.
fn csv(text: &str) -> Vec<Vec<Option<String>>> {
    let (mut rows, mut row, mut rest) = (Vec::new(), Vec::new(), text);
    while !rest.is_empty() {
        let cell = if let Some(mut quoted) = rest.strip_prefix('"') {
            let mut cell = String::new();
            loop {
                let (before, after) = quoted.split_once('"').expect("a closing quotation mark");
                cell.push_str(before);
                match after.strip_prefix('"') {
                    None => break rest = after,
                    Some(after) => {
                        cell.push('"');
                        quoted = after;
                    }
                }
            }
            Some(cell)
        } else {
            let end = rest.find([',', '\n']).expect("a line end");
            let (cell, after) = rest.split_at(end);
            assert!(!cell.contains(['"', '\r']), "{cell}");
            rest = after;
            (!cell.is_empty()).then(|| cell.to_owned())
        };
        row.push(cell);
        let (end, after) = rest.split_at(1);
        rest = after;
        if end == "\n" {
            rows.push(std::mem::take(&mut row));
        } else {
            assert_eq!(end, ",");
        }
    }
    rows
}

/// Returns the CSV cell of a value, without the protection against formulas.
fn cell(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let texts: Vec<_> = items.iter().filter_map(Value::as_str).collect();
            Some(texts.join(" ")).filter(|text| !text.is_empty())
        }
        other => Some(other.to_string()),
    }
}

#[test]
fn a_table_has_the_delimiter_and_the_first_line_that_its_reader_wants() {
    let folder = Folder::new();
    let file = folder.file("mail", "Subject: a;b,c\n\nhttp://m.example/\n");
    let table = |format: &str, more: &[&str]| {
        let options = [
            "scan",
            "--format",
            format,
            "--fields",
            "url,message.subject",
            &file,
        ];
        done(&[&options[..], more].concat()).text().to_owned()
    };
    assert_eq!(
        table("csv", &["--set", "delimiter=;"]),
        "url;message.subject\nhttp://m.example/;\"a;b,c\"\n"
    );
    assert_eq!(
        table(
            "csv",
            &["--set", "delimiter=tab", "--set", "header_row=false"]
        ),
        "http://m.example/\ta;b,c\n"
    );
    assert_eq!(
        table("tsv", &["--set", "header_row=false"]),
        "http://m.example/\ta;b,c\n"
    );
    for setting in ["delimiter=ab", "delimiter=\""] {
        let ended = ended(&mut urlspool(["scan", "--set", setting, &file]), b"");
        ended.check(2, "write one character");
    }
    // The first line shows that urlspool wrote the file, so it is replaced without --force.
    let output = format!("{}/urls.csv", folder.root().display());
    for _ in 0..2 {
        done(&["scan", "--set", "delimiter=;", "-o", &output, &file]);
    }
}

#[test]
fn a_table_reads_back_as_the_records() {
    let whole = text(scan(&["--unique", "message"]));
    let records: Vec<Value> = whole
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let fields = format!("{},context", all_fields(&records[0]));
    let table = text(scan(&[
        "--unique",
        "message",
        "--format",
        "csv",
        "--set",
        "formula_guard=false",
        "--fields",
        &fields,
    ]));
    let rows = csv(&table);
    assert_eq!(rows.len(), records.len() + 1);
    let names: Vec<String> = rows[0].iter().flatten().cloned().collect();
    for (row, record) in rows[1..].iter().zip(&records) {
        for (name, value) in names.iter().zip(row) {
            let expected = match name.split_once('.') {
                None => cell(&record[name]),
                Some((parent, key)) => cell(&record[parent][key]),
            };
            // Lists of objects are JSON, with keys in record order.
            if name == "alternates" || name == "parts" {
                let json: Value = serde_json::from_str(value.as_ref().unwrap()).unwrap();
                assert_eq!(json, record[name]);
            } else {
                assert_eq!(*value, expected, "{name} of {record}");
            }
        }
    }
}
