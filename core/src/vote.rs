//! Weighted hashes → bits: the majority in every column.
//!
//! Two roads to the same answer. `Planes` counts integer weights for all columns at once: the counters
//! stand upright, bit k of every column's count in one plane, and carry-save adders
//! (Harley and Seal; see Klarqvist, Muła, Lemire, "Efficient computation of positional population
//! counts", 2019) add sixteen hashes in a few operations a hash. `columns` adds any weights, one
//! column at a time, and is what an explanation shows.

use crate::error::{Error, choose};

/// The bit of a column whose votes cancel out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
    /// A fixed pattern, even bits 1 and odd bits 0: keeps the density of ones at one half.
    Mask,
    /// 0, as most older libraries.
    Zero,
    /// 1, as python-hashes.
    One,
}

impl std::str::FromStr for Tie {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        choose("tie", name, &[("mask", Tie::Mask), ("zero", Tie::Zero), ("one", Tie::One)])
    }
}

impl Tie {
    fn word(self) -> u64 {
        match self {
            Tie::Mask => 0x5555_5555_5555_5555,
            Tie::Zero => 0,
            Tie::One => u64::MAX,
        }
    }

    fn bit(self, column: usize) -> bool {
        self.word() >> (column % 64) & 1 == 1
    }
}

/// How sums are formed. All agree when weights are multiples of 1/16 and their sum is below 2^48.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Votes {
    /// Exact sums of ± weight: the order of features never matters.
    Exact,
    /// float64 sums of ± weight in the given order, as most older libraries.
    SignedFloat,
    /// float64 sums of the weights of set bits in the given order, against half the total, as 1e0ng's `simhash`.
    HalfFloat,
}

impl std::str::FromStr for Votes {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        choose(
            "votes",
            name,
            &[("exact", Votes::Exact), ("signed-float", Votes::SignedFloat), ("half-float", Votes::HalfFloat)],
        )
    }
}

type Row<const W: usize> = [u64; W];

/// Hashes the adders take at a time.
const BLOCK: usize = 16;
/// Counts stay below 2^PLANES: a text has fewer than 2^32 tokens, and a token's weight either is
/// its count or stays below 2^9.
const PLANES: usize = 56;

/// Upright counters for W·64 columns, added to by blocks.
struct Sums<const W: usize> {
    planes: [Row<W>; PLANES],
    /// Planes from here on are zero.
    height: usize,
    /// Carries that wait for a second one of their size, so that adders always take two: a carry into
    /// plane p waits while bit p - 4 of `blocks` is set.
    carries: [Row<W>; PLANES],
    blocks: usize,
}

#[inline(always)]
fn zip<const W: usize>(a: Row<W>, b: Row<W>, f: impl Fn(u64, u64) -> u64) -> Row<W> {
    std::array::from_fn(|at| f(a[at], b[at]))
}

/// Adds three bits in every column; returns sum and carry.
#[inline(always)]
fn add3<const W: usize>(a: Row<W>, b: Row<W>, c: Row<W>) -> (Row<W>, Row<W>) {
    let half = zip(a, b, |x, y| x ^ y);
    let sum = zip(half, c, |x, y| x ^ y);
    let carry = zip(zip(a, b, |x, y| x & y), zip(half, c, |x, y| x & y), |x, y| x | y);
    (sum, carry)
}

impl<const W: usize> Sums<W> {
    fn new() -> Self {
        Sums { planes: [[0; W]; PLANES], height: 0, carries: [[0; W]; PLANES], blocks: 0 }
    }

    /// Adds sixteen hashes: fifteen adders, and one more for every second carry.
    #[inline(always)]
    fn add_block(&mut self, h: &[Row<W>; BLOCK]) {
        let [mut ones, mut twos, mut fours, mut eights] =
            [self.planes[0], self.planes[1], self.planes[2], self.planes[3]];
        let mut eights_carry = [[0; W]; 2];
        for (half, eights_carry) in eights_carry.iter_mut().enumerate() {
            let mut fours_carry = [[0; W]; 2];
            for (quarter, fours_carry) in fours_carry.iter_mut().enumerate() {
                let at = half * 8 + quarter * 4;
                let (sum, carry_a) = add3(ones, h[at], h[at + 1]);
                let (sum, carry_b) = add3(sum, h[at + 2], h[at + 3]);
                ones = sum;
                (twos, *fours_carry) = add3(twos, carry_a, carry_b);
            }
            (fours, *eights_carry) = add3(fours, fours_carry[0], fours_carry[1]);
        }
        let mut carry;
        (eights, carry) = add3(eights, eights_carry[0], eights_carry[1]);
        (self.planes[0], self.planes[1], self.planes[2], self.planes[3]) = (ones, twos, fours, eights);
        let mut plane = 4;
        let mut blocks = self.blocks;
        while blocks & 1 == 1 {
            (self.planes[plane], carry) = add3(self.planes[plane], self.carries[plane], carry);
            plane += 1;
            blocks >>= 1;
        }
        self.carries[plane] = carry;
        self.blocks += 1;
    }

    /// Adds a number, given as planes, times 2^`plane`.
    #[inline(always)]
    fn add_number(&mut self, number: &[Row<W>], plane: usize) {
        let mut carry = [0; W];
        for (at, &row) in number.iter().enumerate() {
            let place = &mut self.planes[(plane + at) % PLANES];
            (*place, carry) = add3(*place, row, carry);
        }
        self.height = self.height.max(plane + number.len());
        self.add_row(carry, plane + number.len());
    }

    /// Adds `row` · 2^`plane`.
    #[inline]
    fn add_row(&mut self, row: Row<W>, mut plane: usize) {
        let mut carry = row;
        while carry != [0; W] {
            let before = self.planes[plane];
            self.planes[plane] = zip(before, carry, |x, y| x ^ y);
            carry = zip(before, carry, |x, y| x & y);
            plane += 1;
            self.height = self.height.max(plane);
        }
    }

    /// Adds the carries that still wait.
    fn settle(&mut self) {
        let levels = (usize::BITS - self.blocks.leading_zeros()) as usize;
        self.height = self.height.max(if levels > 0 { 4 + levels } else { 0 });
        for level in 0..levels {
            if self.blocks >> level & 1 == 1 {
                self.add_row(self.carries[4 + level], 4 + level);
            }
        }
        self.blocks = 0;
    }

    /// Returns the columns whose count is above `limit`, and those where it is equal.
    #[inline(always)]
    fn above(&self, limit: u64) -> (Row<W>, Row<W>) {
        let height = self.height.max(64 - limit.leading_zeros() as usize);
        let mut greater = [0; W];
        let mut equal = [u64::MAX; W];
        for plane in (0..height).rev() {
            let row = self.planes[plane];
            if limit >> plane & 1 == 1 {
                equal = zip(equal, row, |e, r| e & r);
            } else {
                greater = zip(greater, zip(equal, row, |e, r| e & r), |g, x| g | x);
                equal = zip(equal, row, |e, r| e & !r);
            }
        }
        (greater, equal)
    }

    fn clear(&mut self) {
        self.planes[..self.height].fill([0; W]);
        self.height = 0;
    }
}

/// Returns the count of every column over sixteen hashes, as five planes.
#[inline(always)]
fn count_sixteen<const W: usize>(h: &[Row<W>; BLOCK]) -> [Row<W>; 5] {
    let [mut ones, mut twos, mut fours] = [[0; W]; 3];
    let mut eights = [[0; W]; 2];
    for (half, eights) in eights.iter_mut().enumerate() {
        let mut carries = [[0; W]; 2];
        for (quarter, carry) in carries.iter_mut().enumerate() {
            let at = half * 8 + quarter * 4;
            let (sum, carry_a) = add3(ones, h[at], h[at + 1]);
            let (sum, carry_b) = add3(sum, h[at + 2], h[at + 3]);
            ones = sum;
            (twos, *carry) = add3(twos, carry_a, carry_b);
        }
        (fours, *eights) = add3(fours, carries[0], carries[1]);
    }
    [ones, twos, fours, zip(eights[0], eights[1], |x, y| x ^ y), zip(eights[0], eights[1], |x, y| x & y)]
}

/// Returns the count of every column over three hashes, as two planes.
#[inline(always)]
fn count_three<const W: usize>([a, b, c, ..]: &[Row<W>; BLOCK]) -> [Row<W>; 2] {
    let (ones, twos) = add3(*a, *b, *c);
    [ones, twos]
}

/// Weights below this are gathered.
const GATHERED: usize = 64;

/// Counts weighted hashes, gathered by weight: sixteen hashes of one weight are counted first, then their counts are
/// added once for each binary digit of the weight. A text has few different weights, so a hash costs a store and its
/// share of a block, whatever it weighs.
pub(crate) struct Planes<const W: usize> {
    sums: Sums<W>,
    /// For each weight, hashes that wait for more of it.
    waiting: Vec<[Row<W>; BLOCK]>,
    counts: [u8; GATHERED],
    total: u64,
}

impl<const W: usize> Planes<W> {
    pub(crate) fn new() -> Self {
        Planes { sums: Sums::new(), waiting: vec![[[0; W]; BLOCK]; GATHERED], counts: [0; GATHERED], total: 0 }
    }

    /// Adds one vote with this weight.
    #[inline(always)]
    pub(crate) fn push(&mut self, hash: Row<W>, weight: u32) {
        self.total += u64::from(weight);
        let at = weight as usize;
        if at >= GATHERED {
            return self.add(&[hash], u64::from(weight));
        }
        let count = usize::from(self.counts[at]);
        // The remainder changes nothing but spares a check of bounds.
        self.waiting[at][count % BLOCK] = hash;
        self.counts[at] = count as u8 + 1;
        if count + 1 == BLOCK {
            self.add_waiting(at);
        }
    }

    /// Votes with the weight one.
    #[inline]
    pub(crate) fn push_units(&mut self, hashes: &[Row<W>]) {
        let (blocks, rest) = hashes.as_chunks::<BLOCK>();
        self.total += (blocks.len() * BLOCK) as u64;
        for block in blocks {
            self.sums.add_block(block);
        }
        for &hash in rest {
            self.push(hash, 1);
        }
    }

    /// Adds the hashes that wait with this weight; zeros fill up the block and count for nothing.
    #[inline(never)]
    fn add_waiting(&mut self, weight: usize) {
        let count = usize::from(std::mem::take(&mut self.counts[weight]));
        let hashes = &mut self.waiting[weight];
        if count <= 3 {
            hashes[count..3].fill([0; W]);
            let number = count_three(hashes);
            self.add(&number, weight as u64);
        } else {
            hashes[count..].fill([0; W]);
            let number = count_sixteen(hashes);
            self.add(&number, weight as u64);
        }
    }

    /// Adds a number, given as planes, times a weight.
    #[inline]
    fn add(&mut self, number: &[Row<W>], weight: u64) {
        let mut digits = weight;
        while digits != 0 {
            self.sums.add_number(number, digits.trailing_zeros() as usize);
            digits &= digits - 1;
        }
    }

    /// Returns the majority bits; leaves the counters empty.
    pub(crate) fn finish(&mut self, tie: Tie) -> Row<W> {
        for weight in 0..GATHERED {
            if self.counts[weight] > 0 {
                self.add_waiting(weight);
            }
        }
        self.sums.settle();
        let total = std::mem::take(&mut self.total);
        // A column's set-bit weight s is compared with half the total: s > total/2, all columns at once.
        let (greater, equal) = self.sums.above(total / 2);
        self.sums.clear();
        zip(greater, equal, |g, e| if total.is_multiple_of(2) { g | e & tie.word() } else { g })
    }
}

/// Returns the majority bits and the sums of ± weight, column by column. Weights are finite and not negative.
pub(crate) fn columns<const W: usize>(
    hashes: &[Row<W>],
    weights: &[f64],
    bits: usize,
    tie: Tie,
    votes: Votes,
) -> (Row<W>, Vec<f64>) {
    let mut value = [0; W];
    let mut sums = Vec::with_capacity(bits);
    let scale = roomy_scale(weights);
    for column in 0..bits {
        let set = |hash: &Row<W>| hash[column / 64] >> (column % 64) & 1 == 1;
        let (order, sum) = match votes {
            Votes::Exact => {
                let mut sum = ExactSum::default();
                for (hash, &weight) in hashes.iter().zip(weights) {
                    let weight = times_power_of_two(weight, scale);
                    sum.add(if set(hash) { weight } else { -weight });
                }
                (sum.sign(), times_power_of_two(sum.value(), -scale))
            }
            Votes::SignedFloat => {
                let signed = hashes.iter().zip(weights).map(|(hash, &w)| if set(hash) { w } else { -w });
                let sum = signed.fold(0.0, |sum, w| sum + w);
                (sum.total_cmp(&0.0), sum)
            }
            Votes::HalfFloat => {
                let of_set = hashes.iter().zip(weights).filter(|(hash, _)| set(hash));
                let sum = of_set.fold(0.0, |sum, (_, &w)| sum + w);
                let total = weights.iter().fold(0.0, |sum, &w| sum + w);
                (sum.total_cmp(&(total / 2.0)), 2.0 * sum - total)
            }
        };
        let bit = order.is_gt() || order.is_eq() && tie.bit(column);
        value[column / 64] |= u64::from(bit) << (column % 64);
        sums.push(sum);
    }
    (value, sums)
}

/// Sums kept as a list of floats that do not overlap, so that nothing is lost whatever the order
/// (Shewchuk, "Adaptive precision floating-point arithmetic", 1997).
#[derive(Default)]
struct ExactSum {
    /// From small to large.
    parts: Vec<f64>,
}

impl ExactSum {
    fn add(&mut self, term: f64) {
        let mut carry = term;
        let mut kept = 0;
        for at in 0..self.parts.len() {
            let part = self.parts[at];
            let (large, small) = if carry.abs() < part.abs() { (part, carry) } else { (carry, part) };
            let sum = large + small;
            let rest = small - (sum - large);
            if rest != 0.0 {
                self.parts[kept] = rest;
                kept += 1;
            }
            carry = sum;
        }
        self.parts.truncate(kept);
        if carry != 0.0 {
            self.parts.push(carry);
        }
    }

    /// Returns the sign of the sum: that of the largest part, which outweighs all others together.
    fn sign(&self) -> std::cmp::Ordering {
        self.parts.last().map_or(std::cmp::Ordering::Equal, |largest| largest.total_cmp(&0.0))
    }

    /// Returns the sum as a float, from the small parts up.
    fn value(&self) -> f64 {
        self.parts.iter().sum()
    }
}

/// Returns a scale on which sums of weights near the largest float cannot overflow.
fn roomy_scale(weights: &[f64]) -> i32 {
    const ROOMY: i32 = 900;
    let largest = weights.iter().copied().fold(0.0, f64::max);
    if largest > 0.0 { (ROOMY - exponent(largest)).min(0) } else { 0 }
}

/// Returns the power of two at or below a positive number; anything for zero.
pub(crate) fn exponent(value: f64) -> i32 {
    let stored = |value: f64| (value.to_bits() >> 52) as i32 & 0x7FF;
    match stored(value) {
        0 => stored(value * 2f64.powi(64)) - 1023 - 64,
        normal => normal - 1023,
    }
}

/// Returns value · 2^power, in two steps since 2^power alone may be out of range.
pub(crate) fn times_power_of_two(value: f64, power: i32) -> f64 {
    let half = power / 2;
    value * 2f64.powi(half) * 2f64.powi(power - half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn planes<const W: usize>(features: &[(Row<W>, u32)], tie: Tie) -> Row<W> {
        let mut planes = Planes::new();
        for &(hash, weight) in features {
            planes.push(hash, weight);
        }
        let value = planes.finish(tie);
        // Emptied counters must not colour the next text.
        assert_eq!(planes.finish(Tie::One), [u64::MAX; W]);
        value
    }

    /// Votes one column at a time with plain integers.
    fn naive<const W: usize>(features: &[(Row<W>, u32)], tie: Tie) -> Row<W> {
        let mut value = [0; W];
        for column in 0..W * 64 {
            let sum: i64 = features
                .iter()
                .map(|(hash, w)| {
                    let set = hash[column / 64] >> (column % 64) & 1 == 1;
                    if set { i64::from(*w) } else { -i64::from(*w) }
                })
                .sum();
            if sum > 0 || sum == 0 && tie.bit(column) {
                value[column / 64] |= 1 << (column % 64);
            }
        }
        value
    }

    fn ties() -> impl Strategy<Value = Tie> {
        prop_oneof![Just(Tie::Mask), Just(Tie::Zero), Just(Tie::One)]
    }

    fn weight() -> impl Strategy<Value = u32> {
        prop_oneof![Just(1), 0u32..4, 0u32..300, 0u32..1 << 24]
    }

    proptest! {
        #[test]
        fn planes_equal_the_naive_count(
            features in prop::collection::vec((any::<[u64; 2]>(), weight()), 0..100),
            tie in ties(),
        ) {
            let expected = naive(&features, tie);
            prop_assert_eq!(planes(&features, tie), expected);
            let (hashes, weights): (Vec<_>, Vec<_>) = features.iter().map(|&(h, w)| (h, f64::from(w))).unzip();
            for votes in [Votes::Exact, Votes::SignedFloat, Votes::HalfFloat] {
                prop_assert_eq!(columns(&hashes, &weights, 128, tie, votes).0, expected);
            }
        }

        #[test]
        fn units_at_once_equal_one_by_one(
            parts in prop::collection::vec(prop::collection::vec(any::<[u64; 1]>(), 0..70), 0..5),
            tie in ties(),
        ) {
            let mut at_once = Planes::new();
            parts.iter().for_each(|part| at_once.push_units(part));
            let features: Vec<_> = parts.concat().into_iter().map(|hash| (hash, 1)).collect();
            prop_assert_eq!(at_once.finish(tie), naive(&features, tie));
        }

        #[test]
        fn every_width_counts_alike(hashes in prop::collection::vec(any::<[u64; 8]>(), 0..60), tie in ties()) {
            let wide = planes(&hashes.iter().map(|&h| (h, 1)).collect::<Vec<_>>(), tie);
            let four = planes(&hashes.iter().map(|h| ([h[0], h[1], h[2], h[3]], 1)).collect::<Vec<_>>(), tie);
            let one = planes(&hashes.iter().map(|h| ([h[0]], 1)).collect::<Vec<_>>(), tie);
            prop_assert_eq!(&wide[..4], &four[..]);
            prop_assert_eq!(wide[0], one[0]);
        }

        #[test]
        fn exact_sums_do_not_depend_on_order(
            mut features in prop::collection::vec((any::<[u64; 1]>(), 0.0f64..1e9), 1..40),
            power in -900i32..900,
        ) {
            let run = |features: &[(Row<1>, f64)]| {
                let (hashes, weights): (Vec<_>, Vec<_>) = features.iter().copied().unzip();
                columns(&hashes, &weights, 64, Tie::Mask, Votes::Exact)
            };
            let first = run(&features);
            features.reverse();
            let reversed = run(&features);
            prop_assert_eq!(reversed.0, first.0);
            for (one, other) in reversed.1.iter().zip(&first.1) {
                prop_assert!((one - other).abs() <= one.abs() * 1e-15, "{one} {other}");
            }
            // Only the ratio of weights matters.
            let scaled: Vec<_> = features.iter().map(|&(h, w)| (h, times_power_of_two(w, power))).collect();
            prop_assert_eq!(run(&scaled).0, first.0);
        }
    }

    #[test]
    fn the_smallest_weight_breaks_a_tie_of_the_largest() {
        for small in [1e-30, 1e-208, 5e-324] {
            for large in [1.0, 1e15, 1.7e308] {
                let (hashes, weights) = ([[0b01], [0b10], [0b10]], [large, large, small]);
                let small_counts = large < 1e300 || small > 1e-300;
                let expected = if small_counts { [0b10] } else { [0] };
                assert_eq!(columns(&hashes, &weights, 2, Tie::Zero, Votes::Exact).0, expected, "{small} {large}");
            }
        }
    }

    #[test]
    fn many_votes_carry_into_the_upper_planes() {
        let mut counter = Planes::<1>::new();
        for i in 0..100_000u64 {
            counter.push_units(&[[if i % 3 == 0 { 0b01 } else { 0b10 }]]);
        }
        assert_eq!(counter.finish(Tie::Zero), [0b10]);
    }
}
