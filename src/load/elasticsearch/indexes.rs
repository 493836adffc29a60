//! The indexes of a target: the alias of its name, the versions of the index behind it, the index of
//! segments, and the step from one version to the next.
//!
//! Records are in `NAME-v1` behind the alias `NAME`. An index that an earlier version of the program
//! made is itself called `NAME`; it is used as it is, until its documents are copied.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{Attempt, HttpClient, HttpReply, HttpRequest, path_part};
use super::index_words::WORDS;
use super::lock::IndexLock;
use crate::limits::LOAD_INDEX_POLL_MS;
use crate::load::{LoadError, Reindexed};
use crate::record::{ELASTICSEARCH_VERSION, added_properties, elasticsearch_template};

/// The names of the indexes, as parts of paths.
#[derive(Clone, Debug)]
pub(super) struct IndexNames {
    /// The name of the target: an alias, or an index.
    pub(super) records: String,
    pub(super) segments: String,
    /// The name of the target as it is.
    target: String,
}

/// An index that a name leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndexIdentity {
    /// The identifier that the server gave it.
    pub(super) uuid: String,
    /// The identifiers of the indexes whose documents were copied into it.
    copied: Vec<String>,
}

/// The indexes that a name leads to, by their names.
pub(super) type Identities = BTreeMap<String, IndexIdentity>;

impl IndexIdentity {
    /// Returns `true` if the index has the documents of the index with this identifier.
    pub(super) fn has_documents_of(&self, uuid: &str) -> bool {
        self.uuid == uuid || self.copied.iter().any(|copied| copied == uuid)
    }
}

impl IndexNames {
    pub(super) fn new(target: &str) -> IndexNames {
        IndexNames {
            records: path_part(target),
            segments: path_part(&format!("{target}-segments")),
            target: target.to_owned(),
        }
    }

    /// The name of a version of the index.
    fn version(&self, number: u64) -> String {
        format!("{}-v{number}", self.target)
    }

    /// The number of a version of the index.
    fn number(&self, index: &str) -> Option<u64> {
        let number = index.strip_prefix(&*self.target)?.strip_prefix("-v")?;
        number.parse().ok()
    }

    /// Creates the indexes, unless they are there and ours.
    pub(super) fn prepare(&self, client: &HttpClient<'_>) -> Result<(), LoadError> {
        if versions_of(client, &self.records)?.is_none() {
            self.create_version(client, 1, &[], true)?;
            // Another load may have created it meanwhile, or it was there without the alias.
            if versions_of(client, &self.records)?.is_none() {
                let index = self.version(1);
                return Err(LoadError::unusable(format!(
                    "the index {index} is there, but no alias {0} leads to it; add the alias, or \
                     delete the index",
                    self.target
                )));
            }
        }
        check_version(client, &self.records, &self.target)?;
        if !has_mapping_of(client, &self.records, WORDS)? {
            let added = json!({"properties": added_properties()});
            let request = HttpRequest::put(format!("/{}/_mapping", self.records), &added);
            client.send(&request)?.succeeded()?;
        }
        self.prepare_segments(client)
    }

    /// Checks that the name leads to indexes of this program.
    pub(super) fn check_is_there(&self, client: &HttpClient<'_>) -> Result<(), LoadError> {
        if versions_of(client, &self.records)?.is_none() {
            return Err(LoadError::unusable(format!(
                "there is no index {}; `urlspool load` creates it",
                self.target
            )));
        }
        check_version(client, &self.records, &self.target)
    }

    fn prepare_segments(&self, client: &HttpClient<'_>) -> Result<(), LoadError> {
        if versions_of(client, &self.segments)?.is_none() {
            return create(client, &self.segments, &segments_index());
        }
        check_version(client, &self.segments, &self.segments)
    }

    /// Creates a version of the index, with its template. Its name is that of the template alone, so
    /// that no two templates match one index.
    fn create_version(
        &self,
        client: &HttpClient<'_>,
        number: u64,
        copied: &[String],
        has_alias: bool,
    ) -> Result<(), LoadError> {
        let index = self.version(number);
        let template = elasticsearch_template(&index);
        let mut body = json!({"mappings": template["template"]["mappings"]});
        if has_alias {
            body["aliases"] = json!({&*self.target: {}});
        }
        if !copied.is_empty() {
            body["mappings"]["_meta"]["copied"] = json!(copied);
        }
        let path = format!("/_index_template/urlspool-{}", self.records);
        client
            .send(&HttpRequest::put(path, &template))?
            .succeeded()?;
        create(client, &path_part(&index), &body)
    }

    /// Copies the documents into the next version of the index, and has the alias lead to it.
    /// Searches find the old version until then, and the new one from then on.
    ///
    /// # Errors
    ///
    /// The name leads to no index of ours, or to several; or the copy has not all documents. The
    /// name then leads to the old index, and the new one is deleted.
    pub(super) fn reindex(
        &self,
        client: &HttpClient<'_>,
        lock: &mut IndexLock,
    ) -> Result<Reindexed, LoadError> {
        let target = &self.target;
        let found = identities(client, &self.records)?;
        let [(old, identity)] = &*found.iter().collect::<Vec<_>>() else {
            return Err(LoadError::unusable(match found.len() {
                0 => format!("there is no index {target}; a load creates it"),
                _ => format!(
                    "the alias {target} leads to several indexes; --reindex needs one that it \
                     leads to"
                ),
            }));
        };
        check_version(client, &self.records, target)?;
        self.prepare_segments(client)?;
        // So that no load adds documents to the old index meanwhile.
        lock.acquire(client)?;
        let copied = [vec![identity.uuid.clone()], identity.copied.clone()].concat();
        let number = self.next_number(client)?;
        let new = self.version(number);
        self.create_version(client, number, &copied, false)?;
        let moved = copy_documents(client, lock, old, &new)
            .and_then(|documents| self.move_alias(client, lock, old, &new).map(|()| documents));
        match moved {
            Ok(documents) => Ok(Reindexed {
                documents,
                new: new.clone(),
                old: (*old != target).then(|| (*old).clone()),
                target: target.clone(),
            }),
            // The answer to the move may have been lost.
            Err(error) => match identities(client, &self.records) {
                Ok(found) if !found.contains_key(&new) => {
                    let _ = client.exchange(&HttpRequest::delete(format!("/{}", path_part(&new))));
                    Err(error)
                }
                _ => Err(error),
            },
        }
    }

    /// The number of the next version: no index of an earlier attempt has it.
    fn next_number(&self, client: &HttpClient<'_>) -> Result<u64, LoadError> {
        let found = identities(client, &format!("{}-v*", self.records))?;
        let last = found.keys().filter_map(|index| self.number(index)).max();
        Ok(last.unwrap_or(0) + 1)
    }

    /// Has the alias lead to the new index, in one step. An index of this name is removed in it.
    fn move_alias(
        &self,
        client: &HttpClient<'_>,
        lock: &mut IndexLock,
        old: &str,
        new: &str,
    ) -> Result<(), LoadError> {
        let target = &self.target;
        let leave = if old == target {
            json!({"remove_index": {"index": old}})
        } else {
            json!({"remove": {"index": old, "alias": target}})
        };
        let add = json!({"add": {"index": new, "alias": target}});
        let request = HttpRequest::post("/_aliases".to_owned(), &json!({"actions": [leave, add]}));
        let reply = lock.send(client, &request)?;
        if reply.is_success() || identities(client, &self.records)?.contains_key(new) {
            return Ok(());
        }
        reply.succeeded().map(|_| ())
    }
}

/// Copies all documents of an index. Returns their number.
fn copy_documents(
    client: &HttpClient<'_>,
    lock: &mut IndexLock,
    old: &str,
    new: &str,
) -> Result<u64, LoadError> {
    refresh(client, lock, old)?;
    let body = json!({
        "source": {"index": old, "size": DOCUMENTS_PER_READ},
        "dest": {"index": new, "op_type": "create"},
    });
    let path = "/_reindex?wait_for_completion=false".to_owned();
    // It is sent once: a second copy would run beside the first.
    let started = match client.exchange(&HttpRequest::post(path, &body))? {
        Attempt::Done(reply) => reply.succeeded()?.json::<StartedTask>()?,
        Attempt::Again(refusal) => return Err(refusal.error),
    };
    let task = format!("/_tasks/{}", path_part(&started.task));
    loop {
        let reply = lock.send(client, &HttpRequest::get(task.clone()))?;
        if reply.status == 404 {
            return Err(LoadError::io(
                "the server does not know any more how far the documents are copied: was it \
                 restarted? Repeat --reindex",
            ));
        }
        let state: TaskState = reply.succeeded()?.json()?;
        if state.completed {
            state.check()?;
            break;
        }
        thread::sleep(Duration::from_millis(LOAD_INDEX_POLL_MS));
    }
    refresh(client, lock, new)?;
    let (had, has) = (count(client, lock, old)?, count(client, lock, new)?);
    if had != has {
        return Err(LoadError::io(format!(
            "{old} has {had} documents, and its copy {new} has {has}; does another program write \
             into it?"
        )));
    }
    Ok(has)
}

/// Number of documents that the server reads at a time while it copies: one may have megabytes.
const DOCUMENTS_PER_READ: u64 = 500;

#[derive(Deserialize)]
struct StartedTask {
    task: String,
}

/// The state of a copy.
#[derive(Deserialize)]
struct TaskState {
    completed: bool,
    #[serde(default)]
    error: Value,
    #[serde(default)]
    response: Value,
}

impl TaskState {
    /// Checks that a copy that has ended has copied everything.
    fn check(&self) -> Result<(), LoadError> {
        let failures = self.response["failures"].as_array();
        let first = failures.and_then(|failures| failures.first());
        let reason = match (&self.error, first) {
            (Value::Null, None) => return Ok(()),
            (Value::Null, Some(failure)) => &failure["cause"]["reason"],
            (error, _) => &error["reason"],
        };
        let reason = reason.as_str().unwrap_or("it gives no reason");
        Err(LoadError::io(format!(
            "the server could not copy the documents: {reason}"
        )))
    }
}

fn refresh(client: &HttpClient<'_>, lock: &mut IndexLock, index: &str) -> Result<(), LoadError> {
    let path = format!("/{}/_refresh", path_part(index));
    let reply = lock.send(client, &HttpRequest::post(path, &json!({})))?;
    reply.succeeded().map(|_| ())
}

fn count(client: &HttpClient<'_>, lock: &mut IndexLock, index: &str) -> Result<u64, LoadError> {
    let path = format!("/{}/_count", path_part(index));
    let reply: Value = lock
        .send(client, &HttpRequest::get(path))?
        .succeeded()?
        .json()?;
    reply["count"].as_u64().ok_or_else(|| {
        LoadError::io(format!(
            "the server does not count the documents of {index}"
        ))
    })
}

/// Returns the mappings of the indexes that a name leads to; `None` if there is no index.
fn mappings(client: &HttpClient<'_>, name: &str) -> Result<Option<Vec<Value>>, LoadError> {
    let reply = client.send(&HttpRequest::get(format!("/{name}/_mapping")))?;
    if reply.status == 404 {
        return Ok(None);
    }
    let found: BTreeMap<String, Value> = reply.succeeded()?.json()?;
    let mappings = found
        .into_values()
        .map(|mut found| found["mappings"].take());
    Ok(Some(mappings.collect()))
}

/// Returns the versions that the mappings of indexes state; `None` if there is no index.
fn versions_of(client: &HttpClient<'_>, name: &str) -> Result<Option<Vec<Option<u64>>>, LoadError> {
    let version = |mapping: Value| mapping["_meta"]["urlspool"].as_u64();
    let mappings = mappings(client, name)?;
    Ok(mappings.map(|mappings| mappings.into_iter().map(version).collect()))
}

/// Checks that the indexes that a name leads to are of this program, and of this version.
fn check_version(client: &HttpClient<'_>, name: &str, shown: &str) -> Result<(), LoadError> {
    for version in versions_of(client, name)?.unwrap_or_default() {
        match version {
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
    Ok(())
}

/// Returns `true` if all indexes that a name leads to have a mapping of this member of documents.
fn has_mapping_of(client: &HttpClient<'_>, name: &str, member: &str) -> Result<bool, LoadError> {
    let mappings = mappings(client, name)?.unwrap_or_default();
    Ok(mappings
        .iter()
        .all(|mapping| !mapping["properties"][member].is_null()))
}

/// Returns the indexes that a name or a pattern leads to; none if there is no index.
pub(super) fn identities(client: &HttpClient<'_>, name: &str) -> Result<Identities, LoadError> {
    let path = format!("/{name}?filter_path=*.settings.index.uuid,*.mappings._meta");
    let reply: HttpReply = client.send(&HttpRequest::get(path))?;
    if reply.status == 404 {
        return Ok(Identities::new());
    }
    let found: BTreeMap<String, Value> = reply.succeeded()?.json()?;
    let identity = |index: &Value| {
        let copied = index["mappings"]["_meta"]["copied"].as_array();
        let copied = copied.into_iter().flatten().filter_map(Value::as_str);
        Some(IndexIdentity {
            uuid: index["settings"]["index"]["uuid"].as_str()?.to_owned(),
            copied: copied.map(str::to_owned).collect(),
        })
    };
    let found = found
        .into_iter()
        .filter_map(|(name, index)| Some((name, identity(&index)?)));
    Ok(found.collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_numbers() {
        let names = IndexNames::new("mail");
        assert_eq!(names.version(2), "mail-v2");
        for (index, number) in [
            ("mail-v1", Some(1)),
            ("mail-v12", Some(12)),
            ("mail", None),
            ("mail-v", None),
            ("mail-v2-v1", None),
            ("mail-segments", None),
        ] {
            assert_eq!(names.number(index), number, "{index}");
        }
    }

    #[test]
    fn a_copy_has_the_documents_of_its_originals() {
        let copy = IndexIdentity {
            uuid: "c".to_owned(),
            copied: vec!["b".to_owned(), "a".to_owned()],
        };
        let has = |uuid| copy.has_documents_of(uuid);
        assert!(has("a") && has("b") && has("c") && !has("d"));
    }
}
