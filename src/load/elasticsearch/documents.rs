//! Documents that wait to be created and the results of their creation, and the removal of
//! documents of messages that are gone.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::rc::Rc;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{HttpClient, HttpReply, HttpRequest, Refusal, ServerError};
use super::index_words::{WORDS, indexed_texts};
use crate::limits::{LOAD_BULK_BYTES, LOAD_QUERY_MAILBOXES};
use crate::load::columns::CLEAN_KEY;
use crate::load::target::{GoneMessages, LoadRow, MailboxName, RefusedRecord, today};
use crate::load::tracking::clean_key;
use crate::load::words::Words;
use crate::load::{LoadError, LoadErrorKind};
use crate::record::{FieldId, LoadedRecord, LoadedValue};

/// Documents that wait.
pub(super) struct BulkRows {
    /// The requests' lines: each document has an action before it.
    lines: Vec<u8>,
    items: Vec<BulkItem>,
    words: Words,
    /// The day of loading.
    today: String,
}

/// A document that waits.
#[derive(Debug)]
struct BulkItem {
    /// The end of its lines.
    end: usize,
    /// The input that it came from.
    input: Rc<str>,
    number: u64,
}

/// Returns a text by which records of one file are sorted: by the names of the members, as their
/// JSON, then by the offset, then by the key. A member's names may be longer than a server indexes.
fn sort_key(record: &LoadedRecord) -> String {
    let member = record.text(FieldId::SourceMember).unwrap_or_default();
    let member = &member[..member.floor_char_boundary(SORTED_MEMBER_BYTES)];
    let start = match record.value(FieldId::SourceStart) {
        LoadedValue::Integer(start) => *start,
        _ => 0,
    };
    format!("{member}\0{start:016x}{:032x}", record.record_key)
}

/// Size of a member's names in [`sort_key`], in bytes. Lucene refuses terms of more than 32,766.
const SORTED_MEMBER_BYTES: usize = 8_000;

/// Effects of a flush.
#[derive(Debug, Default)]
pub(super) struct BulkOutcome {
    /// Documents that were not in the index before.
    pub(super) added: u64,
    pub(super) refused: Vec<RefusedRecord>,
}

#[derive(Deserialize)]
struct BulkReply {
    items: Vec<ReplyItem>,
}

#[derive(Deserialize)]
struct ReplyItem {
    create: ItemResult,
}

#[derive(Deserialize)]
struct ItemResult {
    status: u16,
    error: Option<ServerError>,
}

/// The decision on one document.
enum ItemOutcome {
    Added,
    /// The index holds it.
    Known,
    /// The server is busy.
    Again(ServerError),
    /// The server cannot take this document: its reason.
    Refused(String),
}

impl BulkRows {
    pub(super) fn new() -> rusqlite::Result<BulkRows> {
        Ok(BulkRows {
            lines: Vec::new(),
            items: Vec::new(),
            words: Words::new()?,
            today: today(),
        })
    }

    /// Adds the document of a record.
    pub(super) fn push(&mut self, row: &LoadRow<'_>) -> rusqlite::Result<()> {
        let action = format!(
            "{{\"create\":{{\"_id\":\"{:032x}\"}}}}\n",
            row.record.record_key
        );
        self.lines.extend_from_slice(action.as_bytes());
        self.push_document(row)?;
        self.lines.push(b'\n');
        let input = match self.items.last() {
            Some(last) if *last.input == *row.input => Rc::clone(&last.input),
            _ => row.input.into(),
        };
        self.items.push(BulkItem {
            end: self.lines.len(),
            input,
            number: row.number,
        });
        Ok(())
    }

    /// Appends the record with the members that no record has: the key without tracking parameters,
    /// the date if it is plausible, the words, and the place by which matches of one date are sorted.
    fn push_document(&mut self, row: &LoadRow<'_>) -> rusqlite::Result<()> {
        let record = row.record;
        let key = record.text(FieldId::Key).map(clean_key);
        let members = format!(
            ",\"{CLEAN_KEY}\":{},\"cited\":{},\"sort_key\":{},\"{WORDS}\":{}}}",
            json!(key),
            json!(row.cited(&self.today)),
            json!(sort_key(record)),
            json!(indexed_texts(record, &mut self.words)?),
        );
        let json = row.json.trim_ascii_end();
        self.lines
            .extend_from_slice(json.strip_suffix(b"}").unwrap_or(json));
        self.lines.extend_from_slice(members.as_bytes());
        Ok(())
    }

    /// Returns `true` if no document waits.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns `true` if the documents fill a request.
    pub(super) fn is_full(&self) -> bool {
        LOAD_BULK_BYTES <= self.lines.len()
    }

    /// Drops the documents, and begins a batch.
    pub(super) fn clear(&mut self) {
        self.today = today();
        self.lines.clear();
        self.items.clear();
    }

    /// Creates the documents. Those for which the server is too busy are sent again.
    pub(super) fn flush(
        &mut self,
        client: &HttpClient<'_>,
        index: &str,
    ) -> Result<BulkOutcome, LoadError> {
        let mut outcome = BulkOutcome::default();
        let mut backoff = client.backoff();
        let mut waiting: Vec<usize> = (0..self.items.len()).collect();
        let mut items_per_request = waiting.len();
        while !waiting.is_empty() {
            let later = waiting.split_off(items_per_request.min(waiting.len()));
            let reply = client.send(&self.request(index, &waiting)?)?;
            if reply.status == 413 && 1 < waiting.len() {
                items_per_request = waiting.len() / 2;
                waiting.extend(later);
                continue;
            }
            let results = item_outcomes(reply, waiting.len())?;
            let mut again = Vec::new();
            let mut busy = None;
            for (&item, result) in waiting.iter().zip(results) {
                match result {
                    ItemOutcome::Added => outcome.added += 1,
                    ItemOutcome::Known => {}
                    ItemOutcome::Again(error) => {
                        busy = Some(error);
                        again.push(item);
                    }
                    ItemOutcome::Refused(reason) => {
                        outcome.refused.push(self.items[item].refused(reason));
                    }
                }
            }
            if again.len() < waiting.len() {
                backoff.reset();
            }
            if let Some(error) = busy {
                backoff.wait(Refusal {
                    error: client.busy(&error),
                    retry_after: None,
                })?;
            }
            again.extend(later);
            waiting = again;
        }
        self.clear();
        Ok(outcome)
    }

    /// The request that creates some of the documents.
    fn request(&self, index: &str, items: &[usize]) -> Result<HttpRequest, LoadError> {
        let path = format!("/{index}/_bulk?filter_path=items.*.status,items.*.error");
        let compressed = self.compressed(items).map_err(|error| {
            LoadError::io(format!(
                "the lines of a request cannot be compressed: {error}"
            ))
            .caused_by(error)
        })?;
        Ok(HttpRequest::post_lines(path, compressed))
    }

    fn compressed(&self, items: &[usize]) -> io::Result<Vec<u8>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        for &item in items {
            let start = item
                .checked_sub(1)
                .map_or(0, |before| self.items[before].end);
            encoder.write_all(&self.lines[start..self.items[item].end])?;
        }
        encoder.finish()
    }
}

impl BulkItem {
    fn refused(&self, reason: String) -> RefusedRecord {
        RefusedRecord {
            input: self.input.to_string(),
            line: self.number,
            reason,
        }
    }
}

/// The outcomes of a request of `count` documents, in their order.
fn item_outcomes(reply: HttpReply, count: usize) -> Result<Vec<ItemOutcome>, LoadError> {
    if reply.status == 413 {
        let reason = "it is longer than the server accepts".to_owned();
        return Ok(vec![ItemOutcome::Refused(reason)]);
    }
    let results: BulkReply = reply.succeeded()?.json()?;
    if results.items.len() != count {
        return Err(LoadError::io(format!(
            "the server answers for {} documents to a request of {count}",
            results.items.len()
        )));
    }
    results
        .items
        .into_iter()
        .map(|item| item.create.outcome())
        .collect()
}

impl ItemResult {
    /// # Errors
    ///
    /// The server will take no document: a right or the index is missing, or the index is
    /// read-only.
    fn outcome(self) -> Result<ItemOutcome, LoadError> {
        let error = self
            .error
            .unwrap_or_else(|| ServerError::of_status(self.status));
        Ok(match self.status {
            200..300 => ItemOutcome::Added,
            409 => ItemOutcome::Known,
            429 | 500.. => ItemOutcome::Again(error),
            403 if error.is_disk_full() => ItemOutcome::Again(error),
            401 | 403 | 404 => return Err(error.refusal()),
            _ => ItemOutcome::Refused(error.to_string()),
        })
    }
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

/// Removes the documents of the messages, after which none waits. Returns the number of documents.
pub(super) fn remove_documents(
    gone: &mut GoneMessages,
    client: &HttpClient<'_>,
    index: &str,
) -> Result<u64, LoadError> {
    if gone.is_empty() {
        return Ok(0);
    }
    // A query finds only what was refreshed.
    let refresh = HttpRequest::post(format!("/{index}/_refresh"), &json!({}));
    client.send(&refresh)?.succeeded()?;
    let mailboxes: Vec<_> = gone.by_mailbox().collect();
    let mut removed = 0;
    for some in mailboxes.chunks(LOAD_QUERY_MAILBOXES) {
        removed += delete_by_query(client, index, &gone_query(some))?;
    }
    gone.clear();
    Ok(removed)
}

/// A query for the documents of messages.
fn gone_query(mailboxes: &[(&MailboxName, &BTreeSet<String>)]) -> Value {
    let clauses: Vec<_> = mailboxes
        .iter()
        .map(|((mailbox, base64), digests)| {
            let mut filter = vec![
                json!({"term": {"source.mailbox": mailbox}}),
                json!({"terms": {"message.digest": digests}}),
            ];
            let lookalike = match base64 {
                Some(base64) => {
                    filter.push(json!({"term": {"source.mailbox_b64": base64}}));
                    vec![]
                }
                None => vec![json!({"exists": {"field": "source.mailbox_b64"}})],
            };
            json!({"bool": {"filter": filter, "must_not": lookalike}})
        })
        .collect();
    json!({"query": {"bool": {"should": clauses, "minimum_should_match": 1}}})
}

/// Removes documents by a query, until it finds no more.
fn delete_by_query(client: &HttpClient<'_>, index: &str, query: &Value) -> Result<u64, LoadError> {
    let path = format!("/{index}/_delete_by_query?conflicts=proceed&refresh=true");
    let request = HttpRequest::post(path, query);
    let (mut removed, mut backoff) = (0, client.backoff());
    loop {
        let reply: DeletedReply = client.send(&request)?.succeeded()?.json()?;
        removed += reply.deleted;
        if reply.is_complete() {
            return Ok(removed);
        }
        if 0 < reply.deleted {
            backoff.reset();
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
