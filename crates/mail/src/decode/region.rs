//! Regions of a body: new text, signature, forwarded message, and the footer of a mailing list.
//!
//! Blocks of header lines that mail programs put before the message that is answered or forwarded begin a region too. Outlook writes
//! no line of hyphens, but the fields in the language of its user: `Von:`, `Gesendet:`, `An:`, `Betreff:`.

use std::sync::LazyLock;
use urlspool_text::named_enum;

use memchr::memmem::Finder;

use crate::lines::is_line_start;
use urlspool_text::byte_scan::WordSearcher;

/// The value of a record's `region` for a body that stands elsewhere.
pub const EXTERNAL_BODY_REGION: &str = "external-body";

named_enum! {
    /// Kind of a region of a body.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BodyRegion {
        /// Written for this message.
        Body = "body",
        /// Below the line `-- `.
        Signature = "signature",
        /// Below a line that announces a forwarded message, or one that was answered in full, and
        /// below the first of the header lines that Outlook puts before such a message.
        Forwarded = "forwarded",
        /// Below a mailing list's rule, at the end of the text.
        Footer = "footer",
    }
}

/// Maximum length of a list's footer. A rule further from the end is part of the text.
const FOOTER_BYTES: usize = 1_500;

/// Underscores of Mailman's rule.
const RULE: &[u8] = b"____________________________________";

/// Starts of lines that announce another message. [`BEGIN_FORWARDED`] is one more, without hyphens.
const FORWARDS: [&[u8]; 4] = [
    b"-----Original Message-----",
    b"---------- Forwarded message",
    b"----- Forwarded message",
    b"-------- Original Message --------",
];
const BEGIN_FORWARDED: &[u8] = b"Begin forwarded message:";

/// Finds the line ends before lines that [`begun_by`] may know, by their first two bytes.
static LINES: LazyLock<WordSearcher> = LazyLock::new(|| {
    WordSearcher::new(&[
        &b"\n--"[..],
        b"\nBe",
        b"\n*F",
        b"\n*V",
        b"\n*D",
        b"\n**",
        b"\nFr",
        b"\nVo",
        b"\nVa",
        b"\nDe",
        b"\nDa",
        b"\n\xE5\x8F",
    ])
});

/// Finds Mailman's rule.
static RULES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(RULE));

/// The region that begins with the line at the start of `text`.
fn begun_by(text: &[u8]) -> Option<BodyRegion> {
    let is_forward = match text {
        [b'-', b'-', b' ', b'\n', ..] | [b'-', b'-', b' ', b'\r', b'\n', ..] => {
            return Some(BodyRegion::Signature);
        }
        [b'-', b'-', ..] => FORWARDS.iter().any(|words| text.starts_with(words)),
        [b'B', ..] => text.starts_with(BEGIN_FORWARDED),
        _ => begins_block(text),
    };
    is_forward.then_some(BodyRegion::Forwarded)
}

/// The regions of a text: offset and kind of each, in order. The first begins at 0, each ends where
/// the next begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regions(Vec<(usize, BodyRegion)>);

impl Regions {
    /// Divides a text. Linear.
    #[must_use]
    pub fn of(text: &[u8]) -> Regions {
        let mut found = vec![(0, BodyRegion::Body)];
        let starts = std::iter::successors(Some(0), |after: &usize| {
            LINES.find(text, *after).map(|end| end + 1)
        });
        let tail = text.len().saturating_sub(FOOTER_BYTES);
        for (at, region) in starts.filter_map(|at| Some((at, begun_by(&text[at..])?))) {
            // A region that goes on needs no entry, but for those that the footer may divide.
            if tail <= at || found.last().is_none_or(|&(_, last)| last != region) {
                found.push((at, region));
            }
        }
        let mut rules = RULES.find_iter(&text[tail..]).map(|at| tail + at);
        let rule = rules.find(|&at| is_line_start(text, at));
        found.extend(rule.map(|at| (at, BodyRegion::Footer)));
        found.sort_unstable_by_key(|(at, _)| *at);
        Regions(found)
    }

    /// The kind of the region that holds the byte at `at`. Logarithmic in the number of regions.
    #[must_use]
    pub fn at(&self, at: usize) -> BodyRegion {
        let index = self.0.partition_point(|&(begin, _)| begin <= at);
        index
            .checked_sub(1)
            .map_or(BodyRegion::Body, |index| self.0[index].1)
    }
}

/// The names of the fields in one language.
struct FieldNames {
    /// Sender; the time, which pasted headers have, too; recipient; subject.
    names: [&'static str; 4],
    /// The field that only this kind of block has.
    sent: &'static [&'static str],
    copy: &'static [&'static str],
}

const fn language(names: [&'static str; 4], sent: &'static [&'static str]) -> FieldNames {
    let copy = &["Cc", "CC", "Bcc"];
    FieldNames { names, sent, copy }
}

/// The languages of Outlook that occur in archives.
const LANGUAGES: [FieldNames; 9] = [
    language(["From", "Date", "To", "Subject"], &["Sent"]),
    FieldNames {
        copy: &["Cc", "CC", "Bcc", "Kopie"],
        ..language(["Von", "Datum", "An", "Betreff"], &["Gesendet"])
    },
    language(
        ["De", "Date", "\u{c0}", "Objet"],
        &["Envoy\u{e9}", "Envoy\u{e9} le"],
    ),
    language(
        ["De", "Fecha", "Para", "Asunto"],
        &["Enviado", "Enviado el"],
    ),
    language(
        ["De", "Data", "Para", "Assunto"],
        &["Enviado", "Enviada", "Enviado em", "Enviada em"],
    ),
    language(["Da", "Data", "A", "Oggetto"], &["Inviato"]),
    language(["Van", "Datum", "Aan", "Onderwerp"], &["Verzonden"]),
    FieldNames {
        copy: &["Kopia", "Cc"],
        ..language(["Fr\u{e5}n", "Datum", "Till", "\u{c4}mne"], &["Skickat"])
    },
    FieldNames {
        names: [
            "\u{53d1}\u{4ef6}\u{4eba}",
            "\u{65e5}\u{671f}",
            "\u{6536}\u{4ef6}\u{4eba}",
            "\u{4e3b}\u{9898}",
        ],
        sent: &["\u{53d1}\u{9001}\u{65f6}\u{95f4}"],
        copy: &["\u{6284}\u{9001}"],
    },
];

/// Maximum length of a block. Longer ones have many recipients, and are not recognised.
const BLOCK_BYTES: usize = 4_096;

/// Maximum number of lines in a block between two fields, which a field was folded over.
const FOLDED_LINES: usize = 8;

/// Returns `true` if a block begins at the start of `text`, which is the start of a line: the sender,
/// the time, and last the subject, each once, with no other field in between. Of the time the name
/// `Date` counts only before that of the recipient: copies of headers and patches have other orders.
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
    /// Returns `true` if the lines after the first are those of a block.
    fn is_followed(&self, text: &[u8]) -> bool {
        let (mut is_sent, mut is_dated, mut is_addressed, mut folded) = (false, false, false, 0);
        let [_, date, to, subject] = self.names;
        for line in text.split(|&byte| byte == b'\n').skip(1) {
            let name = field_name(line).unwrap_or_default();
            if name == subject.as_bytes() {
                return is_sent || is_dated && is_addressed;
            } else if is_any(name, self.sent) && !is_sent {
                is_sent = true;
            } else if name == date.as_bytes() && !is_dated && !is_addressed {
                is_dated = true;
            } else if name == to.as_bytes() && !is_addressed {
                is_addressed = true;
            } else if !is_any(name, self.copy) {
                folded += 1;
                let is_folded = folded <= FOLDED_LINES
                    && !line.trim_ascii().is_empty()
                    && (name.is_empty() || line.starts_with(b" ") || line.starts_with(b"\t"));
                if !is_folded {
                    return false;
                }
            }
        }
        false
    }
}

fn is_any(name: &[u8], known: &[&str]) -> bool {
    known.iter().any(|known| name == known.as_bytes())
}

/// Maximum length of a name in bytes, with marks of bold type.
const NAME_BYTES: usize = 32;

/// Returns the name of the field at the start of a line, without marks of bold type
/// (`*From:* Joe`) and the blank that French has before a colon.
fn field_name(line: &[u8]) -> Option<&[u8]> {
    let stars = line.iter().take_while(|&&byte| byte == b'*').count();
    let start = &line[stars..line.len().min(stars + NAME_BYTES)];
    // The colon may be full-width (U+FF1A). No name has a character with its first byte.
    let name = &start[..memchr::memchr3(b':', b'\n', 0xEF, start)?];
    let name = name.strip_suffix("\u{a0}".as_bytes()).unwrap_or(name);
    let name = name.trim_ascii_end();
    Some(name.strip_suffix(b"*").unwrap_or(name)).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_region_ends_where_the_next_begins() {
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
    fn a_region_that_goes_on_takes_no_memory() {
        let text = format!(
            "{}{}\n-- \nlist\n",
            "-- \n".repeat(10_000),
            String::from_utf8_lossy(RULE)
        );
        let regions = Regions::of(text.as_bytes());
        assert!(regions.0.len() < FOOTER_BYTES);
        assert_eq!(regions.at(39_999), BodyRegion::Signature);
        assert_eq!(regions.at(40_000), BodyRegion::Footer);
        assert_eq!(regions.at(text.len() - 1), BodyRegion::Signature);
    }

    #[test]
    fn a_message_follows_the_header_lines_of_outlook() {
        let text = b"new\n\nVon: Joe\nGesendet: Montag\nAn: Jane\nBetreff: x\n\nold";
        let regions = Regions::of(text);
        assert_eq!(regions.at(4), BodyRegion::Body);
        assert_eq!(regions.at(5), BodyRegion::Forwarded);
        assert_eq!(regions.at(text.len() - 1), BodyRegion::Forwarded);
    }

    #[test]
    fn a_rule_far_from_the_end_is_part_of_the_text() {
        let text = format!(
            "a\n{}\n{}",
            String::from_utf8_lossy(RULE),
            "x\n".repeat(1_000)
        );
        assert_eq!(
            Regions::of(text.as_bytes()).at(text.len() - 1),
            BodyRegion::Body
        );
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
            "From: \"Joe\" <joe@a.example>\nTo: <list>\nSent: Monday\nSubject: x\n",
            "From: Joe\nDate: Monday\nTo: jane\nSubject: x\n",
            "Von: Joe\nGesendet: Montag\nAn: jane\nBetreff: x\n",
            "De : Joe\nEnvoy\u{e9}\u{a0}: lundi\n\u{c0} : jane\nObjet : x\n",
            "De: Joe\nEnviado el: lunes\nPara: jane\nAsunto: x\n",
            "De: Joe\nEnviado: segunda-feira\nAssunto: x\n",
            "Da: Joe\nInviato: luned\u{ec}\nA: jane\nOggetto: x\n",
            "Van: Joe\nVerzonden: maandag\nAan: jane\nOnderwerp: x\n",
            "Fr\u{e5}n: Joe\nSkickat: m\u{e5}ndag\nTill: jane\n\u{c4}mne: x\n",
            "\u{53d1}\u{4ef6}\u{4eba}\u{ff1a}Joe\n\u{53d1}\u{9001}\u{65f6}\u{95f4}\u{ff1a}1\n\u{4e3b}\u{9898}\u{ff1a}x\n",
        ] {
            check(block, &[0]);
            check(
                &format!("text\n{block}text\n{block}"),
                &[5, 10 + block.len()],
            );
        }
    }

    #[test]
    fn other_header_lines_begin_no_block() {
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
        ] {
            check(text, &[]);
        }
    }
}
