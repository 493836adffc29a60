//! Reasons why an archive is not asked, or asked no more.

use std::fmt;

/// Minutes of a day.
const DAY_MINUTES: u64 = 24 * 60;

/// Minutes of the longest pause that a message names.
const NAMED_PAUSE_MINUTES: u64 = 365 * DAY_MINUTES;

/// A reason why an archive is not asked, or asked no more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The server is not named by a URL of http or https.
    Server {
        /// The name of the server.
        server: String,
        /// The error of its URL; `None` for another scheme.
        reason: Option<String>,
    },
    /// The contact is neither a mail address nor a page, or is not in printable ASCII.
    Contact {
        /// The contact.
        contact: String,
    },
    /// The server redirects: the user should name the other place.
    Redirect {
        /// The server.
        server: String,
    },
    /// The questions ended. Answers before are stored.
    Ended {
        /// The server.
        server: String,
        /// The reason.
        end: ArchiveEnd,
        /// URLs that were asked for.
        asked: u64,
        /// URLs that were due.
        due: u64,
    },
}

/// The reason why the questions to an archive ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArchiveEnd {
    /// So many answers in a row are not those of a CDX server.
    NoCdxServer {
        /// Number of the answers.
        answers: u32,
        /// The reason of the last one.
        reason: String,
    },
    /// The server refused so many times in a row.
    Refusals {
        /// Number of the refusals.
        refusals: u32,
        /// The reason of the last one.
        reason: String,
    },
    /// The server asks for a long pause.
    Pause {
        /// The reason.
        reason: String,
        /// Length of the pause.
        minutes: u64,
    },
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArchiveError::Server { server, reason } => {
                write!(f, "`--cdx {server}` is not the URL of a CDX server")?;
                if let Some(reason) = reason {
                    write!(f, " ({reason})")?;
                }
                f.write_str("; write it like https://web.archive.org/cdx/search/cdx, or http://HOST/COLLECTION/cdx for pywb")
            }
            ArchiveError::Contact { contact } => write!(
                f,
                "`--contact {contact:?}` is neither a mail address nor a page; write it like you@your.site or https://your.site/contact, in \
                 ASCII"
            ),
            ArchiveError::Redirect { server } => write!(
                f,
                "{server} redirects to another place; name that place with `--cdx`"
            ),
            ArchiveError::Ended {
                server,
                end,
                asked,
                due,
            } => write!(
                f,
                "{server}: {end}. URLs that were asked for: {asked} of {due}; their answers are stored"
            ),
        }
    }
}

impl fmt::Display for ArchiveEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArchiveEnd::NoCdxServer { answers, reason } => write!(
                f,
                "{answers} answers in a row are not those of a CDX server (the last: {reason}); check the address of `--cdx`"
            ),
            ArchiveEnd::Refusals { refusals, reason } => write!(
                f,
                "{refusals} refusals in a row (the last: {reason}); run it again later, it goes on from here"
            ),
            ArchiveEnd::Pause { reason, minutes } => {
                write!(f, "{reason}, and the server asks for a pause of ")?;
                if NAMED_PAUSE_MINUTES < *minutes {
                    let days = NAMED_PAUSE_MINUTES / DAY_MINUTES;
                    return write!(
                        f,
                        "more than {days} days; write to its owners, or name another server"
                    );
                }
                write!(
                    f,
                    "{minutes} minutes; run it again after that, it goes on from here"
                )
            }
        }
    }
}

impl std::error::Error for ArchiveError {}
