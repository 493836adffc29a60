//! Matches of a search as reports for abuse desks, in XARF v4 (<https://xarf.org>).
//!
//! Each message is one report of the type `spam`. It names the domain of the author, and has the
//! URLs that were found. Nobody is reported for an author that is only named in a text, for text
//! that was quoted or forwarded, or for an abuse report.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::IpAddr;

use data_encoding::BASE64;
use serde::Serialize;
use serde_json::json;

use super::found_row::{Citation, FoundAuthor};
use urlspool_mail::decode::{AuthorKind, BodyRegion};
use urlspool_record::record::json_line;
use urlspool_text::diagnostic::shortened;
use urlspool_text::limits::REPORTED_BYTES;
use urlspool_text::parse::{Grammar, Verdicts, host_name};
use urlspool_text::scan::is_site;

/// Maximum length of a text in a report, in characters: XARF's smallest limit, minus the ellipsis.
const TEXT_CHARS: usize = 199;

/// A person or an organization in XARF's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Party {
    /// Name.
    org: String,
    /// Address of mail.
    contact: String,
    /// Domain of the address.
    domain: String,
}

impl Party {
    /// Parses the argument that names who reports.
    ///
    /// # Errors
    ///
    /// A message that says which form is expected.
    pub fn of_reporter(text: &str) -> Result<Party, &'static str> {
        let is_plain = |c: char| c.is_ascii_graphic() && !"<>,;:\"\\()[]".contains(c);
        Party::parse(text)
            .filter(|found| !found.org.is_empty() && found.contact.chars().all(is_plain))
            .ok_or("write a name and an address: `Example Org <abuse@a.example>`")
    }

    /// Parses a From field: the last address in angle brackets, otherwise the first one. `None` if
    /// it has no domain.
    fn parse(field: &str) -> Option<Party> {
        let field = without_last_comments(field);
        let (name, rest) = field.rsplit_once('<').unwrap_or(("", field));
        let mut words = rest.split(|c: char| c.is_whitespace() || ">(,;".contains(c));
        let address = words.find(|word| word.contains('@'))?;
        let (local, domain) = address.rsplit_once('@')?;
        Some(Party {
            org: shortened(name.trim().trim_matches('"'), TEXT_CHARS).into_owned(),
            contact: address.to_owned(),
            domain: host_of_mail(domain).filter(|_| !local.is_empty() && !local.contains('@'))?,
        })
    }
}

/// Removes comments from the end of a field (RFC 5322, section 3.2.2), which may contain addresses.
fn without_last_comments(field: &str) -> &str {
    let (mut end, mut depth) = (field.len(), 0_usize);
    for (at, byte) in field.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' if 0 < depth => {
                depth -= 1;
                if depth == 0 {
                    end = at;
                }
            }
            _ if depth == 0 && !byte.is_ascii_whitespace() => break,
            _ => {}
        }
    }
    field.get(..end).unwrap_or(field)
}

/// Returns the domain of an address, or the address of its host if it is a literal (RFC 5321,
/// section 4.1.3).
fn host_of_mail(domain: &str) -> Option<String> {
    let literal = domain.strip_prefix('[');
    match literal.and_then(|text| text.strip_suffix(']')) {
        Some(text) => {
            let address = text.strip_prefix("IPv6:").unwrap_or(text);
            Some(address.parse::<IpAddr>().ok()?.to_string())
        }
        None => host_name(domain).filter(|host| is_site(host.as_bytes())),
    }
}

/// A writer of reports. Matches in one message, with the messages in it, follow each other.
#[derive(Default)]
pub struct AbuseReports {
    /// Digest of the current message.
    digest: String,
    /// Reports about the current message and the messages in it, by author without its kind; `None`
    /// for URLs and authors that are not reported.
    current: HashMap<Option<FoundAuthor>, Option<Report>>,
    /// Ids of the first matches of the reports so far: a message may be in several mailboxes.
    reported: HashSet<String>,
    /// Number of matches that do not prove who wrote the URL, have no date, or exceed
    /// [`REPORTED_BYTES`].
    pub unreported: u64,
}

/// A report that is not written yet.
struct Report {
    sender: Party,
    first: Citation,
    matches: u64,
    urls: BTreeSet<String>,
    url_bytes: usize,
}

impl AbuseReports {
    /// Adds a match. Appends the previous reports if the match is in another message.
    pub fn add(&mut self, citation: &Citation, reporter: &Party, out: &mut Vec<u8>) {
        if self.digest != citation.digest {
            self.finish(reporter, out);
            self.digest.clone_from(&citation.digest);
        }
        let author = is_by_author(citation).then(|| FoundAuthor {
            by: String::new(),
            ..citation.found.author.clone()
        });
        let report = self.current.entry(author);
        match report.or_insert_with(|| Report::of(citation)) {
            Some(report) if report.url_bytes < REPORTED_BYTES => {
                let url = citation.found.whole_url();
                report.url_bytes += url.len();
                report.urls.insert(url);
                report.matches += 1;
            }
            _ => self.unreported += 1,
        }
    }

    /// Appends the last reports, unless they were written before. The sender of a message is not
    /// reported if it repeats URLs of a message that it contains: the sender may complain about it.
    pub fn finish(&mut self, reporter: &Party, out: &mut Vec<u8>) {
        let reports = std::mem::take(&mut self.current).into_values().flatten();
        let (outer, mut reports): (Vec<_>, Vec<_>) =
            reports.partition(|it: &Report| it.first.found.author.by == AuthorKind::Outer.name());
        for report in outer {
            if reports.iter().all(|it| it.urls.is_disjoint(&report.urls)) {
                reports.push(report);
            } else {
                self.unreported += report.matches;
            }
        }
        reports.sort_unstable_by_key(|report| report.first.row);
        for report in reports {
            if self.reported.insert(report.first.found.id.clone()) {
                report.write(reporter, out);
            }
        }
    }
}

impl Report {
    /// Creates the report of the message with this match.
    fn of(citation: &Citation) -> Option<Report> {
        let author = &citation.found.author;
        citation.found.date().filter(|_| is_by_author(citation))?;
        Some(Report {
            sender: Party::parse(author.from.as_deref()?)?,
            first: citation.clone(),
            matches: 0,
            urls: BTreeSet::new(),
            url_bytes: 0,
        })
    }

    fn write(&self, reporter: &Party, out: &mut Vec<u8>) {
        let author = &self.first.found.author;
        let cut = |text: Option<&str>| shortened(text.unwrap_or_default(), TEXT_CHARS).into_owned();
        let links: Vec<_> = self.urls.iter().filter(|url| is_uri(url)).collect();
        let contact = cut(Some(&self.sender.contact));
        let mut description = format!("URLs in a message from {contact} (From, not verified)");
        if let others @ 1.. = self.urls.len() - links.len() {
            description.push_str(&format!("; {others} not valid, only in the evidence"));
        }
        out.extend_from_slice(&json_line(&json!({
            "xarf_version": "4.2.0",
            "report_id": uuid(&self.first.found.id),
            "timestamp": self.first.found.date(),
            "reporter": reporter,
            "sender": reporter,
            "source_identifier": self.sender.domain,
            "category": "messaging",
            "type": "spam",
            // For `smtp` a report needs the port of the sender's host, which no archive has.
            "protocol": "other",
            "sender_name": self.sender.org,
            "subject": cut(author.subject.as_deref()),
            "message_id": cut(author.message_id.as_deref()),
            "description": description,
            "evidence_source": "content_analysis",
            "spam_indicators": { "suspicious_links": links },
            "evidence": [{
                "content_type": "application/json",
                "description": "The author, and the URLs as they were found",
                "payload": BASE64.encode(&json_line(&(author, &self.urls))),
            }],
        })));
    }
}

/// Returns `true` if the structure of the mail proves that the author wrote the URL. Quotes in the
/// HTML of a reply have no marks.
fn is_by_author(citation: &Citation) -> bool {
    let unproven =
        [AuthorKind::Text, AuthorKind::Digest, AuthorKind::Reporter].map(AuthorKind::name);
    let may_be_quoted = citation.thread != citation.found.message.id
        && citation.found.author.by == AuthorKind::Outer.name()
        && citation.found.region.starts_with("html:");
    citation.quote_depth == 0
        && !may_be_quoted
        && citation.found.region != BodyRegion::Forwarded.name()
        && !unproven.contains(&&*citation.found.author.by)
}

/// Returns `true` if RFC 3986 accepts a URL, as readers of reports expect.
fn is_uri(url: &str) -> bool {
    let url_len = url.find('#').unwrap_or(url.len());
    Verdicts::of(url.as_bytes(), url_len).conforms_to(Grammar::Rfc3986)
}

/// Returns the id of a record as a UUID, with the version that XARF expects (RFC 9562).
fn uuid(id: &str) -> Option<String> {
    let (start, middle, end) = (id.get(..8)?, id.get(8..12)?, id.get(20..)?);
    let (version, variant) = (id.get(13..16)?, id.get(17..20)?);
    Some(format!("{start}-{middle}-4{version}-8{variant}-{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mailboxes_are_read_in_every_form() {
        for (field, expected) in [
            (
                "Jane <jane@a.example>",
                ["Jane", "jane@a.example", "a.example"],
            ),
            ("jane@a.example (Jane)", ["", "jane@a.example", "a.example"]),
            (
                "\"<b@c.example>\" <d@E.example>",
                ["<b@c.example>", "d@E.example", "e.example"],
            ),
            (
                "jane@a.example (not <b@c.example> (or so)) (really)",
                ["", "jane@a.example", "a.example"],
            ),
            (
                "jane@a.example, b@c.example",
                ["", "jane@a.example", "a.example"],
            ),
            ("g: jane@a.example;", ["", "jane@a.example", "a.example"]),
            ("<jane@[192.0.2.1]>", ["", "jane@[192.0.2.1]", "192.0.2.1"]),
            (
                "J (a) <j@[IPv6:2001:db8::1]>",
                ["J (a)", "j@[IPv6:2001:db8::1]", "2001:db8::1"],
            ),
            ("jane@a.example :)", ["", "jane@a.example", "a.example"]),
            ("<jane@[a.example]>", [""; 3]),
            ("Jane", [""; 3]),
            ("<@a.example>", [""; 3]),
            ("<jane@>", [""; 3]),
            ("<jane@winner!>", [""; 3]),
            ("<jane@b@c.example>", [""; 3]),
        ] {
            let found = Party::parse(field);
            let parts = found.map(|found| [found.org, found.contact, found.domain]);
            assert_eq!(parts.unwrap_or_default(), expected, "{field}");
        }
    }

    #[test]
    fn the_reporter_has_a_name_and_a_plain_address() {
        assert!(Party::of_reporter("\"A, Org\" <abuse@A.example>").is_ok());
        let wrong = [
            "",
            "abuse@a.example",
            "A <a>",
            "A <@a.example>",
            "A <\u{fc}@b.example>",
        ];
        for wrong in wrong {
            assert!(Party::of_reporter(wrong).is_err(), "{wrong}");
        }
    }
}
