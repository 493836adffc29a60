//! The texts after the options in the help: exit codes, environment, files, examples. They are
//! blocks with a title; the manual turns each into a section.

use clap::{Command, CommandFactory};

use super::Args;

/// The program with all its subcommands and the texts after their options.
pub(crate) fn command() -> Command {
    let text = format!("{}{PLACES}Examples:\n{}", exit_codes(None), examples(""));
    Args::command().mut_subcommands(with_texts).after_help(text)
}

/// Adds the texts of a command and of its steps.
fn with_texts(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_subcommands(|step| {
        let step_name = format!("{name} {}", step.get_name());
        with_text(step, &step_name)
    });
    with_text(command, &name)
}

fn with_text(command: Command, name: &str) -> Command {
    let text = format!("{}Examples:\n{}", exit_codes(Some(name)), examples(name));
    command.after_help(text)
}

/// Meanings of the exit codes. A meaning that does not apply to all commands starts with their
/// names.
const EXITS: &[(u8, &[&str])] = &[
    (0, &["done"]),
    (
        1,
        &[
            "`scan`, `stats`, `load`, `show`, `explain`, `splits`, `parse`: some input could not be read, was damaged, or has an unsupported format",
            "`watch --once`: some file could not be read, is locked or still being written",
            "`scan --strict`: there was any event",
            "`parse --check`: some URL was rejected",
            "`stats`, `load`: a line is no record",
            "`load`: the server refused a record",
            "`audit import`: a result was refused",
            "`audit archive`: a URL got no answer",
            "`audit save`: a URL was not captured",
        ],
    ),
    (
        2,
        &[
            "the arguments, the configuration or an input cannot be used, or a file would be overwritten",
        ],
    ),
    (
        69,
        &[
            "`status`: no daemon answers",
            "`load`, `scan --into`: the server cannot be reached",
            "`browse`: the address cannot be used",
            "`audit check`, `audit inspect`: no server replies",
            "`audit archive`: the server cannot be reached, refuses, or is no CDX server",
            "`audit save`: the service cannot be reached, refuses, or reached its limit",
        ],
    ),
    (
        74,
        &["an output, the state or the database cannot be read or written"],
    ),
    (
        75,
        &[
            "`watch`: another instance is running with the same state",
            "`load`, `scan --into`, `audit`: another program is writing to the database",
        ],
    ),
    (
        78,
        &[
            "`watch`: the state and the output contradict each other",
            "`load`: a segment contradicts its sidecar or the database",
            "`load`, `scan --into`, `stats`, `search`, `cited`, `browse`, `audit`: the database is damaged",
        ],
    ),
    (130, &["interrupted"]),
];

/// The block of the exit codes of a command; `None` for all commands.
fn exit_codes(command: Option<&str>) -> String {
    let mut block = String::from("Exit codes:\n");
    for (code, rows) in EXITS {
        let rows: Vec<String> = rows.iter().filter_map(|row| row_of(command, row)).collect();
        if !rows.is_empty() {
            block += &format!("{code:>3}  {}\n", rows.join(";\n     "));
        }
    }
    block + "\n"
}

/// Returns a row as the help of a command shows it, or `None` if it does not apply to the command.
/// Omits the command's name, but keeps the option that the meaning depends on.
fn row_of(command: Option<&str>, row: &str) -> Option<String> {
    let (Some(command), Some((names, meaning))) = (command, row.split_once("`: ")) else {
        return Some(row.to_owned());
    };
    let mut names = names.split(", ").map(|name| name.trim_matches('`'));
    names.find_map(|name| {
        let (name, option) = name.split_once(" --").unwrap_or((name, ""));
        let is_meant = command == name || command.starts_with(&format!("{name} "));
        is_meant.then(|| match option {
            "" => meaning.to_owned(),
            option => format!("--{option}: {meaning}"),
        })
    })
}

const PLACES: &str = "Environment:
  URLSPOOL_CONFIG  the configuration file, if `--config` does not name one
  NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM
                   the use of colours, if `--color` is `auto`

Files:
  ~/.config/urlspool/urlspool.toml, /etc/urlspool/urlspool.toml
                   the configuration of `watch`, `status` and `check-config`; `scan` does not read it

";

/// Returns the examples of a command; the program itself has an empty name.
fn examples(command: &str) -> &'static str {
    if let Some(step) = command.strip_prefix("audit ") {
        return step_examples(step);
    }
    match command {
        "" => "  urlspool stats ~/Mail
  urlspool scan ~/Mail > urls.jsonl
  urlspool scan --help
  urlspool man scan",
        "scan" => "  urlspool scan ~/Mail > urls.jsonl
  urlspool scan --into urls.db ~/Mail
  urlspool scan --into urls.db --replace ~/Mail       again later: also removes the rows of mail that is gone
  urlspool scan --format urls --unique run archive.mbox | lychee -
  urlspool scan list.mbox.gz news.tar.bz2 takeout.zip
  tail -F inbox | urlspool scan -                  each message when the next one begins
  urlspool scan --since 1994 --until 1996-06 --exclude Spam ~/Mail
  urlspool scan --dry-run archive/
  urlspool scan --schemes gopher,wais,prospero --summary sums.json news/",
        "stats" => "  urlspool stats ~/Mail
  urlspool stats --html mail.html --csv mail-tables ~/Mail
  urlspool stats --json urls.db | jq .distinct_urls.count
  urlspool scan ~/Mail | tee urls.jsonl | urlspool stats
  urlspool stats --top 50 /var/lib/urlspool/out",
        "watch" => "  urlspool watch ~/Maildir                        show new URLs as mail arrives
  urlspool watch -o urls ~/Maildir                write them into segments, exactly once
  urlspool watch --stdout ~/Mail/inbox | consumer
  urlspool watch --config /etc/urlspool/urlspool.toml --log json
  urlspool watch --config urlspool.toml --once",
        "status" => "  urlspool status | jq .
  urlspool status --config urlspool.toml
  urlspool status -o urls                         of `urlspool watch -o urls PATH`",
        "parse" => "  urlspool parse 'ftp://myname@host.dom/%2Fetc/motd'
  urlspool parse --check - < urls.txt",
        "show" => "  urlspool scan inbox | head -1 | urlspool show
  urlspool show inbox:120-155
  urlspool show list.mbox.gz:120-155          offsets in the unpacked file
  urlspool show 'news.tar!comp/mail/1:0-80'   member of an archive
  urlspool show 'a.zip!b.tar!c.mbox:0-80'     member of an archive in an archive",
        "explain" => "  urlspool explain archive.mbox:10233
  urlspool explain list.mbox.gz:10233         offset in the unpacked file
  urlspool explain 'news.tar!comp/mail/1'     member of an archive",
        "splits" => {
            "  urlspool splits --size 1GiB archive/ | parallel --pipe -k -N1 urlspool scan --splits -"
        }
        "load" => "  urlspool load --into urls.db urls.jsonl
  urlspool scan --into urls.db ~/Mail                   scans and loads in one process
  urlspool load --into urls.db --replace urls.jsonl     after a new scan of the same files
  urlspool load --into urls.db --prune ~/Mail           removes the rows of files that are gone
  urlspool load --into urls.db --follow /var/lib/urlspool/out",
        "search" => "  urlspool search urls.db cern
  urlspool search urls.db --host info.cern.ch --until 1994
  urlspool search urls.db --key http://info.cern.ch/ --sort oldest
  urlspool search urls.db --sender jane --format csv 'goph*'
  urlspool search urls.db -- gopher '\"red lamp\"' -wick
  urlspool search urls.db gopher --facets domain,year
  urlspool search urls.db --limit 1 gopher | urlspool show",
        "cited" => "  urlspool cited urls.db http://info.cern.ch/
  urlspool cited urls.db cern.ch --format csv > cern.csv
  urlspool cited urls.db cern.ch --format jsonl --limit 1 | urlspool show",
        "browse" => "  urlspool browse urls.db
  urlspool browse urls.db --listen 127.0.0.1:0
  ssh -L 8797:127.0.0.1:8797 archive urlspool browse urls.db      from another machine",
        "audit" => "  urlspool audit plan urls.db
  urlspool audit plan urls.db --sample 5000 --by year --seed 1
  urlspool audit check urls.db
  urlspool audit status urls.db
  urlspool audit import urls.db results.csv
  urlspool audit import urls.db lychee.json --checked-at 2026-11-22
  urlspool audit archive urls.db --cdx https://web.archive.org/cdx/search/cdx --contact you@your.site
  urlspool audit report urls.db -o report.html --csv tables
  urlspool audit save urls.db --as seeds
  urlspool audit report urls.db -o report.html --bundle evidence",
        "schema" => "  urlspool schema > record.schema.json
  urlspool schema --as duckdb | duckdb urls.db",
        "check-config" => "  urlspool check-config --default > urlspool.toml
  urlspool check-config urlspool.toml
  urlspool check-config - < urlspool.toml",
        "completions" => "  urlspool completions bash > ~/.local/share/bash-completion/completions/urlspool
  urlspool completions zsh > ~/.zfunc/_urlspool
  urlspool completions fish > ~/.config/fish/completions/urlspool.fish",
        "man" => "  urlspool man
  urlspool man scan
  urlspool man urlspool.toml > urlspool.toml.5       roff, as for every output but a terminal
  urlspool man --all ~/.local/share/man",
        _ => "",
    }
}

fn step_examples(step: &str) -> &'static str {
    match step {
        "plan" => "  urlspool audit plan urls.db
  urlspool audit plan urls.db --sample 5000 --by year --seed 1",
        "check" => "  urlspool audit check urls.db --contact you@your.site
  urlspool audit check urls.db --limit 5000
  urlspool audit check urls.db --confirm 2 --confirm-after 1w
  urlspool audit check urls.db --max-age 12w --timeout 60
  urlspool audit check urls.db --schemes ftp,gopher --contact you@your.site",
        "status" => "  urlspool audit status urls.db
  urlspool audit status urls.db --max-age 12w",
        "import" => "  urlspool audit import urls.db results.csv
  urlspool audit import urls.db lychee.json --checked-at 2026-11-22",
        "save" => "  urlspool audit save urls.db
  urlspool audit save urls.db --as seeds -o seeds.txt
  urlspool audit save urls.db --send --contact you@your.site",
        "archive" => "  urlspool audit archive urls.db --cdx https://web.archive.org/cdx/search/cdx --contact you@your.site
  urlspool audit archive urls.db --cdx http://localhost:8080/web/cdx --contact you@your.site --rate 600",
        "inspect" => "  urlspool audit inspect urls.db --contact you@your.site",
        "report" => "  urlspool audit report urls.db -o report.html
  urlspool audit report urls.db -o report.html --csv tables --no-senders
  urlspool audit report urls.db -o report.html --bundle evidence",
        _ => "",
    }
}
