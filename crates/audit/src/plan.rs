//! Plan of an audit: the links to check, the excluded links with the reason, and the sample.
//!
//! A new plan replaces the previous one, but results of checks stay. Planning makes two passes. The
//! first reads the rows of `urls` and finds, for each link, its first row and properties of all its
//! rows. The second reads the links and adds a row of `audit_links` for each, with its exclusion
//! and stratum.

mod exclusion;

pub use exclusion::Exclusion;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use rusqlite::{Connection, Row, params};
use twox_hash::XxHash3_64;

use super::AuditError;
use super::client::user_agent;
use super::database::{AuditDb, now};
use super::state::without_fragment;
use exclusion::{Lifted, LinkFacts, MIN_CONFIDENCE, exclusion};
use urlspool_files::config::named_values;
use urlspool_store::stats::list_name;
use urlspool_text::limits::AUDIT_CACHE_KIB;

/// Options of a plan.
#[derive(Clone, Debug)]
pub struct PlanJob {
    /// The loaded database.
    pub database: PathBuf,
    /// The sample; `None` plans all links.
    pub sample: Option<Sample>,
    /// Exclusions that do not apply.
    pub lifted: Vec<Exclusion>,
    /// Private hosts that may be checked.
    pub private_hosts: Vec<String>,
    /// Title of the report. Like the next three, `None` keeps the value of the previous plan.
    pub title: Option<String>,
    /// Name of the collection.
    pub collection: Option<String>,
    /// Author of the report.
    pub author: Option<String>,
    /// A mail address or a page for server owners to write to.
    pub contact: Option<String>,
}

/// A stratified sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Number of links.
    pub size: u64,
    /// Property that divides links into strata.
    pub by: StratumKind,
    /// Random seed.
    pub seed: u64,
}

named_values! {
    /// Property of a link that decides its stratum.
    pub enum StratumKind {
        /// By year of the first citation.
        Year = "year": "the year of the first citation",
        /// By scheme.
        Scheme = "scheme": "http and https",
        /// By list, newsgroup or file of the first citation.
        List = "list": "the list, newsgroup or file of the first citation",
    }
}

/// Counts of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanCounts {
    /// Links in the database.
    pub links: u64,
    /// Links to check.
    pub planned: u64,
    /// Links that could be checked but are not in the sample.
    pub outside_the_sample: u64,
    /// Excluded links, by reason.
    pub excluded: BTreeMap<Exclusion, u64>,
    /// Links excluded because of their scheme, by scheme.
    pub schemes: BTreeMap<String, u64>,
    /// Strata of the sample.
    pub strata: Vec<Stratum>,
    /// Arguments of the previous plan that this plan lacks: sample, lifted exclusions and private
    /// hosts.
    pub dropped: Vec<String>,
}

/// A stratum of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stratum {
    /// Year, scheme or list.
    pub name: String,
    /// Links that could be checked.
    pub population: u64,
    /// Links to check.
    pub sampled: u64,
}

/// Plans an audit in a loaded database.
///
/// # Errors
///
/// The database cannot be read or written, or is not a loaded database. It is left unchanged.
pub fn plan(job: &PlanJob) -> Result<PlanCounts, AuditError> {
    user_agent(job.contact.as_deref())?;
    let audit = AuditDb::open_to_plan(&job.database)?;
    audit.run(&format!("PRAGMA cache_size=-{AUDIT_CACHE_KIB}"))?;
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
    counts.dropped = arguments(audit)?;
    write_meta(audit, job)?;
    let kept = arguments(audit)?;
    counts.dropped.retain(|argument| !kept.contains(argument));
    Ok(counts)
}

/// Refuses a sample that would omit strata: its estimates for all links would be wrong.
fn check_size(sample: Sample, strata: u64) -> Result<(), AuditError> {
    if strata <= sample.size {
        return Ok(());
    }
    Err(AuditError::unusable(format!(
        "a sample of {} is too small for {strata} strata; use `--sample {strata}` or more, or \
         another `--by`",
        sample.size
    )))
}

/// Marks the links of the sample.
fn mark(audit: &AuditDb, chosen: &[i64]) -> rusqlite::Result<()> {
    let sql = "UPDATE audit_links SET planned=1 WHERE key=(SELECT key FROM links WHERE id=?1)";
    let mut statement = audit.db.prepare(sql)?;
    for link in chosen {
        statement.execute(params![link])?;
    }
    Ok(())
}

/// Returns the strata of the plan.
pub(super) fn strata(audit: &AuditDb) -> Result<Vec<Stratum>, AuditError> {
    let sql = "SELECT stratum, population, sampled FROM audit_strata ORDER BY stratum";
    audit.rows(sql, [], |row| {
        Ok(Stratum {
            name: row.get(0)?,
            population: row.get::<_, i64>(1)?.cast_unsigned(),
            sampled: row.get::<_, i64>(2)?.cast_unsigned(),
        })
    })
}

/// Returns those arguments of the stored plan that a new plan must repeat to keep them.
fn arguments(audit: &AuditDb) -> Result<Vec<String>, AuditError> {
    let mut arguments = Vec::new();
    for name in ["force", "allow_private", "sample", "by", "seed"] {
        let option = name.replace('_', "-");
        let values = audit.meta(name)?.unwrap_or_default();
        let values = values.split(',').filter(|value| !value.is_empty());
        arguments.extend(values.map(|value| format!("--{option} {value}")));
    }
    Ok(arguments)
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
    for (name, value) in [
        ("title", &job.title),
        ("collection", &job.collection),
        ("author", &job.author),
        ("contact", &job.contact),
    ] {
        if let Some(value) = value {
            audit.set_meta(name, value)?;
        }
    }
    Ok(())
}

/// Candidates for the sample by stratum, each with its [`rank`] and identifier.
type Candidates = BTreeMap<String, Vec<(u64, i64)>>;

/// Returns the rank of a link, which depends only on the seed and the key. A plan that is repeated
/// after loading more links, or with a larger sample, therefore selects the same links as far as
/// possible.
fn rank(seed: u64, key: &str) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, key.as_bytes())
}

/// Returns the number of links to take from each stratum: `size` in total, or all links if there
/// are fewer. Small strata are taken completely. The rest is divided equally among the others, and
/// the remainder goes to the largest strata.
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

/// Returns the links in a sample of `size`: the lowest ranks of each stratum.
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

/// Returns `true` for a URL that a plan excludes by default: it has a password or a private host,
/// or it requests an action.
pub(super) fn must_not_be_sent(url: &str) -> bool {
    let facts = LinkFacts {
        scheme: "http",
        href: Some(url),
        is_in_a_body: true,
        is_confident: true,
        is_cut: false,
    };
    exclusion(&facts, &Lifted::default()).is_some()
}

/// Links that were added to the plan.
#[derive(Debug)]
struct PlannedLinks<'l> {
    sample: Option<Sample>,
    lifted: &'l Lifted<'l>,
    /// Counts so far. Without a sample, all links that are not excluded are planned.
    counts: PlanCounts,
    /// Candidates for the sample.
    candidates: Candidates,
}

const LINKS: &str = "SELECT id, key, scheme, host, first FROM links ORDER BY id";

/// The last column is true for a URL that was cut short before its dots, which are not stored: only
/// such a URL has this confidence without a repair.
const FIRST_ROW: &str = "SELECT urls.url, urls.href, messages.list_id,
    coalesce(lower(json_extract(messages.newsgroups, '$[0]')), sources.path),
    round(urls.confidence, 3) = 0.7 AND urls.repairs = '[]'
  FROM urls JOIN urls AS earliest ON earliest.id=?2
    JOIN messages ON messages.id=earliest.message JOIN sources ON sources.id=earliest.source
  WHERE urls.id=?1";

const IS_DATED: &str = "SELECT EXISTS(SELECT 1 FROM urls JOIN messages ON messages.id=urls.message
  WHERE urls.link=?1 AND coalesce(urls.author_date, messages.date) IS NOT NULL)";

const INSERT: &str = "INSERT INTO audit_links
  SELECT key, ?2, host, domain, scheme, ?3, first, last, citations, messages, ?4, ?5, ?6, ?7, ?8
  FROM links WHERE id=?1";

impl<'l> PlannedLinks<'l> {
    fn new(sample: Option<Sample>, lifted: &'l Lifted<'l>) -> PlannedLinks<'l> {
        PlannedLinks {
            sample,
            lifted,
            counts: PlanCounts::default(),
            candidates: Candidates::new(),
        }
    }

    /// Adds all links in the database.
    fn add_all(&mut self, db: &Connection, facts: &[RowFacts]) -> rusqlite::Result<()> {
        let mut links = db.prepare(LINKS)?;
        let mut rows = links.query([])?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let facts = usize::try_from(id).ok().and_then(|id| facts.get(id));
            if let Some(facts) = facts.filter(|facts| facts.first_row != 0) {
                self.add(db, row, facts)?;
            }
        }
        Ok(())
    }

    /// Adds a link from a row of [`LINKS`].
    fn add(&mut self, db: &Connection, link: &Row<'_>, facts: &RowFacts) -> rusqlite::Result<()> {
        let (id, key): (i64, _) = (link.get(0)?, link.get_ref(1)?.as_str()?);
        let scheme = link.get_ref(2)?.as_str()?;
        let host = link.get_ref(3)?.as_str_or_null()?;
        let year = year(db, id, link.get_ref(4)?.as_str_or_null()?)?;
        let mut statement = db.prepare_cached(FIRST_ROW)?;
        let (url, href, list, other, is_cut): (String, Option<String>, Option<String>, String, _) =
            statement.query_row([facts.first_row, facts.earliest_row], |row| row.try_into())?;
        let list = list.as_deref().map_or(other, list_name);
        let href = href.as_deref().map(without_fragment);
        let reason = exclusion(
            &LinkFacts {
                scheme,
                href,
                is_in_a_body: facts.is_in_a_body,
                is_confident: facts.is_confident,
                is_cut,
            },
            self.lifted,
        );
        let stratum = match self.sample.map(|sample| sample.by) {
            None => "",
            Some(StratumKind::Year) => &year,
            Some(StratumKind::Scheme) => scheme,
            Some(StratumKind::List) => &list,
        };
        self.counts.links += 1;
        if let Some(reason) = reason {
            *self.counts.excluded.entry(reason).or_default() += 1;
            if reason == Exclusion::Scheme {
                let schemes = &mut self.counts.schemes;
                *schemes.entry(scheme.to_owned()).or_default() += 1;
            }
        } else if let Some(sample) = self.sample {
            let links = self.candidates.entry(stratum.to_owned()).or_default();
            links.push((rank(sample.seed, key), id));
        } else {
            self.counts.planned += 1;
        }
        db.prepare_cached(INSERT)?.execute(params![
            id,
            href.unwrap_or(&url),
            host.and_then(tld),
            year,
            list,
            stratum,
            reason.is_none() && self.sample.is_none(),
            reason.map(Exclusion::name),
        ])?;
        Ok(())
    }
}

/// Returns the year of the first citation, or the reason why there is no plausible date.
fn year<'y>(db: &Connection, link: i64, first: Option<&'y str>) -> rusqlite::Result<Cow<'y, str>> {
    if let Some((year, _)) = first.and_then(|date| date.split_once('-')) {
        return Ok(year.into());
    }
    let mut statement = db.prepare_cached(IS_DATED)?;
    let is_dated = statement.query_row([link], |row| row.get(0))?;
    Ok(if is_dated { "implausible" } else { "undated" }.into())
}

/// Returns the top-level domain of a host; `None` for addresses and single labels.
fn tld(host: &str) -> Option<&str> {
    let (_, last) = host.rsplit_once('.')?;
    let is_number = last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit());
    (!is_number && !host.starts_with('[')).then_some(last)
}

/// Properties of the rows of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RowFacts {
    /// Identifier of the first row, or 0 if there is none. Rows that can be checked precede other
    /// rows. They are ordered by date, undated rows last, and then by identifier.
    first_row: i64,
    /// Rank of the first row; lower ranks come first.
    rank: u64,
    /// Identifier of the row with the earliest date, which provides the list.
    earliest_row: i64,
    /// Its date.
    earliest: u64,
    /// `true` if a row is outside header fields.
    is_in_a_body: bool,
    /// `true` if such a row, or any row if there is none, has at least the confidence
    /// [`MIN_CONFIDENCE`].
    is_confident: bool,
}

/// Rank of a row without a plausible date. It is greater than any date, which has 14 digits.
const UNDATED: u64 = 99_999_999_999_999;

/// Added to the rank of a row that is not checked.
const NOT_CHECKED: u64 = 100_000_000_000_000;

impl RowFacts {
    fn add(&mut self, row: i64, cited: Option<&str>, confidence: f64, region: &str) {
        let is_in_a_body = !region.starts_with("header:");
        let is_confident = MIN_CONFIDENCE <= confidence;
        let date = cited.map_or(UNDATED, digits);
        let is_checked = is_in_a_body && is_confident;
        let rank = date + if is_checked { 0 } else { NOT_CHECKED };
        if self.earliest_row == 0 || date < self.earliest {
            (self.earliest_row, self.earliest) = (row, date);
        }
        // Rows arrive in the order of their identifiers.
        if self.first_row == 0 || rank < self.rank {
            (self.first_row, self.rank) = (row, rank);
        }
        if is_in_a_body && !self.is_in_a_body {
            (self.is_in_a_body, self.is_confident) = (true, is_confident);
        }
        self.is_confident |= is_confident && is_in_a_body == self.is_in_a_body;
    }
}

/// Returns the digits of a date as a number: `1996-07-02T13:45:00Z` is 19960702134500.
fn digits(date: &str) -> u64 {
    let digits = date.bytes().filter(u8::is_ascii_digit);
    digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

/// Reads all rows. The result is indexed by link identifier.
fn scan_rows(db: &Connection) -> rusqlite::Result<Vec<RowFacts>> {
    let last: i64 = db.query_row("SELECT ifnull(max(id), 0) FROM links", [], |row| row.get(0))?;
    let mut facts = vec![RowFacts::default(); usize::try_from(last).unwrap_or(0) + 1];
    let mut statement = db.prepare(
        "SELECT id, link, cited, confidence, region FROM urls NOT INDEXED WHERE link IS NOT NULL",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let link = usize::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
        let cited = row.get_ref(2)?.as_str_or_null()?;
        let region = row.get_ref(4)?.as_str()?;
        if let Some(facts) = facts.get_mut(link) {
            facts.add(row.get(0)?, cited, row.get(3)?, region);
        }
    }
    Ok(facts)
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
    fn small_strata_are_taken_completely() {
        let strata = [("1993", 3), ("1994", 50), ("1995", 500)];
        check(&strata, 30, &[("1993", 3), ("1994", 13), ("1995", 14)]);
        check(&strata, 103, &[("1993", 3), ("1994", 50), ("1995", 50)]);
        check(&strata, 9, &[("1993", 3), ("1994", 3), ("1995", 3)]);
        check(&strata, 999, &[("1993", 3), ("1994", 50), ("1995", 500)]);
        check(&strata, 2, &[("1993", 0), ("1994", 1), ("1995", 1)]);
        check(&[], 5, &[]);
    }

    /// The allocation has the requested size, no stratum exceeds its population, and a stratum gets
    /// less than another only if it is exhausted.
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

    #[test]
    fn the_tld_is_the_last_label_of_a_name() {
        for (host, expected) in [
            ("info.cern.ch", Some("ch")),
            ("wiki", None),
            ("192.0.2.1", None),
            ("0x7f.0x1", None),
            ("a.", None),
        ] {
            assert_eq!(tld(host), expected, "{host}");
        }
    }

    #[test]
    fn the_first_row_is_the_earliest_that_can_be_checked() {
        let mut facts = RowFacts::default();
        facts.add(1, Some("1994-01-01T00:00:00Z"), 1.0, "header:X-Url");
        assert_eq!((facts.first_row, facts.is_in_a_body), (1, false));
        facts.add(2, None, 1.0, "body");
        assert_eq!((facts.first_row, facts.is_confident), (2, true));
        facts.add(3, Some("1996-01-01T00:00:00Z"), 0.9, "body");
        facts.add(4, Some("1995-01-01T00:00:00Z"), 0.8, "signature");
        facts.add(5, Some("1995-01-01T00:00:00Z"), 0.8, "body");
        facts.add(6, Some("1993-01-01T00:00:00Z"), 0.7, "body");
        assert_eq!((facts.first_row, facts.earliest_row), (4, 6));
    }

    #[test]
    fn a_doubtful_link_is_not_confident() {
        let mut facts = RowFacts::default();
        facts.add(1, None, 0.7, "body");
        facts.add(2, None, 1.0, "header:References");
        assert!(facts.is_in_a_body && !facts.is_confident);
    }
}
