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
use crate::pipeline::{InputStep, MessageBlock, MessageSource};
use crate::read::{self, Input, Streams};
use crate::split::{Format, SplitOutput};
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
    let given = args.kind.map(Format::of);
    let messages = MessageSource::of_stream(stream, source, hint, given, &limits);
    if page.message_at(offset, messages, what).map_err(io)? == Explained::Nothing {
        return Err(unreadable(format!("no message lies at byte {offset}")));
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
    /// Explains the message in which `offset` lies, and how it is found.
    fn message_at(
        &mut self,
        offset: u64,
        messages: MessageSource,
        what: &str,
    ) -> std::io::Result<Explained> {
        let mut is_first = true;
        for step in messages {
            match step {
                InputStep::Block(block) => {
                    if std::mem::take(&mut is_first) {
                        let bytes = &block.block.bytes;
                        let start = &bytes[..bytes.len().min(SNIFF_BYTES)];
                        let format = recognised(block.format, start);
                        self.line(0, &format!("The {what} is read as {format}."));
                    }
                    if self.message_in(&block, offset) == Explained::Something {
                        return Ok(Explained::Something);
                    }
                }
                InputStep::Skipped { reason, .. } => {
                    self.line(0, &format!("The {what} is skipped: {}.", reason.name()));
                    return Ok(Explained::Something);
                }
                InputStep::Ended(end) => end.error.map_or(Ok(()), Err)?,
                InputStep::Failed(failure) => failure.error.map_or(Ok(()), Err)?,
                _ => {}
            }
        }
        Ok(Explained::Nothing)
    }

    /// Explains the message of `block` in which `offset` lies.
    fn message_in(&mut self, block: &MessageBlock, offset: u64) -> Explained {
        let mut explained = Explained::Nothing;
        let mut doubts = Vec::new();
        block.messages(&mut |output| match output {
            SplitOutput::Diagnostic(diagnostic) => doubts.push(diagnostic),
            SplitOutput::Message(message) => {
                if explained == Explained::Nothing && offset < message.end() {
                    explained = Explained::Something;
                    self.message(&message, &block.source, &doubts);
                }
                doubts.clear();
            }
        });
        explained
    }
}

/// Result of the search for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Explained {
    /// The message, or the reason why the file is not read.
    Something,
    /// No message lies there.
    Nothing,
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
