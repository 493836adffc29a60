//! `urlspool explain`: what each stage made of one message, in words. The stages give values; the words stand here.

mod candidates;
mod page;
mod wording;

use std::path::{Path, PathBuf};

use self::page::Page;
use self::wording::recognised;
use super::args::ExplainArgs;
use super::exit::Exit;
use super::{Failure, Outcome, location, print};
use crate::extract::Options;
use crate::limits::SNIFF_BYTES;
use crate::origin::Source;
use crate::read::{self, Input, SparseRead, Streams};
use crate::split::{self, BlockReader, Format, OpenedStream, SplitOutput, messages};
use crate::walk::{self, PathFilter, SymlinkPolicy, WalkStep};

pub(super) fn explain(args: &ExplainArgs) -> Outcome {
    let Spot {
        path,
        member,
        offset,
    } = spot(&args.place);
    let unreadable =
        |why: String| Failure::new(Exit::SomeFailed, format!("{}: {why}", path.display()));
    let filter = PathFilter::default();
    let roots = [path.clone()];
    let file = match walk::walk(&roots, &filter, SymlinkPolicy::Skip).next() {
        Some(WalkStep::File(file)) => file,
        Some(WalkStep::Skipped { reason, .. }) => {
            return Err(unreadable(format!("skipped: {}", reason.name())));
        }
        Some(WalkStep::Failed(event)) => return Err(unreadable(event.diagnostic.message)),
        _ => return Err(unreadable("name one file".to_owned())),
    };
    let options = Options {
        rules: args.rules,
        ..Options::default()
    };
    let mut page = Page {
        options,
        out: String::new(),
    };
    let io = |error: std::io::Error| unreadable(error.to_string());
    let input = Input::file(read::open(&file).map_err(io)?);
    let limits = page.options.limits;
    let streams = Streams::new(input, file.source.clone(), file.hint, &limits);
    let (source, hint, stream) = location::member(streams, &member).map_err(io)?;
    let what = if member.is_empty() { "file" } else { "member" };
    match split::open(
        stream,
        args.kind.map(Format::of),
        hint,
        limits.message_bytes,
    )
    .map_err(io)?
    {
        OpenedStream::Skipped(reason) => {
            page.line(0, &format!("The {what} is skipped: {}.", reason.name()))
        }
        OpenedStream::Blocks(blocks) => {
            if !page
                .message_at(offset, blocks.format(), blocks, &source, what)
                .map_err(io)?
            {
                return Err(unreadable(format!("no message lies at octet {offset}")));
            }
        }
    }
    print(page.out.as_bytes())
}

/// What is to be explained.
#[derive(Debug, PartialEq, Eq)]
struct Spot {
    path: PathBuf,
    member: Vec<Vec<u8>>,
    offset: u64,
}

/// `FILE`, `FILE:OFFSET`, and both with members behind the file. A file of the whole name goes first.
fn spot(text: &str) -> Spot {
    let (names, offset) = match text.rsplit_once(':') {
        Some((names, offset)) if !Path::new(text).exists() => match offset.parse() {
            Ok(offset) => (names, offset),
            Err(_) => (text, 0),
        },
        _ => (text, 0),
    };
    let (path, member) = location::names(names);
    Spot {
        path,
        member,
        offset,
    }
}

impl Page {
    /// The message in which `offset` lies, and how it is found. Whether there is one.
    fn message_at(
        &mut self,
        offset: u64,
        format: Format,
        mut blocks: BlockReader<Box<dyn SparseRead>>,
        source: &Source,
        what: &str,
    ) -> std::io::Result<bool> {
        let mut found = false;
        let mut is_first = true;
        while !found && let Some(block) = blocks.next_block()? {
            if std::mem::take(&mut is_first) {
                let start = &block.bytes[..block.bytes.len().min(SNIFF_BYTES)];
                self.line(
                    0,
                    &format!("The {what} is read as {}.", recognised(format, start)),
                );
            }
            let mut doubts = Vec::new();
            messages(&block, format, &mut |divided| match divided {
                SplitOutput::Diagnostic(diagnostic) => doubts.push(diagnostic),
                SplitOutput::Message(message) => {
                    if !found && offset < message.end() {
                        found = true;
                        self.message(&message, source, &doubts);
                    }
                    doubts.clear();
                }
            });
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_file_and_perhaps_an_offset() {
        let no_such = |path: &str, offset| Spot {
            path: PathBuf::from(path),
            member: vec![],
            offset,
        };
        assert_eq!(spot("no/such:12"), no_such("no/such", 12));
        assert_eq!(spot("no/such:x"), no_such("no/such:x", 0));
        assert_eq!(spot("no/such"), no_such("no/such", 0));
    }
}
