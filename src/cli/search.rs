//! `urlspool search`, `cited` and `browse`: commands that read a database.

use std::cmp::Reverse;
use std::io::{self, IsTerminal};
use std::path::Path;

use serde_json::json;

use super::args::{
    BrowseArgs, CitedArgs, CitedFormat, Facet, SearchArgs, SearchFormat, check_period,
};
use super::error::{CommandError, CommandResult, Exit};
use super::load::load_error;
use super::terminal::{CSV, StdoutLines, check_is_not_database, escaped, print_message};
use urlspool_files::config::host_of;
use urlspool_record::extract::urls;
use urlspool_record::record::{TableSyntax, json_line};
use urlspool_store::browse::Browser;
use urlspool_store::load::{self, Citation, FoundRow, ListRow, LoadError, SearchQuery};
use urlspool_store::stats::Stats;
use urlspool_text::diagnostic::{EscapeForm, counted, grouped};

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
    if args.reporter.is_some() && args.format != Some(SearchFormat::Xarf) {
        return Err(CommandError::usage("--reporter is for --format xarf"));
    }
    let hint = syntax_hint(&args.words).filter(|_| !args.general.quiet);
    if let Some(hint) = hint {
        print_message(format_args!("urlspool: {}", escaped(&hint)));
    }
    if !args.facets.is_empty() {
        return print_facets(args, database, &query);
    }
    if !query.has_condition() {
        return Err(CommandError::usage(
            "no search condition; add a word, an option such as --host or --since, or --facets",
        ));
    }
    let style = args.general.color.grep_style();
    let is_on_terminal = io::stdout().is_terminal();
    let format = args.format.unwrap_or(if is_on_terminal {
        SearchFormat::Text
    } else {
        SearchFormat::Grep
    });
    let mut out = match format {
        SearchFormat::Text | SearchFormat::Grep => StdoutLines::of_escaped_lines(),
        SearchFormat::Jsonl | SearchFormat::Xarf => StdoutLines::new(EscapeForm::Json),
        SearchFormat::Urls | SearchFormat::Csv | SearchFormat::Tsv => {
            StdoutLines::new(EscapeForm::Text)
        }
    };
    let syntax = match format {
        SearchFormat::Tsv => TableSyntax::Tsv,
        _ => CSV,
    };
    if matches!(format, SearchFormat::Csv | SearchFormat::Tsv) {
        let separator = char::from(syntax.separator()).to_string();
        out.put((FoundRow::COLUMNS.replace(',', &separator) + "\n").as_bytes())?;
    }
    let mut line = Vec::new();
    let mut found = 0;
    let reporter = args.reporter.clone().unwrap_or_default();
    let mut reports = load::AbuseReports::default();
    let hidden = load::search(database, &query, |citation| -> Result<bool, CommandError> {
        let row = &citation.found;
        found += 1;
        line.clear();
        match format {
            SearchFormat::Text => row.write_text(style, &mut line),
            SearchFormat::Grep => row.write_grep(style, &mut line),
            SearchFormat::Urls => line.extend_from_slice((row.whole_url() + "\n").as_bytes()),
            SearchFormat::Csv | SearchFormat::Tsv => row.write_row(syntax, &mut line),
            SearchFormat::Jsonl => row.write_json(&mut line),
            SearchFormat::Xarf => reports.add(citation, &reporter, &mut line),
        }
        out.put(&line)
    })?;
    line.clear();
    reports.finish(&reporter, &mut line);
    out.put(&line)?;
    if 0 < reports.unreported && !args.general.quiet {
        let matches = counted(reports.unreported, "match", "matches");
        print_message(format_args!(
            "urlspool: {matches} not reported: nothing proves who wrote the URL, the author or the \
             date is missing, or the message has more than 1 MiB of URLs"
        ));
    }
    out.finish()?;
    print_limited(database, &query, found, args.general.quiet)?;
    print_no_match(found, args.general.quiet);
    print_undated(database, &query, args.general.quiet)?;
    print_hidden(hidden, args.general.quiet);
    Ok(Exit::Done)
}

fn print_no_match(found: u64, is_quiet: bool) {
    if found == 0 && !is_quiet {
        print_message(format_args!(
            "urlspool: no match; all conditions must hold, words match as a whole, or by prefix \
             with a star (`goph*`), several words in one argument only next to each other; --host \
             takes one host (--domain all hosts of a domain), --list the whole List-Id"
        ));
    }
}

/// Prints the number of matches without a date if a period left some out.
fn print_undated(db: &Path, query: &SearchQuery, is_quiet: bool) -> CommandResult {
    let undated = load::count_undated(db, query)?;
    if 0 < undated && !is_quiet {
        let matches = counted(undated, "match", "matches");
        print_message(format_args!(
            "urlspool: {matches} without a plausible date left out (--since, --until)"
        ));
    }
    Ok(Exit::Done)
}

/// Prints the number of matches if `--limit` left some out.
fn print_limited(db: &Path, query: &SearchQuery, found: u64, is_quiet: bool) -> CommandResult {
    if query.limit == Some(found) && !is_quiet {
        let all = load::stats_of_matches(db, query)?.urls;
        if found < all {
            let (found, all) = (grouped(found), counted(all, "match", "matches"));
            print_message(format_args!("urlspool: {found} of {all} printed (--limit)"));
        }
    }
    Ok(Exit::Done)
}

/// Prints the number of rows that a command hides.
pub(super) fn print_hidden(count: u64, is_quiet: bool) {
    if 0 < count && !is_quiet {
        let rows = counted(count, "citation", "citations");
        print_message(format_args!(
            "urlspool: {rows} hidden, because the link occurs only in header fields of mailing \
             lists (List-*, Archived-At); --list-fields shows all"
        ));
    }
}

/// Returns a hint about a word that is syntax in other programs, or an option before `--`.
fn syntax_hint(words: &[String]) -> Option<String> {
    const OPTIONS: [&str; 7] = [
        "host", "domain", "scheme", "sender", "list", "hazard", "region",
    ];
    words.iter().find_map(|word| {
        if matches!(word.as_str(), "AND" | "OR" | "NOT") {
            return Some(format!(
                "{word} is an ordinary word here; search once per alternative"
            ));
        }
        if word.starts_with("--") {
            return Some(format!(
                "{word} after `--` excludes a word; write options before it"
            ));
        }
        let (name, value) = word.split_once(':')?;
        OPTIONS.contains(&name).then(|| {
            let end = if name == "scheme" { "s" } else { "" };
            format!("{word} is searched as words; write --{name}{end} {value}")
        })
    })
}

/// Checks that the database is not on a server.
pub(super) fn check_is_file(database: &Path) -> Result<(), CommandError> {
    let name = database.to_string_lossy();
    match name.split_once("://") {
        Some((scheme, _)) if !database.exists() => Err(CommandError::usage(format!(
            "this command reads a SQLite database, but `{scheme}://` names a server; use the \
             server's own queries (docs/recipes.md lists those of `search`), or load the records \
             into a file"
        ))),
        _ => Ok(()),
    }
}

/// Returns the file that an argument names: an existing one of any name, or the file after
/// `sqlite:`.
fn database(argument: &Path) -> &Path {
    let name = argument.to_str();
    let file = name.and_then(|name| name.strip_prefix("sqlite:"));
    match file {
        Some(file) if !argument.exists() => Path::new(file),
        _ => argument,
    }
}

/// Checks that the first argument is not a search word, because the database was omitted or named
/// last.
fn check_is_there(database: &Path, args: &SearchArgs) -> Result<(), CommandError> {
    if database.exists() {
        return Ok(());
    }
    let name = database.display();
    let named_last = args.words.iter().find(|word| Path::new(word).is_file());
    let message = match named_last {
        Some(file) => {
            format!(
                "there is no database {name}; the database comes first: urlspool search {file} \
                     {name}"
            )
        }
        None if args.words.is_empty() => format!(
            "there is no database {name}; the database comes first: urlspool search DB {name}, and \
             `urlspool scan --into DB PATH` makes one"
        ),
        None => return Ok(()),
    };
    Err(CommandError::usage(escaped(&message)))
}

fn query(args: &SearchArgs) -> Result<SearchQuery, CommandError> {
    let mut query = SearchQuery::default();
    query.words.clone_from(&args.words);
    query.host.clone_from(&args.host);
    query.site.clone_from(&args.domain);
    query.since = args.since.map(|date| date.start);
    query.until = args.until.map(|date| date.end);
    check_period(args.since, args.until).map_err(CommandError::usage)?;
    query.limit = args.limit;
    query.order = args.sort;
    query.schemes.clone_from(&args.schemes);
    if let Some(url) = args.key.as_deref().filter(|url| !url.contains(':')) {
        let url = escaped(url);
        let message = format!("--key {url} is not a URL; write http://{url}");
        return Err(CommandError::usage(message));
    }
    query.url = args.key.as_deref().map(typed_url);
    query.sender.clone_from(&args.sender);
    query.list.clone_from(&args.list);
    query.hazard = (!args.hazard.is_empty()).then(|| args.hazard.join(" "));
    query.region = (!args.region.is_empty()).then(|| args.region.join(" "));
    query.shows_list_fields = args.list_fields;
    Ok(query)
}

pub(super) fn cited(args: &CitedArgs) -> CommandResult {
    check_is_file(&args.database)?;
    let query = cited_query(args)?;
    check_is_not_database(&args.database)?;
    let style = args.general.color.grep_style();
    let mut out = match args.format {
        CitedFormat::Text => StdoutLines::of_escaped_lines(),
        CitedFormat::Jsonl => StdoutLines::new(EscapeForm::Json),
        CitedFormat::Csv => StdoutLines::new(EscapeForm::Text),
    };
    if args.format == CitedFormat::Csv {
        out.put(format!("{}\n", Citation::COLUMNS).as_bytes())?;
    }
    let mut found = 0;
    let mut lines = Vec::new();
    let hidden = load::search(&args.database, &query, |citation: &Citation| {
        found += 1;
        lines.clear();
        match args.format {
            CitedFormat::Text => citation.write_text(style, &mut lines),
            CitedFormat::Csv => citation.write_row(CSV, &mut lines),
            CitedFormat::Jsonl => citation.write_json(&mut lines),
        }
        out.put(&lines)
    })?;
    out.finish()?;
    print_limited(&args.database, &query, found, args.general.quiet)?;
    if found == 0 && !args.general.quiet {
        print_message(format_args!(
            "urlspool: no citation found; a URL matches as a whole in any spelling, a domain with \
             all its hosts"
        ));
    }
    print_hidden(hidden, args.general.quiet);
    Ok(Exit::Done)
}

/// Returns a URL as typed. One in the notation of `--defang` is read like text.
fn typed_url(text: &str) -> String {
    if !text.contains("[.]") {
        return text.to_owned();
    }
    let found = urls(text);
    found.first().map_or(text.to_owned(), ToString::to_string)
}

/// Returns the search for the thing that an argument names: text with a colon is a URL.
fn cited_query(args: &CitedArgs) -> Result<SearchQuery, CommandError> {
    let text = &args.thing;
    let mut query = SearchQuery {
        limit: args.limit,
        order: args.sort,
        shows_list_fields: args.list_fields,
        ..SearchQuery::default()
    };
    if text.contains(':') {
        query.url = Some(typed_url(text));
        return Ok(query);
    }
    query.site = host_of(text, "a domain").ok();
    if query.site.is_some() {
        return Ok(query);
    }
    let text = escaped(text);
    Err(CommandError::usage(format!(
        "{text} is neither a URL nor a domain; write http://{text}, or a domain such as cern.ch"
    )))
}

pub(super) fn browse(args: &BrowseArgs) -> CommandResult {
    check_is_file(&args.database)?;
    let browser = Browser::open(&args.database, args.files.as_deref(), args.listen)?;
    let elsewhere = match browser.url_elsewhere() {
        Some(url) => format!(", on another machine {url}"),
        None if browser.is_on_all_addresses() => {
            ", on another machine with the name of this one instead".to_owned()
        }
        None => String::new(),
    };
    print_message(format_args!(
        "urlspool: open {} in a browser{elsewhere}; Ctrl-C ends it",
        browser.url()
    ));
    let served = browser.serve(|error: &io::Error| {
        print_message(format_args!(
            "urlspool: cannot accept clients, waiting: {error}"
        ));
    });
    match served? {}
}

/// Number of values per facet in text output.
const TEXT_VALUES: usize = 20;

/// The year of matches without a usable date.
const UNDATED: &str = "undated";

/// The year of matches dated after the day of the search.
const LATER: &str = "later";

/// Prints the number of matches for each value of the facets.
fn print_facets(args: &SearchArgs, database: &Path, query: &SearchQuery) -> CommandResult {
    let format = args.format.unwrap_or(SearchFormat::Text);
    if matches!(
        format,
        SearchFormat::Grep | SearchFormat::Urls | SearchFormat::Xarf
    ) {
        return Err(CommandError::usage(
            "--facets prints counts; use --format text, csv, tsv or jsonl",
        ));
    }
    let stats = load::stats_of_matches(database, query)?;
    print_no_match(stats.urls, args.general.quiet);
    print_undated(database, query, args.general.quiet)?;
    print_hidden(stats.hidden, args.general.quiet);
    let whole = |limit| usize::try_from(limit).unwrap_or(usize::MAX);
    let limit = args.limit.map(whole);
    let all = limit.unwrap_or(usize::MAX);
    for facet in &args.facets {
        let count = values(*facet, &stats, usize::MAX).len();
        if all < count && !args.general.quiet {
            let (name, values) = (facet.name(), counted(count as u64, "value", "values"));
            print_message(format_args!(
                "urlspool: {name}: {all} of {values} printed (--limit)"
            ));
        }
    }
    match format {
        SearchFormat::Text => print_text(args, &stats, limit),
        SearchFormat::Csv => print_lines(args, &stats, all, Some(CSV)),
        SearchFormat::Tsv => print_lines(args, &stats, all, Some(TableSyntax::Tsv)),
        _ => print_lines(args, &stats, all, None),
    }
}

/// Returns the values of a facet with their counts.
fn values(facet: Facet, stats: &Stats, limit: usize) -> Vec<(String, u64)> {
    let list = match facet {
        Facet::Domain => &stats.domains,
        Facet::Host => &stats.hosts,
        Facet::Scheme => &stats.schemes,
        Facet::Year => return years(stats, limit),
        Facet::List => &stats.newsgroups,
    };
    let names = list.top(limit).into_iter();
    names.map(|top| (top.name.to_owned(), top.count)).collect()
}

/// Returns the years with most matches, in chronological order.
fn years(stats: &Stats, limit: usize) -> Vec<(String, u64)> {
    let years = stats.years.iter();
    let years = years.map(|(year, count)| (year.to_string(), *count));
    let others = [(LATER, stats.later), (UNDATED, stats.undated)].into_iter();
    let others = others.filter(|(_, matches)| 0 < *matches);
    let others = others.map(|(name, matches)| (name.to_owned(), matches));
    let mut years: Vec<_> = years.chain(others).collect();
    if limit < years.len() {
        // The sort is stable: of years with equal counts, the earlier ones are kept.
        years.sort_by_key(|(_, count)| Reverse(*count));
        years.truncate(limit);
        years.sort();
    }
    years
}

/// Prints the values as text. Without a limit, prints all years, and the first [`TEXT_VALUES`] of
/// other facets with the number of omitted ones.
fn print_text(args: &SearchArgs, stats: &Stats, limit: Option<usize>) -> CommandResult {
    let mut out = StdoutLines::of_escaped_lines();
    for (index, facet) in args.facets.iter().enumerate() {
        let blank = if 0 < index { "\n" } else { "" };
        let mut text = format!("{blank}{}\n", facet.name());
        let mut values = values(*facet, stats, limit.unwrap_or(usize::MAX));
        let all = values.len();
        if limit.is_none() && *facet != Facet::Year {
            values.truncate(TEXT_VALUES);
        }
        let omitted = (all - values.len()) as u64;
        for (value, count) in values {
            text += &format!("{:>13}  {}\n", grouped(count), escaped(&value));
        }
        if 0 < omitted {
            let more = counted(omitted, "more value", "more values");
            text += &format!("{:>13}  {more}; --format csv has all\n", "");
        }
        if !out.put(text.as_bytes())? {
            break;
        }
    }
    out.finish()?;
    Ok(Exit::Done)
}

/// Prints the values as a table, or as JSON lines.
fn print_lines(
    args: &SearchArgs,
    stats: &Stats,
    limit: usize,
    syntax: Option<TableSyntax>,
) -> CommandResult {
    let mut lines = Vec::new();
    let form = match syntax {
        Some(syntax) => {
            syntax.write_cells(["facet", "value", "count"].map(Some), &mut lines);
            EscapeForm::Text
        }
        None => EscapeForm::Json,
    };
    for facet in &args.facets {
        for (value, count) in values(*facet, stats, limit) {
            let name = facet.name();
            match syntax {
                Some(syntax) => {
                    let count = count.to_string();
                    syntax.write_cells([Some(name), Some(&*value), Some(&*count)], &mut lines);
                }
                None => lines.extend(json_line(
                    &json!({"facet": name, "value": value, "count": count}),
                )),
            }
        }
    }
    let mut out = StdoutLines::new(form);
    out.put(&lines)?;
    out.finish()?;
    Ok(Exit::Done)
}
