//! The plan of an audit: which links are checked, which are not and why, and the sample.
//!
//! A plan replaces the one before; results of checks stay.

mod action_words;
mod exclusion;
mod link_rows;
mod row_scan;
mod sample;

pub use exclusion::Exclusion;

use std::collections::BTreeMap;
use std::path::PathBuf;

use rusqlite::params;

use super::clock::now;
use super::database::AuditDb;
use super::error::{AuditError, PlanError};
use crate::limits::AUDIT_CACHE_KIB;
use exclusion::Lifted;
use link_rows::PlannedLinks;
use sample::{allocation, select};

/// A plan to make.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlanJob {
    /// The loaded database.
    pub database: PathBuf,
    /// The sample; `None` plans all links.
    pub sample: Option<Sample>,
    /// Exclusions that are lifted.
    pub lifted: Vec<Exclusion>,
    /// Hosts that are checked although they are private.
    pub private_hosts: Vec<String>,
}

impl PlanJob {
    /// Creates the plan of all links of `database`.
    #[must_use]
    pub fn new(database: PathBuf) -> PlanJob {
        PlanJob {
            database,
            sample: None,
            lifted: Vec::new(),
            private_hosts: Vec::new(),
        }
    }
}

/// A stratified sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Number of links.
    pub size: u64,
    /// The division into strata.
    pub by: StratumKind,
    /// Seed of the choice.
    pub seed: u64,
}

/// The division of links into strata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StratumKind {
    /// By the year of the first citation.
    Year,
    /// By scheme.
    Scheme,
    /// By the list, newsgroup or file of the first citation.
    List,
}

impl StratumKind {
    /// All divisions.
    pub const ALL: [StratumKind; 3] = [StratumKind::Year, StratumKind::Scheme, StratumKind::List];

    /// Returns the name in `audit_meta`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            StratumKind::Year => "year",
            StratumKind::Scheme => "scheme",
            StratumKind::List => "list",
        }
    }
}

/// Numbers of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanCounts {
    /// Links of the database.
    pub links: u64,
    /// Links that are checked.
    pub planned: u64,
    /// Links that could be checked, and are not in the sample.
    pub outside_the_sample: u64,
    /// Links that are not checked, by reason.
    pub excluded: BTreeMap<Exclusion, u64>,
    /// Links that are not checked because of their scheme, by scheme.
    pub schemes: BTreeMap<String, u64>,
    /// Strata of the sample.
    pub strata: Vec<Stratum>,
}

/// A stratum of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stratum {
    /// The year, scheme or list.
    pub name: String,
    /// Links that could be checked.
    pub population: u64,
    /// Links that are checked.
    pub sampled: u64,
}

/// Makes the plan of an audit in a loaded database.
///
/// # Errors
///
/// The database cannot be read or written, or is not one that was loaded. It is left as it was.
pub fn plan(job: &PlanJob) -> Result<PlanCounts, AuditError> {
    let audit = AuditDb::open_to_plan(&job.database)?;
    audit.run(&format!(
        "PRAGMA cache_size=-{AUDIT_CACHE_KIB}; BEGIN IMMEDIATE"
    ))?;
    let counts = make(&audit, job)?;
    audit.run("COMMIT")?;
    Ok(counts)
}

fn make(audit: &AuditDb, job: &PlanJob) -> Result<PlanCounts, AuditError> {
    let lifted = Lifted {
        reasons: &job.lifted,
        hosts: &job.private_hosts,
    };
    audit
        .run("DROP INDEX audit_links_by_url; DELETE FROM audit_links; DELETE FROM audit_strata")?;
    let facts = audit.named(row_scan::scan_rows(&audit.db))?;
    let mut links = PlannedLinks::new(job.sample, &lifted);
    audit.named(links.add_all(&audit.db, &facts))?;
    drop(facts);
    let mut counts = links.counts;
    if let Some(sample) = job.sample {
        let populations = links.strata.populations();
        check_size(sample, populations.len() as u64)?;
        let taken = allocation(&populations, sample.size)
            .into_iter()
            .map(|(name, taken)| (name.to_owned(), taken))
            .collect::<BTreeMap<_, _>>();
        let size = |stratum: u32| links.strata.name(stratum).and_then(|name| taken.get(name));
        let chosen = select(links.candidates, |stratum| {
            size(stratum).copied().unwrap_or(0)
        });
        counts.planned = chosen.len() as u64;
        audit.named(mark(audit, &chosen))?;
    }
    counts.outside_the_sample =
        counts.links - counts.planned - counts.excluded.values().sum::<u64>();
    audit.run(
        "CREATE INDEX audit_links_by_url ON audit_links(url) WHERE planned;
         INSERT INTO audit_strata SELECT stratum, count(*), sum(planned) FROM audit_links
           WHERE excluded IS NULL GROUP BY stratum",
    )?;
    counts.strata = audit.named(strata(audit))?;
    write_meta(audit, job)?;
    Ok(counts)
}

/// Refuses a sample that would leave strata out: what is said of all links would be wrong.
fn check_size(sample: Sample, strata: u64) -> Result<(), AuditError> {
    if strata <= sample.size {
        return Ok(());
    }
    let size = sample.size;
    Err(PlanError::SmallSample { size, strata }.into())
}

/// Marks the links of the sample.
fn mark(audit: &AuditDb, chosen: &[sample::SampleCandidate]) -> rusqlite::Result<()> {
    let mut statement = audit.db.prepare(
        "UPDATE audit_links SET planned=1 WHERE key=(SELECT key FROM links WHERE id=?1)",
    )?;
    for candidate in chosen {
        statement.execute(params![candidate.link])?;
    }
    Ok(())
}

fn strata(audit: &AuditDb) -> rusqlite::Result<Vec<Stratum>> {
    let mut statement = audit
        .db
        .prepare("SELECT stratum, population, sampled FROM audit_strata ORDER BY stratum")?;
    let rows = statement.query_map([], |row| {
        Ok(Stratum {
            name: row.get(0)?,
            population: row.get::<_, i64>(1)?.cast_unsigned(),
            sampled: row.get::<_, i64>(2)?.cast_unsigned(),
        })
    })?;
    rows.collect()
}

fn write_meta(audit: &AuditDb, job: &PlanJob) -> Result<(), AuditError> {
    let sample = job.sample;
    let names = |reasons: &[Exclusion]| {
        let names: Vec<_> = reasons.iter().map(|reason| reason.name()).collect();
        names.join(",")
    };
    for (name, value) in [
        ("program", env!("CARGO_PKG_VERSION").to_owned()),
        ("planned_at", now()),
        (
            "sample",
            sample.map_or(String::new(), |sample| sample.size.to_string()),
        ),
        (
            "by",
            sample.map_or(String::new(), |sample| sample.by.name().to_owned()),
        ),
        (
            "seed",
            sample.map_or(String::new(), |sample| sample.seed.to_string()),
        ),
        ("force", names(&job.lifted)),
        ("allow_private", job.private_hosts.join(",")),
    ] {
        audit.set_meta(name, &value)?;
    }
    Ok(())
}
