//! Sampled tables that find most pairs: which bits to sort by, how many tables, and the share they find.
//!
//! Tables come in rounds (see `rounds`), which are independent. But a pair has the same distance in all of them, so the
//! recall is an average over distances, not the value at their average.

use super::model::{Model, compare_cost};
use super::{Code, masks};
use crate::rounds::{self, Random, Rounds};

/// Keys are not wider than this.
const MOST_KEY_BITS: u32 = 26;
const LEAST_KEY_BITS: u32 = 4;
/// More tables than this cost more than they find.
const MOST_TABLES: usize = 1 << 12;
/// Codes sampled to measure the sizes of buckets.
const SAMPLE: usize = 1 << 15;
/// Orders of the bits tried on the sample.
const ORDERS: usize = 8;
/// The seed of the order of the bits.
const SEED: u64 = 1;
/// The normal deviate of 99 in 100: the share of pairs of the wanted similarity within the radius.
const WITHIN: f64 = 2.326;

/// Sampled tables and what they are expected to do.
pub(super) struct Sampled<const W: usize> {
    pub(super) keys: Vec<Code<W>>,
    pub(super) recall: f64,
    pub(super) recall_at_radius: f64,
    /// Nanoseconds for each code.
    pub(super) cost: f64,
}

/// Returns the cheapest tables that reach `recall`; `None` when none do within reason.
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
    let rounds = Rounds::new(bits as usize, key_bits as usize, radius as usize);
    let blocks = rounds::tables(&order, key_bits as usize, tables, SEED);
    Some(Sampled {
        keys: blocks.into_iter().map(masks::of_positions).collect(),
        recall: distances.recall(&rounds, tables),
        recall_at_radius: 1.0 - rounds.miss(tables, radius as usize),
        cost,
    })
}

/// Returns the comparisons for each code in one table, for each number of key bits, measured: real codes fill buckets
/// unevenly.
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

/// The distribution of distances of the wanted pairs: each bit differs with the same probability.
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

    /// Returns the least number of tables that reach the recall.
    fn tables(&self, key_bits: u32, recall: f64) -> Option<usize> {
        let rounds = Rounds::new(self.bits as usize, key_bits as usize, self.radius as usize);
        rounds::least(MOST_TABLES, |tables| self.recall(&rounds, tables) >= recall)
    }
}

/// Returns the probability of a differing bit for pairs of which 99 in 100 lie within the radius.
pub(crate) fn usual_flip(bits: u32, radius: u32) -> f64 {
    let (bits, radius) = (f64::from(bits), f64::from(radius));
    let (mut low, mut high) = (0.0, radius / bits);
    for _ in 0..60 {
        let q = (low + high) / 2.0;
        if bits * q + WITHIN * (bits * q * (1.0 - q)).sqrt() < radius { low = q } else { high = q }
    }
    low
}

/// Returns the logarithms of the factorials up to `most`.
fn factorials(most: u32) -> Vec<f64> {
    let mut logs = vec![0.0];
    for n in 1..=most {
        logs.push(logs[n as usize - 1] + f64::from(n).ln());
    }
    logs
}

/// Returns the logarithm of a binomial coefficient.
fn choose(factorials: &[f64], n: u32, k: u32) -> f64 {
    factorials[n as usize] - factorials[k as usize] - factorials[(n - k) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_fewer_tables_would_do() {
        let distances = Distances::new(64, 6, None);
        let mut several = 0;
        for key_bits in [4, 8, 12, 16] {
            let rounds = Rounds::new(64, key_bits as usize, 6);
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
