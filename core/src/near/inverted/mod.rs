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

mod segment;
mod stars;
mod vectors;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;

use super::join::NearJoin;
use super::judge::TextOf;
use super::links::{Near, Take};
use crate::join::Forest;
use crate::memory::{collected, filled, push};
use crate::pipeline::{Judged, Pipeline};
use crate::turns::in_turn;
use segment::{Scratch, Segment};
use vectors::{CHUNK, Entry, ONE, Vectors};

pub(super) use segment::Work;
pub use vectors::PART_BYTES;

/// A product of two may miss the similarity by this much: cosines are sums of floats.
const SLACK: f64 = 1e-9;
/// Texts that are judged together: each text near one of them is read once.
const TILE: usize = 1 << 5;
/// Pairs of a batch, about.
const BATCH: usize = 1 << 16;

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

#[cfg(test)]
mod tests {
    use super::vectors::SLOT_BITS;
    use super::*;
    use crate::Linkage;
    use crate::Version;
    use crate::near::{Links, Plan, SKETCH_BYTES, Sketch, twins};
    use crate::{Normalize, Settings, Tie, TokenHash, Tokenizer, Votes, Weights};
    use proptest::prelude::*;
    use std::borrow::Cow;
    use std::sync::Mutex;

    fn pipeline(weights: Weights) -> Pipeline {
        Pipeline::new(Settings {
            normalize: Normalize::NfkcCasefold,
            tokenizer: Tokenizer::new("words", 1, None, None, Default::default(), Version::Three).unwrap(),
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
