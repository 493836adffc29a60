//! `urlspool completions`. The crate `clap_complete` writes the scripts; they are changed so that each name of a
//! comma-separated list is completed, and in fish arguments without a flag, too.

use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;

use super::args::{Args, CompletionsArgs};
use super::error::CommandResult;
use super::stdout::print;

pub(super) fn completions(args: &CompletionsArgs) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "urlspool", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let mut script = with_lists(script, args.shell);
    if args.shell == Shell::Fish {
        script.extend(fish_arguments());
    }
    print(script.as_bytes())
}

/// Lines for the arguments without a flag that have names; the crate writes none for fish.
fn fish_arguments() -> Vec<String> {
    let lines = |command: &Command| -> Vec<String> {
        let name = command.get_name();
        let arguments = command.get_positionals().map(names_of);
        arguments
            .filter(|names| !names.is_empty())
            .map(|names| {
                let names = names.join(" ");
                format!("complete -c urlspool -n \"__fish_urlspool_using_subcommand {name}\" -f -a \"{names}\"\n")
            })
            .collect()
    };
    Args::command().get_subcommands().flat_map(lines).collect()
}

/// The names that an argument can have, if they are known.
fn names_of(arg: &Arg) -> Vec<String> {
    let values = arg.get_possible_values();
    values
        .iter()
        .map(|value| value.get_name().to_owned())
        .collect()
}

/// Option whose value is a comma-separated list of names.
struct ListOption {
    flag: String,
    names: String,
}

impl ListOption {
    fn of(arg: &Arg) -> Option<ListOption> {
        let names = names_of(arg);
        let is_list = arg.get_value_delimiter() == Some(',') && !names.is_empty();
        Some(ListOption {
            flag: arg.get_long().filter(|_| is_list)?.to_owned(),
            names: names.join(" "),
        })
    }
}

fn with_lists(script: String, shell: Shell) -> String {
    let command = Args::command();
    let options = command.get_subcommands().flat_map(Command::get_arguments);
    options
        .filter_map(ListOption::of)
        .fold(script, |script, list| {
            let ListOption { flag, names } = list;
            match shell {
                Shell::Bash => replace_after(
                    &script,
                    &format!("--{flag})"),
                    "compgen -W",
                    "\"${cur}\")",
                    &format!(
                        "compgen -P \"${{cur%\"${{cur##*,}}\"}}\" -W \"{names}\" -- \"${{cur##*,}}\")"
                    ),
                ),
                // The names stand in `:(...)'`, or with their meanings in `:((...))'`.
                Shell::Zsh => replace_after(
                    &script,
                    &format!("--{flag}="),
                    ":(",
                    ")'",
                    &format!(":_values -s , \"{flag}\" {names}'"),
                ),
                Shell::Fish => replace_after(
                    &script,
                    &format!(" -l {flag} "),
                    "-a \"",
                    "'\"",
                    &format!("-a \"(__fish_complete_list , 'string join \\\\n {names}')\""),
                ),
                _ => script,
            }
        })
}

/// Replaces, after each `mark`, the text from `start` to `end`, both included.
fn replace_after(text: &str, mark: &str, start: &str, end: &str, replacement: &str) -> String {
    let mut pieces = text.split(mark);
    let mut replaced = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        replaced.push_str(mark);
        let found = piece.find(start).and_then(|from| {
            let after = from + start.len();
            Some((from, after + piece[after..].find(end)? + end.len()))
        });
        match found {
            Some((from, to)) => {
                replaced.push_str(&piece[..from]);
                replaced.push_str(replacement);
                replaced.push_str(&piece[to..]);
            }
            None => replaced.push_str(piece),
        }
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_replaced_after_each_mark() {
        let text = "x [a] m y [b] z m [c";
        assert_eq!(
            replace_after(text, "m", "[", "]", "!"),
            "x [a] m y ! z m [c"
        );
    }
}
