//! Chosen fields of a record as JSON, in the order and the shape that they have in the whole record.

use super::field_id::FieldId;
use super::field_value::FieldValue;
use super::value_of::{is_in_null, value_of};
use crate::record::Record;

/// Chosen fields, resolved to the bytes between their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonFields {
    chosen: Vec<FieldId>,
    nodes: Vec<Node>,
}

/// A field or an object, with its key and the comma before it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Value {
        key: String,
        field: FieldId,
    },
    Object {
        key: String,
        /// One of its fields.
        first: FieldId,
        nodes: Vec<Node>,
    },
}

impl JsonFields {
    /// Resolves fields, in any order.
    #[must_use]
    pub fn new(fields: &[FieldId]) -> JsonFields {
        let is_chosen = |field: &FieldId| fields.contains(field);
        let all = FieldId::ALL.iter().copied();
        let chosen: Vec<FieldId> = all.filter(is_chosen).collect();
        let mut nodes = Vec::new();
        for group in
            chosen.chunk_by(|one, other| one.parent().is_some() && one.parent() == other.parent())
        {
            let node = match group[0].parent() {
                None => value_node(group[0], nodes.is_empty()),
                Some(parent) => Node::Object {
                    key: key(parent, nodes.is_empty()),
                    first: group[0],
                    nodes: members(group),
                },
            };
            nodes.push(node);
        }
        JsonFields { chosen, nodes }
    }

    /// The fields, in the order of the record.
    #[must_use]
    pub fn chosen(&self) -> &[FieldId] {
        &self.chosen
    }

    /// Appends the line of a record. Returns the offset at which the count is to be inserted, if it is chosen.
    pub(super) fn write(&self, record: &Record<'_>, out: &mut Vec<u8>) -> Option<usize> {
        let mut count_at = None;
        write_object(&self.nodes, record, out, &mut count_at);
        out.push(b'\n');
        count_at
    }
}

/// The nodes of fields that have the same parent.
fn members(group: &[FieldId]) -> Vec<Node> {
    let nodes = group.iter().enumerate();
    nodes
        .map(|(index, field)| value_node(*field, index == 0))
        .collect()
}

fn value_node(field: FieldId, is_first: bool) -> Node {
    Node::Value {
        key: key(field.key(), is_first),
        field,
    }
}

fn key(name: &str, is_first: bool) -> String {
    let comma = if is_first { "" } else { "," };
    format!("{comma}\"{name}\":")
}

fn write_object(
    nodes: &[Node],
    record: &Record<'_>,
    out: &mut Vec<u8>,
    count_at: &mut Option<usize>,
) {
    out.push(b'{');
    for node in nodes {
        match node {
            Node::Value { key, field } => {
                out.extend_from_slice(key.as_bytes());
                match value_of(*field, record) {
                    FieldValue::Count => *count_at = Some(out.len()),
                    value => value.write_json(out),
                }
            }
            Node::Object { key, first, nodes } => {
                out.extend_from_slice(key.as_bytes());
                if is_in_null(*first, record) {
                    out.extend_from_slice(b"null");
                } else {
                    write_object(nodes, record, out, count_at);
                }
            }
        }
    }
    out.push(b'}');
}
