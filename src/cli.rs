//! The program as a shell sees it: commands, flags, messages and exit codes.

mod args;
mod error;
mod exit;
mod explain;
mod location;
mod parse;
mod scan;
mod show;
mod sources;
mod splits;
mod stdout;
mod terminal;
#[cfg(feature = "daemon")]
mod watch;

use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::config::Config;
use crate::record;
use args::{Args, Command};
use error::{CommandError, CommandResult};
use exit::Exit;
use stdout::print;

/// Runs the program with the arguments of the process.
#[must_use]
pub fn run() -> ExitCode {
    // A panic in a message is caught and becomes an event; what the standard library prints of it helps nobody.
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage(&error).into(),
    };
    match command(&args.command) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("urlspool: {}", terminal::escaped(&error.to_string()));
            error.exit.into()
        }
    }
}

/// Prints the help, the version, or the error in the arguments.
fn usage(error: &clap::Error) -> Exit {
    // If the message cannot be printed, nothing else can be.
    let _ = error.print();
    if error.use_stderr() {
        Exit::Usage
    } else {
        Exit::Done
    }
}

fn command(command: &Command) -> CommandResult {
    match command {
        Command::Scan(args) => scan::scan(args),
        #[cfg(feature = "daemon")]
        Command::Watch(args) => watch::watch(args),
        #[cfg(feature = "daemon")]
        Command::Status(args) => watch::status(args),
        Command::Parse(args) => parse::parse(args),
        Command::Show(args) => show::show(args),
        Command::Explain(args) => explain::explain(args),
        Command::Splits(args) => splits::splits(args),
        Command::Schema => print(record::schema().as_bytes()),
        Command::CheckConfig { file } => check_config(file),
        Command::Completions { shell } => completions(*shell),
        Command::Man => man(),
    }
}

fn check_config(path: &Path) -> CommandResult {
    let config = Config::read(path).map_err(|error| CommandError::usage(&error))?;
    config
        .check_folders()
        .map_err(|error| CommandError::usage(&error.in_file(path)))?;
    print(config.resolved().as_bytes())
}

fn completions(shell: clap_complete::Shell) -> CommandResult {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "urlspool", &mut out);
    print(&out)
}

fn man() -> CommandResult {
    let mut out = Vec::new();
    clap_mangen::Man::new(Args::command())
        .render(&mut out)
        .map_err(|error| CommandError::output("the manual page", &error))?;
    print(&out)
}
