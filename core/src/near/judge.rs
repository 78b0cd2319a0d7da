//! Exact comparison of pairs of texts: their cosine, and the distance of their fingerprints.

use std::borrow::Cow;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use crate::pipeline::{Judged, Pipeline};

/// The exact comparison of two texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The exact cosine of their features. Where one has none: 1 if they are equal and hold a letter or digit, else 0.
    /// With a rule of the pipeline: 0 if they differ so, and at most the share of words in the same order if the cosine
    /// reaches the threshold of the rule.
    pub similarity: f64,
    /// Bits in which their fingerprints differ.
    pub distance: u16,
}

impl Judged {
    pub(super) fn similarity(&self, other: &Judged) -> f64 {
        let mut similarity = self.vector.cosine(&other.vector);
        if similarity.is_nan() {
            let both = self.alone.zip(other.alone);
            similarity = f64::from(both.is_some_and(|(left, right)| left == right && super::digest(&left) != 0));
        }
        match (&self.marks, &other.marks) {
            (Some(left), Some(right)) if similarity > 0.0 => left.limit(right, similarity),
            _ => similarity,
        }
    }

    pub(super) fn verdict(&self, other: &Judged) -> Verdict {
        Verdict { similarity: self.similarity(other), distance: self.distance(other) }
    }

    pub(super) fn distance(&self, other: &Judged) -> u16 {
        let differing = self.value.iter().zip(&other.value).map(|(left, right)| (left ^ right).count_ones());
        differing.sum::<u32>() as u16
    }
}

/// Returns the text of a row; called from many threads.
pub type TextOf<'a, 't> = &'a (dyn Fn(usize) -> Cow<'t, str> + Sync);

impl Pipeline {
    /// Compares pairs of rows, on the threads of the current rayon pool. Every text is tokenised once and all of them
    /// stay in memory: pass some thousand pairs at a time, with pairs that share texts together. The result is useless
    /// once `stop` is set.
    pub fn judge(&self, pairs: &[(u32, u32)], text: TextOf<'_, '_>, stop: &AtomicBool) -> Vec<Verdict> {
        let mut rows: Vec<u32> = pairs.iter().flat_map(|&(left, right)| [left, right]).collect();
        rows.sort_unstable();
        rows.dedup();
        let judged = self.judged(&rows, text, stop);
        // Every row of a pair is in `rows`.
        let of = |row: u32| &judged[rows.partition_point(|&other| other < row)];
        pairs.par_iter().with_min_len(64).map(|&(left, right)| of(left).verdict(of(right))).collect()
    }

    /// Returns how far pairs of rows agree under the rule of this pipeline: 0 if they differ so, at most the share of
    /// words in the same order if order counts, else 1. As `judge` does it.
    pub fn agreement(&self, pairs: &[(u32, u32)], text: TextOf<'_, '_>, stop: &AtomicBool) -> Vec<f64> {
        match &self.distinguish {
            None => vec![1.0; pairs.len()],
            Some(rule) => {
                let read = |text: &str, buffer: &mut String| rule.marks(text, buffer);
                crate::differences::compare(pairs, text, stop, read, |left, right| left.agreement(right))
            }
        }
    }

    /// Compares one text with each of some others, on this thread.
    pub fn judge_one(&self, text: &str, others: &[&str]) -> Vec<Verdict> {
        let own = self.judged_one(text);
        others.iter().map(|other| own.verdict(&self.judged_one(other))).collect()
    }
}
