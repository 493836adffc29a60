//! `urlspool explain`: the steps of each stage for one message, in words.
//!
//! This file opens the input and finds the message, `explain` creates the explanation, and
//! `printed_page` formats it.

mod printed_page;

use std::ffi::OsStr;
use std::fmt::Display;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use self::printed_page::page;

use super::args::{ExplainArgs, When};
use super::error::{CommandError, CommandResult, Exit};
use super::location::{FileLocation, MemberStream, open_member, repository_streams, without_url};
use super::scan::job::evidence;
use super::terminal::StdoutLines;
use urlspool_files::config::Config;
use urlspool_files::evidence::EvidenceSource;
use urlspool_files::pipeline::{InputStep, MessageBlock, MessageSource};
use urlspool_mail::split::{Format, SplitOutput};
use urlspool_record::explain::{ExplainedMessage, Explanation, NamedReason};
use urlspool_record::extract::Extractor;
use urlspool_sources::read::{self, Input, Streams};
use urlspool_sources::walk::{self, PathFilter, SymlinkPolicy, WalkStep, WalkedFile};
use urlspool_text::diagnostic::Diagnostic;

pub(super) fn explain(args: &ExplainArgs, color: When) -> CommandResult {
    let location = MessageLocation::parse(&without_url(&args.place));
    let path = &location.file.path;
    let mut config = Config::default();
    args.settings.apply(&mut config)?;
    let has_colors = color.colors(&io::stdout());
    let mut extractor = Extractor::new(config.options());
    let limits = *extractor.limits();
    match evidence(args.evidence.as_deref(), limits.evidence_urls)? {
        Some(EvidenceSource::Read(urls)) => extractor = extractor.with_evidence(urls),
        Some(EvidenceSource::Own) => {
            let message = "`explain` reads one message; for --evidence, name the records of `scan \
                           --evidence self`, or its database";
            return Err(CommandError::usage(message));
        }
        None => {}
    }
    let streams = if walk::is_repository(path) {
        repository_streams(path, &location.file.member, &limits)
            .map_err(|error| CommandError::unreadable(path, error))?
    } else {
        let file = walked_file(path)?;
        let input =
            Input::file(read::open(&file).map_err(|error| CommandError::unreadable(path, error))?);
        Streams::new(input, file.source, file.hint, &limits).with_outlook()
    };
    let MemberStream {
        source,
        hint,
        stream,
    } = open_member(streams, &location.file.member).map_err(|error| failed(path, error))?;
    let format = args.kind.map(Format::of);
    let messages = MessageSource::of_stream(stream, source, hint, format, &limits);
    let explained = find_message(&extractor, location.offset.unwrap_or(0), messages)
        .map_err(|error| CommandError::unreadable(path, error))?;
    if explained.messages.is_empty() && explained.skipped.is_none() {
        let offset = location.offset.unwrap_or(0);
        let message = format!("there is no message at byte {offset}");
        return Err(failed(path, message));
    }
    let mut out = StdoutLines::of_escaped_lines();
    let noun = match location.file.member[..] {
        [] => "file",
        _ => "member",
    };
    out.put(page(&explained, noun, location.offset, has_colors).as_bytes())?;
    if args.evidence.is_none() {
        out.put(NO_EVIDENCE.as_bytes())?;
    }
    out.finish()?;
    Ok(Exit::Done)
}

/// The last line of a page without the URLs of other messages, which may change how a URL is read.
const NO_EVIDENCE: &str = "Read without the URLs of other messages, as by `scan` without \
                           --evidence; see `urlspool explain --help`.\n";

/// The error that the file at `path` cannot be explained.
fn failed(path: &Path, reason: impl Display) -> CommandError {
    CommandError::new(
        Exit::SomeFailed,
        format!("cannot explain {}: {reason}", path.display()),
    )
}

/// The file at `path`, as the walk returns it.
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

/// Explains the format of the stream, and the message at the offset.
fn find_message(
    extractor: &Extractor,
    offset: u64,
    messages: MessageSource,
) -> io::Result<Explanation> {
    let mut explained = Explanation::default();
    for step in messages {
        match step {
            InputStep::Block(block) => {
                explained.format.get_or_insert_with(|| {
                    NamedReason::of_format(block.format, &block.block.bytes)
                });
                let found = message_at(extractor, offset, &block);
                explained.messages.extend(found);
                if !explained.messages.is_empty() {
                    break;
                }
            }
            InputStep::Skipped { reason, .. } => {
                explained.skipped = Some(reason.name());
                break;
            }
            InputStep::Ended(end) => end.error.map_or(Ok(()), Err)?,
            InputStep::Failed(failure) => failure.error.map_or(Ok(()), Err)?,
            _ => {}
        }
    }
    Ok(explained)
}

/// Explains the message of `block` that contains the byte at `offset`, or else the first one after
/// it.
fn message_at(
    extractor: &Extractor,
    offset: u64,
    block: &MessageBlock,
) -> Option<ExplainedMessage> {
    let mut explained = None;
    let mut notes: Vec<Diagnostic> = Vec::new();
    block.messages(&mut |output| match output {
        SplitOutput::Diagnostic(diagnostic) => notes.push(diagnostic),
        SplitOutput::Message(message) => {
            if explained.is_none() && offset < message.end() {
                explained = Some(extractor.explain_message(&message, &block.source, &notes));
            }
            notes.clear();
        }
    });
    explained
}

/// A message: the file or member that contains it, and the offset of one of its bytes.
#[derive(Debug, PartialEq, Eq)]
struct MessageLocation {
    file: FileLocation,
    /// `None` for the first message.
    offset: Option<u64>,
}

impl MessageLocation {
    /// Parses `FILE[!MEMBER][:OFFSET]`. Without an offset, it refers to the first message. If the
    /// whole text names an existing file, it refers to that file.
    fn parse(text: &OsStr) -> MessageLocation {
        let (names, offset) = if Path::new(text).exists() {
            (text.as_bytes(), None)
        } else {
            split_offset(text.as_bytes())
        };
        MessageLocation {
            file: FileLocation::parse(OsStr::from_bytes(names)),
            offset,
        }
    }
}

/// Splits names from the offset after the last colon, if there is one.
fn split_offset(text: &[u8]) -> (&[u8], Option<u64>) {
    let colon = memchr::memrchr(b':', text);
    let found = colon.and_then(|at| {
        let offset = std::str::from_utf8(&text[at + 1..]).ok()?.parse().ok()?;
        Some((&text[..at], Some(offset)))
    });
    found.unwrap_or((text, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_file_with_an_optional_offset() {
        let check = |text: &str, path: &str, offset| {
            let expected = MessageLocation {
                file: FileLocation {
                    path: path.into(),
                    member: vec![],
                },
                offset,
            };
            assert_eq!(MessageLocation::parse(text.as_ref()), expected);
        };
        check("no/such:12", "no/such", Some(12));
        check("no/such:x", "no/such:x", None);
        check("no/such", "no/such", None);
    }
}
