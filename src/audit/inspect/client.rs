//! Asks for pages, politely: through the proxy that reaches public hosts only, one request a second
//! for each host, and no page that a robots.txt excludes.

use std::collections::HashMap;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ureq::{Agent, Proxy};
use url::{Position, Url};

use super::page::Page;
use super::parking::redirect_to_service;
use super::robots::Robots;
use crate::audit::AuditError;
use crate::audit::archive::{is_contact, wait_until};
use crate::audit::check::guard_proxy::GuardProxy;
use crate::audit::state::CheckFailure;
use crate::limits::{
    AUDIT_POLL_MS, INSPECT_CHAIN_SECONDS, INSPECT_PAGE_BYTES, INSPECT_PAUSE_MS, INSPECT_REDIRECTS,
    INSPECT_ROBOTS_BYTES, INSPECT_ROBOTS_REDIRECTS, INSPECT_SECONDS,
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

/// The pace and the patience of a client.
#[derive(Clone, Copy, Debug)]
struct ClientTimes {
    /// Time between an answer and the next request to the same host.
    pause: Duration,
    /// Time in which a request is answered.
    request: Duration,
    /// Time in which a link is answered, with all its redirects.
    chain: Duration,
}

/// A client that several threads use.
pub(super) struct PageClient<'a> {
    agent: Agent,
    proxy: GuardProxy,
    policy: RobotsPolicy,
    times: ClientTimes,
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
        match () {
            () if self.is_coded => None,
            () if is_html => Some(Page::html(&self.body, charset)),
            () if self.media_type == "text/plain" => Some(Page::plain(&self.body, charset)),
            () => None,
        }
    }
}

/// A question for one URL, without following a redirect.
enum Hop {
    Answer(Answer),
    Redirect(Url),
    Failed(CheckFailure),
    Stopped,
}

/// The requests for one link: its redirects, and the robots.txt of their hosts.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    /// The time at which they end; `None` before the first.
    end: Option<Instant>,
}

impl Chain {
    /// Returns `true` if its time has passed.
    fn is_over(self) -> bool {
        self.end.is_some_and(|end| end <= Instant::now())
    }
}

/// The result of waiting for a host.
enum Turn {
    /// It may be asked now.
    Now,
    /// The time of the chain is over.
    TooLate,
    /// The inspection was stopped.
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
        let times = ClientTimes {
            pause: Duration::from_millis(INSPECT_PAUSE_MS),
            request: Duration::from_secs(INSPECT_SECONDS),
            chain: Duration::from_secs(INSPECT_CHAIN_SECONDS),
        };
        PageClient::with_times(user_agent, private_hosts, policy, times, stop)
    }

    fn with_times(
        user_agent: &str,
        private_hosts: &[String],
        policy: RobotsPolicy,
        times: ClientTimes,
        stop: &'a AtomicBool,
    ) -> Result<PageClient<'a>, AuditError> {
        let proxy = GuardProxy::start(private_hosts)?;
        let address = Proxy::new(&proxy.url()).map_err(|error| {
            AuditError::unusable(format!("cannot use the proxy {}: {error}", proxy.url()))
        })?;
        Ok(PageClient {
            agent: proxied_agent(address, user_agent, times.request),
            proxy,
            policy,
            times,
            next: Mutex::default(),
            robots: Mutex::default(),
            stop,
        })
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends all requests that are open.
    pub(super) fn close(&self) {
        self.proxy.close();
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
        let mut chain = Chain::default();
        for redirects in 0..=INSPECT_REDIRECTS {
            match self.permission(&url, &mut chain) {
                Permission::Stopped => return Reply::Stopped,
                Permission::Excluded => return Reply::Robots(url),
                Permission::Unreachable(failure) => return Reply::RobotsUnreachable(url, failure),
                Permission::Given => {}
            }
            match self.hop(&url, INSPECT_PAGE_BYTES, &mut chain) {
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
    fn permission(&self, url: &Url, chain: &mut Chain) -> Permission {
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
                let Some(rules) = self.robots_of(url, chain) else {
                    return Permission::Stopped;
                };
                let rules = rules.map(Arc::new);
                // Where the time of this chain was over, other links may find it.
                if rules.is_ok() || !chain.is_over() {
                    let mut robots = self.robots.lock().unwrap_or_else(PoisonError::into_inner);
                    robots.insert(origin, rules.clone());
                }
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
    fn robots_of(&self, url: &Url, chain: &mut Chain) -> Option<Result<Robots, RobotsFailure>> {
        let Ok(mut url) = url.join("/robots.txt") else {
            return Some(Ok(Robots::default()));
        };
        for _ in 0..=INSPECT_ROBOTS_REDIRECTS {
            match self.hop(&url, INSPECT_ROBOTS_BYTES, chain) {
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

    /// Asks for one URL, when its host may be asked. The time of the chain begins then.
    fn hop(&self, url: &Url, max_bytes: u64, chain: &mut Chain) -> Hop {
        match self.wait(url, chain.end) {
            Turn::Now => {}
            Turn::TooLate => return Hop::Failed(CheckFailure::Timeout),
            Turn::Stopped => return Hop::Stopped,
        }
        let now = Instant::now();
        let end = *chain.end.get_or_insert(now + self.times.chain);
        let left = end.saturating_duration_since(now);
        let hop = self.ask(url, max_bytes, left.min(self.times.request));
        self.put_off(url);
        if self.is_stopped() {
            // Requests that were open have failed for that reason.
            return Hop::Stopped;
        }
        hop
    }

    fn ask(&self, url: &Url, max_bytes: u64, time: Duration) -> Hop {
        let mut url = url.clone();
        url.set_fragment(None);
        let request = self.agent.get(url.as_str()).config();
        let request = request.timeout_global(Some(time)).build();
        let response = match request.call() {
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
            body,
            is_coded,
            cut_by,
        })
    }

    /// Lets the next request to the host of a URL wait for the pause: it has just answered.
    fn put_off(&self, url: &Url) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        next.insert(host(url), Instant::now() + self.times.pause);
    }

    /// Waits until the host of a URL may be asked, and keeps it from others until it has answered.
    fn wait(&self, url: &Url, end: Option<Instant>) -> Turn {
        let host = host(url);
        loop {
            let now = Instant::now();
            if end.is_some_and(|end| end <= now) {
                return Turn::TooLate;
            }
            let time = {
                let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
                let time = next.entry(host.clone()).or_insert(now);
                if *time <= now {
                    // As long as a request may take; `put_off` shortens it.
                    *time = now + self.times.request + self.times.pause;
                    return if self.is_stopped() {
                        Turn::Stopped
                    } else {
                        Turn::Now
                    };
                }
                *time
            };
            let turn = Duration::from_millis(AUDIT_POLL_MS);
            if !wait_until(time.min(now + turn), self.stop) {
                return Turn::Stopped;
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

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// Starts a server, and returns its address. `respond` gets the first line of a request, and gives
    /// the milliseconds until its answer, and the answer's head.
    fn serve(respond: impl Fn(&str) -> (u64, String) + Send + 'static) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let reader = BufReader::new(stream.try_clone().unwrap());
                let lines = reader.lines().map_while(Result::ok);
                let head: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
                let first = head.first().map_or("", String::as_str);
                let (millis, answer) = respond(first);
                thread::sleep(Duration::from_millis(millis));
                let end = "Content-Length: 0\r\nConnection: close\r\n\r\n";
                let _ = stream.write_all(format!("HTTP/1.1 {answer}\r\n{end}").as_bytes());
            }
        });
        address
    }

    /// A client for servers of this machine.
    fn client(policy: RobotsPolicy, chain_millis: u64, stop: &AtomicBool) -> PageClient<'_> {
        let times = ClientTimes {
            pause: Duration::ZERO,
            request: Duration::from_secs(20),
            chain: Duration::from_millis(chain_millis),
        };
        let hosts = ["127.0.0.1".to_owned()];
        PageClient::with_times("t", &hosts, policy, times, stop).unwrap()
    }

    #[test]
    fn slow_redirects_end_with_the_time_of_their_chain() {
        let address = serve(|_| (200, "302 Found\r\nLocation: /a".to_owned()));
        let url = Url::parse(&format!("http://{address}/a")).unwrap();
        let stop = AtomicBool::new(false);
        let begun = Instant::now();
        let reply = client(RobotsPolicy::Ignore, 700, &stop).get(&url);
        assert!(
            matches!(reply, Reply::Failed(CheckFailure::Timeout)),
            "{reply:?}"
        );
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(3), "{took:?}");
    }

    #[test]
    fn a_chain_that_is_over_closes_no_host_for_other_links() {
        let slow = serve(|first| {
            let millis = if first.contains("robots.txt") { 700 } else { 0 };
            (millis, "404 Not Found".to_owned())
        });
        let place = format!("http://{slow}/b");
        let redirect = format!("302 Found\r\nLocation: {place}");
        let before = serve(move |first| {
            if first.contains("robots.txt") {
                (0, "404 Not Found".to_owned())
            } else {
                (1_200, redirect.clone())
            }
        });
        let stop = AtomicBool::new(false);
        let client = client(RobotsPolicy::Honour, 1_500, &stop);
        let get = |url: &str| client.get(&Url::parse(url).unwrap());
        let late = get(&format!("http://{before}/a"));
        assert!(matches!(late, Reply::RobotsUnreachable(..)), "{late:?}");
        let reply = get(&place);
        assert!(matches!(reply, Reply::Answer(_)), "{reply:?}");
    }
}
