//! Charset of 8-bit bytes that no usable label names: the norm in archives of CJK, Russian and Central European lists.
//!
//! `chardetng`, the detector of Firefox, looks at the whole text. It always guesses, and short texts give it little to see: two or
//! three accented letters of a Western European language often fit another charset as well. So a guess counts from a number of
//! bytes on at which it is right on the letters of all these languages; below it the text is windows-1252, as before.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use crate::limits::DETECTED_BYTES;

/// Number of 8-bit bytes from which on a guess of a charset with several bytes for a character counts.
///
/// Four bytes are two characters, a short name. No sample of Western European text was taken for such a charset.
const MULTI_BYTE_MIN: usize = 4;

/// Number of 8-bit bytes from which on a guess of a charset with one byte for a character counts.
///
/// All of 2,634 samples in eleven Western European languages with six such bytes or more were taken for windows-1252; one in 34 of
/// those with fewer was taken for another charset.
const SINGLE_BYTE_MIN: usize = 8;

/// Returns the charset of bytes that are no valid UTF-8.
pub(super) fn detect(raw: &[u8]) -> &'static Encoding {
    if is_damaged_utf8(raw) {
        return UTF_8;
    }
    let first = Encoding::ascii_valid_up_to(raw);
    // The letter before the first 8-bit byte belongs to what the detector looks at.
    let start = first.saturating_sub(1);
    let sample = &raw[start..raw.len().min(start + DETECTED_BYTES)];
    let eight_bit = sample.iter().filter(|byte| !byte.is_ascii()).count();
    if eight_bit < MULTI_BYTE_MIN {
        return WINDOWS_1252;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, sample.len() == raw.len() - start);
    let guess = detector.guess(None, Utf8Detection::Deny);
    if guess.is_single_byte() && eight_bit < SINGLE_BYTE_MIN {
        WINDOWS_1252
    } else {
        guess
    }
}

/// Returns `true` if the 8-bit bytes are UTF-8 but for fewer others: a footer, a signature or a cut in another charset.
///
/// In other charsets two 8-bit bytes next to each other are rarely valid UTF-8.
fn is_damaged_utf8(raw: &[u8]) -> bool {
    let (mut characters, mut invalid) = (0, 0);
    for chunk in raw.utf8_chunks() {
        characters += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        invalid += chunk.invalid().len();
    }
    characters > invalid
}
