//! Records as Python's dictionaries, from the lines of JSON in which the crate writes them.
//!
//! Takes less than half of the time of Python's `json`: names of fields are objects that exist, a dictionary begins as a copy of
//! one with the same fields, and a text that the record before had in the same field is not made again.

use std::fmt;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use urlspool::internals::record::RECORD_FIELDS;

/// Reader of records that all have the same fields, with the objects that it makes again and again.
pub(crate) struct RecordReader {
    /// The texts that were read last, by field.
    texts: Vec<KnownText>,
    /// Dictionaries of nulls, by the field that holds such an object. The last is that of whole records.
    templates: Vec<Option<Py<PyDict>>>,
}

#[derive(Default)]
struct KnownText {
    text: String,
    object: Option<Py<PyString>>,
}

impl Default for RecordReader {
    fn default() -> RecordReader {
        let fields = RECORD_FIELDS.len();
        RecordReader {
            texts: (0..fields).map(|_| KnownText::default()).collect(),
            templates: (0..=fields).map(|_| None).collect(),
        }
    }
}

impl RecordReader {
    /// Returns the records in lines of JSON, one for each line.
    pub(crate) fn records<'py>(
        &mut self,
        py: Python<'py>,
        lines: &[u8],
    ) -> PyResult<Bound<'py, PyList>> {
        let text = str::from_utf8(lines).map_err(runtime_error)?;
        let list = PyList::empty(py);
        for line in text.lines() {
            let mut values = Values {
                py,
                reader: &mut *self,
                names: FieldNames::new(py),
                place: RECORD_FIELDS.len(),
            };
            let mut line = serde_json::Deserializer::from_str(line);
            let record = values.deserialize(&mut line).map_err(runtime_error)?;
            list.append(record)?;
        }
        Ok(list)
    }
}

fn runtime_error(error: impl fmt::Display) -> PyErr {
    PyRuntimeError::new_err(format!("cannot read a record: {error}"))
}

/// Reader of the values of one record.
struct Values<'py, 'r> {
    py: Python<'py>,
    reader: &'r mut RecordReader,
    names: FieldNames,
    /// Index of the field whose value is next; of none for the record itself.
    place: usize,
}

impl<'py> Values<'py, '_> {
    /// Begins an object at a place where others had the same fields, or a first one.
    fn begin_object(&self, place: usize) -> PyResult<Object<'py>> {
        Ok(match &self.reader.templates[place] {
            Some(template) => Object {
                dict: template.bind(self.py).copy()?,
                is_first: false,
            },
            None => Object {
                dict: PyDict::new(self.py),
                is_first: true,
            },
        })
    }

    /// Returns the dictionary, and keeps the fields of the first at its place.
    fn end_object(&mut self, place: usize, object: Object<'py>) -> PyResult<Bound<'py, PyDict>> {
        if object.is_first {
            let template = object.dict.copy()?;
            for name in object.dict.keys() {
                template.set_item(name, self.py.None())?;
            }
            self.reader.templates[place] = Some(template.unbind());
        }
        Ok(object.dict)
    }
}

/// A dictionary that is being filled.
struct Object<'py> {
    dict: Bound<'py, PyDict>,
    /// `true` if it has no fields yet, else all with null.
    is_first: bool,
}

impl<'de, 'py> DeserializeSeed<'de> for &mut Values<'py, '_> {
    type Value = Bound<'py, PyAny>;

    /// Reads a value. Recurses to the depth of a record, which is three.
    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de, 'py> Visitor<'de> for &mut Values<'py, '_> {
    type Value = Bound<'py, PyAny>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(self.py.None().into_bound(self.py))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        value.into_bound_py_any(self.py).map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        value.into_bound_py_any(self.py).map_err(E::custom)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        value.into_bound_py_any(self.py).map_err(E::custom)
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        let Some(known) = self.reader.texts.get_mut(self.place) else {
            return Ok(PyString::new(self.py, value).into_any());
        };
        if let Some(object) = &known.object
            && known.text == value
        {
            return Ok(object.bind(self.py).clone().into_any());
        }
        let object = PyString::new(self.py, value);
        if value.len() <= KNOWN_TEXT_BYTES {
            known.text.clear();
            known.text.push_str(value);
            known.object = Some(object.clone().unbind());
        }
        Ok(object.into_any())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let list = PyList::empty(self.py);
        let place = self.place;
        while let Some(item) = items.next_element_seed(&mut *self)? {
            list.append(item).map_err(A::Error::custom)?;
            self.place = place;
        }
        Ok(list.into_any())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let place = self.place;
        let object = self.begin_object(place).map_err(A::Error::custom)?;
        while let Some(index) = entries.next_key_seed(&mut self.names)? {
            self.place = index;
            let value = entries.next_value_seed(&mut *self)?;
            if object.is_first || !value.is_none() {
                let name = self.names.object(self.py, index);
                let set = object.dict.set_item(name, value);
                set.map_err(A::Error::custom)?;
            }
        }
        let dict = self.end_object(place, object).map_err(A::Error::custom)?;
        Ok(dict.into_any())
    }
}

/// Maximum length of a text that is kept for the next record.
const KNOWN_TEXT_BYTES: usize = 256;

/// Names of a record's fields. They are looked up in the order in which records are written: the next name is nearly always
/// among the first that are compared.
struct FieldNames {
    names: &'static [FieldName],
    /// Index of the name after the one that was found last.
    next: usize,
}

struct FieldName {
    text: &'static str,
    object: Py<PyString>,
}

impl FieldNames {
    fn new(py: Python<'_>) -> FieldNames {
        static NAMES: PyOnceLock<Vec<FieldName>> = PyOnceLock::new();
        let names = NAMES.get_or_init(py, || {
            let names = RECORD_FIELDS.iter().map(|field| field.key());
            let named = |text| FieldName {
                text,
                object: PyString::intern(py, text).unbind(),
            };
            names.map(named).collect()
        });
        FieldNames { names, next: 0 }
    }

    /// Returns the index of the next field with this name.
    fn find(&mut self, name: &str) -> Option<usize> {
        let (before, after) = self.names.split_at(self.next);
        let mut rest = after.iter().chain(before);
        let skipped = rest.position(|known| known.text == name)?;
        let index = (self.next + skipped) % self.names.len();
        self.next = (index + 1) % self.names.len();
        Some(index)
    }

    fn object<'py>(&self, py: Python<'py>, index: usize) -> &Bound<'py, PyString> {
        self.names[index].object.bind(py)
    }
}

impl<'de> DeserializeSeed<'de> for &mut FieldNames {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_str(self)
    }
}

impl Visitor<'_> for &mut FieldNames {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        let error = || E::custom(format_args!("unknown field {name}"));
        self.find(name).ok_or_else(error)
    }
}
