//! Tests of decompression.

use std::io::{self, Write};

use super::*;

fn no_limits() -> UnpackLimits {
    let ratio = UnpackRatio::new(usize::MAX, usize::MAX);
    UnpackLimits {
        ratio,
        window_bytes: 128 << 20,
        balance: UnpackBalance::new("a test", &ByteCount::default(), ratio),
    }
}

fn packed(compression: Compression, text: &[u8]) -> Vec<u8> {
    match compression {
        Compression::Gzip => {
            let mut writer =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            writer.write_all(text).unwrap();
            writer.finish().unwrap()
        }
        Compression::Bzip2 => {
            let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            writer.write_all(text).unwrap();
            writer.finish().unwrap()
        }
        Compression::Xz => {
            let mut writer = liblzma::write::XzEncoder::new(Vec::new(), 1);
            writer.write_all(text).unwrap();
            writer.finish().unwrap()
        }
        Compression::Zstd => {
            let mut writer = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
            writer.include_checksum(true).unwrap();
            writer.write_all(text).unwrap();
            writer.finish().unwrap()
        }
        Compression::Lz4 => {
            let mut writer = lz4_flex::frame::FrameEncoder::new(Vec::new());
            writer.write_all(text).unwrap();
            writer.finish().unwrap()
        }
        Compression::Compress => super::lzw::tests::packed(text, 16),
        Compression::Deflate => unreachable!("it has no magic"),
    }
}

/// Returns the unpacked bytes and the message of the error after them.
fn read_back(packed_bytes: &[u8], limits: UnpackLimits) -> (Vec<u8>, Option<String>) {
    let compression = Compression::of(packed_bytes).unwrap();
    let mut stream = decompress(
        Box::new(io::Cursor::new(packed_bytes.to_vec())),
        compression,
        limits,
    );
    let mut out = Vec::new();
    let error = stream
        .read_to_end(&mut out)
        .err()
        .map(|error| error.to_string());
    assert_eq!(
        stream.read(&mut [0; 8]).unwrap(),
        0,
        "an error is returned once"
    );
    (out, error)
}

fn text() -> Vec<u8> {
    let line = |number: u32| {
        format!(
            "{number} http://a.example/{}\n",
            number.wrapping_mul(2_654_435_761)
        )
    };
    (0..5_000)
        .flat_map(|number| line(number).into_bytes())
        .collect()
}

#[test]
fn every_format_is_detected_and_unpacked() {
    for compression in Compression::ALL {
        let packed_bytes = packed(compression, &text());
        assert_eq!(Compression::of(&packed_bytes), Some(compression));
        assert_eq!(
            read_back(&packed_bytes, no_limits()),
            (text(), None),
            "{compression:?}"
        );
    }
}

#[test]
fn all_concatenated_members_are_read() {
    for compression in Compression::ALL
        .into_iter()
        .filter(|&one| one != Compression::Compress)
    {
        let mut packed_bytes = packed(compression, b"one ");
        packed_bytes.extend(packed(compression, b""));
        packed_bytes.extend(packed(compression, b"two"));
        assert_eq!(
            read_back(&packed_bytes, no_limits()),
            (b"one two".to_vec(), None),
            "{compression:?}"
        );
        packed_bytes.extend([0; 1_000]);
        assert_eq!(
            read_back(&packed_bytes, no_limits()),
            (b"one two".to_vec(), None),
            "{compression:?} and zeros"
        );
        packed_bytes.extend(b"garbage");
        let (out, error) = read_back(&packed_bytes, no_limits());
        assert_eq!(out, b"one two", "{compression:?} and garbage");
        assert!(error.unwrap().contains("after its end"));
    }
}

#[test]
fn a_truncated_stream_returns_its_content_and_then_an_error() {
    for compression in Compression::ALL
        .into_iter()
        .filter(|&one| one != Compression::Compress)
    {
        let (packed_bytes, whole) = (packed(compression, &text()), text());
        let mut longest = 0;
        for end in (2..packed_bytes.len())
            .step_by(packed_bytes.len() / 25)
            .chain(packed_bytes.len() - 9..packed_bytes.len())
        {
            let (out, error) = read_back(&packed_bytes[..end], no_limits());
            assert!(
                whole.starts_with(&out) && out.len() >= longest,
                "{compression:?} at {end}"
            );
            assert!(
                error.is_some(),
                "{compression:?} at {end} of {}",
                packed_bytes.len()
            );
            longest = out.len();
        }
        assert!(longest > whole.len() / 2, "{compression:?}");
    }
}

#[test]
fn bytes_before_damage_are_unpacked() {
    let whole = text();
    for compression in [Compression::Gzip, Compression::Zstd, Compression::Xz] {
        let mut packed_bytes = packed(compression, &whole);
        let middle = packed_bytes.len() / 2;
        packed_bytes[middle..middle + 64].fill(0xFF);
        let (out, error) = read_back(&packed_bytes, no_limits());
        assert!(error.is_some(), "{compression:?}");
        let common = out
            .iter()
            .zip(&whole)
            .take_while(|(one, other)| one == other)
            .count();
        // xz and zstd verify whole blocks.
        let expected = if compression == Compression::Gzip {
            whole.len() / 3
        } else {
            0
        };
        assert!(common >= expected, "{compression:?}: {common}");
    }
}

#[test]
fn a_wrong_checksum_is_damage() {
    for compression in [Compression::Gzip, Compression::Bzip2, Compression::Xz] {
        let mut packed_bytes = packed(compression, b"http://a.example/");
        let at = packed_bytes.len()
            - if compression == Compression::Xz {
                12
            } else {
                6
            };
        packed_bytes[at] ^= 0x55;
        assert!(
            read_back(&packed_bytes, no_limits()).1.is_some(),
            "{compression:?}"
        );
    }
}

#[test]
fn windows_above_the_limit_are_rejected() {
    let narrow = |window_bytes| UnpackLimits {
        window_bytes,
        ..no_limits()
    };
    let text = text();
    let mut zstd = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    zstd.window_log(20).unwrap();
    zstd.write_all(&text).unwrap();
    for packed_bytes in [zstd.finish().unwrap(), packed(Compression::Xz, &text)] {
        let window_bytes = if packed_bytes[0] == 0xFD { 0 } else { 64 << 10 };
        let (_, error) = read_back(&packed_bytes, narrow(window_bytes));
        assert!(
            error
                .as_deref()
                .is_some_and(|error| error.contains("larger window")),
            "{error:?}"
        );
    }
}

#[test]
fn bombs_stop_at_the_ratio() {
    let ratio = UnpackRatio {
        max: 100,
        from_bytes: 128 << 10,
    };
    let limits = || UnpackLimits {
        ratio,
        ..no_limits()
    };
    for compression in Compression::ALL
        .into_iter()
        .filter(|&one| one != Compression::Lz4)
    {
        let packed_bytes = packed(compression, &vec![0; 2 << 20]);
        let (out, error) = read_back(&packed_bytes, limits());
        let max_bytes = (packed_bytes.len() * 100 + (256 << 10)).min(15 << 17);
        assert!(
            out.len() < max_bytes,
            "{compression:?}: {} of {}",
            out.len(),
            packed_bytes.len()
        );
        assert!(error.unwrap().contains("100 times"));
    }
}

#[test]
fn a_packed_batch_is_detected_after_its_first_line() {
    let batch = [b"#! cunbatch\n".to_vec(), packed(Compression::Gzip, b"x")].concat();
    assert_eq!(
        (Compression::of(&batch), batch_line_bytes(&batch)),
        (Some(Compression::Gzip), 12)
    );
    assert_eq!(Compression::of(b"#! rnews 12\nPath: a\n"), None);
}

#[test]
fn text_is_not_detected_as_compressed() {
    for text in ["", "B", "BZh is a bzip2 magic", "PK", "Path: a!b", "\u{1f}"] {
        assert_eq!(Compression::of(text.as_bytes()), None, "{text:?}");
    }
}

#[test]
fn a_stream_above_its_ratio_ends_with_an_error() {
    let packed = ByteCount::default();
    packed.set(10);
    let ratio = UnpackRatio {
        max: 100,
        from_bytes: 500,
    };
    let limits = UnpackLimits {
        ratio,
        ..no_limits()
    };
    let mut reader = RatioLimitReader {
        inner: Box::new(io::repeat(0).take(10_000)),
        packed,
        unpacked: 0,
        limits,
        ended: false,
    };
    let mut seen = Vec::new();
    let mut buffer = [0; 10];
    let error = loop {
        match reader.read(&mut buffer) {
            Ok(read) => seen.extend_from_slice(&buffer[..read]),
            Err(error) => break error,
        }
    };
    assert!(seen.len() >= 1_000 && seen.len() <= 1_130, "{}", seen.len());
    assert!(error.to_string().contains("100 times"));
}
