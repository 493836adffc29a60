//! `urlspool audit`: the steps of an audit, their progress on a terminal, and their summaries.

use std::collections::BTreeMap;
use std::fmt;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::args::{
    AuditArchiveArgs, AuditCheckArgs, AuditImportArgs, AuditInspectArgs, AuditPlanArgs,
    AuditReportArgs, AuditSaveArgs, AuditStatusArgs, AuditStep,
};
use super::error::{CommandError, CommandResult, Exit};
use super::load::load_error;
use super::signals::stop_on_signals;
use super::terminal::{STDOUT, check_is_not_database, escaped, print, print_message};
use urlspool_audit::{
    self as audit, ArchiveCounts, ArchiveJob, AuditError, AuditProgress, AuditStatus, CheckCounts,
    CheckJob, ConfirmationRule, ImportCounts, ImportJob, InspectCounts, InspectJob, LeftOut,
    LinkState, OldProtocol, PlanCounts, PlanJob, ReportFiles, ReportFormat, ReportJob,
    RobotsPolicy, Sample, SaveCounts, SaveJob, SenderPolicy,
};
use urlspool_files::config::NamedValue;
use urlspool_files::sink::{OutputFile, OutputPlace, Replacement, check_replacement};
use urlspool_store::load;
use urlspool_text::diagnostic::{counted, grouped, shortened};
use urlspool_text::limits::MESSAGE_VALUE_CHARS;

pub(super) fn audit(step: AuditStep, is_quiet: bool) -> CommandResult {
    match step {
        AuditStep::Plan(args) => plan(args, is_quiet),
        AuditStep::Check(args) => check(args, is_quiet),
        AuditStep::Status(args) => status(&args),
        AuditStep::Import(args) => import(args, is_quiet),
        AuditStep::Archive(args) => archive(args, is_quiet),
        AuditStep::Inspect(args) => inspect(args, is_quiet),
        AuditStep::Save(args) => save(args, is_quiet),
        AuditStep::Report(args) => report(args, is_quiet),
    }
}

impl From<AuditError> for CommandError {
    fn from(error: AuditError) -> CommandError {
        let exit = match &error {
            AuditError::Database(error) => return load_error(error),
            AuditError::Unusable { .. } => Exit::Usage,
            AuditError::NoAnswers(_) => Exit::Unreachable,
            AuditError::Output { .. } => Exit::Output,
        };
        CommandError::new(exit, error.to_string())
    }
}

/// Maximum number of strata to list; the others are only counted.
const LISTED_STRATA: usize = 60;

fn plan(args: AuditPlanArgs, is_quiet: bool) -> CommandResult {
    check_is_not_database(&args.database)?;
    let job = PlanJob {
        database: args.database,
        lifted: args.force,
        private_hosts: args.allow_private,
        title: args.title,
        collection: args.collection,
        author: args.author,
        contact: args.contact,
        sample: args.sample.map(|size| Sample {
            size,
            by: args.by,
            seed: args.seed,
        }),
    };
    let counts = audit::plan(&job)?;
    if is_quiet {
        return Ok(Exit::Done);
    }
    if !counts.dropped.is_empty() {
        let dropped = counts.dropped.join(" ");
        let text = format!("no longer planned with {dropped}; plan with it again to keep it");
        report_on(is_quiet, &text);
    }
    print(plan_summary(&counts, job.sample.is_some()).as_bytes())
}

/// Formats the counts of a plan as a table.
fn plan_summary(counts: &PlanCounts, is_sample: bool) -> String {
    let mut text = row(counts.links, 0, "links", "");
    text += &row(counts.planned, 1, "to check", "");
    if is_sample {
        text += &row(counts.outside_the_sample, 1, "not in the sample", "");
    }
    let excluded = counts.excluded.values().sum();
    text += &row(excluded, 1, "left out", "");
    for (reason, count) in &counts.excluded {
        text += &row(*count, 2, reason.name(), reason.meaning());
    }
    if !counts.schemes.is_empty() {
        text += "schemes that are left out\n";
        for (scheme, count) in &counts.schemes {
            text += &row(*count, 2, scheme, "");
        }
    }
    if is_sample {
        text += &format!("strata: {}\n", counts.strata.len());
        for stratum in counts.strata.iter().take(LISTED_STRATA) {
            let of = format!("of {}", stratum.population);
            let name = shortened(&stratum.name, MESSAGE_VALUE_CHARS);
            text += &row(stratum.sampled, 2, &name, &of);
        }
    }
    text
}

fn row(count: u64, depth: usize, name: &str, note: &str) -> String {
    let indent = "  ".repeat(depth);
    let (name, note) = (escaped(name), escaped(note));
    let line = format!("{count:>10}  {indent}{name:<17}  {note}");
    format!("{}\n", line.trim_end())
}

fn check(args: AuditCheckArgs, is_quiet: bool) -> CommandResult {
    let web = ["http", "https"].map(|name| args.schemes.iter().any(|scheme| scheme == name));
    if web[0] != web[1] {
        let message = "http and https are checked together: add both to `--schemes`, or neither";
        return Err(CommandError::usage(message));
    }
    let old = args.schemes.iter();
    let old: Vec<_> = old
        .filter_map(|scheme| OldProtocol::of_scheme(scheme))
        .collect();
    let job = CheckJob {
        database: args.database,
        timeout: Duration::from_secs(args.timeout),
        retries: args.retries,
        max_age: args.max_age,
        confirm: args.confirm,
        confirm_after: args.confirm_after,
        accepts_unreachable: args.accept_unreachable,
        forgets_future: args.forget_future,
        limit: args.limit,
    };
    let stop = end_flag()?;
    let is_interrupted = web[0] && check_web(&job, is_quiet, &stop)?
        || !old.is_empty() && check_old(&job, &old, is_quiet, &stop)?;
    Ok(ended(is_interrupted, false))
}

/// Returns a flag that signals set.
fn end_flag() -> Result<Arc<AtomicBool>, CommandError> {
    let stop = Arc::default();
    stop_on_signals(&stop)?;
    Ok(stop)
}

/// Runs a step with a bar on standard error, and prints its summary there.
fn run<C>(
    is_quiet: bool,
    step: impl FnOnce(&dyn AuditProgress) -> Result<C, AuditError>,
    summary: fn(&C) -> String,
) -> Result<C, CommandError> {
    let progress = StderrProgress::new(is_quiet);
    let counts = step(&progress);
    progress.bar.finish_and_clear();
    let counts = counts?;
    report_on(is_quiet, &summary(&counts));
    Ok(counts)
}

fn report_on(is_quiet: bool, text: &str) {
    if !is_quiet {
        print_message(format_args!("urlspool: {}", escaped(text)));
    }
}

/// Returns the end of a summary.
fn interruption(is_interrupted: bool) -> &'static str {
    if is_interrupted {
        "; interrupted: run it again to continue"
    } else {
        ""
    }
}

/// Adds a count to a summary, unless it is 0.
fn add_count(text: &mut String, count: u64, words: &str) {
    if 0 < count {
        *text += &format!(", {} {words}", grouped(count));
    }
}

fn ended(is_interrupted: bool, has_failures: bool) -> Exit {
    match (is_interrupted, has_failures) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::SomeFailed,
        (false, false) => Exit::Done,
    }
}

/// Checks links of old protocols. Returns `true` if interrupted.
fn check_old(
    job: &CheckJob,
    protocols: &[OldProtocol],
    is_quiet: bool,
    stop: &AtomicBool,
) -> Result<bool, CommandError> {
    Ok(run(
        is_quiet,
        |progress| audit::check_protocols(job, protocols, stop, progress),
        protocol_summary,
    )?
    .is_interrupted)
}

fn protocol_summary(counts: &CheckCounts) -> String {
    let (one, many) = ("link of an old protocol", "links of old protocols");
    let links = counted(counts.due, one, many);
    let mut text = format!("{} of {links} checked", grouped(counts.checked));
    add_states(&mut text, &counts.states);
    text + interruption(counts.is_interrupted)
}

/// Checks links of http and https. Returns `true` if interrupted.
fn check_web(job: &CheckJob, is_quiet: bool, stop: &Arc<AtomicBool>) -> Result<bool, CommandError> {
    let counts = run(
        is_quiet,
        |progress| audit::check(job, stop, progress),
        check_summary,
    )?;
    if 0 < counts.silent {
        report_on(is_quiet, &silence(counts.silent));
    }
    report_changes(is_quiet, &counts.changes);
    Ok(counts.is_interrupted)
}

/// Prints the numbers of links that were loaded or removed after the plan, if any.
fn report_changes(is_quiet: bool, changes: &BTreeMap<String, u64>) {
    for (words, count) in changes {
        let links = counted(*count, "link", "links");
        report_on(is_quiet, &format!("{links} {words}; {PLAN_AGAIN}"));
    }
}

/// Advice to include links of later loads, and to omit removed ones.
const PLAN_AGAIN: &str = "`audit plan` updates the plan and keeps the results";

/// Returns the advice for stored results that a machine without a network connection would also
/// produce.
fn silence(urls: u64) -> String {
    let urls = counted(urls, "URL", "URLs");
    format!(
        "no server replied for {urls} checked together; if this machine had no network, check them \
         again with `--max-age 0h`"
    )
}

/// Adds the number of links in each state.
fn add_states(text: &mut String, states: &BTreeMap<LinkState, u64>) {
    for (state, count) in states {
        let [one, many] = state.count_words();
        *text += &format!(", {}", counted(*count, one, many));
    }
}

fn check_summary(counts: &CheckCounts) -> String {
    let mut text = format!(
        "{} of {} checked",
        grouped(counts.checked),
        counted(counts.due, "URL", "URLs")
    );
    add_states(&mut text, &counts.states);
    if counts.excluded > 0 {
        let count = grouped(counts.excluded);
        text.push_str(&format!("; {count} not contacted (private)"));
    }
    if counts.forgotten > 0 {
        let results = counted(counts.forgotten, "result", "results");
        text.push_str(&format!("; {results} from the future deleted"));
    }
    if counts.due == 0 {
        text.push_str(if counts.planned == 0 {
            "; the plan has no links to check; `urlspool audit plan` prints the reasons"
        } else {
            "; every planned link has a newer result than `--max-age`"
        });
    }
    text + interruption(counts.is_interrupted)
}

fn status(args: &AuditStatusArgs) -> CommandResult {
    check_is_not_database(&args.database)?;
    let status = audit::status(&args.database, args.max_age)?;
    print(status_summary(&status).as_bytes())
}

/// Maximum number of days of later checks to list; the others are only counted.
const LISTED_DAYS: usize = 60;

/// Formats the status of an audit as a table.
fn status_summary(status: &AuditStatus) -> String {
    let checked = status.states.values().sum();
    let mut text = row(status.planned, 0, "URLs planned", "");
    for (words, count) in &status.changes {
        text += &row(*count, 0, &format!("links {words}"), PLAN_AGAIN);
    }
    text += &row(checked, 1, "checked", "");
    for (state, count) in &status.states {
        text += &row(*count, 2, state.name(), "");
    }
    let rule = rule_words(status.rule);
    text += &row(status.confirmed, 1, "confirmed deaths", &rule);
    text += "checks that are due\n";
    let due = status.due.values().sum();
    let time = status.time.map_or_else(String::new, |time| {
        format!("takes {} at the pace of the last check", shown(time))
    });
    text += &row(due, 1, "now", &time);
    for (reason, count) in &status.due {
        text += &row(*count, 2, reason.name(), reason.meaning());
    }
    for ((day, reason), count) in status.later.iter().take(LISTED_DAYS) {
        text += &row(*count, 1, day, reason.meaning());
    }
    let more = status.later.values().skip(LISTED_DAYS).sum();
    if 0 < more {
        text += &row(more, 1, "later", "");
    }
    text += "archive requests that are due\n";
    text += &row(
        status.not_asked,
        1,
        "now",
        "not asked for yet, or without an answer",
    );
    if !status.saves.is_empty() {
        text += "URLs submitted to a save service\n";
    }
    for (outcome, count) in &status.saves {
        text += &row(*count, 1, outcome.name(), outcome.meaning());
    }
    text
}

fn rule_words(rule: ConfirmationRule) -> String {
    let failures = counted(u64::from(rule.failures), "failure", "failures");
    format!(
        "after {failures}, {} apart, without a reply between",
        shown(rule.apart)
    )
}

/// Maximum number of refused results to name; the others are counted.
const NAMED_RESULTS: u64 = 20;

fn import(args: AuditImportArgs, is_quiet: bool) -> CommandResult {
    let job = ImportJob {
        database: args.database,
        results: args.results,
        checked_at: args.checked_at,
        checker: args.checker,
    };
    let file = job.results.display();
    let mut refused = 0;
    let counts = audit::import(&job, &mut |place, reason| {
        refused += 1;
        if refused <= NAMED_RESULTS {
            report_on(false, &format!("{file}, {place}: {reason}"));
        }
    })?;
    if NAMED_RESULTS < refused {
        let (one, many) = ("more result is refused", "more results are refused");
        let more = counted(refused - NAMED_RESULTS, one, many);
        report_on(false, &format!("{file}: {more}"));
    }
    report_on(is_quiet, &import_summary(&counts));
    Ok(ended(false, 0 < counts.refused))
}

fn import_summary(counts: &ImportCounts) -> String {
    let results = counted(counts.read, "result", "results");
    let mut text = format!("{results}, {} new", grouped(counts.added));
    for (count, words) in [
        (counts.known, "imported before"),
        (counts.repeated, "as an earlier one in the file"),
        (counts.unmatched, "for unplanned URLs"),
    ] {
        if count > 0 {
            text.push_str(&format!(", {} {words}", grouped(count)));
        }
    }
    if counts.refused > 0 {
        text.push_str(&format!("; {} refused", grouped(counts.refused)));
    }
    text
}

fn archive(args: AuditArchiveArgs, is_quiet: bool) -> CommandResult {
    let job = ArchiveJob {
        database: args.database,
        servers: args.cdx,
        rate: args.rate,
        limit: args.limit,
    };
    let stop = end_flag()?;
    let counts = run(
        is_quiet,
        |progress| audit::archive(&job, &stop, progress),
        archive_summary,
    )?;
    Ok(ended(counts.is_interrupted, 0 < counts.failed))
}

fn archive_summary(counts: &ArchiveCounts) -> String {
    let mut text = format!(
        "{} of {} asked for, {} archived, {} not",
        grouped(counts.asked()),
        counted(counts.due, "URL", "URLs"),
        grouped(counts.captured),
        grouped(counts.none)
    );
    let clean = "only without tracking parameters";
    add_count(&mut text, counts.clean, clean);
    add_count(&mut text, counts.failed, "without an answer");
    if let Some(reason) = &counts.last_failure {
        text.push_str(&format!(" (last reason: {reason})"));
    }
    if let Some(reason) = &counts.last_refusal {
        text.push_str(&format!("; the server refused at the end ({reason})"));
    }
    if counts.due == 0 {
        text.push_str(if counts.planned == 0 {
            "; the plan has no links; `urlspool audit plan` prints the reasons"
        } else {
            "; every planned link is archived, or these archives were already asked for it"
        });
    }
    text + interruption(counts.is_interrupted)
}

fn inspect(args: AuditInspectArgs, is_quiet: bool) -> CommandResult {
    let job = InspectJob {
        database: args.database,
        robots: if args.ignore_robots {
            RobotsPolicy::Ignore
        } else {
            RobotsPolicy::Honour
        },
        max_age: args.max_age,
        limit: args.limit,
    };
    let stop = end_flag()?;
    let counts = run(
        is_quiet,
        |progress| audit::inspect(&job, &stop, progress),
        inspect_summary,
    )?;
    Ok(ended(counts.is_interrupted, false))
}

fn inspect_summary(counts: &InspectCounts) -> String {
    if counts.due == 0 {
        let reason = if counts.answering == 0 {
            "no planned link is alive; run `urlspool audit check` first"
        } else {
            "every live link was inspected within `--max-age`"
        };
        return format!("no URL to inspect: {reason}") + interruption(counts.is_interrupted);
    }
    let mut text = format!(
        "{} of {} inspected",
        grouped(counts.inspected),
        counted(counts.due, "URL", "URLs")
    );
    for (state, count) in &counts.states {
        add_count(&mut text, *count, &state.meaning().to_lowercase());
    }
    text + interruption(counts.is_interrupted)
}

/// Variables with the keys of an account, named as in the Internet Archive's own tools.
const KEYS: [&str; 2] = ["IA_ACCESS_KEY_ID", "IA_SECRET_ACCESS_KEY"];

fn save(args: AuditSaveArgs, is_quiet: bool) -> CommandResult {
    if !args.send {
        return list_unsaved(&args, is_quiet);
    }
    let [access, secret] = KEYS.map(|name| {
        let value = std::env::var(name).ok().filter(|value| !value.is_empty());
        value.map(load::Secret::new).ok_or_else(|| {
            let message = format!(
                "`--send` needs the keys of an Internet Archive account in {} and {}; get them at \
                 https://archive.org/account/s3.php",
                KEYS[0], KEYS[1]
            );
            CommandError::usage(message)
        })
    });
    let job = SaveJob {
        database: args.database,
        service: args.service,
        access_key: access?,
        secret_key: secret?,
        limit: args.limit,
    };
    let stop = end_flag()?;
    let counts = run(
        is_quiet,
        |progress| audit::save(&job, &stop, progress),
        save_summary,
    )?;
    let has_failures = 0 < counts.failed + counts.again + counts.pending;
    Ok(ended(counts.is_interrupted, has_failures))
}

/// Writes the links that are due to be saved as a list, or only counts them.
fn list_unsaved(args: &AuditSaveArgs, is_quiet: bool) -> CommandResult {
    let limit = args.limit.filter(|_| args.format.is_some());
    let list = audit::urls_to_save(&args.database, limit)?;
    let due = list.due.len() as u64;
    let mut text = match args.format {
        Some(_) => format!("{} in the list", counted(due, "URL", "URLs")),
        None => format!(
            "{} in none of the archives asked; none was sent: `--send` submits them to {}, which \
             publishes them",
            counted(due, "living URL is", "living URLs are"),
            args.service
        ),
    };
    add_left_out(&mut text, &list.left_out);
    if args.format.is_some() {
        let files = audit::seed_files(&args.output, &list.due);
        // A file that a longer list left behind would look like a part of this one.
        let next = audit::seed_file(&args.output, files.len() + 1);
        for path in files.iter().map(|(path, _)| path).chain([&next]) {
            check_replacement(path, None).map_err(|_| {
                CommandError::usage(format!(
                    "{} exists, and a list replaces no file; name another one with `-o`",
                    path.display()
                ))
            })?;
        }
        for (path, lines) in files {
            let mut file = OutputFile::create(&path)?;
            file.put(lines.as_bytes())?;
            file.finish()?;
        }
    }
    report_on(is_quiet, &text);
    Ok(Exit::Done)
}

/// Adds the number of planned URLs that are not saved now, by reason.
fn add_left_out(text: &mut String, left_out: &BTreeMap<LeftOut, u64>) {
    for (number, (reason, count)) in left_out.iter().enumerate() {
        let start = if number == 0 { "; left out: " } else { ", " };
        *text += &format!("{start}{} {}", grouped(*count), reason.meaning());
    }
}

fn save_summary(counts: &SaveCounts) -> String {
    let mut text = format!(
        "{} of {} sent",
        grouped(counts.sent),
        counted(counts.due, "URL", "URLs")
    );
    add_count(&mut text, counts.earlier, "sent by earlier runs");
    text += &format!(", {} saved", grouped(counts.saved));
    add_count(&mut text, counts.failed, "cannot be captured");
    add_count(&mut text, counts.again, "to send again");
    add_count(&mut text, counts.pending, "not complete yet");
    if let Some(reason) = &counts.last_failure {
        text.push_str(&format!(" (last failure: {reason})"));
    }
    add_left_out(&mut text, &counts.left_out);
    text + interruption(counts.is_interrupted)
}

fn report(args: AuditReportArgs, is_quiet: bool) -> CommandResult {
    let is_stdout = OutputPlace::of(&args.output) == OutputPlace::Stdout;
    if is_stdout && args.format != ReportFormat::Html {
        let message = "CSV files and a bag are a folder, which cannot be standard output; name it \
                       with `-o`";
        return Err(CommandError::usage(message));
    }
    let job = ReportJob {
        database: args.database,
        output: args.output,
        format: args.format,
        senders: if args.no_senders {
            SenderPolicy::LeftOut
        } else {
            SenderPolicy::Named
        },
        replacement: if args.force {
            Replacement::Allowed
        } else {
            Replacement::default()
        },
    };
    let written = audit::report(&job)?;
    report_on(is_quiet, &report_summary(&job, &written));
    report_changes(is_quiet, &written.changes);
    Ok(Exit::Done)
}

fn report_summary(job: &ReportJob, written: &ReportFiles) -> String {
    let path = job.output.display();
    match job.format {
        ReportFormat::Html if OutputPlace::of(&job.output) == OutputPlace::Stdout => {
            format!("wrote the report to {STDOUT}")
        }
        ReportFormat::Html => format!("wrote {path}"),
        ReportFormat::Csv => format!("wrote {} CSV files in {path}", written.csv_files),
        ReportFormat::Bag => format!("wrote the bag {path}"),
    }
}

/// A progress bar on standard error, hidden if that is not a terminal.
struct StderrProgress {
    bar: ProgressBar,
    is_quiet: bool,
}

impl StderrProgress {
    fn new(is_quiet: bool) -> StderrProgress {
        if is_quiet || !std::io::stderr().is_terminal() {
            let bar = ProgressBar::hidden();
            return StderrProgress { bar, is_quiet };
        }
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        // A batch of hosts that do not answer takes minutes.
        bar.enable_steady_tick(Duration::from_secs(1));
        let template = "{elapsed} {wide_bar} {human_pos} of {human_len} URLs{left}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.with_key("left", write_time_left));
        }
        StderrProgress { bar, is_quiet }
    }
}

/// Writes the remaining time. Omits it before the first batch has shown how long one takes.
fn write_time_left(state: &ProgressState, text: &mut dyn fmt::Write) {
    if 0 < state.pos() {
        // A failed write to the terminal is not an error of the audit.
        let _ = write!(text, ", {} left", shown(state.eta()));
    }
}

impl AuditProgress for StderrProgress {
    fn expected(&self, due: u64, time: Duration) {
        if !self.is_quiet && 0 < due {
            print_message(format_args!(
                "urlspool: {} to ask for, which takes {} or more",
                counted(due, "URL", "URLs"),
                shown(time)
            ));
        }
    }

    fn done(&self, done: u64, due: u64) {
        self.bar.set_length(due);
        self.bar.set_position(done);
    }

    fn pauses(&self, reason: &str, pause: Duration) {
        let text = format!("{reason}; asking again in {}", shown(pause));
        self.bar.suspend(|| report_on(self.is_quiet, &text));
    }
}

/// Formats a duration in its largest unit.
fn shown(time: Duration) -> String {
    let seconds = time.as_secs();
    let (number, unit) = match seconds {
        1 => (1, "second"),
        0..=119 => (seconds, "seconds"),
        120..=7_199 => (seconds / 60, "minutes"),
        7_200..=172_799 => (seconds / 3_600, "hours"),
        _ => (seconds / 86_400, "days"),
    };
    format!("{number} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_their_largest_unit() {
        for (seconds, expected) in [
            (1, "1 second"),
            (90, "90 seconds"),
            (600, "10 minutes"),
            (36_000, "10 hours"),
            (1_800_000, "20 days"),
        ] {
            assert_eq!(shown(Duration::from_secs(seconds)), expected);
        }
    }
}
