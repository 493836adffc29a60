//! One output of a scan, and the sink that writes it.

use std::fs::{self, File};
#[cfg(feature = "archives")]
use std::io::Write;
use std::io::{self, IsTerminal, Read, Stdout};
use std::path::{Path, PathBuf};

#[cfg(feature = "archives")]
use flate2::{read::MultiGzDecoder, write::GzEncoder};

use super::super::error::CommandError;
use super::super::terminal::{STDOUT, TerminalEscapes};
use super::lines::LineSyntax;
#[cfg(feature = "parquet")]
use crate::record::{FieldId, Record};
#[cfg(feature = "parquet")]
use crate::sink::parquet::{Dataset, LeftParquet, ParquetFile, Partition};
use crate::sink::{FileSink, OutputPlace, PipeSink, Sink, open_device, partial_path};

/// Content of an output.
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
    /// Lines.
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
        let sink = sink.map_err(|error| CommandError::output(&name, &error))?;
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

    /// The content of the output.
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
