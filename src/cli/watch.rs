//! `urlspool watch` and `urlspool status`.

mod paths;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use super::args::{LogFormat, StatusArgs, WatchArgs, When};
use super::config_path::{config_error, daemon_config, read_config};
use super::error::{CommandError, CommandResult, Exit};
use super::status_page::status_page;
use super::terminal::{escaped, print, print_message};
use crate::config::{Config, ExistingMail};
use crate::daemon::{self, DaemonError, RunMode, StateSource};
use crate::limits::REPORTED_FAILURES;
use paths::PathWatch;

pub(super) fn watch(args: &WatchArgs, color: When) -> CommandResult {
    if args.paths.is_empty() {
        let given = args.config.as_deref();
        let path = daemon_config(given)?;
        let config = read_config(&path, given)?;
        config
            .check_watch()
            .map_err(|error| config_error(&error.in_file(&path), given))?;
        start_log(args.log, color, tracing::Level::INFO);
        return run(args, Some(path), config);
    }
    let mut watch = PathWatch::of(args, color)?;
    if args.rebuild_state {
        // What no sidecar lists is written again.
        watch.config.watch.existing = Some(ExistingMail::Write);
    }
    let level = match args.output {
        Some(_) => tracing::Level::INFO,
        None => tracing::Level::WARN,
    };
    start_log(args.log, color, level);
    if let Some(line) = watch.greeting(args) {
        print_message(format_args!("urlspool: {}", escaped(&line)));
    }
    let config = watch.config.clone();
    if args.from_start && args.output.is_some() && config.state.dir.join(STATE_FILE).exists() {
        tracing::info!(
            "{} is the state of an earlier run: --from-start changes nothing for mail that was \
             there then; another -o FOLDER takes all mail",
            config.state.dir.display()
        );
    }
    // The sandbox of this thread and its children does not keep the state from being removed after
    // it.
    std::thread::scope(|scope| scope.spawn(|| run(args, None, config)).join()).unwrap_or_else(
        |_| {
            let message = "the program failed; please report this as a bug";
            Err(CommandError::new(Exit::Output, message))
        },
    )
}

/// The file that a folder of states holds after a run.
const STATE_FILE: &str = "state.db";

/// Checks that the folders of the daemon are none of the user's files.
fn check_folders(config: &Config) -> Result<(), CommandError> {
    let named = [
        ("output.dir", &config.output.dir),
        ("state.dir", &config.state.dir),
    ];
    let is_other = |folder: &Path| folder.exists() && !folder.is_dir();
    match named.into_iter().find(|(_, folder)| is_other(folder)) {
        None => Ok(()),
        Some((key, folder)) => Err(CommandError::new(
            Exit::Usage,
            format!(
                "{key} {} is no folder; name one, which is made if it does not exist",
                folder.display()
            ),
        )),
    }
}

/// Runs the daemon, and reports what it did not read.
fn run(args: &WatchArgs, path: Option<PathBuf>, config: Config) -> CommandResult {
    check_folders(&config)?;
    let mode = if args.once {
        RunMode::Once
    } else {
        RunMode::Forever
    };
    let source = if args.rebuild_state {
        StateSource::Sidecars
    } else {
        StateSource::Database
    };
    let end = match daemon::run(path, config, mode, source) {
        Ok(end) => end,
        Err(DaemonError::OutputClosed) => return Ok(Exit::Done),
        Err(error) => return Err(CommandError::new(exit_code(&error), error.to_string())),
    };
    let (named, others) = end.unread.split_at(end.unread.len().min(REPORTED_FAILURES));
    for file in named {
        print_message(format_args!("urlspool: not read: {}", escaped(file)));
    }
    if !others.is_empty() {
        print_message(format_args!("urlspool: and {} more files", others.len()));
    }
    Ok(if end.interrupted {
        Exit::Interrupted
    } else if named.is_empty() {
        Exit::Done
    } else {
        Exit::SomeFailed
    })
}

fn exit_code(error: &DaemonError) -> Exit {
    match error {
        DaemonError::OutOfSpace { .. } | DaemonError::Io { .. } => Exit::Output,
        DaemonError::Inconsistent { .. } => Exit::Inconsistent,
        DaemonError::Locked { .. } => Exit::Locked,
        DaemonError::Refused { .. } => Exit::Usage,
        DaemonError::OutputClosed => Exit::Done,
    }
}

pub(super) fn status(args: &StatusArgs) -> CommandResult {
    let dir = match &args.output {
        Some(folder) => paths::state_in(&absolute(folder)),
        None => {
            let given = args.config.as_deref();
            read_config(&daemon_config(given)?, given)?.state.dir
        }
    };
    let answer = daemon::ask(&dir).map_err(|error| {
        let dir = dir.display();
        CommandError::new(
            Exit::Unreachable,
            format!("no daemon answers in {dir}: {error}; `urlspool watch` starts one"),
        )
    })?;
    let is_page = !args.json && io::stdout().is_terminal();
    match serde_json::from_str(&answer) {
        Ok(status) if is_page => print(status_page(&status).as_bytes()),
        _ => print(answer.as_bytes()),
    }
}

/// The absolute path. It stays relative if the current folder is gone, which is reported when it is
/// used.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Starts the log on standard error, for lines of this level and above.
fn start_log(format: LogFormat, color: When, level: tracing::Level) {
    let log = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_max_level(level)
        // A line that cannot be written is lost; by default the library panics then.
        .log_internal_errors(false)
        .with_target(false);
    match format {
        LogFormat::Text => log.with_ansi(color.colors(&io::stderr())).init(),
        LogFormat::Json => log.json().init(),
    }
}
