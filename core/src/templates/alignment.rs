//! The alignment of two lists of words: which of them form a longest common subsequence.
//!
//! Bit-parallel as in `differences::order`, with every row of the table of lengths kept for the way back:
//! O(left · right / 64) time and bits, after what both lists begin and end with.

use crate::differences::places;
use crate::hash::KeyMap;

/// Words of `left` that have no partner.
pub(super) const NONE: u32 = u32::MAX;
/// Up to this many comparisons, a scan is faster than a hash map.
const SCAN: usize = 1 << 12;

/// Returns for each word of `left` its partner in `right`, or `NONE`.
pub(super) fn align(left: &[u64], right: &[u64]) -> Vec<u32> {
    let before = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (inner, other) = (&left[before..], &right[before..]);
    let after = inner.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let (inner, other) = (&inner[..inner.len() - after], &other[..other.len() - after]);
    let mut partners: Vec<u32> = (0..before as u32).collect();
    partners.resize(left.len() - after, NONE);
    between(inner, other, before as u32, &mut partners[before..]);
    partners.extend((right.len() - after) as u32..right.len() as u32);
    partners
}

fn between(left: &[u64], right: &[u64], first: u32, partners: &mut [u32]) {
    if left.is_empty() || right.is_empty() {
        return;
    }
    let blocks = left.len().div_ceil(64);
    let rows = rows(left, right, blocks);
    // A set bit of a row says that the length does not grow there.
    let same = |row: usize, at: usize| rows[row * blocks + at / 64] >> (at % 64) & 1 == 1;
    let (mut at, mut row) = (left.len(), right.len());
    while at > 0 && row > 0 {
        if same(row - 1, at - 1) {
            at -= 1;
            continue;
        }
        row -= 1;
        if row == 0 || same(row - 1, at - 1) {
            at -= 1;
            partners[at] = first + row as u32;
        }
    }
}

/// Returns a row of bits for each word of `right`.
fn rows(left: &[u64], right: &[u64], blocks: usize) -> Vec<u64> {
    let scan = left.len() * right.len() <= SCAN;
    let places = if scan { KeyMap::default() } else { places(left) };
    let mut rows = Vec::with_capacity(blocks * right.len());
    let mut row = vec![u64::MAX; blocks];
    let mut found = vec![0u64; blocks];
    for word in right {
        if scan {
            for (bits, words) in found.iter_mut().zip(left.chunks(64)) {
                *bits = words.iter().rev().fold(0, |bits, other| bits << 1 | u64::from(other == word));
            }
        } else {
            found.fill(0);
            places.get(word).into_iter().flatten().for_each(|&(block, bits)| found[block as usize] = bits);
        }
        let mut carry = false;
        for (bits, found) in row.iter_mut().zip(&found) {
            let (sum, over) = bits.overflowing_add(*bits & *found);
            let (sum, over_again) = sum.overflowing_add(u64::from(carry));
            carry = over || over_again;
            *bits = sum | *bits & !*found;
        }
        rows.extend_from_slice(&row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differences::common_words;
    use proptest::prelude::*;

    fn check(left: &[u64], right: &[u64]) {
        let partners = align(left, right);
        let pairs: Vec<(usize, u32)> = partners.iter().copied().enumerate().filter(|&(_, at)| at != NONE).collect();
        assert!(pairs.iter().all(|&(at, other)| left[at] == right[other as usize]));
        assert!(pairs.is_sorted_by(|a, b| a.1 < b.1));
        assert_eq!(partners.len(), left.len());
        assert_eq!(pairs.len(), common_words(left, right));
    }

    proptest! {
        #[test]
        fn is_a_longest_common_subsequence(
            left in prop::collection::vec(0u64..6, 0..150),
            right in prop::collection::vec(0u64..6, 0..150),
            many in prop::collection::vec(0u64..90, 0..150),
        ) {
            check(&left, &right);
            check(&left, &many);
            check(&many, &left);
            check(&left[..left.len().min(9)], &right[..right.len().min(9)]);
        }
    }
}
