//! Joins for engines that shuffle rows by key: the keys of rows, and the pairs of rows that share a bucket.
//!
//! A key names its table and the bytes a row has there, so the rows of one key are the bucket of one table. A call
//! takes the rows of many buckets, in any order, and reports each pair only in the first table that holds it, so no set
//! of pairs is kept and it does not matter which buckets are here. Whether two rows are a pair follows from the two
//! alone, as in `join`. A bucket of c rows costs c² / 2 comparisons; a caller splits larger buckets into blocks and
//! passes each block, and each two blocks as two sides.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rayon::prelude::*;

use super::agree::Registers;
use super::join::{agree, bucket_candidates};
use super::plan::Plan;
use crate::hash::GOLDEN;

/// Bits of a key below the number of its table.
const BELOW: u32 = 32;
/// Buckets of shorter blocks would hold nearly all rows: all rows are compared with all instead.
const LEAST_BLOCK: usize = 10;

/// A row in a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Table and bytes.
    pub key: u64,
    /// The part of a bucket that was split.
    pub part: u32,
    /// 0 and 1: only rows of different sides are compared. 2: all are.
    pub side: u8,
    /// The number of the row, which gives the order.
    pub row: i64,
}

/// Pairs found in buckets, by the numbers of places.
#[derive(Debug, Default)]
pub struct Fallen {
    /// Candidates or pairs: the later row, then the earlier.
    pub pairs: Vec<(u32, u32)>,
    /// The bits in which they differ, where fingerprints were compared.
    pub distances: Vec<u16>,
    /// All places of dense buckets, whose pairs are not listed (see `inverted`).
    pub dense: Vec<u32>,
}

impl Plan {
    /// Returns the keys of a row, one a table; a single one if all pairs are compared.
    pub fn keys<'a>(&'a self, registers: &'a Registers) -> impl Iterator<Item = u64> + 'a {
        let of = |(number, table): (u64, &Vec<u8>)| {
            table.iter().fold(0, |bytes, &at| bytes << 8 | u64::from(registers[usize::from(at)])) | number << BELOW
        };
        (0..).zip(&self.tables).map(of).chain(self.tables.is_empty().then_some(0))
    }

    /// Returns the first table that holds two rows; None if there is no such table.
    pub fn first_table(&self, left: &Registers, right: &Registers) -> Option<usize> {
        self.tables.iter().position(|table| agree(table, left, right))
    }

    /// Returns the candidates among the rows of buckets. A bucket of more than a few rows in which nearly all agree is
    /// reported as dense, by its places.
    pub fn fallen(&self, places: &[Place], registers: &[Registers], stop: &AtomicBool) -> Fallen {
        each_bucket(places, stop, |bucket, split, found| {
            let rows: Vec<Registers> = bucket.iter().map(|&at| registers[at as usize]).collect();
            let table = (places[bucket[0] as usize].key >> BELOW) as usize;
            let is_first =
                |left: &Registers, right: &Registers| self.first_table(left, right).is_none_or(|first| first == table);
            let pair = |one: usize, two: usize| ordered(places, bucket[one], bucket[two]);
            if bucket_candidates(&rows, split, self.least, stop, is_first, pair, &mut found.pairs) {
                found.dense.extend_from_slice(bucket);
            }
        })
    }
}

/// Blocks of the bits of fingerprints: two fingerprints that differ in fewer bits than there are blocks agree in one
/// block (the pigeonhole principle; Manku, Jain, Das Sarma, 2007). A single block of no bits where blocks would be too
/// short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    radius: u32,
    /// Where each block begins, and where the last ends.
    bounds: Vec<usize>,
}

impl Blocks {
    /// Makes blocks for fingerprints of `bits` bits that may differ in `radius` bits.
    pub fn new(bits: usize, radius: u32) -> Blocks {
        let number = radius as usize + 1;
        let bounds =
            if bits / number < LEAST_BLOCK { vec![0, 0] } else { (0..=number).map(|at| at * bits / number).collect() };
        Blocks { radius, bounds }
    }

    /// Returns the number of blocks.
    pub fn number(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Returns the keys of a fingerprint, one a block.
    pub fn keys<'a>(&'a self, code: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
        (0..self.number()).map(|at| self.key(code, at))
    }

    fn key(&self, code: &[u64], block: usize) -> u64 {
        let (start, end) = (self.bounds[block], self.bounds[block + 1]);
        // Up to 64 bits at a time, none across words.
        let mut bytes = 0;
        let mut at = start;
        while at < end {
            let (word, shift) = (at / 64, at % 64);
            let taken = (64 - shift).min(end - at);
            let part = code[word] >> shift & (u64::MAX >> (64 - taken));
            bytes = (bytes ^ part).wrapping_mul(GOLDEN).rotate_left(29);
            at += taken;
        }
        bytes >> BELOW | (block as u64) << BELOW
    }

    /// Returns the pairs within the radius among the fingerprints (`words` words each) of buckets. With `forest`, only
    /// as many pairs of a bucket as connect what its pairs connect.
    pub fn fallen(&self, places: &[Place], codes: &[u64], words: usize, forest: bool, stop: &AtomicBool) -> Fallen {
        let code = |at: u32| &codes[at as usize * words..][..words];
        each_bucket(places, stop, |bucket, split, found| {
            let block = (places[bucket[0] as usize].key >> BELOW) as usize;
            let mut roots: Vec<u32> = (0..bucket.len() as u32).collect();
            let split = split.unwrap_or(0);
            for (two, &right) in bucket.iter().enumerate().skip(split.max(1)) {
                if stop.load(Relaxed) {
                    return;
                }
                for (one, &left) in bucket[..if split > 0 { split } else { two }].iter().enumerate() {
                    let distance: u32 = code(left).iter().zip(code(right)).map(|(a, b)| (a ^ b).count_ones()).sum();
                    if distance > self.radius {
                        continue;
                    }
                    let told = if forest {
                        !joined(&mut roots, one as u32, two as u32)
                    } else {
                        (0..block).all(|before| self.key(code(left), before) != self.key(code(right), before))
                    };
                    if told {
                        found.pairs.push(ordered(places, left, right));
                        found.distances.push(distance as u16);
                    }
                }
            }
        })
    }
}

/// Joins two trees; returns whether they were joined already.
fn joined(roots: &mut [u32], one: u32, two: u32) -> bool {
    let mut root = |mut at: u32| {
        while roots[at as usize] != at {
            roots[at as usize] = roots[roots[at as usize] as usize];
            at = roots[at as usize];
        }
        at
    };
    let (left, right) = (root(one), root(two));
    roots[left.max(right) as usize] = left.min(right);
    left == right
}

/// Returns two places, the one with the later row first.
fn ordered(places: &[Place], one: u32, two: u32) -> (u32, u32) {
    if places[one as usize].row > places[two as usize].row { (one, two) } else { (two, one) }
}

/// Calls `look` with the places of each bucket, on the threads of the current rayon pool: sorted by side, then by row;
/// and with the start of the second side, if there are two.
fn each_bucket(
    places: &[Place],
    stop: &AtomicBool,
    look: impl Fn(&[u32], Option<usize>, &mut Fallen) + Sync,
) -> Fallen {
    let mut sorted: Vec<u32> = (0..places.len() as u32).collect();
    sorted.par_sort_unstable_by_key(|&at| places[at as usize]);
    let bucket_of = |at: u32| (places[at as usize].key, places[at as usize].part);
    let buckets: Vec<&[u32]> =
        sorted.chunk_by(|&a, &b| bucket_of(a) == bucket_of(b)).filter(|bucket| bucket.len() > 1).collect();
    let parts: Vec<Fallen> = buckets
        .par_iter()
        .fold(Fallen::default, |mut found, bucket| {
            let side = |at: u32| places[at as usize].side;
            let split = bucket.partition_point(|&at| side(at) == 0);
            let all = side(bucket[0]) >= 2;
            if !stop.load(Relaxed) && (all || split > 0 && split < bucket.len()) {
                look(bucket, (!all).then_some(split), &mut found);
            }
            found
        })
        .collect();
    parts.into_iter().fold(Fallen::default(), |mut all, part| {
        all.pairs.extend(part.pairs);
        all.distances.extend(part.distances);
        all.dense.extend(part.dense);
        all
    })
}

#[cfg(test)]
mod tests {
    use super::super::sketch::REGISTERS;
    use super::*;
    use crate::near::agree::same_count;
    use crate::near::{SKETCH_BYTES, Sketch};
    use proptest::prelude::*;

    /// Places every row under each of its keys; splits buckets of more than `most` rows into blocks; shuffles.
    fn fall(keys: &[Vec<u64>], numbers: &[i64], most: usize, seed: u64) -> (Vec<Place>, Vec<usize>) {
        let mut sizes = std::collections::HashMap::new();
        keys.iter().flatten().for_each(|&key| *sizes.entry(key).or_insert(0usize) += 1);
        let mut fallen = Vec::new();
        for (at, keys) in keys.iter().enumerate() {
            for &key in keys {
                let blocks = sizes[&key].div_ceil(most) as u32;
                let own = at as u32 % blocks;
                for other in 0..blocks {
                    let (part, side) = (own.min(other) * blocks + own.max(other), u8::from(own > other));
                    let side = if own == other { 2 } else { side };
                    fallen.push((Place { key, part, side, row: numbers[at] }, at));
                }
            }
        }
        let mut random = crate::rounds::Random(seed);
        random.shuffle(&mut fallen);
        fallen.into_iter().unzip()
    }

    fn told(found: &Fallen, places: &[Place]) -> Vec<(i64, i64)> {
        let row = |at: u32| places[at as usize].row;
        let mut pairs: Vec<(i64, i64)> =
            found.pairs.iter().map(|&(later, earlier)| (row(later), row(earlier))).collect();
        pairs.sort_unstable();
        pairs
    }

    proptest! {
        #[test]
        fn candidates_are_those_of_the_definition(
            rows in prop::collection::vec(prop::array::uniform(0u8..4), 0..120),
            similarity in prop_oneof![Just(0.6), Just(0.85), Just(0.95)],
            recall in prop_oneof![Just(0.9), Just(0.99), Just(1.0)],
            most in prop_oneof![Just(1000), 1usize..40],
            seed in any::<u64>(),
        ) {
            let plan = Plan::new(similarity, recall).unwrap();
            let rows: Vec<Registers> = rows;
            // Numbers that are not those of places, and leave some out.
            let numbers: Vec<i64> = (0..rows.len() as i64).map(|at| (at * 7919) % 100_003).collect();
            let keys: Vec<Vec<u64>> = rows.iter().map(|row| plan.keys(row).collect()).collect();
            prop_assert!(keys.iter().all(|keys| keys.len() == plan.tables.len().max(1)));
            let (places, of) = fall(&keys, &numbers, most, seed);
            let registers: Vec<Registers> = of.iter().map(|&at| rows[at]).collect();
            let found = plan.fallen(&places, &registers, &AtomicBool::new(false));
            let mut pairs = told(&found, &places);
            let mut dense: Vec<(Place, Registers)> =
                found.dense.iter().map(|&at| (places[at as usize], registers[at as usize])).collect();
            dense.sort_unstable();
            for bucket in dense.chunk_by(|a, b| (a.0.key, a.0.part) == (b.0.key, b.0.part)) {
                for (one, left) in bucket {
                    for (two, right) in bucket {
                        let across = one.side == 2 || one.side != two.side;
                        let first = plan.first_table(left, right).is_none_or(|first| first == (one.key >> 32) as usize);
                        if one.row > two.row && across && first && same_count(left, right) >= plan.least {
                            pairs.push((one.row, two.row));
                        }
                    }
                }
            }
            pairs.sort_unstable();
            let sketch = |at: usize| -> Sketch {
                let mut sketch = [0; SKETCH_BYTES];
                sketch[..REGISTERS].copy_from_slice(&rows[at]);
                sketch[REGISTERS] = at as u8 + 1;
                sketch
            };
            let mut expected = Vec::new();
            for one in 0..rows.len() {
                for two in (0..rows.len()).filter(|&two| numbers[two] < numbers[one]) {
                    if plan.is_candidate(&sketch(one), &sketch(two)) {
                        expected.push((numbers[one], numbers[two]));
                    }
                }
            }
            expected.sort_unstable();
            prop_assert_eq!(pairs, expected);
        }

        #[test]
        fn pairs_within_a_radius_are_those_of_all(
            rows in prop::collection::vec((0u64..3, prop::collection::vec(0usize..128, 0..5)), 0..80),
            radius in 0u32..20,
            words in 1usize..3,
            most in prop_oneof![Just(1000), 1usize..20],
            seed in any::<u64>(),
        ) {
            let bits = 64 * words;
            let codes: Vec<Vec<u64>> = rows.iter().map(|(base, flips)| {
                let mut code: Vec<u64> = (0..words as u64).map(|word| (base * 77 + word + 1).wrapping_mul(GOLDEN)).collect();
                flips.iter().for_each(|flip| code[flip % bits / 64] ^= 1 << (flip % 64));
                code
            }).collect();
            let blocks = Blocks::new(bits, radius);
            let numbers: Vec<i64> = (0..rows.len() as i64).map(|at| (at * 7919) % 100_003).collect();
            let keys: Vec<Vec<u64>> = codes.iter().map(|code| blocks.keys(code).collect()).collect();
            let (places, of) = fall(&keys, &numbers, most, seed);
            let fallen: Vec<u64> = of.iter().flat_map(|&at| codes[at].iter().copied()).collect();
            let stop = AtomicBool::new(false);
            let found = blocks.fallen(&places, &fallen, words, false, &stop);
            let apart = |one: usize, two: usize| -> u32 {
                codes[one].iter().zip(&codes[two]).map(|(a, b)| (a ^ b).count_ones()).sum()
            };
            for (&(later, earlier), &distance) in found.pairs.iter().zip(&found.distances) {
                prop_assert_eq!(apart(of[later as usize], of[earlier as usize]), u32::from(distance));
            }
            let mut expected = Vec::new();
            for one in 0..rows.len() {
                for two in (0..rows.len()).filter(|&two| numbers[two] < numbers[one] && apart(one, two) <= radius) {
                    expected.push((numbers[one], numbers[two]));
                }
            }
            expected.sort_unstable();
            prop_assert_eq!(told(&found, &places), &expected[..]);
            // A forest connects the same.
            let forest = told(&blocks.fallen(&places, &fallen, words, true, &stop), &places);
            let roots = |pairs: &[(i64, i64)]| {
                let mut roots: Vec<u32> = (0..rows.len() as u32).collect();
                let at = |number: i64| numbers.iter().position(|&other| other == number).unwrap() as u32;
                pairs.iter().for_each(|&(one, two)| _ = joined(&mut roots, at(one), at(two)));
                (0..rows.len() as u32).for_each(|at| _ = joined(&mut roots, at, at));
                (0..rows.len()).map(|mut at| { while roots[at] as usize != at { at = roots[at] as usize; } at }).collect::<Vec<_>>()
            };
            prop_assert_eq!(roots(&forest), roots(&expected));
        }
    }
}
