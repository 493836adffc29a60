//! `urlspool audit inspect`: a local site, states of its pages, and pages never requested.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::http_server::{HttpServer, answer};
use super::{audit, audited, loaded, message, rows, run};
use crate::scene::{Folder, assert_contains};

const ARTICLE: &str = "<html lang=en><title>The brass lantern</title><p>Each lantern of the \
    lighthouse was trimmed twice before midnight, \
    and the keeper wrote down the hour, the wind and the names of all vessels that passed the \
    harbour during winter.";

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

/// Creates an audit of these URLs in which the newest check found them all alive.
fn answering(urls: &[String]) -> Folder {
    let folder = Folder::new();
    let body: String = urls.iter().map(|url| format!("{url}\n")).collect();
    loaded(
        &folder,
        &message(1, "Date: Tue, 2 Jan 1996 10:00:00 +0000\n", &body),
    );
    let mut hosts: Vec<_> = (1..=10).map(|host| format!("127.0.0.{host}")).collect();
    hosts.push("localhost".to_owned());
    let mut options = vec!["-q", "--contact", "a@m.test"];
    options.extend(hosts.iter().flat_map(|host| ["--allow-private", host]));
    audited(&folder, "plan", &options);
    run(
        &folder,
        "INSERT INTO audit_checks(key, checked_at, state, status, checker)
         SELECT key, '2026-11-20T10:00:00Z', 'alive', 200, 'lychee 0.24.2' FROM audit_links WHERE \
         planned",
    );
    folder
}

/// Returns the last segment and the state of each URL.
fn states(folder: &Folder) -> Vec<String> {
    let sql = "SELECT replace(url, rtrim(url, replace(url, '/', '')), ''), state FROM audit_pages \
        ORDER BY 1";
    rows(&folder.path("urls.db"), sql)
}

fn targets(server: &HttpServer) -> Vec<String> {
    server
        .seen()
        .iter()
        .map(|seen| seen.target.clone())
        .collect()
}

/// Starts a site with a few pages. All other paths return 404.
fn site() -> HttpServer {
    HttpServer::start(|request, _| {
        let redirect = |place: &str| answer("302 Found", &format!("Location: {place}\r\n"), "");
        match request.target.as_str() {
            "/robots.txt" => html("User-agent: *\nDisallow: /hidden"),
            "/" => html("<title>Lamps</title>All about lamps"),
            "/lamp" => html(ARTICLE),
            "/hidden" => html("secret"),
            "/sold" => redirect("https://www.hugedomains.com/domain_profile.cfm"),
            "/ads" => html("<script src=//img.sedoparking.com/x.js></script>"),
            "/picture" => answer("200 OK", "Content-Type: image/png\r\n", "x"),
            "/inside" => redirect("http://169.254.169.254/"),
            "/home" => redirect("/"),
            "/moved" => {
                let host = request
                    .head
                    .lines()
                    .find_map(|line| line.strip_prefix("host: "));
                redirect(&format!(
                    "http://{}/lamp",
                    host.unwrap().replace("127.0.0.1", "localhost")
                ))
            }
            _ => gone(),
        }
    })
}

/// Starts a site with the real page `/real`. All other paths return one page that repeats the path.
fn site_with_one_page(page: &'static str) -> HttpServer {
    HttpServer::start(move |request, _| match request.target.as_str() {
        "/robots.txt" => gone(),
        "/real" => html(ARTICLE),
        path => html(&page.replace("PATH", path)),
    })
}

#[test]
fn pages_are_judged_by_what_can_be_shown() {
    let site = site();
    let sorry = site_with_one_page("<title>Sorry</title>The page PATH cannot be found here.");
    let shell = site_with_one_page("<title>App</title><script src=app.js></script>");
    let login = site_with_one_page("<h1>Log in</h1><input type=password>");
    let pages = [
        (&site, "/ads", "parked"),
        (&site, "/hidden", "not_read"),
        (&site, "/home", "front_page"),
        (&site, "/inside", "not_read"),
        (&site, "/lamp", "no_sign"),
        (&site, "/moved", "other_domain"),
        (&site, "/picture", "no_sign"),
        (&site, "/sold", "parked"),
        (&sorry, "/lost", "soft_404"),
        (&sorry, "/real", "no_sign"),
        (&shell, "/chart", "undecided"),
        (&login, "/desk", "undecided"),
    ];
    let urls: Vec<_> = pages.iter().map(|(site, path, _)| site.url(path)).collect();
    let folder = answering(&urls);
    audited(&folder, "inspect", &["-q"]);
    let mut expected = pages.map(|(_, path, state)| format!("{}|{state}", &path[1..]));
    expected.sort();
    assert_eq!(states(&folder), expected);
    let seen = targets(&site);
    assert!(!seen.contains(&"/hidden".to_owned()), "{seen:?}");
    let is_control = |target: &&String| target.starts_with("/urlspool-no-such-page-");
    assert_eq!(seen.iter().filter(is_control).count(), 1, "{seen:?}");
    for request in site.seen().iter().chain(&sorry.seen()) {
        assert_contains(&request.head, "(link-rot audit; a@m.test)");
    }
    let database = folder.path("urls.db");
    let page = |path: &str, columns: &str| {
        let sql = format!("SELECT {columns} FROM audit_pages WHERE url LIKE '%{path}'");
        rows(&database, &sql).concat()
    };
    let evidence = page("/lost", "evidence");
    assert!(evidence.starts_with("has the text of "), "{evidence}");
    assert_contains(&evidence, "/urlspool-no-such-page-");
    assert_eq!(
        page("/inside", "error, evidence"),
        "excluded|no answer: on a private host for the robots.txt of http://169.254.169.254"
    );
    let place = "https://www.hugedomains.com/domain_profile.cfm";
    assert_eq!(page("/sold", "status, final_url"), format!("-|{place}"));
    assert_eq!(page("/home", "final_url"), site.url("/"));
    // No page is due.
    let summary = audit(&folder, "inspect", &[]);
    assert_contains(&summary.stderr, "no URL to inspect");
    assert_eq!(targets(&site).len(), seen.len());
    // A link that has died since has no living page.
    let died = "INSERT INTO audit_checks(key, checked_at, state, checker)
         SELECT key, '2026-11-21', 'dead_page', 'x' FROM audit_links WHERE url LIKE '%/ads'";
    run(&folder, died);
    let [html, csv] = ["report.html", "csv"].map(|name| folder.path(name).display().to_string());
    audited(&folder, "report", &["-q", "-o", &html]);
    audited(&folder, "report", &["-q", "--format", "csv", "-o", &csv]);
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap();
    assert_eq!(
        read("csv/pages-by-year.csv"),
        "year,no_sign,other_domain,front_page,parked,soft_404,undecided,not_read\n\
         1996,3,1,1,1,1,2,2\n"
    );
    let row = format!(
        "{},front_page,redirected to {1},200,,{1},",
        site.url("/home"),
        site.url("/")
    );
    assert!(read("csv/pages.csv").contains(&row), "{row}");
    assert!(read("report.html").contains("Pages that readers cannot find"));
    assert!(read("report.html").contains("Dead or unknown since: 1 link."));
}

/// On a known host, only pages are requested.
#[test]
fn a_repeated_inspection_requests_no_control_page() {
    let site = site();
    let folder = answering(&["/lamp", "/hidden"].map(|path| site.url(path)));
    audited(&folder, "inspect", &["-q"]);
    let before = targets(&site).len();
    audited(
        &folder,
        "inspect",
        &["-q", "--max-age", "0h", "--ignore-robots"],
    );
    let mut asked = targets(&site).split_off(before);
    asked.sort();
    assert_eq!(asked, ["/hidden", "/lamp"]);
    assert_eq!(states(&folder), ["hidden|no_sign", "lamp|no_sign"]);
}

/// RFC 9309, section 2.3.1.4: an unreachable robots.txt closes its host for a time.
#[test]
fn a_robots_txt_that_cannot_be_reached_closes_its_host_until_it_answers() {
    let is_back = Arc::new(AtomicBool::new(false));
    let servers = [
        // Responses that fail, break off before the head, and break off in the body.
        answer("503 Service Unavailable", "", ""),
        String::new(),
        "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\nUser-agent: *\n".to_owned(),
        // A status that means the file does not exist opens the host.
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
    audited(&folder, "inspect", &["-q"]);
    let by_server = |column: &str| -> Vec<String> {
        let find = |url: &String| {
            let sql = format!("SELECT {column} FROM audit_pages WHERE url = '{url}'");
            rows(&folder.path("urls.db"), &sql).concat()
        };
        urls.iter().map(find).collect()
    };
    assert_eq!(
        by_server("state"),
        ["not_read", "not_read", "not_read", "no_sign"]
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
    audited(&folder, "inspect", &["-q", "--max-age", "0h"]);
    assert_eq!(by_server("state"), ["no_sign"; 4]);
}
