//! A table of codes, by one block of their bits.

use std::cmp::Ordering;
use std::ops::Range;

use super::records::{PADDING, Shape, WORDS, store, with_words};
use crate::saved::{Corrupt, Store, partition_point};

/// Records that the planner samples.
const SAMPLE: usize = 32;
/// Runs of buckets that the planner looks at, about, for as many of these records as that allows.
const SAMPLED_RUNS: usize = 1 << 17;
/// Buckets whose keys differ in the lowest bits, this many of them, are read together: that is quicker than one by one.
const RUN: u32 = 3;

/// Codes filed under the bits of one block, and with two levels under those of the next block besides.
pub(super) struct CodeTable {
    pub(super) shape: Shape,
    /// Where each bucket starts, and where the last one ends. Those of one first level follow each other.
    pub(super) directory: Store<u32>,
    pub(super) records: Store<u8>,
}

impl CodeTable {
    pub(super) fn build<const N: usize>(shape: Shape, codes: &[u64], words: usize) -> CodeTable {
        let (count, stride) = (codes.len() / words, shape.stride());
        let mut starts = vec![0u32; (1 << shape.outer_bits) + 1];
        for code in codes.chunks_exact(words) {
            starts[shape.outer(code) + 1] += 1;
        }
        for outer in 1..starts.len() {
            starts[outer] += starts[outer - 1];
        }
        let mut next = starts.clone();
        let mut records = vec![0; count * stride + PADDING];
        for code in codes.chunks_exact(words) {
            let place = &mut next[shape.outer(code)];
            let at = *place as usize;
            *place += 1;
            store(&shape.pack::<N>(code), &mut records[at * stride..(at + 1) * stride]);
        }
        let directory = if shape.inner_bits == 0 { starts } else { divide::<N>(&shape, &starts, &mut records) };
        CodeTable { shape, directory: Store::Owned(directory), records: Store::Owned(records) }
    }

    /// Returns the places of a bucket's records. The directory is checked when a file is opened.
    #[inline]
    pub(super) fn bucket(&self, key: usize) -> Range<usize> {
        self.buckets(key, 0)
    }

    /// Returns the places of all records whose key is this one but for its lowest `below` bits.
    #[inline]
    pub(super) fn buckets(&self, key: usize, below: u32) -> Range<usize> {
        let directory = self.directory.unchecked();
        directory[key >> below << below] as usize..directory[((key >> below) + 1) << below] as usize
    }

    /// Returns the bucket a place belongs to.
    pub(super) fn key_at(&self, place: usize) -> usize {
        self.directory.unchecked().partition_point(|&start| start as usize <= place) - 1
    }

    /// Returns the records at some places, with the padding that a scan needs.
    #[inline]
    pub(super) fn records(&self, places: Range<usize>) -> Result<&[u8], Corrupt> {
        let stride = self.shape.stride();
        self.records.range(places.start * stride..places.end * stride + PADDING)
    }

    /// Returns the place of a record in a bucket, which is in order: in the first table all are.
    pub(super) fn position<const N: usize>(
        &self,
        bucket: Range<usize>,
        record: &[u64; N],
    ) -> Result<Option<usize>, Corrupt> {
        let (records, stride) = (self.records(bucket.clone())?, self.shape.stride());
        let order = |at: usize| self.shape.compare(&records[at * stride..], record);
        let at = partition_point(bucket.len(), |at| Ok(order(at) == Ordering::Less))?;
        Ok((at < bucket.len() && order(at) == Ordering::Equal).then_some(bucket.start + at))
    }

    pub(super) fn code(&self, place: usize, key: usize) -> Result<[u64; WORDS], Corrupt> {
        let (shape, record) = (&self.shape, self.records(place..place + 1)?);
        Ok(with_words!(shape.words(), unpack::<N>(shape, record, key)))
    }

    /// Returns how many records lie in the buckets that a look reads, on average over the records themselves.
    pub(super) fn surroundings(&self, look: Look) -> f64 {
        let count = self.directory.unchecked()[self.shape.buckets()] as usize;
        let runs = look.runs(&self.shape);
        let sample = (SAMPLED_RUNS / runs.len()).clamp(1, SAMPLE).min(count);
        let length = |key: usize, run: &Run| self.buckets(key ^ run.mask as usize, run.below).len();
        let around = |key: usize| runs.iter().map(|run| length(key, run)).sum::<usize>();
        let total: usize = (0..sample).map(|at| around(self.key_at((2 * at + 1) * count / (2 * sample)))).sum();
        total as f64 / sample.max(1) as f64
    }
}

/// How far from the query's key the keys of a table may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// Bits in which the first level may differ.
    pub(super) outer: u32,
    /// Bits in which both levels together may differ; None to read the first level alone.
    pub(super) both: Option<u32>,
}

/// A run of buckets to read: those whose key, but for its lowest bits, differs from the query's in the bits of a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) mask: u32,
    /// How many of the lowest bits do not count.
    pub(super) below: u32,
}

impl Look {
    /// Returns the look by both levels into a table that has a share of what is spread over all, and the next another;
    /// None without a share.
    pub(super) fn by_both(share: usize, next: usize) -> Option<Look> {
        let outer = share.checked_sub(1)?;
        Some(Look { outer: outer as u32, both: Some((outer + next) as u32) })
    }

    /// Returns the runs to read. They have all keys that this look covers, and some others.
    pub(super) fn runs(self, shape: &Shape) -> Vec<Run> {
        let outer = masks(shape.outer_bits, self.outer as usize).into_iter().map(|mask| mask << shape.inner_bits);
        let Some(both) = self.both else {
            return outer.map(|mask| Run { mask, below: shape.inner_bits }).collect();
        };
        let below = RUN.min(shape.inner_bits);
        let within = |outer: u32| {
            let left = both - outer.count_ones();
            let run = move |inner: u32| Run {
                mask: outer | inner << below,
                below: if inner.count_ones() < left { below } else { 0 },
            };
            masks(shape.inner_bits - below, left as usize).into_iter().map(run)
        };
        outer.flat_map(within).collect()
    }

    /// Returns how many there are.
    pub(super) fn probes(self, shape: &Shape) -> u64 {
        let Some(both) = self.both else { return ball(shape.outer_bits, self.outer as usize) };
        let inner_bits = shape.inner_bits.saturating_sub(RUN);
        let least = |bits: u32, flips: u32| flips.checked_sub(1).map_or(0, |less| ball(bits, less as usize));
        let shell = |bits: u32, flips: u32| ball(bits, flips as usize) - least(bits, flips);
        let within = |flips: u32| shell(shape.outer_bits, flips) * ball(inner_bits, (both - flips) as usize);
        (0..=self.outer.min(shape.outer_bits)).map(within).sum()
    }

    /// Returns whether a key with this difference from the query's is near enough.
    #[inline]
    pub(super) fn covers(self, shape: &Shape, difference: usize) -> bool {
        (difference >> shape.inner_bits).count_ones() <= self.outer
            && self.both.is_none_or(|both| difference.count_ones() <= both)
    }
}

/// Sorts the records of each first level by the second, in place, and returns where each bucket starts.
fn divide<const N: usize>(shape: &Shape, starts: &[u32], records: &mut [u8]) -> Vec<u32> {
    let stride = shape.stride();
    let mut directory = vec![0u32; shape.buckets() + 1];
    let mut unsorted = Vec::new();
    for (outer, range) in starts.windows(2).enumerate() {
        let (start, end) = (range[0] as usize, range[1] as usize);
        unsorted.clear();
        unsorted.extend_from_slice(&records[start * stride..end * stride + PADDING]);
        let inner = |at: usize| shape.inner::<N>(&unsorted[at * stride..]);
        // Each bucket's end, then its start: after the records are placed from the last to the first.
        let ends = &mut directory[outer << shape.inner_bits..(outer + 1) << shape.inner_bits];
        for at in 0..end - start {
            ends[inner(at)] += 1;
        }
        let mut sum = range[0];
        for end in ends.iter_mut() {
            sum += *end;
            *end = sum;
        }
        for at in (0..end - start).rev() {
            let place = &mut ends[inner(at)];
            *place -= 1;
            let to = *place as usize * stride;
            records[to..to + stride].copy_from_slice(&unsorted[at * stride..(at + 1) * stride]);
        }
    }
    directory[shape.buckets()] = starts[starts.len() - 1];
    directory
}

fn unpack<const N: usize>(shape: &Shape, record: &[u8], key: usize) -> [u64; WORDS] {
    shape.unpack::<N>(record, key)
}

/// Returns all keys' differences of at most `flips` bits, the smallest first.
pub(super) fn masks(bits: u32, flips: usize) -> Vec<u32> {
    let mut masks = vec![0u32];
    let mut from = 0;
    for _ in 0..flips.min(bits as usize) {
        let to = masks.len();
        for at in from..to {
            let mask = masks[at];
            masks.extend((32 - mask.leading_zeros()..bits).map(|bit| mask | 1 << bit));
        }
        from = to;
    }
    masks
}

/// Returns how many numbers of `bits` bits lie within `flips` bits of one.
pub(super) fn ball(bits: u32, flips: usize) -> u64 {
    let mut shell = 1;
    let mut total = 1;
    for at in 0..flips.min(bits as usize) as u64 {
        shell = shell * (u64::from(bits) - at) / (at + 1);
        total += shell;
    }
    total
}
