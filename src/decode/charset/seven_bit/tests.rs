//! Tests of 7-bit charsets.

use super::*;

/// Decodes a text in its detected family, and checks that `http://x` is mapped to its own bytes.
#[track_caller]
fn check(raw: &[u8], family: SevenBit, want: &str) {
    assert_eq!(detect(raw), Some(family), "{}", raw.escape_ascii());
    let MappedBytes { bytes, map } = decode(raw, family);
    assert_eq!(String::from_utf8_lossy(&bytes), want);
    for (at, _) in want.match_indices("http://x") {
        let span = Span::new(at, at + 8);
        assert_eq!(map.raw(span).of(raw), b"http://x");
        assert!(map.exact(span));
    }
}

#[test]
fn each_charset_is_recognised_by_its_sequences() {
    use SevenBit::{Hz, Iso2022};
    check(
        b"\x1B$B$\"\x1B(Bhttp://x\x1B$B$H\x1B(B.",
        Iso2022,
        "\u{3042}http://x\u{3068}.",
    );
    check(
        b"\x1B$@$\"\x1B(Jhttp://x/~a",
        Iso2022,
        "\u{3042}http://x/~a",
    );
    check(
        b"\x1B$(D0!\x1B(B \x1B(I1\x1B(Bhttp://x",
        Iso2022,
        "\u{4e02} \u{ff71}http://x",
    );
    check(
        b"\x1B$)C\n\x0E0!\x0Fhttp://x\n",
        Iso2022,
        "\n\u{ac00}http://x\n",
    );
    check(b"\x1B$)A\x0E;;\x0Fhttp://x", Iso2022, "\u{6362}http://x");
    check(
        b"\x1B$)G\x0E'P\x0Fhttp://x \x1B$*H\x1BN%p.",
        Iso2022,
        "\u{fffd}http://x \u{fffd}.",
    );
    check(
        b"~{VPND~}http://x/~~a ~\nb",
        Hz,
        "\u{4e2d}\u{6587}http://x/~a b",
    );
}

#[test]
fn a_line_begins_in_ascii() {
    check(
        b"\x1B$B$\"\nhttp://x\x1B(B",
        SevenBit::Iso2022,
        "\u{3042}\nhttp://x",
    );
    check(
        b"\x1B$B$\r\n\x1B(Bhttp://x",
        SevenBit::Iso2022,
        "$\r\nhttp://x",
    );
    check(
        b"\x1B$)C\x0E0!\n\x0E0!\nhttp://x",
        SevenBit::Iso2022,
        "\u{ac00}\n\u{ac00}\nhttp://x",
    );
}

#[test]
fn bytes_with_eight_bits_are_replaced() {
    check(
        b"\x1B$B$\"\x1B(B\xE9http://x\xFF",
        SevenBit::Iso2022,
        "\u{3042}\u{fffd}http://x\u{fffd}",
    );
}

#[test]
fn programs_and_terminals_use_other_sequences() {
    for text in [
        "\x1B[1mhttp://x\x1B[0m",
        "\x1B(0lqk\x1B(B",
        "(format t \"~{~a~^, ~}\" list)",
        "~{ab cd~}",
        "~{x=~}",
        "~{abc~}",
        "http://x/~{user",
        "~~{~}",
        "\x1B",
    ] {
        assert_eq!(detect(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn sequences_that_are_cut_off_are_text() {
    for raw in [
        &b"\x1B$B"[..],
        b"\x1B$B$",
        b"\x1B$",
        b"\x1B",
        b"\x1B$)",
        b"\x0E",
        b"\x1BN",
        b"\x1B$(D0",
    ] {
        for family in [SevenBit::Iso2022, SevenBit::Hz] {
            assert!(std::str::from_utf8(&decode(raw, family).bytes).is_ok());
        }
    }
}
