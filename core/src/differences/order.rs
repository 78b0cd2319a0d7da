//! The longest common subsequence of words, bit-parallel.
//!
//! Hyyrö, "Bit-parallel LCS-length computation revisited" (2004): a row of the table of lengths is a vector of bits, a
//! zero for each place where the length grows. O(left · right / 64) at worst; words that stand once touch a few machine
//! words only.

use crate::hash::KeyMap;

/// Words further apart than this, after what both texts begin and end with, are not matched: time stays linear, and of
/// longer texts the result is a lower bound.
const BAND: usize = 1 << 13;

/// Returns the length of the longest common subsequence of two lists of words.
pub fn common_words(left: &[u64], right: &[u64]) -> usize {
    let before = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (left, right) = (&left[before..], &right[before..]);
    let after = left.iter().rev().zip(right.iter().rev()).take_while(|(a, b)| a == b).count();
    before + after + between(&left[..left.len() - after], &right[..right.len() - after])
}

/// Returns where each word stands: as bits in blocks of 64 places. However often a word stands, a block has one entry.
pub(crate) fn places(words: &[u64]) -> KeyMap<Vec<(u32, u64)>> {
    let mut places: KeyMap<Vec<(u32, u64)>> = KeyMap::with_capacity_and_hasher(words.len(), Default::default());
    for (at, &word) in words.iter().enumerate() {
        let blocks = places.entry(word).or_default();
        let (block, bit) = ((at / 64) as u32, 1 << (at % 64));
        match blocks.last_mut() {
            Some((last, bits)) if *last == block => *bits |= bit,
            _ => blocks.push((block, bit)),
        }
    }
    places
}

fn between(left: &[u64], right: &[u64]) -> usize {
    if left.is_empty() || right.is_empty() {
        return 0;
    }
    let places = places(left);
    let blocks = left.len().div_ceil(64);
    let mut row = vec![u64::MAX; blocks];
    let mut found = vec![0u64; blocks];
    // Blocks from here on are all ones, and stay so whatever is carried into them.
    let mut used = 0;
    for (at, word) in right.iter().enumerate() {
        let Some(all) = places.get(word) else { continue };
        let (low, high) = (at.saturating_sub(BAND), at + BAND);
        let near = all.partition_point(|&(block, _)| (block as usize) < low / 64);
        let near = all[near..].iter().map(|&(block, bits)| (block as usize, bits));
        let (mut first, mut last) = (usize::MAX, 0);
        for (block, mut bits) in near.take_while(|&(block, _)| block <= high / 64) {
            if block == low / 64 {
                bits &= u64::MAX << (low % 64);
            }
            if block == high / 64 {
                bits &= u64::MAX >> (63 - high % 64);
            }
            if bits != 0 {
                found[block] = bits;
                first = first.min(block);
                last = block;
            }
        }
        if first == usize::MAX {
            continue;
        }
        used = used.max(last + 1);
        let mut carry = false;
        for (bits, found) in row[first..used].iter_mut().zip(&mut found[first..used]) {
            let (sum, over) = bits.overflowing_add(*bits & *found);
            let (sum, over_again) = sum.overflowing_add(u64::from(carry));
            carry = over || over_again;
            *bits = sum | *bits & !*found;
            *found = 0;
        }
    }
    let length: u32 = row.iter().map(|bits| bits.count_zeros()).sum();
    length as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn textbook(left: &[u64], right: &[u64]) -> usize {
        let mut row = vec![0; right.len() + 1];
        for a in left {
            let mut corner = 0;
            for (at, b) in right.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if a == b { corner + 1 } else { above.max(row[at]) };
                corner = above;
            }
        }
        row[right.len()]
    }

    proptest! {
        #[test]
        fn equals_the_textbook(
            left in prop::collection::vec(0u64..6, 0..200),
            right in prop::collection::vec(0u64..6, 0..200),
            many in prop::collection::vec(0u64..90, 0..200),
        ) {
            prop_assert_eq!(common_words(&left, &right), textbook(&left, &right));
            prop_assert_eq!(common_words(&left, &many), textbook(&left, &many));
            prop_assert_eq!(common_words(&many, &right), textbook(&many, &right));
            let mut moved = many.clone();
            moved.rotate_left(many.len() / 3);
            prop_assert_eq!(common_words(&many, &moved), textbook(&many, &moved));
        }
    }

    #[test]
    fn long_texts_take_linear_time() {
        let left: Vec<u64> = (0..200_000).map(|at| at * at % 911).collect();
        let mut right = left.clone();
        (0..right.len()).step_by(50).for_each(|at| right[at] = u64::MAX);
        let common = common_words(&left, &right);
        assert!((196_000..=197_000).contains(&common), "{common}");
        // A word repeated has many partners within the band.
        let of_one = |ends: u64| [vec![ends], vec![7; 1_000_000], vec![ends + 1]].concat();
        assert_eq!(common_words(&of_one(1), &of_one(3)), 1_000_000);
    }

    #[test]
    fn words_further_apart_than_the_band_are_not_matched() {
        for (apart, common) in [(BAND, 1), (BAND + 1, 0)] {
            for before in [0, 1, 63, 64, 100] {
                let left: Vec<u64> = (0..before).chain([5000]).chain(6000..6070).collect();
                let right: Vec<u64> =
                    (10_000..10_000 + before + apart as u64).chain([5000]).chain(9000..9070).collect();
                assert_eq!(common_words(&left, &right), common, "{before} {apart}");
                assert_eq!(common_words(&right, &left), common, "{before} {apart}");
            }
        }
    }
}
