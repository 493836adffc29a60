//! The job that the arguments of `scan` describe: its inputs, and the format and encoding of its
//! output.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::args::{OutputFormat, ScanArgs, check_period};
use super::super::config_path::config_error;
use super::super::error::CommandError;
use super::super::location::{DATABASE_START, start_of};
use super::output::{OutputCompression, RecordEncoding};
use urlspool_files::config::{Config, ExtractTable};
use urlspool_files::evidence::EvidenceSource;
use urlspool_files::options::{ScanOptions, named_fields};
use urlspool_files::pipeline::Job;
use urlspool_files::sink::{HAS_PARQUET, OutputPlace, resolve};
use urlspool_mail::split::SourceStart;
use urlspool_record::record::{
    self, FieldId, FormulaGuard, GrepStyle, HeaderRow, JsonFields, LineFormat, Links, Table,
    TableSyntax,
};
use urlspool_store::load::evidence_of_database;
use urlspool_text::limits::SNIFF_BYTES;
use urlspool_text::origin::{FileRange, FormatHint, Source, SourceKind};

/// Returns the options: the configuration file, if there is one, overridden by the flags.
pub(super) fn options(args: &ScanArgs) -> Result<ScanOptions, CommandError> {
    check_period(args.since, args.until).map_err(CommandError::usage)?;
    let given = args.config.as_deref();
    let mut config = Config::of_scan(given).map_err(|error| config_error(&error, given))?;
    args.settings.apply(&mut config)?;
    let extract = &mut config.extract;
    args.filters.apply(extract);
    extract.rules = args.rules.unwrap_or(extract.rules);
    extract.schemeless = args.schemeless.unwrap_or(extract.schemeless);
    extract.unique = args.unique.unwrap_or(extract.unique);
    extract.context = args.context.unwrap_or(extract.context);
    if !args.schemes.is_empty() {
        extract.schemes.clone_from(&args.schemes);
    }
    config.check_filters().map_err(CommandError::usage)?;
    Ok(ScanOptions {
        evidence: evidence(args.evidence.as_deref(), config.limits.evidence_urls)?,
        config,
        since: args.since,
        until: args.until,
        lists: args.list.clone(),
        threads: args.threads,
        ..args.sources.options()
    })
}

/// Returns the source of the evidence for joins. Reads it if it is a file or a database.
pub(in crate::cli) fn evidence(
    path: Option<&Path>,
    max_urls: usize,
) -> Result<Option<EvidenceSource>, CommandError> {
    let Some(path) = path else {
        return Ok(None);
    };
    if path.as_os_str() == Source::STDIN {
        let message = "--evidence does not take `-`; name /dev/stdin, or a file";
        return Err(CommandError::usage(message));
    }
    let is_database = start_of(path).is_some_and(|start| start.starts_with(DATABASE_START));
    let source = if is_database {
        EvidenceSource::Read(Arc::new(evidence_of_database(path, max_urls)?))
    } else {
        EvidenceSource::named(path, max_urls).map_err(CommandError::usage)?
    };
    Ok(Some(source))
}

/// Returns the job that the arguments describe.
pub(super) fn job(args: &ScanArgs, options: &ScanOptions) -> Result<Job, CommandError> {
    let items = args.splits.as_deref().map(split_items).transpose()?;
    let mut roots = args.paths.clone();
    match &args.files_from {
        Some(list) => roots.extend(listed_paths(list)?),
        None if roots.is_empty() => roots.push(PathBuf::from(Source::STDIN)),
        None => {}
    }
    let format = line_format(args, &options.config.extract)?;
    let job = options.job(roots, items, format);
    Ok(Job {
        rejects: args.rejects.is_some(),
        ..job.map_err(CommandError::usage)?
    })
}

/// Reads the paths listed in a file or on standard input. They are separated by NUL if there is
/// any, otherwise by line ends.
fn listed_paths(list: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let name = list.display();
    let mut text = Vec::new();
    let read = if list.as_os_str() == Source::STDIN {
        io::stdin().lock().read_to_end(&mut text)
    } else {
        File::open(list).and_then(|mut file| file.read_to_end(&mut text))
    };
    read.map_err(|error| CommandError::usage(format!("cannot read {name}: {error}")))?;
    let start = SourceStart::of_bytes(text[..text.len().min(SNIFF_BYTES)].to_vec());
    if let Ok(format) = start.format(None, FormatHint::None)
        && format.kind() != SourceKind::Text
    {
        let message = format!("{name} is mail, not a list of files; scan it: urlspool scan {name}");
        return Err(CommandError::usage(message));
    }
    let separator = if text.contains(&0) { 0 } else { b'\n' };
    let paths = text.split(|&byte| byte == separator);
    let paths = paths.filter(|path| !path.is_empty());
    let mut paths: Vec<PathBuf> = paths.map(|path| OsStr::from_bytes(path).into()).collect();
    // In a list, `-` is the name of a file.
    for path in &mut paths {
        if path.as_os_str() == Source::STDIN {
            *path = Path::new(".").join(&path);
        }
    }
    Ok(paths)
}

/// Reads the work items in a file or on standard input.
fn split_items(path: &Path) -> Result<Vec<FileRange>, CommandError> {
    let name = path.display();
    let unreadable = |error: io::Error| CommandError::usage(format!("cannot read {name}: {error}"));
    let input: Box<dyn BufRead> = if path.as_os_str() == Source::STDIN {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(path).map_err(unreadable)?))
    };
    let mut items = Vec::new();
    for (number, line) in (1..).zip(input.lines()) {
        let line = line.map_err(unreadable)?;
        if !line.trim().is_empty() {
            let item = record::read_item(&line);
            items.push(item.map_err(|error| {
                let way_out = "`urlspool splits PATH` prints them";
                let message = format!("{name}, line {number}: not a work item: {error}; {way_out}");
                CommandError::usage(message)
            })?);
        }
    }
    Ok(items)
}

/// Content of an output file, judged by its name: `urls.csv.gz` is a compressed table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NamedContent {
    /// The format; `None` if the extension is unknown or missing.
    pub(super) format: Option<OutputFormat>,
    pub(super) compression: Option<OutputCompression>,
    /// `true` if there is an extension that names no format.
    pub(super) is_unknown: bool,
}

impl NamedContent {
    /// Returns the content of the output of records. Standard output and devices do not indicate
    /// one.
    pub(super) fn of(args: &ScanArgs) -> NamedContent {
        match args.output.as_deref().map(OutputPlace::of) {
            Some(OutputPlace::File(path)) => NamedContent::of_name(&path),
            _ => NamedContent::default(),
        }
    }

    fn of_name(path: &Path) -> NamedContent {
        let compression = ending(path).and_then(|ending| OutputCompression::of_ending(&ending));
        let bare = match compression {
            Some(_) => path.with_extension(""),
            None => path.to_owned(),
        };
        let ending = ending(&bare);
        let format = match ending.as_deref() {
            Some("jsonl" | "ndjson" | "json") => Some(OutputFormat::Jsonl),
            Some("csv") => Some(OutputFormat::Csv),
            Some("tsv") => Some(OutputFormat::Tsv),
            Some("txt") => Some(OutputFormat::Urls),
            Some("parquet") => Some(OutputFormat::Parquet),
            _ => None,
        };
        NamedContent {
            format,
            compression,
            is_unknown: format.is_none() && ending.is_some(),
        }
    }
}

fn ending(path: &Path) -> Option<String> {
    let ending = path.extension()?;
    Some(ending.to_string_lossy().to_ascii_lowercase())
}

/// Returns the format of the lines of a scan.
fn line_format(args: &ScanArgs, extract: &ExtractTable) -> Result<LineFormat, CommandError> {
    if let Some(target) = &args.into {
        return Ok(LineFormat::Values(super::into::fields(target)));
    }
    let is_on_stdout = match &args.output {
        None => true,
        Some(path) => OutputPlace::of(path) == OutputPlace::Stdout,
    };
    let is_on_terminal = is_on_stdout && io::stdout().is_terminal();
    let fields = named_fields(&args.fields);
    let format = format(args, is_on_terminal);
    let has_fields = !matches!(
        format,
        OutputFormat::Urls | OutputFormat::Hrefs | OutputFormat::Grep
    );
    // Output for people may be defanged. Records in other formats are data for programs, which need
    // the URL.
    let is_for_readers = !matches!(format, OutputFormat::Jsonl | OutputFormat::Parquet);
    for (is_given, fits, option, formats) in [
        (
            fields.is_some(),
            has_fields,
            "--fields",
            "jsonl, csv or tsv",
        ),
        (
            args.filters.defang,
            is_for_readers,
            "--defang",
            "urls, hrefs, grep, csv or tsv",
        ),
    ] {
        if is_given && !fits {
            return Err(no_use(option, formats));
        }
    }
    let links = if extract.defang {
        Links::Defanged
    } else {
        Links::Live
    };
    let header = if extract.header_row {
        HeaderRow::Written
    } else {
        HeaderRow::Omitted
    };
    let table = |syntax| {
        let columns = fields.clone().unwrap_or_else(FieldId::table_columns);
        LineFormat::Table(Table {
            columns,
            syntax,
            header,
            links,
        })
    };
    Ok(match format {
        OutputFormat::Jsonl => LineFormat::Json(
            fields.map_or_else(JsonFields::default, |fields| JsonFields::new(&fields)),
        ),
        OutputFormat::Parquet => {
            LineFormat::Values(fields.unwrap_or_else(|| FieldId::ALL.to_vec()))
        }
        OutputFormat::Urls => LineFormat::Urls(links),
        OutputFormat::Hrefs => LineFormat::Hrefs(links),
        OutputFormat::Csv => table(TableSyntax::Csv {
            guard: if extract.formula_guard {
                FormulaGuard::On
            } else {
                FormulaGuard::Off
            },
            delimiter: extract.delimiter,
        }),
        OutputFormat::Tsv => table(TableSyntax::Tsv),
        OutputFormat::Grep if is_on_stdout && args.general.color.colors(&io::stdout()) => {
            LineFormat::Grep(GrepStyle::Colored, links)
        }
        OutputFormat::Grep if is_on_terminal => LineFormat::Grep(GrepStyle::Escaped, links),
        OutputFormat::Grep => LineFormat::Grep(GrepStyle::Plain, links),
    })
}

/// Returns how the records of a scan with this line format are written to their output.
pub(super) fn encoding(
    args: &ScanArgs,
    line_format: &LineFormat,
) -> Result<RecordEncoding, CommandError> {
    let is_parquet = format(args, false) == OutputFormat::Parquet;
    let compression = NamedContent::of(args).compression;
    let message = match args.output.as_deref().map(OutputPlace::of) {
        _ if args.partition.is_some() && !is_parquet => {
            return Err(no_use("--partition", "parquet"));
        }
        _ if !is_parquet => {
            return Ok(RecordEncoding::Lines {
                format: line_format.clone(),
                compression,
            });
        }
        _ if !HAS_PARQUET => {
            "-o: this program was built without the feature `parquet`; build it with `--features \
             parquet`, or name another ending, such as .csv"
        }
        _ if compression.is_some() => {
            "Parquet is compressed within the file; name it without `.gz` or `.zst`"
        }
        Some(OutputPlace::File(folder)) => return parquet_encoding(args, &folder),
        _ => "--format parquet writes a file; name it with -o",
    };
    Err(CommandError::usage(message))
}

fn parquet_encoding(args: &ScanArgs, output: &Path) -> Result<RecordEncoding, CommandError> {
    let fields = named_fields(&args.fields).unwrap_or_else(|| FieldId::ALL.to_vec());
    let partition = args.partition;
    if partition.is_some() && !fields.contains(&FieldId::MessageDate) {
        return Err(CommandError::usage(
            "--partition year needs the field message.date",
        ));
    }
    if partition.is_some() && args.paths.iter().any(|root| is_inside(output, root)) {
        return Err(CommandError::usage(
            "the folder of --partition is inside the input; name another",
        ));
    }
    Ok(RecordEncoding::Parquet { fields, partition })
}

/// Returns `true` if `path`, which may not exist yet, is in `folder`.
fn is_inside(path: &Path, folder: &Path) -> bool {
    match (resolve(path), folder.canonicalize()) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    }
}

/// Returns the requested format, or the format of the output's name. Otherwise it is a format for
/// people on a terminal, unless an argument asks for data.
fn format(args: &ScanArgs, is_on_terminal: bool) -> OutputFormat {
    let asks_for_data = args.output.is_some() || !args.fields.is_empty() || args.context.is_some();
    let named = args.format.or(NamedContent::of(args).format);
    named.unwrap_or(if is_on_terminal && !asks_for_data {
        OutputFormat::Grep
    } else {
        OutputFormat::Jsonl
    })
}

fn no_use(option: &str, formats: &str) -> CommandError {
    CommandError::usage(format!("{option} can only be used with --format {formats}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_output_selects_its_format_and_compression() {
        let content = |name: &str| {
            let NamedContent {
                format,
                compression,
                is_unknown,
            } = NamedContent::of_name(Path::new(name));
            (format, compression.is_some(), is_unknown)
        };
        for (name, expected) in [
            ("urls.csv", (Some(OutputFormat::Csv), false, false)),
            ("a.b/urls.TSV", (Some(OutputFormat::Tsv), false, false)),
            ("urls.txt", (Some(OutputFormat::Urls), false, false)),
            ("urls.ndjson", (Some(OutputFormat::Jsonl), false, false)),
            ("out", (None, false, false)),
            ("urls.db", (None, false, true)),
        ] {
            assert_eq!(content(name), expected, "{name}");
        }
        for (name, expected) in [
            ("urls.csv.gz", (Some(OutputFormat::Csv), true, false)),
            ("urls.jsonl.zst", (Some(OutputFormat::Jsonl), true, false)),
            ("urls.gz", (None, true, false)),
        ] {
            assert_eq!(content(name), expected, "{name}");
        }
    }
}
