//! The replies of servers in the results of a batch. Without any it is more likely that this machine has no network than that
//! all hosts are gone.

use std::collections::{BTreeMap, HashSet};

use url::Url;

use crate::audit::error::Silence;
use crate::audit::results::CheckResult;
use crate::audit::state::{CheckFailure, CheckOutcome};
use crate::limits::AUDIT_SILENT_HOSTS;

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
        let is_asked = |failure: &CheckFailure| {
            !matches!(failure, CheckFailure::Excluded | CheckFailure::Unanswered)
        };
        self.replied_urls == 0 && self.failures.keys().any(is_asked)
    }

    /// Returns the reason for which the results of a batch without replies are in doubt, if so many hosts are silent, those of the
    /// control links included, that the network of this machine, or the checker, has probably failed.
    pub(super) fn doubt(
        &self,
        control: &BatchReplies,
        checker_message: Option<&str>,
    ) -> Option<Silence> {
        let (hosts, control_hosts) = (self.silent_hosts.len(), control.silent_hosts.len());
        let is_doubtful = control.replied_urls == 0 && AUDIT_SILENT_HOSTS <= hosts + control_hosts;
        is_doubtful.then(|| Silence {
            hosts,
            control_hosts,
            failures: self.failures.clone(),
            checker_message: checker_message.map(str::to_owned),
        })
    }
}

/// The host of a URL as the checker asks for it: `http://0x7f.1/` and `http://127.0.0.1/` have one host. Without a dot at its end.
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
}
