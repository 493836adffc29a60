//! Compressed files and archives: reading from memory and byte by byte produces the same steps, and
//! no more bytes than the limits allow.
#![no_main]

use std::io::{self, Read};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use urlspool_text::limits::Limits;
use urlspool_text::origin::{FormatHint, Source};
use urlspool_sources::read::{Input, StreamStep, Streams};

struct ByteByByte(io::Cursor<Vec<u8>>);

impl Read for ByteByByte {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(1);
        self.0.read(&mut buffer[..len])
    }
}

static LIMITS: LazyLock<Limits> = LazyLock::new(|| Limits {
    container_depth: 3,
    archive_entries: 20,
    member_name_bytes: 100,
    window_bytes: 1 << 20,
    unpack_ratio: 50,
    unpack_ratio_from_bytes: 1 << 16,
    nested_ratio: 50,
    nested_ratio_from_bytes: 1 << 16,
    ..Limits::default()
});

/// Returns descriptions of the steps, after checking the number of decompressed bytes.
fn steps(input: Input, packed: usize) -> Vec<String> {
    let source = Source::at("f".into());
    let mut found = Vec::new();
    let mut unpacked = 0;
    for step in Streams::new(input, source, FormatHint::None, &LIMITS) {
        found.push(match step {
            StreamStep::Stream {
                source, mut stream, ..
            } => {
                let mut bytes = Vec::new();
                let error = stream
                    .read_to_end(&mut bytes)
                    .err()
                    .map(|error| error.kind());
                unpacked += bytes.len();
                // Each level may decompress up to the ratio, after the exempt bytes.
                let most = (LIMITS.unpack_ratio_from_bytes + 50 * packed + (1 << 16)) * 60 * 20;
                assert!(unpacked <= most, "{unpacked} of {packed}");
                format!("{:?} {error:?} {bytes:?}", source.member())
            }
            StreamStep::Skipped { source, reason } => {
                format!("skipped {:?} {reason:?}", source.member())
            }
            StreamStep::ArchiveRead(source) => format!("read {:?}", source.member()),
            StreamStep::Failed(event) => format!("{event:?}"),
            StreamStep::ArchiveBroken { source, kind } => {
                format!("broken {:?} {kind:?}", source.member())
            }
            StreamStep::Warning(event) => format!("{event:?}"),
        });
        assert!(found.len() < 10_000);
    }
    found
}

fuzz_target!(|packed: &[u8]| {
    let in_memory = steps(Input::memory(packed.to_vec()), packed.len());
    let stream = ByteByByte(io::Cursor::new(packed.to_vec()));
    let streamed = steps(Input::stream(stream), packed.len());
    // In memory, a zip is read by its directory; in a stream, by the headers of its members. In
    // damaged data, zlib may stop at a different byte depending on the size of its input.
    let is_zip = packed.windows(2).any(|bytes| bytes == b"PK");
    let is_damaged = in_memory
        .iter()
        .chain(&streamed)
        .any(|step| step.contains("InvalidData") || step.contains("Damage"));
    // The offset at which the ratio is exceeded depends on how much of the input was read ahead.
    let is_limited = in_memory
        .iter()
        .chain(&streamed)
        .any(|step| step.contains("Some(Other)") || step.contains("kind: Limit"));
    if !is_zip && !is_damaged && !is_limited {
        assert_eq!(in_memory, streamed);
    }
});
