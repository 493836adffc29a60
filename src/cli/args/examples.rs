//! The texts after the options in the help: exit codes, environment, files, examples. They are
//! blocks with a title; the manual turns each into a section.

use clap::{Command, CommandFactory};

use super::Args;

/// The program with all its subcommands and the texts after their options.
pub(crate) fn command() -> Command {
    let text = format!("{}{PLACES}Examples:\n{}", exit_codes(None), examples(""));
    Args::command().mut_subcommands(with_texts).after_help(text)
}

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
    command.after_help(text)
}

/// Meanings of the exit codes. A meaning that does not apply to all commands starts with their
/// names.
const EXITS: &[(u8, &[&str])] = &[
    (0, &["done"]),
    (
        1,
        &[
            "`scan`, `stats`, `load`, `show`, `explain`, `splits`, `parse`: some input could not be read, was damaged, or has an unsupported format",
            "`watch --once`: some file could not be read, is locked or still being written",
            "`scan --strict`: there was any event",
            "`parse --check`: some URL was rejected",
            "`stats`, `load`: a line is not a record",
            "`load`: the server refused a record",
            "`audit import`: a result was refused",
            "`audit archive`: a URL got no answer",
            "`audit save`: a URL was not captured",
        ],
    ),
    (
        2,
        &[
            "the arguments, the configuration or an input cannot be used, or a file would be overwritten",
        ],
    ),
    (
        69,
        &[
            "`status`: no daemon answers",
            "`load`, `scan --into`: the server cannot be reached",
            "`browse`: the address cannot be used",
            "`audit check`, `audit inspect`: no server replies",
            "`audit archive`: the server cannot be reached, refuses, or is no CDX server",
            "`audit save`: the service cannot be reached, refuses, or reached its limit",
        ],
    ),
    (
        74,
        &["an output, the state or the database cannot be read or written"],
    ),
    (
        75,
        &[
            "`watch`: another instance is running with the same state",
            "`load`, `scan --into`, `audit`: another program is writing to the database",
        ],
    ),
    (
        78,
        &[
            "`watch`: the state and the output contradict each other",
            "`load`: a segment contradicts its sidecar or the database",
            "`load`, `scan --into`, `stats`, `search`, `cited`, `browse`, `audit`: the database is damaged",
        ],
    ),
    (130, &["interrupted"]),
];

/// The block of the exit codes of a command; `None` for all commands.
fn exit_codes(command: Option<&str>) -> String {
    let mut block = String::from("Exit codes:\n");
    for (code, rows) in EXITS {
        let rows: Vec<String> = rows.iter().filter_map(|row| row_of(command, row)).collect();
        if !rows.is_empty() {
            block += &format!("{code:>3}  {}\n", rows.join(";\n     "));
        }
    }
    block + "\n"
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

const PLACES: &str = "Environment:
  URLSPOOL_CONFIG  the configuration file, if `--config` does not name one
  NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM
                   when to use color, if `--color` is `auto`

Files:
  ~/.config/urlspool/urlspool.toml, /etc/urlspool/urlspool.toml
                   the configuration of `watch`, `status` and `check-config`, not of `scan`

";

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
    use super::command;

    /// A terminal of 80 columns must not break a command.
    #[test]
    fn examples_fit_on_a_terminal() {
        let program = command();
        let commands = program.get_subcommands();
        let steps = commands.flat_map(|command| command.get_subcommands().chain([command]));
        for command in steps.chain([&program]) {
            let text = command.get_after_help().unwrap().to_string();
            let (_, examples) = text.split_once("Examples:\n").unwrap();
            let long = examples.lines().find(|line| 80 < line.chars().count());
            assert_eq!(long, None, "{}", command.get_name());
        }
    }
}
