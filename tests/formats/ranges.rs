//! Ranges of files, and blocks of ranges.

use std::fs;
use std::path::Path;

use urlspool::{Extractor, Options, Source};
use urlspool_files::pipeline::{Job, run};
use urlspool_mail::split::{Format, open};
use urlspool_sources::read::{Input, StreamStep, Streams};
use urlspool_text::limits::{Limits, SNIFF_BYTES};
use urlspool_text::origin::{FileRange, FormatHint, SourceKind};

use super::{Quoting, lines, maildir, mails, mbox};
use crate::scene::{Folder, Rng, RunOutput, program_command};

/// Returns the records of consecutive parts of a file.
fn in_parts(path: &Path, borders: &[u64], extractor: &Extractor) -> String {
    let part = |pair: &[u64]| FileRange {
        source: Source::at(path.to_owned()),
        start: pair[0],
        end: pair[1],
        kind: Some(SourceKind::Mbox),
        nuls: 0,
    };
    let scan = |pair: &[u64]| {
        let job = Job {
            items: Some(vec![part(pair)]),
            threads: 1,
            ..Job::default()
        };
        let mut output = RunOutput::default();
        run(&job, extractor, &mut output).unwrap();
        String::from_utf8(output.records).unwrap()
    };
    borders.windows(2).map(scan).collect()
}

/// Returns an mbox with all kinds of text around its borders.
fn random_mbox(rng: &mut Rng) -> String {
    let mut all = "\0".repeat([0, 0, 1, 9][rng.below(4)]) + &"\n".repeat(rng.below(3));
    for number in 0..=rng.below(4) {
        let pieces = [
            "\nFrom x\nA: pasted\n\n",
            "From here\nthe prose\n",
            "\n",
            "<URL:http://a.\n  example/>\n",
            "http://b.example/c\n",
            "\nFrom u at h  Mon Jan  1 10:00:00 1996\nFrom: u at h (U)\n\n",
            "no end",
        ];
        let body: String = (0..rng.below(6))
            .map(|_| pieces[rng.below(pieces.len())])
            .collect();
        let length = match rng.below(4) {
            0 => format!("Content-Length: {}\n", body.len()),
            1 => format!("Content-Length: {}\n", rng.below(60)),
            _ => String::new(),
        };
        all += &format!(
            "From a\nMessage-ID: <{number}@x>\nSubject: http://s{number}.example/\n{length}\n{body}"
        );
        all += &"\n".repeat(rng.below(3));
    }
    lines(&all, ["\n", "\r\n"][rng.below(2)])
}

#[test]
fn ranges_of_an_mbox_have_the_records_of_the_file_wherever_it_is_cut() {
    let folder = Folder::new();
    let path = folder.path("inbox");
    let mut rng = Rng::seeded(1738);
    let extractor = Extractor::new(Options::default());
    let scan = |borders: &[u64]| in_parts(&path, borders, &extractor);
    let mut records = 0;
    let mailboxes = std::env::var("URLSPOOL_MAILBOXES").map_or(5, |value| value.parse().unwrap());
    for _ in 0..mailboxes {
        let text = random_mbox(&mut rng);
        fs::write(&path, &text).unwrap();
        let size = text.len() as u64;
        let whole = scan(&[0, size]);
        records += whole.lines().count();
        for cut in 0..=size {
            assert_eq!(scan(&[0, cut, size]), whole, "cut at {cut}: {text:?}");
        }
        let tiny: Vec<u64> = (0..size).step_by(1 + rng.below(20)).chain([size]).collect();
        assert_eq!(scan(&tiny), whole, "{text:?}");
    }
    assert!(3 * mailboxes < records, "{records}");
}

/// More blank lines than are read to detect a format.
#[test]
fn blank_lines_before_the_first_message_are_in_no_other_range() {
    let folder = Folder::new();
    let message = |n: u32| format!("From a\nSubject: x\n\nhttp://h{n}.test/\n\n");
    let blank = 2 * SNIFF_BYTES;
    for nuls in [0, 3, 2 * SNIFF_BYTES + 7] {
        let text =
            "\0".repeat(nuls) + &"\n".repeat(blank) + &(0..3).map(message).collect::<String>();
        let path = folder.write("inbox", &text);
        let extractor = Extractor::new(Options::default());
        let (nuls, blank, size) = (nuls as u64, (nuls + blank) as u64, text.len() as u64);
        // Detection alone finds a text, but the range belongs to an mbox.
        let whole = in_parts(&path, &[0, 1, size], &extractor);
        assert_eq!(whole.lines().count(), 3);
        for cut in [
            2,
            nuls + 1,
            blank / 2 - 1,
            blank / 2,
            blank - 1,
            blank,
            blank + 1,
            size - 1,
        ] {
            let parts = in_parts(&path, &[0, cut, size], &extractor);
            assert_eq!(parts, whole, "{nuls} NUL bytes, cut at {cut}");
        }
        let step = SNIFF_BYTES / 3;
        let many: Vec<u64> = (0..size).step_by(step).chain([size]).collect();
        assert_eq!(in_parts(&path, &many, &extractor), whole);
    }
}

/// Returns the blocks of an mbox, each with its offset and its bytes, and the number of blocks that
/// were handed off unread.
fn blocks(path: &Path, may_hand_off: bool) -> (Vec<(u64, Vec<u8>)>, usize) {
    let input = Input::file(fs::File::open(path).unwrap());
    let Some(StreamStep::Stream { hint, stream, .. }) = Streams::new(
        input,
        Source::at(path.to_owned()),
        FormatHint::None,
        &Limits::default(),
    )
    .next() else {
        panic!("no stream");
    };
    let Ok(mut reader) = open(
        stream,
        Some(Format::Mbox),
        hint,
        Limits::default().message_bytes,
    )
    .unwrap() else {
        panic!("no blocks");
    };
    let (mut all, mut unread_blocks) = (Vec::new(), 0);
    loop {
        if let Some(unread) = may_hand_off.then(|| reader.next_unread_block()).flatten() {
            let mut bytes = b"earlier content of the buffer".to_vec();
            unread.range.read(&mut bytes).unwrap();
            all.push((unread.offset, bytes));
            unread_blocks += 1;
        } else if let Some(block) = reader.next_block().unwrap() {
            all.push((block.offset, block.bytes));
        } else {
            return (all, unread_blocks);
        }
    }
}

/// Blocks are cut at the same offsets, whether read at once or handed off.
#[test]
fn unread_blocks_are_cut_at_the_same_offsets_as_read_blocks() {
    const BLOCK: usize = 2 << 20;
    let folder = Folder::new();
    let path = folder.path("inbox");
    let long = format!("\n\nFrom {}\nA: b\n\n", "a".repeat(5_000));
    let long_field = format!("\n\nFrom a\nA: {}\n\n", "b".repeat(5_000));
    let marks = [
        "\n\nFrom a\nA: b\n\n",
        "\n\r\nFrom a\nA: b\n\n",
        "x\nFrom a\nA: b\n\n",
        "\n\nFrom a\nhttp://h.example/\n",
        "\nFrom u at h  Mon Jan  1 10:00:00 1996\nFrom: u at h (U)\n\n",
        "\n\nFrom a\nFrom b\nFrom c\nA: b\n",
        &long,
        &long_field,
    ];
    let mut rng = Rng::seeded(2026);
    let (mut unread, mut read) = (0, 0);
    for round in 0..40 {
        let mut text = ["From a\nA: b\n\n", "\n\nFrom a\nA: b\n\n"][round % 2].to_owned();
        for block in 1..=2 {
            // Near the end of a search window, or far before it.
            let window = [0, 0, 1, 2, 50][rng.below(5)] * (16 << 10);
            let place = block * BLOCK - window - [rng.below(24), rng.below(6_000)][rng.below(2)];
            text += &"words\n".repeat((place - text.len()) / 6);
            text += &"x".repeat(place - text.len());
            text += marks[rng.below(marks.len())];
            if rng.below(3) == 0 {
                text += &"words\n".repeat(rng.below(4));
                text += marks[rng.below(marks.len())];
            }
        }
        text += &"words\n".repeat([20, 40_000, 400_000][rng.below(3)]);
        fs::write(&path, &text).unwrap();
        let (want, none) = blocks(&path, false);
        let (have, some) = blocks(&path, true);
        assert_eq!(none, 0);
        let borders =
            |blocks: &[(u64, Vec<u8>)]| blocks.iter().map(|(at, _)| *at).collect::<Vec<_>>();
        assert_eq!(borders(&have), borders(&want), "round {round}");
        assert!(have == want, "round {round}");
        let bytes: Vec<&[u8]> = have.iter().map(|(_, bytes)| &bytes[..]).collect();
        assert!(bytes.concat() == text.as_bytes(), "round {round}");
        unread += some;
        read += have.len() - some;
    }
    assert!(unread > 10 && read > 25, "{unread} unread, {read} read");
}

#[test]
fn splits_are_printed_and_read() {
    let folder = Folder::new();
    let mails = mails();
    mbox(&mails[..30], "\n", &folder.path("a"), Quoting::Again, false);
    mbox(&mails[..30], "\n", &folder.path("b"), Quoting::Never, true);
    maildir(&mails[30..40], "\n", &folder.path("c"));
    let urlspool = |args: &[&str]| {
        let output = program_command()
            .args(args)
            .current_dir(folder.root())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    };
    let whole = urlspool(&["scan", "-q", "a", "b", "c"]);
    for size in ["1000", "7KiB", "1GB"] {
        let items = urlspool(&["splits", "--size", size, "a", "b", "c"]);
        folder.write("items", &items);
        assert!(
            urlspool(&["scan", "-q", "-j2", "--splits", "items"]) == whole,
            "{size}"
        );
        let count = String::from_utf8(items).unwrap().lines().count();
        assert_eq!(count > 12, size != "1GB", "{count} items of {size}");
    }
}
