//! `urlspool audit inspect`: pages of servers of this machine, their states, and what is never asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::http_server::{HttpServer, SeenRequest, answer};
use super::{audit, audited, loaded, message, rows};
use crate::scene::Folder;

const CONTACT: [&str; 3] = ["-q", "--contact", "a@m.test"];

const ARTICLE: &str = "<html lang=en><title>The brass lantern</title><p>Each lantern of the lighthouse was trimmed twice before midnight, \
    and the keeper wrote down the hour, the wind and the names of all vessels that passed the harbour during winter.";

const CASINO: &str = "<title>Best casino bonuses</title>Discover roulette, blackjack and poker with free spins, instant payouts, trusted \
    reviews, licensed operators, sports betting, mobile slots, weekly jackpots, loyalty programmes and welcome packages.";

fn html(body: &str) -> String {
    answer("200 OK", "Content-Type: text/html\r\n", body)
}

fn gone() -> String {
    answer(
        "404 Not Found",
        "Content-Type: text/html\r\n",
        "<title>404</title>",
    )
}

/// An audit of these URLs, whose newest checks say that all answer.
fn answering(urls: &[String]) -> Folder {
    let folder = Folder::new();
    let body: String = urls.iter().map(|url| format!("{url}\n")).collect();
    loaded(
        &folder,
        &message(1, "Date: Tue, 2 Jan 1996 10:00:00 +0000\n", &body),
    );
    let hosts: Vec<_> = (1..=10).map(|host| format!("127.0.0.{host}")).collect();
    let allowed = hosts.iter().flat_map(|host| ["--allow-private", host]);
    audited(
        &folder,
        "plan",
        &["-q"].into_iter().chain(allowed).collect::<Vec<_>>(),
    );
    run(
        &folder,
        "INSERT INTO audit_checks(key, checked_at, state, status, checker)
         SELECT key, '2026-11-20T10:00:00Z', 'alive', 200, 'lychee 0.24.2' FROM audit_links WHERE planned",
    );
    folder
}

fn run(folder: &Folder, sql: &str) {
    let db = Connection::open(folder.path("urls.db")).unwrap();
    db.execute_batch(sql).unwrap();
}

/// Each URL's last segment and its state.
fn states(folder: &Folder) -> Vec<String> {
    let sql = "SELECT replace(url, rtrim(url, replace(url, '/', '')), ''), state FROM audit_pages ORDER BY 1";
    rows(&folder.path("urls.db"), sql)
}

fn targets(server: &HttpServer) -> Vec<String> {
    server
        .seen()
        .iter()
        .map(|seen| seen.target.clone())
        .collect()
}

#[test]
fn pages_are_judged_and_robots_are_honoured() {
    let site = HttpServer::start(|request, _| match request.target.as_str() {
        "/robots.txt" => html("User-agent: *\nDisallow: /hidden"),
        "/lamp" => html(ARTICLE),
        "/hidden" => html("secret"),
        "/lander" => {
            html("<script>window.onload=function(){window.location.href=\"/lander\"}</script>")
        }
        "/picture" => answer("200 OK", "Content-Type: image/png\r\n", "x"),
        "/inside" => answer("302 Found", "Location: http://169.254.169.254/\r\n", ""),
        _ => gone(),
    });
    let soft = HttpServer::start(|request, _| match request.target.as_str() {
        "/robots.txt" => gone(),
        "/real" => html(ARTICLE),
        path => html(&format!(
            "<title>Sorry</title>The page {path} cannot be found here."
        )),
    });
    let mut urls: Vec<_> = ["/lamp", "/hidden", "/lander", "/picture", "/inside"]
        .map(|path| site.url(path))
        .to_vec();
    urls.extend([soft.url("/real"), soft.url("/lost")]);
    let folder = answering(&urls);
    audited(&folder, "inspect", &CONTACT);
    assert_eq!(
        states(&folder),
        [
            "hidden|not_read",
            "inside|not_read",
            "lamp|not_compared",
            "lander|parked",
            "lost|soft_404",
            "picture|undecided",
            "real|not_compared",
        ]
    );
    let seen = targets(&site);
    assert!(!seen.contains(&"/hidden".to_owned()), "{seen:?}");
    let controls = seen
        .iter()
        .filter(|target| target.starts_with("/urlspool-no-such-page-"));
    assert_eq!(controls.count(), 1, "{seen:?}");
    for request in site.seen().iter().chain(&soft.seen()) {
        assert!(
            request.head.contains("(link-rot audit; a@m.test)"),
            "{}",
            request.head
        );
    }
    let database = folder.path("urls.db");
    let evidence = rows(
        &database,
        "SELECT evidence FROM audit_pages WHERE url LIKE '%/lost'",
    );
    assert!(
        evidence[0].contains("/urlspool-no-such-page-"),
        "{evidence:?}"
    );
    let facts = rows(
        &database,
        "SELECT title, language, words, length(hash) FROM audit_pages WHERE url LIKE '%/lamp'",
    );
    assert_eq!(facts, ["The brass lantern|en|31|16"]);
    let kept = "SELECT error, evidence FROM audit_pages WHERE url LIKE '%/inside'";
    assert_eq!(
        rows(&database, kept),
        [
            "excluded|no answer: private, or excluded by the checker for the robots.txt of http://169.254.169.254"
        ]
    );
    // Nothing is due; and of a host that is known nothing is asked but the page.
    let summary = audit(&folder, "inspect", &["--contact", "a@m.test"]);
    assert!(
        summary.stderr.contains("0 of 0 URLs inspected"),
        "{}",
        summary.stderr
    );
    assert_eq!(targets(&site).len(), seen.len());
    audited(
        &folder,
        "inspect",
        &[
            "-q",
            "--contact",
            "a@m.test",
            "--max-age",
            "0h",
            "--ignore-robots",
        ],
    );
    let again: Vec<_> = targets(&site).split_off(seen.len());
    assert_eq!(again.len(), 5, "{again:?}");
    assert!(again.contains(&"/hidden".to_owned()), "{again:?}");
}

#[test]
fn pages_are_compared_with_their_snapshots() {
    let web = HttpServer::start(|request, _| match request.target.as_str() {
        "/same" | "/also" => html(ARTICLE),
        "/sold" => html(CASINO),
        "/new" => html(&format!("{ARTICLE} {CASINO}")),
        _ => gone(),
    });
    let archive = HttpServer::start(archive_answer);
    let urls: Vec<_> = ["/same", "/sold", "/new", "/also"]
        .map(|path| web.url(path))
        .to_vec();
    let folder = answering(&urls);
    let cdx = archive.url("/coll/cdx");
    run(
        &folder,
        &format!(
            "INSERT INTO audit_captures SELECT key, '{cdx}', '2026-11-20T10:00:00Z', '19960702134500', replace(url, '/sold', '/Sold'), 200, 'captured'
             FROM audit_links WHERE url NOT LIKE '%/also'"
        ),
    );
    audited(&folder, "inspect", &CONTACT);
    assert!(
        states(&folder)
            .iter()
            .all(|state| state.ends_with("|not_compared"))
    );
    audited(
        &folder,
        "inspect",
        &["-q", "--contact", "a@m.test", "--compare", "--rate", "6000"],
    );
    assert_eq!(
        states(&folder),
        [
            "also|not_compared",
            "new|as_cited",
            "same|as_cited",
            "sold|taken_over"
        ]
    );
    let sold = rows(
        &folder.path("urls.db"),
        "SELECT evidence, compared_with FROM audit_pages WHERE url LIKE '%/sold'",
    );
    let address = archive.url("/coll/19960702134500id_/");
    assert!(
        sold[0].contains(&address) && sold[0].contains("as it was on 2020-01-02 already"),
        "{sold:?}"
    );
    assert!(sold[0].ends_with("|19960702134500"), "{sold:?}");
    assert!(
        sold[0].contains("/Sold"),
        "the archive was asked for the URL that it has: {sold:?}"
    );
}

/// A pywb with a capture of 1996, and of 2020 for a page that was sold.
fn archive_answer(request: &SeenRequest, _: usize) -> String {
    let target = &request.target;
    if target.starts_with("/coll/cdx?") {
        let line = |time: &str| {
            format!("{{\"timestamp\": \"{time}\", \"url\": \"x\", \"status\": \"200\"}}\n")
        };
        return html(&(line("19960702134500") + &line("20200102030405")));
    }
    html(if target.starts_with("/coll/2020") {
        CASINO
    } else {
        ARTICLE
    })
}

#[test]
fn silence_of_many_hosts_is_no_result_and_a_contact_is_needed() {
    // Nothing listens at this port of any address.
    let urls: Vec<_> = (1..=10)
        .map(|host| format!("http://127.0.0.{host}:1/a"))
        .collect();
    let folder = answering(&urls);
    let silent = audit(&folder, "inspect", &CONTACT);
    assert_eq!(silent.status, Some(69), "{}", silent.stderr);
    assert!(
        silent.stderr.contains("none of 10 hosts replied"),
        "{}",
        silent.stderr
    );
    assert_eq!(
        rows(&folder.path("urls.db"), "SELECT count(*) FROM audit_pages"),
        ["0"]
    );
    let refused = audit(&folder, "inspect", &["--contact", "me"]);
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
}

/// RFC 9309, section 2.3.1.4: a robots.txt that cannot be reached closes the host, for a time.
#[test]
fn a_robots_txt_that_cannot_be_reached_closes_its_host_until_it_answers() {
    let is_back = Arc::new(AtomicBool::new(false));
    let servers = [
        // It fails, breaks off before an answer, breaks off in the text.
        answer("503 Service Unavailable", "", ""),
        String::new(),
        "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\nUser-agent: *\n".to_owned(),
        // The status that says that there is none opens it.
        answer("403 Forbidden", "", ""),
    ]
    .map(|robots| {
        let is_back = Arc::clone(&is_back);
        HttpServer::start(move |request, _| match request.target.as_str() {
            "/robots.txt" if !is_back.load(Ordering::SeqCst) => robots.clone(),
            "/lamp" => html(ARTICLE),
            _ => gone(),
        })
    });
    let urls: Vec<_> = servers.iter().map(|server| server.url("/lamp")).collect();
    let folder = answering(&urls);
    audited(&folder, "inspect", &CONTACT);
    let by_server = |column: &str| -> Vec<String> {
        let find = |url: &String| {
            let sql = format!("SELECT {column} FROM audit_pages WHERE url = '{url}'");
            rows(&folder.path("urls.db"), &sql).concat()
        };
        urls.iter().map(find).collect()
    };
    assert_eq!(
        by_server("state"),
        ["not_read", "not_read", "not_read", "not_compared"]
    );
    let reasons = by_server("evidence");
    for (reason, (words, server)) in reasons.iter().zip([
        ("HTTP status 503 for the robots.txt of ", &servers[0]),
        ("no answer: ", &servers[1]),
        ("no answer: ", &servers[2]),
    ]) {
        assert!(reason.starts_with(words), "{reason}");
        assert!(reason.ends_with(&server.url("")), "{reason}");
        assert_eq!(targets(server), ["/robots.txt"]);
    }
    is_back.store(true, Ordering::SeqCst);
    audited(
        &folder,
        "inspect",
        &[&CONTACT[..], &["--max-age", "0h"]].concat(),
    );
    assert_eq!(by_server("state"), ["not_compared"; 4]);
}

/// A local index has no address of its snapshots, and a TimeMap has them: both lead to the same verdicts as a CDX server.
#[test]
fn snapshots_of_local_indexes_and_timemaps_are_compared() {
    let web = HttpServer::start(|request, _| match request.target.as_str() {
        "/same" => html(ARTICLE),
        "/sold" => html(CASINO),
        _ => gone(),
    });
    let urls = ["/same", "/sold"].map(|path| web.url(path));
    let archive = HttpServer::start(|request, _| {
        let host = request
            .head
            .lines()
            .find_map(|line| line.strip_prefix("host: "));
        let target = &request.target;
        let Some((_, page)) = target.split_once("/timemap/") else {
            return archive_answer(request, 0);
        };
        let memento = |time: &str, date: &str| {
            let host = host.unwrap_or_default();
            format!("<http://{host}/coll/{time}/{page}>; rel=\"memento\"; datetime=\"{date}\"")
        };
        let list = [
            memento("19960702134500", "Tue, 02 Jul 1996 13:45:00 GMT"),
            memento("20200102030405", "Thu, 02 Jan 2020 03:04:05 GMT"),
        ];
        answer("200 OK", "", &list.join(",\n"))
    });
    let compare = [&CONTACT[..], &["--compare", "--rate", "6000"]].concat();
    let expected = ["same|as_cited", "sold|taken_over"];
    let evidence = |folder: &Folder| {
        let sql = "SELECT evidence FROM audit_pages WHERE url LIKE '%/sold'";
        rows(&folder.path("urls.db"), sql).concat()
    };
    let later = "as it was on 2020-01-02 already";

    let folder = answering(&urls);
    let template = archive.url("/timemap/{url}");
    audited(
        &folder,
        "archive",
        &[&CONTACT[..], &["--timemap", &template, "--rate", "6000"]].concat(),
    );
    audited(&folder, "inspect", &compare);
    assert_eq!(states(&folder), expected);
    assert!(evidence(&folder).contains(later), "{}", evidence(&folder));
    assert!(
        targets(&archive)
            .iter()
            .any(|target| target.contains("19960702134500id_/"))
    );

    let folder = answering(&urls);
    let port = web.address.port();
    let line = |page: &str, time: &str| {
        let url = web.url(page);
        format!("1,0,0,127:{port}){page} {time} {{\"url\": \"{url}\", \"status\": \"200\"}}\n")
    };
    let lines: String = ["/same", "/sold"]
        .iter()
        .flat_map(|page| ["19960702134500", "20200102030405"].map(|time| line(page, time)))
        .collect();
    let index = folder.file("a.cdxj", &lines);
    audited(&folder, "archive", &["-q", "--cdxj", &index]);
    let end = audit(
        &folder,
        "inspect",
        &[&["--contact", "a@m.test"], &compare[3..]].concat(),
    );
    assert_eq!(end.status, Some(1), "{}", end.stderr);
    assert!(
        end.stderr
            .contains("audit archive --cdxj FILE --replay URL"),
        "{}",
        end.stderr
    );
    let replay = archive.url("/coll");
    audited(
        &folder,
        "archive",
        &["-q", "--cdxj", &index, "--replay", &replay],
    );
    audited(&folder, "inspect", &compare);
    assert_eq!(states(&folder), expected);
    assert!(evidence(&folder).contains(later), "{}", evidence(&folder));
    let [html, csv] = ["report.html", "csv"].map(|name| folder.path(name).display().to_string());
    audited(&folder, "report", &["-q", "-o", &html, "--csv", &csv]);
    let pages = std::fs::read_to_string(folder.path("csv/pages.csv")).unwrap();
    let snapshot = archive.url("/coll/19960702134500/http://127.0.0.1");
    assert!(pages.contains(&snapshot), "{pages}");
}

#[test]
fn an_interruption_ends_requests_that_are_open() {
    let site = HttpServer::start(|request, _| match request.target.as_str() {
        "/slow" => {
            std::thread::sleep(Duration::from_secs(20));
            html(ARTICLE)
        }
        _ => gone(),
    });
    let folder = answering(&[site.url("/slow")]);
    let mut inspect = crate::scene::urlspool(["audit", "inspect"]);
    inspect.arg(folder.path("urls.db")).args(CONTACT);
    let mut child = inspect.spawn().unwrap();
    let begun = Instant::now();
    while !targets(&site).contains(&"/slow".to_owned()) {
        assert!(begun.elapsed() < Duration::from_mins(1));
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let begun = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(states(&folder), [] as [&str; 0]);
}
