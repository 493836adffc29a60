//! The outputs of a scan: the sink that writes each, the syntax of its lines, and all of them together: opened before the scan
//! begins, completed when it has ended, left when it fails.

use std::fs::{self, File};
#[cfg(feature = "archives")]
use std::io::Write;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Stdout};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

#[cfg(feature = "archives")]
use flate2::read::MultiGzDecoder;
#[cfg(feature = "archives")]
use flate2::write::GzEncoder;

use super::super::args::ScanArgs;
use super::super::error::{CommandError, Exit};
use super::super::terminal::{STDOUT, TerminalEscapes};
use crate::diagnostic::EscapeForm;
#[cfg(feature = "parquet")]
use crate::record::{FieldId, Record};
use crate::record::{GrepStyle, HeaderRow, LineFormat, Summary, TableSyntax};
#[cfg(feature = "parquet")]
use crate::sink::parquet::{Dataset, LeftParquet, ParquetFile, Partition};
use crate::sink::{FileSink, OutputPlace, PipeSink, Sink, open_device, partial_path, way_out};
use crate::walk::DeviceInode;

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

    /// The words for it in a message. Records go to standard output without an option.
    pub(super) fn subject(self) -> &'static str {
        match self {
            OutputContent::Records => "the records",
            _ => self.option(),
        }
    }

    /// The noun for its lines.
    fn noun(self) -> &'static str {
        match self {
            OutputContent::Records => "records",
            OutputContent::Rejects => "rejects",
            OutputContent::Events => "events",
            OutputContent::Summary => "lines",
        }
    }
}

/// Compression of a file. Each batch of lines is a gzip member, or a Zstandard frame, of its own, so that a file that is not complete can
/// be unpacked too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputCompression {
    #[cfg(feature = "archives")]
    Gzip,
    #[cfg(feature = "archives")]
    Zstd,
}

impl OutputCompression {
    /// The compression that the ending of a name stands for.
    #[cfg_attr(
        not(feature = "archives"),
        expect(unused_variables, reason = "nothing can be compressed then")
    )]
    pub(super) fn of_ending(ending: &str) -> Option<OutputCompression> {
        #[cfg(feature = "archives")]
        match ending {
            "gz" => return Some(OutputCompression::Gzip),
            "zst" => return Some(OutputCompression::Zstd),
            _ => {}
        }
        None
    }

    /// Compresses a batch.
    #[cfg_attr(
        not(feature = "archives"),
        expect(unused_variables, reason = "nothing can be compressed then")
    )]
    fn pack(self, batch: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            #[cfg(feature = "archives")]
            OutputCompression::Gzip => {
                let mut packer = GzEncoder::new(Vec::new(), flate2::Compression::default());
                packer.write_all(batch)?;
                packer.finish()
            }
            #[cfg(feature = "archives")]
            OutputCompression::Zstd => zstd::bulk::compress(batch, zstd::DEFAULT_COMPRESSION_LEVEL),
        }
    }

    /// Unpacks a file.
    #[cfg_attr(
        not(feature = "archives"),
        expect(unused_variables, reason = "nothing can be compressed then")
    )]
    fn unpacked(self, file: File) -> io::Result<Box<dyn Read>> {
        match self {
            #[cfg(feature = "archives")]
            OutputCompression::Gzip => Ok(Box::new(MultiGzDecoder::new(file))),
            #[cfg(feature = "archives")]
            OutputCompression::Zstd => Ok(Box::new(zstd::Decoder::new(file)?)),
        }
    }
}

/// Encoding of the records in their output.
pub(super) enum RecordEncoding {
    Lines {
        syntax: LineSyntax,
        /// The compression of a file.
        compression: Option<OutputCompression>,
    },
    /// Columns, in a file or in a folder of files.
    #[cfg(feature = "parquet")]
    Parquet {
        /// The fields that are chosen.
        fields: Vec<FieldId>,
        partition: Option<Partition>,
    },
}

impl RecordEncoding {
    /// The syntax of the lines that the output receives.
    fn syntax(&self) -> LineSyntax {
        match self {
            RecordEncoding::Lines { syntax, .. } => *syntax,
            #[cfg(feature = "parquet")]
            RecordEncoding::Parquet { .. } => LineSyntax::Json,
        }
    }

    /// Begins the file at `path`.
    fn create(&self, path: &Path) -> io::Result<OutputSink> {
        match self {
            RecordEncoding::Lines { .. } => FileSink::create(path).map(OutputSink::File),
            #[cfg(feature = "parquet")]
            RecordEncoding::Parquet { fields, partition } => {
                let fields = Some(fields.as_slice());
                match partition {
                    None => {
                        let file = ParquetFile::create(path, fields)?;
                        Ok(OutputSink::Parquet(Box::new(file)))
                    }
                    Some(Partition::Year) => {
                        let folder = Dataset::create(path, fields)?;
                        Ok(OutputSink::Dataset(Box::new(folder)))
                    }
                }
            }
        }
    }
}

/// Open output.
pub(super) struct Output {
    name: String,
    content: OutputContent,
    syntax: LineSyntax,
    escapes: TerminalEscapes,
    compression: Option<OutputCompression>,
    sink: OutputSink,
}

enum OutputSink {
    Stdout(PipeSink<Stdout>),
    Device(PipeSink<File>),
    File(FileSink),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetFile>),
    #[cfg(feature = "parquet")]
    Dataset(Box<Dataset>),
}

impl OutputSink {
    fn is_terminal(&self) -> bool {
        match self {
            OutputSink::Stdout(sink) => sink.0.is_terminal(),
            OutputSink::Device(sink) => sink.0.is_terminal(),
            OutputSink::File(_) => false,
            #[cfg(feature = "parquet")]
            OutputSink::Parquet(_) | OutputSink::Dataset(_) => false,
        }
    }
}

impl Output {
    /// Opens the output, whose lines have this syntax. Waits for the reader of a named pipe.
    pub(super) fn open(
        content: OutputContent,
        encoding: &RecordEncoding,
        place: &OutputPlace,
    ) -> Result<Output, CommandError> {
        let (name, sink) = match place {
            OutputPlace::Stdout => (
                STDOUT.to_owned(),
                Ok(OutputSink::Stdout(PipeSink(io::stdout()))),
            ),
            OutputPlace::Device(path) => (
                path.display().to_string(),
                open_device(path).map(OutputSink::Device),
            ),
            OutputPlace::File(path) => (path.display().to_string(), encoding.create(path)),
        };
        let sink = sink.map_err(|error| match place {
            OutputPlace::File(path) | OutputPlace::Device(path) => {
                CommandError::output(&name, format!("{error}{}", way_out(path, &error)))
            }
            OutputPlace::Stdout => CommandError::output(&name, &error),
        })?;
        let syntax = encoding.syntax();
        Ok(Output {
            name,
            content,
            syntax,
            escapes: syntax.escapes(sink.is_terminal()),
            compression: match encoding {
                RecordEncoding::Lines { compression, .. } => *compression,
                #[cfg(feature = "parquet")]
                RecordEncoding::Parquet { .. } => None,
            },
            sink,
        })
    }

    pub(super) fn content(&self) -> OutputContent {
        self.content
    }

    /// The file, if it is written aside.
    pub(super) fn file(&self) -> Option<&FileSink> {
        match &self.sink {
            OutputSink::File(file) => Some(file),
            #[cfg(feature = "parquet")]
            OutputSink::Parquet(parquet) => Some(parquet.file()),
            _ => None,
        }
    }

    /// Appends a batch of whole lines. `Ok(false)` if the reader has gone.
    pub(super) fn put(&mut self, batch: &[u8]) -> Result<bool, CommandError> {
        let lines = self.escapes.of_lines(batch);
        let put = match &mut self.sink {
            OutputSink::Stdout(sink) => sink.put(&lines),
            OutputSink::Device(sink) => sink.put(&lines),
            OutputSink::File(sink) => match self.compression {
                Some(compression) => compression
                    .pack(&lines)
                    .and_then(|packed| sink.put(&packed)),
                None => sink.put(&lines),
            },
            #[cfg(feature = "parquet")]
            OutputSink::Parquet(_) | OutputSink::Dataset(_) => {
                unreachable!("the job of Parquet asks for values")
            }
        };
        put.map_err(|error| CommandError::output(&self.name, &error))
    }

    /// Appends records, which only outputs of columns receive as values.
    #[cfg(feature = "parquet")]
    pub(super) fn put_records(&mut self, records: Vec<Record>) -> Result<(), CommandError> {
        let put = match &mut self.sink {
            OutputSink::Parquet(file) => file.put(&records),
            OutputSink::Dataset(folder) => folder.put(records),
            _ => unreachable!("the job of an output of lines asks for lines"),
        };
        put.map_err(|error| CommandError::output(&self.name, &error))
    }

    /// Completes the output: a file gets its name.
    pub(super) fn finish(&mut self) -> Result<(), CommandError> {
        let finished = match &mut self.sink {
            OutputSink::Stdout(sink) => sink.finish(),
            OutputSink::Device(sink) => sink.finish(),
            OutputSink::File(sink) => sink.finish(),
            #[cfg(feature = "parquet")]
            OutputSink::Parquet(file) => file.finish(),
            #[cfg(feature = "parquet")]
            OutputSink::Dataset(folder) => folder.finish(),
        };
        finished.map_err(|error| CommandError::output(&self.name, &error))
    }

    /// Gives up a file that is not complete: an existing one stays as it is.
    pub(super) fn discard(&mut self) {
        match &mut self.sink {
            OutputSink::File(file) => file.discard(),
            #[cfg(feature = "parquet")]
            OutputSink::Parquet(parquet) => parquet.discard(),
            #[cfg(feature = "parquet")]
            OutputSink::Dataset(dataset) => dataset.discard(),
            _ => {}
        }
    }

    /// Leaves a file that is not complete, and says so in a clause; `None` if there is none.
    pub(super) fn leave(&mut self) -> Option<String> {
        let counted = match &mut self.sink {
            OutputSink::File(file) => {
                let path = file.leave().transpose()?;
                path.and_then(|path| {
                    let file = File::open(&path)?;
                    let count = match self.compression {
                        Some(compression) => self.syntax.count_records(compression.unpacked(file)?),
                        None => self.syntax.count_records(file),
                    }?;
                    if count == 0 {
                        fs::remove_file(&path)?;
                    }
                    Ok((count, path))
                })
            }
            #[cfg(feature = "parquet")]
            OutputSink::Parquet(parquet) => counted(parquet.leave().transpose()?),
            #[cfg(feature = "parquet")]
            OutputSink::Dataset(dataset) => counted(dataset.leave().transpose()?),
            _ => return None,
        };
        match counted {
            // The names of a table's columns.
            Ok((0, _)) => None,
            Ok((count, path)) => {
                let (path, noun) = (self.shown(path), self.content.noun());
                Some(format!("{} holds the first {count} {noun}", path.display()))
            }
            Err(error) => Some(format!("{} cannot be kept: {error}", self.name)),
        }
    }

    /// The path of a partial file as the user would write it, unless the output is a link.
    fn shown(&self, resolved: PathBuf) -> PathBuf {
        let named = partial_path(Path::new(&self.name));
        if named.canonicalize().is_ok_and(|path| path == resolved) {
            named
        } else {
            resolved
        }
    }
}

#[cfg(feature = "parquet")]
fn counted(left: io::Result<LeftParquet>) -> io::Result<(u64, PathBuf)> {
    left.map(|left| (left.records, left.path))
}

/// The places of all outputs.
pub(super) struct OutputPlaces {
    pub(super) records: OutputPlace,
    pub(super) rejects: Option<OutputPlace>,
    pub(super) events: Option<OutputPlace>,
    pub(super) summary: Option<OutputPlace>,
}

impl OutputPlaces {
    /// The places that the arguments name.
    pub(super) fn of(args: &ScanArgs) -> OutputPlaces {
        let place = |path: &Option<_>| path.as_deref().map(OutputPlace::of);
        OutputPlaces {
            records: if is_loaded(args) {
                nowhere()
            } else {
                place(&args.output).unwrap_or(OutputPlace::Stdout)
            },
            rejects: place(&args.rejects),
            events: place(&args.events),
            summary: place(&args.summary),
        }
    }

    /// The places of a run that reads nothing: files of records and rejects stay as they are, also those that an earlier run left.
    pub(super) fn without_records(mut self) -> OutputPlaces {
        if matches!(self.records, OutputPlace::File(_)) {
            self.records = nowhere();
        }
        if matches!(self.rejects, Some(OutputPlace::File(_))) {
            self.rejects = Some(nowhere());
        }
        self
    }

    /// Returns `true` if anything is written to standard output.
    pub(super) fn has_stdout(&self) -> bool {
        self.all().any(|(_, place)| *place == OutputPlace::Stdout)
    }

    /// All places, with what is written there.
    pub(super) fn all(&self) -> impl Iterator<Item = (OutputContent, &OutputPlace)> {
        [
            (OutputContent::Records, Some(&self.records)),
            (OutputContent::Rejects, self.rejects.as_ref()),
            (OutputContent::Events, self.events.as_ref()),
            (OutputContent::Summary, self.summary.as_ref()),
        ]
        .into_iter()
        .filter_map(|(content, place)| Some((content, place?)))
    }
}

fn nowhere() -> OutputPlace {
    OutputPlace::Device("/dev/null".into())
}

/// Returns `true` if the records are loaded and not written.
fn is_loaded(args: &ScanArgs) -> bool {
    #[cfg(feature = "load")]
    return args.into.is_some();
    #[cfg(not(feature = "load"))]
    {
        let _ = args;
        false
    }
}

/// The open outputs.
pub(super) struct Outputs {
    records: Output,
    rejects: Option<Output>,
    events: Option<Output>,
    summary: Option<Output>,
    /// The error that ends the run.
    error: Option<CommandError>,
}

impl Outputs {
    /// Opens all outputs. `records` is the encoding of the records; the others are JSON.
    pub(super) fn open(
        places: &OutputPlaces,
        records: &RecordEncoding,
    ) -> Result<Outputs, CommandError> {
        let open = |content, place: &Option<OutputPlace>| {
            place
                .as_ref()
                .map(|place| {
                    let json = RecordEncoding::Lines {
                        syntax: LineSyntax::Json,
                        compression: None,
                    };
                    Output::open(content, &json, place)
                })
                .transpose()
        };
        Ok(Outputs {
            records: Output::open(OutputContent::Records, records, &places.records)?,
            rejects: open(OutputContent::Rejects, &places.rejects)?,
            events: open(OutputContent::Events, &places.events)?,
            summary: open(OutputContent::Summary, &places.summary)?,
            error: None,
        })
    }

    /// The files that are being written.
    pub(super) fn files(&mut self) -> Vec<DeviceInode> {
        self.all()
            .filter_map(|output| output.file()?.id().ok())
            .collect()
    }

    /// Appends records as lines. `None` after an error, which [`Outputs::failed`] returns.
    pub(super) fn put_lines(&mut self, lines: &[u8]) -> Option<bool> {
        let put = self.records.put(lines);
        self.keep_error(put)
    }

    /// Appends records as values. `None` after an error.
    #[cfg(feature = "parquet")]
    pub(super) fn put_records(&mut self, records: Vec<Record>) -> Option<()> {
        let put = self.records.put_records(records);
        self.keep_error(put)
    }

    /// Appends rejects, if they are wanted. `None` after an error.
    pub(super) fn put_rejects(&mut self, batch: &[u8]) -> Option<()> {
        let put = self.rejects.as_mut().map_or(Ok(true), |out| out.put(batch));
        self.keep_error(put).map(|_| ())
    }

    /// Appends events, if there is an output for them. `None` after an error.
    pub(super) fn put_events(&mut self, batch: &[u8]) -> Option<()> {
        let put = self.events.as_mut().map_or(Ok(true), |out| out.put(batch));
        self.keep_error(put).map(|_| ())
    }

    /// Writes the summary and completes all outputs, also those after one that fails.
    pub(super) fn finish(&mut self, summary: &Summary) -> Result<(), CommandError> {
        let mut text = Vec::new();
        summary.write(&mut text);
        let mut result = match &mut self.summary {
            Some(out) => out.put(&text).map(|_| ()),
            None => Ok(()),
        };
        let has_summary = result.is_ok();
        for output in self.all() {
            if has_summary || output.content() != OutputContent::Summary {
                result = result.and(output.finish());
            }
        }
        result.map_err(|error| self.with_partial_files(&error))
    }

    /// Gives up records and rejects: existing files stay as they are.
    pub(super) fn discard_records(&mut self) {
        self.records.discard();
        if let Some(rejects) = &mut self.rejects {
            rejects.discard();
        }
    }

    /// Gives up the outputs of a run whose records cannot be loaded. Returns the error, and what it leaves.
    #[cfg(feature = "load")]
    pub(super) fn not_loaded(&mut self, error: &CommandError) -> CommandError {
        self.with_partial_files(error)
    }

    /// The error of a run that failed with `error`, and what it leaves.
    pub(super) fn failed(&mut self, error: &std::io::Error) -> CommandError {
        let error = self
            .error
            .take()
            .unwrap_or_else(|| CommandError::new(Exit::Output, format!("cannot scan: {error}")));
        self.with_partial_files(&error)
    }

    /// Leaves the files that are not complete. Returns a clause for each.
    pub(super) fn leave(&mut self) -> Vec<String> {
        self.all().filter_map(Output::leave).collect()
    }

    fn with_partial_files(&mut self, error: &CommandError) -> CommandError {
        let mut clauses = vec![error.to_string()];
        clauses.extend(self.leave());
        CommandError::new(error.exit, clauses.join("; "))
    }

    fn keep_error<T>(&mut self, result: Result<T, CommandError>) -> Option<T> {
        result.map_err(|error| self.error = Some(error)).ok()
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Output> {
        std::iter::once(&mut self.records)
            .chain(&mut self.rejects)
            .chain(&mut self.events)
            .chain(&mut self.summary)
    }
}

/// The outputs, shared with the thread that waits for signals.
#[derive(Clone)]
pub(super) struct SharedOutputs(Arc<Mutex<Outputs>>);

impl SharedOutputs {
    pub(super) fn new(outputs: Outputs) -> SharedOutputs {
        SharedOutputs(Arc::new(Mutex::new(outputs)))
    }

    /// Waits until no batch is being written. A panic leaves nothing half done: each call writes whole batches.
    pub(super) fn lock(&self) -> MutexGuard<'_, Outputs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `None` if a batch is being written.
    pub(super) fn try_lock(&self) -> Option<MutexGuard<'_, Outputs>> {
        match self.0.try_lock() {
            Ok(outputs) => Some(outputs),
            Err(TryLockError::Poisoned(outputs)) => Some(outputs.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// Syntax of the lines of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineSyntax {
    /// One JSON object per line.
    Json,
    /// One text per line.
    Text,
    /// One text per line, in which control characters are escaped and colours are set.
    Colored,
    /// A line of names, unless it is left out, then rows, in which quoted texts may hold line feeds.
    Csv(HeaderRow),
    /// A line of names, unless it is left out, then one row per line.
    Tsv(HeaderRow),
}

impl LineSyntax {
    /// The syntax of the records in this format.
    pub(super) fn of(format: &LineFormat) -> LineSyntax {
        match format {
            LineFormat::Table(table) => match table.syntax() {
                TableSyntax::Csv { .. } => LineSyntax::Csv(table.header_row()),
                TableSyntax::Tsv => LineSyntax::Tsv(table.header_row()),
            },
            LineFormat::Grep(GrepStyle::Colored, _) => LineSyntax::Colored,
            LineFormat::Grep(..) | LineFormat::Urls(_) | LineFormat::Hrefs(_) => LineSyntax::Text,
            _ => LineSyntax::Json,
        }
    }

    /// The escapes for lines that are written to a terminal, or not.
    pub(super) fn escapes(self, is_terminal: bool) -> TerminalEscapes {
        match self {
            LineSyntax::Colored => TerminalEscapes::Off,
            LineSyntax::Json => TerminalEscapes::of(is_terminal, EscapeForm::Json),
            LineSyntax::Text | LineSyntax::Csv(_) | LineSyntax::Tsv(_) => {
                TerminalEscapes::of(is_terminal, EscapeForm::Text)
            }
        }
    }

    /// The number of records in a file of whole lines.
    pub(super) fn count_records(self, file: impl Read) -> io::Result<u64> {
        let lines = count_line_feeds(file, matches!(self, LineSyntax::Csv(_)))?;
        let has_names = matches!(
            self,
            LineSyntax::Csv(HeaderRow::Written) | LineSyntax::Tsv(HeaderRow::Written)
        );
        Ok(lines.saturating_sub(u64::from(has_names)))
    }
}

/// Counts line feeds; outside quotation marks only, if there are any.
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
                // Two of them in a quoted text stand for one, and end and begin it again.
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

    #[test]
    fn records_are_counted_without_the_names_and_with_their_line_feeds() {
        let count = |syntax: LineSyntax, text: &str| syntax.count_records(text.as_bytes()).unwrap();
        assert_eq!(count(LineSyntax::Json, "{\"a\":\"\\\"\"}\n{}\n"), 2);
        assert_eq!(count(LineSyntax::Text, "http://a/\"\nhttp://b/\n"), 2);
        assert_eq!(
            count(
                LineSyntax::Tsv(HeaderRow::Written),
                "url\thost\na\t\"\nb\tc\n"
            ),
            2
        );
        let rows = "url,host\n\"a\n\"\"b\n\",c\n\"\",d\n";
        let csv = LineSyntax::Csv(HeaderRow::Written);
        assert_eq!(count(csv, rows), 2);
        assert_eq!(count(csv, "url,host\n"), 0);
        assert_eq!(count(csv, ""), 0);
        assert_eq!(count(LineSyntax::Csv(HeaderRow::Omitted), rows), 3);
    }
}
