//! `urlspool audit check`, with local servers.

use std::process::Stdio;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::http_server::{HttpServer, answer};
use super::{audit, audited, loaded, message, rows, run};
use crate::scene::{Folder, assert_contains, urlspool};

mod answers;
mod order;
mod silence;

const DATED: &str = "Date: Tue, 2 Jan 1996 10:00:00 +0000\n";

/// Planned links of a server. The last letter of a path decides: a is alive, d is gone.
struct Site {
    folder: Folder,
    server: HttpServer,
}

impl Site {
    /// Plans links with these paths.
    fn new(paths: &[&str]) -> Site {
        Site::answering(paths, |path, _| match path.as_bytes().last() {
            Some(b'd') => answer("404 Not Found", "", ""),
            _ => answer("200 OK", "", "page"),
        })
    }

    /// Plans links with these paths. `respond` receives a path and the number of the request.
    fn answering(
        paths: &[&str],
        respond: impl Fn(&str, usize) -> String + Send + Sync + 'static,
    ) -> Site {
        let server = HttpServer::start(move |request, number| respond(&request.target, number));
        let urls: Vec<_> = paths.iter().map(|path| server.url(path)).collect();
        let folder = planned(&urls);
        Site { folder, server }
    }
}

/// Creates a database with a plan of these URLs. Their hosts may be private.
fn planned(urls: &[String]) -> Folder {
    let folder = Folder::new();
    loaded(&folder, &message(1, DATED, &(urls.join("\n") + "\n")));
    let hosts = urls.iter().filter_map(|url| url.split(['/', ':']).nth(3));
    let allowed = hosts.flat_map(|host| ["--allow-private", host]);
    let args: Vec<_> = ["-q"].into_iter().chain(allowed).collect();
    audited(&folder, "plan", &args);
    folder
}

/// Creates a database with a plan of these URLs, whose private hosts `check` does not allow.
fn planned_private(urls: &[String]) -> Folder {
    let folder = Folder::new();
    loaded(&folder, &message(1, DATED, &(urls.join("\n") + "\n")));
    audited(&folder, "plan", &["-q"]);
    run(
        &folder,
        "UPDATE audit_links SET planned = 1, excluded = NULL",
    );
    folder
}

/// Returns the results, sorted by the last segment of the URL.
fn results(folder: &Folder) -> Vec<String> {
    let sql = "SELECT replace(url, rtrim(url, replace(url, '/', '')), ''), state, status, error
        FROM audit_checks JOIN audit_links USING(key) ORDER BY 1, audit_checks.id";
    rows(&folder.path("urls.db"), sql)
}

#[test]
fn private_hosts_are_not_contacted_in_any_notation() {
    let server = HttpServer::start(|_, _| answer("200 OK", "", ""));
    let port = server.address.port();
    let hosts = "127.0.0.1 127.1 0x7f.1 0177.0.0.1 2130706433 0x7f000001 [::ffff:127.0.0.1] [::1] \
        localhost LOCALHOST. 0 [::] %31%32%37.1 [64:ff9b::127.0.0.1]";
    let urls: Vec<_> = hosts
        .split(' ')
        .map(|host| format!("http://{host}:{port}/"))
        .collect();
    let folder = planned_private(&urls);
    let end = audited(&folder, "check", &["--accept-unreachable"]);
    assert_contains(&end.stderr, "not contacted (private)");
    let states = "SELECT DISTINCT state, error FROM audit_checks";
    assert_eq!(rows(&folder.path("urls.db"), states), ["unknown|excluded"]);
    assert!(server.seen().is_empty());
}

#[test]
fn private_hosts_of_the_plan_are_contacted() {
    let site = Site::new(&["/a"]);
    audited(&site.folder, "check", &[]);
    assert_eq!(results(&site.folder), ["a|alive|200|-"]);
    run(
        &site.folder,
        "DELETE FROM audit_checks; DELETE FROM audit_meta WHERE name = 'allow_private'",
    );
    audited(&site.folder, "check", &[]);
    assert_eq!(results(&site.folder), ["a|unknown|-|excluded"]);
}

#[test]
fn a_failure_that_may_pass_is_asked_for_again() {
    let site = Site::answering(&["/a", "/b", "/c", "/d", "/e"], |path, number| match path {
        "/a" if number < 5 => answer("503 Busy", "", ""),
        "/b" if number < 5 => String::new(),
        "/c" => answer("429 Slow", "Retry-After: 31\r\n", ""),
        "/d" => answer("404 Gone", "", ""),
        "/e" => answer("500 Broken", "", ""),
        _ => answer("200 OK", "", ""),
    });
    audited(&site.folder, "check", &["--retries", "1"]);
    assert_eq!(
        results(&site.folder),
        [
            "a|alive|200|-",
            "b|alive|200|-",
            "c|unknown|429|-",
            "d|dead_page|404|-",
            "e|unknown|500|-"
        ]
    );
    let mut paths: Vec<_> = site
        .server
        .seen()
        .into_iter()
        .map(|seen| seen.target)
        .collect();
    paths.sort();
    assert_eq!(paths, ["/a", "/a", "/b", "/b", "/c", "/d", "/e", "/e"]);
}

#[test]
fn a_host_is_asked_for_one_link_at_a_time_with_pauses() {
    let times = std::sync::Arc::new(Mutex::new(Vec::new()));
    let seen = std::sync::Arc::clone(&times);
    let site = Site::answering(&["/1", "/2", "/3", "/4"], move |path, _| {
        seen.lock().unwrap().push(Instant::now());
        let next = if path == "/1" { "Location: /2\r\n" } else { "" };
        answer(if path == "/1" { "302 X" } else { "200 OK" }, next, "")
    });
    audited(&site.folder, "check", &[]);
    let times = times.lock().unwrap();
    assert_eq!(times.len(), 5);
    for pair in times.windows(2) {
        let pause = pair[1] - pair[0];
        assert!(Duration::from_millis(490) < pause, "{pause:?}");
    }
}

#[test]
fn a_result_is_due_again_after_its_age() {
    let Site { folder, .. } = Site::new(&["/a", "/d"]);
    audited(&folder, "check", &[]);
    let again = audited(&folder, "check", &[]);
    let nothing = "0 of 0 URLs checked; every planned link has a newer result than";
    assert!(again.stderr.contains(nothing), "{}", again.stderr);
    run(
        &folder,
        "UPDATE audit_checks SET checked_at='2001-01-01T00:00:00Z' WHERE key LIKE '%/d'",
    );
    let third = audited(&folder, "check", &[]);
    assert_contains(&third.stderr, "1 of 1 URL checked");
    assert_eq!(results(&folder).len(), 3, "the older result stays");
}

#[test]
fn an_interruption_ends_requests_and_stores_no_part_of_a_batch() {
    let Site { folder, server } = Site::answering(&["/a"], |_, number| {
        std::thread::sleep(Duration::from_secs(if number == 0 { 10 } else { 0 }));
        answer("200 OK", "", "")
    });
    let child = urlspool(["audit", "check"])
        .arg(folder.path("urls.db"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while server.seen().is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let begun = Instant::now();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(begun.elapsed() < Duration::from_secs(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("run it again to continue"));
    assert!(results(&folder).is_empty());
    audited(&folder, "check", &[]);
    assert_eq!(results(&folder), ["a|alive|200|-"]);
}

/// A result with a wrong time neither confirms a death nor delays the next check.
#[test]
fn results_of_the_future_end_a_check_or_are_deleted() {
    let Site { folder, .. } = Site::new(&["/d", "/a"]);
    let add = |ahead: &str, checker: &str| {
        let sql = format!(
            "INSERT INTO audit_checks(key, checked_at, state, status, checker)
             SELECT key, strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '{ahead}'), 'dead_page', 404, \
             '{checker}'
             FROM audit_links WHERE url LIKE '%/d'"
        );
        run(&folder, &sql);
    };
    // Imported results may be a day ahead because of time zones.
    add("+20 hours", "imported");
    add("+60 seconds", "urlspool 0.0.9");
    assert_eq!(audit(&folder, "check", &[]).status, Some(0));
    for (ahead, name) in [("+1 year", "imported"), ("+10 minutes", "urlspool 0.0.9")] {
        add(ahead, name);
        let end = audit(&folder, "check", &[]);
        assert_eq!(end.status, Some(2), "{name}: {}", end.stderr);
        for part in ["1 result from the future, up to 20", "--forget-future"] {
            assert!(end.stderr.contains(part), "{part}: {}", end.stderr);
        }
        let end = audited(&folder, "check", &["--forget-future"]);
        let deleted = "; 1 result from the future deleted";
        assert!(end.stderr.contains(deleted), "{}", end.stderr);
    }
    let left = rows(&folder.path("urls.db"), "SELECT count(*) FROM audit_checks");
    assert_eq!(left, ["3"]);
}
