//! The replies of servers in the answers for a batch. Without any it is more likely that this machine has no network than that
//! all hosts are gone.

use std::collections::{BTreeMap, HashSet};

use url::Url;

use crate::audit::results::CheckResult;
use crate::audit::state::{CheckFailure, CheckOutcome};
use crate::limits::{AUDIT_SILENT_HOSTS, AUDIT_SILENT_HOSTS_LATER};

/// The replies and failures of a batch.
#[derive(Debug, Default)]
pub(super) struct BatchReplies {
    /// URLs for which a server replied: with a status, or with something that is no TLS.
    pub(super) replies: u64,
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
                    counts.replies += 1;
                }
                CheckOutcome::Failed(failure) => counts.add_failure(result.url, failure),
            }
        }
        counts
    }

    fn add_failure(&mut self, url: &str, failure: CheckFailure) {
        *self.failures.entry(failure).or_default() += 1;
        let url = Url::parse(url).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
        if !self.silent_hosts.contains(host) {
            self.silent_hosts.insert(host.to_owned());
        }
    }

    /// Returns `true` if the checker asked servers, and none replied.
    pub(super) fn are_silent(&self) -> bool {
        let is_asked = |failure: &CheckFailure| {
            !matches!(failure, CheckFailure::Excluded | CheckFailure::Unanswered)
        };
        self.replies == 0 && self.failures.keys().any(is_asked)
    }

    /// Returns `true` if no server replied, of so many hosts that the network of this machine is in doubt. `earlier` is the number of
    /// replies in batches before: a network that has worked is doubted later.
    pub(super) fn are_missing(&self, earlier: u64) -> bool {
        let limit = match earlier {
            0 => AUDIT_SILENT_HOSTS,
            _ => AUDIT_SILENT_HOSTS_LATER,
        };
        self.replies == 0 && limit <= self.silent_hosts.len()
    }

    /// Returns the reason for which the results are not stored, and the way out.
    pub(super) fn doubt(&self) -> String {
        let urls: u64 = self.failures.values().sum();
        let reasons: Vec<_> = self
            .failures
            .iter()
            .map(|(failure, count)| format!("{count} {}", words(*failure)))
            .collect();
        format!(
            "none of {} hosts answered ({urls} URLs: {}), so these results are not stored. Perhaps this machine has no network, or \
             needs a proxy to reach it. When the network works, run the check again; if it does, `--accept-unreachable` \
             stores such results; or check elsewhere, and use `urlspool audit import`",
            self.silent_hosts.len(),
            reasons.join(", ")
        )
    }
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

    fn replies(urls: &[String], outcome: CheckOutcome) -> BatchReplies {
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

    fn urls(hosts: usize) -> Vec<String> {
        let url = |number: usize| format!("http://h{}.test/{number}", number % hosts);
        (0..2 * hosts).map(url).collect()
    }

    #[test]
    fn silence_of_many_hosts_is_doubted() {
        let enough = urls(AUDIT_SILENT_HOSTS);
        let few = urls(AUDIT_SILENT_HOSTS - 1);
        for failure in CheckFailure::ALL {
            let outcome = CheckOutcome::Failed(failure);
            let is_reply = failure == CheckFailure::Tls;
            assert_eq!(
                replies(&enough, outcome).are_missing(0),
                !is_reply,
                "{failure:?}"
            );
            assert!(!replies(&few, outcome).are_missing(0), "{failure:?}");
        }
        let status = CheckOutcome::Status(503);
        assert!(!replies(&enough, status).are_missing(0));
    }

    #[test]
    fn a_network_that_has_worked_is_doubted_later() {
        let dns = CheckOutcome::Failed(CheckFailure::Dns);
        let few = replies(&urls(AUDIT_SILENT_HOSTS_LATER - 1), dns);
        assert!(few.are_missing(0) && !few.are_missing(1));
        assert!(replies(&urls(AUDIT_SILENT_HOSTS_LATER), dns).are_missing(1));
    }

    #[test]
    fn the_doubt_names_reasons_and_the_way_out() {
        let dns = CheckOutcome::Failed(CheckFailure::Dns);
        let text = replies(&urls(12), dns).doubt();
        for part in [
            "none of 12 hosts answered (24 URLs: 24 no such host)",
            "--accept-unreachable",
            "audit import",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
