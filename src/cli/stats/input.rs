//! The inputs of `stats`: mail, records or a database, which their beginning shows.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::super::args::StatsArgs;
use super::super::error::{CommandError, Exit};
use crate::load::{self, is_file_of_database};
use crate::origin::Source;
use crate::read;
use crate::record::is_written_line;
use crate::sink::FileIdentity;

/// The input, all of one kind.
pub(super) enum StatsInput {
    /// Files and folders to scan.
    Mail(Vec<PathBuf>),
    /// Files of records, and folders of segments.
    Records(Vec<PathBuf>),
    /// A database that `load` made.
    Database(PathBuf),
}

/// The kind of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InputKind {
    Mail,
    Records,
    Database,
}

/// Bytes of a file's beginning that show its kind.
const START_BYTES: u64 = 4 << 10;

/// The first bytes of a database.
const DATABASE_START: &[u8] = b"SQLite format 3\0";

impl StatsInput {
    /// Returns the input that the arguments name.
    ///
    /// # Errors
    ///
    /// A usage error: the paths are of several kinds, are of none, or do not exist.
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
            return Err(usage(format!(
                "{} holds {}, and {} {}; count them in two runs",
                first.display(),
                kind.noun(),
                second.display(),
                other.noun()
            )));
        }
        match kind {
            InputKind::Mail => Ok(StatsInput::Mail(paths)),
            _ if has_options(args) => Err(usage(format!(
                "--kind, --include, --exclude and --follow choose files of mail; {} holds {}",
                first.display(),
                kind.noun()
            ))),
            InputKind::Records => Ok(StatsInput::Records(paths)),
            InputKind::Database => match paths.as_slice() {
                [path] => Ok(StatsInput::Database(path.clone())),
                _ => Err(usage(
                    "only one database is counted at a time; name one path".to_owned(),
                )),
            },
        }
    }

    /// The input in titles.
    pub(super) fn title(&self) -> String {
        let paths = match self {
            StatsInput::Mail(paths) | StatsInput::Records(paths) => paths.as_slice(),
            StatsInput::Database(path) => std::slice::from_ref(path),
        };
        match paths {
            [path] if path.as_os_str() == Source::STDIN => "standard input".to_owned(),
            [path] => path.display().to_string(),
            [first, others @ ..] => format!("{} and {} more", first.display(), others.len()),
            [] => String::new(),
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            StatsInput::Mail(_) => "mail",
            StatsInput::Records(_) => "records",
            StatsInput::Database(_) => "database",
        }
    }

    /// Names the input that a file is, if it is one: a path that was given, a file of the database, or a file of records beneath a
    /// folder.
    pub(super) fn name_of(&self, file: &FileIdentity) -> Option<String> {
        let paths = match self {
            StatsInput::Mail(paths) | StatsInput::Records(paths) => paths,
            StatsInput::Database(path) => {
                return is_file_of_database(path, file).then(|| "the database".to_owned());
            }
        };
        let is_file = |path: &&PathBuf| {
            let path = if path.as_os_str() == Source::STDIN {
                Path::new(STDIN_FILE)
            } else {
                path
            };
            FileIdentity::of(path) == *file
        };
        if let Some(path) = paths.iter().find(is_file) {
            return Some(format!("the input {}", path.display()));
        }
        let StatsInput::Records(folders) = self else {
            return None;
        };
        let folder = folders.iter().find(|folder| {
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
    fn noun(self) -> &'static str {
        match self {
            InputKind::Mail => "mail",
            InputKind::Records => "records",
            InputKind::Database => "a database",
        }
    }
}

/// Returns `true` if there are options that choose files of mail.
fn has_options(args: &StatsArgs) -> bool {
    let sources = &args.sources;
    let globs = sources.include.len() + sources.exclude.len();
    0 < globs || sources.follow || sources.kind.is_some()
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
        let kind = if load::has_segments(path) {
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
    let mut start = Vec::new();
    // One that cannot be read is reported by the scan.
    if let Ok(file) = File::open(path) {
        let _ = file.take(START_BYTES).read_to_end(&mut start);
    }
    kind_of_start(path, &start).map(Some)
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
    Err(usage(format!(
        "{name} is a table that urlspool wrote; stats counts records, which `urlspool scan` writes as JSON lines"
    )))
}

/// The error of paths of which none exists.
fn missing(paths: &[PathBuf]) -> CommandError {
    let text = |path: &PathBuf| path.to_string_lossy().into_owned();
    if let Some(server) = paths.iter().map(text).find(|path| path.contains("://")) {
        return usage(format!(
            "cannot count in {server}: stats reads databases of SQLite, records and mail"
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

fn usage(message: String) -> CommandError {
    CommandError::new(Exit::Usage, message)
}
