//! Comparison of registers: which agree, how many, and which sketches of a bucket agree in enough.

use super::sketch::{REGISTERS, Sketch};

/// The registers of a sketch.
pub type Registers = [u8; REGISTERS];

/// Takes the positions of two rows; false ends the search.
pub(super) type OnAlike<'a> = &'a mut dyn FnMut(usize, usize) -> bool;

/// Registers of a sketch that are compared at once.
#[cfg(target_arch = "x86_64")]
const LANE: usize = 16;

/// Returns the registers of a sketch.
pub(super) fn registers(sketch: &Sketch) -> &Registers {
    sketch.first_chunk().expect("a sketch begins with its registers")
}

/// Returns the number of registers in which two sketches agree.
pub fn same_registers(left: &Sketch, right: &Sketch) -> u32 {
    same_count(registers(left), registers(right))
}

/// Returns which registers agree, a bit each.
#[inline(always)]
pub(super) fn same_mask(left: &Registers, right: &Registers) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;
        let lanes = |row: &Registers| -> [__m128i; REGISTERS / LANE] { bytemuck::cast(*row) };
        let (left, right) = (lanes(left), lanes(right));
        (0..REGISTERS / LANE).fold(0, |mask, lane| {
            // SAFETY: every x86-64 processor has these instructions.
            let same = unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(left[lane], right[lane])) };
            mask | (same as u64) << (LANE * lane)
        })
    }
    #[cfg(not(target_arch = "x86_64"))]
    same_mask_plain(left, right)
}

/// Returns how many registers agree.
#[inline(always)]
pub(super) fn same_count(left: &Registers, right: &Registers) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;
        let lanes = |row: &Registers| -> [__m128i; REGISTERS / LANE] { bytemuck::cast(*row) };
        let (left, right) = (lanes(left), lanes(right));
        // SAFETY: every x86-64 processor has these instructions.
        unsafe {
            // A byte that agrees is -1, so subtracting it counts; the sum over bytes is one instruction.
            let zero = _mm_setzero_si128();
            let counts = (0..REGISTERS / LANE)
                .fold(zero, |counts, lane| _mm_sub_epi8(counts, _mm_cmpeq_epi8(left[lane], right[lane])));
            let halves: [u64; 2] = bytemuck::cast(_mm_sad_epu8(counts, zero));
            (halves[0] + halves[1]) as u32
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    same_mask_plain(left, right).count_ones()
}

/// Returns `same_mask` without vector instructions.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn same_mask_plain(left: &Registers, right: &Registers) -> u64 {
    (0..left.len()).fold(0, |mask, at| mask | u64::from(left[at] == right[at]) << at)
}

/// Calls `hit` for every two rows that agree in at least `least` registers, the earlier one first. With a `split`, only
/// for pairs of one row before it and one from it on. O(rows²).
pub(super) fn each_alike(rows: &[Registers], split: Option<usize>, least: u32, hit: OnAlike<'_>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has the instructions, as just detected.
        return unsafe { each_alike_avx2(rows, split, least, hit) };
    }
    each_alike_portable(rows, split, least, hit);
}

#[inline(always)]
fn each_pair(
    rows: &[Registers],
    split: Option<usize>,
    mut alike: impl FnMut(&Registers, &Registers) -> bool,
    hit: OnAlike<'_>,
) {
    for (at, row) in rows[..split.unwrap_or(rows.len())].iter().enumerate() {
        let from = split.unwrap_or(at + 1);
        for (other, after) in rows[from..].iter().zip(from..) {
            if alike(row, other) && !hit(at, after) {
                return;
            }
        }
    }
}

fn each_alike_portable(rows: &[Registers], split: Option<usize>, least: u32, hit: OnAlike<'_>) {
    each_pair(rows, split, |left, right| same_count(left, right) >= least, hit);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn each_alike_avx2(rows: &[Registers], split: Option<usize>, least: u32, hit: OnAlike<'_>) {
    use std::arch::x86_64::*;
    let alike = |left: &Registers, right: &Registers| {
        let load = |row: &Registers| {
            // SAFETY: a row has the 32 bytes that are loaded, and 16 more.
            unsafe { (_mm256_loadu_si256(row.as_ptr().cast()), _mm_loadu_si128(row[32..].as_ptr().cast())) }
        };
        let (left, right) = (load(left), load(right));
        let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(left.0, right.0)) as u32;
        let high = _mm_movemask_epi8(_mm_cmpeq_epi8(left.1, right.1)) as u32;
        (u64::from(high) << 32 | u64::from(low)).count_ones() >= least
    };
    each_pair(rows, split, alike, hit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agreement_is_counted_alike(left in prop::collection::vec(any::<u8>(), REGISTERS), which in any::<u64>(), other in any::<u8>()) {
            let which = which & ((1 << REGISTERS) - 1);
            let left: Registers = std::array::from_fn(|at| left[at]);
            let right: Registers = std::array::from_fn(|at| if which >> at & 1 == 1 { left[at] } else { other });
            let plain = same_mask_plain(&left, &right);
            prop_assert_eq!(plain & which, which);
            prop_assert_eq!(same_mask(&left, &right), plain);
            prop_assert_eq!(same_count(&left, &right), plain.count_ones());
        }

        #[test]
        fn all_ways_find_the_same(
            rows in prop::collection::vec(prop::array::uniform(0u8..3), 0..40),
            split in prop::option::of(0usize..40),
            least in 0u32..49,
        ) {
            let split = split.map(|split| split.min(rows.len()));
            let mut expected = Vec::new();
            for a in 0..rows.len() {
                for b in a + 1..rows.len() {
                    let across = split.is_none_or(|split| a < split && b >= split);
                    if across && (0..REGISTERS).filter(|&at| rows[a][at] == rows[b][at]).count() as u32 >= least {
                        expected.push((a, b));
                    }
                }
            }
            for search in [each_alike, each_alike_portable] {
                let mut found = Vec::new();
                search(&rows, split, least, &mut |a, b| { found.push((a, b)); true });
                prop_assert_eq!(&found, &expected);
                let mut first = None;
                search(&rows, split, least, &mut |a, b| { first = Some((a, b)); false });
                prop_assert_eq!(first, expected.first().copied());
            }
        }
    }
}
