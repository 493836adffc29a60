//! The indexes of the checking server, and the answers to requests for them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::http::{Answer, Request};

/// Indexes, templates and complaints.
#[derive(Debug)]
pub(crate) struct Documents {
    pub(crate) indexes: BTreeMap<String, Index>,
    templates: BTreeMap<String, Value>,
    /// Requests that a server would refuse, or that break the rules of a load.
    pub(crate) complaints: Vec<String>,
    /// Failures that a copy of an index reports.
    pub(crate) copy_failures: Value,
    /// `true` if a copy lacks a document, without a failure.
    pub(crate) loses_copies: bool,
    /// `true` if a disk is at the flood-stage watermark: nothing is written.
    pub(crate) is_disk_full: bool,
    /// Largest body, in bytes, after it was unpacked.
    pub(crate) max_bytes: usize,
    seq_no: u64,
    /// Number of indexes that were created.
    created: u64,
}

/// An index.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// The identifier that no other index has.
    uuid: String,
    mappings: Value,
    aliases: BTreeSet<String>,
    pub(crate) documents: BTreeMap<String, Document>,
}

/// A document.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) source: Value,
    seq_no: u64,
    /// `true` if a query finds it.
    is_refreshed: bool,
}

impl Index {
    /// Removes the aliases that lead to the index.
    pub(crate) fn forget_aliases(&mut self) {
        self.aliases.clear();
    }
}

/// The reason for which a full disk refuses a document.
const DISK_FULL: &str = "index [mail] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has \
                         read-only-allow-delete block];";

impl Default for Documents {
    fn default() -> Documents {
        Documents {
            indexes: BTreeMap::new(),
            templates: BTreeMap::new(),
            complaints: Vec::new(),
            copy_failures: json!([]),
            loses_copies: false,
            is_disk_full: false,
            max_bytes: 100 << 20,
            seq_no: 0,
            created: 0,
        }
    }
}

impl Documents {
    /// Returns the documents of an index, by their identifiers.
    pub(crate) fn of(&self, index: &str) -> BTreeMap<&str, &Value> {
        let documents = self
            .indexes
            .get(self.index_of(index))
            .into_iter()
            .flat_map(|index| &index.documents);
        documents
            .map(|(id, document)| (&**id, &document.source))
            .collect()
    }

    /// Returns the index that a name leads to: that of this name, or the one behind this alias.
    pub(crate) fn index_of<'n>(&'n self, name: &'n str) -> &'n str {
        let behind = |(_, index): &(&String, &Index)| index.aliases.contains(name);
        match self.indexes.iter().find(behind) {
            Some((index, _)) if !self.indexes.contains_key(name) => index,
            _ => name,
        }
    }

    /// Adds or replaces a document.
    pub(crate) fn store(&mut self, index: &str, id: &str, source: Value) -> u64 {
        self.seq_no += 1;
        let document = Document {
            source,
            seq_no: self.seq_no,
            is_refreshed: false,
        };
        self.index(index).documents.insert(id.to_owned(), document);
        self.seq_no
    }

    /// Returns an index, which is created if it is missing.
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

    /// Answers a request. `refuse` gives the status with which a document is refused for now.
    pub(super) fn answer(
        &mut self,
        request: &Request,
        refuse: impl FnMut() -> Option<u16>,
    ) -> Answer {
        let mut parts: Vec<_> = request.path.trim_matches('/').split('/').collect();
        let named = self.index_of(parts[0]).to_owned();
        // A new index has its own name.
        if (&*request.method, parts.len()) != ("PUT", 1) {
            parts[0] = &named;
        }
        match (&*request.method, &*parts) {
            ("PUT", ["_index_template", name]) => self.put_template(name, request),
            ("PUT", [index]) => self.create_index(index, request),
            ("GET", [index]) => self.describe(index),
            ("DELETE", [index]) => self.delete_index(index),
            ("GET", [index, "_mapping"]) => self.mapping(index),
            ("GET", [index, "_count"]) => {
                let count = self.documents_of(index).values();
                Answer::json(
                    200,
                    &json!({"count": count.filter(|found| found.is_refreshed).count()}),
                )
            }
            ("POST", ["_reindex"]) => self.copy(request),
            ("GET", ["_tasks", "node%3A1"]) => {
                let response = json!({"failures": self.copy_failures});
                Answer::json(200, &json!({"completed": true, "response": response}))
            }
            ("POST", ["_aliases"]) => self.move_alias(request),
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
            ("DELETE", [index, "_doc", id]) => self.remove(index, id, request),
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

    fn put_template(&mut self, name: &str, request: &Request) -> Answer {
        let template = self.json(request);
        self.templates.insert(name.to_owned(), template);
        Answer::json(200, &json!({"acknowledged": true}))
    }

    fn create_index(&mut self, name: &str, request: &Request) -> Answer {
        let body = self.json(request);
        if self.indexes.contains_key(name) {
            return Answer::error(400, "resource_already_exists_exception", "it exists");
        }
        let is_for = |template: &&Value| template["index_patterns"] == json!([name]);
        let template = self.templates.values().find(is_for);
        if template.is_none() && !name.ends_with("-segments") {
            return self.wrong(format!("no template for {name}"));
        }
        let aliases = body["aliases"].as_object().into_iter().flatten();
        let aliases: BTreeSet<_> = aliases.map(|(alias, _)| alias.clone()).collect();
        if let Some(alias) = aliases
            .iter()
            .find(|alias| self.indexes.contains_key(*alias))
        {
            return self.wrong(format!("{alias} is an index"));
        }
        let mappings = body["mappings"].clone();
        let index = self.index(name);
        index.mappings = mappings;
        index.aliases = aliases;
        Answer::json(200, &json!({"acknowledged": true, "index": name}))
    }

    fn mapping(&self, name: &str) -> Answer {
        match self.indexes.get(name) {
            Some(index) => Answer::json(200, &json!({name: {"mappings": index.mappings}})),
            None => Answer::error(404, "index_not_found_exception", "no such index"),
        }
    }

    /// Describes an index, or those whose names begin as a pattern says.
    fn describe(&self, name: &str) -> Answer {
        let describe = |(name, index): (&String, &Index)| {
            let settings = json!({"index": {"uuid": index.uuid}});
            let described =
                json!({"settings": settings, "mappings": {"_meta": index.mappings["_meta"]}});
            (name.clone(), described)
        };
        let found: serde_json::Map<_, _> = match name.strip_suffix('*') {
            Some(start) => {
                let matching = |(name, _): &(&String, &Index)| name.starts_with(start);
                self.indexes.iter().filter(matching).map(describe).collect()
            }
            None => self
                .indexes
                .get_key_value(name)
                .into_iter()
                .map(describe)
                .collect(),
        };
        if found.is_empty() && !name.ends_with('*') {
            return Answer::error(404, "index_not_found_exception", "no such index");
        }
        Answer::json(200, &Value::Object(found))
    }

    fn delete_index(&mut self, name: &str) -> Answer {
        match self.indexes.remove(name) {
            Some(_) => Answer::json(200, &json!({"acknowledged": true})),
            None => Answer::error(404, "index_not_found_exception", "no such index"),
        }
    }

    /// Copies documents that a query finds. A copy that is to fail lacks one.
    fn copy(&mut self, request: &Request) -> Answer {
        let body = self.json(request);
        let name = |side: &str| body[side]["index"].as_str().unwrap_or_default().to_owned();
        let (source, dest) = (name("source"), name("dest"));
        if !self.indexes.contains_key(&dest)
            || request.parameter("wait_for_completion") != Some("false")
        {
            return self.wrong(format!("_reindex: {body}"));
        }
        let lost = usize::from(self.copy_failures != json!([]) || self.loses_copies);
        let found = self.documents_of(&source).iter();
        let found = found.filter(|(_, document)| document.is_refreshed);
        let found: Vec<_> = found
            .map(|(id, document)| (id.clone(), document.source.clone()))
            .collect();
        for (id, source) in found.into_iter().skip(lost) {
            self.store(&dest, &id, source);
        }
        Answer::json(200, &json!({"task": "node:1"}))
    }

    /// Applies all actions, or none.
    fn move_alias(&mut self, request: &Request) -> Answer {
        let body = self.json(request);
        let actions = body["actions"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        for action in &actions {
            let (remove, delete) = (&action["remove"], text(&action["remove_index"]["index"]));
            let index = self.indexes.get(&text(&remove["index"]));
            let has_alias =
                index.is_some_and(|index| index.aliases.contains(&text(&remove["alias"])));
            if !remove.is_null() && !has_alias {
                return Answer::error(404, "aliases_not_found_exception", "no such alias");
            }
            if !delete.is_empty() && !self.indexes.contains_key(&delete) {
                return Answer::error(404, "index_not_found_exception", "no such index");
            }
        }
        for action in &actions {
            let (add, remove) = (&action["add"], &action["remove"]);
            if let Some(index) = self.indexes.get_mut(&text(&remove["index"])) {
                index.aliases.remove(&text(&remove["alias"]));
            }
            self.indexes.remove(&text(&action["remove_index"]["index"]));
            if let Some(index) = self.indexes.get_mut(&text(&add["index"])) {
                index.aliases.insert(text(&add["alias"]));
            }
        }
        Answer::json(200, &json!({"acknowledged": true}))
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

    /// Creates a document. Returns the result of the item.
    fn create(
        &mut self,
        name: &str,
        action: &str,
        source: &str,
        mut refuse: impl FnMut() -> Option<u16>,
    ) -> Value {
        let failed = |status: u16, kind: &str| json!({"status": status, "error": {"type": kind, "reason": "a reason"}});
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
        if self.is_disk_full {
            let error = json!({"type": "cluster_block_exception", "reason": DISK_FULL});
            return json!({"status": 429, "error": error});
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

    /// Removes the documents that a query of mailboxes and digests finds.
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
            Some(document) => Answer::json(
                200,
                &json!({"_seq_no": document.seq_no, "_primary_term": 1, "found": true, "_source": document.source}),
            ),
        }
    }

    /// Returns `true` if the document has the version that the request names, if it names any.
    fn is_expected(&mut self, index: &str, id: &str, request: &Request) -> bool {
        let Some(expected) = request.parameter("if_seq_no") else {
            return true;
        };
        let is_term = request.parameter("if_primary_term") == Some("1");
        let found = self.documents_of(index).get(id);
        is_term && found.is_some_and(|found| found.seq_no.to_string() == expected)
    }

    fn put(&mut self, index: &str, id: &str, request: &Request) -> Answer {
        let source = self.json(request);
        if !self.is_expected(index, id, request) {
            return Answer::error(409, "version_conflict_engine_exception", "another version");
        }
        self.documents_of(index);
        let seq_no = self.store(index, id, source);
        Answer::json(201, &json!({"_seq_no": seq_no, "_primary_term": 1}))
    }

    fn remove(&mut self, index: &str, id: &str, request: &Request) -> Answer {
        if !self.is_expected(index, id, request) {
            return Answer::error(409, "version_conflict_engine_exception", "another version");
        }
        self.documents_of(index).remove(id);
        Answer::json(200, &json!({"result": "deleted"}))
    }
}
