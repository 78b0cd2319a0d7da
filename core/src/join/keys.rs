//! Codes → sort keys: the bits of a code under a mask, packed.

use super::Code;

/// Reads the bits of a code that lie under a mask as one number.
pub(super) struct BitKey<const W: usize> {
    pub(super) mask: Code<W>,
    pub(super) bits: u32,
    /// For each byte of the code the mask touches: its place, and what its values add to the key.
    bytes: Vec<(usize, Box<[u32; 256]>)>,
}

impl<const W: usize> BitKey<W> {
    /// `mask` has at most 32 bits.
    pub(super) fn new(mask: Code<W>) -> Self {
        Self::build(mask, !fast_pext())
    }

    fn build(mask: Code<W>, by_tables: bool) -> Self {
        let bits = mask.iter().map(|word| word.count_ones()).sum();
        let mut bytes = Vec::new();
        if by_tables {
            let mut shift = 0;
            for byte in 0..W * 8 {
                let part = mask[byte / 8] >> (byte % 8 * 8) & 0xff;
                if part == 0 {
                    continue;
                }
                let table = std::array::from_fn(|value| (extract(value as u64, part) as u32) << shift);
                shift += part.count_ones();
                bytes.push((byte, Box::new(table)));
            }
        }
        BitKey { mask, bits, bytes }
    }

    /// The keys of `codes`, one each.
    pub(super) fn keys(&self, codes: &[Code<W>], keys: &mut Vec<u32>) {
        keys.clear();
        #[cfg(target_arch = "x86_64")]
        if self.bytes.is_empty() && self.bits > 0 {
            // SAFETY: without tables `new` found that the processor has BMI2.
            unsafe { keys_pext(&self.mask, codes, keys) };
            return;
        }
        keys.extend(codes.iter().map(|code| {
            let at = |byte: usize| (code[byte / 8] >> (byte % 8 * 8) & 0xff) as usize;
            self.bytes.iter().fold(0, |key, (byte, table)| key | table[at(*byte)])
        }));
    }
}

/// The bits of `value` under `mask`, packed: what PEXT does.
fn extract(value: u64, mut mask: u64) -> u64 {
    let (mut packed, mut at) = (0, 0);
    while mask != 0 {
        packed |= (value >> mask.trailing_zeros() & 1) << at;
        at += 1;
        mask &= mask - 1;
    }
    packed
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn keys_pext<const W: usize>(mask: &Code<W>, codes: &[Code<W>], keys: &mut Vec<u32>) {
    use std::arch::x86_64::_pext_u64;
    let mut shifts = [0; W];
    for word in 1..W {
        shifts[word] = shifts[word - 1] + mask[word - 1].count_ones();
    }
    keys.extend(codes.iter().map(|code| {
        let mut key = 0;
        for word in 0..W {
            // A word outside the mask may have a shift of 32: the key is made in 64 bits.
            key |= _pext_u64(code[word], mask[word]) << shifts[word];
        }
        key as u32
    }));
}

/// Whether PEXT is there and no slower than tables: AMD ran it in microcode before family 25.
#[cfg(target_arch = "x86_64")]
fn fast_pext() -> bool {
    use std::arch::x86_64::__cpuid;
    use std::sync::OnceLock;
    static FAST: OnceLock<bool> = OnceLock::new();
    *FAST.get_or_init(|| {
        let (vendor, version) = (__cpuid(0), __cpuid(1));
        let amd = vendor.ebx == u32::from_le_bytes(*b"Auth");
        let family = (version.eax >> 8 & 0xf) + (version.eax >> 20 & 0xff);
        is_x86_feature_detected!("bmi2") && !(amd && family < 25)
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn fast_pext() -> bool {
    false
}

/// Equal codes, equal hashes; codes that differ in a few bits, unlike ones.
pub(super) fn hash<const W: usize>(code: &Code<W>) -> u32 {
    let mut hash = 0u64;
    for &word in code {
        hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 32;
    }
    (hash.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tables_and_pext_agree_with_the_definition(codes: Vec<[u64; 2]>, at in proptest::collection::vec(0usize..128, 1..32)) {
            let mut mask = [0u64; 2];
            for bit in at {
                mask[bit / 64] |= 1 << (bit % 64);
            }
            let expected: Vec<u32> = codes
                .iter()
                .map(|code| (extract(code[0], mask[0]) | extract(code[1], mask[1]) << mask[0].count_ones()) as u32)
                .collect();
            let mut keys = Vec::new();
            BitKey::new(mask).keys(&codes, &mut keys);
            prop_assert_eq!(&keys, &expected);
            BitKey::build(mask, true).keys(&codes, &mut keys);
            prop_assert_eq!(&keys, &expected);
        }
    }
}
