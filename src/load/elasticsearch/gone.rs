//! Messages that are gone, whose documents wait to be removed by a query.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{HttpClient, HttpRequest};
use super::lock::IndexLock;
use super::retry::{Backoff, Refusal};
use crate::limits::{LOAD_PENDING_GONE, LOAD_QUERY_MAILBOXES};
use crate::load::error::LoadError;

/// Messages that are gone.
#[derive(Debug, Default)]
pub(super) struct PendingGone {
    /// Their digests, by mailbox.
    digests: BTreeMap<String, BTreeSet<String>>,
    count: usize,
}

#[derive(Deserialize)]
struct DeletedReply {
    deleted: u64,
    #[serde(default)]
    version_conflicts: u64,
    #[serde(default)]
    timed_out: bool,
    #[serde(default)]
    failures: Vec<Value>,
}

impl DeletedReply {
    fn is_complete(&self) -> bool {
        self.version_conflicts == 0 && !self.timed_out && self.failures.is_empty()
    }
}

impl PendingGone {
    /// Adds a message.
    pub(super) fn push(&mut self, mailbox: &str, digest: &str) {
        let digests = self.digests.entry(mailbox.to_owned()).or_default();
        self.count += usize::from(digests.insert(digest.to_owned()));
    }

    /// Returns `true` if a message is among them.
    pub(super) fn contains(&self, mailbox: &str, digest: &str) -> bool {
        let digests = self.digests.get(mailbox);
        digests.is_some_and(|digests| digests.contains(digest))
    }

    /// Returns `true` if none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns `true` if no more may wait.
    pub(super) fn is_full(&self) -> bool {
        LOAD_PENDING_GONE <= self.count
    }

    /// Drops all.
    pub(super) fn clear(&mut self) {
        *self = PendingGone::default();
    }

    /// Removes the documents of the messages. Returns the number of documents.
    pub(super) fn flush(
        &mut self,
        client: &HttpClient,
        lock: &mut IndexLock,
        index: &str,
    ) -> Result<u64, LoadError> {
        if self.is_empty() {
            return Ok(0);
        }
        // A query finds only what was refreshed.
        let refresh = HttpRequest::post(format!("/{index}/_refresh"), &json!({}));
        lock.send(client, &refresh)?.succeeded()?;
        let mailboxes: Vec<_> = self.digests.iter().collect();
        let mut removed = 0;
        for some in mailboxes.chunks(LOAD_QUERY_MAILBOXES) {
            removed += delete(client, lock, index, &query(some))?;
        }
        self.clear();
        Ok(removed)
    }
}

/// A query for the documents of messages.
fn query(mailboxes: &[(&String, &BTreeSet<String>)]) -> Value {
    let clauses: Vec<_> = mailboxes
        .iter()
        .map(|(mailbox, digests)| {
            json!({"bool": {"filter": [
                {"term": {"source.mailbox": mailbox}},
                {"terms": {"message.digest": digests}},
            ]}})
        })
        .collect();
    json!({"query": {"bool": {"should": clauses, "minimum_should_match": 1}}})
}

/// Removes documents by a query, until it finds no more.
fn delete(
    client: &HttpClient,
    lock: &mut IndexLock,
    index: &str,
    query: &Value,
) -> Result<u64, LoadError> {
    let path = format!("/{index}/_delete_by_query?conflicts=proceed&refresh=true");
    let request = HttpRequest::post(path, query);
    let (mut removed, mut backoff) = (0, Backoff::new());
    loop {
        let reply: DeletedReply = lock.send(client, &request)?.succeeded()?.json()?;
        removed += reply.deleted;
        if reply.is_complete() {
            return Ok(removed);
        }
        backoff.wait(Refusal {
            reason: "the server does not remove all documents of messages that are gone".to_owned(),
            retry_after: None,
        })?;
    }
}
