//! Clusters within a radius, without storing the pairs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::forest::Forest;
use super::{Found, Groups, RadiusJoin, Sink};
use crate::Error;
use crate::error::choose;

/// How pairs become clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// Connected components: all rows reachable over pairs.
    Connected,
    /// In row order: a row joins the earliest representative within the radius, or becomes one.
    Star,
}

impl std::str::FromStr for Linkage {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        choose("linkage", name, &[("connected", Linkage::Connected), ("star", Linkage::Star)])
    }
}

/// Returns for each row the first row of its cluster; a row without a signal is alone. The result is useless once
/// `stop` is set.
pub fn clusters(mut join: RadiusJoin, linkage: Linkage, stop: &AtomicBool) -> Vec<u32> {
    match linkage {
        Linkage::Connected => connected(&mut join, stop),
        // The pairs take no more memory than the codes themselves.
        Linkage::Star => {
            let most = join.groups.count() * 2 + (1 << 20);
            star(&mut join, most, stop)
        }
    }
}

impl Sink for Forest {
    fn take(&self, found: &[Found]) {
        for found in found {
            self.link(found.left, found.right);
        }
    }
}

fn connected(join: &mut RadiusJoin, stop: &AtomicBool) -> Vec<u32> {
    let forest = Forest::new(join.groups.coded() as u32);
    join.run(&forest, stop);
    let groups = &join.groups;
    // The first row of each tree, kept at its root.
    let firsts: Vec<AtomicU32> = (0..groups.coded()).map(|_| AtomicU32::new(u32::MAX)).collect();
    for group in groups.iter() {
        firsts[forest.root(group) as usize].fetch_min(groups.first(group), Relaxed);
    }
    label(groups, |group| firsts[forest.root(group) as usize].load(Relaxed))
}

/// Gives the rows of each group its label.
fn label(groups: &Groups, of: impl Fn(u32) -> u32) -> Vec<u32> {
    let mut labels: Vec<u32> = (0..groups.rows() as u32).collect();
    for group in groups.iter() {
        let label = of(group);
        // Most rows are alone; skipping their labels saves random memory accesses.
        for &row in groups.of(group).iter().filter(|&&row| row != label) {
            labels[row as usize] = label;
        }
    }
    labels
}

const UNDECIDED: u8 = 0;
/// Undecided, with an undecided neighbour before it.
const WAITS: u8 = 1;
const LEADER: u8 = 2;
const MEMBER: u8 = 3;

/// Marks rows that have an earlier neighbour, and stores the pairs while they are few.
struct Earlier<'a> {
    groups: &'a Groups,
    states: &'a [AtomicU8],
    /// (later first row, earlier first row)
    pairs: Mutex<Vec<(u32, u32)>>,
    most: usize,
    many: AtomicBool,
}

impl Sink for Earlier<'_> {
    fn take(&self, found: &[Found]) {
        let rows = |found: &Found| {
            let (a, b) = (self.groups.first(found.left), self.groups.first(found.right));
            (a.max(b), a.min(b))
        };
        for found in found {
            self.states[rows(found).0 as usize].store(WAITS, Relaxed);
        }
        if !self.many.load(Relaxed) {
            let mut pairs = self.pairs.lock().unwrap_or_else(|broken| broken.into_inner());
            pairs.extend(found.iter().map(rows));
            if pairs.len() > self.most {
                self.many.store(true, Relaxed);
                *pairs = Vec::new();
            }
        }
    }
}

/// Assigns the neighbours of leaders to the earliest leader.
struct Followers<'a> {
    groups: &'a Groups,
    states: &'a [AtomicU8],
    labels: &'a [AtomicU32],
}

impl Sink for Followers<'_> {
    fn take(&self, found: &[Found]) {
        for found in found {
            let (a, b) = (self.groups.first(found.left), self.groups.first(found.right));
            for (leader, member) in [(a, b), (b, a)] {
                if self.states[leader as usize].load(Relaxed) == LEADER {
                    self.states[member as usize].store(MEMBER, Relaxed);
                    self.labels[member as usize].fetch_min(leader, Relaxed);
                }
            }
        }
    }
}

/// Returns the greedy leaders in row order. With few pairs (`most`) they are gathered and gone through. With
/// many, in rounds: who has no undecided neighbour before it leads, its neighbours follow.
fn star(join: &mut RadiusJoin, most: usize, stop: &AtomicBool) -> Vec<u32> {
    let rows = join.groups.rows();
    let states: Vec<AtomicU8> = (0..rows).map(|_| AtomicU8::new(UNDECIDED)).collect();
    let labels: Vec<AtomicU32> = (0..rows).map(|_| AtomicU32::new(u32::MAX)).collect();
    let mut first_round = true;
    loop {
        let RadiusJoin { groups, codes, .. } = &mut *join;
        let groups = &*groups;
        let sink = Earlier { groups, states: &states, pairs: Mutex::default(), most, many: AtomicBool::new(false) };
        codes.run(&sink, stop);
        if stop.load(Relaxed) {
            break;
        }
        let many = sink.many.into_inner();
        if !many {
            let mut pairs = sink.pairs.into_inner().unwrap_or_else(|broken| broken.into_inner());
            pairs.par_sort_unstable();
            go_through(&pairs, &states, &labels);
        }
        for group in groups.iter() {
            let state = &states[groups.first(group) as usize];
            if state.load(Relaxed) == UNDECIDED {
                state.store(LEADER, Relaxed);
            }
        }
        if !many && first_round {
            break; // the labels are those of all pairs
        }
        if many {
            codes.run(&Followers { groups, states: &states, labels: &labels }, stop);
            codes.keep(&|group| {
                let state = &states[groups.first(group) as usize];
                state.compare_exchange(WAITS, UNDECIDED, Relaxed, Relaxed).is_ok()
            });
            first_round = false;
            continue;
        }
        // A member of an early round may lie near a leader found later that comes before its own.
        codes.keep(&|_| true);
        codes.run(&Followers { groups, states: &states, labels: &labels }, stop);
        break;
    }
    label(&join.groups, |group| {
        let first = join.groups.first(group);
        if states[first as usize].load(Relaxed) == MEMBER { labels[first as usize].load(Relaxed) } else { first }
    })
}

/// Decides each row in row order, given all pairs (later, earlier) sorted.
fn go_through(pairs: &[(u32, u32)], states: &[AtomicU8], labels: &[AtomicU32]) {
    for neighbours in pairs.chunk_by(|a, b| a.0 == b.0) {
        let leader = neighbours.iter().find(|(_, earlier)| states[*earlier as usize].load(Relaxed) != MEMBER);
        let row = neighbours[0].0 as usize;
        match leader {
            Some(&(_, leader)) => {
                states[row].store(MEMBER, Relaxed);
                labels[row].store(leader, Relaxed);
            }
            None => states[row].store(LEADER, Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::{Input, JoinSettings};
    use proptest::prelude::*;

    fn join(values: &[u64], radius: u32) -> RadiusJoin {
        let settings = JoinSettings { radius, recall: 1.0, flip: None };
        RadiusJoin::new(Input { values, words: 1, signal: None }, settings).unwrap()
    }

    fn near(values: &[u64], a: usize, b: usize, radius: u32) -> bool {
        (values[a] ^ values[b]).count_ones() <= radius
    }

    proptest! {
        #[test]
        fn stars_are_those_of_the_definition(
            values in proptest::collection::vec(0u64..4096, 0..200),
            radius in 0u32..5,
            most in prop_oneof![Just(0usize), Just(20), Just(1 << 20)],
        ) {
            let mut expected: Vec<u32> = Vec::new();
            for row in 0..values.len() {
                let leader = (0..row).find(|&to| expected[to] == to as u32 && near(&values, row, to, radius));
                expected.push(leader.unwrap_or(row) as u32);
            }
            let found = star(&mut join(&values, radius), most, &AtomicBool::new(false));
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn components_are_those_of_the_definition(values in proptest::collection::vec(0u64..65536, 0..150), radius in 0u32..4) {
            let mut expected: Vec<u32> = (0..values.len() as u32).collect();
            for _ in 0..values.len() {
                for a in 0..values.len() {
                    for b in 0..values.len() {
                        if near(&values, a, b, radius) {
                            expected[a] = expected[a].min(expected[b]);
                        }
                    }
                }
                if (0..values.len()).all(|a| (0..values.len()).all(|b| !near(&values, a, b, radius) || expected[a] == expected[b])) {
                    break;
                }
            }
            prop_assert_eq!(connected(&mut join(&values, radius), &AtomicBool::new(false)), expected);
        }
    }
}
