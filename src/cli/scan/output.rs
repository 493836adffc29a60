//! The outputs of a scan: opened before the scan starts, completed when it ends, left when it
//! fails.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::super::args::ScanArgs;
use super::super::error::{CommandError, Exit};
use super::super::terminal::{STDOUT, escaped_lines};
use urlspool_files::pipeline::Summary;
use urlspool_files::sink::{LeftOutput, OutputFile, OutputPlace, PARTIAL, Partition, with_end};
use urlspool_record::record::{
    FieldId, GrepStyle, HeaderRow, LineFormat, Record, Table, TableSyntax,
};
use urlspool_sources::walk::DeviceInode;
use urlspool_text::diagnostic::EscapeForm;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputContent {
    Records,
    Rejects,
    Events,
    Summary,
}

impl OutputContent {
    /// The option that names the output.
    pub(super) fn option(self) -> &'static str {
        match self {
            OutputContent::Records => "-o",
            OutputContent::Rejects => "--rejects",
            OutputContent::Events => "--events",
            OutputContent::Summary => "--summary",
        }
    }

    /// The noun for the output's lines.
    fn noun(self) -> &'static str {
        match self {
            OutputContent::Records => "records",
            OutputContent::Rejects => "rejects",
            OutputContent::Events => "events",
            OutputContent::Summary => "lines",
        }
    }
}

/// Compression of a file. Each batch of lines is a separate gzip member or Zstandard frame, so an
/// incomplete file can be decompressed too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputCompression {
    Gzip,
    Zstd,
}

impl OutputCompression {
    /// Returns the compression that a file extension stands for.
    pub(super) fn of_ending(ending: &str) -> Option<OutputCompression> {
        match ending {
            "gz" => Some(OutputCompression::Gzip),
            "zst" => Some(OutputCompression::Zstd),
            _ => None,
        }
    }

    /// Compresses a batch.
    fn pack(self, batch: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            OutputCompression::Gzip => {
                let mut packer = GzEncoder::new(Vec::new(), flate2::Compression::default());
                packer.write_all(batch)?;
                packer.finish()
            }
            OutputCompression::Zstd => zstd::bulk::compress(batch, zstd::DEFAULT_COMPRESSION_LEVEL),
        }
    }

    /// Decompresses a file.
    fn unpacked(self, file: File) -> io::Result<Box<dyn Read>> {
        match self {
            OutputCompression::Gzip => Ok(Box::new(MultiGzDecoder::new(file))),
            OutputCompression::Zstd => Ok(Box::new(zstd::Decoder::new(file)?)),
        }
    }
}

/// Encoding of the records in their output.
pub(super) enum RecordEncoding {
    Lines {
        format: LineFormat,
        /// The compression of a file.
        compression: Option<OutputCompression>,
    },
    /// Columns, in one file or in a folder of files.
    Parquet {
        /// The chosen fields.
        fields: Vec<FieldId>,
        partition: Option<Partition>,
    },
}

/// An output and its place.
pub(super) struct PlacedOutput {
    pub(super) content: OutputContent,
    pub(super) place: OutputPlace,
}

/// Returns the outputs that the arguments name.
pub(super) fn places(args: &ScanArgs) -> Vec<PlacedOutput> {
    let others = [
        (OutputContent::Rejects, &args.rejects),
        (OutputContent::Events, &args.events),
        (OutputContent::Summary, &args.summary),
    ];
    let others = others.into_iter().filter_map(|(content, path)| {
        let place = OutputPlace::of(path.as_deref()?);
        Some(PlacedOutput { content, place })
    });
    let records = PlacedOutput {
        content: OutputContent::Records,
        place: records_place(args),
    };
    std::iter::once(records).chain(others).collect()
}

/// Returns the place of the records; a null device if they are loaded.
pub(super) fn records_place(args: &ScanArgs) -> OutputPlace {
    match &args.output {
        _ if args.into.is_some() => nowhere(),
        Some(path) => OutputPlace::of(path),
        None => OutputPlace::Stdout,
    }
}

/// Keeps existing files of records and rejects, including those of earlier runs, for a run that
/// reads no input.
pub(super) fn leave_records(places: &mut [PlacedOutput]) {
    for PlacedOutput { content, place } in places {
        let holds_records = matches!(content, OutputContent::Records | OutputContent::Rejects);
        if holds_records && matches!(place, OutputPlace::File(_)) {
            *place = nowhere();
        }
    }
}

fn nowhere() -> OutputPlace {
    OutputPlace::Device("/dev/null".into())
}

struct Output {
    /// The name in messages.
    name: String,
    content: OutputContent,
    format: LineFormat,
    /// The form of escapes, if any.
    escapes: Option<EscapeForm>,
    compression: Option<OutputCompression>,
    file: OutputFile,
}

impl Output {
    /// Opens the output. Waits for the reader of a named pipe.
    fn open(output: &PlacedOutput, encoding: &RecordEncoding) -> Result<Output, CommandError> {
        let PlacedOutput { content, place } = output;
        let name = match place {
            OutputPlace::Stdout => STDOUT.to_owned(),
            OutputPlace::Device(path) | OutputPlace::File(path) => path.display().to_string(),
        };
        let (file, format, compression) = match (content, encoding, place) {
            (
                OutputContent::Records,
                RecordEncoding::Parquet { fields, partition },
                OutputPlace::File(path),
            ) => {
                let file = OutputFile::create_columns(path, fields, *partition)?;
                (file, LineFormat::default(), None)
            }
            (
                OutputContent::Records,
                RecordEncoding::Lines {
                    format,
                    compression,
                },
                _,
            ) => (
                OutputFile::create_left(place)?,
                format.clone(),
                *compression,
            ),
            _ => (OutputFile::create_left(place)?, LineFormat::default(), None),
        };
        Ok(Output {
            name,
            content: *content,
            escapes: escapes(&format).filter(|_| file.is_terminal),
            format,
            compression,
            file,
        })
    }

    /// Appends a batch of whole lines. `Ok(false)` if the reader is gone.
    fn put(&mut self, batch: &[u8]) -> Result<bool, CommandError> {
        let lines = escaped_lines(batch, self.escapes);
        let put = match self.compression {
            Some(compression) => compression
                .pack(&lines)
                .and_then(|packed| self.file.sink.put(&packed)),
            None => self.file.sink.put(&lines),
        };
        put.map_err(|error| CommandError::output(&self.name, &error))
    }

    /// Completes the output. A file gets its final name.
    fn finish(&mut self) -> Result<(), CommandError> {
        let finished = self.file.sink.finish();
        finished.map_err(|error| CommandError::output(&self.name, &error))
    }

    /// Leaves an incomplete file, and returns a clause about it; `None` if there is none.
    fn leave(&mut self) -> Option<String> {
        let left = self.file.sink.leave().transpose()?;
        let counted = left.and_then(|left| Ok((self.count(&left)?, left.path)));
        match counted {
            // Only the column names of a table were written.
            Ok((0, _)) => None,
            Ok((count, path)) => {
                let (path, noun) = (self.shown(path), self.content.noun());
                Some(format!("{} holds the first {count} {noun}", path.display()))
            }
            Err(error) => Some(format!("{} cannot be kept: {error}", self.name)),
        }
    }

    /// Returns the number of records in a file that was left. Removes the file if it has none.
    fn count(&self, left: &LeftOutput) -> io::Result<u64> {
        if let Some(records) = left.records {
            return Ok(records);
        }
        let file = File::open(&left.path)?;
        let count = match self.compression {
            Some(compression) => count_records(&self.format, compression.unpacked(file)?),
            None => count_records(&self.format, file),
        }?;
        if count == 0 {
            fs::remove_file(&left.path)?;
        }
        Ok(count)
    }

    /// Returns the path of a partial file as the user would write it, unless the output is a link.
    fn shown(&self, resolved: PathBuf) -> PathBuf {
        let named = with_end(Path::new(&self.name), PARTIAL);
        if named.canonicalize().is_ok_and(|path| path == resolved) {
            named
        } else {
            resolved
        }
    }
}

/// The open outputs. The output of the records is first.
pub(in crate::cli) struct Outputs {
    outputs: Vec<Output>,
    /// The error that ends the run.
    error: Option<CommandError>,
}

impl Outputs {
    /// Opens all outputs. `records` is the encoding of the records; the others are JSON.
    pub(super) fn open(
        places: &[PlacedOutput],
        records: &RecordEncoding,
    ) -> Result<Outputs, CommandError> {
        let outputs = places.iter().map(|output| Output::open(output, records));
        Ok(Outputs {
            outputs: outputs.collect::<Result<_, _>>()?,
            error: None,
        })
    }

    /// Returns the files being written.
    pub(super) fn files(&self) -> Vec<DeviceInode> {
        let files = self
            .outputs
            .iter()
            .filter_map(|output| output.file.sink.id());
        files.collect()
    }

    /// Appends lines to the output with this content, if there is one. `None` after an error, which
    /// [`Outputs::failed`] returns.
    pub(super) fn put(&mut self, content: OutputContent, lines: &[u8]) -> Option<bool> {
        let mut outputs = self.outputs.iter_mut();
        let Some(output) = outputs.find(|output| output.content == content) else {
            return Some(true);
        };
        output
            .put(lines)
            .map_err(|error| self.error = Some(error))
            .ok()
    }

    /// Appends records as values, which only columnar outputs receive. `None` after an error.
    pub(super) fn put_records(&mut self, records: Vec<Record>) -> Option<()> {
        let output = self.outputs.first_mut()?;
        let put = output.file.sink.put_records(records);
        put.map_err(|error| self.error = Some(CommandError::output(&output.name, &error)))
            .ok()
    }

    /// Writes the summary and completes all outputs, even if one of them fails.
    pub(super) fn finish(&mut self, summary: &Summary) -> Result<(), CommandError> {
        let mut text = Vec::new();
        summary.write(&mut text);
        let mut result = Ok(());
        for output in &mut self.outputs {
            let is_complete = match output.content {
                OutputContent::Summary => output.put(&text).and_then(|_| output.finish()),
                _ => output.finish(),
            };
            result = result.and(is_complete);
        }
        result.map_err(|error| self.with_partial_files(&error))
    }

    /// Discards records and rejects. Existing files are unchanged.
    pub(super) fn discard_records(&mut self) {
        for output in &mut self.outputs {
            if matches!(
                output.content,
                OutputContent::Records | OutputContent::Rejects
            ) {
                output.file.sink.discard();
            }
        }
    }

    /// Returns the error of a run that failed with `error`, with clauses about the files that it
    /// leaves.
    pub(super) fn failed(&mut self, error: &io::Error) -> CommandError {
        let error = self
            .error
            .take()
            .unwrap_or_else(|| CommandError::new(Exit::Output, format!("cannot scan: {error}")));
        self.with_partial_files(&error)
    }

    /// Leaves the incomplete files. Returns a clause about each.
    pub(in crate::cli) fn leave(&mut self) -> Vec<String> {
        self.outputs.iter_mut().filter_map(Output::leave).collect()
    }

    /// Ends the outputs of a failed run. Returns its error, with clauses about the files that it
    /// leaves.
    pub(super) fn with_partial_files(&mut self, error: &CommandError) -> CommandError {
        let mut clauses = vec![error.to_string()];
        clauses.extend(self.leave());
        CommandError::new(error.exit, clauses.join("; "))
    }
}

/// The outputs, shared with the thread that waits for signals.
#[derive(Clone)]
pub(in crate::cli) struct SharedOutputs(Arc<Mutex<Outputs>>);

impl SharedOutputs {
    pub(super) fn new(outputs: Outputs) -> SharedOutputs {
        SharedOutputs(Arc::new(Mutex::new(outputs)))
    }

    /// Waits until no batch is being written. A panic cannot leave partial data, since each call
    /// writes whole batches.
    pub(super) fn lock(&self) -> MutexGuard<'_, Outputs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the outputs. `None` if a batch is being written.
    pub(in crate::cli) fn try_lock(&self) -> Option<MutexGuard<'_, Outputs>> {
        match self.0.try_lock() {
            Ok(outputs) => Some(outputs),
            Err(TryLockError::Poisoned(outputs)) => Some(outputs.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// Returns the form of escapes in lines written to a terminal.
fn escapes(format: &LineFormat) -> Option<EscapeForm> {
    match format {
        // Its writer has already escaped the lines and set colours.
        LineFormat::Grep(GrepStyle::Colored, _) => None,
        LineFormat::Table(_)
        | LineFormat::Grep(..)
        | LineFormat::Watch(..)
        | LineFormat::Urls(_)
        | LineFormat::Hrefs(_) => Some(EscapeForm::Text),
        _ => Some(EscapeForm::Json),
    }
}

/// Returns the number of records in a file of whole lines in a format.
fn count_records(format: &LineFormat, file: impl Read) -> io::Result<u64> {
    let (has_names, has_quotes) = match format {
        LineFormat::Table(Table { header, syntax, .. }) => (
            *header == HeaderRow::Written,
            matches!(syntax, TableSyntax::Csv { .. }),
        ),
        _ => (false, false),
    };
    let lines = count_line_feeds(file, has_quotes)?;
    Ok(lines.saturating_sub(u64::from(has_names)))
}

/// Counts line feeds. With `has_quotes`, only those outside quotation marks count.
fn count_line_feeds(file: impl Read, has_quotes: bool) -> io::Result<u64> {
    let mut reader = BufReader::new(file);
    let (mut count, mut is_quoted) = (0, false);
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(count);
        }
        for at in memchr::memchr2_iter(b'\n', b'"', bytes) {
            if bytes[at] == b'"' {
                // A pair of quotation marks in quoted text is one mark; it toggles the state twice.
                is_quoted ^= has_quotes;
            } else {
                count += u64::from(!is_quoted);
            }
        }
        let len = bytes.len();
        reader.consume(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use urlspool_record::record::{FormulaGuard, Links};

    #[test]
    fn records_are_counted_without_the_header_and_may_contain_line_feeds() {
        let table = |syntax, header| {
            LineFormat::Table(Table {
                columns: FieldId::table_columns(),
                syntax,
                header,
                links: Links::Live,
            })
        };
        let csv = |header| {
            let guard = FormulaGuard::On;
            let delimiter = b',';
            table(TableSyntax::Csv { guard, delimiter }, header)
        };
        let rows = "url,host\n\"a\n\"\"b\n\",c\n\"\",d\n";
        for (format, text, count) in [
            (LineFormat::default(), "{\"a\":\"\\\"\"}\n{}\n", 2),
            (LineFormat::Urls(Links::Live), "http://a/\"\nhttp://b/\n", 2),
            (
                table(TableSyntax::Tsv, HeaderRow::Written),
                "url\thost\na\t\"\nb\tc\n",
                2,
            ),
            (csv(HeaderRow::Written), rows, 2),
            (csv(HeaderRow::Written), "url,host\n", 0),
            (csv(HeaderRow::Written), "", 0),
            (csv(HeaderRow::Omitted), rows, 3),
        ] {
            assert_eq!(count_records(&format, text.as_bytes()).unwrap(), count);
        }
    }
}
