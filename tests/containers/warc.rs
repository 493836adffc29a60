//! Pages in WARC files: what is read, with which base and charset, and where.

use std::fs;
use std::process::Command;

use super::gzip;
use crate::scene::{Folder, corpus, done, ended, urlspool};

/// The URLs in the fixture, after the names of their pages.
const PLACES: [&str; 11] = [
    "574!http://www.example/lamps/ http://www.example/lamps/oil/wick.html?a=1",
    "574!http://www.example/lamps/ http://www.example/top",
    "574!http://www.example/lamps/ http://whole.example/a",
    "1107!http://www.example/lamps/oil/deep http://www.example/lamps/up",
    "1832!http://lists.example/pipermail/lamps/000012.html http://wicks.example/",
    "1832!http://lists.example/pipermail/lamps/000012.html http://wicks.example/",
    "2586!http://www.example/mail/1 http://mail.example/!a",
    "2935!http://www.example/notes!1 http://notes.example/x",
    "3229!http://www.example/short http://www.example/short",
    "3548!http://www.example/unspaced http://www.example/unspaced",
    "3868!http://www.example/last http://www.example/last",
];

#[test]
fn pages_in_a_warc_are_read_and_shown() {
    let file = corpus().join("containers/pages.warc");
    let warc = fs::read(&file).unwrap();
    // One member of gzip for each record, as crawlers write them.
    let start = |at: &usize| warc[*at..].starts_with(b"WARC/1.0\r\n");
    let starts: Vec<usize> = (0..warc.len()).filter(start).chain([warc.len()]).collect();
    let packed: Vec<u8> = starts
        .windows(2)
        .flat_map(|at| gzip(&warc[at[0]..at[1]]))
        .collect();
    let folder = Folder::with("pages.warc.gz", packed);
    for path in [file, folder.path("pages.warc.gz")] {
        let scan = |format: &str| {
            let scanned = ended(urlspool(["scan", "--format", format]).arg(&path), b"");
            scanned.check(
                1,
                "2935: damage: 36 bytes after this record belong to no record",
            );
            scanned.check(
                1,
                "3229: damage: the next record starts 76 bytes before the end",
            );
            scanned
        };
        let scanned = scan("jsonl");
        let records = scanned.records();
        let places = records.iter().map(|record| {
            let names = record["source"]["member"].as_array().unwrap();
            let names: Vec<&str> = names.iter().map(|name| name.as_str().unwrap()).collect();
            format!("{} {}", names.join("!"), record["url"].as_str().unwrap())
        });
        assert_eq!(places.collect::<Vec<_>>(), PLACES);
        assert_eq!(records[0]["anchor"], "Фитиль");
        assert_eq!(records[4]["message"]["from"], "Ann <ann at a.example>");
        assert_eq!(records[6]["message"]["subject"], "Lamps");
        let shown = ended(&mut urlspool(["show"]), &scanned.stdout);
        let raw = records
            .iter()
            .map(|record| record["raw"].as_str().unwrap().to_owned() + "\n");
        assert_eq!(shown.text(), raw.collect::<String>());
        for (line, record) in scan("grep").text().lines().zip(&records) {
            let shown = done(&["show", line]).stdout;
            assert!(shown.starts_with(record["raw"].as_str().unwrap().as_bytes()));
            let url = record["url"].as_str().unwrap();
            assert!(
                done(&["explain", line])
                    .text()
                    .contains(&format!("accepted: {url}"))
            );
        }
    }
}

/// Pages as `warcio` writes them.
const WARCIO: &str = r#"
import sys, io
from warcio.warcwriter import WARCWriter
from warcio.statusandheaders import StatusAndHeaders
for name, packs in (('plain.warc', False), ('packed.warc.gz', True)):
    with open(sys.argv[1] + '/' + name, 'wb') as out:
        writer = WARCWriter(out, gzip=packs)
        writer.write_record(writer.create_warcinfo_record(name, {'software': 'http://no.example/'}))
        for n in range(50):
            page = ('<p>\u00e9 <a href="%d">x</a>' % n).encode('latin-1')
            head = StatusAndHeaders('200 OK', [('Content-Type', 'text/html; charset=latin-1')],
                                    protocol='HTTP/1.1')
            writer.write_record(writer.create_warc_record('http://a.example/p/', 'response',
                                payload=io.BytesIO(page), http_headers=head))
"#;

#[test]
fn warcs_of_warcio_are_read() {
    let folder = Folder::new();
    let written = Command::new("python3")
        .args(["-c", WARCIO])
        .arg(folder.root())
        .status();
    if !written.is_ok_and(|status| status.success()) {
        return eprintln!("SKIPPED: python3 with warcio is not installed");
    }
    let expected: Vec<String> = (0..50).map(|n| format!("http://a.example/p/{n}")).collect();
    for name in ["plain.warc", "packed.warc.gz"] {
        assert_eq!(
            done(&["scan", &folder.path(name).display().to_string()]).urls(),
            expected
        );
    }
}
