//! `urlspool completions`, as clap writes them, and `urlspool man`: a page for the program and each
//! subcommand, from the arguments; urlspool.toml(5), from the commented default;
//! urlspool-record(5), from the schema.

use std::fs::{self, File};
use std::io::{self, IsTerminal};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process;

use clap::Command;
use clap::builder::Resettable;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use serde_json::Value;

use super::args::{CompletionsArgs, ManArgs, command};
use super::error::{CommandError, CommandResult, Exit};
use super::terminal::print;
use urlspool_files::config::{Config, nearest};
use urlspool_record::record::{self, SchemaLanguage};

/// One manual page.
struct ManualPage {
    /// The argument of `urlspool man`.
    name: String,
    /// The section of the manual: 1 for programs, 5 for formats of files.
    section: u8,
    text: String,
}

impl ManualPage {
    /// The name of its file, without the section.
    fn title(&self) -> String {
        title(&self.name)
    }
}

fn title(name: &str) -> String {
    if name.starts_with("urlspool") {
        name.to_owned()
    } else {
        format!("urlspool-{name}")
    }
}

pub(super) fn man(args: &ManArgs) -> CommandResult {
    let pages = pages();
    if let Some(folder) = &args.all {
        return write_all(&pages, folder);
    }
    let name = args.page.as_deref().unwrap_or("urlspool");
    match pages
        .iter()
        .find(|page| page.name == name || page.title() == name)
    {
        Some(page) => show(page.text.as_bytes()),
        None => Err(unknown_page(name, &pages)),
    }
}

/// Shows a page on a terminal as man(1) does, and prints it as roff elsewhere, or if there is no `man`.
fn show(page: &[u8]) -> CommandResult {
    if io::stdout().is_terminal()
        && let Ok(file) = in_memory(page)
    {
        // Takes the place of this process, so that the keys of its pager reach nobody else. It returns if it cannot be started.
        let _ = process::Command::new("man")
            .args(["-l", "-"])
            .stdin(file)
            .exec();
    }
    print(page)
}

/// Returns a file of these bytes that exists in memory alone, at its start.
#[cfg(target_os = "linux")]
fn in_memory(bytes: &[u8]) -> io::Result<File> {
    use std::io::{Seek, Write};

    use rustix::fs::{MemfdFlags, memfd_create};

    let mut file = File::from(memfd_create("page", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// Returns an error: this system has no such files, and the page is printed.
#[cfg(not(target_os = "linux"))]
fn in_memory(_: &[u8]) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// All pages: the program's first.
fn pages() -> Vec<ManualPage> {
    let mut program = command().disable_help_subcommand(true);
    program.build();
    let program = with_usage(program);
    let mut pages = vec![command_page("urlspool", &program)];
    for command in program.get_subcommands() {
        let name = command.get_name();
        pages.push(command_page(name, command));
        // The steps of `audit`: `audit-plan`.
        let steps = command.get_subcommands();
        pages.extend(steps.map(|step| command_page(&format!("{name}-{}", step.get_name()), step)));
    }
    pages.extend([config_page(), record_page()]);
    pages
}

/// The command and its subcommands with what `clap_mangen` leaves out: the help of options that
/// only the long help shows, and the values in the synopsis.
fn with_usage(command: Command) -> Command {
    let mut command = command
        .mut_subcommands(with_usage)
        .mut_args(|argument| argument.hide_short_help(false));
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
    CommandError::usage(format!("there is no page {name:?}; {advice}"))
}

/// Writes all pages beneath `folder`, where man(1) finds them if the folder is in its path.
fn write_all(pages: &[ManualPage], folder: &Path) -> CommandResult {
    for page in pages {
        let number = page.section;
        let place = folder.join(format!("man{number}"));
        let path = place.join(format!("{}.{number}", page.title()));
        let written: io::Result<()> =
            fs::create_dir_all(&place).and_then(|()| fs::write(&path, &page.text));
        written.map_err(|error| CommandError::output(&path.display().to_string(), &error))?;
    }
    Ok(Exit::Done)
}

/// Begins a page about a format of files.
fn format_page(title: &str, purpose: &str) -> Roff {
    let version = concat!("urlspool ", env!("CARGO_PKG_VERSION"));
    let mut roff = Roff::new();
    roff.control(
        "TH",
        [&*title.to_uppercase(), "5", "", version, "File formats"],
    );
    section(&mut roff, "NAME", &format!("{title} - {purpose}"));
    roff
}

/// Appends a section of one paragraph.
fn section(roff: &mut Roff, title: &str, paragraph: &str) {
    roff.control("SH", [title]).text([roman(paragraph)]);
}

/// Appends a section of lines that are not filled.
fn verbatim(roff: &mut Roff, title: &str, lines: &str) {
    roff.control("SH", [title]).control("nf", []);
    roff.control("RS", ["4"]).text([roman(lines)]);
    roff.control("RE", []).control("fi", []);
}

/// Appends a term, in bold, with the values beside it, and its description.
fn term(roff: &mut Roff, term: &str, values: &str, description: &str) {
    roff.control("TP", [])
        .text([bold(term), roman(format!(" {values}"))]);
    if !description.is_empty() {
        roff.text([roman(description)]);
    }
}

/// The page of a command that was built.
fn command_page(name: &str, command: &Command) -> ManualPage {
    let mut text = Vec::new();
    let without_blocks = command.clone().after_help(Resettable::Reset);
    let man = Man::new(without_blocks).manual("User commands");
    man.render(&mut text).expect("memory can be written");
    let mut roff = Roff::new();
    // A section for each titled block of the text after the options.
    let after = command.get_after_help().map(ToString::to_string);
    for block in after.unwrap_or_default().split("\n\n") {
        if let Some((title, lines)) = block.split_once(":\n") {
            verbatim(&mut roff, &title.to_uppercase(), lines);
        }
    }
    let others = if name == "audit" {
        "urlspool(1), urlspool-load(1), and a page for each step, such as urlspool-audit-plan(1)"
    } else if name == "urlspool" {
        "urlspool.toml(5), urlspool-record(5), and a page for each subcommand, such as \
         urlspool-scan(1)"
    } else {
        "urlspool(1), urlspool.toml(5), urlspool-record(5)"
    };
    section(&mut roff, "SEE ALSO", others);
    ManualPage {
        name: name.to_owned(),
        section: 1,
        text: String::from_utf8_lossy(&text).into_owned() + &roff.to_roff(),
    }
}

/// The page of the configuration file.
fn config_page() -> ManualPage {
    let name = "urlspool.toml";
    let mut roff = format_page(name, "the configuration of urlspool");
    section(
        &mut roff,
        "DESCRIPTION",
        "A file in TOML. `urlspool watch --config FILE` and `urlspool status --config FILE` read \
         it, and `urlspool scan --config FILE` reads its tables [extract] and [limits]. Unknown \
         keys are errors.",
    );
    let mut comments = Vec::new();
    for line in Config::commented_default().lines() {
        match ConfigLine::of(line) {
            ConfigLine::Comment(text) => comments.push(text),
            ConfigLine::Table(name) => {
                roff.control("SH", [name]);
                paragraph(&mut roff, &mut comments);
            }
            ConfigLine::Key { key, value } => {
                term(&mut roff, key, &format!("= {value}"), &comments.join("\n"));
                comments.clear();
            }
            ConfigLine::Blank => paragraph(&mut roff, &mut comments),
        }
    }
    section(
        &mut roff,
        "FILES",
        "Without --config, `urlspool watch`, `urlspool status` and `urlspool check-config` read \
         the file that URLSPOOL_CONFIG names, or the first that exists of \
         $XDG_CONFIG_HOME/urlspool/urlspool.toml (~/.config/urlspool/urlspool.toml) and \
         /etc/urlspool/urlspool.toml. `urlspool scan` reads only the file of --config or \
         URLSPOOL_CONFIG.",
    );
    let examples =
        "urlspool check-config --default > urlspool.toml\nurlspool check-config urlspool.toml";
    verbatim(&mut roff, "EXAMPLES", examples);
    let others = "urlspool(1), urlspool-watch(1), urlspool-scan(1), urlspool-check-config(1)";
    section(&mut roff, "SEE ALSO", others);
    ManualPage {
        name: name.to_owned(),
        section: 5,
        text: roff.to_roff(),
    }
}

fn paragraph(roff: &mut Roff, comments: &mut Vec<&str>) {
    if !comments.is_empty() {
        roff.control("PP", []).text([roman(comments.join("\n"))]);
        comments.clear();
    }
}

/// One line of the default configuration.
enum ConfigLine<'l> {
    Comment(&'l str),
    /// The header of a table.
    Table(&'l str),
    /// A key and its default.
    Key {
        key: &'l str,
        value: &'l str,
    },
    Blank,
}

impl ConfigLine<'_> {
    /// Reads a line. A table without a default, and its keys, stand in comments.
    fn of(line: &str) -> ConfigLine<'_> {
        let comment = line.strip_prefix('#');
        if let Some(("", example)) = comment.and_then(|text| text.split_once("   ")) {
            return ConfigLine::key(example, "=");
        }
        match comment.map(str::trim_start) {
            Some(text) if text.starts_with("[[") => ConfigLine::Table(text),
            Some(text) => ConfigLine::Comment(text),
            None if line.is_empty() => ConfigLine::Blank,
            None if line.starts_with('[') => ConfigLine::Table(line),
            None => ConfigLine::key(line, " = "),
        }
    }

    fn key<'l>(line: &'l str, equals: &str) -> ConfigLine<'l> {
        let (key, value) = line.split_once(equals).unwrap_or((line, ""));
        ConfigLine::Key { key, value }
    }
}

fn record_page() -> ManualPage {
    let schema: Value = serde_json::from_str(&record::schema(SchemaLanguage::JsonSchema))
        .expect("the schema is JSON");
    let mut roff = format_page("urlspool-record", "the lines that urlspool writes");
    section(
        &mut roff,
        "DESCRIPTION",
        "`urlspool scan` and `urlspool watch` write one JSON object per line. The field `type` \
         says what a line is. `urlspool schema` prints the JSON Schema from which this page is \
         made.",
    );
    for line in list(&schema["oneOf"]) {
        let name = line["properties"]["type"]["const"].as_str();
        let title = format!("TYPE {}", name.unwrap_or_default().to_uppercase());
        section(
            &mut roff,
            &title,
            line["description"].as_str().unwrap_or_default(),
        );
        describe("", line, &mut roff);
    }
    let others = "urlspool(1), urlspool-scan(1), urlspool-schema(1)";
    section(&mut roff, "SEE ALSO", others);
    ManualPage {
        name: "record".to_owned(),
        section: 5,
        text: roff.to_roff(),
    }
}

/// Describes the fields of an object, each before those in it, in the order of the line, which `required` has: an object of
/// `serde_json` is sorted by name. Recurses to the depth of the schema.
fn describe(prefix: &str, object: &Value, roff: &mut Roff) {
    for key in list(&object["required"]).iter().filter_map(Value::as_str) {
        let (name, schema) = (format!("{prefix}{key}"), &object["properties"][key]);
        term(roff, &name, &types(schema), &description(schema));
        describe(&format!("{name}."), schema, roff);
        describe(&format!("{name}[]."), &schema["items"], roff);
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The names of the types of a value.
fn types(schema: &Value) -> String {
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let names: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        several => list(several).iter().filter_map(Value::as_str).collect(),
    };
    names.join(" or ")
}

/// The meaning of a value, and the names that it can have.
fn description(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    let names = [schema, &schema["items"]]
        .into_iter()
        .flat_map(|schema| list(&schema["enum"]))
        .filter_map(Value::as_str)
        .collect::<Vec<_>>();
    match (text, names.as_slice()) {
        (text, []) => text.to_owned(),
        ("", names) => format!("One of {}.", names.join(", ")),
        (text, names) => format!("{text} One of {}.", names.join(", ")),
    }
}

pub(super) fn completions(args: &CompletionsArgs) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "urlspool", &mut script);
    print(&script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_the_schema_is_on_the_page() {
        let page = record_page().text;
        assert!(page.contains("\\fBsource.path\\fR string"));
        let at = |name: &str| page.find(&format!("\\fB{name}\\fR ")).unwrap();
        assert!(at("url") < at("fragment") && at("fragment") < at("alternates"));
        assert!(at("source") < at("source.path") && at("source.end") < at("message"));
        assert!(at("alternates") < at("alternates[].url"));
        for field in record::RECORD_FIELDS
            .iter()
            .filter(|field| field.id().is_some())
        {
            let name = field.name;
            assert!(page.contains(&format!("\\fB{name}\\fR")), "{name}");
        }
    }
}
