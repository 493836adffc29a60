//! The indexes of the checking server, and its answers to requests for them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::http::{Answer, Request};

/// Indexes and complaints.
#[derive(Debug)]
pub(crate) struct Documents {
    pub(crate) indexes: BTreeMap<String, Index>,
    /// Requests that a server would refuse, or that break the rules of a load.
    pub(crate) complaints: Vec<String>,
    /// Size of the largest decompressed body, in bytes.
    pub(crate) max_bytes: usize,
    /// Number of created indexes.
    created: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Unique identifier of the index.
    uuid: String,
    mappings: Value,
    pub(crate) documents: BTreeMap<String, Document>,
}

#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) source: Value,
    /// `true` once queries find the document.
    is_refreshed: bool,
}

impl Default for Documents {
    fn default() -> Documents {
        Documents {
            indexes: BTreeMap::new(),
            complaints: Vec::new(),
            max_bytes: 100 << 20,
            created: 0,
        }
    }
}

impl Documents {
    /// Returns the documents of an index, by identifier.
    pub(crate) fn of(&self, index: &str) -> BTreeMap<&str, &Value> {
        let documents = self
            .indexes
            .get(index)
            .into_iter()
            .flat_map(|index| &index.documents);
        documents
            .map(|(id, document)| (&**id, &document.source))
            .collect()
    }

    /// Adds or replaces a document.
    pub(crate) fn store(&mut self, index: &str, id: &str, source: Value) {
        let document = Document {
            source,
            is_refreshed: false,
        };
        self.index(index).documents.insert(id.to_owned(), document);
    }

    /// Returns an index, and creates it if it is missing.
    pub(crate) fn index(&mut self, name: &str) -> &mut Index {
        let created = &mut self.created;
        self.indexes.entry(name.to_owned()).or_insert_with(|| {
            *created += 1;
            Index {
                uuid: format!("uuid-{created}"),
                ..Index::default()
            }
        })
    }

    /// Answers a request. `refuse` returns the status for a document that is refused for now.
    pub(super) fn answer(
        &mut self,
        request: &Request,
        refuse: impl FnMut() -> Option<u16>,
    ) -> Answer {
        let parts: Vec<_> = request.path.trim_matches('/').split('/').collect();
        match (&*request.method, &*parts) {
            ("PUT", [index]) => self.create_index(index, request),
            ("GET", [index]) => self.describe(index),
            ("GET", [index, "_mapping"]) => self.mapping(index),
            ("POST", [index, "_bulk"]) => self.bulk(index, request, refuse),
            ("POST", [index, "_refresh"]) => self.refresh(index),
            ("POST", [index, "_delete_by_query"]) => self.delete_by_query(index, request),
            ("GET", [index, "_doc", id]) => self.get(index, id),
            ("PUT", [index, "_create", id]) if self.has(index, id) => Answer::error(
                409,
                "version_conflict_engine_exception",
                "document already exists",
            ),
            ("PUT", [index, "_create" | "_doc", id]) => self.put(index, id, request),
            _ => self.wrong(format!("unknown: {} {}", request.method, request.path)),
        }
    }

    fn wrong(&mut self, complaint: String) -> Answer {
        let answer = Answer::error(400, "illegal_argument_exception", &complaint);
        self.complaints.push(complaint);
        answer
    }

    fn json(&mut self, request: &Request) -> Value {
        if request.header("content-type").map(String::as_str) != Some("application/json") {
            self.wrong(format!("{}: the body is not marked as JSON", request.path));
        }
        serde_json::from_slice(&request.body).unwrap_or_else(|error| {
            self.wrong(format!("{}: {error}", request.path));
            Value::Null
        })
    }

    fn create_index(&mut self, name: &str, request: &Request) -> Answer {
        let body = self.json(request);
        if self.indexes.contains_key(name) {
            return Answer::error(400, "resource_already_exists_exception", "it exists");
        }
        let mappings = body["mappings"].clone();
        let index = self.index(name);
        index.mappings = mappings;
        Answer::json(200, &json!({"acknowledged": true, "index": name}))
    }

    fn mapping(&self, name: &str) -> Answer {
        match self.indexes.get(name) {
            Some(index) => Answer::json(200, &json!({name: {"mappings": index.mappings}})),
            None => Answer::error(404, "index_not_found_exception", "no such index"),
        }
    }

    fn describe(&self, name: &str) -> Answer {
        match self.indexes.get(name) {
            Some(index) => {
                let settings = json!({"index": {"uuid": index.uuid}});
                Answer::json(200, &json!({name: {"settings": settings}}))
            }
            None => Answer::error(404, "index_not_found_exception", "no such index"),
        }
    }

    fn bulk(
        &mut self,
        name: &str,
        request: &Request,
        mut refuse: impl FnMut() -> Option<u16>,
    ) -> Answer {
        let header = |name: &str| request.header(name).map(String::as_str);
        let types = (header("content-type"), header("content-encoding"));
        if types != (Some("application/x-ndjson"), Some("gzip")) {
            return self.wrong(format!("_bulk: {types:?}"));
        }
        if !self.indexes.contains_key(name) {
            return self.wrong(format!("_bulk: {name} was not created"));
        }
        let mut text = String::new();
        if let Err(error) = GzDecoder::new(&*request.body).read_to_string(&mut text) {
            return self.wrong(format!("_bulk: {error}"));
        }
        if self.max_bytes < text.len() {
            return Answer::empty(413);
        }
        let lines: Vec<_> = text.split('\n').collect();
        if lines.last() != Some(&"") || lines.len() < 3 || lines.len() % 2 == 0 {
            return self.wrong(format!("_bulk: {} lines", lines.len()));
        }
        let items: Vec<_> = lines
            .chunks_exact(2)
            .map(|pair| json!({"create": self.create(name, pair[0], pair[1], &mut refuse)}))
            .collect();
        Answer::json(200, &json!({"took": 1, "errors": true, "items": items}))
    }

    /// Creates a document. Returns the result for this item.
    fn create(
        &mut self,
        name: &str,
        action: &str,
        source: &str,
        mut refuse: impl FnMut() -> Option<u16>,
    ) -> Value {
        let failed = |status: u16, kind: &str| {
            let error = json!({"type": kind, "reason": "a reason"});
            json!({"status": status, "error": error})
        };
        let parsed = (
            serde_json::from_str::<Value>(action),
            serde_json::from_str::<Value>(source),
        );
        let (Ok(action), Ok(source)) = parsed else {
            self.wrong(format!("_bulk: no JSON: {action} {source}"));
            return failed(400, "mapper_parsing_exception");
        };
        let id = action["create"]["_id"].as_str().unwrap_or_default();
        let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if action != json!({"create": {"_id": id}}) || !is_id || source["type"] != "url" {
            self.wrong(format!("_bulk: {action} {source}"));
        }
        if let Some(status) = refuse() {
            return failed(status, "es_rejected_execution_exception");
        }
        if source["host"] == "refused.example" {
            return failed(400, "document_parsing_exception");
        }
        if self.has(name, id) {
            return failed(409, "version_conflict_engine_exception");
        }
        self.store(name, id, source);
        json!({"_id": id, "status": 201, "result": "created"})
    }

    fn refresh(&mut self, name: &str) -> Answer {
        for document in self.documents_of(name).values_mut() {
            document.is_refreshed = true;
        }
        Answer::json(200, &json!({"_shards": {"failed": 0}}))
    }

    /// Deletes the documents matched by a query for mailboxes and digests.
    fn delete_by_query(&mut self, name: &str, request: &Request) -> Answer {
        let body = self.json(request);
        let mut gone = BTreeSet::new();
        let clauses = body["query"]["bool"]["should"].as_array().cloned();
        for clause in clauses.unwrap_or_default() {
            let filter = &clause["bool"]["filter"];
            let mailbox = filter[0]["term"]["source.mailbox"].as_str();
            let digests = filter[1]["terms"]["message.digest"].as_array();
            let (Some(mailbox), Some(digests)) = (mailbox, digests) else {
                return self.wrong(format!("_delete_by_query: {clause}"));
            };
            gone.extend(
                digests
                    .iter()
                    .map(|digest| (mailbox.to_owned(), digest.to_string())),
            );
        }
        if gone.is_empty() {
            return self.wrong(format!("_delete_by_query: {body}"));
        }
        let documents = self.documents_of(name);
        let before = documents.len();
        documents.retain(|_, document| {
            let source = &document.source;
            let mailbox = source["source"]["mailbox"].as_str().unwrap_or_default();
            let key = (mailbox.to_owned(), source["message"]["digest"].to_string());
            !(document.is_refreshed && gone.contains(&key))
        });
        let deleted = before - documents.len();
        let reply =
            json!({"deleted": deleted, "version_conflicts": 0, "timed_out": false, "failures": []});
        Answer::json(200, &reply)
    }

    fn documents_of(&mut self, name: &str) -> &mut BTreeMap<String, Document> {
        if !self.indexes.contains_key(name) {
            self.complaints.push(format!("{name} was not created"));
        }
        &mut self.index(name).documents
    }

    fn has(&self, index: &str, id: &str) -> bool {
        let index = self.indexes.get(index);
        index.is_some_and(|index| index.documents.contains_key(id))
    }

    fn get(&mut self, index: &str, id: &str) -> Answer {
        match self.documents_of(index).get(id) {
            None => Answer::json(404, &json!({"found": false})),
            Some(document) => {
                Answer::json(200, &json!({"found": true, "_source": document.source}))
            }
        }
    }

    fn put(&mut self, index: &str, id: &str, request: &Request) -> Answer {
        let source = self.json(request);
        self.documents_of(index);
        self.store(index, id, source);
        Answer::json(201, &json!({"result": "created"}))
    }
}
