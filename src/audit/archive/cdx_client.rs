//! One question to a CDX server.

use std::fmt;
use std::time::Duration;

use ureq::http::Response;
use ureq::{Agent, Body};
use url::Url;

use super::cdx_answer::{Capture, CdxAnswerError, captures};
use crate::audit::clock::seconds_until;
use crate::audit::error::ArchiveError;
use crate::limits::{AUDIT_CDX_BYTES, AUDIT_CDX_CAPTURES, AUDIT_CDX_SECONDS};
use crate::load::{TrustedAuthorities, http_agent};

/// A CDX server.
pub(super) struct CdxClient {
    agent: Agent,
    server: Url,
}

/// The reply of a server.
#[derive(Debug)]
pub(super) enum CdxReply {
    /// Captures, the nearest ones.
    Captures(Vec<Capture>),
    /// The server wants to be asked later, or cannot be reached.
    Refused {
        reason: CdxRefusal,
        retry_after: Option<Duration>,
    },
    /// The server does not answer this question.
    Failed(CdxFailure),
}

/// The reason why a server is asked again later.
#[derive(Debug)]
pub(super) enum CdxRefusal {
    /// It answers with this HTTP status.
    Status(u16),
    /// The connection failed.
    Connection(ureq::Error),
}

impl fmt::Display for CdxRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CdxRefusal::Status(status) => write!(f, "HTTP status {status}"),
            CdxRefusal::Connection(error) => error.fmt(f),
        }
    }
}

/// The reason why an answer gives no captures.
#[derive(Debug)]
pub(super) enum CdxFailure {
    /// It has this HTTP status.
    Status(u16),
    /// Its body is not that of a CDX server.
    Answer(CdxAnswerError),
}

impl fmt::Display for CdxFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CdxFailure::Status(status) => write!(f, "HTTP status {status}"),
            CdxFailure::Answer(error) => error.fmt(f),
        }
    }
}

impl CdxClient {
    /// Creates a client. `contact` tells the server's owners whom to write to.
    pub(super) fn new(server: &str, contact: &str) -> Result<CdxClient, ArchiveError> {
        let url = server_url(server)?;
        if !is_contact(contact) {
            let contact = contact.to_owned();
            return Err(ArchiveError::Contact { contact });
        }
        let user_agent = format!(
            "urlspool/{} (link-rot audit; {})",
            env!("CARGO_PKG_VERSION"),
            contact.trim()
        );
        let timeout = Duration::from_secs(AUDIT_CDX_SECONDS);
        Ok(CdxClient {
            agent: http_agent(server, &TrustedAuthorities::Machine, &user_agent, timeout),
            server: url,
        })
    }

    /// Asks for captures of `url`, nearest to `cited`, a time of 14 digits.
    ///
    /// # Errors
    ///
    /// The server redirects: the user should name the other place.
    pub(super) fn ask(&self, url: &str, cited: Option<&str>) -> Result<CdxReply, ArchiveError> {
        let question = self.question(url, cited);
        let response = match self.agent.get(question.as_str()).call() {
            Ok(response) => response,
            Err(error) => return Ok(refused(CdxRefusal::Connection(error), None)),
        };
        let status = response.status().as_u16();
        let retry_after = retry_after(&response);
        let mut body = response.into_body();
        let body = body.with_config().limit(AUDIT_CDX_BYTES).read_to_vec();
        Ok(match (status, body) {
            (429 | 503, _) => refused(CdxRefusal::Status(status), retry_after),
            (300..=399, _) => {
                let server = self.server.to_string();
                return Err(ArchiveError::Redirect { server });
            }
            (_, Err(error)) => refused(CdxRefusal::Connection(error), None),
            (200..=299, Ok(body)) => match captures(&body) {
                Ok(captures) => CdxReply::Captures(captures),
                Err(error) => CdxReply::Failed(CdxFailure::Answer(error)),
            },
            // Some versions of pywb say so where there is no capture.
            (404, Ok(body)) if says_no_captures(&body) => CdxReply::Captures(Vec::new()),
            _ => CdxReply::Failed(CdxFailure::Status(status)),
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
            // Else pywb gives captures of URLs with other queries where it has none of this one. Other servers do not know it.
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

/// The URL of a server.
fn server_url(server: &str) -> Result<Url, ArchiveError> {
    let unusable = |reason: Option<String>| ArchiveError::Server {
        server: server.to_owned(),
        reason,
    };
    let url = Url::parse(server).map_err(|error| unusable(Some(error.to_string())))?;
    if matches!(url.scheme(), "http" | "https") {
        Ok(url)
    } else {
        Err(unusable(None))
    }
}

/// Returns `true` for a text that may be a mail address or a page, and part of a field of HTTP.
fn is_contact(contact: &str) -> bool {
    contact.contains(['@', '.']) && contact.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

fn refused(reason: CdxRefusal, retry_after: Option<Duration>) -> CdxReply {
    CdxReply::Refused {
        reason,
        retry_after,
    }
}

fn says_no_captures(body: &[u8]) -> bool {
    memchr::memmem::find(body, b"No Captures found").is_some()
}

/// The time of `Retry-After`: seconds, or a date.
fn retry_after(response: &Response<Body>) -> Option<Duration> {
    let value = response.headers().get("retry-after")?.to_str().ok()?;
    wait_of(value.trim())
}

/// Parses the time of `Retry-After`. More seconds than a number holds are the most that it holds.
fn wait_of(value: &str) -> Option<Duration> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = if is_number {
        value.parse().unwrap_or(u64::MAX)
    } else {
        seconds_until(value)?
    };
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_wait_is_a_number_or_a_date() {
        for (value, expected) in [
            ("0", Some(0)),
            ("120", Some(120)),
            ("18446744073709551616", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("", None),
            ("-1", None),
            ("soon", None),
        ] {
            assert_eq!(wait_of(value), expected.map(Duration::from_secs), "{value}");
        }
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
}
