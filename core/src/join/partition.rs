//! In-place partitioning of codes into buckets.
//!
//! A pass reads and writes main memory once: codes are sorted by the high bits of their key within chunks that fit the
//! cache, and a bucket is then the concatenation of its pieces from all chunks. There is no second array, and the order
//! of codes does not matter, since each carries its number along.

use std::marker::PhantomData;
use std::ops::Range;

use rayon::prelude::*;

use super::Code;
use crate::memory::{LINE, prefetch};

/// Codes of one chunk, so that a chunk and its copy stay in the cache of one core.
const CHUNK_BYTES: usize = 200 << 10;

/// Pieces prefetched ahead.
const AHEAD: usize = 6;

/// Codes and the number of each.
#[derive(Default)]
pub(crate) struct Work<const W: usize> {
    pub(crate) codes: Vec<Code<W>>,
    pub(crate) items: Vec<u32>,
}

impl<const W: usize> Work<W> {
    pub(super) fn len(&self) -> usize {
        self.codes.len()
    }

    pub(super) fn clear(&mut self) {
        self.codes.clear();
        self.items.clear();
    }

    pub(super) fn push_all(&mut self, codes: &[Code<W>], items: &[u32]) {
        self.codes.extend_from_slice(codes);
        self.items.extend_from_slice(items);
    }
}

/// Where the pieces of each bucket begin in each chunk.
pub(super) struct Pieces {
    /// Codes of all chunks.
    length: usize,
    chunk: usize,
    buckets: usize,
    /// `buckets + 1` offsets a chunk, none decreasing; the last is the length of the chunk.
    offsets: Vec<u32>,
}

/// Sorts within chunks by bucket, keeping order within a bucket; `bucket_of` gives a bucket for each code.
pub(super) fn scatter<const W: usize>(
    codes: &mut [Code<W>],
    items: &mut [u32],
    buckets: usize,
    bucket_of: impl Fn(&[Code<W>], &mut Vec<u32>) + Sync,
) -> Pieces {
    let chunk = (CHUNK_BYTES / (W * 8 + 4)).next_power_of_two();
    let mut offsets = vec![0; codes.len().div_ceil(chunk) * (buckets + 1)];
    codes
        .par_chunks_mut(chunk)
        .zip(items.par_chunks_mut(chunk))
        .zip(offsets.par_chunks_mut(buckets + 1))
        .for_each_init(
            || (Work::default(), Vec::new(), Vec::new()),
            |(copy, keys, next), ((codes, items), starts)| {
                bucket_of(codes, keys);
                copy.clear();
                copy.push_all(codes, items);
                count(keys, buckets, starts, next);
                for ((code, item), &key) in copy.codes.iter().zip(&copy.items).zip(keys.iter()) {
                    let at = next[key as usize] as usize;
                    next[key as usize] += 1;
                    codes[at] = *code;
                    items[at] = *item;
                }
            },
        );
    Pieces { length: codes.len(), chunk, buckets, offsets }
}

/// Counts keys: fills in where each bucket starts, and where its next code goes.
fn count(keys: &[u32], buckets: usize, starts: &mut [u32], next: &mut Vec<u32>) {
    next.clear();
    next.resize(buckets, 0);
    for &key in keys {
        next[key as usize] += 1;
    }
    let mut total = 0;
    for (start, next) in starts.iter_mut().zip(next) {
        *start = total;
        total += *next;
        *next = *start;
    }
    starts[buckets] = total;
}

impl Pieces {
    /// Returns the places of a bucket's codes, in ranges.
    pub(super) fn ranges(&self, bucket: usize) -> impl Iterator<Item = Range<usize>> {
        self.offsets.chunks_exact(self.buckets + 1).enumerate().filter_map(move |(at, starts)| {
            let (from, to) = (starts[bucket] as usize, starts[bucket + 1] as usize);
            (from < to).then(|| at * self.chunk + from..at * self.chunk + to)
        })
    }

    /// Returns how many codes each bucket has.
    pub(super) fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.buckets];
        for starts in self.offsets.chunks_exact(self.buckets + 1) {
            for (size, ends) in sizes.iter_mut().zip(starts.windows(2)) {
                *size += (ends[1] - ends[0]) as usize;
            }
        }
        sizes
    }

    /// Splits partitioned codes into their buckets, which different threads may change at the same time.
    pub(super) fn split<'a, const W: usize>(
        &'a self,
        codes: &'a mut [Code<W>],
        items: &'a mut [u32],
    ) -> impl Iterator<Item = Bucket<'a, W>> {
        assert!(codes.len() == self.length && items.len() == self.length, "not the slices that were partitioned");
        let (codes, items) = (codes.as_mut_ptr(), items.as_mut_ptr());
        (0..self.buckets).map(move |bucket| Bucket { pieces: self, bucket, codes, items, borrowed: PhantomData })
    }

    /// Copies the codes of a bucket, one after the other; `piece` returns those of a range.
    pub(super) fn gather<'a, const W: usize>(
        &self,
        bucket: usize,
        into: &mut Work<W>,
        piece: impl Fn(Range<usize>) -> (&'a [Code<W>], &'a [u32]),
    ) {
        into.clear();
        let mut ahead = self.ranges(bucket).skip(AHEAD);
        for range in self.ranges(bucket) {
            if let Some(later) = ahead.next() {
                let (codes, items) = piece(later);
                codes.iter().step_by((LINE / (W * 8)).max(1)).for_each(prefetch);
                codes.last().into_iter().for_each(prefetch);
                [items.first(), items.last()].into_iter().flatten().for_each(prefetch);
            }
            let (codes, items) = piece(range);
            into.push_all(codes, items);
        }
    }
}

/// The pieces of one bucket, in all chunks.
pub(super) struct Bucket<'a, const W: usize> {
    pieces: &'a Pieces,
    bucket: usize,
    codes: *mut Code<W>,
    items: *mut u32,
    borrowed: PhantomData<(&'a mut [Code<W>], &'a mut [u32])>,
}

// SAFETY: a bucket is an exclusive borrow of its own pieces, which are plain data.
unsafe impl<const W: usize> Send for Bucket<'_, W> {}

impl<const W: usize> Bucket<'_, W> {
    /// Copies the codes of the bucket, one after the other.
    pub(super) fn gather(&self, into: &mut Work<W>) {
        self.pieces.gather(self.bucket, into, |range| {
            // SAFETY: as in `each_piece`; `self` is borrowed, so nothing is changed meanwhile.
            unsafe {
                (
                    std::slice::from_raw_parts(self.codes.add(range.start), range.len()),
                    std::slice::from_raw_parts(self.items.add(range.start), range.len()),
                )
            }
        });
    }

    /// Calls `visit` with the codes and items of each piece.
    pub(super) fn each_piece(&mut self, mut visit: impl FnMut(&mut [Code<W>], &mut [u32])) {
        for range in self.pieces.ranges(self.bucket) {
            // SAFETY: the offsets of a chunk do not decrease and end with its length. So a range lies within its chunk,
            // thus within the slices, whose length `split` has checked; and no other bucket, nor another chunk, has a
            // part of it. `split` makes one `Bucket` for each number and borrows the slices for as long as they live.
            let (codes, items) = unsafe {
                (
                    std::slice::from_raw_parts_mut(self.codes.add(range.start), range.len()),
                    std::slice::from_raw_parts_mut(self.items.add(range.start), range.len()),
                )
            };
            visit(codes, items);
        }
    }
}

/// A counting sort from one place to another, keeping order among equal keys.
#[derive(Default)]
pub(super) struct Sorted<const W: usize> {
    pub(super) work: Work<W>,
    /// Where each key's codes start; one more at the end.
    pub(super) starts: Vec<u32>,
    next: Vec<u32>,
}

impl<const W: usize> Sorted<W> {
    /// Sorts codes by keys below 2^`bits`.
    pub(super) fn sort(&mut self, codes: &[Code<W>], items: &[u32], keys: &[u32], bits: u32) {
        self.starts.resize((1 << bits) + 1, 0);
        count(keys, 1 << bits, &mut self.starts, &mut self.next);
        if self.work.len() < codes.len() {
            self.work.codes.resize(codes.len(), [0; W]);
            self.work.items.resize(codes.len(), 0);
        }
        let (to_codes, to_items) = (&mut self.work.codes[..codes.len()], &mut self.work.items[..codes.len()]);
        for ((code, item), &key) in codes.iter().zip(items).zip(keys) {
            let at = self.next[key as usize] as usize;
            self.next[key as usize] += 1;
            to_codes[at] = *code;
            to_items[at] = *item;
        }
    }
}
