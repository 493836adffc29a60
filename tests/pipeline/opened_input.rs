//! Inputs opened by the caller have the same records as files, without needless reads.

use std::cell::Cell;
use std::fs;
use std::io;
use std::rc::Rc;

use urlspool_files::pipeline::{Job, run, run_input};
use urlspool_record::extract::{Extractor, Options};
use urlspool_sources::read::{Input, ReadAt};
use urlspool_text::origin::{FileRange, Source};

use crate::containers::gzip;
use crate::scene::{Folder, RunOutput};

/// An object in memory that counts the bytes read.
struct Object {
    bytes: Rc<Vec<u8>>,
    read: Rc<Cell<usize>>,
}

impl ReadAt for Object {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = self.bytes.get(offset as usize..).unwrap_or_default();
        // A store may return less than requested.
        let len = rest.len().min(buffer.len()).min(100_000);
        buffer[..len].copy_from_slice(&rest[..len]);
        self.read.set(self.read.get() + len);
        Ok(len)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }
}

/// Returns the records of a part of an object, and the number of bytes read.
fn read_part(bytes: &Rc<Vec<u8>>, part: &FileRange, threads: usize) -> (Vec<u8>, usize) {
    let read = Rc::new(Cell::new(0));
    let object = Object {
        bytes: Rc::clone(bytes),
        read: Rc::clone(&read),
    };
    let job = Job {
        threads,
        ..Job::default()
    };
    let mut output = RunOutput::default();
    let extractor = Extractor::new(Options::default());
    let summary = run_input(Input::object(object), part, &job, &extractor, &mut output).unwrap();
    assert_eq!(summary.imbalances(), [""; 0]);
    (output.records, read.get())
}

fn part(path: &std::path::Path, start: usize, end: usize) -> FileRange {
    FileRange {
        source: Source::at(path.to_owned()),
        start: start as u64,
        end: end as u64,
        kind: None,
        nuls: 0,
    }
}

/// Returns the path and the records of a file with these bytes.
fn scanned(folder: &Folder, name: &str, bytes: &[u8]) -> (std::path::PathBuf, Vec<u8>) {
    let path = folder.path(name);
    fs::write(&path, bytes).unwrap();
    let job = Job {
        roots: vec![path.clone()],
        threads: 1,
        ..Job::default()
    };
    let mut output = RunOutput::default();
    run(&job, &Extractor::new(Options::default()), &mut output).unwrap();
    assert!(!output.records.is_empty());
    (path, output.records)
}

/// Returns a mailbox with messages of all sizes up to 300 kB.
fn mailbox() -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in 0..60 {
        let body = "no address in this line of text\n".repeat(number * number * 3);
        let message = format!(
            "From a@b.example Mon Jan  1 00:00:00 1996\nSubject: {number}\n\n\
             http://a.example/{number}\n{body}\n"
        );
        bytes.extend_from_slice(message.as_bytes());
    }
    bytes
}

#[test]
fn an_object_has_the_same_records_as_a_file() {
    let folder = Folder::in_memory();
    let mbox = mailbox();
    let cases = [
        ("box", mbox.clone()),
        ("box.gz", gzip(&mbox)),
        ("text", b"see http://a.example/\n".to_vec()),
    ];
    for (name, bytes) in cases {
        let (path, expected) = scanned(&folder, name, &bytes);
        let bytes = Rc::new(bytes);
        for threads in [1, 3] {
            let (records, read) = read_part(&bytes, &part(&path, 0, usize::MAX), threads);
            assert!(records == expected, "{name}, {threads} threads");
            assert!(read >= bytes.len(), "{name}");
        }
    }
}

#[test]
fn parts_of_an_object_yield_each_record_once_with_few_extra_reads() {
    let folder = Folder::in_memory();
    let bytes = Rc::new(mailbox());
    let (path, expected) = scanned(&folder, "box", &bytes);
    for part_bytes in [70_000, 500_000, 3_000_000] {
        let mut records = Vec::new();
        for start in (0..bytes.len()).step_by(part_bytes) {
            let end = (start + part_bytes).min(bytes.len());
            let (found, read) = read_part(&bytes, &part(&path, start, end), 1);
            records.extend(found);
            // The start of the file, a window before the part, and twice the largest message.
            let max = end - start + 2 * 64 * 1024 + 2 * 350_000;
            assert!(read <= max, "{read} bytes for {start}..{end}");
        }
        assert!(records == expected, "parts of {part_bytes} bytes");
    }
}

#[test]
fn a_file_that_is_not_an_mbox_belongs_to_its_first_part() {
    let folder = Folder::in_memory();
    let bytes = Rc::new(gzip(&mailbox()));
    let (path, expected) = scanned(&folder, "box.gz", &bytes);
    let middle = bytes.len() / 2;
    let (first, _) = read_part(&bytes, &part(&path, 0, middle), 1);
    assert!(first == expected);
    let (second, read) = read_part(&bytes, &part(&path, middle, bytes.len()), 1);
    assert!(second.is_empty() && read <= 64 * 1024);
}

#[test]
fn leading_nul_bytes_that_are_known_are_not_read_again() {
    const NULS: usize = 5_000_000;
    let folder = Folder::in_memory();
    let mbox = mailbox();
    let bytes = [vec![0; NULS], mbox.clone()].concat();
    let (path, expected) = scanned(&folder, "box", &bytes);
    let middle = NULS + mbox.len() / 2;
    let bytes = Rc::new(bytes);
    let (first, _) = read_part(&bytes, &part(&path, 0, middle), 1);
    for nuls in [0, 100_000, NULS] {
        let part = FileRange {
            nuls: nuls as u64,
            ..part(&path, middle, usize::MAX)
        };
        let (second, read) = read_part(&bytes, &part, 1);
        assert!([first.clone(), second].concat() == expected, "{nuls}");
        let unknown = NULS - nuls;
        assert!(read < unknown + mbox.len() + 300_000, "{nuls}: {read}");
    }
}
