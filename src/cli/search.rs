//! `urlspool search`.

use std::io::{self, IsTerminal};

use super::args::{SearchArgs, SearchFormat};
use super::error::{CommandError, CommandResult};
use super::exit::Exit;
use super::load::load_error;
use super::stdout::StdoutLines;
use crate::diagnostic::EscapeForm;
use crate::load::{self, LoadError, SearchQuery};
use crate::record::GrepStyle;

impl From<LoadError> for CommandError {
    fn from(error: LoadError) -> CommandError {
        load_error(&error)
    }
}

pub(super) fn search(args: &SearchArgs) -> CommandResult {
    let query = query(args)?;
    let style = if args.color.colors(&io::stdout()) {
        GrepStyle::Colored
    } else if io::stdout().is_terminal() {
        GrepStyle::Escaped
    } else {
        GrepStyle::Plain
    };
    let mut out = match args.format {
        SearchFormat::Grep => StdoutLines::of_escaped_lines(),
        SearchFormat::Jsonl => StdoutLines::new(EscapeForm::Json),
    };
    let mut line = Vec::new();
    load::search(
        &args.database,
        &query,
        |row| -> Result<bool, CommandError> {
            line.clear();
            match args.format {
                SearchFormat::Grep => row.write_grep(style, &mut line),
                SearchFormat::Jsonl => row.write_json(&mut line),
            }
            out.put(&line)
        },
    )?;
    out.finish()?;
    Ok(Exit::Done)
}

fn query(args: &SearchArgs) -> Result<SearchQuery, CommandError> {
    let mut query = SearchQuery::default();
    query.words.clone_from(&args.words);
    query.host.clone_from(&args.host);
    query.since = args.since.map(|date| date.start);
    query.until = args.until.map(|date| date.end);
    query.limit = args.limit;
    let has_condition = query.has_words() || query.host.is_some() || query.since.is_some();
    if has_condition || query.until.is_some() {
        return Ok(query);
    }
    Err(CommandError::new(
        Exit::Usage,
        "nothing to search for; give a word, --host, --since or --until",
    ))
}
