//! `urlspool man`: a page for the program and each subcommand, from the arguments; urlspool.toml(5), from the commented
//! default; urlspool-record(5), from the schema.

mod command_page;
mod config_page;
mod record_page;
mod roff;

use std::fs;
use std::io;
use std::path::Path;

use clap::{Command, CommandFactory};

use super::args::{Args, ManArgs};
use super::error::{CommandError, CommandResult};
use super::exit::Exit;
use super::stdout::print;
use crate::config::nearest;
use command_page::command_page;
use config_page::config_page;
use record_page::record_page;

/// One manual page.
struct ManualPage {
    /// The argument of `urlspool man`.
    name: String,
    /// The name of its file, without the section.
    title: String,
    /// The section of the manual.
    section: Section,
    /// The page, as roff.
    text: String,
}

/// A section of the manual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    /// Programs.
    Commands = 1,
    /// File formats.
    Formats = 5,
}

pub(super) fn man(args: &ManArgs) -> CommandResult {
    let pages = pages();
    if let Some(folder) = &args.all {
        return write_all(&pages, folder);
    }
    let name = args.page.as_deref().unwrap_or("urlspool");
    match pages
        .iter()
        .find(|page| page.name == name || page.title == name)
    {
        Some(page) => print(page.text.as_bytes()),
        None => Err(unknown_page(name, &pages)),
    }
}

/// All pages: the program's first.
fn pages() -> Vec<ManualPage> {
    let mut program = Args::command().disable_help_subcommand(true);
    program.build();
    let program = with_usage(program);
    let page = |name: &str, title: String, section, text| ManualPage {
        name: name.to_owned(),
        title,
        section,
        text,
    };
    let mut pages = vec![page(
        "urlspool",
        "urlspool".to_owned(),
        Section::Commands,
        command_page(&program),
    )];
    for (name, command) in named_commands(&program) {
        let title = format!("urlspool-{name}");
        pages.push(page(&name, title, Section::Commands, command_page(command)));
    }
    let config = "urlspool.toml";
    pages.push(page(
        config,
        config.to_owned(),
        Section::Formats,
        config_page(),
    ));
    let title = "urlspool-record".to_owned();
    pages.push(page("record", title, Section::Formats, record_page()));
    pages
}

/// The subcommands with the names of their pages, the steps of a subcommand after it: `audit`, `audit-plan`.
fn named_commands(program: &Command) -> Vec<(String, &Command)> {
    let mut commands = Vec::new();
    for command in program.get_subcommands() {
        let name = command.get_name();
        commands.push((name.to_owned(), command));
        let steps = command.get_subcommands();
        commands.extend(steps.map(|step| (format!("{name}-{}", step.get_name()), step)));
    }
    commands
}

/// The command and its subcommands with what `clap_mangen` leaves out: the help of options that only the long help shows, and the
/// values in the synopsis.
fn with_usage(command: Command) -> Command {
    let with_steps = |command: Command| with_options(command.mut_subcommands(with_options));
    with_options(command.mut_subcommands(with_steps))
}

fn with_options(command: Command) -> Command {
    let mut command = command.mut_args(|argument| argument.hide_short_help(false));
    let usage = command.render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage).to_owned();
    command.override_usage(usage)
}

fn unknown_page(name: &str, pages: &[ManualPage]) -> CommandError {
    let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
    let advice = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the pages are {}", names.join(", ")),
    };
    CommandError::new(Exit::Usage, format!("there is no page {name:?}; {advice}"))
}

/// Writes all pages beneath `folder`, where man(1) finds them if the folder is in its path.
fn write_all(pages: &[ManualPage], folder: &Path) -> CommandResult {
    for page in pages {
        let number = page.section as u8;
        let place = folder.join(format!("man{number}"));
        let path = place.join(format!("{}.{number}", page.title));
        let written: io::Result<()> =
            fs::create_dir_all(&place).and_then(|()| fs::write(&path, &page.text));
        written.map_err(|error| CommandError::output(&path.display().to_string(), &error))?;
    }
    Ok(Exit::Done)
}
