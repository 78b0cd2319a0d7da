//! Similarity and recall → which registers have to agree.
//!
//! A table is a set of registers; it finds a pair that agrees in all of them (see `rounds`). The plan follows from
//! similarity and recall alone, never from the rows or the machine: the same question always gives the same pairs.

use super::sketch::{REGISTERS, Sketch, digest};
use crate::Error;
use crate::rounds::{self, Rounds};

/// The chance that a register of two texts of this cosine agrees: that of the worst of ten kinds of edits on eleven
/// kinds of texts (benchmarks/threshold_recall.py --agreement). From .8 to .95 that is a third of the text repeated
/// three to sixty times: the more a run is repeated, the more of the other text's registers it takes. Between two
/// points it is taken as linear in the root of 1 - cosine, which is nearly the angle.
const AGREEMENT: [(f64, f64); 9] = [
    (0.0, 0.0),
    (0.5, 0.20),
    (0.7, 0.40),
    (0.8, 0.505),
    (0.85, 0.565),
    (0.9, 0.64),
    (0.95, 0.745),
    (0.99, 0.91),
    (1.0, 1.0),
];
/// The part of the allowed loss that may come from the minimum number of equal registers. A larger part takes a few
/// tables more and rejects candidates that would have to be compared, but also pairs of the hardest edits.
const LOST_BY_COUNT: f64 = 0.3;
/// Registers of a key at most.
const MOST_KEY: usize = 4;
/// Nanoseconds a row costs in a table, beside comparisons; and comparisons with strangers, for each size of a key.
/// Fixed, and measured once on three million texts, so that a plan depends on nothing but the question.
const TABLE_COST: f64 = 70.0;
const STRANGERS: [f64; MOST_KEY] = [9000.0, 210.0, 6.0, 1.0];
/// More tables than this take longer than to compare all with all.
const MOST_TABLES: usize = 1 << 11;

/// The tables that find pairs of a similarity.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The cosine a pair must reach.
    pub similarity: f64,
    /// The requested share of pairs at exactly that similarity to find.
    pub recall: f64,
    /// The registers of each table; none if all pairs are compared.
    pub tables: Vec<Vec<u8>>,
    /// Registers that have to agree in total.
    pub least: u32,
    /// The probability that a pair is found, by its number of equal registers.
    found: Vec<f64>,
}

impl Plan {
    /// Chooses the cheapest tables that reach the recall. A recall of 1 compares all pairs.
    pub fn new(similarity: f64, recall: f64) -> Result<Plan, Error> {
        for (name, value) in [("similarity", similarity), ("recall", recall)] {
            if !(value > 0.0 && value <= 1.0) {
                return Err(Error::new(format!("{name} is {value}; it must be above 0 and at most 1")));
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
        let rounds = Rounds::new(REGISTERS, key, REGISTERS);
        let chance = |same: usize| if same < least { 0.0 } else { 1.0 - rounds.miss(number, REGISTERS - same) };
        let found = (0..=REGISTERS).map(chance).collect();
        Ok(Plan { tables: tables(key, number), least: least as u32, found, ..every })
    }

    /// Returns the number of registers of a key; 0 if all pairs are compared.
    pub fn key(&self) -> usize {
        self.tables.first().map_or(0, Vec::len)
    }

    /// Returns the probability that a pair with this many equal registers is found. Its inverse estimates how many such
    /// pairs one found pair stands for.
    pub fn chance(&self, same: u32) -> f64 {
        self.found[(same as usize).min(REGISTERS)]
    }

    /// Returns whether two texts with a signal are candidates or have the same features. This is the definition; the
    /// join and look-ups give the same.
    pub fn is_candidate(&self, left: &Sketch, right: &Sketch) -> bool {
        let agree = |table: &Vec<u8>| table.iter().all(|&at| left[usize::from(at)] == right[usize::from(at)]);
        let same = (0..REGISTERS).filter(|&at| left[at] == right[at]).count();
        digest(left) == digest(right) && digest(left) != 0
            || self.tables.is_empty()
            || same as u32 >= self.least && self.tables.iter().any(agree)
    }
}

/// Returns the probability that a register agrees at this cosine.
fn agreement(cosine: f64) -> f64 {
    let after = AGREEMENT.iter().position(|&(at, _)| at >= cosine).unwrap_or(AGREEMENT.len() - 1).max(1);
    let ((low, from), (high, to)) = (AGREEMENT[after - 1], AGREEMENT[after]);
    let angle = |cosine: f64| (1.0 - cosine).sqrt();
    from + (to - from) * (angle(low) - angle(cosine)) / (angle(low) - angle(high))
}

/// Returns the probability of each number of equal registers.
fn counts(agreement: f64) -> Vec<f64> {
    let power = |base: f64, times: usize| (0..times).fold(1.0, |product, _| product * base);
    let chance = |same| choose(REGISTERS, same) * power(agreement, same) * power(1.0 - agreement, REGISTERS - same);
    (0..=REGISTERS).map(chance).collect()
}

/// Returns the least number of tables that reach the recall.
fn tables_for(key: usize, counts: &[f64], least: usize, recall: f64) -> Option<usize> {
    let rounds = Rounds::new(REGISTERS, key, REGISTERS);
    rounds::least(MOST_TABLES, |tables| {
        let found = (least..=REGISTERS).map(|same| counts[same] * (1.0 - rounds.miss(tables, REGISTERS - same)));
        found.sum::<f64>() >= recall
    })
}

/// Returns the first tables of the fixed sequence for this key size.
fn tables(key: usize, number: usize) -> Vec<Vec<u8>> {
    let registers: Vec<u8> = (0..REGISTERS as u8).collect();
    rounds::tables(&registers, key, number, key as u64)
}

/// Returns a binomial coefficient; exact, since it stays below 2^53.
fn choose(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |product, at| product * (n - at) as f64 / (at + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::Random;

    #[test]
    fn the_default_question() {
        let plan = Plan::new(0.85, 0.99).unwrap();
        assert_eq!((plan.key(), plan.tables.len(), plan.least), (3, 31, 18), "{plan:?}");
        assert_eq!(plan.tables[0], tables(3, 1)[0]);
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
        let mut random = Random(7);
        for (similarity, recall) in [(0.85, 0.99), (0.85, 0.9), (0.7, 0.99), (0.95, 0.999), (0.9, 0.95)] {
            let plan = Plan::new(similarity, recall).unwrap();
            let rounds = 20_000;
            for same in [6usize, 14, 21, 30] {
                let mut hits = 0;
                for _ in 0..rounds {
                    let left: Sketch = std::array::from_fn(|at| at as u8);
                    let mut right: Sketch = std::array::from_fn(|at| at as u8 + 100);
                    let mut order: Vec<usize> = (0..REGISTERS).collect();
                    random.shuffle(&mut order);
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
