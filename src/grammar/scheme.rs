//! The one table of schemes: their rule, default port, and what makes a bare one plausible in running text.

use super::chars::CharSet;
use super::reject::{Production, ProductionError, RejectKind, RejectPart};

/// Which rule of section 5 a scheme answers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchemeRule {
    /// `ftpurl`
    Ftp,
    /// `fileurl`
    File,
    /// `httpurl`
    Http,
    /// `gopherurl`
    Gopher,
    /// `mailtourl`
    Mailto,
    /// `newsurl`
    News,
    /// `nntpurl`
    Nntp,
    /// `telneturl`
    Telnet,
    /// `waisurl`
    Wais,
    /// `prosperourl`
    Prospero,
    /// `otherurl`: no rule of its own.
    Other,
}

/// What kind of scheme it is by RFC 1738.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchemeClass {
    /// One of the ten of section 3.
    Predefined,
    /// One of the names that section 4 sets aside.
    Reserved,
    /// `x-...`: an experiment (section 4).
    Experimental,
    /// Any other name.
    Other,
}

/// What must follow a scheme's colon before a bare word in running text is taken for a URL.
///
/// A scheme that is not in the table needs `//` and a plausible host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BareRequirement {
    /// `//` and a plausible host.
    Host,
    /// `//`; what follows may have no host (`file:///etc/motd`).
    Slashes,
    /// A mailbox: something, `@`, a host with a dot.
    Mailbox,
    /// `*`, a newsgroup of two or more names, or an article's identifier.
    News,
    /// A namespace identifier, a colon, and something (RFC 8141).
    Urn,
    /// These characters.
    Starts(&'static str),
    /// Never outside a wrapper.
    Never,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Scheme {
    /// The name, in lower case.
    pub name: &'static str,
    /// Its rule in section 5.
    pub rule: SchemeRule,
    /// Its class.
    pub class: SchemeClass,
    /// The port a client uses where the URL names none.
    pub port: Option<u16>,
    /// What makes a bare URL of this scheme plausible.
    pub bare: BareRequirement,
}

/// The schemes we know more about than their name. Sections are RFC 1738's unless another is named.
pub const SCHEMES: &[Scheme] = &[
    predefined("ftp", SchemeRule::Ftp, Some(21), BareRequirement::Host), // 3.2
    predefined("http", SchemeRule::Http, Some(80), BareRequirement::Host), // 3.3
    predefined(
        "gopher",
        SchemeRule::Gopher,
        Some(70),
        BareRequirement::Host,
    ), // 3.4
    predefined("mailto", SchemeRule::Mailto, None, BareRequirement::Mailbox), // 3.5
    predefined("news", SchemeRule::News, None, BareRequirement::News),   // 3.6
    predefined("nntp", SchemeRule::Nntp, Some(119), BareRequirement::Host), // 3.7
    predefined(
        "telnet",
        SchemeRule::Telnet,
        Some(23),
        BareRequirement::Host,
    ), // 3.8
    predefined("wais", SchemeRule::Wais, Some(210), BareRequirement::Host), // 3.9
    predefined("file", SchemeRule::File, None, BareRequirement::Slashes), // 3.10
    predefined(
        "prospero",
        SchemeRule::Prospero,
        Some(1525),
        BareRequirement::Host,
    ), // 3.11
    reserved("afs", BareRequirement::Host),                              // 4, here and below
    reserved("mid", BareRequirement::Mailbox),
    reserved("cid", BareRequirement::Mailbox),
    reserved("nfs", BareRequirement::Host),
    reserved("tn3270", BareRequirement::Host),
    reserved("mailserver", BareRequirement::Never),
    reserved("z39.50", BareRequirement::Host),
    other("https", Some(443), BareRequirement::Host), // RFC 9110 4.2.2
    other("ws", Some(80), BareRequirement::Host),     // RFC 6455 3
    other("wss", Some(443), BareRequirement::Host),   // RFC 6455 3
    other("snews", None, BareRequirement::News),      // RFC 4642
    other("urn", None, BareRequirement::Urn),         // RFC 8141
    other("magnet", None, BareRequirement::Starts("?")),
    other("doi", None, BareRequirement::Starts("10.")),
    other("tel", None, BareRequirement::Starts("+")), // RFC 3966
    other("sip", None, BareRequirement::Mailbox),     // RFC 3261
    other("sips", None, BareRequirement::Mailbox),
    other("xmpp", None, BareRequirement::Mailbox), // RFC 5122
    other("im", None, BareRequirement::Mailbox),   // RFC 3860
    other("data", None, BareRequirement::Never),   // RFC 2397: counted in HTML, no location in text
    other("javascript", None, BareRequirement::Never),
];

const fn predefined(
    name: &'static str,
    rule: SchemeRule,
    port: Option<u16>,
    bare: BareRequirement,
) -> Scheme {
    Scheme {
        name,
        rule,
        class: SchemeClass::Predefined,
        port,
        bare,
    }
}

const fn reserved(name: &'static str, bare: BareRequirement) -> Scheme {
    Scheme {
        name,
        rule: SchemeRule::Other,
        class: SchemeClass::Reserved,
        port: None,
        bare,
    }
}

const fn other(name: &'static str, port: Option<u16>, bare: BareRequirement) -> Scheme {
    Scheme {
        name,
        rule: SchemeRule::Other,
        class: SchemeClass::Other,
        port,
        bare,
    }
}

impl Scheme {
    /// The row of a scheme's name in any case, if it has one.
    #[must_use]
    pub fn named(name: &[u8]) -> Option<&'static Scheme> {
        Scheme::place(name).map(|row| &SCHEMES[row])
    }

    /// The place of that row in [`SCHEMES`]. Compares those names alone that begin with the same letter.
    #[must_use]
    pub fn place(name: &[u8]) -> Option<usize> {
        let rows = &ROWS[letter(*name.first()?)];
        let mut places = rows
            .iter()
            .map(|&row| usize::from(row))
            .take_while(|&row| row < SCHEMES.len());
        // Nearly all are written in lower case.
        let is_same = |own: &[u8]| own == name || own.eq_ignore_ascii_case(name);
        places.find(|&place| is_same(SCHEMES[place].name.as_bytes()))
    }
}

/// For each letter the rows of the names that begin with it; a number that is none's behind them.
const ROWS: [[u8; 5]; 32] = {
    let mut rows = [[u8::MAX; 5]; 32];
    let mut row = 0;
    while row < SCHEMES.len() {
        let same = &mut rows[letter(SCHEMES[row].name.as_bytes()[0])];
        let mut place = 0;
        while same[place] != u8::MAX {
            place += 1;
        }
        same[place] = row as u8;
        row += 1;
    }
    rows
};

/// The number of a letter, in either case.
const fn letter(byte: u8) -> usize {
    (byte & 0x1F) as usize
}

impl SchemeClass {
    /// The class of any scheme's name.
    #[must_use]
    pub fn of(name: &[u8]) -> SchemeClass {
        match Scheme::named(name) {
            Some(row) => row.class,
            None if name.len() >= 2 && name[..2].eq_ignore_ascii_case(b"x-") => {
                SchemeClass::Experimental
            }
            None => SchemeClass::Other,
        }
    }

    /// The name that stands in a record's `scheme_class`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SchemeClass::Predefined => "predefined",
            SchemeClass::Reserved => "reserved",
            SchemeClass::Experimental => "experimental",
            SchemeClass::Other => "other",
        }
    }
}

/// Whether `byte` can stand in a scheme's name, in either case.
#[must_use]
pub fn is_scheme_char(byte: u8) -> bool {
    CharSet::SCHEME.has(byte)
}

/// `scheme ":"`, with `scheme = 1*[ lowalpha | digit | "+" | "-" | "." ]` read in either case (section 2.1).
pub(super) fn scheme(input: &[u8]) -> Production<'_, &[u8]> {
    let len = input
        .iter()
        .take_while(|&&byte| is_scheme_char(byte))
        .count();
    let (name, rest) = input.split_at(len);
    if name.is_empty() {
        return Err(ProductionError::new(
            RejectKind::Empty,
            RejectPart::Scheme,
            input,
        ));
    }
    match rest.strip_prefix(b":") {
        Some(rest) => Ok((name, rest)),
        None if rest.is_empty() => Err(ProductionError::new(
            RejectKind::Missing,
            RejectPart::Scheme,
            rest,
        )),
        None => Err(ProductionError::new(
            RejectKind::Unexpected,
            RejectPart::Scheme,
            rest,
        )),
    }
}
