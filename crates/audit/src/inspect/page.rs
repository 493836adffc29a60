//! Parts of a page that decide its state (its text, and the addresses it loads), and a list of
//! parking services with the source of each entry.
//!
//! A page is parked if a redirect goes to such a host, or if the page loads content from one. Words
//! are not evidence, because they also occur in articles about domain parking.

use url::Url;

use crate::state::domain_of;
use urlspool_mail::decode::{ElementContent, Markup, Tag, markup, page_in_utf8};
use urlspool_text::limits::{INSPECT_RESOURCES, INSPECT_TEXT_BYTES};

/// A page as a reader sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// Title and visible text.
    pub(super) text: String,
    /// Addresses of scripts and frames, as written.
    pub(super) loads: Vec<String>,
    /// `true` if it has a script, inline or loaded.
    pub(super) has_script: bool,
    /// `true` if it asks for a password.
    pub(super) has_password: bool,
}

impl Page {
    /// Parses HTML. `charset` is the charset that the server states.
    pub(super) fn html(body: &[u8], charset: Option<&str>) -> Page {
        let html = page_in_utf8(body, charset);
        let mut reader = PageReader::default();
        markup(&html, ElementContent::AsBrowsers, &mut |token| {
            reader.token(&token);
        });
        let mut page = reader.page;
        page.text = cut(&reader.text);
        page
    }

    /// Decodes plain text.
    pub(super) fn plain(body: &[u8], charset: Option<&str>) -> Page {
        Page {
            text: cut(&String::from_utf8_lossy(&page_in_utf8(body, charset))),
            ..Page::default()
        }
    }
}

/// Truncates a text to the length that is kept.
fn cut(text: &str) -> String {
    let mut end = text.len().min(INSPECT_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

/// Elements whose content is not visible text.
const HIDDEN: [&str; 4] = ["script", "style", "noscript", "template"];

/// Elements that do not separate words.
const INLINE: [&str; 14] = [
    "a", "abbr", "b", "big", "code", "em", "font", "i", "small", "span", "strong", "sub", "tt", "u",
];

/// Builds a [`Page`] from tokens.
#[derive(Default)]
struct PageReader {
    page: Page,
    text: String,
    /// The open element of [`HIDDEN`], if any.
    hidden: Option<&'static str>,
}

impl PageReader {
    fn token(&mut self, token: &Markup<'_>) {
        match *token {
            Markup::Start(tag) => {
                self.separate(&tag.name);
                self.opened(tag);
            }
            Markup::End(name) => {
                self.hidden = self.hidden.filter(|hidden| *hidden != name);
                self.separate(name);
            }
            Markup::Text(text) if self.hidden.is_none() => self.text.push_str(text),
            Markup::Text(_) => {}
        }
    }

    fn separate(&mut self, name: &str) {
        if !INLINE.contains(&name) && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn opened(&mut self, tag: &Tag) {
        let name = tag.name.as_str();
        let is_loader = matches!(name, "script" | "iframe" | "frame");
        let address = tag.attribute("src").filter(|_| is_loader);
        let room = INSPECT_RESOURCES.saturating_sub(self.page.loads.len());
        self.page
            .loads
            .extend(address.map(str::to_owned).into_iter().take(room));
        self.page.has_password |= name == "input"
            && tag
                .attribute("type")
                .is_some_and(|kind| kind.eq_ignore_ascii_case("password"));
        self.page.has_script |= name == "script";
        self.hidden = self
            .hidden
            .or(HIDDEN.into_iter().find(|hidden| *hidden == name));
    }
}

/// The services, one per line: a domain with an optional path prefix, spaces, and the source.
const SERVICES: &str = include_str!("parking.txt");

/// A row of [`SERVICES`].
struct Service {
    domain: &'static str,
    path: &'static str,
    source: &'static str,
}

fn services() -> impl Iterator<Item = Service> {
    let rows = SERVICES.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|row| {
        let (place, source) = row.split_once(' ')?;
        let (domain, path) = place.split_once('/').unwrap_or((place, ""));
        let source = source.trim_start();
        Some(Service {
            domain,
            path,
            source,
        })
    })
}

/// Returns the service that `url` belongs to, unless the link `asked` has the same domain.
fn service_at(asked: &Url, url: &Url) -> Option<Service> {
    let [asked, domain] = [asked, url].map(|url| domain_of(url.as_str()));
    let path = url.path().trim_start_matches('/');
    services()
        .find(|service| domain.as_deref() == Some(service.domain) && path.starts_with(service.path))
        .filter(|_| asked != domain)
}

/// Returns the evidence that the link `asked` redirects to a parking service.
pub(super) fn redirect_to_service(asked: &Url, place: &Url) -> Option<String> {
    let Service { domain, source, .. } = service_at(asked, place)?;
    Some(format!(
        "redirected to {domain}, a parking service ({source})"
    ))
}

/// Returns the evidence that the page at `url` loads content from a parking service. `asked` is the
/// link.
pub(super) fn loaded_from_service(asked: &Url, url: &Url, page: &Page) -> Option<String> {
    page.loads.iter().find_map(|address| {
        let Service { domain, source, .. } = service_at(asked, &url.join(address).ok()?)?;
        Some(format!("loads from {domain}, a parking service ({source})"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_parsed_as_a_reader_sees_it() {
        let html = "<!DOCTYPE html><head><title>A lamp</title>\
            <script src=//s.test/X.js></script><style>.hidden{}</style></head>\
            <body><p>Wick<b>s</b> &amp; oil<p>No<noscript>Turn it on</noscript>\
            <script>var x = 1</script><iframe src=f.html></iframe><img src=i.gif>\
            <input type=PASSWORD><template>later</template></body>";
        let page = Page::html(html.as_bytes(), None);
        let words: Vec<_> = page.text.split_whitespace().collect();
        assert_eq!(words, ["A", "lamp", "Wicks", "&", "oil", "No"]);
        assert_eq!(page.loads, ["//s.test/X.js", "f.html"]);
        assert!(page.has_password && page.has_script);
    }

    #[test]
    fn charsets_and_limits_are_applied() {
        let page = Page::html(b"<title>Caf\xe9</title>", Some("iso-8859-1"));
        assert_eq!(page.text.trim(), "Caf\u{e9}");
        let page = Page::plain("\u{e9} ".repeat(99_999).as_bytes(), Some("utf-8"));
        assert!(page.text.len() <= INSPECT_TEXT_BYTES);
        let scripts = "<script src=x></script>".repeat(INSPECT_RESOURCES + 1);
        let page = Page::html(scripts.as_bytes(), None);
        assert_eq!(page.loads.len(), INSPECT_RESOURCES);
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[track_caller]
    fn check(asked: &str, html: &str, expected: Option<&str>) {
        let page = Page::html(html.as_bytes(), None);
        let found = loaded_from_service(&url(asked), &url(asked), &page).unwrap_or_default();
        assert!(found.starts_with(expected.unwrap_or("")), "{found}");
        assert_eq!(found.is_empty(), expected.is_none(), "{found}");
    }

    #[test]
    fn redirects_to_and_content_from_parking_services_are_evidence() {
        let asked = "http://l.cern.ch/a";
        let place = url("https://www.hugedomains.com/domain_profile.cfm?d=cern");
        let sign = redirect_to_service(&url(asked), &place).unwrap();
        assert!(sign.starts_with("redirected to hugedomains.com"), "{sign}");
        for (html, expected) in [
            (
                "<script src='//img.sedoparking.com/x.js'></script>",
                "loads from sedoparking.com",
            ),
            ("<iframe src=https://a.bodis.com/>", "loads from bodis.com"),
            (
                "<script src=//www.google.com/adsense/domains/caf.js>",
                "loads from google.com",
            ),
        ] {
            check(asked, html, Some(expected));
        }
    }

    #[test]
    fn words_links_pictures_and_the_services_themselves_are_not_evidence() {
        let asked = "http://l.cern.ch/a";
        for html in [
            "<a href=https://sedoparking.com/>Sedo</a> sedoparking.com is for sale",
            "<img src=https://img.sedo.com/badge.gif>",
            "<script src=https://notbodis.com/x.js></script>",
            "<script src=https://www.google.com/recaptcha/api.js></script>",
        ] {
            check(asked, html, None);
        }
        let own = "<script src=//img.sedo.com/x></script>";
        check("https://sedo.com/a", own, None);
        let sedo = url("https://sedo.com/b");
        assert_eq!(redirect_to_service(&sedo, &sedo), None);
    }

    #[test]
    fn each_service_has_a_source_and_one_row() {
        let rows = SERVICES.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(services().count(), rows.count());
        assert!(services().all(|service| !service.source.is_empty()));
        assert!(services().is_sorted_by(|one, next| one.domain < next.domain));
    }
}
