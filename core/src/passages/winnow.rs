//! Text → hashes of some of its runs, such that two texts with a passage in common have one in common.
//!
//! Of all runs of three quarters of the minimum inside every stretch of the minimum length the one with the smallest
//! hash is taken (Schleimer, Wilkerson and Aiken, "Winnowing", SIGMOD 2003). What is taken depends on the stretch
//! alone, so that a text with the same stretch has the same hash. O(n).

use std::collections::VecDeque;

use super::units::units;
use super::windows::{Measure, Window, window_end, windows};

/// Returns the different hashes, in ascending order. A text shorter than a passage has none.
pub fn winnowed(text: &str, min_words: usize, min_chars: usize) -> Vec<u64> {
    let measure = Measure::new(min_words.max(1), min_chars.max(1));
    let units = units(text);
    let weights = measure.weights(&units);
    let runs = windows(&units, &weights, measure.anchor());
    let mut taken = Vec::new();
    // Runs of the stretch that may yet be the smallest, each smaller than those after it.
    let mut waiting: VecDeque<Window> = VecDeque::new();
    let (mut end, mut next) = (0, 0);
    for start in 0..units.len() {
        let Some(found) = window_end(&weights, start, measure.passage(), end) else { break };
        end = found;
        while let Some(&run) = runs.get(next).filter(|run| run.end <= end) {
            while waiting.back().is_some_and(|last| last.hash >= run.hash) {
                waiting.pop_back();
            }
            waiting.push_back(run);
            next += 1;
        }
        while waiting.front().is_some_and(|first| first.start < start) {
            waiting.pop_front();
        }
        taken.extend(waiting.front().map(|smallest| smallest.hash));
    }
    taken.sort_unstable();
    taken.dedup();
    taken
}

/// Returns the hashes of all runs that winnowing could take, in ascending order: for texts whose runs are to be
/// ignored.
pub fn every_run(text: &str, min_words: usize, min_chars: usize) -> Vec<u64> {
    let measure = Measure::new(min_words.max(1), min_chars.max(1));
    let units = units(text);
    let runs = windows(&units, &measure.weights(&units), measure.anchor());
    let mut hashes: Vec<u64> = runs.iter().map(|run| run.hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passages::Unit;
    use proptest::prelude::*;

    fn naive(text: &str, min_words: usize, min_chars: usize) -> Vec<u64> {
        let measure = Measure::new(min_words, min_chars);
        let units = units(text);
        let weights = measure.weights(&units);
        let runs = windows(&units, &weights, measure.anchor());
        let stretches = (0..units.len()).filter_map(|start| {
            let end = (start..=units.len()).find(|&end| weights[end] - weights[start] >= measure.passage())?;
            runs.iter().filter(|run| run.start >= start && run.end <= end).map(|run| run.hash).min()
        });
        let mut all: Vec<u64> = stretches.collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    const MIXED: &str = "([a-e] |[我你他]){0,40}";

    proptest! {
        #[test]
        fn hashes_equal_the_naive_ones(text in MIXED, words in 1usize..8, chars in 1usize..15) {
            let found = winnowed(&text, words, chars);
            let every = every_run(&text, words, chars);
            prop_assert!(found.iter().all(|hash| every.contains(hash)));
            prop_assert_eq!(found, naive(&text, words, chars));
        }

        #[test]
        fn a_passage_in_common_is_a_hash_in_common(
            passage in "([a-e] |[我你他]){1,14}", parts in [MIXED, MIXED, MIXED, MIXED], words in 1usize..8, chars in 1usize..15
        ) {
            let [a, b, c, d] = parts;
            let (left, right) = (format!("{a} {passage} {b}"), format!("{c} {passage} {d}"));
            let cut: Vec<Unit> = units(&passage);
            let measure = Measure::new(words, chars);
            let enough = measure.weights(&cut).last().is_some_and(|&weight| weight >= measure.passage());
            let (left, right) = (winnowed(&left, words, chars), winnowed(&right, words, chars));
            prop_assert!(!enough || left.iter().any(|hash| right.contains(hash)));
        }
    }
}
