//! Dense buckets, in which nearly all sketches agree: copies of a template, or lines that differ in a word.
//!
//! c texts have c² / 2 candidates, too many to compare all. A search for the neighbours of a text compares only the
//! members that can be near. Two texts that share no feature rarer than some level are no more similar than their
//! common parts: cos(x, y) ≤ √(common share of x · common share of y). So only members are compared that share a rare
//! feature, or whose common share is large (prefix filtering; Bayardo, Ma, Srikant, "Scaling up all pairs similarity
//! search", 2007, with a bound from both sides). The worst case stays O(c²).

use super::agree::{Registers, same_count};
use super::join::{Dense, NearJoin};
use super::judge::TextOf;
use crate::hash::KeyMap;
use crate::pipeline::{Judged, Pipeline};

/// A feature is common at a level if one in so many members has it.
const LEVELS: [usize; 4] = [2, 8, 32, 128];
/// Bins of members by their common share.
const BINS: usize = 64;
/// Up to this many members are compared one by one.
const FEW: usize = 32;
/// Bounds are widened by this factor, since sums of floats are not exact.
const SLACK: f64 = 1e-9;

/// The members of all dense buckets, with their features.
pub(super) struct Members {
    texts: Vec<u32>,
    judged: Vec<Judged>,
    registers: Vec<Registers>,
}

impl Members {
    pub(super) fn new(
        join: &NearJoin<'_>,
        dense: &[Dense],
        pipeline: &Pipeline,
        text: TextOf<'_, '_>,
        stop: &std::sync::atomic::AtomicBool,
    ) -> Members {
        let mut texts: Vec<u32> = dense.iter().flat_map(|bucket| bucket.members.iter().copied()).collect();
        texts.sort_unstable();
        texts.dedup();
        let rows: Vec<u32> = texts.iter().map(|&text| join.rows[text as usize]).collect();
        let judged = pipeline.judged(&rows, text, stop);
        let registers = texts.iter().map(|&text| join.registers(text)).collect();
        Members { texts, judged, registers }
    }

    /// Returns the place of a text that is a member.
    pub(super) fn place(&self, text: u32) -> u32 {
        self.texts.partition_point(|&other| other < text) as u32
    }

    pub(super) fn text(&self, place: u32) -> u32 {
        self.texts[place as usize]
    }

    pub(super) fn judged(&self, place: u32) -> &Judged {
        &self.judged[place as usize]
    }

    pub(super) fn registers(&self, place: u32) -> &Registers {
        &self.registers[place as usize]
    }
}

/// An index of members of a bucket that finds those near another member. Members go by their places in `Members`.
pub(super) struct Bucket<'a> {
    members: &'a Members,
    join: &'a NearJoin<'a>,
    /// Pairs that agree in one of the first `told` tables are reported there.
    told: usize,
    /// All members of the bucket, in order.
    pub(super) places: Vec<u32>,
    /// How many members have a feature; empty while few members are indexed.
    spread: KeyMap<u32>,
    /// The indexed members, in order of insertion.
    asked: Vec<u32>,
    /// The indexed members that have a feature.
    with: KeyMap<Vec<u32>>,
    /// The indexed members by common share, for each level.
    bins: Vec<Vec<Vec<u32>>>,
    /// The last query in which a member was compared.
    looked: Vec<u32>,
    round: u32,
    worth: Vec<u32>,
}

impl<'a> Bucket<'a> {
    /// Makes a bucket of these members; none is indexed yet.
    pub(super) fn new(join: &'a NearJoin<'a>, members: &'a Members, dense: &Dense, told: usize) -> Self {
        Bucket {
            members,
            join,
            told,
            places: dense.members.iter().map(|&text| members.place(text)).collect(),
            spread: KeyMap::default(),
            asked: Vec::new(),
            with: KeyMap::default(),
            bins: Vec::new(),
            looked: Vec::new(),
            round: 0,
            worth: Vec::new(),
        }
    }

    /// Counts the features of all members, then indexes the members inserted so far.
    fn learn(&mut self) {
        for &place in &self.places {
            for &(key, _) in &self.members.judged(place).vector.features {
                *self.spread.entry(key).or_default() += 1;
            }
        }
        self.bins = vec![vec![Vec::new(); BINS + 1]; LEVELS.len()];
        (0..self.asked.len() as u32).for_each(|number| self.enter(number));
    }

    /// Returns the share of a member's norm in features that are common, for each level.
    fn shares(&self, place: u32) -> [f64; LEVELS.len()] {
        let vector = &self.members.judged(place).vector;
        let mut shares = [0.0; LEVELS.len()];
        for (key, weight) in &vector.features {
            let having = self.spread.get(key).copied().unwrap_or(0) as usize;
            for (share, level) in shares.iter_mut().zip(LEVELS) {
                if having * level >= self.places.len() {
                    *share += weight * weight;
                }
            }
        }
        shares.map(|share| if vector.norm > 0.0 { share / vector.norm } else { 1.0 })
    }

    /// Adds a member to the index.
    pub(super) fn put(&mut self, place: u32) {
        let number = self.asked.len() as u32;
        self.asked.push(place);
        self.looked.push(0);
        if self.asked.len() > FEW {
            if self.bins.is_empty() { self.learn() } else { self.enter(number) }
        }
    }

    fn enter(&mut self, number: u32) {
        let place = self.asked[number as usize];
        for (level, share) in self.shares(place).into_iter().enumerate() {
            self.bins[level][bin(share)].push(number);
        }
        // A feature that half of all members have is never looked up.
        for (key, _) in &self.members.judged(place).vector.features {
            if (self.spread[key] as usize) * LEVELS[0] < self.places.len() {
                self.with.entry(*key).or_default().push(number);
            }
        }
    }

    /// Calls `visit` with the indexed members that are near and their cosines, in order of insertion, until it returns
    /// false.
    pub(super) fn near(&mut self, place: u32, mut visit: impl FnMut(u32, f64) -> bool) {
        let worth = self.worth(place);
        let mut look = |number: u32| {
            let other = self.asked[number as usize];
            self.cosine(place, other).is_none_or(|cosine| visit(other, cosine))
        };
        match worth {
            None => _ = (0..self.asked.len() as u32).all(&mut look),
            Some(mut numbers) => {
                numbers.sort_unstable();
                numbers.iter().all(|&number| look(number));
                self.worth = numbers;
            }
        }
    }

    /// Returns the cosine of two members if they are near: if they agree in enough registers and reach the similarity.
    pub(super) fn cosine(&self, place: u32, other: u32) -> Option<f64> {
        let (left, right) = (self.members.registers(place), self.members.registers(other));
        if same_count(left, right) < self.join.plan.least || self.join.agree_before(left, right, self.told) {
            return None;
        }
        let cosine = self.members.judged(place).similarity(self.members.judged(other));
        (cosine >= self.join.plan.similarity).then_some(cosine)
    }

    /// Returns the indexed members that can be near; None for all.
    fn worth(&mut self, place: u32) -> Option<Vec<u32>> {
        if self.asked.len() <= FEW {
            return None;
        }
        let shares = self.shares(place);
        let features = &self.members.judged(place).vector.features;
        let similarity = self.join.plan.similarity;
        let bound = |level: usize| similarity * similarity * (1.0 - SLACK) / shares[level].max(SLACK);
        let rare = |key: &u64, level: usize| (self.spread[key] as usize) * LEVELS[level] < self.places.len();
        let numbers_of = |key: &u64| self.with.get(key).map_or(&[][..], Vec::as_slice);
        let cost = |level: usize| {
            let sharing: usize =
                features.iter().filter(|(key, _)| rare(key, level)).map(|(key, _)| numbers_of(key).len()).sum();
            let common: usize = self.bins[level][bin(bound(level).min(1.0))..].iter().map(Vec::len).sum();
            sharing + if bound(level) > 1.0 { 0 } else { common }
        };
        let (cost, level) = (0..LEVELS.len()).map(|level| (cost(level), level)).min()?;
        if cost >= self.asked.len() {
            return None;
        }
        self.round += 1;
        let mut numbers = std::mem::take(&mut self.worth);
        numbers.clear();
        let common = if bound(level) > 1.0 { BINS + 1 } else { bin(bound(level)) };
        let lists = features.iter().filter(|(key, _)| rare(key, level)).map(|(key, _)| numbers_of(key));
        let lists = lists.chain(self.bins[level][common..].iter().map(Vec::as_slice));
        for &number in lists.flatten() {
            let looked = &mut self.looked[number as usize];
            if *looked != self.round {
                *looked = self.round;
                numbers.push(number);
            }
        }
        Some(numbers)
    }
}

/// Returns the bin of a share; larger shares are in the same bin or a later one.
fn bin(share: f64) -> usize {
    (share * BINS as f64).clamp(0.0, BINS as f64) as usize
}
