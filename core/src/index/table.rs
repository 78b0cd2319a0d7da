//! A table of codes, by one block of their bits.

use std::cmp::Ordering;
use std::ops::Range;

use super::records::{PADDING, Shape, WORDS, store, with_words};
use crate::saved::{Corrupt, Store, partition_point};

/// Records that the planner samples.
const SAMPLE: usize = 32;

/// Codes filed under the bits of one block.
pub(super) struct CodeTable {
    pub(super) shape: Shape,
    /// Where each bucket starts, and where the last one ends.
    pub(super) directory: Store<u32>,
    pub(super) records: Store<u8>,
}

impl CodeTable {
    pub(super) fn build<const N: usize>(shape: Shape, codes: &[u64], words: usize) -> CodeTable {
        let (count, stride) = (codes.len() / words, shape.stride());
        let mut directory = vec![0u32; shape.buckets() + 1];
        for code in codes.chunks_exact(words) {
            directory[shape.key(code) + 1] += 1;
        }
        for bucket in 1..directory.len() {
            directory[bucket] += directory[bucket - 1];
        }
        let mut next = directory.clone();
        let mut records = vec![0; count * stride + PADDING];
        for code in codes.chunks_exact(words) {
            let place = &mut next[shape.key(code)];
            let at = *place as usize;
            *place += 1;
            store(&shape.pack::<N>(code), &mut records[at * stride..(at + 1) * stride]);
        }
        CodeTable { shape, directory: Store::Owned(directory), records: Store::Owned(records) }
    }

    /// Returns the places of a bucket's records. The directory is checked when a file is opened.
    #[inline]
    pub(super) fn bucket(&self, key: usize) -> Range<usize> {
        let directory = self.directory.unchecked();
        directory[key] as usize..directory[key + 1] as usize
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

    /// Returns how many records lie in buckets at most `flips` bits away, on average over the records themselves.
    pub(super) fn surroundings(&self, flips: usize) -> f64 {
        let count = self.directory.unchecked()[self.shape.buckets()] as usize;
        let sample = SAMPLE.min(count);
        let masks = masks(self.shape.key_bits, flips);
        let around = |key: usize| masks.iter().map(|&mask| self.bucket(key ^ mask as usize).len()).sum::<usize>();
        let total: usize = (0..sample).map(|at| around(self.key_at((2 * at + 1) * count / (2 * sample)))).sum();
        total as f64 / sample.max(1) as f64
    }
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
