//! The lock of an index: a document in the index of segments, which only one loader at a time can
//! own.
//!
//! Its owner renews it. One that stays silent for the time that the document states was killed, and
//! the next loader takes the lock over: it compares no clocks of two machines, but waits for that
//! time by its own. The version of the document decides between two that try at the same moment.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{Attempt, HttpClient, HttpReply, HttpRequest};
use crate::limits::{
    LOAD_INDEX_LOCK_SECONDS, LOAD_INDEX_POLL_MS, LOAD_LEASE_SECONDS, LOAD_LOCK_REPORT_SECONDS,
    LOAD_RENEW_SECONDS,
};
use crate::load::LoadError;

/// The name of the document.
const LOCK: &str = "lock";

#[derive(Debug)]
pub(super) struct IndexLock {
    /// The index of segments, as part of a path.
    segments: String,
    /// The name of the index, for messages.
    name: String,
    /// A name that no other loader has.
    owner: String,
    held: Option<HeldLock>,
}

/// The document that was written last.
#[derive(Clone, Copy, Debug)]
struct HeldLock {
    version: DocumentVersion,
    renewed: Instant,
}

/// The version of a document: each change has another.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
struct DocumentVersion {
    #[serde(rename = "_seq_no")]
    seq_no: u64,
    #[serde(rename = "_primary_term")]
    primary_term: u64,
}

/// The document, as the server has it.
#[derive(Debug, Deserialize)]
struct LockDocument {
    #[serde(flatten)]
    version: DocumentVersion,
    #[serde(rename = "_source")]
    source: LockSource,
}

#[derive(Debug, Deserialize)]
struct LockSource {
    owner: String,
    lease_seconds: u64,
}

impl IndexLock {
    /// The lock of the index `name`, which is not held yet.
    pub(super) fn new(segments: String, name: String) -> IndexLock {
        let random = RandomState::new().build_hasher().finish();
        IndexLock {
            segments,
            name,
            owner: format!("{random:016x}-{}", std::process::id()),
            held: None,
        }
    }

    /// Takes the lock, or waits until its owner releases it or is silent for too long.
    pub(super) fn acquire(&mut self, client: &HttpClient<'_>) -> Result<(), LoadError> {
        let begun = Instant::now();
        let mut is_reported = false;
        let mut seen: Option<(DocumentVersion, Instant)> = None;
        loop {
            let created = client.send(&self.create())?;
            if created.status != 409 {
                return self.hold(&created.succeeded()?);
            }
            let Some(document) = self.document(client)? else {
                continue;
            };
            let since = match seen {
                Some((version, since)) if version == document.version => since,
                _ => Instant::now(),
            };
            seen = Some((document.version, since));
            let is_mine = document.source.owner == self.owner;
            let is_silent = Duration::from_secs(document.source.lease_seconds) <= since.elapsed();
            if is_mine || is_silent {
                let taken = client.send(&self.replace(document.version))?;
                if taken.status != 409 {
                    return self.hold(&taken.succeeded()?);
                }
            }
            let is_late = Duration::from_secs(LOAD_INDEX_LOCK_SECONDS) <= begun.elapsed();
            if is_late || client.is_stopping() {
                return Err(self.lost());
            }
            if !is_reported && Duration::from_secs(LOAD_LOCK_REPORT_SECONDS) <= begun.elapsed() {
                is_reported = true;
                client.report.borrow_mut().waiting(&self.name);
            }
            thread::sleep(Duration::from_millis(LOAD_INDEX_POLL_MS));
        }
    }

    /// Renews the lock, if it is held and old enough.
    ///
    /// # Errors
    ///
    /// Another loader has taken it over.
    pub(super) fn renew_if_due(
        &mut self,
        client: &HttpClient<'_>,
    ) -> Result<Attempt<()>, LoadError> {
        let due = Duration::from_secs(LOAD_RENEW_SECONDS);
        let Some(held) = self.held.filter(|held| due <= held.renewed.elapsed()) else {
            return Ok(Attempt::Done(()));
        };
        let reply = match client.exchange(&self.replace(held.version))? {
            Attempt::Done(reply) => reply,
            Attempt::Again(refusal) => return Ok(Attempt::Again(refusal)),
        };
        if reply.status != 409 {
            return self.hold(&reply.succeeded()?).map(Attempt::Done);
        }
        // The answer to a renewal may have been lost.
        match self.document(client)? {
            Some(document) if document.source.owner == self.owner => {
                self.held = Some(HeldLock {
                    version: document.version,
                    renewed: held.renewed,
                });
                Ok(Attempt::Done(()))
            }
            _ => Err(self.lost()),
        }
    }

    /// Gives the lock back. If that fails, the next loader waits until it lapses.
    pub(super) fn release(&mut self, client: &HttpClient<'_>) {
        if let Some(HeldLock { version, .. }) = self.held.take() {
            let _ = client.exchange(&HttpRequest::delete(self.path_at(version)));
        }
    }

    /// Sends a request, and renews the lock meanwhile.
    pub(super) fn send(
        &mut self,
        client: &HttpClient<'_>,
        request: &HttpRequest,
    ) -> Result<HttpReply, LoadError> {
        client.retried(|| match self.renew_if_due(client)? {
            Attempt::Done(()) => client.exchange(request),
            Attempt::Again(refusal) => Ok(Attempt::Again(refusal)),
        })
    }

    fn document(&self, client: &HttpClient<'_>) -> Result<Option<LockDocument>, LoadError> {
        let path = format!("/{}/_doc/{LOCK}", self.segments);
        let reply = client.send(&HttpRequest::get(path))?;
        match reply.status {
            404 => Ok(None),
            _ => reply.succeeded()?.json().map(Some),
        }
    }

    fn create(&self) -> HttpRequest {
        let path = format!("/{}/_create/{LOCK}", self.segments);
        HttpRequest::put(path, &self.source())
    }

    fn replace(&self, version: DocumentVersion) -> HttpRequest {
        HttpRequest::put(self.path_at(version), &self.source())
    }

    fn path_at(&self, version: DocumentVersion) -> String {
        let DocumentVersion {
            seq_no,
            primary_term,
        } = version;
        format!(
            "/{}/_doc/{LOCK}?if_seq_no={seq_no}&if_primary_term={primary_term}",
            self.segments
        )
    }

    fn source(&self) -> Value {
        json!({"owner": self.owner, "lease_seconds": LOAD_LEASE_SECONDS})
    }

    fn hold(&mut self, reply: &HttpReply) -> Result<(), LoadError> {
        self.held = Some(HeldLock {
            version: reply.json()?,
            renewed: Instant::now(),
        });
        Ok(())
    }

    fn lost(&mut self) -> LoadError {
        self.held = None;
        LoadError::locked(format!(
            "another program is loading into {}; try again when it has ended",
            self.name
        ))
    }
}
