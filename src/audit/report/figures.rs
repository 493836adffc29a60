//! All numbers of a report but those of single links, from one pass over the links.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::checked_life::{EndOfLife, StateAtAge, lifetime, whole_months};
use super::link_reader::{AuditedLink, StoredCheck};
use super::tally::Tally;
use crate::audit::state::LinkState;
use crate::audit::statistics::LifetimeCounts;

/// Number of months in a year of age.
const YEAR_MONTHS: u32 = 12;

/// Protocols whose links no checker can check any more, in the order of their columns.
pub(super) const DEAD_PROTOCOLS: [&str; 4] = ["gopher", "wais", "prospero", "telnet"];

/// The numbers of a report.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// Links of the database.
    pub(super) links: u64,
    /// Links that may be checked, by year: the population of a sample.
    pub(super) populations: BTreeMap<String, u64>,
    /// Links that may not be checked, by reason.
    pub(super) excluded: BTreeMap<String, u64>,
    /// Links that are planned.
    pub(super) total: Tally,
    pub(super) years: BTreeMap<String, Tally>,
    pub(super) groups: Groups,
    /// Links of [`DEAD_PROTOCOLS`] by year, planned or not.
    pub(super) protocols: BTreeMap<String, [u64; DEAD_PROTOCOLS.len()]>,
    pub(super) ages: Ages,
    pub(super) sources: Sources,
}

/// Planned links by properties of theirs.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) hosts: TallyMap,
    pub(super) domains: TallyMap,
    pub(super) lists: TallyMap,
    pub(super) schemes: TallyMap,
    pub(super) tlds: TallyMap,
}

/// Tallies by name.
#[derive(Debug, Default)]
pub(super) struct TallyMap(HashMap<String, Tally>);

impl TallyMap {
    fn tally(&mut self, name: &str) -> &mut Tally {
        self.0.entry(name.to_owned()).or_default()
    }

    /// The tallies in the order of their numbers of links, the largest first; equal ones by name.
    pub(super) fn sorted(&self) -> Vec<(&str, &Tally)> {
        let mut sorted: Vec<_> = self
            .0
            .iter()
            .map(|(name, tally)| (name.as_str(), tally))
            .collect();
        sorted.sort_unstable_by(|a, b| b.1.links().cmp(&a.1.links()).then(a.0.cmp(b.0)));
        sorted
    }
}

/// The ages of links, from the first citation to checks.
#[derive(Debug, Default)]
pub(super) struct Ages {
    /// Lifetimes that end with death.
    pub(super) lifetimes: LifetimeCounts,
    /// Lifetimes that end with death or with a redirect elsewhere.
    pub(super) strict_lifetimes: LifetimeCounts,
    /// Planned links by their age in years at the newest check.
    pub(super) by_year: BTreeMap<u32, Tally>,
    /// Links that have a lifetime.
    pub(super) links: u64,
    /// Links with a result and no lifetime, because the date of the first citation is not known or is after the checks.
    pub(super) without_age: u64,
    /// Links that were checked more than once.
    pub(super) checked_again: u64,
}

/// The origins of the results.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// Number of checks of planned links.
    pub(super) checks: u64,
    /// Checks in which a server replied: with a status, or with something that is no TLS.
    pub(super) replies: u64,
    /// Names and versions of the checkers.
    pub(super) checkers: BTreeSet<String>,
    pub(super) checked: Period,
    /// Addresses of the archives' servers.
    pub(super) servers: BTreeSet<String>,
    pub(super) asked: Period,
}

/// The first and the last of some times.
#[derive(Debug, Default)]
pub(super) struct Period(Option<(String, String)>);

impl Period {
    fn add(&mut self, time: &str) {
        match &mut self.0 {
            None => self.0 = Some((time.to_owned(), time.to_owned())),
            Some((first, _)) if time < first.as_str() => time.clone_into(first),
            Some((_, last)) if last.as_str() < time => time.clone_into(last),
            Some(_) => {}
        }
    }

    /// The first and the last time; `None` without any.
    pub(super) fn ends(&self) -> Option<(&str, &str)> {
        let (first, last) = self.0.as_ref()?;
        Some((first, last))
    }
}

impl Figures {
    /// Counts a link, which stands for `weight` links of the population.
    pub(super) fn add(&mut self, link: &AuditedLink<'_>, weight: f64) {
        self.links += 1;
        if let Some(index) = DEAD_PROTOCOLS.iter().position(|name| *name == link.scheme) {
            entry(&mut self.protocols, link.year)[index] += 1;
        }
        match link.excluded {
            Some(reason) => *entry(&mut self.excluded, reason) += 1,
            None => *entry(&mut self.populations, link.year) += 1,
        }
        if link.is_planned {
            self.add_planned(link, weight);
        }
    }

    fn add_planned(&mut self, link: &AuditedLink<'_>, weight: f64) {
        let (state, archive) = (link.state(), link.archive());
        let groups = &mut self.groups;
        for tally in [
            &mut self.total,
            entry(&mut self.years, link.year),
            groups.hosts.tally(link.host.unwrap_or_default()),
            groups.domains.tally(link.domain.unwrap_or_default()),
            groups.lists.tally(link.list),
            groups.schemes.tally(link.scheme),
            groups.tlds.tally(link.tld.unwrap_or_default()),
        ] {
            tally.add(state, archive, weight);
        }
        self.sources.add(link);
        self.ages.add(link, weight);
    }
}

impl Sources {
    fn add(&mut self, link: &AuditedLink<'_>) {
        self.checks += link.checks.len() as u64;
        for check in link.checks {
            self.replies += u64::from(check.has_reply());
            self.checked.add(&check.checked_at);
            add_name(&mut self.checkers, &check.checker);
        }
        if let Some(capture) = link.capture {
            self.asked.add(&capture.asked_at);
            add_name(&mut self.servers, &capture.server);
        }
    }
}

impl Ages {
    fn add(&mut self, link: &AuditedLink<'_>, weight: f64) {
        let has_result = |check: &&StoredCheck| check.state != LinkState::Unknown;
        let results = link.checks.iter().filter(has_result).count();
        if results == 0 {
            return;
        }
        if results > 1 {
            self.checked_again += 1;
        }
        let checks = checks_at_ages(link);
        let dead = lifetime(&checks, EndOfLife::Dead);
        let strict = lifetime(&checks, EndOfLife::DeadOrRedirected);
        let (Some(dead), Some(strict)) = (dead, strict) else {
            self.without_age += 1;
            return;
        };
        self.links += 1;
        self.lifetimes.add(dead, weight);
        self.strict_lifetimes.add(strict, weight);
        if let Some(newest) = checks.last()
            && 0 <= newest.age_seconds
        {
            let years = whole_months(newest.age_seconds) / YEAR_MONTHS;
            let tally = self.by_year.entry(years).or_default();
            tally.add(link.state(), link.archive(), weight);
        }
    }
}

/// The checks of a link with its age at each; none if the date of its first citation is not known.
fn checks_at_ages(link: &AuditedLink<'_>) -> Vec<StateAtAge> {
    let Some(cited) = link.first_cited.and_then(unix_seconds) else {
        return Vec::new();
    };
    link.checks
        .iter()
        .filter_map(|check| {
            Some(StateAtAge {
                age_seconds: unix_seconds(&check.checked_at)? - cited,
                state: check.state,
            })
        })
        .collect()
}

fn unix_seconds(time: &str) -> Option<i64> {
    let time: jiff::Timestamp = time.parse().ok()?;
    Some(time.as_second())
}

fn entry<'m, T: Default>(map: &'m mut BTreeMap<String, T>, name: &str) -> &'m mut T {
    map.entry(name.to_owned()).or_default()
}

fn add_name(names: &mut BTreeSet<String>, name: &str) {
    if !names.contains(name) {
        names.insert(name.to_owned());
    }
}
