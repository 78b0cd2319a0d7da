//! A query answered: the documents with the highest cosines, without a look at all that have one.
//!
//! Rare terms are added up for all documents that have them. What frequent terms can add to that is bounded for each
//! document, and for blocks of documents, by the lengths of these parts of query and document (Cauchy and Schwarz: it is
//! tighter than the sum of the terms' own bounds by which MaxScore of Turtle and Flood, 1995, prunes, and with blocks it
//! is what Ding and Suel, 2011, do). Only where the bound reaches the n-th best score so far are the frequent terms
//! looked at, so the answer is that of a look at everything. Where that leaves too many candidates, frequent terms are
//! added up as well. With `r` postings of the query's rare terms, `b` blocks and `c` candidates it takes
//! O(r + b + 64 · touched blocks + c · frequent terms of a document), and at worst O(postings of the query's terms).

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::part::Columns;
use super::weighted::{BLOCK, Bounds, Weighted, WeightedPart};
use super::{COUNT_BITS, LARGE};

/// Scores above this are 1, but for rounding.
const ONE: f64 = 1.0 - 1e-12;
/// Bounds are in single precision: what they may miss by, and what each term of a sum in it adds to that.
const MISS: f64 = 2e-6;
const MISS_OF_TERM: f64 = 2.4e-7;
/// Sums are in double precision where more than this many documents are asked for: then none has to be looked at again.
const FEW: usize = 100;
/// A look at a candidate takes as long as adding up so many postings.
const LOOK: usize = 60;
/// Bounds of so many documents take as long as one posting.
const SCAN: usize = 2;
/// So many times more documents are looked at first than are to be found.
const SEEDS: usize = 4;
/// Where the query has fewer postings than one for so many documents, blocks that it has none in are passed by.
const SPARSE: usize = 2;

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

/// A document and its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hit {
    pub(super) score: f64,
    pub(super) key: i64,
}

impl Hit {
    /// The highest score first, then by key.
    fn order(&self, other: &Hit) -> Ordering {
        other.score.total_cmp(&self.score).then(self.key.cmp(&other.key))
    }
}

/// A score as a number that can be ordered: none is negative.
fn ordered(score: f64) -> u64 {
    score.to_bits()
}

/// What sums are formed in.
trait Sum: Copy + Default + PartialEq {
    fn of(value: f64) -> Self;
    fn times(self, count: u32) -> Self;
    fn plus(self, other: Self) -> Self;
    fn single(self) -> f32;
    fn double(self) -> f64;
}

impl Sum for f32 {
    fn of(value: f64) -> f32 {
        value as f32
    }
    fn times(self, count: u32) -> f32 {
        self * count as f32
    }
    fn plus(self, other: f32) -> f32 {
        self + other
    }
    fn single(self) -> f32 {
        self
    }
    fn double(self) -> f64 {
        f64::from(self)
    }
}

impl Sum for f64 {
    fn of(value: f64) -> f64 {
        value
    }
    fn times(self, count: u32) -> f64 {
        self * f64::from(count)
    }
    fn plus(self, other: f64) -> f64 {
        self + other
    }
    fn single(self) -> f32 {
        self as f32
    }
    fn double(self) -> f64 {
        self
    }
}

/// A document that may be one of the best, by its part and row.
#[derive(Clone, Copy)]
struct Seen {
    score: f64,
    part: u32,
    row: u32,
}

/// What may be among the best `n`, and the score from which a document may be.
struct Best {
    n: usize,
    /// The highest scores so far, the least of them on top.
    highest: BinaryHeap<Reverse<u64>>,
    seen: Vec<Seen>,
    /// Known to be reached by `n` documents.
    seeded: f64,
    /// What scores and bounds may miss by, both sides together.
    slack: f64,
}

impl Best {
    /// What a score or a bound must reach to be of interest.
    fn cut(&self) -> f64 {
        let worst = match self.highest.peek() {
            Some(&Reverse(worst)) if self.highest.len() == self.n => f64::from_bits(worst),
            _ => 0.0,
        };
        worst.max(self.seeded) * self.slack
    }

    fn take(&mut self, seen: Seen) {
        self.seen.push(seen);
        if self.highest.len() < self.n {
            self.highest.push(Reverse(ordered(seen.score)));
        } else if let Some(mut worst) = self.highest.peek_mut()
            && ordered(seen.score) > worst.0
        {
            *worst = Reverse(ordered(seen.score));
        }
    }
}

/// Buffers of one thread.
#[derive(Default)]
pub(super) struct Scratch {
    single: Sums<f32>,
    double: Sums<f64>,
    /// What a frequent term is multiplied with; zeros between queries.
    factors: Vec<f64>,
}

/// Buffers for sums of one kind.
#[derive(Default)]
struct Sums<S> {
    /// What the terms of the query that were added up make of each document; zeros between queries.
    sums: Vec<S>,
    /// Whether that may be more than nothing for a block.
    touched: Vec<bool>,
    /// Of blocks: about the largest score without frequent terms, and what a score can be at most.
    lower: Vec<f32>,
    upper: Vec<f32>,
    /// Candidates.
    rows: Vec<u32>,
}

/// A query made ready: its terms by kind, with factors to be multiplied with counts.
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
            // The query's length is 1.
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

    fn terms(&self) -> usize {
        self.rare.len() + self.frequent.iter().map(Vec::len).sum::<usize>()
    }

    /// Notes what frequent terms are multiplied with.
    fn set(&self, factors: &mut [f64]) {
        self.frequent.iter().flatten().for_each(|&(number, factor)| factors[number as usize] = factor);
    }

    fn unset(&self, factors: &mut [f64]) {
        self.frequent.iter().flatten().for_each(|&(number, _)| factors[number as usize] = 0.0);
    }
}

/// The best `n` documents for a query's terms, in order.
///
/// Sums in single precision are twice as quick. What they say may be among the best is then summed up again in double
/// precision, in the order in which all sums are formed: rare, frequent, very frequent terms, each by their hashes.
pub(super) fn best(weighted: &Weighted, terms: &mut [(u64, u32)], n: usize, scratch: &mut Scratch) -> Vec<Hit> {
    let Some(query) = Query::new(weighted, terms) else { return Vec::new() };
    let Scratch { single, double, factors } = scratch;
    factors.resize(weighted.frequent.len().max(factors.len()), 0.0);
    let few = n <= FEW;
    let slack = 1.0 - MISS - if few { MISS_OF_TERM * query.terms() as f64 } else { 0.0 };
    let mut best = Best { n, highest: BinaryHeap::new(), seen: Vec::new(), seeded: 0.0, slack: slack.max(0.0) };
    for part in 0..weighted.parts.len() {
        query.set(factors);
        match few {
            true => Search { weighted, part, query: &query, best: &mut best }.run(single, factors),
            false => Search { weighted, part, query: &query, best: &mut best }.run(double, factors),
        }
    }
    let cut = best.cut();
    query.set(factors);
    let columns: Vec<Columns<'_>> = weighted.state.slots.iter().map(|slot| slot.part.seen()).collect();
    // Where the query's rare terms are in each part.
    let found: Vec<Vec<(usize, f64)>> = columns
        .iter()
        .map(|columns| query.rare.iter().filter_map(|&(term, x)| columns.find(term).map(|at| (at, x))).collect())
        .collect();
    let hit = |seen: &Seen| {
        let (part, row) = (seen.part as usize, seen.row as usize);
        let candidate = Candidate { columns: &columns[part], part: &weighted.parts[part], factors };
        let exact = if few { candidate.score(candidate.rare(&found[part], row), row) } else { seen.score };
        Hit { score: exact, key: columns[part].keys[row] }
    };
    let mut hits: Vec<Hit> = best.seen.iter().filter(|seen| seen.score >= cut).map(hit).collect();
    query.unset(factors);
    hits.retain(|hit| hit.score > 0.0);
    hits.sort_unstable_by(Hit::order);
    hits.truncate(n);
    hits
}

/// A query asked of a part.
struct Search<'a> {
    weighted: &'a Weighted,
    part: usize,
    query: &'a Query,
    best: &'a mut Best,
}

impl Search<'_> {
    /// Adds up the rare terms, then frequent ones as long as that takes less time than a look at the candidates that are
    /// left; and looks at these.
    fn run<S: Sum>(&mut self, sums: &mut Sums<S>, factors: &mut [f64]) {
        let (columns, part) = (self.weighted.state.slots[self.part].part.seen(), &self.weighted.parts[self.part]);
        let padded = part.inverse.len();
        sums.sums.resize(padded.max(sums.sums.len()), S::default());
        let rare: Vec<(usize, f64)> =
            self.query.rare.iter().filter_map(|&(term, x)| columns.find(term).map(|at| (at, x))).collect();
        let postings: usize = rare.iter().map(|&(term, _)| columns.span(term).len()).sum();
        let mut sparse = postings < columns.keys.len() / SPARSE;
        sums.touched.clear();
        sums.touched.resize(padded / BLOCK, !sparse);
        for &(term, factor) in &rare {
            add(&columns, term, S::of(factor), &mut sums.sums);
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
            if sum > columns.keys.len() / SCAN && self.candidates(sums, factors, lengths, sum / LOOK) {
                break;
            }
            for &(number, factor) in terms {
                if let Some(term) = part.frequent_terms[number as usize] {
                    add(&columns, term as usize, S::of(factor), &mut sums.sums);
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
            sums.sums[block * BLOCK..(block + 1) * BLOCK].fill(S::default());
        }
    }

    /// Finds the rows whose bounds reach the n-th best score; false, and none of use, if there are more than `most`.
    fn candidates<S: Sum>(&mut self, sums: &mut Sums<S>, factors: &[f64], lengths: [f32; 2], most: usize) -> bool {
        let (columns, part) = (self.weighted.state.slots[self.part].part.seen(), &self.weighted.parts[self.part]);
        let Sums { sums, touched, lower, upper, rows } = sums;
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
        let cut = self.best.cut() as f32;
        let mut open: Vec<u32> = (0..upper.len() as u32).filter(|&block| above(upper[block as usize], cut)).collect();
        // Documents of the blocks that promise most tell what the n-th best reaches at least.
        if open.len() > self.best.n {
            let candidate = Candidate { columns: &columns, part, factors };
            let low = |row: usize| sums[row].double() * part.inverse[row];
            let best_of = |&block: &u32| {
                let rows = block as usize * BLOCK..((block as usize + 1) * BLOCK).min(columns.keys.len());
                let best = rows.max_by(|&a, &b| low(a).total_cmp(&low(b)));
                best.map_or(0.0, |row| candidate.score(sums[row].double(), row))
            };
            let seeds = self.best.n.saturating_mul(SEEDS).min(open.len());
            open.select_nth_unstable_by(seeds - 1, |&a, &b| lower[b as usize].total_cmp(&lower[a as usize]));
            let mut scores: Vec<f64> = open[..seeds].iter().map(best_of).collect();
            let (_, nth, _) = scores.select_nth_unstable_by(self.best.n - 1, |a, b| b.total_cmp(a));
            self.best.seeded = self.best.seeded.max(*nth);
        }
        let cut = self.best.cut() as f32;
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

    /// Looks at the candidates.
    fn take<S: Sum>(&mut self, sums: &Sums<S>, factors: &[f64], lengths: [f32; 2]) {
        let (columns, part) = (self.weighted.state.slots[self.part].part.seen(), &self.weighted.parts[self.part]);
        let candidate = Candidate { columns: &columns, part, factors };
        let mut cut = self.best.cut();
        for &row in &sums.rows {
            let at = row as usize;
            if above(bound(&sums.sums, &part.bounds, at, lengths), cut as f32) {
                let sum = sums.sums[at].double();
                let score = if lengths == [0.0; 2] { candidate.finished(sum, at) } else { candidate.score(sum, at) };
                if score > 0.0 && score >= cut {
                    self.best.take(Seen { score, part: self.part as u32, row });
                    cut = self.best.cut();
                }
            }
        }
    }
}

/// How many postings frequent terms of the query have.
fn frequent_postings(columns: &Columns<'_>, part: &WeightedPart, terms: &[(u32, f64)]) -> usize {
    let known = terms.iter().filter_map(|&(number, _)| part.frequent_terms[number as usize]);
    known.map(|term| columns.span(term as usize).len()).sum()
}

/// What has no bound above 0 has no score.
#[inline(always)]
fn above(bound: f32, cut: f32) -> bool {
    bound > 0.0 && bound >= cut
}

/// Adds a term to the sums of the documents that have it. In a function of its own: there is nothing but the loop.
#[inline(never)]
fn add<S: Sum>(columns: &Columns<'_>, term: usize, factor: S, sums: &mut [S]) {
    let span = columns.span(term);
    let large = columns.large.partition_point(|&at| (at as usize) < span.start);
    if columns.large.get(large).is_some_and(|&at| (at as usize) < span.end) {
        columns.each(term, |row, count| sums[row] = sums[row].plus(factor.times(count)));
        return;
    }
    for &posting in &columns.postings[span] {
        let sum = &mut sums[(posting >> COUNT_BITS) as usize];
        *sum = sum.plus(factor.times(posting & LARGE));
    }
}

#[inline(always)]
fn bound<S: Sum>(sums: &[S], bounds: &Bounds, row: usize, lengths: [f32; 2]) -> f32 {
    let low = sums[row].single() * bounds.inverse[row];
    low + lengths[0] * bounds.frequent[row] + lengths[1] * bounds.very[row]
}

/// The largest score of a block without its frequent terms, about, and what a score in it can be at most.
#[inline(never)]
fn block_bounds<S: Sum>(sums: &[S], bounds: &Bounds, start: usize, lengths: [f32; 2]) -> (f32, f32) {
    const LANES: usize = 8;
    let rows = start..start + BLOCK;
    let inverse = bounds.inverse[rows.clone()].as_chunks::<LANES>().0;
    let frequent = bounds.frequent[rows.clone()].as_chunks::<LANES>().0;
    let very = bounds.very[rows].as_chunks::<LANES>().0;
    let (mut lower, mut upper) = ([0f32; LANES], [0f32; LANES]);
    let own = sums.as_chunks::<LANES>().0.iter().zip(inverse).zip(frequent.iter().zip(very));
    for ((sums, inverse), (frequent, very)) in own {
        let low: [f32; LANES] = std::array::from_fn(|lane| sums[lane].single() * inverse[lane]);
        let high: [f32; LANES] =
            std::array::from_fn(|lane| low[lane] + lengths[0] * frequent[lane] + lengths[1] * very[lane]);
        lower = std::array::from_fn(|lane| if low[lane] > lower[lane] { low[lane] } else { lower[lane] });
        upper = std::array::from_fn(|lane| if high[lane] > upper[lane] { high[lane] } else { upper[lane] });
    }
    (lower.into_iter().fold(0.0, f32::max), upper.into_iter().fold(0.0, f32::max))
}

/// Documents of a part, to be looked at one by one.
struct Candidate<'a> {
    columns: &'a Columns<'a>,
    part: &'a WeightedPart,
    factors: &'a [f64],
}

impl Candidate<'_> {
    /// The cosine; `sum` is that of all terms that have no factor here.
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

    /// The sum of rare terms.
    fn rare(&self, terms: &[(usize, f64)], row: usize) -> f64 {
        terms.iter().fold(0.0, |sum, &(term, factor)| match self.count(term, row) {
            0 => sum,
            count => sum + factor * f64::from(count),
        })
    }

    /// How often a document has a term.
    fn count(&self, term: usize, row: usize) -> u32 {
        let span = self.columns.span(term);
        let own = &self.columns.postings[span.clone()];
        let place = own.partition_point(|x| ((x >> COUNT_BITS) as usize) < row);
        let there = own.get(place).is_some_and(|x| (x >> COUNT_BITS) as usize == row);
        if there { self.columns.count(span.start + place) } else { 0 }
    }
}
