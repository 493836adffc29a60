//! The two shapes of a URL's parts: the fields of an object, and a list of names and values.

use super::json_text::{quoted, string, text};
use super::object::{Key, Object};

/// The name of a part, as it is written in either shape. Made by [`part!`].
#[derive(Clone, Copy)]
pub(super) struct PartName {
    pub(super) key: Key,
    pub(super) name: &'static str,
    /// The beginning of the entry of a list, up to the value.
    pub(super) entry: &'static str,
}

/// The name of a part, concatenated at compile time.
macro_rules! part {
    ($name:literal) => {
        $crate::record::part_output::PartName {
            key: $crate::record::object::field!($name),
            name: $name,
            entry: concat!("{\"name\":\"", $name, "\",\"value\":"),
        }
    };
}
pub(super) use part;

/// Receiver of the parts of a URL.
pub(super) enum PartOutput<'p, 'o> {
    /// Fields of an object: numbers and lists keep their type, absent parts are null.
    Object(&'p mut Object<'o>),
    /// Entries of a list: values are texts, a list gives one entry for each item, absent parts are left out.
    List(&'p mut PartList<'o>),
}

impl PartOutput<'_, '_> {
    /// Writes a part.
    pub(super) fn text(&mut self, name: PartName, bytes: &[u8]) {
        match self {
            PartOutput::Object(object) => object.text(name.key, bytes),
            PartOutput::List(list) => list.entry(name, bytes),
        }
    }

    /// Writes a part, if there is one.
    pub(super) fn optional_text(&mut self, name: PartName, bytes: Option<&[u8]>) {
        match (self, bytes) {
            (PartOutput::Object(object), bytes) => object.optional_text(name.key, bytes),
            (PartOutput::List(list), Some(bytes)) => list.entry(name, bytes),
            (PartOutput::List(_), None) => {}
        }
    }

    /// Writes a list of parts.
    pub(super) fn texts<'t>(&mut self, name: PartName, texts: impl IntoIterator<Item = &'t [u8]>) {
        match self {
            PartOutput::Object(object) => object.texts(name.key, texts),
            PartOutput::List(list) => texts.into_iter().for_each(|text| list.entry(name, text)),
        }
    }

    /// Writes a name that is not part of the URL's text.
    pub(super) fn name(&mut self, name: PartName, value: &'static str) {
        match self {
            PartOutput::Object(object) => object.name(name.key, value),
            PartOutput::List(list) => list.entry_of_name(name, value),
        }
    }

    /// Writes a port, if there is one.
    pub(super) fn optional_port(&mut self, name: PartName, port: Option<u16>) {
        match (self, port) {
            (PartOutput::Object(object), port) => object.optional_number(name.key, port),
            (PartOutput::List(list), Some(port)) => {
                list.entry_of_name(name, itoa(port, &mut [0; 5]));
            }
            (PartOutput::List(_), None) => {}
        }
    }

    /// Writes `true` or `false`.
    pub(super) fn flag(&mut self, name: PartName, flag: bool) {
        match self {
            PartOutput::Object(object) => object.value(name.key, &flag),
            PartOutput::List(list) => list.entry_of_name(name, if flag { "true" } else { "false" }),
        }
    }

    /// Writes one byte as a character, if there is one.
    pub(super) fn optional_char(&mut self, name: PartName, byte: Option<u8>) {
        let text = byte.map(char::from);
        match (self, text) {
            (PartOutput::Object(object), text) => object.value(name.key, &text),
            (PartOutput::List(list), Some(text)) => {
                list.entry_of_other_text(name, text.encode_utf8(&mut [0; 4]));
            }
            (PartOutput::List(_), None) => {}
        }
    }

    /// Writes a list of names and values; in a list as `name=value`.
    pub(super) fn assignments<'t>(
        &mut self,
        name: PartName,
        assignments: impl IntoIterator<Item = [&'t [u8]; 2]>,
    ) {
        match self {
            PartOutput::Object(object) => {
                let pairs: Vec<_> = assignments.into_iter().map(|pair| pair.map(text)).collect();
                object.value(name.key, &pairs);
            }
            PartOutput::List(list) => assignments
                .into_iter()
                .for_each(|pair| list.entry(name, &pair.join(&b'='))),
        }
    }
}

/// Receiver of names and values.
pub(super) enum PartList<'o> {
    /// A list of `{"name","value"}` that is being written.
    Json {
        out: &'o mut Vec<u8>,
        /// `true` if no part of the URL needs escapes.
        is_plain: bool,
        is_empty: bool,
    },
    /// A function.
    Values(&'o mut dyn FnMut(&'static str, &[u8])),
}

impl PartList<'_> {
    /// A list of JSON at the end of `out`. With `is_plain` no part of the URL needs escapes.
    pub(super) fn json(out: &mut Vec<u8>, is_plain: bool) -> PartList<'_> {
        PartList::Json {
            out,
            is_plain,
            is_empty: true,
        }
    }

    /// Appends an entry whose value is a part of the URL.
    pub(super) fn entry(&mut self, name: PartName, part: &[u8]) {
        let is_plain = matches!(self, PartList::Json { is_plain: true, .. });
        self.append(name, part, |out| string(part, is_plain, out));
    }

    /// Appends an entry whose value is not taken from the URL.
    pub(super) fn entry_of_other_text(&mut self, name: PartName, value: &str) {
        let value = value.as_bytes();
        self.append(name, value, |out| string(value, false, out));
    }

    /// Appends an entry whose value needs no escapes.
    pub(super) fn entry_of_name(&mut self, name: PartName, value: &str) {
        let value = value.as_bytes();
        self.append(name, value, |out| quoted(value, out));
    }

    /// Appends an entry; `write` appends its value as JSON.
    #[inline]
    fn append(&mut self, name: PartName, value: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        match self {
            PartList::Json { out, is_empty, .. } => {
                if !std::mem::take(is_empty) {
                    out.push(b',');
                }
                out.extend_from_slice(name.entry.as_bytes());
                write(out);
                out.push(b'}');
            }
            PartList::Values(put) => put(name.name, value),
        }
    }
}

/// Returns the decimal digits of a port, without an allocation.
fn itoa(mut port: u16, digits: &mut [u8; 5]) -> &str {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (port % 10) as u8;
        port /= 10;
        if port == 0 {
            break;
        }
    }
    std::str::from_utf8(&digits[at..]).expect("digits are ASCII")
}
