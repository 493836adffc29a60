//! Requests pages with the client that connects to public hosts only (`audit/client.rs`). Sends at
//! most one request per second to each host, and respects robots.txt.

use std::collections::HashMap;
use std::io::Read;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ureq::Body;
use ureq::http::Response;
use url::{Position, Url};

use super::page::{Page, redirect_to_service};
use super::robots::Robots;
use crate::client::{Client, Hop};
use crate::guard::{HostRules, read_failure};
use crate::state::CheckFailure;
use urlspool_files::config::NamedValue;
use urlspool_text::limits::{
    INSPECT_CHAIN_SECONDS, INSPECT_PAGE_BYTES, INSPECT_PAUSE_MS, INSPECT_REDIRECTS,
    INSPECT_ROBOTS_BYTES, INSPECT_ROBOTS_REDIRECTS, INSPECT_SECONDS,
};

/// Policy on robots.txt: obey or ignore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RobotsPolicy {
    /// Pages excluded by robots.txt are not requested.
    #[default]
    Honour,
    /// robots.txt is not requested.
    Ignore,
}

/// A client shared by several threads.
pub(super) struct PageClient {
    client: Client,
    policy: RobotsPolicy,
    /// Time limit for a link, with all redirects and the robots.txt of their hosts.
    chain: Duration,
    /// Rules by origin, or the reason why robots.txt cannot be reached. In that case no page of the
    /// origin may be requested (RFC 9309, section 2.3.1.4).
    robots: Mutex<HashMap<String, HostRobots>>,
}

type HostRobots = Result<Arc<Robots>, NotRead>;

/// Result of requesting a page.
#[derive(Debug)]
pub(super) enum Reply {
    /// A server answered.
    Answer(Answer),
    /// A redirect to a parking service, which is not contacted: its URL and the evidence.
    Parked(Url, String),
    /// The page was not read.
    NotRead(NotRead),
}

/// Reason why a page or a robots.txt was not read.
#[derive(Clone, Debug)]
pub(super) struct NotRead {
    pub(super) reason: String,
    /// The failure if no server answered, or the text is incomplete.
    pub(super) failure: Option<CheckFailure>,
}

impl NotRead {
    fn failed(failure: CheckFailure) -> NotRead {
        NotRead {
            reason: format!("no answer: {}", failure.meaning()),
            failure: Some(failure),
        }
    }
}

/// Response of the server at the end of redirects.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// URL at the end of redirects.
    pub(super) url: Url,
    /// Number of redirects.
    pub(super) redirects: usize,
    pub(super) status: u16,
    /// Start of the body, limited in length.
    pub(super) body: Vec<u8>,
    /// Reason why the body ends early; `None` if it is complete or exceeds the limit.
    cut_by: Option<CheckFailure>,
    /// The page, if it is text without a content coding. No coding was requested.
    pub(super) page: Option<Page>,
}

impl Answer {
    /// Reads the response for `url` with at most `max_bytes` of its body.
    ///
    /// # Errors
    ///
    /// The body breaks off before its first byte.
    fn read(url: &Url, response: Response<Body>, max_bytes: u64) -> Result<Answer, CheckFailure> {
        let status = response.status().as_u16();
        let [content_type, coding] = ["content-type", "content-encoding"].map(|name| {
            let value = response.headers().get(name);
            value.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let mut body = Vec::new();
        // Bytes received before the connection broke or timed out are used.
        let read = response
            .into_body()
            .into_reader()
            .take(max_bytes)
            .read_to_end(&mut body);
        let cut_by = read.err().map(|error| read_failure(&error));
        if let Some(failure) = cut_by.filter(|_| body.is_empty()) {
            return Err(failure);
        }
        let is_plain = coding.is_none_or(|coding| coding == "identity");
        let content_type = content_type.unwrap_or_default().to_lowercase();
        Ok(Answer {
            url: url.clone(),
            redirects: 0,
            status,
            page: page(&content_type, &body).filter(|_| is_plain),
            body,
            cut_by,
        })
    }
}

/// Returns the page in a body, if it is text. `content_type` is in lower case, or empty if missing.
fn page(content_type: &str, body: &[u8]) -> Option<Page> {
    let mut parts = content_type.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default();
    let charset = parts.find_map(|part| part.strip_prefix("charset="));
    let charset = charset.map(|name| name.trim_matches(['"', '\'']));
    match media_type {
        "text/html" | "application/xhtml+xml" => Some(Page::html(body, charset)),
        "" if body.trim_ascii_start().starts_with(b"<") => Some(Page::html(body, charset)),
        "text/plain" => Some(Page::plain(body, charset)),
        _ => None,
    }
}

impl PageClient {
    /// Creates a client that may also contact `private_hosts`.
    pub(super) fn new(
        user_agent: &str,
        private_hosts: &[String],
        policy: RobotsPolicy,
        stop: &Arc<AtomicBool>,
    ) -> PageClient {
        let pause = Duration::from_millis(INSPECT_PAUSE_MS);
        let request = Duration::from_secs(INSPECT_SECONDS);
        let rules = HostRules::of_system(private_hosts);
        PageClient {
            client: Client::new(user_agent, rules, pause, request, stop),
            policy,
            chain: Duration::from_secs(INSPECT_CHAIN_SECONDS),
            robots: Mutex::default(),
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.client.is_stopped()
    }

    fn robots(&self) -> MutexGuard<'_, HashMap<String, HostRobots>> {
        self.robots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds rules known from an earlier run.
    pub(super) fn add_robots(&self, origin: &str, text: &str) {
        let rules = Arc::new(Robots::parse(text.as_bytes()));
        self.robots().insert(origin.to_owned(), Ok(rules));
    }

    /// Returns the known rules of an origin as text. Returns `None` for a robots.txt that could not
    /// be reached; it is requested again.
    pub(super) fn robots_text(&self, origin: &str) -> Option<String> {
        Some(self.robots().get(origin)?.as_ref().ok()?.text())
    }

    /// Clears data that is only needed while its hosts are contacted.
    pub(super) fn forget(&self) {
        self.client.forget();
        self.robots().clear();
    }

    /// Requests a page and follows redirects. Returns `None` if it was stopped.
    pub(super) fn get(&self, asked: &Url) -> Option<Reply> {
        let mut url = asked.clone();
        let mut left = self.chain;
        for redirects in 0..=INSPECT_REDIRECTS {
            if let Err(not_read) = self.permission(&url, &mut left)? {
                return Some(Reply::NotRead(not_read));
            }
            match self.hop(&url, INSPECT_PAGE_BYTES, &mut left)? {
                Hop::Answer(answer) => {
                    return Some(Reply::Answer(Answer {
                        redirects,
                        ..answer
                    }));
                }
                Hop::Redirect(_, next) => {
                    if let Some(sign) = redirect_to_service(asked, &next) {
                        return Some(Reply::Parked(next, sign));
                    }
                    url = next;
                }
                Hop::Failed(failure) => return Some(Reply::NotRead(NotRead::failed(failure))),
            }
        }
        Some(Reply::NotRead(NotRead::failed(CheckFailure::Other)))
    }

    /// Returns `Ok` if the robots.txt of the URL's origin permits requesting it. Returns `None` if
    /// it was stopped.
    fn permission(&self, url: &Url, left: &mut Duration) -> Option<Result<(), NotRead>> {
        if self.policy == RobotsPolicy::Ignore {
            return Some(Ok(()));
        }
        let origin = origin(url);
        let known = self.robots().get(&origin).cloned();
        let rules = match known {
            Some(rules) => rules,
            None => {
                let rules = self.robots_of(url, left)?;
                let rules = rules.map(Arc::new).map_err(|not_read| NotRead {
                    reason: format!("{} for the robots.txt of {origin}", not_read.reason),
                    ..not_read
                });
                // If only this chain's time limit prevented the request, other links may try again.
                if rules.is_ok() || !left.is_zero() {
                    self.robots().insert(origin, rules.clone());
                }
                rules
            }
        };
        let path = &url[Position::BeforePath..Position::AfterQuery];
        Some(match rules {
            Ok(rules) if !rules.allows(path) => Err(NotRead {
                reason: format!("a robots.txt excludes {url}"),
                failure: None,
            }),
            rules => rules.map(drop),
        })
    }

    /// Requests the robots.txt of an origin. Returns `None` if it was stopped.
    ///
    /// A truncated text is an error because it may lack the rule that matters.
    fn robots_of(&self, url: &Url, left: &mut Duration) -> Option<Result<Robots, NotRead>> {
        let Ok(mut url) = url.join("/robots.txt") else {
            return Some(Ok(Robots::default()));
        };
        for _ in 0..=INSPECT_ROBOTS_REDIRECTS {
            match self.hop(&url, INSPECT_ROBOTS_BYTES, left)? {
                Hop::Answer(answer) => {
                    return Some(match (answer.status, answer.cut_by) {
                        (200..=299, None) => Ok(Robots::parse(&answer.body)),
                        (200..=299, Some(failure)) => Err(NotRead::failed(failure)),
                        (500.., _) => Err(NotRead {
                            reason: format!("HTTP status {}", answer.status),
                            failure: None,
                        }),
                        _ => Ok(Robots::default()),
                    });
                }
                Hop::Redirect(_, next) => url = next,
                Hop::Failed(failure) => return Some(Err(NotRead::failed(failure))),
            }
        }
        Some(Ok(Robots::default()))
    }

    fn hop(&self, url: &Url, max_bytes: u64, left: &mut Duration) -> Option<Hop<Answer>> {
        let read = |response| Answer::read(url, response, max_bytes);
        self.client.hop(url, left, read)
    }
}

/// Returns the scheme, host and port of a URL: `https://h.test:8080`.
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

    /// Starts a server and returns its address. `respond` receives the first line of a request and
    /// returns the delay in milliseconds and the head of the response.
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

    /// Creates a client for servers on this machine.
    fn client(policy: RobotsPolicy, chain_millis: u64) -> PageClient {
        let rules = HostRules::of_system(&["127.0.0.1".to_owned()]);
        let request = Duration::from_secs(20);
        PageClient {
            client: Client::new("t", rules, Duration::ZERO, request, &Arc::default()),
            policy,
            chain: Duration::from_millis(chain_millis),
            robots: Mutex::default(),
        }
    }

    #[test]
    fn slow_redirects_end_at_the_time_limit_of_the_link() {
        let address = serve(|_| (200, "302 Found\r\nLocation: /a".to_owned()));
        let url = Url::parse(&format!("http://{address}/a")).unwrap();
        let begun = Instant::now();
        let reply = client(RobotsPolicy::Ignore, 700).get(&url).unwrap();
        let Reply::NotRead(not_read) = reply else {
            panic!("{reply:?}")
        };
        assert_eq!(not_read.failure, Some(CheckFailure::Timeout));
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(3), "{took:?}");
    }

    #[test]
    fn a_host_stays_usable_after_the_time_limit_of_another_link() {
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
        let get = |url: &str| client.get(&Url::parse(url).unwrap()).unwrap();
        let late = get(&format!("http://{before}/a"));
        let Reply::NotRead(late) = late else {
            panic!("{late:?}")
        };
        assert!(late.reason.contains(" for the robots.txt of "), "{late:?}");
        let reply = get(&place);
        assert!(matches!(reply, Reply::Answer(_)), "{reply:?}");
    }
}
