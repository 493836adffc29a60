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
