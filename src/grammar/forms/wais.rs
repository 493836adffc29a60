//! `waisurl` (RFC 1738 section 3.9).

use super::super::chars::CharSet;
use super::super::escape::run;
use super::super::host::{HostPort, hostport};
use super::super::reject::{ProductionError, RejectKind, RejectPart, end, unexpected};
use super::http::search;
use super::slash;

/// `waisurl = waisdatabase | waisindex | waisdoc`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaisUrl<'a> {
    /// The host and port.
    pub hostport: HostPort<'a>,
    /// `database = *uchar`
    pub database: &'a [u8],
    /// The part of the database that the URL designates.
    pub part: WaisPart<'a>,
}

/// The part of a wais URL after the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaisPart<'a> {
    /// `waisdatabase`: the database itself.
    Database,
    /// `waisindex`: a search.
    Index {
        /// `search`
        search: &'a [u8],
    },
    /// `waisdoc`: a document.
    Doc {
        /// `wtype = *uchar`
        wtype: &'a [u8],
        /// `wpath = *uchar`
        wpath: &'a [u8],
    },
}

impl WaisUrl<'_> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"//");
        self.hostport.write(out);
        out.push(b'/');
        out.extend(self.database);
        match self.part {
            WaisPart::Database => {}
            WaisPart::Index { search } => super::write_after(out, b"?", Some(search)),
            WaisPart::Doc { wtype, wpath } => {
                super::write_after(out, b"/", Some(wtype));
                super::write_after(out, b"/", Some(wpath));
            }
        }
    }
}

/// Parses `waisurl`, after the `wais://`.
pub(super) fn waisurl(input: &[u8]) -> Result<WaisUrl<'_>, ProductionError> {
    let (hostport, rest) = hostport(input)?;
    let (database, rest) = run(CharSet::UCHAR, slash(RejectPart::Database, rest)?);
    match rest.split_first() {
        Some((b'?', rest)) => {
            let (search, rest) = search(rest);
            end(
                WaisUrl {
                    hostport,
                    database,
                    part: WaisPart::Index { search },
                },
                RejectPart::Search,
                rest,
            )
        }
        Some((b'/', rest)) => {
            let (wtype, rest) = run(CharSet::UCHAR, rest);
            let Some(rest) = rest.strip_prefix(b"/") else {
                let missing = ProductionError::new(RejectKind::Missing, RejectPart::Wpath, rest);
                return Err(if rest.is_empty() {
                    missing
                } else {
                    unexpected(RejectPart::Wtype, rest)
                });
            };
            let (wpath, rest) = run(CharSet::UCHAR, rest);
            end(
                WaisUrl {
                    hostport,
                    database,
                    part: WaisPart::Doc { wtype, wpath },
                },
                RejectPart::Wpath,
                rest,
            )
        }
        _ => end(
            WaisUrl {
                hostport,
                database,
                part: WaisPart::Database,
            },
            RejectPart::Database,
            rest,
        ),
    }
}
