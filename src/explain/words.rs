//! The words for formats, headers, wrappers, repairs, readings and reasons.

use std::borrow::Cow;

use super::NamedReason;
use crate::documents::DocumentKind;
use crate::parse::{AlternateReason, RejectReason, Wrapper};
use crate::repair::Repair;
use crate::split::{Format, HeaderForm, MboxDialect, mbox_dialect};

/// The form of a header with a number of fields.
pub(super) fn header_text(header: HeaderForm, fields: usize) -> Cow<'static, str> {
    let text = match header {
        HeaderForm::Absent => "It has no header: it is text from its first byte on.",
        HeaderForm::Page => "It has no header: it is an HTML page from its first byte on.",
        HeaderForm::Document(_) => {
            "It has no header: it is a document, of which all links have the same range."
        }
        HeaderForm::ANews => "Its header is in the A news format: five lines without names.",
        HeaderForm::Copied { .. } => "After its header is a copy of some fields, which is skipped.",
        HeaderForm::Present => return format!("Its header has {fields} fields.").into(),
    };
    text.into()
}

/// The format of a file, and how it was recognized from its first bytes.
pub(super) fn format_text(format: Format, start: &[u8]) -> NamedReason {
    let name = format.kind().name();
    let how = match format {
        Format::Mbox | Format::Mboxcl => {
            let dialect = mbox_dialect(start);
            let text = format!(
                "in the dialect {}, {}",
                dialect.name(),
                dialect_text(dialect)
            );
            return NamedReason::new(name, text);
        }
        Format::Rnews => "a line before each article has its length",
        Format::Mmdf => "lines of four control-A divide it",
        Format::Babyl => "it starts with the options of Rmail",
        Format::Emlx => "its first line is the length of one message of Apple Mail",
        Format::Single(_) => "it starts with a header and is one message",
        Format::Html => "it starts as an HTML page",
        Format::Document(kind) => match kind {
            DocumentKind::Office => "it is a zip that starts as a document of an office program",
            DocumentKind::Pdf => "it starts as a PDF",
            DocumentKind::Rtf => "it starts as an RTF",
            DocumentKind::Compound => "it starts as a message of Outlook or a document of Office",
        },
        Format::Text => "it does not start with a header",
    };
    NamedReason::new(name, how)
}

fn dialect_text(dialect: MboxDialect) -> &'static str {
    match dialect {
        MboxDialect::Mboxo => "`From ` lines divide it",
        MboxDialect::Mboxrd => "`From ` lines divide it; quoted ones in bodies are quoted again",
        MboxDialect::Mboxcl | MboxDialect::Mboxcl2 => {
            "`From ` lines divide it, and Content-Length fields where they are correct"
        }
    }
}

/// The reason why a candidate is not a URL.
pub(super) fn reject_text(reason: RejectReason) -> NamedReason {
    let text = match reason {
        RejectReason::Grammar(reject) => {
            let text = format!("RFC 1738 rejects it, and no other grammar may accept it: {reject}");
            return NamedReason::new(reason.name(), text);
        }
        RejectReason::Host => "its scheme has a host, and the text there cannot be a host",
        RejectReason::Implausible => {
            "the text after the scheme is not like that of bare URLs of that scheme"
        }
        RejectReason::Shortened => {
            "its author cut the host short, so that nobody knows the location"
        }
        RejectReason::Machine => {
            "the host is named as a machine, in a trace field or a certificate, and not cited"
        }
        RejectReason::TwoUrls => "two URLs start in one wrapper; each is read alone",
        RejectReason::Unclosed => "the wrapper does not close; its text is read without it",
        RejectReason::Relative => "relative to a page whose address is unknown",
        RejectReason::NoLocation => "data or a program, not a location",
        RejectReason::Reread => "the same bytes gave this URL in another reading of the message",
    };
    NamedReason::new(reason.name(), text)
}

/// The text that sets a URL off.
pub(super) fn wrapper_text(wrapper: Wrapper) -> NamedReason {
    let text = match wrapper {
        Wrapper::UrlBracket => "`<URL:` and `>`",
        Wrapper::Angle => "`<` and `>`",
        Wrapper::UrlPrefix => "`URL:` before it",
        Wrapper::Bare => "its scheme, and by white space or punctuation after it",
        Wrapper::Attr => "the quotes of an attribute",
        Wrapper::Schemeless => "a host that starts with `www.` or `ftp.`; its scheme is a guess",
    };
    NamedReason::new(wrapper.name(), text)
}

/// The change that a repair made.
pub(super) fn repair_text(repair: Repair) -> NamedReason {
    let text = match repair {
        Repair::Whitespace => "white space in a line was removed",
        Repair::LineBreak => "a line break and the white space around it were removed",
        Repair::Hyphen => "a hyphen before a line break was kept",
        Repair::HyphenDropped => "a hyphen before a line break was removed",
        Repair::QuotePrefix => "quote marks at the start of a line were removed",
        Repair::PageBreak => "the text between two printed pages was removed",
        Repair::BareContinuation => "the next line was joined",
        Repair::AtSign => "`at`, which an archive wrote for `@`, was replaced",
        Repair::QuotedPrintable => "quoted-printable in a text without that label was decoded",
        Repair::Slashes => "the slashes after the scheme were corrected",
        Repair::SchemeGuessed => "the missing scheme was guessed",
        Repair::SchemeCorrected => "the mistyped scheme or slashes were corrected",
        Repair::Defang => "it was defanged, so that it was no link, and that was undone",
        Repair::Roff => "escapes of roff were undone",
        Repair::Escape => "backslashes of another language were removed",
        Repair::Brackets => "the angle brackets around a Message-ID were removed",
    };
    NamedReason::new(repair.name(), text)
}

/// The difference between an alternate and the URL.
pub(super) fn alternate_text(why: AlternateReason) -> NamedReason {
    let text = match why {
        AlternateReason::HyphenDropped => "without the hyphens before line breaks",
        AlternateReason::TrimmedTail => "with the punctuation that was cut off its end",
        AlternateReason::BareContinuation => "joined with the next line",
        AlternateReason::HeadOnly => "without the next line",
        AlternateReason::Tilde => "with a tilde for an overline",
        AlternateReason::Undecoded => "with the quoted-printable as it is written",
    };
    NamedReason::new(why.name(), text)
}
