//! Instructions of fields in Word and RTF: the target of `HYPERLINK` (ECMA-376 part 1, section 17.16.5.25).

use crate::limits::FIELD_INSTRUCTION_BYTES;

/// The target of a `HYPERLINK` instruction; `None` for other fields, and for links within the document.
pub(super) fn hyperlink_target(instruction: &str) -> Option<String> {
    let mut words = Words(instruction);
    if !words.next()?.0.eq_ignore_ascii_case("HYPERLINK") {
        return None;
    }
    let (mut target, mut bookmark) = (None, None);
    while let Some((word, is_quoted)) = words.next() {
        match word {
            "\\l" | "\\L" if !is_quoted => bookmark = words.next().map(|(word, _)| word),
            // Title and frame.
            "\\o" | "\\O" | "\\t" | "\\T" if !is_quoted => drop(words.next()),
            _ if !is_quoted && word.starts_with('\\') => {}
            _ => target = target.or(Some(word)),
        }
    }
    let target = target.filter(|target| !target.is_empty())?;
    Some(match bookmark {
        Some(bookmark) => format!("{target}#{bookmark}"),
        None => target.to_owned(),
    })
}

/// The words of an instruction, each with whether it was in quotation marks.
struct Words<'i>(&'i str);

impl<'i> Iterator for Words<'i> {
    type Item = (&'i str, bool);

    fn next(&mut self) -> Option<(&'i str, bool)> {
        let rest = self.0.trim_start();
        let (word, after, is_quoted) = match rest.chars().next()? {
            '"' => {
                let (word, after) = rest[1..].split_once('"').unwrap_or((&rest[1..], ""));
                (word, after, true)
            }
            _ => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                (word, after, false)
            }
        };
        self.0 = after;
        Some((word, is_quoted))
    }
}

/// Appends a piece to an instruction, which ends at [`FIELD_INSTRUCTION_BYTES`].
pub(super) fn add_to_instruction(instruction: &mut String, piece: &str) {
    let room = FIELD_INSTRUCTION_BYTES.saturating_sub(instruction.len());
    instruction.push_str(&piece[..piece.floor_char_boundary(room)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_the_first_word_that_is_no_switch() {
        for (instruction, expected) in [
            (
                " HYPERLINK \"http://a.example/\" ",
                Some("http://a.example/"),
            ),
            ("hyperlink http://a.example/b", Some("http://a.example/b")),
            (
                "HYPERLINK \"http://a.example/\" \\l \"top\" \\o \"a title\" \\t \"_blank\"",
                Some("http://a.example/#top"),
            ),
            (
                "HYPERLINK \\o \"a title\" \"http://a.example/\"",
                Some("http://a.example/"),
            ),
            (
                "HYPERLINK \\n \"http://a.example/",
                Some("http://a.example/"),
            ),
            ("HYPERLINK \\l \"top\"", None),
            ("HYPERLINK", None),
            ("PAGEREF x \\h", None),
            ("", None),
        ] {
            assert_eq!(
                hyperlink_target(instruction).as_deref(),
                expected,
                "{instruction}"
            );
        }
    }

    #[test]
    fn an_instruction_ends_at_the_limit_within_no_character() {
        let mut instruction = "a".repeat(FIELD_INSTRUCTION_BYTES - 3);
        for piece in ["é", "é", "b", "c"] {
            add_to_instruction(&mut instruction, piece);
        }
        assert!(instruction.ends_with("aéb"));
        assert_eq!(instruction.len(), FIELD_INSTRUCTION_BYTES);
    }
}
