//! The program as a shell sees it: commands, flags, messages and exit codes.

mod args;
#[cfg(feature = "audit")]
mod audit;
mod config_path;
mod embedded;
mod error;
mod explain;
#[cfg(feature = "load")]
mod load;
mod location;
mod manual;
mod parse;
mod scan;
#[cfg(feature = "load")]
mod search;
mod show;
#[cfg(feature = "load")]
mod signals;
mod sources;
mod splits;
mod terminal;
#[cfg(feature = "daemon")]
mod watch;

pub use embedded::{OptionError, ScanRequest, run_with, scan_request};

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory, FromArgMatches};

use crate::config::NamedValue;
use crate::diagnostic::{EscapeForm, printable, printable_lines};
use crate::record;
use args::{Args, Command, When};
use error::{CommandResult, Exit};
use terminal::{print, print_message};

/// Runs the program with the arguments of the process.
#[must_use]
pub fn command_line() -> ExitCode {
    // A panic in a message is caught and becomes an event; what the standard library prints of it helps nobody.
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|_| {}));
    }
    run_arguments(&std::env::args_os().collect::<Vec<_>>()).into()
}

fn run_arguments(arguments: &[OsString]) -> Exit {
    let args = match parse_args(arguments) {
        Ok(args) => args,
        Err(error) => return usage(&error, arguments),
    };
    match command(args) {
        Ok(exit) => exit,
        Err(error) => {
            print_message(format_args!("urlspool: {error}"));
            error.exit
        }
    }
}

fn parse_args(arguments: &[OsString]) -> Result<Args, clap::Error> {
    let mut command = Args::command().color(color_choice(arguments));
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    Args::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// The value of `--color`, which also holds for the help and for errors of the other arguments.
fn color_choice(arguments: &[OsString]) -> ColorChoice {
    let texts = arguments.iter().map(|argument| argument.to_str());
    let mut options = texts.take_while(|text| *text != Some("--")).flatten();
    let mut choice = When::default();
    while let Some(option) = options.next() {
        let value = match option.strip_prefix("--color") {
            Some("") => options.next(),
            Some(value) => value.strip_prefix('='),
            None => None,
        };
        choice = value.and_then(When::named).unwrap_or(choice);
    }
    choice.clap_choice()
}

/// Prints the help, the version, or the error in the arguments.
///
/// An error repeats an argument, which may be a hostile file name. It is that of the arguments without what a terminal would
/// obey, since its own text holds control characters for colours.
fn usage(error: &clap::Error, arguments: &[OsString]) -> Exit {
    let escape = |argument: &OsString| printable(&argument.to_string_lossy()).into();
    let escaped: Vec<OsString> = arguments.iter().map(escape).collect();
    // If the message cannot be printed, nothing else can be.
    let _ = if escaped == arguments {
        error.print()
    } else if let Err(error) = parse_args(&escaped) {
        error.print()
    } else {
        let text = error.render().to_string();
        io::stderr().write_all(&printable_lines(text.as_bytes(), EscapeForm::Text))
    };
    if error.use_stderr() {
        Exit::Usage
    } else {
        Exit::Done
    }
}

fn command(args: Args) -> CommandResult {
    let color = args.color;
    match args.command {
        Command::Scan(args) => scan::scan(&args::ScanArgs { color, ..*args }),
        #[cfg(feature = "daemon")]
        Command::Watch(args) => watch::watch(&args, color),
        #[cfg(feature = "daemon")]
        Command::Status(args) => watch::status(&args),
        Command::Parse(args) => parse::parse(&args),
        Command::Show(args) => show::show(&args),
        Command::Explain(args) => explain::explain(&args, color),
        Command::Splits(args) => splits::splits(&args),
        #[cfg(feature = "load")]
        Command::Load(args) => load::load(&args),
        #[cfg(feature = "load")]
        Command::Search(args) => search::search(&args::SearchArgs { color, ..args }),
        #[cfg(feature = "audit")]
        Command::Audit(args) => audit::audit(&args),
        Command::Schema(args) => print(record::schema(args.language).as_bytes()),
        Command::CheckConfig(args) => config_path::check_config(&args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&args),
    }
}
