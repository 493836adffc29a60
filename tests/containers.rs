//! Compressed files and archives: their content is read, and each damage is reported once.
//!
//! Rows are those of the failure catalogue for containers and the tree; odd trees are in `tree.rs`.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use urlspool::diagnostic::DiagnosticKind;
use urlspool::limits::{BATCH_FILES, Limits, RECORD_BUFFER_BYTES, SMALL_CONTAINER_BYTES};
use urlspool::walk::SymlinkPolicy;
use urlspool::{Extractor, Job, Options, Summary, run};

use crate::scene::{Folder, RunOutput, ended, urlspool};

/// The members' names, joined by `!`, and the URLs.
fn places(output: &RunOutput) -> Vec<String> {
    let names = |line: &Value| {
        let names = line["source"]["member"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        names
            .iter()
            .map(|name| name.as_str().unwrap().to_owned() + "!")
            .collect::<String>()
    };
    output
        .lines()
        .iter()
        .map(|line| names(line) + line["url"].as_str().unwrap())
        .collect()
}

pub(crate) fn scan_with(
    path: &Path,
    limits: Limits,
    links: SymlinkPolicy,
    threads: usize,
) -> RunOutput {
    let job = Job {
        roots: vec![path.to_owned()],
        threads,
        links,
        ..Job::default()
    };
    let mut options = Options::default();
    options.limits = limits;
    let extractor = Extractor::new(options);
    let mut output = RunOutput::default();
    output.summary = run(&job, &extractor, &mut output).unwrap();
    assert_eq!(output.summary.imbalances(), Vec::<String>::new());
    output
}

pub(crate) fn scan(path: &Path) -> RunOutput {
    scan_with(path, Limits::default(), SymlinkPolicy::Skip, 2)
}

fn scan_bytes(bytes: &[u8]) -> RunOutput {
    scan(Folder::with("file", bytes).root())
}

fn scan_limited(bytes: &[u8], limits: Limits) -> RunOutput {
    scan_with(
        Folder::with("file", bytes).root(),
        limits,
        SymlinkPolicy::Skip,
        1,
    )
}

pub(crate) fn mail(number: usize) -> String {
    format!("From: a@b.example\nSubject: {number}\n\nSee http://n{number}.example/ there.\n")
}

pub(crate) fn mbox(messages: usize) -> Vec<u8> {
    (0..messages)
        .flat_map(|number| format!("From a@b Mon\n{}\n", mail(number)).into_bytes())
        .collect()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// A member of a tar: its header with the right checksum, and its bytes.
fn tar_member(name: &str, kind: u8, size: usize, bytes: &[u8]) -> Vec<u8> {
    let mut block = vec![0; 512];
    block[..name.len()].copy_from_slice(name.as_bytes());
    block[100..107].copy_from_slice(b"0000644");
    block[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    block[148..156].fill(b' ');
    block[156] = kind;
    block[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    block.extend_from_slice(bytes);
    block.resize(block.len().next_multiple_of(512), 0);
    block
}

pub(crate) fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let members = members
        .iter()
        .flat_map(|(name, bytes)| tar_member(name, b'0', bytes.len(), bytes));
    members.chain([0; 1024]).collect()
}

/// A member of a zip, and the values of its headers.
struct Zipped<'z> {
    name: &'z str,
    method: u16,
    flags: u16,
    crc: u32,
    size: u32,
    bytes: Vec<u8>,
}

impl<'z> Zipped<'z> {
    fn new(name: &'z str, bytes: &[u8]) -> Zipped<'z> {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        Zipped {
            name,
            method: 8,
            flags: 0,
            crc: crc.sum(),
            size: bytes.len() as u32,
            bytes: deflate(bytes),
        }
    }

    /// Returns the fields that the local header and the directory entry have in common.
    fn head(&self, flags: u16, is_known: bool) -> Vec<u8> {
        let mut out = vec![20, 0];
        out.extend(flags.to_le_bytes());
        out.extend(self.method.to_le_bytes());
        out.extend([0; 4]);
        for number in [self.crc, self.bytes.len() as u32, self.size] {
            out.extend(if is_known { number } else { 0 }.to_le_bytes());
        }
        out.extend((self.name.len() as u16).to_le_bytes());
        out.extend([0, 0]);
        out
    }
}

/// A zip. A member with the flag of a data descriptor has its sizes after it.
fn zip(members: &[Zipped<'_>]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for member in members {
        let is_known = member.flags & 8 == 0;
        directory.extend(b"PK\x01\x02\x14\x03");
        directory.extend(member.head(member.flags, true));
        directory.extend([0; 10]);
        directory.extend((out.len() as u32).to_le_bytes());
        directory.extend(member.name.as_bytes());
        out.extend(b"PK\x03\x04");
        out.extend(member.head(member.flags, is_known));
        out.extend(member.name.as_bytes());
        out.extend(&member.bytes);
        if !is_known {
            out.extend(b"PK\x07\x08");
            out.extend(
                [member.crc, member.bytes.len() as u32, member.size]
                    .map(u32::to_le_bytes)
                    .concat(),
            );
        }
    }
    let begins = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([(members.len() as u16).to_le_bytes(); 2].concat());
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(begins.to_le_bytes());
    out.extend([0, 0]);
    out
}

#[test]
fn a_compressed_file_has_the_records_of_the_file() {
    let plain = mbox(50);
    let expected: Vec<Value> = scan_bytes(&plain).lines();
    assert_eq!(expected.len(), 50);
    for packed in [
        gzip(&plain),
        zstd::encode_all(&plain[..], 1).unwrap(),
        gzip(&gzip(&plain)),
    ] {
        let output = scan_bytes(&packed);
        assert_eq!(output.events, []);
        assert_eq!((output.summary.files_read, output.summary.members), (1, 0));
        let without_path = |line: &Value| {
            let mut line = line.clone();
            line["source"]["path"] = Value::Null;
            line["source"]["mailbox"] = Value::Null;
            line
        };
        assert!(
            output
                .lines()
                .iter()
                .map(without_path)
                .eq(expected.iter().map(without_path))
        );
    }
}

#[test]
fn members_are_read_as_files_and_records_name_them() {
    let inner = tar(&[("c/3.mbox.gz", &gzip(&mbox(2))), ("d", mail(7).as_bytes())]);
    let outer = gzip(&tar(&[
        ("a/1", mail(1).as_bytes()),
        ("inner.tar", &inner),
        ("z.zip", &zip(&[Zipped::new("e.txt", b"http://e.example/")])),
        ("empty", b""),
        (".overview", b"1\thttp://x.example/"),
    ]));
    let output = scan_bytes(&outer);
    assert_eq!(
        places(&output),
        [
            "a/1!http://n1.example/",
            "inner.tar!c/3.mbox.gz!http://n0.example/",
            "inner.tar!c/3.mbox.gz!http://n1.example/",
            "inner.tar!d!http://n7.example/",
            "z.zip!e.txt!http://e.example/",
        ]
    );
    assert_eq!(output.lines()[0]["source"]["kind"], "mh");
    assert_eq!(output.events, []);
    let Summary {
        files,
        members,
        members_read,
        members_skipped,
        ..
    } = output.summary;
    assert_eq!((files, members, members_read), (1, 8, 6));
    assert_eq!(
        members_skipped
            .iter()
            .map(|(why, &count)| (why.as_str(), count))
            .collect::<Vec<_>>(),
        [("control-file", 1), ("empty", 1)]
    );
}

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

/// Rows 83 and 84.
#[test]
fn decompression_bombs_stop_at_a_limit_with_one_event() {
    const FROM_BYTES: usize = 128 << 10;
    let zeros = vec![b'\n'; 4 * FROM_BYTES];
    let limits = Limits {
        unpack_ratio_from_bytes: FROM_BYTES,
        unpack_ratio: 50,
        nested_ratio_from_bytes: 16 << 10,
        nested_ratio: 50,
        ..Limits::default()
    };
    let bombs = [
        zstd::encode_all(&zeros[..], 1).unwrap(),
        gzip(&gzip(&zeros)),
        tar(&[("bomb.gz", &gzip(&zeros))]),
        zip(&[Zipped::new("bomb.gz", &gzip(&zeros))]),
    ];
    for (number, bomb) in bombs.iter().enumerate() {
        let output = scan_limited(bomb, limits);
        assert_eq!(
            output.kinds(),
            [DiagnosticKind::Limit],
            "{number}: {:?}",
            output.events
        );
        assert!(
            output.summary.bytes_unpacked < 2 * FROM_BYTES as u64,
            "{number}: {}",
            output.summary.bytes_unpacked
        );
    }
    // Gzip has the limit too. Text is far below it: archives of hundreds of gigabytes are normal.
    assert_eq!(
        scan_limited(&gzip(&zeros), limits).kinds(),
        [DiagnosticKind::Limit]
    );
    let text = mbox(3_000);
    assert!(text.len() > FROM_BYTES);
    assert_eq!(scan_limited(&gzip(&text), limits).events, []);
    let narrow = Limits {
        window_bytes: 16 << 10,
        ..Limits::default()
    };
    let mut wide = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    wide.window_log(17).unwrap();
    wide.write_all(&zeros).unwrap();
    let output = scan_limited(&wide.finish().unwrap(), narrow);
    assert_eq!(output.kinds(), [DiagnosticKind::Limit]);
    assert!(output.events[0].diagnostic.message.contains("window"));
}

/// Row 85.
#[test]
fn containers_in_containers_end_at_a_depth() {
    type Wrap = fn(&[u8]) -> Vec<u8>;
    let nest = |wrap: Wrap, depth| (0..depth).fold(mail(1).into_bytes(), |inner, _| wrap(&inner));
    let wraps: [Wrap; 3] = [
        |inner| gzip(inner),
        |inner| tar(&[("x", inner)]),
        |inner| zip(&[Zipped::new("x", inner)]),
    ];
    for (number, wrap) in wraps.into_iter().enumerate() {
        assert_eq!(
            scan_bytes(&nest(wrap, 4)).urls(),
            ["http://n1.example/"],
            "{number}"
        );
        for depth in [5, 100] {
            let output = scan_bytes(&nest(wrap, depth));
            assert_eq!(
                (output.urls().len(), output.kinds()),
                (0, vec![DiagnosticKind::Limit]),
                "{number} at {depth}"
            );
        }
    }
}

/// Row 86.
#[test]
fn zips_with_wrong_headers_give_the_rest_and_one_event() {
    let (one, two) = (mail(1), mail(2));
    let member = |name, text: &str| Zipped::new(name, text.as_bytes());
    let whole = zip(&[member("1", &one), member("2", &two)]);
    assert_eq!(scan_bytes(&whole).urls().len(), 2);
    let both = |wrong: Zipped<'_>| scan_bytes(&zip(&[wrong, Zipped::new("2", two.as_bytes())]));

    let output = both(Zipped {
        crc: 1,
        ..member("1", &one)
    });
    assert_eq!(
        (output.urls().len(), output.kinds()),
        (2, vec![DiagnosticKind::Damage]),
        "a wrong checksum"
    );
    let output = both(Zipped {
        size: 7,
        ..member("1", &one)
    });
    assert_eq!(
        (output.urls().len(), output.kinds()),
        (2, vec![DiagnosticKind::Damage]),
        "a wrong size"
    );
    let output = both(Zipped {
        flags: 1,
        ..member("1", &one)
    });
    assert_eq!(
        (output.urls().len(), output.kinds()),
        (1, vec![DiagnosticKind::Skip]),
        "encrypted"
    );
    let output = both(Zipped {
        method: 99,
        ..member("1", &one)
    });
    assert_eq!(
        (output.urls().len(), output.kinds()),
        (1, vec![DiagnosticKind::Skip]),
        "an unknown compression"
    );
    let output = both(Zipped {
        flags: 8,
        ..member("1", &one)
    });
    assert_eq!(
        (output.urls().len(), output.kinds()),
        (2, vec![]),
        "sizes after the member"
    );

    // The second member's entry names the first one's bytes.
    let mut overlapping = whole.clone();
    let entry = memchr::memmem::rfind(&overlapping, b"PK\x01\x02").unwrap();
    overlapping[entry + 42..entry + 46].fill(0);
    let output = scan_bytes(&overlapping);
    assert_eq!(
        (output.urls().len(), output.kinds()),
        (1, vec![DiagnosticKind::Damage]),
        "overlapping"
    );

    let few = Limits {
        archive_entries: 1,
        ..Limits::default()
    };
    let output = scan_limited(&whole, few);
    assert_eq!(
        (output.urls().len(), output.kinds()),
        (1, vec![DiagnosticKind::Limit]),
        "too many"
    );
    let output = scan_bytes(&[&b"#!/bin/sh\n"[..], &whole].concat());
    assert_eq!(
        output.urls().len(),
        0,
        "a program with a zip after it is no zip"
    );
}

/// The zip of one member with its numbers in zip64 fields, and only marks in their old places.
fn zip64(name: &str, bytes: &[u8]) -> Vec<u8> {
    const MARK: [u8; 4] = [0xFF; 4];
    let packed = deflate(bytes);
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    // The fields between the version and the length of the name; sizes are marks.
    let head = [
        &[0, 0, 8, 0, 0, 0, 0, 0][..],
        &crc.sum().to_le_bytes(),
        &MARK,
        &MARK,
    ]
    .concat();
    let field = |numbers: &[u64]| {
        let numbers: Vec<u8> = numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect();
        [
            &1_u16.to_le_bytes()[..],
            &(numbers.len() as u16).to_le_bytes(),
            &numbers,
        ]
        .concat()
    };
    let sizes = [bytes.len() as u64, packed.len() as u64];
    let (local, central) = (field(&sizes), field(&[sizes[0], sizes[1], 0]));
    let lengths = |field: &[u8]| {
        [
            (name.len() as u16).to_le_bytes(),
            (field.len() as u16).to_le_bytes(),
        ]
        .concat()
    };
    let mut out = [
        b"PK\x03\x04\x2D\0",
        &head[..],
        &lengths(&local),
        name.as_bytes(),
        &local,
        &packed,
    ]
    .concat();
    let begins = out.len() as u64;
    out.extend(
        [
            b"PK\x01\x02\x2D\x03\x2D\0",
            &head[..],
            &lengths(&central),
            &[0; 10],
            &MARK,
        ]
        .concat(),
    );
    out.extend([name.as_bytes(), &central].concat());
    let end = out.len() as u64;
    // The zip64 end: its size, versions, disks, entries; then size and offset of the directory.
    out.extend(
        [
            b"PK\x06\x06",
            &44_u64.to_le_bytes()[..],
            &[0x2D, 0, 0x2D, 0],
            &[0; 8],
        ]
        .concat(),
    );
    out.extend([1, 1, end - begins, begins].map(u64::to_le_bytes).concat());
    out.extend(
        [
            b"PK\x06\x07",
            &[0; 4][..],
            &end.to_le_bytes(),
            &1_u32.to_le_bytes(),
        ]
        .concat(),
    );
    out.extend([b"PK\x05\x06", &[0; 4][..], &[0xFF; 12], &[0; 2]].concat());
    out
}

/// Row 86: sizes and offsets in zip64 fields are used, in the directory and before the member.
#[test]
fn zip64_sizes_and_offsets_are_read() {
    let bytes = zip64("m.mbox", &mbox(30));
    for output in [
        scan_bytes(&bytes),
        scan_bytes(&gzip(&bytes)),
        scan_bytes(&tar(&[("z", &bytes)])),
    ] {
        assert_eq!((output.urls().len(), output.kinds()), (30, vec![]));
    }
    // A wrong size is damage here as well.
    let mut wrong = bytes;
    let at = memchr::memmem::rfind(&wrong, b"m.mbox\x01\0").unwrap() + 10;
    wrong[at] ^= 1;
    let output = scan_bytes(&wrong);
    assert_eq!(
        (output.urls().len(), output.kinds()),
        (30, vec![DiagnosticKind::Damage])
    );
}

/// Row 86: entries beyond the limit are not read, and one event reports that. `URLSPOOL_ENTRIES` sets their number.
#[test]
fn entries_beyond_the_limit_are_one_event() {
    let entries =
        std::env::var("URLSPOOL_ENTRIES").map_or(3_000, |entries| entries.parse().unwrap());
    let limits = Limits {
        archive_entries: entries / 2,
        ..Limits::default()
    };
    let names: Vec<String> = (0..entries).map(|number| number.to_string()).collect();
    let members: Vec<_> = names
        .iter()
        .map(|name| Zipped::new(name, b"http://u.example/"))
        .collect();
    let archive = zip(&members);
    let pairs: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), &b"http://u.example/"[..]))
        .collect();
    for bytes in [archive.clone(), gzip(&archive), tar(&pairs)] {
        let output = scan_limited(&bytes, limits);
        assert_eq!(
            (output.urls().len(), output.kinds()),
            (entries / 2, vec![DiagnosticKind::Limit])
        );
        assert_eq!(output.summary.members_read as usize, entries / 2);
    }
}

#[test]
fn a_zip_in_a_stream_is_read_by_its_local_headers() {
    let zips = [
        zip(&[
            Zipped::new("1", mail(1).as_bytes()),
            Zipped::new("2", mail(2).as_bytes()),
        ]),
        zip(&[
            Zipped {
                flags: 8,
                ..Zipped::new("1", mail(1).as_bytes())
            },
            Zipped::new("2", mail(2).as_bytes()),
        ]),
    ];
    for bytes in zips {
        let output = scan_bytes(&gzip(&bytes));
        assert_eq!((output.urls().len(), output.kinds()), (2, vec![]));
        // Without its directory it is damaged, but its members are read.
        let directory = memchr::memmem::find(&bytes, b"PK\x01\x02").unwrap();
        let output = scan_bytes(&bytes[..directory]);
        assert_eq!(
            (output.urls().len(), output.kinds()),
            (2, vec![DiagnosticKind::Damage])
        );
    }
}

/// Row 87.
#[test]
fn only_files_of_a_tar_are_read_and_names_are_labels() {
    let text = mail(1);
    let file = |name: &str| tar_member(name, b'0', text.len(), text.as_bytes());
    let mut bytes: Vec<u8> = [file("../up"), file("/etc/passwd")].concat();
    for (name, kind) in [
        ("s", b'2'),
        ("h", b'1'),
        ("c", b'3'),
        ("b", b'4'),
        ("f", b'6'),
        ("dir/", b'5'),
    ] {
        bytes.extend(tar_member(name, kind, 0, b""));
    }
    bytes.extend(tar_member("sparse", b'S', text.len(), text.as_bytes()));
    // A pax header's size overrides the member's own, which is zero.
    let record = |pair: &str| format!("{} {pair}\n", pair.len() + 4);
    bytes.extend(
        tar_member("x", b'x', 11, record("size=60").as_bytes())
            .into_iter()
            .take(1024),
    );
    assert_eq!((text.len(), record("size=60").len()), (60, 11));
    bytes.extend(tar_member("sized", b'0', 0, text.as_bytes()));
    let long = "n".repeat(200);
    bytes.extend(tar_member("L", b'L', long.len(), long.as_bytes()));
    bytes.extend(file("short"));
    bytes.extend([0; 1024]);
    let output = scan_bytes(&bytes);
    let expected =
        ["../up", "/etc/passwd", "sized", &long].map(|name| format!("{name}!http://n1.example/"));
    assert_eq!(places(&output), expected);
    let skipped = output
        .summary
        .members_skipped
        .iter()
        .map(|(why, &count)| (why.as_str(), count))
        .collect::<Vec<_>>();
    assert_eq!(
        skipped,
        [
            ("device", 2),
            ("fifo", 1),
            ("hard-link", 1),
            ("sparse", 1),
            ("symlink", 1)
        ]
    );
    assert_eq!(
        output
            .kinds()
            .iter()
            .filter(|&&kind| kind == DiagnosticKind::Ambiguous)
            .count(),
        2,
        "names that leave the folder"
    );
}

#[test]
fn damage_in_a_tar_is_reported_once() {
    let (one, two) = (mail(1), mbox(30));
    let bytes = tar(&[("1", one.as_bytes()), ("2", &two)]);
    let cut = &bytes[..bytes.len() - 2_000];
    for cut in [cut.to_vec(), gzip(cut), {
        let packed = gzip(&bytes);
        packed[..packed.len() - 30].to_vec()
    }] {
        let output = scan_bytes(&cut);
        assert!(output.urls().len() > 10);
        assert_eq!(
            output.kinds(),
            [DiagnosticKind::Damage],
            "{:?}",
            output.events
        );
        assert_eq!(
            (
                output.summary.files_failed["damage"],
                output.summary.members_failed["damage"]
            ),
            (1, 1)
        );
    }
    let mut wrong = bytes;
    wrong[1024 + 148] ^= 7;
    let output = scan_bytes(&wrong);
    assert_eq!(
        (output.urls().len(), output.kinds()),
        (1, vec![DiagnosticKind::Damage]),
        "a header that is none"
    );
    let output = scan_bytes(&tar_member("1", b'0', one.len(), one.as_bytes()));
    assert_eq!(
        (output.urls().len(), output.kinds()),
        (1, vec![DiagnosticKind::Ambiguous]),
        "no end mark"
    );
}

/// Row 88.
#[test]
fn a_truncated_gzip_gives_the_urls_before_its_end() {
    let packed = [gzip(&mbox(300)), gzip(&mbox(300))].concat();
    let whole = scan_bytes(&packed);
    let all_urls = whole.urls();
    assert_eq!((all_urls.len(), whole.events.len()), (600, 0));
    let mut before: Vec<String> = Vec::new();
    for end in (20..packed.len()).step_by(packed.len() / 20) {
        let output = scan_bytes(&packed[..end]);
        let mut urls = output.urls();
        // A URL that is cut in two is another URL.
        if !all_urls.starts_with(&urls) {
            urls.pop();
        }
        assert!(urls.starts_with(&before), "{end}");
        assert_eq!(
            output.kinds(),
            [DiagnosticKind::Damage],
            "{end} of {}",
            packed.len()
        );
        before = urls;
    }
    let output = scan_bytes(&[&packed[..], b"garbage"].concat());
    assert_eq!(
        (output.urls().len(), output.kinds()),
        (600, vec![DiagnosticKind::Damage])
    );
    let output = scan_bytes(&[&packed[..], &[0; 5_000]].concat());
    assert_eq!((output.urls().len(), output.kinds()), (600, vec![]));
    let mut wrong = gzip(&mbox(300));
    let crc = wrong.len() - 8;
    wrong[crc] ^= 1;
    let output = scan_bytes(&wrong);
    assert_eq!(
        (output.urls().len(), output.kinds()),
        (300, vec![DiagnosticKind::Damage])
    );
}

/// Returns the output of `urlspool show` for these records.
pub(crate) fn shown(records: &[u8]) -> String {
    let mut show = Command::new(env!("CARGO_BIN_EXE_urlspool"))
        .arg("show")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    show.stdin.take().unwrap().write_all(records).unwrap();
    String::from_utf8(show.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn show_prints_the_bytes_of_records_in_containers() {
    let inner = zip(&[Zipped::new("m.mbox.gz", &gzip(&mbox(3)))]);
    let folder = Folder::with(
        "a!b.tgz",
        gzip(&tar(&[("1", mail(9).as_bytes()), ("in.zip", &inner)])),
    );
    let output = scan(folder.root());
    let expected =
        "http://n9.example/\nhttp://n0.example/\nhttp://n1.example/\nhttp://n2.example/\n";
    assert_eq!(shown(&output.records), expected);
    let place = format!("{}!in.zip!m.mbox.gz:0-12", folder.path("a!b.tgz").display());
    let output = Command::new(env!("CARGO_BIN_EXE_urlspool"))
        .args(["show", &place])
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"From a@b Mon\n");
    let nowhere = format!("{}!nothing:0-12", folder.path("a!b.tgz").display());
    let output = Command::new(env!("CARGO_BIN_EXE_urlspool"))
        .args(["show", &nowhere])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn explain_reads_containers() {
    let explained = |place: String| {
        let output = Command::new(env!("CARGO_BIN_EXE_urlspool"))
            .args(["explain", &place])
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let inner = zip(&[Zipped::new("m.mbox.gz", &gzip(&mbox(3)))]);
    let folder = Folder::with(
        "a!b.tgz",
        gzip(&tar(&[("1", mail(9).as_bytes()), ("in.zip", &inner)])),
    );
    let archive = folder.path("a!b.tgz").display().to_string();
    let (status, text) = explained(format!("{archive}!in.zip!m.mbox.gz:100"));
    assert_eq!(status, Some(0), "{text}");
    assert!(
        text.contains("The member is read as mbox")
            && text.contains("accepted: http://n1.example/"),
        "{text}"
    );
    let (status, text) = explained(format!("{archive}!1"));
    assert!(
        status == Some(0) && text.contains("accepted: http://n9.example/"),
        "{text}"
    );
    let (status, text) = explained(archive.clone());
    assert_eq!(status, Some(1));
    assert!(
        text.contains("name one of its members, for example FILE!1"),
        "{text}"
    );
    let (status, text) = explained(format!("{archive}!2"));
    assert!(
        status == Some(1) && text.contains("has no such member"),
        "{text}"
    );

    // Offsets are those of the unpacked bytes, as records give them.
    folder.write("m.gz", gzip(&mbox(3)));
    let records = scan(&folder.path("m.gz")).lines();
    for record in &records {
        let (status, text) = explained(format!(
            "{}:{}",
            folder.path("m.gz").display(),
            record["source"]["start"]
        ));
        let url = record["url"].as_str().unwrap();
        assert!(
            status == Some(0) && text.contains("The file is read as mbox"),
            "{text}"
        );
        assert!(
            text.contains(&format!("accepted: {url}")) && text.matches("accepted:").count() == 1,
            "{text}"
        );
    }
    assert_eq!(records.len(), 3);
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
