//! Rounds of tables: which places to sort by, how often, and what share of pairs that misses.
//!
//! A table finds a pair that agrees in all the places of its key: bits of a fingerprint, registers of a sketch. Tables
//! come in rounds, each of which cuts a random order of the places into blocks, one a table (bit sampling; Indyk and
//! Motwani, "Approximate nearest neighbors", 1998, with the tables of a round disjoint). What a round misses is known
//! exactly for every number of places that differ, and rounds are independent. Only sums, products and quotients are
//! used, so that the same is computed on every machine.

use crate::hash::GOLDEN;

/// Returns the first `number` tables of the sequence that places, key size and seed determine.
pub(crate) fn tables<T: Copy>(places: &[T], key: usize, number: usize, seed: u64) -> Vec<Vec<T>> {
    let mut random = Random(seed);
    let mut order = places.to_vec();
    let mut tables = Vec::with_capacity(number);
    while tables.len() < number {
        random.shuffle(&mut order);
        tables.extend(order.chunks_exact(key).take(number - tables.len()).map(<[T]>::to_vec));
    }
    tables
}

/// Returns the least number of tables for which `reached` holds, up to about `most`; `reached` must be monotone.
pub(crate) fn least(most: usize, reached: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (0, 1);
    while !reached(high) {
        (low, high) = (high, high * 2);
        if high > most {
            return None;
        }
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        if reached(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// The share of pairs that rounds of disjoint blocks miss.
pub(crate) struct Rounds {
    /// The probability that the first n blocks of a round all miss, for each n and each number of places that differ.
    missed: Vec<Vec<f64>>,
}

impl Rounds {
    /// Computes the shares for pairs that differ in at most `most` places.
    pub(crate) fn new(places: usize, key: usize, most: usize) -> Self {
        let blocks = places / key;
        let choose = binomials(places);
        let mut missed = vec![vec![1.0; most + 1]; blocks + 1];
        for differing in 0..=most {
            // The probability that every block so far differs, by the number of differing places outside them.
            let mut left = vec![0.0; differing + 1];
            left[differing] = 1.0;
            for block in 0..blocks {
                let among = places - block * key;
                let mut after = vec![0.0; differing + 1];
                for (have, &chance) in left.iter().enumerate().filter(|(_, chance)| **chance > 0.0) {
                    for here in 1..=key.min(have) {
                        if have - here <= among - key {
                            let ways = choose[key][here] * choose[among - key][have - here] / choose[among][have];
                            after[have - here] += chance * ways;
                        }
                    }
                }
                left = after;
                missed[block + 1][differing] = left.iter().sum::<f64>().min(1.0);
            }
        }
        Rounds { missed }
    }

    /// Returns the probability that none of the tables finds a pair that differs in this many places.
    pub(crate) fn miss(&self, tables: usize, differing: usize) -> f64 {
        let blocks = self.missed.len() - 1;
        let full = (0..tables / blocks).fold(1.0, |miss, _| miss * self.missed[blocks][differing]);
        full * self.missed[tables % blocks][differing]
    }
}

/// Returns the binomial coefficients up to this row; exact below 2^53, and far from overflow for fingerprints.
fn binomials(most: usize) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![1.0]];
    for n in 1..=most {
        let before: &Vec<f64> = &rows[n - 1];
        let mut row = vec![1.0; n + 1];
        (1..n).for_each(|k| row[k] = before[k - 1] + before[k]);
        rows.push(row);
    }
    rows
}

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014), so that tables never
/// change.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, (self.next() % (at as u64 + 1)) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds by inclusion and exclusion, with no chance of overflow at this size.
    #[test]
    fn a_round_misses_what_counting_says() {
        fn binomial(n: i64, k: i64) -> f64 {
            (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
        }
        for (places, key, d) in [(16usize, 4usize, 3usize), (20, 3, 9), (24, 8, 5), (13, 4, 13), (9, 9, 1)] {
            let m = (places / key) as i64;
            let exact: f64 = (0..=m)
                .map(|j| {
                    let sign = if j % 2 == 0 { 1.0 } else { -1.0 };
                    let rest = places as i64 - j * key as i64;
                    if rest < d as i64 { 0.0 } else { sign * binomial(m, j) * binomial(rest, d as i64) }
                })
                .sum::<f64>()
                / binomial(places as i64, d as i64);
            let got = Rounds::new(places, key, d).miss(m as usize, d);
            assert!((got - exact).abs() < 1e-9, "{places} {key} {d}: {got} {exact}");
        }
    }

    /// Tables are taken from rounds in order, so that the last round may lack some: what those find counts, what the
    /// others would find does not.
    #[test]
    fn a_round_that_is_not_full_finds_what_its_tables_find() {
        let (places, key, d) = (20usize, 3usize, 9usize);
        let rounds = Rounds::new(places, key, d);
        let blocks = places / key;
        let mut random = Random(7);
        for number in [1, 2, blocks - 1, blocks, blocks + 1, 2 * blocks - 1, 2 * blocks + 3] {
            // By trial: d random places differ, and each round cuts another random order of them.
            let trials = 40_000;
            let mut missed = 0;
            let mut order: Vec<usize> = (0..places).collect();
            for trial in 0..trials {
                random.shuffle(&mut order);
                let difference: u64 = order[..d].iter().map(|at| 1 << at).sum();
                let hit = tables(&order, key, number, trial)
                    .iter()
                    .any(|table| table.iter().all(|at| difference >> at & 1 == 0));
                missed += u32::from(!hit);
            }
            let (expected, got) = (f64::from(missed) / trials as f64, rounds.miss(number, d));
            let slack = 4.0 * (expected.max(1e-3) / trials as f64).sqrt();
            assert!((got - expected).abs() < slack, "{number} tables: computed {got}, tried {expected}");
        }
        // Never more for fewer tables.
        assert!((1..40).all(|tables| rounds.miss(tables + 1, d) < rounds.miss(tables, d)));
    }

    #[test]
    fn tables_are_a_prefix_of_one_sequence() {
        let places: Vec<u8> = (0..48).collect();
        for key in 1..=5 {
            let many = tables(&places, key, 50, key as u64);
            assert_eq!(many[..17], tables(&places, key, 17, key as u64));
            for round in many.chunks(places.len() / key) {
                let mut used: Vec<u8> = round.iter().flatten().copied().collect();
                used.sort_unstable();
                assert!(used.windows(2).all(|pair| pair[0] < pair[1]), "blocks of a round are disjoint");
            }
        }
    }

    #[test]
    fn the_least_number_is_the_first_that_does() {
        for wanted in 1..70 {
            assert_eq!(least(64, |tables| tables >= wanted), (wanted <= 64).then_some(wanted));
        }
    }

    #[test]
    fn wide_fingerprints_stay_within_numbers() {
        let rounds = Rounds::new(512, 16, 120);
        assert!((0..=120).all(|d| (0.0..=1.0).contains(&rounds.miss(300, d))));
        assert_eq!(rounds.miss(1, 0), 0.0);
    }
}
