//! Properties of the token, the first run of characters of the next line, that suggest a piece of a
//! URL or other text.
//!
//! `features` decides whether a property is evidence for or against a continuation.

use super::line_layout::{columns, is_word};
use crate::byte_scan::{is_one_of, prefix_len, starts_with_caseless, suffix_len};
use crate::repair::without_punctuation;
use crate::scan::{defanged_mark, names_site, public_suffix, spelled_head};

/// Bytes that start no continuation: opening marks, or bytes after which programs break lines.
const NEVER_FIRST: &[u8] = b"[({*|\\'^!,)]}$";

/// Minimum number of digits of an identifier.
const IDENTIFIER_DIGITS: usize = 4;

/// Minimum number of digits of a hexadecimal identifier. Git shortens commit hashes to seven or
/// more digits.
const HEXADECIMAL_DIGITS: usize = 7;

/// A token, as defined by [`super::Feature`].
#[derive(Clone, Copy, Debug)]
pub(super) struct ContinuationToken<'t> {
    /// The whole token. Not empty.
    pub(super) all: &'t [u8],
    /// The token without sentence punctuation at the end.
    pub(super) bare: &'t [u8],
}

impl<'t> ContinuationToken<'t> {
    /// Returns the token `all`; `None` if it is only sentence punctuation.
    pub(super) fn new(all: &'t [u8]) -> Option<ContinuationToken<'t>> {
        let bare = without_punctuation(all);
        (!bare.is_empty()).then_some(ContinuationToken { all, bare })
    }

    pub(super) fn first(&self) -> u8 {
        self.all[0]
    }

    /// Returns `true` if no continuation starts with the first byte of the token, or if the token
    /// contains no letter or digit.
    pub(super) fn is_punctuation(&self) -> bool {
        NEVER_FIRST.contains(&self.first())
            || !self.all.iter().any(|&byte| is_word(byte) && byte != b'_')
    }

    /// Returns `true` if the token is an identifier: a decimal number, or a hexadecimal number with
    /// at least one decimal digit.
    pub(super) fn is_identifier(&self) -> bool {
        let end = prefix_len(self.bare, |byte| !b"/?#-.".contains(byte));
        let name = &self.bare[..end];
        let decimal = IDENTIFIER_DIGITS <= name.len() && all(name, u8::is_ascii_digit);
        let hexadecimal = HEXADECIMAL_DIGITS <= name.len()
            && all(name, u8::is_ascii_hexdigit)
            && name.iter().any(u8::is_ascii_digit);
        decimal || hexadecimal
    }

    fn has_digit(&self) -> bool {
        self.bare.iter().any(u8::is_ascii_digit)
    }

    /// The text after the `=` if the token starts with a name and `=`.
    pub(super) fn assigned_value(&self) -> Option<&'t [u8]> {
        let name = prefix_len(self.all, |&byte| is_word(byte) || b".-".contains(&byte));
        if name == 0 {
            None
        } else {
            self.all[name..].strip_prefix(b"=")
        }
    }
}

fn all(text: &[u8], is: impl Fn(&u8) -> bool) -> bool {
    text.iter().all(is)
}

/// Minimum number of columns of a token that is longer than words of prose.
pub(super) const LONG_TOKEN: usize = 20;

/// Bytes that separate the parts of a URL.
const DELIMITERS: &[u8] = b"/_%=&?#~";

/// Parts of a URL in the token: scheme, path, query, extension.
impl ContinuationToken<'_> {
    /// Returns `true` if the token starts another URL: with a scheme, even a mistyped or defanged
    /// one, `www.` or `URL:`. One leading `?` is ignored, because a charset conversion writes it
    /// for a bullet or blank.
    pub(super) fn starts_url(&self) -> bool {
        let all = self.all.strip_prefix(b"?").unwrap_or(self.all);
        let end = prefix_len(all, |byte| !b"/?=&".contains(byte));
        let scheme = all[..end].ends_with(b":") && all[end..].starts_with(b"//");
        scheme
            || spelled_head(all).is_some()
            || self.defanged_delimiter() == Some(b':')
            || [&b"www."[..], b"mailto:", b"news:", b"url:"]
                .iter()
                .any(|prefix| starts_with_caseless(self.all, prefix))
    }

    /// The delimiter in brackets after the name at the start of the token, as in defanged URLs,
    /// hosts and addresses: `ftp[:]//`, `a[.]example`, `joe[at]a.example`.
    pub(super) fn defanged_delimiter(&self) -> Option<u8> {
        let name = prefix_len(self.all, |byte| {
            byte.is_ascii_alphanumeric() || b"+-.*_".contains(byte)
        });
        defanged_mark(&self.all[name..]).map(|mark| mark.byte)
    }

    /// Returns `true` if the token is an `&` and an assignment: the next parameter of a query.
    pub(super) fn starts_next_parameter(&self) -> bool {
        self.all
            .strip_prefix(b"&")
            .and_then(|all| ContinuationToken::new(all)?.assigned_value())
            .is_some()
    }

    /// Returns `true` if the token is a `;` and an assignment, as between query parameters.
    pub(super) fn starts_parameter(&self) -> bool {
        self.all
            .strip_prefix(b";")
            .and_then(|all| ContinuationToken::new(all)?.assigned_value())
            .is_some_and(|value| !value.is_empty())
    }

    /// Returns `true` if the token is an `@`, a name and a slash, as in the paths of some sites.
    pub(super) fn starts_name_in_path(&self) -> bool {
        self.all.strip_prefix(b"@").is_some_and(|rest| {
            let name = prefix_len(rest, |&byte| is_word(byte) || byte == b'-' || byte == b'.');
            name > 0 && rest[name..].starts_with(b"/")
        })
    }

    /// Returns `true` if the token starts with a query, fragment, escape or extension, which can
    /// only continue a URL.
    pub(super) fn starts_query(&self) -> bool {
        match self.all {
            [b'?' | b'&' | b'=', next, ..] => is_word(*next) || b"%~.=&-".contains(next),
            [b'%', one, two, ..] => one.is_ascii_hexdigit() && two.is_ascii_hexdigit(),
            [b'#', name @ ..] => {
                !name.is_empty()
                    && all(without_punctuation(name), |&byte| {
                        is_word(byte) || b".-=+:&".contains(&byte)
                    })
                    && !self.is_issue()
            }
            _ => self.starts_extension(),
        }
    }

    /// Returns `true` if the token starts with a dot and an extension: `.html`, `..html`.
    fn starts_extension(&self) -> bool {
        let Some(rest) = self.all.strip_prefix(b".") else {
            return false;
        };
        let rest = rest.strip_prefix(b".").unwrap_or(rest);
        let word = prefix_len(rest, |&byte| is_word(byte));
        EXTENSIONS
            .iter()
            .any(|extension| extension.as_bytes() == &rest[..word])
    }

    /// Returns `true` if the token starts like a piece of a path, or starts with a hyphen and
    /// contains such a piece.
    pub(super) fn starts_path(&self) -> bool {
        match self.all {
            [b'/' | b'_' | b'~', next, ..] => is_word(*next) || b"%~.-".contains(next),
            [b'.', next, ..] => is_word(*next),
            [b'@', ..] => self.starts_address_host() || self.starts_name_in_path(),
            [b'-', next, rest @ ..] => {
                is_word(*next)
                    && rest
                        .windows(2)
                        .any(|pair| b"/_%=&?#.".contains(&pair[0]) && is_word(pair[1]))
            }
            _ => false,
        }
    }

    /// Returns `true` if the token starts with a path, query or fragment, or with another label of
    /// a host.
    pub(super) fn follows_host(&self) -> bool {
        matches!(self.all, [b'/' | b'?' | b'#' | b'.', next, ..]
            if is_word(*next) || b"~%".contains(next))
            || self.starts_port()
    }

    /// Returns `true` if the token ends with a file extension, before any query, or completes an
    /// extension that starts in `url`.
    pub(super) fn has_extension(&self, url: &[u8]) -> bool {
        let path = prefix_len(self.bare, |byte| !b"?#".contains(byte));
        let whole = has_extension(&self.bare[..path]) && !self.bare.contains(&b'@');
        whole || self.completes_extension(url)
    }

    /// Returns `true` if the token completes an extension that starts in `url`.
    pub(super) fn completes_extension(&self, url: &[u8]) -> bool {
        let path = prefix_len(self.bare, |byte| !b"?#".contains(byte));
        completes_extension(url, &self.bare[..path])
    }

    /// Number of marks by which the token looks like a piece of a URL after `url`: digits among
    /// letters, capitals after small letters, delimiters, hyphens, and a length that no word has. A
    /// file extension and a slash at the end count twice.
    pub(super) fn marks(&self, url: &[u8]) -> usize {
        let is_folder = self.bare.ends_with(b"/") && !self.bare.ends_with(b"//");
        let is_delimiter = |byte: &u8| DELIMITERS.contains(byte);
        let has_inner = self.bare[1..]
            .iter()
            .any(|byte| *byte == b'+' || is_delimiter(byte));
        let marks = [
            self.has_digit() && self.bare.iter().any(u8::is_ascii_alphabetic),
            self.bare
                .windows(2)
                .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()),
            self.starts_path() || has_inner && !self.is_word_pair(),
            2 <= self.bare.iter().filter(|byte| is_delimiter(byte)).count(),
            self.first() != b'-' && 2 <= memchr::memchr_iter(b'-', self.bare).count(),
            LONG_TOKEN <= columns(self.all),
        ];
        let twice = [is_folder, self.has_extension(url)];
        let count = |marks: &[bool]| marks.iter().filter(|mark| **mark).count();
        count(&marks) + 2 * count(&twice)
    }
}

/// Extensions of files at the ends of URLs in archives. `Z` is always upper-case.
const EXTENSIONS: [&str; 85] = [
    "html", "htm", "shtml", "xhtml", "txt", "text", "gif", "jpg", "jpeg", "png", "svg", "pdf",
    "ps", "eps", "dvi", "rtf", "doc", "ppt", "xls", "gz", "tgz", "zip", "tar", "bz2", "xz", "Z",
    "hqx", "sit", "lha", "lzh", "exe", "deb", "rpm", "jar", "iso", "msi", "asp", "aspx", "jsp",
    "cfm", "cgi", "php", "php3", "pl", "py", "js", "css", "xml", "xsd", "dtl", "rdf", "yaml",
    "yml", "md", "rst", "tex", "c", "h", "cpp", "lisp", "rb", "java", "diff", "patch", "git",
    "mp3", "mov", "faq", "jhtml", "story", "docx", "pptx", "xlsx", "odt", "ts", "json", "7z",
    "log", "csv", "conf", "dts", "dtsi", "rs", "go", "config",
];

/// Number of letters of the longest extension.
const EXTENSION_LETTERS: usize = 6;

/// Returns `true` if `text` ends with a dot and an extension, in any case.
pub(super) fn has_extension(text: &[u8]) -> bool {
    last_name(text).is_some_and(|name| is_one_of(name, &EXTENSIONS))
}

/// Returns `true` if `end` completes an extension that starts at the end of `url`: `.ht` and `ml`,
/// `.h` and `tm`.
fn completes_extension(url: &[u8], end: &[u8]) -> bool {
    let letters = !end.is_empty()
        && end
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let Some(begun) = last_name(url) else {
        return false;
    };
    letters
        && EXTENSIONS.iter().any(|row| {
            let row = row.as_bytes();
            row.len() == begun.len() + end.len()
                && row[..begun.len()].eq_ignore_ascii_case(begun)
                && row[begun.len()..].eq_ignore_ascii_case(end)
        })
}

/// The text after the final dot of `text`, if it is not longer than an extension.
fn last_name(text: &[u8]) -> Option<&[u8]> {
    let tail = &text[text.len().saturating_sub(EXTENSION_LETTERS + 1)..];
    tail.iter()
        .rposition(|&byte| byte == b'.')
        .map(|dot| &tail[dot + 1..])
}

/// Minimum number of digits and punctuation characters of a telephone number.
const TELEPHONE_DIGITS: usize = 9;

/// Hosts, ports and addresses at the start of the token.
impl ContinuationToken<'_> {
    /// Returns `true` if the token is a `:` and a number, optionally followed by a slash: the port
    /// after a host.
    pub(super) fn starts_port(&self) -> bool {
        let Some(rest) = self.all.strip_prefix(b":") else {
            return false;
        };
        let digits = prefix_len(rest, u8::is_ascii_digit);
        (2..=5).contains(&digits) && matches!(rest[digits..], [] | [b'/', ..])
    }

    /// Returns `true` if the token starts with the rest of a host that contains a dot.
    pub(super) fn starts_host_rest_or_path(&self) -> bool {
        let len = prefix_len(self.bare, |byte| {
            byte.is_ascii_alphanumeric() || b".-".contains(byte)
        });
        self.bare[..len].contains(&b'.')
            && matches!(self.bare[len..], [] | [b'/' | b'?' | b'#', ..])
    }

    /// Returns `true` if the token is an `@` and the rest of a mail address or Message-ID: a host
    /// with at least two labels.
    pub(super) fn starts_address_host(&self) -> bool {
        let Some(host) = self.bare.strip_prefix(b"@") else {
            return false;
        };
        let end = prefix_len(host, |byte| !b"/?#".contains(byte));
        is_host(&host[..end])
    }

    /// Returns `true` if the token can be the rest of a host: labels separated by dots, or a single
    /// label.
    pub(super) fn starts_host_rest(&self) -> bool {
        are_labels(self.bare)
    }

    /// Returns `true` if the token is a mail address or a telephone number.
    pub(super) fn is_address(&self) -> bool {
        let number = self.bare.strip_prefix(b"+").unwrap_or(self.bare);
        let telephone = number.len() >= TELEPHONE_DIGITS
            && all(number, |byte| b"0123456789().-".contains(byte));
        telephone || self.is_mail_address()
    }

    /// Returns `true` if the token starts with an address, like the end of a Message-ID by `git
    /// send-email`: `joe@a.example`, `joe@a.example/raw`.
    pub(super) fn starts_with_address(&self) -> bool {
        let Some(at) = memchr::memchr(b'@', self.bare) else {
            return false;
        };
        let (name, host) = (&self.bare[..at], &self.bare[at + 1..]);
        let host = host.split(|&byte| byte == b'/').next().unwrap_or_default();
        !name.is_empty()
            && all(name, |&byte| is_word(byte) || b".+-".contains(&byte))
            && host.contains(&b'.')
            && all(host, |&byte| is_word(byte) || b".-".contains(&byte))
    }

    /// Returns `true` if the token is the rest of a Message-ID, starting with a dot:
    /// `.x1-joe@a.example`.
    pub(super) fn starts_message_id_rest(&self) -> bool {
        let rest = self.all.strip_prefix(b".").and_then(ContinuationToken::new);
        rest.is_some_and(|rest| rest.starts_with_address())
    }

    /// Returns `true` for `joe@a.example` and `joe[at]a.example`, even if an ornament of a
    /// signature follows: `joe@a.example///`.
    fn is_mail_address(&self) -> bool {
        let name = prefix_len(self.bare, |&byte| is_word(byte) || b".+-".contains(&byte));
        // A Message-ID has many digits before the `@`.
        let digits = self.bare[..name]
            .iter()
            .filter(|byte| byte.is_ascii_digit())
            .count();
        if IDENTIFIER_DIGITS <= digits || !is_word(self.bare[0]) {
            return false;
        }
        let rest = &self.bare[name..];
        let Some(host) = rest
            .strip_prefix(b"@")
            .or_else(|| rest.strip_prefix(b"[at]"))
        else {
            return false;
        };
        let ornament = suffix_len(host, |byte| b"/|*=~#-".contains(byte));
        // A single slash ends a path in a message archive.
        let host = match ornament {
            1 if host.ends_with(b"/") => host,
            _ => &host[..host.len() - ornament],
        };
        name > 0
            && host.contains(&b'.')
            && host.split(|&byte| byte == b'.').all(|label: &[u8]| {
                !label.is_empty() && all(label, |&byte| is_word(byte) || byte == b'-')
            })
    }

    /// Returns `true` if the token starts with `www.` and another label.
    pub(super) fn starts_host_label(&self) -> bool {
        starts_with_caseless(self.all, b"www.")
            && self.all.get(4).is_some_and(u8::is_ascii_alphanumeric)
    }

    /// Returns `true` if the token can be the host of a URL, with or without a path, and is not a
    /// word.
    pub(super) fn names_host(&self) -> bool {
        names_site(self.all)
            || self.bare.contains(&b'/') && !self.is_word_pair()
            || self.bare.starts_with(b"localhost")
            || self.defanged_delimiter().is_some()
    }

    /// Returns `true` if the token starts with a host in a known domain, with or without a port.
    pub(super) fn starts_host(&self) -> bool {
        let len = prefix_len(self.bare, |byte| {
            byte.is_ascii_alphanumeric() || b".-".contains(byte)
        });
        let (host, rest) = self.bare.split_at(len);
        let rest = match rest {
            [b':', digit, ..] if digit.is_ascii_digit() => {
                &rest[1 + prefix_len(&rest[1..], u8::is_ascii_digit)..]
            }
            _ => rest,
        };
        let last = host.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
        // `README.md` and `x.py` are file names.
        is_host(host)
            && is_top_domain(last)
            && (last.eq_ignore_ascii_case(b"com") || !has_extension(host))
            && matches!(rest, [] | [b'/', ..] | [b':', b'/' | b'~', ..])
    }
}

/// Returns `true` if the public suffix list contains the top-level domain `label`.
pub(super) fn is_top_domain(label: &[u8]) -> bool {
    let label = label.to_ascii_lowercase();
    public_suffix(&mut label.rsplit(|byte| *byte == b'.'))
        .is_some_and(|suffix| suffix.typ.is_some())
}

/// Returns `true` if `text` is a host with at least two labels.
fn is_host(text: &[u8]) -> bool {
    text.contains(&b'.') && are_labels(text)
}

/// Returns `true` if `text` consists of labels of a host, separated by dots.
fn are_labels(text: &[u8]) -> bool {
    text.split(|&byte| byte == b'.').all(|label| {
        !label.is_empty() && all(label, |byte| byte.is_ascii_alphanumeric() || *byte == b'-')
    })
}

/// Words that URLs do not end with, each between line ends: the most frequent words of ten
/// languages, and closings of letters. `docs/evidence/joins.md` describes the selection.
const WORDS: &[u8] = include_bytes!("words.txt");

/// Returns `true` if `words.txt` contains `word`, in lower or upper case.
fn is_frequent_word(word: &[u8]) -> bool {
    let line = || [b"\n", &word.to_ascii_lowercase()[..], b"\n"].concat();
    !word.is_empty()
        && all(word, u8::is_ascii_alphabetic)
        && memchr::memmem::find(WORDS, &line()).is_some()
}

/// Words and labels of prose in the token.
impl ContinuationToken<'_> {
    /// Returns `true` if the token is one or two letters or digits and not a word.
    pub(super) fn is_tiny(&self) -> bool {
        self.bare.len() <= 2
            && all(self.bare, |byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit()
            })
            && !self.is_stop_word()
            && !matches!(self.bare, b"a" | b"i" | b"u")
    }

    /// Returns `true` if the token is one capital letter and not a word.
    pub(super) fn is_capital(&self) -> bool {
        matches!(self.all, [letter] if letter.is_ascii_uppercase() && !b"AIU".contains(letter))
    }

    /// Returns `true` if the token is two words with a slash between them.
    pub(super) fn is_word_pair(&self) -> bool {
        let mut words = self.bare.split(|&byte| byte == b'/');
        let word = |word: Option<&[u8]>| {
            word.is_some_and(|word| !word.is_empty() && all(word, u8::is_ascii_alphabetic))
        };
        word(words.next()) && word(words.next()) && words.next().is_none()
    }

    /// Returns `true` if the token is a word with a leading capital: `Index`, `Mary-Jane`,
    /// `O'Hara`, `Arts/Crafts`.
    pub(super) fn is_capitalized(&self) -> bool {
        let mut parts = self.bare.split(|byte| b"'-/".contains(byte));
        self.bare[0].is_ascii_uppercase()
            && parts.all(|part| !part.is_empty() && all(part, u8::is_ascii_alphabetic))
    }

    /// Returns `true` if the token is a word, a colon, and more text.
    pub(super) fn is_labelled(&self) -> bool {
        let name = prefix_len(self.all, |byte| byte.is_ascii_alphabetic() || *byte == b'-');
        self.first().is_ascii_alphabetic()
            && self.all[name..].starts_with(b":")
            && self.all.len() > name + 1
    }

    /// Returns `true` if the token is a frequent word, or several separated by slashes: `and/or`.
    pub(super) fn is_stop_word(&self) -> bool {
        self.bare.split(|&byte| byte == b'/').all(is_frequent_word)
    }

    /// Returns `true` if the token consists of capital letters and digits, including at least one
    /// capital letter.
    pub(super) fn is_capitals(&self) -> bool {
        all(self.bare, |byte| {
            byte.is_ascii_uppercase() || byte.is_ascii_digit()
        }) && self.bare.iter().any(u8::is_ascii_uppercase)
    }

    /// Returns `true` if the token is a capitalized word and a colon.
    pub(super) fn is_heading(&self) -> bool {
        self.all.ends_with(b":") && self.is_capitalized()
    }

    /// Returns `true` if the token starts a property of a calendar or an address card: a name in
    /// capitals, and a `:` or a parameter (RFC 5545, section 3.1).
    pub(super) fn is_property(&self) -> bool {
        let name = prefix_len(self.all, |byte| {
            byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'-'
        });
        let is_parameter = |rest| {
            ContinuationToken::new(rest).is_some_and(|token| token.assigned_value().is_some())
        };
        2 <= name
            && self.first().is_ascii_uppercase()
            && match &self.all[name..] {
                [b':', ..] => true,
                [b';', rest @ ..] => is_parameter(rest),
                _ => false,
            }
    }

    /// Returns `true` if the token consists of digits, possibly with hyphens and dots between.
    pub(super) fn is_digits(&self) -> bool {
        self.has_digit()
            && all(self.bare, |byte| {
                byte.is_ascii_digit() || b"-.".contains(byte)
            })
    }
}

/// The C preprocessor directives. A line that starts with `#` and a directive is code.
const DIRECTIVES: [&[u8]; 13] = [
    b"include", b"define", b"undef", b"if", b"ifdef", b"ifndef", b"elif", b"else", b"endif",
    b"error", b"warning", b"pragma", b"line",
];

/// The name prefixes of branches and tags in a git repository.
const REFERENCES: [&[u8]; 4] = [b"tags/", b"refs/", b"heads/", b"remotes/"];

/// The pages of a repository in cgit, a web interface for git.
const REPOSITORY_PAGES: &str = "about atom blame blob commit diff log patch plain rawdiff refs \
    snapshot stats summary tag tree";

/// Prefixes of rules, bullets, boxes and command-line options, which never continue a URL.
const RULES: [&str; 13] = [
    "--", "-o", "-*", "-=", "-~", "==", "__", "...", "~~", "//", "++", "##", "/*",
];

/// Maximum number of letters of a roff macro: macros of `man`, `ms` and `mm` have at most three.
const ROFF_LETTERS: usize = 3;

/// Lower-case roff requests that manual pages use, except those that are also file extensions
/// (`.so`, `.ps`).
const ROFF_REQUESTS: [&[u8]; 24] = [
    b"ad", b"bp", b"br", b"ce", b"de", b"ds", b"el", b"fi", b"ft", b"hy", b"ie", b"if", b"ig",
    b"in", b"na", b"ne", b"nf", b"nh", b"nr", b"rm", b"sp", b"ta", b"ti", b"tr",
];

/// Minimum number of letters of a variable name in capitals.
const VARIABLE_LETTERS: usize = 3;

/// Maximum number of digits of an issue or footnote number, such as `#12`.
const ISSUE_DIGITS: usize = 6;

/// Maximum number of digits before an item of a numbered list.
const ITEM_DIGITS: usize = 3;

/// Maximum number of letters of an option with one hyphen.
const OPTION_LETTERS: usize = 2;

/// Notations that are neither URL nor prose: git, the C preprocessor, code, lists.
impl ContinuationToken<'_> {
    /// Returns `true` if the token is a `#` and a C preprocessor directive.
    pub(super) fn is_directive(&self) -> bool {
        self.all
            .strip_prefix(b"#")
            .is_some_and(|name| DIRECTIVES.contains(&name))
    }

    /// Returns `true` if the token is a roff request, macro or comment, but not a file extension:
    /// `.UE`, `.br`, `.\"`.
    pub(super) fn is_roff(&self) -> bool {
        let Some(name) = self
            .all
            .strip_prefix(b".")
            .or_else(|| self.all.strip_prefix(b"'"))
        else {
            return false;
        };
        let is_macro = (1..=ROFF_LETTERS).contains(&name.len())
            && all(name, u8::is_ascii_uppercase)
            && !has_extension(self.all);
        name.starts_with(b"\\\"")
            || name.starts_with(b"\\#")
            || is_macro
            || ROFF_REQUESTS.contains(&name)
    }

    /// Returns `true` if the token is a shell prompt: `joe@host:~/x$`.
    pub(super) fn is_prompt(&self) -> bool {
        self.all.contains(&b'@') && matches!(self.all, [.., b'$' | b'#'])
    }

    /// Returns `true` if the token assigns a variable: it starts with a name in capitals and `=`.
    pub(super) fn is_variable(&self) -> bool {
        self.assigned_value().is_some_and(|value| {
            let name = &self.all[..self.all.len() - value.len() - 1];
            VARIABLE_LETTERS <= name.len()
                && name[0].is_ascii_uppercase()
                && all(name, |byte| {
                    byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_'
                })
        })
    }

    /// Returns `true` if the token is a `#` and a short issue number.
    fn is_issue(&self) -> bool {
        self.bare
            .strip_prefix(b"#")
            .is_some_and(|number| number.len() <= ISSUE_DIGITS && all(number, u8::is_ascii_digit))
    }

    /// Returns `true` if the token starts with the name prefix of git branches or tags.
    pub(super) fn is_reference(&self) -> bool {
        REFERENCES.iter().any(|folder| self.all.starts_with(folder))
    }

    /// Returns `true` if the token is a page of a git repository. `after_slash` is `true` if the
    /// URL of the repository ends with a slash.
    pub(super) fn is_repository_page(&self, after_slash: bool) -> bool {
        let query = matches!(self.first(), b'?' | b';' | b'#' | b'&');
        let page = if after_slash {
            Some(self.all)
        } else {
            self.all.strip_prefix(b"/")
        };
        query
            || page.is_some_and(|page| {
                let name = prefix_len(page, u8::is_ascii_lowercase);
                let (name, rest) = page.split_at(name);
                let mut pages = REPOSITORY_PAGES.split(' ').map(str::as_bytes);
                let known =
                    pages.any(|page| page == name) && matches!(rest, [] | [b'/' | b'?', ..]);
                known || !after_slash
            })
    }

    /// Returns `true` if the token is a function call or a qualified name: `run()`, `f(x,`, `a::b`,
    /// `a->b`.
    pub(super) fn is_code(&self) -> bool {
        let call = self.all.windows(2).position(|pair| {
            (pair[0].is_ascii_alphanumeric() && pair[1] == b'(') || pair == b"::" || pair == b"->"
        });
        call.is_some_and(|at| !self.all[..at].contains(&b'/'))
    }

    /// Returns `true` if the token is a commit hash: 40 digits or an abbreviation.
    pub(super) fn is_commit(&self) -> bool {
        HEXADECIMAL_DIGITS <= self.bare.len()
            && all(self.bare, u8::is_ascii_hexdigit)
            && self.has_digit()
    }

    /// Returns `true` if the token is a command-line option: `-d`, `-rw`.
    pub(super) fn is_option(&self) -> bool {
        matches!(self.all, [b'-', letters @ ..] if (1..=OPTION_LETTERS).contains(&letters.len())
            && all(letters, u8::is_ascii_alphabetic))
    }

    /// Returns `true` if the token is a date that starts with the year: `2009/10/30`.
    pub(super) fn is_date(&self) -> bool {
        let numbers = self.bare.split(|byte| b"/-".contains(byte));
        numbers.clone().map(<[u8]>::len).eq([4, 2, 2]) && numbers.flatten().all(u8::is_ascii_digit)
    }

    /// Returns `true` if the token is a rule, bullet, box or option, or the number of a list item
    /// or section.
    pub(super) fn is_rule(&self) -> bool {
        let item = match self.all {
            [number @ .., b'.' | b')'] => {
                (1..=ITEM_DIGITS).contains(&number.len()) && all(number, u8::is_ascii_digit)
            }
            _ => false,
        };
        item || RULES
            .iter()
            .any(|rule| self.all.starts_with(rule.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(all: &str) -> ContinuationToken<'_> {
        ContinuationToken::new(all.as_bytes()).unwrap()
    }

    /// The tokens for which `is` returns `true`.
    fn which<'t>(tokens: &'t str, is: impl Fn(&ContinuationToken<'t>) -> bool) -> String {
        tokens
            .split(' ')
            .filter(|all| is(&token(all)))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn a_scheme_before_the_path_starts_a_url() {
        let tokens = "x://y xx-://y WWW.x url:x x:y /x://y x?y=z://a newsx";
        assert_eq!(
            which(tokens, ContinuationToken::starts_url),
            "x://y xx-://y WWW.x url:x"
        );
    }

    #[test]
    fn query_marks_escapes_and_extensions_start_a_query() {
        let tokens = "?x ?(x &x =% =x %4F %4 %4g #x.y #x/y .html ..html .html5 .HTML .Z .z ...html";
        assert_eq!(
            which(tokens, ContinuationToken::starts_query),
            "?x &x =% =x %4F #x.y .html ..html .Z"
        );
    }

    #[test]
    fn a_path_starts_with_path_punctuation() {
        let tokens = "/x /. _x ~% .x ./ -x -x.y -x/ -/x.y x/y";
        assert_eq!(
            which(tokens, ContinuationToken::starts_path),
            "/x /. _x ~% .x -x.y"
        );
    }

    #[test]
    fn labels_capitals_and_stop_words_are_prose() {
        assert_eq!(
            which(
                "Re:x Re-x:y Re: re:x 8:x x_y:z",
                ContinuationToken::is_labelled
            ),
            "Re:x Re-x:y re:x"
        );
        assert_eq!(
            which(
                "Mary O'Hara Mary-Jane X x X1 X- Mary-.",
                ContinuationToken::is_capitalized
            ),
            "Mary O'Hara Mary-Jane X"
        );
        assert_eq!(
            which("the The, a thee", ContinuationToken::is_stop_word),
            "the The,"
        );
    }

    #[test]
    fn mail_addresses_and_telephone_numbers_are_addresses() {
        let mail =
            "joe@a.example j.o+e@a.b.example, joe[at]a.example joe@a @a.example joe@.example";
        assert_eq!(
            which(mail, ContinuationToken::is_address),
            "joe@a.example j.o+e@a.b.example, joe[at]a.example"
        );
        assert_eq!(
            which(
                "+1-234-567.8 (12)34567 1234-567 +12345678",
                ContinuationToken::is_address
            ),
            "+1-234-567.8 (12)34567"
        );
    }

    #[test]
    fn a_host_is_in_a_known_domain() {
        let tokens = "a.com A.COM/x a.b-c.org:80 a.org:80/x a.org:x a.org:8x a.example com .com \
            a..com a.com.x a.com?x";
        assert_eq!(
            which(tokens, ContinuationToken::starts_host),
            "a.com A.COM/x a.b-c.org:80 a.org:80/x"
        );
    }

    #[test]
    fn an_extension_may_start_at_the_end_of_the_url() {
        let has = |url: &str, all: &str| token(all).has_extension(url.as_bytes());
        assert!(
            has("", "x.html")
                && has("", "x.HTML?y.z,")
                && has("", "..ps")
                && !has("", "joe@a.pl")
                && !has("", "html")
        );
        assert!(has("/x.ht", "ml") && has("/x.", "html") && has("/x.HT", "ml."));
        assert!(
            !has("/x.html", "ml")
                && !has("/x.ht", "ML")
                && !has("/x", "html")
                && !has("/x.ht", "m/l")
        );
    }

    #[test]
    fn list_numbers_have_at_most_three_digits() {
        assert_eq!(
            which(
                "1. 123) 1234. 1.x -- -x -option *x //x",
                ContinuationToken::is_rule
            ),
            "1. 123) -- -option //x"
        );
    }
}
