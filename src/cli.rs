//! Sub-commands and flags, and what becomes of their outcomes: the program as a shell sees it.

mod args;
mod exit;
mod explain;
mod location;
mod parse;
mod report;
mod scan;
mod show;
mod splits;
mod terminal;
mod watch;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Args, Command};
use exit::Exit;

/// Runs the program with the arguments of the process.
#[must_use]
pub fn run() -> ExitCode {
    // A panic in a message is caught and becomes an event; what the library would print of it helps nobody.
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version come this way too, and go to standard output.
            let _ = error.print();
            return if error.use_stderr() {
                Exit::Usage.into()
            } else {
                Exit::Done.into()
            };
        }
    };
    let outcome = match args.command {
        Command::Scan(scan) => scan::scan(&scan),
        Command::Watch(watch) => watch::watch(&watch),
        Command::Status(args) => watch::status(&args),
        Command::Parse(parse) => parse::parse(&parse),
        Command::Show(show) => show::show(&show),
        Command::Explain(explain) => explain::explain(&explain),
        Command::Splits(splits) => splits::splits(&splits),
        Command::Schema => print(urlspool_schema().as_bytes()),
        Command::CheckConfig { file } => check_config(&file),
        Command::Completions { shell } => completions(shell),
        Command::Man => man(),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            eprintln!("urlspool: {}", terminal::harmless(&failure.message));
            failure.exit.into()
        }
    }
}

/// Why a command could not do its work.
pub(crate) struct Failure {
    exit: Exit,
    message: String,
}

impl Failure {
    fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure {
            exit,
            message: message.into(),
        }
    }

    fn output(what: &str, error: &std::io::Error) -> Failure {
        Failure::new(Exit::Output, format!("cannot write {what}: {error}"))
    }
}

type Outcome = Result<Exit, Failure>;

fn urlspool_schema() -> String {
    crate::record::schema()
}

fn check_config(file: &std::path::Path) -> Outcome {
    let config = crate::config::Config::read(file)
        .map_err(|bad| Failure::new(Exit::Usage, bad.to_string()))?;
    config
        .check_folders()
        .map_err(|why| Failure::new(Exit::Usage, format!("{}: {why}", file.display())))?;
    print(config.resolved().as_bytes())
}

fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "urlspool", &mut out);
    print(&out)
}

fn man() -> Outcome {
    let mut out = Vec::new();
    let render = clap_mangen::Man::new(Args::command()).render(&mut out);
    render.map_err(|error| Failure::output("the manual page", &error))?;
    print(&out)
}

/// Writes to standard output.
fn print(bytes: &[u8]) -> Outcome {
    use crate::sink::{PipeSink, Sink};
    let mut out = PipeSink(std::io::stdout().lock());
    out.put(bytes)
        .and_then(|_| out.finish())
        .map_err(|error| Failure::output("standard output", &error))?;
    Ok(Exit::Done)
}
