//! Hosts of parking services, from a list that names the source of each.
//!
//! A page is parked if a redirect leads to such a host, or if the page loads something from one.
//! Words are no sign: they also occur in articles about the trade.

use url::Url;

use super::page::Page;
use crate::audit::state::domain_of;

/// The services: a domain, and the beginning of a path after a slash; blanks; the source.
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

/// Returns the service that `url` belongs to, unless the link `asked` is of its domain too.
fn service_at(asked: &Url, url: &Url) -> Option<Service> {
    let [asked, domain] = [asked, url].map(|url| domain_of(url.as_str()));
    let path = url.path().trim_start_matches('/');
    services()
        .find(|service| domain.as_deref() == Some(service.domain) && path.starts_with(service.path))
        .filter(|_| asked != domain)
}

/// Returns the evidence that a redirect leads from the link `asked` to a parking service.
pub(super) fn redirect_to_service(asked: &Url, place: &Url) -> Option<String> {
    let Service { domain, source, .. } = service_at(asked, place)?;
    Some(format!(
        "redirected to {domain}, a parking service ({source})"
    ))
}

/// Returns the evidence that the page at `url` is loaded from a parking service. `asked` is the link.
pub(super) fn loaded_from_service(asked: &Url, url: &Url, page: &Page) -> Option<String> {
    page.loads.iter().find_map(|address| {
        let Service { domain, source, .. } = service_at(asked, &url.join(address).ok()?)?;
        Some(format!("loads from {domain}, a parking service ({source})"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn hosts_that_browsers_are_led_to_and_load_from_are_signs() {
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
    fn words_links_pictures_and_the_services_themselves_are_no_signs() {
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
    fn each_service_has_a_source_and_a_row() {
        let rows = SERVICES.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(services().count(), rows.count());
        assert!(services().all(|service| !service.source.is_empty()));
        assert!(services().is_sorted_by(|one, next| one.domain < next.domain));
    }
}
