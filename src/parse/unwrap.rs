//! Undoes redirectors, offline: the target is read out of the redirector's URL.
//!
//! One level at a time: the caller decides how deep to go. What is opaque (short links, Mimecast) stays as it is.

use std::sync::LazyLock;

use data_encoding::BASE64URL_NOPAD;
use memchr::memmem;

use super::split::{SplitUrl, cut, split};
use crate::grammar::{decode, is_scheme_char};

/// A URL that was found inside a redirector's, and which redirector that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwrapped {
    /// The target, with its fragment if it has one. Begins with a scheme and `://`, and holds no whitespace.
    pub url: Vec<u8>,
    /// The redirector's name: `safelinks`, `urldefense-v1`, ...
    pub by: &'static str,
}

/// The target that `url` (with its fragment or without) names, if it is a known redirector's. Undoes one level.
///
/// Escapes are undone once. `None` as well where the target is cut off, relative, a script, or above 16 KiB. A fragment
/// behind a redirector's parameters is the redirector's and is dropped. Linear in the length of `url`.
#[must_use]
pub fn unwrap(url: &[u8]) -> Option<Unwrapped> {
    target(&Place::of(url)?)
}

/// The same, where the components are known of `url` without its fragment.
#[must_use]
pub fn unwrap_divided(url: &[u8], parts: &SplitUrl<'_>) -> Option<Unwrapped> {
    target(&Place::divided(url, parts)?)
}

fn target(place: &Place<'_>) -> Option<Unwrapped> {
    let (by, form) = place.redirector()?;
    Some(Unwrapped {
        url: accepted(&form.target(place)?)?.to_vec(),
        by,
    })
}

/// `url` without what tells its recipient: the same redirector's URL, which still unwraps to the same target.
/// `None` where there is nothing to leave out. One level: a redirector's URL inside of `url` keeps its own.
#[must_use]
pub fn without_recipient(url: &[u8]) -> Option<Vec<u8>> {
    let place = Place::of(url)?;
    let (by, form) = place.redirector()?;
    if let Saved = form {
        // Behind the first `!` stand the organisation and a token for recipient and message.
        let table = url.len() - place.rest.len() + memmem::find(place.rest, b"__;")?;
        let end = table + memchr::memchr(b'!', &url[table..])? + 1;
        return (end < url.len()).then(|| url[..end].to_vec());
    }
    let query = memchr::memchr(b'?', url)? + 1;
    let personal: &[&[u8]] = match by {
        "safelinks" => &[b"data", b"sdata"], // The address, and what signs it.
        "teams-safelinks" => &[b"dest", b"pc", b"wau", b"si", b"sd"], // Ids of user and talk, and what is sealed.
        "urldefense-v1" | "urldefense-v2" => &[b"r", b"m", b"s"], // Recipient, message, and what signs both.
        _ => return None,
    };
    let parameters = url[query..].split(|&byte| byte == b'&');
    let kept: Vec<&[u8]> = parameters
        .filter(|text| !personal.contains(&parameter(text).0))
        .collect();
    let out = [&url[..query], &kept.join(&b'&')].concat();
    (out.len() < url.len()).then_some(out)
}

/// Name; hosts; paths; form. Hosts and paths stand between spaces. `.x.example` is that host and those beneath, `x.*` a
/// name under any country's domain. Paths are without their last slash; a final `*` stands for anything.
type Redirector = (&'static str, &'static str, &'static str, Form);

/// How a redirector's URL holds its target.
#[derive(Clone, Copy)]
enum Form {
    Escaped(&'static [&'static str]), // The first of these parameters that holds a target.
    Dashed(&'static str),             // A parameter, with `-` for `%` and `_` for `/`.
    Base64(&'static str, &'static str), // A parameter in either alphabet, behind a prefix.
    Saved, // `__`, the target with `*` for bytes that were saved, `__;`, these in base64, `!`.
    Between(&'static str, &'static str), // Behind the host, between two marks.
    Second, // Behind the path's first segment.
    Snapshot, // `/web/`, a time, `/`, the target.
}
use Form::{Base64, Between, Dashed, Escaped, Saved, Second, Snapshot};

const PROOFPOINT: &str = "urldefense.com urldefense.us urldefense.proofpoint.com";
const URL: Form = Escaped(&["url"]);
const U: Form = Escaped(&["u"]);
const TARGET_BYTES: usize = 16 << 10; // As many as are kept of any URL.

/// The first row whose host and path match counts. The formats are those that their owners published, where it says so,
/// and else what mail in public archives shows.
const REDIRECTORS: &[Redirector] = &[
    // Microsoft Defender's Safe Links, published; paths like `/ap/w-59584e83/` occur. The second host is of the US.
    (
        "safelinks",
        ".safelinks.protection.outlook.com .safelinks.protection.office365.us",
        "*",
        URL,
    ),
    // The page that Teams shows: `statics.`, `staticsint.`, and since about 2025 the second host.
    (
        "teams-safelinks",
        ".teams.cdn.office.net teams.public.onecdn.static.microsoft",
        "/evergreen-assets/*",
        URL,
    ),
    // Proofpoint URL Defense, published with a decoder ("How do I decode a rewritten URL?"): before 2015, to 2019, now.
    ("urldefense-v1", PROOFPOINT, "/v1/url", U),
    ("urldefense-v2", PROOFPOINT, "/v2/url", Dashed("u")),
    ("urldefense-v3", PROOFPOINT, "/v3/__*", Saved),
    // Google's results, Gmail, Docs; alerts of Google Scholar. Advertisements; many name their target nowhere.
    (
        "google",
        "google.*",
        "/url /scholar_url",
        Escaped(&["q", "url"]),
    ),
    (
        "google-ads",
        "google.* .googleadservices.com",
        "/aclk /pagead/aclk",
        Escaped(&["adurl"]),
    ),
    ("facebook", ".facebook.com l.messenger.com", "/l.php", U), // Meta's "Link Shim": `l.`, `lm.`, `www.`.
    ("instagram", "l.instagram.com", "", U),                    // The same.
    (
        "linkedin",
        ".linkedin.com",
        "/redir/redirect /safety/go",
        URL,
    ), // Links in posts; `/safety/go` since about 2020.
    ("youtube", ".youtube.com", "/redirect", Escaped(&["q"])),  // Links under videos.
    ("reddit", "out.reddit.com", "*", URL),                     // Links in posts: `/t3_<id>`.
    ("slack", "slack-redir.net", "/link", URL),                 // Links in messages.
    ("vk", ".vk.com", "/away.php", Escaped(&["to"])),           // Links in posts.
    (
        "steam",
        "steamcommunity.com",
        "/linkfilter",
        Escaped(&["url", "u"]),
    ), // Links in comments; `u` is the later.
    (
        "barracuda",
        "linkprotect.cudasvc.com",
        "/url",
        Escaped(&["a"]),
    ), // Barracuda Link Protect.
    ("cisco", "secure-web.cisco.com", "*", Second), // Cisco Secure Email: `/<token>/<escaped target>`.
    ("sophos", ".protection.sophos.com", "", Base64("u", "")), // Sophos Email: `?d=<host>&u=<base64>`.
    (
        "trendmicro",
        ".trendmicro.com",
        "/wis/clicktime/v1/query",
        URL,
    ), // Later forms are opaque.
    ("symantec", "clicktime.symantec.com", "*", U), // Email Security.cloud: `/<token>?h=<token>&u=`.
    ("fireeye", ".fireeye.com", "/url /v1/url", U), // `protect2.` and the like: `?k=<token>&u=`.
    // Check Point Harmony Email, once Avanan: `/v2/[r01/]___<target>___.<base64>`.
    (
        "avanan",
        "url.avanan.click protect.checkpoint.com",
        "/v2/*",
        Between("___", "___."),
    ),
    ("duckduckgo", ".duckduckgo.com", "/l", Escaped(&["uddg"])), // Results.
    ("bing", ".bing.com", "/ck/a", Base64("u", "a1")), // Results; `a1` marks the base64 of an absolute URL.
    // Yahoo's results, `/RU=<escaped target>/RK=2/...`; news and results before 2016, `/*http://` or `/**http%3a//`.
    ("yahoo", "r.search.yahoo.com", "*", Between("/RU=", "/RK=")),
    (
        "yahoo",
        ".rds.yahoo.com .rd.yahoo.com",
        "*",
        Between("/*", ""),
    ),
    ("wayback", ".archive.org", "/web/*", Snapshot), // The Wayback Machine, published: `/web/<time>[id_]/<target>`.
];

/// A URL of the web, divided as redirectors are told from one another.
struct Place<'a> {
    host: &'a [u8],
    path: &'a [u8],
    query: &'a [u8],
    rest: &'a [u8], // Everything behind host and port, with the fragment.
}

impl<'a> Place<'a> {
    fn of(url: &'a [u8]) -> Option<Place<'a>> {
        if !url
            .get(..4)
            .is_some_and(|start| start.eq_ignore_ascii_case(b"http"))
        {
            return None;
        }
        Place::divided(url, &split(cut(url, b'#').0))
    }

    /// The place of `url`, which without its fragment has these components.
    fn divided(url: &'a [u8], parts: &SplitUrl<'a>) -> Option<Place<'a>> {
        let web = parts.scheme.eq_ignore_ascii_case(b"http")
            || parts.scheme.eq_ignore_ascii_case(b"https");
        let host = parts.host.filter(|_| web)?;
        let behind = &url[parts.scheme.len() + 3..];
        let authority = behind
            .iter()
            .position(|byte| b"/\\?#".contains(byte))
            .unwrap_or(behind.len());
        let host = host.strip_suffix(b".").unwrap_or(host);
        let path = parts.path.strip_suffix(b"/").unwrap_or(parts.path);
        Some(Place {
            host,
            path,
            query: parts.query.unwrap_or_default(),
            rest: &behind[authority..],
        })
    }

    fn redirector(&self) -> Option<(&'static str, Form)> {
        if !MARKS.may_name(self.host) {
            return None;
        }
        let is_path = |path: &str| match path.strip_suffix('*') {
            Some(start) => self.path.starts_with(start.as_bytes()),
            None => self.path == path.as_bytes(),
        };
        let host = self.host.to_ascii_lowercase();
        let is_host = |pattern: &&str| is_host(&host, pattern);
        let mut rows = ROWS.iter();
        rows.find(|row| row.hosts.iter().any(is_host) && row.paths.iter().any(|path| is_path(path)))
            .map(|row| (row.by, row.form))
    }
}

/// Name and value of what stands between two `&`. In text that was HTML each is an `&amp;`.
fn parameter(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    cut(text.strip_prefix(b"amp;").unwrap_or(text), b'=')
}

/// A row of [`REDIRECTORS`], divided.
struct Row {
    by: &'static str,
    hosts: Vec<&'static str>,
    paths: Vec<&'static str>,
    form: Form,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let divided = |text: &'static str| text.split(' ').collect();
    let row = |&(by, hosts, paths, form): &Redirector| Row {
        by,
        hosts: divided(hosts),
        paths: divided(paths),
        form,
    };
    REDIRECTORS.iter().map(row).collect()
});

/// What the labels are like by which redirectors' hosts are told from nearly all others.
struct Marks {
    /// For the length of a label, which five bits its first letter can have.
    letters: [u32; 32],
}

static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let mut marks = Marks { letters: [0; 32] };
    for pattern in ROWS.iter().flat_map(|row| &row.hosts) {
        // A name under any country's domain stands where the others have theirs.
        let host = pattern.replace(".*", ".com");
        let label = second_level(host.as_bytes()).0;
        marks.letters[label.len() % 32] |= 1 << (label[0] & 0x1F);
    }
    marks
});

impl Marks {
    /// Whether a host, in any case, may be a redirector's.
    fn may_name(&self, host: &[u8]) -> bool {
        let is_marked = |label: &[u8]| {
            label
                .first()
                .is_some_and(|&first| self.letters[label.len() % 32] >> (first & 0x1F) & 1 == 1)
        };
        let (second, third) = second_level(host);
        is_marked(second) || (second.len() <= b"com".len() && is_marked(third))
    }
}

/// The last label but one of a host, and the one before that.
fn second_level(host: &[u8]) -> (&[u8], &[u8]) {
    let mut labels = host.rsplit(|&byte| byte == b'.').skip(1);
    (
        labels.next().unwrap_or_default(),
        labels.next().unwrap_or_default(),
    )
}

/// Whether a host in lower case is one that the pattern stands for.
fn is_host(host: &[u8], pattern: &str) -> bool {
    if let Some(name) = pattern.strip_suffix(".*") {
        return is_national(host, name);
    }
    let Some(domain) = pattern.strip_prefix('.') else {
        return host == pattern.as_bytes();
    };
    host.strip_suffix(domain.as_bytes())
        .is_some_and(|beneath| matches!(beneath.last(), None | Some(b'.')))
}

/// Whether the host is that name, or one beneath it, under `com`, `us`, `co.uk` or the like.
fn is_national(host: &[u8], name: &str) -> bool {
    let commercial = |label: &[u8]| matches!(label, b"com" | b"co");
    let mut labels = host.rsplit(|&byte| byte == b'.');
    let last = labels.next().unwrap_or_default();
    let mut next = labels.next();
    if last.len() == 2 && next.is_some_and(commercial) {
        next = labels.next();
    }
    (last.len() == 2 || commercial(last)) && next == Some(name.as_bytes())
}

impl Form {
    fn target(self, place: &Place<'_>) -> Option<Vec<u8>> {
        let parameters = place.query.split(|&byte| byte == b'&').map(parameter);
        let value = |name: &str| {
            parameters
                .clone()
                .find(|(found, _)| *found == name.as_bytes())?
                .1
        };
        match self {
            Escaped(names) => names
                .iter()
                .filter_map(|name| value(name))
                .map(decode)
                .find(|to| accepted(to).is_some()),
            Dashed(name) => Some(decode(&replaced(value(name)?, *b"-_", *b"%/"))),
            Base64(name, prefix) => base64(decode(value(name)?).strip_prefix(prefix.as_bytes())?),
            Saved => saved(place.rest.strip_prefix(b"/v3/__")?),
            Between(start, end) => {
                let text = &place.rest[memmem::find(place.rest, start.as_bytes())? + start.len()..];
                let text = &text[..memmem::rfind(text, end.as_bytes())?];
                Some(bare(
                    &text[text.iter().take_while(|byte| b"*-".contains(byte)).count()..],
                ))
            }
            Second => Some(bare(cut(place.rest.strip_prefix(b"/")?, b'/').1?)),
            Snapshot => {
                let (time, target) = cut(place.rest.strip_prefix(b"/web/")?, b'/');
                let (digits, kind) =
                    time.split_at(time.iter().take_while(|byte| byte.is_ascii_digit()).count());
                let known = (1..=14).contains(&digits.len())
                    && matches!(kind, [] | [b'a'..=b'z', b'a'..=b'z', b'_']);
                target.filter(|_| known).map(bare)
            }
        }
    }
}

fn replaced(text: &[u8], from: [u8; 2], to: [u8; 2]) -> Vec<u8> {
    text.iter()
        .map(|byte| {
            from.iter()
                .position(|from| from == byte)
                .map_or(*byte, |at| to[at])
        })
        .collect()
}

fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let end = text
        .iter()
        .rposition(|&byte| byte != b'=')
        .map_or(0, |last| last + 1);
    BASE64URL_NOPAD
        .decode(&replaced(&text[..end], *b"+/", *b"-_"))
        .ok()
}

/// A target in a path, where it may stand as it is. Then its escapes are its own, and a server or a mailer that tidies
/// paths may have left `:/` of its `://`.
fn bare(text: &[u8]) -> Vec<u8> {
    let mut text = if text[scheme_len(text)..].starts_with(b":/") {
        text.to_vec()
    } else {
        decode(text)
    };
    let colon = scheme_len(&text);
    if text[colon..].starts_with(b":/") && text.get(colon + 2) != Some(&b'/') {
        text.insert(colon + 1, b'/');
    }
    text
}

fn scheme_len(text: &[u8]) -> usize {
    text.iter()
        .take_while(|byte| is_scheme_char(**byte))
        .count()
}

/// `*` is the next saved byte; `**` and a character of base64 are so many of them, from 2 to 65.
fn saved(rest: &[u8]) -> Option<Vec<u8>> {
    const CODES: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let end = memmem::find(rest, b"__;")?;
    let table = base64(cut(&rest[end + 3..], b'!').0)?;
    let (text, mut octets, mut out) = (decode(&rest[..end]), &table[..], Vec::new());
    let mut text = &text[..];
    while let Some(star) = memchr::memchr(b'*', text) {
        let (run, behind) = match &text[star + 1..] {
            [b'*', code, behind @ ..] => {
                (CODES.iter().position(|known| known == code)? + 2, behind)
            }
            behind => (1, behind),
        };
        let (these, others) = octets.split_at_checked(run)?;
        out.extend([&text[..star], these].concat());
        (text, octets) = (behind, others);
    }
    out.extend(text);
    Some(bare(&out))
}

/// The target without whitespace around it (as browsers read it), if it is one.
fn accepted(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii();
    let (scheme, rest) = text.split_at(scheme_len(text));
    let script = ["javascript", "vbscript", "data"]
        .iter()
        .any(|name| scheme.eq_ignore_ascii_case(name.as_bytes()));
    let first = rest.strip_prefix(b"://")?.first()?;
    let holds =
        scheme.first().is_some_and(u8::is_ascii_alphabetic) && !script && !b"/?#".contains(first);
    let blank = |c: char| c.is_whitespace() || c.is_control();
    (holds && text.len() <= TARGET_BYTES && !String::from_utf8_lossy(text).chars().any(blank))
        .then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Redirector and URL. {E} is the target escaped, {D} with dashes, {T} as it is, {B} in base64.
    const CASES: &str = "
safelinks https://nam11.SafeLinks.protection.outlook.com/?url={E}&amp;data=02%7C01%7Cme%40m.example%7C0&amp;sdata=k%3D
teams-safelinks https://statics.teams.cdn.office.net/evergreen-assets/safelinks/1/atp-safelinks.html?url={E}&si=1
urldefense-v1 https://urldefense.proofpoint.com/v1/url?u={E}&k=o%3D%0A&r=me%0A&amp;m=m%0A&amp;s=d3
urldefense-v3 https://urldefense.com/v3/__https:/t.example/*7E?b=c&d*e__;JSM!!org!token$
trendmicro https://x-ctp.trendmicro.com:443/wis/clicktime/v1/query?url={E}&umid=x
urldefense-v2 https://urldefense.com/v2/url?u={D}&d=DwMFaQ&c=c&r=r-E_&m=m&s=s&e=   vk https://m.vk.com/away.php?to={E}
sophos https://eu-central-1.protection.sophos.com?d=t.example&u={B}%3D&i=x   yahoo http://us.rd.yahoo.com/news/**{T}
google-ads https://www.googleadservices.com/pagead/aclk?sa=L&adurl={E}   cisco https://secure-web.cisco.com/1aB-_c/{E}
yahoo https://r.search.yahoo.com/_ylt=x;_ylu=y/RV=2/RU={E}/RK=2/RS=z-   instagram https://l.instagram.com/?u={E}&e=x
barracuda https://linkprotect.cudasvc.com/url?a={E}&c=E,1,x,,&typo=1   facebook http://lm.facebook.com/l.php?u={E}&h=x
youtube https://www.youtube.com/redirect?event=comments&q={E}   google https://www.google.com/url?q=some+words&url={E}
fireeye https://protect2.fireeye.com/v1/url?k=x&q=1&u={E}   wayback http://web.archive.org./web/20010203040506id_/{T}
symantec https://clicktime.symantec.com/15x?h=x=&u={E}   avanan https://url.avanan.click/v2/r01/___{T}___.YXAz
linkedin https://www.linkedin.com/safety/go/?url={E}   google http://www.google.co.uk/url?sa=t&q={E}&usg=x
duckduckgo https://duckduckgo.com/l/?uddg={E}&rut=x   bing https://www.bing.com/ck/a?!&&p=x&u=a1{B}&ntb=1
reddit https://out.reddit.com/t3_x?url={E}&token=x   steam https://steamcommunity.com/linkfilter/?u={E}
slack https://slack-redir.net/link?url={E}";
    const TARGET: &str = "https://t.example/%7E?b=c&d#e";
    const ESCAPED: &str = "https%3a%2F%2Ft.example%2F%257E%3Fb%3Dc%26d%23e";

    fn cases() -> impl Iterator<Item = (&'static str, &'static str)> {
        CASES
            .split_whitespace()
            .step_by(2)
            .zip(CASES.split_whitespace().skip(1).step_by(2))
    }

    fn filled(form: &str) -> String {
        let dashed = ESCAPED.replace("%2F", "_").replace('%', "-");
        let base64 = BASE64URL_NOPAD.encode(TARGET.as_bytes());
        form.replace("{E}", ESCAPED)
            .replace("{D}", &dashed)
            .replace("{T}", TARGET)
            .replace("{B}", &base64)
    }

    fn target(url: &str) -> Option<String> {
        unwrap(url.as_bytes()).map(|found| String::from_utf8(found.url).unwrap())
    }

    #[test]
    fn each_redirector_gives_its_target_and_a_chain_gives_it_level_by_level() {
        for (by, form) in cases() {
            let url = filled(form);
            assert_eq!(
                unwrap(url.as_bytes()).map(|found| found.by),
                Some(by),
                "{url}"
            );
            assert_eq!(target(&url).as_deref(), Some(TARGET), "{url}");
            let inner = url
                .replace('%', "%25")
                .replace('&', "%26")
                .replace('#', "%23");
            assert_eq!(
                target(&format!("https://l.facebook.com/l.php?u={inner}&h=x")),
                Some(url)
            );
        }
        assert!(
            REDIRECTORS
                .iter()
                .all(|(by, ..)| cases().any(|(case, _)| case == *by))
        );
    }

    /// What is told by a label leaves out no host of the table.
    #[test]
    fn every_host_of_the_table_is_marked() {
        for pattern in ROWS.iter().flat_map(|row| &row.hosts) {
            let beneath = pattern
                .strip_prefix('.')
                .map(|domain| format!("a.{domain}"));
            let national = ["com", "de", "co.uk", "com.au"]
                .map(|country| pattern.replace(".*", &format!(".{country}")));
            for host in national
                .iter()
                .chain(&beneath)
                .map(|host| host.trim_start_matches('.'))
            {
                assert!(
                    is_host(host.as_bytes(), pattern) && MARKS.may_name(host.as_bytes()),
                    "{host}"
                );
                assert!(
                    MARKS.may_name(host.to_ascii_uppercase().as_bytes()),
                    "{host}"
                );
            }
        }
        assert!(
            !MARKS.may_name(b"www.example.org")
                && !MARKS.may_name(b"localhost")
                && !MARKS.may_name(b"")
        );
    }

    #[test]
    fn what_is_no_redirector_or_names_no_target_stays() {
        let urls = "
https://safelinks.protection.outlook.com.evil.example/?url={E} https://evilsafelinks.protection.outlook.com/?url={E}
https://urldefense.com/v3/__https://t.example/**B__;Iw!!o!t$ https://www.google.com/url?q=JavaScript://t.example/alert
https://www.google.com/url?q=http%3A%2F%2Ft.example%2Fa%0Ab https://www.google.com/url?q=javascript:alert(1)
https://url.avanan.click/v2/___https://t.exam https://google.com.evil.example/url?q={E} ftp://www.google.com/url?q={E}
https://www.google.com/url?q=//t.example/ https://web.archive.org/web/2001*/{T} https://www.google.com/url?q=http://
https://www.google.com/search?q={E} https://google.evil.co/url?q={E} https://www.google.com/url?sa=t";
        let long = format!(
            "https://www.google.com/url?q=http://{}",
            "a".repeat(TARGET_BYTES)
        );
        urls.split_whitespace()
            .chain([&*long])
            .for_each(|url| assert_eq!(target(&filled(url)), None, "{url}"));
    }

    #[test]
    fn saved_octets_come_back_in_runs() {
        let table = BASE64URL_NOPAD.encode(format!("{}\u{ed}+", "#".repeat(65)).as_bytes());
        let found = target(&format!(
            "https://urldefense.us/v3/__http://t.example/**_a**A*__;{table}!!o!t$"
        ));
        assert_eq!(
            found,
            Some(format!("http://t.example/{}a\u{ed}+", "#".repeat(65)))
        );
    }

    #[test]
    fn the_recipient_can_be_left_out() {
        let without = |url: &str| {
            without_recipient(url.as_bytes()).map(|url| String::from_utf8(url).unwrap())
        };
        let bare =
            "https://a.safelinks.protection.outlook.com/?amp;url=http://t.example/&reserved=0";
        let told = bare
            .replace("amp;url", "data=me&amp;url")
            .replace("&reserved", "&amp;sdata=x&reserved");
        assert_eq!(
            (without(&told).as_deref(), without(bare)),
            (Some(bare), None)
        );
        let bare = "https://urldefense.com/v3/__http://t.example/!__;!";
        assert_eq!(
            without(&format!("{bare}!org!token$")).as_deref(),
            Some(bare)
        );
    }

    proptest! {
        #[test]
        fn what_comes_out_of_anything_is_a_target_with_the_recipient_or_without(
            form in proptest::sample::select(cases().map(|(_, form)| filled(form)).collect::<Vec<_>>()),
            at in any::<proptest::sample::Index>(),
            noise in proptest::collection::vec(any::<u8>(), 0..9),
        ) {
            let mut url = form.into_bytes();
            let at = at.index(url.len());
            url.splice(at..url.len().min(at + noise.len() / 2), noise);
            let found = unwrap(&url);
            prop_assert!(found.iter().all(|to| memmem::find(&to.url, b"://").is_some() && !to.url.contains(&b' ')));
            let without = without_recipient(&url).unwrap_or(url);
            prop_assert!(found.is_none() || unwrap(&without) == found);
        }
    }
}
