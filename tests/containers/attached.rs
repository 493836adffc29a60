//! Archives in attachments: the limits of archives on disk, and damage.

use urlspool::internals::diagnostic::DiagnosticKind;
use urlspool::internals::limits::Limits;

use super::{Zipped, gzip, mail, scan_bytes, scan_limited, tar, zip};

/// A message with these attachments.
fn message(attachments: &[Vec<u8>]) -> Vec<u8> {
    let mut all = b"From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n".to_vec();
    for bytes in attachments {
        let encoded = data_encoding::BASE64.encode(bytes);
        let header =
            "--b\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\n";
        all.extend_from_slice(format!("{header}{encoded}\n").as_bytes());
    }
    all.extend_from_slice(b"--b--\n");
    all
}

/// Row 85, across messages: a message inside an archive inside a message.
#[test]
fn containers_in_messages_in_containers_end_at_a_depth() {
    type Wrap = fn(&[u8]) -> Vec<u8>;
    let wraps: [Wrap; 3] = [
        |inner| gzip(inner),
        |inner| tar(&[("x", inner)]),
        |inner| zip(&[Zipped::new("x", inner)]),
    ];
    for (number, wrap) in wraps.into_iter().enumerate() {
        let nest = |depth| (0..depth).fold(mail(1).into_bytes(), |inner, _| wrap(&inner));
        let messages =
            |depth| (0..depth).fold(mail(1).into_bytes(), |inner, _| message(&[wrap(&inner)]));
        // The message counts as one container.
        for inside in [message(&[nest(3)]), messages(3)] {
            let output = scan_bytes(&inside);
            assert_eq!(output.urls(), ["http://n1.example/"], "{number}");
            assert_eq!(output.events, [], "{number}");
        }
        for inside in [
            message(&[nest(4)]),
            message(&[nest(60)]),
            messages(4),
            messages(20),
        ] {
            let output = scan_bytes(&inside);
            assert_eq!(
                (output.urls().len(), output.kinds()),
                (0, vec![DiagnosticKind::Limit]),
                "{number}"
            );
        }
    }
}

/// Row 83: one archive, and many of them in one message.
#[test]
fn bombs_in_attachments_stop_at_a_limit_with_one_event() {
    let zeros = vec![b'\n'; 1 << 20];
    let limits = Limits {
        nested_ratio_from_bytes: 16 << 10,
        nested_ratio: 50,
        ..Limits::default()
    };
    for bomb in [
        gzip(&zeros),
        zstd::encode_all(&zeros[..], 1).unwrap(),
        zip(&[Zipped::new("bomb.gz", &gzip(&zeros))]),
    ] {
        let output = scan_limited(&message(&[bomb]), limits);
        assert_eq!(
            output.kinds(),
            [DiagnosticKind::Limit],
            "{:?}",
            output.events
        );
    }
    let limits = Limits {
        attached_bytes: 3 << 20,
        nested_ratio: 1,
        ..Limits::default()
    };
    let text = [&zeros[..], b"http://u.example/\n"].concat();
    let output = scan_limited(&message(&vec![gzip(&text); 10]), limits);
    assert_eq!(output.urls(), ["http://u.example/"; 3]);
    assert_eq!(
        output.kinds(),
        [DiagnosticKind::Limit],
        "{:?}",
        output.events
    );
}

/// Row 117: what is attached may unpack to more, the larger the message is; all archives of a message share that.
#[test]
fn the_balance_of_a_message_grows_with_it() {
    let line = "see http://u.example/ and words and words\n";
    let log = gzip(line.repeat(30_000).as_bytes());
    // The message is a third larger than what is attached.
    let max = 4 * 100 * log.len() / 3 + (128 << 10);
    assert!(max < line.len() * 30_000, "{}", log.len());
    let bomb = scan_bytes(&message(std::slice::from_ref(&log)));
    assert_eq!(bomb.kinds(), [DiagnosticKind::Limit]);
    assert!(
        1_000 < bomb.urls().len() && bomb.urls().len() < 30_000,
        "{} {:?}",
        bomb.urls().len(),
        bomb.events
    );
    let random: Vec<u8> = (0..20_000_u32)
        .map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let output = scan_bytes(&message(&[random, log]));
    assert_eq!((output.urls().len(), output.events), (30_000, vec![]));
    let fan = (0..2).fold(vec![b'a'; 1 << 20], |inner, _| {
        zip(&["a", "b", "c", "d"].map(|name| Zipped::new(name, &inner)))
    });
    let output = scan_bytes(&message(&[
        fan.clone(),
        fan,
        b"http://last.example/".to_vec(),
    ]));
    assert_eq!(output.urls(), ["http://last.example/"]);
    assert_eq!(output.kinds(), [DiagnosticKind::Limit]);
}

/// Row 117: ratios of mail that unpacks to many times its size, and of what is attached to it, do not multiply.
#[test]
fn mail_of_a_container_that_unpacks_to_much_has_a_smaller_balance() {
    let short = message(&[gzip(&"http://a.example/ \n".repeat(6_000).into_bytes())]);
    let one = [b"From a@b Mon\n", &short[..], b"\n"].concat();
    let urls = |bytes: &[u8]| scan_bytes(bytes).urls().len();
    assert_eq!(urls(&one), 6_000);
    assert_eq!(urls(&gzip(&one)), 6_000);
    let bomb = scan_bytes(&zstd::encode_all(&one.repeat(3_000)[..], 1).unwrap());
    assert!(bomb.urls().len() < 600_000, "{}", bomb.urls().len());
    assert!(bomb.kinds().contains(&DiagnosticKind::Limit));
}

/// Row 118.
#[test]
fn empty_streams_in_an_attachment_count() {
    let empty = b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0".repeat(10_000);
    let output = scan_bytes(&message(&[empty, b"http://last.example/".to_vec()]));
    assert_eq!(output.urls(), ["http://last.example/"]);
    assert_eq!(output.kinds(), [DiagnosticKind::Limit]);
}

/// Row 86.
#[test]
fn entries_of_attached_archives_beyond_the_limit_are_one_event() {
    let limits = Limits {
        archive_entries: 20,
        ..Limits::default()
    };
    let names: Vec<String> = (0..50).map(|number| number.to_string()).collect();
    let pairs: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), &b"http://u.example/"[..]))
        .collect();
    let output = scan_limited(&message(&[tar(&pairs)]), limits);
    assert_eq!(
        (output.urls().len(), output.kinds()),
        (20, vec![DiagnosticKind::Limit])
    );
}

/// Row 88: what is before the damage is read, and the parts after it.
#[test]
fn damage_in_an_attached_archive_is_one_event() {
    let whole = tar(&[
        ("1", b"http://one.example/\n"),
        ("2", b"http://two.example/\n"),
    ]);
    let last = b"http://last.example/\n".to_vec();
    let output = scan_bytes(&message(&[whole[..1024 + 300].to_vec(), last.clone()]));
    assert_eq!(
        output.urls(),
        ["http://one.example/", "http://last.example/"]
    );
    assert_eq!(output.kinds(), [DiagnosticKind::Damage]);
    let cut = gzip(b"http://one.example/ and more, of which the end is missing\n");
    let output = scan_bytes(&message(&[cut[..cut.len() - 12].to_vec(), last]));
    assert_eq!(output.urls().last().unwrap(), "http://last.example/");
    assert_eq!(output.kinds(), [DiagnosticKind::Damage]);
}
