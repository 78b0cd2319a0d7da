//! Sets of bit positions, as codes.

use super::Code;

/// Codes sampled to measure the balance of each bit.
const SAMPLE: usize = 1 << 12;

pub(super) fn count<const W: usize>(mask: &Code<W>) -> u32 {
    mask.iter().map(|word| word.count_ones()).sum()
}

pub(super) fn union<const W: usize>(left: &Code<W>, right: &Code<W>) -> Code<W> {
    std::array::from_fn(|word| left[word] | right[word])
}

pub(super) fn without<const W: usize>(left: &Code<W>, right: &Code<W>) -> Code<W> {
    std::array::from_fn(|word| left[word] & !right[word])
}

/// Returns whether two codes differ in any bit of the mask.
#[inline]
pub(super) fn differ<const W: usize>(left: &Code<W>, right: &Code<W>, mask: &Code<W>) -> bool {
    let mut any = 0;
    for word in 0..W {
        any |= (left[word] ^ right[word]) & mask[word];
    }
    any != 0
}

pub(super) fn positions<const W: usize>(mask: &Code<W>) -> impl Iterator<Item = u32> {
    (0..W as u32 * 64).filter(|&at| mask[at as usize / 64] >> (at % 64) & 1 == 1)
}

pub(super) fn of_positions<const W: usize>(positions: impl IntoIterator<Item = u32>) -> Code<W> {
    let mut mask = [0; W];
    for at in positions {
        mask[at as usize / 64] |= 1 << (at % 64);
    }
    mask
}

/// Returns all bit positions, the most balanced first: those that are one in about half of the codes.
pub(super) fn by_balance<const W: usize>(codes: &[Code<W>]) -> Vec<u32> {
    let step = codes.len().div_ceil(SAMPLE).max(1);
    let mut ones = vec![0usize; W * 64];
    for code in codes.iter().step_by(step) {
        for (at, ones) in ones.iter_mut().enumerate() {
            *ones += (code[at / 64] >> (at % 64) & 1) as usize;
        }
    }
    let sampled = codes.len().div_ceil(step);
    let mut order: Vec<u32> = (0..W as u32 * 64).collect();
    order.sort_by_key(|&at| (2 * ones[at as usize]).abs_diff(sampled));
    order
}
