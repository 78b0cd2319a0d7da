//! Which sketches of a bucket agree in enough registers: every pair, all registers at once.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use super::sketch::REGISTERS;

/// The registers of a sketch.
pub(crate) type Row = [u8; REGISTERS];

/// Takes the places of two rows; false ends the search.
pub(crate) type Hit<'a> = &'a mut dyn FnMut(usize, usize) -> bool;

/// In how many registers two rows agree.
#[inline(always)]
pub(crate) fn same(left: &Row, right: &Row) -> u32 {
    left.iter().zip(right).map(|(a, b)| u32::from(a == b)).sum()
}

/// Calls `hit` for every two rows that agree in at least so many registers, the earlier one first. With a `split`, one
/// of them is before it and the other is not.
pub(crate) fn each_alike(rows: &[Row], split: Option<usize>, least: u32, hit: Hit<'_>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has what the function was compiled for.
        return unsafe { each_alike_avx2(rows, split, least, hit) };
    }
    each_alike_portable(rows, split, least, hit);
}

#[inline(always)]
fn each_pair(rows: &[Row], split: Option<usize>, mut alike: impl FnMut(&Row, &Row) -> bool, hit: Hit<'_>) {
    for (at, row) in rows[..split.unwrap_or(rows.len())].iter().enumerate() {
        let from = split.unwrap_or(at + 1);
        for (other, after) in rows[from..].iter().zip(from..) {
            if alike(row, other) && !hit(at, after) {
                return;
            }
        }
    }
}

fn each_alike_portable(rows: &[Row], split: Option<usize>, least: u32, hit: Hit<'_>) {
    each_pair(rows, split, |left, right| same(left, right) >= least, hit);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn each_alike_avx2(rows: &[Row], split: Option<usize>, least: u32, hit: Hit<'_>) {
    let alike = |left: &Row, right: &Row| {
        let load = |row: &Row| {
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
