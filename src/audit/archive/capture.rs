//! Captures of pages, and the replies of archives.

use std::time::Duration;

use jiff::civil::DateTime;

/// The reply of an archive.
#[derive(Debug)]
pub(super) enum ArchiveReply {
    Captures(Vec<Capture>),
    /// The server wants to be asked later, or cannot be reached.
    Refused {
        reason: String,
        retry_after: Option<Duration>,
    },
    /// The server does not answer this question, for this reason.
    Failed(String),
}

/// A capture of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Capture {
    /// Its time in UTC, 14 digits.
    pub(super) timestamp: String,
    /// Its URL as the archive has it.
    pub(super) original: String,
    /// Its HTTP code; `None` where the server gives none, as for a repetition of an earlier
    /// capture.
    pub(super) status: Option<u16>,
    /// The address of its page in the archive; `None` if it follows from the server, or is not known.
    pub(super) address: Option<String>,
}

pub(super) fn refused(reason: String, retry_after: Option<Duration>) -> ArchiveReply {
    ArchiveReply::Refused {
        reason,
        retry_after,
    }
}

/// Returns the capture with a 2xx status that is nearest to `cited`, a time of 14 digits; the
/// earliest of them without a time, and of two that are equally near.
pub(super) fn nearest<'c>(captures: &'c [Capture], cited: Option<&str>) -> Option<&'c Capture> {
    let cited = cited.and_then(time);
    let distance = |capture: &Capture| -> Option<i64> {
        let at = time(&capture.timestamp)?;
        cited.map_or(Some(0), |cited| {
            Some(at.duration_since(cited).as_secs().saturating_abs())
        })
    };
    good(captures)
        .filter_map(|capture| Some((distance(capture)?, &capture.timestamp, capture)))
        .min_by_key(|(distance, timestamp, _)| (*distance, *timestamp))
        .map(|(.., capture)| capture)
}

/// The captures with a 2xx status.
pub(super) fn good(captures: &[Capture]) -> impl Iterator<Item = &Capture> {
    let is_good = |status: u16| (200..300).contains(&status);
    captures
        .iter()
        .filter(move |capture| capture.status.is_some_and(is_good))
}

/// The time of 14 digits: `19961231235959`.
pub(super) fn time(digits: &str) -> Option<DateTime> {
    DateTime::strptime("%Y%m%d%H%M%S", digits).ok()
}

/// A capture of `http://h/`, for tests.
#[cfg(test)]
pub(super) fn capture(timestamp: &str, status: Option<u16>) -> Capture {
    Capture {
        timestamp: timestamp.to_owned(),
        original: "http://h/".to_owned(),
        status,
        address: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_good_capture_is_found() {
        let all = [
            capture("19960601000000", Some(200)),
            capture("19970601000000", Some(404)),
            capture("19980601000000", Some(204)),
            capture("1998", Some(200)),
            capture("20050601000000", None),
        ];
        let found = |cited: Option<&str>| nearest(&all, cited).map(|capture| &*capture.timestamp);
        assert_eq!(
            found(Some("19970601000000")),
            Some("19960601000000"),
            "equally near"
        );
        assert_eq!(found(Some("19970601000001")), Some("19980601000000"));
        assert_eq!(found(Some("20050601000000")), Some("19980601000000"));
        assert_eq!(found(None), Some("19960601000000"));
        assert_eq!(nearest(&all[4..], None), None);
    }
}
