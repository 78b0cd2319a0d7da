//! Pairs by an inverted index: every two texts whose cosine reaches the similarity, nothing missed.
//!
//! Features are numbered rarest first, and the list of a feature names the texts that have it. Let t be the rarest
//! feature that two texts share: their cosine is at most the product of the norms of what each has from t on. So a
//! text is looked up, and listed, only by its rarest features, as long as the rest of it is long enough (prefix
//! filtering; Bayardo, Ma, Srikant, "Scaling up all pairs similarity search", 2007, with the bounds by norms of
//! Anastasiu and Karypis, "L2AP: fast cosine similarity search with prefix L-2 norm bounds", 2014). The products found
//! on the way and the norms of the rest bound the cosine of nearly all other pairs below the similarity. What is left
//! goes to the judge: weights here are rounded up to 16 bits, and different features may share a number, so a sum is
//! never below the true one, and it is never the last word.
//!
//! A feature that only one text has cannot be shared: it is dropped, and a text that is left too short with it.
//!
//! Texts that do not fit into memory come in parts, whose features are computed again when another part asks. The time
//! is O(Σ c²) for the lists of c texts each; the worst case O(texts²).

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;

use super::join::NearJoin;
use super::judge::TextOf;
use super::links::{Near, Take};
use crate::hash::GOLDEN;
use crate::join::Forest;
use crate::memory::{collected, filled, push, reserve, with_room};
use crate::pipeline::{Judged, Pipeline};
use crate::turns::in_turn;

/// Weights and norms are counted in steps of 1 / ONE.
const ONE: u32 = 1 << 15;
/// A product of two may miss the similarity by this much: cosines are sums of floats.
const SLACK: f64 = 1e-9;
/// The texts of a segment, at most: they have numbers of 16 bits there.
const SEGMENT: usize = 1 << 16;
/// Texts whose vectors are made, and lie in memory, together.
const CHUNK: usize = 1 << 8;
/// Chunks made between two looks at the memory they take.
const ROUND: usize = 1 << 6;
/// Texts that are judged together: each text near one of them is read once.
const TILE: usize = 1 << 5;
/// A list of texts of which none can be a new candidate is skipped if it is so many times longer than the candidates.
const PATIENCE: usize = 8;
/// Texts whose stars are found together, at first and later.
const FIRST_STARS: usize = 1 << 8;
const MOST_STARS: usize = 1 << 12;
/// Bytes of vectors in memory at a time.
pub const PART_BYTES: usize = 192 << 20;
/// Numbers of features, at least and at most, in bits.
const SLOT_BITS: (u32, u32) = (12, 23);
/// Texts that tell how many features there may be.
const PROBES: usize = 64;
/// The rank of a feature that only one text has.
const ALONE: u32 = u32::MAX;
/// Pairs of a batch, about.
const BATCH: usize = 1 << 16;

/// A feature of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    /// Its rank among all features, rarest first; at first its slot.
    term: u32,
    /// Its share of the norm of the text, rounded up.
    weight: u16,
    /// The share of the norm from this entry on, rounded up.
    reach: u16,
}

/// The entries of some texts.
#[derive(Default)]
struct Chunk {
    ends: Vec<u32>,
    entries: Vec<Entry>,
}

impl Chunk {
    fn of(&self, at: usize) -> &[Entry] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.entries[start as usize..self.ends[at] as usize]
    }

    /// Returns these texts with their entries, without those too short to be near any.
    fn with(&self, texts: &[u32]) -> Vec<(u32, &[Entry])> {
        let own = texts.iter().enumerate().map(|(at, &text)| (text, self.of(at)));
        own.filter(|(_, entries)| !entries.is_empty()).collect()
    }

    fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.ends.capacity() * size_of::<u32>()
    }
}

/// The vectors of consecutive members.
struct Vectors {
    /// The first of them.
    start: usize,
    count: usize,
    chunks: Vec<Chunk>,
}

impl Vectors {
    /// Returns the entries of a member by its place among these, rarest first.
    fn of(&self, place: u32) -> &[Entry] {
        self.chunks[place as usize / CHUNK].of(place as usize % CHUNK)
    }

    fn end(&self) -> usize {
        self.start + self.count
    }
}

/// A text in the list of a feature.
#[derive(Clone, Copy)]
struct Posting {
    text: u16,
    weight: u16,
    reach: u16,
}

/// An index of up to `SEGMENT` texts.
struct Segment {
    /// Their places in the vectors, in order.
    places: Vec<u32>,
    /// Where the list of each term begins, and where the last ends.
    starts: Vec<u32>,
    /// Each list by reach, longest first.
    postings: Vec<Posting>,
    /// How many entries of each text are listed.
    listed: Vec<u32>,
}

/// One thread's buffers.
#[derive(Default)]
struct Scratch {
    /// The products found so far of each text of a segment.
    sums: Vec<u32>,
    /// The texts that have some.
    touched: Vec<u16>,
    /// Postings read, and texts that had some sum.
    work: Work,
}

/// What a search has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Work {
    /// Postings read.
    pub(super) postings: u64,
    /// Texts with a sum, which had to be bounded.
    pub(super) bounded: u64,
}

/// The texts to join, and how their features are numbered.
pub(super) struct Inverted<'a, 't> {
    join: &'a NearJoin<'a>,
    pipeline: &'a Pipeline,
    text: TextOf<'a, 't>,
    stop: &'a AtomicBool,
    /// Texts asked so far, to be read meanwhile.
    asked: &'a AtomicUsize,
    /// What pairs have cost so far.
    postings: AtomicU64,
    bounded: AtomicU64,
    /// The texts, in order.
    members: Vec<u32>,
    /// The rank of each slot.
    ranks: Vec<u32>,
    /// The number of ranks.
    terms: usize,
    part_bytes: usize,
    /// The vectors of all members, if they fit into memory.
    whole: Option<Vectors>,
    /// The least product of two reaches, and the least reach of a text.
    limit: u32,
    least: u16,
}

/// Returns the slot of a feature by its key.
fn slot(key: u64, slots: usize) -> usize {
    (key.wrapping_mul(GOLDEN) >> (64 - slots.ilog2())) as usize
}

impl<'a, 't> Inverted<'a, 't> {
    /// Counts in how many of the texts each feature is. The result is useless once `stop` is set.
    #[allow(clippy::too_many_arguments)] // what there is to say
    pub(super) fn new(
        join: &'a NearJoin<'a>,
        members: Vec<u32>,
        pipeline: &'a Pipeline,
        text: TextOf<'a, 't>,
        part_bytes: usize,
        stop: &'a AtomicBool,
        asked: &'a AtomicUsize,
    ) -> Inverted<'a, 't> {
        let mut inverted = Inverted::uncounted(join, members, pipeline, text, part_bytes, stop, asked);
        inverted.number(2);
        inverted
    }

    /// Makes an index of a few texts whose features are numbered as the ones of more.
    pub(super) fn of_sample(
        join: &'a NearJoin<'a>,
        counted: Vec<u32>,
        members: Vec<u32>,
        pipeline: &'a Pipeline,
        text: TextOf<'a, 't>,
        stop: &'a AtomicBool,
        asked: &'a AtomicUsize,
    ) -> Inverted<'a, 't> {
        let mut inverted = Inverted::uncounted(join, counted, pipeline, text, PART_BYTES, stop, asked);
        // What only one of them has, others may have.
        inverted.number(1);
        (inverted.members, inverted.whole) = (members, None);
        inverted
    }

    fn uncounted(
        join: &'a NearJoin<'a>,
        members: Vec<u32>,
        pipeline: &'a Pipeline,
        text: TextOf<'a, 't>,
        part_bytes: usize,
        stop: &'a AtomicBool,
        asked: &'a AtomicUsize,
    ) -> Inverted<'a, 't> {
        let limit = (join.plan.similarity * (1.0 - SLACK) * f64::from(ONE) * f64::from(ONE)) as u32;
        let least = limit.div_ceil(ONE) as u16;
        let (ranks, terms, whole) = (Vec::new(), 0, None);
        let (postings, bounded) = Default::default();
        Inverted {
            join,
            pipeline,
            text,
            stop,
            asked,
            postings,
            bounded,
            members,
            ranks,
            terms,
            part_bytes,
            whole,
            limit,
            least,
        }
    }

    /// Returns what searches for pairs have cost.
    pub(super) fn work(&self) -> Work {
        Work { postings: self.postings.load(Relaxed), bounded: self.bounded.load(Relaxed) }
    }

    /// Numbers the features that this many texts have, or more, and keeps the vectors if they fit into memory.
    fn number(&mut self, shared: u32) {
        let members = &self.members;
        let probes: Vec<u32> = members.iter().copied().step_by(members.len().div_ceil(PROBES).max(1)).collect();
        let features: usize =
            probes.par_iter().map(|&text| self.pipeline.vector(&self.read(text)).features.len()).sum();
        let features = features * members.len() / probes.len().max(1);
        let slots = (2 * features).clamp(1 << SLOT_BITS.0, 1 << SLOT_BITS.1).next_power_of_two();
        self.number_in(slots, shared);
    }

    fn number_in(&mut self, slots: usize, shared: u32) {
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
        self.ranks = filled(slots, ALONE);
        drop(counts);
        order.iter().zip(0..).for_each(|(&slot, rank)| self.ranks[slot as usize] = rank);
        drop(order);
        if bytes.into_inner() < self.part_bytes {
            let mut chunks: Vec<Chunk> = chunks.into_iter().flatten().collect();
            chunks.par_iter_mut().for_each(|chunk| self.rank(chunk));
            self.whole = Some(Vectors { start: 0, count: members.len(), chunks });
        }
    }

    /// Returns a text; once `stop` is set, any.
    fn read(&self, text: u32) -> Cow<'t, str> {
        if self.stop.load(Relaxed) { Cow::Borrowed("") } else { (self.text)(self.join.rows[text as usize] as usize) }
    }

    fn judged(&self, text: u32) -> Judged {
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

    fn vectors(&self, texts: &[u32]) -> Chunk {
        let mut chunk = self.slotted(texts, self.ranks.len());
        self.rank(&mut chunk);
        chunk
    }

    /// Calls `work` with the vectors of each part, the first one first, until it returns false.
    fn each_part(&self, mut work: impl FnMut(&Vectors) -> bool) {
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
    fn each_chunk(&self, range: std::ops::Range<usize>, work: impl Fn(&[(u32, &[Entry])], &mut Scratch) + Sync) {
        self.members[range].par_chunks(CHUNK).for_each_init(Scratch::default, |scratch, texts| {
            let chunk = self.vectors(texts);
            work(&chunk.with(texts), scratch);
        });
    }

    /// Returns an index of members by their places in the vectors, in segments.
    fn segments(&self, vectors: &Vectors, places: &[u32]) -> Vec<Segment> {
        // Segments of equal length; several, so that a text need not ask many that come after it.
        let number = (places.len() / MOST_STARS).clamp(1, 8).max(places.len().div_ceil(SEGMENT));
        places.par_chunks(places.len().div_ceil(number).max(1)).map(|places| self.segment(vectors, places)).collect()
    }

    fn segment(&self, vectors: &Vectors, places: &[u32]) -> Segment {
        let listed = |place: u32| {
            let entries = vectors.of(place);
            entries.partition_point(|entry| entry.reach >= self.least)
        };
        let mut starts: Vec<u32> = filled(self.terms + 1, 0);
        for &place in places {
            vectors.of(place)[..listed(place)].iter().for_each(|entry| starts[entry.term as usize + 1] += 1);
        }
        (1..starts.len()).for_each(|term| starts[term] += starts[term - 1]);
        let mut postings = filled(starts[self.terms] as usize, Posting { text: 0, weight: 0, reach: 0 });
        // Filled from behind, so that each start ends where its list begins.
        let mut next = collected(starts[1..].iter().copied());
        for (text, &place) in places.iter().enumerate().rev() {
            for entry in &vectors.of(place)[..listed(place)] {
                let at = &mut next[entry.term as usize];
                *at -= 1;
                postings[*at as usize] = Posting { text: text as u16, weight: entry.weight, reach: entry.reach };
            }
        }
        for ends in starts.windows(2).filter(|ends| ends[1] - ends[0] > 1) {
            let list = &mut postings[ends[0] as usize..ends[1] as usize];
            list.sort_unstable_by_key(|posting| std::cmp::Reverse(posting.reach));
        }
        let listed = places.iter().map(|&place| listed(place) as u32).collect();
        Segment { places: places.to_vec(), starts, postings, listed }
    }

    /// Calls `hit` with the place of every text of a segment that may be near, unless it is not `wanted`.
    fn ask(
        &self,
        (vectors, segment): (&Vectors, &Segment),
        own: &[Entry],
        scratch: &mut Scratch,
        wanted: impl Fn(u32) -> bool,
        mut hit: impl FnMut(u32),
    ) {
        let Scratch { sums, touched, work } = scratch;
        if sums.len() < segment.places.len() {
            *sums = filled(segment.places.len(), 0);
        }
        let looked_up = own.partition_point(|entry| entry.reach >= self.least);
        let mut skipped = 0u64;
        for entry in &own[..looked_up] {
            let list = segment.starts[entry.term as usize] as usize..segment.starts[entry.term as usize + 1] as usize;
            let list = &segment.postings[list];
            let least = self.limit.div_ceil(u32::from(entry.reach));
            let weight = u32::from(entry.weight);
            let new = list.partition_point(|posting| u32::from(posting.reach) >= least);
            let (new, old) = list.split_at(new);
            for posting in new {
                let sum = &mut sums[usize::from(posting.text)];
                if *sum == 0 {
                    touched.push(posting.text);
                }
                *sum = sum.saturating_add(u32::from(posting.weight) * weight);
            }
            work.postings += new.len() as u64;
            if old.len() > PATIENCE * touched.len() {
                skipped += u64::from(weight) * u64::from(weight);
                continue;
            }
            work.postings += old.len() as u64;
            for posting in old {
                let sum = &mut sums[usize::from(posting.text)];
                let product = u32::from(posting.weight) * weight;
                *sum = sum.saturating_add(if *sum == 0 { 0 } else { product });
            }
        }
        work.bounded += touched.len() as u64;
        let skipped = (skipped as f64).sqrt().ceil() as u64 * u64::from(ONE);
        for text in touched.drain(..) {
            let sum = std::mem::take(&mut sums[usize::from(text)]);
            let place = segment.places[usize::from(text)];
            let other = vectors.of(place);
            let listed = segment.listed[usize::from(text)] as usize;
            let most = u64::from(sum) + u64::from(rest((own, looked_up), (other, listed))) + skipped;
            if most >= u64::from(self.limit) && wanted(place) && dot(own, other) >= u64::from(self.limit) {
                hit(place);
            }
        }
    }

    fn is_candidate(&self, left: u32, right: u32) -> bool {
        self.join.plan.is_candidate(self.join.sketch(left), self.join.sketch(right))
    }

    fn near(&self, (one, left): (u32, &Judged), (two, right): (u32, &Judged)) -> Option<Near> {
        let similarity = left.similarity(right);
        let (later, earlier) = (one.max(two), one.min(two));
        (similarity >= self.join.plan.similarity).then(|| Near {
            later,
            earlier,
            similarity,
            distance: left.distance(right),
        })
    }

    /// Calls `found` with every near pair of a text of `own` and a listed text that are `wanted` together.
    fn judge_tile(
        &self,
        own: &[(u32, &[Entry])],
        (vectors, segments): (&Vectors, &[Segment]),
        scratch: &mut Scratch,
        wanted: &(dyn Fn(u32, u32) -> bool + Sync),
        found: &mut dyn FnMut(Near) -> bool,
    ) {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (&(text, entries), at) in own.iter().zip(0..) {
            if self.stop.load(Relaxed) {
                return;
            }
            for segment in segments {
                let other = |place: u32| self.members[vectors.start + place as usize];
                let wanted = |place| wanted(text, other(place));
                self.ask((vectors, segment), entries, scratch, wanted, |place| {
                    push(&mut pairs, (other(place), at));
                });
            }
        }
        pairs.retain(|&(other, at)| self.is_candidate(own[at as usize].0, other));
        pairs.sort_unstable();
        let mut judged: Vec<Option<Judged>> = own.iter().map(|_| None).collect();
        for same in pairs.chunk_by(|a, b| a.0 == b.0) {
            let other = same[0].0;
            let mut other_judged = None;
            for &(_, at) in same {
                let text = own[at as usize].0;
                // What was linked meanwhile is no longer wanted.
                if self.stop.load(Relaxed) || !wanted(text, other) {
                    continue;
                }
                let left = &*judged[at as usize].get_or_insert_with(|| self.judged(text));
                let right = &*other_judged.get_or_insert_with(|| self.judged(other));
                if !self.near((text, left), (other, right)).is_none_or(&mut *found) {
                    return;
                }
            }
        }
        self.asked.fetch_add(own.len(), Relaxed);
    }

    /// Calls `take` with every near pair that is `told`, each once, in batches and in the same order every time, until
    /// it returns false; from time to time with an empty batch.
    pub(super) fn each_pair(&self, told: &(dyn Fn(u32, u32) -> bool + Sync), take: &mut Take<'_>) {
        let first = self.join.first;
        let across =
            |text: u32, other: u32| other < text && (first == 0 || other < first && text >= first) && told(text, other);
        let mut batch = Vec::new();
        let mut goes_on = true;
        let mut collect = |mut found: Vec<Near>| {
            let is_beat = found.is_empty();
            batch.append(&mut found);
            if is_beat || batch.len() >= BATCH {
                goes_on = take(std::mem::take(&mut batch));
            }
            goes_on
        };
        let search =
            |own: &[(u32, &[Entry])], index: (&Vectors, &[Segment]), put: &mut dyn FnMut(Vec<Near>) -> bool| {
                let (mut scratch, mut found) = (Scratch::default(), Vec::new());
                for own in own.chunks(TILE) {
                    self.judge_tile(own, index, &mut scratch, &across, &mut |near| {
                        found.push(near);
                        found.len() < BATCH || put(std::mem::take(&mut found))
                    });
                }
                put(found);
                self.postings.fetch_add(scratch.work.postings, Relaxed);
                self.bounded.fetch_add(scratch.work.bounded, Relaxed);
            };
        let mut ended = false;
        self.each_part(|vectors| {
            let text = |place: u32| self.members[vectors.start + place as usize];
            let places: Vec<u32> = (0..vectors.count as u32).filter(|&place| !vectors.of(place).is_empty()).collect();
            let split = places.partition_point(|&place| text(place) < first);
            let (listed, asking) = if first == 0 { (&places[..], &places[..]) } else { places.split_at(split) };
            let segments = self.segments(vectors, listed);
            let tiles: Vec<&[u32]> = asking.chunks(TILE).collect();
            let later: Vec<&[u32]> = self.members[vectors.end()..].chunks(CHUNK).collect();
            in_turn(
                tiles.len() + if segments.is_empty() { 0 } else { later.len() },
                &|job, put| match tiles.get(job) {
                    Some(&places) => {
                        let own: Vec<_> = places.iter().map(|&place| (text(place), vectors.of(place))).collect();
                        let before = segments.partition_point(|segment| segment.places[0] <= places[places.len() - 1]);
                        search(&own, (vectors, &segments[..before]), put);
                    }
                    None => {
                        let texts = later[job - tiles.len()];
                        let chunk = self.vectors(texts);
                        search(&chunk.with(texts), (vectors, &segments), put);
                    }
                },
                &mut |found| {
                    ended = !collect(found);
                    !ended
                },
            );
            !ended
        });
        if !ended {
            collect(Vec::new());
        }
    }

    /// Returns the share of texts that are representatives.
    pub(super) fn representatives(&self) -> f64 {
        1.0 - self.stars(&[]).len() as f64 / self.members.len().max(1) as f64
    }

    /// Returns a link for each text that joins an earlier one: in order, each joins the earliest representative that it
    /// is near to, or becomes one. `near` are more pairs, sorted.
    pub(super) fn stars(&self, near: &[Near]) -> Vec<Near> {
        let mut stars = Stars { near, next: 0, joined: filled(self.join.rows.len(), false), links: Vec::new() };
        // Of each text that is near one of an earlier part or chunk: the earliest representative.
        let mut earliest: HashMap<u32, Near> = HashMap::new();
        self.each_part(|vectors| {
            let text = |place: u32| self.members[vectors.start + place as usize];
            let mut segments: Vec<Segment> = Vec::new();
            let (mut start, mut size) = (0, FIRST_STARS);
            while start < vectors.count && !self.stop.load(Relaxed) {
                let end = vectors.count.min(start + size);
                let places: Vec<u32> = (start as u32..end as u32)
                    .filter(|&place| !earliest.contains_key(&text(place)) && !vectors.of(place).is_empty())
                    .collect();
                let found: Vec<Option<Near>> = places
                    .par_chunks(TILE)
                    .flat_map_iter(|places| {
                        let mut scratch = Scratch::default();
                        let index = (vectors, &segments[..]);
                        let near = move |&place| self.earliest(text(place), vectors.of(place), index, &mut scratch);
                        places.iter().map(near)
                    })
                    .collect();
                let is_open = |(place, near): (&u32, &Option<Near>)| near.is_none().then_some(*place);
                let open: Vec<u32> = places.iter().zip(&found).filter_map(is_open).collect();
                earliest.extend(found.into_iter().flatten().map(|near| (near.later, near)));
                let among = self.among(vectors, &open);
                let mut representatives = Vec::new();
                for (&place, before) in open.iter().zip(&among) {
                    stars.resolve(text(place), &mut earliest);
                    let own = std::cell::OnceCell::new();
                    let joins = stars.put(text(place), None, |text, is_earlier| {
                        before.iter().map(|&place| self.members[vectors.start + place as usize]).find_map(|other| {
                            let own = is_earlier(other).then(|| own.get_or_init(|| self.judged(text)))?;
                            self.near((text, own), (other, &self.judged(other)))
                        })
                    });
                    if !joins {
                        representatives.push(place);
                    }
                }
                stars.resolve(text(end as u32 - 1) + 1, &mut earliest);
                self.asked.fetch_add(end - start, Relaxed);
                if !representatives.is_empty() {
                    segments.push(self.segment(vectors, &representatives));
                }
                // Each segment at least twice as long as the next: few of them, and little indexed again.
                while let [.., left, right] = &segments[..] {
                    let places = [&left.places[..], &right.places[..]].concat();
                    if left.places.len() >= 2 * right.places.len() || places.len() > SEGMENT {
                        break;
                    }
                    let merged = self.segment(vectors, &places);
                    segments.truncate(segments.len() - 2);
                    segments.push(merged);
                }
                (start, size) = (end, (2 * size).min(MOST_STARS));
            }
            let (known, found) = (&earliest, Mutex::new(Vec::new()));
            self.each_chunk(vectors.end()..self.members.len(), |own, scratch| {
                for &(text, entries) in own.iter().filter(|(text, _)| !known.contains_key(text)) {
                    if let Some(near) = self.earliest(text, entries, (vectors, &segments), scratch) {
                        found.lock().unwrap_or_else(|broken| broken.into_inner()).push(near);
                    }
                }
            });
            let found = found.into_inner().unwrap_or_else(|broken| broken.into_inner());
            earliest.extend(found.into_iter().map(|near| (near.later, near)));
            true
        });
        stars.resolve(self.join.rows.len() as u32, &mut earliest);
        stars.links
    }

    /// Returns the near pair with the earliest of the listed texts.
    fn earliest(
        &self,
        text: u32,
        own: &[Entry],
        (vectors, segments): (&Vectors, &[Segment]),
        scratch: &mut Scratch,
    ) -> Option<Near> {
        let judged = std::cell::OnceCell::new();
        let mut places = Vec::new();
        segments.iter().find_map(|segment| {
            places.clear();
            self.ask((vectors, segment), own, scratch, |_| true, |place| places.push(place));
            places.sort_unstable();
            places.iter().map(|&place| self.members[vectors.start + place as usize]).find_map(|other| {
                let judged = self.is_candidate(text, other).then(|| judged.get_or_init(|| self.judged(text)))?;
                self.near((text, judged), (other, &self.judged(other)))
            })
        })
    }

    /// Returns for each of these places the earlier ones that may be near.
    fn among(&self, vectors: &Vectors, places: &[u32]) -> Vec<Vec<u32>> {
        if places.is_empty() {
            return Vec::new();
        }
        let segment = self.segment(vectors, places);
        let text = |place: u32| self.members[vectors.start + place as usize];
        let before = |place: u32, scratch: &mut Scratch| {
            let mut found = Vec::new();
            self.ask((vectors, &segment), vectors.of(place), scratch, |other| other < place, |other| found.push(other));
            found.retain(|&other| self.is_candidate(text(place), text(other)));
            found.sort_unstable();
            found
        };
        let chunks = places.par_chunks(TILE).flat_map_iter(|places| {
            let mut scratch = Scratch::default();
            places.iter().map(move |&place| before(place, &mut scratch))
        });
        chunks.collect()
    }

    /// Links all that near pairs connect. Returns the near pairs that stars are made of.
    ///
    /// Stars come first. Two representatives are never near, so every other pair has a text that is none: these alone
    /// are listed, and of the largest component they need not ask.
    pub(super) fn connect(&self, forest: &Forest) -> Vec<Near> {
        let links = self.stars(&[]);
        let mut joined = filled(self.join.rows.len(), false);
        for link in &links {
            forest.link(link.later, link.earlier);
            joined[link.later as usize] = true;
        }
        let mut sizes: HashMap<u32, u32> = HashMap::new();
        links.iter().for_each(|link| *sizes.entry(forest.root(link.later)).or_default() += 1);
        let largest = sizes.iter().max_by_key(|(root, size)| (**size, **root)).map(|(root, _)| *root);
        let asks: Vec<bool> = collected(
            (0..joined.len())
                .map(|text| !joined[text] || largest.is_some_and(|largest| forest.root(text as u32) != largest)),
        );
        let apart = |text: u32, other: u32| forest.root(text) != forest.root(other);
        self.each_part(|vectors| {
            let text = |place: u32| self.members[vectors.start + place as usize];
            let stands = |&place: &u32| joined[text(place) as usize] && !vectors.of(place).is_empty();
            let places: Vec<u32> = (0..vectors.count as u32).filter(stands).collect();
            if places.is_empty() {
                return true;
            }
            let segments = self.segments(vectors, &places);
            let tile = |own: &[(u32, &[Entry])], scratch: &mut Scratch| {
                self.judge_tile(own, (vectors, &segments), scratch, &apart, &mut |near| {
                    forest.link(near.later, near.earlier);
                    true
                });
            };
            let own: Vec<u32> = (0..vectors.count as u32).filter(|&place| asks[text(place) as usize]).collect();
            own.par_chunks(TILE).for_each_init(Scratch::default, |scratch, places| {
                let own: Vec<_> = places.iter().map(|&place| (text(place), vectors.of(place))).collect();
                tile(&own, scratch);
            });
            for range in [0..vectors.start, vectors.end()..self.members.len()] {
                self.each_chunk(range, |own, scratch| {
                    let own: Vec<_> = own.iter().copied().filter(|(text, _)| asks[*text as usize]).collect();
                    own.chunks(TILE).for_each(|own| tile(own, scratch));
                });
            }
            true
        });
        links
    }
}

/// Stars in the making.
struct Stars<'a> {
    /// Near pairs known before, of texts that are not resolved yet.
    near: &'a [Near],
    /// The first text that is not resolved.
    next: u32,
    /// Whether a text has joined a representative; the others are representatives.
    joined: Vec<bool>,
    links: Vec<Near>,
}

impl Stars<'_> {
    /// Resolves all texts before this one, each near at most to the `earliest` and to those of the pairs known before.
    fn resolve(&mut self, before: u32, earliest: &mut HashMap<u32, Near>) {
        while self.next < before {
            let text = self.next;
            let known = earliest.remove(&text);
            self.put(text, known, |_, _| None);
        }
    }

    /// Links the next text with the earliest representative it is near to; returns whether there is one. `find` looks
    /// for one that is earlier than what is known; it gets the text, and what tells whether another is such a one.
    fn put(
        &mut self,
        text: u32,
        known: Option<Near>,
        find: impl FnOnce(u32, &dyn Fn(u32) -> bool) -> Option<Near>,
    ) -> bool {
        let (pairs, near) = self.near.split_at(self.near.partition_point(|pair| pair.later <= text));
        let paired = pairs.iter().find(|pair| pair.later == text && !self.joined[pair.earlier as usize]).copied();
        let best = paired.into_iter().chain(known).min_by_key(|pair| pair.earlier);
        let is_earlier = |other: u32| !self.joined[other as usize] && best.is_none_or(|best| other < best.earlier);
        let best = find(text, &is_earlier).or(best);
        (self.near, self.next) = (near, text + 1);
        self.joined[text as usize] = best.is_some();
        self.links.extend(best);
        best.is_some()
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

/// Returns the most that entries can add to the product of two vectors, besides those that both have looked up or
/// listed.
fn rest((left, left_done): (&[Entry], usize), (right, right_done): (&[Entry], usize)) -> u32 {
    let reach_from = |entries: &[Entry], term: u32| {
        let at = entries.partition_point(|entry| entry.term < term);
        entries.get(at).map_or(0, |entry| u32::from(entry.reach))
    };
    // Both have looked up, or listed, all entries before this one.
    let next = [left.get(left_done), right.get(right_done)].into_iter().flatten().map(|entry| entry.term).min();
    next.map_or(0, |term| reach_from(left, term) * reach_from(right, term))
}

/// Returns the product of two vectors.
fn dot(left: &[Entry], right: &[Entry]) -> u64 {
    let (mut dot, mut a, mut b) = (0, 0, 0);
    while a < left.len() && b < right.len() {
        let (one, two) = (left[a], right[b]);
        // Which term comes first cannot be predicted, so there is no branch on it.
        dot += if one.term == two.term { u64::from(one.weight) * u64::from(two.weight) } else { 0 };
        a += usize::from(one.term <= two.term);
        b += usize::from(two.term <= one.term);
    }
    dot
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Linkage;
    use crate::near::{Links, Plan, SKETCH_BYTES, Sketch, twins};
    use crate::{Normalize, Settings, Tie, TokenHash, Tokenizer, Votes, Weights};
    use proptest::prelude::*;

    fn pipeline(weights: Weights) -> Pipeline {
        Pipeline::new(Settings {
            normalize: Normalize::NfkcCasefold,
            tokenizer: Tokenizer::new("words", 1, None, None, Default::default()).unwrap(),
            weights,
            top: None,
            scale: None,
            hash: TokenHash::Xxh3,
            bits: 128,
            tie: Tie::Mask,
            votes: Votes::Exact,
            min_features: 1,
        })
        .unwrap()
    }

    /// Words of which some are much more frequent, some repeated, and equal weights: many cosines are simple fractions,
    /// just at a similarity.
    fn texts(number: std::ops::Range<usize>) -> impl Strategy<Value = Vec<String>> {
        let word = prop_oneof![0u32..3, 0u32..10, 0u32..300];
        let text = prop::collection::vec(word, 0..12)
            .prop_map(|words| words.iter().map(|word| format!("w{word:03}")).collect::<Vec<_>>().join(" "));
        prop::collection::vec(text, number)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        #[test]
        fn pairs_and_clusters_are_those_of_all_pairs(
            texts in prop_oneof![4 => texts(0..80), 1 => texts(500..700)],
            similarity in prop_oneof![Just(0.25), Just(0.5), Just(0.75), Just(1.0), 0.1f64..0.95],
            recall in prop_oneof![Just(0.9), Just(1.0)],
            part_bytes in prop_oneof![Just(1usize), Just(PART_BYTES)],
            counted in any::<bool>(),
            first in prop_oneof![Just(0usize), 0usize..60],
            reversed in any::<bool>(),
        ) {
            let pipeline = pipeline(if counted { Weights::Tf } else { Weights::Binary });
            let mut sketches: Vec<Sketch> = vec![[0; SKETCH_BYTES]; texts.len()];
            let mut signal = vec![false; texts.len()];
            for (at, text) in texts.iter().enumerate() {
                signal[at] = pipeline.make_one(text, &mut [], Some(&mut sketches[at]));
            }
            let first = first.min(texts.len());
            let order: Vec<u32> = (0..texts.len() as u32).rev().collect();
            let order = (reversed && first == 0).then_some(&order[..]);
            let plan = Plan::new(similarity, recall).unwrap();
            let twins = twins(&sketches, order);
            let join = NearJoin::new(&sketches, &plan, &signal, &twins, order, first);
            let judged: Vec<Judged> = join.rows.iter().map(|&row| pipeline.judged_one(&texts[row as usize])).collect();
            let is_near = |later: u32, earlier: u32| {
                (join.first == 0 || earlier < join.first && later >= join.first)
                    && plan.is_candidate(join.sketch(later), join.sketch(earlier))
                    && judged[later as usize].similarity(&judged[earlier as usize]) >= similarity
            };
            let count = join.rows.len() as u32;
            let text = |row: usize| Cow::Borrowed(texts[row].as_str());
            let (stop, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
            let links = Links { join: &join, dense: &[], whole: true, part_bytes, pipeline: &pipeline, text: &text };

            let mut found = Vec::new();
            links.each_pair(&stop, &asked, &mut |batch| {
                found.extend(batch);
                true
            });
            found.sort_unstable_by_key(|pair| (pair.later, pair.earlier));
            let mut expected = Vec::new();
            let forest = Forest::new(count);
            for later in 0..count {
                for earlier in (0..later).filter(|&earlier| is_near(later, earlier)) {
                    let (left, right) = (&judged[later as usize], &judged[earlier as usize]);
                    let (similarity, distance) = (left.similarity(right), left.distance(right));
                    expected.push(Near { later, earlier, similarity, distance });
                    forest.link(later, earlier);
                }
            }
            prop_assert_eq!(&found, &expected);
            if first > 0 {
                return Ok(());
            }
            let connected: Vec<(u32, u32)> =
                (0..count).map(|text| (text, forest.root(text))).filter(|(text, root)| text != root).collect();
            let pairs = |links: &[Near]| links.iter().map(|link| (link.later, link.earlier)).collect::<Vec<_>>();
            let found = links.clusters(Linkage::Connected, Vec::new(), &stop, &asked);
            prop_assert_eq!(pairs(&found), connected);
            let mut stars: Vec<(u32, u32)> = Vec::new();
            let mut joined = vec![false; count as usize];
            for pair in &expected {
                if !joined[pair.later as usize] && !joined[pair.earlier as usize] {
                    joined[pair.later as usize] = true;
                    stars.push((pair.later, pair.earlier));
                }
            }
            let found = links.clusters(Linkage::Star, Vec::new(), &stop, &asked);
            prop_assert_eq!(pairs(&found), stars);
            prop_assert!(found.iter().all(|link| expected.contains(link)));
        }
    }

    /// Texts of more words than there are slots at least, so that most share one with another word.
    #[test]
    fn words_that_share_a_number_hide_no_pair() {
        let words = |from: usize| (from..from + 20_000).map(|at| format!("word{at}")).collect::<Vec<_>>().join(" ");
        let texts = [words(0), words(10_000), words(20_000)];
        let pipeline = pipeline(Weights::Binary);
        let mut sketches: Vec<Sketch> = vec![[0; SKETCH_BYTES]; texts.len()];
        for (text, sketch) in texts.iter().zip(&mut sketches) {
            pipeline.make_one(text, &mut [], Some(sketch));
        }
        let plan = Plan::new(0.5, 1.0).unwrap();
        let join = NearJoin::new(&sketches, &plan, &[true; 3], &[0, 1, 2], None, 0);
        let text = |row: usize| Cow::Borrowed(texts[row].as_str());
        let (stop, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
        let mut inverted = Inverted::new(&join, vec![0, 1, 2], &pipeline, &text, PART_BYTES, &stop, &asked);
        inverted.number_in(1 << SLOT_BITS.0, 2);
        let found = Mutex::new(Vec::new());
        inverted.each_pair(&|_, _| true, &mut |batch| {
            found.lock().unwrap().extend(batch.iter().map(|pair| (pair.later, pair.earlier)));
            true
        });
        let mut found = found.into_inner().unwrap();
        found.sort_unstable();
        assert_eq!(found, [(1, 0), (2, 1)]);
    }
}
