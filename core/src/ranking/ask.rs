//! A query answered: the documents with the highest cosines, without a look at all that have one.
//!
//! Rare terms are added up for all documents that have them. What frequent terms can add to that is bounded for each
//! document, and for blocks of documents, by the lengths of these parts of query and document (Cauchy and Schwarz: it
//! is tighter than the sum of the terms' own bounds by which MaxScore of Turtle and Flood, 1995, prunes, and with
//! blocks it is what Ding and Suel, 2011, do). Only where the bound reaches the n-th best score so far are the frequent
//! terms looked at, so the answer is that of a look at everything. Where that leaves too many candidates, frequent
//! terms are added up as well; and where frequent terms have few postings, all are from the start (`sweep`). With `r`
//! postings of the query's rare terms, `b` blocks and `c` candidates it takes O(r + b + 64 · touched blocks + c ·
//! frequent terms of a document), and at worst O(postings of the query's terms).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::part::PostingColumns;
use super::sweep::sweep;
use super::weighted::{BLOCK, Bounds, Weighted, WeightedPart};
use super::{COUNT_BITS, LARGE};

/// Scores above this are 1, but for rounding.
const ONE: f64 = 1.0 - 1e-12;
/// The rounding error of bounds, which are in single precision.
const SLACK: f64 = 1.0 - 2e-6;
/// Scoring a candidate takes as long as adding up this many postings.
const LOOK: usize = 60;
/// Bounds pay only if frequent terms of the query have this many times more postings than there are documents.
const WORTH: usize = 2;
/// Documents scored first, as a multiple of those to find.
const SEEDS: usize = 4;
/// If the query has fewer postings than one for this many documents, blocks without any are skipped.
const SPARSE: usize = 2;

/// Matches by query, then by score, highest first, then by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    /// The query's number.
    pub queries: Vec<u32>,
    /// The key found.
    pub keys: Vec<i64>,
    /// The cosine, above 0.
    pub scores: Vec<f64>,
}

/// A document and its score. The highest score comes first, then the lowest key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ScoredDocument {
    pub(super) score: f64,
    pub(super) key: i64,
}

impl Eq for ScoredDocument {}

impl Ord for ScoredDocument {
    fn cmp(&self, other: &ScoredDocument) -> Ordering {
        other.score.total_cmp(&self.score).then(self.key.cmp(&other.key))
    }
}

impl PartialOrd for ScoredDocument {
    fn partial_cmp(&self, other: &ScoredDocument) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best `n` so far, and the score from which a document is one of them.
struct Best {
    n: usize,
    /// The worst of them on top.
    hits: BinaryHeap<ScoredDocument>,
    /// Known to be reached by `n` documents.
    seeded: f64,
    /// The least score.
    least: f64,
}

impl Best {
    /// Returns the value that a bound must reach.
    fn cut(&self) -> f32 {
        let worst = if self.hits.len() < self.n { 0.0 } else { self.hits.peek().map_or(0.0, |hit| hit.score) };
        (worst.max(self.seeded).max(self.least) * SLACK) as f32
    }

    fn take(&mut self, score: f64, key: i64) {
        if score <= 0.0 || score < self.least {
            return;
        }
        let hit = ScoredDocument { score, key };
        if self.hits.len() < self.n {
            self.hits.push(hit);
        } else if let Some(mut worst) = self.hits.peek_mut()
            && hit < *worst
        {
            *worst = hit;
        }
    }
}

/// Buffers of one thread.
#[derive(Default)]
pub(super) struct Scratch {
    /// The factors of frequent terms; zeros between queries.
    factors: Vec<f64>,
    sums: Sums,
}

/// Partial scores of the documents of a part.
#[derive(Default)]
struct Sums {
    /// The sum of the terms added up so far, for each document; zeros between queries.
    sums: Vec<f64>,
    /// Whether a block may have a sum above 0.
    touched: Vec<bool>,
    /// Of blocks: about the largest score without frequent terms, and what a score can be at most.
    lower: Vec<f32>,
    upper: Vec<f32>,
    /// Candidates.
    rows: Vec<u32>,
}

/// A prepared query: its terms by kind, with factors for counts.
struct Query {
    /// By their numbers in each part.
    rare: Vec<Vec<(usize, f64)>>,
    /// The frequent and the very frequent ones, by their numbers.
    frequent: [Vec<(u32, f64)>; 2],
    /// The lengths of what is frequent and very frequent in it.
    lengths: [f64; 2],
}

impl Query {
    /// Prepares a query; None if no document has one of its terms with a weight above 0.
    fn new(weighted: &Weighted, terms: &mut [(u64, u32)]) -> Option<Query> {
        terms.sort_unstable();
        let parts = weighted.state.slots.iter().map(|slot| slot.part.seen());
        let places: Vec<Vec<Option<usize>>> = parts.map(|columns| columns.find_all(terms)).collect();
        let with_term = |at: usize| {
            let found = places.iter().zip(&weighted.parts).find_map(|(places, part)| Some(part.found[places[at]?]));
            found.filter(|&with| with > 0)
        };
        let weights: Vec<(f64, f64)> = terms
            .iter()
            .enumerate()
            .map(|(at, &(_, count))| {
                let idf = with_term(at).map_or(0.0, |with| weighted.kind.of(weighted.documents, with));
                (f64::from(count) * idf, idf)
            })
            .collect();
        let norm = weights.iter().map(|(weight, _)| weight * weight).sum::<f64>().sqrt();
        if norm == 0.0 {
            return None;
        }
        let mut query = Query { rare: vec![Vec::new(); places.len()], frequent: Default::default(), lengths: [0.0; 2] };
        for (at, ((weight, idf), &(term, _))) in weights.into_iter().zip(&*terms).enumerate() {
            // The query's length is 1.
            let (weight, factor) = (weight / norm, weight / norm * idf);
            if factor == 0.0 {
                continue;
            }
            if let Some(number) = weighted.number(term) {
                let very = usize::from(weighted.frequent[number].0);
                query.frequent[very].push((number as u32, factor));
                query.lengths[very] += weight * weight;
            } else {
                for (rare, places) in query.rare.iter_mut().zip(&places) {
                    rare.extend(places[at].map(|place| (place, factor)));
                }
            }
        }
        query.lengths = query.lengths.map(f64::sqrt);
        Some(query)
    }
}

/// Returns the best `n` documents for a query's terms, in order, whose scores are at least `least`.
///
/// The terms of a document are always added up in one order: rare, frequent, very frequent ones, each by their hashes.
/// So equal documents have equal scores, whichever way they were found.
pub(super) fn best(
    weighted: &Weighted,
    terms: &mut [(u64, u32)],
    n: usize,
    least: f64,
    scratch: &mut Scratch,
) -> Vec<ScoredDocument> {
    let Some(query) = Query::new(weighted, terms) else { return Vec::new() };
    let Scratch { factors, sums } = scratch;
    factors.resize(weighted.frequent.len().max(factors.len()), 0.0);
    let mut best = Best { n, hits: BinaryHeap::new(), seeded: 0.0, least };
    for part in 0..weighted.parts.len() {
        query.frequent.iter().flatten().for_each(|&(number, factor)| factors[number as usize] = factor);
        Search { weighted, part, query: &query, best: &mut best }.run(sums, factors);
    }
    query.frequent.iter().flatten().for_each(|&(number, _)| factors[number as usize] = 0.0);
    best.hits.into_sorted_vec()
}

/// A query on one part.
struct Search<'a> {
    weighted: &'a Weighted,
    part: usize,
    query: &'a Query,
    best: &'a mut Best,
}

impl Search<'_> {
    /// Adds up the rare terms, then frequent ones as long as that takes less time than scoring the remaining
    /// candidates; then scores these.
    fn run(&mut self, sums: &mut Sums, factors: &mut [f64]) {
        let (columns, part) = (self.weighted.state.slots[self.part].part.seen(), &self.weighted.parts[self.part]);
        let padded = part.inverse.len();
        sums.sums.resize(padded.max(sums.sums.len()), 0.0);
        let rare = &self.query.rare[self.part];
        let postings: usize = rare.iter().map(|&(term, _)| columns.span(term).len()).sum();
        let mut sparse = postings < columns.keys.len() / SPARSE;
        let frequent: usize = self.query.frequent.iter().map(|terms| frequent_postings(&columns, part, terms)).sum();
        if !sparse && self.best.least <= 0.0 && frequent <= WORTH * columns.keys.len() {
            return self.sweep();
        }
        sums.touched.clear();
        sums.touched.resize(padded / BLOCK, !sparse);
        for &(term, factor) in rare {
            add(&columns, term, factor, &mut sums.sums);
            if sparse {
                columns
                    .span(term)
                    .for_each(|at| sums.touched[(columns.postings[at] >> COUNT_BITS) as usize / BLOCK] = true);
            }
        }
        let mut lengths = self.query.lengths.map(|length| length as f32);
        let mut left = self.query.frequent.each_ref().map(|terms| frequent_postings(&columns, part, terms));
        for (kind, terms) in self.query.frequent.iter().enumerate() {
            let sum: usize = left.iter().sum();
            if sum > WORTH * columns.keys.len() && self.candidates(sums, factors, lengths, sum / LOOK) {
                break;
            }
            for &(number, factor) in terms {
                if let Some(term) = part.frequent_terms[number as usize] {
                    add(&columns, term as usize, factor, &mut sums.sums);
                }
                factors[number as usize] = 0.0;
            }
            if left[kind] > 0 && sparse {
                sparse = false;
                sums.touched.fill(true);
            }
            (lengths[kind], left[kind]) = (0.0, 0);
        }
        if lengths == [0.0; 2] {
            self.candidates(sums, factors, lengths, usize::MAX);
        }
        self.take(sums, factors, lengths);
        for (block, _) in sums.touched.iter().enumerate().filter(|(_, touched)| **touched) {
            sums.sums[block * BLOCK..(block + 1) * BLOCK].fill(0.0);
        }
    }

    /// Adds up everything.
    fn sweep(&mut self) {
        let (columns, part) = (self.weighted.state.slots[self.part].part.seen(), &self.weighted.parts[self.part]);
        let known = |&(number, factor): &(u32, f64)| Some((part.frequent_terms[number as usize]? as usize, factor));
        let rare = self.query.rare[self.part].iter().copied();
        let terms = rare.chain(self.query.frequent.iter().flatten().filter_map(known));
        let candidate = Candidate { columns: &columns, part, factors: &[] };
        sweep(&columns, &part.bounds, terms, self.best.cut(), |row, sum| {
            self.best.take(candidate.finished(sum, row), columns.keys[row]);
            self.best.cut()
        });
    }

    /// Finds the rows whose bounds reach the n-th best score; returns false if there are more than `most`.
    fn candidates(&mut self, sums: &mut Sums, factors: &[f64], lengths: [f32; 2], most: usize) -> bool {
        let (columns, part) = (self.weighted.state.slots[self.part].part.seen(), &self.weighted.parts[self.part]);
        let Sums { sums, touched, lower, upper, rows } = sums;
        lower.clear();
        upper.clear();
        rows.clear();
        for (block, &touched) in touched.iter().enumerate() {
            let (low, high) = if touched {
                let rows = block * BLOCK..(block + 1) * BLOCK;
                block_bounds(&sums[rows.clone()], &part.bounds, rows.start, lengths)
            } else {
                (0.0, lengths[0] * part.bounds.block_frequent[block] + lengths[1] * part.bounds.block_very[block])
            };
            lower.push(low);
            upper.push(high);
        }
        let cut = self.best.cut();
        let mut open: Vec<u32> = (0..upper.len() as u32).filter(|&block| above(upper[block as usize], cut)).collect();
        // Documents of the most promising blocks give a lower bound of the n-th best score.
        if open.len() > self.best.n {
            let candidate = Candidate { columns: &columns, part, factors };
            let low = |row: usize| sums[row] * part.inverse[row];
            let best_of = |&block: &u32| {
                let rows = block as usize * BLOCK..((block as usize + 1) * BLOCK).min(columns.keys.len());
                let best = rows.max_by(|&a, &b| low(a).total_cmp(&low(b)));
                best.map_or(0.0, |row| candidate.score(sums[row], row))
            };
            let seeds = self.best.n.saturating_mul(SEEDS).min(open.len());
            open.select_nth_unstable_by(seeds - 1, |&a, &b| lower[b as usize].total_cmp(&lower[a as usize]));
            let mut scores: Vec<f64> = open[..seeds].iter().map(best_of).collect();
            let (_, nth, _) = scores.select_nth_unstable_by(self.best.n - 1, |a, b| b.total_cmp(a));
            self.best.seeded = self.best.seeded.max(*nth);
        }
        let cut = self.best.cut();
        for block in open {
            if above(upper[block as usize], cut) {
                let own = block as usize * BLOCK..((block as usize + 1) * BLOCK).min(columns.keys.len());
                rows.extend(
                    own.filter(|&row| above(bound(sums, &part.bounds, row, lengths), cut)).map(|row| row as u32),
                );
                if rows.len() > most {
                    return false;
                }
            }
        }
        true
    }

    /// Scores the candidates.
    fn take(&mut self, sums: &Sums, factors: &[f64], lengths: [f32; 2]) {
        let (columns, part) = (self.weighted.state.slots[self.part].part.seen(), &self.weighted.parts[self.part]);
        let candidate = Candidate { columns: &columns, part, factors };
        let mut cut = self.best.cut();
        for &row in &sums.rows {
            let at = row as usize;
            if above(bound(&sums.sums, &part.bounds, at, lengths), cut) {
                let sum = sums.sums[at];
                let score = if lengths == [0.0; 2] { candidate.finished(sum, at) } else { candidate.score(sum, at) };
                self.best.take(score, columns.keys[at]);
                cut = self.best.cut();
            }
        }
    }
}

/// Returns how many postings frequent terms of the query have.
fn frequent_postings(columns: &PostingColumns<'_>, part: &WeightedPart, terms: &[(u32, f64)]) -> usize {
    let known = terms.iter().filter_map(|&(number, _)| part.frequent_terms[number as usize]);
    known.map(|term| columns.span(term as usize).len()).sum()
}

/// Returns whether a bound is above 0 and reaches the cut.
#[inline(always)]
fn above(bound: f32, cut: f32) -> bool {
    bound > 0.0 && bound >= cut
}

/// Adds a term to the sums of the documents that have it. In a function of its own: there is nothing but the loop.
#[inline(never)]
fn add(columns: &PostingColumns<'_>, term: usize, factor: f64, sums: &mut [f64]) {
    let span = columns.span(term);
    if columns.has_large(&span) {
        columns.each(term, |row, count| sums[row] += factor * f64::from(count));
        return;
    }
    for &posting in &columns.postings[span] {
        sums[(posting >> COUNT_BITS) as usize] += factor * f64::from(posting & LARGE);
    }
}

#[inline(always)]
fn bound(sums: &[f64], bounds: &Bounds, row: usize, lengths: [f32; 2]) -> f32 {
    let low = sums[row] as f32 * bounds.inverse[row];
    low + lengths[0] * bounds.frequent[row] + lengths[1] * bounds.very[row]
}

/// Returns the largest score of a block without its frequent terms, about, and what a score in it can be at most.
#[inline(never)]
fn block_bounds(sums: &[f64], bounds: &Bounds, start: usize, lengths: [f32; 2]) -> (f32, f32) {
    const LANES: usize = 8;
    let rows = start..start + BLOCK;
    let inverse = bounds.inverse[rows.clone()].as_chunks::<LANES>().0;
    let frequent = bounds.frequent[rows.clone()].as_chunks::<LANES>().0;
    let very = bounds.very[rows].as_chunks::<LANES>().0;
    let (mut lower, mut upper) = ([0f32; LANES], [0f32; LANES]);
    let own = sums.as_chunks::<LANES>().0.iter().zip(inverse).zip(frequent.iter().zip(very));
    for ((sums, inverse), (frequent, very)) in own {
        let low: [f32; LANES] = std::array::from_fn(|lane| sums[lane] as f32 * inverse[lane]);
        let high: [f32; LANES] =
            std::array::from_fn(|lane| low[lane] + lengths[0] * frequent[lane] + lengths[1] * very[lane]);
        lower = std::array::from_fn(|lane| if low[lane] > lower[lane] { low[lane] } else { lower[lane] });
        upper = std::array::from_fn(|lane| if high[lane] > upper[lane] { high[lane] } else { upper[lane] });
    }
    (lower.into_iter().fold(0.0, f32::max), upper.into_iter().fold(0.0, f32::max))
}

/// Scores documents of a part one by one.
struct Candidate<'a> {
    columns: &'a PostingColumns<'a>,
    part: &'a WeightedPart,
    factors: &'a [f64],
}

impl Candidate<'_> {
    /// Returns the cosine; `sum` is that of all terms that have no factor here.
    fn score(&self, mut sum: f64, row: usize) -> f64 {
        for &packed in &self.part.frequent[self.part.frequent_starts[row]..self.part.frequent_starts[row + 1]] {
            let (number, count) = (packed >> COUNT_BITS, packed & LARGE);
            let count = if count == LARGE {
                let term = self.part.frequent_terms[number as usize];
                term.map_or(0, |term| self.count(term as usize, row))
            } else {
                count
            };
            sum += self.factors[number as usize] * f64::from(count);
        }
        self.finished(sum, row)
    }

    fn finished(&self, sum: f64, row: usize) -> f64 {
        let score = sum * self.part.inverse[row];
        if score > ONE { 1.0 } else { score }
    }

    /// Returns how often a document has a term.
    fn count(&self, term: usize, row: usize) -> u32 {
        let span = self.columns.span(term);
        let own = &self.columns.postings[span.clone()];
        let place = own.partition_point(|x| ((x >> COUNT_BITS) as usize) < row);
        let there = own.get(place).is_some_and(|x| (x >> COUNT_BITS) as usize == row);
        if there { self.columns.count(span.start + place) } else { 0 }
    }
}
