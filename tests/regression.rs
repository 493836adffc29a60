//! Reported bugs, each as the smallest input that shows it. The name of a test states the broken
//! rule, and its comment describes the bug.

use crate::scene::{Folder, done, ended, urlspool};

/// Returns the records of a text on standard input.
#[track_caller]
fn records(text: &str) -> Vec<serde_json::Value> {
    let mut command = urlspool(["scan", "--kind", "text", "-"]);
    ended(&mut command, text.as_bytes()).records()
}

/// Returns the URL and wrapper of each record of a text on standard input.
#[track_caller]
fn found(text: &str) -> Vec<(String, String)> {
    let records = records(text);
    let text_of = |record: &serde_json::Value, key: &str| record[key].as_str().unwrap().to_owned();
    records
        .iter()
        .map(|record| (text_of(record, "url"), text_of(record, "wrapper")))
        .collect()
}

/// The digest kept the stuffed dot at the start of a body, because no line end precedes it.
#[test]
fn an_article_in_wire_format_has_the_ids_of_its_plain_copy() {
    let header = "Newsgroups: alt.lamps\nMessage-ID: <w1@w.example>\nFrom: jane@w.example\n\n";
    let plain =
        format!("{header}.profile is at http://w.example/.profile\nand http://w.example/end\n");
    let wire = plain
        .replace("\n.profile", "\n..profile")
        .replace('\n', "\r\n")
        + ".\r\n";
    let folder = Folder::new();
    let ids = |name: &str, text: &str| {
        let records = done(&["scan", &folder.file(name, text)]).records();
        records
            .iter()
            .map(|record| record["id"].clone())
            .collect::<Vec<_>>()
    };
    let ids_of_plain = ids("alt/lamps/1", &plain);
    assert_eq!(ids_of_plain.len(), 2);
    assert_eq!(ids("alt/lamps/2", &wire), ids_of_plain);
}

/// Mailers that wrap quoted lines leave lines of deeper quote marks between the pieces.
#[test]
fn lines_of_deeper_quote_marks_inside_a_wrapper_are_skipped() {
    let text = "> see <URL:http://q.example/lists/of/\n> > >\n> lamps.html> there\n";
    assert_eq!(
        found(text),
        [(
            "http://q.example/lists/of/lamps.html".to_owned(),
            "<URL:>".to_owned()
        )]
    );
}

/// A two-line reading was chosen at 0.33, although a three-line reading had 0.39.
#[test]
fn joined_readings_are_compared_by_their_own_confidence() {
    let text = "http://a.example/minutes-\nindex\nsome_two and\n";
    let records = records(text);
    assert_eq!(records.len(), 1);
    // The first line is no reading, and neither joined one has 0.7: the likelier one is chosen.
    assert_eq!(records[0]["url"], "http://a.example/minutes-indexsome_two");
    let others: Vec<_> = records[0]["alternates"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert_eq!(others[1]["url"], "http://a.example/minutes-index");
    assert!(
        records[0]["confidence"].as_f64() < Some(0.7)
            && others[1]["confidence"].as_f64() < records[0]["confidence"].as_f64()
    );
    assert_eq!(
        found("http://a.example/minutes/\nindex.html\n")[0].0,
        "http://a.example/minutes/index.html"
    );
    // The guessed scheme makes both readings equally doubtful: 0.644 and 0.256.
    let schemeless = [
        "Online Computer Library Center, 1993.  Available in print form",
        "from OCLC, Inc. for $20 or electronically from:\n",
        "ftp.rsch.oclc.org",
        "/pub/internet_resources_project/report",
        "Filenames: *.*\n",
    ];
    let schemeless = format!("   {}", schemeless.join("\n   "));
    assert_eq!(
        found(&schemeless)[0].0,
        "ftp://ftp.rsch.oclc.org/pub/internet_resources_project/report"
    );
}

/// A `=` at the end of a short line was read as a soft line end even before another URL, which
/// disappeared into the first one.
#[test]
fn a_url_after_a_query_ending_in_an_equals_sign_is_separate() {
    let text = "x =3D 1\nhttp://a.example/?b=3Dc&d=\nhxxp://b.example/\n";
    let urls: Vec<_> = found(text).into_iter().map(|(url, _)| url).collect();
    assert_eq!(urls, ["http://a.example/?b=c&d=", "http://b.example/"]);
}

/// A `=` at a line end was removed without repair and alternate: 26 of 26 were wrong.
#[test]
fn quoted_printable_that_is_undone_is_a_repair_with_an_alternate() {
    let full = "http://a.example/minutes/of/the/working/group/on/long/names/of/2004/ab";
    let cut = format!("{full}=\ncd.html is\n");
    let joined = [format!("{full}cd.html"), format!("{full}=cd.html")];
    let pair = |url: &str, written: &str| [url.to_owned(), written.to_owned()];
    let other = pair("http://b.example/?c=d&e=f", "http://b.example/?c=3Dd&e=3Df");
    for (text, [url, written]) in [
        (cut.as_str(), joined),
        ("http://b.example/?c=3Dd&e=3Df\n", other.clone()),
        ("<http://b.example/?c=3Dd&e=3Df>\n", other.clone()),
        ("hxxp://b[.]example/?c=3Dd&e=3Df\n", other),
        (
            "x =3D 1\nhttp://b.example/c=20\n",
            pair("http://b.example/c", "http://b.example/c=20"),
        ),
        (
            "<p class=3D\"x\">http://b.example/c=\nd/</p>\n",
            pair("http://b.example/cd/", "http://b.example/c=d/"),
        ),
    ] {
        let records = records(text);
        assert_eq!(records[0]["url"], url);
        let repairs = records[0]["repairs"].as_array().unwrap();
        assert!(
            repairs.iter().any(|repair| repair == "quoted-printable"),
            "{url}"
        );
        let others = records[0]["alternates"].as_array().unwrap();
        let of_written =
            |other: &&serde_json::Value| other["url"] == written && other["why"] == "undecoded";
        assert!(others.iter().any(|other| of_written(&other)), "{others:?}");
    }
    // Without other residue the URL is as it is written, and in doubt.
    let doubtful = ended(
        &mut urlspool(["scan", "--kind", "text", "-"]),
        b"http://b.example/?c=3Dd\n",
    )
    .records();
    assert_eq!(doubtful[0]["url"], "http://b.example/?c=3Dd");
    assert_eq!(doubtful[0]["confidence"], 0.5);
    assert_eq!(doubtful[0]["alternates"][0]["url"], "http://b.example/?c=d");
    // If the next line does not continue the URL, the `=` belongs to it.
    assert_eq!(
        found(&format!("{full}cd=\nThanks\n"))[0].0,
        format!("{full}cd=")
    );
    assert_eq!(
        found(&format!("{full}Zw==\ncd.html\n"))[0].0,
        format!("{full}Zw==cd.html")
    );
}

/// An unknown host with a path was skipped together with the address of the archive around it.
#[test]
fn a_page_of_the_wayback_machine_needs_no_scheme() {
    let urls: Vec<String> = found("x web.archive.org/web/20010203/http://a.example/b\n")
        .into_iter()
        .map(|(url, _)| url)
        .collect();
    let page = "http://web.archive.org/web/20010203/http://a.example/b";
    assert_eq!(urls, [page, "http://a.example/b"]);
}
