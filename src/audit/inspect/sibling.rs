//! URLs beside a link that cannot exist. Only computes.
//!
//! Programs have a page of their own for what they do not know, where the server says 404 at its
//! root: a path like that of the link shows it (Z. Bar-Yossef and others, "Sic Transit Gloria
//! Telae", WWW 2004, ask for one in the folder of the link).

use twox_hash::XxHash3_64;
use url::{Position, Url};

/// Numbers from here on take the place of a number of a path, which is smaller as a rule.
const NUMBERS_FROM: u64 = 900_000_000;

/// Years that folders have as names: a program would look for the rest of the path.
const YEARS: std::ops::RangeInclusive<u64> = 1970..=2099;

/// Returns a URL like `url` that cannot exist: with another number, or with another name in its last
/// folder. `None` if it would be one of the root of the host.
///
/// The same for all URLs that differ in this number or name alone.
pub(super) fn sibling(url: &Url) -> Option<Url> {
    let path = &url[Position::BeforePath..Position::AfterQuery];
    let place = number(path).or_else(|| name(path))?;
    let (before, rest) = path.split_at(place.start);
    let (replaced, after) = rest.split_at(place.end - place.start);
    let key = format!("{}{before}*{after}", url.host_str()?);
    let hash = XxHash3_64::oneshot(key.as_bytes());
    let other = if replaced.bytes().all(|byte| byte.is_ascii_digit()) {
        (NUMBERS_FROM + hash % (NUMBERS_FROM / 10)).to_string()
    } else {
        format!("urlspool-no-such-page-{hash:016x}")
    };
    url.join(&format!("{before}{other}{after}")).ok()
}

/// Returns the place of the last number that names a thing: one of the query, or of a folder or name
/// that is no year, month or day.
fn number(path: &str) -> Option<std::ops::Range<usize>> {
    let bytes = path.as_bytes();
    let query = path.find('?').unwrap_or(path.len());
    let name = path[..query].rfind('/').map_or(0, |slash| slash + 1);
    let extension = path[name..query].rfind('.').map_or(query, |dot| name + dot);
    let is_digit = |at: &usize| bytes.get(*at).is_some_and(u8::is_ascii_digit);
    let mut end = path.len();
    while let Some(last) = (0..end).rev().find(is_digit) {
        let start = (0..=last)
            .rev()
            .find(|at| !is_digit(at))
            .map_or(0, |at| at + 1);
        let number = start..last + 1;
        let is_escape = (1..=2).any(|before| {
            start
                .checked_sub(before)
                .is_some_and(|at| bytes[at] == b'%')
        });
        let in_extension = extension <= start && start < query;
        if !is_escape && !in_extension && (query < start || !is_date(&path[number.clone()])) {
            return Some(number);
        }
        end = start;
    }
    None
}

/// Returns `true` for the digits of a day, a month or a year.
fn is_date(digits: &str) -> bool {
    digits.len() <= 2 || digits.parse().is_ok_and(|number| YEARS.contains(&number))
}

/// Returns the place of the last value of the query, or of the last name of the path without its
/// extension.
fn name(path: &str) -> Option<std::ops::Range<usize>> {
    if let Some(query) = path.find('?') {
        let value = path[query..].rfind('=').map(|sign| query + sign + 1)?;
        return (value < path.len()).then_some(value..path.len());
    }
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
            ("/view.php?id=7", "/view.php?id=9", ""),
            ("/questions/123456/a-lamp", "/questions/9", "/a-lamp"),
            ("/lamp-p-4711.html", "/lamp-p-9", ".html"),
            (
                "/2004/05/lamp.html",
                "/2004/05/urlspool-no-such-page-",
                ".html",
            ),
            ("/~keeper/", "/~urlspool-no-such-page-", "/"),
            ("/a%2012/lamp.mp3", "/a%2012/urlspool-no-such-page-", ".mp3"),
            ("/watch?v=lamp", "/watch?v=urlspool-no-such-page-", ""),
        ] {
            let url = Url::parse(&format!("http://a.example{link}")).unwrap();
            let sibling = sibling(&url).unwrap();
            let path = &sibling[Position::BeforePath..];
            assert!(
                path.starts_with(before) && path.ends_with(after),
                "{link}: {path}"
            );
            assert_ne!(sibling, url);
        }
    }

    #[test]
    fn links_at_the_root_have_none_and_those_of_one_program_have_one() {
        let of = |link: &str| sibling(&Url::parse(&format!("http://a.example{link}")).unwrap());
        for link in ["/", "/lamp.html", "/lamp/", "/lamp?", "/lamp?lit"] {
            assert_eq!(of(link), None, "{link}");
        }
        assert_eq!(of("/view.php?id=7"), of("/view.php?id=12"));
        assert_ne!(of("/view.php?id=7"), of("/show.php?id=7"));
    }
}
