//! Documents named on the command line: their content, and the cost of hostile ones.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use urlspool_mail::documents::{DocumentContent, DocumentKind, DocumentReading, read_document};
use urlspool_text::diagnostic::DiagnosticKind;
use urlspool_text::limits::Limits;

use crate::containers::{Zipped, zip};
use crate::scene::{Folder, assert_contains, corpus, done, ended, names, scan, url, urlspool};

/// Returns the names of the fixtures.
fn fixtures() -> Vec<String> {
    let names = names(&corpus().join("documents"));
    assert!(7 < names.len(), "{names:?}");
    names
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(corpus().join("documents").join(name)).unwrap()
}

fn read(bytes: &[u8], limits: &Limits) -> DocumentReading {
    let kind = DocumentKind::of(bytes).expect("a document");
    read_document(kind, bytes, limits, &mut || {})
}

/// Returns the text of the page or the message.
fn content(reading: &DocumentReading) -> String {
    match &reading.content {
        DocumentContent::Page(bytes) | DocumentContent::Message(bytes) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
        DocumentContent::Unread => String::new(),
    }
}

fn kinds(reading: &DocumentReading) -> Vec<DiagnosticKind> {
    reading
        .problems
        .iter()
        .map(|problem| problem.kind)
        .collect()
}

#[test]
fn a_document_yields_links_and_text_but_no_namespaces() {
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in fs::read_to_string(corpus().join("EXPECTED.tsv"))
        .unwrap()
        .lines()
    {
        if let Some(row) = line.strip_prefix("documents/") {
            let mut columns = row.split('\t').map(str::to_owned);
            let (name, url) = (columns.next().unwrap(), columns.next().unwrap());
            expected.entry(name).or_default().push(url);
        }
    }
    let mut found = BTreeMap::new();
    for name in fixtures() {
        let path = format!("documents/{name}");
        let ended = done(&["scan", "-q", &path]);
        let records = ended.records();
        for record in &records {
            let source = &record["source"];
            assert_eq!(source["exact"], false, "{record}");
            assert_eq!(
                (source["start"].as_u64(), source["end"].as_u64()),
                (Some(0), Some(fixture(&name).len() as u64)),
                "{record}"
            );
        }
        found.insert(name, records.iter().map(url).collect::<Vec<_>>());
    }
    assert_eq!(found, expected);
}

#[test]
fn a_message_of_outlook_has_the_facts_of_its_header() {
    let names = "header_fields=date,X-None,subject";
    let path = "documents/document.msg";
    let ended = done(&["scan", "-q", "--set", names, path]);
    for record in ended.records() {
        let message = &record["message"];
        let fields = message["fields"].as_array().unwrap();
        let named: Vec<_> = fields.iter().map(|field| &field["name"]).collect();
        assert_eq!(named, ["subject", "date"]);
        assert_eq!(message["subject"], "A message of Outlook");
        assert_eq!(message["from"], "Ann <ann@msg.example>");
        assert_eq!(message["id"], "<one@msg.example>");
        assert_eq!(message["date"], "1996-03-04T18:00:00Z");
    }
}

#[test]
fn documents_in_folders_archives_and_pipes_are_read() {
    let folder = Folder::new();
    let pdf = fixture("document.pdf");
    folder.write("a.pdf", &pdf);
    folder.write(
        "b.zip",
        zip(&[Zipped::new("inner.docx", &fixture("document.docx"))]),
    );
    let beneath = ended(
        urlspool(["scan", "-q", "."]).current_dir(folder.root()),
        b"",
    );
    assert_eq!(beneath.status, Some(0), "{}", beneath.stderr);
    let urls = beneath.urls();
    assert_eq!(urls.len(), 8, "{urls:?}");
    assert!(
        urls.contains(&"http://docx-link.example/?a=1&b=2".to_owned()),
        "{urls:?}"
    );
    let piped = ended(&mut urlspool(["scan", "-q", "-"]), &pdf);
    assert_eq!(piped.urls().len(), 4, "{}", piped.stderr);
}

/// Builds a message with these attachments: media type, name and bytes of each.
fn mail(attachments: &[(&str, &str, Vec<u8>)]) -> String {
    let mut mail = "From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n".to_owned();
    for (media_type, name, bytes) in attachments {
        let body = data_encoding::BASE64_MIME.encode(bytes).replace('\r', "");
        mail += &format!(
            "--b\nContent-Type: {media_type}; name=\"{name}\"\nContent-Transfer-Encoding: base64\n\
             \n{body}\n"
        );
    }
    mail + "--b--\n"
}

/// Each record has the range of the whole body of its part.
#[test]
fn attached_documents_are_read_by_type_name_or_content() {
    let attachments = [
        ("application/pdf", "a.pdf", fixture("document.pdf")),
        (
            "application/octet-stream",
            "a.docx",
            fixture("document.docx"),
        ),
        ("application/octet-stream", "", fixture("document.odt")),
        ("application/msword", "a.doc", fixture("document.rtf")),
        ("text/rtf", "a.rtf", fixture("document.rtf")),
        (
            "application/vnd.ms-outlook",
            "a.msg",
            fixture("document.msg"),
        ),
    ];
    let text = mail(&attachments);
    let found = scan(&text, &[]);
    assert_eq!((found.status, &found.events), (Some(0), &vec![]));
    let count = |part: &str| {
        let of_part = |record: &&serde_json::Value| {
            let path = record["part"]["path"].as_str().unwrap();
            path == part || path.starts_with(&format!("{part}."))
        };
        found.records.iter().filter(of_part).count()
    };
    assert_eq!(
        ["1", "2", "3", "4", "5", "6"].map(count),
        [4, 4, 2, 2, 2, 5]
    );
    let mut number = 0;
    let body = |part: usize| {
        let start = text.match_indices("base64\n\n").nth(part - 1).unwrap().0 + 8;
        (start, start + text[start..].find("--b").unwrap())
    };
    for record in &found.records {
        let source = &record["source"];
        assert_eq!(source["exact"], false, "{record}");
        let path = record["part"]["path"].as_str().unwrap();
        let (start, end) = body(path[..1].parse().unwrap());
        let range = [&source["start"], &source["end"]].map(|at| at.as_u64().unwrap() as usize);
        assert!(
            start <= range[0] && range[1] <= end,
            "{range:?} of {start}..{end}: {record}"
        );
        assert!(end - start < 2 * (range[1] - range[0]), "{record}");
        number += 1;
    }
    assert_eq!(number, 19);
    // RTF is text, recognised by its type or its content.
    let rtf = ["http://rtf-link.example/a", "http://rtf-text.example/"];
    for (policy, records) in [("text", 4), ("none", 2)] {
        let texts = scan(&text, &["--set", &format!("attachments={policy}")]);
        assert_eq!(
            texts.urls().into_iter().collect::<Vec<_>>(),
            rtf,
            "{policy}"
        );
        assert_eq!(texts.records.len(), records, "{policy}");
    }
}

#[test]
fn a_truncated_document_yields_no_new_urls() {
    for name in fixtures() {
        let bytes = fixture(&name);
        let whole = content(&read(&bytes, &Limits::default()));
        for len in (8..bytes.len()).step_by(3) {
            let Some(kind) = DocumentKind::of(&bytes[..len]) else {
                continue;
            };
            let cut = content(&read_document(
                kind,
                &bytes[..len],
                &Limits::default(),
                &mut || {},
            ));
            let targets = cut
                .split("href=\"")
                .skip(1)
                .filter_map(|rest| rest.split_once('"'));
            for (target, _) in targets {
                assert!(whole.contains(target), "{name} at {len}: {target}");
            }
        }
    }
}

#[test]
fn a_document_with_wrong_bytes_never_panics() {
    let limits = Limits::default();
    for name in fixtures() {
        let bytes = fixture(&name);
        for at in (8..bytes.len()).step_by(5) {
            for value in [0, 0xFF, bytes[at] ^ 1] {
                let mut wrong = bytes.clone();
                wrong[at] = value;
                if let Some(kind) = DocumentKind::of(&wrong) {
                    let reading = read_document(kind, &wrong, &limits, &mut || {});
                    assert!(
                        !kinds(&reading).contains(&DiagnosticKind::Panic),
                        "{name} at {at}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_file_that_is_not_read_says_why_and_the_way_out() {
    let folder = Folder::new();
    let encrypted = b"%PDF-1.4\n1 0 obj <</A <</S/URI/URI(\x01\x02\x03)>> >> endobj\n\
        trailer <</Encrypt 2 0 R>>\n";
    let path = folder.file("a.pdf", encrypted);
    let ended = ended(&mut urlspool(["scan", "-q", &path]), b"");
    assert_eq!(ended.status, Some(1));
    let why = "an encrypted PDF document; convert it: `pdftotext";
    assert!(ended.stderr.contains(why), "{}", ended.stderr);
    assert_eq!(ended.records().len(), 0);
}

/// Documents are held in memory up to `message_bytes`.
#[test]
fn a_document_that_is_too_large_is_one_event_and_no_text() {
    let mut pdf =
        b"%PDF-1.4\n1 0 obj <</A <</S/URI/URI(http://large.example/)>> >> endobj\n".to_vec();
    pdf.extend(b"% http://comment-never.example/\n".repeat(200_000));
    let config = Folder::new();
    let config = config.file("c.toml", "[limits]\nmessage_bytes = \"2MiB\"\n");
    let limited = scan(&pdf, &["--config", &config]);
    assert_eq!(limited.urls().len(), 0, "{:?}", limited.urls());
    assert_eq!(limited.events, ["limit"]);
    assert_contains(&limited.messages[0], "message_bytes");
    assert_eq!(scan(&pdf, &[]).urls().len(), 1);
}

/// Row 83: a bomb stops at the limit, and URLs before the limit are kept.
#[test]
fn row_83_bombs_in_documents_are_bounded() {
    let limits = Limits {
        message_bytes: 4 << 20,
        ..Limits::default()
    };
    let rels = "<Relationships><Relationship Id='a' Type='x/hyperlink' \
        Target='http://kept.example/' TargetMode='External'/></Relationships>";
    let text = [b"<w:t>".to_vec(), vec![b'x'; 16 << 20]].concat();
    let docx = zip(&[
        Zipped::new("[Content_Types].xml", b""),
        Zipped::new("word/_rels/document.xml.rels", rels.as_bytes()),
        Zipped::new("word/document.xml", &text),
    ]);
    let packed = zlib(
        &[
            b"/URI (http://packed.example/) ".as_slice(),
            &vec![b' '; 16 << 20],
        ]
        .concat(),
    );
    let pdf = [
        b"%PDF-1.5\n1 0 obj <</URI (http://kept.example/)>> endobj 2 0 obj \
         <</Type/ObjStm/Filter/FlateDecode>> stream\n"
            .as_slice(),
        &packed,
        b"\nendstream endobj",
    ]
    .concat();
    for bomb in [docx, pdf] {
        let reading = read(&bomb, &limits);
        assert!(content(&reading).contains("http://kept.example/"));
        assert!(content(&reading).len() <= limits.message_bytes + 1_000);
        assert!(
            kinds(&reading).contains(&DiagnosticKind::Limit),
            "{:?}",
            reading.problems
        );
    }
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn namespaces_of_rich_text_in_a_pdf_are_no_links() {
    let pdf = b"%PDF-1.4\n1 0 obj <</Type/Annot/Contents(See http://note.example/)\
        /RC(<body xmlns=\"http://space.example/\">See http://note.example/</body>)>> endobj\n";
    let reading = read(pdf, &Limits::default());
    assert_eq!(content(&reading).matches("http://").count(), 1);
}

/// Objects that refer to each other in a circle, a cross-reference table with an invalid offset,
/// and one that refers to itself.
#[test]
fn circles_in_a_pdf_are_read_once() {
    let pdf =
        b"%PDF-1.4\n1 0 obj <</Type/Pages/Kids[1 0 R 2 0 R]/Parent 2 0 R/URI 3 0 R>> endobj\n\
        2 0 obj <</Type/Pages/Kids[1 0 R]/A<</S/URI/URI(http://circle.example/)>> >> endobj\n\
        3 0 obj 3 0 R endobj\n\
        xref\n0 9\n9999999999 99999 n\ntrailer <</Root 1 0 R/Prev 9/Size 4294967295>>\nstartxref\n\
        -5\n%%EOF";
    let reading = read(pdf, &Limits::default());
    assert_eq!(reading.problems, []);
    assert_eq!(
        content(&reading).matches("http://circle.example/").count(),
        1
    );
}

/// Sectors of a compound file that form a circle are damage, and reading ends at once.
#[test]
fn circles_in_a_compound_file_are_damage() {
    let bytes = fixture("document.msg");
    let table = bytes.len() - 512;
    let mut circles = 0;
    for sector in 0..20 {
        for next in 0..20_u32 {
            let mut circle = bytes.clone();
            circle[table + 4 * sector..][..4].copy_from_slice(&next.to_le_bytes());
            let reading = read(&circle, &Limits::default());
            assert!(!kinds(&reading).contains(&DiagnosticKind::Panic));
            circles += usize::from(kinds(&reading).contains(&DiagnosticKind::Damage));
        }
    }
    assert!(100 < circles, "{circles}");
}

#[test]
fn attached_bombs_share_one_limit() {
    let text = [b"<w:t>".to_vec(), vec![b'x'; 2 << 20]].concat();
    let bomb = zip(&[
        Zipped::new("[Content_Types].xml", b""),
        Zipped::new("word/document.xml", &text),
    ]);
    let bombs = vec![("application/octet-stream", "a.docx", bomb); 20];
    let text = mail(&bombs) + "http://after.example/";
    let config = Folder::new();
    let config = config.file("c.toml", "[limits]\nmessage_bytes = \"2MiB\"\n");
    let found = scan(text, &["--config", &config]);
    assert!(found.urls().contains("http://after.example/"));
    let shared = |message: &&String| message.contains("(attached_bytes)");
    assert_eq!(
        found.messages.iter().filter(shared).count(),
        1,
        "{:?}",
        found.messages
    );
}

/// Builds `depth` nested Outlook messages.
fn nested_outlook(depth: usize) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(std::io::Cursor::new(Vec::new())).unwrap();
    let mut path = "/".to_owned();
    for _ in 0..depth {
        let properties = vec![0; 32];
        let mut stream = file
            .create_new_stream(format!("{path}__properties_version1.0"))
            .unwrap();
        std::io::Write::write_all(&mut stream, &properties).unwrap();
        drop(stream);
        path += "__attach_version1.0_#00000000/";
        file.create_storage(&path).unwrap();
        path += "__substg1.0_3701000D/";
        file.create_storage(&path).unwrap();
    }
    file.into_inner().into_inner()
}

/// Each lookup of a stream walks the path of its storage.
#[test]
fn messages_of_outlook_inside_each_other_are_bounded() {
    let nested = nested_outlook(300);
    let started = Instant::now();
    let reading = read(&nested, &Limits::default());
    assert!(
        started.elapsed() < Duration::from_mins(1),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(kinds(&reading), [DiagnosticKind::Limit]);
    assert!(reading.problems[0].message.contains("mime_depth"));
    let messages = content(&reading).matches("message/rfc822").count();
    assert_eq!(messages, Limits::default().mime_depth);
    assert_eq!(kinds(&read(&nested_outlook(50), &Limits::default())), []);
}

#[test]
fn a_part_that_is_damaged_costs_its_rest() {
    let mut damaged = Zipped::new(
        "word/document.xml",
        &b"<w:p><w:t>http://lost.example/</w:t></w:p>".repeat(1_000),
    );
    damaged.damage();
    let docx = zip(&[
        Zipped::new("[Content_Types].xml", b""),
        damaged,
        Zipped::new(
            "word/footnotes.xml",
            b"<w:p><w:t>http://kept.example/</w:t></w:p>",
        ),
    ]);
    let reading = read(&docx, &Limits::default());
    assert!(content(&reading).contains("http://kept.example/"));
    assert_eq!(kinds(&reading), [DiagnosticKind::Damage]);
}

/// The time for each of these inputs grows linearly, not quadratically.
#[test]
fn hostile_documents_take_linear_time() {
    let office = |xml: &str, times: usize| {
        let xml = xml.repeat(times);
        zip(&[
            Zipped::new("[Content_Types].xml", b""),
            Zipped::new("word/document.xml", xml.as_bytes()),
        ])
    };
    let repeated =
        |start: &str, text: &str, times: usize| [start, &text.repeat(times)].concat().into_bytes();
    // One target that many links share.
    let shared_target = |n: usize| {
        let rels = format!(
            "<Relationship Id='a' Type='x/hyperlink' Target='http://a.example/{}' \
             TargetMode='External'/>",
            "x".repeat(20 * n)
        );
        zip(&[
            Zipped::new("[Content_Types].xml", b""),
            Zipped::new("word/_rels/document.xml.rels", rels.as_bytes()),
            Zipped::new(
                "word/document.xml",
                "<w:hyperlink r:id='a'/>".repeat(n).as_bytes(),
            ),
        ])
    };
    let blanks = |n: usize| format!("%PDF-1.4\n5 0 obj (a{}) endobj ", " ".repeat(n.min(60_000)));
    let pdf = "%PDF-1.4\n";
    let check = |name: &str, input: &dyn Fn(usize) -> Vec<u8>| {
        let limits = Limits {
            nested_ratio: 1_000_000,
            ..Limits::default()
        };
        let time = |times: usize| {
            let bytes = input(times);
            let started = Instant::now();
            let reading = read(&bytes, &limits);
            assert!(!kinds(&reading).contains(&DiagnosticKind::Panic), "{name}");
            started.elapsed()
        };
        // Quadratic time would take minutes for the larger input.
        let (small, large) = (time(5_000), time(50_000));
        assert!(
            large < small * 40 + Duration::from_secs(2),
            "{name}: {small:?} and {large:?}"
        );
    };
    check("links to one long target", &shared_target);
    check("references to a target of blanks", &|n| {
        repeated(&blanks(n), "/URI 5 0 R ", 10 * n)
    });
    for unit in [
        "<!--",
        "<![CDATA[",
        "<a b=\"",
        "<w:t>",
        "<w:fldChar w:fldCharType=\"begin\"/><w:instrText>HYPERLINK \"x",
        "&#x1;&",
    ] {
        check(unit, &|n| office(unit, n));
    }
    for (start, unit) in [
        (pdf, "("),
        (pdf, "<"),
        (pdf, "<</Length 9>> stream "),
        (pdf, "/ObjStm stream endstream "),
        (pdf, "/ObjStm /FlateDecode stream\nx\nendstream "),
        ("%PDF-1.4\n5 0 obj (a:b) endobj ", "/URI 5 0 R "),
        ("{\\rtf1 {\\*\\template ", "a\\htmlrtf1 "),
        ("{\\rtf1 ", "{"),
        ("{\\rtf1 ", "{\\field{\\*\\fldinst HYPERLINK x"),
        ("{\\rtf1 ", "\\u1 "),
        ("{\\rtf1 ", "\\bin1 x"),
    ] {
        check(unit, &|n| repeated(start, unit, n));
    }
}
