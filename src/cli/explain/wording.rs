//! The words of `urlspool explain` for the values that the stages give.

use crate::parse::{AlternateReason, RejectReason, Wrapper};
use crate::repair::Repair;
use crate::split::{Format, MboxDialect, mbox_dialect};

/// What the start of a file told.
pub(super) fn recognised(format: Format, start: &[u8]) -> String {
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

pub(super) fn in_words(reason: RejectReason) -> String {
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

pub(super) fn set_off(wrapper: Wrapper) -> &'static str {
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

pub(super) fn undone(repair: Repair) -> &'static str {
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

pub(super) fn instead(why: AlternateReason) -> &'static str {
    match why {
        AlternateReason::HyphenDropped => "without the hyphens before line breaks",
        AlternateReason::TrimmedTail => "with the punctuation that came off its end",
        AlternateReason::BareContinuation => "joined with the next line",
        AlternateReason::HeadOnly => "without the next line",
    }
}
