//! The target Elasticsearch or `OpenSearch`: documents that are created by `_bulk`, each under the
//! key of its record.
//!
//! A server has no transactions, so that an interrupted batch leaves documents behind. It is
//! repeated from its begin: a document that is there is not created again, and the names of
//! segments are stored after their documents. Nothing keeps another loader from creating a document
//! again that a tombstone removed meanwhile: one load at a time follows tombstones.

mod documents;
mod http;
mod index_words;
mod indexes;
mod login;

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::LoadError;
use super::authority_file::certificates;
use super::http_agent::TrustedAuthorities;
use super::target::{
    ChangedRows, GoneMessages, LineTexts, LoadRow, RefusedRecord, ReplacedFiles, SegmentId,
    SegmentStatus, StoredFile, Target,
};
use super::target_name::IndexServer;
use super::{LoadJob, LoadMode, SharedReport};
use crate::record::GoneLine;
use documents::{BulkRows, remove_documents};
use http::{HttpClient, HttpRequest, path_part};
use indexes::{IndexNames, identities};
use login::Login;

/// An index that is being loaded.
///
/// Documents that wait are created before messages that wait are removed. This is the order of the
/// input: a document of a message that is among the latter is only added after these are removed,
/// and all others are not affected by the removal.
pub(super) struct ElasticsearchTarget<'r> {
    client: HttpClient<'r>,
    names: IndexNames,
    /// `true` after the indexes were found or created.
    is_prepared: bool,
    /// The identifiers of the indexes that the name of the records' index leads to.
    records_ids: BTreeSet<String>,
    /// That of the index of segments.
    segments_ids: BTreeSet<String>,
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
    /// The identifiers of the indexes that its documents went to.
    indexes: BTreeSet<String>,
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
        let login = Login::new(server, &job.credentials)?;
        let limit = Duration::from_secs(server.connect_seconds.into());
        let server = &*server.url;
        Ok(ElasticsearchTarget {
            client: HttpClient::new(server, authorities, login, limit, &job.stop, report),
            names: IndexNames::new(index),
            is_prepared: false,
            records_ids: BTreeSet::new(),
            segments_ids: BTreeSet::new(),
            rows: BulkRows::new().map_err(no_words)?,
            gone: GoneMessages::default(),
            segments: Vec::new(),
            changed: ChangedRows::default(),
            refused: Vec::new(),
        })
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.gone.clear();
        self.segments.clear();
        self.changed = ChangedRows::default();
    }

    fn flush_rows(&mut self) -> Result<(), LoadError> {
        let (client, index) = (&self.client, &self.names.records);
        let outcome = self.rows.flush(client, index)?;
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
        self.changed.removed += remove_documents(&mut self.gone, client, index)?;
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
        let reply = self.client.send(&request)?;
        if reply.status == 404 {
            return Ok(SegmentStatus::New);
        }
        let document: SegmentDocument = reply.succeeded()?.json()?;
        let SegmentSource { hash, indexes } = document.source;
        // Else its documents were deleted with their index.
        let has_documents = !indexes.is_disjoint(&self.records_ids);
        Ok(SegmentStatus::of(segment, has_documents.then_some(hash)))
    }

    /// Checks that the names still lead to the indexes that they led to before. An alias of the
    /// user may get more of them.
    fn check_indexes(&mut self) -> Result<(), LoadError> {
        for (index, known) in [
            (&self.names.records, &mut self.records_ids),
            (&self.names.segments, &mut self.segments_ids),
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
        let SegmentId {
            instance,
            epoch,
            seq,
            hash,
        } = segment;
        let indexes = &self.records_ids;
        let source = json!({"instance": instance, "epoch": epoch, "seq": seq, "hash": hash, "indexes": indexes});
        let request = HttpRequest::put(self.segment_path("_create", segment), &source);
        let mut reply = self.client.send(&request)?;
        if reply.status == 409 {
            match self.stored_segment(segment)? {
                // The answer to an earlier attempt was lost.
                SegmentStatus::Loaded => return Ok(()),
                SegmentStatus::New => {
                    let request = HttpRequest::put(self.segment_path("_doc", segment), &source);
                    reply = self.client.send(&request)?;
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

/// The error of the database in memory that divides texts into words.
fn no_words(error: rusqlite::Error) -> LoadError {
    let message = format!("texts cannot be divided into words: {error}");
    LoadError::io(message).caused_by(error)
}

fn no_transactions() -> LoadError {
    LoadError::unusable(
        "--replace, --prune and --dry-run need a transaction, which Elasticsearch does not have; load into \
         a new index",
    )
}

impl Target for ElasticsearchTarget<'_> {
    fn line_texts(&self) -> LineTexts {
        LineTexts::Keep
    }

    fn begin(&mut self) -> Result<(), LoadError> {
        self.clear();
        if !self.is_prepared {
            self.names.prepare(&self.client)?;
            self.is_prepared = true;
        }
        // Before anything is written: a server creates an index that is missing.
        self.check_indexes()
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
            self.gone.push(gone, digest);
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
    }
}
