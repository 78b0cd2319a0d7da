//! A query answered: the documents with the highest cosines, without a look at all that have one.
//!
//! Rare terms are added up for all documents that have them. What frequent terms can add to that is bounded for each
//! document, and for blocks of documents, by the lengths of these parts of query and document (Cauchy and Schwarz: it is
//! tighter than the sum of the terms' own bounds by which MaxScore of Turtle and Flood, 1995, prunes, and with blocks it
//! is what Ding and Suel, 2011, do). Only where the bound reaches the n-th best score so far are the frequent terms
//! looked at, so the answer is that of a look at everything. Where that leaves too many candidates, frequent terms are
//! added up as well. With `r` postings of the query's rare terms, `b` blocks and `c` candidates it takes
//! O(r + b + 64 · touched blocks + c · frequent terms of a document), and at worst O(postings of the query's terms).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::part::Columns;
use super::weighted::{BLOCK, Bounds, Weighted, WeightedPart};
use super::{COUNT_BITS, LARGE};

/// Scores above this are 1, but for rounding.
const ONE: f64 = 1.0 - 1e-12;
/// Bounds are in single precision: what they may miss by.
const SLACK: f64 = 1.0 - 2e-6;
/// A look at a candidate takes as long as adding up so many postings.
const LOOK: usize = 100;
/// Bounds of so many documents take as long as one posting.
const SCAN: usize = 2;
/// So many times more documents are looked at first than are to be found.
const SEEDS: usize = 4;

/// What was found, by query; for each the highest score first, then by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    /// The query's number.
    pub queries: Vec<u32>,
    /// The key found.
    pub keys: Vec<i64>,
    /// The cosine, above 0.
    pub scores: Vec<f64>,
}

/// One of the best so far. The greatest is the one to be dropped first.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Hit {
    pub(super) score: f64,
    pub(super) key: i64,
}

impl Eq for Hit {}

impl Ord for Hit {
    fn cmp(&self, other: &Hit) -> Ordering {
        other.score.total_cmp(&self.score).then(self.key.cmp(&other.key))
    }
}

impl PartialOrd for Hit {
    fn partial_cmp(&self, other: &Hit) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best `n` so far, and the score from which a document is one of them.
struct Best {
    n: usize,
    hits: BinaryHeap<Hit>,
    /// Known to be reached by `n` documents.
    seeded: f64,
}

impl Best {
    /// What a bound must reach to be looked at.
    fn cut(&self) -> f32 {
        let worst = if self.hits.len() < self.n { 0.0 } else { self.hits.peek().map_or(0.0, |hit| hit.score) };
        (worst.max(self.seeded) * SLACK) as f32
    }

    fn take(&mut self, hit: Hit) {
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
    /// What the rare terms of the query add to each document; zeros between queries.
    sums: Vec<f64>,
    /// Whether that is more than nothing for a block.
    touched: Vec<bool>,
    /// What a frequent term is multiplied with; zeros between queries.
    factors: Vec<f64>,
    /// Of blocks: about the largest score without frequent terms, and what a score can be at most.
    lower: Vec<f32>,
    upper: Vec<f32>,
    /// Candidates.
    rows: Vec<u32>,
}

/// A query made ready: its terms by kind.
struct Query {
    rare: Vec<(u64, f64)>,
    /// The frequent and the very frequent ones, by their numbers.
    frequent: [Vec<(u32, f64)>; 2],
    /// The lengths of what is frequent and very frequent in it.
    lengths: [f64; 2],
}

impl Query {
    /// None if no document has one of its terms, or only terms that count for nothing.
    fn new(weighted: &Weighted, terms: &mut [(u64, u32)]) -> Option<Query> {
        terms.sort_unstable();
        let with_term = |term: u64| {
            let parts = weighted.state.slots.iter().zip(&weighted.parts);
            let mut found = parts.filter_map(|(slot, part)| slot.part.seen().find(term).map(|at| part.found[at]));
            found.next().filter(|&with| with > 0)
        };
        let weight = |&(term, count): &(u64, u32)| {
            let idf = weighted.kind.of(weighted.documents, with_term(term)?);
            Some((term, f64::from(count) * idf, idf))
        };
        let known: Vec<(u64, f64, f64)> = terms.iter().filter_map(weight).collect();
        let norm = known.iter().map(|(_, weight, _)| weight * weight).sum::<f64>().sqrt();
        if norm == 0.0 {
            return None;
        }
        let mut query = Query { rare: Vec::new(), frequent: Default::default(), lengths: [0.0; 2] };
        for (term, weight, idf) in known {
            // The query's length is 1; factors are to be multiplied with counts.
            let (weight, factor) = (weight / norm, weight / norm * idf);
            match weighted.number(term) {
                Some(number) => {
                    let very = usize::from(weighted.frequent[number].0);
                    query.frequent[very].push((number as u32, factor));
                    query.lengths[very] += weight * weight;
                }
                None => query.rare.push((term, factor)),
            }
        }
        query.lengths = query.lengths.map(f64::sqrt);
        Some(query)
    }
}

/// The best `n` documents for a query's terms, in order.
pub(super) fn best(weighted: &Weighted, terms: &mut [(u64, u32)], n: usize, scratch: &mut Scratch) -> Vec<Hit> {
    let Some(query) = Query::new(weighted, terms) else { return Vec::new() };
    let mut best = Best { n, hits: BinaryHeap::new(), seeded: 0.0 };
    scratch.factors.resize(weighted.frequent.len().max(scratch.factors.len()), 0.0);
    for (slot, part) in weighted.state.slots.iter().zip(&weighted.parts) {
        for &(number, factor) in query.frequent.iter().flatten() {
            scratch.factors[number as usize] = factor;
        }
        search(&slot.part.seen(), part, &query, &mut best, scratch);
    }
    for &(number, _) in query.frequent.iter().flatten() {
        scratch.factors[number as usize] = 0.0;
    }
    best.hits.into_sorted_vec()
}

/// Adds up the rare terms, then frequent ones as long as that takes less time than a look at the candidates that are left.
/// Whichever way, the terms of a document are added in one order: rare, frequent, very frequent ones, each by their hashes.
fn search(columns: &Columns<'_>, part: &WeightedPart, query: &Query, best: &mut Best, scratch: &mut Scratch) {
    let blocks = part.inverse.len() / BLOCK;
    scratch.sums.resize(part.inverse.len().max(scratch.sums.len()), 0.0);
    scratch.touched.clear();
    scratch.touched.resize(blocks, false);
    for &(term, factor) in &query.rare {
        if let Some(term) = columns.find(term) {
            add(columns, term, factor, &mut scratch.sums, &mut scratch.touched);
        }
    }
    let mut lengths = query.lengths.map(|length| length as f32);
    let mut left = query.frequent.each_ref().map(|terms| postings(columns, part, terms));
    for (kind, terms) in query.frequent.iter().enumerate() {
        let sum: usize = left.iter().sum();
        if sum > columns.keys.len() / SCAN && candidates(columns, part, lengths, sum / LOOK, best, scratch) {
            break;
        }
        for &(number, factor) in terms {
            if let Some(term) = part.frequent_terms[number as usize] {
                add(columns, term as usize, factor, &mut scratch.sums, &mut scratch.touched);
            }
            scratch.factors[number as usize] = 0.0;
        }
        (lengths[kind], left[kind]) = (0.0, 0);
    }
    if lengths == [0.0; 2] {
        candidates(columns, part, lengths, usize::MAX, best, scratch);
    }
    take(columns, part, lengths, best, scratch);
    for block in (0..blocks).filter(|&block| scratch.touched[block]) {
        scratch.sums[block * BLOCK..(block + 1) * BLOCK].fill(0.0);
    }
}

/// How many postings frequent terms of the query have.
fn postings(columns: &Columns<'_>, part: &WeightedPart, terms: &[(u32, f64)]) -> usize {
    let known = terms.iter().filter_map(|&(number, _)| part.frequent_terms[number as usize]);
    known.map(|term| columns.span(term as usize).len()).sum()
}

/// Finds the rows whose bounds reach the n-th best score; false, and none of use, if there are more than `most`.
fn candidates(
    columns: &Columns<'_>,
    part: &WeightedPart,
    lengths: [f32; 2],
    most: usize,
    best: &mut Best,
    scratch: &mut Scratch,
) -> bool {
    let Scratch { sums, touched, factors, lower, upper, rows } = scratch;
    (lower.clear(), upper.clear(), rows.clear());
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
    let candidate = Candidate { columns, part, sums, factors };
    let cut = best.cut();
    let mut open: Vec<u32> = (0..upper.len() as u32).filter(|&block| above(upper[block as usize], cut)).collect();
    // Documents of the blocks that promise most tell what the n-th best reaches at least.
    if open.len() > best.n {
        let seeds = best.n.saturating_mul(SEEDS).min(open.len());
        open.select_nth_unstable_by(seeds - 1, |&a, &b| lower[b as usize].total_cmp(&lower[a as usize]));
        let mut scores: Vec<f64> = open[..seeds].iter().map(|&block| candidate.best_of(block as usize)).collect();
        let (_, nth, _) = scores.select_nth_unstable_by(best.n - 1, |a, b| b.total_cmp(a));
        best.seeded = best.seeded.max(*nth);
    }
    let cut = best.cut();
    for block in open {
        if above(upper[block as usize], cut) {
            let own = block as usize * BLOCK..((block as usize + 1) * BLOCK).min(columns.keys.len());
            rows.extend(own.filter(|&row| above(candidate.bound(row, lengths), cut)).map(|row| row as u32));
            if rows.len() > most {
                return false;
            }
        }
    }
    true
}

/// Looks at the candidates.
fn take(columns: &Columns<'_>, part: &WeightedPart, lengths: [f32; 2], best: &mut Best, scratch: &mut Scratch) {
    let candidate = Candidate { columns, part, sums: &scratch.sums, factors: &scratch.factors };
    let mut cut = best.cut();
    for &row in &scratch.rows {
        let row = row as usize;
        if above(candidate.bound(row, lengths), cut) {
            let score =
                if lengths == [0.0; 2] { candidate.finished(candidate.sums[row], row) } else { candidate.score(row) };
            if score > 0.0 {
                best.take(Hit { score, key: columns.keys[row] });
                cut = best.cut();
            }
        }
    }
}

/// What has no bound above 0 has no score.
#[inline(always)]
fn above(bound: f32, cut: f32) -> bool {
    bound > 0.0 && bound >= cut
}

#[inline(always)]
fn add(columns: &Columns<'_>, term: usize, factor: f64, sums: &mut [f64], touched: &mut [bool]) {
    let span = columns.span(term);
    for (at, &posting) in columns.postings[span.clone()].iter().enumerate() {
        let (row, count) = ((posting >> COUNT_BITS) as usize, posting & LARGE);
        let count = if count == LARGE { columns.count(span.start + at) } else { count };
        sums[row] += factor * f64::from(count);
        touched[row / BLOCK] = true;
    }
}

/// The largest score of a block without its frequent terms, about, and what a score in it can be at most.
#[inline(always)]
fn block_bounds(sums: &[f64], bounds: &Bounds, start: usize, lengths: [f32; 2]) -> (f32, f32) {
    const LANES: usize = 8;
    let (mut lower, mut upper) = ([0f32; LANES], [0f32; LANES]);
    let rows = start..start + BLOCK;
    let columns = (&bounds.inverse[rows.clone()], &bounds.frequent[rows.clone()], &bounds.very[rows]);
    for at in (0..BLOCK).step_by(LANES) {
        for lane in 0..LANES {
            let low = sums[at + lane] as f32 * columns.0[at + lane];
            let high = low + lengths[0] * columns.1[at + lane] + lengths[1] * columns.2[at + lane];
            lower[lane] = if low > lower[lane] { low } else { lower[lane] };
            upper[lane] = if high > upper[lane] { high } else { upper[lane] };
        }
    }
    (lower.into_iter().fold(0.0, f32::max), upper.into_iter().fold(0.0, f32::max))
}

/// Documents of a part, to be looked at one by one.
struct Candidate<'a> {
    columns: &'a Columns<'a>,
    part: &'a WeightedPart,
    sums: &'a [f64],
    factors: &'a [f64],
}

impl Candidate<'_> {
    #[inline(always)]
    fn bound(&self, row: usize, lengths: [f32; 2]) -> f32 {
        let bounds = &self.part.bounds;
        let low = self.sums[row] as f32 * bounds.inverse[row];
        low + lengths[0] * bounds.frequent[row] + lengths[1] * bounds.very[row]
    }

    /// The cosine.
    fn score(&self, row: usize) -> f64 {
        let own = &self.part.frequent[self.part.frequent_starts[row]..self.part.frequent_starts[row + 1]];
        let mut sum = self.sums[row];
        for &packed in own {
            let (number, count) = (packed >> COUNT_BITS, packed & LARGE);
            let count = if count == LARGE { self.large(number, row) } else { count };
            sum += self.factors[number as usize] * f64::from(count);
        }
        self.finished(sum, row)
    }

    fn finished(&self, sum: f64, row: usize) -> f64 {
        let score = sum * self.part.inverse[row];
        if score > ONE { 1.0 } else { score }
    }

    #[cold]
    fn large(&self, number: u32, row: usize) -> u32 {
        let Some(term) = self.part.frequent_terms[number as usize] else { return LARGE };
        let span = self.columns.span(term as usize);
        let own = &self.columns.postings[span.clone()];
        self.columns.count(span.start + own.partition_point(|x| ((x >> COUNT_BITS) as usize) < row))
    }

    /// The score of the document of a block that is best without its frequent terms.
    fn best_of(&self, block: usize) -> f64 {
        let rows = block * BLOCK..((block + 1) * BLOCK).min(self.columns.keys.len());
        let low = |row: usize| self.sums[row] * self.part.inverse[row];
        rows.max_by(|&a, &b| low(a).total_cmp(&low(b))).map_or(0.0, |row| self.score(row))
    }
}
