//! Reads the values of one line of JSON, in the order in which this crate writes them.

use super::{ColumnsError, Expected};

/// A position in a line.
pub(super) struct JsonCursor<'l> {
    line: &'l [u8],
    at: usize,
}

impl<'l> JsonCursor<'l> {
    /// The start of `line`.
    pub(super) fn new(line: &'l [u8]) -> JsonCursor<'l> {
        JsonCursor { line, at: 0 }
    }

    /// Advances past `literal`.
    pub(super) fn expect(
        &mut self,
        literal: &[u8],
        expected: Expected,
    ) -> Result<(), ColumnsError> {
        if self.advance_past(literal) {
            Ok(())
        } else {
            Err(self.error(expected))
        }
    }

    /// Advances past `literal` if it is next.
    pub(super) fn advance_past(&mut self, literal: &[u8]) -> bool {
        let is_next = self.line[self.at..].starts_with(literal);
        if is_next {
            self.at += literal.len();
        }
        is_next
    }

    /// Advances past a `null` if it is next.
    pub(super) fn null(&mut self) -> bool {
        self.advance_past(b"null")
    }

    /// The bytes that were not read.
    pub(super) fn rest(&self) -> &'l [u8] {
        &self.line[self.at..]
    }

    /// Appends the text of a string to `out`.
    pub(super) fn text(&mut self, out: &mut Vec<u8>) -> Result<(), ColumnsError> {
        self.expect(b"\"", Expected::Text)?;
        loop {
            let rest = &self.line[self.at..];
            let Some(len) = memchr::memchr2(b'"', b'\\', rest) else {
                return Err(self.error(Expected::Text));
            };
            out.extend_from_slice(&rest[..len]);
            self.at += len + 1;
            if rest[len] == b'"' {
                return Ok(());
            }
            self.escape(out)?;
        }
    }

    /// Returns a number or a word: the text before the next comma or closing bracket.
    pub(super) fn token(&mut self) -> &'l str {
        let rest = &self.line[self.at..];
        let len = rest.iter().position(|byte| b",]}\n".contains(byte));
        let token = &rest[..len.unwrap_or(rest.len())];
        self.at += token.len();
        str::from_utf8(token).unwrap_or_default()
    }

    /// The error of a line that has something else here.
    pub(super) fn error(&self, expected: Expected) -> ColumnsError {
        ColumnsError {
            offset: self.at,
            expected,
        }
    }

    /// Appends the character that an escape stands for, after its backslash (RFC 8259 section 7).
    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), ColumnsError> {
        let letter = self.line.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        let byte = match letter {
            b'"' | b'\\' | b'/' => letter,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'f' => 12,
            b'r' => b'\r',
            b'u' => {
                let character = self.code_point()?;
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.error(Expected::Text)),
        };
        out.push(byte);
        Ok(())
    }

    /// The character of a `\u` escape, or of two that are a surrogate pair.
    fn code_point(&mut self) -> Result<char, ColumnsError> {
        let first = self.hex_digits()?;
        let units = if (0xD800..0xDC00).contains(&first) && self.advance_past(b"\\u") {
            [first, self.hex_digits()?]
        } else {
            [first, 0]
        };
        let len = if units[1] == 0 { 1 } else { 2 };
        let mut characters = char::decode_utf16(units[..len].iter().copied());
        match (characters.next(), characters.next()) {
            (Some(Ok(character)), None) => Ok(character),
            _ => Err(self.error(Expected::Text)),
        }
    }

    fn hex_digits(&mut self) -> Result<u16, ColumnsError> {
        let digits = self.line.get(self.at..self.at + 4);
        let text = digits.and_then(|digits| str::from_utf8(digits).ok());
        let unit = text.and_then(|text| u16::from_str_radix(text, 16).ok());
        self.at += 4;
        unit.ok_or_else(|| self.error(Expected::Text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_read_as_serde_json_reads_it() {
        for written in [
            r#""""#,
            r#""a b""#,
            r#""\"\\\/\b\t\n\f\r""#,
            r#""\u0001\u00e9é\ud83d\ude00""#,
        ] {
            let mut text = Vec::new();
            JsonCursor::new(written.as_bytes()).text(&mut text).unwrap();
            let expected: String = serde_json::from_str(written).unwrap();
            assert_eq!(str::from_utf8(&text).unwrap(), expected);
        }
        for broken in ["", "a", "\"", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\ud83d\""] {
            let read = JsonCursor::new(broken.as_bytes()).text(&mut Vec::new());
            assert!(read.is_err(), "{broken}");
        }
    }

    #[test]
    fn a_token_ends_before_a_comma_or_a_bracket() {
        for line in ["12,", "12]", "12}\n", "12"] {
            assert_eq!(JsonCursor::new(line.as_bytes()).token(), "12");
        }
    }
}
