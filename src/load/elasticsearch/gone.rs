//! Removal of the documents of messages that are gone, by queries.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::http::Refusal;
use super::http::{HttpClient, HttpRequest};
use super::lock::IndexLock;
use crate::limits::LOAD_QUERY_MAILBOXES;
use crate::load::error::{LoadError, LoadErrorKind};
use crate::load::gone_messages::GoneMessages;

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

/// Removes the documents of the messages, after which none waits. Returns the number of documents.
pub(super) fn remove_documents(
    gone: &mut GoneMessages,
    client: &HttpClient<'_>,
    lock: &mut IndexLock,
    index: &str,
) -> Result<u64, LoadError> {
    if gone.is_empty() {
        return Ok(0);
    }
    // A query finds only what was refreshed.
    let refresh = HttpRequest::post(format!("/{index}/_refresh"), &json!({}));
    lock.send(client, &refresh)?.succeeded()?;
    let mailboxes: Vec<_> = gone.by_mailbox().collect();
    let mut removed = 0;
    for some in mailboxes.chunks(LOAD_QUERY_MAILBOXES) {
        removed += delete(client, lock, index, &query(some))?;
    }
    gone.clear();
    Ok(removed)
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
    client: &HttpClient<'_>,
    lock: &mut IndexLock,
    index: &str,
    query: &Value,
) -> Result<u64, LoadError> {
    let path = format!("/{index}/_delete_by_query?conflicts=proceed&refresh=true");
    let request = HttpRequest::post(path, query);
    let (mut removed, mut backoff) = (0, client.backoff());
    loop {
        let reply: DeletedReply = lock.send(client, &request)?.succeeded()?.json()?;
        removed += reply.deleted;
        if reply.is_complete() {
            return Ok(removed);
        }
        backoff.wait(Refusal {
            error: LoadError::new(
                LoadErrorKind::Unreachable,
                "the server does not remove all documents of messages that are gone",
            ),
            retry_after: None,
        })?;
    }
}
