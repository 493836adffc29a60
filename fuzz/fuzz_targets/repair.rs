//! Repair: a logical line depends only on its own text. It stays the same if the text is cut after
//! the wrapper's last line, follows blank lines, or has CRLF line ends. Each byte of a line equals
//! the byte of the text that it maps to.
#![no_main]

use libfuzzer_sys::fuzz_target;
use urlspool_text::repair::{
    BareWord, LineBreakPolicy, LogicalLine, Repair, WrappedText, unfold_bare_word, unfold_wrapper,
};
use urlspool_text::scan::{Opening, Rules, Scanner, SchemelessPolicy, UrlStart};
use urlspool_text::span::Span;

const WRAPPER_BYTES: usize = 8 << 10;

/// Returns the lines at all starts of a text, each with its start.
fn lines(text: &[u8], rules: Rules) -> Vec<(UrlStart, Option<WrappedText>, LogicalLine)> {
    let scanner = Scanner::new(rules, SchemelessPolicy::default(), &[]);
    let mut starts = scanner.starts(text);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = starts.next_from(from) {
        let mut line = LogicalLine::default();
        let wrapped = match start.opening {
            Opening::UrlBracket | Opening::Angle => Some(unfold_wrapper(
                text,
                &start,
                rules,
                WRAPPER_BYTES,
                &mut line,
            )),
            _ => {
                let word = BareWord {
                    from: start.content,
                    before: start.at.checked_sub(1).map(|at| text[at]),
                    rules,
                    breaks: LineBreakPolicy::Join,
                    max_bytes: usize::MAX,
                };
                unfold_bare_word(text, &word, None, &mut line);
                None
            }
        };
        from = start.resume.max(start.at + 1);
        found.push((start, wrapped, line));
    }
    found
}

/// Checks the map of a line: it is in order, and maps to the same bytes unless they were decoded.
/// Several bytes in another notation may map to one.
fn check_ranges(text: &[u8], line: &LogicalLine) {
    let is_respelled = [
        Repair::SchemeCorrected,
        Repair::Defang,
        Repair::Roff,
        Repair::Escape,
    ]
    .into_iter()
    .any(|repair| line.repairs().has(repair));
    let is_decoded = is_respelled
        || line.repairs().has(Repair::QuotedPrintable)
        || line.repairs().has(Repair::AtSign)
        || line.joins().iter().any(|join| {
            join.repairs.has(Repair::QuotedPrintable) || join.repairs.has(Repair::AtSign)
        });
    let mut last = 0;
    for (at, &byte) in line.text().iter().enumerate() {
        let range = line.text_range(Span::new(at, at + 1));
        assert!(
            (last < range.end || is_respelled && last == range.end) && range.end <= text.len(),
            "{at}: {range:?} after {last}"
        );
        last = range.end;
        assert!(
            is_decoded || text[range.end - 1] == byte,
            "{at} of {}",
            text.escape_ascii()
        );
    }
    for join in line.joins() {
        assert!(join.at <= line.text().len(), "a join after the line");
    }
}

fn texts(text: &[u8], rules: Rules) -> Vec<(Option<bool>, Vec<u8>)> {
    lines(text, rules)
        .into_iter()
        .map(|(_, wrapped, line)| {
            let closed = wrapped.map(|wrapped| matches!(wrapped, WrappedText::Closed(_)));
            (closed, line.text().to_vec())
        })
        .collect()
}

fuzz_target!(|input: &[u8]| {
    let Some((&choice, text)) = input.split_first() else {
        return;
    };
    let rules = if choice & 1 == 0 {
        Rules::Wide
    } else {
        Rules::Rfc1738
    };
    for (start, wrapped, line) in lines(text, rules) {
        check_ranges(text, &line);
        if let Some(WrappedText::Closed(close)) = wrapped {
            let mut again = LogicalLine::default();
            // Without the text after it, a last line that consists only of quote marks and the `>`
            // would be a quoted blank line.
            let rest = &text[close..];
            let len = if text[start.at..close].contains(&b'\n') {
                rest.iter()
                    .position(|&byte| byte == b'\n')
                    .unwrap_or(rest.len())
            } else {
                1
            };
            let cut = &text[..close + len];
            let cut = unfold_wrapper(cut, &start, rules, WRAPPER_BYTES, &mut again);
            // Text after the wrapper may reveal that it was quoted-printable.
            let is_residue = |line: &LogicalLine| {
                line.repairs().has(Repair::QuotedPrintable)
                    || line
                        .joins()
                        .iter()
                        .any(|join| join.repairs.has(Repair::QuotedPrintable))
            };
            if is_residue(&line) || is_residue(&again) {
                continue;
            }
            assert_eq!(
                cut,
                WrappedText::Closed(close),
                "cut after the URL: {}",
                text.escape_ascii()
            );
            assert_eq!(
                again.text(),
                line.text(),
                "cut after the URL: {}",
                text.escape_ascii()
            );
        }
    }
    let plain = texts(text, rules);
    let after_blanks = [b"\n\n\n", text].concat();
    assert_eq!(
        texts(&after_blanks, rules),
        plain,
        "after blank lines: {}",
        text.escape_ascii()
    );
    if !text.contains(&b'\r') {
        let crlf: Vec<u8> = text
            .iter()
            .flat_map(|&byte| {
                if byte == b'\n' {
                    vec![b'\r', b'\n']
                } else {
                    vec![byte]
                }
            })
            .collect();
        assert_eq!(
            texts(&crlf, rules),
            plain,
            "with CRLF: {}",
            text.escape_ascii()
        );
    }
});
