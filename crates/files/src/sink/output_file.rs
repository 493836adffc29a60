//! Outputs. Files are written under a temporary name, renamed when they are complete, and never
//! replace an input.
//!
//! Devices and pipes are written in place. A folder of tables is removed if a report fails.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{
    ASIDE, FileIdentity, FileSink, OutputPlace, Partition, PipeSink, Replacement, Sink,
    check_replacement, open_device, resolve, way_out, with_end,
};
use urlspool_record::record::FieldId;

/// The name of standard output in messages.
const STDOUT_NAME: &str = "standard output";

/// The error of an output.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The output is refused before any write. Holds the reason and the remedy.
    #[error("{0}")]
    Refused(String),
    /// The system cannot write it.
    #[error("{message}")]
    Failed {
        /// `cannot write FILE: reason`.
        message: String,
        /// The system's error.
        source: io::Error,
    },
}

impl OutputError {
    /// Creates the error of an output that cannot be written.
    #[must_use]
    pub fn unwritable(path: &Path, source: io::Error) -> OutputError {
        let name = match OutputPlace::of(path) {
            OutputPlace::Stdout => Path::new(STDOUT_NAME),
            _ => path,
        };
        OutputError::Failed {
            message: format!(
                "cannot write {}: {source}{}",
                name.display(),
                way_out(path, &source)
            ),
            source,
        }
    }
}

/// An output being written: standard output, a device, or a file that gets its name when it is
/// complete.
pub struct OutputFile {
    /// The path, as it was given.
    pub path: PathBuf,
    /// Receiver of lines or records.
    pub sink: Box<dyn Sink>,
    /// `true` for a terminal.
    pub is_terminal: bool,
}

/// Incomplete output that a failed run left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOutput {
    /// The file or folder.
    pub path: PathBuf,
    /// Number of records in it; `None` for lines, which are not counted.
    pub records: Option<u64>,
}

impl OutputFile {
    /// Creates the file at `path`; `-` means standard output. A file that is dropped before
    /// [`OutputFile::finish`] is removed.
    ///
    /// # Errors
    ///
    /// The file cannot be created.
    pub fn create(path: &Path) -> Result<OutputFile, OutputError> {
        OutputFile::open(&OutputPlace::of(path), FileSink::create_discardable)
    }

    /// Creates an output whose partial file can be left for the user.
    ///
    /// # Errors
    ///
    /// The file cannot be created.
    pub fn create_left(place: &OutputPlace) -> Result<OutputFile, OutputError> {
        OutputFile::open(place, FileSink::create)
    }

    fn open(
        place: &OutputPlace,
        create: fn(&Path) -> io::Result<FileSink>,
    ) -> Result<OutputFile, OutputError> {
        match place {
            OutputPlace::Stdout => {
                let stdout = io::stdout();
                let is_terminal = stdout.is_terminal();
                OutputFile::new(Path::new("-"), Ok(boxed(PipeSink(stdout))), is_terminal)
            }
            OutputPlace::Device(path) => {
                let device = open_device(path);
                let is_terminal = device.as_ref().is_ok_and(|sink| sink.0.is_terminal());
                OutputFile::new(path, device.map(boxed), is_terminal)
            }
            OutputPlace::File(path) => OutputFile::new(path, create(path).map(boxed), false),
        }
    }

    /// Creates a columnar file at `path` for records with these fields, or a partitioned folder of
    /// such files.
    ///
    /// # Errors
    ///
    /// It cannot be created, or this program is built without Parquet.
    #[cfg_attr(
        not(feature = "parquet"),
        expect(unused_variables, reason = "only Parquet has columns")
    )]
    pub fn create_columns(
        path: &Path,
        fields: &[FieldId],
        partition: Option<Partition>,
    ) -> Result<OutputFile, OutputError> {
        #[cfg(feature = "parquet")]
        let sink = super::parquet::create(path, fields, partition);
        #[cfg(not(feature = "parquet"))]
        let sink = Err(io::ErrorKind::Unsupported.into());
        OutputFile::new(path, sink, false)
    }

    fn new(
        path: &Path,
        sink: io::Result<Box<dyn Sink>>,
        is_terminal: bool,
    ) -> Result<OutputFile, OutputError> {
        Ok(OutputFile {
            path: path.to_owned(),
            sink: sink.map_err(|error| OutputError::unwritable(path, error))?,
            is_terminal,
        })
    }

    /// Appends a text.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn put(&mut self, text: &[u8]) -> Result<(), OutputError> {
        let put = self.sink.put(text);
        put.map_err(|error| OutputError::unwritable(&self.path, error))?;
        Ok(())
    }

    /// Gives the file its name.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn finish(mut self) -> Result<(), OutputError> {
        let finished = self.sink.finish();
        finished.map_err(|error| OutputError::unwritable(&self.path, error))
    }
}

fn boxed(sink: impl Sink + 'static) -> Box<dyn Sink> {
    Box::new(sink)
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The reader of standard output may be gone, which is not an error.
        self.sink.put(bytes).map(|_| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The outputs of a report: a file, and a folder of tables.
pub struct ReportOutputs<'o> {
    /// The file; `-` is standard output.
    pub file: Option<&'o Path>,
    /// The folder of the tables.
    pub folder: Option<&'o Path>,
    /// Names and columns of the tables.
    pub tables: &'o [(&'o str, String)],
    /// Treatment of existing files that urlspool did not write.
    pub replacement: Replacement,
}

impl ReportOutputs<'_> {
    /// Checks that no output is an input, another output, or, unless allowed, a file that urlspool
    /// did not write. `input` returns the name of the input that a file is, if any.
    ///
    /// # Errors
    ///
    /// [`OutputError::Refused`], which names the files.
    pub fn check(
        &self,
        input: impl Fn(&FileIdentity) -> Option<String>,
    ) -> Result<(), OutputError> {
        let mut outputs: Vec<(PathBuf, FileIdentity)> = self
            .folder
            .iter()
            .map(|folder| (PathBuf::from(folder), FileIdentity::of(folder)))
            .collect();
        let tables = self.folder.iter().flat_map(|folder| {
            let tables = self.tables.iter();
            tables.map(|(name, columns)| (folder.join(name), Some(columns.as_str())))
        });
        let file = self.file.map(|file| (file.to_owned(), None));
        for (path, columns) in file.into_iter().chain(tables) {
            for (written, identity) in written_files(&path) {
                if let Some(input) = input(&identity) {
                    return Err(OutputError::Refused(format!(
                        "{} would overwrite {input}; name another file",
                        written.display()
                    )));
                }
                if let Some((other, _)) = outputs.iter().find(|(_, other)| *other == identity) {
                    return Err(OutputError::Refused(format!(
                        "{} and {} would be the same file; name two files",
                        other.display(),
                        written.display()
                    )));
                }
                outputs.push((written, identity));
            }
            if self.replacement == Replacement::Refused {
                check_replacement(&path, columns).map_err(OutputError::Refused)?;
            }
        }
        Ok(())
    }
}

/// Returns the files written for an output, with their names for messages. An open file of this
/// process, such as `/dev/fd/3` or standard output, may be a regular one.
fn written_files(path: &Path) -> Vec<(PathBuf, FileIdentity)> {
    match OutputPlace::of(path) {
        OutputPlace::Stdout => FileIdentity::of_stdout()
            .map(|identity| (PathBuf::from(STDOUT_NAME), identity))
            .into_iter()
            .collect(),
        OutputPlace::Device(path) => vec![named(path)],
        OutputPlace::File(path) => {
            let target = resolve(&path).unwrap_or_else(|_| path.clone());
            vec![named(path), named(with_end(&target, ASIDE))]
        }
    }
}

fn named(path: PathBuf) -> (PathBuf, FileIdentity) {
    let identity = FileIdentity::of(&path);
    (path, identity)
}

/// The folder of the CSV files. If it has no files when it is dropped, it is removed, along with
/// the parent folders that this run created.
pub struct TableFolder {
    /// The path, as it was given.
    pub path: PathBuf,
    /// The folders that this run created, innermost first.
    new: Vec<PathBuf>,
}

impl TableFolder {
    /// Creates the folder if it is missing.
    ///
    /// # Errors
    ///
    /// The path is a file, or the folder cannot be created.
    pub fn create(path: &Path) -> Result<TableFolder, OutputError> {
        let new = path
            .ancestors()
            .filter(|folder| !folder.as_os_str().is_empty())
            .take_while(|folder| !folder.exists());
        // If only some of the folders can be created, they are removed again.
        let folder = TableFolder {
            path: path.to_owned(),
            new: new.map(Path::to_owned).collect(),
        };
        match fs::create_dir_all(path) {
            Ok(()) => Ok(folder),
            Err(_) if path.exists() => Err(OutputError::Refused(format!(
                "{} is a file; name a folder for the CSV files",
                path.display()
            ))),
            Err(source) => Err(OutputError::Failed {
                message: format!("cannot create {}: {source}", path.display()),
                source,
            }),
        }
    }
}

impl Drop for TableFolder {
    fn drop(&mut self) {
        for folder in &self.new {
            // The system keeps a folder that is not empty.
            let _ = fs::remove_dir(folder);
        }
    }
}
