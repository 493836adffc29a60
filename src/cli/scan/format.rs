//! The format of the output, as the arguments of `scan` ask for it.

use std::io::{self, IsTerminal};

use super::super::args::{FieldNameArgument, OutputFormat, ScanArgs};
use super::super::error::CommandError;
use super::super::exit::Exit;
use super::output::OutputPlace;
use crate::record::{
    FieldId, FormulaGuard, GrepStyle, JsonFields, LineFormat, SLIM_FIELDS, TABLE_FIELDS, Table,
    TableSyntax,
};

/// Returns the format of the lines of a scan.
pub(super) fn line_format(args: &ScanArgs) -> Result<LineFormat, CommandError> {
    let is_on_stdout = match &args.output {
        None => true,
        Some(path) => OutputPlace::of(path) == OutputPlace::Stdout,
    };
    let is_on_terminal = is_on_stdout && io::stdout().is_terminal();
    let fields = chosen_fields(args);
    let format = format(args, is_on_terminal);
    let has_fields = matches!(
        format,
        OutputFormat::Jsonl | OutputFormat::Csv | OutputFormat::Tsv
    );
    if fields.is_some() && !has_fields {
        return Err(no_use("--fields and --slim", "jsonl, csv or tsv"));
    }
    if args.no_formula_guard && format != OutputFormat::Csv {
        return Err(no_use("--no-formula-guard", "csv"));
    }
    let table = |syntax| {
        let columns = fields.clone().unwrap_or_else(|| TABLE_FIELDS.to_vec());
        LineFormat::Table(Table::new(columns, syntax))
    };
    Ok(match format {
        OutputFormat::Jsonl => fields.map_or(LineFormat::Record, |fields| {
            LineFormat::Fields(JsonFields::new(&fields))
        }),
        OutputFormat::Urls => LineFormat::Urls,
        OutputFormat::Hrefs => LineFormat::Hrefs,
        OutputFormat::Csv => table(TableSyntax::Csv(if args.no_formula_guard {
            FormulaGuard::Off
        } else {
            FormulaGuard::On
        })),
        OutputFormat::Tsv => table(TableSyntax::Tsv),
        OutputFormat::Grep if is_on_stdout && args.color.colors(&io::stdout()) => {
            LineFormat::Grep(GrepStyle::Colored)
        }
        OutputFormat::Grep if is_on_terminal => LineFormat::Grep(GrepStyle::Escaped),
        OutputFormat::Grep => LineFormat::Grep(GrepStyle::Plain),
    })
}

/// The format that is asked for; without one, lines for people on a terminal, as long as no argument asks for data.
fn format(args: &ScanArgs, is_on_terminal: bool) -> OutputFormat {
    let asks_for_data = args.output.is_some()
        || !args.fields.is_empty()
        || args.slim
        || args.extract.context.is_some();
    args.format.unwrap_or(if is_on_terminal && !asks_for_data {
        OutputFormat::Grep
    } else {
        OutputFormat::Jsonl
    })
}

/// The fields that are chosen, each once, in the order of the arguments. `None` if none are.
pub(in crate::cli) fn chosen_fields(args: &ScanArgs) -> Option<Vec<FieldId>> {
    if args.slim {
        return Some(SLIM_FIELDS.to_vec());
    }
    let mut chosen = Vec::new();
    for field in args.fields.iter().flat_map(FieldNameArgument::fields) {
        if !chosen.contains(&field) {
            chosen.push(field);
        }
    }
    (!chosen.is_empty()).then_some(chosen)
}

fn no_use(option: &str, formats: &str) -> CommandError {
    CommandError::new(
        Exit::Usage,
        format!("{option} can only be used with --format {formats}"),
    )
}
