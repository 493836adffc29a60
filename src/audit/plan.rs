//! The plan of an audit: which links are checked, which are not and why, and the sample.
//!
//! A plan replaces the one before; results of checks stay.

mod exclusion;
mod links;

pub use exclusion::Exclusion;
use exclusion::{LinkFacts, exclusion};

use std::collections::BTreeMap;
use std::path::PathBuf;

use rusqlite::params;
use twox_hash::XxHash3_64;

use super::AuditError;
use super::database::{AuditDb, now};
use crate::limits::AUDIT_CACHE_KIB;
use exclusion::Lifted;
use links::{PlannedLinks, scan_rows};

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
    let facts = audit.named(scan_rows(&audit.db))?;
    let mut links = PlannedLinks::new(job.sample, &lifted);
    audit.named(links.add_all(&audit.db, &facts))?;
    drop(facts);
    let mut counts = links.counts;
    if let Some(sample) = job.sample {
        check_size(sample, links.candidates.len() as u64)?;
        let chosen = select(links.candidates, sample.size);
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
    counts.strata = strata(audit)?;
    write_meta(audit, job)?;
    Ok(counts)
}

/// Refuses a sample that would leave strata out: what is said of all links would be wrong.
fn check_size(sample: Sample, strata: u64) -> Result<(), AuditError> {
    if strata <= sample.size {
        return Ok(());
    }
    Err(AuditError::unusable(format!(
        "a sample of {} is too small for {strata} strata; give `--sample` at least {strata}, or \
         another `--by`",
        sample.size
    )))
}

/// Marks the links of the sample.
fn mark(audit: &AuditDb, chosen: &[i64]) -> rusqlite::Result<()> {
    let mut statement = audit.db.prepare(
        "UPDATE audit_links SET planned=1 WHERE key=(SELECT key FROM links WHERE id=?1)",
    )?;
    for link in chosen {
        statement.execute(params![link])?;
    }
    Ok(())
}

fn strata(audit: &AuditDb) -> Result<Vec<Stratum>, AuditError> {
    let sql = "SELECT stratum, population, sampled FROM audit_strata ORDER BY stratum";
    audit.rows(sql, [], |row| {
        Ok(Stratum {
            name: row.get(0)?,
            population: row.get::<_, i64>(1)?.cast_unsigned(),
            sampled: row.get::<_, i64>(2)?.cast_unsigned(),
        })
    })
}

fn write_meta(audit: &AuditDb, job: &PlanJob) -> Result<(), AuditError> {
    let names: Vec<_> = job.lifted.iter().map(|reason| reason.name()).collect();
    let (size, by, seed) = match job.sample {
        None => Default::default(),
        Some(Sample { size, by, seed }) => (size.to_string(), by.name(), seed.to_string()),
    };
    for (name, value) in [
        ("program", env!("CARGO_PKG_VERSION")),
        ("planned_at", &now()),
        ("sample", &size),
        ("by", by),
        ("seed", &seed),
        ("force", &names.join(",")),
        ("allow_private", &job.private_hosts.join(",")),
    ] {
        audit.set_meta(name, value)?;
    }
    Ok(())
}

/// The links that may be in the sample, by stratum: the rank of each, from [`rank`], and its
/// identifier.
type Candidates = BTreeMap<String, Vec<(u64, i64)>>;

/// Returns the rank of a link: it depends on the seed and the key alone, so that a plan that is
/// made again after more was loaded, or a larger sample, takes the same links as far as it can.
fn rank(seed: u64, key: &str) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, key.as_bytes())
}

/// Returns how many links of each stratum are taken, given the populations: together `size`, or all
/// if there are fewer. Small strata are taken whole; the rest is divided equally, and the largest
/// take what cannot be divided.
fn allocation(populations: &BTreeMap<String, u64>, size: u64) -> BTreeMap<&str, u64> {
    let mut by_population: Vec<(u64, &str)> = populations
        .iter()
        .map(|(name, population)| (*population, name.as_str()))
        .collect();
    by_population.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(a.1)));
    let (mut left, mut strata) = (size, by_population.len() as u64);
    let mut taken = BTreeMap::new();
    for (population, name) in by_population {
        let share = population.min(left.div_euclid(strata));
        taken.insert(name, share);
        left -= share;
        strata -= 1;
    }
    taken
}

/// Returns the links of a sample of `size`: the lowest ranks of each stratum.
fn select(candidates: Candidates, size: u64) -> Vec<i64> {
    let populations = candidates
        .iter()
        .map(|(name, links)| (name.clone(), links.len() as u64))
        .collect();
    let taken = allocation(&populations, size);
    let mut chosen = Vec::new();
    for (name, mut links) in candidates {
        let taken = taken.get(&*name).copied().unwrap_or(0);
        links.sort_unstable();
        links.truncate(usize::try_from(taken).unwrap_or(usize::MAX));
        chosen.extend(links.into_iter().map(|(_, link)| link));
    }
    chosen
}

/// Returns `true` for a URL that is left out of a plan unless an exclusion is lifted: with a password,
/// of a private host, or one that asks for an action.
pub(super) fn must_not_be_sent(url: &str) -> bool {
    let facts = LinkFacts {
        scheme: "http",
        href: Some(url),
        is_in_a_body: true,
        is_confident: true,
    };
    exclusion(&facts, &Lifted::default()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(populations: &[(&str, u64)], size: u64, expected: &[(&str, u64)]) {
        let populations = populations
            .iter()
            .map(|(name, population)| ((*name).to_owned(), *population))
            .collect();
        let taken = allocation(&populations, size);
        assert_eq!(taken, expected.iter().copied().collect(), "{size}");
    }

    #[test]
    fn small_strata_are_taken_whole() {
        let strata = [("1993", 3), ("1994", 50), ("1995", 500)];
        check(&strata, 30, &[("1993", 3), ("1994", 13), ("1995", 14)]);
        check(&strata, 103, &[("1993", 3), ("1994", 50), ("1995", 50)]);
        check(&strata, 9, &[("1993", 3), ("1994", 3), ("1995", 3)]);
        check(&strata, 999, &[("1993", 3), ("1994", 50), ("1995", 500)]);
        check(&strata, 2, &[("1993", 0), ("1994", 1), ("1995", 1)]);
        check(&[], 5, &[]);
    }

    /// The allocation takes as many as asked for, no stratum gets more than it has, and none is
    /// short while another has more.
    #[test]
    fn allocations_are_fair() {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..1_000 {
            let populations: BTreeMap<String, u64> = (0..=random(12))
                .map(|name| (name.to_string(), 1 + random(40)))
                .collect();
            let all: u64 = populations.values().sum();
            let size = random(all + 10);
            let taken = allocation(&populations, size);
            assert_eq!(taken.values().sum::<u64>(), size.min(all));
            let largest = taken.values().max().copied().unwrap_or(0);
            for (name, share) in taken {
                let population = populations[name];
                assert!(share <= population);
                assert!(
                    share == population || largest <= share + 1,
                    "{populations:?} {size}"
                );
            }
        }
    }

    #[test]
    fn the_lowest_ranks_of_each_stratum_are_taken() {
        let mut candidates = Candidates::new();
        for link in 0..100 {
            let links: &mut Vec<_> = candidates.entry((link % 3).to_string()).or_default();
            links.push((rank(7, &link.to_string()), link));
        }
        let taken = select(candidates.clone(), 12);
        assert_eq!(taken.len(), 12);
        for (stratum, links) in &candidates {
            let is_taken = |link: &&(u64, i64)| taken.contains(&link.1);
            let lowest = links.iter().filter(is_taken).max().unwrap();
            let lower = links.iter().filter(|link| *link <= lowest).count();
            assert_eq!(lower, 4, "{stratum}");
        }
        let larger = select(candidates, 24);
        assert!(taken.iter().all(|link| larger.contains(link)));
    }

    #[test]
    fn the_seed_decides_the_rank() {
        assert_eq!(rank(1, "http://h/"), rank(1, "http://h/"));
        assert_ne!(rank(1, "http://h/"), rank(2, "http://h/"));
    }
}
