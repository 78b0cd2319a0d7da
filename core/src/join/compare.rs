//! Comparison of all pairs of a bucket: counts the bits that differ, reports pairs within the radius.
//!
//! Up to a small radius, 32 bits tell most pairs apart: the words of a code folded into one by XOR. The folds of two
//! codes differ in no more bits than the codes do, so no pair is lost. Four codes at a time are compared with all that
//! follow: the mispredicted end of a loop costs more than the few pairs compared twice.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::ops::Range;

use super::Code;

/// Above this radius too many different codes have similar folds.
const FOLD_RADIUS: u32 = 8;
/// Up to this radius, clearing bits one by one is faster than counting them.
#[cfg(target_arch = "x86_64")]
const FEW_BITS: u32 = 3;
/// Folds compared in one step.
const STEP: usize = 8;
/// Codes compared with the others together.
const ROWS: usize = 4;

/// Takes the positions of two codes and their distance.
pub(super) type OnPair<'a> = &'a mut dyn FnMut(usize, usize, u32);

/// Compares codes within one radius.
pub(super) struct Compare {
    radius: u32,
    folds: bool,
}

impl Compare {
    pub(super) fn new(radius: u32) -> Self {
        #[cfg(target_arch = "x86_64")]
        let folds = radius <= FOLD_RADIUS && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt");
        #[cfg(not(target_arch = "x86_64"))]
        let folds = false;
        Compare { radius, folds }
    }

    /// Returns whether codes are filtered by their folds.
    pub(super) fn by_folds(&self) -> bool {
        self.folds
    }

    /// Computes the folds that `buckets` and `cross` need.
    pub(super) fn fold<const W: usize>(&self, codes: &[Code<W>], folds: &mut Vec<u32>) {
        folds.clear();
        if self.folds {
            folds.extend(codes.iter().map(|code| {
                let word = code.iter().fold(0, |folded, word| folded ^ word);
                (word ^ word >> 32) as u32
            }));
            // The last step may read beyond the last code.
            folds.resize(codes.len() + STEP, 0);
        }
    }

    /// Compares all pairs within each bucket `starts[b]..starts[b + 1]`; larger ones than `limit` go to `heavy`.
    pub(super) fn buckets<const W: usize>(
        &self,
        codes: &[Code<W>],
        folds: &[u32],
        starts: &[u32],
        limit: usize,
        heavy: &mut Vec<(usize, usize)>,
        hit: OnPair,
    ) {
        let ranges = starts.windows(2).filter_map(|ends| {
            let (from, to) = (ends[0] as usize, ends[1] as usize);
            if to - from > limit {
                heavy.push((from, to));
            }
            (to - from >= 2 && to - from <= limit).then_some((from..to, from..to))
        });
        self.ranges(codes, folds, ranges, hit);
    }

    /// Compares as `buckets`, where a bucket is 2^`bits` classes one after the other, and only pairs whose classes
    /// differ by one of the patterns are compared.
    #[allow(clippy::too_many_arguments)] // those of `buckets`, and two
    pub(super) fn classes<const W: usize>(
        &self,
        codes: &[Code<W>],
        folds: &[u32],
        starts: &[u32],
        patterns: &[u32],
        bits: u32,
        limit: usize,
        heavy: &mut Vec<(usize, usize)>,
        hit: OnPair,
    ) {
        let class = |at: usize| starts[at] as usize..starts[at + 1] as usize;
        let buckets = (0..starts.len() - 1).step_by(1 << bits).filter(|&bucket| {
            let (from, to) = (starts[bucket] as usize, starts[bucket + (1 << bits)] as usize);
            if to - from > limit {
                heavy.push((from, to));
            }
            to - from >= 2 && to - from <= limit
        });
        let ranges = buckets.flat_map(|bucket| {
            let pairs = (0..1 << bits).flat_map(|left| patterns.iter().map(move |pattern| (left, left ^ pattern)));
            pairs.filter(|(left, right)| left <= right).filter_map(move |(left, right)| {
                let (left, right) = (class(bucket + left as usize), class(bucket + right as usize));
                (!left.is_empty() && !right.is_empty()).then_some((left, right))
            })
        });
        self.ranges(codes, folds, ranges, hit);
    }

    /// Compares each code of one range with each of a later one.
    pub(super) fn cross<const W: usize>(
        &self,
        codes: &[Code<W>],
        folds: &[u32],
        left: Range<usize>,
        right: Range<usize>,
        hit: OnPair,
    ) {
        self.ranges(codes, folds, std::iter::once((left, right)), hit);
    }

    fn ranges<const W: usize>(
        &self,
        codes: &[Code<W>],
        folds: &[u32],
        ranges: impl Iterator<Item = (Range<usize>, Range<usize>)>,
        hit: OnPair,
    ) {
        #[cfg(target_arch = "x86_64")]
        if self.folds {
            assert!(folds.len() >= codes.len() + STEP);
            // SAFETY: `new` detected the instructions that the function needs.
            return unsafe { ranges_folds(codes, folds, ranges, self.radius, hit) };
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has the instruction, as just detected.
            return unsafe { ranges_popcnt(codes, ranges, self.radius, hit) };
        }
        let _ = folds;
        ranges_plain(codes, ranges, self.radius, hit);
    }
}

/// Compares each code of the left range with those of the right that come after it.
#[inline(always)]
fn ranges_plain<const W: usize>(
    codes: &[Code<W>],
    ranges: impl Iterator<Item = (Range<usize>, Range<usize>)>,
    radius: u32,
    hit: OnPair,
) {
    for (left, right) in ranges {
        for at in left.clone().step_by(ROWS) {
            let end = (at + ROWS).min(left.end);
            let rows: [Code<W>; ROWS] = std::array::from_fn(|row| codes[(at + row).min(left.end - 1)]);
            among(codes, at..end, right.start, radius, hit);
            let from = right.start.max(end);
            for (other, code) in (from..right.end).zip(codes.get(from..right.end).unwrap_or_default()) {
                let distances = rows.map(|row| distance(&row, code));
                if distances.iter().any(|&distance| distance <= radius) {
                    for (row, distance) in (at..end).zip(distances) {
                        if distance <= radius {
                            hit(row, other, distance);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn ranges_popcnt<const W: usize>(
    codes: &[Code<W>],
    ranges: impl Iterator<Item = (Range<usize>, Range<usize>)>,
    radius: u32,
    hit: OnPair,
) {
    ranges_plain(codes, ranges, radius, hit);
}

/// Compares as `ranges_plain`, filtering by folds.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn ranges_folds<const W: usize>(
    codes: &[Code<W>],
    folds: &[u32],
    ranges: impl Iterator<Item = (Range<usize>, Range<usize>)>,
    radius: u32,
    hit: OnPair,
) {
    for (left, right) in ranges {
        for at in left.clone().step_by(ROWS) {
            let end = (at + ROWS).min(left.end);
            let rows = std::array::from_fn(|row| folds[(at + row).min(left.end - 1)]);
            among(codes, at..end, right.start, radius, hit);
            let mut from = right.start.max(end);
            while let Some(step) = next_alike(rows, &folds[..right.end + STEP], from, right.end, radius) {
                from = step + STEP;
                step_hits(codes, at..end, step..from.min(right.end), radius, hit);
            }
        }
    }
}

/// Compares the codes whose folds are similar.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
#[cold]
fn step_hits<const W: usize>(codes: &[Code<W>], left: Range<usize>, right: Range<usize>, radius: u32, hit: OnPair) {
    for other in right {
        for row in left.clone() {
            let distance = distance(&codes[row], &codes[other]);
            if distance <= radius {
                hit(row, other, distance);
            }
        }
    }
}

/// Compares the few codes of `rows` with each other, if they are in the right range too.
#[inline(always)]
fn among<const W: usize>(codes: &[Code<W>], rows: Range<usize>, right: usize, radius: u32, hit: OnPair) {
    if right > rows.start {
        return;
    }
    for left in rows.clone() {
        for right in left + 1..rows.end {
            let distance = distance(&codes[left], &codes[right]);
            if distance <= radius {
                hit(left, right, distance);
            }
        }
    }
}

/// Returns the first step in `from..to` in which a fold lies within the radius of one of four.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn next_alike(rows: [u32; ROWS], folds: &[u32], from: usize, to: usize, radius: u32) -> Option<usize> {
    let zero = _mm256_setzero_si256();
    match radius {
        0..=FEW_BITS => {
            // What is left of the difference when its lowest bits are taken away, one for each the radius allows.
            let one = _mm256_set1_epi32(-1);
            let left = |differ: __m256i| {
                let mut left = differ;
                for _ in 0..FEW_BITS {
                    left = _mm256_and_si256(left, _mm256_add_epi32(left, one));
                }
                left
            };
            next_step(rows, folds, from, to, left, |least| _mm256_cmpeq_epi32(least, zero))
        }
        _ => {
            // Bits are counted by table look-up (Muła, Kurz, Lemire, "Faster population counts using AVX2
            // instructions", 2018).
            let low = _mm256_set1_epi8(15);
            let counts = _mm256_setr_epi8(
                0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
            );
            let (one_8, one_16) = (_mm256_set1_epi8(1), _mm256_set1_epi16(1));
            let above = _mm256_set1_epi32(radius as i32 + 1);
            let count = |differ: __m256i| {
                let ones = _mm256_shuffle_epi8(counts, _mm256_and_si256(differ, low));
                let more = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16::<4>(differ), low));
                _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_add_epi8(ones, more), one_8), one_16)
            };
            next_step(rows, folds, from, to, count, |least| _mm256_cmpgt_epi32(above, least))
        }
    }
}

/// Returns the first step in which `is_near` holds for the least `weight` of the bits that differ from one of the rows.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn next_step(
    rows: [u32; ROWS],
    folds: &[u32],
    from: usize,
    to: usize,
    weight: impl Fn(__m256i) -> __m256i,
    is_near: impl Fn(__m256i) -> __m256i,
) -> Option<usize> {
    assert!(to + STEP <= folds.len());
    let [a, b, c, d] = rows.map(|row| _mm256_set1_epi32(row as i32));
    let mut at = from;
    while at < to {
        // SAFETY: `at` is below `to`, and a step beyond that lies within the folds.
        let others = unsafe { _mm256_loadu_si256(folds.as_ptr().add(at).cast()) };
        let of = |row| weight(_mm256_xor_si256(others, row));
        let least = _mm256_min_epu32(_mm256_min_epu32(of(a), of(b)), _mm256_min_epu32(of(c), of(d)));
        if _mm256_movemask_epi8(is_near(least)) != 0 {
            return Some(at);
        }
        at += STEP;
    }
    None
}

#[inline(always)]
fn distance<const W: usize>(left: &Code<W>, right: &Code<W>) -> u32 {
    let mut distance = 0;
    for word in 0..W {
        distance += (left[word] ^ right[word]).count_ones();
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Places = Vec<(usize, usize, u32)>;

    fn sorted(run: impl FnOnce(OnPair)) -> Places {
        let mut found = Places::new();
        run(&mut |left, right, distance| found.push((left, right, distance)));
        found.sort_unstable();
        found
    }

    proptest! {
        #[test]
        fn every_way_finds_the_pairs_within_the_radius(
            centres in prop::collection::vec([any::<u64>(); 2], 1..4),
            picks in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(0usize..128, 0..6)), 2..80),
            radius in 0u32..12, split in any::<prop::sample::Index>(),
        ) {
            let codes: Vec<Code<2>> = picks.iter().map(|(pick, flips)| {
                let mut code = centres[pick.index(centres.len())];
                for bit in flips { code[bit / 64] ^= 1 << (bit % 64); }
                code
            }).collect();
            let count = codes.len();
            let split = split.index(count);
            let expected = |left: Range<usize>, right: Range<usize>| -> Places {
                let pairs = left.flat_map(|a| right.clone().map(move |b| (a, b))).filter(|(a, b)| a < b);
                pairs.map(|(a, b)| (a, b, distance(&codes[a], &codes[b]))).filter(|found| found.2 <= radius).collect()
            };
            for (left, right) in [(0..count, 0..count), (0..split, split..count)] {
                let ranges = || std::iter::once((left.clone(), right.clone()));
                let expected = expected(left.clone(), right.clone());
                prop_assert_eq!(&sorted(|hit| ranges_plain(&codes, ranges(), radius, hit)), &expected);
                let compare = Compare::new(radius);
                let mut folds = Vec::new();
                compare.fold(&codes, &mut folds);
                prop_assert_eq!(&sorted(|hit| compare.ranges(&codes, &folds, ranges(), hit)), &expected);
            }
        }
    }
}
