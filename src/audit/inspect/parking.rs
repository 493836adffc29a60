//! Signs of parked domains, each with the place that documents it.
//!
//! A sign is a host that browsers are led to, or that a page loads from: words alone also stand in
//! articles about the trade.

use url::Url;

use super::page::{Page, spaced, words};
use crate::audit::state::domain_of;

/// List of the name servers of parking services, by the warning lists of MISP.
const MISP: &str = "MISP warning lists, lists/parking-domain-ns";

/// The services that were found in three million domains.
const UCAS: &str = "github.com/carrie0307/parking-domain-detection";

/// A host of a parking service.
struct Service {
    domain: &'static str,
    citation: &'static str,
}

const fn service(domain: &'static str, citation: &'static str) -> Service {
    Service { domain, citation }
}

/// The services, by registrable domain. Registrars that also host sites are not among them.
const SERVICES: [Service; 23] = [
    service("above.com", MISP),
    service("afternic.com", MISP),
    service("bodis.com", MISP),
    service("dan.com", "github.com/dropod/issues/issues/11614"),
    service("domainmarket.com", MISP),
    service("domainsponsor.com", UCAS),
    service("dsredirection.com", MISP),
    service("fabulous.com", UCAS),
    service(
        "hugedomains.com",
        "github.com/ivanseidel/Is-Now-Illegal/issues/43",
    ),
    service("namedrive.com", UCAS),
    service("parked.com", UCAS),
    service("parkingcrew.com", UCAS),
    service("parkingcrew.net", "github.com/easylist/easylist/pull/1257"),
    service("parklogic.com", MISP),
    service("rookmedia.net", UCAS),
    service("sedo.com", MISP),
    service(
        "sedoparking.com",
        "github.com/intrigueio/intrigue-ident, checks/http/sedo.rb",
    ),
    service("smartname.com", UCAS),
    service("trafficz.com", UCAS),
    service("uniregistrymarket.link", MISP),
    service("voodoo.com", UCAS),
    service("whypark.com", UCAS),
    service("ztomy.com", MISP),
];

/// A text in the scripts of a page, in lower case and without blanks.
struct Marker {
    text: &'static str,
    meaning: &'static str,
    citation: &'static str,
}

/// Texts in scripts. They count on pages of a few words only.
const SCRIPT_MARKERS: [Marker; 2] = [
    Marker {
        text: "window.location.href=\"/lander\"",
        meaning: "leads browsers to /lander, as domains parked at GoDaddy do",
        citation: "github.com/feature-sliced/documentation/issues/807",
    },
    Marker {
        text: "sedoparkingurl",
        meaning: "holds the script of Sedo's parking pages",
        citation: "github.com/intrigueio/intrigue-ident, checks/http/sedo.rb",
    },
];

/// Maximum number of words of a page that is nothing but a redirect by script.
const STUB_WORDS: usize = 12;

/// Phrases of pages that offer their domain, or that registrars show for it. They count if the host
/// has one page for all paths.
const PHRASES: [&str; 44] = [
    "domain is for sale",
    "domain name is for sale",
    "domain may be for sale",
    "domain name may be for sale",
    "domain for sale",
    "domain name for sale",
    "buy this domain",
    "purchase this domain",
    "get this domain",
    "offer on this domain",
    "offer for this domain",
    "inquire about this domain",
    "interested in this domain",
    "domain is available for purchase",
    "domain is parked",
    "domain has been parked",
    "domain parking",
    "parked free courtesy",
    "parked domain",
    "domain has expired",
    "domain name has expired",
    "domain steht zum verkauf",
    "domain zu verkaufen",
    "domain kaufen",
    "domain ist geparkt",
    "domaine est à vendre",
    "domaine à vendre",
    "acheter ce domaine",
    "acheter ce nom de domaine",
    "dominio está en venta",
    "dominio en venta",
    "comprar este dominio",
    "dominio è in vendita",
    "dominio in vendita",
    "domínio está à venda",
    "domínio à venda",
    "domein is te koop",
    "domeinnaam is te koop",
    "domena jest na sprzedaż",
    "domena na sprzedaż",
    "domänen är till salu",
    "домен продается",
    "домен продаётся",
    "域名出售",
];

/// Returns the service that the host of `url` belongs to, unless that of the link `asked` does too.
fn service_at(asked: &Url, url: &Url) -> Option<&'static Service> {
    let [asked, domain] = [asked, url].map(|url| domain_of(url.as_str()));
    let of_domain = |service: &&Service| domain.as_deref() == Some(service.domain);
    SERVICES.iter().find(of_domain).filter(|_| asked != domain)
}

/// Returns the evidence that a redirect leads from the link `asked` to a parking service.
pub(super) fn redirect_to_service(asked: &Url, place: &Url) -> Option<String> {
    let Service { domain, citation } = service_at(asked, place)?;
    Some(format!(
        "redirected to {domain}, a parking service ({citation})"
    ))
}

/// Returns the evidence that a page belongs to a parking service: what it loads, or its script.
/// `asked` is the link.
pub(super) fn service_of(asked: &Url, last: &Url, page: &Page) -> Option<String> {
    for resource in &page.resources {
        let Ok(loaded) = last.join(resource) else {
            continue;
        };
        if let Some(Service { domain, citation }) = service_at(asked, &loaded) {
            return Some(format!(
                "loads from {domain}, a parking service ({citation})"
            ));
        }
    }
    if STUB_WORDS < words(&page.text).len() {
        return None;
    }
    let scripts = page.scripts.to_lowercase();
    let marker = SCRIPT_MARKERS
        .iter()
        .find(|marker| scripts.contains(marker.text))?;
    Some(format!("{} ({})", marker.meaning, marker.citation))
}

/// Returns the phrase by which a page offers its domain: one of [`PHRASES`], or `HOST is for sale`.
pub(super) fn offer(last: &Url, page: &Page) -> Option<String> {
    let text = spaced(&format!("{}\n{}", page.title, page.text));
    let phrase = PHRASES.iter().find(|phrase| text.contains(&spaced(phrase)));
    if let Some(phrase) = phrase {
        return Some((*phrase).to_owned());
    }
    let host = last.host_str()?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    ["is for sale", "steht zum verkauf", "est à vendre"]
        .into_iter()
        .map(|words| format!("{host} {words}"))
        .find(|phrase| text.contains(&spaced(phrase)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[track_caller]
    fn check(asked: &str, last: &str, html: &str, expected: Option<&str>) {
        let page = Page::html(html.as_bytes(), None);
        let found = service_of(&url(asked), &url(last), &page);
        match expected {
            None => assert_eq!(found, None, "{html}"),
            Some(words) => assert!(
                found.as_ref().is_some_and(|found| found.contains(words)),
                "{found:?}"
            ),
        }
    }

    #[test]
    fn hosts_and_loaded_scripts_of_services_are_signs() {
        let asked = "http://l.cern.ch/a";
        let place = url("https://www.hugedomains.com/domain_profile.cfm?d=cern");
        let sign = redirect_to_service(&url(asked), &place).unwrap();
        assert!(sign.contains("hugedomains.com"), "{sign}");
        assert_eq!(redirect_to_service(&place, &place), None);
        check(
            asked,
            asked,
            "<script src='//img.sedoparking.com/x.js'></script>",
            Some("loads from sedoparking.com"),
        );
        check(
            asked,
            asked,
            "<iframe src=https://a.bodis.com/>",
            Some("bodis.com"),
        );
        check(
            asked,
            asked,
            "<script>window.onload=function(){ window.location.href = \"/lander\" }</script>",
            Some("/lander"),
        );
    }

    #[test]
    fn words_links_and_the_services_themselves_are_none() {
        let asked = "http://l.cern.ch/a";
        check(
            asked,
            asked,
            "<a href=https://sedoparking.com/>Sedo</a> sedoparking.com",
            None,
        );
        check(asked, asked, "<img src=https://notbodis.com/x.gif>", None);
        check(
            "https://sedo.com/a",
            "https://sedo.com/b",
            "<img src=//img.sedo.com/x>",
            None,
        );
        let long = format!(
            "<script>window.location.href=\"/lander\"</script>{}",
            "word ".repeat(40)
        );
        check(asked, asked, &long, None);
    }

    #[test]
    fn offers_are_phrases_in_any_case_and_punctuation() {
        let offered = |html: &str| {
            offer(
                &url("http://www.l.cern.ch/"),
                &Page::html(html.as_bytes(), None),
            )
        };
        assert_eq!(
            offered("<title>Buy THIS domain!</title>").as_deref(),
            Some("buy this domain")
        );
        assert_eq!(
            offered("Das Wort: Domain, kaufen").as_deref(),
            Some("domain kaufen")
        );
        assert_eq!(
            offered("<b>l.cern.ch</b> is for sale").as_deref(),
            Some("l.cern.ch is for sale")
        );
        assert_eq!(offered("域名 出售").as_deref(), Some("域名出售"));
        assert_eq!(offered("The house is for sale in this domain."), None);
    }

    #[test]
    fn services_are_sorted_and_none_is_twice() {
        assert!(SERVICES.is_sorted_by(|one, next| one.domain < next.domain));
    }
}
