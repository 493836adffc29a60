//! The writer of records: one line for each in the format of a run, or one value.

use super::FoundRecord;
use super::format::LineFormat;
use super::json_fields::Caches;
use super::json_value::JsonSink;
use super::owned::{Record, RecordBuilder};
use super::value::{MessageTail, RecordValues};

/// Writes the lines of records in one format, or makes values of them. Fields that records share
/// are encoded once: those of a message until the next begins, those of a URL as long as they are
/// cached.
#[derive(Debug)]
pub struct RecordWriter {
    format: LineFormat,
    tail: MessageTail,
    caches: Caches,
    /// The maker of values, if there are no lines.
    builder: RecordBuilder,
}

impl RecordWriter {
    /// A writer of lines in this format.
    #[must_use]
    pub fn new(format: &LineFormat) -> RecordWriter {
        RecordWriter {
            format: format.clone(),
            tail: MessageTail::Complete,
            caches: Caches::default(),
            builder: RecordBuilder::new(format.values().unwrap_or_default()),
        }
    }

    /// Begins a message, which the next records belong to.
    pub fn begin(&mut self, tail: MessageTail) {
        self.caches.begin_message();
        self.builder.begin_message();
        self.tail = tail;
    }

    /// Appends the line of `record`, of which no repetition was left out.
    ///
    /// Linear in the length of the line.
    pub fn write(&mut self, record: &FoundRecord<'_>, out: &mut Vec<u8>) {
        let values = RecordValues::new(record, self.tail);
        match self.format.json() {
            Some(fields) => {
                fields.write(&values, &mut self.caches, &mut JsonSink::new(out));
            }
            None => _ = self.format.write_text(&values, out),
        }
    }

    /// Appends the line of `record` without the number of its occurrences, which is known when the
    /// message ends. Returns the offset in `out` at which [`LineFormat::write_count`] must insert
    /// it; `None` if the format does not write it.
    ///
    /// Linear in the length of the line.
    #[must_use]
    pub fn write_open(&mut self, record: &FoundRecord<'_>, out: &mut Vec<u8>) -> Option<usize> {
        let values = RecordValues::new(record, self.tail);
        match self.format.json() {
            Some(fields) => {
                let mut sink = JsonSink::open(out);
                fields.write(&values, &mut self.caches, &mut sink);
                sink.count_at()
            }
            None => self.format.write_text(&values, out),
        }
    }

    /// Returns the record as a value, with the fields of [`LineFormat::Values`]; without a number of
    /// occurrences. In another format all fields are null.
    #[must_use]
    pub fn record(&mut self, record: &FoundRecord<'_>) -> Record {
        self.builder.record(&RecordValues::new(record, self.tail))
    }
}

/// A writer of whole records as JSON.
impl Default for RecordWriter {
    fn default() -> RecordWriter {
        RecordWriter::new(&LineFormat::default())
    }
}
