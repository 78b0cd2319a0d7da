//! Every pair of a bucket: count the bits that differ, keep what lies within the radius.

use super::Code;

/// Called with the places of two codes in a slice and their distance.
pub(super) type Hit<'a> = &'a mut dyn FnMut(usize, usize, u32);

/// Compares all pairs within each bucket `starts[b]..starts[b + 1]`; larger ones than `limit` go to `heavy`.
pub(super) fn buckets<const W: usize>(
    codes: &[Code<W>],
    starts: &[u32],
    radius: u32,
    limit: usize,
    heavy: &mut Vec<(usize, usize)>,
    hit: Hit,
) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has what the function needs.
        return unsafe { buckets_popcnt(codes, starts, radius, limit, heavy, hit) };
    }
    buckets_plain(codes, starts, radius, limit, heavy, hit);
}

/// Compares each of `left` with each of `right`.
pub(super) fn cross<const W: usize>(left: &[Code<W>], right: &[Code<W>], radius: u32, hit: Hit) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has what the function needs.
        return unsafe { cross_popcnt(left, right, radius, hit) };
    }
    cross_plain(left, right, radius, hit);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn buckets_popcnt<const W: usize>(
    codes: &[Code<W>],
    starts: &[u32],
    radius: u32,
    limit: usize,
    heavy: &mut Vec<(usize, usize)>,
    hit: Hit,
) {
    buckets_plain(codes, starts, radius, limit, heavy, hit);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn cross_popcnt<const W: usize>(left: &[Code<W>], right: &[Code<W>], radius: u32, hit: Hit) {
    cross_plain(left, right, radius, hit);
}

#[inline(always)]
fn buckets_plain<const W: usize>(
    codes: &[Code<W>],
    starts: &[u32],
    radius: u32,
    limit: usize,
    heavy: &mut Vec<(usize, usize)>,
    hit: Hit,
) {
    for ends in starts.windows(2) {
        let (from, to) = (ends[0] as usize, ends[1] as usize);
        if to - from < 2 {
            continue;
        }
        if to - from > limit {
            heavy.push((from, to));
            continue;
        }
        let bucket = &codes[from..to];
        for (at, code) in bucket.iter().enumerate() {
            row(code, &bucket[at + 1..], radius, |other, distance| hit(from + at, from + at + 1 + other, distance));
        }
    }
}

#[inline(always)]
fn cross_plain<const W: usize>(left: &[Code<W>], right: &[Code<W>], radius: u32, hit: Hit) {
    for (at, code) in left.iter().enumerate() {
        row(code, right, radius, |other, distance| hit(at, other, distance));
    }
}

#[inline(always)]
fn row<const W: usize>(code: &Code<W>, others: &[Code<W>], radius: u32, mut hit: impl FnMut(usize, u32)) {
    for (at, other) in others.iter().enumerate() {
        let distance = distance(code, other);
        if distance <= radius {
            hit(at, distance);
        }
    }
}

#[inline(always)]
pub(super) fn distance<const W: usize>(left: &Code<W>, right: &Code<W>) -> u32 {
    let mut distance = 0;
    for word in 0..W {
        distance += (left[word] ^ right[word]).count_ones();
    }
    distance
}
