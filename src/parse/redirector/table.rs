//! The known redirectors, and their recognition by host.

use std::sync::LazyLock;

use super::address::WebAddress;

/// Name; hosts; paths; form. Hosts and paths stand between spaces. `.x.example` is that host and those beneath, `x.*` a
/// name under any country's domain. Paths are without their last slash; a final `*` stands for anything.
pub(super) type Redirector = (&'static str, &'static str, &'static str, Form);

/// How a redirector's URL holds its target.
#[derive(Clone, Copy)]
pub(super) enum Form {
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

/// The first row whose host and path match counts. The formats are those that their owners published, where it says so,
/// and else what mail in public archives shows.
pub(super) const REDIRECTORS: &[Redirector] = &[
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

impl WebAddress<'_> {
    pub(super) fn redirector(&self) -> Option<(&'static str, Form)> {
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

/// A row of [`REDIRECTORS`], divided.
pub(super) struct Row {
    by: &'static str,
    pub(super) hosts: Vec<&'static str>,
    paths: Vec<&'static str>,
    form: Form,
}

pub(super) static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
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
pub(super) struct Marks {
    /// For the length of a label, which five bits its first letter can have.
    letters: [u32; 32],
}

pub(super) static MARKS: LazyLock<Marks> = LazyLock::new(|| {
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
    pub(super) fn may_name(&self, host: &[u8]) -> bool {
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
pub(super) fn is_host(host: &[u8], pattern: &str) -> bool {
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
