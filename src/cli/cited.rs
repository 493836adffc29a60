//! `urlspool cited`.

use std::io::{self, IsTerminal};

use super::args::{CitedArgs, CitedFormat};
use super::error::{CommandError, CommandResult, Exit};
use super::search::check_is_file;
use super::terminal::{StdoutLines, check_is_not_database, escaped, print_message};
use crate::diagnostic::EscapeForm;
use crate::load::{self, CitedThing};
use crate::parse::host_name;
use crate::record::{Citation, FormulaGuard, GrepStyle, ListRow, TableSyntax};

pub(super) fn cited(args: &CitedArgs) -> CommandResult {
    check_is_file(&args.database)?;
    let thing = thing(&args.thing)?;
    check_is_not_database(&args.database)?;
    let is_on_terminal = io::stdout().is_terminal();
    let style = if args.color.colors(&io::stdout()) {
        GrepStyle::Colored
    } else if is_on_terminal {
        GrepStyle::Escaped
    } else {
        GrepStyle::Plain
    };
    let mut out = match args.format {
        CitedFormat::Text => StdoutLines::of_escaped_lines(),
        CitedFormat::Jsonl => StdoutLines::new(EscapeForm::Json),
        CitedFormat::Csv => StdoutLines::new(EscapeForm::Text),
    };
    let syntax = TableSyntax::Csv {
        guard: FormulaGuard::On,
        delimiter: b',',
    };
    if args.format == CitedFormat::Csv {
        out.put((Citation::COLUMNS.join(",") + "\n").as_bytes())?;
    }
    let mut left = args.limit.unwrap_or(u64::MAX);
    let mut has_found = false;
    let mut lines = Vec::new();
    load::citations(
        &args.database,
        &thing,
        args.sort,
        |citation| -> Result<bool, CommandError> {
            has_found = true;
            left -= 1;
            lines.clear();
            match args.format {
                CitedFormat::Text => citation.write_text(style, &mut lines),
                CitedFormat::Csv => citation.write_row(syntax, &mut lines),
                CitedFormat::Jsonl => citation.write_json(&mut lines),
            }
            Ok(out.put(&lines)? && 0 < left)
        },
    )?;
    out.finish()?;
    if !has_found {
        print_message(format_args!(
            "urlspool: nothing found; a URL is found as a whole, in any spelling of scheme, host \
             and escapes, and a domain with all its hosts"
        ));
    }
    Ok(Exit::Done)
}

/// Returns the thing that an argument names: a text with a colon is a URL.
fn thing(text: &str) -> Result<CitedThing, CommandError> {
    if text.contains(':') {
        return Ok(CitedThing::Url(text.to_owned()));
    }
    let host = host_name(text).filter(|_| !text.contains('*'));
    host.map(CitedThing::Host).ok_or_else(|| {
        let text = escaped(text);
        CommandError::new(
            Exit::Usage,
            format!(
                "{text} is neither a URL nor a domain; write a URL whole, as http://{text}, and a \
                 domain alone, such as cern.ch"
            ),
        )
    })
}
