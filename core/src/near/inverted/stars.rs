//! Stars: in order, each text joins the earliest representative that it is near to, or becomes one.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use super::segment::{SEGMENT, Scratch, Segment};
use super::vectors::{Entry, Vectors};
use super::{Inverted, TILE};
use crate::memory::filled;
use crate::near::links::Near;

/// Texts whose stars are found together, at first and later.
const FIRST_STARS: usize = 1 << 8;
pub(super) const MOST_STARS: usize = 1 << 12;

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

impl Inverted<'_, '_> {
    /// Returns the share of texts that are representatives.
    pub(in crate::near) fn representatives(&self) -> f64 {
        1.0 - self.stars(&[]).len() as f64 / self.members.len().max(1) as f64
    }

    /// Returns a link for each text that joins an earlier one: in order, each joins the earliest representative that it
    /// is near to, or becomes one. `near` are more pairs, sorted.
    pub(in crate::near) fn stars(&self, near: &[Near]) -> Vec<Near> {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_representative_is_joined_however_it_was_found() {
        let near = |later, earlier| Near { later, earlier, similarity: 1.0, distance: 0 };
        for (paired, found) in [(1, 2), (2, 1)] {
            let pairs = [near(3, paired)];
            let mut stars = Stars { near: &pairs, next: 0, joined: filled(4, false), links: Vec::new() };
            stars.resolve(4, &mut HashMap::from([(3, near(3, found))]));
            assert_eq!(stars.links, [near(3, 1)]);
        }
    }
}
