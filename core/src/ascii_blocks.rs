//! Classes of bytes, 64 at a time: letters, digits and the marks of ASCII as bit masks.

/// Bytes of a block: one bit each in a mask.
pub(crate) const BLOCK: usize = 64;

/// Scans a text for the bytes that can start or end a word, a block at a time.
pub(crate) struct BlockScanner<'a> {
    bytes: &'a [u8],
    /// The number of the block that the masks describe.
    block: usize,
    /// Letters, digits and underscores of ASCII.
    inside: u64,
    /// The same, and every byte beyond ASCII.
    candidates: u64,
}

impl<'a> BlockScanner<'a> {
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        // No block has this number, so the first use loads one; a text of ASCII alone never does.
        BlockScanner { bytes, block: usize::MAX, inside: 0, candidates: 0 }
    }

    #[inline]
    fn load(&mut self, block: usize) {
        let classes = classify_at(self.bytes, block * BLOCK);
        (self.inside, self.candidates) = (classes.inside(), classes.inside() | classes.beyond);
        self.block = block;
    }

    /// Returns the first byte at or after `at` that can start a piece, or the end.
    #[inline(always)]
    pub(crate) fn next_candidate(&mut self, at: usize) -> usize {
        self.find(at, |blocks| blocks.candidates)
    }

    /// Returns the first byte at or after `at` that is not an ASCII word character, or the end.
    #[inline(always)]
    pub(crate) fn next_outside(&mut self, at: usize) -> usize {
        self.find(at, |blocks| !blocks.inside)
    }

    #[inline(always)]
    fn find(&mut self, at: usize, bits: impl Fn(&Self) -> u64) -> usize {
        let mut at = at;
        while at < self.bytes.len() {
            let block = at / BLOCK;
            if block != self.block {
                self.load(block);
            }
            let found = bits(self) >> (at % BLOCK);
            if found != 0 {
                return (at + found.trailing_zeros() as usize).min(self.bytes.len());
            }
            at = (block + 1) * BLOCK;
        }
        self.bytes.len()
    }
}

/// The classes of the 64 bytes of a block: a mask for each class, a bit for each byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ByteClasses {
    pub(crate) letters: u64,
    pub(crate) digits: u64,
    pub(crate) underscores: u64,
    /// Marks that may stand between letters.
    pub(crate) in_letters: u64,
    /// Marks that may stand between digits.
    pub(crate) in_digits: u64,
    /// Not ASCII.
    beyond: u64,
}

impl ByteClasses {
    /// Returns the word characters: letters, digits and underscores.
    #[inline(always)]
    pub(crate) fn inside(self) -> u64 {
        self.letters | self.digits | self.underscores
    }
}

/// Classifies the block that begins at `start`; bytes beyond the end have no class.
#[inline(always)]
pub(crate) fn classify_at(bytes: &[u8], start: usize) -> ByteClasses {
    let rest = bytes.get(start..).unwrap_or_default();
    match rest.first_chunk() {
        Some(full) => classify(full),
        None if rest.is_empty() => ByteClasses::default(),
        None => classify_rest(rest),
    }
}

#[inline(never)]
fn classify_rest(rest: &[u8]) -> ByteClasses {
    let mut padded = [0; BLOCK];
    padded[..rest.len()].copy_from_slice(rest);
    classify(&padded)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn classify(bytes: &[u8; 64]) -> ByteClasses {
    use std::arch::x86_64::*;
    let mut classes = ByteClasses::default();
    for (at, sixteen) in bytes.as_chunks::<16>().0.iter().enumerate() {
        // SAFETY: every x86-64 processor has SSE2, and the load reads the sixteen bytes of the chunk.
        unsafe {
            let value = _mm_loadu_si128(sixteen.as_ptr().cast());
            // As signed bytes, those beyond ASCII are negative and so below every range.
            let within = |value, low: u8, high: u8| {
                let above = _mm_cmpgt_epi8(value, _mm_set1_epi8(low as i8 - 1));
                _mm_and_si128(above, _mm_cmplt_epi8(value, _mm_set1_epi8(high as i8 + 1)))
            };
            let is = |byte: u8| _mm_cmpeq_epi8(value, _mm_set1_epi8(byte as i8));
            let bits = |found| (_mm_movemask_epi8(found) as u64) << (at * 16);
            let in_both = _mm_or_si128(is(b'.'), is(b'\''));
            classes.letters |= bits(within(_mm_or_si128(value, _mm_set1_epi8(0x20)), b'a', b'z'));
            classes.digits |= bits(within(value, b'0', b'9'));
            classes.underscores |= bits(is(b'_'));
            classes.in_letters |= bits(_mm_or_si128(in_both, is(b':')));
            classes.in_digits |= bits(_mm_or_si128(in_both, _mm_or_si128(is(b','), is(b';'))));
            classes.beyond |= bits(value);
        }
    }
    classes
}

/// Classifies on any processor, eight bytes at a time in one register. Adding a constant to seven-bit bytes sets the
/// top bit of those at or above a limit, and a multiplication gathers the top bits.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline]
fn classify_anywhere(bytes: &[u8; 64]) -> ByteClasses {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const TOP: u64 = 0x80 * EACH;
    let at_least = |values: u64, limit: u8| values + (0x80 - u64::from(limit)) * EACH;
    let within = |values: u64, low: u8, high: u8| at_least(values, low) & !at_least(values, high + 1);
    let gather = |tops: u64| ((tops & TOP) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    let mut classes = ByteClasses::default();
    for (at, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
        let value = u64::from_le_bytes(*eight);
        let low = value & !TOP;
        let is = |byte: u8| within(low, byte, byte);
        let bits = |found: u64| gather(found & !value) << (at * 8);
        let in_both = is(b'.') | is(b'\'');
        classes.letters |= bits(within(low | (0x20 * EACH), b'a', b'z'));
        classes.digits |= bits(within(low, b'0', b'9'));
        classes.underscores |= bits(is(b'_'));
        classes.in_letters |= bits(in_both | is(b':'));
        classes.in_digits |= bits(in_both | is(b',') | is(b';'));
        classes.beyond |= gather(value) << (at * 8);
    }
    classes
}

#[cfg(not(target_arch = "x86_64"))]
use classify_anywhere as classify;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_classified_as_their_names_say() {
        for start in 0..4u8 {
            let bytes: [u8; 64] = std::array::from_fn(|at| start * 64 + at as u8);
            let classes = classify(&bytes);
            assert_eq!(classify_anywhere(&bytes), classes);
            for (at, byte) in bytes.into_iter().enumerate() {
                for (bits, expected) in [
                    (classes.letters, byte.is_ascii_alphabetic()),
                    (classes.digits, byte.is_ascii_digit()),
                    (classes.underscores, byte == b'_'),
                    (classes.in_letters, b":.'".contains(&byte)),
                    (classes.in_digits, b".',;".contains(&byte)),
                    (classes.beyond, !byte.is_ascii()),
                ] {
                    assert_eq!(bits >> at & 1 == 1, expected, "{byte}");
                }
            }
        }
    }
}
