//! Queued documents, the results of their creation, and the removal of documents of messages that
//! are gone.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::rc::Rc;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Deserialize;
use serde_json::{Value, json};
use ureq::http::Method;

use super::http::{HttpClient, HttpReply, HttpRequest, ServerError};
use crate::load::columns::{CLEAN_KEY, SEARCHED_FIELDS, searched_text};
use crate::load::target::{ChangedRows, GoneMessages, LoadRow, MailboxName, today};
use crate::load::tracking::clean_key;
use crate::load::words::Words;
use crate::load::{LoadError, LoadEvent};
use urlspool_record::record::{FieldId, LoadedRecord, LoadedValue};
use urlspool_text::hash::hash_pieces;
use urlspool_text::limits::{
    LOAD_BULK_BYTES, LOAD_QUERY_MAILBOXES, SEARCH_INDEXED_BYTES, SEARCH_INDEXED_WORD_BYTES,
};

/// Queued documents.
pub(super) struct BulkRows {
    /// Lines of the requests: an action before each document.
    lines: Vec<u8>,
    items: Vec<BulkItem>,
    words: Words,
    /// Day of loading.
    today: String,
}

/// A queued document.
#[derive(Debug)]
struct BulkItem {
    /// End offset of its lines.
    end: usize,
    /// Input that contains the record.
    input: Rc<str>,
    number: u64,
}

/// Returns a key that sorts the records of one file: by member names (as JSON), offset and record
/// key. Member names are truncated because they may be longer than a server indexes.
fn sort_key(record: &LoadedRecord) -> String {
    let member = record.text(FieldId::SourceMember).unwrap_or_default();
    let member = &member[..member.floor_char_boundary(SORTED_MEMBER_BYTES)];
    let start = match record.value(FieldId::SourceStart) {
        LoadedValue::Integer(start) => *start,
        _ => 0,
    };
    format!("{member}\0{start:016x}{:032x}", record.record_key)
}

/// Maximum length of the member names in [`sort_key`], in bytes. Lucene refuses terms of more than
/// 32,766 bytes.
const SORTED_MEMBER_BYTES: usize = 8_000;

#[derive(Deserialize)]
struct BulkReply {
    items: Vec<ItemResult>,
}

/// An object with a single entry, the action.
#[derive(Deserialize)]
enum ItemResult {
    #[serde(rename = "create")]
    Create {
        status: u16,
        error: Option<ServerError>,
    },
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

    /// Appends the record with the additional entries of a document: the key without tracking
    /// parameters, the date if it is plausible, the words, and the key that sorts matches with
    /// equal dates.
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

    /// Returns `true` if the documents fill a request.
    pub(super) fn is_full(&self) -> bool {
        LOAD_BULK_BYTES <= self.lines.len()
    }

    /// Discards the documents and starts a batch.
    pub(super) fn clear(&mut self) {
        self.today = today();
        self.lines.clear();
        self.items.clear();
    }

    /// Creates the documents. Sends a document again if the server was too busy for it. Counts the
    /// documents that are new to the index, and reports and counts the records that were refused.
    pub(super) fn flush(
        &mut self,
        client: &HttpClient<'_>,
        index: &str,
        changed: &mut ChangedRows,
    ) -> Result<(), LoadError> {
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
            let results = item_results(reply, waiting.len())?;
            let mut again = Vec::new();
            let mut busy = None;
            for (&item, ItemResult::Create { status, error }) in waiting.iter().zip(results) {
                let error = error.unwrap_or_else(|| ServerError::of_status(status));
                let is_disk_full = status == 403 && error.disk_block().is_some();
                match status {
                    200..300 => changed.added += 1,
                    // The index already has it.
                    409 => {}
                    _ if is_disk_full || matches!(status, 429 | 500..) => {
                        busy = Some(error);
                        again.push(item);
                    }
                    // The server will accept no document: a permission or the index is missing, or
                    // the index is read-only.
                    401 | 403 | 404 => return Err(error.refusal()),
                    _ => {
                        let BulkItem { input, number, .. } = &self.items[item];
                        changed.refused += 1;
                        client.report.borrow_mut()(LoadEvent::RefusedRecord {
                            input,
                            line: *number,
                            reason: &error.to_string(),
                        });
                    }
                }
            }
            if again.len() < waiting.len() {
                backoff.reset();
            }
            if let Some(error) = busy {
                backoff.wait(client.busy(&error), None)?;
            }
            again.extend(later);
            waiting = again;
        }
        self.clear();
        Ok(())
    }

    /// Returns the request that creates some of the documents.
    fn request(&self, index: &str, items: &[usize]) -> Result<HttpRequest, LoadError> {
        let path = format!("/{index}/_bulk?filter_path=items.*.status,items.*.error");
        let compressed = self.compressed(items).map_err(|error| {
            LoadError::io(format!("cannot compress a request: {error}")).caused_by(error)
        })?;
        Ok(HttpRequest::post_lines(path, compressed))
    }

    fn compressed(&self, items: &[usize]) -> io::Result<Vec<u8>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        for &item in items {
            let before = item.checked_sub(1);
            let start = before.map_or(0, |before| self.items[before].end);
            encoder.write_all(&self.lines[start..self.items[item].end])?;
        }
        encoder.finish()
    }
}

/// Returns the results of a request for `count` documents, in order.
fn item_results(reply: HttpReply, count: usize) -> Result<Vec<ItemResult>, LoadError> {
    if reply.status == 413 {
        let error = Some(ServerError::of_reason(
            "it is longer than the server accepts",
        ));
        return Ok(vec![ItemResult::Create { status: 413, error }]);
    }
    let results: BulkReply = reply.succeeded()?.json()?;
    if results.items.len() != count {
        return Err(LoadError::io(format!(
            "the server answered for {} documents to a request of {count}",
            results.items.len()
        )));
    }
    Ok(results.items)
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

/// Removes the documents of messages. Returns their number.
pub(super) fn remove_documents(
    gone: &GoneMessages,
    client: &HttpClient<'_>,
    index: &str,
) -> Result<u64, LoadError> {
    // A query finds only refreshed documents.
    let refresh = HttpRequest::new(Method::POST, format!("/{index}/_refresh"), &json!({}));
    client.send(&refresh)?.succeeded()?;
    let mailboxes: Vec<_> = gone.digests.iter().collect();
    let mut removed = 0;
    for some in mailboxes.chunks(LOAD_QUERY_MAILBOXES) {
        removed += delete_by_query(client, index, &gone_query(some))?;
    }
    Ok(removed)
}

/// Returns a query for the documents of messages.
fn gone_query(mailboxes: &[(&MailboxName, &BTreeSet<String>)]) -> Value {
    let clauses = mailboxes.iter().map(|((mailbox, base64), digests)| {
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
    });
    let clauses: Vec<_> = clauses.collect();
    json!({"query": {"bool": {"should": clauses, "minimum_should_match": 1}}})
}

/// Deletes documents by a query until it finds no more.
fn delete_by_query(client: &HttpClient<'_>, index: &str, query: &Value) -> Result<u64, LoadError> {
    let path = format!("/{index}/_delete_by_query?conflicts=proceed&refresh=true");
    let request = HttpRequest::new(Method::POST, path, query);
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
        let reason = "the server did not delete all documents of messages that are gone";
        backoff.wait(LoadError::unreachable(reason), None)?;
    }
}

/// The entry of a document that contains its words. This program splits texts into words, so that a
/// search finds the same records in every target; the index only splits at spaces. Each text of a
/// record is a separate list item, so that no phrase spans two texts.
const WORDS: &str = "words";

/// Returns the searchable texts of a record, each as its words separated by spaces.
fn indexed_texts(record: &LoadedRecord, words: &mut Words) -> rusqlite::Result<Vec<String>> {
    let mut texts = Vec::new();
    let mut left = SEARCH_INDEXED_BYTES;
    for field in SEARCHED_FIELDS {
        let mut indexed = String::new();
        let text = searched_text(record, field);
        words.each(&text, |word, _| {
            let word = indexed_word(word);
            if left <= word.len() {
                left = 0;
                return;
            }
            left -= word.len() + 1;
            if !indexed.is_empty() {
                indexed.push(' ');
            }
            indexed.push_str(&word);
        })?;
        if !indexed.is_empty() {
            texts.push(indexed);
        }
    }
    Ok(texts)
}

/// Returns the indexed form of a word.
fn indexed_word(word: &str) -> Cow<'_, str> {
    if word.len() <= SEARCH_INDEXED_WORD_BYTES {
        return Cow::Borrowed(word);
    }
    let hash = hash_pieces(&[word.as_bytes()]);
    let beginning = &word[..word.floor_char_boundary(SEARCH_INDEXED_WORD_BYTES)];
    Cow::Owned(format!("{beginning}+{hash:032x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_item_has_exactly_one_action() {
        let two = r#"{"create":{"status":201},"index":{"status":201}}"#;
        for json in ["{}", two] {
            assert!(serde_json::from_str::<ItemResult>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn a_long_word_is_cut_to_the_limit_of_the_analyzer_and_hashed() {
        let (word, other) = ("\u{e9}".repeat(300), "\u{e9}".repeat(301));
        let indexed = indexed_word(&word);
        assert!(indexed.encode_utf16().count() <= 255 && indexed.starts_with(&word[..180]));
        assert_ne!(indexed, indexed_word(&other));
        assert_eq!(indexed_word("lamp"), "lamp");
    }
}
