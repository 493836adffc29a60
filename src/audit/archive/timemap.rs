//! Asks a server for the TimeMap of a URL: the list of its mementos, in the link format (RFC 7089,
//! section 5; RFC 6690).
//!
//! A TimeMap does not say what a memento shows. So the nearest ones are asked for, at the same server
//! alone, until one has a 2xx status.

use jiff::civil::DateTime;
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use ureq::Agent;
use url::Url;

use super::capture::{ArchiveReply, Capture, refused, time};
use super::client::{agent, redirects, refuse_login};
use crate::audit::AuditError;
use crate::grammar::encode;
use crate::limits::{AUDIT_MEMENTOS, AUDIT_TIMEMAP_BYTES};
use crate::load::retry_after;

/// The part of a template in whose place the URL stands.
const URL_MARK: &str = "{url}";

/// A client of a server with TimeMaps.
pub(super) struct TimeMapClient {
    agent: Agent,
    template: String,
    /// The URL of the server, without the path.
    origin: url::Origin,
}

impl TimeMapClient {
    /// Creates a client. `contact` tells the server's owners whom to write to.
    pub(super) fn new(template: &str, contact: &str) -> Result<TimeMapClient, AuditError> {
        let origin = template_origin(template)?;
        Ok(TimeMapClient {
            agent: agent(template, contact)?,
            template: template.to_owned(),
            origin,
        })
    }

    /// Returns the template as the user gave it.
    pub(super) fn name(&self) -> &str {
        &self.template
    }

    /// Asks for the memento of `url` with a 2xx status that is nearest to `cited`, a time of 14
    /// digits.
    pub(super) fn ask(&self, url: &str, cited: Option<&str>) -> Result<ArchiveReply, AuditError> {
        let response = match self.agent.get(self.address(url)).call() {
            Ok(response) => response,
            Err(error) => return Ok(refused(error.to_string(), None)),
        };
        let (status, pause) = (response.status().as_u16(), retry_after(&response));
        let mut body = response.into_body();
        let body = body.with_config().limit(AUDIT_TIMEMAP_BYTES).read_to_vec();
        match (status, body) {
            (429 | 503, _) => Ok(refused(format!("HTTP status {status}"), pause)),
            (300..=399, _) => Err(redirects(&self.template, "--timemap")),
            (404, _) => Ok(ArchiveReply::Captures(Vec::new())),
            (_, Err(error)) => Ok(refused(error.to_string(), None)),
            (200..=299, Ok(body)) => Ok(self.nearest(url, mementos(&body), cited)),
            _ => Ok(ArchiveReply::Failed(format!("HTTP status {status}"))),
        }
    }

    /// Returns the address of the TimeMap of a URL.
    fn address(&self, url: &str) -> String {
        let is_in_query = self
            .template
            .split(URL_MARK)
            .next()
            .is_some_and(|start| start.contains('?'));
        let url = if is_in_query {
            encode(url.as_bytes(), |byte| {
                byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
            })
        } else {
            url.to_owned()
        };
        self.template.replace(URL_MARK, &url)
    }

    /// Asks for mementos, the nearest first, until one has a 2xx status.
    fn nearest(&self, url: &str, found: Option<Vec<Memento>>, cited: Option<&str>) -> ArchiveReply {
        let Some(mut mementos) = found else {
            return ArchiveReply::Failed("no TimeMap in the link format".to_owned());
        };
        let listed = mementos.len();
        let is_here = |memento: &Memento| {
            Url::parse(&memento.address).is_ok_and(|url| url.origin() == self.origin)
        };
        mementos.retain(is_here);
        if mementos.is_empty() && 0 < listed {
            let reason = "all mementos lie at other servers; name the TimeMap of one archive";
            return ArchiveReply::Failed(reason.to_owned());
        }
        let cited = cited.and_then(time);
        mementos.sort_by_key(|memento| {
            let distance = cited.map_or(0, |cited| {
                memento
                    .time
                    .duration_since(cited)
                    .as_secs()
                    .saturating_abs()
            });
            (distance, memento.time)
        });
        for memento in mementos.iter().take(AUDIT_MEMENTOS) {
            let status = match self.agent.get(&memento.address).call() {
                Ok(response) if matches!(response.status().as_u16(), 429 | 503) => {
                    let reason = format!("HTTP status {}", response.status().as_u16());
                    return refused(reason, retry_after(&response));
                }
                Ok(response) => response.status().as_u16(),
                Err(error) => return refused(error.to_string(), None),
            };
            if (200..300).contains(&status) {
                return ArchiveReply::Captures(vec![Capture {
                    timestamp: memento.time.strftime("%Y%m%d%H%M%S").to_string(),
                    original: url.to_owned(),
                    status: Some(status),
                    address: Some(memento.address.clone()),
                }]);
            }
        }
        if AUDIT_MEMENTOS < mementos.len() {
            let reason = format!("none of the {AUDIT_MEMENTOS} nearest mementos has a 2xx status");
            return ArchiveReply::Failed(reason);
        }
        ArchiveReply::Captures(Vec::new())
    }
}

/// Returns the origin of the server of a template.
fn template_origin(template: &str) -> Result<url::Origin, AuditError> {
    refuse_login(template)?;
    let unusable = || {
        AuditError::unusable(format!(
            "`--timemap {template}` is not the address of TimeMaps; write it with {URL_MARK} in \
             the place of the URL, like https://web.archive.org/web/timemap/link/{URL_MARK}"
        ))
    };
    if !template.contains(URL_MARK) {
        return Err(unusable());
    }
    let url = Url::parse(template).map_err(|error| unusable().caused_by(error))?;
    if !matches!(url.scheme(), "http" | "https") || !url.origin().is_tuple() {
        return Err(unusable());
    }
    Ok(url.origin())
}

/// A memento of a TimeMap.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Memento {
    address: String,
    /// Its time in UTC.
    time: DateTime,
}

/// Parses a TimeMap; `None` if it has no links. Links that are no mementos, and those without a time,
/// are passed over. Linear.
fn mementos(body: &[u8]) -> Option<Vec<Memento>> {
    let text = std::str::from_utf8(body).ok()?;
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    if rest.is_empty() {
        return Some(found);
    }
    loop {
        let link = rest.strip_prefix('<')?;
        let (address, after) = link.split_once('>')?;
        let parameters = parameters(after)?;
        let is_memento = parameters
            .value("rel")
            .is_some_and(|rel| rel.split_ascii_whitespace().any(|rel| rel == "memento"));
        let time = parameters
            .value("datetime")
            .and_then(|date| rfc2822::parse(date).ok());
        if let Some(time) = time.filter(|_| is_memento) {
            found.push(Memento {
                address: address.to_owned(),
                time: time.with_time_zone(TimeZone::UTC).datetime(),
            });
        }
        match parameters.next.map(str::trim_start) {
            None | Some("") => return Some(found),
            Some(next) => rest = next,
        }
    }
}

/// The parameters of a link, by their names.
struct Parameters<'t> {
    values: Vec<(&'t str, &'t str)>,
    /// The text after the comma that ends them; `None` at the end of the text.
    next: Option<&'t str>,
}

impl<'t> Parameters<'t> {
    fn value(&self, name: &str) -> Option<&'t str> {
        let named = |(of, _): &&(&str, &str)| *of == name;
        self.values.iter().find(named).map(|(_, value)| *value)
    }
}

/// Parses the parameters of a link: `; rel="memento"; datetime="..."`; `None` if neither a comma nor
/// the end follows.
fn parameters(text: &str) -> Option<Parameters<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(next) = rest.strip_prefix(',') {
            return Some(Parameters {
                values: found,
                next: Some(next),
            });
        }
        if rest.is_empty() {
            return Some(Parameters {
                values: found,
                next: None,
            });
        }
        let parameter = rest.strip_prefix(';')?;
        let end = parameter.find(['=', ';', ',']).unwrap_or(parameter.len());
        let (name, after) = parameter.split_at(end);
        let Some(value) = after.strip_prefix('=') else {
            rest = after;
            continue;
        };
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => value.split_at(value.find([';', ',']).unwrap_or(value.len())),
        };
        found.push((name.trim(), value));
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mementos_are_read_from_the_link_format() {
        // Section 5 of RFC 7089 has this form.
        let body = b"<http://a.test/?x=1,2;y>; rel=\"original\",\n\
            <http://r.test/timemap/link/http://a.test/>; rel=\"self\";type=\"application/link-format\"; until=\"Wed, 09 Apr 2008 20:30:51 GMT\",\n\
            <http://r.test/web/20000620180259/http://a.test/>; rel=\"first memento\"; datetime=\"Tue, 20 Jun 2000 18:02:59 GMT\"; license=x,\n\
            <http://r.test/web/1/http://a.test/,x>\n ; rel=memento;datetime=\"Wed, 09 Apr 2008 20:30:51 GMT\"\n";
        let found = mementos(body).unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|memento| format!("{} {}", memento.time, memento.address))
            .collect();
        assert_eq!(
            shown,
            [
                "2000-06-20T18:02:59 http://r.test/web/20000620180259/http://a.test/",
                "2008-04-09T20:30:51 http://r.test/web/1/http://a.test/,x"
            ]
        );
    }

    #[test]
    fn other_texts_are_no_timemaps() {
        for body in [
            &b"<html><body>"[..],
            b"{}",
            b"no",
            b"<a",
            b"<a>; rel=\"x\" y",
            b"\xff",
        ] {
            assert_eq!(mementos(body), None, "{}", body.escape_ascii());
        }
        assert_eq!(mementos(b" \n"), Some(Vec::new()));
        assert_eq!(
            mementos(b"<a>; rel=\"memento\"; datetime=\"soon\""),
            Some(Vec::new())
        );
        let unclosed = b"<a>; rel=\"memento";
        assert_eq!(mementos(unclosed), Some(Vec::new()));
    }

    #[test]
    fn the_url_stands_in_the_path_or_the_query() {
        for (template, expected) in [
            (
                "http://a.test/timemap/link/{url}",
                "http://a.test/timemap/link/http://h.test/?a=1",
            ),
            (
                "http://a.test/tm?u={url}",
                "http://a.test/tm?u=http%3A%2F%2Fh.test%2F%3Fa%3D1",
            ),
        ] {
            let client = TimeMapClient::new(template, "me@m.test").unwrap();
            assert_eq!(client.address("http://h.test/?a=1"), expected);
        }
        for template in ["http://a.test/", "{url}", "ftp://a.test/{url}"] {
            assert!(
                TimeMapClient::new(template, "me@m.test").is_err(),
                "{template}"
            );
        }
    }
}
