//! `urlspool audit check`, with a checker that is a script and speaks the JSON of lychee.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use super::http_server::{HttpServer, answer};
use super::{audit, audited, loaded, message, rows};
use crate::scene::{Folder, ended, urlspool};

mod answers;
mod order;
mod silence;

const DATED: &str = "Date: Tue, 2 Jan 1996 10:00:00 +0000\n";

/// Writes the fake checker into a folder. Returns its path.
fn fake_checker(folder: &Folder) -> String {
    let path = folder.file("fake.sh", include_str!("fake_checker.sh"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A planned database with these URLs.
fn planned(urls: &str) -> Folder {
    let folder = Folder::new();
    loaded(&folder, &message(1, DATED, &format!("{urls}\n")));
    audited(&folder, "plan", &["-q"]);
    folder
}

fn results(folder: &Folder) -> Vec<String> {
    let sql =
        "SELECT substr(key, 18), state, status, error, final_url FROM audit_checks ORDER BY key";
    rows(&folder.path("urls.db"), sql)
}

fn log(folder: &Folder) -> String {
    fs::read_to_string(folder.path("fake.log")).unwrap_or_default()
}

#[test]
fn each_answer_gives_a_state() {
    let folder = planned(
        "http://l.cern.ch/a http://l.cern.ch/m http://l.cern.ch/d http://l.cern.ch/n http://l.cern.ch/t\n\
         http://l.cern.ch/x http://l.cern.ch/s http://l.cern.ch/u http://l.cern.ch/q?b&amp;c<a http://l.cern.ch/confirm/a",
    );
    loaded(&folder, &message(2, DATED, "http://l.cern.ch/later\n"));
    let checker = fake_checker(&folder);
    let end = audited(&folder, "check", &["--checker", &checker]);
    assert_eq!(
        results(&folder),
        [
            "a|alive|200|-|-",
            "d|dead_page|404|-|-",
            "m|redirected|200|-|http://www.w3.org/a",
            // The proxy, which would know of a connection that was refused, was not asked for any.
            "n|unknown|-|other|-",
            "q?b&amp;c|unknown|-|unanswered|-",
            "s|unknown|-|unanswered|-",
            "t|dead_host|-|timeout|-",
            "u|unknown|-|unanswered|-",
            "x|unknown|-|excluded|-",
        ]
    );
    for part in [
        "9 of 9 URLs",
        "; 1 of them not contacted",
        "; 3 of them without an answer",
        "1 answer for a URL",
        "\nurlspool: 1 link came after the plan",
    ] {
        assert!(end.stderr.contains(part), "{part}: {}", end.stderr);
    }
    let checker_names = rows(
        &folder.path("urls.db"),
        "SELECT DISTINCT checker FROM audit_checks",
    );
    assert_eq!(checker_names, ["fake 1.0"]);
}

#[test]
fn the_checker_is_named_from_the_folder_of_the_user() {
    let folder = planned("http://l.cern.ch/a");
    fake_checker(&folder);
    let mut check = urlspool(["audit", "check", "urls.db", "--checker", "./fake.sh"]);
    let end = ended(check.current_dir(folder.root()), b"");
    assert_eq!(end.status, Some(0), "{}", end.stderr);
    assert_eq!(results(&folder), ["a|alive|200|-|-"]);
}

#[test]
#[ignore = "needs lychee on PATH"]
fn lychee_says_what_servers_answer() {
    let server = HttpServer::start(|request, _| match request.target.as_str() {
        "/moved" => answer("301 Moved", "Location: /alive\r\n", ""),
        "/elsewhere" => answer("301 Moved", "Location: http://localhost:1/\r\n", ""),
        "/private" => answer("301 Moved", "Location: http://169.254.169.254/\r\n", ""),
        "/gone" => answer("410 Gone", "", ""),
        "/closed" => String::new(),
        _ => answer("200 OK", "", "page"),
    });
    let folder = planned(
        "http://l.cern.ch/alive http://l.cern.ch/moved http://l.cern.ch/elsewhere http://l.cern.ch/private\n\
         http://l.cern.ch/gone http://l.cern.ch/closed http://l.cern.ch/q?a&amp;b",
    );
    let options = format!(
        "--max-retries 0 --host-request-interval 1ms --remap 'http://l.cern.ch/(.*) {}$1'",
        server.url("/")
    );
    let args = [
        "--allow-private",
        "127.0.0.1",
        "--allow-private",
        "localhost",
    ];
    audited(
        &folder,
        "check",
        &[&args[..], &["--checker-args", &options]].concat(),
    );
    let moved = format!("moved|alive|200|-|{}", server.url("/alive"));
    assert_eq!(
        results(&folder),
        [
            "alive|alive|200|-|-",
            "closed|unknown|-|other|-",
            "elsewhere|dead_host|-|connect|http://localhost:1/",
            "gone|dead_page|410|-|-",
            &moved,
            "private|unknown|-|excluded|http://169.254.169.254/",
            "q?a&amp;b|alive|200|-|-",
        ]
    );
}

#[test]
fn words_of_the_checker_are_quoted_as_in_a_shell() {
    let folder = planned("http://l.cern.ch/a");
    let checker = fake_checker(&folder);
    for words in ["-u 'x", "-u \"x", "-u x\\"] {
        let args = ["--checker", &checker, "--checker-args", words];
        let end = audit(&folder, "check", &args);
        assert_eq!(end.status, Some(2), "{words}: {}", end.stderr);
        let expected = "`--checker-args` has a quote that is not closed";
        assert!(end.stderr.contains(expected), "{words}: {}", end.stderr);
    }
    assert_eq!(log(&folder), "");
}

#[test]
fn the_checker_is_run_through_the_proxy() {
    let folder = planned("http://l.cern.ch/a");
    let checker = fake_checker(&folder);
    let args = [
        "--checker",
        &checker,
        "--checker-args",
        "--host-concurrency 2 -u 'x y'",
    ];
    audited(&folder, "check", &args);
    let log = log(&folder);
    assert_eq!(log.matches("http://127.0.0.1:").count(), 3, "{log}");
    for part in [
        "--format json -v",
        "--cache=false",
        "--exclude-all-private",
        "--host-concurrency 2 -u x y",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
    assert_eq!(
        log.matches("--host-concurrency").count(),
        1,
        "a default gives way: {log}"
    );
    let database = rusqlite::Connection::open(folder.path("urls.db")).unwrap();
    database.execute_batch("DELETE FROM audit_checks").unwrap();
    audited(
        &folder,
        "check",
        &["--allow-private", "wiki", "--checker", &checker],
    );
    let lines: Vec<_> = log_lines(&folder);
    assert!(!lines[1].contains("--exclude-all-private"), "{lines:?}");
}

/// Each of its links became unknown, and nothing was due with the right option.
#[test]
fn a_private_host_of_the_plan_is_contacted() {
    let folder = planned("http://wiki/a");
    let checker = fake_checker(&folder);
    audited(&folder, "plan", &["--allow-private", "wiki"]);
    audited(&folder, "check", &["--checker", &checker]);
    let lines = log_lines(&folder);
    let asked =
        |line: &String| line.contains("links.html") && !line.contains("--exclude-all-private");
    assert!(lines.iter().any(asked), "{lines:?}");
}

fn log_lines(folder: &Folder) -> Vec<String> {
    log(folder).lines().map(str::to_owned).collect()
}

#[test]
fn a_result_is_due_again_after_its_age() {
    let folder =
        planned("http://l.cern.ch/a http://l.cern.ch/d http://l.cern.ch/x http://l.cern.ch/s");
    let checker = fake_checker(&folder);
    audited(&folder, "check", &["--checker", &checker]);
    let again = audited(&folder, "check", &["--checker", &checker]);
    let nothing = "0 of 0 URLs checked; each planned link has a result that is not older";
    assert!(again.stderr.contains(nothing), "{}", again.stderr);
    let old = "UPDATE audit_checks SET checked_at='2001-01-01T00:00:00Z' WHERE key LIKE '%/d'";
    let database = rusqlite::Connection::open(folder.path("urls.db")).unwrap();
    database.execute_batch(old).unwrap();
    let third = audited(&folder, "check", &["--checker", &checker]);
    assert!(
        third.stderr.contains("1 of 1 URL checked"),
        "{}",
        third.stderr
    );
    assert_eq!(results(&folder).len(), 5, "the older result stays");
}

#[test]
fn batches_hold_at_most_500_links() {
    let urls: Vec<_> = (0..1_201)
        .map(|number| format!("http://l.cern.ch/{number}a"))
        .collect();
    let folder = planned(&urls.join("\n"));
    let checker = fake_checker(&folder);
    let some = audited(&folder, "check", &["--limit", "201", "--checker", &checker]);
    assert!(some.stderr.contains("201 of 201"), "{}", some.stderr);
    let rest = audited(&folder, "check", &["--checker", &checker]);
    assert!(rest.stderr.contains("1,000 of 1,000"), "{}", rest.stderr);
    assert_eq!(log_lines(&folder).len(), 3);
    let states = rows(
        &folder.path("urls.db"),
        "SELECT state, count(*), count(DISTINCT key) FROM audit_checks GROUP BY 1",
    );
    assert_eq!(states, ["alive|1201|1201"]);
}

#[test]
fn a_checker_that_cannot_be_run_ends_with_69() {
    let folder = planned("http://l.cern.ch/a");
    let missing = audit(&folder, "check", &["--checker", "/nonexistent/lychee"]);
    assert_eq!(missing.status, Some(69), "{}", missing.stderr);
    assert!(
        missing.stderr.contains("cargo install lychee"),
        "{}",
        missing.stderr
    );
    let folder_of_it = folder.root().to_str().unwrap();
    for checker in [".", "/", folder_of_it] {
        let end = audit(&folder, "check", &["--checker", checker]);
        assert_eq!(end.status, Some(69), "{}", end.stderr);
        let expected = format!("cannot run {checker}: it is a folder; install lychee");
        assert!(end.stderr.contains(&expected), "{}", end.stderr);
    }
    let other = audit(&folder, "check", &["--checker", "false"]);
    assert_eq!(other.status, Some(69), "{}", other.stderr);
    let checker = fake_checker(&folder);
    folder.write("fail", "");
    let failing = audit(&folder, "check", &["--checker", &checker]);
    assert_eq!(failing.status, Some(69), "{}", failing.stderr);
    assert!(
        failing.stderr.contains("exit code 3: no such option"),
        "{}",
        failing.stderr
    );
    folder.write("fail", "x".repeat(10_000));
    let failing = audit(&folder, "check", &["--checker", &checker]);
    assert!(failing.stderr.len() < 600, "{}", failing.stderr.len());
    assert!(results(&folder).is_empty());
}

#[test]
fn without_a_plan_a_step_names_the_way_out() {
    let folder = Folder::new();
    loaded(&folder, &message(1, DATED, "http://l.cern.ch/a\n"));
    let end = audit(&folder, "check", &[]);
    assert_eq!(end.status, Some(2));
    assert!(end.stderr.contains("urlspool audit plan"), "{}", end.stderr);
}

/// Starts a check that hangs in its checker.
fn hanging(folder: &Folder, checker: &str, temporary: &Path) -> Child {
    folder.write("hang", "");
    let child = urlspool(["audit", "check"])
        .arg(folder.path("urls.db"))
        .args(["--checker", checker])
        .env("TMPDIR", temporary)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    for _ in 0..500 {
        if log(folder).contains("hanging") {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
fn a_killed_check_takes_its_checker_along_and_the_next_one_removes_its_files() {
    let folder = planned("http://l.cern.ch/a");
    let checker = fake_checker(&folder);
    let temporary = folder.path("tmp");
    fs::create_dir(&temporary).unwrap();
    let mut child = hanging(&folder, &checker, &temporary);
    let orphan = log(&folder).lines().find_map(|line| {
        let number = line.strip_prefix("hanging ")?;
        rustix::process::Pid::from_raw(number.parse().unwrap())
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let is_gone = || rustix::process::test_kill_process(orphan.unwrap()).is_err();
    let mut waits = 0..500;
    while !is_gone() {
        let next = waits.next();
        assert!(next.is_some(), "the checker outlives the check");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 1);
    fs::remove_file(folder.path("hang")).unwrap();
    let mut check = urlspool(["audit", "check"]);
    check.arg(folder.path("urls.db")).env("TMPDIR", &temporary);
    let end = ended(check.args(["--checker", &checker]), b"");
    assert_eq!(end.status, Some(0), "{}", end.stderr);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn an_interruption_kills_the_checker_and_stores_no_part_of_a_batch() {
    let folder = planned("http://l.cern.ch/a");
    let checker = fake_checker(&folder);
    let child = hanging(&folder, &checker, &std::env::temp_dir());
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&output.stderr).contains("run it again to go on"));
    assert!(results(&folder).is_empty());
    fs::remove_file(folder.path("hang")).unwrap();
    audited(&folder, "check", &["--checker", &checker]);
    assert_eq!(results(&folder), ["a|alive|200|-|-"]);
}

/// A clock that was wrong at a check, or is wrong now, neither confirms a death nor keeps a link from being due.
#[test]
fn results_of_the_future_end_a_check_or_are_deleted() {
    let folder = planned("http://l.cern.ch/d http://l.cern.ch/a");
    let checker = fake_checker(&folder);
    let check = |more: &[&str]| {
        let args = [&["--checker", checker.as_str()], more].concat();
        audit(&folder, "check", &args)
    };
    let db = folder.path("urls.db");
    let add = |ahead: &str, checker: &str| {
        let sql = format!(
            "INSERT INTO audit_checks(key, checked_at, state, status, checker)
             SELECT key, strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '{ahead}'), 'dead_page', 404, '{checker}'
             FROM audit_links WHERE url LIKE '%/d'"
        );
        rusqlite::Connection::open(&db)
            .unwrap()
            .execute_batch(&sql)
            .unwrap();
    };
    // A day ahead may be a time zone, where results are imported.
    add("+20 hours", "imported");
    add("+60 seconds", "lychee 0.24.2");
    assert_eq!(check(&[]).status, Some(0));
    for (ahead, name) in [
        ("+1 year", "imported"),
        ("+10 minutes", "lychee 0.24.2"),
        ("+10 minutes", "fake 1.0"),
    ] {
        add(ahead, name);
        let end = check(&[]);
        assert_eq!(end.status, Some(2), "{name}: {}", end.stderr);
        for part in ["1 result of the future, up to 20", "--forget-future"] {
            assert!(end.stderr.contains(part), "{part}: {}", end.stderr);
        }
        let end = check(&["--forget-future"]);
        assert_eq!(end.status, Some(0), "{}", end.stderr);
        assert!(
            end.stderr.contains("; 1 result of the future deleted"),
            "{}",
            end.stderr
        );
    }
    let left = rows(&db, "SELECT count(*) FROM audit_checks");
    assert_eq!(left, ["3"]);
}
