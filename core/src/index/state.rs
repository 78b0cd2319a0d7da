//! A snapshot of an index: segments, the ids removed from them, and the tail.

use std::sync::Arc;

use super::Matches;
use super::ids::{Id, Ids, Kind};
use super::probe::CodeHit;
use super::segment::{Reach, Segment};
use crate::saved::Corrupt;

/// A code near a query, anywhere in the index.
#[derive(Clone, Copy, Default)]
pub(super) struct Found {
    pub(super) query: u32,
    distance: u32,
    part: u32,
    /// A number in its segment, or a place in the tail.
    place: u32,
}

#[derive(Clone)]
pub(super) struct Slot {
    pub(super) segment: Arc<Segment>,
    /// Removed ids, one bit each by place; empty until the first removal.
    pub(super) dead: Arc<Vec<u64>>,
    pub(super) dead_count: usize,
}

impl Slot {
    pub(super) fn new(segment: Segment) -> Slot {
        Slot { segment: Arc::new(segment), dead: Arc::default(), dead_count: 0 }
    }

    pub(super) fn is_dead(&self, entry: usize) -> bool {
        self.dead.get(entry / 64).is_some_and(|word| word >> (entry % 64) & 1 == 1)
    }

    pub(super) fn live(&self) -> usize {
        self.segment.entries() - self.dead_count
    }

    /// Returns whether so many ids were removed that the segment should be rewritten.
    pub(super) fn is_mostly_dead(&self) -> bool {
        self.dead_count > self.live()
    }

    /// Returns the place of an id that has not been removed.
    pub(super) fn find(&self, id: Id<'_>) -> Result<Option<usize>, Corrupt> {
        Ok(self.segment.entry_of(id)?.filter(|&entry| !self.is_dead(entry)))
    }

    pub(super) fn live_entries(&self, unique: u32) -> Result<impl Iterator<Item = usize>, Corrupt> {
        Ok(self.segment.entries_of(unique as usize)?.filter(|&entry| !self.is_dead(entry)))
    }
}

#[derive(Clone)]
pub(super) struct State {
    pub(super) recipe: Option<String>,
    pub(super) kind: Option<Kind>,
    pub(super) slots: Vec<Slot>,
    pub(super) tail: Rows,
    /// The id a row without one gets next.
    pub(super) next_id: i64,
}

/// Rows that are not sealed yet.
#[derive(Clone)]
pub(super) struct Rows {
    pub(super) codes: Vec<u64>,
    pub(super) ids: Ids,
}

impl Rows {
    pub(super) fn new(kind: Kind) -> Rows {
        Rows { codes: Vec::new(), ids: Ids::of_kind(kind) }
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }
}

impl State {
    /// Returns the part that holds an id, and its place there.
    pub(super) fn find(&self, id: Id<'_>) -> Result<Option<(usize, usize)>, Corrupt> {
        for (part, slot) in self.slots.iter().enumerate() {
            if let Some(entry) = slot.find(id)? {
                return Ok(Some((part, entry)));
            }
        }
        Ok(self.tail.ids.position(id).map(|place| (self.slots.len(), place)))
    }

    pub(super) fn get(&self, id: Id<'_>, words: usize) -> Result<Option<Vec<u64>>, Corrupt> {
        let Some((part, place)) = self.find(id)? else { return Ok(None) };
        Ok(Some(match self.slots.get(part) {
            Some(slot) => slot.segment.code_of_entry(place)?[..words].to_vec(),
            None => self.tail.codes[place * words..(place + 1) * words].to_vec(),
        }))
    }

    pub(super) fn remove(&mut self, id: Id<'_>, words: usize) -> Result<bool, Corrupt> {
        let Some((part, place)) = self.find(id)? else { return Ok(false) };
        match self.slots.get_mut(part) {
            Some(slot) => {
                let dead = Arc::make_mut(&mut slot.dead);
                dead.resize(slot.segment.entries().div_ceil(64), 0);
                dead[place / 64] |= 1 << (place % 64);
                slot.dead_count += 1;
            }
            None => {
                let last = self.tail.codes.len() - words;
                self.tail.codes.copy_within(last.., place * words);
                self.tail.codes.truncate(last);
                self.tail.ids.swap_remove(place);
            }
        }
        Ok(true)
    }

    /// Returns the codes near each query, in all parts, query by query.
    pub(super) fn near(&self, queries: &[&[u64]], reach: Reach) -> Result<Vec<Found>, Corrupt> {
        let radius = reach.radius;
        let mut found = Vec::new();
        let mut hits: Vec<CodeHit> = Vec::new();
        for (part, slot) in self.slots.iter().enumerate() {
            hits.clear();
            slot.segment.search(&slot.segment.method(reach), queries, radius, &mut hits)?;
            let of_part = |hit: &CodeHit| {
                slot.segment.fetch_id(hit.unique as usize);
                Found { query: hit.query, distance: hit.distance, part: part as u32, place: hit.unique }
            };
            found.extend(hits.iter().map(of_part));
        }
        let part = self.slots.len() as u32;
        for (query, code) in (0..).zip(queries) {
            self.scan_tail(code, |place, distance| {
                if distance <= radius {
                    found.push(Found { query, distance, part, place });
                }
            });
        }
        Ok(by_query(found, queries.len()))
    }

    pub(super) fn scan_tail(&self, query: &[u64], mut visit: impl FnMut(u32, u32)) {
        for (place, code) in self.tail.codes.chunks_exact(query.len()).enumerate() {
            visit(place as u32, code.iter().zip(query).map(|(a, b)| (a ^ b).count_ones()).sum());
        }
    }

    /// Returns how many ids the codes found have, counted no further than `enough`.
    pub(super) fn count_live(&self, found: &[Found], enough: usize) -> Result<usize, Corrupt> {
        let mut count = 0;
        for found in found {
            count += match self.slots.get(found.part as usize) {
                Some(slot) => slot.live_entries(found.place)?.take(enough).count(),
                None => 1,
            };
            if count >= enough {
                break;
            }
        }
        Ok(count)
    }

    /// Returns the codes of the `count` ids nearest to each query, and all codes at the distance of the last of those.
    pub(super) fn nearest(&self, queries: &[&[u64]], count: usize, radius: u32) -> Result<Vec<Found>, Corrupt> {
        let mut nearest = Vec::new();
        let mut open: Vec<u32> = (0..queries.len() as u32).collect();
        // Widens the radius through the tables, as long as that is cheaper than one scan.
        let mut reach = 3;
        let by_tables = |reach: u32| {
            !self.slots.is_empty()
                && self.slots.iter().all(|slot| slot.segment.method(Reach::all(reach)).looks.is_some())
        };
        while !open.is_empty() && by_tables(reach.min(radius)) {
            let reached = reach.min(radius);
            let asked: Vec<&[u64]> = open.iter().map(|&query| queries[query as usize]).collect();
            let mut found = self.near(&asked, Reach::all(reached))?;
            let mut done = vec![reached == radius; open.len()];
            for found in found.chunk_by_mut(|a, b| a.query == b.query) {
                let at = found[0].query as usize;
                done[at] = done[at] || self.count_live(found, count)? >= count;
                if done[at] {
                    found.iter_mut().for_each(|found| found.query = open[at]);
                    nearest.extend_from_slice(found);
                }
            }
            let mut done = done.into_iter();
            open.retain(|_| !done.next().unwrap_or(true));
            reach += 4;
        }
        for query in open {
            let found = self.nearest_by_scan(queries[query as usize], count, radius)?;
            nearest.extend(found.into_iter().map(|found| Found { query, ..found }));
        }
        Ok(by_query(nearest, queries.len()))
    }

    pub(super) fn nearest_by_scan(&self, query: &[u64], count: usize, radius: u32) -> Result<Vec<Found>, Corrupt> {
        let mut best =
            Best { found: Vec::new(), at: vec![0; radius as usize + 1], count, limit: radius, trim_at: 4096 };
        self.scan_tail(query, |place, distance| {
            best.offer(Found { query: 0, distance, part: self.slots.len() as u32, place }, 1)
        });
        for (part, slot) in self.slots.iter().enumerate() {
            slot.segment.scan(&[query], &mut [best.limit], |_, place, distance, _| {
                let live = slot.live_entries(place)?.take(count).count();
                best.offer(Found { query: 0, distance, part: part as u32, place }, live);
                Ok(best.limit)
            })?;
        }
        let limit = best.limit;
        best.found.retain(|found| found.distance <= limit);
        Ok(best.found)
    }

    /// Returns the ids of the codes found, the nearest `count` for each query.
    pub(super) fn collect(&self, found: &[Found], count: usize) -> Result<Matches, Corrupt> {
        let mut matches = Matches { queries: Vec::new(), ids: self.tail.ids.none(), distances: Vec::new() };
        let mut row: Vec<(u32, Id<'_>)> = Vec::new();
        for found in found.chunk_by(|a, b| a.query == b.query) {
            row.clear();
            for found in found {
                match self.slots.get(found.part as usize) {
                    Some(slot) => {
                        // The ids of a code are in order: of many, the first ones are enough.
                        for entry in slot.live_entries(found.place)?.take(count) {
                            row.push((found.distance, slot.segment.ids().get(entry)?));
                        }
                    }
                    None => row.push((found.distance, self.tail.ids.get(found.place as usize))),
                }
            }
            row.sort_unstable();
            for &(distance, id) in row.iter().take(count) {
                matches.queries.push(found[0].query);
                matches.ids.push(id);
                matches.distances.push(distance as u16);
            }
        }
        Ok(matches)
    }
}

/// Returns the matches in order of the queries.
fn by_query(found: Vec<Found>, queries: usize) -> Vec<Found> {
    let mut next = vec![0u32; queries + 1];
    for found in &found {
        next[found.query as usize + 1] += 1;
    }
    for at in 1..next.len() {
        next[at] += next[at - 1];
    }
    let mut sorted = vec![Found::default(); found.len()];
    for found in found {
        let place = &mut next[found.query as usize];
        sorted[*place as usize] = found;
        *place += 1;
    }
    sorted
}

/// The nearest codes so far, and the distance from which a code is too far.
pub(super) struct Best {
    found: Vec<Found>,
    /// How many ids there are at each distance.
    at: Vec<usize>,
    count: usize,
    limit: u32,
    /// The size at which codes that are too far are dropped.
    trim_at: usize,
}

impl Best {
    pub(super) fn offer(&mut self, found: Found, live: usize) {
        if found.distance > self.limit || live == 0 {
            return;
        }
        self.at[found.distance as usize] += live;
        self.found.push(found);
        let mut sum = 0;
        for distance in 0..=self.limit {
            sum += self.at[distance as usize];
            if sum >= self.count {
                self.limit = distance;
                break;
            }
        }
        if self.found.len() >= self.trim_at {
            let limit = self.limit;
            self.found.retain(|found| found.distance <= limit);
            self.trim_at = 2 * self.found.len() + 4096;
        }
    }
}
