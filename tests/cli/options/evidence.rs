//! Joins that rely on unbroken URLs in the message, in the run, or in an earlier scan.

use super::found;
use crate::scene::{Folder, assert_contains, done, ended, urlspool};

/// A message with a broken URL, followed by one with the whole URL.
const BROKEN_AND_WHOLE: &str = "From a\nSubject: x\n\nhttp://a.example/lamp\n\
    wick burns and the oil\n\n\
    From b\nSubject: y\n\nSee HTTP://A.Example/lampwick/.\n";

/// A message with a broken URL in its text part and the link target in an encoded page.
fn alternative(parts: [&str; 2]) -> String {
    let parts = parts.map(|part| format!("--x\n{part}\n"));
    format!(
        "Subject: x\nContent-Type: multipart/alternative; boundary=x\n\n{}--x--\n",
        parts.concat()
    )
}

const BROKEN_PART: &str =
    "Content-Type: text/plain\n\nhttp://a.example/lamp\nwick burns and the oil\n";
const PAGE_PART: &str = "Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n\
    <a href=3D\"http://a.example/la=\nmpwick\">lamps</a>\n";

#[test]
fn a_url_that_is_unbroken_elsewhere_in_the_message_is_joined() {
    let whole = "http://a.example/lampwick";
    for parts in [[BROKEN_PART, PAGE_PART], [PAGE_PART, BROKEN_PART]] {
        assert_eq!(found(&alternative(parts), &[]), [whole, whole]);
    }
    let quoted = "Subject: x\n\nhttp://a.example/lamp\nwick burns and the oil\n\n\
        > http://a.example/lampwick\n";
    assert_eq!(found(quoted, &[]), [whole, whole]);
    let other = quoted.replace("lampwick", "lampwicks");
    assert_eq!(found(&other, &[])[0], "http://a.example/lamp");
}

#[test]
fn the_text_of_a_page_is_joined_only_with_an_unbroken_url() {
    let page = |link: &str| {
        format!(
            "Subject: x\nContent-Type: text/html\n\n\
             <p>http://a.example/docs/lamp-<br>wick.html</p><a href=\"{link}\">x</a>\n"
        )
    };
    let whole = "http://a.example/docs/lamp-wick.html";
    assert_eq!(found(&page(whole), &[]), [whole, whole]);
    assert_eq!(
        found(&page("http://b.example/"), &[])[0],
        "http://a.example/docs/lamp-"
    );
}

#[test]
fn evidence_comes_from_the_run_records_a_list_or_a_database() {
    let folder = Folder::new();
    let broken = folder.file("broken", BROKEN_AND_WHOLE.split("From b").next().unwrap());
    let whole = folder.file(
        "whole",
        ["From b", BROKEN_AND_WHOLE.split("From b").last().unwrap()].concat(),
    );
    let listed = BROKEN_PART.replace("Content-Type: text/plain", "List-Id: <lamps>");
    let listed = folder.file("listed", listed);
    let [database, records] =
        ["urls.db", "urls.jsonl"].map(|name| folder.path(name).to_str().unwrap().to_owned());
    let list = folder.file(
        "list.txt",
        "http://b.example/\n\nhttp://a.example/lampwick\n",
    );
    done(&["scan", "--into", &database, &whole]);
    done(&["scan", "-o", &records, &whole]);
    assert_eq!(done(&["scan", &broken]).urls(), ["http://a.example/lamp"]);
    for source in [&database, &records, &list] {
        let urls = done(&["scan", "--evidence", source, &broken]).urls();
        assert_eq!(urls, ["http://a.example/lampwick"], "{source}");
        let page = done(&["explain", "--evidence", source, &broken]);
        assert_contains(page.text(), "accepted: http://a.example/lampwick\n");
    }
    let own = done(&["scan", "--evidence", "self", &broken, &whole]);
    assert_eq!(own.urls()[0], "http://a.example/lampwick");
    let [record, _] = &own.records()[..] else {
        panic!("two records")
    };
    assert_eq!(record["repairs"][0], "bare-continuation");
    // Messages of other lists are evidence too.
    let chosen = done(&["scan", "--evidence=self", "--list=lamps", &listed, &whole]);
    assert_eq!(chosen.urls(), ["http://a.example/lampwick"]);
    // The URL is part of the identifier. Equal evidence yields equal identifiers.
    let again = done(&["scan", "-j", "1", "--evidence", "self", &broken, &whole]);
    assert_eq!(own.records(), again.records());
    let other = &done(&["scan", "--fields", "slim", &broken]).records()[0];
    assert_ne!(record["id"], other["id"]);
}

/// A signature. If the line after the URL did not recur, it would be joined to the URL.
#[test]
fn a_recurring_join_without_an_unbroken_copy_is_rejected() {
    let url = "http://www.a.example/people/of/the/lamp/and/wick/department/of/";
    let signature = format!("From a\nSubject: x\n\n{url}\nGCS/d-s+a\n\n");
    let joined = format!("{url}GCS/d-s+a");
    let urls = |messages: usize| found(&signature.repeat(messages), &["--evidence", "self"]);
    assert_eq!(urls(2), [joined.as_str(); 2]);
    assert_eq!(urls(3), [url; 3]);
    // Quoted copies do not count.
    let quoted = signature
        .replace("\nhttp", "\n> http")
        .replace("\nGCS", "\n> GCS");
    let archive = [signature.repeat(2), quoted.repeat(3)].concat();
    assert_eq!(
        found(&archive, &["--evidence", "self"]),
        [joined.as_str(); 5]
    );
}

#[test]
fn an_input_that_is_read_once_is_no_evidence_for_itself() {
    let refused = ended(&mut urlspool(["scan", "--evidence", "self"]), b"x");
    refused.check(2, "name a file of records or URLs as evidence");
    let folder = Folder::new();
    let file = folder.file("file", "http://a.example/");
    let splits = folder.file("splits", done(&["splits", &file]).text());
    let mut command = urlspool(["scan", "--evidence", "self", "--splits", &splits]);
    let refused = ended(&mut command, b"");
    refused.check(2, "work items");
    done(&["scan", "--evidence", &file, "--splits", &splits]);
}

/// A URL before a doubtful line break may be only the start of a longer one, even when it comes
/// from records or a database.
#[test]
fn a_doubtful_url_is_no_evidence_in_records_and_in_a_database() {
    let folder = Folder::new();
    let doubtful = folder.file(
        "doubtful",
        "Subject: x\n\nJane Lampwick, the Institute of Lamps, http://long.example/institute/jane\n\
         jane.lampwick@oil.example\n",
    );
    let broken = folder.file(
        "broken",
        "Subject: x\n\nhttp://long.example/institute/ja\nne burns and the oil\n",
    );
    let [database, records] =
        ["urls.db", "urls.jsonl"].map(|name| folder.path(name).to_str().unwrap().to_owned());
    done(&["scan", "--into", &database, &doubtful]);
    done(&["scan", "-o", &records, &doubtful]);
    let list = folder.file("list", "http://long.example/institute/jane\n");
    for (source, url) in [
        (&list, "http://long.example/institute/jane"),
        (&records, "http://long.example/institute/ja"),
        (&database, "http://long.example/institute/ja"),
    ] {
        let urls = done(&["scan", "--evidence", source, &broken]).urls();
        assert_eq!(urls, [url], "{source}");
    }
}

#[test]
fn a_wrong_file_of_evidence_is_refused_before_the_scan() {
    let folder = Folder::new();
    let file = folder.file("file", "http://a.example/");
    let long = "http://b.example/".to_owned() + &"x".repeat(1 << 20);
    let foreign = folder.path("foreign.db").to_str().unwrap().to_owned();
    let other = rusqlite::Connection::open(&foreign).unwrap();
    other.execute_batch("CREATE TABLE a (b)").unwrap();
    drop(other);
    for (content, reason) in [
        ("a table\n", "line 1 is neither a record nor a URL"),
        ("\n[\"http://a.example/\"]", "line 2 is neither"),
        ("http://a.example/\ta", "line 1 is neither"),
        ("{\"foo\":1}\n", "line 1 has no `url`"),
        ("\n", "no URLs"),
        (&long, "line 1 has more than 1048576 bytes"),
        (
            &format!("{{\"url\":\"{long}\"}}"),
            "line 1 has more than 1048576 bytes",
        ),
        ("\x1F\x0B", "line 1 is neither"),
    ] {
        let evidence = folder.file("evidence", content);
        let refused = ended(&mut urlspool(["scan", "--evidence", &evidence, &file]), b"");
        refused.check(2, reason);
    }
    std::fs::write(folder.path("evidence"), b"\x1F\x8B\x08\0").unwrap();
    for (source, reason) in [
        (folder.path("evidence").to_str().unwrap(), "<(zcat FILE)"),
        ("nosuch", "cannot read nosuch as evidence"),
        ("-", "/dev/stdin"),
        (&foreign, "another program"),
    ] {
        let refused = ended(&mut urlspool(["scan", "--evidence", source, &file]), b"");
        refused.check(2, reason);
        assert!(
            !refused.stderr.contains("into a new file"),
            "{}",
            refused.stderr
        );
    }
    // A list is read only until the limit is reached.
    let list = folder.file("list", "http://a.example/\nhttp://b.example/\n\na table\n");
    let limit = "evidence_urls=1";
    let ended = done(&["scan", "--set", limit, "--evidence", &list, &file]);
    assert_contains(&ended.stderr, "evidence_urls");
}

#[test]
fn evidence_beyond_its_limit_is_an_event() {
    let folder = Folder::new();
    let file = folder.file("file", BROKEN_AND_WHOLE);
    let scan = [
        "scan",
        "--set",
        "evidence_urls=1",
        "--evidence",
        "self",
        &file,
    ];
    let ended = done(&scan);
    assert_contains(&ended.stderr, "evidence_urls");
    assert_eq!(ended.urls()[0], "http://a.example/lamp");
}
