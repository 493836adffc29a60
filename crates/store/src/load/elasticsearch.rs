//! The Elasticsearch or `OpenSearch` target: `_bulk` creates documents whose ids are record keys.
//!
//! A server has no transactions, and an interrupted batch leaves documents behind. Repeating the
//! batch from the start does not create existing documents again, and the names of segments are
//! stored after their documents. Another load can still create a document again that a tombstone
//! removed in the meantime, so only one load at a time may process tombstones.

mod documents;
mod http;
mod login;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};
use ureq::http::Method;

use super::LoadError;
use super::target::{
    ChangedRows, GoneMessages, LineTexts, LoadRow, ReplacedFiles, SegmentId, StoredFile, Target,
};
use super::target_name::IndexServer;
use super::words::no_words;
use super::{LoadJob, LoadMode, SharedReport};
use documents::{BulkRows, remove_documents};
use http::{HttpClient, HttpRequest, path_part};
use urlspool_record::record::{ELASTICSEARCH_VERSION, elasticsearch_mapping};

/// An index being loaded.
pub(super) struct ElasticsearchTarget<'r> {
    client: HttpClient<'r>,
    /// Name of the target.
    target: String,
    /// Path component of the index of records, which has the name of the target.
    records: String,
    /// Path component of the index of segments.
    segments_index: String,
    /// `true` after the indexes were found or created.
    is_prepared: bool,
    /// Identifiers of the indexes that the name of the records index refers to.
    records_ids: BTreeSet<String>,
    /// Identifiers of the indexes that the name of the segments index refers to.
    segments_ids: BTreeSet<String>,
    rows: BulkRows,
    /// Segments of this batch, still to be stored.
    segments: Vec<SegmentId>,
    changed: ChangedRows,
}

#[derive(Deserialize)]
struct SegmentDocument {
    #[serde(rename = "_source")]
    source: SegmentSource,
}

#[derive(Deserialize)]
struct SegmentSource {
    hash: String,
    /// Identifiers of the indexes that contain its documents.
    indexes: BTreeSet<String>,
}

impl<'r> ElasticsearchTarget<'r> {
    /// Prepares a load into an index. The first batch contacts the server.
    pub(super) fn open(
        server: &IndexServer,
        index: &str,
        job: &LoadJob,
        report: SharedReport<'r>,
    ) -> Result<ElasticsearchTarget<'r>, LoadError> {
        if matches!(job.mode, LoadMode::Replace | LoadMode::Prune) || job.is_dry_run {
            return Err(no_transactions());
        }
        Ok(ElasticsearchTarget {
            client: HttpClient::new(server, job, report)?,
            target: index.to_owned(),
            records: path_part(index),
            segments_index: path_part(&format!("{index}-segments")),
            is_prepared: false,
            records_ids: BTreeSet::new(),
            segments_ids: BTreeSet::new(),
            rows: BulkRows::new().map_err(no_words)?,
            segments: Vec::new(),
            changed: ChangedRows::default(),
        })
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.segments.clear();
        self.changed = ChangedRows::default();
    }

    /// Creates the queued documents.
    fn flush(&mut self) -> Result<(), LoadError> {
        let changed = &mut self.changed;
        self.rows.flush(&self.client, &self.records, changed)
    }

    fn segment_path(&self, endpoint: &str, segment: &SegmentId) -> String {
        let (instance, epoch, seq) = segment.place();
        let name = format!("{instance}.{epoch}.{seq}");
        format!("/{}/{endpoint}/{}", self.segments_index, path_part(&name))
    }

    fn stored_hash(&mut self, segment: &SegmentId) -> Result<Option<String>, LoadError> {
        let request = HttpRequest::get(self.segment_path("_doc", segment));
        let reply = self.client.send(&request)?;
        if reply.status == 404 {
            return Ok(None);
        }
        let SegmentSource { hash, indexes } = reply.succeeded()?.json::<SegmentDocument>()?.source;
        // Otherwise, its documents were deleted together with their index.
        let has_documents = !indexes.is_disjoint(&self.records_ids);
        Ok(has_documents.then_some(hash))
    }

    /// Checks that the names still refer to the same indexes as before. A user's alias may refer to
    /// additional indexes.
    fn check_indexes(&mut self) -> Result<(), LoadError> {
        for (index, known) in [
            (&self.records, &mut self.records_ids),
            (&self.segments_index, &mut self.segments_ids),
        ] {
            let found = identities(&self.client, index)?;
            if !known.is_subset(&found) || found.is_empty() {
                return Err(LoadError::replaced(&format!("the index {index}")));
            }
            *known = found;
        }
        Ok(())
    }

    fn store_segment(&mut self, segment: &SegmentId) -> Result<(), LoadError> {
        let source = json!({
            "instance": segment.instance, "epoch": segment.epoch, "seq": segment.seq,
            "hash": segment.hash, "indexes": self.records_ids,
        });
        let request = HttpRequest::new(Method::PUT, self.segment_path("_create", segment), &source);
        let mut reply = self.client.send(&request)?;
        if reply.status == 409 {
            match self.stored_hash(segment)? {
                // The server stored it in an earlier attempt, but its answer was lost.
                Some(hash) if hash == segment.hash => return Ok(()),
                None => {
                    let request =
                        HttpRequest::new(Method::PUT, self.segment_path("_doc", segment), &source);
                    reply = self.client.send(&request)?;
                }
                Some(_) => {}
            }
        }
        reply.succeeded().map(|_| ())
    }
}

fn no_transactions() -> LoadError {
    LoadError::unusable(
        "--replace, --prune and --dry-run need transactions, which Elasticsearch does not have; \
         load into a new index",
    )
}

/// Creates an index, unless this program's index exists.
fn prepare(
    client: &HttpClient<'_>,
    index: &str,
    shown: &str,
    body: &Value,
) -> Result<(), LoadError> {
    if check_version(client, index, shown)? {
        return Ok(());
    }
    let reply = client.send(&HttpRequest::new(Method::PUT, format!("/{index}"), body))?;
    // Another load created it in the meantime, or the answer to an earlier attempt was lost.
    if reply.status == 400 && reply.error().kind == "resource_already_exists_exception" {
        return check_version(client, index, shown).map(|_| ());
    }
    reply.succeeded().map(|_| ())
}

/// Checks that this version of the program made the indexes that a name refers to. Returns `false`
/// if there is no index.
fn check_version(client: &HttpClient<'_>, name: &str, shown: &str) -> Result<bool, LoadError> {
    let reply = client.send(&HttpRequest::get(format!("/{name}/_mapping")))?;
    if reply.status == 404 {
        return Ok(false);
    }
    let found: BTreeMap<String, Value> = reply.succeeded()?.json()?;
    for index in found.values() {
        match index["mappings"]["_meta"]["urlspool"].as_u64() {
            Some(ELASTICSEARCH_VERSION) => {}
            Some(version) => {
                return Err(LoadError::unusable(format!(
                    "the index {shown} has version {version}; this program needs version \
                     {ELASTICSEARCH_VERSION}; load into a new index"
                )));
            }
            None => {
                return Err(LoadError::unusable(format!(
                    "the index {shown} was not created by `urlspool load`; load into a new index"
                )));
            }
        }
    }
    Ok(true)
}

/// Returns the server's identifiers of the indexes that a name refers to; empty if there is no
/// index.
fn identities(client: &HttpClient<'_>, name: &str) -> Result<BTreeSet<String>, LoadError> {
    let path = format!("/{name}?filter_path=*.settings.index.uuid");
    let reply = client.send(&HttpRequest::get(path))?;
    if reply.status == 404 {
        return Ok(BTreeSet::new());
    }
    let found: BTreeMap<String, Value> = reply.succeeded()?.json()?;
    let uuids = found
        .values()
        .filter_map(|index| index["settings"]["index"]["uuid"].as_str());
    Ok(uuids.map(str::to_owned).collect())
}

/// Returns the settings and the mapping of the index of segments.
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

impl Target for ElasticsearchTarget<'_> {
    fn line_texts(&self) -> LineTexts {
        LineTexts::Keep
    }

    fn has_transactions(&self) -> bool {
        false
    }

    fn begin(&mut self) -> Result<(), LoadError> {
        self.clear();
        if !self.is_prepared {
            let (client, segments) = (&self.client, &self.segments_index);
            let records = json!({"mappings": elasticsearch_mapping()});
            prepare(client, &self.records, &self.target, &records)?;
            prepare(client, segments, segments, &segments_index())?;
            self.is_prepared = true;
        }
        // Check before anything is written, because a server creates missing indexes.
        self.check_indexes()
    }

    fn loaded_hash(&mut self, segment: &SegmentId) -> Result<Option<String>, LoadError> {
        let mut segments = self.segments.iter();
        match segments.find(|other| other.place() == segment.place()) {
            None => self.stored_hash(segment),
            Some(other) => Ok(Some(other.hash.clone())),
        }
    }

    fn add_segment(&mut self, segment: &SegmentId) -> Result<(), LoadError> {
        self.segments.push(segment.clone());
        Ok(())
    }

    fn put(&mut self, rows: &[LoadRow<'_>]) -> Result<(), LoadError> {
        for row in rows {
            self.rows.push(row).map_err(no_words)?;
            if self.rows.is_full() {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, gone: &GoneMessages) -> Result<(), LoadError> {
        self.flush()?;
        self.changed.removed += remove_documents(gone, &self.client, &self.records)?;
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
        self.flush()?;
        Ok(self.changed)
    }

    fn commit(&mut self) -> Result<(), LoadError> {
        for segment in std::mem::take(&mut self.segments) {
            self.store_segment(&segment)?;
        }
        Ok(())
    }

    /// A server answers only after it has written a document to its log.
    fn check_kept(&mut self) -> Result<(), LoadError> {
        self.check_indexes()
    }

    fn roll_back(&mut self) {
        self.clear();
    }
}
