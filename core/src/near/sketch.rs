//! Features → a sketch: registers, which agree about as often as two texts are similar, and a digest.
//!
//! A weighted MinHash. Every feature throws darts, the heavier the faster: the times between its darts are exponential
//! with its race weight as the rate, and each dart hits one of the registers. A register keeps a byte of the feature
//! that hits it first. So a register is a fair draw of one feature by race weight, and two texts draw the same one with
//! the probability that Moulton and Jiang call the Jaccard index of probability distributions ("Maximally consistent
//! sampling and the Jaccard index of probability distributions", 2018).
//!
//! Darts that come too late are not thrown: O(features + registers · log registers) darts expected. A short text pays
//! the second term in full: about 300 darts for the 48 registers, however few its features. If a register is not hit in
//! time, 1 text in 20, all darts are thrown again up to twice the time; no bound is certain, but each repetition is
//! exponentially rarer.
//!
//! Times are f32, and only added and multiplied: all platforms make the same bytes.

use crate::hash::GOLDEN;

/// Bytes of a sketch that are registers.
pub const REGISTERS: usize = 48;
/// Registers, then the digest: a line of cache.
pub const SKETCH_BYTES: usize = 64;

/// The registers and the digest of a text. Texts whose digests are equal, and not zero, have the same features; a text
/// without a signal has a digest of its own text, or zeros if it holds neither letter nor digit.
pub type Sketch = [u8; SKETCH_BYTES];

/// In 19 of 20 texts all registers are hit within this multiple of the mean time between two darts on one register.
const REACH: f32 = 6.9;
/// A text of more features throws a second dart only for features whose first was not too late.
const MANY: usize = 3 * REGISTERS;
/// A feature this much lighter than the heaviest cannot win a register.
const LEAST: f64 = 1e-30;

/// Returns the digest of a sketch.
#[inline]
pub(crate) fn digest(sketch: &Sketch) -> u128 {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&sketch[REGISTERS..]);
    u128::from_le_bytes(bytes)
}

/// Returns whether a text holds a letter or digit. A text without them and without a signal equals no other.
pub fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Returns the sketch of a text with too few features: it equals only the same text, and none without a letter or
/// digit.
pub(crate) fn without_signal(text: &str) -> Sketch {
    let mut sketch = [0; SKETCH_BYTES];
    if says_something(text) {
        // Another seed than that of tokens, so that it never equals a digest of features.
        let sum = xxhash_rust::xxh3::xxh3_128_with_seed(text.as_bytes(), GOLDEN);
        sketch[REGISTERS..].copy_from_slice(&sum.to_le_bytes());
    }
    sketch
}

/// Mixes 64 bits.
#[inline(always)]
fn mix(value: u64) -> u64 {
    let product = u128::from(value ^ 0xe703_7ed1_a0b4_28db) * 0xa076_1d64_78bd_642f_u128;
    (product >> 64) as u64 ^ product as u64
}

/// A table of -ln(1 - x) for a fraction x of 32 bits: linear between 257 points.
struct Exponential {
    start: [f32; 256],
    slope: [f32; 256],
}

static EXPONENTIAL: Exponential = Exponential::new();

impl Exponential {
    /// Computes the table at compile time, with sums, products and quotients only.
    const fn new() -> Self {
        // ln n, from ln (n + 1) - ln n = 2 artanh 1 / (2n + 1).
        let mut logarithms = [0.0f64; 257];
        let mut n = 1;
        while n < 256 {
            let z = 1.0 / (2 * n + 1) as f64;
            let (mut power, mut sum, mut odd) = (z, 0.0, 1);
            while odd < 40 {
                sum += power / odd as f64;
                power *= z * z;
                odd += 2;
            }
            logarithms[n + 1] = logarithms[n] + 2.0 * sum;
            n += 1;
        }
        let mut made = Exponential { start: [0.0; 256], slope: [0.0; 256] };
        let mut at = 0;
        while at < 256 {
            let here = logarithms[256] - logarithms[256 - at];
            // The last segment would be infinite: it is as long as twice the mean of the tail.
            let next = if at == 255 { here + 2.0 } else { logarithms[256] - logarithms[255 - at] };
            made.start[at] = here as f32;
            made.slope[at] = ((next - here) / (1u32 << 24) as f64) as f32;
            at += 1;
        }
        made
    }

    #[inline(always)]
    fn at(&self, x: u32) -> f32 {
        let (line, along) = ((x >> 24) as usize, x & 0xFF_FFFF);
        self.start[line] + self.slope[line] * along as f32
    }
}

/// A feature in the race.
#[derive(Clone, Copy, Debug)]
struct Runner {
    key: u64,
    /// The mean time between its darts.
    pace: f32,
}

/// One thread's buffers for making sketches.
#[derive(Debug, Default)]
pub(crate) struct Race {
    runners: Vec<Runner>,
    /// The features that still throw, and the time of their last dart.
    alive: Vec<(u32, f32)>,
    speed: f32,
    digest: [u64; 2],
}

/// The first dart on each register: its time, then a byte of its feature, so that the least is the first.
type Board = [u32; REGISTERS];

#[inline(always)]
fn throw(board: &mut Board, time: f32, bits: u32, key: u64) {
    let place = &mut board[bits as usize % REGISTERS];
    // The feature's byte replaces the lowest bits of the time.
    let dart = time.to_bits() & !0xFF | (key.wrapping_mul(GOLDEN) >> 56) as u32;
    *place = (*place).min(dart);
}

/// Returns the time after which no dart changes the board.
#[inline]
fn latest(board: &Board) -> f32 {
    let last = board.iter().fold(0, |last, &dart| last.max(dart));
    if last == u32::MAX { f32::INFINITY } else { f32::from_bits(last | 0xFF) }
}

impl Race {
    pub(crate) fn start(&mut self) {
        self.runners.clear();
        self.speed = 0.0;
        self.digest = [0; 2];
    }

    /// Adds a feature: the key of its token, its race weight, and its weight for the digest.
    #[inline(always)]
    pub(crate) fn add(&mut self, key: u64, race_weight: f32, weight: u64) {
        self.runners.push(Runner { key, pace: 1.0 / race_weight });
        self.speed += race_weight;
        // Sums, so that the order of features does not matter; of the values and of their squares.
        let value = mix(key.wrapping_add(weight.wrapping_mul(GOLDEN)));
        self.digest[0] = self.digest[0].wrapping_add(value);
        self.digest[1] = self.digest[1].wrapping_add(value.wrapping_mul(value ^ value >> 32));
    }

    /// Adds a feature of any weight; one that is too light to win changes only the digest.
    pub(crate) fn add_weighted(&mut self, key: u64, weight: f64, heaviest: f64) {
        let relative = weight / heaviest;
        let race_weight = relative * relative.sqrt();
        if race_weight >= LEAST {
            self.add(key, race_weight as f32, weight.to_bits());
        } else {
            let before = self.runners.len();
            self.add(key, 1.0, weight.to_bits());
            self.runners.truncate(before);
            self.speed -= 1.0;
        }
    }

    /// Returns the sketch of the features added, at least one.
    pub(crate) fn finish(&mut self) -> Sketch {
        let mut sketch = [0; SKETCH_BYTES];
        for (byte, dart) in sketch.iter_mut().zip(self.board()) {
            *byte = dart as u8;
        }
        sketch[REGISTERS..REGISTERS + 8].copy_from_slice(&self.digest[0].to_le_bytes());
        // Zeros mean that there is no digest; this changes a bit in 2^-64 of all texts.
        sketch[REGISTERS + 8..].copy_from_slice(&self.digest[1].max(1).to_le_bytes());
        sketch
    }

    fn board(&mut self) -> Board {
        let mut limit = REACH * REGISTERS as f32 / self.speed.max(f32::MIN_POSITIVE);
        loop {
            let board = self.throw_until(limit);
            if latest(&board) < limit {
                return board;
            }
            // Rare: a register was not hit in time, so an earlier dart may not have been thrown.
            limit *= 2.0;
        }
    }

    /// Throws all darts up to a time; returns the board.
    fn throw_until(&mut self, limit: f32) -> Board {
        let mut board = [u32::MAX; REGISTERS];
        let mut bound = limit;
        let Race { runners, alive, .. } = self;
        alive.resize(runners.len(), (0, 0.0));
        let mut count = 0;
        // The first two darts are halves of the key itself.
        if runners.len() > MANY {
            for (at, &Runner { key, pace }) in runners.iter().enumerate() {
                let first = (key >> 32) as u32;
                let time = EXPONENTIAL.at(first) * pace;
                throw(&mut board, time, first, key);
                alive[count] = (at as u32, time);
                count += usize::from(time <= bound);
            }
            bound = bound.min(latest(&board));
            let mut kept = 0;
            for place in 0..count {
                let (at, time) = alive[place];
                let Runner { key, pace } = runners[at as usize];
                let time = time + EXPONENTIAL.at(key as u32) * pace;
                throw(&mut board, time, key as u32, key);
                alive[kept] = (at, time);
                kept += usize::from(time <= bound);
            }
            count = kept;
        } else {
            for (at, &Runner { key, pace }) in runners.iter().enumerate() {
                let first = (key >> 32) as u32;
                let time = EXPONENTIAL.at(first) * pace;
                throw(&mut board, time, first, key);
                let time = time + EXPONENTIAL.at(key as u32) * pace;
                throw(&mut board, time, key as u32, key);
                alive[count] = (at as u32, time);
                count += usize::from(time <= bound);
            }
        }
        let mut round = 0u64;
        while count > 0 {
            bound = bound.min(latest(&board));
            round += 1;
            let mut kept = 0;
            for place in 0..count {
                let (at, time) = alive[place];
                let Runner { key, pace } = runners[at as usize];
                let bits = mix(key.wrapping_add(round.wrapping_mul(GOLDEN)));
                let (first, second) = ((bits >> 32) as u32, bits as u32);
                let time = time + EXPONENTIAL.at(first) * pace;
                throw(&mut board, time, first, key);
                let time = time + EXPONENTIAL.at(second) * pace;
                throw(&mut board, time, second, key);
                alive[kept] = (at, time);
                kept += usize::from(time <= bound);
            }
            count = kept;
        }
        board
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Throws every dart of every feature until long after all registers are full.
    fn naive(features: &[(u64, f32)]) -> Vec<u8> {
        let mut firsts = vec![(u32::MAX, 0u8); REGISTERS];
        for &(key, weight) in features {
            let mut time = 0.0f32;
            let pace = 1.0 / weight;
            for number in 0..8_000u64 {
                let bits = if number < 2 { key } else { mix(key.wrapping_add((number / 2).wrapping_mul(GOLDEN))) };
                let half = if number % 2 == 0 { (bits >> 32) as u32 } else { bits as u32 };
                time += EXPONENTIAL.at(half) * pace;
                let dart = (time.to_bits() >> 8, (key.wrapping_mul(GOLDEN) >> 56) as u8);
                let place = &mut firsts[half as usize % REGISTERS];
                *place = dart.min(*place);
            }
        }
        firsts.into_iter().map(|(_, name)| name).collect()
    }

    fn sketch(features: &[(u64, f32)]) -> Sketch {
        let mut race = Race::default();
        race.start();
        features.iter().for_each(|&(key, weight)| race.add(key, weight, u64::from(weight.to_bits())));
        race.finish()
    }

    fn features(most: usize) -> impl Strategy<Value = Vec<(u64, f32)>> {
        let weight = prop_oneof![Just(1.0f32), 0.004f32..20.0];
        prop::collection::vec((any::<u64>(), weight), 1..most)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn registers_are_those_of_all_darts(features in features(150)) {
            let found = sketch(&features);
            let expected = naive(&features);
            prop_assert_eq!(&found[..REGISTERS], &expected[..]);
            let mut reversed = features;
            reversed.reverse();
            prop_assert_eq!(sketch(&reversed), found);
        }

        #[test]
        fn digests_tell_features_apart(features in features(40), other in any::<u64>(), at in any::<prop::sample::Index>()) {
            let found = digest(&sketch(&features));
            let mut changed = features.clone();
            let at = at.index(features.len());
            changed[at].1 *= 2.0;
            prop_assert_ne!(digest(&sketch(&changed)), found);
            changed[at] = (other, features[at].1);
            prop_assert_eq!(digest(&sketch(&changed)) == found, other == features[at].0);
        }
    }

    #[test]
    fn registers_agree_as_often_as_they_should() {
        // 60 common features of weight 1, 20 of each alone: 60 of 100 draws are the same.
        let mut random = 1u64;
        let mut next = || {
            random = random.wrapping_add(GOLDEN);
            mix(random)
        };
        let (mut same, rounds) = (0, 2000);
        for _ in 0..rounds {
            let common: Vec<(u64, f32)> = (0..60).map(|_| (next(), 1.0)).collect();
            let mut with = || {
                let own = (0..20).map(|_| (next(), 1.0));
                sketch(&common.iter().copied().chain(own).collect::<Vec<_>>())
            };
            let (left, right) = (with(), with());
            same += left.iter().zip(&right).take(REGISTERS).filter(|(a, b)| a == b).count();
        }
        let share = same as f64 / (rounds * REGISTERS) as f64;
        let expected = 0.6 + 0.4 / 256.0;
        assert!((share - expected).abs() < 0.008, "{share}");
    }

    /// The naive sketch uses the same table, so the table needs a test of its own.
    #[test]
    fn times_are_exponential() {
        let (mut before, mut sum, mut count) = (0.0, 0.0, 0);
        for x in (0..=u32::MAX).step_by(65_521) {
            let time = EXPONENTIAL.at(x);
            assert!(time >= before, "{x}");
            if x >> 24 < 255 {
                let exact = -(1.0 - f64::from(x) / f64::from(u32::MAX)).ln();
                assert!((f64::from(time) - exact).abs() < 0.07, "{x}: {time} for {exact}");
            }
            (before, sum, count) = (time, sum + f64::from(time), count + 1);
        }
        let mean = sum / f64::from(count);
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert_eq!(EXPONENTIAL.at(0), 0.0);
    }

    #[test]
    fn any_weights_can_race() {
        for weights in [[1e-300, 1e-300], [1e300, 1.0], [5e-324, 5e-324], [1.7e308, 1.7e308]] {
            let mut race = Race::default();
            race.start();
            let heaviest = weights.iter().copied().fold(0.0, f64::max);
            (0..2).for_each(|at| race.add_weighted(mix(at as u64), weights[at], heaviest));
            assert!(race.finish()[..REGISTERS].iter().any(|&byte| byte != 0));
        }
    }

    #[test]
    fn texts_without_a_signal_are_known_by_themselves() {
        assert_eq!(digest(&without_signal("?!")), 0);
        assert_ne!(digest(&without_signal("a")), 0);
        assert_ne!(digest(&without_signal("a")), digest(&without_signal("b")));
        assert_eq!(without_signal("汉"), without_signal("汉"));
    }
}
