//! Exact cosine of two weighted bags: the judge.

use crate::vote::{exponent, times_power_of_two};

/// The features of a text as a sparse vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Vector {
    /// Key and weight, sorted by key, so that sums do not depend on the order of the text. The largest weight is scaled
    /// near 1 by a power of two, which rounds nothing: only directions matter, and no square leaves the range of f64.
    pub(crate) features: Vec<(u64, f64)>,
    /// The sum of squares.
    pub(crate) norm: f64,
}

/// Cosines above this are 1, but for rounding.
const ONE: f64 = 1.0 - 1e-12;

impl Vector {
    /// Makes the vector of features with distinct keys and finite weights of at least 0.
    pub(crate) fn new(mut features: Vec<(u64, f64)>) -> Vector {
        features.retain(|&(_, weight)| weight > 0.0);
        features.sort_unstable_by_key(|&(key, _)| key);
        let largest = features.iter().map(|&(_, weight)| weight).fold(0.0, f64::max);
        let scale = -exponent(largest);
        features.iter_mut().for_each(|(_, weight)| *weight = times_power_of_two(*weight, scale));
        let norm = features.iter().map(|(_, weight)| weight * weight).sum();
        Vector { features, norm }
    }

    /// Returns the cosine with another, O(a + b); NaN when either has no weight.
    pub(crate) fn cosine(&self, other: &Vector) -> f64 {
        if self.norm == 0.0 || other.norm == 0.0 {
            return f64::NAN;
        }
        let (left, right) = (&self.features[..], &other.features[..]);
        let (mut dot, mut a, mut b) = (0.0, 0, 0);
        while a < left.len() && b < right.len() {
            let ((one, weight), (two, other_weight)) = (left[a], right[b]);
            // Which key comes first cannot be predicted, so there is no branch on it.
            dot += if one == two { weight * other_weight } else { 0.0 };
            a += usize::from(one <= two);
            b += usize::from(two <= one);
        }
        // One root of the product: for equal bags it is exactly their dot product. For a multiple of the other bag
        // rounding may miss 1 by a hair, on either side; bags that differ are further from it.
        let cosine = dot / (self.norm * other.norm).sqrt();
        if cosine > ONE { 1.0 } else { cosine }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn cosine(left: &[(u64, f64)], right: &[(u64, f64)]) -> f64 {
        Vector::new(left.to_vec()).cosine(&Vector::new(right.to_vec()))
    }

    proptest! {
        #[test]
        fn equals_the_textbook_formula(
            left in prop::collection::btree_map(0u64..50, 0.1f64..10.0, 1..40),
            right in prop::collection::btree_map(0u64..50, 0.1f64..10.0, 1..40),
        ) {
            let norm = |bag: &BTreeMap<u64, f64>| bag.values().map(|w| w * w).sum::<f64>().sqrt();
            let dot: f64 = left.iter().map(|(key, w)| w * right.get(key).unwrap_or(&0.0)).sum();
            let pairs = |bag: &BTreeMap<u64, f64>| bag.iter().rev().map(|(&k, &w)| (k, w)).collect::<Vec<_>>();
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
