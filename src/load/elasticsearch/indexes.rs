//! The indexes of a target: that of its records, which has the name of the target, and that of the
//! names of segments, `NAME-segments`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::http::{HttpClient, HttpRequest, path_part};
use crate::load::LoadError;
use crate::record::{ELASTICSEARCH_VERSION, elasticsearch_mapping};

/// The names of the indexes, as parts of paths.
#[derive(Clone, Debug)]
pub(super) struct IndexNames {
    pub(super) records: String,
    pub(super) segments: String,
    /// The name of the target as it is.
    target: String,
}

impl IndexNames {
    pub(super) fn new(target: &str) -> IndexNames {
        IndexNames {
            records: path_part(target),
            segments: path_part(&format!("{target}-segments")),
            target: target.to_owned(),
        }
    }

    /// Creates the indexes, unless they are there and ours.
    pub(super) fn prepare(&self, client: &HttpClient<'_>) -> Result<(), LoadError> {
        let records = || json!({"mappings": elasticsearch_mapping()});
        prepare(client, &self.records, &self.target, records)?;
        prepare(client, &self.segments, &self.segments, segments_index)
    }
}

/// Creates an index, unless it is there and ours.
fn prepare(
    client: &HttpClient<'_>,
    index: &str,
    shown: &str,
    body: impl FnOnce() -> Value,
) -> Result<(), LoadError> {
    if check_version(client, index, shown)? {
        return Ok(());
    }
    let reply = client.send(&HttpRequest::put(format!("/{index}"), &body()))?;
    // Another loader may have created it meanwhile, or an answer was lost.
    if reply.status == 400 && reply.error().kind == "resource_already_exists_exception" {
        return check_version(client, index, shown).map(|_| ());
    }
    reply.succeeded().map(|_| ())
}

/// Checks that the indexes that a name leads to are of this program, and of this version. Returns
/// `false` if there is no index.
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

/// Returns the identifiers that the server gave to the indexes that a name leads to; none if there
/// is no index.
pub(super) fn identities(
    client: &HttpClient<'_>,
    name: &str,
) -> Result<BTreeSet<String>, LoadError> {
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

/// The index of segments.
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
