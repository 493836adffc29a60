//! Records as Python dictionaries.
//!
//! For speed, field names are existing objects, each dictionary starts as a copy of one with the
//! same fields, and a text equal to that of the same field in the previous record is reused.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use urlspool_record::record::{FieldId, RECORD_FIELDS, Record, RecordValue};

/// Creates dictionaries with the same fields, and caches objects that recur.
pub(crate) struct DictMaker {
    record: Object,
}

/// An object in the table of fields, or the record itself.
struct Object {
    members: Vec<Member>,
    /// A dictionary of the members, all with the value `None`.
    template: Py<PyDict>,
}

/// A field of an object.
struct Member {
    name: Py<PyString>,
    content: Content,
}

enum Content {
    Value {
        id: FieldId,
        known: KnownText,
    },
    Object {
        null_mark: Option<FieldId>,
        object: Object,
    },
    /// A list of objects.
    List {
        id: FieldId,
        item: Object,
    },
    /// A field of a list item.
    OfItem(KnownText),
}

/// The last text of a field, unless it is long.
#[derive(Default)]
struct KnownText {
    text: String,
    object: Option<Py<PyString>>,
}

/// Maximum length of a text that is kept for the next record.
const KNOWN_TEXT_BYTES: usize = 256;

impl DictMaker {
    /// Creates a maker of dictionaries with the fields `chosen`; `None` means whole records.
    pub(crate) fn new(py: Python<'_>, chosen: Option<&[FieldId]>) -> PyResult<DictMaker> {
        let record = Object::new(py, None, chosen.unwrap_or(FieldId::ALL))?;
        Ok(DictMaker { record })
    }

    /// Returns the dictionaries of records.
    pub(crate) fn dicts<'py>(
        &mut self,
        py: Python<'py>,
        records: &[Record],
    ) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for record in records {
            list.append(self.record.dict(py, record)?)?;
        }
        Ok(list)
    }
}

impl Object {
    /// Creates the object with this name and the chosen fields. Recurses to the depth of the table.
    fn new(py: Python<'_>, name: Option<&str>, chosen: &[FieldId]) -> PyResult<Object> {
        let mut members = Vec::new();
        let template = PyDict::new(py);
        for field in RECORD_FIELDS.iter().filter(|field| field.parent() == name) {
            let object = || Object::new(py, Some(field.name), chosen);
            let has_fields = RECORD_FIELDS
                .iter()
                .any(|other| other.parent() == Some(field.name));
            let content = match field.id() {
                Some(id) if !chosen.contains(&id) => continue,
                Some(id) if has_fields => Content::List {
                    id,
                    item: object()?,
                },
                Some(id) => {
                    let known = KnownText::default();
                    Content::Value { id, known }
                }
                None if has_fields => Content::Object {
                    null_mark: field.null_mark(),
                    object: object()?,
                },
                None => Content::OfItem(KnownText::default()),
            };
            if matches!(&content, Content::Object { object, .. } if object.members.is_empty()) {
                continue;
            }
            let name = PyString::intern(py, field.key());
            template.set_item(&name, py.None())?;
            let name = name.unbind();
            members.push(Member { name, content });
        }
        let template = template.unbind();
        Ok(Object { members, template })
    }

    /// Returns the dictionary of the object in a record. Recurses to the depth of the table.
    fn dict<'py>(&mut self, py: Python<'py>, record: &Record) -> PyResult<Bound<'py, PyDict>> {
        let dict = self.template.bind(py).copy()?;
        for member in &mut self.members {
            let value = match &mut member.content {
                Content::Value { id, known } => known.object(py, record.value(*id))?,
                Content::Object { null_mark, .. } if record.is_null_object(*null_mark) => None,
                Content::Object { object, .. } => Some(object.dict(py, record)?.into_any()),
                Content::List { id, item } => match record.value(*id) {
                    RecordValue::List(items) => Some(item.list(py, items)?.into_any()),
                    _ => None,
                },
                Content::OfItem(_) => None,
            };
            if let Some(value) = value {
                dict.set_item(member.name.bind(py), value)?;
            }
        }
        Ok(dict)
    }

    /// Returns the dictionaries of the items of a list.
    fn list<'py>(
        &mut self,
        py: Python<'py>,
        items: &[RecordValue],
    ) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for values in items.chunks(self.members.len()) {
            let dict = self.template.bind(py).copy()?;
            for (member, value) in self.members.iter_mut().zip(values) {
                let Content::OfItem(known) = &mut member.content else {
                    continue;
                };
                if let Some(value) = known.object(py, value)? {
                    dict.set_item(member.name.bind(py), value)?;
                }
            }
            list.append(dict)?;
        }
        Ok(list)
    }
}

impl KnownText {
    /// Returns the Python object of a value; `None` for null.
    fn object<'py>(
        &mut self,
        py: Python<'py>,
        value: &RecordValue,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(Some(match value {
            RecordValue::Boolean(value) => value.into_bound_py_any(py)?,
            RecordValue::Integer(number) => number.into_bound_py_any(py)?,
            RecordValue::Number(number) => number.into_bound_py_any(py)?,
            RecordValue::Text(text) => self.text(py, text),
            RecordValue::List(items) => {
                let list = PyList::empty(py);
                for item in items {
                    if let Some(text) = item.text() {
                        list.append(self.text(py, text))?;
                    }
                }
                list.into_any()
            }
            RecordValue::Null => return Ok(None),
        }))
    }

    fn text<'py>(&mut self, py: Python<'py>, text: &str) -> Bound<'py, PyAny> {
        if let Some(object) = &self.object
            && self.text == text
        {
            return object.bind(py).clone().into_any();
        }
        let object = PyString::new(py, text);
        if text.len() <= KNOWN_TEXT_BYTES {
            self.text.clear();
            self.text.push_str(text);
            self.object = Some(object.clone().unbind());
        }
        object.into_any()
    }
}
