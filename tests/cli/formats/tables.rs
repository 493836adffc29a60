//! Tables: columns, formulas, and values that are read back.

use serde_json::Value;

use super::{MAIL, all_fields, scan, text};
use crate::scene::{Folder, done, ended, urlspool};

/// The rows of a CSV file (RFC 4180). `None` stands for an empty cell without quotation marks.
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

/// The cell that a value gives in CSV, without the protection against formulas.
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
fn tables_have_the_usual_columns() {
    let folder = Folder::new();
    let file = folder.file("mail", MAIL);
    let table = done(&["scan", "--format", "csv", "--schemes", "wais", &file]);
    let at = MAIL.find("wais:").unwrap();
    assert_eq!(
        table.text(),
        format!(
            "url,domain,host,message.year,message.date,message.from,message.subject,message.id,source.path,source.start\n\
             wais://w.example/db,w.example,w.example,1996,1996-07-01T00:00:00Z,\"\"\"Doe, Jane\"\" <jane@m.example>\",'=1+2\tlamps,\
             <1@m.example>,{file},{at}\n"
        )
    );
    let fields = "raw,message.subject,fragment,repairs";
    let options = ["--format", "tsv", "--schemes", "wais", "--fields", fields];
    let table = done(&[&["scan"], &options[..], &[&file]].concat());
    assert_eq!(
        table.text(),
        "raw\tmessage.subject\tfragment\trepairs\nwais://w.exa\\nmple/db\t=1+2\\tlamps\t\tline-break\n"
    );
    let nothing = done(&["scan", "--format", "csv", &folder.file("empty", "")]);
    assert_eq!(nothing.text().lines().count(), 1);
}

#[test]
fn a_year_is_null_without_a_date_that_mail_can_have() {
    let folder = Folder::new();
    for (date, year) in [
        ("Date: Wed, 31 Dec 1997 23:00:00 -0500\n", "1998"),
        ("Date: Thu, 1 Jan 1970 00:00:00 +0000\n", "null"),
        ("Date: Fri, 1 Jan 2100 00:00:00 +0000\n", "null"),
        ("", "null"),
    ] {
        let file = folder.file(
            "mail",
            format!("From: a@m.example\n{date}\nhttp://m.example/\n"),
        );
        let found = done(&["scan", "--fields", "message.year", &file]);
        let record = format!("{{\"message\":{{\"year\":{year}}}}}\n");
        assert_eq!(found.text(), record, "{date}");
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
        table("csv", &["--delimiter", ";"]),
        "url;message.subject\nhttp://m.example/;\"a;b,c\"\n"
    );
    assert_eq!(
        table("csv", &["--delimiter", "tab", "--no-header-row"]),
        "http://m.example/\ta;b,c\n"
    );
    assert_eq!(
        table("tsv", &["--no-header-row"]),
        "http://m.example/\ta;b,c\n"
    );
    for (arguments, reason) in [
        (
            &["--format", "csv", "--delimiter", "ab"][..],
            "write one sign",
        ),
        (&["--format", "csv", "--delimiter", "\""], "write one sign"),
        (&["--format", "tsv", "--delimiter", ";"], "--format csv"),
        (&["--no-header-row"], "--format csv or tsv"),
    ] {
        let ended = ended(&mut urlspool([&["scan", &file], arguments].concat()), b"");
        assert_eq!(ended.status, Some(2), "{arguments:?}");
        assert!(ended.stderr.contains(reason), "{}", ended.stderr);
    }
    // Its first line shows that urlspool wrote it, so that it is replaced without --force.
    let output = format!("{}/urls.csv", folder.root().display());
    for _ in 0..2 {
        done(&["scan", "--delimiter", ";", "-o", &output, &file]);
    }
}

#[test]
fn formulas_are_marked_unless_the_guard_is_off() {
    let folder = Folder::new();
    let mail = |subject: &str| format!("Subject: {subject}\n\nhttp://m.example/\n");
    for subject in ["=cmd|x", "+1", "-1", "@SUM(A1)"] {
        let file = folder.file("mail", mail(subject));
        let options = ["--format", "csv", "--fields", "message.subject", &file];
        let rows = |more: &[&str]| {
            let ended = done(&[&["scan"], &options[..], more].concat());
            ended.text().lines().nth(1).unwrap().to_owned()
        };
        assert_eq!(rows(&[]), format!("'{subject}"));
        assert_eq!(rows(&["--no-formula-guard"]), subject);
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
        "--no-formula-guard",
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
            // Lists of objects are JSON, with the keys in the order of the record.
            if name == "alternates" || name == "parts" {
                let json: Value = serde_json::from_str(value.as_ref().unwrap()).unwrap();
                assert_eq!(json, record[name]);
            } else {
                assert_eq!(*value, expected, "{name} of {record}");
            }
        }
    }
}
