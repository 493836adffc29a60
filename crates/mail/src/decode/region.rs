//! Regions of a body: new text, signature, forwarded message, and the footer of a mailing list; and
//! the messages in it, forwarded ones and those of a digest (RFC 1153).
//!
//! Mail programs put a block of header lines before a message that is answered or forwarded, and
//! such a block starts a region too. Outlook writes no line of hyphens there, but the fields in the
//! user's language: `Von:`, `Gesendet:`, `An:`, `Betreff:`.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;
use urlspool_text::named_enum;

use memchr::memmem::{self, Finder};

use super::message_info::{Author, AuthorKind};
use super::{DecodedText, LineLayout};
use crate::lines::{begins_with, first_line, is_blank, is_line_start, line_end, run_len};
use crate::split::is_field;
use urlspool_text::byte_scan::{WordSearcher, ends_with_caseless};

/// Value of a record's `region` for an external body.
pub const EXTERNAL_BODY_REGION: &str = "external-body";

named_enum! {
    /// Kind of region in a body.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BodyRegion {
        /// Text written for this message.
        Body = "body",
        /// Text below the line `-- `.
        Signature = "signature",
        /// Text below a line that announces a forwarded message or one that was answered in full,
        /// or below the first of the header lines that Outlook puts before such a message.
        Forwarded = "forwarded",
        /// Text below a mailing list's rule, at the end of the body.
        Footer = "footer",
    }
}

/// Maximum length of a list's footer. A rule further from the end is part of the text.
const FOOTER_BYTES: usize = 1_500;

/// Mailman's rule of underscores.
const RULE: &[u8] = b"____________________________________";

/// Starts of lines below which a region begins even without header lines, separated by semicolons.
const FORWARDS: &str = "-----Original Message-----;---------- Forwarded message;\
    ----- Forwarded message;-------- Original Message --------;\
    -------- Forwarded Message --------;Begin forwarded message:";
const BEGIN_FORWARDED: &[u8] = b"Begin forwarded message:";

/// Finds the line ends before lines that [`Regions::of`] may recognise, by the first two bytes of
/// the line.
static LINES: LazyLock<WordSearcher> = LazyLock::new(|| {
    WordSearcher::new(&[
        "\n--", "\n==", "\n<<", "\n<-", "\nBe", "\n*F", "\n*V", "\n*D", "\n**", "\nFr", "\nVo",
        "\nVa", "\nDe", "\nDa", "\n发",
    ])
});

/// Finds Mailman's rule.
static RULES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(RULE));

/// Returns `true` if a text of `list`, separated by semicolons, begins `text`, in any case.
fn begins_any(text: &[u8], list: &str) -> bool {
    let mut list = list.split(';');
    list.any(|known| begins_with(text, known.as_bytes()))
}

/// The regions of a text: offset and kind of each, in order. The first begins at 0, each ends where
/// the next begins. So do the messages in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regions {
    regions: Vec<(usize, BodyRegion)>,
    messages: Vec<TextMessage>,
}

/// Start of a message in a text, or the place at which the message around the text goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TextMessage {
    at: usize,
    /// Offset of its header lines.
    header: usize,
    /// `None` for the message around the text.
    kind: Option<AuthorKind>,
    /// `true` if all of its lines have a quote mark.
    is_quoted: bool,
}

impl Regions {
    /// Divides a text. Linear.
    #[must_use]
    pub fn of(text: &[u8]) -> Regions {
        let (mut regions, mut messages) = (vec![(0, BodyRegion::Body)], Vec::new());
        let starts = std::iter::successors(Some(0), |after: &usize| {
            LINES.find(text, *after).map(|end| end + 1)
        });
        let tail = text.len().saturating_sub(FOOTER_BYTES);
        let mut digest = None;
        for at in starts {
            let message = TextMessage::at(text, at, digest);
            let is_new = message.is_none_or(|message| {
                messages.last().and_then(TextMessage::author) != message.author()
            });
            let rest = &text[at..];
            let hyphens = run_len(rest, |byte| byte == b'-');
            let region = match message.map(|message| message.kind) {
                None if matches!(first_line(rest), b"-- " | b"-- \r") => {
                    Some(BodyRegion::Signature)
                }
                None if !matches!(rest.get(hyphens), Some(b' ' | b'O' | b'o' | b'B' | b'b')) => {
                    None
                }
                None if !begins_any(rest, FORWARDS) => None,
                None | Some(Some(AuthorKind::Text)) => Some(BodyRegion::Forwarded),
                // Anybody can write the end of a forwarded message: it is no end of the region.
                Some(_) => None,
            };
            let at = message.map_or(at, |message| message.at);
            if let Some(message) = message {
                digest = match message.kind {
                    Some(AuthorKind::Text) => digest.map(|last| TextMessage { at, ..last }),
                    kind => kind.map(|_| message),
                };
                // Repeated ends take no memory.
                if is_new {
                    messages.push(message);
                }
            }
            // A region that goes on needs no entry, but for those that the footer may divide.
            if let Some(region) = region
                && (tail <= at || regions.last().is_none_or(|&(_, last)| last != region))
            {
                regions.push((at, region));
            }
        }
        let mut rules = RULES.find_iter(&text[tail..]).map(|at| tail + at);
        let rule = rules.find(|&at| is_line_start(text, at));
        regions.extend(rule.map(|at| (at, BodyRegion::Footer)));
        regions.sort_by_key(|(at, _)| *at);
        Regions { regions, messages }
    }

    /// Returns the index of the message in `text` that holds the byte at `at`. `None` for the
    /// message around the text. `text` is the divided text. Logarithmic in the number of messages.
    #[must_use]
    pub fn message_at(&self, text: &[u8], at: usize) -> Option<usize> {
        let index = self.messages.partition_point(|found| found.at <= at);
        let index = index.checked_sub(1)?;
        let message = &self.messages[index];
        message.kind?;
        let is_in = !message.is_quoted || is_in_quote(text, at);
        (is_in && self.at(at) != BodyRegion::Footer).then_some(index)
    }

    /// Returns the author of the message with this index. Each field has at most `max_bytes` bytes.
    #[must_use]
    pub fn author(
        &self,
        text: &DecodedText<'_>,
        message: usize,
        max_bytes: usize,
    ) -> Option<Author> {
        let TextMessage { header, kind, .. } = *self.messages.get(message)?;
        let lines = header_block(text, header);
        let lines = HeaderLines::of(&lines, text.lines)?;
        Some(Author::of_lines(kind?, &lines, max_bytes))
    }

    /// Returns the kind of the region that contains the byte at `at`. Logarithmic in the number of
    /// regions.
    #[must_use]
    pub fn at(&self, at: usize) -> BodyRegion {
        let index = self.regions.partition_point(|&(begin, _)| begin <= at);
        self.regions[index - 1].1
    }
}

/// Copies the header lines at `header`, at least those that [`HeaderLines::of`] reads. In a field,
/// a line feed of a page's source becomes a blank, unless another field or a blank line follows:
/// in preformatted text it ends a line.
fn header_block(text: &DecodedText<'_>, header: usize) -> Vec<u8> {
    let block = &text.bytes[header..];
    let block = &block[..block.len().min(HEADER_LINES_BYTES)];
    let mut copy = Vec::new();
    let (mut senders, mut other_lines, mut is_in_field, mut begins) = (0, 0, false, true);
    for line in block.split_inclusive(|&byte| byte == b'\n') {
        if begins {
            is_in_field = is_other_field(line);
            senders += usize::from(field_name(line).and_then(FieldNames::index_of) == Some(0));
            other_lines += usize::from(!is_in_field && !is_blank(line[0]));
        }
        copy.extend_from_slice(line);
        let is_end = line.trim_ascii().is_empty() || line.starts_with(b"-");
        if is_end || 1 < senders || FOLDED_LINES < other_lines {
            break;
        }
        let next = first_line(&block[copy.len()..]).trim_ascii_end();
        let end = copy.len() - 1;
        begins = !is_in_field
            || copy[end] != b'\n'
            || ends_subject(next)
            || !text.is_source_blank(header + end);
        if !begins {
            copy[end] = b' ';
        }
    }
    copy
}

/// Words that announce a message, before one of [`KINDS`], in lower case, separated by semicolons.
/// The last two are those of qmail and Exim.
const BEGINS: &str = ";begin ;start of ;below this line is a ;this is a ";

/// Words that end one, before one of [`KINDS`].
const ENDS: &str = "end ;end of ";

/// Words for a message in a text.
const KINDS: &str =
    "forward;fwd;included message;included text;inclusion;original message;copy of the m";

/// Returns `true` for a line whose first signs may frame such words.
fn is_marked(line: &[u8]) -> bool {
    matches!(line.first_chunk(), Some(b"--" | b"==" | b"<<" | b"<-"))
}

/// Hyphens between two messages of a digest (RFC 1153).
const SEPARATOR: &[u8] = &[b'-'; 30];

/// Hyphens before its first message.
const PREAMBLE_END: &[u8] = &[b'-'; 70];

/// Maximum number of blank lines between a line that announces a message and its header lines.
const BLANK_LINES: usize = 3;

impl TextMessage {
    /// Returns the message that names the author; `None` for the message around the text.
    fn author(&self) -> Option<(usize, AuthorKind)> {
        self.kind.map(|kind| (self.header, kind))
    }

    /// Returns the message that begins with the line at `at`, or goes on after it. `digest` is the
    /// last message of a digest before it.
    fn at(text: &[u8], at: usize, digest: Option<TextMessage>) -> Option<TextMessage> {
        let rest = &text[at..];
        let line = first_line(rest).trim_ascii_end();
        let words = &line[run_len(line, |byte| byte == b'<')..];
        let words = &words[run_len(words, |byte| b"-= ".contains(&byte))..];
        let is_marked = is_marked(line);
        // Most marked lines are rules, or begin and end signed text.
        let is_signed = words.starts_with(b"BEGIN PGP ") || words.starts_with(b"END PGP ");
        let may_announce = is_marked && !words.is_empty() && !is_signed;
        if may_announce && has_words(words, ENDS) {
            let digest = digest.unwrap_or_default();
            return Some(TextMessage { at, ..digest });
        }
        let is_divided = line == SEPARATOR || line == PREAMBLE_END;
        let is_announced = may_announce && has_words(words, BEGINS) || line == BEGIN_FORWARDED;
        let is_framed = line.starts_with(b"--")
            && line.ends_with(b"--")
            && words.first().is_some_and(u8::is_ascii_alphabetic)
            && !words.starts_with(b"BEGIN ")
            && !words.starts_with(b"END ");
        let is_block = !is_marked && begins_block(rest);
        let mut header = at;
        if is_divided || is_announced || is_framed {
            header = line_end(text, at);
            for _ in 0..BLANK_LINES {
                let line = first_line(&text[header..]);
                let unescaped = &line[run_len(line, |byte| byte == b'>')..];
                // mutt copies the `From ` line of a mailbox.
                let is_envelope = unescaped.starts_with(b"From ") && !is_other_field(unescaped);
                if line.trim_ascii().is_empty() || is_envelope {
                    header = line_end(text, header);
                }
            }
        } else if !is_block {
            return None;
        }
        let kind = match HeaderLines::of(&text[header..], LineLayout::LaidOut) {
            Some(lines) if is_divided && lines.are_complete() => Some(AuthorKind::Digest),
            Some(lines) if is_announced && lines.are_plausible() || is_block => {
                Some(AuthorKind::Text)
            }
            Some(lines) if is_framed && lines.are_complete() => Some(AuthorKind::Text),
            // No line of a message of a digest is a separator.
            _ if is_divided && digest.is_some() => None,
            _ => return None,
        };
        let next = &text[line_end(text, header)..];
        // A single mark is the escape of `From`.
        let is_quoted = text[header..].starts_with(b"> ")
            || text[header..].starts_with(b">") && next.starts_with(b">");
        let is_end = kind.is_none() && text[header..].starts_with(b"End of ");
        let last = digest.filter(|_| is_end);
        let trailer = last.and_then(|last| trailer(&text[..at], last.at));
        Some(TextMessage {
            at: trailer.unwrap_or(header),
            header,
            kind,
            is_quoted,
        })
    }
}

/// Returns `true` if one of `starts` and then one of [`KINDS`] begin `words`.
fn has_words(words: &[u8], starts: &str) -> bool {
    let starts = starts.split(';').map(str::as_bytes);
    let mut starts = starts.filter(|start| begins_with(words, start));
    starts.any(|start| begins_any(&words[start.len()..], KINDS))
}

/// Returns the start of the moderator's text at the end of a digest, whose last message begins at
/// `from`: a line of hyphens between blank lines, longer than a separator.
fn trailer(digest: &[u8], from: usize) -> Option<usize> {
    let at = from + memmem::rfind(digest.get(from..)?, PREAMBLE_END)?;
    let start = memchr::memrchr(b'\n', &digest[..at])? + 1;
    let above = digest[..start].trim_ascii_end().len();
    let rest = &digest[start + run_len(&digest[start..], |byte| byte == b'-')..];
    let lines = rest.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let is_apart = memchr::memchr_iter(b'\n', &digest[above..start]).count() > 1;
    (is_apart && lines.take(2).all(<[u8]>::is_empty)).then_some(start)
}

/// Returns `true` if the line with the byte at `at` begins with a quote mark. A long line does not.
fn is_in_quote(text: &[u8], at: usize) -> bool {
    let from = at.saturating_sub(QUOTED_LINE_BYTES);
    let line = memchr::memrchr(b'\n', &text[from..at]).map(|end| from + end + 1);
    line.or((from == 0).then_some(0))
        .is_some_and(|start| text[start..].starts_with(b">"))
}

/// Maximum number of bytes before a URL in a quoted line. A long line may hold many URLs.
const QUOTED_LINE_BYTES: usize = 4 << 10;

/// Header lines in a text. Each value is the rest of its line. The sender's address and the subject
/// may be broken over lines.
#[derive(Clone, Debug, Default)]
pub(super) struct HeaderLines<'t> {
    pub(super) from: Option<Cow<'t, [u8]>>,
    pub(super) date: Option<Cow<'t, [u8]>>,
    pub(super) subject: Option<Cow<'t, [u8]>>,
    pub(super) id: Option<Cow<'t, [u8]>>,
}

/// Maximum length of header lines. Copies of whole headers have many fields before From.
const HEADER_LINES_BYTES: usize = 16 << 10;

impl<'t> HeaderLines<'t> {
    /// Reads the header lines at the start of `text`, which may have quote marks, up to the second
    /// From. `None` without a sender.
    fn of(text: &'t [u8], layout: LineLayout) -> Option<HeaderLines<'t>> {
        let text = &text[..text.len().min(HEADER_LINES_BYTES)];
        let is_quoted = text.starts_with(b">");
        let (mut found, mut folded) = (HeaderLines::default(), 0);
        let lines = text.split(|&byte| byte == b'\n');
        let mut lines = lines.map(|line| match line.strip_prefix(b">") {
            Some(line) if is_quoted => line.strip_prefix(b" ").unwrap_or(line),
            // Mailboxes escape this line too if a program looked for `From` alone.
            Some(line) if line.starts_with(b"From:") => line,
            _ => line,
        });
        while let Some(line) = lines.next() {
            // Field names have no such signs at the start: lines of them would be read again and
            // again.
            if line.trim_ascii().is_empty() || line.starts_with(b"-") || is_marked(line) {
                break;
            }
            let Some((name, value)) = field(line).filter(|_| !is_blank(line[0])) else {
                // Programs that quote a block break its long fields without a blank.
                let goes_on = is_blank(line[0]) || folded < FOLDED_LINES && !found.are_complete();
                match &mut found.from {
                    Some(from) if goes_on => continue_address(from, line.trim_ascii()),
                    None if is_blank(line[0]) => {}
                    _ => break,
                }
                folded += usize::from(!is_blank(line[0]));
                continue;
            };
            let place = match FieldNames::index_of(name) {
                Some(0) if found.from.is_some() => break,
                Some(0) => &mut found.from,
                Some(1) => &mut found.date,
                Some(3) if found.subject.is_none() => {
                    let more = subject_lines(line, lines.clone(), layout);
                    let more = lines.by_ref().take(more).map(<[u8]>::trim_ascii);
                    let all: Vec<_> = std::iter::once(value).chain(more).collect();
                    found.subject = Some(all.join(&b' ').into());
                    continue;
                }
                None if name.eq_ignore_ascii_case(b"message-id") => &mut found.id,
                None if memchr::memchr(b' ', name).is_some() => break,
                _ => continue,
            };
            place.get_or_insert(Cow::Borrowed(value));
        }
        found.from = found.from.map(represented);
        let is_sent = found.from.as_ref().is_some_and(|from| !from.is_empty());
        is_sent.then_some(found)
    }

    /// Returns `true` if they have a date, a subject or an address, too.
    fn are_plausible(&self) -> bool {
        let is_address = self.from.as_ref().is_some_and(|from| from.contains(&b'@'));
        is_address || self.date.is_some() || self.subject.is_some()
    }

    /// Returns `true` if they have a date and a subject, too.
    fn are_complete(&self) -> bool {
        self.date.is_some() && self.subject.is_some()
    }
}

/// Maximum length of a sender whose address is broken over lines: an address (RFC 5321, section
/// 4.5.3.1) and a name.
const SENDER_BYTES: usize = 512;

/// Appends `part` to a sender whose address has no `>` yet, or that lacks an author. Gmail breaks a
/// line after `<`, and a long address anywhere.
fn continue_address(from: &mut Cow<'_, [u8]>, part: &[u8]) {
    if SENDER_BYTES <= from.len() + part.len() {
        return;
    }
    let last = memchr::memrchr2(b'<', b'>', from).map(|at| from[at]);
    let is_open = last == Some(b'<') && !part.contains(&b' ');
    let mut behalf = BEHALF.split(';');
    let lacks_author = behalf.any(|words| ends_with_caseless(from, words.as_bytes()));
    if is_open || lacks_author {
        from.to_mut().extend(lacks_author.then_some(b' '));
        from.to_mut().extend_from_slice(part);
    }
}

/// Words before the author, after the mailing list that sent the message: Outlook writes the fields
/// Sender and From in one line. In six languages, in lower case, separated by semicolons.
const BEHALF: &str =
    " on behalf of; im auftrag von; de la part de; en nombre de; em nome de; per conto di";

/// Returns the author of a sender that was written by Outlook. Words in quotes are part of a name.
fn represented(from: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let lowercase = from.to_ascii_lowercase();
    let after_behalf = BEHALF.split(';').find_map(|words| {
        let at = memmem::rfind(&lowercase, words.as_bytes())?;
        let end = at + words.len();
        let quotes = memchr::memchr_iter(b'"', &from[..at]).count();
        (from.get(end) == Some(&b' ') && quotes.is_multiple_of(2)).then_some(end)
    });
    match after_behalf.map(|at| from[at..].trim_ascii()) {
        Some(author @ [_, ..]) => Cow::Owned(author.to_vec()),
        _ => from,
    }
}

/// Columns in which a wrapped line of a subject ends, or would end with the word after it.
const WRAP_COLUMNS: Range<usize> = 66..90;

/// Maximum number of lines of a subject after the first one.
const SUBJECT_LINES: usize = 3;

/// Returns the number of lines after a subject's first `line` that belong to it: folded lines,
/// those before another field, and those before a blank line if `line` was wrapped. A page has no
/// wrapped lines.
fn subject_lines<'l>(
    line: &[u8],
    next: impl Iterator<Item = &'l [u8]>,
    layout: LineLayout,
) -> usize {
    let next = next.chain([&b""[..]]).take(SUBJECT_LINES + 1);
    let next: Vec<_> = next.map(<[u8]>::trim_ascii_end).collect();
    let len = line.trim_ascii_end().len();
    let columns = len + 1 + run_len(next[0], |byte| !is_blank(byte));
    let may_wrap = len < WRAP_COLUMNS.end && layout == LineLayout::Written;
    let is_wrapped = may_wrap && WRAP_COLUMNS.start <= columns;
    let end = next.iter().position(|line| ends_subject(line));
    match end {
        Some(end) if is_other_field(next[end]) || is_wrapped => end,
        _ => next
            .iter()
            .take_while(|line| line.starts_with(b" ") || line.starts_with(b"\t"))
            .count(),
    }
}

/// Returns `true` for a line that is blank or another field.
fn ends_subject(line: &[u8]) -> bool {
    line.iter().all(|&byte| byte == b'>') || is_other_field(line)
}

/// Returns `true` for a field with a name in ASCII or in one of [`LANGUAGES`], perhaps with more
/// quote marks.
fn is_other_field(line: &[u8]) -> bool {
    let marks = run_len(line, |byte| byte == b'>');
    let line = if marks == 0 {
        line
    } else {
        line[marks..].trim_ascii_start()
    };
    let name = memchr::memchr(b':', line).unwrap_or(0);
    is_field(line) && !line[name..].starts_with(b"://")
        || field_name(line).and_then(FieldNames::index_of).is_some()
}

/// Names of the fields in one language.
struct FieldNames {
    /// Sender; time, as also in pasted headers; recipient; subject.
    names: [&'static str; 4],
    /// Names of the time that occur only in this kind of block, separated by commas.
    sent: &'static str,
}

const fn language(names: [&'static str; 4], sent: &'static str) -> FieldNames {
    FieldNames { names, sent }
}

/// Names of copies in these languages.
const COPIES: &str = "Cc,CC,Bcc,Kopie,Kopia,抄送";

/// Languages of Outlook that occur in archives.
const LANGUAGES: [FieldNames; 9] = [
    language(["From", "Date", "To", "Subject"], "Sent"),
    language(["Von", "Datum", "An", "Betreff"], "Gesendet"),
    language(["De", "Date", "À", "Objet"], "Envoyé,Envoyé le"),
    language(["De", "Fecha", "Para", "Asunto"], "Enviado,Enviado el"),
    language(
        ["De", "Data", "Para", "Assunto"],
        "Enviado,Enviada,Enviado em,Enviada em",
    ),
    language(["Da", "Data", "A", "Oggetto"], "Inviato"),
    language(["Van", "Datum", "Aan", "Onderwerp"], "Verzonden"),
    language(["Från", "Datum", "Till", "Ämne"], "Skickat"),
    language(["发件人", "日期", "收件人", "主题"], "发送时间"),
];

/// Maximum length of a block. Longer blocks have many recipients and are not recognised.
const BLOCK_BYTES: usize = 4_096;

/// Maximum number of continuation lines in the fields of a block.
const FOLDED_LINES: usize = 8;

/// Returns `true` if a block starts at `text`, the start of a line. A block has the sender, the
/// time and, at the end, the subject, each once and with no other field between. The time's name
/// `Date` counts only before the recipient, because copies of headers and patches have other
/// orders.
fn begins_block(text: &[u8]) -> bool {
    let text = &text[..text.len().min(BLOCK_BYTES)];
    let Some(first) = field_name(text) else {
        return false;
    };
    LANGUAGES
        .iter()
        .any(|names| first == names.names[0].as_bytes() && names.is_followed(text))
}

impl FieldNames {
    /// Returns the index among `names` of a field in any language.
    fn index_of(name: &[u8]) -> Option<usize> {
        LANGUAGES.iter().find_map(|language| {
            let mut names = language.names.iter();
            let index = names.position(|known| known.as_bytes().eq_ignore_ascii_case(name));
            index.or_else(|| is_any(name, language.sent).then_some(1))
        })
    }

    /// Returns `true` if the lines after the first are those of a block.
    fn is_followed(&self, text: &[u8]) -> bool {
        let (mut is_sent, mut is_dated, mut is_addressed, mut folded) = (false, false, false, 0);
        let (mut may_fold, [_, date, to, subject]) = (true, self.names);
        for line in text.split(|&byte| byte == b'\n').skip(1) {
            let name = field_name(line).unwrap_or_default();
            let goes_on = std::mem::replace(&mut may_fold, true);
            if name == subject.as_bytes() {
                return is_sent || is_dated && is_addressed;
            } else if is_any(name, self.sent) && !is_sent {
                is_sent = true;
            } else if name == date.as_bytes() && !is_dated && !is_addressed {
                is_dated = true;
            } else if name == to.as_bytes() && !is_addressed {
                is_addressed = true;
            } else if !is_any(name, COPIES) {
                folded += 1;
                let is_address = memchr::memchr2(b'@', b';', line).is_some();
                let is_folded = folded <= FOLDED_LINES
                    && !line.trim_ascii().is_empty()
                    && (is_blank(line[0]) || name.is_empty() && (goes_on || is_address));
                if !is_folded {
                    return false;
                }
                // Several lines without addresses are prose.
                may_fold = line.trim_ascii_end().ends_with(b";");
            }
        }
        false
    }
}

fn is_any(name: &[u8], known: &str) -> bool {
    known.split(',').any(|known| name == known.as_bytes())
}

/// Maximum length of a field name in bytes, with marks of bold type.
const NAME_BYTES: usize = 32;

/// Returns the name of the field at the start of a line, without marks of bold type (`*From:* Joe`)
/// and without the blank that French has before a colon.
fn field_name(line: &[u8]) -> Option<&[u8]> {
    field(line).map(|(name, _)| name)
}

/// Returns that name, and the rest of the line.
fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let stars = run_len(line, |byte| byte == b'*');
    let start = &line[stars..line.len().min(stars + NAME_BYTES)];
    // The colon may be full-width (U+FF1A). No name has a character with its first byte.
    let len = memchr::memchr3(b':', b'\n', 0xEF, start)?;
    let name = &start[..len];
    let name = name.strip_suffix("\u{a0}".as_bytes()).unwrap_or(name);
    let name = name.trim_ascii_end();
    let name = name.strip_suffix(b"*").unwrap_or(name);
    // A line may be the time of a date: `2026 3:04 PM`.
    let name = Some(name).filter(|name| name.first().is_some_and(|byte| !byte.is_ascii_digit()))?;
    let value = &line[stars + len..];
    let value = value.strip_prefix("\u{ff1a}".as_bytes());
    let value = value.unwrap_or(&line[stars + len + 1..]);
    Some((name, value.strip_prefix(b"*").unwrap_or(value).trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{OffsetMap, Region};

    #[test]
    fn each_region_ends_where_the_next_starts() {
        let rule = String::from_utf8_lossy(RULE);
        let text =
            format!("body\n-- no line\n-- \nname\n-----Original Message-----\nold\n{rule}\nlist\n");
        let regions = Regions::of(text.as_bytes());
        let at = |word: &str| regions.at(text.find(word).unwrap());
        assert_eq!(at("no line"), BodyRegion::Body);
        assert_eq!(at("name"), BodyRegion::Signature);
        assert_eq!(at("old"), BodyRegion::Forwarded);
        assert_eq!(at("list"), BodyRegion::Footer);
    }

    #[test]
    fn a_continued_region_takes_no_memory() {
        let rule = String::from_utf8_lossy(RULE);
        let text = format!("{}{rule}\n-- \nlist\n", "-- \n".repeat(10_000));
        let regions = Regions::of(text.as_bytes());
        assert!(regions.regions.len() < FOOTER_BYTES);
        assert_eq!(regions.at(39_999), BodyRegion::Signature);
        assert_eq!(regions.at(40_000), BodyRegion::Footer);
        assert_eq!(regions.at(text.len() - 1), BodyRegion::Signature);
    }

    #[test]
    fn messages_in_a_text_are_bounded() {
        let header = "--Original message\nFrom: Joe\nSubject: lamps\n\n";
        let ends = format!("{header}{}", "-- end forward\n".repeat(10_000));
        assert_eq!(Regions::of(ends.as_bytes()).messages.len(), 2);
        let bytes = header.as_bytes().into();
        let text = DecodedText::plain(bytes, OffsetMap::default(), Region::Body, None);
        let author = Regions::of(header.as_bytes()).author(&text, 0, 3);
        let info = author.unwrap().info;
        assert_eq!((info.subject.as_deref(), info.is_cut), (Some("lam"), true));
        let header = header.replace("\nFrom", "\n> To: x\n> From");
        let quoted = format!("{header}> {}", "x".repeat(10_000));
        let regions = Regions::of(quoted.as_bytes());
        let first = quoted.find("xx").unwrap();
        assert_eq!(regions.message_at(quoted.as_bytes(), first), Some(0));
        assert_eq!(regions.message_at(quoted.as_bytes(), quoted.len()), None);
    }

    #[test]
    fn fields_may_be_broken_over_lines() {
        let eight = "word word\n".repeat(FOLDED_LINES);
        for (lines, from, is_dated) in [
            ("From: Joe <\nj@a>\nDate: x", "Joe <j@a>", true),
            ("From: Joe <j\n@a\n>\nDate: x", "Joe <j@a>", true),
            ("> From: Joe <\n> j@a>\n> Date: x", "Joe <j@a>", true),
            ("From: Joe <\nDate: x", "Joe <", true),
            ("From: Joe <\nsome words\nDate: x", "Joe <", true),
            ("From: Joe <j@a>\nSmith\nDate: x", "Joe <j@a>", true),
            ("From: Joe <\n-\nDate: x", "Joe <", false),
            ("From: L <l@a> On Behalf Of Joe\nDate: x", "Joe", true),
            ("From: L <l@a> On Behalf Of\nJoe S\nDate: x", "Joe S", true),
            ("De: L em nome de J & S\nEnviado: x", "J & S", true),
            ("Von: L <l@a> Im Auftrag von Joe\nGesendet: x", "Joe", true),
            ("From: J On behalf x\nDate: x", "J On behalf x", true),
            (
                "From: \"J on behalf of M\" <z@a.c>\nDate: x",
                "\"J on behalf of M\" <z@a.c>",
                true,
            ),
            ("From: Joe\nTo: A\n<a@a>,\nB\nDate: x", "Joe", true),
            (&format!("From: Joe\n{eight}Date: x"), "Joe", true),
            (&format!("From: Joe\n{eight}x\nDate: x"), "Joe", false),
        ] {
            let found = HeaderLines::of(lines.as_bytes(), LineLayout::Written).unwrap();
            assert_eq!(found.from.as_deref(), Some(from.as_bytes()), "{lines}");
            assert_eq!(found.date.is_some(), is_dated, "{lines}");
        }
        assert!(HeaderLines::of(b"words\nFrom: Joe\n", LineLayout::Written).is_none());
    }

    #[test]
    fn a_subject_may_be_broken_over_lines() {
        let full = format!("Subject: {}", "x".repeat(51));
        for (rest, lines) in [
            ("b\nTo: c", 1),
            ("b\nc\nd\nTo: e", 3),
            ("b\nc\nd\ne\nTo: f", 0),
            ("b\nhttp://c", 0),
            ("Followup-To: c\nDate: d", 0),
            ("longer\n>\n> c: d", 1),
            (" b\n\tc\nd", 2),
            ("b c\n\nd", 0),
            ("long\n\nd", 0),
            ("longer\nc\r\n\r\nd", 2),
            ("longer\nc\nd\ne\n\n", 0),
        ] {
            let text = format!("From: Joe\n{full}\n{rest}");
            let found = HeaderLines::of(text.as_bytes(), LineLayout::Written).unwrap();
            let words = found.subject.unwrap().split(|&byte| byte == b' ').count();
            assert_eq!(words - 1, lines, "{rest}");
        }
        let page = format!("From: Joe\n{full}\nlonger\n\n");
        let found = HeaderLines::of(page.as_bytes(), LineLayout::LaidOut).unwrap();
        assert_eq!(found.subject.unwrap().len(), 51);
    }

    #[test]
    fn a_rule_far_from_the_end_is_part_of_the_text() {
        let rule = String::from_utf8_lossy(RULE);
        let text = format!("a\n{rule}\n{}", "x\n".repeat(1_000));
        let regions = Regions::of(text.as_bytes());
        assert_eq!(regions.at(text.len() - 1), BodyRegion::Body);
    }
}

#[cfg(test)]
mod block_tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, found: &[usize]) {
        let lines = text.match_indices('\n').map(|(end, _)| end + 1);
        let starts = std::iter::once(0).chain(lines);
        let blocks = starts.filter(|&at| begins_block(&text.as_bytes()[at..]));
        assert_eq!(blocks.collect::<Vec<_>>(), found, "{text}");
    }

    #[test]
    fn outlook_writes_the_fields_in_the_language_of_its_user() {
        for block in [
            "From: Joe <joe@a.example>\nSent: Monday, 1 May 2006\nTo: jane; list\nSubject: x\n",
            "From: Joe\r\nSent: Monday\r\nTo: jane;\r\n list\r\nCc: b\r\nSubject: RE: x\r\n",
            "*From:* Joe\n*Sent:* Monday\n*To:* jane\n*Subject:* x\n",
            "From: Joe for\nBob\nSent: May\nTo: jane\n<j@a>, Jim\nCc: A;\nB\nC <c@a>\nSubject: x\n",
            "From: \"Joe\" <joe@a.example>\nTo: <list>\nSent: Monday\nSubject: x\n",
            "From: Joe\nDate: Monday\nTo: jane\nSubject: x\n",
            "Von: Joe\nGesendet: Montag\nAn: jane\nBetreff: x\n",
            "De : Joe\nEnvoy\u{e9}\u{a0}: lundi\n\u{c0} : jane\nObjet : x\n",
            "De: Joe\nEnviado el: lunes\nPara: jane\nAsunto: x\n",
            "De: Joe\nEnviado: segunda-feira\nAssunto: x\n",
            "Da: Joe\nInviato: luned\u{ec}\nA: jane\nOggetto: x\n",
            "Van: Joe\nVerzonden: maandag\nAan: jane\nOnderwerp: x\n",
            "Fr\u{e5}n: Joe\nSkickat: m\u{e5}ndag\nTill: jane\n\u{c4}mne: x\n",
            "\u{53d1}\u{4ef6}\u{4eba}\u{ff1a}Joe\n\u{53d1}\u{9001}\u{65f6}\u{95f4}\u{ff1a}1\n\
             \u{4e3b}\u{9898}\u{ff1a}x\n",
        ] {
            check(block, &[0]);
            check(
                &format!("text\n{block}text\n{block}"),
                &[5, 10 + block.len()],
            );
        }
    }

    #[test]
    fn other_header_lines_are_not_a_block() {
        for text in [
            "From: Joe\nSubject: x\n",
            // A patch, and a copy of a header.
            "From: Joe\nDate: Mon, 1 May 2006\nSubject: [PATCH] x\n",
            "From: Joe\nMessage-ID: <1@a.example>\nDate: Monday\nTo: jane\nSubject: x\n",
            "From: Joe\nTo: jane\nSubject: x\nDate: Monday\n",
            "> From: Joe\n> Sent: Monday\n> To: jane\n> Subject: x\n",
            "From: Joe\n\nSent: Monday\nTo: jane\nSubject: x\n",
            "From: Joe\nSent: Monday\nTo: jane\n",
            "Von: Joe\nSent: Monday\nTo: jane\nSubject: x\n",
            "From here to there: a way\nSent: x\nSubject: x\n",
            "From: Joe\nSent: Monday\nTo: jane\nIt was a day\nas any other.\nSubject: x\n",
        ] {
            check(text, &[]);
        }
    }
}
