//! Near pairs → clusters: stars, or connected components.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use super::inverted::Inverted;
use super::join::{Dense, NearJoin};
use super::judge::TextOf;
use crate::Linkage;
use crate::join::Forest;
use crate::memory::{append, collected, probe, with_room};
use crate::pipeline::Pipeline;

/// Takes a batch of pairs; false ends the search.
pub type Take<'a> = crate::turns::Take<'a, Near>;

/// A near pair, by the numbers of its texts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    /// Whether no pair is listed: all texts are looked up in an inverted index.
    pub whole: bool,
    /// Bytes of features in memory at a time.
    pub part_bytes: usize,
    /// Compares texts.
    pub pipeline: &'a Pipeline,
    /// The texts themselves, by row.
    pub text: TextOf<'a, 't>,
}

impl<'t> Links<'_, 't> {
    /// Returns a link for each text that is not the first of its cluster: to that first text, with their similarity
    /// where it is known. The result is useless once `stop` is set; `asked` counts the texts that were looked up.
    ///
    /// Connected: all texts reachable over pairs. Star: in order, each text joins the earliest representative that it
    /// is near to, or becomes one (the lexicographically first independent set).
    pub fn clusters(&self, linkage: Linkage, mut near: Vec<Near>, stop: &AtomicBool, asked: &AtomicUsize) -> Vec<Near> {
        let inverted = self.inverted(stop, asked);
        match linkage {
            Linkage::Connected => self.connected(near, &inverted),
            Linkage::Star => {
                near.sort_unstable_by_key(|pair| (pair.later, pair.earlier));
                inverted.stars(&near)
            }
        }
    }

    fn connected(&self, near: Vec<Near>, inverted: &Inverted<'_, '_>) -> Vec<Near> {
        // The forest, and what is known of pairs.
        probe(self.join.rows.len() * 4 + near.len() * 48);
        let forest = Forest::new(self.join.rows.len() as u32);
        near.iter().for_each(|pair| forest.link(pair.later, pair.earlier));
        let stars = inverted.connect(&forest);
        let known: HashMap<(u32, u32), (f64, u16)> = near
            .iter()
            .chain(&stars)
            .map(|pair| ((pair.later, pair.earlier), (pair.similarity, pair.distance)))
            .collect();
        let texts = 0..self.join.rows.len() as u32;
        let roots = texts.map(|text| (text, forest.root(text))).filter(|(text, root)| text != root);
        let link = |(later, earlier)| {
            let (similarity, distance) = known.get(&(later, earlier)).copied().unwrap_or((f64::NAN, 0));
            Near { later, earlier, similarity, distance }
        };
        roots.map(link).collect()
    }

    /// Calls `take` with the near pairs that are not listed, each once, in batches, until it returns false. It is also
    /// called from time to time with an empty batch.
    pub fn each_pair(&self, stop: &AtomicBool, asked: &AtomicUsize, take: &mut Take<'_>) {
        let (join, plan) = (self.join, self.join.plan);
        let key = |text: u32, table: usize| plan.keys(&join.registers(text)).nth(table);
        let dense: HashSet<u64> =
            self.dense.iter().filter_map(|dense| key(*dense.members.first()?, dense.table)).collect();
        // Other buckets have listed their pairs.
        let told = |text: u32, other: u32| {
            let first = || plan.first_table(&join.registers(text), &join.registers(other));
            self.whole || first().and_then(|table| key(text, table)).is_some_and(|key| dense.contains(&key))
        };
        self.inverted(stop, asked).each_pair(&told, take);
    }

    /// Returns the near pairs that are not listed; None if there are more than `most`.
    pub fn at_most(&self, most: usize, stop: &AtomicBool, asked: &AtomicUsize) -> Option<Vec<Near>> {
        let mut all = Vec::new();
        self.each_pair(stop, asked, &mut |batch| {
            append(&mut all, batch);
            all.len() <= most
        });
        (all.len() <= most).then_some(all)
    }

    /// Returns the texts whose pairs are not all listed.
    fn inverted<'b>(&'b self, stop: &'b AtomicBool, asked: &'b AtomicUsize) -> Inverted<'b, 't> {
        let members = if self.whole {
            collected(0..self.join.rows.len() as u32)
        } else {
            let mut members = with_room(self.dense.iter().map(|dense| dense.members.len()).sum());
            self.dense.iter().for_each(|dense| members.extend_from_slice(&dense.members));
            members.sort_unstable();
            members.dedup();
            members
        };
        Inverted::new(self.join, members, self.pipeline, self.text, self.part_bytes, stop, asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Version;
    use crate::near::{Candidates, Plan, Progress, SKETCH_BYTES, Sketch, twins};
    use crate::{Normalize, Settings, Tie, TokenHash, Tokenizer, Votes, Weights};
    use proptest::prelude::*;
    use std::borrow::Cow;

    fn pipeline() -> Pipeline {
        Pipeline::new(Settings {
            normalize: Normalize::NfkcCasefold,
            tokenizer: Tokenizer::new("words", 1, None, None, Default::default(), Version::Three).unwrap(),
            weights: Weights::LogLength(Version::Three),
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
            whole in any::<bool>(),
            part_bytes in prop_oneof![Just(1usize), Just(1 << 20)],
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
            let found = if whole { Candidates { whole, ..Default::default() } } else { join.candidates(&stop, &Progress::default()) };
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
            let asked = AtomicUsize::new(0);
            let links = Links { join: &join, dense: &found.dense, whole: whole || found.whole, part_bytes, pipeline: &pipeline, text: &text };
            let label = |links: &[Near]| {
                let mut labels: Vec<u32> = (0..count).collect();
                links.iter().for_each(|link| labels[link.later as usize] = link.earlier);
                labels
            };

            let mut stars: Vec<u32> = Vec::new();
            for later in 0..count {
                stars.push((0..later).find(|&to| stars[to as usize] == to && is_near(later, to)).unwrap_or(later));
            }
            let star = links.clusters(Linkage::Star, near.clone(), &stop, &asked);
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
            prop_assert_eq!(label(&links.clusters(Linkage::Connected, near.clone(), &stop, &asked)), connected);

            let mut told: Vec<(u32, u32)> = near.iter().map(|pair| (pair.later, pair.earlier)).collect();
            links.each_pair(&stop, &asked, &mut |batch| {
                told.extend(batch.iter().map(|pair| (pair.later, pair.earlier)));
                true
            });
            told.sort_unstable();
            prop_assert_eq!(told, pairs);
        }
    }
}
