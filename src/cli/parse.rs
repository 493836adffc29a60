//! `urlspool parse`.

use std::io::{self, BufRead};

use super::args::ParseArgs;
use super::error::{CommandError, CommandResult, Exit};
use super::terminal::StdoutLines;
use urlspool_record::record::write_parsed;
use urlspool_text::diagnostic::EscapeForm;

pub(super) fn parse(args: &ParseArgs) -> CommandResult {
    let reads_lines = args.urls.is_empty() || args.urls == ["-"];
    check(args, reads_lines)?;
    let mut printer = ParsePrinter {
        args,
        out: StdoutLines::new(EscapeForm::Json),
        line: Vec::new(),
        has_rejects: false,
    };
    if reads_lines {
        printer.print_lines(io::stdin().lock())?;
    } else {
        for url in &args.urls {
            if !printer.print_url(url.as_bytes())? {
                break;
            }
        }
    }
    printer.out.finish()?;
    Ok(if args.check && printer.has_rejects {
        Exit::SomeFailed
    } else {
        Exit::Done
    })
}

/// Checks that URLs are given in one way only.
fn check(args: &ParseArgs, reads_lines: bool) -> Result<(), CommandError> {
    let message = match args {
        _ if reads_lines => return Ok(()),
        ParseArgs { urls, .. } if urls.iter().any(|url| url == "-") => {
            "`-` reads URLs from standard input; use it alone, or list only URLs"
        }
        ParseArgs {
            from_json: true, ..
        } => "--from-json reads lines of standard input; remove the URLs",
        _ => return Ok(()),
    };
    Err(CommandError::usage(message))
}

/// Prints one JSON line for each URL.
struct ParsePrinter<'p> {
    args: &'p ParseArgs,
    out: StdoutLines,
    /// The buffer of one line.
    line: Vec<u8>,
    /// `true` if RFC 1738 rejected a URL.
    has_rejects: bool,
}

impl ParsePrinter<'_> {
    fn print_lines(&mut self, mut input: impl BufRead) -> Result<(), CommandError> {
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let read = input.read_until(b'\n', &mut line);
            if read.map_err(|error| failed(format!("cannot read standard input: {error}")))? == 0 {
                break;
            }
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            let is_open = if self.args.from_json {
                let unquoted: String = serde_json::from_slice(text).map_err(|error| {
                    failed(format!(
                        "standard input, line {number}: not a JSON string: {error}"
                    ))
                })?;
                self.print_url(unquoted.as_bytes())?
            } else {
                self.print_url(text)?
            };
            if !is_open {
                break;
            }
        }
        Ok(())
    }

    /// Prints the parts of one URL. Returns `false` if the reader of standard output closed its
    /// end.
    fn print_url(&mut self, input: &[u8]) -> Result<bool, CommandError> {
        let hash = self.args.fragment.then(|| memchr::memchr(b'#', input));
        let url_len = hash.flatten().unwrap_or(input.len());
        self.line.clear();
        self.has_rejects |= !write_parsed(input, url_len, &mut self.line);
        self.out.put(&self.line)
    }
}

fn failed(message: String) -> CommandError {
    CommandError::new(Exit::SomeFailed, message)
}
