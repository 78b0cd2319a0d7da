//! The index of some texts, and how it is asked.

use rayon::prelude::*;

use super::Inverted;
use super::stars::MOST_STARS;
use super::vectors::{Entry, ONE, Vectors};
use crate::memory::{collected, filled};

/// The texts of a segment, at most: they have numbers of 16 bits there.
pub(super) const SEGMENT: usize = 1 << 16;
/// A list of texts of which none can be a new candidate is skipped if it is so many times longer than the candidates.
const PATIENCE: usize = 8;

/// A text in the list of a feature.
#[derive(Clone, Copy)]
pub(super) struct Posting {
    text: u16,
    weight: u16,
    reach: u16,
}

/// An index of up to `SEGMENT` texts.
pub(super) struct Segment {
    /// Their places in the vectors, in order.
    pub(super) places: Vec<u32>,
    /// Where the list of each term begins, and where the last ends.
    pub(super) starts: Vec<u32>,
    /// Each list by reach, longest first.
    pub(super) postings: Vec<Posting>,
    /// How many entries of each text are listed.
    pub(super) listed: Vec<u32>,
}

/// One thread's buffers.
#[derive(Default)]
pub(super) struct Scratch {
    /// The products found so far of each text of a segment.
    pub(super) sums: Vec<u32>,
    /// The texts that have some.
    pub(super) touched: Vec<u16>,
    /// Postings read, and texts that had some sum.
    pub(super) work: Work,
}

/// What a search has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::near) struct Work {
    /// Postings read.
    pub(in crate::near) postings: u64,
    /// Texts with a sum, which had to be bounded.
    pub(in crate::near) bounded: u64,
}

impl Inverted<'_, '_> {
    /// Returns an index of members by their places in the vectors, in segments.
    pub(super) fn segments(&self, vectors: &Vectors, places: &[u32]) -> Vec<Segment> {
        // Segments of equal length; several, so that a text need not ask many that come after it.
        let number = (places.len() / MOST_STARS).clamp(1, 8).max(places.len().div_ceil(SEGMENT));
        places.par_chunks(places.len().div_ceil(number).max(1)).map(|places| self.segment(vectors, places)).collect()
    }

    pub(super) fn segment(&self, vectors: &Vectors, places: &[u32]) -> Segment {
        let listed = |place: u32| {
            let entries = vectors.of(place);
            entries.partition_point(|entry| entry.reach >= self.least)
        };
        let mut starts: Vec<u32> = filled(self.terms + 1, 0);
        for &place in places {
            vectors.of(place)[..listed(place)].iter().for_each(|entry| starts[entry.term as usize + 1] += 1);
        }
        (1..starts.len()).for_each(|term| starts[term] += starts[term - 1]);
        let mut postings = filled(starts[self.terms] as usize, Posting { text: 0, weight: 0, reach: 0 });
        // Filled from behind, so that each start ends where its list begins.
        let mut next = collected(starts[1..].iter().copied());
        for (text, &place) in places.iter().enumerate().rev() {
            for entry in &vectors.of(place)[..listed(place)] {
                let at = &mut next[entry.term as usize];
                *at -= 1;
                postings[*at as usize] = Posting { text: text as u16, weight: entry.weight, reach: entry.reach };
            }
        }
        for ends in starts.windows(2).filter(|ends| ends[1] - ends[0] > 1) {
            let list = &mut postings[ends[0] as usize..ends[1] as usize];
            list.sort_unstable_by_key(|posting| std::cmp::Reverse(posting.reach));
        }
        let listed = places.iter().map(|&place| listed(place) as u32).collect();
        Segment { places: places.to_vec(), starts, postings, listed }
    }

    /// Calls `hit` with the place of every text of a segment that may be near, unless it is not `wanted`.
    pub(super) fn ask(
        &self,
        (vectors, segment): (&Vectors, &Segment),
        own: &[Entry],
        scratch: &mut Scratch,
        wanted: impl Fn(u32) -> bool,
        mut hit: impl FnMut(u32),
    ) {
        let Scratch { sums, touched, work } = scratch;
        if sums.len() < segment.places.len() {
            *sums = filled(segment.places.len(), 0);
        }
        let looked_up = own.partition_point(|entry| entry.reach >= self.least);
        let mut skipped = 0u64;
        for entry in &own[..looked_up] {
            let list = segment.starts[entry.term as usize] as usize..segment.starts[entry.term as usize + 1] as usize;
            let list = &segment.postings[list];
            let least = self.limit.div_ceil(u32::from(entry.reach));
            let weight = u32::from(entry.weight);
            let new = list.partition_point(|posting| u32::from(posting.reach) >= least);
            let (new, old) = list.split_at(new);
            for posting in new {
                let sum = &mut sums[usize::from(posting.text)];
                if *sum == 0 {
                    touched.push(posting.text);
                }
                *sum = sum.saturating_add(u32::from(posting.weight) * weight);
            }
            work.postings += new.len() as u64;
            if old.len() > PATIENCE * touched.len() {
                skipped += u64::from(weight) * u64::from(weight);
                continue;
            }
            work.postings += old.len() as u64;
            for posting in old {
                let sum = &mut sums[usize::from(posting.text)];
                let product = u32::from(posting.weight) * weight;
                *sum = sum.saturating_add(if *sum == 0 { 0 } else { product });
            }
        }
        work.bounded += touched.len() as u64;
        let skipped = (skipped as f64).sqrt().ceil() as u64 * u64::from(ONE);
        for text in touched.drain(..) {
            let sum = std::mem::take(&mut sums[usize::from(text)]);
            let place = segment.places[usize::from(text)];
            let other = vectors.of(place);
            let listed = segment.listed[usize::from(text)] as usize;
            let most = u64::from(sum) + u64::from(rest((own, looked_up), (other, listed))) + skipped;
            if most >= u64::from(self.limit) && wanted(place) && dot(own, other) >= u64::from(self.limit) {
                hit(place);
            }
        }
    }
}

/// Returns the most that entries can add to the product of two vectors, besides those that both have looked up or
/// listed.
fn rest((left, left_done): (&[Entry], usize), (right, right_done): (&[Entry], usize)) -> u32 {
    let reach_from = |entries: &[Entry], term: u32| {
        let at = entries.partition_point(|entry| entry.term < term);
        entries.get(at).map_or(0, |entry| u32::from(entry.reach))
    };
    // Both have looked up, or listed, all entries before this one.
    let next = [left.get(left_done), right.get(right_done)].into_iter().flatten().map(|entry| entry.term).min();
    next.map_or(0, |term| reach_from(left, term) * reach_from(right, term))
}

/// Returns the product of two vectors.
fn dot(left: &[Entry], right: &[Entry]) -> u64 {
    let (mut dot, mut a, mut b) = (0, 0, 0);
    while a < left.len() && b < right.len() {
        let (one, two) = (left[a], right[b]);
        // Which term comes first cannot be predicted, so there is no branch on it.
        dot += if one.term == two.term { u64::from(one.weight) * u64::from(two.weight) } else { 0 };
        a += usize::from(one.term <= two.term);
        b += usize::from(two.term <= one.term);
    }
    dot
}
