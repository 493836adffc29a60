//! The checker's answers for a batch, and the replies of servers in them.
//!
//! Without any reply it is more likely that this machine has no network than that all hosts are
//! gone.

use std::collections::{BTreeMap, HashMap, HashSet};

use url::Url;

use crate::audit::database::CheckResult;
use crate::audit::lychee::Answer;
use crate::audit::state::{CheckFailure, CheckOutcome};
use crate::diagnostic::{counted, shortened};
use crate::limits::{AUDIT_SILENT_HOSTS, MESSAGE_VALUE_CHARS};

/// The checker's answers for a batch.
pub(super) struct BatchAnswers {
    /// By the URL that was given.
    by_url: HashMap<String, Answer>,
    /// The last message of the checker.
    pub(super) last_message: Option<String>,
}

impl BatchAnswers {
    pub(super) fn new(
        answers: impl Iterator<Item = Answer>,
        last_message: Option<String>,
    ) -> BatchAnswers {
        BatchAnswers {
            by_url: answers.map(|answer| (answer.url.clone(), answer)).collect(),
            last_message,
        }
    }

    /// Returns the result of each URL of the batch.
    pub(super) fn results<'r>(
        &'r self,
        batch: &'r [String],
        checked_at: &'r str,
    ) -> Vec<CheckResult<'r>> {
        let result = |url| {
            let answer = self.by_url.get(url);
            let unanswered = CheckOutcome::Failed(CheckFailure::Unanswered);
            CheckResult {
                url,
                asked_url: answer.map_or(url, |answer| &answer.asked_url),
                outcome: answer.map_or(unanswered, |answer| answer.outcome),
                final_url: answer.and_then(|answer| answer.final_url.as_deref()),
                checked_at,
            }
        };
        batch.iter().map(|url| result(url.as_str())).collect()
    }

    /// Returns the number of answers for URLs that are not in the batch.
    pub(super) fn unmatched(&self, batch: &[String]) -> u64 {
        let matched = batch.iter().filter(|url| self.by_url.contains_key(*url));
        (self.by_url.len() - matched.count()) as u64
    }
}

/// The replies and failures of a batch.
#[derive(Debug, Default)]
pub(super) struct BatchReplies {
    /// URLs for which a server replied: with a status, or with something that is no TLS.
    pub(super) replied_urls: u64,
    failures: BTreeMap<CheckFailure, u64>,
    /// Hosts of the URLs without a reply.
    silent_hosts: HashSet<String>,
}

impl BatchReplies {
    /// Counts the results of a batch.
    pub(super) fn of(results: &[CheckResult<'_>]) -> BatchReplies {
        let mut counts = BatchReplies::default();
        for result in results {
            match result.outcome {
                CheckOutcome::Status(_) | CheckOutcome::Failed(CheckFailure::Tls) => {
                    counts.replied_urls += 1;
                }
                CheckOutcome::Failed(failure) => counts.add_failure(result.url, failure),
            }
        }
        counts
    }

    fn add_failure(&mut self, url: &str, failure: CheckFailure) {
        *self.failures.entry(failure).or_default() += 1;
        let host = host_of(url);
        if !self.silent_hosts.contains(&host) {
            self.silent_hosts.insert(host);
        }
    }

    /// Returns the hosts of the URLs without a reply, as [`host_of`] writes them.
    pub(super) fn silent_hosts(&self) -> &HashSet<String> {
        &self.silent_hosts
    }

    /// Returns `true` if the checker asked servers, and none replied.
    pub(super) fn are_silent(&self) -> bool {
        self.replied_urls == 0 && self.failures.keys().copied().any(is_of_servers)
    }

    /// Returns the reason for which the results of a batch without replies are not stored, if so
    /// many hosts are silent, those of the control links included, that the network of this
    /// machine, or the checker, has probably failed.
    pub(super) fn doubt(
        &self,
        control: &BatchReplies,
        checker_message: Option<&str>,
    ) -> Option<String> {
        let (hosts, control_hosts) = (self.silent_hosts.len(), control.silent_hosts.len());
        let is_doubtful = control.replied_urls == 0 && AUDIT_SILENT_HOSTS <= hosts + control_hosts;
        is_doubtful.then(|| self.silence(control_hosts as u64, checker_message))
    }

    /// Describes the silence of all servers, and the ways out.
    fn silence(&self, control_hosts: u64, checker_message: Option<&str>) -> String {
        let failures: Vec<_> = self
            .failures
            .iter()
            .map(|(failure, count)| format!("{count} {}", words(*failure)))
            .collect();
        let mut text = format!(
            "no server replied for {} of {} ({})",
            counted(self.failures.values().sum(), "URL", "URLs"),
            counted(self.silent_hosts.len() as u64, "host", "hosts"),
            failures.join(", ")
        );
        if control_hosts > 0 {
            let hosts = counted(control_hosts, "host", "hosts");
            text += &format!(", nor any of {hosts} with a reply in an earlier check");
        }
        text += "; these results are not stored";
        if self.failures.keys().copied().any(is_of_servers) {
            text += ". This machine has probably no network, or needs a proxy to reach it: run \
                     the check again when the network works, or check elsewhere and use \
                     `urlspool audit import`";
        }
        if self.failures.contains_key(&CheckFailure::Excluded) {
            text += ". `--allow-private HOST` permits a private host; others are excluded by the \
                     checker's own rules, or by `--checker-args`";
        }
        if self.failures.contains_key(&CheckFailure::Unanswered) {
            text += ". The output of the checker lacks these URLs; ";
            text += &match checker_message {
                Some(message) => format!(
                    "its last message is: {}",
                    shortened(message, MESSAGE_VALUE_CHARS)
                ),
                None => "it printed no message".to_owned(),
            };
        }
        text + ". `--accept-unreachable` stores such results all the same"
    }
}

/// Returns `true` for failures of links for which a server was asked.
fn is_of_servers(failure: CheckFailure) -> bool {
    !matches!(failure, CheckFailure::Excluded | CheckFailure::Unanswered)
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

/// The host of a URL as the checker asks for it: `http://0x7f.1/` and `http://127.0.0.1/` have one
/// host. Without a dot at its end.
pub(super) fn host_of(url: &str) -> String {
    let url = Url::parse(url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    host.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DNS: CheckOutcome = CheckOutcome::Failed(CheckFailure::Dns);

    fn replies(hosts: usize, outcome: CheckOutcome) -> BatchReplies {
        let url = |number: usize| format!("http://h{}.test/{number}", number % hosts);
        let urls: Vec<_> = (0..2 * hosts).map(url).collect();
        let result = |url| CheckResult {
            url,
            asked_url: url,
            outcome,
            final_url: None,
            checked_at: "2026-11-22T10:00:00Z",
        };
        let results: Vec<_> = urls.iter().map(|url| result(url)).collect();
        BatchReplies::of(&results)
    }

    fn is_doubtful(batch: &BatchReplies, control: &BatchReplies) -> bool {
        batch.doubt(control, None).is_some()
    }

    #[test]
    fn silence_of_many_hosts_is_doubted() {
        let none = BatchReplies::default();
        for failure in CheckFailure::ALL {
            if failure == CheckFailure::Tls {
                continue;
            }
            let outcome = CheckOutcome::Failed(failure);
            let [few, enough] = [AUDIT_SILENT_HOSTS - 1, AUDIT_SILENT_HOSTS]
                .map(|hosts| is_doubtful(&replies(hosts, outcome), &none));
            assert_eq!((few, enough), (false, true), "{failure:?}");
        }
        for reply in [
            CheckOutcome::Status(503),
            CheckOutcome::Failed(CheckFailure::Tls),
        ] {
            assert_eq!(replies(1, reply).replied_urls, 2);
        }
    }

    #[test]
    fn only_servers_that_were_asked_are_silent() {
        for (outcome, is_silent) in [
            (CheckOutcome::Status(503), false),
            (CheckOutcome::Failed(CheckFailure::Tls), false),
            (CheckOutcome::Failed(CheckFailure::Excluded), false),
            (CheckOutcome::Failed(CheckFailure::Unanswered), false),
            (CheckOutcome::Failed(CheckFailure::Timeout), true),
            (DNS, true),
        ] {
            assert_eq!(replies(1, outcome).are_silent(), is_silent, "{outcome:?}");
        }
    }

    #[test]
    fn control_links_decide_whose_silence_it_is() {
        let replied = replies(1, CheckOutcome::Status(404));
        let silent = replies(4, DNS);
        let many = replies(500, DNS);
        assert!(!is_doubtful(&many, &replied));
        assert!(is_doubtful(&many, &silent));
        assert!(!is_doubtful(&replies(AUDIT_SILENT_HOSTS - 5, DNS), &silent));
        assert!(is_doubtful(&replies(AUDIT_SILENT_HOSTS - 4, DNS), &silent));
    }

    #[track_caller]
    fn text(failures: &[CheckFailure], message: Option<&str>) -> String {
        let replies = BatchReplies {
            failures: failures.iter().map(|failure| (*failure, 12)).collect(),
            silent_hosts: (0..12).map(|host| host.to_string()).collect(),
            ..BatchReplies::default()
        };
        replies.silence(3, message)
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
