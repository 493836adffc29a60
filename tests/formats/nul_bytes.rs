//! Messages after NUL bytes.

use std::fs;
use std::io::{Seek, SeekFrom, Write};

use serde_json::Value;
use urlspool::internals::limits::SNIFF_BYTES;

use crate::scene::{Folder, done, ended, program_command};

/// NUL bytes before the first message, stored or a hole, are not part of it.
#[test]
fn messages_after_nul_bytes_are_found() {
    const MESSAGES: usize = 300;
    let folder = Folder::new();
    let path = folder.path("inbox");
    let words = "words and words\n".repeat(20);
    let message = |n: usize| format!("From a\nSubject: x\n\nhttp://h{n}.example/\n{words}\n");
    let mbox = (0..MESSAGES).map(message).collect::<Vec<_>>().concat();
    assert!(mbox.len() > SNIFF_BYTES);
    for zeros in [1, 65_535, 65_536, 65_537, 200_000] {
        for is_stored in [true, false] {
            fs::write(
                &path,
                if is_stored {
                    vec![0; zeros]
                } else {
                    Vec::new()
                },
            )
            .unwrap();
            let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.seek(SeekFrom::Start(zeros as u64)).unwrap();
            file.write_all(mbox.as_bytes()).unwrap();
            let output = done(&["scan", "-q", path.to_str().unwrap()]);
            let records = output.text();
            let first: Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
            assert_eq!(
                records.lines().count(),
                MESSAGES,
                "{zeros} zeros, stored: {is_stored}"
            );
            assert_eq!(
                first["source"]["start"],
                zeros + mbox.find("http").unwrap(),
                "{zeros} zeros, stored: {is_stored}"
            );
        }
    }
}

/// Rows 93 to 95: an image that begins with NUL bytes is binary, and is told so at the speed of reading.
#[test]
fn a_binary_file_after_nul_bytes_is_skipped() {
    let binary: Vec<u8> = (0..200_000_u32).map(|n| (n % 7) as u8).collect();
    for nuls in [1_000, 70_000, 3_000_000] {
        let folder = Folder::with("image", [vec![0; nuls], binary.clone()].concat());
        let path = folder.path("image");
        for arguments in [&["scan"][..], &["scan", "--dry-run", "--verbose"]] {
            let mut command = program_command();
            let output = ended(command.args(arguments).arg(&path), b"");
            assert_eq!((output.status, output.text()), (Some(0), ""));
            assert!(output.stderr.contains("binary"), "{}", output.stderr);
        }
    }
}
