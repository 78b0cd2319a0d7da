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

fn between(left: &[u64], right: &[u64]) -> usize {
    if left.is_empty() || right.is_empty() {
        return 0;
    }
    let mut places: KeyMap<Vec<u32>> = KeyMap::with_capacity_and_hasher(left.len(), Default::default());
    for (at, &word) in left.iter().enumerate() {
        places.entry(word).or_default().push(at as u32);
    }
    let blocks = left.len().div_ceil(64);
    let mut row = vec![u64::MAX; blocks];
    let mut found = vec![0u64; blocks];
    // Blocks from here on are all ones, and stay so whatever is carried into them.
    let mut used = 0;
    for (at, word) in right.iter().enumerate() {
        let Some(all) = places.get(word) else { continue };
        let near = all.partition_point(|&place| (place as usize) + BAND < at);
        let near = all[near..].iter().map(|&place| place as usize).take_while(|&place| place <= at + BAND);
        let (mut first, mut last) = (usize::MAX, 0);
        for place in near {
            found[place / 64] |= 1 << (place % 64);
            first = first.min(place / 64);
            last = place / 64;
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
    }
}
