//! The texts after the options in the help: exit codes, environment, files, examples. They are
//! blocks with a title; the manual turns each into a section.

use clap::{Command, CommandFactory};

use super::Args;

/// The program with all its subcommands and the texts after their options.
pub(crate) fn command() -> Command {
    let program = Args::command().mut_subcommands(with_texts);
    let help = first_page(&program);
    program.override_help(help)
}

/// The commands by job, as on the first page of the help.
const JOBS: [(&str, &[&str]); 6] = [
    ("Extract URLs", &["scan", "stats", "parse"]),
    ("Check a result", &["explain", "show"]),
    ("Watch live spools", &["watch", "status"]),
    ("Use a database", &["load", "search", "cited", "browse"]),
    ("Find dead links", &["audit"]),
    ("Set up", &["config", "generate", "help"]),
];

/// The help of the program: the commands by job, and the options.
fn first_page(program: &Command) -> String {
    let about = program.get_about().map(ToString::to_string);
    let mut page = format!(
        "{}\n\nUsage: urlspool [OPTIONS] <COMMAND>\n",
        about.unwrap_or_default()
    );
    for (job, names) in JOBS {
        page += &format!("\n{job}:\n");
        for name in names {
            let command = program.find_subcommand(name);
            let about = command
                .and_then(Command::get_about)
                .map(ToString::to_string);
            let about = about.unwrap_or_else(|| "Print the help of a command".to_owned());
            page += &format!("  {name:<10}{about}\n");
        }
    }
    page + FIRST_OPTIONS
}

/// The end of the first page.
const FIRST_OPTIONS: &str = include_str!("first_options.txt");

/// Adds the texts of a command and of its steps.
fn with_texts(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_subcommands(|step| {
        let step_name = format!("{name} {}", step.get_name());
        with_text(step, &step_name)
    });
    with_text(command, &name)
}

fn with_text(command: Command, name: &str) -> Command {
    let text = format!("{}Examples:\n{}", exit_codes(Some(name)), examples(name));
    command.after_long_help(text)
}

/// The blocks on the page of the program in the manual.
pub(crate) fn program_text() -> String {
    format!("{}{PLACES}Examples:\n{}", exit_codes(None), examples(""))
}

/// Exit codes, each with a meaning; a code can have several rows. A meaning that does not apply to
/// all commands starts with their names.
const EXITS: &str = include_str!("exit_codes.txt");

/// The block of the exit codes of a command; `None` for all commands.
fn exit_codes(command: Option<&str>) -> String {
    let mut block = String::from("Exit codes:");
    let mut last = "";
    for (code, row) in EXITS.lines().filter_map(|line| line.split_once(' ')) {
        let Some(meaning) = row_of(command, row) else {
            continue;
        };
        if code == last {
            block += &format!(";\n     {meaning}");
        } else {
            block += &format!("\n{code:>3}  {meaning}");
        }
        last = code;
    }
    block + "\n\n"
}

/// Returns a row as the help of a command shows it, or `None` if it does not apply to the command.
/// Omits the command's name, but keeps the option that the meaning depends on.
fn row_of(command: Option<&str>, row: &str) -> Option<String> {
    let (Some(command), Some((names, meaning))) = (command, row.split_once("`: ")) else {
        return Some(row.to_owned());
    };
    let mut names = names.split(", ").map(|name| name.trim_matches('`'));
    names.find_map(|name| {
        let (name, option) = name.split_once(" --").unwrap_or((name, ""));
        let is_meant = command == name || command.starts_with(&format!("{name} "));
        is_meant.then(|| match option {
            "" => meaning.to_owned(),
            option => format!("--{option}: {meaning}"),
        })
    })
}

const PLACES: &str = include_str!("places.txt");

/// Returns the examples of a command, such as `audit plan`; the program itself has an empty name.
fn examples(command: &str) -> &'static str {
    let blocks = include_str!("examples.txt").split("\n\n");
    let mut named = blocks.filter_map(|block| block.strip_prefix('[')?.split_once("]\n"));
    named
        .find(|(name, _)| *name == command)
        .map_or("", |(_, text)| text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A terminal of 80 columns must not break a command.
    #[test]
    fn examples_fit_on_a_terminal() {
        let program = command();
        let commands = program.get_subcommands();
        let steps = commands.flat_map(|command| command.get_subcommands().chain([command]));
        let texts = steps.map(|command| command.get_after_long_help().unwrap().to_string());
        for text in texts.chain([program_text()]) {
            let (_, examples) = text.split_once("Examples:\n").unwrap();
            let long = examples.lines().find(|line| 80 < line.chars().count());
            assert_eq!(long, None);
        }
    }

    #[test]
    fn the_first_page_has_every_command_once() {
        let program = command();
        let shown = program
            .get_subcommands()
            .filter(|command| !command.is_hide_set());
        let mut shown: Vec<_> = shown.map(Command::get_name).collect();
        shown.push("help");
        let mut named: Vec<_> = JOBS
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        shown.sort_unstable();
        named.sort_unstable();
        assert_eq!(named, shown);
    }
}
