//! Options that exclude URLs, messages or files.

use std::fs;

use serde_json::{Value, json};

use super::{DATED, found};
use crate::scene::{Folder, assert_contains, done, ended, urlspool};

/// A URL may also be in a redirector's URL. Both are occurrences.
#[test]
fn written_urls_and_duplicates_are_all_urls() {
    let folder = Folder::new();
    let archived = "http://web.archive.org/web/2002/http://a.example/x";
    let text = format!("{archived} http://A.example/x {archived} http://b.example/\n");
    let path = folder.file("text", text);
    let summary_path = folder.path("sums.json");
    let scan = |unique: &str| {
        let summary = summary_path.to_str().unwrap();
        let ended = done(&["scan", &path, "--unique", unique, "--summary", summary]);
        let summary: Value = serde_json::from_slice(&fs::read(&summary_path).unwrap()).unwrap();
        assert_eq!(summary["unwrapped"], 2, "{unique}");
        (ended.records(), summary["folded"].clone())
    };
    let (all, none) = scan("none");
    assert_eq!((all.len(), none), (6, json!(0)));
    for (unique, counts) in [
        ("message", json!([2, 3, null])),
        ("run", json!([null, null, null])),
    ] {
        let (lines, duplicates) = scan(unique);
        assert_eq!(duplicates, 3, "{unique}");
        let found: Value = lines.iter().map(|line| line["count"].clone()).collect();
        assert_eq!(found, counts, "{unique}");
        let first = [&all[0], &all[1], &all[5]].map(|line| &line["id"]);
        assert!(lines.iter().map(|line| &line["id"]).eq(first), "{unique}");
    }
}

/// `--unique` compares keys, which ignore the case of the host and a default port.
#[test]
fn duplicates_are_dropped_within_a_message_or_the_run() {
    let again = "From a\nA: b\n\nhttp://a.example/x HTTP://A.EXAMPLE:80/x\n\nFrom b\nA: b\n\n\
        http://a.example/x\n";
    assert_eq!(found(again, &[]).len(), 3);
    assert_eq!(found(again, &["--unique", "none"]).len(), 3);
    assert_eq!(
        found(again, &["--unique", "message"]),
        ["http://a.example/x", "http://a.example/x"]
    );
    assert_eq!(found(again, &["--unique", "run"]), ["http://a.example/x"]);
}

#[test]
fn since_and_until_include_whole_periods() {
    let (s, july, august, undated) = (
        "http://s.example/",
        "http://july.example/",
        "http://august.example/",
        "http://undated.example/",
    );
    assert_eq!(
        found(DATED, &["--since", "1998-08-01"]),
        [august, july, undated]
    );
    assert_eq!(found(DATED, &["--until", "1998-07-31"]), [s, july, undated]);
    assert_eq!(
        found(DATED, &["--since", "1997-01-01", "--until", "1997-12-31"]),
        [undated]
    );
    assert_eq!(
        found(
            DATED,
            &["--since", "1996-07-01T00:00:00Z", "--until", "1999-01-01"]
        )
        .len(),
        5
    );
    // A period includes its last second.
    for period in ["1996", "1996-07", "1996-07-01"] {
        assert_eq!(
            found(DATED, &["--since", period, "--until", period]),
            [s, july, undated],
            "{period}"
        );
    }
    assert_eq!(found(DATED, &["--since", "1997"]), [august, july, undated]);
    // A point in time has no length.
    assert_eq!(
        found(DATED, &["--until", "1996-07-01T00:00:00Z"]),
        [undated],
    );
}

/// The record's date decides, no matter how the message states it.
#[test]
fn since_and_until_count_the_dates_of_records() {
    for message in [
        // A news and B news (RFC 850).
        "Aa.1\nnet.general\na!b\nThu Nov 19 17:28:00 1981\ntitle\nhttp://s.example/\n",
        "From: x@b.UUCP\nNewsgroups: net.a\nPosted: Thu Nov 19 17:28:00 1981\n\n\
         http://s.example/\n",
        "<html>\n<!--X-Date: Thu, 19 Nov 1981 17:28:00 GMT -->\n<!--X-Body-of-Message-->\n\
         <p>http://s.example/\n<!--X-Body-of-Message-End-->\n</html>\n",
    ] {
        let folder = Folder::new();
        let file = folder.file("file", message);
        let found = |options: &[&str]| {
            let ended = ended(urlspool(["scan", &file]).args(options), b"");
            let years = ended.records().into_iter();
            years
                .map(|record| record["message"]["year"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            found(&["--since", "1981", "--until", "1981"]),
            [1981],
            "{message}"
        );
        assert_eq!(found(&["--since", "1982"]), [0; 0], "{message}");
        assert_eq!(found(&["--until", "1980"]), [0; 0], "{message}");
    }
}

#[test]
fn patterns_select_files_below_a_root() {
    let folder = Folder::new();
    for name in ["a.mbox", "b.txt", "deep/c.mbox", "deep/d.txt"] {
        folder.write(
            name,
            format!("see http://{}.example/\n", name.replace('/', "-")),
        );
    }
    let root = folder.root().to_str().unwrap();
    let found = |options: &[&str]| done(&[&["scan", root], options].concat()).urls();
    let urls = |names: &[&str]| {
        names
            .iter()
            .map(|name| format!("http://{name}.example/"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found(&[]),
        urls(&["a.mbox", "b.txt", "deep-c.mbox", "deep-d.txt"])
    );
    assert_eq!(
        found(&["--include", "*.mbox"]),
        urls(&["a.mbox", "deep-c.mbox"])
    );
    assert_eq!(found(&["--exclude", "deep"]), urls(&["a.mbox", "b.txt"]));
    let several: Vec<_> = "--include *.mbox --exclude deep/* --include b.*"
        .split(' ')
        .collect();
    assert_eq!(found(&several), urls(&["a.mbox", "b.txt"]));
}

#[test]
fn paths_are_read_from_a_list() {
    let folder = Folder::new();
    for name in ["a", "b b", "-", "c"] {
        folder.file(
            name,
            format!("see http://{}.example/\n", &name.replace([' ', '-'], "x")),
        );
    }
    let urls = |list: &[u8], args: &[&str]| {
        let ended = ended(
            urlspool(["scan", "--format", "urls", "-j1"])
                .args(args)
                .current_dir(folder.root()),
            list,
        );
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        ended.text().to_owned()
    };
    let expected = "http://a.example/\nhttp://bxb.example/\nhttp://x.example/\n";
    assert_eq!(urls(b"a\nb b\n-\n", &["--files-from", "-"]), expected);
    assert_eq!(urls(b"a\0b b\0-\0", &["--files-from", "-"]), expected);
    folder.file("list", "b b\n");
    assert_eq!(
        urls(b"", &["c", "--files-from", "list"]),
        "http://c.example/\nhttp://bxb.example/\n"
    );
    assert_eq!(urls(b"", &["--files-from", "-", "-o", "empty.txt"]), "");
    assert_eq!(std::fs::read(folder.path("empty.txt")).unwrap(), b"");
    let mut command = urlspool(["scan", "--files-from", "none"]);
    let missing = ended(command.current_dir(folder.root()), b"");
    missing.check(2, "cannot read none: No such file");
    let mut command = urlspool(["scan", "--files-from", "list", "-o", "list"]);
    let same = ended(command.current_dir(folder.root()), b"");
    assert_eq!(same.status, Some(2), "{}", same.stderr);
}

#[test]
fn hosts_and_domains_choose() {
    let text = "http://info.cern.ch/ http://CERN.ch./x ftp://notcern.ch/ mailto:jane@cern.ch\n\
        http://b\u{fc}cher.example/ <URL:http://www.ce\nrn.ch/>\n";
    assert_eq!(found(text, &["--host", "cern.ch"]), ["http://CERN.ch./x"]);
    assert_eq!(found(text, &["--domain", "CERN.ch"]).len(), 3);
    assert_eq!(
        found(text, &["--domain", "ch", "--schemes", "ftp"]),
        ["ftp://notcern.ch/"]
    );
    assert_eq!(
        found(text, &["--host", "xn--bcher-kva.example,info.cern.ch"]).len(),
        2
    );
    let folder = Folder::new();
    let path = folder.file("text", text);
    let summary = folder.path("sums.json");
    done(&[
        "scan",
        &path,
        "--host",
        "info.cern.ch",
        "--summary",
        summary.to_str().unwrap(),
    ]);
    let summary: Value = serde_json::from_slice(&fs::read(summary).unwrap()).unwrap();
    assert_eq!(
        (&summary["records"], &summary["filtered"]),
        (&1.into(), &json!({ "host": 5 }))
    );
    let none = ended(
        &mut urlspool(["scan", "-v", "--domain", "none.example", &path]),
        b"",
    );
    assert!(
        none.stderr.contains("6 filtered (6 domain)"),
        "{}",
        none.stderr
    );
    let mut command = urlspool(["scan", "--host", "http://cern.ch/", &path]);
    let refused = ended(&mut command, b"");
    refused.check(2, "such as info.cern.ch");
}

/// Mail of two lists with URLs in each region, some of them twice in a part, a misleading link,
/// hazards, and nested redirectors.
const OF_ALL_KINDS: &str = "From a@b Mon Jan  1 00:00:00 1996
From: Jane <jane@a.example>
List-Id: Talk about the web <www-talk.w3.org>
List-Archive: <http://list.example/archive>
Content-Type: multipart/alternative; boundary=x

--x
Content-Type: text/plain

http://twice.example/ and \
    http://web.archive.org/web/2002/http://web.archive.org/web/2001/ftp://in.example/f
http://web.archive.org/web/2002/http://web.archive.org/web/2001/ftp://in.example/f
telnet://jane:secret@odd.example:99/

-- 
http://twice.example/ http://sign.example/
--x
Content-Type: text/html

<p>http://text.example/ <a href=\"http://evil.example/\">http://bank.example/</a>
--x--

From a@b Mon Jan  1 00:00:00 1996
From: Jane <jane@a.example>
List-Id: <Other.example>

http://10.0.0.1/ http://other.example/~x

From a@b Mon Jan  1 00:00:00 1996
Newsgroups: comp.infosystems.www,alt.test
Subject: http://news.example/

http://twice.example/

";

/// A filter selects lines of the unfiltered scan and changes none of them. This includes URLs
/// inside a redirector that the filter drops, and their references to it.
#[test]
fn each_filter_chooses_lines_and_is_counted() {
    type Choice = fn(&Value) -> bool;
    fn region(line: &Value) -> &str {
        line["region"].as_str().unwrap()
    }
    fn has_hazard(line: &Value, names: &[&str]) -> bool {
        let hazards = line["hazards"].as_array().unwrap();
        hazards
            .iter()
            .any(|hazard| names.iter().any(|name| hazard == name))
    }
    let folder = Folder::new();
    let path = folder.file("inbox", OF_ALL_KINDS);
    let summary_path = folder.path("sums.json");
    let scan = |options: &[&str]| {
        let summary = summary_path.to_str().unwrap();
        let ended = done(&[&["scan", &path, "--summary", summary], options].concat());
        let summary: Value = serde_json::from_slice(&fs::read(&summary_path).unwrap()).unwrap();
        (ended.records(), summary)
    };
    let (all, _) = scan(&[]);
    let cases: &[(&[&str], &str, Choice)] = &[
        (&["--host", "in.example"], "host", |line| {
            line["host"] == "in.example"
        }),
        (&["--domain", "in.example"], "domain", |line| {
            line["host"] == "in.example"
        }),
        (&["--set", "accept=rfc1738"], "accept", |line| {
            line["conforms"]
                .as_array()
                .unwrap()
                .contains(&"rfc1738".into())
        }),
        (&["--schemes", "ftp"], "schemes", |line| {
            line["scheme"] == "ftp"
        }),
        (&["--region", "body"], "region", |line| {
            region(line) == "body"
        }),
        (&["--region", "signature,html:text"], "region", |line| {
            ["signature", "html:text"].contains(&region(line))
        }),
        (&["--region", "HEADER"], "region", |line| {
            region(line).starts_with("header:")
        }),
        (&["--region", "header:subject"], "region", |line| {
            region(line) == "header:Subject"
        }),
        (&["--region", "html:a.href"], "region", |line| {
            region(line) == "html:a.href"
        }),
        (&["--set", "mismatch=true"], "mismatch", |line| {
            line["mismatch"] == true
        }),
        (&["--hazard", "password"], "hazard", |line| {
            has_hazard(line, &["password"])
        }),
        (&["--hazard", "mismatch,numeric-host"], "hazard", |line| {
            has_hazard(line, &["mismatch", "numeric-host"])
        }),
        (
            &["--list", "<WWW-Talk.w3.org>,other.example"],
            "list",
            |line| line["message"]["list_id"].is_string(),
        ),
        (&["--list", "alt.test"], "list", |line| {
            line["message"]["newsgroups"] != json!([])
        }),
    ];
    for (options, name, choice) in cases {
        let (lines, summary) = scan(options);
        let chosen: Vec<Value> = all.iter().filter(|line| choice(line)).cloned().collect();
        assert!(
            !chosen.is_empty() && chosen.len() < all.len(),
            "{options:?}"
        );
        assert_eq!(lines, chosen, "{options:?}");
        if *name == "list" {
            let skipped = if options[1].contains(',') { 1 } else { 2 };
            assert_eq!(summary["messages_skipped"], json!({ "list": skipped }));
            continue;
        }
        let filtered = json!({ *name: all.len() - lines.len() });
        assert_eq!(summary["filtered"], filtered, "{options:?}");
    }
    // Each filter counts the lines that earlier filters let through.
    let options: Vec<_> = "--schemes http --region header --format jsonl"
        .split(' ')
        .collect();
    let (lines, summary) = scan(&options);
    assert_eq!(lines.len(), 2);
    assert_eq!(summary["filtered"]["schemes"], 3);
    assert!(summary["filtered"]["region"].as_u64() > Some(1));
}

#[test]
fn filters_that_exclude_everything_are_refused() {
    for (option, value, way_out) in [
        ("--region", "header:", "html:ELEMENT.ATTRIBUTE"),
        ("--region", "footers", "write body, signature"),
        ("--region", "html:a.hrefs", "html:text"),
        ("--hazard", "odd", "odd-port"),
        ("--list", " ", "only the name of a list"),
    ] {
        let mut command = urlspool(["scan", option, value, "text/appendix.txt"]);
        let refused = ended(&mut command, b"");
        refused.check(2, way_out);
    }
    let hint = |options: &[&str]| {
        let folder = Folder::new();
        let path = folder.file("inbox", OF_ALL_KINDS);
        done(&[&["scan", &path], options].concat()).stderr
    };
    let none = hint(&["--hazard", "mismatch", "--region", "signature"]);
    assert_contains(&none, "matches --hazard, --region");
    let some = hint(&["--hazard", "mismatch"]);
    assert_eq!(some, "urlspool: 17 URLs held back by the filters\n");
    for option in ["--quiet", "--verbose"] {
        let other = hint(&["--hazard", "mismatch", option]);
        assert!(!other.contains("held back"), "{other}");
    }
    assert_eq!(hint(&[]), "");
    let none = hint(&["--list", "none.example"]);
    assert_contains(&none, "--until and --list (3 skipped)");
    let some = [
        "scan",
        "--until=1996",
        "mail/pipermail.mbox",
        "text/appendix.txt",
    ];
    assert_contains(&done(&some).stderr, "3 messages skipped (--since");
}

/// Paths become absolute in arguments, in lists and in work items. Standard input has no path.
#[test]
fn paths_become_absolute() {
    let folder = Folder::new();
    folder.write("sub/inbox", OF_ALL_KINDS);
    let root = folder.root().to_str().unwrap().to_owned();
    let paths = |args: &[&str], input: &[u8]| {
        let ended = ended(
            urlspool(["scan", "--set", "absolute=true", "--fields", "source.path"])
                .args(args)
                .current_dir(folder.root()),
            input,
        );
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        let mut paths: Vec<Value> = ended.records();
        paths.dedup();
        paths
    };
    let path = |path: &str| json!({ "source": { "path": path } });
    let inbox = path(&format!("{root}/sub/inbox"));
    assert_eq!(paths(&["sub"], b""), std::slice::from_ref(&inbox));
    assert_eq!(
        paths(&["./sub/inbox", "--include", "inbox"], b""),
        std::slice::from_ref(&inbox)
    );
    assert_eq!(
        paths(&["--files-from", "-"], b"sub\n"),
        std::slice::from_ref(&inbox)
    );
    let mut splits = urlspool(["splits", "sub"]);
    let items = ended(splits.current_dir(folder.root()), b"").stdout;
    assert_eq!(paths(&["--splits", "-"], &items), [inbox]);
    assert_eq!(paths(&["-"], b"http://a.example/"), [path("-")]);
}
