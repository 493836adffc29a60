//! `urlspool completions`, as clap writes them, and `urlspool man`: a page for the program and each
//! subcommand, from the arguments; urlspool.toml(5), from the commented default;
//! urlspool-record(5), from the schema.

use std::fs::{self, File};
use std::io::{self, IsTerminal};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use serde_json::Value;

use super::args::{Args, CompletionsArgs, ManArgs};
use super::error::{CommandError, CommandResult, Exit};
use super::terminal::print;
use crate::config::{Config, nearest};
use crate::record::{self, SchemaLanguage};

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

/// The subcommands with the names of their pages, the steps of a subcommand after it: `audit`,
/// `audit-plan`.
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

/// The command and its subcommands with what `clap_mangen` leaves out: the help of options that
/// only the long help shows, and the values in the synopsis.
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

/// Writer of one manual page.
struct RoffPage {
    text: String,
}

impl RoffPage {
    /// The title line and the section NAME of a page in section 5 of the manual.
    fn of_format(title: &str, purpose: &str) -> RoffPage {
        let version = env!("CARGO_PKG_VERSION");
        let mut page = RoffPage {
            text: format!(
                ".TH \"{}\" 5 \"\" \"urlspool {version}\" \"File formats\"\n",
                title.to_uppercase()
            ),
        };
        page.section("name");
        page.line(&format!("{title} - {purpose}"));
        page
    }

    /// An empty text, to follow sections that were written before.
    fn continued() -> RoffPage {
        RoffPage {
            text: String::new(),
        }
    }

    /// The heading of a section.
    fn section(&mut self, title: &str) {
        self.text += &format!(".SH \"{}\"\n", escaped(&title.to_uppercase()));
    }

    /// The heading of a section that is a name, which keeps its letters.
    fn named_section(&mut self, title: &str) {
        self.text += &format!(".SH \"{}\"\n", escaped(title));
    }

    fn paragraph(&mut self, text: &str) {
        self.text += ".PP\n";
        self.line(text);
    }

    /// A term, in bold, with the values beside it, and its description.
    fn term(&mut self, term: &str, values: &str, description: &str) {
        self.text += &format!(".TP\n\\fB{}\\fR {}\n", escaped(term), escaped(values));
        self.line(description);
    }

    /// Lines that are not filled.
    fn verbatim(&mut self, lines: &str) {
        self.text += ".PP\n.nf\n.RS 4\n";
        self.line(lines);
        self.text += ".RE\n.fi\n";
    }

    /// The page.
    fn finish(self) -> String {
        self.text
    }

    fn line(&mut self, text: &str) {
        for line in text.lines() {
            // A `.` or `'` at the start of a line would be a request.
            let guard = if line.starts_with(['.', '\'']) {
                "\\&"
            } else {
                ""
            };
            self.text += &format!("{guard}{}\n", escaped(line));
        }
    }
}

/// Escapes what roff would obey. `-` becomes the minus that can be copied from the page.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('"', "\\(dq")
}

/// The page of a command that was built.
fn command_page(command: &Command) -> String {
    let man = Man::new(command.clone()).manual("User commands");
    let mut out = Vec::new();
    let is_program = command.has_subcommands();
    let rendered = man
        .render_title(&mut out)
        .and_then(|()| man.render_name_section(&mut out))
        .and_then(|()| man.render_synopsis_section(&mut out))
        .and_then(|()| man.render_description_section(&mut out))
        .and_then(|()| man.render_options_section(&mut out))
        .and_then(|()| {
            if is_program {
                man.render_subcommands_section(&mut out)
            } else {
                Ok(())
            }
        });
    rendered.expect("memory can be written");
    let options = String::from_utf8_lossy(&out).into_owned();
    let mut page = RoffPage::continued();
    blocks(command, &mut page);
    page.section("see also");
    page.paragraph(if command.get_name() == "audit" {
        "urlspool(1), urlspool-load(1), and a page for each step, such as urlspool-audit-plan(1)"
    } else if is_program {
        "urlspool.toml(5), urlspool-record(5), and a page for each subcommand, such as \
         urlspool-scan(1)"
    } else {
        "urlspool(1), urlspool.toml(5), urlspool-record(5)"
    });
    options + &page.finish()
}

/// A section for each titled block of the text after the options.
fn blocks(command: &Command, page: &mut RoffPage) {
    let after = command.get_after_long_help().or(command.get_after_help());
    let text = after.map(ToString::to_string).unwrap_or_default();
    for block in text.split("\n\n") {
        if let Some((title, lines)) = block.split_once(":\n") {
            page.section(title);
            page.verbatim(lines);
        }
    }
}

/// The page of the configuration file.
fn config_page() -> String {
    let mut page = RoffPage::of_format("urlspool.toml", "the configuration of urlspool");
    page.section("description");
    page.paragraph(
        "A file in TOML. `urlspool watch --config FILE` and `urlspool status --config FILE` read \
         it, and `urlspool scan --config FILE` reads its tables [extract] and [limits]. Unknown \
         keys are errors.",
    );
    let mut comments = Vec::new();
    for line in Config::commented_default().lines() {
        match ConfigLine::of(line) {
            ConfigLine::Comment(text) => comments.push(text),
            ConfigLine::Table(name) => {
                page.named_section(name);
                paragraph(&mut page, &mut comments);
            }
            ConfigLine::Key { key, value } => {
                page.term(key, &format!("= {value}"), &comments.join("\n"));
                comments.clear();
            }
            ConfigLine::Blank => paragraph(&mut page, &mut comments),
        }
    }
    page.section("files");
    page.paragraph(
        "Without --config, `urlspool watch`, `urlspool status` and `urlspool check-config` read \
         the file that URLSPOOL_CONFIG names, or the first that exists of \
         $XDG_CONFIG_HOME/urlspool/urlspool.toml (~/.config/urlspool/urlspool.toml) and \
         /etc/urlspool/urlspool.toml. `urlspool scan` reads only the file of --config or \
         URLSPOOL_CONFIG.",
    );
    page.section("examples");
    page.verbatim(
        "urlspool check-config --default > urlspool.toml\nurlspool check-config urlspool.toml",
    );
    page.section("see also");
    page.paragraph("urlspool(1), urlspool-watch(1), urlspool-scan(1), urlspool-check-config(1)");
    page.finish()
}

fn paragraph(page: &mut RoffPage, comments: &mut Vec<&str>) {
    if !comments.is_empty() {
        page.paragraph(&comments.join("\n"));
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

fn record_page() -> String {
    let schema: Value = serde_json::from_str(&record::schema(SchemaLanguage::JsonSchema))
        .expect("the schema is JSON");
    let mut page = RoffPage::of_format("urlspool-record", "the lines that urlspool writes");
    page.section("description");
    page.paragraph(
        "`urlspool scan` and `urlspool watch` write one JSON object per line. The field `type` \
         says what a line is. `urlspool schema` prints the JSON Schema from which this page is \
         made.",
    );
    for line in list(&schema["oneOf"]) {
        let name = line["properties"]["type"]["const"].as_str();
        page.section(&format!("type {}", name.unwrap_or_default()));
        if let Some(text) = line["description"].as_str() {
            page.paragraph(text);
        }
        for field in fields(line) {
            page.term(&field.name, &field.values, &field.description);
        }
    }
    page.section("see also");
    page.paragraph("urlspool(1), urlspool-scan(1), urlspool-schema(1)");
    page.finish()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// One field of a record.
struct ManualField {
    /// Its name, after those of the fields that contain it.
    name: String,
    /// Its type.
    values: String,
    /// Its meaning, and its values if they are a closed set.
    description: String,
}

/// A field whose own fields are still to be described.
struct PendingField<'s> {
    name: String,
    schema: &'s Value,
}

/// The fields of an object, each before those in it.
fn fields(object: &Value) -> Vec<ManualField> {
    let mut found = Vec::new();
    let mut pending = children("", object);
    pending.reverse();
    while let Some(PendingField { name, schema }) = pending.pop() {
        found.push(ManualField {
            values: types(schema),
            description: description(schema),
            name: name.clone(),
        });
        let mut inner = children(&format!("{name}."), schema);
        inner.extend(children(&format!("{name}[]."), &schema["items"]));
        pending.extend(inner.into_iter().rev());
    }
    found
}

/// The fields of an object in the order of the line, which `required` has: an object of
/// `serde_json` is sorted by name.
fn children<'s>(prefix: &str, schema: &'s Value) -> Vec<PendingField<'s>> {
    let names = list(&schema["required"]).iter().filter_map(Value::as_str);
    names
        .map(|name| PendingField {
            name: format!("{prefix}{name}"),
            schema: &schema["properties"][name],
        })
        .collect()
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
    clap_complete::generate(args.shell, &mut Args::command(), "urlspool", &mut script);
    print(&script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_the_schema_is_on_the_page() {
        let schema: Value =
            serde_json::from_str(&record::schema(SchemaLanguage::JsonSchema)).unwrap();
        let page = record_page();
        for line in list(&schema["oneOf"]) {
            let fields = fields(line);
            assert!(2 < fields.len());
            for field in fields {
                assert!(
                    page.contains(&format!("\\fB{}\\fR", field.name)),
                    "{}",
                    field.name
                );
            }
        }
        assert!(page.contains("\\fBsource.path\\fR string"));
        let at = |name: &str| page.find(&format!("\\fB{name}\\fR ")).unwrap();
        assert!(at("url") < at("fragment") && at("fragment") < at("alternates"));
        assert!(at("source") < at("source.path") && at("source.end") < at("message"));
    }
}
