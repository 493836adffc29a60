//! Row 78: a panic costs one message its structure, or one input its rest, and is one event.
//! Everything else is kept. The feature `planted-faults` plants panics, in `scan` on one or more
//! threads and in the daemon.

use std::fs;

use crate::containers::{gzip, tar};
use crate::scene::{Folder, ended, lines, urlspool};

const MARK: &str = "planted panic";

/// Returns message `number`, with its URL in base64 and in its header.
fn message(number: usize, subject: &str) -> String {
    let encoded =
        data_encoding::BASE64.encode(format!("http://base64.example/{number}").as_bytes());
    format!(
        "From a@b.example Mon Jan  1 10:00:00 1996\nFrom: a@b.example\nSubject: {subject}\n\
         X-Url: http://header.example/{number}\n\
         Message-ID: <{number}@b.example>\nContent-Transfer-Encoding: base64\n\n{encoded}\n\n"
    )
}

/// Returns an mbox of ten messages. The fifth has the mark.
fn mbox() -> String {
    (0..10)
        .map(|number| message(number, if number == 4 { MARK } else { "s" }))
        .collect()
}

/// Result of a command on a folder: the URLs of its records, and the number of panic events.
struct Found {
    urls: Vec<String>,
    panics: usize,
    status: Option<i32>,
}

fn scan(folder: &Folder, fault: &str, threads: &str) -> Found {
    let events = Folder::new();
    let events = events.path("events.jsonl");
    let spool = folder.path("spool");
    let args = ["scan", "-q", threads, "--events"].map(str::as_ref);
    let args = [&args[..], &[events.as_os_str(), spool.as_os_str()]].concat();
    let ended = ended(urlspool(args).env("URLSPOOL_PLANTED", fault), b"");
    let events = lines(&fs::read(events).unwrap());
    Found {
        urls: ended.urls(),
        panics: events
            .iter()
            .filter(|event| event["kind"] == "panic")
            .count(),
        status: ended.status,
    }
}

fn watch(folder: &Folder, fault: &str) -> Found {
    let root = folder.root().display().to_string();
    let config = folder.path("c.toml");
    let text = format!(
        "[output]\ndir = \"{root}/out\"\n[state]\ndir = \"{root}/state\"\n[watch]\n\
         settle = \"100ms\"\n[metrics]\nlisten = \"\"\n\
         [[spool]]\npath = \"{root}/spool\"\n"
    );
    fs::write(&config, text).unwrap();
    let args = ["watch", "--once", "--config"].map(str::as_ref);
    let args = [&args[..], &[config.as_os_str()]].concat();
    let ended = ended(urlspool(args).env("URLSPOOL_PLANTED", fault), b"");
    let mut urls = Vec::new();
    for entry in fs::read_dir(folder.path("out")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            let records = lines(&fs::read(path).unwrap());
            urls.extend(
                records
                    .iter()
                    .filter_map(|record| Some(record["url"].as_str()?.to_owned())),
            );
        }
    }
    Found {
        urls,
        // The last line lists the file as unread.
        panics: ended
            .stderr
            .lines()
            .filter(|line| line.contains("please report") && !line.contains("not read: "))
            .count(),
        status: ended.status,
    }
}

/// Checks the URLs outside the message, file or member with the mark.
#[track_caller]
fn check(name: &str, bytes: &[u8], fault: &str, want: &[String]) {
    let folder = Folder::new();
    folder.write(format!("spool/{name}"), bytes);
    folder.write("spool/other", message(99, "s"));
    let mut want = want.to_vec();
    want.extend([
        "http://header.example/99".to_owned(),
        "http://base64.example/99".to_owned(),
    ]);
    want.sort();
    let found = [scan(&folder, fault, "-j1"), scan(&folder, fault, "-j3")];
    for mut found in found {
        found.urls.sort();
        assert_eq!((found.panics, found.status), (1, Some(1)), "{fault}");
        assert_eq!(found.urls, want, "{fault}");
    }
    let mut found = watch(&folder, fault);
    found.urls.sort();
    assert_eq!((found.panics, found.urls), (1, want), "{fault}, daemon");
}

fn header_url(number: usize) -> String {
    format!("http://header.example/{number}")
}

fn base64_url(number: usize) -> String {
    format!("http://base64.example/{number}")
}

/// The message is read as text, in which a header field names the encoding of the lines below.
#[test]
fn row_78_a_panic_on_a_message_costs_its_structure() {
    let want: Vec<_> = (0..10)
        .map(header_url)
        .chain((0..10).map(base64_url))
        .collect();
    for fault in ["PanicInMessage", "PanicInHeader"] {
        check("box", mbox().as_bytes(), fault, &want);
    }
}

#[test]
fn row_78_a_panic_on_the_borders_of_messages_is_one_event() {
    let folder = Folder::new();
    folder.write("spool/box", mbox());
    for threads in ["-j1", "-j3"] {
        let found = scan(&folder, "PanicInSplit", threads);
        assert_eq!((found.panics, found.status), (1, Some(1)));
        let want = (0..10).map(header_url).chain((0..10).map(base64_url));
        assert_eq!(found.urls, want.collect::<Vec<_>>());
    }
    // The daemon retries such a file, and reports it once.
    let found = watch(&folder, "PanicInSplit");
    assert_eq!(found.panics, 1);
}

#[test]
fn row_78_a_panic_of_a_decompressor_costs_the_rest_of_its_file() {
    check(
        "box.gz",
        &gzip(mbox().as_bytes()),
        "PanicInDecompressor",
        &[],
    );
    // Large enough for the thread that cuts blocks, not for one that reads small files.
    let large: String = (0..12_000).map(|number| message(number, "s")).collect();
    let noise: Vec<u8> = (0..1_u64 << 20)
        .map(|number| (number.wrapping_mul(6_364_136_223_846_793_005) >> 33) as u8)
        .collect();
    let large = [large.as_bytes(), &noise, MARK.as_bytes()].concat();
    let folder = Folder::new();
    folder.write("spool/box.gz", gzip(&large));
    folder.write("spool/other", message(99_999, "s"));
    for threads in ["-j1", "-j3"] {
        let found = scan(&folder, "PanicInDecompressor", threads);
        assert_eq!((found.panics, found.status), (1, Some(1)));
        assert!(found.urls.contains(&base64_url(0)) && found.urls.contains(&base64_url(99_999)));
    }
}

#[test]
fn row_78_a_panic_on_a_document_costs_the_document() {
    let rtf = format!("{{\\rtf1 {MARK} http://rtf.example/}}");
    check("a.rtf", rtf.as_bytes(), "PanicInDocument", &[]);
}

#[test]
fn row_78_a_panic_of_an_archive_costs_its_rest() {
    let first = message(0, "s");
    let archive = tar(&[
        ("a", first.as_bytes()),
        (MARK, b"x"),
        ("z", b"http://z.example/"),
    ]);
    check(
        "box.tar",
        &archive,
        "PanicInArchive",
        &[header_url(0), base64_url(0)],
    );
}

/// If the process dies on a message, the daemon searches its batch for it, tries it in a separate
/// process, and sets it aside. The rest of the mailbox is read.
#[test]
fn row_116_a_message_at_which_the_daemon_dies_is_set_aside() {
    let folder = Folder::new();
    folder.write("spool/box", mbox());
    let died = watch(&folder, "AbortInMessage");
    assert_eq!((died.status, died.urls.len()), (None, 0));
    let mut found = watch(&folder, "AbortInMessage");
    found.urls.sort();
    let others = (0..10).filter(|number| *number != 4);
    let mut want: Vec<_> = others
        .flat_map(|number| [header_url(number), base64_url(number)])
        .collect();
    want.sort();
    assert_eq!((found.status, found.panics), (Some(0), 1));
    assert_eq!(found.urls, want);
    // The message stays set aside while its file is unchanged. When the file is read again, the
    // message gets another trial, and now survives.
    assert_eq!(watch(&folder, "").urls.len(), 18);
    let touched = fs::File::options()
        .append(true)
        .open(folder.path("spool/box"))
        .unwrap();
    touched
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    let found = watch(&folder, "");
    assert_eq!((found.status, found.urls.len()), (Some(0), 20));
}

/// A death for another reason is no evidence against a message.
#[test]
fn row_116_a_message_that_survives_its_trial_is_read() {
    let folder = Folder::new();
    folder.write("spool/box", mbox());
    assert_eq!(watch(&folder, "AbortInMessage").status, None);
    assert_eq!(watch(&folder, "").urls.len(), 20);
}
