use std::io::{self, Write};

use super::*;

const FREE: Allowed = Allowed {
    ratio: None,
    window_bytes: 128 << 20,
};

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

/// What comes out, and the sentence of the error behind it.
fn read_back(octets: &[u8], allowed: Allowed) -> (Vec<u8>, Option<String>) {
    let compression = Compression::of(octets).unwrap();
    let mut stream = unpacked(
        Box::new(io::Cursor::new(octets.to_vec())),
        compression,
        allowed,
    );
    let mut out = Vec::new();
    let error = stream
        .read_to_end(&mut out)
        .err()
        .map(|error| error.to_string());
    assert_eq!(
        stream.read(&mut [0; 8]).unwrap(),
        0,
        "an error is said once"
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
    (0..10_000)
        .flat_map(|number| line(number).into_bytes())
        .collect()
}

#[test]
fn every_compression_is_told_and_undone() {
    for compression in Compression::ALL {
        let octets = packed(compression, &text());
        assert_eq!(Compression::of(&octets), Some(compression));
        assert_eq!(read_back(&octets, FREE), (text(), None), "{compression:?}");
    }
}

#[test]
fn pieces_one_behind_the_other_are_read_to_the_last() {
    for compression in Compression::ALL
        .into_iter()
        .filter(|&one| one != Compression::Compress)
    {
        let mut octets = packed(compression, b"one ");
        octets.extend(packed(compression, b""));
        octets.extend(packed(compression, b"two"));
        assert_eq!(
            read_back(&octets, FREE),
            (b"one two".to_vec(), None),
            "{compression:?}"
        );
        octets.extend([0; 1_000]);
        assert_eq!(
            read_back(&octets, FREE),
            (b"one two".to_vec(), None),
            "{compression:?} and zeros"
        );
        octets.extend(b"garbage");
        let (out, error) = read_back(&octets, FREE);
        assert_eq!(out, b"one two", "{compression:?} and garbage");
        assert!(error.unwrap().contains("behind its end"));
    }
}

#[test]
fn the_more_there_is_the_more_comes_out_and_what_is_cut_off_is_said_to_be() {
    for compression in Compression::ALL
        .into_iter()
        .filter(|&one| one != Compression::Compress)
    {
        let (octets, whole) = (packed(compression, &text()), text());
        let mut longest = 0;
        for end in (2..octets.len())
            .step_by(octets.len() / 25)
            .chain(octets.len() - 9..octets.len())
        {
            let (out, error) = read_back(&octets[..end], FREE);
            assert!(
                whole.starts_with(&out) && out.len() >= longest,
                "{compression:?} at {end}"
            );
            assert!(
                error.is_some(),
                "{compression:?} at {end} of {}",
                octets.len()
            );
            longest = out.len();
        }
        assert!(longest > whole.len() / 2, "{compression:?}");
    }
}

#[test]
fn damage_takes_nothing_of_what_stands_before_it() {
    let whole = text();
    for compression in [Compression::Gzip, Compression::Zstd, Compression::Xz] {
        let mut octets = packed(compression, &whole);
        let middle = octets.len() / 2;
        octets[middle..middle + 64].fill(0xFF);
        let (out, error) = read_back(&octets, FREE);
        assert!(error.is_some(), "{compression:?}");
        let common = out
            .iter()
            .zip(&whole)
            .take_while(|(one, other)| one == other)
            .count();
        // xz and zstd look at whole blocks.
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
        let mut octets = packed(compression, b"http://a.example/");
        let at = octets.len()
            - if compression == Compression::Xz {
                12
            } else {
                6
            };
        octets[at] ^= 0x55;
        assert!(read_back(&octets, FREE).1.is_some(), "{compression:?}");
    }
}

#[test]
fn windows_beyond_the_limit_are_refused() {
    let narrow = Allowed {
        ratio: None,
        window_bytes: 64 << 10,
    };
    let text = text();
    let mut zstd = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    zstd.window_log(20).unwrap();
    zstd.write_all(&text).unwrap();
    for octets in [zstd.finish().unwrap(), packed(Compression::Xz, &text)] {
        let (_, error) = read_back(
            &octets,
            if octets[0] == 0xFD {
                Allowed {
                    window_bytes: 0,
                    ..narrow
                }
            } else {
                narrow
            },
        );
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
    let ratio = Ratio {
        most: 100,
        from_bytes: 1 << 20,
    };
    let allowed = Allowed {
        ratio: Some(ratio),
        ..FREE
    };
    for compression in Compression::ALL
        .into_iter()
        .filter(|&one| one != Compression::Lz4)
    {
        let octets = packed(compression, &vec![0; 16 << 20]);
        let (out, error) = read_back(&octets, allowed);
        let most = (octets.len() * 100 + (2 << 20)).min(15 << 20);
        assert!(
            out.len() < most,
            "{compression:?}: {} of {}",
            out.len(),
            octets.len()
        );
        assert!(error.unwrap().contains("100 times"));
    }
}

#[test]
fn packed_batches_are_named() {
    assert_eq!(
        packed_news_batch(b"#! cunbatch\n\x1F\x9D"),
        Some(("cunbatch", 12))
    );
    assert_eq!(
        packed_news_batch(b"#! gunbatch \r\n"),
        Some(("gunbatch", 14))
    );
    assert_eq!(packed_news_batch(b"#! rnews 12\n"), None);
    assert_eq!(packed_news_batch(b"#! /bin/sh\n"), None);
}

#[test]
fn a_packed_batch_is_told_by_what_stands_behind_its_line() {
    let batch = [b"#! cunbatch\n".to_vec(), packed(Compression::Gzip, b"x")].concat();
    assert_eq!(
        (Compression::of(&batch), batch_line(&batch)),
        (Some(Compression::Gzip), 12)
    );
    assert_eq!(Compression::of(b"#! rnews 12\nPath: a\n"), None);
}

#[test]
fn text_is_not_taken_for_compressed() {
    for text in ["", "B", "BZh is a bzip2 magic", "PK", "Path: a!b", "\u{1f}"] {
        assert_eq!(Compression::of(text.as_bytes()), None, "{text:?}");
    }
}
