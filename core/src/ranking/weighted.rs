//! Weights of the current corpus: idf, norms, and bounds of scores.

use std::str::FromStr;
use std::sync::Arc;

use rayon::prelude::*;

use super::index::State;
use super::part::{PostingColumns, posting};
use super::{COUNT_BITS, LARGE};
use crate::error::{Error, choose};
use crate::saved::Corrupt;

/// Documents of a block, which share bounds.
pub(super) const BLOCK: usize = 64;
/// A term that one of so many documents has is a frequent one; one of so many a very frequent one.
const FREQUENT: u64 = 16;
const VERY_FREQUENT: u64 = 4;
/// Terms of fewer documents than this are never frequent: to add them up takes no time.
pub(super) const LEAST_FREQUENT: u64 = 512;
/// The factor that rounds a bound in single precision up.
const UP: f64 = 1.0 + 2e-7;
/// Threads that share the work on one part.
const SHARES: usize = 8;

/// How the weight of a term follows from the number of documents that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdfKind {
    /// ln((1 + n) / (1 + df)) + 1, as scikit-learn's TfidfVectorizer has it.
    Smooth,
    /// log2(n / df), as gensim's TfidfModel has it: what all documents have counts for nothing.
    Gensim,
}

impl FromStr for IdfKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<IdfKind, Error> {
        choose("idf", name, &[("smooth", IdfKind::Smooth), ("gensim", IdfKind::Gensim)])
    }
}

impl IdfKind {
    pub(super) fn of(self, documents: u64, with_term: u32) -> f64 {
        let (documents, with_term) = (documents as f64, f64::from(with_term));
        match self {
            IdfKind::Smooth => ((1.0 + documents) / (1.0 + with_term)).ln() + 1.0,
            IdfKind::Gensim => (documents / with_term).log2(),
        }
    }
}

/// The weights of the documents of one part.
pub(super) struct WeightedPart {
    /// For each term the documents that have it, in all parts.
    pub(super) found: Vec<u32>,
    /// One over the norm of each document; 0 where there is none, or it was removed. Padded to whole blocks, as all of
    /// these are.
    pub(super) inverse: Vec<f64>,
    pub(super) bounds: Bounds,
    /// The frequent terms of each document, with counts, by the numbers of frequent terms.
    pub(super) frequent: Vec<u32>,
    /// Where those of each document begin, and the last ones end.
    pub(super) frequent_starts: Vec<usize>,
    /// The terms of this part that are frequent, by their numbers.
    pub(super) frequent_terms: Vec<Option<u32>>,
}

/// In single precision, rounded up: one over the norm, and the lengths of what is frequent and very frequent in the
/// document, whose own length is 1. By Cauchy and Schwarz these are what such terms can add to a score at most.
#[derive(Default)]
pub(super) struct Bounds {
    pub(super) inverse: Vec<f32>,
    pub(super) frequent: Vec<f32>,
    pub(super) very: Vec<f32>,
    /// The largest of each block.
    pub(super) block_frequent: Vec<f32>,
    pub(super) block_very: Vec<f32>,
}

/// The weights of a snapshot. Computing them reads every posting: O(postings), at the first query after a change.
pub(super) struct Weighted {
    pub(super) state: Arc<State>,
    pub(super) kind: IdfKind,
    pub(super) documents: u64,
    pub(super) parts: Vec<WeightedPart>,
    /// Whether a frequent term is a very frequent one, and its hash; ascending.
    pub(super) frequent: Vec<(bool, u64)>,
}

impl Weighted {
    /// Computes the weights on the threads of the current rayon pool. The order of sums depends neither on the number
    /// of threads nor on how documents are divided into parts: equal documents have equal scores.
    pub(super) fn new(state: Arc<State>, kind: IdfKind, least_frequent: u64) -> Result<Weighted, Corrupt> {
        state.slots.iter().try_for_each(|slot| slot.check())?;
        let documents: u64 = state.slots.iter().map(|slot| slot.live() as u64).sum();
        let found = found(&state);
        let cut = documents.div_ceil(FREQUENT).max(least_frequent);
        let mut frequent: Vec<(bool, u64)> = Vec::new();
        for (slot, found) in state.slots.iter().zip(&found) {
            let terms = slot.part.seen().terms;
            let is_frequent = |&(_, &with): &(&u64, &u32)| u64::from(with) >= cut;
            let very = documents.div_ceil(VERY_FREQUENT);
            frequent
                .extend(terms.iter().zip(found).filter(is_frequent).map(|(&x, &with)| (u64::from(with) >= very, x)));
        }
        frequent.sort_unstable();
        frequent.dedup();
        frequent.truncate(1 << (32 - COUNT_BITS));
        let parts = state
            .slots
            .iter()
            .zip(found)
            .map(|(slot, found)| {
                let columns = slot.part.seen();
                let idf = |term: usize| kind.of(documents, found[term]);
                let squares = squares(&columns, &idf);
                let inverse = inverse(squares, &|row| slot.is_gone(row));
                let terms: Vec<Option<u32>> =
                    frequent.iter().map(|&(_, term)| columns.find(term).map(|at| at as u32)).collect();
                let bounds = bounds(&columns, &idf, &inverse, terms.iter().zip(&frequent).map(|(&at, x)| (at, x.0)));
                let (frequent_starts, frequent) = rows(&columns, &terms);
                WeightedPart { found, inverse, bounds, frequent, frequent_starts, frequent_terms: terms }
            })
            .collect();
        Ok(Weighted { state, kind, documents, parts, frequent })
    }

    /// Returns the number of a frequent term.
    pub(super) fn number(&self, term: u64) -> Option<usize> {
        [false, true].into_iter().find_map(|very| self.frequent.binary_search(&(very, term)).ok())
    }
}

/// Returns for each part and term the number of documents, in all parts, that have it.
fn found(state: &State) -> Vec<Vec<u32>> {
    let own: Vec<Vec<u32>> = state
        .slots
        .par_iter()
        .map(|slot| {
            let columns = slot.part.seen();
            let mut own: Vec<u32> = columns.starts.windows(2).map(|ends| (ends[1] - ends[0]) as u32).collect();
            if slot.has_gone() {
                own.par_iter_mut().with_min_len(1 << 10).enumerate().for_each(|(term, count)| {
                    let live =
                        columns.span(term).filter(|&at| !slot.is_gone((columns.postings[at] >> COUNT_BITS) as usize));
                    *count = live.count() as u32;
                });
            }
            own
        })
        .collect();
    if own.len() < 2 {
        return own;
    }
    let terms: Vec<&[u64]> = state.slots.iter().map(|slot| slot.part.seen().terms).collect();
    (0..own.len())
        .into_par_iter()
        .map(|here| {
            let mut all = own[here].clone();
            for there in (0..own.len()).filter(|&there| there != here) {
                let mut place = 0;
                for (term, count) in terms[here].iter().zip(&mut all) {
                    while place < terms[there].len() && terms[there][place] < *term {
                        place += 1;
                    }
                    if terms[there].get(place) == Some(term) {
                        *count += own[there][place];
                    }
                }
            }
            all
        })
        .collect()
}

/// Returns the sums of squares of the weights of each document. Each thread has some of the rows, so that a sum is
/// always formed in the order of terms.
fn squares(columns: &PostingColumns<'_>, idf: &(dyn Fn(usize) -> f64 + Sync)) -> Vec<f64> {
    let rows = columns.keys.len();
    let mut sums = vec![0.0; rows.next_multiple_of(BLOCK)];
    let share = rows.div_ceil(rayon::current_num_threads().clamp(1, SHARES)).max(1);
    let idfs: Vec<f64> = (0..columns.terms.len()).into_par_iter().with_min_len(1 << 12).map(idf).collect();
    sums.par_chunks_mut(share).enumerate().for_each(|(number, sums)| {
        let (first, end) = (number * share, number * share + sums.len());
        for (term, idf) in idfs.iter().enumerate() {
            let span = columns.span(term);
            let own = &columns.postings[span.clone()];
            let row = |posting: &u32| (posting >> COUNT_BITS) as usize;
            let start =
                if own.first().is_none_or(|x| row(x) >= first) { 0 } else { own.partition_point(|x| row(x) < first) };
            for (at, posting) in own[start..].iter().enumerate() {
                let row = row(posting);
                if row >= end {
                    break;
                }
                let count = posting & LARGE;
                let count = if count == LARGE { columns.count(span.start + start + at) } else { count };
                let weight = f64::from(count) * idf;
                sums[row - first] += weight * weight;
            }
        }
    });
    sums
}

fn inverse(mut squares: Vec<f64>, is_gone: &(dyn Fn(usize) -> bool + Sync)) -> Vec<f64> {
    squares.par_iter_mut().with_min_len(1 << 12).enumerate().for_each(|(row, square)| {
        *square = if *square > 0.0 && !is_gone(row) { 1.0 / square.sqrt() } else { 0.0 };
    });
    squares
}

fn bounds(
    columns: &PostingColumns<'_>,
    idf: &dyn Fn(usize) -> f64,
    inverse: &[f64],
    frequent: impl Iterator<Item = (Option<u32>, bool)>,
) -> Bounds {
    let mut sums = [vec![0.0; inverse.len()], vec![0.0; inverse.len()]];
    for (term, very) in frequent {
        let Some(term) = term.map(|term| term as usize) else { continue };
        let (idf, sums) = (idf(term), &mut sums[usize::from(very)]);
        columns.each(term, |row, count| {
            let weight = f64::from(count) * idf;
            sums[row] += weight * weight;
        });
    }
    let lengths = |sums: &[f64]| -> Vec<f32> {
        sums.iter().zip(inverse).map(|(sum, inverse)| (sum.sqrt() * inverse * UP) as f32).collect()
    };
    let [frequent, very] = sums.map(|sums| lengths(&sums));
    let largest = |values: &[f32]| {
        values.chunks(BLOCK).map(|block| block.iter().copied().fold(0.0, f32::max)).collect::<Vec<_>>()
    };
    Bounds {
        inverse: inverse.iter().map(|inverse| (inverse * UP) as f32).collect(),
        block_frequent: largest(&frequent),
        block_very: largest(&very),
        frequent,
        very,
    }
}

/// Returns the frequent terms document by document.
fn rows(columns: &PostingColumns<'_>, terms: &[Option<u32>]) -> (Vec<usize>, Vec<u32>) {
    let mut starts = vec![0; columns.keys.len() + 2];
    let known = || terms.iter().enumerate().filter_map(|(number, term)| term.map(|term| (number, term as usize)));
    for (_, term) in known() {
        columns.each(term, |row, _| starts[row + 2] += 1);
    }
    for row in 2..starts.len() {
        starts[row] += starts[row - 1];
    }
    let mut rows = vec![0; starts[starts.len() - 1]];
    for (number, term) in known() {
        columns.each(term, |row, count| {
            // The same packing as that of postings, with the number of a term in place of a row.
            rows[starts[row + 1]] = posting(number as u32, count);
            starts[row + 1] += 1;
        });
    }
    starts.pop();
    (starts, rows)
}
