//! Turnbull's estimate: known values, its closed forms, and the proof of its maximum on random lifetimes.

use super::*;

fn counts(lifetimes: &[(u32, Option<u32>, f64)]) -> LifetimeCounts {
    let mut counts = LifetimeCounts::default();
    for &(after, until, weight) in lifetimes {
        counts.add(Lifetime { after, until }, weight);
    }
    counts
}

#[track_caller]
fn check(lifetimes: &[(u32, Option<u32>, f64)], expected: &[(u32, u32, f64)]) {
    let curve = turnbull(&counts(lifetimes)).unwrap();
    let found: Vec<_> = curve
        .steps
        .iter()
        .map(|step| (step.after, step.until))
        .collect();
    let intervals: Vec<_> = expected.iter().map(|step| (step.0, step.1)).collect();
    assert_eq!(found, intervals);
    for (step, expected) in curve.steps.iter().zip(expected) {
        let error = (step.survival - expected.2).abs();
        assert!(error < 1e-5, "{step:?} instead of {expected:?}");
    }
    assert!(curve.is_converged);
}

/// With one check of each link the estimate is the isotonic regression of the shares by age.
#[test]
fn one_check_gives_isotonic_shares() {
    let mut lifetimes = Vec::new();
    let shares = [(12, 90.0), (24, 70.0), (36, 80.0), (48, 40.0)];
    for (age, living) in shares {
        lifetimes.push((age, None, living));
        lifetimes.push((0, Some(age), 100.0 - living));
    }
    check(&lifetimes, &[(0, 12, 0.9), (12, 24, 0.75), (36, 48, 0.4)]);
    let curve = turnbull(&counts(&lifetimes)).unwrap();
    let expected = HalfLife::Between {
        after: 36,
        until: 48,
    };
    assert_eq!(curve.half_life(), expected);
}

/// Exact lifetimes and right-censored ones give the estimate of Kaplan and Meier: 5/6, then 5/6 * 2/4, then 0.
#[test]
fn exact_lifetimes_give_kaplan_and_meier() {
    let lifetimes = [
        (4, Some(5), 1.0),
        (6, None, 1.0),
        (9, Some(10), 2.0),
        (11, None, 1.0),
        (14, Some(15), 1.0),
    ];
    check(
        &lifetimes,
        &[(4, 5, 5.0 / 6.0), (9, 10, 5.0 / 12.0), (14, 15, 0.0)],
    );
}

/// Months until retraction of the breast after radiotherapy (Finkelstein and Wolfe 1985), the usual example. The probabilities are
/// those that are printed for it, for instance by the package `interval` of R.
#[test]
fn the_textbook_example_has_its_known_values() {
    let until = |pairs: &[(u32, u32)]| -> Vec<_> {
        pairs
            .iter()
            .map(|&(after, until)| (after, Some(until), 1.0))
            .collect()
    };
    let mut lifetimes = until(&[
        (25, 37),
        (6, 10),
        (0, 5),
        (0, 7),
        (26, 40),
        (27, 34),
        (7, 16),
        (36, 44),
        (5, 11),
        (19, 35),
        (7, 14),
        (36, 48),
        (17, 25),
        (37, 44),
        (0, 8),
        (4, 11),
        (17, 25),
        (19, 26),
        (11, 15),
        (11, 18),
        (5, 12),
    ]);
    let living = [
        45, 37, 46, 18, 46, 46, 24, 46, 36, 17, 46, 37, 24, 40, 32, 33, 15, 46, 37, 22, 38, 34, 46,
        36, 46,
    ];
    lifetimes.extend(living.map(|after| (after, None, 1.0)));
    let masses = [
        (4, 5, 0.0463),
        (6, 7, 0.0334),
        (7, 8, 0.0887),
        (11, 12, 0.0708),
        (24, 25, 0.0926),
        (33, 34, 0.0818),
        (38, 40, 0.1209),
        (46, 48, 0.4656),
    ];
    let curve = turnbull(&counts(&lifetimes)).unwrap();
    let mut before = 1.0;
    assert_eq!(curve.steps.len(), masses.len());
    for (step, (after, until, mass)) in curve.steps.iter().zip(masses) {
        assert_eq!((step.after, step.until), (after, until));
        assert!((before - step.survival - mass).abs() < 6e-5, "{step:?}");
        before = step.survival;
    }
}

#[test]
fn a_half_life_may_not_be_reached() {
    let curve = turnbull(&counts(&[(0, Some(24), 3.0), (24, None, 7.0)])).unwrap();
    let HalfLife::NotReached { survival } = curve.half_life() else {
        panic!("{:?}", curve.half_life());
    };
    assert!((survival - 0.7).abs() < 1e-5);
    assert_eq!(curve.end, 24);
    let living = turnbull(&counts(&[(24, None, 7.0)])).unwrap();
    assert_eq!(living.half_life(), HalfLife::NotReached { survival: 1.0 });
    assert_eq!(turnbull(&LifetimeCounts::default()), None);
}

/// No shift of probability towards an interval raises the likelihood, which proves the maximum: the likelihood is concave.
#[test]
fn random_lifetimes_have_the_largest_likelihood() {
    let mut seed = 20_u64;
    let mut below = |limit: u32| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as u32 % limit
    };
    for size in 1..60 {
        let mut lifetimes = Vec::new();
        for _ in 0..size * 4 {
            let after = below(size + 2);
            let until = (below(4) > 0).then(|| after + 1 + below(size));
            lifetimes.push((after, until, f64::from(1 + below(9))));
        }
        let counts = counts(&lifetimes);
        let innermost = innermost_intervals(&counts);
        let mut estimate = Estimate::new(&counts, &innermost).unwrap();
        assert!((0..SURVIVAL_ROUNDS).any(|_| estimate.improve()), "{size}");
        let gap = estimate.expect_and_maximize();
        assert!(gap <= SMALLEST_GAP.max(DISTANCE / estimate.weight) * 2.0);
        assert!(estimate.reached.is_sorted(), "{:?}", estimate.reached);
    }
}

/// Links of thirty years, checked twelve times.
#[test]
fn few_rounds_suffice() {
    let mut counts = LifetimeCounts::default();
    for month in 1..360_u32 {
        for check in 0..12 {
            let age = month + 6 * check;
            let weight = f64::from(1 + (month * 7 + check * 13) % 50);
            counts.add(
                Lifetime {
                    after: age,
                    until: Some(age + 6),
                },
                weight,
            );
            counts.add(
                Lifetime {
                    after: age,
                    until: None,
                },
                weight,
            );
            counts.add(
                Lifetime {
                    after: 0,
                    until: Some(age),
                },
                weight,
            );
        }
    }
    let innermost = innermost_intervals(&counts);
    let mut estimate = Estimate::new(&counts, &innermost).unwrap();
    let rounds = (0..SURVIVAL_ROUNDS).find(|_| estimate.improve()).unwrap();
    assert!(rounds < SURVIVAL_ROUNDS / 2, "{rounds} rounds");
}
