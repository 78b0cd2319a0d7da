//! The join against comparing everything.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use neardup_core::{Found, Input, JoinSettings, RadiusJoin, Sink};
use proptest::prelude::*;

#[derive(Default)]
struct Collected(Mutex<Vec<Found>>);

impl Sink for Collected {
    fn take(&self, found: &[Found]) {
        self.0.lock().expect("no thread panics").extend_from_slice(found);
    }
}

/// Returns all pairs of rows: those of different codes found by the join, those of equal codes in its groups.
fn joined(values: &[u64], words: usize, signal: Option<&[bool]>, radius: u32, threads: usize) -> Vec<(u32, u32, u16)> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
    pool.install(|| {
        let settings = JoinSettings { radius, recall: 1.0, flip: None };
        let mut join = RadiusJoin::new(Input { values, words, signal }, settings).expect("good settings");
        let sink = Collected::default();
        join.run(&sink, &AtomicBool::new(false));
        let groups = join.groups();
        let mut pairs = Vec::new();
        for found in sink.0.into_inner().expect("no thread panics") {
            for &left in groups.of(found.left) {
                for &right in groups.of(found.right) {
                    pairs.push((left.min(right), left.max(right), found.distance));
                }
            }
        }
        for group in groups.iter() {
            let rows = groups.of(group);
            assert!(rows.is_sorted());
            for (at, &left) in rows.iter().enumerate() {
                pairs.extend(rows[at + 1..].iter().map(|&right| (left, right, 0)));
            }
        }
        pairs.sort_unstable();
        pairs
    })
}

fn naive(values: &[u64], words: usize, signal: Option<&[bool]>, radius: u32) -> Vec<(u32, u32, u16)> {
    let rows: Vec<&[u64]> = values.chunks_exact(words).collect();
    let mut pairs = Vec::new();
    for left in 0..rows.len() {
        for right in left + 1..rows.len() {
            let distance: u32 = rows[left].iter().zip(rows[right]).map(|(a, b)| (a ^ b).count_ones()).sum();
            if distance <= radius && signal.is_none_or(|signal| signal[left] && signal[right]) {
                pairs.push((left as u32, right as u32, distance as u16));
            }
        }
    }
    pairs
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Codes of `bits` bits around `centres` others, some of them equal, some bits the same in all.
fn codes(n: usize, bits: usize, centres: usize, spread: usize, constant: u64, seed: u64) -> (Vec<u64>, usize) {
    let words = bits.div_ceil(64);
    let mut state = seed;
    let width = |word: usize| if bits >= (word + 1) * 64 { u64::MAX } else { (1 << (bits - word * 64)) - 1 };
    let bases: Vec<Vec<u64>> =
        (0..centres).map(|_| (0..words).map(|word| splitmix(&mut state) & width(word) & !constant).collect()).collect();
    let mut values = Vec::new();
    for _ in 0..n {
        let mut code = bases[splitmix(&mut state) as usize % centres].clone();
        for _ in 0..splitmix(&mut state) as usize % (spread + 1) {
            let bit = splitmix(&mut state) as usize % bits;
            code[bit / 64] ^= (1 << (bit % 64)) & !constant;
        }
        values.extend(code);
    }
    (values, words)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn finds_what_comparing_all_finds(
        n in 0usize..300,
        bits in 1usize..=64,
        eighths in 0usize..2,
        radius_share in 0.0f64..=1.0,
        small: bool,
        centres in 1usize..40,
        spread in 0usize..12,
        constant: u64,
        some_constant: bool,
        no_signal: bool,
        threads in 1usize..=2,
        seed: u64,
    ) {
        let bits = if eighths == 1 { bits * 8 } else { bits };
        let (values, words) = codes(n, bits, centres, spread, if some_constant { constant } else { 0 }, seed);
        let radius = if small { (radius_share * 8.0) as u32 } else { (radius_share * bits as f64) as u32 };
        let radius = radius.min(bits as u32);
        let mut state = seed;
        let signal: Option<Vec<bool>> = no_signal.then(|| (0..n).map(|_| !splitmix(&mut state).is_multiple_of(4)).collect());
        let signal = signal.as_deref();
        prop_assert_eq!(joined(&values, words, signal, radius, threads), naive(&values, words, signal, radius));
    }
}

#[test]
fn two_levels_recursion_and_heavy_buckets_find_the_same() {
    // (codes, bits, centres, spread): many centres fill all buckets, few make heavy ones.
    for (n, bits, centres, spread, radius) in [
        (20_000, 64, 20_000, 3, 3),
        (20_000, 64, 300, 6, 3),
        (20_000, 64, 3, 12, 2),
        (18_000, 128, 9_000, 6, 5),
        (17_000, 32, 17_000, 2, 2),
        (20_000, 40, 1_000, 1, 1),
        (18_000, 320, 2_000, 9, 8),
        // Buckets full enough to look at parities.
        (24_000, 24, 24_000, 0, 3),
        (24_000, 26, 12_000, 2, 2),
        (24_000, 16, 24_000, 0, 1),
    ] {
        let (values, words) = codes(n, bits, centres, spread, 0, 7);
        let expected = naive(&values, words, None, radius);
        for threads in [1, 2] {
            assert!(joined(&values, words, None, radius, threads) == expected, "{n} {bits} {centres} {radius}");
        }
    }
}
