//! The job that the arguments of `scan` ask for: its inputs, and the format and encoding of its output.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

#[cfg(feature = "parquet")]
use super::super::args::PartitionArgument;
use super::super::args::{FieldNameArgument, OutputFormat, ScanArgs, check_period};
use super::super::config_path::{read_config, scan_config};
use super::super::error::{CommandError, Exit};
use super::output::{LineSyntax, OutputCompression, RecordEncoding};
use crate::config::Config;
use crate::extract::Options;
use crate::limits::SNIFF_BYTES;
use crate::origin::{FileRange, FormatHint, Source, SourceKind};
use crate::pipeline::Job;
use crate::record::{
    self, FieldId, FormulaGuard, GrepStyle, HeaderRow, JsonFields, LineFormat, Links, Table,
    TableSyntax,
};
use crate::sink::OutputPlace;
#[cfg(feature = "parquet")]
use crate::sink::parquet::Partition;
#[cfg(feature = "parquet")]
use crate::sink::resolve;
use crate::split::SourceStart;

/// The configuration file, if one is given, overridden by the flags.
pub(in crate::cli) fn config(args: &ScanArgs) -> Result<Config, CommandError> {
    let given = args.config.as_deref();
    let mut config = match scan_config(given) {
        Some(path) => read_config(&path, given)?,
        None => Config::default(),
    };
    args.extract.apply(&mut config);
    config
        .check_header_fields()
        .map_err(|error| CommandError::new(Exit::Usage, error.to_string()))?;
    Ok(config)
}

/// The job of the arguments.
pub(in crate::cli) fn job(args: &ScanArgs) -> Result<Job, CommandError> {
    check_period(args.since, args.until)
        .map_err(|reason| CommandError::new(Exit::Usage, reason))?;
    let filter = args.sources.filter()?;
    let mut items = args.splits.as_deref().map(split_items).transpose()?;
    let mut roots = match &args.files_from {
        None if args.paths.is_empty() => vec![PathBuf::from(Source::STDIN)],
        None => args.paths.clone(),
        Some(list) => {
            let mut roots = args.paths.clone();
            roots.extend(listed_paths(list)?);
            roots
        }
    };
    if args.absolute {
        for item in items.iter_mut().flatten() {
            item.source.path = absolute(&item.source.path)?.into();
        }
        for root in &mut roots {
            *root = absolute(root)?;
        }
    }
    Ok(Job {
        roots,
        items,
        filter,
        links: args.sources.links(),
        format: args.sources.format(),
        threads: threads(args.threads),
        line_format: line_format(args)?,
        rejects: args.rejects.is_some(),
        since: args.since.map(|period| period.start),
        until: args.until.map(|period| period.end),
        lists: args.list.clone(),
    })
}

/// The number of threads: that which is given, or the number of processors.
pub(in crate::cli) fn threads(given: Option<u16>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    given.map_or_else(cores, usize::from)
}

/// Returns a path from the root of the file system on. Links in it stay; standard input has no path.
fn absolute(path: &Path) -> Result<PathBuf, CommandError> {
    if path.as_os_str() == Source::STDIN || path.as_os_str().is_empty() {
        return Ok(path.to_owned());
    }
    let shown = path.display();
    std::path::absolute(path).map_err(|error| {
        let message = format!("cannot make {shown} absolute: {error}");
        CommandError::new(Exit::Usage, message)
    })
}

/// Reads the paths that a file, or standard input, lists: separated by NUL if it has any, else by line ends.
fn listed_paths(list: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let name = list.display();
    let mut text = Vec::new();
    let read = if list.as_os_str() == Source::STDIN {
        io::stdin().lock().read_to_end(&mut text)
    } else {
        File::open(list).and_then(|mut file| file.read_to_end(&mut text))
    };
    read.map_err(|error| CommandError::new(Exit::Usage, format!("cannot read {name}: {error}")))?;
    let start = SourceStart::of_bytes(text[..text.len().min(SNIFF_BYTES)].to_vec());
    if let Ok(format) = start.format(None, FormatHint::None)
        && format.kind() != SourceKind::Text
    {
        let message =
            format!("{name} is mail, and no list of files; scan it: urlspool scan {name}");
        return Err(CommandError::new(Exit::Usage, message));
    }
    let separator = if text.contains(&0) { 0 } else { b'\n' };
    let paths = text
        .split(|&byte| byte == separator)
        .filter(|path| !path.is_empty());
    let mut paths: Vec<PathBuf> = paths.map(|path| OsStr::from_bytes(path).into()).collect();
    // In a list `-` is the name of a file.
    for path in &mut paths {
        if path.as_os_str() == Source::STDIN {
            *path = Path::new(".").join(&path);
        }
    }
    Ok(paths)
}

/// The options of extraction.
pub(in crate::cli) fn options(args: &ScanArgs, config: &Config, job: &Job) -> Options {
    let mut options = config.options();
    options.hosts.clone_from(&args.host);
    options.domains.clone_from(&args.domain);
    options.region_names.clone_from(&args.region);
    options.mismatch = args.mismatch;
    options.hazards.clone_from(&args.hazard);
    options.ids = job.line_format.ids();
    options.line_numbers = job.line_format.line_numbers();
    options.regions = job.line_format.regions();
    options.info = job.line_format.info();
    options
}

/// Reads the work items in a file, or on standard input.
fn split_items(path: &Path) -> Result<Vec<FileRange>, CommandError> {
    let name = path.display();
    let unreadable =
        |error: io::Error| CommandError::new(Exit::Usage, format!("cannot read {name}: {error}"));
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
                let message = format!("{name}, line {number}: not a work item: {error}; `urlspool splits PATH` prints them");
                CommandError::new(Exit::Usage, message)
            })?);
        }
    }
    Ok(items)
}

/// Content of an output file as its name states it: `urls.csv.gz` is a compressed table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NamedContent {
    /// The format; `None` if the ending is unknown, or there is none.
    pub(super) format: Option<OutputFormat>,
    pub(super) compression: Option<OutputCompression>,
    /// `true` if there is an ending that names no format.
    pub(super) is_unknown: bool,
}

impl NamedContent {
    /// The content of the records' output; nothing is said of standard output and devices.
    pub(super) fn of(args: &ScanArgs) -> NamedContent {
        match args.output.as_deref().map(OutputPlace::of) {
            Some(OutputPlace::File(path)) => NamedContent::of_name(&path),
            _ => NamedContent::default(),
        }
    }

    fn of_name(path: &Path) -> NamedContent {
        let ending = |path: &Path| {
            path.extension()
                .map(|ending| ending.to_string_lossy().to_ascii_lowercase())
        };
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
            #[cfg(feature = "parquet")]
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

/// Returns `true` if the output's name asks for a format that this program does not write.
#[cfg(not(feature = "parquet"))]
fn is_named_parquet(args: &ScanArgs) -> bool {
    let ending = args.output.as_deref().and_then(Path::extension);
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("parquet"))
}

/// Returns the format of the lines of a scan.
pub(super) fn line_format(args: &ScanArgs) -> Result<LineFormat, CommandError> {
    #[cfg(feature = "load")]
    if let Some(target) = &args.into {
        return Ok(LineFormat::Values(super::into::fields(target)));
    }
    #[cfg(not(feature = "parquet"))]
    if args.format.is_none() && is_named_parquet(args) {
        return Err(CommandError::new(
            Exit::Usage,
            "-o: this program was built without the feature `parquet`; build it with `--features parquet`, or name another \
             ending, such as .csv",
        ));
    }
    let is_on_stdout = match &args.output {
        None => true,
        Some(path) => OutputPlace::of(path) == OutputPlace::Stdout,
    };
    let is_on_terminal = is_on_stdout && io::stdout().is_terminal();
    let fields = chosen_fields(args);
    let format = format(args, is_on_terminal);
    let has_fields = !matches!(
        format,
        OutputFormat::Urls | OutputFormat::Hrefs | OutputFormat::Grep
    );
    if fields.is_some() && !has_fields {
        return Err(no_use("--fields and --slim", "jsonl, csv or tsv"));
    }
    if args.defang && !is_for_readers(format) {
        return Err(no_use("--defang", "urls, hrefs, grep, csv or tsv"));
    }
    if args.no_formula_guard && format != OutputFormat::Csv {
        return Err(no_use("--no-formula-guard", "csv"));
    }
    if args.delimiter.is_some() && format != OutputFormat::Csv {
        return Err(no_use("--delimiter", "csv"));
    }
    if args.no_header_row && !matches!(format, OutputFormat::Csv | OutputFormat::Tsv) {
        return Err(no_use("--no-header-row", "csv or tsv"));
    }
    let links = if args.defang {
        Links::Defanged
    } else {
        Links::Live
    };
    let header = if args.no_header_row {
        HeaderRow::Omitted
    } else {
        HeaderRow::Written
    };
    let table = |syntax| {
        let columns = fields.clone().unwrap_or_else(FieldId::table_columns);
        LineFormat::Table(Table::new(columns, syntax, header).with_links(links))
    };
    Ok(match format {
        OutputFormat::Jsonl => LineFormat::Json(
            fields.map_or_else(JsonFields::default, |fields| JsonFields::new(&fields)),
        ),
        #[cfg(feature = "parquet")]
        OutputFormat::Parquet => {
            LineFormat::Values(fields.unwrap_or_else(|| FieldId::ALL.to_vec()))
        }
        OutputFormat::Urls => LineFormat::Urls(links),
        OutputFormat::Hrefs => LineFormat::Hrefs(links),
        OutputFormat::Csv => table(TableSyntax::Csv {
            guard: if args.no_formula_guard {
                FormulaGuard::Off
            } else {
                FormulaGuard::On
            },
            delimiter: args.delimiter.unwrap_or(b','),
        }),
        OutputFormat::Tsv => table(TableSyntax::Tsv),
        OutputFormat::Grep if is_on_stdout && args.color.colors(&io::stdout()) => {
            LineFormat::Grep(GrepStyle::Colored, links)
        }
        OutputFormat::Grep if is_on_terminal => LineFormat::Grep(GrepStyle::Escaped, links),
        OutputFormat::Grep => LineFormat::Grep(GrepStyle::Plain, links),
    })
}

/// Returns `true` for the formats whose URLs may be defanged: those that people read. Records of the
/// others are data for programs, which need the URL.
fn is_for_readers(format: OutputFormat) -> bool {
    match format {
        OutputFormat::Jsonl => false,
        #[cfg(feature = "parquet")]
        OutputFormat::Parquet => false,
        OutputFormat::Urls
        | OutputFormat::Hrefs
        | OutputFormat::Grep
        | OutputFormat::Csv
        | OutputFormat::Tsv => true,
    }
}

/// Returns the way in which the records of a scan, which have this format, are written to their output.
#[cfg_attr(
    not(feature = "parquet"),
    expect(
        clippy::unnecessary_wraps,
        reason = "only Parquet has options that can be wrong"
    )
)]
pub(super) fn encoding(
    args: &ScanArgs,
    format: &LineFormat,
) -> Result<RecordEncoding, CommandError> {
    #[cfg(feature = "parquet")]
    {
        let is_parquet = self::format(args, false) == OutputFormat::Parquet;
        if args.partition.is_some() && !is_parquet {
            return Err(no_use("--partition", "parquet"));
        }
        if is_parquet && NamedContent::of(args).compression.is_some() {
            let message = "Parquet is compressed within the file; name it without `.gz` or `.zst`";
            return Err(CommandError::new(Exit::Usage, message));
        }
        if is_parquet {
            return parquet_encoding(args, format);
        }
    }
    Ok(RecordEncoding::Lines {
        syntax: LineSyntax::of(format),
        compression: NamedContent::of(args).compression,
    })
}

#[cfg(feature = "parquet")]
fn parquet_encoding(args: &ScanArgs, format: &LineFormat) -> Result<RecordEncoding, CommandError> {
    let usage = |message: &str| Err(CommandError::new(Exit::Usage, message));
    let place = args.output.as_deref().map(OutputPlace::of);
    if !matches!(place, Some(OutputPlace::File(_))) {
        return usage("--format parquet writes a file; name it with -o");
    }
    let fields = match format {
        LineFormat::Values(fields) => fields.clone(),
        _ => FieldId::ALL.to_vec(),
    };
    let partition = args
        .partition
        .map(|PartitionArgument::Year| Partition::Year);
    if partition.is_some() && !fields.contains(&FieldId::MessageDate) {
        return usage("--partition year needs the field message.date");
    }
    let folder = args.output.as_deref().filter(|_| partition.is_some());
    if folder.is_some_and(|folder| args.paths.iter().any(|root| is_beneath(folder, root))) {
        return usage("the folder of --partition lies in a folder that is read; name another");
    }
    Ok(RecordEncoding::Parquet { fields, partition })
}

/// Returns `true` if `path`, which may not exist yet, lies in `folder`.
#[cfg(feature = "parquet")]
fn is_beneath(path: &Path, folder: &Path) -> bool {
    match (resolve(path), folder.canonicalize()) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    }
}

/// The format that is asked for, or the one that the output's name has; without one, lines for people on a terminal, as long as no
/// argument asks for data.
fn format(args: &ScanArgs, is_on_terminal: bool) -> OutputFormat {
    let asks_for_data = args.output.is_some()
        || !args.fields.is_empty()
        || args.slim
        || args.extract.context.is_some();
    let named = args.format.or(NamedContent::of(args).format);
    named.unwrap_or(if is_on_terminal && !asks_for_data {
        OutputFormat::Grep
    } else {
        OutputFormat::Jsonl
    })
}

/// The fields that are chosen, each once, in the order of the arguments. `None` if none are.
pub(in crate::cli) fn chosen_fields(args: &ScanArgs) -> Option<Vec<FieldId>> {
    if args.slim {
        return Some(FieldId::slim());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_output_says_its_format_and_its_compression() {
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
        #[cfg(feature = "archives")]
        for (name, expected) in [
            ("urls.csv.gz", (Some(OutputFormat::Csv), true, false)),
            ("urls.jsonl.zst", (Some(OutputFormat::Jsonl), true, false)),
            ("urls.gz", (None, true, false)),
        ] {
            assert_eq!(content(name), expected, "{name}");
        }
    }
}
