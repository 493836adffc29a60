//! The arguments of `scan`, `splits` and `stats`.

use std::path::PathBuf;

use super::values::{
    OutputFormat, StatsFormat, count, field_name, hazard_name, host_of, item_size, named,
    target_name,
};
use super::{EXTRACT, GENERAL, GeneralArgs, INPUT, OUTPUT, SettingArgs, SourceArgs};
use urlspool_files::config::{ExtractTable, region_name};
use urlspool_files::options::{
    DatePeriod, context_bytes, date_period, list_name, scheme_name, threads,
};
use urlspool_files::sink::Partition;
use urlspool_record::extract::Unique;
use urlspool_store::load::TargetName;
use urlspool_text::scan::{Rules, SchemelessPolicy};

/// The arguments of `scan`.
#[derive(clap::Args, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that is given or not"
)]
pub(crate) struct ScanArgs {
    /// Files and folders to read; `-`, or no path, is standard input
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Read paths from FILE, one per line or NUL-separated (`-`: stdin)
    #[arg(long, value_name = "FILE", conflicts_with = "splits", help_heading = INPUT)]
    pub(crate) files_from: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) sources: SourceArgs,

    /// Read only messages from DATE on, and undated ones
    ///
    /// DATE is a year (1996), a month (1996-07), a day (1996-07-02) or a time
    /// (1996-07-02T13:45:00Z) in UTC, or an age (24h, 7d, 12w).
    #[arg(long, value_name = "DATE", value_parser = date_period, help_heading = INPUT)]
    pub(crate) since: Option<DatePeriod>,

    /// Read only messages up to the end of DATE, and undated ones
    ///
    /// `--since 1996 --until 1996` reads the messages of that year. If DATE is a time, messages
    /// before it are read.
    #[arg(long, value_name = "DATE", value_parser = date_period, help_heading = INPUT)]
    pub(crate) until: Option<DatePeriod>,

    /// Read the work items that `urlspool splits` printed (`-`: stdin)
    #[arg(long, value_name = "FILE", conflicts_with = "paths", help_heading = INPUT)]
    pub(crate) splits: Option<PathBuf>,

    /// Join broken URLs that occur whole in SOURCE: `self` or a file
    ///
    /// Hosts with a path and no scheme are found too if SOURCE has them with a scheme. `self`
    /// reads the input twice, first for its URLs, then for records; it does not work with standard
    /// input and --splits. A file is a database of `urlspool load`, records as JSON lines, or URLs,
    /// one per line.
    #[arg(long, value_name = "SOURCE", help_heading = EXTRACT)]
    pub(crate) evidence: Option<PathBuf>,

    /// Read only messages of these mailing lists and newsgroups
    ///
    /// A list is named as in the angle brackets of List-Id, such as `www-talk.w3.org`. Separate
    /// several names by commas.
    #[arg(long, value_name = "LIST,...", value_delimiter = ',', value_parser = list_name,
        help_heading = INPUT)]
    pub(crate) list: Vec<String>,

    /// Print the kind, size and path of each file without scanning it
    ///
    /// With --into, files are scanned, and the rows to add and remove are counted; the database
    /// does not change.
    #[arg(long, conflicts_with_all = ["output", "format", "fields", "rejects", "events", "summary"],
        help_heading = INPUT)]
    pub(crate) dry_run: bool,

    /// Write to FILE instead of standard output
    ///
    /// The file extension sets the format unless `--format` does: .jsonl, .ndjson, .csv, .tsv, .txt
    /// (URLs) or .parquet. A further .gz or .zst compresses the file.
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,

    /// Load the records into a database or an index, without `load`
    ///
    /// TARGET is the same as for `urlspool load`: `FILE` or `sqlite:FILE`, or the URL of a server.
    #[arg(long, value_name = "TARGET", value_parser = target_name,
        conflicts_with_all = ["output", "format", "fields", "defang"],
        help_heading = OUTPUT)]
    pub(crate) into: Option<TargetName>,

    /// With --into: also remove rows that the files no longer hold
    ///
    /// This includes the rows of deleted files, in one transaction. A file that is not read, or not
    /// to its end, keeps its rows, and so do all files of a path that is missing or empty. With
    /// --dry-run the rows are only counted.
    #[arg(long, requires = "into", conflicts_with_all = ["splits", "since", "until", "list"],
        help_heading = OUTPUT)]
    pub(crate) replace: bool,

    /// Output format [default: jsonl; grep on a terminal]
    ///
    /// On a terminal the default is jsonl too if another option asks for data.
    #[arg(long, value_parser = named::<OutputFormat>(), help_heading = OUTPUT)]
    pub(crate) format: Option<OutputFormat>,

    /// Write only these fields, for jsonl, csv, tsv and parquet
    ///
    /// Fields are named as in the record: `url,source.path,message.date`. The name of an object
    /// selects all its fields. `slim` selects the most used ones: id, url, fragment, confidence,
    /// source.path, source.member, source.start, source.end, message.id, message.date, message.from
    /// and message.subject. By default csv and tsv have ten columns, without the fragment and the
    /// author: name `fragment` and `author.from` for these.
    #[arg(long, value_name = "FIELD,...", value_delimiter = ',', value_parser = field_name(),
        hide_possible_values = true, help_heading = OUTPUT)]
    pub(crate) fields: Vec<String>,

    /// Write a folder of Parquet files, one for each value
    #[arg(long, value_name = "BY", value_parser = named::<Partition>(), requires = "format",
        help_heading = OUTPUT)]
    pub(crate) partition: Option<Partition>,

    /// Replace existing files that urlspool may not have written
    ///
    /// Without it an existing file is replaced only if it starts with records, events, a summary or
    /// a table header, or is a Parquet file of urlspool. Lists of URLs, hrefs and grep lines do not
    /// show which program wrote them.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) force: bool,

    /// Write rejected candidates to FILE
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) rejects: Option<PathBuf>,

    /// Write events to FILE as JSON lines, not to standard error
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) events: Option<PathBuf>,

    /// Write the summary of the run to FILE as JSON
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) summary: Option<PathBuf>,

    /// Rules for finding URLs
    #[arg(long, value_name = "RULES", value_parser = named::<Rules>(), help_heading = EXTRACT)]
    pub(crate) rules: Option<Rules>,

    /// Find hosts without a scheme
    #[arg(long, value_name = "WHICH", value_parser = named::<SchemelessPolicy>(),
        help_heading = EXTRACT)]
    pub(crate) schemeless: Option<SchemelessPolicy>,

    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    /// Write only URLs of these schemes, such as `http,https,ftp`
    #[arg(long, value_name = "SCHEME,...", value_delimiter = ',', value_parser = scheme_name,
        help_heading = EXTRACT)]
    pub(crate) schemes: Vec<String>,

    /// Write a URL once within this scope
    ///
    /// URLs with the same key and fragment are one. The record describes the first place; the link
    /// text of a later one may be a mismatch.
    #[arg(long, value_name = "WITHIN", value_parser = named::<Unique>(), help_heading = EXTRACT)]
    pub(crate) unique: Option<Unique>,

    /// Add N bytes of text around each URL (0: none, maximum 4096)
    ///
    /// Up to N bytes before and N bytes after the URL, cut between words.
    #[arg(long, value_name = "N", value_parser = context_bytes, help_heading = EXTRACT)]
    pub(crate) context: Option<usize>,

    #[command(flatten)]
    pub(crate) settings: SettingArgs,

    /// Configuration file [default: the file in URLSPOOL_CONFIG]
    ///
    /// Flags override its options and limits.
    #[arg(long, value_name = "FILE", help_heading = GENERAL)]
    pub(crate) config: Option<PathBuf>,

    /// Number of threads [default: one per core]
    #[arg(short = 'j', long, value_name = "N", value_parser = threads, help_heading = GENERAL)]
    pub(crate) threads: Option<u16>,

    /// Exit with status 1 if there is any event
    #[arg(long, help_heading = GENERAL)]
    pub(crate) strict: bool,

    /// Print the summary on standard error
    #[arg(short, long, help_heading = GENERAL)]
    pub(crate) verbose: bool,

    /// The options of all commands.
    #[arg(skip)]
    pub(crate) general: GeneralArgs,
}

/// The arguments of `splits`.
#[derive(clap::Args, Debug)]
pub(crate) struct SplitsArgs {
    /// Files and folders
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Maximum size of a part of an uncompressed mbox; any other file is one item
    ///
    /// Small files are not combined. `scan --splits` takes any number of items, so pass several to
    /// each process: `-N100` of GNU parallel.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = item_size)]
    pub(crate) size: u64,

    #[command(flatten)]
    pub(crate) sources: SourceArgs,
}

/// The filters of URLs, shared by `scan` and `watch`.
#[derive(clap::Args, Debug)]
pub(crate) struct FilterArgs {
    /// Write only URLs of exactly these hosts (see --domain)
    #[arg(long, value_name = "HOST,...", value_delimiter = ',', value_parser = host_of,
        help_heading = EXTRACT)]
    host: Vec<String>,

    /// Write only URLs of these domains and all their hosts
    ///
    /// Write a domain such as `cern.ch`; separate several by commas.
    #[arg(long, value_name = "DOMAIN,...", value_delimiter = ',', value_parser = host_of,
        help_heading = EXTRACT)]
    domain: Vec<String>,

    /// Skip URLs of these domains and all their hosts
    ///
    /// A name with a `/` is a file of domains, one per line; lines that start with `#` are
    /// comments.
    #[arg(long, value_name = "DOMAIN,...", value_delimiter = ',', help_heading = EXTRACT)]
    exclude_domains: Vec<String>,

    /// Write only URLs in these regions, such as `body,header`
    ///
    /// Regions are body, signature, forwarded, footer and external-body; `header` or one field
    /// (`header:List-Archive`); `html`, its text (`html:text`) or one attribute (`html:a.href`), as
    /// in the field `region` of records.
    #[arg(long, value_name = "REGION,...", value_delimiter = ',', value_parser = region_name,
        help_heading = EXTRACT)]
    region: Vec<String>,

    /// Write only URLs with one of these hazards (comma-separated)
    ///
    /// `mismatch`: the text of the link is a URL or host of another domain than its target.
    /// `urlspool generate man record` lists the hazards.
    #[arg(long, value_name = "HAZARD,...", value_delimiter = ',', value_parser = hazard_name(),
        hide_possible_values = true, help_heading = EXTRACT)]
    hazard: Vec<String>,

    /// Write harmless URLs, such as `hxxp://a[.]example/b`
    ///
    /// This works for urls, hrefs, grep, csv and tsv of `scan`, and for the lines of `watch PATH`.
    /// In csv and tsv it applies to columns of URLs and hosts, and to URLs in other texts. Mail
    /// addresses and names without a scheme in texts, and the paths of sources, stay as they are.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) defang: bool,
}

impl FilterArgs {
    /// Overrides the configuration with the given arguments.
    pub(crate) fn apply(&self, extract: &mut ExtractTable) {
        for (names, given) in [
            (&mut extract.host, &self.host),
            (&mut extract.domain, &self.domain),
            (&mut extract.exclude_domains, &self.exclude_domains),
            (&mut extract.region, &self.region),
            (&mut extract.hazard, &self.hazard),
        ] {
            if !given.is_empty() {
                names.clone_from(given);
            }
        }
        extract.defang |= self.defang;
    }
}

/// The arguments of `stats`.
#[derive(clap::Args, Debug)]
pub(crate) struct StatsArgs {
    /// Mail, records (JSON lines, folders of these or of segments), or a database of `load`
    ///
    /// `-`, or no path, reads mail or records from standard input. The first bytes of a file decide
    /// what it is. Mail is read like `scan` without options. To summarize a part of it, or what
    /// `scan --evidence self` finds, pipe a scan into it: `urlspool scan --include GLOB PATH |
    /// urlspool stats`.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// In a database, also count links that occur only in header fields of mailing lists
    #[arg(long, help_heading = INPUT)]
    pub(crate) list_fields: bool,

    /// Print at most N names of each list
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = count::<u32>,
        help_heading = OUTPUT)]
    pub(crate) limit: u32,

    /// Output format [default: text]
    ///
    /// The file extension of --output sets the format unless `--format` does: .html or .json.
    #[arg(long, value_parser = named::<StatsFormat>(), help_heading = OUTPUT)]
    pub(crate) format: Option<StatsFormat>,

    /// Write to FILE instead of standard output; for csv, a folder
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,

    /// Replace existing files that urlspool may not have written
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) force: bool,

    /// Omit senders
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) no_senders: bool,

    /// Number of threads [default: one per core]
    #[arg(short = 'j', long, value_name = "N", value_parser = threads, help_heading = GENERAL)]
    pub(crate) threads: Option<u16>,

    /// The options of all commands.
    #[arg(skip)]
    pub(crate) general: GeneralArgs,
}
