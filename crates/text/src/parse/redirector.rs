//! Recognizes redirectors, offline: reads the target out of the redirector's URL, with one
//! function for each form.
//!
//! In any other URL, a parameter whose value is a whole URL is a target.
//!
//! One level at a time: the caller decides how many levels to follow. Opaque URLs (short links,
//! Mimecast) have no target. The known redirectors are in `redirector/table.rs`, and those that
//! mail gateways put in place of a link without its target.

mod table;

use data_encoding::BASE64URL_NOPAD;
use memchr::memmem;

use super::components::{UrlComponents, components};
use crate::byte_scan::{is_one_of, prefix_len, starts_with_caseless};
use crate::grammar::{BareRequirement, Scheme, decode, is_scheme_char};
use crate::limits::QUERY_TARGETS;
use crate::scan::{CutText, HostAndPort, cut, plausible_host};
use crate::span::Span;
use table::{OPAQUE_REWRITERS, REDIRECTORS, Redirector, TargetForm, is_host};

/// The target of a redirector's URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectTarget {
    /// The target, with its fragment if it has one. Starts with a scheme and `://`, and contains
    /// no white space.
    pub url: Vec<u8>,
    /// Name of the redirector: `safelinks`, `urldefense-v1`, ..., or [`QUERY_TARGET`].
    pub redirector: &'static str,
}

/// Name for targets in the query of a URL of no known redirector.
pub const QUERY_TARGET: &str = "query";

/// Returns the names of all redirectors, and [`QUERY_TARGET`].
pub fn redirector_names() -> impl Iterator<Item = &'static str> {
    let names = REDIRECTORS.iter().map(|redirector| redirector.name);
    names.chain([QUERY_TARGET])
}

/// Returns the targets that `url` (with or without its fragment) names: the target of a known
/// redirector, or the query values that are whole URLs, at most [`QUERY_TARGETS`] plus one. Reads
/// one level.
///
/// Escapes are decoded once. A target that is cut off, relative, a script, or longer than 16 KiB is
/// left out. A fragment after a redirector's parameters belongs to the redirector and is dropped.
/// Linear in the length of `url`.
#[must_use]
pub fn redirect_targets(url: &[u8]) -> Vec<RedirectTarget> {
    WebAddress::of(url).map_or_else(Vec::new, |address| targets_of(&address))
}

/// Does the same as [`redirect_targets`], given the components of `url` without its fragment.
#[must_use]
pub fn redirect_targets_of(url: &[u8], components: &UrlComponents<'_>) -> Vec<RedirectTarget> {
    let address = WebAddress::of_components(url, components);
    address.map_or_else(Vec::new, |address| targets_of(&address))
}

/// A program that replaced a link with a URL of its service, which does not contain the link's
/// target.
pub(super) struct LinkRewriter {
    /// The host of the target, if the URL names it.
    pub(super) target_host: Option<Vec<u8>>,
}

impl LinkRewriter {
    /// Returns the rewriter that created `url`; `None` if it is not a known one.
    pub(super) fn of(url: &[u8]) -> Option<LinkRewriter> {
        let address = WebAddress::of(url)?;
        if Redirector::of(&address).is_some() {
            return Some(LinkRewriter { target_host: None });
        }
        let host = address.host.to_ascii_lowercase();
        OPAQUE_REWRITERS
            .iter()
            .any(|row| {
                is_host(&host, row.host.as_bytes()) && address.path.starts_with(row.path.as_bytes())
            })
            .then(|| LinkRewriter {
                target_host: value(&address, "domain").map(decode),
            })
    }
}

fn targets_of(address: &WebAddress<'_>) -> Vec<RedirectTarget> {
    let Some(redirector) = Redirector::of(address) else {
        return query_targets(address).take(QUERY_TARGETS + 1).collect();
    };
    let target = target(redirector.form, address).map(|url| RedirectTarget {
        url,
        redirector: redirector.name,
    });
    target.into_iter().collect()
}

/// Returns the values of the query that are whole URLs of known schemes with hosts.
fn query_targets(address: &WebAddress<'_>) -> impl Iterator<Item = RedirectTarget> {
    let parameters = address.query.split(|&byte| byte == b'&');
    let values = parameters.filter_map(|text| QueryParameter::of(text).value);
    // Letters and colon may be escaped. Most values have no scheme.
    let with_scheme = values.filter(|value| {
        let rest = &value[scheme_len(value)..];
        matches!(rest.first(), Some(b':' | b'%'))
    });
    with_scheme.filter_map(|value| {
        let url = decode(value);
        let target = valid_target(&url)?;
        let scheme = Scheme::named(&target[..scheme_len(target)])?;
        (scheme.bare == BareRequirement::Host).then(|| RedirectTarget {
            url: target.to_vec(),
            redirector: QUERY_TARGET,
        })
    })
}

/// Returns `url` without the data that identify its recipient. The result is a URL of the same
/// redirector with the same target.
///
/// `None` if there are no such data. Changes one level: a redirector's URL inside `url` keeps its
/// data.
#[must_use]
pub fn without_recipient(url: &[u8]) -> Option<Vec<u8>> {
    let address = WebAddress::of(url)?;
    let redirector = Redirector::of(&address)?;
    match redirector.form {
        TargetForm::Saved => return without_token(url, &address),
        TargetForm::BeforeData => return without_data(url, &address),
        _ => {}
    }
    let personal = redirector.recipient_parameters;
    if personal.is_empty() {
        return None;
    }
    let is_personal = |name: &[u8]| personal.split(' ').any(|known| known.as_bytes() == name);
    let query = memchr::memchr(b'?', url)? + 1;
    let kept: Vec<&[u8]> = url[query..]
        .split(|&byte| byte == b'&')
        .filter(|text| !is_personal(QueryParameter::of(text).name))
        .collect();
    let out = [&url[..query], &kept.join(&b'&')].concat();
    (out.len() < url.len()).then_some(out)
}

/// Removes the organization and the token of recipient and message, which follow the first `!`
/// after the saved bytes.
fn without_token(url: &[u8], address: &WebAddress<'_>) -> Option<Vec<u8>> {
    let table = url.len() - address.rest.len() + memmem::find(address.rest, b"__;")?;
    let rest = &url[table..];
    let plain = memchr::memchr(b'!', rest).map(|at| table + at + 1);
    let escaped = memmem::find(rest, b"%21").map(|at| table + at + 3);
    let end = plain.into_iter().chain(escaped).min()?;
    (end < url.len()).then(|| url[..end].to_vec())
}

/// Removes the parameters after `data`, and the value of `data` after its numbers.
fn without_data(url: &[u8], address: &WebAddress<'_>) -> Option<Vec<u8>> {
    let kept = address.site.len() + data_parameter(address.rest)?.end;
    let out = [&url[..kept], b"&reserved=0"].concat();
    (out.len() < url.len()).then_some(out)
}

/// Maximum length in bytes of a target. By default, no more than this is kept of any URL.
const TARGET_BYTES: usize = 16 << 10;

/// Returns the target of the redirector's URL `address`, if it contains a valid one.
fn target(form: TargetForm, address: &WebAddress<'_>) -> Option<Vec<u8>> {
    let text = encoded_target(form, address)?;
    valid_target(&text).map(<[u8]>::to_vec)
}

/// Returns the decoded text at the position that `form` defines.
fn encoded_target(form: TargetForm, address: &WebAddress<'_>) -> Option<Vec<u8>> {
    match form {
        TargetForm::Escaped(names) => names
            .split(' ')
            .filter_map(|name| value(address, name))
            .map(decode)
            .find(|target| valid_target(target).is_some()),
        TargetForm::Dashed(name) => Some(decode(&translate(value(address, name)?, *b"-_", *b"%/"))),
        TargetForm::Base64(parameter, prefix) => {
            base64(decode(value(address, parameter)?).strip_prefix(prefix.as_bytes())?)
        }
        TargetForm::Saved => saved(address.rest.strip_prefix(b"/v3/__")?),
        TargetForm::Between(start, end) => between(address.rest, start, end),
        TargetForm::SecondSegment => {
            Some(in_path(cut(address.rest.strip_prefix(b"/")?, b'/').after?))
        }
        TargetForm::Snapshot => snapshot(address.rest),
        TargetForm::BeforeData => before_data(address),
    }
}

/// Returns the range of a Safe Link's `data` parameter in `rest`, up to its second number, if the
/// parameters end like a Safe Link's: `data=05%7C02%7C...&sdata=...&reserved=0`.
fn data_parameter(rest: &[u8]) -> Option<Span> {
    if !rest.ends_with(b"&reserved=0") && !rest.ends_with(b"&amp;reserved=0") {
        return None;
    }
    memmem::find_iter(rest, b"data=0").find_map(|at| {
        let name = [&b"&amp;"[..], b"&"]
            .iter()
            .find_map(|amp| rest[..at].ends_with(amp).then(|| at - amp.len()))?;
        let value = rest[at..].strip_prefix(b"data=0")?;
        let is_value = matches!(value, [one, b'%', b'7', b'C', b'0', two, b'%', b'7', b'C', ..]
            if one.is_ascii_digit() && two.is_ascii_digit());
        is_value.then(|| Span::new(name, at + b"data=05%7C02%7C".len()))
    })
}

/// Returns the target before the `data` parameter of a Safe Link that lost its beginning. Removes
/// the slash that a program inserted before the dot of the domain (`a/.com%2Fb`).
fn before_data(address: &WebAddress<'_>) -> Option<Vec<u8>> {
    let path = decode(&address.rest[..data_parameter(address.rest)?.start]);
    let domain = path.strip_prefix(b"/.").filter(|rest| {
        let letters = rest.iter().take_while(|byte| byte.is_ascii_lowercase());
        matches!(letters.count(), len @ 2..=3 if rest.get(len) == Some(&b'/'))
    });
    let path = domain.map_or(&path[..], |_| &path[1..]);
    Some([address.site, path].concat())
}

/// Returns the value of the first parameter called `name`.
fn value<'a>(address: &WebAddress<'a>, name: &str) -> Option<&'a [u8]> {
    address
        .query
        .split(|&byte| byte == b'&')
        .map(QueryParameter::of)
        .find(|parameter| parameter.name == name.as_bytes())?
        .value
}

/// Replaces each byte of `from` by the corresponding byte of `to`.
fn translate(text: &[u8], from: [u8; 2], to: [u8; 2]) -> Vec<u8> {
    text.iter()
        .map(|byte| {
            from.iter()
                .position(|from| from == byte)
                .map_or(*byte, |at| to[at])
        })
        .collect()
}

/// Decodes base64 in either alphabet, with or without padding.
fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let len = text
        .iter()
        .rposition(|&byte| byte != b'=')
        .map_or(0, |last| last + 1);
    BASE64URL_NOPAD
        .decode(&translate(&text[..len], *b"+/", *b"-_"))
        .ok()
}

/// Returns the target between the first `start` and the last `end` after it, without leading
/// asterisks and hyphens.
fn between(rest: &[u8], start: &str, end: &str) -> Option<Vec<u8>> {
    let text = &rest[memmem::find(rest, start.as_bytes())? + start.len()..];
    let text = &text[..memmem::rfind(text, end.as_bytes())?];
    let marks = prefix_len(text, |byte| b"*-".contains(byte));
    Some(in_path(&text[marks..]))
}

/// Returns the target of `/web/TIME/TARGET`. The time has 1 to 14 digits, which may be followed by
/// `id_` or a similar mark. As in the archive, a target without a scheme is an HTTP URL.
fn snapshot(rest: &[u8]) -> Option<Vec<u8>> {
    let CutText {
        before: time,
        after: target,
    } = cut(rest.strip_prefix(b"/web/")?, b'/');
    let (digits, kind) = time.split_at(prefix_len(time, u8::is_ascii_digit));
    let is_time =
        (1..=14).contains(&digits.len()) && matches!(kind, [] | [b'a'..=b'z', b'a'..=b'z', b'_']);
    let target = in_path(target.filter(|_| is_time)?);
    Some(if starts_with_domain(&target) {
        [b"http://", &target[..]].concat()
    } else {
        target
    })
}

/// Returns `true` if `text` starts with a domain and an optional port, without a scheme.
fn starts_with_domain(text: &[u8]) -> bool {
    let len = prefix_len(text, |byte| !b"/?#".contains(byte));
    let HostAndPort { host, port } = HostAndPort::of(&text[..len]);
    let last = host.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let is_port = port.is_none_or(|port| !port.is_empty() && port.iter().all(u8::is_ascii_digit));
    is_port
        && last.len() < host.len()
        && 2 <= last.len()
        && last.iter().all(u8::is_ascii_alphabetic)
        && plausible_host(host)
}

/// Returns a target that is part of a path, escaped or not. In an unescaped target the escapes are
/// the target's, and a server or mailer that tidies paths may have shortened `://` to `:/`.
fn in_path(text: &[u8]) -> Vec<u8> {
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
    prefix_len(text, |byte| is_scheme_char(*byte))
}

/// Restores the saved bytes. `*` is the next saved byte. `**` and a base64 character are a run of
/// 2 to 65 of them.
///
/// All escapes of the target are among the saved bytes. Any other escape was added on the way, by
/// a program that escaped the `!` or `*` of the form itself.
fn saved(rest: &[u8]) -> Option<Vec<u8>> {
    const RUN_LENGTHS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let rest = decode(rest);
    let end = memmem::find(&rest, b"__;")?;
    let table = base64(cut(&rest[end + 3..], b'!').before)?;
    let (mut text, mut saved, mut out) = (&rest[..end], &table[..], Vec::new());
    while let Some(star) = memchr::memchr(b'*', text) {
        let (run, after) = match &text[star + 1..] {
            [b'*', code, after @ ..] => (
                RUN_LENGTHS.iter().position(|known| known == code)? + 2,
                after,
            ),
            after => (1, after),
        };
        let (bytes, others) = saved.split_at_checked(run)?;
        out.extend([&text[..star], bytes].concat());
        (text, saved) = (after, others);
    }
    out.extend(text);
    Some(in_path(&out))
}

/// Returns the target without surrounding white space, as browsers read it, if it is valid: a
/// scheme that is not a script's, `://`, a host, no white space or control characters, and at most
/// [`TARGET_BYTES`] bytes.
fn valid_target(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii();
    let (scheme, rest) = text.split_at(scheme_len(text));
    let is_script = is_one_of(scheme, &["javascript", "vbscript", "data"]);
    let first = rest.strip_prefix(b"://")?.first()?;
    let is_valid = scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && !is_script
        && !b"/?#".contains(first);
    (is_valid
        && text.len() <= TARGET_BYTES
        && !String::from_utf8_lossy(text)
            .chars()
            .any(|c: char| c.is_whitespace() || c.is_control()))
    .then_some(text)
}

/// The components of an `http` or `https` URL that identify a redirector.
struct WebAddress<'a> {
    /// The scheme, host and port, and everything between them.
    site: &'a [u8],
    /// The host, without a final dot.
    host: &'a [u8],
    /// The path, without a final slash.
    path: &'a [u8],
    /// The query; empty if the URL has none.
    query: &'a [u8],
    /// All bytes after host and port, including the fragment.
    rest: &'a [u8],
}

impl<'a> WebAddress<'a> {
    /// Splits `url`. Returns `None` for other schemes and for URLs without a host.
    fn of(url: &'a [u8]) -> Option<WebAddress<'a>> {
        if !starts_with_caseless(url, b"http") {
            return None;
        }
        WebAddress::of_components(url, &components(cut(url, b'#').before))
    }

    /// Splits `url`, given the components of `url` without its fragment.
    fn of_components(url: &'a [u8], components: &UrlComponents<'a>) -> Option<WebAddress<'a>> {
        let is_web = is_one_of(components.scheme, &["http", "https"]);
        let host = components.host.filter(|_| is_web)?;
        let after_slashes = &url[components.scheme.len() + 3..];
        let authority_len = prefix_len(after_slashes, |byte| !b"/\\?#".contains(byte));
        let (site, rest) = url.split_at(url.len() - after_slashes.len() + authority_len);
        Some(WebAddress {
            site,
            host: host.strip_suffix(b".").unwrap_or(host),
            path: components
                .path
                .strip_suffix(b"/")
                .unwrap_or(components.path),
            query: components.query.unwrap_or_default(),
            rest,
        })
    }
}

struct QueryParameter<'a> {
    name: &'a [u8],
    /// The bytes after the `=`; `None` without a `=`.
    value: Option<&'a [u8]>,
}

impl<'a> QueryParameter<'a> {
    /// Splits the text between two `&`. In text converted from HTML, each `&` is written `&amp;`.
    fn of(text: &'a [u8]) -> QueryParameter<'a> {
        let parameter = cut(text.strip_prefix(b"amp;").unwrap_or(text), b'=');
        QueryParameter {
            name: parameter.before,
            value: parameter.after,
        }
    }
}

#[cfg(test)]
mod tests {
    use data_encoding::BASE64URL_NOPAD;
    use proptest::prelude::*;

    use super::table::{is_host, possible_rows};
    use super::*;

    /// Redirector and URL. {E} is the escaped target, {D} the one with dashes, {T} the unchanged
    /// one, and {B} the one in base64.
    const CASES: &str = "
safelinks
https://nam11.SafeLinks.protection.outlook.com/?url={E}&amp;data=02%7C01%7Cme%40m.example%7C0&amp;\
sdata=k%3D
teams-safelinks
https://statics.teams.cdn.office.net/evergreen-assets/safelinks/1/atp-safelinks.html?url={E}&si=1
urldefense-v1 https://urldefense.proofpoint.com/v1/url?u={E}&k=o%3D%0A&r=me%0A&amp;m=m%0A&amp;s=d3
urldefense-v3 https://urldefense.com/v3/__https:/t.example/*7E?b=c&d*e__;JSM!!org!token$
trendmicro https://x-ctp.trendmicro.com:443/wis/clicktime/v1/query?url={E}&umid=x
urldefense-v2 https://urldefense.com/v2/url?u={D}&d=DwMFaQ&c=c&r=r-E_&m=m&s=s&e=
vk https://m.vk.com/away.php?to={E}
sophos https://eu-central-1.protection.sophos.com?d=t.example&u={B}%3D&i=x
yahoo http://us.rd.yahoo.com/news/**{T}
google-ads https://www.googleadservices.com/pagead/aclk?sa=L&adurl={E}
cisco https://secure-web.cisco.com/1aB-_c/{E}
yahoo https://r.search.yahoo.com/_ylt=x;_ylu=y/RV=2/RU={E}/RK=2/RS=z-
instagram https://l.instagram.com/?u={E}&e=x
barracuda https://linkprotect.cudasvc.com/url?a={E}&c=E,1,x,,&typo=1
facebook http://lm.facebook.com/l.php?u={E}&h=x
youtube https://www.youtube.com/redirect?event=comments&q={E}
google https://www.google.com/url?q=some+words&url={E}
fireeye https://protect2.fireeye.com/v1/url?k=x&q=1&u={E}
wayback http://web.archive.org./web/20010203040506id_/{T}
symantec https://clicktime.symantec.com/15x?h=x=&u={E}
avanan https://url.avanan.click/v2/r01/___{T}___.YXAz
linkedin https://www.linkedin.com/safety/go/?url={E}
google http://www.google.co.uk/url?sa=t&q={E}&usg=x
duckduckgo https://duckduckgo.com/l/?uddg={E}&rut=x
bing https://www.bing.com/ck/a?!&&p=x&u=a1{B}&ntb=1
reddit https://out.reddit.com/t3_x?url={E}&token=x
steam https://steamcommunity.com/linkfilter/?u={E}   slack https://slack-redir.net/link?url={E}
urldefense-v3 https://urldefense.com/v3/__https:/t.example/*7E?b=c&d*e__;JSM%21%21o%21t$
urldefense-v3
https://urldefense.com/v3/__https%3A/t.example/%2A7E?b=c&d%2Ae__%3BJSM%21%21org%21token%24
dereferrer https://deref-web.de/mail/client/6WQ-JnuE/dereferrer/?redirectUrl={E}&lm
barracuda https://linkprotect.cudasvc.com/?a={E}
dereferrer https://deref-gmx.net/mail/client/dereferrer/?redirectUrl={E}
libraesva https://urlsand.esvalabs.com/?u={E}&e=1
edgepilot https://link.edgepilot.com/s/e2b6ca7e/M2-CUd?u={E}
trustwave http://scanmail.trustwave.com/?c=2&d=3cS&u={E}
url-protection https://checkpoint.url-protection.com/v1/r07/url?o={E}&g=N==&h=M==";
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

    fn first_target(url: &str) -> Option<RedirectTarget> {
        let mut targets = redirect_targets(url.as_bytes()).into_iter();
        targets.find(|target| target.redirector != QUERY_TARGET)
    }

    #[test]
    fn all_bytes_of_a_target_in_a_query_may_be_escaped() {
        for value in [
            "https://a.example/b",
            "https%3a%2f%2fa.example%2fb",
            "%68ttps://a.example/b",
            "%68%74%74%70%73%3A%2F%2Fa.example/b",
        ] {
            let url = format!("http://r.example/?u={value}");
            let targets = redirect_targets(url.as_bytes());
            let urls: Vec<_> = targets.iter().map(|target| target.url.as_slice()).collect();
            assert_eq!(urls, [b"https://a.example/b"], "{value}");
        }
    }

    fn target(url: &str) -> Option<String> {
        first_target(url).map(|found| String::from_utf8(found.url).unwrap())
    }

    #[test]
    fn each_redirector_is_unwrapped_and_a_chain_level_by_level() {
        for (name, form) in cases() {
            let url = filled(form);
            assert_eq!(
                first_target(&url).map(|found| found.redirector),
                Some(name),
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
                .all(|row| cases().any(|(case, _)| case == row.name))
        );
    }

    /// Checks that the prefilter by label excludes no host of the table.
    #[test]
    fn every_host_of_the_table_passes_the_filter() {
        for pattern in REDIRECTORS.iter().flat_map(|row| row.hosts.split(' ')) {
            let subdomain = pattern
                .strip_prefix('.')
                .map(|domain| format!("a.{domain}"));
            let national = ["com", "de", "co.uk", "com.au"]
                .map(|country| pattern.replace(".*", &format!(".{country}")));
            for host in national
                .iter()
                .chain(&subdomain)
                .map(|host| host.trim_start_matches('.'))
            {
                assert!(
                    is_host(host.as_bytes(), pattern.as_bytes())
                        && possible_rows(host.as_bytes()) != 0,
                    "{host}"
                );
                assert!(
                    possible_rows(host.to_ascii_uppercase().as_bytes()) != 0,
                    "{host}"
                );
            }
        }
        assert!(
            possible_rows(b"www.example.org") == 0
                && possible_rows(b"localhost") == 0
                && possible_rows(b"") == 0
        );
    }

    #[test]
    fn urls_without_a_redirector_or_a_target_are_unchanged() {
        let urls = "
https://safelinks.protection.outlook.com.evil.example/?url={E}
https://evilsafelinks.protection.outlook.com/?url={E}
https://urldefense.com/v3/__https://t.example/**B__;Iw!!o!t$
https://www.google.com/url?q=JavaScript://t.example/alert
https://www.google.com/url?q=http%3A%2F%2Ft.example%2Fa%0Ab
https://www.google.com/url?q=javascript:alert(1) https://url.avanan.click/v2/___https://t.exam
https://google.com.evil.example/url?q={E} ftp://www.google.com/url?q={E}
https://www.google.com/url?q=//t.example/ https://web.archive.org/web/2001*/{T}
https://www.google.com/url?q=http:// https://www.google.com/search?q={E}
https://google.evil.co/url?q={E} https://www.google.com/url?sa=t";
        let long = format!(
            "https://www.google.com/url?q=http://{}",
            "a".repeat(TARGET_BYTES)
        );
        urls.split_whitespace()
            .chain([&*long])
            .for_each(|url| assert_eq!(target(&filled(url)), None, "{url}"));
    }

    #[test]
    fn a_snapshot_may_have_a_target_without_a_scheme() {
        let archived = |target_text: &str| {
            target(&format!(
                "https://web.archive.org/web/20010203/{target_text}"
            ))
        };
        for text in ["t.example", "www.t.example:80/a?b#c", "t.example/x/"] {
            assert_eq!(archived(text), Some(format!("http://{text}")));
        }
        for text in [
            "",
            "t",
            "a/t.example",
            "127.1",
            "t.example:x/",
            "mailto:a@t.example",
            "%20t.example",
        ] {
            assert_eq!(archived(text), None, "{text}");
        }
    }

    #[test]
    fn saved_bytes_are_restored_in_runs() {
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
    fn the_recipient_can_be_removed() {
        let without = |url: &str| {
            without_recipient(url.as_bytes()).map(|url| String::from_utf8(url).unwrap())
        };
        let bare =
            "https://a.safelinks.protection.outlook.com/?amp;url=http://t.example/&reserved=0";
        let personal = bare
            .replace("amp;url", "data=me&amp;url")
            .replace("&reserved", "&amp;sdata=x&reserved");
        assert_eq!(
            (without(&personal).as_deref(), without(bare)),
            (Some(bare), None)
        );
        let bare = "https://urldefense.com/v3/__http://t.example/!__;!";
        assert_eq!(
            without(&format!("{bare}!org!token$")).as_deref(),
            Some(bare)
        );
    }

    #[test]
    fn a_safe_link_that_lost_its_beginning_has_its_target_before_its_data() {
        let data = "&data=05%7C02%7Cme%40m.example%7C0&sdata=k%3D&reserved=0";
        for (begin, expected) in [
            (
                "https://t.example/b%2Fc.html%23d",
                "https://t.example/b/c.html#d",
            ),
            ("https://t.example/b?c=d", "https://t.example/b?c=d"),
            ("https://t/.com%2Fb", "https://t.com/b"),
            ("https://t.example/.well%2Fb", "https://t.example/.well/b"),
        ] {
            for amp in ["&", "&amp;"] {
                let url = format!("{begin}{}", data.replace('&', amp));
                assert_eq!(target(&url).as_deref(), Some(expected), "{url}");
                let found = redirect_targets(url.as_bytes());
                assert_eq!(found[0].redirector, "safelinks");
                let without = without_recipient(url.as_bytes()).unwrap();
                assert!(!without.windows(2).any(|pair| pair == b"me"));
                assert_eq!(redirect_targets(&without), found);
                assert_eq!(without_recipient(&without), None);
            }
        }
        for other in [
            "https://t.example/b&data=05&sdata=k&reserved=0",
            "https://t.example/b&data=05%7C02%7Cme",
            "https://t.example/b?mydata=05%7C02%7Cme&reserved=0",
            "https://t.example/b&data=05%7C02%7Cme&reserved=0&c",
        ] {
            assert_eq!(target(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn results_are_valid_targets_with_or_without_the_recipient(
            form in proptest::sample::select(cases().map(|(_, form)| filled(form)).chain([
                "https://t.example/b%2Fc&data=05%7C02%7Cme&sdata=k%3D&reserved=0".to_owned()
            ]).collect::<Vec<_>>()),
            at in any::<proptest::sample::Index>(),
            noise in proptest::collection::vec(any::<u8>(), 0..9),
        ) {
            let mut url = form.into_bytes();
            let at = at.index(url.len());
            url.splice(at..url.len().min(at + noise.len() / 2), noise);
            let found = redirect_targets(&url);
            let is_url = |url: &[u8]| memmem::find(url, b"://").is_some() && !url.contains(&b' ');
            prop_assert!(found.iter().all(|to| is_url(&to.url)));
            let without = without_recipient(&url).unwrap_or(url);
            prop_assert!(found.is_empty() || redirect_targets(&without) == found);
        }
    }
}
