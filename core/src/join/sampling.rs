//! Tables that find most pairs: which bits to sort by, how often, and what share that finds.
//!
//! A table finds a pair that agrees in all r bits it sorts by. Tables come in rounds: a round cuts a
//! random order of the bits into blocks of r, one a table (bit sampling; Indyk and Motwani,
//! "Approximate nearest neighbors", 1998, with the tables of a round disjoint). What a round misses
//! is known exactly for every distance, and rounds are independent. But the distance of one pair is
//! the same in all rounds, so the recall is an average over distances, not at their average.

use super::model::{Model, compare_cost};
use super::{Code, masks};

/// Keys are not wider than this.
const MOST_KEY_BITS: u32 = 26;
const LEAST_KEY_BITS: u32 = 4;
/// More tables than this cost more than they find.
const MOST_TABLES: usize = 1 << 12;
/// Codes looked at to see how they fall into buckets.
const SAMPLE: usize = 1 << 15;
/// Orders of the bits tried on them.
const ORDERS: usize = 8;
/// Pairs within the radius, of all of the kind it was chosen for: a normal deviate, 99 of 100.
const WITHIN: f64 = 2.326;

/// Sampled tables and what they are expected to do.
pub(super) struct Sampled<const W: usize> {
    pub(super) keys: Vec<Code<W>>,
    pub(super) recall: f64,
    pub(super) recall_at_radius: f64,
    /// Nanoseconds for each code.
    pub(super) cost: f64,
}

/// The cheapest tables that reach `recall`; `None` when none do within reason.
pub(super) fn sample<const W: usize>(
    codes: &[Code<W>],
    varying: &Code<W>,
    radius: u32,
    recall: f64,
    flip: Option<f64>,
) -> Option<Sampled<W>> {
    let bits = masks::count(varying);
    let order: Vec<u32> = masks::positions(varying).collect();
    let collisions = collisions(codes, &order);
    let distances = Distances::new(bits, radius, flip);
    let mut best: Option<(f64, u32, usize)> = None;
    for key_bits in LEAST_KEY_BITS..=MOST_KEY_BITS.min(bits) {
        let Some(tables) = distances.tables(key_bits, recall) else { continue };
        let compared = collisions[key_bits as usize] * tables as f64;
        let cost = tables as f64 * Model::table_cost(W, codes.len()) + compared * compare_cost(W, radius);
        if best.is_none_or(|best| cost < best.0) {
            best = Some((cost, key_bits, tables));
        }
    }
    let (cost, key_bits, tables) = best?;
    let rounds = Rounds::new(bits, key_bits, radius);
    Some(Sampled {
        keys: keys(&order, key_bits, tables),
        recall: distances.recall(&rounds, tables),
        recall_at_radius: 1.0 - rounds.miss(tables, radius),
        cost,
    })
}

fn keys<const W: usize>(order: &[u32], key_bits: u32, tables: usize) -> Vec<Code<W>> {
    let mut random = Random(1);
    let mut order = order.to_vec();
    let mut keys = Vec::with_capacity(tables);
    while keys.len() < tables {
        random.shuffle(&mut order);
        let blocks = order.chunks_exact(key_bits as usize).map(|block| masks::of_positions(block.iter().copied()));
        keys.extend(blocks.take(tables - keys.len()));
    }
    keys
}

/// Comparisons for each code in one table, for each number of key bits: real codes fill buckets unevenly.
fn collisions<const W: usize>(codes: &[Code<W>], order: &[u32]) -> Vec<f64> {
    let mut random = Random(2);
    let mut order = order.to_vec();
    let width = MOST_KEY_BITS.min(order.len() as u32);
    let step = codes.len().div_ceil(SAMPLE).max(1);
    let mut pairs = vec![0u64; width as usize + 1];
    let mut size = 0;
    for _ in 0..ORDERS {
        random.shuffle(&mut order);
        let key = |code: &Code<W>| {
            order[..width as usize]
                .iter()
                .fold(0u32, |key, &at| key << 1 | (code[at as usize / 64] >> (at % 64) & 1) as u32)
        };
        let mut keys: Vec<u32> = codes.iter().step_by(step).map(key).collect();
        keys.sort_unstable();
        size = keys.len();
        for (bits, pairs) in pairs.iter_mut().enumerate() {
            let shift = width - bits as u32;
            let runs = keys.chunk_by(|a, b| u64::from(*a) >> shift == u64::from(*b) >> shift);
            *pairs += runs.map(|run| run.len() as u64).map(|run| run * (run - 1) / 2).sum::<u64>();
        }
    }
    let scale = codes.len() as f64 / (size as f64 * size as f64 * ORDERS as f64).max(1.0);
    pairs.iter().map(|&pairs| pairs as f64 * scale).collect()
}

/// How far apart the pairs looked for are: each bit of theirs differs with the same chance.
struct Distances {
    bits: u32,
    radius: u32,
    /// The share of pairs at each distance up to the radius.
    shares: Vec<f64>,
}

impl Distances {
    fn new(bits: u32, radius: u32, flip: Option<f64>) -> Self {
        let flip = flip.unwrap_or_else(|| usual_flip(bits, radius)).clamp(1e-9, 1.0 - 1e-9);
        let factorials = factorials(bits);
        let mut shares: Vec<f64> = (0..=radius)
            .map(|d| {
                let log =
                    choose(&factorials, bits, d) + f64::from(d) * flip.ln() + f64::from(bits - d) * (-flip).ln_1p();
                log.exp()
            })
            .collect();
        let total: f64 = shares.iter().sum();
        if total > 0.0 {
            shares.iter_mut().for_each(|share| *share /= total);
        } else {
            shares[radius as usize] = 1.0; // all pairs of the kind lie far outside
        }
        Distances { bits, radius, shares }
    }

    fn recall(&self, rounds: &Rounds, tables: usize) -> f64 {
        let missed = self.shares.iter().zip(0..).map(|(share, d)| share * rounds.miss(tables, d));
        (1.0 - missed.sum::<f64>()).max(0.0)
    }

    /// The least number of tables that reach the recall.
    fn tables(&self, key_bits: u32, recall: f64) -> Option<usize> {
        let rounds = Rounds::new(self.bits, key_bits, self.radius);
        let reached = |tables: usize| self.recall(&rounds, tables) >= recall;
        let (mut low, mut high) = (0, 1);
        while !reached(high) {
            (low, high) = (high, high * 2);
            if high > MOST_TABLES {
                return None;
            }
        }
        while high - low > 1 {
            let middle = low.midpoint(high);
            if reached(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }
}

/// The chance that a bit differs in pairs of which 99 in 100 lie within the radius.
pub(crate) fn usual_flip(bits: u32, radius: u32) -> f64 {
    let (bits, radius) = (f64::from(bits), f64::from(radius));
    let (mut low, mut high) = (0.0, radius / bits);
    for _ in 0..60 {
        let q = (low + high) / 2.0;
        if bits * q + WITHIN * (bits * q * (1.0 - q)).sqrt() < radius { low = q } else { high = q }
    }
    low
}

/// What rounds of disjoint blocks miss.
struct Rounds {
    /// The chance that the first so many blocks of a round all miss, for each distance.
    missed: Vec<Vec<f64>>,
}

impl Rounds {
    fn new(bits: u32, key_bits: u32, radius: u32) -> Self {
        let blocks = bits / key_bits;
        let factorials = factorials(bits);
        let mut missed = vec![vec![1.0; radius as usize + 1]; blocks as usize + 1];
        for d in 0..=radius {
            // The chance that every block so far differs, by the differing bits not used up by them.
            let mut left = vec![0.0; d as usize + 1];
            left[d as usize] = 1.0;
            for block in 0..blocks {
                let among = bits - block * key_bits;
                let mut after = vec![0.0; d as usize + 1];
                for (have, &chance) in (0..).zip(&left) {
                    for here in 1..=key_bits.min(have) {
                        if chance > 0.0 && have - here <= among - key_bits {
                            let ways = choose(&factorials, key_bits, here)
                                + choose(&factorials, among - key_bits, have - here)
                                - choose(&factorials, among, have);
                            after[(have - here) as usize] += chance * ways.exp();
                        }
                    }
                }
                left = after;
                missed[block as usize + 1][d as usize] = left.iter().sum::<f64>().min(1.0);
            }
        }
        Rounds { missed }
    }

    /// The chance that a pair at this distance is in none of the tables.
    fn miss(&self, tables: usize, distance: u32) -> f64 {
        let blocks = self.missed.len() - 1;
        let (rounds, rest) = (tables / blocks, tables % blocks);
        let at = distance as usize;
        self.missed[blocks][at].powi(rounds as i32) * self.missed[rest][at]
    }
}

/// Logarithms of factorials.
fn factorials(most: u32) -> Vec<f64> {
    let mut logs = vec![0.0];
    for n in 1..=most {
        logs.push(logs[n as usize - 1] + f64::from(n).ln());
    }
    logs
}

/// The logarithm of a binomial coefficient.
fn choose(factorials: &[f64], n: u32, k: u32) -> f64 {
    factorials[n as usize] - factorials[k as usize] - factorials[(n - k) as usize]
}

/// SplitMix64: the same tables for the same codes, always.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
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
        for (bits, key_bits, d) in [(16u32, 4u32, 3u32), (20, 3, 9), (24, 8, 5), (13, 4, 13), (9, 9, 1)] {
            let m = i64::from(bits / key_bits);
            let exact: f64 = (0..=m)
                .map(|j| {
                    let sign = if j % 2 == 0 { 1.0 } else { -1.0 };
                    let rest = i64::from(bits) - j * i64::from(key_bits);
                    if rest < i64::from(d) { 0.0 } else { sign * binomial(m, j) * binomial(rest, i64::from(d)) }
                })
                .sum::<f64>()
                / binomial(i64::from(bits), i64::from(d));
            let got = Rounds::new(bits, key_bits, d).miss(m as usize, d);
            assert!((got - exact).abs() < 1e-9, "{bits} {key_bits} {d}: {got} {exact}");
        }
    }

    /// Tables are taken from rounds in order, so that the last round may lack some: what those find counts, what the
    /// others would find does not.
    #[test]
    fn a_round_that_is_not_full_finds_what_its_tables_find() {
        let (bits, key_bits, d) = (20u32, 3u32, 9u32);
        let rounds = Rounds::new(bits, key_bits, d);
        let blocks = (bits / key_bits) as usize;
        let order: Vec<u32> = (0..bits).collect();
        let mut random = Random(7);
        for tables in [1, 2, blocks - 1, blocks, blocks + 1, 2 * blocks - 1, 2 * blocks + 3] {
            assert_eq!(keys::<1>(&order, key_bits, tables).len(), tables);
            // By trial: d random bits differ, and each round cuts another random order of the bits.
            let trials = 40_000;
            let mut missed = 0;
            let mut places = order.clone();
            for _ in 0..trials {
                random.shuffle(&mut places);
                let difference: u64 = places[..d as usize].iter().map(|at| 1 << at).sum();
                let (mut hit, mut left) = (false, tables);
                while left > 0 {
                    random.shuffle(&mut places);
                    for block in places.chunks_exact(key_bits as usize).take(left) {
                        hit |= block.iter().all(|at| difference >> at & 1 == 0);
                        left -= 1;
                    }
                }
                missed += u32::from(!hit);
            }
            let (expected, got) = (f64::from(missed) / f64::from(trials), rounds.miss(tables, d));
            let slack = 4.0 * (expected.max(1e-3) / f64::from(trials)).sqrt();
            assert!((got - expected).abs() < slack, "{tables} tables: computed {got}, tried {expected}");
        }
        // Never more for fewer tables.
        assert!((1..40).all(|tables| rounds.miss(tables + 1, d) < rounds.miss(tables, d)));
    }

    #[test]
    fn no_fewer_tables_would_do() {
        let distances = Distances::new(64, 6, None);
        let mut several = 0;
        for key_bits in [4, 8, 12, 16] {
            let rounds = Rounds::new(64, key_bits, 6);
            for recall in [0.1, 0.5, 0.9, 0.99, 0.999] {
                let expected = (1..=200).find(|&tables| distances.recall(&rounds, tables) >= recall);
                let found = distances.tables(key_bits, recall);
                assert_eq!(found.filter(|&tables| tables <= 200), expected, "{key_bits} {recall}");
                several += usize::from(expected.is_some_and(|tables| tables > 2));
            }
        }
        assert!(several > 8);
        assert_eq!(Distances::new(64, 30, Some(0.45)).tables(26, 0.999), None);
    }

    #[test]
    fn the_usual_pairs_lie_within_the_radius() {
        let q = usual_flip(128, 28);
        assert!((0.140..0.150).contains(&q), "{q}");
        assert!(Distances::new(128, 28, None).shares.iter().sum::<f64>() > 0.999_999);
    }
}
