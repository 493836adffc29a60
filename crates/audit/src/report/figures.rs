//! All figures of a report that do not concern single links, from one pass over the links: counts
//! of groups, lifetimes, and the survival estimated from them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::links::{ArchiveAnswer, AuditedLink, unix_seconds};
use crate::state::LinkState;
use crate::statistics::{HostLifetimes, HostPart, Lifetime, Share, Survival, Trials, host_share};

/// Number of months in a year of age.
const YEAR_MONTHS: u32 = 12;

/// Protocols whose links can no longer be checked, in column order.
pub(super) const DEAD_PROTOCOLS: [&str; 4] = ["gopher", "wais", "prospero", "telnet"];

/// The figures of a report.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// Links in the database.
    pub(super) links: u64,
    /// Links that may be checked, by year: the population of a sample.
    pub(super) populations: BTreeMap<String, u64>,
    /// Links that must not be checked, by reason.
    pub(super) excluded: BTreeMap<String, u64>,
    /// Planned links.
    pub(super) total: Tally,
    pub(super) years: Tallies,
    /// Planned links by host, domain, list, scheme and top-level domain.
    pub(super) hosts: Tallies,
    pub(super) domains: Tallies,
    pub(super) lists: Tallies,
    pub(super) schemes: Tallies,
    pub(super) tlds: Tallies,
    /// Links of [`DEAD_PROTOCOLS`] by year, planned or not.
    pub(super) protocols: BTreeMap<String, [u64; DEAD_PROTOCOLS.len()]>,
    pub(super) ages: Ages,
    pub(super) sources: Sources,
    /// Numeric identifiers of the hosts of planned links.
    host_numbers: HashMap<String, u32>,
}

/// Tallies by name.
pub(super) type Tallies = BTreeMap<String, Tally>;

/// Returns the tallies sorted by their number of links, largest first. Equal tallies are sorted by
/// name.
pub(super) fn by_links(tallies: &Tallies) -> Vec<(&String, &Tally)> {
    let mut sorted: Vec<_> = tallies.iter().collect();
    sorted.sort_by_key(|(_, tally)| Reverse(tally.links()));
    sorted
}

/// Ages of links, from the first citation to checks.
#[derive(Debug, Default)]
pub(super) struct Ages {
    /// Lifetimes until a link is dead.
    pub(super) lifetimes: HostLifetimes,
    /// Lifetimes until a link is dead or redirects elsewhere.
    pub(super) strict_lifetimes: HostLifetimes,
    /// Planned links by age in years at the first check with a result. Later checks are not used
    /// because dead links are checked at other times than live ones.
    pub(super) by_year: BTreeMap<u32, AgeTally>,
    /// Links with a lifetime.
    pub(super) links: u64,
    /// Links with a result but no lifetime, because the date of the first citation is unknown or
    /// later than the checks.
    pub(super) without_age: u64,
    /// Links that were checked more than once.
    pub(super) checked_again: u64,
}

/// Counts of the links of an age.
#[derive(Clone, Debug, Default)]
pub(super) struct AgeTally {
    pub(super) tally: Tally,
    /// Weighted sum of the ages in months.
    months: f64,
}

impl AgeTally {
    /// Returns the mean age in months.
    pub(super) fn mean_months(&self) -> f64 {
        self.months / self.tally.known.weight
    }
}

/// Sources of the results.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// Number of checks of planned links.
    pub(super) checks: u64,
    /// Number of checks in which a server replied, with a status or with a failed TLS handshake.
    pub(super) replies: u64,
    /// Names and versions of the checkers.
    pub(super) checkers: BTreeSet<String>,
    pub(super) checked: Option<Period>,
    /// Addresses of the archives' servers.
    pub(super) servers: BTreeSet<String>,
    pub(super) asked: Option<Period>,
    /// Captures found under the URL without tracking parameters.
    pub(super) clean_captures: u64,
}

/// The earliest and the latest of some times.
#[derive(Debug)]
pub(super) struct Period {
    pub(super) first: String,
    pub(super) last: String,
}

fn extend(period: &mut Option<Period>, time: &str) {
    let Some(Period { first, last }) = period else {
        let [first, last] = [time.to_owned(), time.to_owned()];
        *period = Some(Period { first, last });
        return;
    };
    if time < first.as_str() {
        time.clone_into(first);
    } else if last.as_str() < time {
        time.clone_into(last);
    }
}

impl Figures {
    /// Counts a link, which represents `weight` links of the population.
    pub(super) fn add(&mut self, link: &AuditedLink, weight: f64) {
        self.links += 1;
        if let Some(index) = DEAD_PROTOCOLS.iter().position(|name| *name == link.scheme) {
            entry(&mut self.protocols, &link.year)[index] += 1;
        }
        match &link.excluded {
            Some(reason) => *entry(&mut self.excluded, reason) += 1,
            None => *entry(&mut self.populations, &link.year) += 1,
        }
        if link.is_planned {
            self.add_planned(link, weight);
        }
    }

    fn add_planned(&mut self, link: &AuditedLink, weight: f64) {
        let name = link.host.as_deref().unwrap_or_default();
        let next = self.host_numbers.len() as u32;
        let host = match self.host_numbers.get(name) {
            Some(host) => *host,
            None => *self.host_numbers.entry(name.to_owned()).or_insert(next),
        };
        let counted = CountedLink {
            state: link.state(),
            archive: link.archive(),
            is_confirmed: link.is_confirmed,
            weight,
            host: Some(host),
        };
        for tally in [
            &mut self.total,
            entry(&mut self.years, &link.year),
            entry(&mut self.lists, &link.list),
            entry(&mut self.schemes, &link.scheme),
            entry(&mut self.tlds, link.tld.as_deref().unwrap_or_default()),
        ] {
            tally.add(counted);
        }
        // A single host or a few hosts have no interval.
        let counted_alone = CountedLink {
            host: None,
            ..counted
        };
        let domain = link.domain.as_deref().unwrap_or_default();
        entry(&mut self.hosts, name).add(counted_alone);
        entry(&mut self.domains, domain).add(counted_alone);
        self.sources.add(link);
        self.ages.add(link, host, weight);
    }

    /// Merges the hosts of each group. Must be called after the last link.
    pub(super) fn finish(&mut self) {
        let maps = [&mut self.lists, &mut self.schemes, &mut self.tlds];
        let named = maps.into_iter().flat_map(BTreeMap::values_mut);
        let ages = self.ages.by_year.values_mut().map(|age| &mut age.tally);
        let all = self.years.values_mut().chain(named).chain(ages);
        all.chain([&mut self.total]).for_each(Tally::merge_hosts);
    }
}

impl Sources {
    fn add(&mut self, link: &AuditedLink) {
        self.checks += link.checks.len() as u64;
        for check in &link.checks {
            self.replies += u64::from(check.has_reply());
            extend(&mut self.checked, &check.checked_at);
            add_name(&mut self.checkers, &check.checker);
        }
        if let Some(capture) = &link.capture {
            extend(&mut self.asked, &capture.asked_at);
            self.clean_captures += u64::from(capture.is_of_clean_form());
            add_name(&mut self.servers, &capture.server);
        }
    }
}

impl Ages {
    fn add(&mut self, link: &AuditedLink, host: u32, weight: f64) {
        let checks = link.checks.iter();
        let results = checks
            .filter(|check| check.state != LinkState::Unknown)
            .count();
        if results == 0 {
            return;
        }
        if results > 1 {
            self.checked_again += 1;
        }
        let checks = checks_at_ages(link);
        let dead = lifetime(&checks, LinkState::is_dead);
        let strict = lifetime(&checks, is_dead_or_redirected);
        let (Some(dead), Some(strict)) = (dead, strict) else {
            self.without_age += 1;
            return;
        };
        self.links += 1;
        self.lifetimes.add(host, dead, weight);
        self.strict_lifetimes.add(host, strict, weight);
        let first = checks.iter().position(StateAtAge::is_result);
        let Some((first, later)) = first.and_then(|at| checks[at..].split_first()) else {
            return;
        };
        let years = whole_months(first.age_seconds) / YEAR_MONTHS;
        let age = self.by_year.entry(years).or_default();
        age.months += weight * f64::from(nearest_month(first.age_seconds));
        let mut later = later.iter();
        let living = later.rfind(|check| check.is_result() && !check.state.is_dead());
        age.tally.add(CountedLink {
            // A link that came back was not dead.
            state: match living {
                Some(living) if first.state.is_dead() => living.state,
                _ => first.state,
            },
            archive: link.archive(),
            is_confirmed: false,
            weight,
            host: Some(host),
        });
    }
}

/// Returns the checks of a link with its age at each; empty if the date of the first citation is
/// unknown.
fn checks_at_ages(link: &AuditedLink) -> Vec<StateAtAge> {
    let cited = link.first_cited.as_deref().and_then(unix_seconds);
    let checks = link.checks.iter().filter_map(|check| {
        Some(StateAtAge {
            age_seconds: unix_seconds(&check.checked_at)? - cited?,
            state: check.state,
        })
    });
    checks.collect()
}

fn entry<'m, T: Default>(map: &'m mut BTreeMap<String, T>, name: &str) -> &'m mut T {
    map.entry(name.to_owned()).or_default()
}

fn add_name(names: &mut BTreeSet<String>, name: &str) {
    if !names.contains(name) {
        names.insert(name.to_owned());
    }
}

/// A link as counted in a tally.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountedLink {
    state: LinkState,
    archive: ArchiveAnswer,
    /// `true` for a confirmed dead link.
    is_confirmed: bool,
    weight: f64,
    /// Identifier of its host; `None` if no interval is needed.
    host: Option<u32>,
}

/// A share among links, and the mean of the shares of their hosts, each host counted once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shares {
    pub(super) links: Option<Share>,
    pub(super) hosts: Option<Share>,
}

/// Weights of a host's links in a tally.
#[derive(Clone, Debug)]
struct HostWeights {
    host: u32,
    /// Indexed by [`HostSum`]. Totals over many hosts are not computed from these values.
    sums: [f32; 6],
}

/// Index of a weight in [`HostWeights`].
#[derive(Clone, Copy, Debug)]
enum HostSum {
    Known,
    Dead,
    Confirmed,
    Answered,
    Lost,
    Asked,
}

impl HostWeights {
    fn add(&mut self, other: &HostWeights) {
        for (sum, more) in self.sums.iter_mut().zip(other.sums) {
            *sum += more;
        }
    }
}

/// Counts of a group of planned links.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Links by state, in the order of [`LinkState::ALL`].
    counts: [u64; LinkState::ALL.len()],
    /// Weights of these links.
    weights: [f64; LinkState::ALL.len()],
    /// Links with a known state.
    known: Trials,
    /// Links of any state with a capture in the archive.
    pub(super) archived: u64,
    /// Dead links with a capture.
    pub(super) dead_archived: u64,
    /// Dead links without a capture in an archive that answered.
    pub(super) lost: u64,
    /// Living links with a capture.
    pub(super) safe: u64,
    /// Living links without a capture in an archive that answered.
    pub(super) at_risk: u64,
    /// Links with a known state for which the archive answered.
    asked: Trials,
    /// Dead links for which the archive answered.
    answered: Trials,
    /// Weight of the lost links.
    lost_weight: f64,
    /// Confirmed dead links.
    pub(super) confirmed: u64,
    /// Weight of the confirmed dead links.
    confirmed_weight: f64,
    /// The hosts. A host may occur several times before [`Tally::merge_hosts`].
    hosts: Vec<HostWeights>,
}

impl Tally {
    fn add(&mut self, link: CountedLink) {
        let (state, archive, weight) = (link.state, link.archive, link.weight);
        self.counts[state as usize] += 1;
        self.weights[state as usize] += weight;
        self.archived += u64::from(archive == ArchiveAnswer::Captured);
        if state != LinkState::Unknown {
            self.known.add(weight);
            if let Some(host) = link.host {
                self.add_host(host, link);
            }
        }
        if state.is_dead() {
            self.add_dead(archive, weight);
        } else if state != LinkState::Unknown {
            self.safe += u64::from(archive == ArchiveAnswer::Captured);
            self.at_risk += u64::from(archive == ArchiveAnswer::None);
        }
        if state != LinkState::Unknown && archive != ArchiveAnswer::Unknown {
            self.asked.add(weight);
        }
        if link.is_confirmed {
            self.confirmed += 1;
            self.confirmed_weight += weight;
        }
    }

    /// Adds a link with a known state to its host.
    fn add_host(&mut self, host: u32, link: CountedLink) {
        let is_dead = link.state.is_dead();
        let has = [
            true,
            is_dead,
            link.is_confirmed,
            is_dead && link.archive != ArchiveAnswer::Unknown,
            is_dead && link.archive == ArchiveAnswer::None,
            link.archive != ArchiveAnswer::Unknown,
        ];
        let sums = has.map(|has| if has { link.weight as f32 } else { 0.0 });
        let weights = HostWeights { host, sums };
        match self.hosts.last_mut() {
            Some(last) if last.host == host => last.add(&weights),
            _ => self.hosts.push(weights),
        }
    }

    /// Merges the entries of each host into one.
    fn merge_hosts(&mut self) {
        self.hosts.sort_by_key(|one| one.host);
        self.hosts.dedup_by(|later, one| {
            let is_same = later.host == one.host;
            if is_same {
                one.add(later);
            }
            is_same
        });
    }

    /// Returns the share of successful trials, where `successes` is their total weight. `of`
    /// selects the host's weights of trials and successes.
    fn shares(&self, trials: Trials, successes: f64, of: [HostSum; 2]) -> Shares {
        let hosts = self.hosts.iter().map(|one| {
            let [weight, successes] = of.map(|sum| f64::from(one.sums[sum as usize]));
            HostPart { weight, successes }
        });
        let hosts: Vec<_> = hosts.collect();
        Shares {
            links: trials.share(successes, &hosts),
            hosts: host_share(&hosts),
        }
    }

    fn add_dead(&mut self, archive: ArchiveAnswer, weight: f64) {
        match archive {
            ArchiveAnswer::Captured => self.dead_archived += 1,
            ArchiveAnswer::None => {
                self.lost += 1;
                self.lost_weight += weight;
            }
            ArchiveAnswer::Unknown => return,
        }
        self.answered.add(weight);
    }

    /// Returns the number of links in a state.
    pub(super) fn count(&self, state: LinkState) -> u64 {
        self.counts[state as usize]
    }

    pub(super) fn links(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the number of links with a known state.
    pub(super) fn known(&self) -> u64 {
        self.links() - self.count(LinkState::Unknown)
    }

    pub(super) fn dead(&self) -> u64 {
        self.count(LinkState::DeadPage) + self.count(LinkState::DeadHost)
    }

    /// Returns the weight of the dead links.
    fn dead_weight(&self) -> f64 {
        self.weights[LinkState::DeadPage as usize] + self.weights[LinkState::DeadHost as usize]
    }

    /// Returns the number of dead links for which the archive did not answer.
    pub(super) fn unanswered(&self) -> u64 {
        self.dead() - self.dead_archived - self.lost
    }

    /// Returns the share of a state among the links with a known state, without an interval.
    pub(super) fn share(&self, state: LinkState) -> Option<Share> {
        self.known.share(self.weights[state as usize], &[])
    }

    /// Returns the share of dead links among the links with a known state.
    pub(super) fn dead_shares(&self) -> Shares {
        let of = [HostSum::Known, HostSum::Dead];
        self.shares(self.known, self.dead_weight(), of)
    }

    /// Returns the share of confirmed dead links among the links with a known state.
    pub(super) fn confirmed_shares(&self) -> Shares {
        let of = [HostSum::Known, HostSum::Confirmed];
        self.shares(self.known, self.confirmed_weight, of)
    }

    /// Returns the fraction of the dead links that are confirmed. There must be a dead link.
    pub(super) fn confirmed_part(&self) -> f64 {
        self.confirmed_weight / self.dead_weight()
    }

    /// Returns the share of links that are not dead, including redirected links, among the links
    /// with a known state.
    pub(super) fn surviving_shares(&self) -> Shares {
        let Shares { links, hosts } = self.dead_shares();
        Shares {
            links: links.map(Share::complement),
            hosts: hosts.map(Share::complement),
        }
    }

    /// Returns the fractions of the dead links that are archived, unanswered and lost. There must
    /// be a dead link.
    pub(super) fn archive_shares(&self) -> [f64; 3] {
        let (dead, answered) = (self.dead_weight(), self.answered.weight);
        let weights = [
            answered - self.lost_weight,
            dead - answered,
            self.lost_weight,
        ];
        weights.map(|weight| weight / dead)
    }

    /// Returns the share of lost links among all links with a known state for which the archive
    /// answered.
    pub(super) fn lost_of_all_shares(&self) -> Shares {
        let of = [HostSum::Asked, HostSum::Lost];
        self.shares(self.asked, self.lost_weight, of)
    }

    /// Returns the weights of the dead links and of all links with a known state.
    pub(super) fn dead_of_known(&self) -> [f64; 2] {
        [self.dead_weight(), self.known.weight]
    }

    /// Returns the share of lost links among the dead links for which the archive answered.
    pub(super) fn lost_shares(&self) -> Shares {
        let of = [HostSum::Answered, HostSum::Lost];
        self.shares(self.answered, self.lost_weight, of)
    }
}

/// Length of a month in seconds: a twelfth of 365.25 days.
const MONTH_SECONDS: i64 = 2_629_800;

/// Returns `true` for an end of a link by the strict definition, by which a redirect to another
/// domain or to a front page is also an end.
fn is_dead_or_redirected(state: LinkState) -> bool {
    state.is_dead() || state == LinkState::Redirected
}

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StateAtAge {
    /// Seconds from the first citation to the check.
    age_seconds: i64,
    state: LinkState,
}

impl StateAtAge {
    /// Returns `true` if the check shows the state of the link at a valid age.
    fn is_result(&self) -> bool {
        self.state != LinkState::Unknown && 0 <= self.age_seconds
    }
}

/// Returns the lifetime determined by checks, which must be in order of time. It ended between the
/// last check that found the link alive and the first later check that found it dead. Checks
/// without a result or before the first citation are ignored.
fn lifetime(checks: &[StateAtAge], is_end: fn(LinkState) -> bool) -> Option<Lifetime> {
    let mut found = None;
    for check in checks.iter().filter(|check| check.is_result()) {
        // Round dead and live links the same way; otherwise each age would be a separate step.
        let age = nearest_month(check.age_seconds);
        let (after, is_over) = match found {
            None => (0, false),
            Some(Lifetime { after, until }) => (after, until.is_some()),
        };
        found = Some(match is_end(check.state) {
            false => Lifetime {
                after: age,
                until: None,
            },
            true if is_over => continue,
            true => Lifetime {
                after,
                until: Some(age.max(after + 1)),
            },
        });
    }
    found
}

/// Returns the number of completed months.
fn whole_months(seconds: i64) -> u32 {
    u32::try_from(seconds / MONTH_SECONDS).unwrap_or_default()
}

/// Returns an age that is not negative, rounded to the nearest month.
fn nearest_month(seconds: i64) -> u32 {
    whole_months(seconds + MONTH_SECONDS / 2)
}

/// Estimated survival from the first citation.
#[derive(Clone, Debug)]
pub(super) struct BothSurvivals {
    /// Until the page or its host is dead.
    pub(super) dead: Survival,
    /// Until the page or its host is dead, or the link redirects elsewhere.
    pub(super) strict: Survival,
}

impl BothSurvivals {
    /// Estimates survival; `None` if no link has a lifetime.
    pub(super) fn of(ages: &Ages) -> Option<BothSurvivals> {
        Some(BothSurvivals {
            dead: ages.lifetimes.survival()?,
            strict: ages.strict_lifetimes.survival()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_links_are_counted_but_change_no_share() {
        let mut tally = Tally::default();
        for (state, archive) in [
            (LinkState::Alive, ArchiveAnswer::Captured),
            (LinkState::Redirected, ArchiveAnswer::Unknown),
            (LinkState::DeadPage, ArchiveAnswer::Captured),
            (LinkState::DeadHost, ArchiveAnswer::None),
            (LinkState::DeadHost, ArchiveAnswer::Unknown),
            (LinkState::Unknown, ArchiveAnswer::Captured),
        ] {
            tally.add(CountedLink {
                state,
                archive,
                is_confirmed: state == LinkState::DeadPage,
                weight: 2.0,
                host: Some(u32::from(state == LinkState::DeadHost)),
            });
        }
        tally.merge_hosts();
        let shares = tally.dead_shares();
        // One host has 1 dead link of 3, the other 2 of 2.
        assert!((shares.hosts.unwrap().share - 2.0 / 3.0).abs() < 1e-6);
        assert!((tally.confirmed_shares().links.unwrap().share - 0.2).abs() < 1e-12);
        assert!((tally.confirmed_part() - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!((tally.links(), tally.known(), tally.dead()), (6, 5, 3));
        assert_eq!((tally.archived, tally.dead_archived), (3, 1));
        assert_eq!((tally.lost, tally.unanswered()), (1, 1));
        let share = |share: Option<Share>| share.unwrap().share;
        assert!((share(shares.links) - 0.6).abs() < 1e-12);
        assert!((share(tally.surviving_shares().links) - 0.4).abs() < 1e-12);
        assert!((share(tally.lost_shares().links) - 0.5).abs() < 1e-12);
        for share in tally.archive_shares() {
            assert!((share - 1.0 / 3.0).abs() < 1e-12, "{share}");
        }
        assert!((share(tally.share(LinkState::DeadHost)) - 0.4).abs() < 1e-12);
        for (index, state) in LinkState::ALL.into_iter().enumerate() {
            assert_eq!(state as usize, index);
        }
    }

    #[track_caller]
    fn check(states: &[(i64, LinkState)], expected: Option<(u32, Option<u32>)>) {
        let checks: Vec<_> = states
            .iter()
            .map(|&(months, state)| StateAtAge {
                age_seconds: months * MONTH_SECONDS + 1,
                state,
            })
            .collect();
        let found = lifetime(&checks, LinkState::is_dead).map(|life| (life.after, life.until));
        assert_eq!(found, expected, "{states:?}");
    }

    #[test]
    fn a_lifetime_ends_between_the_last_live_and_the_first_dead_check() {
        use LinkState::{Alive, DeadHost, DeadPage, Redirected, Unknown};
        check(&[], None);
        check(&[(5, Unknown)], None);
        check(&[(-2, Alive)], None);
        check(&[(5, Alive)], Some((5, None)));
        check(&[(5, DeadPage)], Some((0, Some(5))));
        check(&[(0, DeadPage)], Some((0, Some(1))));
        check(&[(5, Alive), (7, DeadHost)], Some((5, Some(7))));
        check(&[(5, Alive), (5, DeadHost)], Some((5, Some(6))));
        check(
            &[(5, Redirected), (7, DeadHost), (9, DeadPage)],
            Some((5, Some(7))),
        );
        check(
            &[(5, Alive), (6, Unknown), (7, DeadHost)],
            Some((5, Some(7))),
        );
        // The link came back.
        check(&[(5, DeadHost), (7, Alive)], Some((7, None)));
        check(
            &[(5, DeadHost), (7, Alive), (9, DeadPage)],
            Some((7, Some(9))),
        );
    }

    #[test]
    fn redirected_links_may_count_as_ended() {
        let checks = [StateAtAge {
            age_seconds: 0,
            state: LinkState::Redirected,
        }];
        let strict = lifetime(&checks, is_dead_or_redirected).unwrap();
        assert_eq!((strict.after, strict.until), (0, Some(1)));
    }
}
