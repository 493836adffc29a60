//! Tar archives: kinds of members, damage.

use urlspool_text::diagnostic::DiagnosticKind;

use super::{gzip, mail, mbox, places, scan_bytes, tar, tar_member};

/// Row 87.
#[test]
fn only_files_of_a_tar_are_read_and_names_are_labels() {
    let text = mail(1);
    let file = |name: &str| tar_member(name, b'0', text.len(), text.as_bytes());
    let mut bytes: Vec<u8> = [file("../up"), file("/etc/passwd")].concat();
    for (name, kind) in [
        ("s", b'2'),
        ("h", b'1'),
        ("c", b'3'),
        ("b", b'4'),
        ("f", b'6'),
        ("dir/", b'5'),
    ] {
        bytes.extend(tar_member(name, kind, 0, b""));
    }
    bytes.extend(tar_member("sparse", b'S', text.len(), text.as_bytes()));
    // The size in a pax header overrides the member's own size, which is zero.
    let record = |pair: &str| format!("{} {pair}\n", pair.len() + 4);
    bytes.extend(
        tar_member("x", b'x', 11, record("size=60").as_bytes())
            .into_iter()
            .take(1024),
    );
    assert_eq!((text.len(), record("size=60").len()), (60, 11));
    bytes.extend(tar_member("sized", b'0', 0, text.as_bytes()));
    let long = "n".repeat(200);
    bytes.extend(tar_member("L", b'L', long.len(), long.as_bytes()));
    bytes.extend(file("short"));
    bytes.extend([0; 1024]);
    let output = scan_bytes(&bytes);
    let expected =
        ["../up", "/etc/passwd", "sized", &long].map(|name| format!("{name}!http://n1.example/"));
    assert_eq!(places(&output), expected);
    let skipped = output
        .summary
        .members_skipped
        .by_name()
        .into_iter()
        .collect::<Vec<_>>();
    assert_eq!(
        skipped,
        [
            ("device", 2),
            ("fifo", 1),
            ("hard-link", 1),
            ("sparse", 1),
            ("symlink", 1)
        ]
    );
    // Names that leave the folder.
    assert_eq!(
        output
            .kinds()
            .iter()
            .filter(|&&kind| kind == DiagnosticKind::Ambiguous)
            .count(),
        2,
    );
}

#[test]
fn damage_in_a_tar_is_reported_once() {
    let (one, two) = (mail(1), mbox(30));
    let bytes = tar(&[("1", one.as_bytes()), ("2", &two)]);
    let cut = &bytes[..bytes.len() - 2_000];
    for cut in [cut.to_vec(), gzip(cut), {
        let packed = gzip(&bytes);
        packed[..packed.len() - 30].to_vec()
    }] {
        let output = scan_bytes(&cut);
        assert!(output.urls().len() > 10);
        output.check_kinds(&[DiagnosticKind::Damage]);
        assert_eq!(
            (
                output.summary.files_failed.by_name()["damage"],
                output.summary.members_failed.by_name()["damage"]
            ),
            (1, 1)
        );
    }
    let mut wrong = bytes;
    wrong[1024 + 148] ^= 7;
    let output = scan_bytes(&wrong);
    // Bytes that are not a header.
    assert_eq!(
        (output.urls().len(), output.kinds()),
        (1, vec![DiagnosticKind::Damage]),
    );
    let output = scan_bytes(&tar_member("1", b'0', one.len(), one.as_bytes()));
    // Without an end mark.
    assert_eq!(
        (output.urls().len(), output.kinds()),
        (1, vec![DiagnosticKind::Ambiguous]),
    );
}
