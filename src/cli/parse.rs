//! `urlspool parse`.

use std::io::{self, BufRead, BufWriter};

use super::args::ParseArgs;
use super::exit::Exit;
use super::{Failure, Outcome};
use crate::record::write_parsed;
use crate::sink::{PipeSink, Sink};

pub(super) fn parse(args: &ParseArgs) -> Outcome {
    let mut printer = Printer {
        args,
        out: PipeSink(BufWriter::new(io::stdout())),
        line: Vec::new(),
        refused: false,
    };
    let from_stdin = args.urls.is_empty() || args.urls == ["-"];
    let done = if from_stdin {
        printer.lines(io::stdin().lock())
    } else {
        printer.arguments()
    };
    done?;
    printer
        .out
        .finish()
        .map_err(|error| Failure::output("standard output", &error))?;
    Ok(if args.check && printer.refused {
        Exit::SomeFailed
    } else {
        Exit::Done
    })
}

struct Printer<'p> {
    args: &'p ParseArgs,
    out: PipeSink<BufWriter<io::Stdout>>,
    line: Vec<u8>,
    refused: bool,
}

impl Printer<'_> {
    fn arguments(&mut self) -> Result<(), Failure> {
        for url in &self.args.urls {
            if !self.url(url.as_bytes())? {
                break;
            }
        }
        Ok(())
    }

    fn lines(&mut self, mut input: impl BufRead) -> Result<(), Failure> {
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let read = input.read_until(b'\n', &mut line);
            let bytes = read.map_err(|error| {
                Failure::new(Exit::SomeFailed, format!("standard input: {error}"))
            })?;
            if bytes == 0 {
                break;
            }
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            let goes_on = if self.args.from_json {
                let unquoted: String = serde_json::from_slice(text).map_err(|error| {
                    Failure::new(
                        Exit::SomeFailed,
                        format!("standard input, line {number}: no JSON string: {error}"),
                    )
                })?;
                self.url(unquoted.as_bytes())?
            } else {
                self.url(text)?
            };
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    /// Prints the reading of one URL. `false` when nobody reads any more.
    fn url(&mut self, input: &[u8]) -> Result<bool, Failure> {
        let hash = self
            .args
            .fragment
            .then(|| memchr::memchr(b'#', input))
            .flatten();
        self.line.clear();
        self.refused |= !write_parsed(input, hash.unwrap_or(input.len()), &mut self.line);
        self.out
            .put(&self.line)
            .map_err(|error| Failure::output("standard output", &error))
    }
}
