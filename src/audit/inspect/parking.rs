//! Signs of parked domains, each with the place that documents it.
//!
//! A sign is a host that browsers are led to, or that a page loads from: words alone also stand in
//! articles about the trade.

use url::Url;

use super::notices::has_phrase;
use super::page::{Page, lines, spaced, words};
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

/// A program of a parking service on a host that serves other things too.
const PROGRAMS: [Marker; 1] = [Marker {
    text: "google.com/adsense/domains/",
    meaning: "loads AdSense for Domains",
    citation: "github.com/uBlockOrigin/uBlock-issues/issues/1875",
}];

/// A text in the scripts of a page, in lower case and without blanks, or in an address.
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
const PHRASES: [&str; 50] = [
    "expired domain",
    "domain auction",
    "domain is up for auction",
    "abgelaufene domain",
    "domain wird versteigert",
    "domaine expiré",
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
        let program = PROGRAMS.iter().find(|known| resource.contains(known.text));
        if let Some(Marker {
            meaning, citation, ..
        }) = program
        {
            return Some(format!("{meaning} ({citation})"));
        }
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

/// The word for a domain in the languages of registrars and marketplaces: the beginning of a word.
const DOMAIN: [&str; 13] = [
    "domain-",
    "domaine-",
    "dominio-",
    "domínio-",
    "domein-",
    "domen-",
    "domän-",
    "domæne-",
    "домен-",
    "ドメイン",
    "域名",
    "도메인-",
    "alan adı-",
];

/// Words of pages that sell, hold or have lost a domain, in the same languages: for sale,
/// registered, expired, parked.
const TRADE: [&str; 70] = [
    "sale",
    "buy",
    "purchase",
    "make an offer",
    "parked",
    "parking",
    "registered",
    "registrar",
    "expired",
    "renew-",
    "verkauf-",
    "kaufen",
    "kaufpreis",
    "gebot",
    "registriert",
    "vergeben",
    "reserviert",
    "abgelaufen",
    "geparkt",
    "à vendre",
    "achet-",
    "enregistré-",
    "réservé-",
    "créé",
    "expiré-",
    "renouvel-",
    "venta",
    "compr-",
    "registrad-",
    "caducó",
    "caducad-",
    "expirad-",
    "renov-",
    "vendita",
    "acquist-",
    "registrat-",
    "scadut-",
    "venda",
    "te koop",
    "geregistreerd",
    "verlopen",
    "sprzedaż-",
    "zarejestrowan-",
    "wygasł-",
    "na prodej",
    "till salu",
    "registrera-",
    "til salg",
    "satılık",
    "продаётся",
    "продается",
    "продаж-",
    "купить",
    "зарегистрирован-",
    "припаркован-",
    "истёк",
    "истек",
    "продлить",
    "販売",
    "購入",
    "売",
    "取得",
    "登録",
    "期限",
    "出售",
    "购买",
    "注册",
    "过期",
    "到期",
    "판매",
];

/// Headings of the advertisements of parking services, in their languages.
const ADVERTISED: [&str; 14] = [
    "related searches",
    "related links",
    "sponsored listings",
    "sponsored links",
    "verwandte suchbegriffe",
    "gesponserte links",
    "recherches associées",
    "recherches apparentées",
    "liens sponsorisés",
    "búsquedas relacionadas",
    "enlaces patrocinados",
    "ricerche correlate",
    "похожие запросы",
    "関連する検索",
];

/// Maximum number of words of a line that is about the domain itself.
const TRADE_LINE_WORDS: usize = 40;

/// Maximum number of words of a page that has nothing but its domain to show.
const PARKED_WORDS: usize = 150;

/// Returns the words by which a page offers its domain, or says who holds it: one of [`PHRASES`],
/// `HOST is for sale`, or a line with a word of [`DOMAIN`] and one of [`TRADE`].
pub(super) fn offer(last: &Url, page: &Page) -> Option<String> {
    let text = spaced(&format!("{}\n{}", page.title, page.text));
    let phrase = PHRASES.iter().find(|phrase| text.contains(&spaced(phrase)));
    if let Some(phrase) = phrase {
        return Some((*phrase).to_owned());
    }
    let host = last.host_str()?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    let sale = ["is for sale", "steht zum verkauf", "est à vendre"]
        .into_iter()
        .map(|words| format!("{host} {words}"))
        .find(|phrase| text.contains(&spaced(phrase)));
    sale.or_else(|| trade_line(page))
}

fn trade_line(page: &Page) -> Option<String> {
    if 2 * PARKED_WORDS < words(&page.text).len() {
        return None;
    }
    let is_said = |line: &String| {
        let has = |phrases: &[&str]| phrases.iter().any(|phrase| has_phrase(line, phrase));
        words(line).len() <= TRADE_LINE_WORDS && has(&DOMAIN) && has(&TRADE)
    };
    let mut all = lines(&page.title).chain(lines(&page.text));
    all.find(is_said).map(|line| line.trim().to_owned())
}

/// Returns `true` if a page of a few words has the name of its domain for a title.
pub(super) fn is_named_after(domain: &str, page: &Page) -> bool {
    words(&page.text).len() <= PARKED_WORDS && spaced(&page.title).contains(&spaced(domain))
}

/// Returns the words that stand over advertisements of parking services.
pub(super) fn advertised(page: &Page) -> Option<&'static str> {
    let text = spaced(&page.text);
    ADVERTISED
        .into_iter()
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
        assert_eq!(
            offered("<p>The house is for sale.<p>Its domain is lamps."),
            None
        );
        assert_eq!(
            offered("<p>Este dominio ha sido registrado").as_deref(),
            Some("este dominio ha sido registrado")
        );
    }

    #[test]
    fn services_are_sorted_and_none_is_twice() {
        assert!(SERVICES.is_sorted_by(|one, next| one.domain < next.domain));
    }
}
