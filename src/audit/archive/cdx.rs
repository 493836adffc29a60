//! Asks a CDX server, and reads its answers.
//!
//! The Wayback Machine answers with one array, pywb with an object per line.

use serde::Deserialize;
use ureq::Agent;
use url::Url;

use super::capture::{ArchiveReply, Capture, good, refused, time};
use super::client::{agent, redirects, refuse_login};
use crate::audit::AuditError;
use crate::diagnostic::shortened_inside;
use crate::limits::{AUDIT_CDX_BYTES, AUDIT_CDX_CAPTURES, MESSAGE_VALUE_CHARS};
use crate::load::retry_after;

pub(super) struct CdxClient {
    agent: Agent,
    name: String,
    server: Url,
}

impl CdxClient {
    /// Creates a client. `contact` tells the server's owners whom to write to.
    pub(super) fn new(server: &str, contact: &str) -> Result<CdxClient, AuditError> {
        let url = server_url(server)?;
        Ok(CdxClient {
            agent: agent(server, contact)?,
            name: server.to_owned(),
            server: url,
        })
    }

    /// Returns the address of the server as the user gave it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Asks for captures of `url`, nearest to `cited`, a time of 14 digits.
    ///
    /// # Errors
    ///
    /// The server redirects: the user should name the other place.
    pub(in crate::audit) fn ask(
        &self,
        url: &str,
        cited: Option<&str>,
    ) -> Result<ArchiveReply, AuditError> {
        let question = self.question(url, cited);
        let response = match self.agent.get(question.as_str()).call() {
            Ok(response) => response,
            Err(error) => return Ok(refused(error.to_string(), None)),
        };
        let status = response.status().as_u16();
        let retry_after = retry_after(&response);
        let mut body = response.into_body();
        let body = body.with_config().limit(AUDIT_CDX_BYTES).read_to_vec();
        Ok(match (status, body) {
            (429 | 503, _) => refused(format!("HTTP status {status}"), retry_after),
            (300..=399, _) => return Err(redirects(&self.name, "--cdx")),
            (_, Err(error)) => refused(error.to_string(), None),
            (200..=299, Ok(body)) => match captures(&body) {
                Ok(captures) => ArchiveReply::Captures(captures),
                Err(reason) => ArchiveReply::Failed(reason),
            },
            // Some versions of pywb say so where there is no capture.
            (404, Ok(body)) if says_no_captures(&body) => ArchiveReply::Captures(Vec::new()),
            _ => ArchiveReply::Failed(format!("HTTP status {status}")),
        })
    }

    fn question(&self, url: &str, cited: Option<&str>) -> Url {
        let mut question = self.server.clone();
        let mut query = question.query_pairs_mut();
        query
            .append_pair("url", url)
            // Else a URL that ends in `*` asks for all URLs that begin so.
            .append_pair("matchType", "exact")
            .append_pair("output", "json")
            .append_pair("limit", &AUDIT_CDX_CAPTURES.to_string())
            // Else pywb gives captures of URLs with other queries where it has none of this one.
            // Other servers do not know it.
            .append_pair("allowFuzzy", "0");
        if let Some(cited) = cited {
            query
                .append_pair("sort", "closest")
                .append_pair("closest", cited);
        }
        drop(query);
        question
    }
}

/// Parses the URL of a server.
fn server_url(server: &str) -> Result<Url, AuditError> {
    refuse_login(server)?;
    let unusable = |reason: &str| {
        AuditError::unusable(format!(
            "`--cdx {server}` is not the URL of a CDX server{reason}; write it like \
             https://web.archive.org/cdx/search/cdx, or http://HOST/COLLECTION/cdx for pywb"
        ))
    };
    match Url::parse(server) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        Ok(_) => Err(unusable("")),
        Err(error) => Err(unusable(&format!(" ({error})")).caused_by(error)),
    }
}

fn says_no_captures(body: &[u8]) -> bool {
    memchr::memmem::find(body, b"No Captures found").is_some()
}

/// A line of pywb.
#[derive(Deserialize)]
struct CdxLine {
    timestamp: String,
    url: String,
    status: Option<String>,
}

/// Reads an answer.
///
/// # Errors
///
/// It has neither form, or captures without times.
fn captures(body: &[u8]) -> Result<Vec<Capture>, String> {
    let captures = match body.trim_ascii_start().first() {
        None => return Ok(Vec::new()),
        Some(b'[') => from_array(body)?,
        Some(_) => from_lines(body)?,
    };
    let is_good = good(&captures).next().is_some();
    if is_good && good(&captures).all(|capture| time(&capture.timestamp).is_none()) {
        return Err("no capture with a 2xx status has a timestamp of 14 digits".to_owned());
    }
    Ok(captures)
}

fn not_cdx(error: &serde_json::Error) -> String {
    let error = error.to_string();
    let error = shortened_inside(&error, MESSAGE_VALUE_CHARS);
    format!("no JSON of a CDX server, {error}")
}

/// Reads an array of rows. The first row names the columns.
fn from_array(body: &[u8]) -> Result<Vec<Capture>, String> {
    let mut rows: Vec<Vec<String>> =
        serde_json::from_slice(body).map_err(|error| not_cdx(&error))?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let names = rows.remove(0);
    let column = |name: &str| {
        let place = names.iter().position(|column| column == name);
        place.ok_or_else(|| format!("no column `{name}`"))
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
        address: None,
    });
    Ok(captures.collect())
}

fn from_lines(body: &[u8]) -> Result<Vec<Capture>, String> {
    let lines = body
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty());
    lines
        .map(|line| {
            let line: CdxLine = serde_json::from_slice(line).map_err(|error| not_cdx(&error))?;
            Ok(Capture {
                status: line.status.and_then(|status| status.parse().ok()),
                timestamp: line.timestamp,
                original: line.url,
                address: None,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::archive::capture::capture;

    #[test]
    fn a_question_names_the_page_and_the_time() {
        let client = CdxClient::new("https://a.test/cdx?k=1", "a@b.test").unwrap();
        let question = client.question("http://h.test/?a=1&b=%7E#x", Some("19960702134500"));
        assert_eq!(
            question.as_str(),
            "https://a.test/cdx?k=1&url=http%3A%2F%2Fh.test%2F%3Fa%3D1%26b%3D%257E%23x&matchType=exact&output=json&limit=50&allowFuzzy=0&sort=closest&closest=19960702134500"
        );
    }

    #[test]
    fn a_password_in_the_address_of_a_server_is_refused_and_not_shown() {
        for server in [
            "http://a:secret@b.test/",
            "https://a:secret@b.test?x",
            "a:secret@b.test",
        ] {
            let error = CdxClient::new(server, "a@b.test")
                .err()
                .unwrap()
                .to_string();
            assert!(
                error.contains("leave them out") && !error.contains("secret"),
                "{error}"
            );
        }
        assert!(CdxClient::new("http://a.test/?by=a@b.test", "a@b.test").is_ok());
    }

    #[test]
    fn a_server_and_a_contact_are_needed() {
        for (server, contact) in [
            ("a.test", "a@b.test"),
            ("file:///x", "a@b.test"),
            ("http://a.test/", ""),
            ("http://a.test/", " "),
            ("http://a.test/", "me"),
            ("http://a.test/", "a\nb"),
        ] {
            assert!(
                CdxClient::new(server, contact).is_err(),
                "{server} {contact}"
            );
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
            r#"[["timestamp","original","statuscode"],["19970101000000","http://h/","404"],["","http://h/","200"]]"#,
            r#"{"timestamp":"19970101000000","url":"http://h/","status":"404"}
            {"url":"http://h/","status":"200"}"#,
            "org,h)/ 1997",
        ] {
            assert!(captures(body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn long_values_are_cut_in_messages() {
        let body = format!("\"{}\"", "L".repeat(300_000));
        let error = captures(format!("[{body}]").as_bytes()).unwrap_err();
        assert!(error.chars().count() < 2 * MESSAGE_VALUE_CHARS, "{error}");
        assert!(
            error.contains("LLL\u{2026}") && error.contains("at line 1 column"),
            "{error}"
        );
    }
}
