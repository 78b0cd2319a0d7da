//! Windows of units: from every unit on the fewest that weigh enough, each with a hash of its units.
//!
//! A word weighs `min_chars` and a character of a script without spaces `min_words`, so that `min_words` words weigh as
//! much as `min_chars` characters, and mixed runs are measured by the same rule.

use super::units::Unit;
use crate::hash::GOLDEN;

/// The weights of units, and the least weights of runs and passages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measure {
    word: u64,
    character: u64,
}

impl Measure {
    pub(super) fn new(min_words: usize, min_chars: usize) -> Measure {
        Measure { word: min_chars as u64, character: min_words as u64 }
    }

    /// Returns the least weight of a passage.
    pub(super) fn passage(self) -> u64 {
        self.word * self.character
    }

    /// Returns the least weight of the longest run of a passage: half of a passage.
    pub(super) fn seed(self) -> u64 {
        self.passage().div_ceil(2)
    }

    /// Returns the least weight of a run that continues a passage behind a gap: a fifth.
    pub(super) fn step(self) -> u64 {
        self.passage().div_ceil(5)
    }

    /// Returns the weight of the runs that find candidates: three quarters.
    pub(super) fn anchor(self) -> u64 {
        (3 * self.passage()).div_ceil(4)
    }

    /// Returns the weight of the units before each place.
    pub(super) fn weights(self, units: &[Unit]) -> Vec<u64> {
        let weigh = |total: &mut u64, unit: &Unit| {
            *total += if unit.is_character() { self.character } else { self.word };
            Some(*total)
        };
        std::iter::once(0).chain(units.iter().scan(0, weigh)).collect()
    }
}

/// A window and the hash of what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) hash: u64,
}

/// Returns where the window from `start` ends that weighs at least `least`, from where that of an earlier one ended.
pub(super) fn window_end(weights: &[u64], start: usize, least: u64, from: usize) -> Option<usize> {
    (from.max(start)..weights.len()).find(|&end| weights[end] - weights[start] >= least)
}

/// Polynomials modulo this prime are hashes that can be rolled.
const PRIME: u64 = (1 << 61) - 1;
const BASE: u64 = 0x0B4D_5E1C_93A7_F2D1 % PRIME;

fn times(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    let sum = (product as u64 & PRIME) + (product >> 61) as u64;
    if sum >= PRIME { sum - PRIME } else { sum }
}

fn plus(left: u64, right: u64) -> u64 {
    let sum = left + right;
    if sum >= PRIME { sum - PRIME } else { sum }
}

/// Returns all windows that weigh at least `least`, in order. O(n).
pub(super) fn windows(units: &[Unit], weights: &[u64], least: u64) -> Vec<Window> {
    let mut found = Vec::new();
    let (mut value, mut power, mut end) = (0, 1, 0);
    for start in 0..units.len() {
        let Some(next) = window_end(weights, start, least, end) else { break };
        for unit in &units[end..next] {
            value = plus(times(value, BASE), unit.key % PRIME);
            power = times(power, BASE);
        }
        end = next;
        // The bits of a polynomial are not evenly spread where its windows are short.
        let hash = (value ^ (end - start) as u64).wrapping_mul(GOLDEN);
        found.push(Window { start, end, hash: hash ^ hash >> 32 });
        // The first unit leaves: `power` is that of the whole window, its own is one less.
        power = times(power, INVERSE);
        value = plus(value, PRIME - times(units[start].key % PRIME, power));
    }
    found
}

/// BASE to the power PRIME − 2.
const INVERSE: u64 = {
    let (mut result, mut square, mut exponent) = (1u64, BASE, PRIME - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = ((result as u128 * square as u128) % PRIME as u128) as u64;
        }
        square = ((square as u128 * square as u128) % PRIME as u128) as u64;
        exponent >>= 1;
    }
    result
};

#[cfg(test)]
mod tests {
    use super::super::units::units;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_window_is_the_fewest_units() {
        let measure = Measure::new(6, 13);
        let count = |text: &str, least| {
            let cut = units(text);
            windows(&cut, &measure.weights(&cut), least).iter().map(|w| w.end - w.start).collect::<Vec<_>>()
        };
        assert_eq!(count("a b c d e f g", measure.passage()), [6, 6]);
        assert_eq!(count(&"我".repeat(14), measure.passage()), [13, 13]);
        assert_eq!(count("a b c d", measure.seed()), [3, 3]);
        assert_eq!(count(&"我".repeat(7), measure.seed()), [7]);
        assert_eq!(count("a b c 我我我我我我我", measure.passage()), [10]);
        assert_eq!(count("", 1), [0; 0]);
    }

    proptest! {
        #[test]
        fn equal_units_have_equal_hashes(text in "([ab] |[我你]){0,30}", least in 1u64..90) {
            let cut = units(&text);
            let found = windows(&cut, &Measure::new(6, 13).weights(&cut), least);
            let keys = |w: &Window| cut[w.start..w.end].iter().map(|unit| unit.key).collect::<Vec<_>>();
            for left in &found {
                for right in &found {
                    prop_assert_eq!(left.hash == right.hash, keys(left) == keys(right));
                }
            }
        }
    }
}
