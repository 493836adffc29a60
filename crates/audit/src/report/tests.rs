//! Simulated archives with a known truth: how often the intervals of a report contain it.
//!
//!     CARGO_PROFILE_TEST_OPT_LEVEL=3 cargo test --all-features --lib report::tests -- \
//!         --ignored --nocapture
//!
//! Set `ARCHIVES` in the build environment to the number of archives of each kind.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "numbers of made-up links are small"
)]

use std::collections::BTreeMap;

use super::figures::Figures;
use super::links::{AuditedLink, StoredCheck};
use crate::database::time_text;
use crate::state::LinkState;
use crate::statistics::{HalfLife, Share, SplitMix};

/// 1 January 2026, the day of the last check, in seconds since 1970.
const LAST_CHECK: f64 = 1_767_225_600.0;

const YEAR_SECONDS: f64 = 31_557_600.0;

/// Length of the citation period, in years.
const CITED_YEARS: f64 = 34.0;

/// Pattern in which links die.
#[derive(Clone, Copy, Debug)]
enum Death {
    Host,
    Alone,
    Both,
}

/// Properties of simulated archives.
#[derive(Clone, Copy, Debug)]
struct Kind {
    death: Death,
    /// Times of the check rounds, in years before the last check. Each round checks all links that
    /// are not dead yet.
    rounds: &'static [f64],
    /// Sample size per year; `None` without a sample.
    sampled: Option<usize>,
    hosts: usize,
    /// True half-life in years.
    half_life: f64,
    /// Permitted ages at the last check, in years.
    ages: &'static [(f64, f64)],
}

const ONE: &[f64] = &[0.0];

/// The third round finds dead links that the second did not find, and confirms them three days
/// later.
const SEVERAL: &[f64] = &[5.0, 2.0, 0.0];

const ALL_AGES: &[(f64, f64)] = &[(0.0, CITED_YEARS)];

impl Default for Kind {
    fn default() -> Kind {
        Kind {
            death: Death::Both,
            rounds: ONE,
            sampled: None,
            hosts: 300,
            half_life: 7.0,
            ages: ALL_AGES,
        }
    }
}

/// Returns a random number from 0 to 1.
fn unit(random: &mut SplitMix) -> f64 {
    f64::from(random.below(1 << 30) as u32) / f64::from(1_u32 << 30)
}

/// Returns an exponentially distributed time with this half-life.
fn lifetime(random: &mut SplitMix, half_life: f64) -> f64 {
    -(1.0 - unit(random)).log2() * half_life
}

/// A link. Times are in years relative to the last check.
struct Link {
    host: usize,
    cited: f64,
    end: f64,
}

/// Creates the links of an archive. The number of links per host follows a power law. A link is
/// cited while its host lives.
fn links(kind: Kind, random: &mut SplitMix) -> Vec<Link> {
    let (of_host, of_link) = match kind.death {
        Death::Host => (kind.half_life, f64::INFINITY),
        Death::Alone => (f64::INFINITY, kind.half_life),
        Death::Both => (2.0 * kind.half_life, 2.0 * kind.half_life),
    };
    let mut links = Vec::new();
    for host in 0..kind.hosts {
        let begin = -unit(random) * CITED_YEARS * 1.2;
        let host_end = begin + lifetime(random, of_host);
        let size = (4.0 / (1.0 - unit(random)).powf(0.7)).min(400.0) as usize;
        for _ in 0..size {
            let cited = begin + lifetime(random, 5.0);
            let end = host_end.min(cited + lifetime(random, of_link));
            let has_age = |&(from, to): &(f64, f64)| from <= -cited && -cited < to;
            if cited < host_end && kind.ages.iter().any(has_age) {
                links.push(Link { host, cited, end });
            }
        }
    }
    links
}

fn check(years: f64, state: LinkState) -> StoredCheck {
    StoredCheck {
        checked_at: time_of(years),
        state,
        status: Some(200),
        error: None,
        checker: String::new(),
    }
}

fn time_of(years: f64) -> String {
    time_text((LAST_CHECK + years * YEAR_SECONDS) as i64)
}

/// Returns the checks of a link. A dead link is checked once more and then never again.
fn checks(link: &Link, rounds: &[f64]) -> Vec<StoredCheck> {
    const THREE_DAYS: f64 = 3.0 / 365.25;
    let mut checks = Vec::new();
    for round in rounds.iter().filter(|round| link.cited < -**round) {
        if -round < link.end {
            checks.push(check(-round, LinkState::Alive));
            continue;
        }
        checks.push(check(-round, LinkState::DeadPage));
        if 1 < rounds.len() {
            checks.push(check(-round + THREE_DAYS, LinkState::DeadPage));
        }
        break;
    }
    checks
}

/// Returns the figures of an archive.
fn figures(kind: Kind, seed: u64) -> Figures {
    let mut random = SplitMix(seed);
    let mut figures = Figures::default();
    let mut years: BTreeMap<String, Vec<Link>> = BTreeMap::new();
    for link in links(kind, &mut random) {
        let year = time_of(link.cited)[..4].to_owned();
        years.entry(year).or_default().push(link);
    }
    for (year, mut links) in years {
        let population = links.len();
        if let Some(sampled) = kind.sampled {
            while sampled < links.len() {
                links.swap_remove(random.below(links.len()));
            }
        }
        let weight = population as f64 / links.len() as f64;
        for link in &links {
            let host = link.host.to_string();
            let audited = AuditedLink {
                host: Some(host),
                scheme: "http".to_owned(),
                first_cited: Some(time_of(link.cited)),
                citations: 1,
                messages: 1,
                year: year.clone(),
                stratum: year.clone(),
                is_planned: true,
                checks: checks(link, kind.rounds),
                ..AuditedLink::default()
            };
            figures.add(&audited, weight);
        }
    }
    figures.finish();
    figures
}

/// Intervals of one figure of a report, and the sums whose quotient is the true value.
#[derive(Default)]
struct Cover {
    intervals: Vec<(f64, f64)>,
    successes: f64,
    trials: f64,
}

impl Cover {
    fn add(&mut self, share: Option<Share>, weight: f64) {
        if let Some(share) = share {
            self.successes += share.share * weight;
            self.trials += weight;
            let interval = share.interval.map(|interval| (interval.low, interval.high));
            self.intervals.extend(interval);
        }
    }

    /// Prints the percentage of the intervals that contain the truth, and their median width.
    fn show(mut self, name: &str, truth: f64) -> f64 {
        let held = |(low, high): &&(f64, f64)| *low <= truth && truth <= *high;
        let count = self.intervals.iter().filter(held).count();
        let part = 100.0 * count as f64 / self.intervals.len() as f64;
        self.intervals
            .sort_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
        let (low, high) = self.intervals[self.intervals.len() / 2];
        let width = high - low;
        println!(
            "  {name:<28} {part:5.1} % of {} hold {truth:.3}; median width {width:.3}",
            self.intervals.len()
        );
        part
    }
}

fn archives() -> u64 {
    option_env!("ARCHIVES").map_or(1_000, |number| number.parse().unwrap())
}

#[test]
#[ignore = "takes minutes"]
fn intervals_contain_the_truth_at_the_stated_rate() {
    let mut outside = Vec::new();
    for death in [Death::Host, Death::Alone, Death::Both] {
        for rounds in [ONE, SEVERAL] {
            let mut truths = [0.0; 2];
            for sampled in [None, Some(20)] {
                let kind = Kind {
                    death,
                    rounds,
                    sampled,
                    ..Kind::default()
                };
                println!("{death:?}, {} checks, sample {sampled:?}", rounds.len());
                let parts = cover(kind, &mut truths);
                outside.extend(
                    parts
                        .into_iter()
                        .filter(|part| !(92.0..=98.0).contains(part)),
                );
            }
        }
    }
    assert_eq!(outside, [] as [f64; 0]);
}

/// Returns the percentages of the intervals of a kind that contain the truth. The true share is the
/// share in all archives without a sample.
fn cover(kind: Kind, truths: &mut [f64; 2]) -> Vec<f64> {
    let mut shares: [Cover; 3] = Default::default();
    let mut half_life = Cover::default();
    let mut bounds = [0; 3];
    let (mut points, mut agreeing) = (0, 0);
    for seed in 0..archives() {
        let figures = figures(kind, seed);
        let total = figures.total.dead_shares();
        let known = figures.total.known() as f64;
        shares[0].add(total.links, known);
        shares[1].add(total.hosts, 1.0);
        let year = &figures.years["2016"];
        shares[2].add(year.dead_shares().links, year.known() as f64);
        let survival = figures.ages.lifetimes.survival().unwrap();
        let HalfLife { low, high } = survival.interval;
        match (0.0 < low, high.is_finite()) {
            (true, true) => half_life.intervals.push((low / 12.0, high / 12.0)),
            (false, false) => bounds[2] += 1,
            (is_low, _) => bounds[usize::from(is_low)] += 1,
        }
        // Compare the curve with the points of the figure where both exist.
        let pieces: Vec<_> = survival.curve.pieces().collect();
        for age in figures.ages.by_year.values() {
            let at = age.mean_months();
            let lines = pieces.iter().flat_map(|piece| piece.windows(2));
            let mut lines = lines.filter(|line| line[0].age <= at && at <= line[1].age);
            let interval = age.tally.surviving_shares().links;
            let interval = interval.and_then(|share| share.interval);
            if let (Some(line), Some(interval)) = (lines.next(), interval) {
                points += 1;
                agreeing += usize::from(
                    interval.low <= line[0].survival && line[1].survival <= interval.high,
                );
            }
        }
    }
    if kind.sampled.is_none() {
        *truths = [0, 2].map(|index: usize| shares[index].successes / shares[index].trials);
    }
    let [links, hosts, year] = shares;
    let of_hosts = hosts.successes / hosts.trials;
    let parts = vec![
        links.show("dead, of links", truths[0]),
        hosts.show("dead, of hosts", of_hosts),
        year.show("dead, of links of a year", truths[1]),
        half_life.show("half-life in years", kind.half_life),
    ];
    let [at_most, more_than, not_determined] = bounds;
    println!(
        "  at most {at_most}, more than {more_than}, not determined {not_determined}; the curve is \
         in the interval of {:.1} % of the points",
        100.0 * f64::from(agreeing as u32) / f64::from(points)
    );
    parts
}

#[test]
#[ignore = "takes minutes"]
fn half_lives_outside_the_ages_are_bounds() {
    for (half_life, low, high) in [
        (3.0, 0.0, 9.0),
        (6.0, 0.0, 9.0),
        (15.0, 11.0, 30.0),
        (60.0, 31.0, 999.0),
    ] {
        let kind = Kind {
            ages: &[(9.0, 11.0), (30.0, 31.0)],
            half_life,
            hosts: 2_000,
            ..Kind::default()
        };
        let (mut said, mut held) = (BTreeMap::new(), 0);
        for seed in 0..archives() / 5 {
            let survival = figures(kind, seed).ages.lifetimes.survival().unwrap();
            let (interval, years) = (survival.interval, 12.0 * half_life);
            held += u32::from(interval.low <= years && years <= interval.high);
            let ends = [interval.low, interval.high].map(|months| (months / 12.0).round());
            let is_bound = survival.half_life.low < survival.half_life.high;
            let is_near = ends[0] <= low && high <= ends[1];
            *said.entry((is_bound, is_near)).or_insert(0) += 1;
        }
        let all = archives() / 5;
        println!(
            "{half_life} years: {held} of {all} hold it; (bound, no narrower than the gap): \
                {said:?}"
        );
    }
}

/// The harness prints the time, which should be at most 2 seconds for both definitions of an end.
#[test]
#[ignore = "measures"]
fn one_hundred_thousand_links() {
    let kind = Kind {
        hosts: 14_500,
        ..Kind::default()
    };
    let figures = figures(kind, 1);
    let survival = super::figures::BothSurvivals::of(&figures.ages).unwrap();
    println!("{} links: {:?}", figures.ages.links, survival.dead.interval);
}
