//! Line ends that a program marked with a blank, and what the number of blanks says of the word before.
//!
//! Programs that write `format=flowed` with `DelSp=yes` (RFC 3676, section 4.1) add a blank to each line that they break; the
//! reader removes it. A line that was broken at a blank then ends with two blanks, and a line that was broken inside a word, as
//! Apple Mail breaks URLs after `/` and `-`, with one. Archives and quotes keep the blanks, and lose the label.

use memchr::memmem;

use super::line_break::LineBreak;
use super::line_width::columns;

/// Minimum number of lines that end with two blanks around a URL. Authors type two blanks at a line end now and then.
const MARKED_LINES: usize = 2;

/// Minimum number of columns of a line that a program may have broken.
const BROKEN_COLUMNS: usize = 40;

/// The place in the text at which a program broke the line of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SoftBreak {
    /// Inside a word: the next line continues it.
    InsideWord,
    /// At a blank, which ends the URL.
    AtBlank,
}

impl SoftBreak {
    /// Returns the place of the line break, if the lines around it were marked with blanks. `None` before a line with quote
    /// marks alone, which ends a paragraph.
    pub(super) fn at(line_break: &LineBreak<'_>) -> Option<SoftBreak> {
        if line_break.marks.blank_between {
            return None;
        }
        let place = match line_break.blanks_after() {
            b" " => SoftBreak::InsideWord,
            b"  " => SoftBreak::AtBlank,
            _ => return None,
        };
        let (mut one, mut two) = (0, 0);
        for line in line_break.nearby() {
            let blanks = line.iter().rev().take_while(|&&byte| byte == b' ').count();
            let is_broken = BROKEN_COLUMNS <= columns(line) && memmem::find(line, b"://").is_none();
            one += usize::from(is_broken && blanks == 1);
            two += usize::from(is_broken && blanks == 2);
        }
        (MARKED_LINES <= two && one < two).then_some(place)
    }
}
