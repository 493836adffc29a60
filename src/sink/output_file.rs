//! Files of a report: written aside, renamed when they are complete, and never over an input.
//!
//! Devices and pipes are written in place. A folder of tables does not stay if a report fails.

use std::error::Error as StdError;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Stdout, Write};
use std::path::{Path, PathBuf};

use super::{
    FileIdentity, FileSink, OutputPlace, PipeSink, Replacement, Sink, check_replacement,
    discardable_path, open_device, resolve, way_out,
};

/// The name of standard output in messages.
const STDOUT_NAME: &str = "standard output";

/// The error of an output.
#[derive(Debug)]
pub enum OutputError {
    /// The output is refused before anything is written; the reason and the way out.
    Refused(String),
    /// The system does not write it.
    Failed {
        /// `cannot write FILE: reason`.
        message: String,
        /// The error of the system.
        source: io::Error,
    },
}

impl OutputError {
    /// Creates the error of an output that cannot be written.
    pub(super) fn unwritable(path: &Path, source: io::Error) -> OutputError {
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

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutputError::Refused(message) | OutputError::Failed { message, .. } => {
                f.write_str(message)
            }
        }
    }
}

impl StdError for OutputError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            OutputError::Refused(_) => None,
            OutputError::Failed { source, .. } => Some(source),
        }
    }
}

/// A file that is being written. It is discarded if it is dropped before [`OutputFile::finish`].
pub struct OutputFile {
    path: PathBuf,
    sink: FileOrStream,
}

enum FileOrStream {
    Stdout(PipeSink<Stdout>),
    Device(PipeSink<File>),
    File(FileSink),
}

impl OutputFile {
    /// Begins the file at `path`; `-` is standard output.
    ///
    /// # Errors
    ///
    /// The file cannot be created.
    pub fn create(path: &Path) -> Result<OutputFile, OutputError> {
        let sink = match OutputPlace::of(path) {
            OutputPlace::Stdout => Ok(FileOrStream::Stdout(PipeSink(io::stdout()))),
            OutputPlace::Device(path) => open_device(&path).map(FileOrStream::Device),
            OutputPlace::File(path) => FileSink::create_discardable(&path).map(FileOrStream::File),
        };
        let sink = sink.map_err(|error| OutputError::unwritable(path, error))?;
        Ok(OutputFile {
            path: path.to_owned(),
            sink,
        })
    }

    /// Returns the path as the user gave it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a text.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn put(&mut self, text: &[u8]) -> Result<(), OutputError> {
        let put = self.write_all(text);
        put.map_err(|error| OutputError::unwritable(&self.path, error))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn finish(mut self) -> Result<(), OutputError> {
        let finished = self.sink().finish();
        finished.map_err(|error| OutputError::unwritable(&self.path, error))
    }

    fn sink(&mut self) -> &mut dyn Sink {
        match &mut self.sink {
            FileOrStream::Stdout(sink) => sink,
            FileOrStream::Device(sink) => sink,
            FileOrStream::File(sink) => sink,
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A reader of standard output that has gone wants no more.
        self.sink().put(bytes).map(|_| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let FileOrStream::File(file) = &mut self.sink {
            file.discard();
        }
    }
}

/// The outputs of a report: a file, and the tables of a folder.
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
    /// Checks that no output is an input, another output, or, unless that is allowed, a file that
    /// urlspool did not write. `input` names the input that a file is, if it is one.
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

/// Returns the files that are written for an output, with their names for messages. An open file of
/// this process, such as `/dev/fd/3` or standard output, may be a regular one.
fn written_files(path: &Path) -> Vec<(PathBuf, FileIdentity)> {
    let named = |path: PathBuf| {
        let identity = FileIdentity::of(&path);
        (path, identity)
    };
    match OutputPlace::of(path) {
        OutputPlace::Stdout => FileIdentity::of_stdout()
            .map(|identity| (PathBuf::from(STDOUT_NAME), identity))
            .into_iter()
            .collect(),
        OutputPlace::Device(path) => vec![named(path)],
        OutputPlace::File(path) => {
            let target = resolve(&path).unwrap_or_else(|_| path.clone());
            vec![named(path), named(discardable_path(&target))]
        }
    }
}

/// The folder of the CSV files. It and the folders above it that this run created are removed when
/// it is dropped without files.
pub struct TableFolder {
    path: PathBuf,
    /// The folders that this run created, the innermost one first.
    new: Vec<PathBuf>,
}

impl TableFolder {
    /// Creates the folder if it is missing.
    ///
    /// # Errors
    ///
    /// The path is a file, or the folder cannot be created.
    pub fn create(path: &Path) -> Result<TableFolder, OutputError> {
        let is_named = |folder: &&Path| !folder.as_os_str().is_empty();
        let new = path.ancestors().filter(is_named);
        let new = new.take_while(|folder| !folder.exists());
        // What could be created is removed if the rest cannot.
        let folder = TableFolder {
            path: path.to_owned(),
            new: new.map(Path::to_owned).collect(),
        };
        match fs::create_dir_all(path) {
            Ok(()) => Ok(folder),
            Err(_) if path.exists() => Err(OutputError::Refused(format!(
                "{} is a file; name a folder for the CSV files with `--csv`",
                path.display()
            ))),
            Err(source) => Err(OutputError::Failed {
                message: format!("cannot create {}: {source}", path.display()),
                source,
            }),
        }
    }

    /// Returns the path as the user gave it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
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
