//! Sets of bit positions, as codes.

use super::Code;

pub(super) fn count<const W: usize>(mask: &Code<W>) -> u32 {
    mask.iter().map(|word| word.count_ones()).sum()
}

pub(super) fn union<const W: usize>(left: &Code<W>, right: &Code<W>) -> Code<W> {
    std::array::from_fn(|word| left[word] | right[word])
}

pub(super) fn without<const W: usize>(left: &Code<W>, right: &Code<W>) -> Code<W> {
    std::array::from_fn(|word| left[word] & !right[word])
}

/// Whether two codes differ in any bit of the mask.
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
