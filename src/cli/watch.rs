//! `urlspool watch` and `urlspool status`.

use std::io::{self, IsTerminal};

use super::args::{LogFormat, StatusArgs, WatchArgs, When};
use super::config_path::{config_error, daemon_config, read_config};
use super::error::{CommandError, CommandResult, Exit};
use super::status_page::status_page;
use super::terminal::{escaped, print, print_message};
use crate::daemon::{self, DaemonError, RunMode, StateSource};
use crate::limits::REPORTED_FAILURES;

pub(super) fn watch(args: &WatchArgs, color: When) -> CommandResult {
    let given = args.config.as_deref();
    let path = daemon_config(given)?;
    let config = read_config(&path, given)?;
    config
        .check_watch()
        .map_err(|error| config_error(&error.in_file(&path), given))?;
    start_log(args.log, color);
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
    let end = daemon::run(path, config, mode, source)
        .map_err(|error| CommandError::new(exit_code(&error), error.to_string()))?;
    let (named, others) = end.unread.split_at(end.unread.len().min(REPORTED_FAILURES));
    for file in named {
        print_message(format_args!("urlspool: not read: {}", escaped(file)));
    }
    if !others.is_empty() {
        print_message(format_args!("urlspool: and {} more files", others.len()));
    }
    Ok(if named.is_empty() {
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
    }
}

pub(super) fn status(args: &StatusArgs) -> CommandResult {
    let given = args.config.as_deref();
    let config = read_config(&daemon_config(given)?, given)?;
    let answer = daemon::ask(&config).map_err(|error| {
        let dir = config.state.dir.display();
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

/// Starts the log on standard error.
fn start_log(format: LogFormat, color: When) {
    let log = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        // A line that cannot be written is lost; by default the library panics then.
        .log_internal_errors(false)
        .with_target(false);
    match format {
        LogFormat::Text => log.with_ansi(color.colors(&io::stderr())).init(),
        LogFormat::Json => log.json().init(),
    }
}
