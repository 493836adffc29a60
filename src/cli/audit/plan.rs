//! `urlspool audit plan`.

use super::super::args::AuditPlanArgs;
use super::super::error::CommandResult;
use super::super::exit::Exit;
use super::super::stdout::print;
use super::super::terminal::escaped;
use crate::audit::{PlanCounts, PlanJob, Sample, plan as make_plan};
use crate::diagnostic::shortened;
use crate::limits::MESSAGE_VALUE_CHARS;

/// Number of strata that are listed; more are only counted.
const LISTED_STRATA: usize = 60;

pub(super) fn plan(args: &AuditPlanArgs) -> CommandResult {
    let mut job = PlanJob::new(args.database.clone());
    job.lifted.clone_from(&args.force);
    job.private_hosts.clone_from(&args.allow_private);
    job.sample = args.sample.map(|size| Sample {
        size,
        by: args.by,
        seed: args.seed,
    });
    let counts = make_plan(&job)?;
    if args.quiet {
        return Ok(Exit::Done);
    }
    print(summary(&counts, job.sample.is_some()).as_bytes())
}

/// The numbers of a plan, as a table.
fn summary(counts: &PlanCounts, is_sample: bool) -> String {
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
