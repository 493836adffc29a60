//! The end of a token, without the punctuation of the sentence.

/// Removes sentence punctuation from the end of `text`, and closing brackets that were not opened in it.
///
/// Reason for counting brackets once: a token may be long and full of them. A test compares this with a count for each
/// bracket removed.
pub(in crate::repair::continuation) fn bare(text: &[u8]) -> &[u8] {
    // Most texts end with a letter or digit.
    if text.last().is_some_and(u8::is_ascii_alphanumeric) {
        return text;
    }
    let surplus = |open: u8, close: u8| {
        text.iter().fold(0_i64, |sum, &byte| {
            sum + i64::from(byte == close) - i64::from(byte == open)
        })
    };
    let mut round = surplus(b'(', b')');
    let mut square = surplus(b'[', b']');
    let mut curly = surplus(b'{', b'}');
    let mut rest = text;
    while let [before @ .., last] = rest {
        let unopened = match last {
            b'.' | b',' | b';' | b':' | b'!' | b'?' | b'\'' => {
                rest = before;
                continue;
            }
            b')' => &mut round,
            b']' => &mut square,
            b'}' => &mut curly,
            _ => break,
        };
        if *unopened <= 0 {
            break;
        }
        *unopened -= 1;
        rest = before;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The simple twin of [`bare`]: counts all brackets again for each one that may be removed.
    fn bare_simple(mut text: &[u8]) -> &[u8] {
        let count = |text: &[u8], bracket: u8| text.split(|&byte| byte == bracket).count();
        while let [before @ .., last] = text {
            let off = match last {
                b')' => count(text, b')') > count(text, b'('),
                b']' => count(text, b']') > count(text, b'['),
                b'}' => count(text, b'}') > count(text, b'{'),
                _ => b".,;:!?'".contains(last),
            };
            if !off {
                break;
            }
            text = before;
        }
        text
    }

    #[test]
    fn punctuation_and_unopened_brackets_are_removed() {
        assert_eq!(bare(b"(x)).]"), b"(x)");
        let bytes = b"()[]{}.,x'";
        for number in 0..100_000_usize {
            let text: Vec<u8> = (0..5)
                .map(|place| bytes[number / 10_usize.pow(place) % 10])
                .collect();
            assert_eq!(bare(&text), bare_simple(&text));
        }
    }
}
