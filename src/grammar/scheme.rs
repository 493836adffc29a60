//! The one table of schemes: their rule, default port, and what makes a bare one plausible in running text.

use super::chars::Set;
use super::reject::{Kind, Part, Read, Refusal};

/// Which rule of section 5 a scheme answers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
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
pub enum Class {
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
pub enum Bare {
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
    pub rule: Rule,
    /// Its class.
    pub class: Class,
    /// The port a client uses where the URL names none.
    pub port: Option<u16>,
    /// What makes a bare URL of this scheme plausible.
    pub bare: Bare,
}

/// The schemes we know more about than their name. Sections are RFC 1738's unless another is named.
pub const SCHEMES: &[Scheme] = &[
    predefined("ftp", Rule::Ftp, Some(21), Bare::Host), // 3.2
    predefined("http", Rule::Http, Some(80), Bare::Host), // 3.3
    predefined("gopher", Rule::Gopher, Some(70), Bare::Host), // 3.4
    predefined("mailto", Rule::Mailto, None, Bare::Mailbox), // 3.5
    predefined("news", Rule::News, None, Bare::News),   // 3.6
    predefined("nntp", Rule::Nntp, Some(119), Bare::Host), // 3.7
    predefined("telnet", Rule::Telnet, Some(23), Bare::Host), // 3.8
    predefined("wais", Rule::Wais, Some(210), Bare::Host), // 3.9
    predefined("file", Rule::File, None, Bare::Slashes), // 3.10
    predefined("prospero", Rule::Prospero, Some(1525), Bare::Host), // 3.11
    reserved("afs", Bare::Host),                        // 4, here and below
    reserved("mid", Bare::Mailbox),
    reserved("cid", Bare::Mailbox),
    reserved("nfs", Bare::Host),
    reserved("tn3270", Bare::Host),
    reserved("mailserver", Bare::Never),
    reserved("z39.50", Bare::Host),
    other("https", Some(443), Bare::Host), // RFC 9110 4.2.2
    other("ws", Some(80), Bare::Host),     // RFC 6455 3
    other("wss", Some(443), Bare::Host),   // RFC 6455 3
    other("snews", None, Bare::News),      // RFC 4642
    other("urn", None, Bare::Urn),         // RFC 8141
    other("magnet", None, Bare::Starts("?")),
    other("doi", None, Bare::Starts("10.")),
    other("tel", None, Bare::Starts("+")), // RFC 3966
    other("sip", None, Bare::Mailbox),     // RFC 3261
    other("sips", None, Bare::Mailbox),
    other("xmpp", None, Bare::Mailbox), // RFC 5122
    other("im", None, Bare::Mailbox),   // RFC 3860
    other("data", None, Bare::Never),   // RFC 2397: counted in HTML, no location in text
    other("javascript", None, Bare::Never),
];

const fn predefined(name: &'static str, rule: Rule, port: Option<u16>, bare: Bare) -> Scheme {
    Scheme {
        name,
        rule,
        class: Class::Predefined,
        port,
        bare,
    }
}

const fn reserved(name: &'static str, bare: Bare) -> Scheme {
    Scheme {
        name,
        rule: Rule::Other,
        class: Class::Reserved,
        port: None,
        bare,
    }
}

const fn other(name: &'static str, port: Option<u16>, bare: Bare) -> Scheme {
    Scheme {
        name,
        rule: Rule::Other,
        class: Class::Other,
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

impl Class {
    /// The class of any scheme's name.
    #[must_use]
    pub fn of(name: &[u8]) -> Class {
        match Scheme::named(name) {
            Some(row) => row.class,
            None if name.len() >= 2 && name[..2].eq_ignore_ascii_case(b"x-") => Class::Experimental,
            None => Class::Other,
        }
    }

    /// The name that stands in a record's `scheme_class`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Class::Predefined => "predefined",
            Class::Reserved => "reserved",
            Class::Experimental => "experimental",
            Class::Other => "other",
        }
    }
}

/// Whether `byte` can stand in a scheme's name, in either case.
#[must_use]
pub fn is_scheme_char(byte: u8) -> bool {
    Set::SCHEME.has(byte)
}

/// `scheme ":"`, with `scheme = 1*[ lowalpha | digit | "+" | "-" | "." ]` read in either case (section 2.1).
pub(super) fn scheme(input: &[u8]) -> Read<'_, &[u8]> {
    let len = input
        .iter()
        .take_while(|&&byte| is_scheme_char(byte))
        .count();
    let (name, rest) = input.split_at(len);
    if name.is_empty() {
        return Err(Refusal::new(Kind::Empty, Part::Scheme, input));
    }
    match rest.strip_prefix(b":") {
        Some(rest) => Ok((name, rest)),
        None if rest.is_empty() => Err(Refusal::new(Kind::Missing, Part::Scheme, rest)),
        None => Err(Refusal::new(Kind::Unexpected, Part::Scheme, rest)),
    }
}
