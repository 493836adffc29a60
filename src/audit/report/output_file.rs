//! Files of a report: written aside, renamed when they are complete, and never over the database.
//!
//! Devices and pipes are written in place. A folder of CSV files does not stay if a report fails.

use std::fs::{self, File};
use std::io::{self, Stdout, Write};
use std::iter;
use std::path::{Path, PathBuf};

use super::ReportJob;
use crate::audit::error::AuditError;
use crate::load::is_file_of_database;
use crate::sink::{
    FileIdentity, FileSink, OutputPlace, PipeSink, Replacement, Sink, check_replacement,
    discardable_path, open_device, resolve,
};

/// The name of standard output in messages.
const STDOUT_NAME: &str = "standard output";

/// A file that is being written. It is discarded if it is dropped before [`OutputFile::finish`].
pub(super) struct OutputFile {
    path: PathBuf,
    sink: ReportSink,
}

enum ReportSink {
    Stdout(PipeSink<Stdout>),
    Device(PipeSink<File>),
    File(FileSink),
}

impl OutputFile {
    /// Begins the file at `path`; `-` is standard output.
    pub(super) fn create(path: &Path) -> Result<OutputFile, AuditError> {
        let sink = match OutputPlace::of(path) {
            OutputPlace::Stdout => Ok(ReportSink::Stdout(PipeSink(io::stdout()))),
            OutputPlace::Device(path) => open_device(&path).map(ReportSink::Device),
            OutputPlace::File(path) => FileSink::create_discardable(&path).map(ReportSink::File),
        };
        let sink = sink.map_err(|error| unwritable(path, error))?;
        Ok(OutputFile {
            path: path.to_owned(),
            sink,
        })
    }

    /// Returns the path as the user gave it.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn put(&mut self, text: &[u8]) -> Result<(), AuditError> {
        let put = self.write_all(text);
        put.map_err(|error| unwritable(&self.path, error))
    }

    /// Gives the file its name.
    pub(super) fn finish(mut self) -> Result<(), AuditError> {
        let finished = self.sink().finish();
        finished.map_err(|error| unwritable(&self.path, error))
    }

    fn sink(&mut self) -> &mut dyn Sink {
        match &mut self.sink {
            ReportSink::Stdout(sink) => sink,
            ReportSink::Device(sink) => sink,
            ReportSink::File(sink) => sink,
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
        if let ReportSink::File(file) = &mut self.sink {
            file.discard();
        }
    }
}

pub(super) fn unwritable(path: &Path, error: io::Error) -> AuditError {
    let name = match OutputPlace::of(path) {
        OutputPlace::Stdout => Path::new(STDOUT_NAME),
        _ => path,
    };
    AuditError::output(&format!("write {}", name.display()), error)
}

/// Checks that no file of a report is the database, another of its files, or one that urlspool did not
/// write. `headers` are the names and the columns of the CSV files.
pub(super) fn check<'h>(
    job: &ReportJob,
    headers: &'h [(&'h str, String)],
) -> Result<(), AuditError> {
    let folder = job.csv_folder.iter();
    let mut outputs: Vec<(PathBuf, FileIdentity)> = folder
        .clone()
        .map(|folder| (folder.clone(), FileIdentity::of(folder)))
        .collect();
    let csv = folder.flat_map(|folder| {
        let path =
            move |(name, header): &'h (&str, String)| (folder.join(name), Some(header.as_str()));
        headers.iter().map(path)
    });
    for (path, header) in iter::once((job.output.clone(), None)).chain(csv) {
        for (written, identity) in written_files(&path) {
            if is_file_of_database(&job.database, &identity) {
                return Err(AuditError::unusable(format!(
                    "{} would overwrite the database; name another file",
                    written.display()
                )));
            }
            if let Some((other, _)) = outputs.iter().find(|(_, other)| *other == identity) {
                return Err(AuditError::unusable(format!(
                    "{} and {} would be the same file; name two files",
                    other.display(),
                    written.display()
                )));
            }
            outputs.push((written, identity));
        }
        if job.replacement == Replacement::Refused {
            check_replacement(&path, header).map_err(AuditError::unusable)?;
        }
    }
    Ok(())
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

/// The folder of the CSV files. If this run created it, it is removed when it is dropped without
/// files.
pub(super) struct TableFolder {
    path: PathBuf,
    is_new: bool,
}

impl TableFolder {
    /// Creates the folder if it is missing.
    ///
    /// # Errors
    ///
    /// The path is a file, or the folder cannot be created.
    pub(super) fn create(path: &Path) -> Result<TableFolder, AuditError> {
        let is_new = !path.exists();
        match fs::create_dir_all(path) {
            Ok(()) => Ok(TableFolder {
                path: path.to_owned(),
                is_new,
            }),
            Err(_) if path.exists() => Err(AuditError::unusable(format!(
                "{} is a file; name a folder for the CSV files with `--csv`",
                path.display()
            ))),
            Err(error) => {
                let action = format!("create {}", path.display());
                Err(AuditError::output(&action, error))
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TableFolder {
    fn drop(&mut self) {
        if self.is_new {
            // The system keeps a folder that is not empty.
            let _ = fs::remove_dir(&self.path);
        }
    }
}
