//! What is asked for → which registers have to agree.
//!
//! A table is a set of registers; it finds a pair that agrees in all of them. Tables come in rounds, each of which cuts
//! a random order of the registers into blocks. Everything here follows from the question alone, never from the rows
//! or the machine: whoever asks the same gets the same pairs.

use super::sketch::{REGISTERS, Sketch, digest};
use crate::Error;

/// The chance that a register of two texts of this cosine agrees, somewhat below that of the worst of nine kinds of edits
/// on eleven kinds of texts (benchmarks/recall.py --agreement). Between two points it is taken as linear in the root of
/// 1 - cosine, which is nearly the angle.
const AGREEMENT: [(f64, f64); 9] = [
    (0.0, 0.0),
    (0.5, 0.20),
    (0.7, 0.40),
    (0.8, 0.54),
    (0.85, 0.60),
    (0.9, 0.66),
    (0.95, 0.78),
    (0.99, 0.93),
    (1.0, 1.0),
];
/// Of the share of pairs that may be lost, what may be lost by the number of registers that agree.
const LOST_BY_COUNT: f64 = 0.1;
/// Keys are of at most so many registers.
const MOST_KEY: usize = 4;
/// Nanoseconds a row costs in a table, beside comparisons; and comparisons with strangers, for each size of a key.
/// Fixed, and measured once on three million texts, so that a plan depends on nothing but the question.
const TABLE_COST: f64 = 70.0;
const STRANGERS: [f64; MOST_KEY] = [9000.0, 210.0, 6.0, 1.0];
/// More tables than this take longer than to compare all with all.
const MOST_TABLES: usize = 1 << 11;

/// How pairs of a similarity are found.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The cosine a pair must reach.
    pub similarity: f64,
    /// The share of pairs of just that similarity to be found, as it was asked for.
    pub recall: f64,
    /// The registers of each table; none if all pairs are compared.
    pub tables: Vec<Vec<u8>>,
    /// Registers that have to agree, in all.
    pub least: u32,
    /// The chance of being found by the number of registers that agree.
    found: Vec<f64>,
}

impl Plan {
    /// A recall of 1 compares all pairs.
    pub fn new(similarity: f64, recall: f64) -> Result<Plan, Error> {
        for (name, value) in [("similarity", similarity), ("recall", recall)] {
            if !(value > 0.0 && value <= 1.0) {
                return Err(Error(format!("{name} is {value}; it must be above 0 and at most 1")));
            }
        }
        let every = Plan { similarity, recall, tables: Vec::new(), least: 0, found: vec![1.0; REGISTERS + 1] };
        if recall >= 1.0 {
            return Ok(every);
        }
        let counts = counts(agreement(similarity));
        let mut lost = 0.0;
        let mut least = 0;
        while lost + counts[least] <= (1.0 - recall) * LOST_BY_COUNT {
            lost += counts[least];
            least += 1;
        }
        let cost = |key: usize, tables: usize| tables as f64 * (TABLE_COST + STRANGERS[key - 1]);
        let best = (1..=MOST_KEY)
            .filter_map(|key| tables_for(key, &counts, least, recall).map(|tables| (key, tables)))
            .min_by(|a, b| cost(a.0, a.1).total_cmp(&cost(b.0, b.1)));
        let Some((key, number)) = best else { return Ok(every) };
        let rounds = Rounds::new(key);
        let chance = |same: usize| if same < least { 0.0 } else { 1.0 - rounds.miss(number, same) };
        let found = (0..=REGISTERS).map(chance).collect();
        Ok(Plan { tables: tables(key, number), least: least as u32, found, ..every })
    }

    /// Registers of a key; 0 if all pairs are compared.
    pub fn key(&self) -> usize {
        self.tables.first().map_or(0, Vec::len)
    }

    /// The chance that a pair with so many registers that agree is found: what each pair found stands for is its
    /// inverse.
    pub fn chance(&self, same: u32) -> f64 {
        self.found[(same as usize).min(REGISTERS)]
    }

    /// Whether two texts that have a signal are twins, or worth a look. The definition; the join and look-ups give the same.
    pub fn is_candidate(&self, left: &Sketch, right: &Sketch) -> bool {
        let agree = |table: &Vec<u8>| table.iter().all(|&at| left[usize::from(at)] == right[usize::from(at)]);
        let same = (0..REGISTERS).filter(|&at| left[at] == right[at]).count();
        digest(left) == digest(right) && digest(left) != 0
            || self.tables.is_empty()
            || same as u32 >= self.least && self.tables.iter().any(agree)
    }
}

/// The chance that a register agrees at this cosine.
fn agreement(cosine: f64) -> f64 {
    let after = AGREEMENT.iter().position(|&(at, _)| at >= cosine).unwrap_or(AGREEMENT.len() - 1).max(1);
    let ((low, from), (high, to)) = (AGREEMENT[after - 1], AGREEMENT[after]);
    let angle = |cosine: f64| (1.0 - cosine).sqrt();
    from + (to - from) * (angle(low) - angle(cosine)) / (angle(low) - angle(high))
}

/// The chance of each number of registers that agree.
fn counts(agreement: f64) -> Vec<f64> {
    let power = |base: f64, times: usize| (0..times).fold(1.0, |product, _| product * base);
    let chance = |same| choose(REGISTERS, same) * power(agreement, same) * power(1.0 - agreement, REGISTERS - same);
    (0..=REGISTERS).map(chance).collect()
}

/// The least number of tables that reach the recall.
fn tables_for(key: usize, counts: &[f64], least: usize, recall: f64) -> Option<usize> {
    let rounds = Rounds::new(key);
    let reached = |tables: usize| {
        let found = (least..=REGISTERS).map(|same| counts[same] * (1.0 - rounds.miss(tables, same)));
        found.sum::<f64>() >= recall
    };
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

/// The first tables of the one sequence there is for this size of a key.
fn tables(key: usize, number: usize) -> Vec<Vec<u8>> {
    let mut order: Vec<u8> = (0..REGISTERS as u8).collect();
    let mut state = key as u64;
    let mut tables = Vec::with_capacity(number);
    while tables.len() < number {
        for at in (1..order.len()).rev() {
            order.swap(at, (splitmix(&mut state) % (at as u64 + 1)) as usize);
        }
        tables.extend(order.chunks_exact(key).take(number - tables.len()).map(<[u8]>::to_vec));
    }
    tables
}

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// What rounds of disjoint blocks miss.
struct Rounds {
    /// The chance that the first so many blocks of a round all miss, for each number of registers that agree.
    missed: Vec<Vec<f64>>,
}

impl Rounds {
    fn new(key: usize) -> Self {
        let blocks = REGISTERS / key;
        let mut missed = vec![vec![1.0; REGISTERS + 1]; blocks + 1];
        for same in 0..=REGISTERS {
            // The chance that no block so far agrees, by the agreeing registers not used up by them.
            let mut left = vec![0.0; same + 1];
            left[same] = 1.0;
            for block in 0..blocks {
                let among = REGISTERS - block * key;
                let mut after = vec![0.0; same + 1];
                for (have, &chance) in left.iter().enumerate().filter(|(_, chance)| **chance > 0.0) {
                    for here in 0..key.min(have + 1) {
                        if have - here <= among - key {
                            let ways = choose(key, here) * choose(among - key, have - here) / choose(among, have);
                            after[have - here] += chance * ways;
                        }
                    }
                }
                left = after;
                missed[block + 1][same] = left.iter().sum();
            }
        }
        Rounds { missed }
    }

    /// The chance that a pair with so many agreeing registers is in none of the tables.
    fn miss(&self, tables: usize, same: usize) -> f64 {
        let blocks = self.missed.len() - 1;
        let full = (0..tables / blocks).fold(1.0, |miss, _| miss * self.missed[blocks][same]);
        full * self.missed[tables % blocks][same]
    }
}

/// A binomial coefficient; exact, since it stays below 2^53.
fn choose(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |product, at| product * (n - at) as f64 / (at + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_question() {
        let plan = Plan::new(0.85, 0.99).unwrap();
        assert_eq!((plan.key(), plan.tables.len(), plan.least), (3, 22, 18), "{plan:?}");
        assert_eq!(plan.tables[0], tables(3, 1)[0]);
    }

    #[test]
    fn tables_are_a_prefix_of_one_sequence() {
        for key in 1..=MOST_KEY {
            let many = tables(key, 50);
            assert_eq!(many[..17], tables(key, 17));
            let round = REGISTERS / key;
            for round in many.chunks(round) {
                let mut used: Vec<u8> = round.iter().flatten().copied().collect();
                used.sort_unstable();
                assert!(used.windows(2).all(|pair| pair[0] < pair[1]), "blocks of a round are disjoint");
            }
        }
    }

    #[test]
    fn more_is_found_the_more_is_asked_for() {
        for similarity in [0.6, 0.7, 0.85, 0.95, 0.99, 1.0] {
            let mut before = 0;
            for recall in [0.5, 0.9, 0.99, 0.999] {
                let plan = Plan::new(similarity, recall).unwrap();
                let work = plan.tables.len();
                assert!(work > 0 && work >= before, "{similarity} {recall}: {work}");
                if plan.key() == Plan::new(similarity, 0.999).unwrap().key() {
                    before = work;
                }
            }
        }
        assert!(Plan::new(0.85, 1.0).unwrap().tables.is_empty());
    }

    /// Draws registers at random, round after round that may not be full, and looks them up.
    #[test]
    fn computed_chances_are_those_of_random_pairs() {
        let mut state = 7;
        for (similarity, recall) in [(0.85, 0.99), (0.85, 0.9), (0.7, 0.99), (0.95, 0.999), (0.9, 0.95)] {
            let plan = Plan::new(similarity, recall).unwrap();
            let rounds = 20_000;
            for same in [6usize, 14, 21, 30] {
                let mut hits = 0;
                for _ in 0..rounds {
                    let left: Sketch = std::array::from_fn(|at| at as u8);
                    let mut right: Sketch = std::array::from_fn(|at| at as u8 + 100);
                    let mut order: Vec<usize> = (0..REGISTERS).collect();
                    for at in (1..REGISTERS).rev() {
                        order.swap(at, (splitmix(&mut state) % (at as u64 + 1)) as usize);
                    }
                    order[..same].iter().for_each(|&at| right[at] = left[at]);
                    hits += usize::from(plan.is_candidate(&left, &right));
                }
                let (found, expected) = (hits as f64 / f64::from(rounds), plan.chance(same as u32));
                // Tables are fixed, and pairs are random: rounds are independent only on average over all of them.
                assert!((found - expected).abs() < 0.03, "{similarity} {recall} {same}: {found} {expected}");
            }
        }
    }

    #[test]
    fn wrong_questions_are_named() {
        for (similarity, recall, expected) in
            [(0.0, 0.9, "similarity is 0"), (0.9, 1.5, "recall is 1.5"), (f64::NAN, 0.9, "similarity is NaN")]
        {
            let error = Plan::new(similarity, recall).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
