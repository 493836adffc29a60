//! Captures of pages, and the CDX servers that list them.
//!
//! The Wayback Machine responds with a JSON array, pywb with an object per line.

use jiff::civil::DateTime;
use memchr::memmem;
use serde::Deserialize;
use ureq::Agent;
use url::Url;

use crate::AuditError;
use crate::step::{NoReply, Refusal, agent, body_of};
use urlspool_text::diagnostic::shortened_inside;
use urlspool_text::limits::{AUDIT_CDX_BYTES, AUDIT_CDX_CAPTURES, MESSAGE_VALUE_CHARS};

/// A capture of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Capture {
    /// Time in UTC, 14 digits.
    pub(super) timestamp: String,
    /// URL as stored by the archive.
    pub(super) original: String,
    /// HTTP status; `None` if the server omits it, for example when a capture repeats an earlier
    /// one.
    pub(super) status: Option<u16>,
}

/// Returns the capture with a 2xx status that is nearest to `cited`, a time of 14 digits. Returns
/// the earliest capture if `cited` is `None` or two captures are equally near.
pub(super) fn nearest<'c>(captures: &'c [Capture], cited: Option<&str>) -> Option<&'c Capture> {
    let cited = cited.and_then(time);
    good(captures)
        .filter_map(|capture| {
            let at = time(&capture.timestamp)?;
            let distance = cited.map_or(0, |cited| at.duration_since(cited).as_secs());
            Some((distance.saturating_abs(), &capture.timestamp, capture))
        })
        .min_by_key(|(distance, timestamp, _)| (*distance, *timestamp))
        .map(|(.., capture)| capture)
}

/// Returns the captures with a 2xx status.
fn good(captures: &[Capture]) -> impl Iterator<Item = &Capture> {
    let captures = captures.iter();
    captures.filter(|capture| matches!(capture.status, Some(200..=299)))
}

/// Parses a time of 14 digits: `19961231235959`.
fn time(digits: &str) -> Option<DateTime> {
    DateTime::strptime("%Y%m%d%H%M%S", digits).ok()
}

/// Client for a CDX server.
pub(super) struct CdxClient {
    agent: Agent,
    /// Address as given by the user.
    pub(super) name: String,
    url: Url,
}

impl CdxClient {
    /// Creates a client. `contact` tells the server's owners where to write.
    pub(super) fn new(server: &str, contact: &str) -> Result<CdxClient, AuditError> {
        Ok(CdxClient {
            agent: agent(server, contact)?,
            name: server.to_owned(),
            url: server_url(server)?,
        })
    }

    /// Queries captures of `url`, nearest to `cited`, a time of 14 digits. Returns the reason if
    /// the response is not a CDX server's.
    ///
    /// # Errors
    ///
    /// The server refuses or redirects. In case of a redirect, the user should name the other
    /// address.
    pub(super) fn ask(
        &self,
        url: &str,
        cited: Option<&str>,
    ) -> Result<Result<Vec<Capture>, String>, NoReply> {
        let question = self.question(url, cited);
        let response = self.agent.get(question.as_str()).call();
        let response = response.map_err(Refusal::new)?;
        let status = response.status().as_u16();
        if matches!(status, 429 | 503) {
            return Err(Refusal::by_status(&response).into());
        }
        if (300..400).contains(&status) {
            return Err(NoReply::Error(AuditError::unusable(format!(
                "{} redirects to another address; pass that address with `--cdx`",
                self.name
            ))));
        }
        let body = body_of(response, AUDIT_CDX_BYTES)?;
        Ok(match status {
            200..=299 => captures(&body),
            // Some versions of pywb respond this way if there is no capture.
            404 if memmem::find(&body, b"No Captures found").is_some() => Ok(Vec::new()),
            _ => Err(format!("HTTP status {status}")),
        })
    }

    fn question(&self, url: &str, cited: Option<&str>) -> Url {
        let mut question = self.url.clone();
        let mut query = question.query_pairs_mut();
        query
            .append_pair("url", url)
            // Otherwise, a URL that ends with `*` would match all URLs with this prefix.
            .append_pair("matchType", "exact")
            .append_pair("output", "json")
            .append_pair("limit", &AUDIT_CDX_CAPTURES.to_string())
            // Otherwise, pywb returns captures of URLs with other queries if there is no exact
            // match. Other servers ignore the parameter.
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
    let (reason, error) = match Url::parse(server) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => return Ok(url),
        Ok(_) => (String::new(), None),
        Err(error) => (format!(" ({error})"), Some(error)),
    };
    let unusable = AuditError::unusable(format!(
        "`--cdx {server}` is not the URL of a CDX server{reason}; write it like \
         https://web.archive.org/cdx/search/cdx, or http://HOST/COLLECTION/cdx for pywb"
    ));
    Err(match error {
        Some(error) => unusable.caused_by(error),
        None => unusable,
    })
}

/// A line of pywb's response.
#[derive(Deserialize)]
struct CdxLine {
    timestamp: String,
    url: String,
    status: Option<String>,
}

/// Parses a response.
///
/// # Errors
///
/// The response has neither format, or its captures have no times.
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
    format!("not JSON of a CDX server: {error}")
}

/// Parses an array of rows. The first row names the columns.
fn from_array(body: &[u8]) -> Result<Vec<Capture>, String> {
    let rows: Vec<Vec<String>> = serde_json::from_slice(body).map_err(|error| not_cdx(&error))?;
    let Some((names, rows)) = rows.split_first() else {
        return Ok(Vec::new());
    };
    let [timestamp, original, status] = ["timestamp", "original", "statuscode"].map(|name| {
        let place = names.iter().position(|column| column == name);
        place.ok_or_else(|| format!("no column `{name}`"))
    });
    let (timestamp, original, status) = (timestamp?, original?, status?);
    let captures = rows.iter().map(|row| Capture {
        timestamp: row.get(timestamp).cloned().unwrap_or_default(),
        original: row.get(original).cloned().unwrap_or_default(),
        status: row.get(status).and_then(|status| status.parse().ok()),
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
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a capture of `http://h/`.
    fn capture(timestamp: &str, status: Option<u16>) -> Capture {
        Capture {
            timestamp: timestamp.to_owned(),
            original: "http://h/".to_owned(),
            status,
        }
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

    #[test]
    fn a_question_names_the_page_and_the_time() {
        let client = CdxClient::new("https://a.test/cdx?k=1", "a@b.test").unwrap();
        let question = client.question("http://h.test/?a=1&b=%7E#x", Some("19960702134500"));
        assert_eq!(
            question.as_str(),
            "https://a.test/cdx?k=1&url=http%3A%2F%2Fh.test%2F%3Fa%3D1%26b%3D%257E%23x&\
                matchType=exact&output=json&limit=50&allowFuzzy=0&sort=closest&\
                closest=19960702134500"
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
                error.contains("remove them") && !error.contains("secret"),
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
    fn both_response_formats_are_parsed() {
        let array =
            br#"[["urlkey","timestamp","original","mimetype","statuscode","digest","length"],
            ["h)/","19970101000000","http://h/","text/html","200","X","1"],
            ["h)/","19980101000000","http://h/","warc/revisit","-","X","1"]]"#;
        let lines = concat!(
            r#"{"urlkey": "h)/", "timestamp": "19970101000000", "url": "http://h/", "#,
            r#""status": "200"}"#,
            "\n",
            r#"            {"urlkey": "h)/", "timestamp": "19980101000000", "url": "http://h/", "#,
            r#""mime": "warc/revisit"}"#,
            "\n            ",
        );
        let expected = [
            capture("19970101000000", Some(200)),
            capture("19980101000000", None),
        ];
        for body in [&array[..], lines.as_bytes()] {
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
    fn other_responses_are_errors() {
        for body in [
            "<html>",
            "[1]",
            "[[\"a\"]]",
            "{\"message\":\"x\"}",
            r#"{"timestamp":"yesterday","url":"http://h/","status":"200"}"#,
            r#"{"timestamp":"19970101000000","url":"http://h/","status":"404"}
            {"timestamp":"yesterday","url":"http://h/","status":"200"}"#,
            concat!(
                r#"[["timestamp","original","statuscode"],"#,
                r#"["19970101000000","http://h/","404"],["","http://h/","200"]]"#,
            ),
            r#"{"timestamp":"19970101000000","url":"http://h/","status":"404"}
            {"url":"http://h/","status":"200"}"#,
            "org,h)/ 1997",
        ] {
            assert!(captures(body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn long_values_are_truncated_in_messages() {
        let body = format!("\"{}\"", "L".repeat(300_000));
        let error = captures(format!("[{body}]").as_bytes()).unwrap_err();
        assert!(error.chars().count() < 2 * MESSAGE_VALUE_CHARS, "{error}");
        assert!(
            error.contains("LLL\u{2026}") && error.contains("at line 1 column"),
            "{error}"
        );
    }
}
