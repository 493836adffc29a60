//! Containers that reach a limit.

use std::io::Write;

use urlspool::internals::diagnostic::DiagnosticKind;
use urlspool::internals::limits::Limits;

use super::{Zipped, gzip, mail, mbox, scan_bytes, scan_limited, tar, zip};

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

/// A zip of these members, with these flags.
fn zipped(members: &[(&str, &[u8])], flags: u16) -> Vec<u8> {
    let zipped = members.iter().map(|&(name, bytes)| Zipped {
        flags,
        ..Zipped::new(name, bytes)
    });
    zip(&zipped.collect::<Vec<_>>())
}

/// Row 117: each member is below the limit on its own ratio, and the balance is the file's.
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
        // Its sizes are in descriptors after the members, and no directory is sought.
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
        // The others take two of the four containers for each level.
        let levels = if number == 0 { 2 } else { 1 };
        let inner = (0..levels).fold(leaf, |inner, _| fan(&inner));
        let first = mail(1);
        let all: Vec<_> = (0..16).map(|_| ("x", &inner[..])).collect();
        let bomb = pack(&[&[("first", first.as_bytes())], &all[..]].concat());
        let output = scan_limited(&bomb, limits);
        assert_eq!(output.urls(), ["http://n1.example/"], "{number}");
        assert_eq!(
            output.kinds(),
            [DiagnosticKind::Limit],
            "{number}: {:?}",
            output.events
        );
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

/// Row 118: beginning a stream, frame or entry counts, however little is in it.
#[test]
fn empty_streams_and_entries_count_as_unpacked_bytes() {
    type Pack = fn(&[u8]) -> Vec<u8>;
    let codecs: [Pack; 5] = [
        gzip,
        |bytes| zstd::encode_all(bytes, 1).unwrap(),
        |bytes| {
            let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        },
        |bytes| {
            let mut writer = liblzma::write::XzEncoder::new(Vec::new(), 0);
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        },
        |bytes| {
            let mut writer = lz4_flex::frame::FrameEncoder::new(Vec::new());
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        },
    ];
    let limits = Limits {
        unpack_ratio: 40,
        unpack_ratio_from_bytes: 1 << 20,
        ..Limits::default()
    };
    let check = |name: &str, packed: &[u8]| {
        let output = scan_limited(packed, limits);
        assert_eq!(output.urls(), ["http://n1.example/"], "{name}");
        assert_eq!(
            output.kinds(),
            [DiagnosticKind::Limit],
            "{name}: {:?}",
            output.events
        );
    };
    for (number, pack) in codecs.into_iter().enumerate() {
        let empty = pack(b"").repeat(2_000);
        let first = mail(1);
        check(
            &number.to_string(),
            &[pack(first.as_bytes()), empty, pack(b"http://last.example/")].concat(),
        );
        // As pbzip2, pzstd and bgzip write them.
        let pieces: Vec<_> = mbox(4_000).chunks(20_000).map(pack).collect();
        let output = scan_bytes(&pieces.concat());
        assert_eq!(
            (output.urls().len(), output.events),
            (4_000, vec![]),
            "{number}"
        );
    }
    let first = mail(1);
    let mut entries = vec![("x", &b""[..]); 2_000];
    entries.insert(0, ("first", first.as_bytes()));
    check("tar", &gzip(&tar(&entries)));
    check("zip", &gzip(&zipped(&entries, 0)));
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
