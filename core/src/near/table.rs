//! A hash table of sketches, by some of their registers.
//!
//! A bucket holds the sketches of a few keys. A number takes whole bytes, and the spare bits hold a tag of the key: a
//! look-up skips the sketches of most other keys without reading their registers, each of which would be a cache miss.

use std::ops::Range;

use super::agree::Registers;
use crate::hash::GOLDEN_32;
use crate::memory::{LINE, prefetch};
use crate::saved::{Corrupt, Store};

/// Sketches in a bucket, about. More take longer to compare; fewer make the directory larger.
const BUCKET: usize = 12;
/// Cache lines of a bucket to prefetch; the hardware prefetcher follows a longer run.
const AHEAD: usize = 4;

/// Numbers of sketches, bucket by bucket.
pub(super) struct SketchTable {
    /// The registers that make the key.
    pub(super) registers: Vec<u8>,
    /// The registers as a mask.
    pub(super) mask: u64,
    /// Where each bucket starts, and where the last one ends.
    pub(super) directory: Store<u32>,
    /// Numbers and tags in `width` bytes, in order of the numbers in each bucket.
    pub(super) numbers: Store<u8>,
    width: usize,
    /// Bits of a number; the tag is above them.
    bits: u32,
}

/// The bucket and the tag of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) bucket: u32,
    pub(super) tag: u32,
}

/// Returns the registers of a table as a mask.
pub(super) fn mask(registers: &[u8]) -> u64 {
    registers.iter().fold(0, |mask, at| mask | 1 << at)
}

/// Returns the bits that hold every number below `count`.
fn bits(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// Returns the bytes that hold every number below `count`.
pub(super) fn width(count: usize) -> usize {
    bits(count).div_ceil(8).max(1) as usize
}

/// Returns the number of buckets of a table of `count` sketches.
pub(super) fn buckets(count: usize) -> usize {
    count.div_ceil(BUCKET).max(1)
}

impl SketchTable {
    pub(super) fn new(registers: Vec<u8>, directory: Store<u32>, numbers: Store<u8>, count: usize) -> SketchTable {
        SketchTable { mask: mask(&registers), registers, directory, numbers, width: width(count), bits: bits(count) }
    }

    pub(super) fn build(registers: &[u8], sketches: &[Registers]) -> SketchTable {
        let buckets = buckets(sketches.len());
        let mut directory = vec![0u32; buckets + 1];
        let (width, bits) = (width(sketches.len()), bits(sketches.len()));
        let places: Vec<Address> =
            sketches.iter().map(|sketch| place(registers, sketch, buckets, width, bits)).collect();
        for place in &places {
            directory[place.bucket as usize + 1] += 1;
        }
        for bucket in 1..directory.len() {
            directory[bucket] += directory[bucket - 1];
        }
        let mut next = directory.clone();
        let mut numbers = vec![0; sketches.len() * width];
        for (number, place) in places.iter().enumerate() {
            let at = next[place.bucket as usize] as usize * width;
            next[place.bucket as usize] += 1;
            let tagged = number as u64 | u64::from(place.tag) << bits;
            numbers[at..at + width].copy_from_slice(&tagged.to_le_bytes()[..width]);
        }
        SketchTable::new(registers.to_vec(), Store::Owned(directory), Store::Owned(numbers), sketches.len())
    }

    /// Returns the address of a sketch.
    pub(super) fn place_of(&self, sketch: &Registers) -> Address {
        place(&self.registers, sketch, self.directory.len() - 1, self.width, self.bits)
    }

    pub(super) fn fetch_directory(&self, bucket: u32) {
        prefetch(&self.directory.unchecked()[bucket as usize]);
    }

    /// Returns the places of a bucket's numbers.
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

    /// Returns the numbers at some places, and their tags.
    pub(super) fn numbers(&self, places: Range<usize>) -> Result<impl Iterator<Item = (u32, u32)>, Corrupt> {
        let bytes = self.numbers.range(places.start * self.width..places.end * self.width)?;
        let low = (1u64 << self.bits) - 1;
        Ok(bytes.chunks_exact(self.width).map(move |bytes| {
            let mut tagged = [0; 8];
            tagged[..bytes.len()].copy_from_slice(bytes);
            let tagged = u64::from_le_bytes(tagged);
            ((tagged & low) as u32, (tagged >> self.bits) as u32)
        }))
    }

    pub(super) fn bytes(&self) -> usize {
        4 * self.directory.len() + self.numbers.len()
    }
}

fn place(registers: &[u8], sketch: &Registers, buckets: usize, width: usize, bits: u32) -> Address {
    let key = registers.iter().fold(0u32, |key, &at| key << 8 | u32::from(sketch[usize::from(at)]));
    // Hashed to 32 bits, which the buckets divide evenly; the tag divides the bucket.
    let spread = key.wrapping_mul(GOLDEN_32);
    let spread = (spread ^ (spread >> 15)).wrapping_mul(GOLDEN_32);
    let place = u64::from(spread) * buckets as u64;
    let spare = 8 * width as u32 - bits;
    let tag = (place & u64::from(u32::MAX)) >> (32 - spare);
    Address { bucket: (place >> 32) as u32, tag: tag as u32 }
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

    /// Saved tables are searched by later versions: a sketch stays in its bucket, under its tag.
    #[test]
    fn golden_buckets() {
        let mut sketch = [0; REGISTERS];
        sketch[5..9].copy_from_slice(&[1, 2, 3, 4]);
        sketch[20..24].copy_from_slice(&[255; 4]);
        for (registers, buckets, expected, tag) in [
            (&[0u8, 1, 2, 3][..], 7, 0, 0),
            (&[0, 5], 1000, 685, 62),
            (&[5, 6, 7, 8], 1000, 776, 156),
            (&[20, 21, 22, 23], 1000, 405, 33),
            (&[0, 20], 1 << 20, 794033, 206),
        ] {
            let place = |width, bits| place(registers, &sketch, buckets, width, bits);
            assert_eq!(place(2, 8), Address { bucket: expected, tag }, "{registers:?}");
            // Fewer bits left over hold the highest bits of the tag; none hold nothing.
            assert_eq!(place(2, 13), Address { bucket: expected, tag: tag >> 5 });
            assert_eq!(place(2, 16), Address { bucket: expected, tag: 0 });
        }
    }
}
