//! The answer when there is no time for a better one: windows of the minimum length, looked up where they first are.
//!
//! From left to right through the right text; each that is found is followed as far as units are equal, and what comes
//! next is looked up behind it. O(n) in time and memory, the latter a tenth of the automaton's. Nothing is bridged.

use std::collections::hash_map::Entry;

use super::covered::Covered;
use super::runs::{Map, Run};
use super::windows::{Measure, windows};
use super::{Clock, Cut};

pub(super) fn runs(
    left: &Cut,
    right: &Cut,
    measure: Measure,
    clock: &Clock<'_>,
    covered: &mut [Covered; 2],
) -> Vec<Vec<Run>> {
    *covered = [Covered::none(left.units.len()), Covered::none(right.units.len())];
    let mut places: Map<usize> = Map::default();
    for window in windows(&left.units, &left.weights, measure.passage()) {
        if let Entry::Vacant(entry) = places.entry(window.hash) {
            entry.insert(window.start);
        }
    }
    let mut chains = Vec::new();
    let mut end = 0;
    for (step, window) in windows(&right.units, &right.weights, measure.passage()).into_iter().enumerate() {
        // Even without time, the first steps are made.
        if clock.is_over(step) {
            break;
        }
        if window.start < end {
            continue;
        }
        let Some(&place) = places.get(&window.hash) else { continue };
        let units = left.units[place..].iter().zip(&right.units[window.start..]);
        let length = units.take_while(|(left, right)| left.key == right.key).count();
        if window.start + length < window.end {
            continue;
        }
        end = window.start + length;
        covered[0].mark(place, place + length);
        covered[1].mark(window.start, end);
        chains.push(vec![Run { here: place, there: window.start, length }]);
    }
    chains
}
