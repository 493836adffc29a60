//! Weighted isotonic regression, by pooling adjacent violators.

/// A value and its weight, which is positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WeightedValue {
    pub(super) value: f64,
    pub(super) weight: f64,
}

/// Values that are replaced by their mean.
#[derive(Clone, Copy, Debug)]
struct Pool {
    mean: f64,
    weight: f64,
    len: usize,
}

/// Returns the non-decreasing values with the smallest weighted sum of squared distances to `values`.
///
/// Linear in the number of values.
pub(super) fn isotonic(values: &[WeightedValue]) -> Vec<f64> {
    let mut pools: Vec<Pool> = Vec::new();
    for value in values {
        let mut pool = Pool {
            mean: value.value,
            weight: value.weight,
            len: 1,
        };
        while let Some(last) = pools.pop_if(|last| pool.mean <= last.mean) {
            let weight = last.weight + pool.weight;
            pool = Pool {
                mean: (last.mean * last.weight + pool.mean * pool.weight) / weight,
                weight,
                len: last.len + pool.len,
            };
        }
        pools.push(pool);
    }
    let repeated = pools
        .into_iter()
        .flat_map(|pool| std::iter::repeat_n(pool.mean, pool.len));
    repeated.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(values: &[(f64, f64)]) -> Vec<f64> {
        let weighted: Vec<_> = values
            .iter()
            .map(|&(value, weight)| WeightedValue { value, weight })
            .collect();
        isotonic(&weighted)
    }

    #[test]
    fn violators_get_their_weighted_mean() {
        assert_eq!(fitted(&[]), [] as [f64; 0]);
        assert_eq!(
            fitted(&[(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]),
            [1.0, 2.0, 3.0]
        );
        assert_eq!(
            fitted(&[(1.0, 1.0), (4.0, 1.0), (2.0, 3.0)]),
            [1.0, 2.5, 2.5]
        );
        assert_eq!(
            fitted(&[(3.0, 1.0), (2.0, 1.0), (1.0, 1.0)]),
            [2.0, 2.0, 2.0]
        );
    }

    /// The fit by its formula: the largest of the smallest means of the blocks that hold a position.
    fn by_formula(values: &[(f64, f64)]) -> Vec<f64> {
        let mean = |from: usize, to: usize| {
            let block = &values[from..=to];
            let weight: f64 = block.iter().map(|value| value.1).sum();
            block.iter().map(|value| value.0 * value.1).sum::<f64>() / weight
        };
        let smallest = |from: usize, at: usize| {
            (at..values.len())
                .map(|to| mean(from, to))
                .fold(f64::INFINITY, f64::min)
        };
        (0..values.len())
            .map(|at| {
                (0..=at)
                    .map(|from| smallest(from, at))
                    .fold(f64::NEG_INFINITY, f64::max)
            })
            .collect()
    }

    #[test]
    fn the_fit_is_that_of_the_formula() {
        let mut seed = 7_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f64::from((seed >> 40) as u32 % 1000) / 100.0
        };
        for len in 1..40 {
            let values: Vec<_> = (0..len).map(|_| (next(), next() + 0.1)).collect();
            for (found, expected) in fitted(&values).into_iter().zip(by_formula(&values)) {
                assert!((found - expected).abs() < 1e-9, "{values:?}");
            }
        }
    }
}
