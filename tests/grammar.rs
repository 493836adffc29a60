//! Checks `grammar` and its twin against the tables in `corpus/url`, and against a file of test
//! vectors if one is given.

use std::env;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use urlspool::grammar::{Url, Warning};

use crate::twin::{shown, verdict};

/// A line of a table: `text<TAB>want<TAB>note`. The note is optional.
struct Row {
    text: Vec<u8>,
    want: String,
    note: String,
}

/// Returns the path of a file of this package.
fn in_package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the rows of `corpus/url/{name}`, without blank lines and lines that start with `# `.
fn rows(name: &str) -> Vec<Row> {
    let path = in_package("corpus/url").join(name);
    let table = fs::read_to_string(&path).unwrap_or_else(|err| panic!("{}: {err}", path.display()));
    table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
        .map(row)
        .collect()
}

fn row(line: &str) -> Row {
    let mut fields = line.splitn(3, '\t');
    let text = unescaped(fields.next().unwrap_or_default());
    let want = fields
        .next()
        .unwrap_or_else(|| panic!("no tab: {line}"))
        .to_owned();
    Row {
        text,
        want,
        note: fields.next().unwrap_or_default().to_owned(),
    }
}

/// Decodes `\xNN`, `\t` and `\n` in a text field. Any other backslash is literal.
fn unescaped(field: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = field.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let (byte, after) = match rest {
            [b'\\', b't', after @ ..] => (b'\t', after),
            [b'\\', b'n', after @ ..] => (b'\n', after),
            [b'\\', b'x', high, low, after @ ..] => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, after),
                _ => (first, &rest[1..]),
            },
            _ => (first, after),
        };
        bytes.push(byte);
        rest = after;
    }
    bytes
}

fn digit(hex: u8) -> Option<u8> {
    char::from(hex).to_digit(16).map(|value| value as u8)
}

/// Checks each row with `check`, which returns an error message.
///
/// # Panics
///
/// Panics with all messages, or if there are no rows.
#[track_caller]
fn every_row<T>(rows: &[T], check: impl Fn(&T) -> Option<String>) {
    assert!(!rows.is_empty(), "no rows");
    let errors: Vec<_> = rows.iter().filter_map(check).collect();
    assert!(
        errors.is_empty(),
        "{} of {} rows:\n{}",
        errors.len(),
        rows.len(),
        errors.join("\n")
    );
}

/// Formats a text, its result, and the expected result.
fn mismatch(text: &[u8], want: impl Debug) -> String {
    let form = Url::parse(text).map(|read| read.form.name());
    format!(
        "{}: {form:?}, {:?}, want {want:?}",
        shown(text),
        verdict(text)
    )
}

fn prints_back(read: &Url<'_>, text: &[u8]) -> bool {
    let printed = read.to_string().into_bytes();
    printed == text && Url::parse(&printed).as_ref() == Ok(read)
}

/// Returns the offsets accepted by a row of `reject.txt`, whose note may end in `why [6, 13]`.
fn offsets(row: &Row) -> Vec<usize> {
    let others = row
        .note
        .strip_suffix(']')
        .and_then(|note| note.rsplit_once('['))
        .map_or("", |(_, others)| others);
    let numbers = others.split(',').filter(|number| !number.is_empty());
    [row.want.as_str()]
        .into_iter()
        .chain(numbers)
        .map(|number| number.trim().parse().unwrap())
        .collect()
}

/// Returns the name of the form, or the offset of the rejection, as in `gaps.txt`.
fn outcome(text: &[u8]) -> String {
    Url::parse(text).map_or_else(
        |reject| reject.offset.to_string(),
        |read| read.form.name().to_owned(),
    )
}

#[test]
fn accepted_rows_have_their_form_and_print_back() {
    every_row(&rows("accept.txt"), |row| {
        let holds = Url::parse(&row.text)
            .is_ok_and(|read| read.form.name() == row.want && prints_back(&read, &row.text))
            && verdict(&row.text).form == Some(&row.want);
        (!holds).then(|| mismatch(&row.text, &row.want))
    });
}

#[test]
fn rejected_rows_are_rejected_at_their_offset() {
    every_row(&rows("reject.txt"), |row| {
        let offsets = offsets(row);
        let twin = verdict(&row.text);
        let holds = Url::parse(&row.text).is_err_and(|reject| offsets.contains(&reject.offset))
            && (twin.form, twin.viable) == (None, offsets[0]);
        (!holds).then(|| mismatch(&row.text, &offsets))
    });
}

/// A closed gap must move to another table. The table of gaps may be empty.
#[test]
fn known_gaps_are_still_open() {
    let gaps = rows("gaps.txt").into_iter();
    let closed: Vec<_> = gaps
        .filter(|row| outcome(&row.text) == row.want)
        .map(|row| shown(&row.text))
        .collect();
    assert!(closed.is_empty(), "{closed:?}");
}

#[test]
#[ignore = "needs a file of vectors that is not in the repository; URLSPOOL_VECTORS names it"]
fn the_vectors_hold() {
    let path = PathBuf::from(env::var_os("URLSPOOL_VECTORS").expect("URLSPOOL_VECTORS"));
    let lines = fs::read_to_string(&path).unwrap_or_else(|err| panic!("{}: {err}", path.display()));
    let vectors: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    every_row(&vectors, |vector| {
        let text = vector["url"].as_str().unwrap().as_bytes();
        let twin = verdict(text);
        let holds = match Url::parse(text) {
            Ok(read) => {
                let warnings: Vec<_> = read.warnings().into_iter().map(Warning::name).collect();
                vector["ok"] == true
                    && vector["form"] == read.form.name()
                    && vector["warnings"] == Value::from(warnings)
                    && twin.form == vector["form"].as_str()
                    && prints_back(&read, text)
            }
            Err(reject) => {
                vector["ok"] == false
                    && vector["error_offsets_ok"]
                        .as_array()
                        .unwrap()
                        .contains(&reject.offset.into())
                    && (twin.form, vector["viable_prefix"].as_u64())
                        == (None, Some(twin.viable as u64))
            }
        };
        (!holds).then(|| mismatch(text, vector.to_string()))
    });
}
