//! The answers of CDX servers: the one array of the Wayback Machine, and the object per line of pywb.

use std::fmt;

use jiff::civil::DateTime;
use serde::Deserialize;

use crate::diagnostic::shortened_inside;
use crate::limits::MESSAGE_VALUE_CHARS;

/// A capture of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Capture {
    /// Its time in UTC, 14 digits.
    pub(super) timestamp: String,
    /// Its URL as the archive has it.
    pub(super) original: String,
    /// Its HTTP code; `None` where the server gives none, as for a repetition of an earlier capture.
    pub(super) status: Option<u16>,
}

/// A line of pywb.
#[derive(Deserialize)]
struct CdxLine {
    timestamp: String,
    url: String,
    status: Option<String>,
}

/// The reason why an answer cannot be used.
#[derive(Debug)]
pub(super) enum CdxAnswerError {
    /// It is not JSON with the fields of either form.
    Json(serde_json::Error),
    /// Its first row does not name this column.
    MissingColumn(&'static str),
    /// It has captures with a 2xx status, and none of them has a time.
    NoTimes,
}

impl fmt::Display for CdxAnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CdxAnswerError::Json(error) => {
                let error = error.to_string();
                let error = shortened_inside(&error, MESSAGE_VALUE_CHARS);
                write!(f, "no JSON of a CDX server, {error}")
            }
            CdxAnswerError::MissingColumn(name) => write!(f, "no column `{name}`"),
            CdxAnswerError::NoTimes => {
                f.write_str("no capture with a 2xx status has a timestamp of 14 digits")
            }
        }
    }
}

impl std::error::Error for CdxAnswerError {}

impl From<serde_json::Error> for CdxAnswerError {
    fn from(error: serde_json::Error) -> CdxAnswerError {
        CdxAnswerError::Json(error)
    }
}

/// Reads an answer.
///
/// # Errors
///
/// It has neither form, or captures without times.
pub(super) fn captures(body: &[u8]) -> Result<Vec<Capture>, CdxAnswerError> {
    let captures = match body.trim_ascii_start().first() {
        None => return Ok(Vec::new()),
        Some(b'[') => from_array(body)?,
        Some(_) => from_lines(body)?,
    };
    let is_good = good(&captures).next().is_some();
    if is_good && good(&captures).all(|capture| time(&capture.timestamp).is_none()) {
        return Err(CdxAnswerError::NoTimes);
    }
    Ok(captures)
}

/// Reads an array of rows, of which the first names the columns.
fn from_array(body: &[u8]) -> Result<Vec<Capture>, CdxAnswerError> {
    let mut rows: Vec<Vec<String>> = serde_json::from_slice(body)?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let names = rows.remove(0);
    let column = |name: &'static str| {
        let place = names.iter().position(|column| column == name);
        place.ok_or(CdxAnswerError::MissingColumn(name))
    };
    let (timestamp, original, status) = (
        column("timestamp")?,
        column("original")?,
        column("statuscode")?,
    );
    let text = |row: &[String], place: usize| row.get(place).cloned().unwrap_or_default();
    let captures = rows.iter().map(|row| Capture {
        timestamp: text(row, timestamp),
        original: text(row, original),
        status: text(row, status).parse().ok(),
    });
    Ok(captures.collect())
}

fn from_lines(body: &[u8]) -> Result<Vec<Capture>, CdxAnswerError> {
    let lines = body
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty());
    lines
        .map(|line| {
            let line: CdxLine = serde_json::from_slice(line)?;
            Ok(Capture {
                status: line.status.and_then(|status| status.parse().ok()),
                timestamp: line.timestamp,
                original: line.url,
            })
        })
        .collect()
}

/// Returns the capture with a 2xx status that is nearest to `cited`, a time of 14 digits; the earliest of them without a time, and of
/// two that are equally near.
pub(super) fn nearest<'c>(captures: &'c [Capture], cited: Option<&str>) -> Option<&'c Capture> {
    let cited = cited.and_then(time);
    let distance = |capture: &Capture| -> Option<i64> {
        let at = time(&capture.timestamp)?;
        cited.map_or(Some(0), |cited| {
            Some(at.duration_since(cited).as_secs().saturating_abs())
        })
    };
    good(captures)
        .filter_map(|capture| Some((distance(capture)?, &capture.timestamp, capture)))
        .min_by_key(|(distance, timestamp, _)| (*distance, *timestamp))
        .map(|(.., capture)| capture)
}

/// The captures with a 2xx status.
fn good(captures: &[Capture]) -> impl Iterator<Item = &Capture> {
    let is_good = |status: u16| (200..300).contains(&status);
    captures
        .iter()
        .filter(move |capture| capture.status.is_some_and(is_good))
}

/// The time of 14 digits: `19961231235959`.
fn time(digits: &str) -> Option<DateTime> {
    DateTime::strptime("%Y%m%d%H%M%S", digits).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(timestamp: &str, status: Option<u16>) -> Capture {
        Capture {
            timestamp: timestamp.to_owned(),
            original: "http://h/".to_owned(),
            status,
        }
    }

    #[test]
    fn both_forms_are_read() {
        let array =
            br#"[["urlkey","timestamp","original","mimetype","statuscode","digest","length"],
            ["h)/","19970101000000","http://h/","text/html","200","X","1"],
            ["h)/","19980101000000","http://h/","warc/revisit","-","X","1"]]"#;
        let lines = br#"{"urlkey": "h)/", "timestamp": "19970101000000", "url": "http://h/", "status": "200"}
            {"urlkey": "h)/", "timestamp": "19980101000000", "url": "http://h/", "mime": "warc/revisit"}
            "#;
        let expected = [
            capture("19970101000000", Some(200)),
            capture("19980101000000", None),
        ];
        for body in [&array[..], lines] {
            assert_eq!(captures(body).unwrap(), expected);
        }
        for none in [
            "",
            "\n",
            "[]",
            "[[\"urlkey\",\"timestamp\",\"original\",\"statuscode\"]]",
        ] {
            assert_eq!(captures(none.as_bytes()).unwrap(), [], "{none}");
        }
    }

    #[test]
    fn other_answers_are_errors() {
        for body in [
            "<html>",
            "[1]",
            "[[\"a\"]]",
            "{\"message\":\"x\"}",
            r#"{"timestamp":"yesterday","url":"http://h/","status":"200"}"#,
            r#"{"timestamp":"19970101000000","url":"http://h/","status":"404"}
            {"timestamp":"yesterday","url":"http://h/","status":"200"}"#,
            "org,h)/ 1997",
        ] {
            assert!(captures(body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn long_values_are_cut_in_messages() {
        let body = format!("\"{}\"", "L".repeat(300_000));
        let error = captures(format!("[{body}]").as_bytes())
            .unwrap_err()
            .to_string();
        assert!(error.chars().count() < 2 * MESSAGE_VALUE_CHARS, "{error}");
        assert!(
            error.contains("LLL\u{2026}") && error.contains("at line 1 column"),
            "{error}"
        );
    }

    #[test]
    fn the_nearest_good_capture_is_found() {
        let all = [
            capture("19960601000000", Some(200)),
            capture("19970601000000", Some(404)),
            capture("19980601000000", Some(204)),
            capture("1998", Some(200)),
            capture("20050601000000", None),
        ];
        let found = |cited: Option<&str>| nearest(&all, cited).map(|capture| &*capture.timestamp);
        assert_eq!(
            found(Some("19970601000000")),
            Some("19960601000000"),
            "equally near"
        );
        assert_eq!(found(Some("19970601000001")), Some("19980601000000"));
        assert_eq!(found(Some("20050601000000")), Some("19980601000000"));
        assert_eq!(found(None), Some("19960601000000"));
        assert_eq!(nearest(&all[4..], None), None);
    }
}
