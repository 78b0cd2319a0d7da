//! Pairs of groups → pairs of rows.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::{Found, Groups, RadiusJoin, Sink};
use crate::Error;
use crate::error::choose;

/// Pairs that one table holds at most.
const MOST_PAIRS: u64 = 1 << 31;

/// Two rows, the smaller first, and the bits in which they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The smaller row number.
    pub left: u32,
    /// The larger.
    pub right: u32,
    /// Bits in which they differ.
    pub distance: u16,
}

/// Which pairs of rows with equal fingerprints to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equal {
    /// All of them.
    All,
    /// Each repeat only with the first row of its group.
    First,
}

impl std::str::FromStr for Equal {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        choose("equal", name, &[("all", Equal::All), ("first", Equal::First)])
    }
}

impl Equal {
    /// Calls `take` with the pairs of rows of two groups, until it returns false.
    pub(super) fn between(self, groups: &Groups, found: &Found, mut take: impl FnMut(Pair) -> bool) {
        let mut pair = |a: u32, b: u32| take(Pair { left: a.min(b), right: a.max(b), distance: found.distance });
        match self {
            Equal::First => _ = pair(groups.first(found.left), groups.first(found.right)),
            Equal::All => {
                for &a in groups.of(found.left) {
                    for &b in groups.of(found.right) {
                        if !pair(a, b) {
                            return;
                        }
                    }
                }
            }
        }
    }

    /// Calls `take` with the pairs among the rows of one group, until it returns false.
    pub(super) fn within(self, rows: &[u32], mut take: impl FnMut(Pair) -> bool) {
        let lefts = if self == Equal::All { rows.len() } else { 1 };
        for (at, &left) in rows[..lefts].iter().enumerate() {
            for &right in &rows[at + 1..] {
                if !take(Pair { left, right, distance: 0 }) {
                    return;
                }
            }
        }
    }
}

struct PairCollector<'a> {
    groups: &'a Groups,
    equal: Equal,
    pairs: Mutex<Vec<Pair>>,
    count: AtomicU64,
    stop: &'a AtomicBool,
}

impl PairCollector<'_> {
    /// Returns whether so many more pairs fit; else the join stops.
    fn fits(&self, more: u64) -> bool {
        let fits = self.count.fetch_add(more, Relaxed) + more <= MOST_PAIRS;
        if !fits {
            self.stop.store(true, Relaxed);
        }
        fits
    }
}

impl Sink for PairCollector<'_> {
    fn take(&self, found: &[Found]) {
        // Groups lie anywhere in memory: prefetches all of a batch before reading the first.
        found.iter().flat_map(|found| [found.left, found.right]).for_each(|group| self.groups.fetch(group));
        let size = |found: &Found| match self.equal {
            Equal::First => 1,
            Equal::All => self.groups.of(found.left).len() as u64 * self.groups.of(found.right).len() as u64,
        };
        if !self.fits(found.iter().map(size).sum()) {
            return;
        }
        let mut local = Vec::with_capacity(found.len());
        for found in found {
            self.equal.between(self.groups, found, |pair| {
                local.push(pair);
                true
            });
        }
        self.pairs.lock().unwrap_or_else(|broken| broken.into_inner()).append(&mut local);
    }
}

/// Returns all pairs by row. The result is useless once `stop` is set.
pub fn pairs(mut join: RadiusJoin, equal: Equal, stop: &AtomicBool) -> Result<Vec<Pair>, Error> {
    let among = if equal == Equal::All { join.groups.equal_pairs() } else { 0 };
    let many = |count: u64, what: &str| {
        let first = "equal=\"first\" to pair a repeat with the first of its kind only, or ";
        Err(Error::new(format!(
            "{count}{what} exceed the limit of one table, {MOST_PAIRS}; pass {}stream=True to read them in batches",
            if equal == Equal::All { first } else { "" }
        )))
    };
    if among > MOST_PAIRS {
        return many(among, " pairs among equal fingerprints");
    }
    let RadiusJoin { groups, codes, .. } = &mut join;
    let mut pairs = Vec::with_capacity(among as usize);
    for group in groups.repeated() {
        equal.within(groups.of(group), |pair| {
            pairs.push(pair);
            true
        });
    }
    let count = AtomicU64::new(pairs.len() as u64);
    let table = PairCollector { groups, equal, pairs: Mutex::new(pairs), count, stop };
    codes.run(&table, stop);
    let count = table.count.into_inner();
    if count > MOST_PAIRS {
        return many(count, " pairs or more");
    }
    let mut pairs = table.pairs.into_inner().unwrap_or_else(|broken| broken.into_inner());
    if !stop.load(Relaxed) {
        pairs.par_sort_unstable();
    }
    Ok(pairs)
}
