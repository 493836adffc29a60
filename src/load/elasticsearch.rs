//! The target Elasticsearch or `OpenSearch`: documents that are created by `_bulk`, each under the
//! key of its record.
//!
//! A server has no transactions, so that an interrupted batch leaves documents behind. It is
//! repeated from its begin: a document that is there is not created again, and the names of
//! segments are stored after their documents. So that no other loader creates a document again that
//! a tombstone removed meanwhile, a batch holds a lock.

mod documents;
mod http;
mod index_words;
mod lock;
mod search;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::LoadError;
use super::authority_file::certificates;
use super::http_agent::TrustedAuthorities;
use super::search::{Match, MatchUse, SearchQuery};
use super::target::{
    ChangedRows, GoneMessages, LineTexts, LoadRow, RefusedRecord, ReplacedFiles, SegmentId,
    SegmentStatus, StoredFile, Target,
};
use super::target_name::IndexServer;
use super::{LoadJob, LoadMode, SharedReport};
use crate::record::{ELASTICSEARCH_VERSION, GoneLine, added_properties, elasticsearch_template};
use documents::{BulkRows, remove_documents};
use http::{HttpClient, HttpRequest, path_part};
use index_words::WORDS;
use lock::IndexLock;

/// An index that is being loaded.
///
/// Documents that wait are created before messages that wait are removed. This is the order of the
/// input: a document of a message that is among the latter is only added after these are removed,
/// and all others are not affected by the removal.
pub(super) struct ElasticsearchTarget<'r> {
    client: HttpClient<'r>,
    /// The name of the index.
    index: String,
    names: IndexNames,
    lock: IndexLock,
    /// `true` after the indexes were found or created.
    is_prepared: bool,
    /// The identifiers of the indexes that the name of the records' index leads to, by their names.
    records_ids: BTreeMap<String, String>,
    /// Those of the index of segments.
    segments_ids: BTreeMap<String, String>,
    rows: BulkRows,
    gone: GoneMessages,
    /// Segments of this batch, to be stored.
    segments: Vec<SegmentId>,
    changed: ChangedRows,
    refused: Vec<RefusedRecord>,
}

#[derive(Deserialize)]
struct SegmentDocument {
    #[serde(rename = "_source")]
    source: SegmentSource,
}

#[derive(Deserialize)]
struct SegmentSource {
    hash: String,
    /// The identifiers of the indexes that its documents went to; empty in documents of older
    /// versions.
    #[serde(default)]
    indexes: Vec<String>,
}

impl<'r> ElasticsearchTarget<'r> {
    /// Names an index. The server is contacted by the first batch.
    pub(super) fn open(
        server: &IndexServer,
        index: &str,
        job: &LoadJob,
        report: SharedReport<'r>,
    ) -> Result<ElasticsearchTarget<'r>, LoadError> {
        if matches!(job.mode, LoadMode::Replace | LoadMode::Prune) || job.is_dry_run {
            return Err(no_transactions());
        }
        let authorities = authorities(server)?;
        let limit = Duration::from_secs(server.connect_seconds.into());
        let server = &*server.url;
        let names = IndexNames {
            records: path_part(index),
            segments: path_part(&format!("{index}-segments")),
        };
        Ok(ElasticsearchTarget {
            client: HttpClient::new(
                server,
                authorities,
                job.credentials.elasticsearch_api_key.as_ref(),
                limit,
                report,
            ),
            lock: IndexLock::new(names.segments.clone(), format!("{server}/{index}")),
            index: index.to_owned(),
            names,
            is_prepared: false,
            records_ids: BTreeMap::new(),
            segments_ids: BTreeMap::new(),
            rows: BulkRows::new().map_err(no_words)?,
            gone: GoneMessages::default(),
            segments: Vec::new(),
            changed: ChangedRows::default(),
            refused: Vec::new(),
        })
    }

    /// Checks that the name leads to indexes of this program.
    fn check_is_there(&self, index: &str) -> Result<(), LoadError> {
        if is_there(&self.client, &self.names.records)? {
            return Ok(());
        }
        Err(LoadError::unusable(format!(
            "there is no index {index}; `urlspool load` creates it"
        )))
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.gone.clear();
        self.segments.clear();
        self.changed = ChangedRows::default();
    }

    fn flush_rows(&mut self) -> Result<(), LoadError> {
        let (client, index) = (&self.client, &self.names.records);
        let outcome = self.rows.flush(client, &mut self.lock, index)?;
        self.changed.added += outcome.added;
        self.refused.extend(outcome.refused);
        Ok(())
    }

    /// Creates the documents that wait, then removes the messages that wait.
    fn flush(&mut self) -> Result<(), LoadError> {
        if !self.rows.is_empty() {
            self.flush_rows()?;
        }
        let (client, index) = (&self.client, &self.names.records);
        self.changed.removed += remove_documents(&mut self.gone, client, &mut self.lock, index)?;
        Ok(())
    }

    fn segment_path(&self, endpoint: &str, segment: &SegmentId) -> String {
        let SegmentId {
            instance,
            epoch,
            seq,
            ..
        } = segment;
        let name = path_part(&format!("{instance}.{epoch}.{seq}"));
        format!("/{}/{endpoint}/{name}", self.names.segments)
    }

    fn stored_segment(&mut self, segment: &SegmentId) -> Result<SegmentStatus, LoadError> {
        let request = HttpRequest::get(self.segment_path("_doc", segment));
        let reply = self.lock.send(&self.client, &request)?;
        if reply.status == 404 {
            return Ok(SegmentStatus::New);
        }
        let document: SegmentDocument = reply.succeeded()?.json()?;
        let SegmentSource { hash, indexes } = document.source;
        let is_there = |index: &String| self.records_ids.values().any(|id| id == index);
        // Else its documents were deleted with their index.
        let has_documents = indexes.is_empty() || indexes.iter().any(is_there);
        Ok(SegmentStatus::of(segment, has_documents.then_some(hash)))
    }

    /// Checks that the names still lead to the indexes that they led to before. An alias may get
    /// more of them.
    fn check_indexes(&mut self) -> Result<(), LoadError> {
        for (index, known) in [
            (&self.names.records, &mut self.records_ids),
            (&self.names.segments, &mut self.segments_ids),
        ] {
            let found = ids(&self.client, index)?;
            if !known.iter().all(|(name, id)| found.get(name) == Some(id)) || found.is_empty() {
                return Err(LoadError::replaced(&format!("the index {index}")));
            }
            *known = found;
        }
        Ok(())
    }

    fn store_segment(&mut self, segment: &SegmentId) -> Result<(), LoadError> {
        let SegmentId {
            instance,
            epoch,
            seq,
            hash,
        } = segment;
        let indexes: Vec<_> = self.records_ids.values().collect();
        let source = json!({"instance": instance, "epoch": epoch, "seq": seq, "hash": hash, "indexes": indexes});
        let request = HttpRequest::put(self.segment_path("_create", segment), &source);
        let mut reply = self.lock.send(&self.client, &request)?;
        if reply.status == 409 {
            match self.stored_segment(segment)? {
                // The answer to an earlier attempt was lost.
                SegmentStatus::Loaded => return Ok(()),
                SegmentStatus::New => {
                    let request = HttpRequest::put(self.segment_path("_doc", segment), &source);
                    reply = self.lock.send(&self.client, &request)?;
                }
                SegmentStatus::OtherHash(_) => {}
            }
        }
        reply.succeeded().map(|_| ())
    }
}

/// The authorities of a server's certificate.
fn authorities(server: &IndexServer) -> Result<TrustedAuthorities, LoadError> {
    match &server.root_file {
        None => Ok(TrustedAuthorities::Machine),
        Some(path) => certificates(path).map(TrustedAuthorities::Named),
    }
}

/// Searches an index, and gives each match to `found` until that returns `false`.
pub(super) fn search<E: From<LoadError>>(
    server: &IndexServer,
    index: &str,
    job: &LoadJob,
    report: SharedReport<'_>,
    (query, matches): (&SearchQuery, MatchUse),
    found: impl FnMut(&Match) -> Result<bool, E>,
) -> Result<(), E> {
    let target = ElasticsearchTarget::open(server, index, job, report)?;
    target.check_is_there(index)?;
    search::each_match(&target.client, &target.names.records, query, matches, found)
}

/// The error of the database in memory that divides texts into words.
fn no_words(error: rusqlite::Error) -> LoadError {
    let message = format!("texts cannot be divided into words: {error}");
    LoadError::io(message).caused_by(error)
}

fn no_transactions() -> LoadError {
    LoadError::unusable(
        "--replace, --prune and --dry-run need a transaction, which Elasticsearch does not have; load into \
         a new index, and let an alias name it",
    )
}

impl Target for ElasticsearchTarget<'_> {
    fn line_texts(&self) -> LineTexts {
        LineTexts::Keep
    }

    fn begin(&mut self) -> Result<(), LoadError> {
        self.clear();
        if !self.is_prepared {
            prepare(&self.client, &self.names, &self.index)?;
            self.is_prepared = true;
        }
        // Before anything is written: a server creates an index that is missing.
        self.check_indexes()?;
        self.lock.acquire(&self.client)
    }

    fn segment_status(&mut self, segment: &SegmentId) -> Result<SegmentStatus, LoadError> {
        let is_same = |other: &&SegmentId| {
            (&other.instance, other.epoch, other.seq)
                == (&segment.instance, segment.epoch, segment.seq)
        };
        match self.segments.iter().find(is_same) {
            None => self.stored_segment(segment),
            Some(other) => Ok(SegmentStatus::of(segment, Some(other.hash.clone()))),
        }
    }

    fn add_segment(&mut self, segment: &SegmentId) -> Result<(), LoadError> {
        self.segments.push(segment.clone());
        Ok(())
    }

    fn put(&mut self, rows: &[LoadRow<'_>]) -> Result<(), LoadError> {
        for row in rows {
            if self.gone.contains(row.record) {
                self.flush()?;
            }
            self.rows.push(row).map_err(no_words)?;
            if self.rows.is_full() {
                self.flush_rows()?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, gone: &GoneLine) -> Result<(), LoadError> {
        for digest in &gone.digests {
            self.gone.push(&gone.mailbox, digest);
            if self.gone.is_full() {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn begin_replacing(&mut self) -> Result<(), LoadError> {
        Err(no_transactions())
    }

    fn files_without_rows(&mut self) -> Result<Vec<StoredFile>, LoadError> {
        Err(no_transactions())
    }

    fn finish_replacing(&mut self, _: &ReplacedFiles) -> Result<(), LoadError> {
        Err(no_transactions())
    }

    fn changed(&mut self) -> Result<ChangedRows, LoadError> {
        Err(no_transactions())
    }

    fn commit(&mut self) -> Result<ChangedRows, LoadError> {
        self.flush()?;
        for segment in std::mem::take(&mut self.segments) {
            self.store_segment(&segment)?;
        }
        self.lock.release(&self.client);
        Ok(std::mem::take(&mut self.changed))
    }

    /// A server answers after it has written a document to its log.
    fn check_kept(&mut self) -> Result<(), LoadError> {
        self.check_indexes()
    }

    fn take_refused(&mut self) -> Vec<RefusedRecord> {
        std::mem::take(&mut self.refused)
    }

    fn roll_back(&mut self) {
        self.clear();
        self.lock.release(&self.client);
    }
}

/// The names of the indexes, as parts of paths.
#[derive(Clone, Debug)]
struct IndexNames {
    records: String,
    segments: String,
}

/// Creates the indexes, unless they are there and ours.
fn prepare(client: &HttpClient<'_>, names: &IndexNames, index: &str) -> Result<(), LoadError> {
    if !is_there(client, &names.records)? {
        let template = format!("/_index_template/urlspool-{}", names.records);
        let body: Value = elasticsearch_template(index);
        client
            .send(&HttpRequest::put(template, &body))?
            .succeeded()?;
        create(client, &names.records, &json!({}))?;
    } else if !has_mapping_of(client, &names.records, WORDS)? {
        let added = json!({"properties": added_properties()});
        client
            .send(&HttpRequest::put(
                format!("/{}/_mapping", names.records),
                &added,
            ))?
            .succeeded()?;
    }
    if !is_there(client, &names.segments)? {
        create(client, &names.segments, &segments_index())?;
    }
    Ok(())
}

/// Returns `true` if an index is there.
///
/// # Errors
///
/// It is another program's, or of another version.
fn is_there(client: &HttpClient<'_>, index: &str) -> Result<bool, LoadError> {
    let reply = client.send(&HttpRequest::get(format!("/{index}/_mapping")))?;
    if reply.status == 404 {
        return Ok(false);
    }
    let found: Value = reply.succeeded()?.json()?;
    let mappings = found
        .as_object()
        .into_iter()
        .flat_map(|found| found.values());
    for mapping in mappings {
        match mapping["mappings"]["_meta"]["urlspool"].as_u64() {
            Some(ELASTICSEARCH_VERSION) => {}
            Some(version) => {
                return Err(LoadError::unusable(format!(
                    "the index {index} has version {version}; this program needs version \
                     {ELASTICSEARCH_VERSION}; load into a new index"
                )));
            }
            None => {
                return Err(LoadError::unusable(format!(
                    "the index {index} was not created by `urlspool load`; load into a new index"
                )));
            }
        }
    }
    Ok(true)
}

/// Returns `true` if all indexes that a name leads to have a mapping of this member of documents.
fn has_mapping_of(client: &HttpClient<'_>, index: &str, name: &str) -> Result<bool, LoadError> {
    let reply = client.send(&HttpRequest::get(format!("/{index}/_mapping")))?;
    let found: Value = reply.succeeded()?.json()?;
    let mut mappings = found
        .as_object()
        .into_iter()
        .flat_map(|found| found.values());
    Ok(mappings.all(|mapping| !mapping["mappings"]["properties"][name].is_null()))
}

/// Returns the identifiers of the indexes that a name leads to, by their names; none if there is no
/// index.
fn ids(client: &HttpClient<'_>, index: &str) -> Result<BTreeMap<String, String>, LoadError> {
    let path = format!("/{index}/_settings?filter_path=*.settings.index.uuid");
    let reply = client.send(&HttpRequest::get(path))?;
    if reply.status == 404 {
        return Ok(BTreeMap::new());
    }
    let found: BTreeMap<String, Value> = reply.succeeded()?.json()?;
    let id = |settings: Value| {
        settings["settings"]["index"]["uuid"]
            .as_str()
            .map(str::to_owned)
    };
    let ids = found
        .into_iter()
        .filter_map(|(name, settings)| Some((name, id(settings)?)));
    Ok(ids.collect())
}

fn create(client: &HttpClient<'_>, index: &str, body: &Value) -> Result<(), LoadError> {
    let reply = client.send(&HttpRequest::put(format!("/{index}"), body))?;
    // Another loader may have created it meanwhile, or an answer was lost.
    if reply.status == 400 && reply.error().kind == "resource_already_exists_exception" {
        return Ok(());
    }
    reply.succeeded().map(|_| ())
}

/// The index of segments and of the lock.
fn segments_index() -> Value {
    json!({
        "settings": {"number_of_shards": 1},
        "mappings": {
            "_meta": {"urlspool": ELASTICSEARCH_VERSION},
            "dynamic": false,
            "properties": {
                "instance": {"type": "keyword"},
                "epoch": {"type": "long"},
                "seq": {"type": "long"},
                "hash": {"type": "keyword"},
            },
        },
    })
}
