//! Registers of two sketches, side by side.

pub(super) use super::alike::Row as Registers;

/// Which registers agree, a bit each.
#[inline(always)]
pub(super) fn same_mask(left: &Registers, right: &Registers) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;
        let (left, right): ([__m128i; 2], [__m128i; 2]) = (bytemuck::cast(*left), bytemuck::cast(*right));
        // SAFETY: every x86-64 processor has these instructions.
        unsafe {
            let low = _mm_movemask_epi8(_mm_cmpeq_epi8(left[0], right[0])) as u32;
            let high = _mm_movemask_epi8(_mm_cmpeq_epi8(left[1], right[1])) as u32;
            low | high << 16
        }
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
        let (left, right): ([__m128i; 2], [__m128i; 2]) = (bytemuck::cast(*left), bytemuck::cast(*right));
        // SAFETY: every x86-64 processor has these instructions.
        unsafe {
            // A byte that agrees is -1, so that taking them away counts; the sum over bytes is one instruction.
            let both = _mm_add_epi8(_mm_cmpeq_epi8(left[0], right[0]), _mm_cmpeq_epi8(left[1], right[1]));
            let halves: [u64; 2] =
                bytemuck::cast(_mm_sad_epu8(_mm_sub_epi8(_mm_setzero_si128(), both), _mm_setzero_si128()));
            (halves[0] + halves[1]) as u32
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    same_mask_plain(left, right).count_ones()
}

/// As `same_mask`, plainly.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn same_mask_plain(left: &Registers, right: &Registers) -> u32 {
    (0..left.len()).fold(0, |mask, at| mask | u32::from(left[at] == right[at]) << at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agreement_is_counted_alike(left in any::<Registers>(), which in any::<u32>(), other in any::<Registers>()) {
            let right: Registers = std::array::from_fn(|at| if which >> at & 1 == 1 { left[at] } else { other[at] });
            let plain = same_mask_plain(&left, &right);
            prop_assert_eq!(plain & which, which);
            prop_assert_eq!(same_mask(&left, &right), plain);
            prop_assert_eq!(same_count(&left, &right), plain.count_ones());
        }
    }
}
