//! Containers that reach a limit.

use std::io::Write;

use urlspool_text::diagnostic::DiagnosticKind;
use urlspool_text::limits::Limits;

use super::{Zipped, gzip, mail, mbox, scan_limited, tar, zip};

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
        output.check_kinds(&[DiagnosticKind::Limit]);
        assert!(
            output.summary.bytes_unpacked < 2 * FROM_BYTES as u64,
            "{number}: {}",
            output.summary.bytes_unpacked
        );
    }
    // Gzip has the limit too. Text stays far below it, even in huge archives.
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

/// Builds a zip of these members, with these flags.
fn zipped(members: &[(&str, &[u8])], flags: u16) -> Vec<u8> {
    let zipped = members.iter().map(|&(name, bytes)| Zipped {
        flags,
        ..Zipped::new(name, bytes)
    });
    zip(&zipped.collect::<Vec<_>>())
}

/// Row 117: each member is below its own limit on the ratio, but the whole file shares one balance.
#[test]
fn members_below_their_limits_share_the_balance_of_the_file() {
    type Pack = fn(&[(&str, &[u8])]) -> Vec<u8>;
    const LEAF_BYTES: usize = 64 << 10;
    let limits = Limits {
        unpack_ratio_from_bytes: 1 << 20,
        unpack_ratio: 20,
        nested_ratio_from_bytes: 1 << 20,
        ..Limits::default()
    };
    let packs: [Pack; 4] = [
        |members| zipped(members, 0),
        // The sizes are in descriptors after the members, and the directory is not read.
        |members| gzip(&zipped(members, 8)),
        |members| gzip(&tar(members)),
        |members| {
            let packed: Vec<_> = members.iter().map(|(_, bytes)| gzip(bytes)).collect();
            let named = members.iter().zip(&packed);
            tar(&named
                .map(|((name, _), bytes)| (*name, &bytes[..]))
                .collect::<Vec<_>>())
        },
    ];
    for (number, pack) in packs.into_iter().enumerate() {
        let leaf = vec![b'a'; LEAF_BYTES];
        let fan = |inner: &[u8]| pack(&[("a", inner), ("b", inner), ("c", inner), ("d", inner)]);
        // The other formats use two of the four containers per level.
        let levels = if number == 0 { 2 } else { 1 };
        let inner = (0..levels).fold(leaf, |inner, _| fan(&inner));
        let first = mail(1);
        let all: Vec<_> = (0..16).map(|_| ("x", &inner[..])).collect();
        let bomb = pack(&[&[("first", first.as_bytes())], &all[..]].concat());
        let output = scan_limited(&bomb, limits);
        assert_eq!(output.urls(), ["http://n1.example/"], "{number}");
        output.check_kinds(&[DiagnosticKind::Limit]);
        let event = &output.events[0];
        assert!(!event.source.member().is_empty(), "{number}: {event:?}");
        let max = (1 << 20) + 20 * bomb.len() + 2 * LEAF_BYTES;
        assert!(output.summary.bytes_unpacked < max as u64, "{number}");
        assert!(max < 16 * 4usize.pow(levels) * LEAF_BYTES, "{number}");
        assert_eq!(
            scan_limited(&bomb, Limits::default()).events,
            [],
            "{number}"
        );
    }
}
