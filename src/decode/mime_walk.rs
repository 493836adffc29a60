//! The walk over the parts of a message (RFC 2045, 2046): iterative, bounded, with offsets.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::boundary::boundaries;
use super::content_type::{Form, content, encodings, short, shortened};
use super::decoding_steps::Steps;
use super::field_names::KnownField;
use super::flowed::unflow;
use super::header::{HeaderFields, has_encoded_word, value};
use super::header_prefilter::{is_calm, may_hold_url};
use super::part::MimePart;
use super::transfer::{Encoding, base64, quoted_printable, unfold, unstuff};
use super::{
    DecodeReport, DecodedText, HeaderPolicy, HtmlPage, LineLayout, OffsetMap, Region, SkippedPart,
    charset, encoded_words, html,
};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::limits::Limits;
use crate::span::Span;
use crate::split::Message;

/// Finds the line ends before lines that begin as a boundary does.
static DASHED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\n--"));

/// The message inside a part that something belongs to.
#[derive(Clone, Debug, Default)]
struct Within {
    /// As much of it as records repeat.
    message_id: Option<String>,
    /// How many messages it lies in, one inside the other.
    depth: usize,
}

/// A multipart whose closing boundary has not come yet.
struct Open {
    /// Its boundary; more than one where the header names more.
    boundaries: Vec<Vec<u8>>,
    path: Vec<usize>,
    parts: usize,
    /// The default type of its parts: message/rfc822 in a digest (RFC 2046 section 5.1.5).
    digest: bool,
    within: Within,
}

/// What comes next.
enum Next {
    /// A header and its body.
    Entity {
        at: usize,
        path: Vec<usize>,
        root: bool,
        digest: bool,
        within: Within,
    },
    /// Bytes that belong to no part, up to a boundary.
    Between {
        at: usize,
    },
    End,
}

/// A line that ends a part.
struct Boundary {
    /// Where the text before it ends, its line end not included.
    start: usize,
    /// The first byte behind it.
    end: usize,
    /// Which of the open multiparts it belongs to.
    level: usize,
    closes: bool,
}

/// Gives all texts of a message with a header.
pub(super) fn walk<'m>(
    message: &Message<'m>,
    fields: &'m HeaderFields,
    limits: &Limits,
    headers: HeaderPolicy,
    sink: &mut dyn FnMut(DecodedText<'_>),
) -> DecodeReport {
    let mut walk = Walk {
        message,
        limits,
        headers,
        sink,
        open: Vec::new(),
        decoded: DecodeReport::default(),
        parts: 0,
    };
    let mut next = walk.entity(0, Vec::new(), true, false, Within::default(), Some(fields));
    loop {
        next = match next {
            Next::End => break,
            Next::Between { at } => walk.between(at),
            Next::Entity {
                at,
                path,
                root,
                digest,
                within,
            } => walk.entity(at, path, root, digest, within, None),
        };
    }
    walk.decoded
}

struct Walk<'w, 'm> {
    message: &'w Message<'m>,
    limits: &'w Limits,
    headers: HeaderPolicy,
    sink: &'w mut dyn FnMut(DecodedText<'_>),
    open: Vec<Open>,
    decoded: DecodeReport,
    parts: usize,
}

impl Walk<'_, '_> {
    /// Reads the header at `at`, and the body behind it unless that has parts of its own.
    fn entity(
        &mut self,
        at: usize,
        path: Vec<usize>,
        root: bool,
        digest: bool,
        within: Within,
        known: Option<&HeaderFields>,
    ) -> Next {
        let raw = self.message.raw;
        let read;
        let fields = match known {
            Some(fields) => fields,
            None => {
                read = self.fields(at);
                &read
            }
        };
        let body = fields.body.min(raw.len());
        if fields.cut {
            let most = self.limits.header_bytes;
            self.diagnostic(
                DiagnosticKind::Limit,
                at,
                format!("a header of more than {most} octets: the rest is read as body"),
            );
        }
        let content = content(raw, fields, digest);
        let mut encodings = encodings(raw, fields).into_iter();
        let part = MimePart {
            path: dotted(&path, root),
            media_type: content.media_type,
            charset: content.charset,
            encoding: encodings.next().map_or("7bit".to_owned(), shortened),
            others: encodings.map(|other| Encoding::named(&other)).collect(),
            message_id: within.message_id.clone(),
            form: content.form,
        };
        self.header_texts(fields, &part, known.is_some());
        self.parts += 1;
        if self.parts > self.limits.mime_parts {
            self.diagnostic(
                DiagnosticKind::Limit,
                at,
                format!(
                    "more than {} parts: the rest is read as one text",
                    self.limits.mime_parts
                ),
            );
            return self.flat(Span::new(body, raw.len()), &part);
        }
        let nested = part.media_type == "message/rfc822"
            || part.media_type == "message/news"
            || part.media_type == "message/global";
        let deep = self.open.len() + within.depth >= self.limits.mime_depth;
        if part.media_type.starts_with("multipart/") {
            let boundaries = boundaries(raw, fields);
            if boundaries.is_empty() {
                self.diagnostic(
                    DiagnosticKind::Damage,
                    at,
                    "a multipart without a boundary: read as one text".to_owned(),
                );
            } else if deep {
                self.too_deep(at);
            } else {
                let digest = part.media_type == "multipart/digest";
                self.open.push(Open {
                    boundaries,
                    path,
                    parts: 0,
                    digest,
                    within,
                });
                return Next::Between { at: body };
            }
        } else if nested && Encoding::named(&part.encoding) == Encoding::Identity {
            if deep {
                self.too_deep(at);
                return self.leaf(body, &part);
            }
            let inner = HeaderFields::of(&raw[body..], self.limits.header_bytes);
            let id = inner
                .first_known(KnownField::MessageId)
                .map(|field| short(value(field.value.of(&raw[body..])).trim()).to_owned());
            let within = Within {
                message_id: id,
                depth: within.depth + 1,
            };
            return Next::Entity {
                at: body,
                path,
                root: true,
                digest: false,
                within,
            };
        }
        self.leaf(body, &part)
    }

    /// Reads the header at `at`. It ends at a boundary at the latest, which may look like a field (`--x: y`).
    fn fields(&self, at: usize) -> HeaderFields {
        let raw = self.message.raw;
        let fields = HeaderFields::of(&raw[at..], self.limits.header_bytes).shifted(at);
        let block = &raw[at..fields.body.min(raw.len())];
        let boundary = self
            .boundary_in(at, block)
            .map(|boundary| boundary.start.max(at));
        boundary.map_or(fields, |end| {
            HeaderFields::of(&raw[at..end], self.limits.header_bytes).shifted(at)
        })
    }

    /// The texts of a header's fields.
    fn header_texts(&mut self, fields: &HeaderFields, part: &MimePart, outermost: bool) {
        if self.headers == HeaderPolicy::Skip {
            return;
        }
        let raw = self.message.raw;
        for field in &fields.all {
            let name = field.name.of(raw);
            let octets = field.value.of(raw);
            if field.roles.is_trace || is_calm(octets) {
                continue;
            }
            let (bytes, map) = if has_encoded_word(octets) {
                let (text, map) = encoded_words::decode(octets);
                (text.into(), Some(map))
            } else if octets.is_ascii() {
                if !may_hold_url(octets) {
                    continue;
                }
                (octets.into(), None)
            } else {
                charset::decode(octets, None)
            };
            let offset_map = OffsetMap {
                base: field.value.start,
                maps: map.into_iter().collect(),
            };
            (self.sink)(DecodedText::plain(
                bytes,
                offset_map,
                Region::Header(name),
                if outermost { None } else { Some(part) },
            ));
        }
    }

    /// A body without parts of its own, up to the next boundary.
    fn leaf(&mut self, body: usize, part: &MimePart) -> Next {
        let is_base64 = Encoding::named(&part.encoding) == Encoding::Base64;
        let boundary = if is_base64 {
            self.boundary_behind_base64(body)
        } else {
            self.boundary(body)
        };
        let end = boundary
            .as_ref()
            .map_or(self.message.raw.len(), |boundary| boundary.start.max(body));
        if part.form == Form::Other {
            self.decoded.skipped_parts.push(SkippedPart {
                part: part.clone(),
                raw: Span::new(body, end),
            });
        } else {
            self.decoded.text_parts += 1;
            self.text(Span::new(body, end), part);
        }
        self.after(boundary)
    }

    /// The rest of the message as one text, whatever boundaries are in it.
    fn flat(&mut self, rest: Span, part: &MimePart) -> Next {
        // Its encoding is not that of the parts behind it, which would be noise by it.
        let coded = Encoding::named(&part.encoding) == Encoding::Base64;
        let encoding = if coded {
            "7bit".to_owned()
        } else {
            part.encoding.clone()
        };
        let plain = MimePart {
            media_type: "text/plain".to_owned(),
            form: Form::Plain,
            encoding,
            ..part.clone()
        };
        self.decoded.text_parts += 1;
        self.text(rest, &plain);
        Next::End
    }

    /// Bytes before the first part or behind the last one: shown to nobody, but nothing hides there.
    fn between(&mut self, at: usize) -> Next {
        let boundary = self.boundary(at);
        let end = boundary
            .as_ref()
            .map_or(self.message.raw.len(), |boundary| boundary.start.max(at));
        let between = Span::new(at, end);
        if memchr::memchr2(b':', b'.', between.of(self.message.raw)).is_some() {
            let path = self
                .open
                .last()
                .map_or(String::new(), |open| dotted(&open.path, false));
            let part = MimePart {
                path,
                media_type: "text/plain".to_owned(),
                encoding: "7bit".to_owned(),
                ..MimePart::default()
            };
            self.text(between, &part);
        }
        self.after(boundary)
    }

    fn after(&mut self, boundary: Option<Boundary>) -> Next {
        let Some(boundary) = boundary else {
            self.open.clear();
            return Next::End;
        };
        self.open.truncate(boundary.level + 1);
        if boundary.closes {
            self.open.truncate(boundary.level);
            return Next::Between { at: boundary.end };
        }
        let Some(open) = self.open.last_mut() else {
            return Next::End;
        };
        open.parts += 1;
        let mut path = open.path.clone();
        path.push(open.parts);
        Next::Entity {
            at: boundary.end,
            path,
            root: false,
            digest: open.digest,
            within: open.within.clone(),
        }
    }

    /// The first boundary line of an open multipart at `from` or behind it, the innermost multipart first.
    fn boundary(&self, from: usize) -> Option<Boundary> {
        self.boundary_in(from, &self.message.raw[from..])
    }

    /// The first boundary line that begins in `text`, which lies at `from`.
    fn boundary_in(&self, from: usize, text: &[u8]) -> Option<Boundary> {
        if self.open.is_empty() {
            return None;
        }
        let first = (from == 0 || self.message.raw[from - 1] == b'\n').then_some(from);
        let first = first.filter(|_| text.starts_with(b"--"));
        let others = DASHED.find_iter(text).map(|at| from + at + 1);
        first
            .into_iter()
            .chain(others)
            .find_map(|at| self.boundary_at(at))
    }

    /// The same as [`Walk::boundary`], for octets that are base64 as far as anybody knows. A hyphen is no digit of it (RFC
    /// 2045 section 6.8), and one byte is looked for in fewer steps than three.
    fn boundary_behind_base64(&self, from: usize) -> Option<Boundary> {
        if self.open.is_empty() {
            return None;
        }
        let raw = self.message.raw;
        let hyphens = memchr::memchr_iter(b'-', &raw[from..]).map(|at| from + at);
        let begins =
            |&at: &usize| raw.get(at + 1) == Some(&b'-') && (at == 0 || raw[at - 1] == b'\n');
        hyphens.filter(begins).find_map(|at| self.boundary_at(at))
    }

    fn boundary_at(&self, at: usize) -> Option<Boundary> {
        let raw = self.message.raw;
        let end = memchr::memchr(b'\n', &raw[at..]).map_or(raw.len(), |end| at + end + 1);
        let line = raw[at + 2..end].trim_ascii_end();
        let (level, closes) = self
            .open
            .iter()
            .enumerate()
            .rev()
            .find_map(|(level, open)| {
                let closes = |boundary: &Vec<u8>| match line.strip_prefix(boundary.as_slice())? {
                    b"" => Some(false),
                    b"--" => Some(true),
                    _ => None,
                };
                open.boundaries
                    .iter()
                    .find_map(closes)
                    .map(|closes| (level, closes))
            })?;
        let before = raw[..at].strip_suffix(b"\n").map_or(at, <[u8]>::len);
        let start = raw[..before]
            .strip_suffix(b"\r")
            .map_or(before, <[u8]>::len);
        Some(Boundary {
            start,
            end,
            level,
            closes,
        })
    }

    /// Decodes a body and gives it, by every encoding that it may be in.
    fn text(&mut self, body: Span, part: &MimePart) {
        let raw = body.of(self.message.raw);
        let encoding = Encoding::named(&part.encoding);
        let others = part
            .others
            .iter()
            .copied()
            .filter(|other| *other != encoding);
        // Whoever says base64 and writes plain text is read as he writes: no digit is a colon.
        let lies = encoding == Encoding::Base64 && memchr::memmem::find(raw, b"://").is_some();
        let has_other_readings = lies || others.clone().next().is_some();
        self.reading(body, part, encoding, has_other_readings);
        others.for_each(|other| self.reading(body, part, other, has_other_readings));
        if lies {
            self.diagnostic(
                DiagnosticKind::Damage,
                body.start,
                "a part in base64 that holds plain text: read as both".to_owned(),
            );
            self.reading(body, part, Encoding::Identity, has_other_readings);
        }
    }

    /// Decodes a body by one encoding and gives it.
    fn reading(
        &mut self,
        body: Span,
        part: &MimePart,
        encoding: Encoding,
        has_other_readings: bool,
    ) {
        let raw = body.of(self.message.raw);
        let mut steps = Steps {
            bytes: raw.into(),
            offset_map: OffsetMap::verbatim(body.start),
        };
        if self.message.wire {
            steps.optional(unstuff);
        }
        match encoding {
            Encoding::Identity => {}
            Encoding::QuotedPrintable => steps.step(quoted_printable),
            Encoding::Base64 => steps.step(base64),
        }
        steps.charset(part.charset.as_deref());
        match part.form {
            Form::Plain | Form::Other | Form::Html => {}
            Form::Flowed(blank) => steps.step(|text| unflow(text, blank)),
            Form::Folded => steps.step(unfold),
        }
        let Steps { bytes, offset_map } = steps;
        if part.form == Form::Html {
            let page = html::page(&bytes);
            let mut maps = offset_map.maps.clone();
            maps.push(page.map);
            let visible = OffsetMap {
                base: offset_map.base,
                maps,
            };
            let page_of = HtmlPage {
                source: bytes,
                offset_map,
                links: page.links,
                base: page.base,
            };
            let text = DecodedText::plain(page.text.into(), visible, Region::Body, Some(part));
            (self.sink)(DecodedText {
                lines: LineLayout::LaidOut,
                page: Some(page_of),
                has_other_readings,
                ..text
            });
            return;
        }
        (self.sink)(DecodedText {
            has_other_readings,
            ..DecodedText::plain(bytes, offset_map, Region::Body, Some(part))
        });
    }

    fn too_deep(&mut self, at: usize) {
        let most = self.limits.mime_depth;
        self.diagnostic(
            DiagnosticKind::Limit,
            at,
            format!("more than {most} levels of parts: the rest is read as one text"),
        );
    }

    fn diagnostic(&mut self, kind: DiagnosticKind, at: usize, message: String) {
        self.decoded.diagnostics.push(Diagnostic::at(
            kind,
            self.message.raw_start() + at as u64,
            message,
        ));
    }
}

/// A part's path in writing. The body of a message without parts is its first part.
fn dotted(path: &[usize], root: bool) -> String {
    if root && path.is_empty() {
        return "1".to_owned();
    }
    let last = root.then_some(1);
    let numbers: Vec<String> = path
        .iter()
        .copied()
        .chain(last)
        .map(|number| number.to_string())
        .collect();
    numbers.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each text as `path type: text`, and what its offset_map leads back to.
    fn shown(raw: &str) -> Vec<String> {
        let message = Message::parse(raw.as_bytes());
        let fields = HeaderFields::of(message.raw, usize::MAX);
        let mut seen = Vec::new();
        walk(
            &message,
            &fields,
            &Limits::default(),
            HeaderPolicy::Search,
            &mut |text| {
                let part = text.part.map_or(String::new(), |part| {
                    format!("{} {}", part.path, part.media_type)
                });
                let place = match text.region {
                    Region::Header(name) => format!("{part} {}", String::from_utf8_lossy(name)),
                    Region::Body => part,
                };
                let back = text.offset_map.raw(Span::new(0, text.bytes.len())).span;
                assert!(
                    !text.bytes.contains(&b'!') || back.of(message.raw).contains(&b'!'),
                    "{place}"
                );
                seen.push(format!(
                    "{place}: {}",
                    String::from_utf8_lossy(&text.bytes).trim_end()
                ));
            },
        );
        seen
    }

    #[test]
    fn a_message_without_parts_is_its_first_part() {
        assert_eq!(
            shown("Subject: a:b\n\nbody!"),
            [" Subject: a:b", "1 text/plain: body!"]
        );
    }

    #[test]
    fn parts_are_numbered_and_decoded() {
        let raw = "Content-Type: multipart/mixed; boundary=\"x\"\n\npreamble.\n--x\n\none!\n--x\nContent-Type: text/html\n\
                   Content-Transfer-Encoding: quoted-printable\n\nt=\nwo\n--x\nContent-Type: image/png\n\nno\n--x--\nepilogue.\n";
        assert_eq!(
            shown(raw),
            [
                " text/plain: preamble.",
                "1 text/plain: one!",
                "2 text/html: two",
                " text/plain: epilogue."
            ]
        );
    }

    #[test]
    fn messages_in_parts_count_as_a_level() {
        let inner =
            "Subject: i:j\nContent-Type: multipart/alternative; boundary=y\n\n--y\n\nin\n--y--\n";
        let raw = format!(
            "Content-Type: multipart/digest; boundary=x\n\n--x\n\n{inner}\n--x\n\nSubject: k:l\n\nplain\n--x--\n"
        );
        assert_eq!(
            shown(&raw),
            [
                "1.1 multipart/alternative Subject: i:j",
                "1.1 text/plain: in",
                "2.1 text/plain Subject: k:l",
                "2.1 text/plain: plain"
            ]
        );
    }

    #[test]
    fn a_header_ends_at_a_boundary() {
        let raw = "Content-Type: multipart/mixed; boundary=\":x\"\n\n--:x\nContent-Type: text/html\n--:x\n\ntwo\n--:x--\n";
        assert_eq!(shown(raw), ["1 text/html: ", "2 text/plain: two"]);
    }

    #[test]
    fn a_header_with_two_encodings_or_types_is_read_by_both() {
        let raw = "Content-Transfer-Encoding: 7bit\nContent-Transfer-Encoding: base64 (x)\n\naHR0cDovL2EuYg==\n";
        assert_eq!(
            shown(raw),
            ["1 text/plain: aHR0cDovL2EuYg==", "1 text/plain: http://a.b"]
        );
        assert_eq!(
            shown("Content-Type: image/png\nContent-Type: text/plain\n\nx"),
            ["1 text/plain: x"]
        );
    }

    #[test]
    fn a_url_at_a_lines_start_is_no_field() {
        let raw = "Content-Type: multipart/mixed; boundary=b\n\n--b\nhttp://a.b/\n--b--\n";
        assert_eq!(shown(raw), ["1 text/plain: http://a.b/"]);
    }

    #[test]
    fn a_header_with_two_boundaries_is_read_by_both() {
        let raw = "Content-Type: multipart/mixed; boundary=a; boundary=b\n\n--a\n\none\n--b\n\ntwo\n--a--\n";
        assert_eq!(shown(raw), ["1 text/plain: one", "2 text/plain: two"]);
        let continued = "Content-Type: multipart/mixed;\n boundary*0=a;\n boundary*1=b\n\n--ab\n\none\n--ab--\n";
        assert_eq!(
            shown(continued),
            ["1 text/plain: one"],
            "RFC 2231 section 3"
        );
    }

    #[test]
    fn nothing_hides_behind_a_boundary_that_never_comes() {
        assert_eq!(
            shown("Content-Type: multipart/mixed; boundary=x\n\nall.of it"),
            [" text/plain: all.of it"]
        );
        assert_eq!(
            shown("Content-Type: multipart/mixed\n\nall"),
            ["1 multipart/mixed: all"]
        );
    }

    proptest::proptest! {
        #[test]
        fn boundaries_are_found_among_digits_as_anywhere(
            pieces in proptest::collection::vec(proptest::sample::select(vec!["\n", "\r\n", "-", "--", "--x", "\n--x", "\n--xy--", "A"]), 0..30),
        ) {
            let raw = pieces.concat();
            let message = Message::parse(raw.as_bytes());
            let boundaries = vec![b"x".to_vec(), b"xy".to_vec()];
            let open = Open { boundaries, path: Vec::new(), parts: 0, digest: false, within: Within::default() };
            let (limits, mut sink) = (Limits::default(), |_: DecodedText<'_>| {});
            let walk = Walk {
                message: &message,
                limits: &limits,
                headers: HeaderPolicy::Search,
                sink: &mut sink,
                open: vec![open],
                decoded: DecodeReport::default(),
                parts: 0,
            };
            let place = |boundary: Option<Boundary>| boundary.map(|it| (it.start, it.end, it.level, it.closes));
            for from in 0..=raw.len() {
                proptest::prop_assert_eq!(place(walk.boundary_behind_base64(from)), place(walk.boundary(from)));
            }
        }
    }
}
