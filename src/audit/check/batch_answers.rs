//! The checker's answers for a batch, and the result of each URL.

use std::collections::HashMap;

use crate::audit::lychee_answers::Answer;
use crate::audit::results::CheckResult;
use crate::audit::state::{CheckFailure, CheckOutcome};

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
