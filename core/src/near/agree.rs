//! Registers of two sketches, side by side.

pub(super) use super::alike::Row as Registers;
#[cfg(target_arch = "x86_64")]
use super::sketch::REGISTERS;

/// Registers of a sketch that are compared at once.
#[cfg(target_arch = "x86_64")]
const LANE: usize = 16;

/// Which registers agree, a bit each.
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

/// How many registers agree.
#[inline(always)]
pub(super) fn same_count(left: &Registers, right: &Registers) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;
        let lanes = |row: &Registers| -> [__m128i; REGISTERS / LANE] { bytemuck::cast(*row) };
        let (left, right) = (lanes(left), lanes(right));
        // SAFETY: every x86-64 processor has these instructions.
        unsafe {
            // A byte that agrees is -1, so that taking it away counts; the sum over bytes is one instruction.
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

/// As `same_mask`, plainly.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn same_mask_plain(left: &Registers, right: &Registers) -> u64 {
    (0..left.len()).fold(0, |mask, at| mask | u64::from(left[at] == right[at]) << at)
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
    }
}
