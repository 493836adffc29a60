//! Compressed files and archives: their content is read, and each damage is reported once.
//!
//! Row numbers refer to the failure catalogue for containers and the tree. Odd trees are in
//! `tree.rs`.

mod attached;
mod bounds;
mod commands;
mod order;
mod outlook;
mod tars;
mod warc;
mod zips;

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use urlspool::{Extractor, Options, Summary};
use urlspool_files::pipeline::{Job, run};
use urlspool_sources::walk::SymlinkPolicy;
use urlspool_text::diagnostic::DiagnosticKind;
use urlspool_text::limits::Limits;

use crate::scene::{Folder, RunOutput, program_command};

/// Returns the URLs and the members' names, joined by `!`.
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

pub(crate) fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// Builds a member of a tar: its header with the right checksum, and its bytes.
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
pub(crate) struct Zipped<'z> {
    name: &'z str,
    method: u16,
    flags: u16,
    crc: u32,
    size: u32,
    bytes: Vec<u8>,
}

impl<'z> Zipped<'z> {
    pub(crate) fn new(name: &'z str, bytes: &[u8]) -> Zipped<'z> {
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

    /// Changes a byte in the middle of the compressed bytes.
    pub(crate) fn damage(&mut self) {
        let middle = self.bytes.len() / 2;
        self.bytes[middle] ^= 0xFF;
    }

    /// Returns the fields that the local header and the directory entry share.
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

/// Builds a zip. If a member's flags announce a data descriptor, its sizes follow it.
pub(crate) fn zip(members: &[Zipped<'_>]) -> Vec<u8> {
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
        members_skipped.by_name().into_iter().collect::<Vec<_>>(),
        [("control-file", 1), ("empty", 1)]
    );
}

/// Row 88.
#[test]
fn a_truncated_gzip_yields_the_urls_before_the_cut() {
    let packed = [gzip(&mbox(300)), gzip(&mbox(300))].concat();
    let whole = scan_bytes(&packed);
    let all_urls = whole.urls();
    assert_eq!((all_urls.len(), whole.events.len()), (600, 0));
    let mut before: Vec<String> = Vec::new();
    for end in (20..packed.len()).step_by(packed.len() / 20) {
        let output = scan_bytes(&packed[..end]);
        let mut urls = output.urls();
        // A truncated URL is a different URL.
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
    let mut show = program_command()
        .arg("show")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    show.stdin.take().unwrap().write_all(records).unwrap();
    String::from_utf8(show.wait_with_output().unwrap().stdout).unwrap()
}
