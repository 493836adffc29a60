//! Archives in attachments: the limits of archives on disk, and damage.

use urlspool_text::diagnostic::DiagnosticKind;
use urlspool_text::limits::Limits;

use super::{Zipped, gzip, scan_bytes, scan_limited, zip};

/// Builds a message with these attachments.
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
        output.check_kinds(&[DiagnosticKind::Limit]);
    }
    let limits = Limits {
        attached_bytes: 3 << 20,
        nested_ratio: 1,
        ..Limits::default()
    };
    let text = [&zeros[..], b"http://u.example/\n"].concat();
    let output = scan_limited(&message(&vec![gzip(&text); 10]), limits);
    assert_eq!(output.urls(), ["http://u.example/"; 3]);
    output.check_kinds(&[DiagnosticKind::Limit]);
}

/// Row 117: the balance for attachments grows with the message, and all archives share it.
#[test]
fn the_balance_of_a_message_grows_with_it() {
    let line = "see http://u.example/ and words and words\n";
    let log = gzip(line.repeat(30_000).as_bytes());
    // The message is a third larger than the attachment.
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
