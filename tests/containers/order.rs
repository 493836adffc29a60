//! The order of records for any number of threads.

use std::ffi::OsStr;
use std::fs;

use urlspool::internals::limits::{
    BATCH_FILES, Limits, RECORD_BUFFER_BYTES, SMALL_CONTAINER_BYTES,
};
use urlspool::internals::walk::SymlinkPolicy;

use super::{gzip, mail, scan_with, tar};
use crate::scene::{Folder, ended, urlspool};

#[test]
fn output_does_not_depend_on_threads_and_batches() {
    let names: Vec<String> = (0..1_000).map(|number| format!("spool/{number}")).collect();
    let mails: Vec<String> = (0..1_000).map(mail).collect();
    let members: Vec<_> = names
        .iter()
        .zip(&mails)
        .map(|(name, mail)| (name.as_str(), mail.as_bytes()))
        .collect();
    let folder = Folder::with("a.tar", tar(&members));
    folder.write("b.tgz", gzip(&tar(&members)));
    let output = |threads| {
        scan_with(
            folder.root(),
            Limits::default(),
            SymlinkPolicy::Skip,
            threads,
        )
    };
    let one = output(1);
    assert_eq!((one.urls().len(), one.summary.members_read), (2_000, 2_000));
    assert!(one.records == output(4).records);
}

#[test]
fn a_small_file_that_unpacks_to_a_large_one_is_read_in_blocks() {
    let message = format!(
        "From a\nA: b\nSubject: x\n\n{}http://a.example/\n\n",
        "words and words\n".repeat(60_000)
    );
    let packed = zstd::encode_all(message.repeat(20).as_bytes(), 3).unwrap();
    assert!(packed.len() < 100_000);
    let folder = Folder::with("b.zst", &packed);
    folder.write("a", mail(1));
    folder.write("c", mail(2));
    for threads in [1, 3] {
        let output = scan_with(
            folder.root(),
            Limits::default(),
            SymlinkPolicy::Skip,
            threads,
        );
        let urls = output.urls();
        assert_eq!(
            (urls.len(), urls[0].as_str(), urls[21].as_str()),
            (22, "http://n1.example/", "http://n2.example/")
        );
        assert_eq!(output.summary.bytes_unpacked, message.len() as u64 * 20);
        assert_eq!(output.summary.files_read, 3);
    }
}

/// The large content of a small compressed file is deferred. Meanwhile all threads may wait to hand in batches that come
/// before it.
#[test]
fn a_file_that_waits_for_its_turn_blocks_no_thread() {
    const URLS: usize = 1_000;
    const BATCHES: usize = 4;
    let folder = Folder::new();
    // More than the limit for small compressed files.
    let words = "words and words\n".repeat(SMALL_CONTAINER_BYTES as usize / 16 + 1);
    fs::write(
        folder.path("0.gz"),
        gzip(format!("{}{words}", mail(1)).as_bytes()),
    )
    .unwrap();
    // Records of nine kilobytes each, so that a unit has more batches than may wait to be written.
    let long = "a".repeat(4_000);
    let urls: Vec<String> = (0..URLS)
        .map(|number| format!("http://a.example/{number}\n"))
        .collect();
    let rich = format!("From: {long}\nSubject: {long}\n\n{}", urls.concat());
    for batch in 1..=BATCHES {
        folder.write(batch.to_string(), &rich);
        for number in 1..BATCH_FILES {
            folder.write(format!("{batch}.{number:03}"), "no URL\n");
        }
    }
    for threads in ["-j2", "-j3"] {
        let mut command = urlspool([
            OsStr::new("scan"),
            OsStr::new(threads),
            folder.root().as_os_str(),
        ]);
        let ended = ended(&mut command, b"");
        assert_eq!(
            (ended.status, &ended.stderr[..]),
            (Some(0), ""),
            "{threads}"
        );
        let records = memchr::memchr_iter(b'\n', &ended.stdout).count();
        assert_eq!(records, 1 + BATCHES * URLS, "{threads}");
        assert!(
            ended.stdout.len() > BATCHES * 2 * RECORD_BUFFER_BYTES,
            "too little to make a thread wait"
        );
    }
}
