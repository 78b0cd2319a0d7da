//! Near pairs → clusters: stars, or connected components.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::dense::{Bucket, Members};
use super::join::{Dense, NearJoin};
use super::judge::TextOf;
use crate::Linkage;
use crate::join::Forest;
use crate::pipeline::Pipeline;

/// A near pair, by the numbers of its texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// The later one.
    pub later: u32,
    /// The earlier one.
    pub earlier: u32,
    /// Their exact cosine.
    pub similarity: f64,
    /// Bits in which their fingerprints differ.
    pub distance: u16,
}

/// The input of clustering besides near pairs: the texts, and the dense buckets whose pairs are not listed.
pub struct Links<'a, 't> {
    /// The texts.
    pub join: &'a NearJoin<'a>,
    /// Dense buckets.
    pub dense: &'a [Dense],
    /// Compares texts.
    pub pipeline: &'a Pipeline,
    /// The texts themselves, by row.
    pub text: TextOf<'a, 't>,
}

impl Links<'_, '_> {
    /// Returns a link for each text that is not the first of its cluster: to that first text, with their similarity
    /// where it is known.
    ///
    /// Connected: all texts reachable over pairs. Star: in order, each text joins the earliest representative that it
    /// is near to, or becomes one (the lexicographically first independent set); O(texts + pairs), and a dense bucket
    /// costs each of its texts a search among the representatives in it.
    pub fn clusters(&self, linkage: Linkage, near: Vec<Near>, stop: &AtomicBool) -> Vec<Near> {
        let members = Members::new(self.join, self.dense, self.pipeline, self.text, stop);
        match linkage {
            Linkage::Connected => self.connected(near, &members, stop),
            Linkage::Star => self.star(near, &members, stop),
        }
    }

    fn star(&self, mut near: Vec<Near>, members: &Members, stop: &AtomicBool) -> Vec<Near> {
        near.sort_unstable_by_key(|pair| (pair.later, pair.earlier));
        let mut buckets: Vec<Bucket<'_>> =
            self.dense.iter().map(|dense| Bucket::new(self.join, members, dense, dense.table)).collect();
        // (text, bucket) in order.
        let mut inside: Vec<(u32, u32)> = (0u32..)
            .zip(self.dense)
            .flat_map(|(number, dense)| dense.members.iter().map(move |&text| (text, number)))
            .collect();
        inside.sort_unstable();
        // Whether a text has joined a representative; the others are representatives.
        let mut joined: Vec<bool> = vec![false; self.join.rows.len()];
        let mut links = Vec::new();
        let (mut pairs, mut inside) = (&near[..], &inside[..]);
        loop {
            let next = [pairs.first().map(|pair| pair.later), inside.first().map(|(text, _)| *text)];
            let Some(text) = next.into_iter().flatten().min() else { return links };
            if stop.load(Relaxed) {
                return links;
            }
            let (of_text, mine);
            (of_text, pairs) = pairs.split_at(pairs.partition_point(|pair| pair.later <= text));
            (mine, inside) = inside.split_at(inside.partition_point(|(other, _)| *other <= text));
            let mut best = of_text.iter().find(|pair| !joined[pair.earlier as usize]).copied();
            let place = if mine.is_empty() { 0 } else { members.place(text) };
            for &(_, number) in mine {
                buckets[number as usize].near(place, |other, similarity| {
                    let earlier = members.text(other);
                    if best.is_none_or(|best| earlier < best.earlier) {
                        let distance = members.judged(place).distance(members.judged(other));
                        best = Some(Near { later: text, earlier, similarity, distance });
                    }
                    false
                });
            }
            match best {
                Some(link) => {
                    joined[text as usize] = true;
                    links.push(link);
                }
                None => mine.iter().for_each(|&(_, number)| buckets[number as usize].put(place)),
            }
        }
    }

    fn connected(&self, near: Vec<Near>, members: &Members, stop: &AtomicBool) -> Vec<Near> {
        let forest = Forest::new(self.join.rows.len() as u32);
        let mut known: HashMap<(u32, u32), (f64, u16)> = HashMap::new();
        for pair in near {
            forest.link(pair.later, pair.earlier);
            known.insert((pair.later, pair.earlier), (pair.similarity, pair.distance));
        }
        for dense in self.dense {
            // Members near a leader must follow it here, even if another table reported the pair.
            self.connect(Bucket::new(self.join, members, dense, 0), members, &forest, stop);
        }
        let texts = 0..self.join.rows.len() as u32;
        let roots = texts.map(|text| (text, forest.root(text))).filter(|(text, root)| text != root);
        let link = |(later, earlier)| {
            let (similarity, distance) = known.get(&(later, earlier)).copied().unwrap_or((f64::NAN, 0));
            Near { later, earlier, similarity, distance }
        };
        roots.map(link).collect()
    }

    /// Links the near pairs of one bucket. Members near a leader follow it and are connected with it, so a member is
    /// compared only with followers of leaders that it is not connected with.
    fn connect(&self, mut leaders: Bucket<'_>, members: &Members, forest: &Forest, stop: &AtomicBool) {
        let mut followers: Vec<(u32, Vec<u32>)> = Vec::new();
        let mut group_of: HashMap<u32, usize> = HashMap::new();
        for at in 0..leaders.places.len() {
            if stop.load(Relaxed) {
                return;
            }
            let place = leaders.places[at];
            let text = members.text(place);
            let mut first = None;
            leaders.near(place, |leader, _| {
                forest.link(text, members.text(leader));
                first.get_or_insert(leader);
                true
            });
            for (leader, group) in &followers {
                if forest.root(members.text(*leader)) == forest.root(text) {
                    continue;
                }
                let near = group.iter().find(|&&other| leaders.cosine(place, other).is_some());
                if let Some(&other) = near {
                    forest.link(text, members.text(other));
                }
            }
            match first {
                None => leaders.put(place),
                Some(leader) => {
                    let group = *group_of.entry(leader).or_insert_with(|| {
                        followers.push((leader, Vec::new()));
                        followers.len() - 1
                    });
                    followers[group].1.push(place);
                }
            }
        }
    }

    /// Calls `take` with the near pairs of the dense buckets, each once, in batches, until it returns false. It is also
    /// called from time to time with an empty batch.
    pub fn each_pair(&self, stop: &AtomicBool, take: &mut dyn FnMut(Vec<Near>) -> bool) {
        let (join, members) = (self.join, Members::new(self.join, self.dense, self.pipeline, self.text, stop));
        for dense in self.dense {
            let mut bucket = Bucket::new(join, &members, dense, dense.table);
            let mut found = Vec::new();
            for at in 0..bucket.places.len() {
                let place = bucket.places[at];
                let text = members.text(place);
                if join.first == 0 || text >= join.first {
                    bucket.near(place, |other, similarity| {
                        let distance = members.judged(place).distance(members.judged(other));
                        found.push(Near { later: text, earlier: members.text(other), similarity, distance });
                        true
                    });
                }
                if join.first == 0 || text < join.first {
                    bucket.put(place);
                }
                let due = found.len() >= BATCH || at % BEAT == BEAT - 1;
                if stop.load(Relaxed) || due && !take(std::mem::take(&mut found)) {
                    return;
                }
            }
            if !found.is_empty() && !take(found) {
                return;
            }
        }
    }
}

/// Pairs of a batch, about.
const BATCH: usize = 1 << 16;
/// Members after which a batch is passed on in any case.
const BEAT: usize = 1 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::{Plan, Progress, SKETCH_BYTES, Sketch, twins};
    use crate::{Normalize, Settings, Tie, TokenHash, Tokenizer, Votes, Weights};
    use proptest::prelude::*;
    use std::borrow::Cow;

    fn pipeline() -> Pipeline {
        Pipeline::new(Settings {
            normalize: Normalize::NfkcCasefold,
            tokenizer: Tokenizer::new("words", 1, None, None, Default::default()).unwrap(),
            weights: Weights::LogLength,
            top: None,
            scale: None,
            hash: TokenHash::Xxh3,
            bits: 128,
            tie: Tie::Mask,
            votes: Votes::Exact,
            min_features: 2,
        })
        .unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        /// One template and a few words that differ, so that buckets are dense; everything dense at recall 1.
        #[test]
        fn links_are_those_of_all_pairs(
            words in prop::collection::vec(prop::collection::vec(0u8..12, 0..6), 2..160),
            common in 2usize..12,
            similarity in prop_oneof![Just(0.7), Just(0.85), Just(0.95)],
            recall in prop_oneof![Just(0.99), Just(1.0)],
        ) {
            let template: Vec<String> = (0..common).map(|at| format!("template{at}")).collect();
            let texts: Vec<String> = words
                .iter()
                .map(|words| template.iter().cloned().chain(words.iter().map(|at| format!("words{at}"))).collect::<Vec<_>>().join(" "))
                .collect();
            let pipeline = pipeline();
            let mut sketches: Vec<Sketch> = vec![[0; SKETCH_BYTES]; texts.len()];
            for (text, sketch) in texts.iter().zip(&mut sketches) {
                pipeline.make_one(text, &mut [], Some(sketch));
            }
            let plan = Plan::new(similarity, recall).unwrap();
            let twins = twins(&sketches, None);
            let join = NearJoin::new(&sketches, &plan, &vec![true; texts.len()], &twins, None, 0);
            let stop = AtomicBool::new(false);
            let found = join.candidates(&stop, &Progress::default());
            let text = |row: usize| Cow::Borrowed(texts[row].as_str());
            let row = |text: u32| join.rows[text as usize];
            let rows: Vec<(u32, u32)> = found.pairs.iter().map(|pair| (row(pair.later), row(pair.earlier))).collect();
            let verdicts = pipeline.judge(&rows, &text, &stop);
            let near: Vec<Near> = found
                .pairs
                .iter()
                .zip(verdicts)
                .filter(|(_, verdict)| verdict.similarity >= similarity)
                .map(|(pair, verdict)| Near { later: pair.later, earlier: pair.earlier, similarity: verdict.similarity, distance: verdict.distance })
                .collect();
            let is_near = |later: u32, earlier: u32| {
                plan.is_candidate(join.sketch(later), join.sketch(earlier))
                    && pipeline.similarity(&texts[row(later) as usize], &texts[row(earlier) as usize]) >= similarity
            };
            let count = join.rows.len() as u32;
            let links = Links { join: &join, dense: &found.dense, pipeline: &pipeline, text: &text };
            let label = |links: &[Near]| {
                let mut labels: Vec<u32> = (0..count).collect();
                links.iter().for_each(|link| labels[link.later as usize] = link.earlier);
                labels
            };

            let mut stars: Vec<u32> = Vec::new();
            for later in 0..count {
                stars.push((0..later).find(|&to| stars[to as usize] == to && is_near(later, to)).unwrap_or(later));
            }
            let star = links.clusters(Linkage::Star, near.clone(), &stop);
            prop_assert_eq!(label(&star), stars);
            for link in &star {
                let verdict = pipeline.judge(&[(row(link.later), row(link.earlier))], &text, &stop)[0];
                prop_assert_eq!((link.similarity, link.distance), (verdict.similarity, verdict.distance));
            }

            let forest = Forest::new(count);
            let mut pairs = Vec::new();
            for later in 0..count {
                for earlier in (0..later).filter(|&earlier| is_near(later, earlier)) {
                    forest.link(later, earlier);
                    pairs.push((later, earlier));
                }
            }
            let connected: Vec<u32> = (0..count).map(|text| forest.root(text)).collect();
            prop_assert_eq!(label(&links.clusters(Linkage::Connected, near.clone(), &stop)), connected);

            let mut told: Vec<(u32, u32)> = near.iter().map(|pair| (pair.later, pair.earlier)).collect();
            links.each_pair(&stop, &mut |batch| {
                told.extend(batch.iter().map(|pair| (pair.later, pair.earlier)));
                true
            });
            told.sort_unstable();
            prop_assert_eq!(told, pairs);
        }
    }
}
