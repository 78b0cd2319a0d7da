//! The self-join: all pairs of codes within a radius, each once.
//!
//! Equal codes are grouped first and compared as one. An exact join cuts the bits into blocks by the
//! pigeonhole principle (Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", 2007);
//! a sampled one sorts by random bits and finds a stated share. No set of pairs is kept: a pair is
//! reported in the first pass whose key it agrees in.

mod clusters;
mod compare;
mod engine;
mod forest;
mod groups;
mod keys;
mod masks;
mod model;
mod pairs;
mod partition;
mod sampling;
mod stream;

use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use crate::Error;
pub use clusters::{Linkage, clusters};
pub(crate) use forest::Forest;
pub use groups::Groups;
pub use pairs::{Equal, Pair, pairs};
pub use stream::{Next, PairStream};

use engine::{Engine, Pass, Region};
pub(crate) use groups::group_work;
use model::Model;
pub(crate) use partition::Work;
pub(crate) use sampling::usual_flip;

type Code<const W: usize> = [u64; W];

/// Sampling is considered if an exact join would take more nanoseconds than this.
const WORTH_SAMPLING: f64 = 50e6;

/// Fingerprints to join.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The words of one fingerprint after the other.
    pub values: &'a [u64],
    /// Words of each, 1 to 8.
    pub words: usize,
    /// Which rows hold a fingerprint; `None` when all do.
    pub signal: Option<&'a [bool]>,
}

impl Input<'_> {
    /// Returns how many rows there are.
    pub fn rows(&self) -> usize {
        self.values.len() / self.words
    }
}

/// The question of a join.
#[derive(Clone, Copy, Debug)]
pub struct JoinSettings {
    /// Bits in which a pair may differ.
    pub radius: u32,
    /// The share of pairs to find, above 0 and up to 1; below 1 lets the join sample.
    pub recall: f64,
    /// The chance that a bit of a pair differs, where it is known; it weighs distances in the recall.
    pub flip: Option<f64>,
}

/// The method of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Finds equal codes only.
    Equal,
    /// Compares every code with every other.
    AllPairs,
    /// Blocks by the pigeonhole principle: exact.
    Blocks,
    /// Tables of random bits.
    Sampled,
}

/// The plan of a join and its estimates.
#[derive(Clone, Debug)]
pub struct JoinPlan {
    /// The method chosen.
    pub method: Method,
    /// Fingerprints that have a signal.
    pub rows: usize,
    /// Different ones among them.
    pub codes: usize,
    /// Bits that are not the same in all.
    pub bits: u32,
    /// Bits in which a pair may differ.
    pub radius: u32,
    /// Passes over all codes.
    pub tables: usize,
    /// Bits a pass sorts by.
    pub key_bits: u32,
    /// The share of pairs expected, over the distances of texts of one similarity.
    pub recall: f64,
    /// The share expected of pairs at exactly the radius, the lowest share.
    pub recall_at_radius: f64,
    /// Estimated time on one thread.
    pub seconds: f64,
}

/// Two groups of equal rows, and their distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// One group.
    pub left: u32,
    /// The other.
    pub right: u32,
    /// Bits in which they differ.
    pub distance: u16,
}

/// Takes pairs of groups as they are found, from many threads, in no order.
pub trait Sink: Sync {
    /// Takes pairs that were not reported before.
    fn take(&self, found: &[Found]);
}

/// Fingerprints ready to be joined.
pub struct RadiusJoin {
    groups: Groups,
    plan: JoinPlan,
    codes: Box<dyn Codes>,
}

impl RadiusJoin {
    /// Groups equal fingerprints and plans the rest.
    pub fn new(input: Input, settings: JoinSettings) -> Result<RadiusJoin, Error> {
        let rows = input.rows();
        if rows >= u32::MAX as usize {
            return Err(Error::new(format!(
                "{rows} fingerprints; a join takes at most {}: join parts of them",
                u32::MAX - 1
            )));
        }
        let (radius, bits, recall) = (settings.radius, input.words * 64, settings.recall);
        if radius as usize > bits {
            return Err(Error::new(format!(
                "radius is {radius}; it must be from 0 to {bits}, the bits of a fingerprint"
            )));
        }
        if !(recall > 0.0 && recall <= 1.0) {
            return Err(Error::new(format!("recall is {recall}; it must be above 0 and at most 1")));
        }
        Ok(match input.words {
            1 => prepare::<1>(input, settings),
            2 => prepare::<2>(input, settings),
            3..=4 => prepare::<4>(input, settings),
            _ => prepare::<8>(input, settings),
        })
    }

    /// Returns the rows of equal fingerprints.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Returns the plan of `run`.
    pub fn plan(&self) -> &JoinPlan {
        &self.plan
    }

    /// Reports pairs of groups until done or stopped. Running again finds the same.
    pub fn run(&mut self, sink: &dyn Sink, stop: &AtomicBool) {
        self.codes.run(sink, stop);
    }
}

trait Codes: Send + Sync {
    fn run(&mut self, sink: &dyn Sink, stop: &AtomicBool);
    /// Restricts later runs to the groups for which `keep` holds.
    fn keep(&mut self, keep: &dyn Fn(u32) -> bool);
}

struct Prepared<const W: usize> {
    work: Work<W>,
    /// The number of codes, at the front, that take part.
    active: usize,
    passes: Vec<Pass<W>>,
    model: Model,
    method: Method,
    radius: u32,
}

fn prepare<const W: usize>(input: Input, settings: JoinSettings) -> RadiusJoin {
    let JoinSettings { radius, recall, flip } = settings;
    let (groups, work) = groups::group::<W>(&input);
    let varying = varying(&work.codes);
    let bits = masks::count(&varying);
    let model = Model::new(&work.codes, radius);
    let log = work.len().max(2).ilog2();
    let mut plan = JoinPlan {
        method: Method::Equal,
        rows: groups.coded(),
        codes: groups.count(),
        bits,
        radius,
        tables: 0,
        key_bits: 0,
        recall: 1.0,
        recall_at_radius: 1.0,
        seconds: 0.0,
    };
    let mut passes = Vec::new();
    if radius > 0 && work.len() > 1 {
        passes = engine::cut(&model, log, &Region { free: varying, allowed: radius }, engine::MOST_KEY_BITS);
        plan.method = if passes.is_empty() { Method::AllPairs } else { Method::Blocks };
        let mut cost = model.cost(log, bits, radius);
        // Finding the best tables takes longer than a small join.
        if recall < 1.0 && radius < bits && cost * work.len() as f64 > WORTH_SAMPLING {
            let sampled = sampling::sample(&work.codes, &varying, radius, recall, flip);
            if let Some(sampled) = sampled.filter(|sampled| sampled.cost < cost) {
                passes = sampled.keys.iter().map(|&key| Pass { key, region: None, parity: None }).collect();
                plan.method = Method::Sampled;
                (plan.recall, plan.recall_at_radius) = (sampled.recall, sampled.recall_at_radius);
                cost = sampled.cost;
            }
        }
        plan.tables = passes.len();
        plan.key_bits = passes.first().map_or(0, |pass| masks::count(&pass.key));
        plan.seconds = cost * work.len() as f64 * 1e-9;
    }
    let method = plan.method;
    RadiusJoin { groups, plan, codes: Box::new(Prepared { active: work.len(), work, passes, model, method, radius }) }
}

impl<const W: usize> Codes for Prepared<W> {
    fn run(&mut self, sink: &dyn Sink, stop: &AtomicBool) {
        let (codes, items) = (&mut self.work.codes[..self.active], &mut self.work.items[..self.active]);
        if self.method != Method::Equal && codes.len() > 1 {
            Engine::new(self.radius, &self.model, sink, stop).run(codes, items, &self.passes);
        }
    }

    fn keep(&mut self, keep: &dyn Fn(u32) -> bool) {
        self.active = 0;
        for at in 0..self.work.len() {
            if keep(self.work.items[at]) {
                self.work.codes.swap(at, self.active);
                self.work.items.swap(at, self.active);
                self.active += 1;
            }
        }
    }
}

/// Returns the bits that differ between codes; the others are useless in a key.
fn varying<const W: usize>(codes: &[Code<W>]) -> Code<W> {
    let Some(&first) = codes.first() else { return [0; W] };
    let differ = |mask: Code<W>, code: &Code<W>| std::array::from_fn(|word| mask[word] | code[word] ^ first[word]);
    codes
        .par_chunks(1 << 14)
        .map(|codes| codes.iter().fold([0; W], differ))
        .reduce(|| [0; W], |a, b| masks::union(&a, &b))
}
