//! Recognition of redirectors, offline: the target is read out of the redirector's URL.
//!
//! One level at a time: the caller decides how many levels to follow. Opaque URLs (short links, Mimecast) have no target.

mod address;
mod table;
mod target;

use memchr::memmem;

use super::components::UrlComponents;
use address::{QueryParameter, WebAddress};
use table::{REDIRECTORS, Redirector, TargetForm};
use target::target;

/// The target of a redirector's URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectTarget {
    /// The target, with its fragment if it has one. Begins with a scheme and `://`, and holds no white space.
    pub url: Vec<u8>,
    /// The name of the redirector: `safelinks`, `urldefense-v1`, ...
    pub redirector: &'static str,
}

/// Returns the names of all redirectors.
pub(crate) fn redirector_names() -> impl Iterator<Item = &'static str> {
    REDIRECTORS.iter().map(|redirector| redirector.name)
}

/// Returns the target that `url` (with its fragment or without) names, if it is a known redirector's. Reads one level.
///
/// Escapes are decoded once. `None` as well if the target is cut off, relative, a script, or longer than 16 KiB. A fragment
/// after a redirector's parameters belongs to the redirector and is dropped. Linear in the length of `url`.
#[must_use]
pub fn redirect_target(url: &[u8]) -> Option<RedirectTarget> {
    target_of(&WebAddress::of(url)?)
}

/// Does the same as [`redirect_target`], given the components of `url` without its fragment.
#[must_use]
pub fn redirect_target_of(url: &[u8], components: &UrlComponents<'_>) -> Option<RedirectTarget> {
    target_of(&WebAddress::of_components(url, components)?)
}

fn target_of(address: &WebAddress<'_>) -> Option<RedirectTarget> {
    let redirector = Redirector::of(address)?;
    Some(RedirectTarget {
        url: target(redirector.form, address)?,
        redirector: redirector.name,
    })
}

/// Returns `url` without the data that identify its recipient: the same redirector's URL, which still has the same target.
///
/// `None` if there are no such data. One level: a redirector's URL inside `url` keeps its own.
#[must_use]
pub fn without_recipient(url: &[u8]) -> Option<Vec<u8>> {
    let address = WebAddress::of(url)?;
    let redirector = Redirector::of(&address)?;
    if let TargetForm::Saved = redirector.form {
        return without_token(url, &address);
    }
    let personal = redirector.recipient_parameters;
    if personal.is_empty() {
        return None;
    }
    let is_personal = |name: &[u8]| personal.iter().any(|known| known.as_bytes() == name);
    let query = memchr::memchr(b'?', url)? + 1;
    let kept: Vec<&[u8]> = url[query..]
        .split(|&byte| byte == b'&')
        .filter(|text| !is_personal(QueryParameter::of(text).name))
        .collect();
    let out = [&url[..query], &kept.join(&b'&')].concat();
    (out.len() < url.len()).then_some(out)
}

/// Removes the organisation and the token for recipient and message, which follow the first `!` after the saved bytes.
fn without_token(url: &[u8], address: &WebAddress<'_>) -> Option<Vec<u8>> {
    let table = url.len() - address.rest.len() + memmem::find(address.rest, b"__;")?;
    let end = table + memchr::memchr(b'!', &url[table..])? + 1;
    (end < url.len()).then(|| url[..end].to_vec())
}

#[cfg(test)]
mod tests {
    use super::table::{HOST_FILTER, is_host};
    use super::target::TARGET_BYTES;
    use super::*;
    use data_encoding::BASE64URL_NOPAD;
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
        redirect_target(url.as_bytes()).map(|found| String::from_utf8(found.url).unwrap())
    }

    #[test]
    fn each_redirector_gives_its_target_and_a_chain_gives_it_level_by_level() {
        for (name, form) in cases() {
            let url = filled(form);
            assert_eq!(
                redirect_target(url.as_bytes()).map(|found| found.redirector),
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

    /// The prefilter by a label excludes no host of the table.
    #[test]
    fn every_host_of_the_table_passes_the_filter() {
        for pattern in REDIRECTORS.iter().flat_map(|row| row.hosts) {
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
                    is_host(host.as_bytes(), pattern) && HOST_FILTER.may_name(host.as_bytes()),
                    "{host}"
                );
                assert!(
                    HOST_FILTER.may_name(host.to_ascii_uppercase().as_bytes()),
                    "{host}"
                );
            }
        }
        assert!(
            !HOST_FILTER.may_name(b"www.example.org")
                && !HOST_FILTER.may_name(b"localhost")
                && !HOST_FILTER.may_name(b"")
        );
    }

    #[test]
    fn urls_without_a_redirector_or_a_target_stay() {
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
    fn saved_bytes_come_back_in_runs() {
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

    proptest! {
        #[test]
        fn any_result_is_a_target_with_or_without_the_recipient(
            form in proptest::sample::select(cases().map(|(_, form)| filled(form)).collect::<Vec<_>>()),
            at in any::<proptest::sample::Index>(),
            noise in proptest::collection::vec(any::<u8>(), 0..9),
        ) {
            let mut url = form.into_bytes();
            let at = at.index(url.len());
            url.splice(at..url.len().min(at + noise.len() / 2), noise);
            let found = redirect_target(&url);
            prop_assert!(found.iter().all(|to| memmem::find(&to.url, b"://").is_some() && !to.url.contains(&b' ')));
            let without = without_recipient(&url).unwrap_or(url);
            prop_assert!(found.is_none() || redirect_target(&without) == found);
        }
    }
}
