//! Two texts → the runs of units they share.
//!
//! For a text that is walked through and one it is looked up in: every stretch of the first that occurs in the second
//! and is not part of a longer one that does, where it occurs first. There are at most as many as units, however often
//! the texts repeat themselves. A suffix automaton (Blumer et al., 1985) of the second text finds them in O(n + m)
//! steps and memory.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use super::Clock;
use super::windows::Window;
use crate::hash::GOLDEN;

/// A stretch of equal units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Run {
    /// Where it begins in the text that is walked through.
    pub(super) here: usize,
    /// Where it begins in the other.
    pub(super) there: usize,
    /// How many units.
    pub(super) length: usize,
}

/// No state, no edge, or a symbol the other text does not have.
pub(super) const NONE: u32 = u32::MAX;
const ROOT: u32 = 0;

/// Keys are spread by one multiplication: they are small numbers side by side, or hashes already.
#[derive(Default)]
pub(super) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }
    fn write_u64(&mut self, value: u64) {
        let product = u128::from(self.0 ^ value ^ GOLDEN) * 0xA24B_AED4_963E_E407_u128;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}

pub(super) type Map<V> = HashMap<u64, V, BuildHasherDefault<Spread>>;
pub(super) type Hashes = HashSet<u64, BuildHasherDefault<Spread>>;

/// Returns the keys of two texts as small numbers; a unit that only one text has equals none.
pub(super) fn numbered(left: &[u64], right: &[u64]) -> (Vec<u32>, Vec<u32>) {
    let mut numbers: Map<u32> = Map::default();
    for &key in left {
        let next = numbers.len() as u32;
        numbers.entry(key).or_insert(next);
    }
    let mut shared = vec![false; numbers.len()];
    // The last number of all is that of the left text's own units, the one before that of the right one's.
    let right: Vec<u32> = right
        .iter()
        .map(|key| match numbers.get(key) {
            Some(&number) => {
                shared[number as usize] = true;
                number
            }
            None => NONE - 1,
        })
        .collect();
    let of_left = |key: &u64| numbers.get(key).copied().filter(|&number| shared[number as usize]).unwrap_or(NONE);
    (left.iter().map(of_left).collect(), right)
}

/// Returns the symbols without those outside of every window that both texts have: no run of that length reaches there.
pub(super) fn within(symbols: &[u32], own: u32, windows: &[Window], others: &Hashes) -> Vec<u32> {
    let mut masked = vec![own; symbols.len()];
    let mut done = 0;
    for (at, window) in windows.iter().enumerate() {
        if others.contains(&window.hash) {
            // Up to where the next one ends, since a run may end before that and after this one.
            let end = windows.get(at + 1).map_or(symbols.len(), |next| next.end);
            let start = window.start.max(done);
            masked[start..end].copy_from_slice(&symbols[start..end]);
            done = end;
        }
    }
    masked
}

/// Returns whether the other text has the symbol.
pub(super) fn is_shared(symbol: u32) -> bool {
    symbol < NONE - 1
}

/// Returns all stretches of `here` that occur in `there` and are not part of a longer one, in order; None when time is
/// up.
pub(super) fn longest_runs(here: &[u32], there: &[u32], clock: &Clock, mut take: impl FnMut(Run)) -> Option<()> {
    let automaton = Automaton::of(there, clock)?;
    let (mut state, mut length) = (ROOT, 0);
    for (at, &symbol) in here.iter().chain([&NONE]).enumerate() {
        let (state_before, length_before) = (state, length);
        if is_shared(symbol) {
            let mut next = automaton.follow(state, symbol);
            while next.is_none() && state != ROOT {
                state = automaton.states[state as usize].link;
                length = automaton.states[state as usize].length;
                next = automaton.follow(state, symbol);
            }
            (state, length) = next.map_or((ROOT, 0), |next| (next, length + 1));
        } else {
            (state, length) = (ROOT, 0);
        }
        if length != length_before + 1 && length_before > 0 {
            let end = automaton.states[state_before as usize].first as usize + 1;
            let length = length_before as usize;
            take(Run { here: at - length, there: end - length, length });
        }
        if clock.is_over(at) {
            return None;
        }
    }
    Some(())
}

struct State {
    /// Of the longest string of the state.
    length: u32,
    link: u32,
    /// Where its strings end for the first time.
    first: u32,
    /// Its first edge. Nearly all states have just this one.
    symbol: u32,
    to: u32,
    /// The symbols of the others, as a place in `Automaton::symbols`.
    more: u32,
}

/// All substrings of a text.
struct Automaton {
    states: Vec<State>,
    /// Symbols of further edges, each with the place of the next of the same state.
    symbols: Vec<(u32, u32)>,
    edges: Edges,
    last: u32,
}

impl Automaton {
    fn of(text: &[u32], clock: &Clock) -> Option<Automaton> {
        let root = State { length: 0, link: NONE, first: 0, symbol: NONE, to: NONE, more: NONE };
        let mut automaton = Automaton { states: vec![root], symbols: Vec::new(), edges: Edges::new(), last: ROOT };
        for (at, &symbol) in text.iter().enumerate() {
            if is_shared(symbol) {
                automaton.push(symbol, at as u32);
            } else {
                // Nothing that is looked for reaches across it.
                automaton.last = ROOT;
            }
            if clock.is_over(at) {
                return None;
            }
        }
        Some(automaton)
    }

    #[inline]
    fn follow(&self, state: u32, symbol: u32) -> Option<u32> {
        let from = &self.states[state as usize];
        if from.symbol == symbol {
            return Some(from.to);
        }
        if from.more == NONE { None } else { self.edges.get(state, symbol) }
    }

    fn connect(&mut self, state: u32, symbol: u32, to: u32) {
        let from = &mut self.states[state as usize];
        if from.symbol == NONE {
            (from.symbol, from.to) = (symbol, to);
            return;
        }
        self.symbols.push((symbol, from.more));
        from.more = self.symbols.len() as u32 - 1;
        self.edges.set(state, symbol, to);
    }

    fn redirect(&mut self, state: u32, symbol: u32, to: u32) {
        let from = &mut self.states[state as usize];
        if from.symbol == symbol {
            from.to = to;
        } else {
            self.edges.set(state, symbol, to);
        }
    }

    fn push(&mut self, symbol: u32, at: u32) {
        let last = self.last;
        if let Some(next) = self.follow(last, symbol) {
            self.last = self.exactly(last, symbol, next);
            return;
        }
        let new = self.states.len() as u32;
        let length = self.states[last as usize].length + 1;
        self.states.push(State { length, link: ROOT, first: at, symbol: NONE, to: NONE, more: NONE });
        let mut state = last;
        while state != NONE {
            if let Some(next) = self.follow(state, symbol) {
                let link = self.exactly(state, symbol, next);
                self.states[new as usize].link = link;
                break;
            }
            self.connect(state, symbol, new);
            state = self.states[state as usize].link;
        }
        self.last = new;
    }

    /// Returns the state of the longest string of `state` with the symbol behind it. `next`, to which the symbol leads,
    /// may have longer ones that end elsewhere; then a copy of it is made for the shorter.
    fn exactly(&mut self, state: u32, symbol: u32, next: u32) -> u32 {
        let length = self.states[state as usize].length + 1;
        if self.states[next as usize].length == length {
            return next;
        }
        let copy = self.states.len() as u32;
        let State { link, first, symbol: only, to, more, .. } = self.states[next as usize];
        self.states.push(State { length, link, first, symbol: only, to, more: NONE });
        let mut place = more;
        while place != NONE {
            let (symbol, next_place) = self.symbols[place as usize];
            if let Some(to) = self.edges.get(next, symbol) {
                self.connect(copy, symbol, to);
            }
            place = next_place;
        }
        self.states[next as usize].link = copy;
        let mut state = state;
        while state != NONE && self.follow(state, symbol) == Some(next) {
            self.redirect(state, symbol, copy);
            state = self.states[state as usize].link;
        }
        copy
    }
}

/// (state, symbol) → state: open addressing, since a look-up is one place in memory.
struct Edges {
    slots: Vec<(u32, u32, u32)>,
    count: usize,
}

const EMPTY: (u32, u32, u32) = (NONE, NONE, NONE);

impl Edges {
    fn new() -> Edges {
        Edges { slots: vec![EMPTY; 64], count: 0 }
    }

    /// Returns the slot of a key, or the free one for it.
    #[inline]
    fn slot(&self, state: u32, symbol: u32) -> usize {
        let mask = self.slots.len() - 1;
        let key = (u64::from(state) << 32 | u64::from(symbol)).wrapping_mul(GOLDEN);
        let mut slot = (key ^ key >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) as usize >> 20 & mask;
        while self.slots[slot].0 != NONE && (self.slots[slot].0, self.slots[slot].1) != (state, symbol) {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[inline]
    fn get(&self, state: u32, symbol: u32) -> Option<u32> {
        let (found, _, to) = self.slots[self.slot(state, symbol)];
        (found != NONE).then_some(to)
    }

    fn set(&mut self, state: u32, symbol: u32, to: u32) {
        if 3 * self.count > 2 * self.slots.len() {
            let slots = vec![EMPTY; 2 * self.slots.len()];
            for edge in std::mem::replace(&mut self.slots, slots) {
                if edge.0 != NONE {
                    let slot = self.slot(edge.0, edge.1);
                    self.slots[slot] = edge;
                }
            }
        }
        let slot = self.slot(state, symbol);
        self.count += usize::from(self.slots[slot].0 == NONE);
        self.slots[slot] = (state, symbol, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(here: &[u64], there: &[u64]) -> Vec<Run> {
        let first = |part: &[u64]| (0..there.len()).find(|&at| there[at..].starts_with(part));
        let mut found = Vec::new();
        for start in 0..here.len() {
            for end in start + 1..=here.len() {
                let Some(place) = first(&here[start..end]) else { continue };
                let longer = start > 0 && first(&here[start - 1..end]).is_some()
                    || end < here.len() && first(&here[start..=end]).is_some();
                if !longer {
                    found.push(Run { here: start, there: place, length: end - start });
                }
            }
        }
        found
    }

    proptest! {
        #[test]
        fn runs_equal_the_naive_ones(
            here in prop::collection::vec(0u64..4, 0..40),
            there in prop::collection::vec(1u64..5, 0..40),
        ) {
            let mut found = Vec::new();
            let (a, b) = numbered(&here, &there);
            longest_runs(&a, &b, &Clock::endless(), |run| found.push(run)).unwrap();
            prop_assert_eq!(found, naive(&here, &there));
        }
    }
}
