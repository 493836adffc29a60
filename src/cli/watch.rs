//! `urlspool watch` and `urlspool status`, including the status page for people.

mod paths;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use paths::PathWatch;
use serde_json::Value;

use super::args::{GeneralArgs, StatusArgs, TextOrJson, WatchArgs};
use super::config_path::{config_error, daemon_config, read_config};
use super::error::{CommandError, CommandResult, Exit};
use super::scan::hints::held_back;
use super::terminal::{escaped, print, print_message};
use urlspool_daemon::{self as daemon, DaemonError, ErrorKind, RunMode, StateSource};
use urlspool_files::config::{Config, ExistingMail, ExtractTable};
use urlspool_record::record::LineFormat;
use urlspool_text::diagnostic::{counted, grouped, printable};
use urlspool_text::limits::REPORTED_FAILURES;

pub(super) fn watch(args: &WatchArgs, general: GeneralArgs) -> CommandResult {
    if args.paths.is_empty() {
        let given = args.config.as_deref();
        let path = daemon_config(given)?;
        let mut config = read_config(&path, given)?;
        config
            .check_watch()
            .map_err(|error| config_error(&error.in_file(&path), given))?;
        let mut flags = ExtractTable::default();
        args.filters.apply(&mut flags);
        if flags != ExtractTable::default() {
            let message = "options that filter URLs need a PATH; with a configuration, set them \
                           in its table [extract]";
            return Err(CommandError::usage(message));
        }
        if args.stdout {
            config.output.stdout = Some(LineFormat::default());
        }
        start_log(args.log, general, tracing::Level::INFO);
        return run(args, general.quiet, Some(path), config);
    }
    let mut watch = PathWatch::of(args, general.color)?;
    if args.rebuild_state {
        // Messages that no sidecar lists are written again.
        watch.config.watch.existing = Some(ExistingMail::Write);
    }
    let level = match args.output {
        Some(_) => tracing::Level::INFO,
        None => tracing::Level::WARN,
    };
    start_log(args.log, general, level);
    if let Some(line) = watch.greeting(args).filter(|_| !general.quiet) {
        print_message(format_args!("urlspool: {}", escaped(&line)));
    }
    let config = watch.config.clone();
    if args.from_start && args.output.is_some() && config.state.dir.join(STATE_FILE).exists() {
        tracing::info!(
            "{} has the state of an earlier run, so --from-start skips mail from before it; use \
             another -o FOLDER to write all mail",
            config.state.dir.display()
        );
    }
    // The sandbox confines this thread and its children, so it does not keep the state from being
    // removed afterwards.
    let run = || run(args, general.quiet, None, config);
    std::thread::scope(|scope| scope.spawn(run).join()).unwrap_or_else(|_| {
        let message = "the program failed; please report this as a bug";
        Err(CommandError::new(Exit::Output, message))
    })
}

/// The file that a state folder contains after a run.
const STATE_FILE: &str = "state.db";

/// Checks that the folders of the daemon are not files.
fn check_folders(config: &Config) -> Result<(), CommandError> {
    let named = [
        ("output.dir", &config.output.dir),
        ("state.dir", &config.state.dir),
    ];
    let mut named = named.into_iter();
    match named.find(|(_, folder)| folder.exists() && !folder.is_dir()) {
        None => Ok(()),
        Some((key, folder)) => Err(CommandError::usage(format!(
            "{key} {} is not a folder; name another path (a missing folder is created)",
            folder.display()
        ))),
    }
}

/// Runs the daemon, and reports the files that it did not read.
fn run(args: &WatchArgs, is_quiet: bool, path: Option<PathBuf>, config: Config) -> CommandResult {
    check_folders(&config)?;
    let logs_its_end = path.is_some() || args.output.is_some();
    let mode = if args.once {
        RunMode::Once
    } else {
        RunMode::Forever
    };
    let source = if args.rebuild_state {
        StateSource::Sidecars
    } else {
        StateSource::Database
    };
    let end = match daemon::run(path, config, mode, source) {
        Ok(end) => end,
        Err(error) if error.kind == ErrorKind::OutputClosed => return Ok(Exit::Done),
        Err(error) => return Err(CommandError::new(exit_code(&error), error.to_string())),
    };
    if 0 < end.filtered && !logs_its_end && !is_quiet {
        print_message(format_args!("urlspool: {}", held_back(end.filtered)));
    }
    let (named, others) = end.unread.split_at(end.unread.len().min(REPORTED_FAILURES));
    for file in named {
        print_message(format_args!("urlspool: not read: {}", escaped(file)));
    }
    if !others.is_empty() {
        print_message(format_args!("urlspool: and {} more files", others.len()));
    }
    Ok(if end.interrupted {
        Exit::Interrupted
    } else if named.is_empty() {
        Exit::Done
    } else {
        Exit::SomeFailed
    })
}

fn exit_code(error: &DaemonError) -> Exit {
    match error.kind {
        ErrorKind::OutOfSpace | ErrorKind::Io => Exit::Output,
        ErrorKind::Inconsistent => Exit::Inconsistent,
        ErrorKind::Locked => Exit::Locked,
        ErrorKind::Refused => Exit::Usage,
        ErrorKind::OutputClosed => Exit::Done,
    }
}

pub(super) fn status(args: &StatusArgs) -> CommandResult {
    let dir = match &args.output {
        Some(folder) => paths::state_in(&absolute(folder)),
        None => {
            let given = args.config.as_deref();
            read_config(&daemon_config(given)?, given)?.state.dir
        }
    };
    let answer = daemon::ask(&dir).map_err(|error| {
        let dir = dir.display();
        CommandError::new(
            Exit::Unreachable,
            format!("no daemon answers in {dir}: {error}; `urlspool watch` starts one"),
        )
    })?;
    let is_page = match args.format {
        Some(format) => format == TextOrJson::Text,
        None => io::stdout().is_terminal(),
    };
    match serde_json::from_str(&answer) {
        Ok(status) if is_page => print(status_page(&status).as_bytes()),
        _ => print(answer.as_bytes()),
    }
}

/// Returns the absolute path. If the current folder is gone, the path stays relative, and its use
/// reports that.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Starts the log on standard error, for lines of this level and above, or only for errors.
fn start_log(format: TextOrJson, general: GeneralArgs, level: tracing::Level) {
    let GeneralArgs { color, quiet } = general;
    let level = if quiet { tracing::Level::ERROR } else { level };
    let log = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_max_level(level)
        // A line that cannot be written is lost; by default the library would panic.
        .log_internal_errors(false)
        .with_target(false);
    match format {
        TextOrJson::Text => log.with_ansi(color.colors(&io::stderr())).init(),
        TextOrJson::Json => log.json().init(),
    }
}

/// Width of the names in the left column.
const NAME_CHARS: usize = 12;

/// Returns the page for a status of the daemon. Conditions that need the operator come first.
fn status_page(status: &Value) -> String {
    let mut page = String::new();
    push_state(&mut page, status);
    push_output(&mut page, status);
    push_files(&mut page, status);
    for spool in items(&status["spools"]) {
        push_row(&mut page, "spool", &spool_text(spool));
    }
    if let Some(error) = status["last_error"].as_str() {
        let time = text(&status["last_error_time"]);
        push_row(&mut page, "last error", &format!("{time}: {error}"));
    }
    page
}

/// Appends the state, the issues and the process.
fn push_state(page: &mut String, status: &Value) {
    let state = match status["why"].as_str() {
        Some(why) => format!("{} ({why})", text(&status["state"])),
        None => text(&status["state"]).to_owned(),
    };
    let health = if status["healthy"] == true {
        "healthy"
    } else {
        "needs attention"
    };
    push_row(page, "state", &format!("{state}, {health}"));
    for issue in items(&status["issues"]) {
        push_row(page, "", &format!("- {}", text(issue)));
    }
    let [version, started] = ["version", "started"].map(|name| text(&status[name]));
    let pid = &status["pid"];
    let process = format!("urlspool {version}, pid {pid}, since {started}");
    push_row(page, "process", &process);
}

/// Appends the counts of written records, and the segments.
fn push_output(page: &mut String, status: &Value) {
    let counts = &status["counts"];
    let written = format!(
        "{} records; {} messages known or read, {} URLs filtered, {} duplicates, {} gone, in {} \
         commits",
        number(&counts["records"]),
        number(&counts["messages"]),
        number(&counts["filtered"]),
        number(&counts["duplicates"]),
        number(&counts["gone"]),
        number(&counts["commits"])
    );
    push_row(page, "written", &written);
    let [segment, bytes] = ["segment", "committed_bytes"].map(|name| number(&status[name]));
    let segment = format!("{segment} is open, with {bytes} bytes");
    push_row(page, "segment", &segment);
    let sealed = &status["last_sealed"];
    if sealed.is_object() {
        let [name, time] = ["name", "time"].map(|name| text(&sealed[name]));
        let records = number(&sealed["records"]);
        let sealed = format!("{name} at {time}, {records} records");
        push_row(page, "sealed", &sealed);
    }
}

/// Appends the numbers of queued files, and the failures.
fn push_files(page: &mut String, status: &Value) {
    let names = ["queue", "resting", "locked", "failing", "quarantined"];
    let [queued, resting, locked, retried, abandoned] = names.map(|name| number(&status[name]));
    let files = format!(
        "{queued} queued, {resting} still being written, {locked} locked, {retried} retried, \
         {abandoned} abandoned"
    );
    push_row(page, "files", &files);
    for failure in items(&status["failures"]) {
        let (path, why) = (text(&failure["path"]), text(&failure["why"]));
        push_row(page, "", &format!("- {path}: {why}"));
    }
}

fn spool_text(spool: &Value) -> String {
    if spool["state"] == "missing" {
        return format!("{}: missing", text(&spool["path"]));
    }
    let reports = match spool["notices"].as_str() {
        Some("arrived") => format!(
            "watching, last change {} s ago",
            seconds(&spool["last_notice_ms"])
        ),
        Some("set") => "watching, no change since the start or a reload".to_owned(),
        _ => "polled".to_owned(),
    };
    let lag = match seconds(&spool["lag_ms"]).as_str() {
        "0" => "up to date".to_owned(),
        seconds => format!("{seconds} s behind"),
    };
    format!(
        "{}: {}, {} scanned, {reports}, {lag}",
        text(&spool["path"]),
        text(&spool["state"]),
        counted(spool["files"].as_u64().unwrap_or(0), "file", "files"),
    )
}

fn seconds(milliseconds: &Value) -> String {
    grouped(milliseconds.as_u64().unwrap_or(0) / 1_000)
}

/// Appends a line. Text from mail or file names is escaped, so it cannot control a terminal.
fn push_row(page: &mut String, name: &str, text: &str) {
    *page += &format!("{name:<NAME_CHARS$}{}\n", printable(text));
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("none")
}

fn number(value: &Value) -> String {
    grouped(value.as_u64().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_page_lists_first_what_needs_the_operator() {
        let status = json!({
            "state": "paused", "why": "no space", "healthy": false, "issues": ["paused: \u{1b}[2J"],
            "version": "0.1.0", "pid": 7, "started": "2026-11-24T10:00:00Z",
            "segment": 3, "committed_bytes": 12_345, "queue": 0, "resting": 1, "locked": 0,
            "failing": 1, "quarantined": 0, "last_sealed": {
                "name": "0000000002.jsonl", "time": "2026-11-24T10:05:00Z", "records": 1_000,
            },
            "failures": [{"path": "/m/a", "why": "Permission denied"}],
            "spools": [{
                "path": "/m", "state": "ok", "notices": "arrived", "last_notice_ms": 61_000,
                "files": 4, "lag_ms": 2_500,
            }],
            "counts": {
                "records": 1_234, "messages": 600, "filtered": 7, "duplicates": 2, "gone": 1,
                "commits": 9,
            },
            "last_error": null,
        });
        let page = status_page(&status);
        let lines: Vec<&str> = page.lines().collect();
        assert_eq!(lines[0], "state       paused (no space), needs attention");
        assert_eq!(lines[1], "            - paused: \\u{1b}[2J");
        for line in [
            "written     1,234 records; 600 messages known or read, 7 URLs filtered, 2 duplicates, \
             1 gone, in 9 commits",
            "segment     3 is open, with 12,345 bytes",
            "sealed      0000000002.jsonl at 2026-11-24T10:05:00Z, 1,000 records",
            "            - /m/a: Permission denied",
            "spool       /m: ok, 4 files scanned, watching, last change 61 s ago, 2 s behind",
        ] {
            assert!(lines.contains(&line), "{line}\n{page}");
        }
        assert!(!page.contains("last error"));
        let unchanged = spool_text(&json!({"notices": "set"}));
        assert!(unchanged.contains("no change since the start or a reload"));
        // A daemon of another version may lack fields.
        assert!(status_page(&json!({})).starts_with("state       none"));
    }
}
