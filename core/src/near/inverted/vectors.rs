//! Texts as vectors: features numbered rarest first, weights and norms in 16 bits.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;

use super::Inverted;
use super::segment::Scratch;
use crate::hash::GOLDEN;
use crate::memory::{collected, reserve, with_room};
use crate::pipeline::Judged;

/// Weights and norms are counted in steps of 1 / ONE.
pub(super) const ONE: u32 = 1 << 15;
/// Texts whose vectors are made, and lie in memory, together.
pub(super) const CHUNK: usize = 1 << 8;
/// Chunks made between two looks at the memory they take.
const ROUND: usize = 1 << 6;
/// Bytes of vectors in memory at a time.
pub const PART_BYTES: usize = 192 << 20;
/// Numbers of features, at least and at most, in bits.
pub(super) const SLOT_BITS: (u32, u32) = (12, 23);
/// Texts that tell how many features there may be.
const PROBES: usize = 64;
/// The rank of a feature that only one text has.
const ALONE: u32 = u32::MAX;

/// A feature of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    /// Its rank among all features, rarest first; at first its slot.
    pub(super) term: u32,
    /// Its share of the norm of the text, rounded up.
    pub(super) weight: u16,
    /// The share of the norm from this entry on, rounded up.
    pub(super) reach: u16,
}

/// The entries of some texts.
#[derive(Default)]
pub(super) struct Chunk {
    pub(super) ends: Vec<u32>,
    pub(super) entries: Vec<Entry>,
}

impl Chunk {
    pub(super) fn of(&self, at: usize) -> &[Entry] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.entries[start as usize..self.ends[at] as usize]
    }

    /// Returns these texts with their entries, without those too short to be near any.
    pub(super) fn with(&self, texts: &[u32]) -> Vec<(u32, &[Entry])> {
        let own = texts.iter().enumerate().map(|(at, &text)| (text, self.of(at)));
        own.filter(|(_, entries)| !entries.is_empty()).collect()
    }

    pub(super) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.ends.capacity() * size_of::<u32>()
    }
}

/// The vectors of consecutive members.
pub(super) struct Vectors {
    /// The first of them.
    pub(super) start: usize,
    pub(super) count: usize,
    pub(super) chunks: Vec<Chunk>,
}

impl Vectors {
    /// Returns the entries of a member by its place among these, rarest first.
    pub(super) fn of(&self, place: u32) -> &[Entry] {
        self.chunks[place as usize / CHUNK].of(place as usize % CHUNK)
    }

    pub(super) fn end(&self) -> usize {
        self.start + self.count
    }
}

/// Returns the slot of a feature by its key.
fn slot(key: u64, slots: usize) -> usize {
    (key.wrapping_mul(GOLDEN) >> (64 - slots.ilog2())) as usize
}

impl<'t> Inverted<'_, 't> {
    /// Numbers the features that this many texts have, or more, and keeps the vectors if they fit into memory.
    pub(super) fn number(&mut self, shared: u32) {
        let members = &self.members;
        let probes: Vec<u32> = members.iter().copied().step_by(members.len().div_ceil(PROBES).max(1)).collect();
        let features: usize =
            probes.par_iter().map(|&text| self.pipeline.vector(&self.read(text)).features.len()).sum();
        let features = features * members.len() / probes.len().max(1);
        let slots = (features.next_power_of_two() / 2).clamp(1 << SLOT_BITS.0, 1 << SLOT_BITS.1);
        self.number_in(slots, shared);
    }

    pub(super) fn number_in(&mut self, slots: usize, shared: u32) {
        let members = &self.members;
        let counts: Vec<AtomicU32> = collected((0..slots).map(|_| AtomicU32::new(0)));
        let bytes = AtomicUsize::new(0);
        let chunks: Vec<Option<Chunk>> = members
            .par_chunks(CHUNK)
            .map(|texts| {
                let chunk = self.slotted(texts, slots);
                chunk.entries.iter().for_each(|entry| _ = counts[entry.term as usize].fetch_add(1, Relaxed));
                (bytes.fetch_add(chunk.bytes(), Relaxed) < self.part_bytes).then_some(chunk)
            })
            .collect();
        let mut order: Vec<u32> = with_room(counts.iter().filter(|count| count.load(Relaxed) >= shared).count());
        order.extend((0..slots as u32).filter(|&slot| counts[slot as usize].load(Relaxed) >= shared));
        order.par_sort_unstable_by_key(|&slot| (counts[slot as usize].load(Relaxed), slot));
        self.terms = order.len();
        // In the same memory.
        self.ranks = counts.into_iter().map(|_| ALONE).collect();
        order.iter().zip(0..).for_each(|(&slot, rank)| self.ranks[slot as usize] = rank);
        drop(order);
        if bytes.into_inner() < self.part_bytes {
            let mut chunks: Vec<Chunk> = chunks.into_iter().flatten().collect();
            chunks.par_iter_mut().for_each(|chunk| self.rank(chunk));
            self.whole = Some(Vectors { start: 0, count: members.len(), chunks });
        }
    }

    /// Returns a text; once `stop` is set, any.
    pub(super) fn read(&self, text: u32) -> Cow<'t, str> {
        if self.stop.load(Relaxed) { Cow::Borrowed("") } else { (self.text)(self.join.rows[text as usize] as usize) }
    }

    pub(super) fn judged(&self, text: u32) -> Judged {
        self.pipeline.judged_one(&self.read(text))
    }

    /// Returns the features of texts by their slots, those of one slot together.
    fn slotted(&self, texts: &[u32], slots: usize) -> Chunk {
        let mut chunk = Chunk::default();
        reserve(&mut chunk.ends, texts.len());
        for &text in texts {
            let vector = self.pipeline.vector(&self.read(text));
            let norm = vector.norm.sqrt();
            reserve(&mut chunk.entries, vector.features.len());
            let start = chunk.entries.len();
            chunk.entries.extend(vector.features.iter().map(|&(key, weight)| {
                // No weight is above 1, but for rounding.
                let weight = (weight / norm * f64::from(ONE)).ceil().min(f64::from(ONE)) as u16;
                Entry { term: slot(key, slots) as u32, weight: weight.max(1), reach: 0 }
            }));
            chunk.entries[start..].sort_unstable_by_key(|entry| entry.term);
            let length = merge(&mut chunk.entries[start..]);
            chunk.entries.truncate(start + length);
            chunk.ends.push(chunk.entries.len() as u32);
        }
        chunk.entries.shrink_to_fit();
        chunk
    }

    /// Replaces slots by ranks, drops what cannot be shared, sorts the rest and computes the norms.
    fn rank(&self, chunk: &mut Chunk) {
        let (mut from, mut to) = (0, 0);
        for at in 0..chunk.ends.len() {
            let end = chunk.ends[at] as usize;
            let start = to;
            for place in from..end {
                let entry = chunk.entries[place];
                let term = self.ranks[entry.term as usize];
                chunk.entries[to] = Entry { term, ..entry };
                to += usize::from(term != ALONE);
            }
            from = end;
            let entries = &mut chunk.entries[start..to];
            entries.sort_unstable_by_key(|entry| entry.term);
            let mut squares = 0u64;
            for entry in entries.iter_mut().rev() {
                squares += u64::from(entry.weight) * u64::from(entry.weight);
                // The whole norm is 1.
                entry.reach = (squares as f64).sqrt().ceil().min(f64::from(ONE)) as u16;
            }
            if entries.first().is_some_and(|entry| entry.reach < self.least) {
                to = start;
            }
            chunk.ends[at] = to as u32;
        }
        chunk.entries.truncate(to);
        chunk.entries.shrink_to_fit();
    }

    /// Returns the vectors of members from this one on, as many as fit into memory.
    fn load(&self, start: usize) -> Vectors {
        let mut vectors = Vectors { start, count: 0, chunks: Vec::new() };
        let mut bytes = 0;
        while vectors.end() < self.members.len() && bytes < self.part_bytes {
            let texts = if self.part_bytes >= PART_BYTES { CHUNK * ROUND } else { CHUNK };
            let end = self.members.len().min(vectors.end() + texts);
            let made: Vec<Chunk> =
                self.members[vectors.end()..end].par_chunks(CHUNK).map(|texts| self.vectors(texts)).collect();
            bytes += made.iter().map(Chunk::bytes).sum::<usize>();
            vectors.chunks.extend(made);
            vectors.count = end - start;
        }
        vectors
    }

    pub(super) fn vectors(&self, texts: &[u32]) -> Chunk {
        let mut chunk = self.slotted(texts, self.ranks.len());
        self.rank(&mut chunk);
        chunk
    }

    /// Calls `work` with the vectors of each part, the first one first, until it returns false.
    pub(super) fn each_part(&self, mut work: impl FnMut(&Vectors) -> bool) {
        if let Some(vectors) = &self.whole {
            work(vectors);
            return;
        }
        let mut start = 0;
        while start < self.members.len() && !self.stop.load(Relaxed) {
            let vectors = self.load(start);
            start = vectors.end();
            if !work(&vectors) {
                return;
            }
        }
    }

    /// Calls `work` with the members of a range and their vectors, some at a time, on all threads.
    pub(super) fn each_chunk(
        &self,
        range: std::ops::Range<usize>,
        work: impl Fn(&[(u32, &[Entry])], &mut Scratch) + Sync,
    ) {
        self.members[range].par_chunks(CHUNK).for_each_init(Scratch::default, |scratch, texts| {
            let chunk = self.vectors(texts);
            work(&chunk.with(texts), scratch);
        });
    }
}

/// Adds up the weights of entries of the same term; returns how many are left.
fn merge(entries: &mut [Entry]) -> usize {
    let mut length = 0;
    for at in 0..entries.len() {
        if length > 0 && entries[length - 1].term == entries[at].term {
            // A sum above 1 need not be exact: no single weight in it is above 1.
            entries[length - 1].weight = entries[length - 1].weight.saturating_add(entries[at].weight);
        } else {
            entries[length] = entries[at];
            length += 1;
        }
    }
    length
}
