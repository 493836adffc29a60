//! Asks for pages, politely: through the proxy that reaches public hosts only, one request a second
//! for each host, and no page that a robots.txt excludes.

use std::collections::HashMap;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ureq::{Agent, Proxy};
use url::{Position, Url};

use super::page::{Page, language};
use super::parking::redirect_to_service;
use super::robots::Robots;
use crate::audit::AuditError;
use crate::audit::archive::{is_contact, wait_until};
use crate::audit::check::guard_proxy::GuardProxy;
use crate::audit::state::CheckFailure;
use crate::limits::{
    AUDIT_POLL_MS, INSPECT_PAGE_BYTES, INSPECT_PAUSE_MS, INSPECT_REDIRECTS, INSPECT_ROBOTS_BYTES,
    INSPECT_ROBOTS_REDIRECTS, INSPECT_SECONDS,
};
use crate::load::proxied_agent;

/// Returns the name by which this program asks. `contact` tells the owners of servers whom to write
/// to.
pub(super) fn user_agent(contact: &str) -> Result<String, AuditError> {
    if !is_contact(contact) {
        return Err(AuditError::unusable(format!(
            "`--contact {contact:?}` is neither a mail address nor a page; write it like \
             you@your.site or https://your.site/contact, in ASCII"
        )));
    }
    let version = env!("CARGO_PKG_VERSION");
    Ok(format!(
        "urlspool/{version} (link-rot audit; {})",
        contact.trim()
    ))
}

/// The treatment of robots.txt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RobotsPolicy {
    /// Pages that it excludes are not asked for.
    #[default]
    Honour,
    /// It is not asked for.
    Ignore,
}

/// A client that several threads use.
pub(super) struct PageClient<'a> {
    agent: Agent,
    proxy: GuardProxy,
    policy: RobotsPolicy,
    /// Time between the starts of two requests to one host.
    pause: Duration,
    /// The time at which each host may be asked next, by its name and port.
    next: Mutex<HashMap<String, Instant>>,
    /// Rules by origin; the reason for which a robots.txt cannot be reached, where it cannot.
    robots: Mutex<HashMap<String, Result<Arc<Robots>, RobotsFailure>>>,
    stop: &'a AtomicBool,
}

/// The answer to the question for a page.
#[derive(Debug)]
pub(super) enum Reply {
    /// A server answered.
    Answer(Answer),
    /// A redirect leads to a parking service, which is not asked: its URL and the evidence.
    Parked(Url, String),
    /// A robots.txt excludes the page, or that of a redirect.
    Robots(Url),
    /// The robots.txt of the page's origin, or of a redirect's, cannot be reached, so that nothing
    /// there may be asked for (RFC 9309, section 2.3.1.4).
    RobotsUnreachable(Url, RobotsFailure),
    /// No server answered.
    Failed(CheckFailure),
    /// The inspection was stopped.
    Stopped,
}

/// The reason for which a robots.txt cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RobotsFailure {
    /// The server answers with this status of 500 or more.
    Status(u16),
    /// No server answers, or not with the whole text.
    NoAnswer(CheckFailure),
}

/// Permission to ask for a URL.
enum Permission {
    Given,
    /// A robots.txt excludes the URL.
    Excluded,
    Unreachable(RobotsFailure),
    /// The inspection was stopped.
    Stopped,
}

/// The answer of the server at the end of redirects.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// The URL at the end of redirects.
    pub(super) url: Url,
    /// Number of redirects.
    pub(super) redirects: usize,
    pub(super) status: u16,
    /// The media type, in lower case; empty without one.
    pub(super) media_type: String,
    /// The charset that the server names.
    charset: Option<String>,
    /// The language that the server names.
    language: Option<String>,
    /// At most [`INSPECT_PAGE_BYTES`].
    pub(super) body: Vec<u8>,
    /// `true` if the body is in a content coding, which was not asked for.
    is_coded: bool,
    /// The reason for which the body ends early; `None` if it is whole, or longer than its limit.
    cut_by: Option<CheckFailure>,
}

impl Answer {
    /// Returns the page, if it is text.
    pub(super) fn page(&self) -> Option<Page> {
        let is_html = matches!(
            self.media_type.as_str(),
            "text/html" | "application/xhtml+xml"
        ) || self.media_type.is_empty()
            && self.body.trim_ascii_start().starts_with(b"<");
        let charset = self.charset.as_deref();
        let mut page = match () {
            () if self.is_coded => return None,
            () if is_html => Page::html(&self.body, charset),
            () if self.media_type == "text/plain" => Page::plain(&self.body, charset),
            () => return None,
        };
        page.language = page.language.or_else(|| self.language.clone());
        Some(page)
    }
}

/// A question for one URL, without following a redirect.
enum Hop {
    Answer(Answer),
    Redirect(Url),
    Failed(CheckFailure),
    Stopped,
}

impl<'a> PageClient<'a> {
    /// Creates a client that also asks `private_hosts`.
    pub(super) fn start(
        user_agent: &str,
        private_hosts: &[String],
        policy: RobotsPolicy,
        stop: &'a AtomicBool,
    ) -> Result<PageClient<'a>, AuditError> {
        let pause = Duration::from_millis(INSPECT_PAUSE_MS);
        PageClient::with_pause(user_agent, private_hosts, policy, pause, stop)
    }

    /// Creates a client of archives, whose owner keeps the pace. They are the user's choice, so
    /// `hosts` may be private, and rules for robots do not hold.
    pub(super) fn of_archives(
        user_agent: &str,
        hosts: &[String],
        stop: &'a AtomicBool,
    ) -> Result<PageClient<'a>, AuditError> {
        PageClient::with_pause(
            user_agent,
            hosts,
            RobotsPolicy::Ignore,
            Duration::ZERO,
            stop,
        )
    }

    fn with_pause(
        user_agent: &str,
        private_hosts: &[String],
        policy: RobotsPolicy,
        pause: Duration,
        stop: &'a AtomicBool,
    ) -> Result<PageClient<'a>, AuditError> {
        let proxy = GuardProxy::start(private_hosts)?;
        let address = Proxy::new(&proxy.url()).map_err(|error| {
            AuditError::unusable(format!("cannot use the proxy {}: {error}", proxy.url()))
        })?;
        let timeout = Duration::from_secs(INSPECT_SECONDS);
        Ok(PageClient {
            agent: proxied_agent(address, user_agent, timeout),
            proxy,
            policy,
            pause,
            next: Mutex::default(),
            robots: Mutex::default(),
            stop,
        })
    }

    /// Returns the flag that ends the inspection.
    pub(super) fn stop(&self) -> &'a AtomicBool {
        self.stop
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Adds rules that are known from an earlier run.
    pub(super) fn know_robots(&self, origin: &str, text: &str) {
        let rules = Arc::new(Robots::parse(text.as_bytes()));
        let mut robots = self.robots.lock().unwrap_or_else(PoisonError::into_inner);
        robots.insert(origin.to_owned(), Ok(rules));
    }

    /// Returns the rules of an origin that are known, as text. Those of a robots.txt that cannot be
    /// reached are none: it is asked for again.
    pub(super) fn robots_text(&self, origin: &str) -> Option<String> {
        let robots = self.robots.lock().unwrap_or_else(PoisonError::into_inner);
        let rules = robots.get(origin)?.as_ref().ok()?;
        Some(rules.text())
    }

    /// Forgets what is only needed while its hosts are asked.
    pub(super) fn forget(&self) {
        let now = Instant::now();
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        next.retain(|_, time| now < *time);
        let mut robots = self.robots.lock().unwrap_or_else(PoisonError::into_inner);
        robots.clear();
    }

    /// Asks for a page, and follows redirects.
    pub(super) fn get(&self, asked: &Url) -> Reply {
        let mut url = asked.clone();
        for redirects in 0..=INSPECT_REDIRECTS {
            match self.permission(&url) {
                Permission::Stopped => return Reply::Stopped,
                Permission::Excluded => return Reply::Robots(url),
                Permission::Unreachable(failure) => return Reply::RobotsUnreachable(url, failure),
                Permission::Given => {}
            }
            match self.hop(&url, INSPECT_PAGE_BYTES) {
                Hop::Answer(answer) => {
                    return Reply::Answer(Answer {
                        redirects,
                        ..answer
                    });
                }
                Hop::Redirect(next) => {
                    if let Some(sign) = redirect_to_service(asked, &next) {
                        return Reply::Parked(next, sign);
                    }
                    url = next;
                }
                Hop::Failed(failure) => return Reply::Failed(failure),
                Hop::Stopped => return Reply::Stopped,
            }
        }
        Reply::Failed(CheckFailure::Other)
    }

    /// Returns the permission of the robots.txt of its origin to ask for a URL.
    fn permission(&self, url: &Url) -> Permission {
        if self.policy == RobotsPolicy::Ignore {
            return Permission::Given;
        }
        let origin = origin(url);
        let known = {
            let robots = self.robots.lock().unwrap_or_else(PoisonError::into_inner);
            robots.get(&origin).cloned()
        };
        let rules = match known {
            Some(rules) => rules,
            None => {
                let Some(rules) = self.robots_of(url) else {
                    return Permission::Stopped;
                };
                let rules = rules.map(Arc::new);
                let mut robots = self.robots.lock().unwrap_or_else(PoisonError::into_inner);
                robots.insert(origin, rules.clone());
                rules
            }
        };
        match rules {
            Err(failure) => Permission::Unreachable(failure),
            Ok(rules) if rules.allows(&url[Position::BeforePath..Position::AfterQuery]) => {
                Permission::Given
            }
            Ok(_) => Permission::Excluded,
        }
    }

    /// Asks for the robots.txt of an origin. Returns `None` if it was stopped.
    ///
    /// A text that is cut off may lack the rule that matters, so it is none.
    fn robots_of(&self, url: &Url) -> Option<Result<Robots, RobotsFailure>> {
        let Ok(mut url) = url.join("/robots.txt") else {
            return Some(Ok(Robots::default()));
        };
        for _ in 0..=INSPECT_ROBOTS_REDIRECTS {
            match self.hop(&url, INSPECT_ROBOTS_BYTES) {
                Hop::Answer(answer) => {
                    return Some(match (answer.status, answer.cut_by) {
                        (200..=299, None) => Ok(Robots::parse(&answer.body)),
                        (200..=299, Some(failure)) => Err(RobotsFailure::NoAnswer(failure)),
                        (500.., _) => Err(RobotsFailure::Status(answer.status)),
                        _ => Ok(Robots::default()),
                    });
                }
                Hop::Redirect(next) => url = next,
                Hop::Failed(failure) => return Some(Err(RobotsFailure::NoAnswer(failure))),
                Hop::Stopped => return None,
            }
        }
        Some(Ok(Robots::default()))
    }

    /// Asks for one URL, when its host may be asked.
    fn hop(&self, url: &Url, max_bytes: u64) -> Hop {
        if !self.wait(url) {
            return Hop::Stopped;
        }
        let hop = self.ask(url, max_bytes);
        self.put_off(url);
        hop
    }

    fn ask(&self, url: &Url, max_bytes: u64) -> Hop {
        let mut url = url.clone();
        url.set_fragment(None);
        let response = match self.agent.get(url.as_str()).call() {
            Ok(response) => response,
            Err(error) => return Hop::Failed(self.failure(&url, &error)),
        };
        let status = response.status().as_u16();
        let field = |name: &str| {
            let value = response.headers().get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        if matches!(status, 301..=303 | 307 | 308)
            && let Some(place) = field("location")
        {
            return match url.join(&place) {
                Ok(next) if matches!(next.scheme(), "http" | "https") => Hop::Redirect(next),
                _ => Hop::Failed(CheckFailure::Other),
            };
        }
        let content_type = field("content-type").unwrap_or_default().to_lowercase();
        let mut parts = content_type.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default().to_owned();
        let charset = parts.find_map(|part| part.strip_prefix("charset="));
        let charset = charset.map(|name| name.trim_matches(['"', '\'']).to_owned());
        let language = field("content-language").and_then(|tag| language(&tag));
        let is_coded = field("content-encoding").is_some_and(|coding| coding != "identity");
        let mut body = Vec::new();
        // What came before the connection broke, or the time passed, is judged.
        let read = response
            .into_body()
            .into_reader()
            .take(max_bytes)
            .read_to_end(&mut body);
        let cut_by = read.err().map(|error| match error.kind() {
            std::io::ErrorKind::TimedOut => CheckFailure::Timeout,
            _ => CheckFailure::Other,
        });
        if let Some(failure) = cut_by.filter(|_| body.is_empty()) {
            return Hop::Failed(failure);
        }
        Hop::Answer(Answer {
            url,
            redirects: 0,
            status,
            media_type,
            charset,
            language,
            body,
            is_coded,
            cut_by,
        })
    }

    /// Lets the next request to the host of a URL wait for the pause: it has just answered.
    fn put_off(&self, url: &Url) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        next.insert(host(url), Instant::now() + self.pause);
    }

    /// Waits until the host of a URL may be asked, and keeps it from others until it has answered.
    /// Returns `false` if it was stopped.
    fn wait(&self, url: &Url) -> bool {
        let host = host(url);
        loop {
            let now = Instant::now();
            let time = {
                let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
                let time = next.entry(host.clone()).or_insert(now);
                if *time <= now {
                    // As long as a request may take; `put_off` shortens it.
                    *time = now + Duration::from_secs(INSPECT_SECONDS) + self.pause;
                    return !self.is_stopped();
                }
                *time
            };
            let turn = Duration::from_millis(AUDIT_POLL_MS);
            if !wait_until(time.min(now + turn), self.stop) {
                return false;
            }
        }
    }

    fn failure(&self, url: &Url, error: &ureq::Error) -> CheckFailure {
        match error {
            ureq::Error::Timeout(_) => CheckFailure::Timeout,
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) => CheckFailure::Tls,
            _ => self.proxy.failure(url).unwrap_or(CheckFailure::Other),
        }
    }
}

/// Returns host and port of a URL.
fn host(url: &Url) -> String {
    url[Position::BeforeHost..Position::AfterPort].to_owned()
}

/// Returns scheme, host and port of a URL: `https://h.test:8080`.
pub(super) fn origin(url: &Url) -> String {
    url[..Position::BeforePath].to_owned()
}
