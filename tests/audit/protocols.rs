//! `urlspool audit check --schemes`: ftp and gopher, with local servers.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;

use super::{audit, audited, loaded, message, rows};
use crate::scene::{Folder, assert_contains};

/// Starts a server with a greeting and line-by-line answers. An empty answer closes.
fn server(
    greeting: &'static str,
    answer: fn(&str) -> &'static str,
) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&seen);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let all = Arc::clone(&all);
            thread::spawn(move || {
                let mut out = stream.try_clone().unwrap();
                let _ = out.write_all(greeting.as_bytes());
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let reply = answer(&line);
                    all.lock().unwrap().push(line);
                    if reply.is_empty() || out.write_all(reply.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, seen)
}

fn ftp_answer(line: &str) -> &'static str {
    match line {
        "USER anonymous" => "331-Welcome\r\n 230 not yet\r\n331 Your address, please\r\n",
        "PASS a@m.test" => "230 In\r\n",
        "TYPE I" => "200 Binary\r\n",
        "SIZE pub/lamp.txt" => "213 1234\r\n",
        "CWD pub" => "250 Here\r\n",
        "SIZE pub/old" | "CWD pub/old" => "550 No such file\r\n",
        "SIZE pub/odd" => "502 Not implemented\r\n",
        "MDTM pub/odd" => "213 19960102030405\r\n",
        "QUIT" => "",
        _ => "550 No\r\n",
    }
}

fn gopher_answer(line: &str) -> &'static str {
    match line {
        "/about" => "About lamps\r\nand more\r\n.\r\n",
        "/gone" => "3'/gone' does not exist\t\terror.host\t1\r\n.\r\n",
        _ => "",
    }
}

#[test]
fn old_protocols_are_asked_without_a_transfer() {
    let (ftp, commands) = server("220-Hello\r\n220 Ready\r\n", ftp_answer);
    let (gopher, selectors) = server("", gopher_answer);
    let (closed, _) = server("421 Too many users\r\n", |_| "");
    let folder = Folder::new();
    let body = format!(
        "<ftp://{ftp}/pub/lamp.txt> <ftp://{ftp}/pub;type=d> <ftp://{ftp}/pub/old> \
         <ftp://{ftp}/pub/odd> <ftp://{ftp}/>\n\
         <ftp://{ftp}/a%0D%0ADELE%20b> <ftp://{closed}/x>\n\
         <gopher://{gopher}/0/about> <gopher://{gopher}/1/gone> <gopher://{gopher}/1/none>\n\
         <ftp://127.0.0.1:1/refused> <gopher://10.0.0.1/0/a>\n"
    );
    loaded(
        &folder,
        &message(1, "Date: Tue, 2 Jan 1996 10:00:00 +0000\n", &body),
    );
    let plan = "-q --allow-private 127.0.0.1 --contact a@m.test".split(' ');
    audited(&folder, "plan", &plan.collect::<Vec<_>>());
    let schemes = ["--schemes", "ftp,gopher"];
    let checked = audited(&folder, "check", &schemes);
    assert!(
        checked
            .stderr
            .contains("12 of 12 links of old protocols checked"),
        "{}",
        checked.stderr
    );
    let database = folder.path("urls.db");
    let sql = "SELECT substr(url, instr(substr(url, 10), '/') + 9), state, reply, error FROM \
        audit_protocols ORDER BY url";
    let mut states = rows(&database, sql);
    states.sort();
    assert_eq!(
        states,
        [
            "/0/about|alive|About lamps|-",
            "/0/a|unknown|-|excluded",
            "/1/gone|dead_page|3'/gone' does not exist  error.host 1|-",
            "/1/none|unknown|closed without an answer|-",
            "/a%0D%0ADELE%20b|unknown|-|excluded",
            "/pub/lamp.txt|alive|213 1234|-",
            "/pub/odd|alive|213 19960102030405|-",
            "/pub/old|dead_page|550 No such file|-",
            "/pub;type=d|alive|250 Here|-",
            "/refused|dead_host|-|connect",
            "/x|unknown|421 Too many users|-",
            "/|alive|230 In|-",
        ]
    );
    let commands = commands.lock().unwrap().clone();
    for line in &commands {
        let verb = line.split(' ').next().unwrap();
        let known = ["USER", "PASS", "TYPE", "SIZE", "CWD", "MDTM", "QUIT"];
        assert!(known.contains(&verb), "{commands:?}");
    }
    assert!(selectors.lock().unwrap().contains(&"/about".to_owned()));
    // No link is due again, and the report lists these links separately.
    let again = audited(&folder, "check", &schemes);
    assert!(again.stderr.contains("0 of 0 links"), "{}", again.stderr);
    // A result in the future, caused by a wrong clock, does not count.
    let later =
        "UPDATE audit_protocols SET checked_at = '2099-01-01T00:00:00Z' WHERE url LIKE '%/pub/old'";
    let db = rusqlite::Connection::open(&database).unwrap();
    assert_eq!(db.execute(later, []).unwrap(), 1);
    // Earlier versions looked up hosts of other protocols.
    let other = "UPDATE audit_protocols SET scheme = 'wais' WHERE key =
        (SELECT min(key) FROM audit_protocols WHERE scheme = 'gopher')";
    assert_eq!(db.execute(other, []).unwrap(), 1);
    drop(db);
    let again = audited(&folder, "check", &schemes);
    assert!(again.stderr.contains("1 of 1 link "), "{}", again.stderr);
    let (html, tables) = (folder.path("r.html"), folder.path("tables"));
    audited(&folder, "report", &["-q", "-o", html.to_str().unwrap()]);
    let csv = ["-q", "--format", "csv", "-o", tables.to_str().unwrap()];
    audited(&folder, "report", &csv);
    let csv = std::fs::read_to_string(tables.join("old-protocols.csv")).unwrap();
    assert_eq!(csv.lines().count(), 12, "{csv}");
    let cohorts = std::fs::read_to_string(tables.join("cohorts-by-year.csv")).unwrap();
    assert_eq!(cohorts.lines().count(), 1, "{cohorts}");
    assert_contains(
        &std::fs::read_to_string(html).unwrap(),
        "Checked links of old protocols",
    );
}

#[test]
fn schemes_are_complete_and_ftp_has_a_contact() {
    let folder = Folder::new();
    loaded(&folder, &message(1, "", "ftp://l.cern.ch/a\n"));
    audited(&folder, "plan", &["-q"]);
    for (args, words) in [
        (&["--schemes", "http,ftp"][..], "checked together"),
        (&["--schemes", "ftp"], "--contact"),
        (&["--schemes", "smtp"], "http,https,ftp,gopher"),
    ] {
        let refused = audit(&folder, "check", args);
        refused.check(2, words);
    }
}
