//! The cost model: comparing all pairs, or splitting into blocks first.
//!
//! Two codes that differ in at most j bits of a region agree in one of j + 1 disjoint blocks of it. In the pass over
//! block t, the earlier blocks are known to differ, each in at least one bit, so the rest of the region has at most j -
//! t differences. Taking e of those earlier blocks back in gives more bits to split and e more differences.

use std::collections::HashMap;
use std::sync::Mutex;

use super::compare::Compare;
use super::{Code, masks};

/// The widest key of a sort within the cache.
pub(super) const LOCAL_BITS: u32 = 16;
/// Earlier blocks taken back in at most.
const MOST_TAKEN_BACK: u32 = 2;

/// Estimated nanoseconds, for codes without skew.
pub(super) struct Model {
    /// All bits, the most balanced first.
    order: Vec<u32>,
    compare: f64,
    sort: f64,
    costs: Mutex<HashMap<(u32, u32, u32), f64>>,
    limits: Mutex<HashMap<(u32, u32), usize>>,
}

impl Model {
    pub(super) fn new<const W: usize>(codes: &[Code<W>], radius: u32) -> Self {
        Model {
            order: masks::by_balance(codes),
            compare: compare_cost(W, radius),
            sort: 10.0 + 2.0 * W as f64,
            costs: Mutex::default(),
            limits: Mutex::default(),
        }
    }

    /// Returns the bits of a region, the most balanced first.
    pub(super) fn positions<const W: usize>(&self, region: &Code<W>) -> impl Iterator<Item = u32> {
        self.order.iter().copied().filter(|&at| region[at as usize / 64] >> (at % 64) & 1 == 1)
    }

    /// Returns the cost of a pass for each code, without comparisons.
    pub(super) fn table_cost(words: usize, codes: usize) -> f64 {
        let near = 8.0 + 4.0 * words as f64;
        if codes > 1 << 20 { near * 1.5 } else { near }
    }

    /// Returns the bits of a key to split 2^`log` codes that differ in `allowed` of `bits` bits; 0 if that cannot pay.
    pub(super) fn key_bits(&self, log: u32, bits: u32, allowed: u32, most: u32) -> u32 {
        let key = (bits / (allowed + 1)).min(log + 1).min(most);
        if key < 2 || u64::from(allowed) + 1 >= 1 << key { 0 } else { key }
    }

    /// Returns the cost for each of 2^`log` codes.
    pub(super) fn cost(&self, log: u32, bits: u32, allowed: u32) -> f64 {
        let mut costs = self.costs.lock().unwrap_or_else(|broken| broken.into_inner());
        self.best(&mut costs, log, bits, allowed)
    }

    /// Returns the cost of comparing all pairs, for each of 2^`log` codes.
    pub(super) fn all_pairs(&self, log: u32) -> f64 {
        (log as f64).exp2() / 2.0 * self.compare
    }

    fn best(&self, costs: &mut HashMap<(u32, u32, u32), f64>, log: u32, bits: u32, allowed: u32) -> f64 {
        let all = self.all_pairs(log);
        let key = self.key_bits(log, bits, allowed, LOCAL_BITS);
        if key == 0 || all <= self.sort {
            return all;
        }
        if let Some(&cost) = costs.get(&(log, bits, allowed)) {
            return cost;
        }
        let mut cost = 0.0;
        for pass in 0..=allowed {
            let taken = self.best_taken(costs, log, bits, allowed, key, pass);
            cost += self.sort + taken.1;
            if cost >= all {
                break;
            }
        }
        let cost = cost.min(all);
        costs.insert((log, bits, allowed), cost);
        cost
    }

    fn best_taken(
        &self,
        costs: &mut HashMap<(u32, u32, u32), f64>,
        log: u32,
        bits: u32,
        allowed: u32,
        key: u32,
        pass: u32,
    ) -> (u32, f64) {
        let options = (0..=pass.min(MOST_TAKEN_BACK)).map(|taken| {
            let bits = bits - (pass + 1) * key + taken * key;
            (taken, self.best(costs, log.saturating_sub(key), bits, allowed - pass + taken))
        });
        options.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
    }

    /// Returns how many earlier blocks to take back in after a pass.
    pub(super) fn taken(&self, log: u32, bits: u32, allowed: u32, key: u32, pass: u32) -> u32 {
        let mut costs = self.costs.lock().unwrap_or_else(|broken| broken.into_inner());
        self.best_taken(&mut costs, log, bits, allowed, key, pass).0
    }

    /// Returns the size above which splitting a bucket pays.
    pub(super) fn limit(&self, bits: u32, allowed: u32) -> usize {
        let mut limits = self.limits.lock().unwrap_or_else(|broken| broken.into_inner());
        *limits.entry((bits, allowed)).or_insert_with(|| {
            let pays = (4..32).find(|&log| self.cost(log, bits, allowed) < self.all_pairs(log));
            pays.map_or(usize::MAX, |log| 1 << log)
        })
    }
}

/// Returns the cost of comparing two codes.
pub(super) fn compare_cost(words: usize, radius: u32) -> f64 {
    if Compare::new(radius).by_folds() { 0.2 } else { 0.15 + 0.2 * words as f64 }
}
