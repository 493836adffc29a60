//! The silence of all servers of a batch, and the ways out.

use std::collections::BTreeMap;
use std::fmt;

use crate::audit::state::CheckFailure;
use crate::diagnostic::shortened;
use crate::limits::MESSAGE_VALUE_CHARS;

/// The reason why the results of a batch without replies are not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Silence {
    /// Hosts of the batch.
    pub hosts: usize,
    /// Hosts that replied in earlier checks, and not when they were asked again after the batch.
    pub control_hosts: usize,
    /// URLs of the batch, by failure.
    pub failures: BTreeMap<CheckFailure, u64>,
    /// The last message of the checker.
    pub checker_message: Option<String>,
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let urls: u64 = self.failures.values().sum();
        let failures: Vec<_> = self
            .failures
            .iter()
            .map(|(failure, count)| format!("{count} {}", words(*failure)))
            .collect();
        write!(
            f,
            "no server replied for {} of {} ({})",
            counted(urls, "URL"),
            counted(self.hosts as u64, "host"),
            failures.join(", ")
        )?;
        if self.control_hosts > 0 {
            let hosts = counted(self.control_hosts as u64, "host");
            write!(f, ", nor any of {hosts} with a reply in an earlier check")?;
        }
        f.write_str("; these results are not stored")?;
        if self.has(|failure| !is_without_request(failure)) {
            f.write_str(
                ". This machine has probably no network, or needs a proxy to reach it: run the check again when the network works, or \
                 check elsewhere and use `urlspool audit import`",
            )?;
        }
        if self.has(|failure| failure == CheckFailure::Excluded) {
            f.write_str(
                ". `--allow-private HOST` permits a private host; others are excluded by the checker's own rules, or by `--checker-args`",
            )?;
        }
        if self.has(|failure| failure == CheckFailure::Unanswered) {
            f.write_str(". The output of the checker lacks these URLs; ")?;
            match &self.checker_message {
                Some(message) => {
                    let message = shortened(message, MESSAGE_VALUE_CHARS);
                    write!(f, "its last message is: {message}")?;
                }
                None => f.write_str("it printed no message")?,
            }
        }
        f.write_str(". `--accept-unreachable` stores such results all the same")
    }
}

impl std::error::Error for Silence {}

impl Silence {
    fn has(&self, is_meant: impl Fn(CheckFailure) -> bool) -> bool {
        self.failures.keys().any(|failure| is_meant(*failure))
    }
}

/// Returns `true` for failures of links for which no server was asked.
fn is_without_request(failure: CheckFailure) -> bool {
    matches!(failure, CheckFailure::Excluded | CheckFailure::Unanswered)
}

/// A number with a noun.
fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn words(failure: CheckFailure) -> &'static str {
    match failure {
        CheckFailure::Dns => "no such host",
        CheckFailure::Connect => "refused or not reached",
        CheckFailure::Timeout => "no answer in time",
        CheckFailure::Tls => "no secure connection",
        CheckFailure::Other => "failed in the name service, network or connection",
        CheckFailure::Excluded => "private, or excluded by the checker",
        CheckFailure::Unanswered => "without an answer of the checker",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn text(failures: &[CheckFailure], message: Option<&str>) -> String {
        let silence = Silence {
            hosts: 12,
            control_hosts: 3,
            failures: failures.iter().map(|failure| (*failure, 12)).collect(),
            checker_message: message.map(str::to_owned),
        };
        silence.to_string()
    }

    #[test]
    fn the_way_out_is_that_of_the_failures() {
        let ways = ["no network", "--allow-private HOST", "lacks these URLs"];
        for (failures, is_named) in [
            (&[CheckFailure::Dns][..], [true, false, false]),
            (&[CheckFailure::Excluded], [false, true, false]),
            (&[CheckFailure::Unanswered], [false, false, true]),
            (
                &[CheckFailure::Timeout, CheckFailure::Excluded],
                [true, true, false],
            ),
        ] {
            let text = text(failures, None);
            assert_eq!(ways.map(|way| text.contains(way)), is_named, "{text}");
            assert!(text.contains("--accept-unreachable"), "{text}");
        }
    }

    #[test]
    fn numbers_and_the_message_of_the_checker_are_named() {
        let text = text(
            &[CheckFailure::Dns, CheckFailure::Unanswered],
            Some("panicked"),
        );
        for part in [
            "24 URLs of 12 hosts (12 no such host, 12 without an answer of the checker)",
            "nor any of 3 hosts with a reply in an earlier check",
            "its last message is: panicked.",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
