//! Zip archives: wrong headers, Zip64, streams.

use urlspool_text::diagnostic::DiagnosticKind;
use urlspool_text::limits::Limits;

use super::{Zipped, deflate, gzip, mail, mbox, scan_bytes, scan_limited, tar, zip};

/// Row 86.
#[test]
fn zips_with_wrong_headers_yield_the_rest_and_one_event() {
    let (one, two) = (mail(1), mail(2));
    let member = |name, text: &str| Zipped::new(name, text.as_bytes());
    let whole = zip(&[member("1", &one), member("2", &two)]);
    assert_eq!(scan_bytes(&whole).urls().len(), 2);
    let (damage, skip) = (vec![DiagnosticKind::Damage], vec![DiagnosticKind::Skip]);
    let first = || member("1", &one);
    for (wrong, urls, events) in [
        (Zipped { crc: 1, ..first() }, 2, &damage),
        (Zipped { size: 7, ..first() }, 2, &damage),
        // Encrypted.
        (
            Zipped {
                flags: 1,
                ..first()
            },
            1,
            &skip,
        ),
        // An unknown compression.
        (
            Zipped {
                method: 99,
                ..first()
            },
            1,
            &skip,
        ),
        // Sizes after the member.
        (
            Zipped {
                flags: 8,
                ..first()
            },
            2,
            &vec![],
        ),
    ] {
        let output = scan_bytes(&zip(&[wrong, Zipped::new("2", two.as_bytes())]));
        assert_eq!((output.urls().len(), &output.kinds()), (urls, events));
    }

    // The second member's entry refers to the first member's bytes.
    let mut overlapping = whole.clone();
    let entry = memchr::memmem::rfind(&overlapping, b"PK\x01\x02").unwrap();
    overlapping[entry + 42..entry + 46].fill(0);
    let output = scan_bytes(&overlapping);
    assert_eq!((output.urls().len(), output.kinds()), (1, damage));

    let few = Limits {
        archive_entries: 1,
        ..Limits::default()
    };
    let output = scan_limited(&whole, few);
    let limit = vec![DiagnosticKind::Limit];
    assert_eq!((output.urls().len(), output.kinds()), (1, limit));
    let output = scan_bytes(&[&b"#!/bin/sh\n"[..], &whole].concat());
    // A program followed by a zip is not a zip.
    assert_eq!(output.urls().len(), 0);
}

/// Builds the zip of one member with its numbers in zip64 fields and marks in the usual fields.
fn zip64(name: &str, bytes: &[u8]) -> Vec<u8> {
    const MARK: [u8; 4] = [0xFF; 4];
    let packed = deflate(bytes);
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    // The fields between the version and the length of the name. The sizes are marks.
    let head = [
        &[0, 0, 8, 0, 0, 0, 0, 0][..],
        &crc.sum().to_le_bytes(),
        &MARK,
        &MARK,
    ]
    .concat();
    let field = |numbers: &[u64]| {
        let numbers: Vec<u8> = numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect();
        [
            &1_u16.to_le_bytes()[..],
            &(numbers.len() as u16).to_le_bytes(),
            &numbers,
        ]
        .concat()
    };
    let sizes = [bytes.len() as u64, packed.len() as u64];
    let (local, central) = (field(&sizes), field(&[sizes[0], sizes[1], 0]));
    let lengths = |field: &[u8]| {
        [
            (name.len() as u16).to_le_bytes(),
            (field.len() as u16).to_le_bytes(),
        ]
        .concat()
    };
    let mut out = [
        b"PK\x03\x04\x2D\0",
        &head[..],
        &lengths(&local),
        name.as_bytes(),
        &local,
        &packed,
    ]
    .concat();
    let begins = out.len() as u64;
    out.extend(
        [
            b"PK\x01\x02\x2D\x03\x2D\0",
            &head[..],
            &lengths(&central),
            &[0; 10],
            &MARK,
        ]
        .concat(),
    );
    out.extend([name.as_bytes(), &central].concat());
    let end = out.len() as u64;
    // The zip64 end: its size, versions, disks and entries, then size and offset of the directory.
    out.extend(
        [
            b"PK\x06\x06",
            &44_u64.to_le_bytes()[..],
            &[0x2D, 0, 0x2D, 0],
            &[0; 8],
        ]
        .concat(),
    );
    out.extend([1, 1, end - begins, begins].map(u64::to_le_bytes).concat());
    out.extend(
        [
            b"PK\x06\x07",
            &[0; 4][..],
            &end.to_le_bytes(),
            &1_u32.to_le_bytes(),
        ]
        .concat(),
    );
    out.extend([b"PK\x05\x06", &[0; 4][..], &[0xFF; 12], &[0; 2]].concat());
    out
}

/// Row 86: sizes and offsets in zip64 fields are used, both in the directory and before the member.
#[test]
fn zip64_sizes_and_offsets_are_read() {
    let bytes = zip64("m.mbox", &mbox(30));
    for output in [
        scan_bytes(&bytes),
        scan_bytes(&gzip(&bytes)),
        scan_bytes(&tar(&[("z", &bytes)])),
    ] {
        assert_eq!((output.urls().len(), output.kinds()), (30, vec![]));
    }
    // A wrong size is damage here too.
    let mut wrong = bytes;
    let at = memchr::memmem::rfind(&wrong, b"m.mbox\x01\0").unwrap() + 10;
    wrong[at] ^= 1;
    let output = scan_bytes(&wrong);
    assert_eq!(
        (output.urls().len(), output.kinds()),
        (30, vec![DiagnosticKind::Damage])
    );
}

#[test]
fn a_zip_in_a_stream_is_read_by_its_local_headers() {
    let zips = [
        zip(&[
            Zipped::new("1", mail(1).as_bytes()),
            Zipped::new("2", mail(2).as_bytes()),
        ]),
        zip(&[
            Zipped {
                flags: 8,
                ..Zipped::new("1", mail(1).as_bytes())
            },
            Zipped::new("2", mail(2).as_bytes()),
        ]),
    ];
    for bytes in zips {
        let output = scan_bytes(&gzip(&bytes));
        assert_eq!((output.urls().len(), output.kinds()), (2, vec![]));
        // Without a directory the zip is damaged, but its members are read.
        let directory = memchr::memmem::find(&bytes, b"PK\x01\x02").unwrap();
        let output = scan_bytes(&bytes[..directory]);
        assert_eq!(
            (output.urls().len(), output.kinds()),
            (2, vec![DiagnosticKind::Damage])
        );
    }
}
