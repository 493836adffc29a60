//! Prints the evidence about the line breaks after bare URLs.
//!
//! Reads lines `FILE<TAB>OFFSET` from standard input: a plain text, and the offset of a URL in it.
//! Prints a line for each line break after the URL, with fields separated by tabs: file, offset,
//! number of the line break, confidence, its features (joined by commas), the URL up to it, and the
//! token after it. Without any line break, prints only the first two and the URL.
//! `tests/tools/join_calibration.py` reads this.

use std::error::Error;
use std::{fs, io};

use urlspool_text::repair::{line_break_evidence, url_run_end};
use urlspool_text::scan::Rules;
use urlspool_text::span::Span;

fn main() -> Result<(), Box<dyn Error>> {
    for line in io::stdin().lines() {
        let line = line?;
        let (path, offset) = line.split_once('\t').ok_or("expected FILE<TAB>OFFSET")?;
        print_evidence(path, &fs::read(path)?, offset.parse()?);
    }
    Ok(())
}

fn print_evidence(path: &str, text: &[u8], from: usize) {
    let before = from.checked_sub(1).map(|at| text[at]);
    let head = Span::new(
        from,
        url_run_end(text, from, before, Rules::Wide, usize::MAX),
    );
    let mut url = head.of(text).to_vec();
    let evidence = line_break_evidence(text, head);
    for (number, step) in evidence.iter().enumerate() {
        let names: Vec<&str> = step.features.iter().map(|feature| feature.name).collect();
        url.truncate(url.len() - step.dropped);
        println!(
            "{path}\t{from}\t{number}\t{:.4}\t{}\t{}\t{}",
            step.features.confidence(),
            names.join(","),
            String::from_utf8_lossy(&url),
            String::from_utf8_lossy(step.token.of(text)),
        );
        url.extend_from_slice(step.token.of(text));
    }
    if evidence.is_empty() {
        println!("{path}\t{from}\t-\t\t\t{}\t", String::from_utf8_lossy(&url));
    }
}
