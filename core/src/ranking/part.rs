//! Postings: for each term the documents that have it, and how often.

use std::ops::Range;
use std::sync::Arc;

use super::{COUNT_BITS, LARGE, MOST_ROWS};
use crate::memory::prefetch;
use crate::saved::{Corrupt, Mapped, Store};

/// The postings of some documents, in memory or mapped from a file. They never change; removals are recorded elsewhere.
///
/// Terms are sorted by their hashes, and found by a table of their first bits: O(1) for hashes, which are uniform.
/// Eight bytes a document, twenty a term, four a posting.
pub(super) struct PostingPart {
    /// The keys of documents, ascending; the place of a key is the document's row.
    pub(super) keys: Store<i64>,
    /// Hashes of terms, ascending.
    pub(super) terms: Store<u64>,
    /// Where terms with the same first bits begin.
    pub(super) prefixes: Store<u32>,
    /// Where the postings of each term begin, and the last ones end.
    pub(super) starts: Store<u64>,
    /// Row and count of documents, rows ascending for each term.
    pub(super) postings: Store<u32>,
    /// Postings whose count did not fit, ascending, and the counts.
    pub(super) large: Store<u64>,
    pub(super) large_counts: Store<u32>,
    pub(super) file: Option<Arc<Mapped>>,
}

/// The columns of a part, borrowed and checked.
#[derive(Clone, Copy)]
pub(super) struct PostingColumns<'a> {
    pub(super) keys: &'a [i64],
    pub(super) terms: &'a [u64],
    pub(super) prefixes: &'a [u32],
    pub(super) starts: &'a [u64],
    pub(super) postings: &'a [u32],
    pub(super) large: &'a [u64],
    pub(super) large_counts: &'a [u32],
}

/// Returns the length of the prefix of hashes for this many terms; about four terms share a prefix.
pub(super) fn prefix_bits(terms: usize) -> u32 {
    (terms / 4).max(1).ilog2().min(24)
}

pub(super) fn prefixes(terms: &[u64]) -> Vec<u32> {
    let bits = prefix_bits(terms.len());
    let mut starts = vec![0; (1 << bits) + 1];
    terms.iter().for_each(|&term| starts[prefix(term, bits) + 1] += 1);
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    starts
}

fn prefix(term: u64, bits: u32) -> usize {
    // In two steps: a shift by 64 is none.
    (term >> 1 >> (63 - bits)) as usize
}

/// Returns a posting.
pub(super) fn posting(row: u32, count: u32) -> u32 {
    row << COUNT_BITS | count.min(LARGE)
}

impl PostingPart {
    /// Makes a part of columns in memory.
    pub(super) fn new(
        keys: Vec<i64>,
        terms: Vec<u64>,
        starts: Vec<u64>,
        postings: Vec<u32>,
        large: (Vec<u64>, Vec<u32>),
    ) -> PostingPart {
        debug_assert!(keys.len() <= MOST_ROWS);
        PostingPart {
            prefixes: Store::Owned(prefixes(&terms)),
            keys: Store::Owned(keys),
            terms: Store::Owned(terms),
            starts: Store::Owned(starts),
            postings: Store::Owned(postings),
            large: Store::Owned(large.0),
            large_counts: Store::Owned(large.1),
            file: None,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn bytes(&self) -> usize {
        let words = self.keys.len() + self.terms.len() + self.starts.len() + self.large.len();
        8 * words + 4 * (self.prefixes.len() + self.postings.len() + self.large_counts.len())
    }

    /// Refuses a file that was cut short since it was opened.
    pub(super) fn check_length(&self) -> Result<(), Corrupt> {
        self.file.as_ref().map_or(Ok(()), |file| file.check_length())
    }

    /// Returns all columns, every byte of them checked if they were not before.
    pub(super) fn columns(&self) -> Result<PostingColumns<'_>, Corrupt> {
        Ok(PostingColumns {
            keys: self.keys.all()?,
            terms: self.terms.all()?,
            prefixes: self.prefixes.all()?,
            starts: self.starts.all()?,
            postings: self.postings.all()?,
            large: self.large.all()?,
            large_counts: self.large_counts.all()?,
        })
    }

    /// Returns the columns after `columns` has checked them once.
    pub(super) fn seen(&self) -> PostingColumns<'_> {
        PostingColumns {
            keys: self.keys.unchecked(),
            terms: self.terms.unchecked(),
            prefixes: self.prefixes.unchecked(),
            starts: self.starts.unchecked(),
            postings: self.postings.unchecked(),
            large: self.large.unchecked(),
            large_counts: self.large_counts.unchecked(),
        }
    }

    /// Checks the order of everything. Files with right checksums and wrong contents are refused here, so that no later
    /// access is out of bounds.
    pub(super) fn verify(&self) -> Result<(), Corrupt> {
        let columns = self.columns()?;
        let PostingColumns { keys, terms, starts, postings, large, .. } = columns;
        let ascends = |ordered: bool, what: &str| if ordered { Ok(()) } else { Err(self.keys.corrupt(what)) };
        ascends(keys.is_sorted_by(|a, b| a < b), "its keys are not in order")?;
        ascends(terms.is_sorted_by(|a, b| a < b), "its terms are not in order")?;
        ascends(columns.prefixes == prefixes(terms), "its table of terms is wrong")?;
        let whole = starts.first() == Some(&0) && starts.last() == Some(&(postings.len() as u64));
        ascends(whole && starts.is_sorted_by(|a, b| a < b), "its postings are not in order")?;
        for ends in starts.windows(2) {
            let own = &postings[ends[0] as usize..ends[1] as usize];
            let rows = own.is_sorted_by(|a, b| a >> COUNT_BITS < b >> COUNT_BITS);
            let last = own.last().is_some_and(|last| ((last >> COUNT_BITS) as usize) < keys.len());
            ascends(rows && last && own.iter().all(|posting| posting & LARGE > 0), "its documents are not in order")?;
        }
        let placed = large.iter().all(|&at| postings.get(at as usize).is_some_and(|posting| posting & LARGE == LARGE));
        ascends(placed && large.is_sorted_by(|a, b| a < b), "its large counts are not in order")?;
        let counted = postings.iter().filter(|&posting| posting & LARGE == LARGE).count();
        ascends(
            counted == large.len() && columns.large_counts.iter().all(|&count| count >= LARGE),
            "its counts are wrong",
        )
    }
}

impl PostingColumns<'_> {
    /// Returns the number of a term, if a document has it.
    pub(super) fn find(&self, term: u64) -> Option<usize> {
        let at = prefix(term, prefix_bits(self.terms.len()));
        let (start, end) = (self.prefixes[at] as usize, self.prefixes[at + 1] as usize);
        self.terms[start..end].binary_search(&term).ok().map(|place| start + place)
    }

    /// Returns the numbers of terms. Prefetches the memory of each, which is mostly not in the cache.
    pub(super) fn find_all(&self, terms: &[(u64, u32)]) -> Vec<Option<usize>> {
        let bits = prefix_bits(self.terms.len());
        let table = |term: u64| &self.prefixes[prefix(term, bits)];
        terms.iter().for_each(|&(term, _)| prefetch(table(term)));
        for &(term, _) in terms {
            if let Some(first) = self.terms.get(*table(term) as usize) {
                prefetch(first);
            }
        }
        let found: Vec<Option<usize>> = terms.iter().map(|&(term, _)| self.find(term)).collect();
        for &place in found.iter().flatten() {
            prefetch(&self.starts[place]);
        }
        for &place in found.iter().flatten() {
            prefetch(&self.postings[self.starts[place] as usize]);
        }
        found
    }

    pub(super) fn span(&self, term: usize) -> Range<usize> {
        self.starts[term] as usize..self.starts[term + 1] as usize
    }

    /// Returns whether some postings have counts that stand elsewhere.
    pub(super) fn has_large(&self, span: &Range<usize>) -> bool {
        let first = self.large.partition_point(|&at| (at as usize) < span.start);
        self.large.get(first).is_some_and(|&at| (at as usize) < span.end)
    }

    /// Returns how often a term occurs in a document, by its posting.
    #[inline(always)]
    pub(super) fn count(&self, at: usize) -> u32 {
        let count = self.postings[at] & LARGE;
        if count == LARGE { self.large_count(at) } else { count }
    }

    #[cold]
    fn large_count(&self, at: usize) -> u32 {
        self.large.binary_search(&(at as u64)).map_or(LARGE, |place| self.large_counts[place])
    }

    /// Calls `visit` with row and count of each document that has the term.
    #[inline(always)]
    pub(super) fn each(&self, term: usize, mut visit: impl FnMut(usize, u32)) {
        for at in self.span(term) {
            visit((self.postings[at] >> COUNT_BITS) as usize, self.count(at));
        }
    }
}
