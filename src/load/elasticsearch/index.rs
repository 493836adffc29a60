//! The indexes of a target: that of the records, and that of the segments which were loaded.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{HttpClient, HttpRequest};
use crate::load::error::LoadError;
use crate::record::{ELASTICSEARCH_VERSION, elasticsearch_template};

/// The names of the indexes, as parts of paths.
#[derive(Clone, Debug)]
pub(super) struct IndexNames {
    pub(super) records: String,
    pub(super) segments: String,
}

/// Creates the indexes, unless they are there and ours.
pub(super) fn prepare(
    client: &HttpClient<'_>,
    names: &IndexNames,
    index: &str,
) -> Result<(), LoadError> {
    if !is_there(client, &names.records)? {
        let template = format!("/_index_template/urlspool-{}", names.records);
        let body: Value = elasticsearch_template(index);
        client
            .send(&HttpRequest::put(template, &body))?
            .succeeded()?;
        create(client, &names.records, &json!({}))?;
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
                    "the index {index} has version {version}; this program needs version {ELASTICSEARCH_VERSION}; load into a new index"
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

/// Returns the identifiers of the indexes that a name leads to, by their names; none if there is no index.
pub(super) fn ids(
    client: &HttpClient<'_>,
    index: &str,
) -> Result<BTreeMap<String, String>, LoadError> {
    let path = format!("/{index}/_settings?filter_path=*.settings.index.uuid");
    let reply = client.send(&HttpRequest::get(path))?;
    if reply.status == 404 {
        return Ok(BTreeMap::new());
    }
    let found: BTreeMap<String, IndexSettings> = reply.succeeded()?.json()?;
    let ids = found
        .into_iter()
        .map(|(name, found)| (name, found.settings.index.uuid));
    Ok(ids.collect())
}

/// The settings of an index, in an answer of the server.
#[derive(Deserialize)]
struct IndexSettings {
    settings: SettingsOfIndex,
}

#[derive(Deserialize)]
struct SettingsOfIndex {
    index: IndexUuid,
}

#[derive(Deserialize)]
struct IndexUuid {
    uuid: String,
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
