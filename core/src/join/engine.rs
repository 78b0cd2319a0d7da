//! Passes over the codes: sort by a key, compare within equal keys, split heavy buckets further.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rayon::prelude::*;

use super::compare::{Compare, OnPair};
use super::keys::BitKey;
use super::model::{LOCAL_BITS, Model};
use super::partition::{Sorted, Work, scatter};
use super::{Code, Found, Sink, masks};

/// The widest key of a pass over all codes.
pub(super) const MOST_KEY_BITS: u32 = 26;
/// Up to this many codes a pass is one sort in the cache, and the threads share passes rather than buckets.
const SMALL: usize = 1 << 14;
/// A bucket of this size is split over threads.
const SHARED: usize = 1 << 15;
/// Codes compared at a time, so that they stay in the L1 cache.
const TILE: usize = 1 << 10;
/// Parities are used for no more masks than this, and only if a bucket has enough codes to pay for it.
const MOST_MASKS: usize = 3;
const PARITY_BUCKET: usize = 64;
/// Pairs of a batch, about.
const BATCH: usize = 1 << 12;

/// The bits in which pairs may still differ, and how many of them.
#[derive(Clone, Copy)]
pub(super) struct Region<const W: usize> {
    pub(super) free: Code<W>,
    pub(super) allowed: u32,
}

/// One pass: pairs that agree under the key, and differ under each of the masks before it.
pub(super) struct Pass<const W: usize> {
    pub(super) key: Code<W>,
    /// How to split heavy buckets further; `None` compares them as they are.
    pub(super) region: Option<Region<W>>,
    /// The parities that pairs of this pass must have, if that rules out most pairs.
    pub(super) parity: Option<Parity<W>>,
}

/// Whether the bits in which a pair differs are even or odd in number, in each of some masks.
///
/// In the last pass of radius 3 the three blocks before it differ in one bit each: pairs with any other pattern than
/// odd, odd, odd need not be compared, and that is seven in eight.
pub(super) struct Parity<const W: usize> {
    masks: Vec<Code<W>>,
    patterns: Vec<u32>,
}

impl<const W: usize> Parity<W> {
    /// Returns the patterns of pairs that differ in each of `blocks`, anyhow in `rest`, and in no more than `allowed`
    /// bits.
    fn new(blocks: &[Code<W>], rest: &Code<W>, allowed: u32) -> Option<Self> {
        let mut masks = blocks.to_vec();
        masks.extend(Some(*rest).filter(|rest| masks::count(rest) > 0));
        if masks.len() > MOST_MASKS {
            return None;
        }
        let least = |pattern: &u32| -> u32 {
            let odd = |at: usize| pattern >> at & 1;
            (0..masks.len()).map(|at| if at < blocks.len() { 2 - odd(at) } else { odd(at) }).sum()
        };
        let patterns: Vec<u32> = (0..1 << masks.len()).filter(|pattern| least(pattern) <= allowed).collect();
        (2 * patterns.len() <= 1 << masks.len()).then_some(Parity { masks, patterns })
    }

    fn bits(&self) -> u32 {
        self.masks.len() as u32
    }

    /// Returns how many pairs there are for each pair compared.
    fn factor(&self) -> usize {
        (1 << self.masks.len()) / self.patterns.len()
    }

    /// Returns the masks in which a code has an odd number of ones.
    fn of(&self, code: &Code<W>) -> u32 {
        let odd = |mask: &Code<W>| (0..W).fold(0, |odd, word| odd ^ (code[word] & mask[word])).count_ones() & 1;
        (0..).zip(&self.masks).fold(0, |all, (at, mask)| all | odd(mask) << at)
    }
}

/// Buffers for one sort.
#[derive(Default)]
struct Buffers<const W: usize> {
    local: Work<W>,
    keys: Vec<u32>,
    sorted: Sorted<W>,
    folds: Vec<u32>,
    heavy: Vec<(usize, usize)>,
}

pub(super) struct Engine<'a, const W: usize> {
    compare: Compare,
    pub(super) model: &'a Model,
    pub(super) sink: &'a dyn Sink,
    pub(super) stop: &'a AtomicBool,
    buffers: Mutex<Vec<Buffers<W>>>,
}

impl<'a, const W: usize> Engine<'a, W> {
    pub(super) fn new(radius: u32, model: &'a Model, sink: &'a dyn Sink, stop: &'a AtomicBool) -> Self {
        Engine { compare: Compare::new(radius), model, sink, stop, buffers: Mutex::default() }
    }

    pub(super) fn run(&self, codes: &mut [Code<W>], items: &mut [u32], passes: &[Pass<W>]) {
        let masks: Vec<Code<W>> = passes.iter().map(|pass| pass.key).collect();
        if passes.is_empty() {
            self.all_pairs(codes, items, &[]);
        } else if codes.len() <= SMALL && passes.iter().all(|pass| masks::count(&pass.key) <= LOCAL_BITS) {
            let (codes, items) = (&*codes, &*items);
            passes.par_iter().enumerate().for_each(|(at, pass)| {
                self.sorted(codes, items, &BitKey::new(pass.key), &masks[..at], pass.region);
            });
        } else {
            for (at, pass) in passes.iter().enumerate() {
                self.pass(codes, items, pass, &masks[..at]);
            }
        }
    }

    fn stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    fn pass(&self, codes: &mut [Code<W>], items: &mut [u32], pass: &Pass<W>, earlier: &[Code<W>]) {
        if self.stopped() {
            return;
        }
        let bits = masks::count(&pass.key);
        let log = codes.len().ilog2();
        let high = bits.saturating_sub(LOCAL_BITS).max(log.saturating_sub(12)).min(9).min(bits);
        // Partitioned by the most balanced bits, so that no bucket outgrows the cache; sorted by the others within it.
        let high = masks::of_positions(self.model.positions(&pass.key).take(high as usize));
        let (high, low) = (BitKey::new(high), BitKey::new(masks::without(&pass.key, &high)));
        let parity = pass.parity.as_ref().filter(|_| codes.len() >> bits >= PARITY_BUCKET);
        let pieces = scatter(codes, items, 1 << high.bits, |codes, keys| high.keys(codes, keys));
        let (codes, items) = (&*codes, &*items);
        (0..1usize << high.bits).into_par_iter().for_each(|bucket| {
            if self.stopped() {
                return;
            }
            let mut buffers = self.take();
            let Buffers { local, keys, sorted, .. } = &mut buffers;
            pieces.gather(bucket, local, |range| (&codes[range.clone()], &items[range]));
            low.keys(&local.codes, keys);
            if let Some(parity) = parity {
                keys.iter_mut()
                    .zip(&local.codes)
                    .for_each(|(key, code)| *key = *key << parity.bits() | parity.of(code));
            }
            sorted.sort(&local.codes, &local.items, keys, low.bits + parity.map_or(0, Parity::bits));
            self.compare(&mut buffers, earlier, pass.region, parity);
            self.give(buffers);
        });
    }

    /// Sorts in the cache, then compares.
    fn sorted(
        &self,
        codes: &[Code<W>],
        items: &[u32],
        key: &BitKey<W>,
        earlier: &[Code<W>],
        region: Option<Region<W>>,
    ) {
        if self.stopped() {
            return;
        }
        let mut buffers = self.take();
        let Buffers { keys, sorted, .. } = &mut buffers;
        key.keys(codes, keys);
        sorted.sort(codes, items, keys, key.bits);
        self.compare(&mut buffers, earlier, region, None);
        self.give(buffers);
    }

    /// Compares within the buckets just sorted; with a parity, those of its patterns.
    fn compare(
        &self,
        buffers: &mut Buffers<W>,
        earlier: &[Code<W>],
        region: Option<Region<W>>,
        parity: Option<&Parity<W>>,
    ) {
        let Buffers { sorted, folds, heavy, .. } = buffers;
        let starts = &sorted.starts;
        let count = starts.last().map_or(0, |&count| count as usize);
        let (codes, items) = (&sorted.work.codes[..count], &sorted.work.items[..count]);
        self.compare.fold(codes, folds);
        let cut = region.map_or(usize::MAX, |region| self.model.limit(masks::count(&region.free), region.allowed));
        let limit = cut.min(TILE * 4) * parity.map_or(1, Parity::factor);
        let of = |starts: &[u32], heavy: &mut Vec<(usize, usize)>| {
            let mut hits = Hits { engine: self, earlier, found: Vec::new() };
            let hit: OnPair = &mut |left, right, distance| {
                hits.add((&codes[left], items[left]), (&codes[right], items[right]), distance);
            };
            match parity {
                Some(parity) => {
                    self.compare.classes(codes, folds, starts, &parity.patterns, parity.bits(), limit, heavy, hit)
                }
                None => self.compare.buckets(codes, folds, starts, limit, heavy, hit),
            }
            hits.flush();
        };
        heavy.clear();
        if count < SHARED {
            of(starts, heavy);
        } else {
            let keys = starts.len() - 1;
            let step = keys.div_ceil(32).next_multiple_of(1 << parity.map_or(0, Parity::bits));
            let parts: Vec<Vec<(usize, usize)>> = (0..keys)
                .into_par_iter()
                .step_by(step)
                .map(|from| {
                    let mut heavy = Vec::new();
                    of(&starts[from..=(from + step).min(keys)], &mut heavy);
                    heavy
                })
                .collect();
            heavy.extend(parts.into_iter().flatten());
        }
        let deeper = |&(from, to): &(usize, usize)| self.solve(&codes[from..to], &items[from..to], earlier, region);
        if count < SHARED { heavy.iter().for_each(deeper) } else { heavy.par_iter().for_each(deeper) }
    }

    /// Compares a bucket that is too heavy to compare at once.
    fn solve(&self, codes: &[Code<W>], items: &[u32], earlier: &[Code<W>], region: Option<Region<W>>) {
        if self.stopped() {
            return;
        }
        let log = codes.len().ilog2();
        let passes = region.map_or(Vec::new(), |region| cut(self.model, log, &region, LOCAL_BITS));
        if passes.is_empty() {
            return self.all_pairs(codes, items, earlier);
        }
        let mut masks = earlier.to_vec();
        for pass in passes {
            self.sorted(codes, items, &BitKey::new(pass.key), &masks, pass.region);
            masks.push(pass.key);
        }
    }

    fn all_pairs(&self, codes: &[Code<W>], items: &[u32], earlier: &[Code<W>]) {
        let mut folds = Vec::new();
        self.compare.fold(codes, &mut folds);
        let tiles = codes.len().div_ceil(TILE);
        let tile = |at: usize| at * TILE..((at + 1) * TILE).min(codes.len());
        // Rows of tiles get shorter; starting with the longest keeps the threads busy to the end.
        let row = |left: usize| {
            let mut hits = Hits { engine: self, earlier, found: Vec::new() };
            let from = tile(left);
            let starts = [from.start as u32, from.end as u32];
            self.compare.buckets(codes, &folds, &starts, usize::MAX, &mut Vec::new(), &mut |a, b, distance| {
                hits.add((&codes[a], items[a]), (&codes[b], items[b]), distance);
            });
            for right in left + 1..tiles {
                if self.stopped() {
                    break;
                }
                self.compare.cross(codes, &folds, from.clone(), tile(right), &mut |left, right, distance| {
                    hits.add((&codes[left], items[left]), (&codes[right], items[right]), distance);
                });
            }
            hits.flush();
        };
        if tiles <= 4 { (0..tiles).for_each(row) } else { (0..tiles).into_par_iter().with_max_len(1).for_each(row) }
    }

    fn take(&self) -> Buffers<W> {
        self.buffers.lock().unwrap_or_else(|broken| broken.into_inner()).pop().unwrap_or_default()
    }

    fn give(&self, buffers: Buffers<W>) {
        self.buffers.lock().unwrap_or_else(|broken| broken.into_inner()).push(buffers);
    }
}

/// Returns the passes that find all pairs of 2^`log` codes within the region; none when comparing all is cheaper.
pub(super) fn cut<const W: usize>(model: &Model, log: u32, region: &Region<W>, most: u32) -> Vec<Pass<W>> {
    let (bits, allowed) = (masks::count(&region.free), region.allowed);
    let key = model.key_bits(log, bits, allowed, most);
    if key == 0 || model.cost(log, bits, allowed) >= model.all_pairs(log) {
        return Vec::new();
    }
    // The first passes compare the most pairs.
    let mut places = model.positions(&region.free);
    let blocks: Vec<Code<W>> = (0..=allowed).map(|_| masks::of_positions(places.by_ref().take(key as usize))).collect();
    let mut free = region.free;
    let mut passes = Vec::new();
    for (pass, block) in blocks.iter().enumerate() {
        free = masks::without(&free, block);
        let taken = model.taken(log, bits, allowed, key, pass as u32);
        let parity = Parity::new(&blocks[..pass], &free, allowed);
        let free = blocks[..taken as usize].iter().fold(free, |free, block| masks::union(&free, block));
        passes.push(Pass {
            key: *block,
            region: Some(Region { free, allowed: allowed - pass as u32 + taken }),
            parity,
        });
    }
    passes
}

/// Collects the pairs of one thread, each once: pairs that agree under an earlier mask belong to its pass.
struct Hits<'a, 'b, const W: usize> {
    engine: &'a Engine<'b, W>,
    earlier: &'a [Code<W>],
    found: Vec<Found>,
}

impl<const W: usize> Hits<'_, '_, W> {
    fn add(&mut self, left: (&Code<W>, u32), right: (&Code<W>, u32), distance: u32) {
        if !self.earlier.iter().all(|mask| masks::differ(left.0, right.0, mask)) {
            return;
        }
        self.found.push(Found { left: left.1, right: right.1, distance: distance as u16 });
        if self.found.len() >= BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if !self.found.is_empty() {
            self.engine.sink.take(&self.found);
            self.found.clear();
        }
    }
}
