//! The inputs of `stats`: mail, records or a database, detected by their first bytes.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::args::StatsArgs;
use super::super::error::{CommandError, Exit};
use super::super::location::{DATABASE_START, start_of};
use urlspool_files::sink::FileIdentity;
use urlspool_record::record::is_written_line;
use urlspool_sources::read;
use urlspool_store::load::{self, is_file_of_database};
use urlspool_text::origin::Source;

/// The input, all of one kind.
pub(super) struct StatsInput {
    pub(super) kind: InputKind,
    /// Files and folders of mail or of records; one database.
    pub(super) paths: Vec<PathBuf>,
}

/// Kind of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputKind {
    Mail,
    /// Files of records, and folders of only these or of segments.
    Records,
    /// A database that `load` made.
    Database,
}

impl StatsInput {
    /// Returns the input that the arguments name.
    ///
    /// # Errors
    ///
    /// A usage error: the paths are of several kinds, of no supported kind, or do not exist.
    pub(super) fn of(args: &StatsArgs) -> Result<StatsInput, CommandError> {
        let mut paths = args.paths.clone();
        if paths.is_empty() {
            paths.push(PathBuf::from(Source::STDIN));
        }
        let mut kinds = Vec::new();
        for path in &paths {
            kinds.extend(kind_of(path)?.map(|kind| (kind, path)));
        }
        let Some((kind, first)) = kinds.first().copied() else {
            return Err(missing(&paths));
        };
        if let Some((other, second)) = kinds.iter().find(|(other, _)| *other != kind) {
            return Err(CommandError::usage(format!(
                "{} holds {}, and {} {}; count them in two runs",
                first.display(),
                kind.noun(),
                second.display(),
                other.noun()
            )));
        }
        if kind == InputKind::Database && 1 < paths.len() {
            let message = "several databases cannot be counted together; name one path";
            return Err(CommandError::usage(message));
        }
        Ok(StatsInput { kind, paths })
    }

    /// Names the input in titles.
    pub(super) fn title(&self) -> String {
        match self.paths.as_slice() {
            [path] if path.as_os_str() == Source::STDIN => "standard input".to_owned(),
            [path] => path.display().to_string(),
            [first, others @ ..] => format!("{} and {} more", first.display(), others.len()),
            [] => String::new(),
        }
    }

    /// Returns the name of the input that a file is, if any: a given path, a file of the database,
    /// or a file of records below a given folder.
    pub(super) fn name_of(&self, file: &FileIdentity) -> Option<String> {
        if self.kind == InputKind::Database {
            let is_database = is_file_of_database(&self.paths[0], file);
            return is_database.then(|| "the database".to_owned());
        }
        let is_file = |path: &&PathBuf| {
            let path = if path.as_os_str() == Source::STDIN {
                Path::new(STDIN_FILE)
            } else {
                path
            };
            FileIdentity::of(path) == *file
        };
        if let Some(path) = self.paths.iter().find(is_file) {
            return Some(format!("the input {}", path.display()));
        }
        if self.kind == InputKind::Mail {
            return None;
        }
        let folder = self.paths.iter().find(|folder| {
            let files = load::files_of_records(folder).into_iter();
            folder.is_dir()
                && files
                    .map(|path| FileIdentity::of(&path))
                    .any(|of| of == *file)
        })?;
        Some(format!("records in {}", folder.display()))
    }
}

/// A name of standard input.
const STDIN_FILE: &str = "/dev/stdin";

impl InputKind {
    /// The name in outputs.
    pub(super) fn name(self) -> &'static str {
        match self {
            InputKind::Mail => "mail",
            InputKind::Records => "records",
            InputKind::Database => "database",
        }
    }

    fn noun(self) -> &'static str {
        match self {
            InputKind::Database => "a database",
            kind => kind.name(),
        }
    }
}

/// Returns the kind of a path; `None` if it does not exist.
fn kind_of(path: &Path) -> Result<Option<InputKind>, CommandError> {
    if path.as_os_str() == Source::STDIN {
        let start = read::peek_stdin()
            .map_err(|error| CommandError::unreadable(Path::new("standard input"), error))?;
        return kind_of_start(path, &start).map(Some);
    }
    let Ok(metadata) = path.metadata() else {
        return Ok(None);
    };
    if metadata.is_dir() {
        let kind = if load::has_segments(path) || holds_only_records(path) {
            InputKind::Records
        } else {
            InputKind::Mail
        };
        return Ok(Some(kind));
    }
    if !metadata.is_file() {
        return Ok(Some(InputKind::Mail));
    }
    if load::is_named_as_records(path) {
        return Ok(Some(InputKind::Records));
    }
    // The scan reports an unreadable file.
    let start = start_of(path).unwrap_or_default();
    kind_of_start(path, &start).map(Some)
}

/// Returns `true` if a folder contains files, all with an extension of record files.
fn holds_only_records(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files = entries.flatten().peekable();
    files.peek().is_some() && files.all(|file| load::is_named_as_records(&file.path()))
}

fn kind_of_start(path: &Path, start: &[u8]) -> Result<InputKind, CommandError> {
    let name = path.display();
    if start.starts_with(DATABASE_START) {
        return Ok(InputKind::Database);
    }
    if !is_written_line(start) {
        return Ok(InputKind::Mail);
    }
    if start.starts_with(b"{") {
        return Ok(InputKind::Records);
    }
    Err(CommandError::usage(format!(
        "{name} is a table written by urlspool; count the JSON lines of `urlspool scan` instead"
    )))
}

/// Returns the error for paths none of which exists.
fn missing(paths: &[PathBuf]) -> CommandError {
    let mut texts = paths.iter().map(|path| path.to_string_lossy());
    if let Some(server) = texts.find(|path| path.contains("://")) {
        return CommandError::usage(format!(
            "cannot count in {server}: stats reads SQLite databases, records and mail"
        ));
    }
    match paths {
        [path] => {
            let error = path.metadata().err();
            let reason = error.map_or_else(String::new, |error| error.to_string());
            CommandError::unreadable(path, reason)
        }
        _ => CommandError::new(Exit::SomeFailed, "none of the paths exists"),
    }
}
