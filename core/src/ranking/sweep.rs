//! Scores of all documents for all terms of a query, by chunks of documents whose sums stay in the L1 cache.
//!
//! O(postings + documents), without bounds: the fastest way if frequent terms have few postings.

use super::part::PostingColumns;
use super::weighted::{BLOCK, Bounds};
use super::{COUNT_BITS, LARGE};

/// Documents whose sums are made together: half of the nearest cache. In tests there are several with few documents.
const CHUNK: usize = if cfg!(test) { 2 * BLOCK } else { 1 << 11 };

/// A term on its way through the documents.
struct Cursor<'a> {
    /// Postings that were not taken yet, and where they begin among all.
    left: &'a [u32],
    start: usize,
    factor: f64,
    /// Whether it has counts that stand elsewhere.
    large: bool,
}

impl<'a> Cursor<'a> {
    fn new(columns: &PostingColumns<'a>, term: usize, factor: f64) -> Cursor<'a> {
        let span = columns.span(term);
        Cursor { large: columns.has_large(&span), left: &columns.postings[span.clone()], start: span.start, factor }
    }

    /// Adds the term to the sums of the chunk that ends here.
    #[inline(always)]
    fn add(&mut self, columns: &PostingColumns<'_>, end: usize, sums: &mut [f64; CHUNK]) {
        let before = |posting: u32| ((posting >> COUNT_BITS) as usize) < end;
        let place = |posting: u32| (posting >> COUNT_BITS) as usize % CHUNK;
        let mut taken = 0;
        if self.large {
            while let Some(&posting) = self.left.get(taken).filter(|posting| before(**posting)) {
                sums[place(posting)] += self.factor * f64::from(columns.count(self.start + taken));
                taken += 1;
            }
        } else {
            for &posting in self.left {
                if !before(posting) {
                    break;
                }
                sums[place(posting)] += self.factor * f64::from(posting & LARGE);
                taken += 1;
            }
        }
        (self.left, self.start) = (&self.left[taken..], self.start + taken);
    }
}

/// Adds up terms in this order, and calls `take` with row and sum of each document whose score may reach the cut;
/// `take` returns the new cut.
pub(super) fn sweep(
    columns: &PostingColumns<'_>,
    bounds: &Bounds,
    terms: impl Iterator<Item = (usize, f64)>,
    mut cut: f32,
    mut take: impl FnMut(usize, f64) -> f32,
) {
    let mut cursors: Vec<Cursor<'_>> = terms.map(|(term, factor)| Cursor::new(columns, term, factor)).collect();
    let mut sums = [0.0; CHUNK];
    for start in (0..columns.keys.len()).step_by(CHUNK) {
        cursors.iter_mut().for_each(|cursor| cursor.add(columns, start + CHUNK, &mut sums));
        let inverse = bounds.inverse[start..].as_chunks::<BLOCK>().0;
        for (block, (own, inverse)) in sums.as_chunks::<BLOCK>().0.iter().zip(inverse).enumerate() {
            let high: [f32; BLOCK] = std::array::from_fn(|at| own[at] as f32 * inverse[at]);
            // Mostly none reaches it, and this test is fast.
            if !high.iter().fold(false, |any, &high| any | (high >= cut)) {
                continue;
            }
            for at in 0..BLOCK {
                if high[at] > 0.0 && high[at] >= cut {
                    cut = take(start + block * BLOCK + at, own[at]);
                }
            }
        }
        sums.fill(0.0);
    }
}
