//! WARC files: in memory and byte by byte the same steps, and no damage hides the record after it.
#![no_main]

use std::io::{self, Read};

use libfuzzer_sys::fuzz_target;
use urlspool_sources::read::{Input, StreamStep, Streams};
use urlspool_text::limits::Limits;
use urlspool_text::origin::{FormatHint, Source};

/// A record after whatever was read before it.
const LAST: &[u8] = b"\r\n\r\nWARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://last/\r\n\
    Content-Length: 9\r\n\r\n<p>last\r\n\r\n\r\n";

struct ByteByByte(io::Cursor<Vec<u8>>);

impl Read for ByteByByte {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(1);
        self.0.read(&mut buffer[..len])
    }
}

/// Returns descriptions of the steps. `reads` is `false` to skip every other member.
fn steps(input: Input, reads_all: bool) -> Vec<String> {
    let limits = Limits { container_depth: 1, ..Limits::default() };
    let source = Source::at("f".into());
    let mut found = Vec::new();
    for step in Streams::new(input, source, FormatHint::None, &limits) {
        found.push(match step {
            StreamStep::Stream { source, hint, mut stream } => {
                let (mut bytes, mut error) = (Vec::new(), None);
                if reads_all || found.len() % 2 == 0 {
                    error = stream.read_to_end(&mut bytes).err();
                }
                format!("{:?} {hint:?} {:?} {bytes:?} {error:?}", source.member(), source.page())
            }
            StreamStep::Skipped { source, reason } => format!("{:?} {reason:?}", source.member()),
            StreamStep::ArchiveRead(source) => format!("read {:?}", source.member()),
            StreamStep::Failed(event) | StreamStep::Warning(event) => format!("{event:?}"),
            StreamStep::ArchiveBroken { source, kind } => format!("{:?} {kind:?}", source.member()),
        });
    }
    found
}

fuzz_target!(|damaged: &[u8]| {
    let warc = [b"WARC/1.0\r\n", damaged, LAST].concat();
    let in_memory = steps(Input::memory(warc.clone()), true);
    let stream = ByteByByte(io::Cursor::new(warc.clone()));
    assert_eq!(in_memory, steps(Input::stream(stream), true));
    let offset = (warc.len() - LAST.len() + 4).to_string();
    let last = format!("{:?}", [offset.as_bytes(), b"http://last/"]);
    for found in [in_memory, steps(Input::memory(warc), false)] {
        assert!(found.iter().any(|step| step.starts_with(&last)), "{found:?}");
    }
});
