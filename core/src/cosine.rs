//! Exact cosine of two weighted bags: the judge.

use crate::vote::{exponent, times_power_of_two};

/// Features as (key, weight), sorted by key: then sums do not depend on the order of the text.
pub(crate) fn sorted(mut features: Vec<(u64, f64)>) -> Vec<(u64, f64)> {
    features.sort_unstable_by_key(|&(key, _)| key);
    features
}

/// The cosine of two bags sorted by key, O(a + b); NaN when either has no weight.
pub(crate) fn cosine(left: &[(u64, f64)], right: &[(u64, f64)]) -> f64 {
    // Only directions matter: with the largest weight near 1, no square leaves the range of f64.
    // The scales are powers of two, so nothing is rounded by them.
    let scale_of = |bag: &[(u64, f64)]| {
        let largest = bag.iter().map(|&(_, weight)| weight).fold(0.0, f64::max);
        -exponent(largest)
    };
    let (left_scale, right_scale) = (scale_of(left), scale_of(right));
    let norm = |bag: &[(u64, f64)], scale: i32| {
        bag.iter().map(|&(_, weight)| times_power_of_two(weight, scale).powi(2)).sum::<f64>()
    };
    let mut dot = 0.0;
    let mut rest = right;
    for &(key, weight) in left {
        while let Some(&(other, _)) = rest.first()
            && other < key
        {
            rest = &rest[1..];
        }
        if let Some(&(other, other_weight)) = rest.first()
            && other == key
        {
            dot += times_power_of_two(weight, left_scale) * times_power_of_two(other_weight, right_scale);
        }
    }
    let (left, right) = (norm(left, left_scale), norm(right, right_scale));
    if left == 0.0 || right == 0.0 {
        return f64::NAN;
    }
    // One root of the product: for equal bags it is exactly their dot product. Rounding may pass 1 by a hair.
    (dot / (left * right).sqrt()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn equals_the_textbook_formula(
            left in prop::collection::btree_map(0u64..50, 0.1f64..10.0, 1..40),
            right in prop::collection::btree_map(0u64..50, 0.1f64..10.0, 1..40),
        ) {
            let norm = |bag: &BTreeMap<u64, f64>| bag.values().map(|w| w * w).sum::<f64>().sqrt();
            let dot: f64 = left.iter().map(|(key, w)| w * right.get(key).unwrap_or(&0.0)).sum();
            let pairs = |bag: &BTreeMap<u64, f64>| bag.iter().map(|(&k, &w)| (k, w)).collect::<Vec<_>>();
            let found = cosine(&pairs(&left), &pairs(&right));
            prop_assert!((found - dot / norm(&left) / norm(&right)).abs() < 1e-12);
            prop_assert_eq!(cosine(&pairs(&left), &pairs(&left)), 1.0);
        }
    }

    #[test]
    fn only_directions_matter() {
        for size in [1e-300, 1e-200, 1.0, 1e200, 1.7e308] {
            let half = cosine(&[(1, size), (2, size)], &[(1, size), (3, size)]);
            assert!((half - 0.5).abs() < 1e-15, "{half}");
            assert!((cosine(&[(1, size)], &[(1, 3.0)]) - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn no_weight_has_no_direction() {
        assert!(cosine(&[], &[(1, 1.0)]).is_nan());
        assert!(cosine(&[(1, 0.0)], &[(1, 1.0)]).is_nan());
    }
}
