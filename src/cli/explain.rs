//! `urlspool explain`: the steps of each stage for one message, in words.
//!
//! This file opens the input, finds the message and formats the explanation, which `explain` of
//! `record` creates.

use std::ffi::OsStr;
use std::fmt::{Display, Write};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::args::{ExplainArgs, When};
use super::error::{CommandError, CommandResult, Exit};
use super::location::{FileLocation, MemberStream, open_member, repository_streams, without_url};
use super::scan::job::evidence;
use super::terminal::{StdoutLines, escaped};
use urlspool_files::config::Config;
use urlspool_files::evidence::EvidenceSource;
use urlspool_files::pipeline::{InputStep, MessageBlock, MessageSource};
use urlspool_mail::split::{Format, SplitOutput};
use urlspool_record::explain::{
    CandidateOutcome, ExplainedCandidate, ExplainedJoin, ExplainedMessage, ExplainedUrl,
    Explanation, NamedReason, Note,
};
use urlspool_record::extract::Extractor;
use urlspool_record::record::{FieldId, RecordValue};
use urlspool_sources::read::{self, Input, Streams};
use urlspool_sources::walk::{self, PathFilter, SymlinkPolicy, WalkStep, WalkedFile};
use urlspool_text::diagnostic::Diagnostic;

pub(super) fn explain(args: &ExplainArgs, color: When) -> CommandResult {
    let (file, offset) = message_location(&without_url(&args.place));
    let (path, member) = (&file.path, &file.member);
    let mut config = Config::default();
    args.settings.apply(&mut config)?;
    let has_colors = color.colors(&io::stdout());
    let mut extractor = Extractor::new(config.options());
    let limits = *extractor.limits();
    match evidence(args.evidence.as_deref(), limits.evidence_urls)? {
        Some(EvidenceSource::Read(urls)) => extractor = extractor.with_evidence(urls),
        Some(EvidenceSource::Own) => {
            let message = "`explain` reads one message; for --evidence, name the records of the \
                           archive, scanned without --evidence";
            return Err(CommandError::usage(message));
        }
        None => {}
    }
    let streams = if walk::is_repository(path) {
        repository_streams(path, member, &limits)
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
    } = open_member(streams, member).map_err(|error| failed(path, error))?;
    let format = args.kind.map(Format::of);
    let messages = MessageSource::of_stream(stream, source, hint, format, &limits);
    let explained = find_message(&extractor, offset.unwrap_or(0), messages)
        .map_err(|error| CommandError::unreadable(path, error))?;
    if explained.messages.is_empty() && explained.skipped.is_none() {
        let message = format!("there is no message at byte {}", offset.unwrap_or(0));
        return Err(failed(path, message));
    }
    let mut out = StdoutLines::of_escaped_lines();
    let noun = match member[..] {
        [] => "file",
        _ => "member",
    };
    out.put(page(&explained, noun, offset, has_colors).as_bytes())?;
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

/// Parses `FILE[!MEMBER][:OFFSET]`. Without an offset, it refers to the first message. If the whole
/// text names an existing file, it refers to that file.
fn message_location(text: &OsStr) -> (FileLocation, Option<u64>) {
    let (names, offset) = if Path::new(text).exists() {
        (text.as_bytes(), None)
    } else {
        split_offset(text.as_bytes())
    };
    (FileLocation::parse(OsStr::from_bytes(names)), offset)
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

/// The text of an explanation, being built.
struct Page {
    /// `true` to print sentences about the whole message in bold, accepted candidates in green, and
    /// rejected ones in red.
    has_colors: bool,
    /// The byte that the user named.
    offset: Option<u64>,
    text: String,
}

const BOLD: &str = "\u{1b}[1m";
const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const END: &str = "\u{1b}[0m";

/// Formats the explanation of an input as lines of text without control characters. `noun` is the
/// word for the input: file or member. The candidates at the byte `offset` come first, and are
/// marked in the list of all.
fn page(explained: &Explanation, noun: &str, offset: Option<u64>, has_colors: bool) -> String {
    let mut page = Page {
        has_colors,
        offset,
        text: String::new(),
    };
    if let Some(offset) = offset {
        let candidates = explained.messages.iter();
        let candidates = candidates.flat_map(|message| &message.candidates);
        page.candidates_at(offset, &candidates.collect::<Vec<_>>());
    }
    if let Some(format) = &explained.format {
        page.line(
            0,
            &format!("The {noun} is read as {}: {}.", format.name, format.text),
        );
    }
    if let Some(reason) = explained.skipped {
        page.line(0, &format!("The {noun} is skipped: {reason}."));
    }
    for message in &explained.messages {
        page.message(message);
    }
    page.text
}

impl Page {
    /// Appends a line of text, indented by `depth` levels. Escapes control characters.
    fn line(&mut self, depth: usize, text: &str) {
        self.indent(depth);
        self.colored(if depth == 0 { BOLD } else { "" }, text);
        self.text.push('\n');
    }

    fn indent(&mut self, depth: usize) {
        self.text.extend(std::iter::repeat_n("  ", depth));
    }

    /// Appends text, in a colour if the page has colours. Escapes control characters.
    fn colored(&mut self, color: &str, text: &str) {
        let has_color = self.has_colors && !color.is_empty();
        let (start, end) = if has_color { (color, END) } else { ("", "") };
        self.text += start;
        self.text += &escaped(text);
        self.text += end;
    }

    /// Appends the candidates at `offset`, or the nearest one if there is none.
    fn candidates_at(&mut self, offset: u64, all: &[&ExplainedCandidate]) {
        let mut shown = all.to_vec();
        shown.retain(|candidate| self.is_wanted(candidate));
        let title = match (shown.is_empty(), all.is_empty()) {
            (false, _) => format!("Candidate at byte {offset}:"),
            (true, false) => format!("No candidate is at byte {offset}; the nearest:"),
            (true, true) => format!("No candidate is at byte {offset}, nor in its message."),
        };
        if shown.is_empty() {
            let distance = |candidate: &&&ExplainedCandidate| {
                let after = offset.saturating_sub(candidate.end);
                candidate.start.saturating_sub(offset).max(after)
            };
            shown.extend(all.iter().min_by_key(distance));
        }
        self.line(0, &title);
        shown
            .into_iter()
            .for_each(|candidate| self.candidate(candidate));
    }

    /// Returns `true` for a candidate at the byte that the user named.
    fn is_wanted(&self, candidate: &ExplainedCandidate) -> bool {
        let range = candidate.start..candidate.end;
        self.offset.is_some_and(|offset| range.contains(&offset))
    }

    fn message(&mut self, message: &ExplainedMessage) {
        let ExplainedMessage {
            start,
            end,
            envelope,
            ..
        } = *message;
        self.line(0, &format!("The message is in bytes {start} to {end}."));
        if envelope > 0 {
            let text =
                format!("The first {envelope} bytes are the envelope, not part of the message.");
            self.line(1, &text);
        }
        if message.wire {
            let text = "It is in wire format: dots at line starts are doubled, and the last line \
                        is a dot.";
            self.line(1, text);
        }
        self.notes(&message.border_notes);
        self.line(0, &message.header);
        for field in &message.fields {
            self.line(1, &format!("{}: {}", field.name, field.value));
        }
        self.line(0, "Its parts:");
        for part in &message.parts {
            let charset = part.charset.as_ref();
            let charset = charset.map_or(String::new(), |charset| format!(", charset {charset}"));
            let (path, media_type, encoding) = (&part.path, &part.media_type, &part.encoding);
            let outcome = &part.outcome;
            self.line(
                1,
                &format!("{path} {media_type}{charset}, {encoding}; {outcome}"),
            );
        }
        self.notes(&message.part_notes);
        self.line(0, "Candidates in order:");
        for candidate in &message.candidates {
            if self.is_wanted(candidate) {
                self.line(1, "the candidate at the byte that was named:");
            }
            self.candidate(candidate);
        }
        if message.candidates.is_empty() {
            self.line(1, "none: no searched text looks like the start of a URL");
        }
    }

    fn notes(&mut self, notes: &[Note]) {
        for Note {
            kind, offset, text, ..
        } in notes
        {
            let place = offset.map_or(String::new(), |offset| format!(" at byte {offset}"));
            self.line(1, &format!("{kind}{place}: {text}."));
        }
    }

    fn candidate(&mut self, candidate: &ExplainedCandidate) {
        match &candidate.outcome {
            CandidateOutcome::Accepted(url) => {
                let depth = url.record.integer(FieldId::QuoteDepth).unwrap_or_default();
                let quoted = match depth {
                    0 => String::new(),
                    depth => format!(", quoted {depth} deep"),
                };
                let place = format!("{}, {}{quoted}", range(candidate), url.record.region());
                self.verdict(&place, GREEN, "accepted", &candidate.text);
                self.url(url);
            }
            CandidateOutcome::Rejected(reason) => {
                self.verdict(&range(candidate), RED, "rejected", &candidate.text);
                self.line(2, &reason.text);
            }
        }
    }

    /// Appends the first line of a candidate: its place, the verdict, and the URL or word.
    fn verdict(&mut self, place: &str, color: &str, verdict: &str, url: &str) {
        self.indent(1);
        self.text += &escaped(place);
        self.text += ": ";
        self.colored(color, verdict);
        self.text += ": ";
        self.colored(BOLD, url);
        self.text.push('\n');
    }

    fn url(&mut self, url: &ExplainedUrl) {
        let confidence = url.record.confidence();
        let wrapper = &url.wrapper.text;
        self.line(
            2,
            &format!("set off by {wrapper}; confidence {confidence:.2}"),
        );
        for repair in &url.repairs {
            self.line(2, &format!("{}: {}", repair.name, repair.text));
        }
        self.grammars(url);
        for join in &url.joins {
            self.join(join);
        }
        for other in &url.alternates {
            let (why, url) = (&other.why.text, &other.text);
            let confidence = other.confidence;
            self.line(2, &format!("or, {why}, confidence {confidence:.2}: {url}"));
        }
        for target in &url.targets {
            let (by, url) = (target.redirector, &target.text);
            self.line(2, &format!("inside it, redirected by {by}: {url}"));
        }
    }

    fn grammars(&mut self, url: &ExplainedUrl) {
        if *url.record.value(FieldId::Truncated) == RecordValue::Boolean(true) {
            let text = "longer than the limit on URLs: not checked by the grammars";
            return self.line(2, text);
        }
        let names: Vec<&str> = url.record.texts(FieldId::Conforms).collect();
        let names = if names.is_empty() {
            "no grammar".to_owned()
        } else {
            names.join(", ")
        };
        self.line(2, &format!("accepted by {names}"));
        if let Some(reject) = url.record.text(FieldId::ErrorMessage) {
            self.line(2, &format!("rejected by rfc1738: {reject}"));
        }
    }

    /// Explains why a bare URL continues on the next line, or does not.
    fn join(&mut self, join: &ExplainedJoin) {
        let mut list = String::new();
        for (name, points) in &join.features {
            let _ = write!(list, " {name} {points:+},");
        }
        let (at, sum, confidence) = (join.at, join.points, join.confidence);
        let list = list.trim_end_matches(',');
        self.line(
            2,
            &format!(
                "the next line, after byte {at}:{list}; {sum:+} points, confidence {confidence:.2}"
            ),
        );
    }
}

/// Formats the byte range and the line of a candidate.
fn range(candidate: &ExplainedCandidate) -> String {
    let about = if candidate.exact { "" } else { "about " };
    let (start, end, line) = (candidate.start, candidate.end, candidate.line);
    format!("{about}bytes {start} to {end}, line {line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_file_with_an_optional_offset() {
        let check = |text: &str, path: &str, offset| {
            let file = FileLocation {
                path: path.into(),
                member: vec![],
            };
            assert_eq!(message_location(text.as_ref()), (file, offset));
        };
        check("no/such:12", "no/such", Some(12));
        check("no/such:x", "no/such:x", None);
        check("no/such", "no/such", None);
    }

    use urlspool_mail::split::Message;
    use urlspool_text::origin::Source;

    fn page(message: &Message<'_>) -> String {
        page_at(message, None)
    }

    fn page_at(message: &Message<'_>, offset: Option<u64>) -> String {
        let source = Source::at("x".into());
        let message = Extractor::default().explain_message(message, &source, &[]);
        let mut explained = Explanation::default();
        explained.messages.push(message);
        super::page(&explained, "file", offset, false)
    }

    #[test]
    fn a_message_is_explained_stage_by_stage() {
        let raw = b"From: a\nMessage-ID: <i@x>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; \
                boundary=b\n\n--b\n\n\
                see <URL:http://a.\n  example/> and std::x and <http://unclosed.example/\n\n--b\n\
                Content-Type: image/png\nContent-Transfer-Encoding: base64\n\nAAAA\n--b--\n";
        let mut message = Message::parse(raw);
        message.start = 1000;
        let page = page(&message);
        for line in [
            "The message is in bytes 1000 to",
            "Message-ID: <i@x>",
            "1 text/plain, 7bit; read:",
            "2 image/png, base64; skipped",
            "accepted: http://a.example/",
            "line-break: a line break and the white space around it were removed",
            "accepted by rfc1738, rfc3986, whatwg",
            "rejected:",
            "the wrapper does not close",
        ] {
            assert!(page.contains(line), "{line} in\n{page}");
        }
    }

    #[test]
    fn the_candidate_at_the_offset_comes_first_and_is_marked() {
        let raw = b"From: a\n\nhttp://a.example/ http://b.example/\n";
        let page = page_at(&Message::parse(raw), Some(30));
        let verdict = "bytes 27 to 44, line 3, body: accepted: http://b.example/";
        let first = format!("Candidate at byte 30:\n  {verdict}\n");
        assert!(page.starts_with(&first), "{page}");
        let marked = format!("  the candidate at the byte that was named:\n  {verdict}\n");
        assert!(page.contains(&marked), "{page}");
        let other = page_at(&Message::parse(raw), Some(8));
        let nearest = "No candidate is at byte 8; the nearest:\n  bytes 9 to 26";
        assert!(other.starts_with(nearest), "{other}");
    }

    #[test]
    fn the_features_of_a_join_are_explained() {
        let raw = b"From: a\n\nIt is described in detail at \
            http://www.host.example/path/to/some/documents/\n\
                    and-more/of-them/index.html\n\n";
        let page = page(&Message::parse(raw));
        assert!(
            page.contains("base ") && page.contains("points, confidence"),
            "{page}"
        );
    }

    #[test]
    fn control_characters_are_escaped() {
        let raw = b"From: a\nSubject: \x1b[31mred\n\n\x1b]0;x\x07 http://a.example/\n";
        let page = page(&Message::parse(raw));
        assert!(!page.contains('\u{1b}') && page.contains("red"), "{page}");
    }
}
