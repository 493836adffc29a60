//! `urlspool watch` and `urlspool status`.

use std::io;
use std::path::Path;

use super::args::{LogFormat, StatusArgs, WatchArgs};
use super::exit::Exit;
use super::{Failure, Outcome, print};
use crate::config::Config;
use crate::daemon::{self, DaemonError, RunMode};
use crate::pipeline::Unique;

pub(super) fn watch(args: &WatchArgs) -> Outcome {
    let config = configured(&args.config)?;
    let unclear =
        |what: &str| Failure::new(Exit::Usage, format!("{}: {what}", args.config.display()));
    if config.spool.is_empty() {
        return Err(unclear("no [[spool]] to watch"));
    }
    if config.extract.unique == Unique::Run {
        return Err(unclear(
            "extract.unique = \"run\" is for scans: a daemon has no end",
        ));
    }
    config
        .check_folders()
        .map_err(|error| unclear(&error.to_string()))?;
    log(args.log);
    let once = if args.once {
        RunMode::Once
    } else {
        RunMode::Forever
    };
    match daemon::run(args.config.clone(), config, once, args.rebuild_state) {
        Ok(()) => Ok(Exit::Done),
        Err(fault) => {
            let exit = match fault {
                DaemonError::OutOfSpace(_) | DaemonError::Io(_) => Exit::Output,
                DaemonError::Inconsistent(_) => Exit::Inconsistent,
                DaemonError::Locked(_) => Exit::Held,
            };
            Err(Failure::new(exit, fault.to_string()))
        }
    }
}

pub(super) fn status(args: &StatusArgs) -> Outcome {
    let config = configured(&args.config)?;
    let answer = daemon::ask(&config).map_err(|error| {
        let dir = config.state.dir.display();
        Failure::new(
            Exit::NoDaemon,
            format!("no daemon answers in {dir}: {error}"),
        )
    })?;
    print(answer.as_bytes())
}

fn configured(path: &Path) -> Result<Config, Failure> {
    Config::read(path).map_err(|bad| Failure::new(Exit::Usage, bad.to_string()))
}

/// Begins the log on standard error.
fn log(how: LogFormat) {
    let all = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_target(false);
    match how {
        LogFormat::Text => all
            .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
            .init(),
        LogFormat::Json => all.json().init(),
    }
}
