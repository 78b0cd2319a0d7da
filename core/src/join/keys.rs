//! Codes → sort keys: the bits of a code under a mask, packed.

use super::Code;
use crate::hash::GOLDEN;

/// Packs the bits of a code that lie under a mask into one number.
pub(super) struct BitKey<const W: usize> {
    pub(super) mask: Code<W>,
    pub(super) bits: u32,
    method: Extraction,
}

/// How bits are packed.
enum Extraction {
    /// By the PEXT instruction.
    #[cfg(target_arch = "x86_64")]
    Pext(Bmi2),
    /// By tables: for each byte of the code under the mask its position, and what each of its values adds to the key.
    Tables(Vec<(usize, Box<[u32; 256]>)>),
}

impl Extraction {
    fn tables<const W: usize>(mask: &Code<W>) -> Self {
        let mut tables = Vec::new();
        let mut shift = 0;
        for byte in 0..W * 8 {
            let part = mask[byte / 8] >> (byte % 8 * 8) & 0xff;
            if part == 0 {
                continue;
            }
            let table = std::array::from_fn(|value| (extract(value as u64, part) as u32) << shift);
            shift += part.count_ones();
            tables.push((byte, Box::new(table)));
        }
        Extraction::Tables(tables)
    }
}

impl<const W: usize> BitKey<W> {
    /// Prepares keys of the bits under `mask`, at most 32.
    pub(super) fn new(mask: Code<W>) -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(bmi2) = Bmi2::fast() {
            return Self::with(mask, Extraction::Pext(bmi2));
        }
        Self::with(mask, Extraction::tables(&mask))
    }

    fn with(mask: Code<W>, method: Extraction) -> Self {
        BitKey { mask, bits: mask.iter().map(|word| word.count_ones()).sum(), method }
    }

    /// Replaces `keys` by the keys of `codes`.
    pub(super) fn keys(&self, codes: &[Code<W>], keys: &mut Vec<u32>) {
        keys.clear();
        match &self.method {
            #[cfg(target_arch = "x86_64")]
            Extraction::Pext(Bmi2(())) => {
                // SAFETY: a `Bmi2` exists only where the processor has these instructions.
                unsafe { keys_pext(&self.mask, codes, keys) }
            }
            Extraction::Tables(tables) => keys.extend(codes.iter().map(|code| {
                let at = |byte: usize| (code[byte / 8] >> (byte % 8 * 8) & 0xff) as usize;
                tables.iter().fold(0, |key, (byte, table)| key | table[at(*byte)])
            })),
        }
    }
}

/// Packs the bits of `value` under `mask`, as PEXT does.
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
            // The shift of a word without mask bits may be 32, so the key is built in 64 bits.
            key |= _pext_u64(code[word], mask[word]) << shifts[word];
        }
        key as u32
    }));
}

/// Proof that the processor has BMI2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Bmi2(());

#[cfg(target_arch = "x86_64")]
impl Bmi2 {
    /// Returns the proof if PEXT exists and is no slower than tables: AMD ran it in microcode before family 25.
    fn fast() -> Option<Bmi2> {
        use std::arch::x86_64::__cpuid;
        use std::sync::OnceLock;
        static FAST: OnceLock<Option<Bmi2>> = OnceLock::new();
        *FAST.get_or_init(|| {
            let (vendor, version) = (__cpuid(0), __cpuid(1));
            let amd = vendor.ebx == u32::from_le_bytes(*b"Auth");
            let family = (version.eax >> 8 & 0xf) + (version.eax >> 20 & 0xff);
            (is_x86_feature_detected!("bmi2") && !(amd && family < 25)).then_some(Bmi2(()))
        })
    }
}

/// Hashes a code; codes that differ in a few bits get very different hashes.
pub(super) fn hash<const W: usize>(code: &Code<W>) -> u32 {
    let mut hash = 0u64;
    for &word in code {
        hash = (hash ^ word).wrapping_mul(GOLDEN);
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
            BitKey::with(mask, Extraction::tables(&mask)).keys(&codes, &mut keys);
            prop_assert_eq!(&keys, &expected);
        }
    }
}
