//! `urlspool explain`: what each stage makes of one message, in words.
//!
//! This file opens the file and finds the message; the page prints it. The stages give values; the words are here.

mod candidates;
mod page;
mod wording;

use std::fmt::Display;
use std::io;
use std::path::Path;

use self::page::{Page, PageStyle};
use self::wording::format_text;
use super::args::{ExplainArgs, When};
use super::error::{CommandError, CommandResult};
use super::exit::Exit;
use super::location::{FileLocation, MemberStream, open_member};
use super::stdout::StdoutLines;
use crate::diagnostic::Diagnostic;
use crate::extract::Options;
use crate::limits::SNIFF_BYTES;
use crate::pipeline::{InputStep, MessageBlock, MessageSource};
use crate::read::{self, Input, Streams};
use crate::split::{Format, SplitOutput};
use crate::walk::{self, PathFilter, SymlinkPolicy, WalkStep, WalkedFile};

pub(super) fn explain(args: &ExplainArgs, color: When) -> CommandResult {
    let location = MessageLocation::parse(&args.place);
    let path = &location.file.path;
    let unreadable = |error: io::Error| CommandError::unreadable(path, error);
    let options = Options {
        rules: args.rules,
        ..Options::default()
    };
    let style = if color.colors(&io::stdout()) {
        PageStyle::Colored
    } else {
        PageStyle::Plain
    };
    let mut page = Page::new(options, style);
    let limits = page.options.limits;
    let file = walked_file(path)?;
    let input = Input::file(read::open(&file).map_err(unreadable)?);
    let streams = Streams::new(input, file.source, file.hint, &limits);
    let MemberStream {
        source,
        hint,
        stream,
    } = open_member(streams, &location.file.member).map_err(|error| failed(path, error))?;
    let format = args.kind.map(Format::of);
    let messages = MessageSource::of_stream(stream, source, hint, format, &limits);
    match find_message(&mut page, &location, messages).map_err(unreadable)? {
        Explained::Message | Explained::SkipReason => {
            let mut out = StdoutLines::of_escaped_lines();
            out.put(page.text().as_bytes())?;
            out.finish()?;
            Ok(Exit::Done)
        }
        Explained::None => {
            let message = format!("there is no message at byte {}", location.offset);
            Err(failed(path, message))
        }
    }
}

/// The error that the file at `path` cannot be explained.
fn failed(path: &Path, reason: impl Display) -> CommandError {
    CommandError::new(
        Exit::SomeFailed,
        format!("cannot explain {}: {reason}", path.display()),
    )
}

/// The file at `path`, as a walk finds it.
fn walked_file(path: &Path) -> Result<WalkedFile, CommandError> {
    if path.is_dir() {
        return Err(failed(path, "it is a folder; name one file in it"));
    }
    let filter = PathFilter::default();
    let roots = [path.to_owned()];
    match walk::walk(&roots, &filter, SymlinkPolicy::Skip).next() {
        Some(WalkStep::File(file)) => Ok(file),
        Some(WalkStep::Skipped { reason, .. }) => {
            Err(failed(path, format!("it is skipped ({})", reason.name())))
        }
        Some(WalkStep::Failed(event)) => {
            Err(CommandError::unreadable(path, event.diagnostic.message))
        }
        _ => Err(failed(path, "it is not a file; name one file")),
    }
}

/// The subject that a page explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Explained {
    /// The message at the offset.
    Message,
    /// The reason why the file is skipped.
    SkipReason,
    /// Nothing: there is no message at the offset.
    None,
}

/// Explains the format of the stream and the message at the offset.
fn find_message(
    page: &mut Page,
    location: &MessageLocation,
    messages: MessageSource,
) -> io::Result<Explained> {
    let noun = location.noun();
    let mut is_first = true;
    for step in messages {
        match step {
            InputStep::Block(block) => {
                if std::mem::take(&mut is_first) {
                    let bytes = &block.block.bytes;
                    let start = &bytes[..bytes.len().min(SNIFF_BYTES)];
                    let format = format_text(block.format, start);
                    page.line(0, &format!("The {noun} is read as {format}."));
                }
                if find_in_block(page, location.offset, &block) == Explained::Message {
                    return Ok(Explained::Message);
                }
            }
            InputStep::Skipped { reason, .. } => {
                page.line(0, &format!("The {noun} is skipped: {}.", reason.name()));
                return Ok(Explained::SkipReason);
            }
            InputStep::Ended(end) => end.error.map_or(Ok(()), Err)?,
            InputStep::Failed(failure) => failure.error.map_or(Ok(()), Err)?,
            _ => {}
        }
    }
    Ok(Explained::None)
}

/// Explains the message of `block` at `offset`, with the diagnostics of its split.
fn find_in_block(page: &mut Page, offset: u64, block: &MessageBlock) -> Explained {
    let mut explained = Explained::None;
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    block.messages(&mut |output| match output {
        SplitOutput::Diagnostic(diagnostic) => diagnostics.push(diagnostic),
        SplitOutput::Message(message) => {
            if explained == Explained::None && offset < message.end() {
                explained = Explained::Message;
                page.message(&message, &block.source, &diagnostics);
            }
            diagnostics.clear();
        }
    });
    explained
}

/// A message: the file or member that holds it, and the offset of one of its bytes.
#[derive(Debug, PartialEq, Eq)]
struct MessageLocation {
    file: FileLocation,
    offset: u64,
}

impl MessageLocation {
    /// Parses `FILE[!MEMBER][:OFFSET]`. Without an offset, it is the first message. If the whole text names an existing
    /// file, it is that file.
    fn parse(text: &str) -> MessageLocation {
        let offset = text
            .rsplit_once(':')
            .filter(|_| !Path::new(text).exists())
            .and_then(|(names, offset)| Some((names, offset.parse().ok()?)));
        let (names, offset) = offset.unwrap_or((text, 0));
        MessageLocation {
            file: FileLocation::parse(names),
            offset,
        }
    }

    /// The noun for what is opened.
    fn noun(&self) -> &'static str {
        if self.file.member.is_empty() {
            "file"
        } else {
            "member"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_file_and_perhaps_an_offset() {
        let check = |text: &str, path: &str, offset| {
            let expected = MessageLocation {
                file: FileLocation {
                    path: path.into(),
                    member: vec![],
                },
                offset,
            };
            assert_eq!(MessageLocation::parse(text), expected);
        };
        check("no/such:12", "no/such", 12);
        check("no/such:x", "no/such:x", 0);
        check("no/such", "no/such", 0);
    }
}
