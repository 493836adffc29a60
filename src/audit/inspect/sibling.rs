//! URLs beside a link that cannot exist. Only computes.
//!
//! Programs have a page of their own for what they do not know, where the server says 404 at its
//! root: a path like that of the link shows it (Z. Bar-Yossef and others, "Sic Transit Gloria
//! Telae", WWW 2004, ask for one in the folder of the link).

use std::ops::Range;

use twox_hash::XxHash3_64;
use url::Url;

/// Numbers from here on take the place of a number of a path, which is smaller as a rule.
const NUMBERS_FROM: u64 = 900_000_000;

/// Years that folders have as names: a program would look for the rest of the path.
const YEARS: std::ops::RangeInclusive<u32> = 1970..=2099;

/// Returns a URL like `url` that cannot exist: with another number in the place of each that may name
/// a thing, or with another name in its last folder. `None` if it would be a name at the root of the
/// host, or if it has a query: programs show the same page for another language, session or page of
/// a list.
///
/// Links that differ in these numbers or this name alone have the same one.
pub(super) fn sibling(url: &Url) -> Option<Url> {
    if url.query().is_some() {
        return None;
    }
    let path = url.path();
    let mut places = numbers(path);
    let has_number = !places.is_empty();
    if !has_number {
        places.push(name(path)?);
    }
    let mut kept = Vec::with_capacity(places.len() + 1);
    let mut end = 0;
    for place in places {
        kept.push(&path[end..place.start]);
        end = place.end;
    }
    kept.push(&path[end..]);
    let key = format!("{}{}", url.host_str()?, kept.join("*"));
    let hash = XxHash3_64::oneshot(key.as_bytes());
    let other = if has_number {
        (NUMBERS_FROM + hash % (NUMBERS_FROM / 10)).to_string()
    } else {
        format!("urlspool-no-such-page-{hash:016x}")
    };
    Some(at_path(url, &kept.join(&other)))
}

/// Returns the URL of a path on the host of `url`. A path that begins with two slashes names no other
/// host.
pub(super) fn at_path(url: &Url, path: &str) -> Url {
    let mut url = url.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// Returns the places of the numbers of a path that may name a thing: all but years, months, days,
/// short ones in names, and those of escapes and of the extension.
fn numbers(path: &str) -> Vec<Range<usize>> {
    let bytes = path.as_bytes();
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    let extension = path[name..].rfind('.').map_or(path.len(), |dot| name + dot);
    let has_year = path.split('/').any(is_year);
    let mut numbers = Vec::new();
    let mut start = 0;
    while start < extension {
        let digits = bytes[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let end = start + digits.count();
        if start == end {
            start += 1;
            continue;
        }
        let byte_before = |count: usize| start.checked_sub(count).map(|at| bytes[at]);
        let is_escape = (1..=2).any(|count| byte_before(count) == Some(b'%'));
        let is_folder =
            byte_before(1) == Some(b'/') && bytes.get(end).is_none_or(|byte| *byte == b'/');
        let names_a_thing = match end - start {
            1 | 2 => is_folder && !has_year,
            _ => !is_year(&path[start..end]),
        };
        if !is_escape && names_a_thing {
            numbers.push(start..end);
        }
        start = end;
    }
    numbers
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && text.parse().is_ok_and(|year| YEARS.contains(&year))
}

/// Returns the place of the last name of a path without its extension.
fn name(path: &str) -> Option<Range<usize>> {
    let end = path.trim_end_matches('/').len();
    let start = path[..end].rfind('/')? + 1;
    let tilde = usize::from(path[start..end].starts_with('~'));
    if start == 1 && tilde == 0 {
        return None;
    }
    let stem = path[start..end].find('.').map_or(end, |dot| start + dot);
    (start + tilde < stem).then_some(start + tilde..stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sibling_has_another_number_or_name() {
        for (link, before, after) in [
            ("/item/41893", "/item/9", ""),
            ("/news/7/a-lamp", "/news/9", "/a-lamp"),
            ("/item/41893/lamp-of-2500-lumen", "/item/9", "-lumen"),
            ("/2004/5/7/lamp-500.html", "/2004/5/7/lamp-9", ".html"),
            ("/questions/123456/a-lamp", "/questions/9", "/a-lamp"),
            ("/lamp-p-4711.html", "/lamp-p-9", ".html"),
            (
                "/2004/05/lamp.html",
                "/2004/05/urlspool-no-such-page-",
                ".html",
            ),
            ("/~keeper/", "/~urlspool-no-such-page-", "/"),
            ("/a%2012/lamp.mp3", "/a%2012/urlspool-no-such-page-", ".mp3"),
            ("/mp3/lamp2", "/mp3/urlspool-no-such-page-", ""),
        ] {
            let url = Url::parse(&format!("http://a.example{link}")).unwrap();
            let sibling = sibling(&url).unwrap();
            let path = sibling.path();
            assert!(
                path.starts_with(before) && path.ends_with(after),
                "{link}: {path}"
            );
            assert_ne!(sibling, url);
        }
    }

    #[test]
    fn a_sibling_is_on_the_host_of_its_link() {
        for link in [
            "//b.example/lamp",
            "//b.example/41893",
            "//lamp",
            "/\\b.example/41893#lamp",
            "//b.example//lamp//",
            "/a/%2F%2Fb.example%2f12",
            "/f\u{e4}lle/l\u{e4}mp%",
            "/a/%1234567%",
            "//1",
        ] {
            let url = Url::parse(&format!("http://a.example:81{link}")).unwrap();
            let sibling = sibling(&url).unwrap();
            assert_eq!(sibling.origin(), url.origin(), "{link}: {sibling}");
            assert_ne!(sibling.path(), url.path(), "{link}: {sibling}");
            assert_eq!(sibling.fragment(), None);
            assert_eq!(Url::parse(sibling.as_str()), Ok(sibling));
        }
    }

    #[test]
    fn links_at_the_root_or_with_a_query_have_none_and_those_of_one_program_have_one() {
        let of = |link: &str| sibling(&Url::parse(&format!("http://a.example{link}")).unwrap());
        for link in [
            "/",
            "//",
            "/lamp.html",
            "/lamp/",
            "/lamp?lit",
            "/a/4711?page=2",
        ] {
            assert_eq!(of(link), None, "{link}");
        }
        assert_eq!(of("/item/7#a"), of("/item/12"));
        assert_eq!(of("/item/41893/lamp-500"), of("/item/7123/lamp-2500"));
        assert_ne!(of("/item/7"), of("/show/7"));
    }
}
