//! A table: sketches filed under some of their registers.

use std::ops::Range;

use super::agree::Registers;
use crate::memory::{LINE, prefetch};
use crate::saved::{Corrupt, Store};

/// Sketches in a bucket, about. More take longer to compare; fewer take more room for the directory.
const BUCKET: usize = 12;
/// Odd, with no pattern in its bits.
const GOLDEN: u32 = 0x9e37_79b9;
/// Lines of a bucket asked for beforehand; the processor follows a longer run by itself.
const AHEAD: usize = 4;

/// Numbers of sketches, bucket by bucket.
pub(super) struct Table {
    /// The registers that make the key.
    pub(super) registers: Vec<u8>,
    /// The same, a bit each.
    pub(super) mask: u64,
    /// Where each bucket starts, and where the last one ends.
    pub(super) directory: Store<u32>,
    /// Numbers of `width` bytes, in order in each bucket.
    pub(super) numbers: Store<u8>,
    width: usize,
}

/// A bit for each register of a table.
pub(super) fn mask(registers: &[u8]) -> u64 {
    registers.iter().fold(0, |mask, at| mask | 1 << at)
}

/// Bytes that every number below `count` fits into.
pub(super) fn width(count: usize) -> usize {
    (usize::BITS - count.saturating_sub(1).leading_zeros()).div_ceil(8).max(1) as usize
}

/// How many buckets a table of so many sketches has.
pub(super) fn buckets(count: usize) -> usize {
    count.div_ceil(BUCKET).max(1)
}

impl Table {
    pub(super) fn new(registers: Vec<u8>, directory: Store<u32>, numbers: Store<u8>, count: usize) -> Table {
        Table { mask: mask(&registers), registers, directory, numbers, width: width(count) }
    }

    pub(super) fn build(registers: &[u8], sketches: &[Registers]) -> Table {
        let buckets = buckets(sketches.len());
        let mut directory = vec![0u32; buckets + 1];
        let keys: Vec<u32> = sketches.iter().map(|sketch| bucket(registers, sketch, buckets)).collect();
        for &key in &keys {
            directory[key as usize + 1] += 1;
        }
        for bucket in 1..directory.len() {
            directory[bucket] += directory[bucket - 1];
        }
        let width = width(sketches.len());
        let mut next = directory.clone();
        let mut numbers = vec![0; sketches.len() * width];
        for (number, &key) in keys.iter().enumerate() {
            let at = next[key as usize] as usize * width;
            next[key as usize] += 1;
            numbers[at..at + width].copy_from_slice(&(number as u32).to_le_bytes()[..width]);
        }
        Table::new(registers.to_vec(), Store::Owned(directory), Store::Owned(numbers), sketches.len())
    }

    /// The bucket a sketch belongs to.
    pub(super) fn bucket_of(&self, sketch: &Registers) -> u32 {
        bucket(&self.registers, sketch, self.directory.len() - 1)
    }

    pub(super) fn fetch_directory(&self, bucket: u32) {
        prefetch(&self.directory.unchecked()[bucket as usize]);
    }

    /// The places of a bucket's numbers.
    pub(super) fn places(&self, bucket: u32) -> Result<Range<usize>, Corrupt> {
        let ends = self.directory.range(bucket as usize..bucket as usize + 2)?;
        let places = ends[0] as usize..ends[1] as usize;
        if places.start > places.end || places.end * self.width > self.numbers.len() {
            return Err(self.directory.corrupt("a directory of buckets is out of order"));
        }
        Ok(places)
    }

    pub(super) fn fetch_numbers(&self, places: &Range<usize>) {
        let bytes = places.start * self.width..places.end * self.width;
        for line in self.numbers.unchecked()[bytes].chunks(LINE).take(AHEAD) {
            prefetch(&line[0]);
        }
    }

    /// The numbers at some places.
    pub(super) fn numbers(&self, places: Range<usize>) -> Result<impl Iterator<Item = u32>, Corrupt> {
        let bytes = self.numbers.range(places.start * self.width..places.end * self.width)?;
        Ok(bytes.chunks_exact(self.width).map(|bytes| {
            let mut number = [0; 4];
            number[..bytes.len()].copy_from_slice(bytes);
            u32::from_le_bytes(number)
        }))
    }

    pub(super) fn bytes(&self) -> usize {
        4 * self.directory.len() + self.numbers.len()
    }
}

fn bucket(registers: &[u8], sketch: &Registers, buckets: usize) -> u32 {
    let key = registers.iter().fold(0u32, |key, &at| key << 8 | u32::from(sketch[usize::from(at)]));
    // Spread over 32 bits, of which the buckets are equal shares.
    let spread = key.wrapping_mul(GOLDEN);
    let spread = (spread ^ (spread >> 15)).wrapping_mul(GOLDEN);
    ((u64::from(spread) * buckets as u64) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::REGISTERS;

    #[test]
    fn numbers_fit_into_their_bytes() {
        for (count, bytes) in [(0, 1), (1, 1), (256, 1), (257, 2), (1 << 16, 2), ((1 << 16) + 1, 3), (1 << 24, 3)] {
            assert_eq!(width(count), bytes, "{count}");
        }
        for (count, expected) in [(0, 1), (1, 1), (12, 1), (13, 2), (24, 2), (25, 3), (1200, 100)] {
            assert_eq!(buckets(count), expected, "{count}");
        }
        assert_eq!(mask(&[0, 3, 47]), 1 | 1 << 3 | 1 << 47);
    }

    /// Saved tables are searched by later versions: a sketch stays in its bucket.
    #[test]
    fn golden_buckets() {
        let mut sketch = [0; REGISTERS];
        sketch[5..9].copy_from_slice(&[1, 2, 3, 4]);
        sketch[20..24].copy_from_slice(&[255; 4]);
        for (registers, buckets, expected) in [
            (&[0u8, 1, 2, 3][..], 7, 0),
            (&[0, 5], 1000, 685),
            (&[5, 6, 7, 8], 1000, 776),
            (&[20, 21, 22, 23], 1000, 405),
            (&[0, 20], 1 << 20, 794033),
        ] {
            assert_eq!(bucket(registers, &sketch, buckets), expected, "{registers:?}");
        }
    }
}
