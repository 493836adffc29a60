//! The state that each response of a server leads to, compared with lychee's states.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use url::Url;

use crate::audit::http_server::{HttpServer, SeenRequest, answer};
use crate::audit::{audited, rows};

/// Results of lychee 0.24.2 for this server: path, state, status, error and final path.
const OF_LYCHEE: &str = include_str!("lychee_states.txt");

/// Returns the response to a request for `path`: a status, a redirect, or bytes that are not HTTP.
fn answered(path: &str, elsewhere: &str) -> String {
    let moved = |code: &str, place: &str| answer(code, &format!("Location: {place}\r\n"), "");
    let name = path.trim_start_matches('/').split('?').next().unwrap();
    if let Some(steps) = name.strip_prefix("steps") {
        let left: usize = steps.parse().unwrap();
        let next = if left == 0 {
            "/alive".to_owned()
        } else {
            format!("/steps{}", left - 1)
        };
        return moved("302 Found", &next);
    }
    if name.parse::<u16>().is_ok() {
        return answer(&format!("{name} X"), "Retry-After: 0\r\n", "x");
    }
    match name {
        "moved301" | "moved302" | "moved303" | "moved307" | "moved308" => {
            moved(&format!("{} X", &name[5..]), "/alive")
        }
        "relative" => moved("302 X", "alive?x=1"),
        "with-fragment" => moved("302 X", "/alive#part"),
        "to-front" => moved("302 X", "/"),
        "to-gone" => moved("301 X", "/410"),
        "to-circle" => moved("301 X", "/to-circle"),
        "to-domain" => moved("301 X", elsewhere),
        "to-refused" => moved("301 X", "http://localhost:1/"),
        "to-private" => moved("301 X", "http://169.254.169.254/"),
        "to-number" => moved("301 X", "http://2852039166/"),
        "to-mapped" => moved("301 X", "http://[::ffff:169.254.169.254]/"),
        "to-mail" => moved("301 X", "mailto:a@m.test"),
        "to-nothing" => answer("301 X", "", ""),
        "to-no-url" => moved("301 X", "http://[/"),
        "closed" => String::new(),
        "no-http" => "SSH-2.0-OpenSSH_9.9\r\n".to_owned(),
        "http09" => "<html>page".to_owned(),
        "no-length" => "HTTP/1.0 200 OK\r\n\r\npage".to_owned(),
        "cut-head" => "HTTP/1.1 200 OK\r\nContent-".to_owned(),
        "cut-body" => "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx".to_owned(),
        "long-head" => format!(
            "HTTP/1.1 200 OK\r\n{}\r\n",
            "X-Filler: y\r\n".repeat(20_000)
        ),
        "many-fields" => answer("200 OK", &"X-Filler: y\r\n".repeat(90), ""),
        "interim" => format!(
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n{}",
            answer("200 OK", "", "x")
        ),
        "slow" => {
            std::thread::sleep(Duration::from_secs(4));
            answer("200 OK", "", "late")
        }
        _ => answer("200 OK", "", "page"),
    }
}

/// Starts a server that sends lines without end. Returns the URL of a path.
fn endless(path: &str, begin: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(begin.as_bytes());
                while stream.write_all(b"X-Filler: y\r\n").is_ok() {
                    std::thread::sleep(Duration::from_millis(50));
                }
            });
        }
    });
    format!("http://{address}{path}")
}

/// Paths of the site.
const PATHS: &str = "200 201 202 204 206 300 304 305 400 401 402 403 404 405 406 407 408 409 410 \
    418 421 423 425 426 429 444 451 500 501 502 \
    503 504 520 999 alive alive?a&b=%7E q?x={1} moved301 moved302 moved303 moved307 moved308 \
    relative with-fragment to-front to-gone to-circle \
    to-domain to-refused to-private to-number to-mapped to-mail to-nothing to-no-url steps0 steps8 \
    steps9 steps10 closed no-http http09 \
    no-length cut-head cut-body long-head many-fields interim slow";

/// Number of addresses of the site. With several, few links wait for another's pause.
const SERVERS: usize = 24;

/// The URL of each path, and the addresses of the servers.
struct World {
    urls: Vec<String>,
    elsewhere: String,
}

impl World {
    fn new() -> World {
        let other = HttpServer::start(|_, _| answer("200 OK", "", "page"));
        let elsewhere = format!("http://localhost:{}/alive", other.address.port());
        let server = |number| {
            let at = elsewhere.clone();
            let respond = move |request: &SeenRequest, _| answered(&request.target, &at);
            HttpServer::at(&format!("127.0.3.{number}"), respond)
        };
        let servers: Vec<_> = (1..=SERVERS).map(server).collect();
        let server = |number: usize| &servers[number % SERVERS];
        let paths = PATHS.split(' ').enumerate();
        let mut urls: Vec<_> = paths
            .map(|(number, path)| server(number).url(&format!("/{path}")))
            .collect();
        urls.extend([
            endless("/endless-head", "HTTP/1.1 200 OK\r\n"),
            endless("/endless-body", "HTTP/1.1 200 OK\r\n\r\n"),
            server(0).url("/tls").replace("http:", "https:"),
            "http://127.0.0.1:1/refused".to_owned(),
        ]);
        World { urls, elsewhere }
    }

    /// Replaces the URLs of this site in a row by paths.
    fn neutral(&self, row: &str) -> String {
        let row = row.replace(&self.elsewhere, "ELSEWHERE");
        let neutral = |word: &str| match Url::parse(word) {
            Ok(url) if word.contains("://127.0.") => url[url::Position::BeforePath..].to_owned(),
            _ => word.to_owned(),
        };
        row.split('|').map(neutral).collect::<Vec<_>>().join("|")
    }
}

/// Rows of lychee that differ, each with urlspool's row.
const DIFFERENCES: [(&str, &str); 2] = [
    // lychee reported no response.
    (
        "/to-mail|unknown|-|unanswered|-",
        "/to-mail|unknown|301|-|-",
    ),
    // lychee took a truncated head for a complete one.
    ("/cut-head|alive|200|-|-", "/cut-head|unknown|-|other|-"),
];

#[test]
fn states_match_lychee_except_for_known_differences() {
    let world = World::new();
    let mut urls = world.urls.clone();
    urls.push("http://localhost/a".to_owned());
    let folder = super::planned(&urls);
    audited(&folder, "check", &["--retries", "0", "--timeout", "2"]);

    let sql =
        "SELECT url, state, status, error, final_url FROM audit_links JOIN audit_checks USING(key)
        WHERE host <> 'localhost'";
    let rows = rows(&folder.path("urls.db"), sql);
    let mut found: Vec<_> = rows.iter().map(|row| world.neutral(row)).collect();
    found.sort();
    let ours = |row: &'static str| {
        let difference = DIFFERENCES.iter().find(|(of_lychee, _)| *of_lychee == row);
        difference.map_or(row, |(_, ours)| *ours)
    };
    let mut expected: Vec<_> = OF_LYCHEE.lines().map(ours).collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
}
