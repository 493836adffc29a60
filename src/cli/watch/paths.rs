//! `urlspool watch PATH...`: the configuration derived from the arguments.

use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::super::args::{WatchArgs, When};
use super::super::error::{CommandError, Exit};
use super::super::location::{DATABASE_START, start_of};
use super::super::terminal::escaped;
use super::absolute;
use urlspool_files::config::{Config, DedupeScope, ExistingMail, Spool, resolved};
use urlspool_record::record::{LineFormat, Links, is_written_file};
use urlspool_sources::read::is_outlook;
use urlspool_text::hash::hash_pieces;
use urlspool_text::limits::SHOWN_SETTLE_MS;
use urlspool_text::origin::Source;

/// Watched paths, and the place of their state.
pub(super) struct PathWatch {
    pub(super) config: Config,
    /// The folder of a state that is not kept.
    temporary: Option<TemporaryFolder>,
}

impl PathWatch {
    pub(super) fn of(args: &WatchArgs, color: When) -> Result<PathWatch, CommandError> {
        let mut config = Config::default();
        config.metrics.listen = String::new();
        args.filters.apply(&mut config.extract);
        config.check_filters().map_err(CommandError::usage)?;
        if args.filters.defang && (args.stdout || args.output.is_some()) {
            let message = "--defang is for the lines that `watch PATH` shows; use it without -o \
                           and --stdout";
            return Err(CommandError::usage(message));
        }
        for path in &args.paths {
            check_path(path)?;
            let path = absolute(path);
            let found = resolved(&path);
            if !config
                .spool
                .iter()
                .any(|spool| resolved(&spool.path) == found)
            {
                config.spool.push(Spool {
                    path,
                    kind: None,
                    dedupe: DedupeScope::default(),
                });
            }
        }
        config.watch.existing = Some(if args.from_start {
            ExistingMail::Write
        } else {
            ExistingMail::Skip {
                start: SystemTime::now() - FILE_TIME_LAG,
            }
        });
        let mut temporary = None;
        if let Some(folder) = &args.output {
            config.output.dir = absolute(folder);
            config.state.dir = state_in(&config.output.dir);
        } else {
            config.output.stdout = Some(lines(args, config.extract.defang, color));
            config.state.dir = if args.stdout {
                kept_state(&config.spool)?
            } else {
                config.watch.settle = Duration::from_millis(SHOWN_SETTLE_MS);
                let folder = temporary.insert(TemporaryFolder::create()?);
                folder.path.clone()
            };
            // No segments are written.
            config.output.dir = config.state.dir.join("segments");
        }
        check_places(args, &config)?;
        Ok(PathWatch { config, temporary })
    }

    /// Returns the first line for standard error; `None` if the log contains the same information.
    pub(super) fn greeting(&self, args: &WatchArgs) -> Option<String> {
        let is_skipping = matches!(self.config.watch.existing, Some(ExistingMail::Skip { .. }));
        if args.once && self.temporary.is_some() && is_skipping {
            let line = "--once without -o prints only mail that arrives during the run; add \
                        --from-start, or -o FOLDER";
            return Some(line.to_owned());
        }
        if args.output.is_some() || args.once {
            return None;
        }
        let paths: Vec<_> = self
            .config
            .spool
            .iter()
            .map(|spool| spool.path.display().to_string())
            .collect();
        let existing = match self.config.watch.existing {
            Some(ExistingMail::Skip { .. }) => {
                "; mail from before the first start is skipped (--from-start prints it)"
            }
            _ => "",
        };
        let state = match self.temporary {
            None => format!("; state in {}", self.config.state.dir.display()),
            Some(_) => String::new(),
        };
        Some(format!("watching {}{existing}{state}", paths.join(", ")))
    }
}

/// Maximum lag of the times of files behind the clock: a tick of the kernel.
const FILE_TIME_LAG: Duration = Duration::from_millis(10);

/// Returns the folder of the state that belongs to the segments in `folder`.
pub(super) fn state_in(folder: &Path) -> PathBuf {
    folder.join(".state")
}

/// Returns the format of the printed lines.
fn lines(args: &WatchArgs, is_defanged: bool, color: When) -> LineFormat {
    if args.stdout {
        return LineFormat::default();
    }
    let links = if is_defanged {
        Links::Defanged
    } else {
        Links::Live
    };
    LineFormat::Watch(color.grep_style(), links)
}

/// Checks that a path can be watched.
fn check_path(path: &Path) -> Result<(), CommandError> {
    if path.as_os_str() == Source::STDIN {
        return refused(
            path,
            "standard input ends; read it with `urlspool scan -`, as in `tail -F mbox | urlspool \
             scan -`",
        );
    }
    if path.extension().is_some_and(|ending| ending == "toml") && path.is_file() {
        return refused(path, "it is a configuration; pass it with --config");
    }
    let start = start_of(path).unwrap_or_default();
    if start.starts_with(DATABASE_START) {
        return refused(
            path,
            "it is a database, not mail; `urlspool search` and `urlspool stats` read it",
        );
    }
    if is_outlook(&start) {
        return refused(
            path,
            "it is an Outlook folder, which `urlspool scan` reads; watch the mailbox on its server",
        );
    }
    if is_written_file(&start) {
        return refused(
            path,
            "it was written by urlspool and is not mail; name the mailbox, Maildir or folder \
             that it came from",
        );
    }
    let opened = match path.metadata() {
        Ok(metadata) if metadata.is_dir() => fs::read_dir(path).map(|_| ()),
        Ok(metadata) if metadata.is_file() => File::open(path).map(|_| ()),
        Ok(_) => {
            return refused(
                path,
                "it is neither a file nor a folder; name a mailbox, a Maildir or a folder of mail",
            );
        }
        Err(error) => Err(error),
    };
    match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => refused(
            path,
            "there is no such file or folder; name a mailbox, a Maildir or a folder of mail",
        ),
        Err(error) => refused(path, &format!("{error}; run it as a user with read access")),
        Ok(()) => Ok(()),
    }
}

fn refused(path: &Path, reason: &str) -> Result<(), CommandError> {
    let name = path.to_string_lossy();
    let message = format!("cannot watch {}: {reason}", escaped(&name));
    Err(CommandError::usage(message))
}

/// Checks that the output is not inside the input.
fn check_places(args: &WatchArgs, config: &Config) -> Result<(), CommandError> {
    let (option, given, folder) = match &args.output {
        Some(given) => ("-o", given, &config.output.dir),
        None => ("the state", &config.state.dir, &config.state.dir),
    };
    let place = resolved(folder);
    let reason = if place.exists() && !place.is_dir() {
        Some("it is not a folder; name another path (a missing folder is created)".to_owned())
    } else {
        args.paths.iter().find_map(|path| conflict(&place, path))
    };
    match reason {
        None => Ok(()),
        Some(reason) => {
            let message = format!("{option} {}: {reason}", given.display());
            Err(CommandError::usage(escaped(&message)))
        }
    }
}

/// Returns the reason why a place must not be written to while a path is watched.
fn conflict(place: &Path, path: &Path) -> Option<String> {
    let watched = resolved(path);
    let path = path.display();
    if place.starts_with(&watched) {
        Some(format!(
            "it is inside {path}, which is watched; name a folder outside it"
        ))
    } else if watched.starts_with(place) {
        Some(format!(
            "it contains {path}, which is watched; name another folder"
        ))
    } else {
        None
    }
}

/// Returns the folder of the state of `watch --stdout` for these paths.
fn kept_state(spools: &[Spool]) -> Result<PathBuf, CommandError> {
    let named = env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = env::home_dir().map(|home| home.join(".local/state"));
    let Some(base) = named.filter(|path| path.is_absolute()).or(home) else {
        let message = "there is no home folder for the state of --stdout; set XDG_STATE_HOME, or \
                       write segments with -o FOLDER";
        return Err(CommandError::usage(message));
    };
    let mut paths: Vec<PathBuf> = spools.iter().map(|spool| resolved(&spool.path)).collect();
    paths.sort_unstable();
    let pieces: Vec<&[u8]> = paths
        .iter()
        .flat_map(|path| [path.as_os_str().as_bytes(), b"\0"])
        .collect();
    let key = hash_pieces(&pieces) >> 64;
    Ok(base.join("urlspool").join(format!("watch-{key:016x}")))
}

/// A folder that is removed on drop.
struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    /// Creates a folder that only its owner may read.
    fn create() -> Result<TemporaryFolder, CommandError> {
        let process = std::process::id();
        let mut attempt = 0;
        loop {
            let path = env::temp_dir().join(format!("urlspool-watch-{process}-{attempt}"));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(TemporaryFolder { path }),
                // A killed process may have had the same process ID.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => attempt += 1,
                Err(error) => {
                    let name = path.display();
                    let message = format!(
                        "cannot make the folder {name} for the state: {error}; TMPDIR names \
                         another place"
                    );
                    return Err(CommandError::new(Exit::Output, message));
                }
            }
        }
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // The system removes the folder if this fails.
        let _ = fs::remove_dir_all(&self.path);
    }
}
