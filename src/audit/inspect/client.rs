//! Asks for pages, politely: by the client that reaches public hosts only (`audit/client.rs`), one
//! request a second for each host, and no page that a robots.txt excludes.

use std::collections::HashMap;
use std::io::Read;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ureq::Body;
use ureq::http::Response;
use url::{Position, Url};

use super::page::Page;
use super::parking::redirect_to_service;
use super::robots::Robots;
use crate::audit::client::{Client, ClientTimes, Hop};
use crate::audit::guard::HostRules;
use crate::audit::state::CheckFailure;
use crate::limits::{
    INSPECT_CHAIN_SECONDS, INSPECT_PAGE_BYTES, INSPECT_PAUSE_MS, INSPECT_REDIRECTS,
    INSPECT_ROBOTS_BYTES, INSPECT_ROBOTS_REDIRECTS, INSPECT_SECONDS,
};

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
pub(super) struct PageClient {
    client: Client,
    policy: RobotsPolicy,
    /// Time in which a link is answered, with all its redirects and the robots.txt of their hosts.
    chain: Duration,
    /// Rules by origin; the reason for which a robots.txt cannot be reached, where it cannot.
    robots: Mutex<HashMap<String, Result<Arc<Robots>, RobotsFailure>>>,
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
    /// Reads the answer for `url`, at most `max_bytes` of its body.
    ///
    /// # Errors
    ///
    /// The body breaks off before its first byte.
    fn read(url: &Url, response: Response<Body>, max_bytes: u64) -> Result<Answer, CheckFailure> {
        let status = response.status().as_u16();
        let field = |name: &str| {
            let value = response.headers().get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
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
            return Err(failure);
        }
        Ok(Answer {
            url: url.clone(),
            redirects: 0,
            status,
            media_type,
            charset,
            body,
            is_coded,
            cut_by,
        })
    }

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

impl PageClient {
    /// Creates a client that also asks `private_hosts`.
    pub(super) fn new(
        user_agent: &str,
        private_hosts: &[String],
        policy: RobotsPolicy,
        stop: &Arc<AtomicBool>,
    ) -> PageClient {
        let times = ClientTimes {
            pause: Duration::from_millis(INSPECT_PAUSE_MS),
            request: Duration::from_secs(INSPECT_SECONDS),
        };
        let chain = Duration::from_secs(INSPECT_CHAIN_SECONDS);
        PageClient::with_times(user_agent, private_hosts, policy, times, chain, stop)
    }

    fn with_times(
        user_agent: &str,
        private_hosts: &[String],
        policy: RobotsPolicy,
        times: ClientTimes,
        chain: Duration,
        stop: &Arc<AtomicBool>,
    ) -> PageClient {
        let rules = HostRules::of_system(private_hosts);
        PageClient {
            client: Client::new(user_agent, rules, times, stop),
            policy,
            chain,
            robots: Mutex::default(),
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.client.is_stopped()
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
        self.client.forget();
        let mut robots = self.robots.lock().unwrap_or_else(PoisonError::into_inner);
        robots.clear();
    }

    /// Asks for a page, and follows redirects.
    pub(super) fn get(&self, asked: &Url) -> Reply {
        let mut url = asked.clone();
        let mut left = self.chain;
        for redirects in 0..=INSPECT_REDIRECTS {
            match self.permission(&url, &mut left) {
                Permission::Stopped => return Reply::Stopped,
                Permission::Excluded => return Reply::Robots(url),
                Permission::Unreachable(failure) => return Reply::RobotsUnreachable(url, failure),
                Permission::Given => {}
            }
            match self.hop(&url, INSPECT_PAGE_BYTES, &mut left) {
                Hop::Answer(answer) => {
                    return Reply::Answer(Answer {
                        redirects,
                        ..answer
                    });
                }
                Hop::Redirect(_, next) => {
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
    fn permission(&self, url: &Url, left: &mut Duration) -> Permission {
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
                let Some(rules) = self.robots_of(url, left) else {
                    return Permission::Stopped;
                };
                let rules = rules.map(Arc::new);
                // Where the time of this chain was over, other links may find it.
                if rules.is_ok() || !left.is_zero() {
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
    fn robots_of(&self, url: &Url, left: &mut Duration) -> Option<Result<Robots, RobotsFailure>> {
        let Ok(mut url) = url.join("/robots.txt") else {
            return Some(Ok(Robots::default()));
        };
        for _ in 0..=INSPECT_ROBOTS_REDIRECTS {
            match self.hop(&url, INSPECT_ROBOTS_BYTES, left) {
                Hop::Answer(answer) => {
                    return Some(match (answer.status, answer.cut_by) {
                        (200..=299, None) => Ok(Robots::parse(&answer.body)),
                        (200..=299, Some(failure)) => Err(RobotsFailure::NoAnswer(failure)),
                        (500.., _) => Err(RobotsFailure::Status(answer.status)),
                        _ => Ok(Robots::default()),
                    });
                }
                Hop::Redirect(_, next) => url = next,
                Hop::Failed(failure) => return Some(Err(RobotsFailure::NoAnswer(failure))),
                Hop::Stopped => return None,
            }
        }
        Some(Ok(Robots::default()))
    }

    fn hop(&self, url: &Url, max_bytes: u64, left: &mut Duration) -> Hop<Answer> {
        let read = |response| Answer::read(url, response, max_bytes);
        self.client.hop(url, left, read)
    }
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
    use std::time::Instant;

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
    fn client(policy: RobotsPolicy, chain_millis: u64) -> PageClient {
        let times = ClientTimes {
            pause: Duration::ZERO,
            request: Duration::from_secs(20),
        };
        let hosts = ["127.0.0.1".to_owned()];
        let chain = Duration::from_millis(chain_millis);
        PageClient::with_times("t", &hosts, policy, times, chain, &Arc::default())
    }

    #[test]
    fn slow_redirects_end_with_the_time_of_their_chain() {
        let address = serve(|_| (200, "302 Found\r\nLocation: /a".to_owned()));
        let url = Url::parse(&format!("http://{address}/a")).unwrap();
        let begun = Instant::now();
        let reply = client(RobotsPolicy::Ignore, 700).get(&url);
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
        let client = client(RobotsPolicy::Honour, 1_500);
        let get = |url: &str| client.get(&Url::parse(url).unwrap());
        let late = get(&format!("http://{before}/a"));
        assert!(matches!(late, Reply::RobotsUnreachable(..)), "{late:?}");
        let reply = get(&place);
        assert!(matches!(reply, Reply::Answer(_)), "{reply:?}");
    }
}
