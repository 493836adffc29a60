//! `urlspool explain`: what each stage made of one message, in words. The stages give values; the words stand here.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::args::ExplainArgs;
use super::exit::Exit;
use super::terminal::harmless;
use super::{Failure, Outcome, place, print};
use crate::decode::{
    DecodedText, HeaderFields, HeaderPolicy, MessageInfo, Region, SkippedPart, texts,
};
use crate::diagnostic::Diagnostic;
use crate::limits::SNIFF_BYTES;
use crate::origin::Source;
use crate::parse::{AlternateReason, Grammar, RejectReason, Wrapper};
use crate::pipeline::{Extractor, Finding, Options, extract};
use crate::read::{self, Input, SparseRead, Streams};
use crate::record::{Record, RecordOrigin};
use crate::repair::{Join, Repair};
use crate::split::{
    self, BlockReader, Format, HeaderForm, MboxDialect, Message, OpenedStream, SplitOutput,
    mbox_dialect, messages,
};
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
    let (source, hint, stream) = place::member(streams, &member).map_err(io)?;
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
    let (path, member) = place::names(names);
    Spot {
        path,
        member,
        offset,
    }
}

/// What is written for a reader.
struct Page {
    options: Options,
    out: String,
}

impl Page {
    /// A line of text, indented. Nothing that a terminal obeys gets into it.
    fn line(&mut self, depth: usize, text: &str) {
        self.out.extend(std::iter::repeat_n("  ", depth));
        self.out += &harmless(text);
        self.out.push('\n');
    }

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

    fn message(&mut self, message: &Message<'_>, source: &Source, doubts: &[Diagnostic]) {
        let Message {
            start, envelope, ..
        } = *message;
        self.line(
            0,
            &format!("The message lies in octets {start} to {}.", message.end()),
        );
        if envelope > 0 {
            self.line(
                1,
                &format!("Its first {envelope} octets are the envelope, not the message's own."),
            );
        }
        if message.wire {
            self.line(1, "It is in wire format: dots at line starts are doubled, and its last line is a dot.");
        }
        self.diagnostics(doubts);
        let fields = match message.header {
            HeaderForm::Present => HeaderFields::of(message.raw, self.options.limits.header_bytes),
            HeaderForm::Copied { body } => HeaderFields {
                body,
                ..HeaderFields::of(message.raw, self.options.limits.header_bytes)
            },
            HeaderForm::Absent | HeaderForm::ANews => HeaderFields::default(),
        };
        self.info(message, &fields);
        self.parts(message, &fields);
        self.candidates(message, source);
    }

    fn diagnostics(&mut self, diagnostics: &[Diagnostic]) {
        for Diagnostic {
            kind,
            offset,
            message,
        } in diagnostics
        {
            let place = offset.map_or(String::new(), |offset| format!(" at octet {offset}"));
            self.line(1, &format!("{}{place}: {message}.", kind.name()));
        }
    }

    fn info(&mut self, message: &Message<'_>, fields: &HeaderFields) {
        let info = match message.header {
            HeaderForm::Absent => {
                return self.line(0, "It has no header: it is text from its first octet on.");
            }
            HeaderForm::ANews => MessageInfo::of_a_news(message.raw),
            HeaderForm::Present | HeaderForm::Copied { .. } => {
                MessageInfo::of(message.raw, fields, self.options.limits.field_bytes)
            }
        };
        match message.header {
            HeaderForm::ANews => self.line(0, "Its header is A news': five lines without names."),
            HeaderForm::Copied { .. } => self.line(
                0,
                "A copy of some fields stands behind its header, and is left.",
            ),
            _ => self.line(0, &format!("Its header has {} fields.", fields.all.len())),
        }
        let date = info.date.map(|date| match date.utc {
            Some(utc) => format!("{utc}, written {}", date.raw),
            None => format!("{}, which cannot be read", date.raw),
        });
        let groups = (!info.newsgroups.is_empty()).then(|| info.newsgroups.join(", "));
        let rows = [
            ("Message-ID", info.id),
            ("From", info.from),
            ("Date", date),
            ("Subject", info.subject),
            ("Newsgroups", groups),
            ("List-Id", info.list_id),
        ];
        for (name, value) in rows {
            if let Some(value) = value {
                self.line(1, &format!("{name}: {value}"));
            }
        }
    }

    /// The leaves of the tree of parts; the path of each tells where in it.
    fn parts(&mut self, message: &Message<'_>, fields: &HeaderFields) {
        let base = message.raw_start();
        let mut rows = Vec::new();
        let mut note = |text: &DecodedText<'_>| {
            let (Region::Body, Some(part)) = (text.region, text.part) else {
                return;
            };
            let page = text.page.as_ref().map_or(String::new(), |page| {
                format!(", {} links", page.links.len())
            });
            rows.push((
                part.clone(),
                format!("read: {} octets of text{page}", text.bytes.len()),
            ));
        };
        let decoded = texts(
            message,
            fields,
            &self.options.limits,
            HeaderPolicy::Skip,
            &mut |text| note(&text),
        );
        for SkippedPart { part, raw: span } in decoded.skipped_parts {
            let place = format!(
                "octets {} to {}",
                base + span.start as u64,
                base + span.end as u64
            );
            rows.push((
                part,
                format!("left: no text; {} octets, {place}", span.len()),
            ));
        }
        // Components are compared as numbers: part 10 comes behind part 9.
        rows.sort_by_key(|(part, _)| {
            part.path
                .split('.')
                .map(|digits| digits.parse().unwrap_or(0))
                .collect::<Vec<u64>>()
        });
        self.line(0, "Its parts:");
        for (part, what) in rows {
            let charset = part
                .charset
                .map_or(String::new(), |charset| format!(", charset {charset}"));
            self.line(
                1,
                &format!(
                    "{} {}{charset}, {}; {what}",
                    part.path, part.media_type, part.encoding
                ),
            );
        }
        self.diagnostics(&decoded.diagnostics);
    }

    fn candidates(&mut self, message: &Message<'_>, source: &Source) {
        self.line(0, "Its candidates, in the order in which they stand there:");
        let extractor = Extractor::new(self.options.clone());
        let mut count = 0;
        extract(message, source, &extractor, &mut |finding| match finding {
            Finding::Url(record) => {
                count += 1;
                self.taken(record);
            }
            Finding::Unwrapped(record) => {
                let by = record
                    .redirected_from
                    .map_or("a redirector", |from| from.redirector);
                self.line(
                    2,
                    &format!("inside it, behind {by}: {}", shown(record.found.full)),
                );
            }
            Finding::Reject(reason, text, place) => {
                count += 1;
                self.line(1, &format!("{}: refused: {}", at(&place), shown(text)));
                self.line(2, &in_words(reason));
            }
            Finding::Filtered
            | Finding::Folded(_)
            | Finding::Diagnostic(_)
            | Finding::Parts(..) => {}
        });
        if count == 0 {
            self.line(1, "none: nothing in it looks like the start of a URL");
        }
    }

    fn taken(&mut self, record: &Record<'_>) {
        let found = record.found;
        let quoted = if record.quote_depth > 0 {
            format!(", quoted {} deep", record.quote_depth)
        } else {
            String::new()
        };
        self.line(
            1,
            &format!(
                "{}, {}{quoted}: taken: {}",
                at(&record.origin),
                record.region,
                shown(found.full)
            ),
        );
        self.line(
            2,
            &format!(
                "set off by {}; confidence {:.2}",
                set_off(found.wrapper),
                found.confidence
            ),
        );
        for repair in found.repairs.iter() {
            self.line(2, &format!("{}: {}", repair.name(), undone(repair)));
        }
        self.verdicts(record);
        for join in record
            .joins
            .iter()
            .filter(|join| join.features.iter().next().is_some())
        {
            self.evidence(join);
        }
        for other in found.alternates {
            let why = instead(other.why);
            self.line(
                2,
                &format!(
                    "or, with confidence {:.2}, {why}: {}",
                    other.confidence,
                    shown(&other.full)
                ),
            );
        }
    }

    fn verdicts(&mut self, record: &Record<'_>) {
        let Some(verdicts) = record.found.verdicts else {
            return self.line(2, "longer than URLs are kept: no grammar was asked");
        };
        let accepts: Vec<&str> = verdicts.conforms().map(Grammar::name).collect();
        let who = if accepts.is_empty() {
            "no grammar".to_owned()
        } else {
            accepts.join(", ")
        };
        self.line(2, &format!("accepted by {who}"));
        if let Err(reject) = &verdicts.rfc1738 {
            self.line(2, &format!("refused by rfc1738: {reject}"));
        }
    }

    /// AlternateReason a bare URL goes on in the next line, or does not.
    fn evidence(&mut self, join: &Join) {
        let mut list = String::new();
        for evidence in join.features.iter() {
            let _ = write!(list, " {} {:+},", evidence.name(), evidence.points());
        }
        let sum = join.features.points();
        let list = list.trim_end_matches(',');
        self.line(
            2,
            &format!(
                "the next line, behind octet {}:{list}; {sum:+} points, confidence {:.2}",
                join.at, join.confidence
            ),
        );
    }
}

/// What the start of a file told.
fn recognised(format: Format, start: &[u8]) -> String {
    let name = format.kind().name();
    let how = match format {
        Format::Mbox | Format::Mboxcl => {
            let dialect = mbox_dialect(start);
            let how = match dialect {
                MboxDialect::Mboxo => "`From ` lines divide it",
                MboxDialect::Mboxrd => {
                    "`From ` lines divide it; quoted ones in bodies are quoted again"
                }
                MboxDialect::Mboxcl | MboxDialect::Mboxcl2 => {
                    "`From ` lines divide it, and Content-Length fields where they are true"
                }
            };
            return format!("{name} ({}): {how}", dialect.name());
        }
        Format::Rnews => "a line before each article tells its length",
        Format::Mmdf => "lines of four control-A divide it",
        Format::Babyl => "it begins with Rmail's options",
        Format::Emlx => "its first line is the length of one message of Apple Mail's",
        Format::Single(_) => "it begins with a header and is one message",
        Format::Text => "no header stands at its start",
    };
    format!("{name}: {how}")
}

fn at(place: &RecordOrigin<'_>) -> String {
    let about = if place.exact { "" } else { "about " };
    format!(
        "{about}octets {} to {}, line {}",
        place.start, place.end, place.line
    )
}

/// Bytes as text, and not too many of them.
fn shown(octets: &[u8]) -> String {
    const MOST_CHARS: usize = 300;
    let text = String::from_utf8_lossy(octets);
    let kept: String = text.chars().take(MOST_CHARS).collect();
    if kept.len() < text.len() {
        format!("{kept} ... ({} octets)", octets.len())
    } else {
        kept
    }
}

fn in_words(reason: RejectReason) -> String {
    match reason {
        RejectReason::Grammar(reject) => {
            format!("RFC 1738 refuses it, and no other grammar may take it: {reject}")
        }
        RejectReason::Host => {
            "its scheme names a host, and what stands there cannot be one".to_owned()
        }
        RejectReason::Implausible => {
            "what follows the scheme is not what bare URLs of that scheme look like".to_owned()
        }
        RejectReason::TwoUrls => {
            "two URLs begin in one wrapper; each is looked at by itself".to_owned()
        }
        RejectReason::Unclosed => {
            "the wrapper does not close; what is in it is looked at without it".to_owned()
        }
        RejectReason::Relative => "relative to a page that nobody knows".to_owned(),
        RejectReason::NoLocation => "data or a program, no location".to_owned(),
        RejectReason::Reread => {
            "the same octets gave this URL in another reading of the message".to_owned()
        }
    }
}

fn set_off(wrapper: Wrapper) -> &'static str {
    match wrapper {
        Wrapper::UrlBracket => "`<URL:` and `>`",
        Wrapper::Angle => "`<` and `>`",
        Wrapper::UrlPrefix => "`URL:` before it",
        Wrapper::Bare => "nothing: its scheme begins it, blanks and punctuation end it",
        Wrapper::Attr => "an attribute's quotes",
        Wrapper::Schemeless => {
            "nothing: a host that begins with `www.` or `ftp.`, its scheme is a guess"
        }
    }
}

fn undone(repair: Repair) -> &'static str {
    match repair {
        Repair::Whitespace => "blanks in a line were taken out",
        Repair::LineBreak => "a line break and the blanks around it were taken out",
        Repair::Hyphen => "a hyphen stands before a line break, and was kept",
        Repair::HyphenDropped => "a hyphen stood before a line break, and was dropped",
        Repair::QuotePrefix => "quote marks at the start of a line were taken out",
        Repair::PageBreak => "what stands between two printed pages was taken out",
        Repair::BareContinuation => "the next line was joined",
    }
}

fn instead(why: AlternateReason) -> &'static str {
    match why {
        AlternateReason::HyphenDropped => "without the hyphens before line breaks",
        AlternateReason::TrimmedTail => "with the punctuation that came off its end",
        AlternateReason::BareContinuation => "joined with the next line",
        AlternateReason::HeadOnly => "without the next line",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_explained_stage_by_stage() {
        let raw =
            b"From: a\nMessage-ID: <i@x>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n\
                    see <URL:http://a.\n  example/> and std::x and <http://unclosed.example/\n\n--b\n\
                    Content-Type: image/png\nContent-Transfer-Encoding: base64\n\nAAAA\n--b--\n";
        let mut page = Page {
            options: Options::default(),
            out: String::new(),
        };
        let mut message = Message::alone(raw);
        message.start = 1000;
        page.message(&message, &Source::at("x".into()), &[]);
        for line in [
            "The message lies in octets 1000 to",
            "Message-ID: <i@x>",
            "1 text/plain, 7bit; read:",
            "2 image/png, base64; left: no text",
            "taken: http://a.example/",
            "line-break: a line break and the blanks around it were taken out",
            "accepted by rfc1738, rfc3986, whatwg",
            "refused:",
            "the wrapper does not close",
        ] {
            assert!(page.out.contains(line), "{line} in\n{}", page.out);
        }
    }

    #[test]
    fn the_evidence_for_a_join_is_told() {
        let raw = b"From: a\n\nIt is described in detail at http://www.host.example/path/to/some/documents/\n\
                    and-more/of-them/index.html\n\n";
        let mut page = Page {
            options: Options::default(),
            out: String::new(),
        };
        page.message(&Message::alone(raw), &Source::at("x".into()), &[]);
        assert!(
            page.out.contains("base -3.5,") && page.out.contains("points, confidence"),
            "{}",
            page.out
        );
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_shown() {
        let raw = b"From: a\nSubject: \x1b[31mred\n\n\x1b]0;x\x07 http://a.example/\n";
        let mut page = Page {
            options: Options::default(),
            out: String::new(),
        };
        page.message(&Message::alone(raw), &Source::at("x".into()), &[]);
        assert!(
            !page.out.contains('\u{1b}') && page.out.contains("red"),
            "{}",
            page.out
        );
    }

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
