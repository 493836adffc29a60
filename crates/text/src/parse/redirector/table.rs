//! The known redirectors, recognized by host and path.

use std::sync::LazyLock;

use super::{WebAddress, data_parameter};

pub(super) struct Redirector {
    /// The name, as in a record's `unwrapped_by`.
    pub(super) name: &'static str,
    /// Patterns of its hosts, separated by spaces: `x.example` matches that host, `.x.example` that
    /// host and its subdomains, and `x.*` the name under any country's domain.
    pub(super) hosts: &'static str,
    /// Patterns of its paths, separated by spaces, without a final slash except for the root. A
    /// final `*` matches any bytes.
    paths: &'static str,
    /// The place and encoding of the target.
    pub(super) form: TargetForm,
    /// Parameters that identify the recipient, or sign this identification, separated by spaces.
    pub(super) recipient_parameters: &'static str,
}

/// Place and encoding of the target in a redirector's URL.
#[derive(Clone, Copy)]
pub(super) enum TargetForm {
    /// The first of these parameters, separated by spaces, that holds a target.
    Escaped(&'static str),
    /// A parameter with `-` instead of `%` and `_` instead of `/`.
    Dashed(&'static str),
    /// A parameter in base64, in either alphabet, after a prefix.
    Base64(&'static str, &'static str),
    /// `__`, the target with `*` for each saved byte, `__;`, the saved bytes in base64, `!`.
    Saved,
    /// After the host, between two marks.
    Between(&'static str, &'static str),
    /// After the first segment of the path.
    SecondSegment,
    /// `/web/`, a time, `/`, the target.
    Snapshot,
    /// Before the `data` parameter of a Safe Link that lost its beginning.
    BeforeData,
}

use TargetForm::{Base64, BeforeData, Between, Dashed, Escaped, Saved, SecondSegment, Snapshot};

const PROOFPOINT: &str = "urldefense.com urldefense.us urldefense.proofpoint.com";
const URL: TargetForm = Escaped("url");
const U: TargetForm = Escaped("u");

/// The redirectors. The first one whose host and path match is used. Formats are those that their
/// owners published, where the comment says so, or else those seen in public mail archives.
pub(super) static REDIRECTORS: &[Redirector] = &[
    // Microsoft Defender's Safe Links, published. Paths like `/ap/w-59584e83/` occur. The second
    // host is the one for the US. `data` contains the recipient's address, and `sdata` signs it.
    redirector(
        "safelinks",
        ".safelinks.protection.outlook.com .safelinks.protection.office365.us",
        "*",
        URL,
    )
    .with_recipient("data sdata"),
    // The page that Teams displays: `statics.`, `staticsint.`, and since about 2025 the second
    // host. The parameters are identifiers of user and conversation, and encrypted data.
    redirector(
        "teams-safelinks",
        ".teams.cdn.office.net teams.public.onecdn.static.microsoft",
        "/evergreen-assets/*",
        URL,
    )
    .with_recipient("dest pc wau si sd"),
    // Proofpoint URL Defense, published with a decoder ("How do I decode a rewritten URL?"):
    // before 2015, to 2019, now. The parameters are the recipient, the message and the signature
    // of both.
    redirector("urldefense-v1", PROOFPOINT, "/v1/url", U).with_recipient("r m s"),
    redirector("urldefense-v2", PROOFPOINT, "/v2/url", Dashed("u")).with_recipient("r m s"),
    redirector("urldefense-v3", PROOFPOINT, "/v3/__*", Saved),
    // Google's results, Gmail, Docs; alerts of Google Scholar.
    redirector("google", "google.*", "/url /scholar_url", Escaped("q url")),
    // Advertisements. Many do not name their target.
    redirector(
        "google-ads",
        "google.* .googleadservices.com",
        "/aclk /pagead/aclk",
        Escaped("adurl"),
    ),
    // Meta's "Link Shim": `l.`, `lm.`, `www.`.
    redirector("facebook", ".facebook.com l.messenger.com", "/l.php", U),
    // The "Link Shim" of Instagram.
    redirector("instagram", "l.instagram.com", "/", U),
    // Links in posts; `/safety/go` since about 2020.
    redirector(
        "linkedin",
        ".linkedin.com",
        "/redir/redirect /safety/go",
        URL,
    ),
    // Links under videos.
    redirector("youtube", ".youtube.com", "/redirect", Escaped("q")),
    // Links in posts: `/t3_<id>`.
    redirector("reddit", "out.reddit.com", "*", URL),
    // Links in messages.
    redirector("slack", "slack-redir.net", "/link", URL),
    // Links in posts.
    redirector("vk", ".vk.com", "/away.php", Escaped("to")),
    // Links in comments; `u` is the later form.
    redirector(
        "steam",
        "steamcommunity.com",
        "/linkfilter",
        Escaped("url u"),
    ),
    // Barracuda Link Protect.
    redirector(
        "barracuda",
        "linkprotect.cudasvc.com",
        "/ /url",
        Escaped("a"),
    ),
    // Cisco Secure Email: `/<token>/<escaped target>`.
    redirector("cisco", "secure-web.cisco.com", "*", SecondSegment),
    // Sophos Email: `?d=<host>&u=<base64>`.
    redirector("sophos", ".protection.sophos.com", "/", Base64("u", "")),
    // Later forms of Trend Micro's are opaque.
    redirector(
        "trendmicro",
        ".trendmicro.com",
        "/wis/clicktime/v1/query",
        URL,
    ),
    // Email Security.cloud: `/<token>?h=<token>&u=`.
    redirector("symantec", "clicktime.symantec.com", "*", U),
    // `protect2.` and the like: `?k=<token>&u=`.
    redirector("fireeye", ".fireeye.com", "/url /v1/url", U),
    // Check Point Harmony Email, once Avanan: `/v2/[r01/]___<target>___.<base64>`.
    redirector(
        "avanan",
        "url.avanan.click protect.checkpoint.com",
        "/v2/*",
        Between("___", "___."),
    ),
    // Check Point Harmony Email before `/v2/`, and SonicWall, which sells it: `/v1/[r07/]url?o=`.
    redirector(
        "url-protection",
        ".url-protection.com",
        "/v1/*",
        Escaped("o"),
    ),
    // Libraesva's URLSand: `?u=<target>&e=&h=`.
    redirector("libraesva", "urlsand.esvalabs.com", "/", U),
    // EdgePilot of AppRiver, and of OpenText: `/s/<token>/<token>?u=`.
    redirector("edgepilot", "link.edgepilot.com", "/s/* /x/*", U),
    // Trustwave's SEG Cloud: `?c=<number>&d=<token>&u=`.
    redirector("trustwave", "scanmail.trustwave.com", "/", U),
    // Web pages for mail of WEB.DE, GMX, mail.com and IONOS:
    // `/mail/client/[<session>/]dereferrer/`.
    redirector(
        "dereferrer",
        "deref-web.de deref-web-02.de deref-gmx.net deref-gmx.com deref-gmx.fr deref-gmx.co.uk \
         deref-mail.com deref-mail-02.com deref-1und1.de deref-1und1-02.de",
        "/mail/client/*",
        Escaped("redirectUrl"),
    ),
    // Results.
    redirector("duckduckgo", ".duckduckgo.com", "/l", Escaped("uddg")),
    // Results. `a1` marks the base64 of an absolute URL.
    redirector("bing", ".bing.com", "/ck/a", Base64("u", "a1")),
    // Yahoo's results: `/RU=<escaped target>/RK=2/...`.
    redirector("yahoo", "r.search.yahoo.com", "*", Between("/RU=", "/RK=")),
    // Yahoo's news and results before 2016: `/*http://` or `/**http%3a//`.
    redirector(
        "yahoo",
        ".rds.yahoo.com .rd.yahoo.com",
        "*",
        Between("/*", ""),
    ),
    // The Wayback Machine, published: `/web/<time>[id_]/<target>`.
    redirector("wayback", ".archive.org", "/web/*", Snapshot),
];

/// A Safe Link without its beginning. Programs that display a link's target remove everything from
/// `https://` to `?url=` and decode the rest, more or less. The parameters remain.
static BEHEADED_SAFE_LINK: Redirector = redirector("safelinks", "", "", BeforeData);

/// A mail gateway whose links do not contain their target, but only its host, as `domain`.
pub(super) struct OpaqueRewriter {
    /// The pattern of its hosts, as in [`Redirector::hosts`].
    pub(super) host: &'static str,
    /// The start of its paths.
    pub(super) path: &'static str,
}

/// The opaque rewriters, as seen in public mail archives.
pub(super) static OPAQUE_REWRITERS: &[OpaqueRewriter] = &[
    // Mimecast's URL Protect: `protect-us.` and similar hosts; since 2020 `url.us.m.` under the
    // second domain.
    opaque(".mimecast.com", "/s/"),
    opaque(".mimecastprotect.com", "/s/"),
    // INKY Phish Fence.
    opaque("shared.outlook.inky.com", "/link"),
];

const fn opaque(host: &'static str, path: &'static str) -> OpaqueRewriter {
    OpaqueRewriter { host, path }
}

const fn redirector(
    name: &'static str,
    hosts: &'static str,
    paths: &'static str,
    form: TargetForm,
) -> Redirector {
    Redirector {
        name,
        hosts,
        paths,
        form,
        recipient_parameters: "",
    }
}

impl Redirector {
    const fn with_recipient(self, recipient_parameters: &'static str) -> Redirector {
        Redirector {
            recipient_parameters,
            ..self
        }
    }

    /// Returns the redirector that a URL belongs to.
    pub(super) fn of(address: &WebAddress<'_>) -> Option<&'static Redirector> {
        Redirector::by_host(address)
            .or_else(|| data_parameter(address.rest).map(|_| &BEHEADED_SAFE_LINK))
    }

    fn by_host(address: &WebAddress<'_>) -> Option<&'static Redirector> {
        let rows = possible_rows(address.host);
        if rows == 0 {
            return None;
        }
        let host = address.host.to_ascii_lowercase();
        let table = REDIRECTORS.iter().enumerate();
        let mut possible = table.filter_map(|(row, it)| (rows >> row & 1 == 1).then_some(it));
        possible.find(|row| {
            words(row.paths).any(|path| is_path(address.path, path))
                && words(row.hosts).any(|pattern| is_host(&host, pattern))
        })
    }
}

/// Returns the words of a list. Faster than a split of text, because many URLs reach the table.
fn words(list: &'static str) -> impl Iterator<Item = &'static [u8]> {
    list.as_bytes().split(|&byte| byte == b' ')
}

fn is_path(path: &[u8], pattern: &[u8]) -> bool {
    match pattern.strip_suffix(b"*") {
        Some(start) => path.starts_with(start),
        None => path == pattern || path.is_empty() && pattern == b"/",
    }
}

/// Returns `true` if `pattern` matches a lowercase host.
pub(super) fn is_host(host: &[u8], pattern: &[u8]) -> bool {
    if let Some(name) = pattern.strip_suffix(b".*") {
        return is_national(host, name);
    }
    let Some(domain) = pattern.strip_prefix(b".") else {
        return host == pattern;
    };
    host.strip_suffix(domain)
        .is_some_and(|subdomain| matches!(subdomain.last(), None | Some(b'.')))
}

/// Returns `true` if the host is `name` or a subdomain of it, under `com`, `us`, `co.uk` or a
/// similar domain.
fn is_national(host: &[u8], name: &[u8]) -> bool {
    let is_commercial = |label: &[u8]| matches!(label, b"com" | b"co");
    let mut labels = host.rsplit(|&byte| byte == b'.');
    let last = labels.next().unwrap_or_default();
    let mut next = labels.next();
    if last.len() == 2 && next.is_some_and(is_commercial) {
        next = labels.next();
    }
    (last.len() == 2 || is_commercial(last)) && next == Some(name)
}

const _: () = assert!(REDIRECTORS.len() <= u64::BITS as usize, "one bit per row");

/// Prefilter by one host label, without false negatives. Excludes nearly all hosts that are not a
/// redirector's.
///
/// For each label length (modulo 32) and the low five bits of the first letter, the set of rows of
/// [`REDIRECTORS`], one per bit.
static HOST_FILTER: LazyLock<[[u64; 32]; 32]> = LazyLock::new(|| {
    let mut filter = [[0; 32]; 32];
    for (row, redirector) in REDIRECTORS.iter().enumerate() {
        for pattern in redirector.hosts.split(' ') {
            // A name under any country's domain has its label at the same position as the others.
            let host = pattern.replace(".*", ".com");
            let [label, _] = upper_labels(host.as_bytes());
            filter[label.len() % 32][usize::from(label[0] & 0x1F)] |= 1 << row;
        }
    }
    filter
});

/// Returns the rows that a host, in any case, may belong to, one per bit.
pub(super) fn possible_rows(host: &[u8]) -> u64 {
    let rows = |label: &[u8]| {
        let first = label.first().map(|&first| usize::from(first & 0x1F));
        first.map_or(0, |first| HOST_FILTER[label.len() % 32][first])
    };
    let [second, third] = upper_labels(host);
    // Under a country's domain, the second label may be `co` or `com`.
    let is_short = second.len() <= b"com".len();
    rows(second) | if is_short { rows(third) } else { 0 }
}

/// Returns the second and third label of a host, counted from the end. Empty if the host has fewer
/// labels.
fn upper_labels(host: &[u8]) -> [&[u8]; 2] {
    let mut labels = host.rsplit(|&byte| byte == b'.').skip(1);
    [(); 2].map(|()| labels.next().unwrap_or_default())
}
