//! Bare links of mail gateways that were broken over lines. The vendor of a gateway documents how
//! its links end, and the pieces are joined up to that end, regardless of the layout.
//!
//! Such a link has hundreds of characters. Each reply breaks it again, moves the rests of lines
//! into or out of a quotation, and leaves lines of quote marks between them. The layout is
//! therefore poor evidence.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

use super::notation::Respelling;
use super::url_run::{after_slashes, word_terminator_len};
use super::{LogicalLine, Repair, is_blank, rest_of_line};
use crate::byte_scan::{prefix_len, starts_with_caseless};
use crate::grammar::escaped_byte;
use crate::limits::{REWRITTEN_LINK_BYTES, REWRITTEN_LINK_LINES};
use crate::scan::{Rules, names_site, spelled_head};
use crate::span::Span;

/// Confidence in a link that was joined up to its documented end.
pub const REWRITTEN_LINK_CONFIDENCE: f32 = 0.99;

/// The format of one gateway's links.
struct LinkForm {
    /// The part of the host and path that identifies the gateway.
    mark: &'static [u8],
    /// The part before the end; empty if the end occurs only once.
    before_end: &'static [u8],
    /// The last part.
    end: &'static [u8],
    /// `true` if quote marks may be inside a line because a program removed line breaks.
    has_marks: bool,
}

/// The formats: hosts and parameters of the redirectors that `parse` knows.
const FORMS: [LinkForm; 4] = [
    // Microsoft Defender's Safe Links: `?url=...&data=...&sdata=...&reserved=0`.
    form(b".safelinks.protection.outlook.com/", b"", b"reserved=0"),
    form(b".safelinks.protection.office365.us/", b"", b"reserved=0"),
    // Proofpoint URL Defense: `/v2/url?u=...&s=...&e=`, `/v3/__...__;...!!...!...$`.
    form(b"://urldefense.proofpoint.com/v2/url?", b"s=", b"e="),
    form(b"://urldefense.com/v3/__", b"__;", b"$"),
];

const fn form(mark: &'static [u8], before_end: &'static [u8], end: &'static [u8]) -> LinkForm {
    LinkForm {
        mark,
        before_end,
        end,
        has_marks: false,
    }
}

/// A Safe Link without the part from `https://` to `?url=`. Programs that display the target of a
/// link remove this part and keep the parameters.
const HEADLESS: LinkForm = LinkForm {
    mark: b"data=0",
    before_end: b"sdata=",
    end: b"reserved=0",
    has_marks: true,
};

/// Maximum number of bytes from the start of a headless Safe Link to the parameter `data`.
const HEADLESS_BYTES: usize = 512;

/// Finds the escaped bar between the first two numbers of the parameter `data`, and the zero after
/// it.
static BAR_AND_ZERO: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("%7C0"));

/// Returns `true` if a headless Safe Link starts at `from`: no other URL precedes the parameter
/// `data=05%7C02%7C...`.
fn is_headless(text: &[u8], from: usize) -> bool {
    let window = &text[from..text.len().min(from + HEADLESS_BYTES)];
    let Some(at) = BAR_AND_ZERO.find(window) else {
        return false;
    };
    let before = &window[..at];
    let Some((_, name)) = before
        .split_last()
        .filter(|(digit, _)| digit.is_ascii_digit())
    else {
        return false;
    };
    name.strip_suffix(HEADLESS.mark).is_some_and(|target| {
        (target.ends_with(b"&") || target.ends_with(b"&amp;"))
            && memmem::find_iter(target, b"://").count() == 1
            && memmem::find(target, b"%3A%2F%2F").is_none()
    })
}

impl LinkForm {
    /// Returns the format of the link at the start of `url`. If one gateway has rewritten another's
    /// link, the outer gateway comes first.
    fn of(url: &[u8]) -> Option<&'static LinkForm> {
        let host = &url[..url.len().min(MARK_BYTES)];
        if !starts_with_caseless(url, b"http") || !may_have_mark(host) {
            return None;
        }
        FORMS
            .iter()
            .filter_map(|form| memmem::find(host, form.mark).map(|at| (at, form)))
            .min_by_key(|&(at, _)| at)
            .map(|(_, form)| form)
    }

    /// Returns the length of `url` up to the end of the link, if `url` contains the end.
    fn len(&self, url: &[u8]) -> Option<usize> {
        let from = memmem::find(url, self.before_end)? + self.before_end.len();
        memmem::find(&url[from..], self.end).map(|at| from + at + self.end.len())
    }
}

/// Finds two letters that every mark contains: `safelinks`, `urldefense`. Most hosts do not contain
/// them.
static COMMON_LETTERS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("fe"));

/// Returns `true` if `host` may contain the mark of a format.
fn may_have_mark(host: &[u8]) -> bool {
    COMMON_LETTERS.find(host).is_some()
}

/// Number of bytes at the start of a URL to search for a mark: the scheme and a gateway's host.
const MARK_BYTES: usize = 80;

/// Minimum number of bytes of the first piece: the length of the shortest mark.
const LEAST_BYTES: usize = 30;

/// Appends the pieces that follow `head` up to the end of the link. `head`, the first piece, is
/// already in `line`. Returns `true` if `line` then contains a whole link, which no other line
/// continues. Appends no piece if the end is not found.
///
/// Each piece except the last is the only word of its line. Blank lines and lines with only quote
/// marks are skipped.
pub(super) fn push_to_end(text: &[u8], head: Span, line: &mut LogicalLine) -> bool {
    if head.len() > REWRITTEN_LINK_BYTES {
        return false;
    }
    let Some(form) = LinkForm::of(head.of(text)).or_else(|| headless(text, head)) else {
        return false;
    };
    let is_cut = form.has_marks && ends_with_cut_host(head.of(text));
    if head.len() < LEAST_BYTES && !is_cut {
        return false;
    }
    if form.len(head.of(text)).is_some() {
        return true;
    }
    let Some(pieces) = pieces(text, head, form) else {
        return false;
    };
    line.drop_last(usize::from(is_cut));
    let mut hyphen = text[head.end - 1] == b'-';
    for piece in pieces {
        line.push(text, piece.word.start, piece.word.end);
        line.repairs.add(Repair::BareContinuation);
        if hyphen {
            line.repairs.add(Repair::Hyphen);
        }
        if piece.is_quoted {
            line.repairs.add(Repair::QuotePrefix);
        }
        hyphen = text[piece.word.end - 1] == b'-';
    }
    if is_cut {
        line.decode_target();
    }
    true
}

impl LogicalLine {
    /// Decodes the escapes of the target at the start of a Safe Link. The part that a program
    /// mistook for a whole URL had no escapes.
    fn decode_target(&mut self) {
        let target = memmem::find(&self.text, HEADLESS.mark).unwrap_or(0);
        let escapes: Vec<Respelling> = memchr::memchr_iter(b'%', &self.text[..target])
            .filter_map(|at| {
                let byte = escaped_byte(&self.text[at..])?;
                Some(Respelling::of_byte(Span::new(at, at + 3), Some(byte)))
            })
            .collect();
        self.respell(&escapes);
    }
}

/// Returns the length of the gateway's link at the start of `run` if a word is glued to the link.
#[must_use]
pub fn rewritten_link_len(run: &[u8]) -> Option<usize> {
    // Most URLs are shorter than the host and parameters of a gateway.
    if run.len() < MARK_BYTES {
        return None;
    }
    let len = LinkForm::of(run)?.len(run)?;
    run.get(len)
        .is_some_and(u8::is_ascii_alphabetic)
        .then_some(len)
}

/// Returns the format of a headless Safe Link if `head` is the first piece of one: the head ends
/// its line, precedes a quote mark, or is whole.
fn headless(text: &[u8], head: Span) -> Option<&'static LinkForm> {
    let is_web = starts_with_caseless(head.of(text), b"http");
    let is_open = matches!(text.get(head.end), None | Some(b'\r' | b'\n' | b'>'));
    (is_web && is_open && is_headless(text, head.start)).then_some(&HEADLESS)
}

/// Minimum number of bytes of a head that is longer than a scheme and a part of a host.
const CUT_HEAD_BYTES: usize = 64;

/// Returns `true` if `head` is a scheme and the start of a host, and a program added a slash
/// because it mistook this for a whole URL.
fn ends_with_cut_host(head: &[u8]) -> bool {
    head.len() < CUT_HEAD_BYTES
        && head
            .strip_suffix(b"/")
            .zip(after_slashes(head))
            .and_then(|(url, from)| url.get(from..))
            .is_some_and(|host| memchr::memchr(b'/', host).is_none() && !names_site(host))
}

/// A piece of a link. It has a line to itself.
struct LinkPiece {
    word: Span,
    /// `true` if quote marks precede it.
    is_quoted: bool,
}

/// Returns the pieces that follow `head` up to the end of the link; `None` if there is no end.
fn pieces(text: &[u8], head: Span, form: &LinkForm) -> Option<Vec<LinkPiece>> {
    // Other words, which may be long, follow most links on the line.
    let after = text[head.end..].iter().find(|&&byte| !is_blank(byte));
    let ends_line = matches!(after, Some(b'\r' | b'\n'));
    let is_glued = form.has_marks && after == Some(&b'>');
    if !(ends_line || is_glued) {
        return None;
    }
    let mut url = head.of(text).to_vec();
    let mut found = Vec::new();
    let mut ended = rest_of_line(text, head.end);
    let mut rest = ended.span;
    for _ in 0..REWRITTEN_LINK_LINES {
        let is_glued = form.has_marks
            && matches!(rest.of(text), [b'>', next, ..] if next.is_ascii_alphanumeric());
        // Every piece except the last must end its line.
        if !is_glued
            && (ended.next == text.len() || !rest.of(text).iter().all(|&byte| is_blank(byte)))
        {
            return None;
        }
        let from = if is_glued { rest.start } else { ended.next };
        ended = rest_of_line(text, from);
        let row = ended.span.of(text);
        let marks = prefix_len(row, |&byte| is_blank(byte) || matches!(byte, b'>' | b'|'));
        let word = Span::new(from + marks, from + marks + word_len(&row[marks..]));
        rest = Span::new(word.end, ended.span.end);
        if word.is_empty() {
            continue;
        }
        // The target of this link is escaped, and another URL is not.
        let is_other = spelled_head(word.of(text)).is_some()
            || [&b"http://"[..], b"https://"]
                .iter()
                .any(|scheme| word.of(text).starts_with(scheme));
        if is_other || url.len() + word.len() > REWRITTEN_LINK_BYTES {
            return None;
        }
        let before = url.len();
        url.extend_from_slice(word.of(text));
        let is_quoted = row[..marks].iter().any(|&byte| !is_blank(byte));
        let len = form.len(&url);
        let end = len.map_or(word.end, |len| word.start + (len - before));
        found.push(LinkPiece {
            word: Span::new(word.start, end),
            is_quoted,
        });
        if len.is_some() {
            return Some(found);
        }
    }
    None
}

/// Returns the length of the word of ASCII characters allowed in links at the start of `row`.
fn word_len(row: &[u8]) -> usize {
    (0..row.len())
        .find(|&at| !row[at].is_ascii() || word_terminator_len(&row[at..], Rules::Wide) > 0)
        .unwrap_or(row.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_passes_the_prefilter() {
        assert!(FORMS.iter().all(|form| may_have_mark(form.mark)));
    }

    /// Checks that the link is joined from the marked pieces. If no piece is marked, none may be
    /// appended.
    #[track_caller]
    fn check(marked: &str) {
        for line_end in ["\n", "\r\n"] {
            let marked = marked.replace('¶', line_end);
            let text = marked.replace(['«', '»'], "");
            let start = text.find("http").unwrap();
            let len = text[start..]
                .find(|next: char| next.is_whitespace() || next == '>')
                .unwrap();
            let head = Span::new(start, start + len);
            let mut line = LogicalLine::default();
            line.push(text.as_bytes(), head.start, head.end);
            push_to_end(text.as_bytes(), head, &mut line);
            let mut shown = text.clone();
            let mut pieces: Vec<(usize, usize)> = Vec::new();
            for at in len..line.text().len() {
                let offset = line.text_range(Span::new(at, at + 1)).start;
                match pieces.last_mut() {
                    Some(piece) if piece.1 == offset => piece.1 += 1,
                    _ => pieces.push((offset, offset + 1)),
                }
            }
            for (from, to) in pieces.into_iter().rev() {
                shown.insert(to, '»');
                shown.insert(from, '«');
            }
            assert_eq!(shown, marked);
        }
    }

    const SAFE: &str = "https://eur09.safelinks.protection.outlook.com/?url=https%3A%2F%2Foi";

    #[test]
    fn a_short_head_is_no_safe_link() {
        assert!(headless(b"a:b\n", Span::new(0, 3)).is_none());
    }

    #[test]
    fn pieces_are_joined_at_any_depth_of_quotation_up_to_the_end() {
        check(&format!(
            "> > {SAFE}¶> >¶> «l.example%2Fwick-»¶>¶> > «trim&amp;data=02%7C01%7Cja»¶> > ¶> \
             «ne%40a.example&amp»¶> > > «;sdata=k%3D&am»¶«p;reserv»¶¶> > «ed=0». The lamp¶"
        ));
    }

    #[test]
    fn a_headless_safe_link_is_joined_up_to_the_end() {
        let data = "&data=05%7C02%7Cme%40a.example%7C0";
        check(&format!(
            ">https://www.oil.example/archives/wick->«tip.html%23trim{data}%7C1%»>«7C0&sdata»¶>«=k%\
             3D&reserved=0»¶>¶"
        ));
        check(&format!(
            "> https://www.oil.example/archives/.¶> «com%2Fwick-»¶> «trim{data}&amp;sdata=k»¶> \
             «%3D&reserved=0» and"
        ));
        // Blanks before the end, no end, other parameters, another URL.
        check(&format!(
            "https://www.oil.example/archives/¶wick{data} and¶&sdata=k&reserved=0"
        ));
        check(&format!(
            "https://www.oil.example/archives/¶wick{data}¶The lamp¶"
        ));
        check("https://www.oil.example/archives/¶wick&data=05%7C2&sdata=k&reserved=0¶");
        check(&format!(
            "https://www.oil.example/archives/¶https://b.example/{data}&sdata=k&reserved=0¶"
        ));
        check(&format!(
            "<a href=https://www.oil.example/archives/>the archives{data}</a>¶"
        ));
    }

    #[test]
    fn the_slash_after_a_cut_host_is_removed_and_the_target_decoded() {
        let text = "https://oi/\nl.example%2Fa%2Fb&data=05%7C02%7Cme%7C0&sdata=k&reserved=0\n";
        let mut line = LogicalLine::default();
        line.push(text.as_bytes(), 0, 11);
        assert!(push_to_end(text.as_bytes(), Span::new(0, 11), &mut line));
        assert_eq!(
            line.text(),
            b"https://oil.example/a/b&data=05%7C02%7Cme%7C0&sdata=k&reserved=0"
        );
    }

    #[test]
    fn no_line_is_joined_after_the_end_or_without_an_end() {
        check(&format!("{SAFE}l.example&data=x&sdata=y&reserved=0¶next¶"));
        check(&format!("{SAFE}¶l.example%2Fwick&amp;data=02¶The lamp¶"));
        check(&format!("{SAFE}¶l.example%2F and more&reserved=0¶"));
        check(&format!("{SAFE}¶{SAFE}l.example&reserved=0¶"));
        check(&format!("{SAFE}¶¶¶"));
        let (head, target) = SAFE.split_once("https%").unwrap();
        check(&format!("{head}¶«https%{target}»¶«l.example&reserved=0»¶"));
        check(&format!("{head}¶https://oil.example&reserved=0¶"));
        check(&format!(
            "{SAFE}¶{}reserved=0¶",
            "x¶".repeat(REWRITTEN_LINK_LINES)
        ));
        check("https://www.outlook.example/?url=https%3A%2F%2Foi¶l.example&reserved=0¶");
    }

    #[test]
    fn only_whole_links_count_as_whole() {
        let is_whole = |text: &str| {
            let head = Span::new(0, text.find('\n').unwrap_or(text.len()));
            push_to_end(text.as_bytes(), head, &mut LogicalLine::default())
        };
        assert!(is_whole(&format!(
            "{SAFE}l.example&data=x&reserved=0\nnext"
        )));
        assert!(is_whole(&format!("{SAFE}l.example&data=x&reserv\ned=0")));
        assert!(!is_whole(&format!("{SAFE}l.example&data=x\nnext")));
        assert!(!is_whole(
            "https://www.a.example/?url=https%3A%2F%2Foil&reserved=0\nnext"
        ));
    }

    #[test]
    fn links_of_url_defense_end_at_the_documented_end() {
        check(
            "https://urldefense.proofpoint.com/v2/url?u=http-3A__oil.example_wi¶\
             «ck&d=DwMFaQ&c=x&r=y&m=z&s=u»¶«-E&e»¶«=»¶next¶",
        );
        check("https://urldefense.com/v3/__https://oil.example/a$b*__¶«;JSM!!org!tok»¶«en$»¶next¶");
        // A link inside the link of another gateway.
        let inner = SAFE.strip_suffix("3A%2F%2Foi").unwrap().replace('%', "*");
        check(&format!(
            "https://urldefense.com/v3/__{inner}¶«&reserved=0__;JSM!!org»¶«!tok$»¶next¶"
        ));
    }
}
