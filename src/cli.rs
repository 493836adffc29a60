//! The command line: commands, flags, messages and exit codes.

mod args;
mod audit;
mod config_path;
mod error;
mod explain;
mod load;
mod location;
mod manual;
mod parse;
mod scan;
mod search;
mod show;
mod signals;
mod splits;
mod stats;
mod terminal;
mod watch;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};
use clap::{ColorChoice, CommandFactory, FromArgMatches};

use args::{Args, Command, ConfigCommand, GeneralArgs, GenerateCommand, When};
use error::{CommandResult, Exit};
use terminal::{print, print_message};
use urlspool_files::config::{Config, NamedValue};
use urlspool_files::pipeline::raise_open_files;
use urlspool_record::record;
use urlspool_text::diagnostic::{EscapeForm, printable, printable_lines};

/// Runs the program with the arguments of the process.
#[must_use]
pub fn command_line() -> ExitCode {
    // A panic in a message is caught and becomes an event, so the output of the standard library
    // would only confuse users.
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|_| {}));
    }
    raise_open_files();
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
    let color = color_choice(arguments);
    let mut command = Args::command().color(color);
    let matches = command.try_get_matches_from_mut(arguments).or_else(|_| {
        // Only help needs the texts after the options, which take long to make.
        command = args::command().color(color);
        command.try_get_matches_from_mut(arguments)
    });
    let mut matches = matches.map_err(|error| without_escape_advice(error, arguments))?;
    Args::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Names that other programs use for a command of this one.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("extract", "scan PATH..."),
    ("find", "scan PATH..."),
    ("grep", "scan --format grep PATH..."),
    ("summary", "stats PATH..."),
    ("stat", "stats PATH..."),
    ("top", "stats PATH..."),
    ("query", "search DB WORD..."),
    ("import", "load --into DB RECORDS..."),
    ("daemon", "watch --config FILE"),
];

/// Returns the command that was probably meant by an unknown word: `scan` for a file name, or the
/// command behind another program's name.
fn meant_command(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let other = OTHER_NAMES.iter().find(|(name, _)| name == word);
    let command = match other {
        Some((_, command)) => (*command).to_owned(),
        None if Path::new(word).exists() => format!("scan {word}"),
        None => return None,
    };
    Some(format!(
        "`{word}` is not a command; did you mean: urlspool {command}"
    ))
}

/// Removes the advice to write an unknown option as a value (`-- --flag`): it is never meant, but
/// `-word` in a search is.
fn without_escape_advice(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let is_search = arguments.get(1).is_some_and(|name| name == "search");
    let removed = if is_search { "use '-- --" } else { "use '-- " };
    if let Some(ContextValue::StyledStrs(advice)) = error.remove(ContextKind::Suggested) {
        let is_other = |line: &StyledStr| !line.to_string().contains(removed);
        let others: Vec<_> = advice.into_iter().filter(is_other).collect();
        if !others.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(others));
        }
    }
    error
}

/// Returns the value of `--color`, which also applies to the help and to errors in other arguments.
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
/// An error repeats an argument, which may be a hostile file name. The error is therefore created
/// again from escaped arguments without passwords: its own text contains control characters for
/// colours and cannot be escaped.
fn usage(error: &clap::Error, arguments: &[OsString]) -> Exit {
    if let Some(message) = meant_command(error) {
        print_message(format_args!("urlspool: {}", printable(&message)));
        return Exit::Usage;
    }
    let escape = |argument: &OsString| {
        let text = without_password(&argument.to_string_lossy());
        printable(&text).into()
    };
    let escaped: Vec<OsString> = arguments.iter().map(escape).collect();
    // If the message cannot be printed, no other message can be.
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

/// Masks the passwords in the URL of a server, which is refused because of them.
fn without_password(argument: &str) -> String {
    const SCHEMES: [&str; 4] = [
        "postgresql",
        "postgres",
        "elasticsearch+http",
        "elasticsearch+https",
    ];
    let Some((scheme, rest)) = argument.split_once("://") else {
        return argument.to_owned();
    };
    if !SCHEMES.iter().any(|name| scheme.ends_with(name)) {
        return argument.to_owned();
    }
    let rest = match rest.rsplit_once('@') {
        Some((login, place)) => match login.split_once(':') {
            Some((user, _)) => format!("{user}:***@{place}"),
            None => rest.to_owned(),
        },
        None => rest.to_owned(),
    };
    let mut parts = rest.split("password=");
    let mut shown = format!("{scheme}://{}", parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find('&').unwrap_or(part.len());
        shown.push_str("password=***");
        shown.push_str(&part[end..]);
    }
    shown
}

fn command(args: Args) -> CommandResult {
    let general = args.general;
    let GeneralArgs { color, quiet } = general;
    match args.command {
        Command::Scan(args) => scan::scan(&args::ScanArgs { general, ..*args }),
        Command::Stats(args) => stats::stats(&args::StatsArgs { general, ..args }),
        Command::Watch(args) => watch::watch(&args, general),
        Command::Status(args) => watch::status(&args),
        Command::Parse(args) => parse::parse(&args),
        Command::Show { place } => show::show(place.as_deref()),
        Command::Explain(args) => explain::explain(&args, color),
        Command::Splits(args) => splits::splits(&args),
        Command::Load(args) => load::load(&args, quiet),
        Command::Search(args) => search::search(&args::SearchArgs { general, ..args }),
        Command::Cited(args) => search::cited(&args::CitedArgs { general, ..args }),
        Command::Browse(args) => search::browse(&args),
        Command::Audit(step) => audit::audit(step, quiet),
        Command::Config(ConfigCommand::Check { file }) => config_path::check(file.as_deref()),
        Command::Config(ConfigCommand::Default) => print(Config::commented_default().as_bytes()),
        Command::Generate(GenerateCommand::Man { page, all }) => {
            manual::man(page.as_deref(), all.as_deref())
        }
        Command::Generate(GenerateCommand::Completions { shell }) => manual::completions(shell),
        Command::Generate(GenerateCommand::Schema { format }) => {
            print(record::schema(format).as_bytes())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::without_password;

    #[test]
    fn passwords_of_targets_are_masked() {
        for (argument, shown) in [
            (
                "postgresql://me:a@b:c@host/db",
                "postgresql://me:***@host/db",
            ),
            (
                "--into=postgres://me:x@h/db",
                "--into=postgres://me:***@h/db",
            ),
            (
                "elasticsearch+https://me:@h/urls",
                "elasticsearch+https://me:***@h/urls",
            ),
            (
                "postgresql://h/db?password=x&a=b&sslpassword=y",
                "postgresql://h/db?password=***&a=b&sslpassword=***",
            ),
        ] {
            assert_eq!(without_password(argument), shown);
        }
        for argument in [
            "postgresql://me@h:5432/db",
            "elasticsearch+http://h:9200/urls",
            "http://me:x@h/",
            "a:b@c",
        ] {
            assert_eq!(without_password(argument), argument);
        }
    }
}
