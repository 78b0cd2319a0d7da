//! Packed records of codes in a table, and the scan over them.
//!
//! A table files codes under a block of their bits. Records leave out the bytes of the block that the bucket implies,
//! and the records of a bucket are contiguous: a bucket is one straight scan.

use std::cmp::Ordering;

/// Zero bytes after the last record, so that each of its words can be read whole.
pub(crate) const PADDING: usize = 8;
/// Words of the widest code.
pub(crate) const WORDS: usize = crate::MAX_BITS / 64;

/// Which bits of a code are a table's key, and which bytes its records leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Bytes of a whole code.
    code: usize,
    /// First byte of the block, counted from the least significant.
    low: usize,
    /// First byte after the block.
    high: usize,
    /// Bits of the key's first level: the highest of the block.
    pub(crate) outer_bits: u32,
    /// Bytes at the top of the block that are all key, and so not in the record; one byte of a code always is.
    dropped: usize,
    /// First byte of the block after it, in a ring.
    next_low: usize,
    /// First byte after that.
    next_high: usize,
    /// Bits of the key's second level: the highest of the next block; none if there is one level.
    pub(crate) inner_bits: u32,
}

/// Bits of a second level at least: fewer hardly divide a bucket, as keys that differ in a bit are read too.
const LEAST_INNER: u32 = 6;

impl Shape {
    /// Returns the tables of codes with `bits` bits: at most four blocks of 16 bits, from the top. With `unique` codes
    /// a key gets as many bits as keep a bucket at a few records, but no more than its block has; with two levels, no
    /// more than its block and the next.
    pub(crate) fn tables(bits: usize, unique: usize, levels: u32) -> Vec<Shape> {
        let code = bits / 8;
        let fitting = unique.max(1).ilog2().saturating_sub(2).max(1);
        let count = blocks(bits);
        let block = |table: usize| {
            let high = code - 2 * table;
            (high.saturating_sub(2), high)
        };
        let shape = |table: usize| {
            let ((low, high), (next_low, next_high)) = (block(table), block((table + 1) % count));
            let whole = |low: usize, high: usize| 8 * (high - low) as u32;
            let outer_bits = match levels {
                1 => fitting,
                _ => fitting.saturating_sub(LEAST_INNER).max(1),
            }
            .min(whole(low, high));
            let inner_bits = match levels {
                1 => 0,
                _ => fitting.saturating_sub(outer_bits).max(LEAST_INNER).min(whole(next_low, next_high)),
            };
            let dropped = (outer_bits as usize / 8).min(code - 1);
            Shape { code, low, high, outer_bits, dropped, next_low, next_high, inner_bits }
        };
        (0..count).map(shape).collect()
    }

    /// Returns the bits of the key, of both levels.
    pub(crate) fn key_bits(&self) -> u32 {
        self.outer_bits + self.inner_bits
    }

    pub(crate) fn buckets(&self) -> usize {
        1 << self.key_bits()
    }

    /// Returns whether the keys of sorted codes are sorted: the second level follows the first without a gap.
    pub(crate) fn keeps_order(&self) -> bool {
        self.inner_bits == 0 || self.outer_bits as usize == 8 * (self.high - self.low)
    }

    /// Returns the bytes of a record.
    pub(crate) fn stride(&self) -> usize {
        self.code - self.dropped
    }

    /// Returns the key of a code, the first level above the second.
    #[inline(always)]
    pub(crate) fn key(&self, code: &[u64]) -> usize {
        self.outer(code) << self.inner_bits | highest(code, 8 * self.next_low, 8 * self.next_high, self.inner_bits)
    }

    /// Returns the first level of the key of a code.
    #[inline(always)]
    pub(crate) fn outer(&self, code: &[u64]) -> usize {
        highest(code, 8 * self.low, 8 * self.high, self.outer_bits)
    }

    /// Returns the second level of the key of the record at the start of `bytes`.
    #[inline(always)]
    pub(crate) fn inner<const N: usize>(&self, bytes: &[u8]) -> usize {
        let record = self.load::<N>(bytes);
        let moved = if self.next_low < self.gap() { 0 } else { self.dropped };
        highest(&record, 8 * (self.next_low - moved), 8 * (self.next_high - moved), self.inner_bits)
    }

    /// Returns how many of the bits in which two keys differ are missing from the records.
    #[inline(always)]
    pub(crate) fn dropped_distance(&self, key_difference: usize) -> u32 {
        (key_difference >> (self.key_bits() as usize - 8 * self.dropped)).count_ones()
    }

    /// Returns the first byte that the record leaves out.
    fn gap(&self) -> usize {
        self.high - self.dropped
    }

    /// Returns the words of a record.
    pub(crate) fn words(&self) -> usize {
        self.stride().div_ceil(8)
    }

    /// Returns which bits of the last word of a record belong to it.
    fn last_mask(&self) -> u64 {
        u64::MAX >> (64 * self.words() - 8 * self.stride())
    }

    /// Returns the record of a code; `N` is `words()`.
    #[inline(always)]
    pub(crate) fn pack<const N: usize>(&self, code: &[u64]) -> [u64; N] {
        let gap = 8 * self.gap();
        let mut words = [0; N];
        for (at, word) in words.iter_mut().enumerate() {
            // Below the gap the code as it is, above it the code moved down over what is left out.
            let below = u64::MAX.checked_shr(64 - gap.saturating_sub(64 * at).min(64) as u32).unwrap_or(0);
            *word = shifted(code, 64 * at) & below | shifted(code, 64 * at + 8 * self.dropped) & !below;
        }
        words[N - 1] &= self.last_mask();
        words
    }

    /// Returns the code of the record at the start of `bytes`, which is in the bucket `key`.
    #[inline(always)]
    pub(crate) fn unpack<const N: usize>(&self, bytes: &[u8], key: usize) -> [u64; WORDS] {
        let record = self.load::<N>(bytes);
        let gap = 8 * self.gap();
        let missing = 8 * self.dropped;
        let dropped = (key >> (self.key_bits() as usize - missing)) as u64;
        let mut words = [0; WORDS];
        // A code has at most one word more than its record: two bytes are missing.
        for (at, word) in words.iter_mut().enumerate().take(N + 1) {
            let below = u64::MAX.checked_shr(64 - gap.saturating_sub(64 * at).min(64) as u32).unwrap_or(0);
            *word = shifted(&record, 64 * at) & below;
            // Above the gap the record moved up; the dropped bytes in between, across a border of words if need be.
            let above = u64::MAX.checked_shl((gap + missing).saturating_sub(64 * at) as u32).unwrap_or(0);
            let (from, by) = ((64 * at).checked_sub(missing), missing.saturating_sub(64 * at));
            let moved = from.map_or_else(|| record[0] << by, |bit| shifted(&record, bit));
            *word |= moved & above;
            *word |= match (64 * at).checked_sub(gap) {
                Some(over) => dropped.checked_shr(over as u32).unwrap_or(0),
                None => dropped.checked_shl((gap - 64 * at) as u32).unwrap_or(0),
            };
        }
        words
    }

    /// Returns the words of the record at the start of `bytes`, which has `PADDING` bytes after it.
    #[inline(always)]
    fn load<const N: usize>(&self, bytes: &[u8]) -> [u64; N] {
        let mut words = [0; N];
        for (at, word) in words.iter_mut().enumerate() {
            *word = u64::from_le_bytes(bytes[8 * at..8 * at + 8].try_into().unwrap_or_default());
        }
        words[N - 1] &= self.last_mask();
        words
    }

    /// Returns how the record at the start of `bytes` compares with another, as numbers.
    #[inline(always)]
    pub(crate) fn compare<const N: usize>(&self, bytes: &[u8], other: &[u64; N]) -> Ordering {
        self.load::<N>(bytes).iter().rev().cmp(other.iter().rev())
    }
}

/// Writes a record.
#[inline(always)]
pub(crate) fn store<const N: usize>(words: &[u64; N], record: &mut [u8]) {
    // The common sizes as constants: a copy of unknown length is a call.
    match record.len() {
        6 => record.copy_from_slice(&words[0].to_le_bytes()[..6]),
        7 => record.copy_from_slice(&words[0].to_le_bytes()[..7]),
        8 => record.copy_from_slice(&words[0].to_le_bytes()),
        _ => {
            for (place, word) in record.chunks_mut(8).zip(words) {
                place.copy_from_slice(&word.to_le_bytes()[..place.len()]);
            }
        }
    }
}

/// Returns how many blocks the tables of codes with `bits` bits have.
pub(crate) fn blocks(bits: usize) -> usize {
    (bits / 8).div_ceil(2).min(4)
}

/// Returns the highest `count` of the bits `low..high` of a code, at most 16.
#[inline(always)]
fn highest(code: &[u64], low: usize, high: usize, count: u32) -> usize {
    let bits = (high - low) as u32;
    ((shifted(code, low) & ((1 << bits) - 1)) >> (bits - count)) as usize
}

/// Returns the 64 bits of a code from `bit` on; zeros after its end.
#[inline(always)]
fn shifted(code: &[u64], bit: usize) -> u64 {
    let word = |at: usize| code.get(at).copied().unwrap_or(0);
    let (at, by) = (bit / 64, bit % 64);
    if by == 0 { word(at) } else { word(at) >> by | word(at + 1) << (64 - by) }
}

/// A record within the limit: its place in the scanned run, and its distance.
pub(crate) type Near = (u32, u32);

/// Finds the records at most `limit` bits from `query`. `records` ends in `PADDING` bytes that are none of them.
#[inline]
pub(crate) fn scan<const N: usize>(shape: &Shape, records: &[u8], query: &[u64; N], limit: u32, found: &mut Vec<Near>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("popcnt") {
        let long = records.len() >= STEP * shape.stride() + PADDING;
        if N == 1 && long && shape.stride() >= NARROWEST && is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions, as just detected.
            return unsafe { scan_avx2(shape, records, query[0], limit, found) };
        }
        // SAFETY: the processor has the instruction, as just detected.
        return unsafe { scan_popcnt(shape, records, query, limit, found) };
    }
    scan_words(shape, records, query, 0, limit, found);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn scan_popcnt<const N: usize>(shape: &Shape, records: &[u8], query: &[u64; N], limit: u32, found: &mut Vec<Near>) {
    scan_words(shape, records, query, 0, limit, found);
}

/// Scans from one record on, word by word; inlined into functions with more instructions enabled.
#[inline(always)]
fn scan_words<const N: usize>(
    shape: &Shape,
    records: &[u8],
    query: &[u64; N],
    from: usize,
    limit: u32,
    found: &mut Vec<Near>,
) {
    let stride = shape.stride();
    assert!(N == shape.words() && records.len() >= PADDING);
    let count = (records.len() - PADDING) / stride;
    let last_mask = shape.last_mask();
    for at in from..count {
        let mut distance = 0;
        for (word, &own) in query.iter().enumerate() {
            // SAFETY: at < count, so the record ends within the records before the padding; N is its words rounded up,
            // so the last of them ends less than 8 bytes, the padding, after the record.
            let value = unsafe { records.as_ptr().add(at * stride + 8 * word).cast::<u64>().read_unaligned() };
            let mask = if word + 1 == N { last_mask } else { u64::MAX };
            distance += ((u64::from_le(value) ^ own) & mask).count_ones();
        }
        if distance <= limit {
            found.push((at as u32, distance));
        }
    }
}

/// Records of fewer bytes than this are too short for `scan_avx2`: two of them would be read beyond the padding.
#[cfg(target_arch = "x86_64")]
const NARROWEST: usize = 4;
/// Records that `scan_avx2` looks at together.
#[cfg(target_arch = "x86_64")]
const STEP: usize = 8;

/// Which bytes of two records of each size make a word each.
#[cfg(target_arch = "x86_64")]
static SPREAD: [[i8; 16]; 9 - NARROWEST] = {
    let mut spread = [[-1; 16]; 9 - NARROWEST];
    let mut stride = NARROWEST;
    while stride <= 8 {
        let mut byte = 0;
        while byte < stride {
            spread[stride - NARROWEST][byte] = byte as i8;
            spread[stride - NARROWEST][8 + byte] = (stride + byte) as i8;
            byte += 1;
        }
        stride += 1;
    }
    spread
};

/// Scans records of one word, eight at a time. Two records are loaded at once and spread to a word each; bits are
/// counted by table look-up (Muła, Kurz, Lemire, "Faster population counts using AVX2 instructions", 2018).
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn scan_avx2(shape: &Shape, records: &[u8], query: u64, limit: u32, found: &mut Vec<Near>) {
    use std::arch::x86_64::*;
    let stride = shape.stride();
    assert!((NARROWEST..=8).contains(&stride) && records.len() >= PADDING);
    let count = (records.len() - PADDING) / stride;
    // SAFETY: the array has the 16 bytes that are read.
    let spread = _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(SPREAD[stride - NARROWEST].as_ptr().cast()) });
    let own = _mm256_set1_epi64x(query as i64);
    let low = _mm256_set1_epi8(15);
    let counts = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
    );
    let above = _mm256_set1_epi64x(i64::from(limit) + 1);
    let distances = |at: usize| {
        // SAFETY: the callers make sure that at + 4 <= count. Of the last two records 2 * stride of the 16 bytes read
        // are before the padding, and stride >= NARROWEST, so at most 8 bytes, the padding, are read after them.
        let (two, next) = unsafe {
            let first = records.as_ptr().add(at * stride);
            (_mm_loadu_si128(first.cast()), _mm_loadu_si128(first.add(2 * stride).cast()))
        };
        let differ = _mm256_xor_si256(_mm256_shuffle_epi8(_mm256_set_m128i(next, two), spread), own);
        let ones = _mm256_shuffle_epi8(counts, _mm256_and_si256(differ, low));
        let more = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16::<4>(differ), low));
        _mm256_sad_epu8(_mm256_add_epi8(ones, more), _mm256_setzero_si256())
    };
    let mut at = 0;
    while at + STEP <= count {
        let nearer = _mm256_min_epi32(distances(at), distances(at + STEP / 2));
        if _mm256_movemask_epi8(_mm256_cmpgt_epi32(above, nearer)) != 0 {
            let end = (at + STEP) * stride + PADDING;
            scan_words(shape, &records[..end], &[query], at, limit, found);
        }
        at += STEP;
    }
    scan_words(shape, records, &[query], at, limit, found);
}

/// Calls a function that is generic over the words of a record.
macro_rules! with_words {
    ($words:expr, $call:ident :: < N > ( $($argument:expr),* $(,)? )) => {
        match $words {
            1 => $call::<1>($($argument),*),
            2 => $call::<2>($($argument),*),
            3 => $call::<3>($($argument),*),
            4 => $call::<4>($($argument),*),
            5 => $call::<5>($($argument),*),
            6 => $call::<6>($($argument),*),
            7 => $call::<7>($($argument),*),
            _ => $call::<8>($($argument),*),
        }
    };
}
pub(crate) use with_words;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mask(bits: usize, words: &mut [u64]) {
        for (at, word) in words.iter_mut().enumerate() {
            let rest = bits.saturating_sub(64 * at).min(64);
            *word &= if rest == 0 { 0 } else { u64::MAX >> (64 - rest) };
        }
    }

    fn check_round_trip<const N: usize>(shape: Shape, code: &[u64; 8]) {
        let mut record = vec![0xa5; shape.stride() + PADDING];
        let packed = shape.pack::<N>(code);
        store(&packed, &mut record[..shape.stride()]);
        assert_eq!(shape.unpack::<N>(&record, shape.key(code)), *code);
        assert_eq!(shape.compare(&record, &packed), Ordering::Equal);
        assert_eq!(shape.outer(code) << shape.inner_bits | shape.inner::<N>(&record), shape.key(code));
    }

    fn check_scan<const N: usize>(shape: Shape, codes: &[[u64; 8]], limit: u32) {
        let first = &codes[0];
        // All in one bucket: only the bits in the record count.
        let in_record = |code: &[u64; 8]| {
            let whole: u32 = code.iter().zip(first).map(|(a, b)| (a ^ b).count_ones()).sum();
            whole - shape.dropped_distance(shape.key(code) ^ shape.key(first))
        };
        let mut records = vec![0; codes.len() * shape.stride()];
        for (code, place) in codes.iter().zip(records.chunks_mut(shape.stride())) {
            store(&shape.pack::<N>(code), place);
        }
        // What follows the last record must not count.
        records.extend([0xa5; PADDING]);
        let expected: Vec<Near> =
            (0..).zip(codes.iter().map(in_record)).filter(|&(_, distance)| distance <= limit).collect();
        let query = shape.pack::<N>(first);
        let mut found = Vec::new();
        scan(&shape, &records, &query, limit, &mut found);
        assert_eq!(found, expected);
        found.clear();
        scan_words(&shape, &records, &query, 0, limit, &mut found);
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn a_record_and_its_key_are_the_code(
            bytes in 1usize..=64, unique in 1usize..1 << 24, mut code in [any::<u64>(); 8],
        ) {
            mask(8 * bytes, &mut code);
            for levels in 1..=blocks(8 * bytes).min(2) as u32 {
                for shape in Shape::tables(8 * bytes, unique, levels) {
                    with_words!(shape.words(), check_round_trip::<N>(shape, &code));
                }
            }
        }

        #[test]
        fn a_scan_finds_what_plain_counting_finds(
            bytes in 1usize..=64, unique in 1usize..1 << 20, limit in 0u32..64,
            mut codes in prop::collection::vec([any::<u64>(); 8], 1..40),
            flips in prop::collection::vec((0usize..40, 0usize..512), 0..80),
        ) {
            let bits = 8 * bytes;
            for code in &mut codes { mask(bits, code); }
            // Neighbours of the first code, or hardly anything would be near.
            let first = codes[0];
            let half = codes.len() / 2;
            codes[..half].fill(first);
            for (at, bit) in flips {
                let (at, bit) = (at % codes.len(), bit % bits);
                codes[at][bit / 64] ^= 1 << (bit % 64);
            }
            for levels in 1..=blocks(bits).min(2) as u32 {
                for shape in Shape::tables(bits, unique, levels) {
                    with_words!(shape.words(), check_scan::<N>(shape, &codes, limit));
                }
            }
        }
    }
}
