//! Nanoseconds for one vote of weight one, in the kernel and in a loop over counters.
//!
//!     cargo bench -p neardup-core --bench vote
//!
//! Prints a JSON object a line.

use std::hint::black_box;
use std::time::{Duration, Instant};

use neardup_core::bench::UnitVotes;

/// Different texts of each size, as many as fit in 256 KiB: a processor cannot learn them by heart.
const INPUT_BYTES: usize = 256 << 10;
const ROUNDS: usize = 60;
/// So short that some rounds are left alone by other programs.
const ROUND: Duration = Duration::from_millis(2);

fn main() {
    for features in [20, 100, 500, 5000] {
        compare::<1>(features);
        compare::<2>(features);
    }
}

/// Kernel and naive loop by turns; the best round of each.
fn compare<const W: usize>(features: usize) {
    let texts = texts::<W>(features);
    let mut votes = UnitVotes::<W>::new();
    for text in &texts {
        assert_eq!(votes.majority(text), naive(text));
    }
    let (mut kernel, mut counters) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        kernel = kernel.min(nanoseconds(&texts, |text| votes.majority(text)));
        counters = counters.min(nanoseconds(&texts, naive));
    }
    let bits = W * 64;
    println!(r#"{{"bits": {bits}, "features": {features}, "kernel_ns": {kernel:.3}, "naive_ns": {counters:.3}}}"#);
}

/// For one feature, over as many passes as fill the round.
fn nanoseconds<const W: usize>(texts: &[Vec<[u64; W]>], mut work: impl FnMut(&[[u64; W]]) -> [u64; W]) -> f64 {
    let started = Instant::now();
    let mut features = 0;
    while started.elapsed() < ROUND {
        for text in texts {
            black_box(work(black_box(text)));
            features += text.len();
        }
    }
    started.elapsed().as_secs_f64() * 1e9 / features as f64
}

fn naive<const W: usize>(hashes: &[[u64; W]]) -> [u64; W] {
    let mut counters = [[0i32; 64]; W];
    for hash in hashes {
        for (word, counters) in hash.iter().zip(&mut counters) {
            for (column, counter) in counters.iter_mut().enumerate() {
                *counter += if word >> column & 1 == 1 { 1 } else { -1 };
            }
        }
    }
    counters
        .map(|counters| counters.iter().enumerate().fold(0, |bits, (column, &sum)| bits | u64::from(sum > 0) << column))
}

fn texts<const W: usize>(features: usize) -> Vec<Vec<[u64; W]>> {
    let mut state = 1;
    let count = (INPUT_BYTES / (features * W * 8)).max(1);
    (0..count).map(|_| (0..features).map(|_| std::array::from_fn(|_| random(&mut state))).collect()).collect()
}

/// SplitMix64 (Steele, Lea, Flood 2014).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}
