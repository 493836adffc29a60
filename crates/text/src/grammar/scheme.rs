//! The table of schemes: rule, class, default port, and the requirement for a bare URL in running
//! text.

use super::escape::CharSet;
use super::reject::{Production, RejectKind, RejectPart};
use crate::byte_scan::{prefix_len, starts_with_caseless};

/// The rule of section 5 that parses the URLs of a scheme.
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
    /// `otherurl`, for a scheme without its own rule.
    Other,
}

named_enum! {
    /// The class of a scheme in RFC 1738.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum SchemeClass {
        /// One of the ten schemes of section 3.
        Predefined = "predefined",
        /// One of the names that section 4 reserves.
        Reserved = "reserved",
        /// `x-...`: experimental (section 4).
        Experimental = "experimental",
        /// Any other name.
        Other = "other",
    }
}

/// The text required after a scheme's colon for a bare word in running text to count as a URL.
///
/// A scheme outside the table requires `//` and a plausible host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BareRequirement {
    /// `//` and a plausible host.
    Host,
    /// `//`; the host is optional (`file:///etc/motd`).
    Slashes,
    /// A mailbox: a local part, `@`, and a host with a dot. The host may be followed by one of
    /// these characters, and then by any others that the grammar allows: the parameters of `sip:`,
    /// the resource of `xmpp:`.
    Mailbox(&'static str),
    /// `*`, a newsgroup with at least two components, or an article identifier.
    News,
    /// A namespace identifier, a colon, and at least one character (RFC 8141).
    Urn,
    /// This prefix.
    Starts(&'static str),
    /// Nothing: a bare word of this scheme never counts, only a URL in a wrapper.
    Never,
}

use BareRequirement::{Host, Mailbox, Never, News, Slashes, Starts, Urn};

/// A row of [`SCHEMES`].
#[derive(Clone, Copy, Debug)]
pub struct Scheme {
    /// The name, in lower case.
    pub name: &'static str,
    /// The rule of section 5.
    pub rule: SchemeRule,
    /// The class.
    pub class: SchemeClass,
    /// The default port; `None` if the scheme has none.
    pub port: Option<u16>,
    /// The requirement for a bare URL.
    pub bare: BareRequirement,
}

/// The known schemes. Section numbers refer to RFC 1738 unless another RFC is named.
pub const SCHEMES: &[Scheme] = &[
    predefined("ftp", SchemeRule::Ftp, Some(21), Host), // 3.2
    predefined("http", SchemeRule::Http, Some(80), Host), // 3.3
    predefined("gopher", SchemeRule::Gopher, Some(70), Host), // 3.4
    predefined("mailto", SchemeRule::Mailto, None, Mailbox("")), // 3.5
    predefined("news", SchemeRule::News, None, News),   // 3.6
    predefined("nntp", SchemeRule::Nntp, Some(119), Host), // 3.7
    predefined("telnet", SchemeRule::Telnet, Some(23), Host), // 3.8
    predefined("wais", SchemeRule::Wais, Some(210), Host), // 3.9
    predefined("file", SchemeRule::File, None, Slashes), // 3.10
    predefined("prospero", SchemeRule::Prospero, Some(1525), Host), // 3.11
    reserved("afs", Host),                              // 4, this row and the next six
    reserved("mid", Mailbox("/")),
    reserved("cid", Mailbox("")),
    reserved("nfs", Host),
    reserved("tn3270", Host),
    reserved("mailserver", Never),
    reserved("z39.50", Host),
    other("https", Some(443), Host), // RFC 9110 4.2.2
    other("ws", Some(80), Host),     // RFC 6455 3
    other("wss", Some(443), Host),   // RFC 6455 3
    other("snews", None, News),      // RFC 4642
    other("urn", None, Urn),         // RFC 8141
    other("magnet", None, Starts("?")),
    other("doi", None, Starts("10.")),
    other("tel", None, Starts("+")),   // RFC 3966
    other("sip", None, Mailbox(";:")), // RFC 3261
    other("sips", None, Mailbox(";:")),
    other("xmpp", None, Mailbox("/")), // RFC 5122
    other("im", None, Mailbox("")),    // RFC 3860
    other("data", None, Never),        // RFC 2397: counted in HTML, not a location in text
    other("javascript", None, Never),
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
    let class = SchemeClass::Reserved;
    Scheme {
        class,
        ..other(name, None, bare)
    }
}

const fn other(name: &'static str, port: Option<u16>, bare: BareRequirement) -> Scheme {
    let class = SchemeClass::Other;
    Scheme {
        class,
        ..predefined(name, SchemeRule::Other, port, bare)
    }
}

impl Scheme {
    /// Returns the row for a scheme's name, in any case; `None` if the scheme is not in the table.
    #[must_use]
    pub fn named(name: &[u8]) -> Option<&'static Scheme> {
        Scheme::index(name).map(|row| &SCHEMES[row])
    }

    /// Returns the index of the row in [`SCHEMES`]. Only compares names with the same first
    /// letter.
    #[must_use]
    pub fn index(name: &[u8]) -> Option<usize> {
        let rows = &ROWS[letter(*name.first()?)];
        let mut indexes = rows
            .iter()
            .map(|&row| usize::from(row))
            .take_while(|&row| row < SCHEMES.len());
        // Nearly all names are written in lower case.
        let is_same = |own: &[u8]| own == name || own.eq_ignore_ascii_case(name);
        indexes.find(|&index| is_same(SCHEMES[index].name.as_bytes()))
    }
}

/// For each letter, the indexes of the rows whose names start with it, terminated by `u8::MAX`.
///
/// Every colon that may end a scheme causes a lookup, and a letter has at most four rows.
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

/// The index of a letter in [`ROWS`], in either case. Other bytes share the indexes of letters.
const fn letter(byte: u8) -> usize {
    (byte & 0x1F) as usize
}

impl SchemeClass {
    /// Returns the class of a scheme's name.
    #[must_use]
    pub fn of(name: &[u8]) -> SchemeClass {
        match Scheme::named(name) {
            Some(row) => row.class,
            None if starts_with_caseless(name, b"x-") => SchemeClass::Experimental,
            None => SchemeClass::Other,
        }
    }
}

/// Returns `true` if `byte` can be part of a scheme's name, in either case.
#[must_use]
pub fn is_scheme_char(byte: u8) -> bool {
    CharSet::SCHEME.has(byte)
}

/// Parses `scheme ":"`, where `scheme = 1*[ lowalpha | digit | "+" | "-" | "." ]` matches either
/// case (section 2.1).
pub(super) fn scheme(input: &[u8]) -> Production<'_, &[u8]> {
    let len = prefix_len(input, |&byte| is_scheme_char(byte));
    let (name, rest) = input.split_at(len);
    if name.is_empty() {
        return Err(RejectKind::Empty.at(RejectPart::Scheme, input));
    }
    match rest.strip_prefix(b":") {
        Some(rest) => Ok((name, rest)),
        None if rest.is_empty() => Err(RejectKind::Missing.at(RejectPart::Scheme, rest)),
        None => Err(RejectKind::Unexpected.at(RejectPart::Scheme, rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simple twin of [`Scheme::index`]. Compares every name.
    fn index_simple(name: &[u8]) -> Option<usize> {
        SCHEMES
            .iter()
            .position(|row| row.name.as_bytes().eq_ignore_ascii_case(name))
    }

    proptest::proptest! {
        #[test]
        fn the_lookup_by_first_letter_and_its_simple_twin_agree(
            name in "[a-zA-Z0-9.+-]{0,8}|(?i)(ftp|http|https|z39\\.50|tn3270|x-y|mailto|mailserver|\
                mid|magnet)"
        ) {
            let name = name.as_bytes();
            proptest::prop_assert_eq!(Scheme::index(name), index_simple(name));
        }
    }

    #[test]
    fn every_scheme_is_found_in_any_case() {
        for (index, row) in SCHEMES.iter().enumerate() {
            assert_eq!(Scheme::index(row.name.as_bytes()), Some(index));
            assert_eq!(
                Scheme::index(row.name.to_ascii_uppercase().as_bytes()),
                Some(index)
            );
        }
    }
}
