//! `urlspool audit`: the steps of an audit, their progress on a terminal, and the summaries that
//! they print.

use std::fmt;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::args::{
    AuditArchiveArgs, AuditArgs, AuditCheckArgs, AuditImportArgs, AuditInspectArgs, AuditPlanArgs,
    AuditReportArgs, AuditSaveArgs, AuditStatusArgs, AuditStep, CheckedScheme,
};
use super::error::{CommandError, CommandResult, Exit};
use super::load::load_error;
use super::signals::stop_on_signals;
use super::terminal::{STDOUT, check_is_not_database, escaped, print, print_message};
use crate::audit::{
    self, ArchiveCounts, ArchiveJob, ArchiveSource, AuditError, AuditProgress, AuditStatus,
    CheckCounts, CheckJob, CheckReason, ConfirmationRule, ImportCounts, ImportJob, ImportReport,
    InspectCounts, InspectJob, LinkState, OldProtocol, PageState, PlanCounts, PlanJob,
    ProtocolCounts, ProtocolJob, ReportFiles, ReportJob, ResultPlace, RobotsPolicy, Sample,
    SaveCounts, SaveJob, SaveKeys, SenderPolicy, StatusJob,
};
use crate::diagnostic::{counted, grouped, shortened};
use crate::limits::MESSAGE_VALUE_CHARS;
use crate::load;
use crate::sink::{OutputFile, OutputPlace, Replacement, check_replacement};

pub(super) fn audit(args: &AuditArgs) -> CommandResult {
    match &args.step {
        AuditStep::Plan(args) => plan(args),
        AuditStep::Check(args) => check(args),
        AuditStep::Status(args) => status(args),
        AuditStep::Import(args) => import(args),
        AuditStep::Archive(args) => archive(args),
        AuditStep::Inspect(args) => inspect(args),
        AuditStep::Save(args) => save(args),
        AuditStep::Report(args) => report(args),
    }
}

impl From<AuditError> for CommandError {
    fn from(error: AuditError) -> CommandError {
        let exit = match &error {
            AuditError::Database(error) => return load_error(error),
            AuditError::Unusable { .. } => Exit::Usage,
            AuditError::NoAnswers { .. } => Exit::Unreachable,
            AuditError::Output { .. } => Exit::Output,
        };
        CommandError::new(exit, error.to_string())
    }
}

/// Number of strata that are listed; more are only counted.
const LISTED_STRATA: usize = 60;

fn plan(args: &AuditPlanArgs) -> CommandResult {
    check_is_not_database(&args.database)?;
    let mut job = PlanJob::new(args.database.clone());
    job.lifted.clone_from(&args.force);
    job.private_hosts.clone_from(&args.allow_private);
    job.sample = args.sample.map(|size| Sample {
        size,
        by: args.by,
        seed: args.seed,
    });
    let counts = audit::plan(&job)?;
    if args.quiet {
        return Ok(Exit::Done);
    }
    print(plan_summary(&counts, job.sample.is_some()).as_bytes())
}

/// The numbers of a plan, as a table.
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

fn check(args: &AuditCheckArgs) -> CommandResult {
    let is_given = |scheme| args.schemes.contains(&scheme);
    let web = [CheckedScheme::Http, CheckedScheme::Https].map(is_given);
    if web[0] != web[1] {
        let message = "http and https are checked together: give `--schemes` both, or neither";
        return Err(CommandError::new(Exit::Usage, message));
    }
    let old: Vec<_> = args
        .schemes
        .iter()
        .copied()
        .filter_map(old_protocol)
        .collect();
    if args.contact.is_none() && old.contains(&OldProtocol::Ftp) {
        let message = "anonymous ftp asks for a mail address as the password; give it with \
                       `--contact you@your.site`";
        return Err(CommandError::new(Exit::Usage, message));
    }
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let exit = if web[0] {
        check_web(args, &stop)?
    } else {
        Exit::Done
    };
    if old.is_empty() || exit != Exit::Done {
        return Ok(exit);
    }
    check_old(args, old, &stop)
}

fn old_protocol(scheme: CheckedScheme) -> Option<OldProtocol> {
    match scheme {
        CheckedScheme::Old(protocol) => Some(protocol),
        CheckedScheme::Http | CheckedScheme::Https => None,
    }
}

fn check_old(args: &AuditCheckArgs, old: Vec<OldProtocol>, stop: &AtomicBool) -> CommandResult {
    let contact = args.contact.clone().unwrap_or_default();
    let mut job = ProtocolJob::new(args.database.clone(), old, contact);
    job.max_age = args.max_age;
    job.private_hosts.clone_from(&args.allow_private);
    let mut progress = StderrProgress::new(args.quiet);
    let counts = audit::check_protocols(&job, stop, &mut progress);
    progress.finish();
    let counts = counts?;
    if !args.quiet {
        print_message(format_args!("urlspool: {}", protocol_summary(&counts)));
    }
    Ok(if counts.is_interrupted {
        Exit::Interrupted
    } else {
        Exit::Done
    })
}

fn protocol_summary(counts: &ProtocolCounts) -> String {
    let links = counted(
        counts.due,
        "link of an old protocol",
        "links of old protocols",
    );
    let mut text = format!("{} of {links} checked", grouped(counts.checked));
    for (state, count) in &counts.states {
        let [one, many] = state.words().count;
        text.push_str(&format!(", {}", counted(*count, one, many)));
    }
    if counts.is_interrupted {
        text.push_str("; interrupted, run it again to go on");
    }
    text
}

fn check_web(args: &AuditCheckArgs, stop: &Arc<AtomicBool>) -> CommandResult {
    let mut job = CheckJob::new(args.database.clone());
    job.contact.clone_from(&args.contact);
    job.timeout = Duration::from_secs(args.timeout);
    job.retries = args.retries;
    job.max_age = args.max_age;
    job.confirm = args.confirm;
    job.confirm_after = args.confirm_after;
    job.private_hosts.clone_from(&args.allow_private);
    job.accepts_unreachable = args.accept_unreachable;
    job.forgets_future = args.forget_future;
    job.limit = args.limit;
    let mut progress = StderrProgress::new(args.quiet);
    let counts = audit::check(&job, stop, &mut progress);
    progress.finish();
    let counts = counts?;
    if !args.quiet {
        print_message(format_args!("urlspool: {}", check_summary(&counts)));
        if counts.silent > 0 {
            print_message(format_args!("urlspool: {}", silence(counts.silent)));
        }
        print_later_links(counts.later_links);
    }
    Ok(if counts.is_interrupted {
        Exit::Interrupted
    } else {
        Exit::Done
    })
}

/// Prints how many links came after the plan, if any did.
fn print_later_links(count: u64) {
    if 0 < count {
        let links = counted(count, "link", "links");
        print_message(format_args!(
            "urlspool: {links} came after the plan, with later loads; {PLAN_AGAIN}"
        ));
    }
}

/// The way to take links of later loads in.
const PLAN_AGAIN: &str = "`audit plan` takes them in and keeps the results";

/// Returns the way out for stored results that a network without connection would give too.
fn silence(urls: u64) -> String {
    let urls = counted(urls, "URL", "URLs");
    format!(
        "no server replied for {urls} that were checked together; if this machine had no network \
         then, check them again with `--max-age 0h`: the newest results count"
    )
}

fn check_summary(counts: &CheckCounts) -> String {
    let mut text = format!(
        "{} of {} checked",
        grouped(counts.checked),
        counted(counts.due, "URL", "URLs")
    );
    for state in LinkState::ALL {
        let count = counts.states.get(&state).copied().unwrap_or(0);
        if count > 0 {
            let [one, many] = state.words().count;
            text.push_str(&format!(", {}", counted(count, one, many)));
        }
    }
    if counts.excluded > 0 {
        let count = grouped(counts.excluded);
        text.push_str(&format!("; {count} of them not contacted (private)"));
    }
    if counts.forgotten > 0 {
        let results = counted(counts.forgotten, "result", "results");
        text.push_str(&format!("; {results} of the future deleted"));
    }
    if counts.due == 0 {
        text.push_str(if counts.planned == 0 {
            "; the plan holds no links to check, and `urlspool audit plan` prints why they are \
             left out"
        } else {
            "; each planned link has a result that is not older than `--max-age`"
        });
    }
    if counts.is_interrupted {
        text.push_str("; interrupted, run it again to go on");
    }
    text
}

fn status(args: &AuditStatusArgs) -> CommandResult {
    check_is_not_database(&args.database)?;
    let mut job = StatusJob::new(args.database.clone());
    job.max_age = args.max_age;
    print(status_summary(&audit::status(&job)?).as_bytes())
}

/// Days of later checks that are listed; more are only counted.
const LISTED_DAYS: usize = 60;

/// The status of an audit, as a table.
fn status_summary(status: &AuditStatus) -> String {
    let checked = status.states.values().sum();
    let mut text = row(status.planned, 0, "URLs planned", "");
    if 0 < status.later_links {
        text += &row(
            status.later_links,
            0,
            "links came after the plan",
            PLAN_AGAIN,
        );
    }
    text += &row(checked, 1, "checked", "");
    for (state, count) in &status.states {
        text += &row(*count, 2, state.name(), "");
    }
    text += &row(
        status.confirmed,
        1,
        "confirmed deaths",
        &rule_words(status.rule),
    );
    text += "checks that are due\n";
    let due = status.due.values().sum();
    text += &row(
        due,
        1,
        "now",
        &status.time.map_or_else(String::new, needed_time),
    );
    for (reason, count) in &status.due {
        text += &row(*count, 2, reason_name(*reason), reason_words(*reason));
    }
    for ((day, reason), count) in status.later.iter().take(LISTED_DAYS) {
        text += &row(*count, 1, day, reason_words(*reason));
    }
    let more = status.later.values().skip(LISTED_DAYS).sum();
    if 0 < more {
        text += &row(more, 1, "later", "");
    }
    text += "questions to archives that are due\n";
    text += &row(
        status.not_asked,
        1,
        "now",
        "no archive is known to hold or to lack them",
    );
    if !status.saves.is_empty() {
        text += "URLs that were handed to a save service\n";
    }
    for (outcome, count) in &status.saves {
        text += &row(*count, 1, outcome.name(), outcome.words());
    }
    text
}

fn needed_time(time: Duration) -> String {
    format!("takes {} at the pace of the last check", shown(time))
}

fn rule_words(rule: ConfirmationRule) -> String {
    let failures = counted(u64::from(rule.failures), "failure", "failures");
    format!(
        "after {failures}, {} apart, without a reply between",
        shown(rule.apart)
    )
}

fn reason_name(reason: CheckReason) -> &'static str {
    match reason {
        CheckReason::First => "first",
        CheckReason::Confirmation => "to confirm",
        CheckReason::Age => "old",
    }
}

fn reason_words(reason: CheckReason) -> &'static str {
    match reason {
        CheckReason::First => "without a result",
        CheckReason::Confirmation => "to confirm a death",
        CheckReason::Age => "with an old result",
    }
}

/// Refused results that are named; the others are counted.
const NAMED_RESULTS: u64 = 20;

fn import(args: &AuditImportArgs) -> CommandResult {
    let mut job = ImportJob::new(args.database.clone(), args.results.clone());
    job.checked_at = args.checked_at;
    job.checker.clone_from(&args.checker);
    let mut report = RefusedResults {
        file: args.results.display().to_string(),
        count: 0,
    };
    let counts = audit::import(&job, &mut report)?;
    report.finish();
    if !args.quiet {
        print_message(format_args!("urlspool: {}", import_summary(&counts)));
    }
    Ok(if counts.refused == 0 {
        Exit::Done
    } else {
        Exit::SomeFailed
    })
}

fn import_summary(counts: &ImportCounts) -> String {
    let results = counted(counts.read, "result", "results");
    let mut text = format!("{results}, {} new", grouped(counts.added));
    for (count, words) in [
        (counts.known, "imported before"),
        (counts.repeated, "as an earlier one in the file"),
        (counts.unmatched, "of URLs that are not planned"),
    ] {
        if count > 0 {
            text.push_str(&format!(", {count} {words}"));
        }
    }
    if counts.refused > 0 {
        text.push_str(&format!("; {} refused", grouped(counts.refused)));
    }
    text
}

/// Reports refused results on standard error.
struct RefusedResults {
    file: String,
    count: u64,
}

impl RefusedResults {
    /// Reports the number of refused results that were not named.
    fn finish(&self) {
        if NAMED_RESULTS < self.count {
            let more = counted(
                self.count - NAMED_RESULTS,
                "more result is refused",
                "more results are refused",
            );
            print_message(format_args!("urlspool: {}: {more}", escaped(&self.file)));
        }
    }
}

impl ImportReport for RefusedResults {
    fn refused(&mut self, place: ResultPlace<'_>, reason: &str) {
        self.count += 1;
        if self.count <= NAMED_RESULTS {
            let place = match place {
                ResultPlace::Line(line) => format!("line {line}"),
                ResultPlace::Url(url) => shortened(url, MESSAGE_VALUE_CHARS).into_owned(),
            };
            let message = format!("{}, {place}: {reason}", self.file);
            print_message(format_args!("urlspool: {}", escaped(&message)));
        }
    }
}

fn archive(args: &AuditArchiveArgs) -> CommandResult {
    let files = args.cdxj.iter().cloned().map(ArchiveSource::Cdxj);
    let servers = args.cdx.iter().cloned().map(ArchiveSource::Cdx);
    let timemaps = args.timemap.iter().cloned().map(ArchiveSource::TimeMap);
    let sources = files.chain(servers).chain(timemaps).collect();
    let contact = args.contact.clone().unwrap_or_default();
    let mut job = ArchiveJob::new(args.database.clone(), sources, contact);
    job.replay.clone_from(&args.replay);
    job.rate = args.rate;
    job.limit = args.limit;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let mut progress = StderrProgress::new(args.quiet);
    let counts = audit::archive(&job, &stop, &mut progress);
    progress.finish();
    let counts = counts?;
    if !args.quiet {
        print_message(format_args!(
            "urlspool: {}",
            escaped(&archive_summary(&counts))
        ));
    }
    Ok(if counts.is_interrupted {
        Exit::Interrupted
    } else if counts.failed > 0 {
        Exit::SomeFailed
    } else {
        Exit::Done
    })
}

fn archive_summary(counts: &ArchiveCounts) -> String {
    let mut text = format!(
        "{} of {} asked for, {} archived, {} not",
        grouped(counts.asked()),
        counted(counts.due, "URL", "URLs"),
        grouped(counts.captured),
        grouped(counts.none)
    );
    if counts.clean > 0 {
        let clean = grouped(counts.clean);
        text.push_str(&format!(
            ", {clean} of them without tracking parameters alone"
        ));
    }
    if counts.failed > 0 {
        text.push_str(&format!(", {} without an answer", grouped(counts.failed)));
    }
    if let Some(reason) = &counts.last_failure {
        text.push_str(&format!(" (the last: {reason})"));
    }
    if let Some(reason) = &counts.last_refusal {
        text.push_str(&format!("; the server refused at the end ({reason})"));
    }
    if counts.due == 0 {
        text.push_str(if counts.planned == 0 {
            "; the plan holds no links, and `urlspool audit plan` prints why they are left out"
        } else {
            "; these archives were asked for each planned link before, or one is known to hold it"
        });
    }
    if counts.is_interrupted {
        text.push_str("; interrupted, run it again to go on");
    }
    text
}

fn inspect(args: &AuditInspectArgs) -> CommandResult {
    let mut job = InspectJob::new(args.database.clone(), args.contact.clone());
    if args.ignore_robots {
        job.robots = RobotsPolicy::Ignore;
    }
    job.private_hosts.clone_from(&args.allow_private);
    job.max_age = args.max_age;
    job.limit = args.limit;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let mut progress = StderrProgress::new(args.quiet);
    let counts = audit::inspect(&job, &stop, &mut progress);
    progress.finish();
    let counts = counts?;
    if !args.quiet {
        let summary = inspect_summary(&counts);
        print_message(format_args!("urlspool: {}", escaped(&summary)));
    }
    Ok(if counts.is_interrupted {
        Exit::Interrupted
    } else {
        Exit::Done
    })
}

fn inspect_summary(counts: &InspectCounts) -> String {
    let mut text = format!(
        "{} of {} inspected",
        grouped(counts.inspected),
        counted(counts.due, "URL", "URLs")
    );
    for state in PageState::ALL {
        let count = counts.states.get(&state).copied().unwrap_or(0);
        if count > 0 {
            let name = state.title().to_lowercase();
            text.push_str(&format!(", {} {name}", grouped(count)));
        }
    }
    if counts.due == 0 {
        text.push_str(if counts.answering == 0 {
            "; no planned link answered at its newest check, and `urlspool audit check` checks them"
        } else {
            "; the page of each link that answers was inspected, not longer ago than `--max-age`"
        });
    }
    if counts.is_interrupted {
        text.push_str("; interrupted, run it again to go on");
    }
    text
}

/// Variables with the keys of an account, as the Internet Archive's own tools name them.
const KEYS: [&str; 2] = ["IA_ACCESS_KEY_ID", "IA_SECRET_ACCESS_KEY"];

fn save(args: &AuditSaveArgs) -> CommandResult {
    if args.form.is_some() {
        return write_seeds(args);
    }
    if !args.send {
        let due = audit::urls_to_save(&args.database)?.len() as u64;
        print_message(format_args!(
            "urlspool: {} and {} in no archive that was asked; `--send` sends them to {}, which \
             publishes them. Nothing was sent",
            counted(due, "URL lives", "URLs live"),
            if due == 1 { "is" } else { "are" },
            escaped(&args.service)
        ));
        return Ok(Exit::Done);
    }
    let [access, secret] = KEYS.map(|name| {
        let value = std::env::var(name).ok().filter(|value| !value.is_empty());
        value.map(load::Secret::new).ok_or_else(|| {
            let message = format!(
                "`--send` needs the keys of an account of the Internet Archive in {} and {}; they are \
                 on https://archive.org/account/s3.php",
                KEYS[0], KEYS[1]
            );
            CommandError::new(Exit::Usage, message)
        })
    });
    let keys = SaveKeys {
        access: access?,
        secret: secret?,
    };
    let contact = args.contact.clone().unwrap_or_default();
    let mut job = SaveJob::new(args.database.clone(), args.service.clone(), contact, keys);
    job.limit = args.limit;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let mut progress = StderrProgress::new(args.quiet);
    let counts = audit::save(&job, &stop, &mut progress);
    progress.finish();
    let counts = counts?;
    if !args.quiet {
        print_message(format_args!(
            "urlspool: {}",
            escaped(&save_summary(&counts))
        ));
    }
    Ok(if counts.is_interrupted {
        Exit::Interrupted
    } else if 0 < counts.failed + counts.again + counts.pending {
        Exit::SomeFailed
    } else {
        Exit::Done
    })
}

fn write_seeds(args: &AuditSaveArgs) -> CommandResult {
    let mut urls = audit::urls_to_save(&args.database)?;
    urls.truncate(
        args.limit
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(usize::MAX),
    );
    let refused = |message| CommandError::new(Exit::Usage, message);
    check_replacement(&args.output, None).map_err(refused)?;
    let write = || {
        let mut file = OutputFile::create(&args.output)?;
        for url in &urls {
            file.put(format!("{url}\n").as_bytes())?;
        }
        file.finish()
    };
    write().map_err(AuditError::from)?;
    Ok(Exit::Done)
}

fn save_summary(counts: &SaveCounts) -> String {
    let mut text = format!(
        "{} of {} sent, {} saved",
        grouped(counts.sent),
        counted(counts.due, "URL", "URLs"),
        grouped(counts.saved)
    );
    for (count, words) in [
        (counts.failed, "cannot be captured"),
        (counts.again, "to send again"),
        (counts.pending, "not complete yet"),
    ] {
        if count > 0 {
            text.push_str(&format!(", {} {words}", grouped(count)));
        }
    }
    if let Some(reason) = &counts.last_failure {
        text.push_str(&format!(" (the last failure: {reason})"));
    }
    if counts.is_interrupted {
        text.push_str("; interrupted, run it again to go on");
    }
    text
}

fn report(args: &AuditReportArgs) -> CommandResult {
    let mut job = ReportJob::new(args.database.clone(), args.output.clone());
    job.csv_folder.clone_from(&args.csv);
    job.bag_folder.clone_from(&args.bundle);
    if args.force {
        job.replacement = Replacement::Allowed;
    }
    if args.no_senders {
        job.senders = SenderPolicy::LeftOut;
    }
    let written = audit::report(&job)?;
    if !args.quiet {
        print_message(format_args!(
            "urlspool: {}",
            escaped(&report_summary(&job, written))
        ));
        print_later_links(written.later_links);
    }
    Ok(Exit::Done)
}

fn report_summary(job: &ReportJob, written: ReportFiles) -> String {
    let mut text = match OutputPlace::of(&job.output) {
        OutputPlace::Stdout => format!("wrote the report to {STDOUT}"),
        OutputPlace::Device(path) | OutputPlace::File(path) => format!("wrote {}", path.display()),
    };
    if let Some(folder) = &job.csv_folder {
        let (count, folder) = (written.csv_files, folder.display());
        text.push_str(&format!(" and {count} CSV files in {folder}"));
    }
    if let Some(folder) = &job.bag_folder {
        text.push_str(&format!(" and the bag {}", folder.display()));
    }
    text
}

/// A bar on standard error; hidden where that is no terminal.
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
        let template = "{wide_bar} {human_pos} of {human_len} URLs{left}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.with_key("left", write_time_left));
        }
        StderrProgress { bar, is_quiet }
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Writes the time that is left; nothing before the first batch has shown how long one takes.
fn write_time_left(state: &ProgressState, text: &mut dyn fmt::Write) {
    if 0 < state.pos() {
        // A line on the terminal that cannot be written is no error of the audit.
        let _ = write!(text, ", {} left", shown(state.eta()));
    }
}

impl AuditProgress for StderrProgress {
    fn expected(&mut self, due: u64, time: Duration) {
        if !self.is_quiet && 0 < due {
            print_message(format_args!(
                "urlspool: {} to ask for, which takes {} or more",
                counted(due, "URL", "URLs"),
                shown(time)
            ));
        }
    }

    fn done(&mut self, done: u64, due: u64) {
        self.bar.set_length(due);
        self.bar.set_position(done);
    }
}

/// A time in its largest unit.
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
