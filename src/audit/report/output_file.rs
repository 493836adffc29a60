//! Files of a report: written aside, renamed when they are complete, and never over the database. Devices and pipes are written in
//! place.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Stdout};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, fstat};
use rustix::stdio::stdout;

use super::ReportJob;
use crate::audit::error::{AuditError, OutputError};
use crate::sink::{FileSink, OutputPlace, PipeSink, Sink, discardable_path, open_device, resolve};
use crate::walk::DeviceInode;

/// Bytes that are collected before they are written.
const BUFFER_BYTES: usize = 256 << 10;

/// The name of standard output in messages.
const STDOUT_NAME: &str = "standard output";

/// Files that SQLite keeps beside a database, by the ends of their names.
const DATABASE_ENDS: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// A file that is being written. It is discarded if it is dropped before [`OutputFile::finish`].
pub(super) struct OutputFile {
    path: PathBuf,
    sink: ReportSink,
    buffer: Vec<u8>,
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
        let sink = sink.map_err(|error| unwritable(path, &error))?;
        Ok(OutputFile {
            path: path.to_owned(),
            sink,
            buffer: Vec::new(),
        })
    }

    /// Appends text.
    pub(super) fn put(&mut self, text: &[u8]) -> Result<(), AuditError> {
        self.buffer.extend_from_slice(text);
        if BUFFER_BYTES < self.buffer.len() {
            self.flush()?;
        }
        Ok(())
    }

    /// Gives the file its name.
    pub(super) fn finish(mut self) -> Result<(), AuditError> {
        self.flush()?;
        let finished = self.sink().finish();
        finished.map_err(|error| unwritable(&self.path, &error))
    }

    fn flush(&mut self) -> Result<(), AuditError> {
        let buffer = std::mem::take(&mut self.buffer);
        // A reader of standard output that has gone wants no more.
        let put = self.sink().put(&buffer);
        put.map(drop)
            .map_err(|error| unwritable(&self.path, &error))
    }

    fn sink(&mut self) -> &mut dyn Sink {
        match &mut self.sink {
            ReportSink::Stdout(sink) => sink,
            ReportSink::Device(sink) => sink,
            ReportSink::File(sink) => sink,
        }
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let ReportSink::File(file) = &mut self.sink {
            file.discard();
        }
    }
}

fn unwritable(path: &Path, error: &io::Error) -> AuditError {
    let name = match OutputPlace::of(path) {
        OutputPlace::Stdout => Path::new(STDOUT_NAME),
        _ => path,
    };
    OutputError::not_written(name, error).into()
}

/// Checks that no file of a report is the database, or another of its files. `names` are those of the CSV files.
pub(super) fn check(job: &ReportJob, names: &[&str]) -> Result<(), AuditError> {
    // SQLite names the others after the file that a link leads to.
    let database = resolve(&job.database).unwrap_or_else(|_| job.database.clone());
    let database: Vec<_> = DATABASE_ENDS
        .iter()
        .map(|end| {
            let mut path = OsString::from(&database);
            path.push(end);
            FileIdentity::of(Path::new(&path))
        })
        .collect();
    let folder = job.csv_folder.iter();
    let mut outputs: Vec<(PathBuf, FileIdentity)> = folder
        .clone()
        .map(|folder| (folder.clone(), FileIdentity::of(folder)))
        .collect();
    let csv = folder.flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    for path in [job.output.clone()].into_iter().chain(csv) {
        for (written, identity) in written_files(&path) {
            if database.contains(&identity) {
                return Err(OutputError::OverwritesDatabase { file: written }.into());
            }
            if let Some((other, _)) = outputs.iter().find(|(_, other)| *other == identity) {
                let names = [other.clone(), written];
                return Err(OutputError::SameFile { names }.into());
            }
            outputs.push((written, identity));
        }
    }
    Ok(())
}

/// Returns the files that are written for an output, with their names for messages. An open file of this process, such as
/// `/dev/fd/3` or standard output, may be a regular one.
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

/// The identity of a file that may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FileIdentity {
    Existing(DeviceInode),
    /// The path with links resolved.
    Missing(PathBuf),
}

impl FileIdentity {
    fn of(path: &Path) -> FileIdentity {
        match path.metadata() {
            Ok(metadata) => FileIdentity::Existing(DeviceInode::of(&metadata)),
            Err(_) => FileIdentity::Missing(resolve(path).unwrap_or_else(|_| path.to_owned())),
        }
    }

    /// The identity of standard output; `None` if that is no regular file.
    fn of_stdout() -> Option<FileIdentity> {
        let stat = fstat(stdout()).ok()?;
        let is_file = FileType::from_raw_mode(stat.st_mode).is_file();
        is_file.then(|| FileIdentity::Existing(DeviceInode::of_stat(&stat)))
    }
}
