//! Which join is cheaper, and how long it will take, from a sample of the texts.
//!
//! The join by sketches and the one by an inverted index find the same pairs, so the choice may depend on the texts and
//! on the machine. Candidates, and postings read, grow with the number of pairs: those of the sample are multiplied by
//! the ratio of all pairs to its pairs. The time to make the features of a text is measured.

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Instant;

use rayon::prelude::*;

use super::inverted::{Inverted, PART_BYTES, Work};
use super::join::{NearJoin, Progress};
use super::judge::TextOf;
use crate::hash::GOLDEN;
use crate::pipeline::Pipeline;

/// Texts that are joined, texts whose features are counted at most, and texts whose features are made to take the time.
const JOINED: usize = 1 << 11;
const COUNTED: usize = 1 << 15;
const TIMED: usize = 1 << 7;
/// Seconds of a join by sketches below which nothing else is considered.
const SHORT: f64 = 0.25;
/// Seconds, measured on Reuters stories and Chinese paragraphs: a text in a table; two texts of a bucket; a feature of
/// a candidate; a feature to be sorted; a posting; a text to be bounded, in the cache and outside of it.
const TABLE: f64 = 70e-9;
const COMPARED: f64 = 0.8e-9;
const MERGED: f64 = 4e-9;
const SORTED: f64 = 40e-9;
const POSTING: f64 = 2.5e-9;
const BOUNDED: [f64; 2] = [25e-9, 60e-9];
/// Bytes of features that stay in the cache.
const CACHE: f64 = 16e6;
/// How much of the features of a text is made again for each candidate, and each pair found: texts are read in batches.
const READ_AGAIN: [f64; 2] = [0.3, 0.6];
/// More candidates are not listed: they take 18 bytes each.
const LISTED: f64 = 5e7;
/// More near pairs a text than this are not all looked at.
const MANY: f64 = 8.0;

/// The join to choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Whether to use an inverted index, not sketches.
    pub inverted: bool,
    /// How long it takes on the threads of the current rayon pool.
    pub seconds: f64,
    /// Pairs that are looked at: candidates, or texts that share enough for a sum to be bounded.
    pub pairs: f64,
    /// How long the other one would take; infinite if it is out of the question, unknown (0) if nobody asked.
    pub other: f64,
}

impl NearJoin<'_> {
    /// Chooses how to find the near pairs. The result is useless once `stop` is set.
    pub fn forecast(&self, pipeline: &Pipeline, text: TextOf<'_, '_>, stop: &AtomicBool) -> Forecast {
        let threads = rayon::current_num_threads() as f64;
        let texts = self.rows.len() as f64;
        let drawn = self.drawn(JOINED);
        let rows: Vec<u32> = drawn.iter().map(|&text| self.rows[text as usize]).collect();
        let first = drawn.partition_point(|&text| text < self.first) as u32;
        let scale = pairs(self.first, self.rows.len()) / pairs(first, drawn.len()).max(1.0);

        let timed = drawn.iter().step_by(drawn.len().div_ceil(TIMED).max(1));
        let begun = Instant::now();
        let features: Vec<usize> =
            timed.map(|&at| pipeline.vector(&text(self.rows[at as usize] as usize)).features.len()).collect();
        let made = begun.elapsed().as_secs_f64() / features.len().max(1) as f64;
        let features = features.iter().sum::<usize>() as f64 / features.len().max(1) as f64;

        let mut sketches = f64::INFINITY;
        let mut candidates = 0.0;
        if !self.plan.tables.is_empty() {
            let sample = NearJoin::of(self.sketches, &rows, first, self.plan);
            let found = sample.candidates(stop, &Progress::default());
            candidates = found.pairs.len() as f64 * scale;
            let tables = self.plan.tables.len() as f64;
            let compared = sample.met() as f64 * scale * COMPARED;
            let judged = candidates * (READ_AGAIN[0] * made + MERGED * features);
            sketches = (tables * texts * TABLE + compared + judged) / threads;
            if sketches < SHORT && found.dense.is_empty() {
                return Forecast { inverted: false, seconds: sketches, pairs: candidates, other: 0.0 };
            }
            // The texts of dense buckets are looked up in an inverted index anyway.
            if !found.dense.is_empty() || candidates > LISTED {
                sketches = f64::INFINITY;
            }
        }

        let asked = AtomicUsize::new(0);
        let counted = self.drawn(COUNTED.min(self.rows.len() / 16).max(JOINED));
        let sample = Inverted::of_sample(self, counted, drawn, pipeline, text, stop, &asked);
        let mut near = 0;
        sample.each_pair(&|_, _| true, &mut |batch| {
            near += batch.len();
            true
        });
        let Work { postings, bounded } = sample.work();
        let near = near as f64 * scale;
        let bytes = texts * features * 8.0;
        let parts = (bytes / PART_BYTES as f64).ceil();
        // Once to count the features; if they do not fit into memory, once for each part and for all that follow it.
        let passes = if parts <= 1.0 { 1.0 } else { 1.0 + f64::midpoint(parts, 1.0) };
        let mut searched = scale * (postings as f64 * POSTING + bounded as f64 * BOUNDED[usize::from(bytes > CACHE)]);
        let mut found = near * READ_AGAIN[1] * made;
        if self.first == 0 && near > MANY * texts {
            // Copies of a template: only their representatives are looked up.
            searched *= sample.representatives();
            found = texts * made;
        }
        let inverted = (passes * texts * (made + features * SORTED) + searched + found) / threads;
        if inverted < sketches {
            Forecast { inverted: true, seconds: inverted, pairs: bounded as f64 * scale, other: sketches }
        } else {
            Forecast { inverted: false, seconds: sketches, pairs: candidates, other: inverted }
        }
    }

    /// Returns how many pairs share a bucket, over all tables.
    fn met(&self) -> usize {
        let of_table = |table: &Vec<u8>| {
            let key = |text| {
                let registers = self.registers(text);
                table.iter().fold(0u32, |key, &at| key << 8 | u32::from(registers[usize::from(at)]))
            };
            let mut keys: Vec<u32> = (0..self.rows.len() as u32).map(key).collect();
            keys.sort_unstable();
            keys.chunk_by(|a, b| a == b).map(|same| same.len() * (same.len() - 1) / 2).sum::<usize>()
        };
        self.plan.tables.par_iter().map(of_table).sum()
    }

    /// Returns this many texts, about, spread over all of them; with a reference half of them from each side.
    fn drawn(&self, number: usize) -> Vec<u32> {
        let texts = self.rows.len();
        let spread = |start: usize, end: usize, number: usize| {
            let number = number.min(end - start);
            (0..number).map(move |at| {
                let (from, to) = (at * (end - start) / number, (at + 1) * (end - start) / number);
                let random = (at as u64 + 1).wrapping_mul(GOLDEN) >> 32;
                (start + from + random as usize % (to - from)) as u32
            })
        };
        match self.first as usize {
            0 => spread(0, texts, number).collect(),
            first => spread(0, first, number / 2).chain(spread(first, texts, number / 2)).collect(),
        }
    }
}

/// Returns the number of pairs among texts, or with `first` across.
fn pairs(first: u32, texts: usize) -> f64 {
    let (first, texts) = (f64::from(first), texts as f64);
    if first > 0.0 { first * (texts - first) } else { texts * (texts - 1.0) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::{Plan, REGISTERS, SKETCH_BYTES, Sketch};
    use crate::rounds::Random;

    /// Sketches that agree with a template in a third of their registers, or in none.
    fn sketches(count: usize, template: bool) -> Vec<Sketch> {
        let mut random = Random(3);
        let mut places: Vec<u8> = (0..=255).collect();
        (0..count)
            .map(|_| {
                random.shuffle(&mut places);
                let free = |at: usize| if template && places[100 + at] < 85 { 7 } else { places[at] };
                std::array::from_fn(|at| if at < REGISTERS { free(at) } else { places[at] })
            })
            .collect()
    }

    #[test]
    fn pairs_that_meet_are_counted_and_drawn_from_both_sides() {
        let plan = Plan::new(0.85, 0.99).unwrap();
        let sketches = sketches(300, true);
        assert_eq!(sketches[0].len(), SKETCH_BYTES);
        let rows: Vec<u32> = (0..300).collect();
        let join = NearJoin::of(&sketches, &rows, 30, &plan);
        let meet = |one: u32, two: u32| {
            let agree = |table: &&Vec<u8>| {
                table.iter().all(|&at| join.sketch(one)[at as usize] == join.sketch(two)[at as usize])
            };
            plan.tables.iter().filter(agree).count()
        };
        let met: usize =
            (0..300).flat_map(|two| (0..two).map(move |one| (one, two))).map(|(one, two)| meet(one, two)).sum();
        assert_eq!(join.met(), met);
        let drawn = join.drawn(100);
        assert!(drawn.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!((drawn.len(), drawn.partition_point(|&text| text < 30)), (80, 30));
        assert_eq!((pairs(30, 300), pairs(0, 300)), (30.0 * 270.0, 150.0 * 299.0));
    }

    /// Many pairs that meet in vain make sketches expensive, whatever they have in common.
    #[test]
    fn half_of_a_template_is_foreseen() {
        let plan = Plan::new(0.85, 0.99).unwrap();
        let rows: Vec<u32> = (0..2000).collect();
        let met = |template| {
            let sketches = sketches(2000, template);
            NearJoin::of(&sketches, &rows, 0, &plan).met()
        };
        assert!(met(true) > 100 * (met(false) + 1), "{} {}", met(true), met(false));
    }
}
