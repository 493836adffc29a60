//! Parquet: records become row groups of columns, in one file or in a folder of files per year.
//!
//! The files are written under a temporary name, like those of other formats. A file left after an
//! error or an interruption is valid: it contains the first records.

mod dataset;

use dataset::Dataset;

use std::io::{self, Write};
use std::path::Path;

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::{FileSink, LeftOutput, Partition, Sink};
use urlspool_record::record::{Columns, FieldId, Record};
use urlspool_sources::walk::DeviceInode;
use urlspool_text::limits::{PARQUET_GROUP_BYTES, PARQUET_GROUP_ROWS};

/// Creates a file at `path`, or a partitioned folder, for records with these fields.
pub(super) fn create(
    path: &Path,
    fields: &[FieldId],
    partition: Option<Partition>,
) -> io::Result<Box<dyn Sink>> {
    let columns = Columns::new(Some(fields));
    Ok(match partition {
        None => {
            let writer = GroupWriter::create(path, &columns)?;
            Box::new(ParquetFile { columns, writer })
        }
        Some(Partition::Year) => Box::new(Dataset::create(path, columns)?),
    })
}

/// Sink that writes records to one Parquet file.
struct ParquetFile {
    columns: Columns,
    writer: GroupWriter,
}

impl Sink for ParquetFile {
    fn put_records(&mut self, records: Vec<Record>) -> io::Result<()> {
        self.writer.write(&mut self.columns, &records)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer.complete()
    }

    fn leave(&mut self) -> io::Result<Option<LeftOutput>> {
        if self.writer.records == 0 {
            self.discard();
            return Ok(None);
        }
        self.writer.close()?;
        let records = Some(self.writer.records);
        let left = self.writer.writer.inner_mut().leave()?;
        Ok(left.map(|left| LeftOutput { records, ..left }))
    }

    fn discard(&mut self) {
        self.writer.writer.inner_mut().discard();
    }

    fn id(&self) -> Option<DeviceInode> {
        self.writer.writer.inner().id()
    }
}

/// Writer of row groups to one file.
struct GroupWriter {
    writer: ArrowWriter<FileSink>,
    /// Number of records written.
    records: u64,
    is_closed: bool,
}

impl GroupWriter {
    fn create(path: &Path, columns: &Columns) -> io::Result<GroupWriter> {
        let file = FileSink::create(path)?;
        let writer = ArrowWriter::try_new(file, columns.schema(), Some(properties()));
        Ok(GroupWriter {
            writer: writer.map_err(io_error)?,
            records: 0,
            is_closed: false,
        })
    }

    /// Writes records, converting them with `columns`.
    fn write(&mut self, columns: &mut Columns, mut records: &[Record]) -> io::Result<()> {
        while !records.is_empty() {
            records = columns.append(records);
            if let Some(batch) = columns.take_batch().map_err(io::Error::other)? {
                self.writer.write(&batch).map_err(io_error)?;
                self.records += batch.num_rows() as u64;
            }
            if PARQUET_GROUP_BYTES <= self.writer.memory_size() {
                self.end_group()?;
            }
        }
        Ok(())
    }

    /// Writes the row group to the file.
    fn end_group(&mut self) -> io::Result<()> {
        self.writer.flush().map_err(io_error)
    }

    /// Writes the footer and gives the file its name.
    fn complete(&mut self) -> io::Result<()> {
        self.close()?;
        self.writer.inner_mut().finish()
    }

    /// Writes the footer of the file, which makes it readable.
    fn close(&mut self) -> io::Result<()> {
        if !self.is_closed {
            self.is_closed = true;
            self.writer.finish().map_err(io_error)?;
        }
        Ok(())
    }
}

impl Write for FileSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes).map(|_| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Texts that differ in most records: a dictionary would be about as large as the values.
const DISTINCT_TEXTS: [&str; 10] = [
    "id",
    "url",
    "fragment",
    "path",
    "query",
    "key",
    "href",
    "parts.list.item.value",
    "raw",
    "anchor",
];

/// Other texts without an order: each row group spans the full range, as with [`DISTINCT_TEXTS`],
/// so no reader could skip one.
const UNORDERED_TEXTS: [&str; 5] = [
    "parts.list.item.name",
    "message.id",
    "message.digest",
    "message.subject",
    "message.references.list.item",
];

/// Numbers that grow from record to record: their differences are small, and a dictionary would be
/// as large as the values.
const GROWING_NUMBERS: [&str; 2] = ["source.start", "source.end"];

/// Numbers that grow from message to message.
const MESSAGE_NUMBERS: [&str; 2] = ["message.start", "message.end"];

fn properties() -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("urlspool ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(PARQUET_GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for name in DISTINCT_TEXTS.into_iter().chain(GROWING_NUMBERS) {
        properties = properties.set_column_dictionary_enabled(column_path(name), false);
    }
    for name in DISTINCT_TEXTS.into_iter().chain(UNORDERED_TEXTS) {
        properties =
            properties.set_column_statistics_enabled(column_path(name), EnabledStatistics::None);
    }
    for name in GROWING_NUMBERS.into_iter().chain(MESSAGE_NUMBERS) {
        properties =
            properties.set_column_encoding(column_path(name), Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}

fn column_path(name: &str) -> ColumnPath {
    ColumnPath::new(name.split('.').map(str::to_owned).collect())
}

/// Converts an error of the file or of the columns.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => source
            .downcast::<io::Error>()
            .map_or_else(io::Error::other, |error| *error),
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use parquet::arrow::ArrowSchemaConverter;

    use super::*;

    /// A column that is misspelt or renamed would silently get the default properties.
    #[test]
    fn columns_with_special_properties_are_columns_of_records() {
        let schema = Columns::new(None).schema();
        let schema = ArrowSchemaConverter::new().convert(&schema).unwrap();
        let columns: Vec<_> = schema
            .columns()
            .iter()
            .map(|column| column.path().string())
            .collect();
        let texts = DISTINCT_TEXTS.into_iter().chain(UNORDERED_TEXTS);
        for name in texts.chain(GROWING_NUMBERS).chain(MESSAGE_NUMBERS) {
            assert!(columns.iter().any(|column| column == name), "{name}");
        }
    }
}
