//! `urlspool search`.

#[cfg(feature = "stats")]
mod facets;

use std::io::{self, IsTerminal};
use std::path::Path;

use super::args::check_period;
use super::args::{SearchArgs, SearchFormat};
use super::error::{CommandError, CommandResult, Exit};
use super::load::load_error;
use super::terminal::{StdoutLines, check_is_not_database, escaped, print_message};
use crate::diagnostic::EscapeForm;
use crate::load::{self, LoadError, SearchQuery};
use crate::parse::host_name;
use crate::record::{FormulaGuard, FoundRow, GrepStyle, TableSyntax};

impl From<LoadError> for CommandError {
    fn from(error: LoadError) -> CommandError {
        load_error(&error)
    }
}

pub(super) fn search(args: &SearchArgs) -> CommandResult {
    let database = database(&args.database);
    check_is_file(database)?;
    check_is_there(database, args)?;
    let query = query(args)?;
    check_is_not_database(database)?;
    #[cfg(feature = "stats")]
    if !args.facets.is_empty() {
        return facets::print(args, database, &query);
    }
    check_has_condition(&query)?;
    let style = if args.color.colors(&io::stdout()) {
        GrepStyle::Colored
    } else if io::stdout().is_terminal() {
        GrepStyle::Escaped
    } else {
        GrepStyle::Plain
    };
    let is_on_terminal = io::stdout().is_terminal();
    let format = args.format.unwrap_or(if is_on_terminal {
        SearchFormat::Text
    } else {
        SearchFormat::Grep
    });
    let mut out = match format {
        SearchFormat::Text | SearchFormat::Grep => StdoutLines::of_escaped_lines(),
        SearchFormat::Jsonl => StdoutLines::new(EscapeForm::Json),
        SearchFormat::Urls | SearchFormat::Csv | SearchFormat::Tsv => {
            StdoutLines::new(EscapeForm::Text)
        }
    };
    let syntax = match format {
        SearchFormat::Tsv => TableSyntax::Tsv,
        _ => TableSyntax::Csv {
            guard: FormulaGuard::On,
            delimiter: b',',
        },
    };
    if matches!(format, SearchFormat::Csv | SearchFormat::Tsv) {
        let separator = char::from(syntax.separator()).to_string();
        out.put((FoundRow::COLUMNS.join(&separator) + "\n").as_bytes())?;
    }
    let mut line = Vec::new();
    let mut has_found = false;
    load::search(database, &query, |row| -> Result<bool, CommandError> {
        has_found = true;
        line.clear();
        match format {
            SearchFormat::Text => row.write_text(style, &mut line),
            SearchFormat::Grep => row.write_grep(style, &mut line),
            SearchFormat::Urls => row.write_url(&mut line),
            SearchFormat::Csv | SearchFormat::Tsv => row.write_row(syntax, &mut line),
            SearchFormat::Jsonl => row.write_json(&mut line),
        }
        out.put(&line)
    })?;
    out.finish()?;
    if !has_found {
        if let Some(hint) = syntax_hint(&args.words) {
            print_message(format_args!("urlspool: {}", escaped(&hint)));
        }
        print_message(format_args!(
            "urlspool: nothing found; all conditions must hold, and a word is found as a whole, or \
             by its first letters with a star: `goph*`"
        ));
    }
    Ok(Exit::Done)
}

/// A hint about a word that other programs would take for a part of their syntax.
fn syntax_hint(words: &[String]) -> Option<String> {
    const OPERATORS: [&str; 3] = ["AND", "OR", "NOT"];
    const OPTIONS: [&str; 6] = ["host", "domain", "scheme", "sender", "list", "hazard"];
    words.iter().find_map(|word| {
        if OPERATORS.contains(&word.as_str()) {
            return Some(format!(
                "{word} is a word like others here; search once for each alternative"
            ));
        }
        let (name, value) = word.split_once(':')?;
        OPTIONS
            .contains(&name)
            .then(|| format!("{word} is searched as words; write --{name} {value}"))
    })
}

/// Checks that the database is not one of a server.
pub(super) fn check_is_file(database: &Path) -> Result<(), CommandError> {
    let name = database.to_string_lossy();
    match name.split_once("://") {
        Some((scheme, _)) if !database.exists() => Err(CommandError::new(
            Exit::Usage,
            format!(
                "this command reads a SQLite database, and `{scheme}://` names a server: ask that with \
                 its own programs (docs/recipes.md has the queries of `search` for PostgreSQL, \
                 Elasticsearch and OpenSearch), or load the records into a file"
            ),
        )),
        _ => Ok(()),
    }
}

/// Returns the file that an argument names: one that exists, whatever its name is, or the file after
/// `sqlite:`.
fn database(argument: &Path) -> &Path {
    let file = argument
        .to_str()
        .and_then(|name| name.strip_prefix("sqlite:"));
    match file {
        Some(file) if !argument.exists() => Path::new(file),
        _ => argument,
    }
}

/// Checks that the first argument is no word of a search whose database was forgotten or named last.
fn check_is_there(database: &Path, args: &SearchArgs) -> Result<(), CommandError> {
    if database.exists() {
        return Ok(());
    }
    let name = database.display();
    let named_last = args.words.iter().find(|word| Path::new(word).is_file());
    let message = match named_last {
        Some(file) => {
            format!("there is no database {name}; it comes first: urlspool search {file} {name}")
        }
        None if args.words.is_empty() => format!(
            "there is no database {name}; it comes first: urlspool search DB {name}, and \
             `urlspool scan --into DB PATH` makes one"
        ),
        None => return Ok(()),
    };
    Err(CommandError::new(Exit::Usage, escaped(&message)))
}

/// The host as records have it.
fn host(text: &str) -> Result<String, CommandError> {
    let found = host_name(text).filter(|_| !text.contains('*'));
    found.ok_or_else(|| {
        let text = escaped(text);
        CommandError::new(
            Exit::Usage,
            format!(
                "--host {text} is not the name of a host; write it alone, such as info.cern.ch"
            ),
        )
    })
}

fn query(args: &SearchArgs) -> Result<SearchQuery, CommandError> {
    let mut query = SearchQuery::default();
    query.words.clone_from(&args.words);
    query.host = args.host.as_deref().map(host).transpose()?;
    query.since = args.since.map(|date| date.start);
    query.until = args.until.map(|date| date.end);
    check_period(args.since, args.until)
        .map_err(|reason| CommandError::new(Exit::Usage, reason))?;
    query.limit = args.limit;
    query.order = args.sort;
    query.scheme.clone_from(&args.scheme);
    query.domain = args.domain.as_deref().map(host).transpose()?;
    if let Some(url) = args.key.as_deref().filter(|url| !url.contains(':')) {
        let url = escaped(url);
        let message =
            format!("--key {url} is no URL; write it whole, as http://{url}, or use --host {url}");
        return Err(CommandError::new(Exit::Usage, message));
    }
    query.url.clone_from(&args.key);
    query.sender.clone_from(&args.sender);
    query.list.clone_from(&args.list);
    query.hazard.clone_from(&args.hazard);
    Ok(query)
}

fn check_has_condition(query: &SearchQuery) -> Result<(), CommandError> {
    if query.has_condition() {
        return Ok(());
    }
    Err(CommandError::new(
        Exit::Usage,
        "nothing to search for; give a word, or an option such as --host, --sender or --since",
    ))
}
