//! The self-join by sketches: every pair that agrees in a table and in enough registers, each once.
//!
//! A table sorts all texts by the registers of its key and compares the texts of each bucket. Sorting costs O(tables ·
//! texts); a bucket of c texts costs c² / 2 comparisons unless it is dense, so the worst case is O(texts²), for many
//! texts that share a key and agree in few other registers. A pair is reported in the first table that holds it, so no
//! set of pairs is kept. A dense bucket, in which nearly all texts agree (copies of a template), is reported as a
//! whole: see `inverted`.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;

use super::agree::{Registers, each_alike};
use super::plan::Plan;
use super::sketch::{REGISTERS, Sketch, digest};
use crate::join::{Forest, Groups, Work, group_work};
use crate::memory::{append, collected, filled, prefetch, probe, push, with_room};

/// Tables whose keys are computed in one pass over the sketches.
const AT_ONCE: usize = 4;
/// Texts sorted at a time, so that they stay in the cache of one core.
const CHUNK: usize = 1 << 14;
/// Texts of one part of a table, about.
const PART: usize = 1 << 12;
/// A bucket of more than `MANY` texts is dense if it holds more than `DENSE` candidates a text.
const MANY: usize = 64;
const DENSE: usize = 16;
/// Sketches prefetched ahead.
const AHEAD: usize = 8;

/// Two texts that may be near, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// The later one.
    pub later: u32,
    /// The earlier one.
    pub earlier: u32,
}

/// A bucket in which nearly all pairs are candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dense {
    /// The table of the bucket; an earlier table may have reported some of its pairs.
    pub table: usize,
    /// The texts in it, in order.
    pub members: Vec<u32>,
}

/// The result of a join.
#[derive(Debug, Default)]
pub struct Candidates {
    /// Pairs, connected ones side by side.
    pub pairs: Vec<Candidate>,
    /// Dense buckets, whose pairs are not listed.
    pub dense: Vec<Dense>,
    /// Whether no pair is listed, because the plan has no tables.
    pub whole: bool,
}

/// The texts of a join: those with a signal, one of each set of equal ones, in order.
pub struct NearJoin<'a> {
    pub(super) sketches: &'a [Sketch],
    /// The row of each text.
    pub rows: Cow<'a, [u32]>,
    /// Texts before this number are compared only with texts from it on; 0 compares all.
    pub first: u32,
    /// The plan.
    pub plan: &'a Plan,
}

/// Returns for each row its representative: the first row with the same features, by `rank` or by number.
pub fn twins(sketches: &[Sketch], rank: Option<&[u32]>) -> Vec<u32> {
    let mut twins: Vec<u32> = collected(0..sketches.len() as u32);
    // Codes and their numbers, before and after they are sorted.
    probe(sketches.len() * 48);
    let coded = |row: &u32| digest(&sketches[*row as usize]) != 0;
    let items: Vec<u32> = twins.par_iter().copied().filter(coded).collect();
    let code = |&row: &u32| {
        let sum = digest(&sketches[row as usize]);
        [sum as u64, (sum >> 64) as u64]
    };
    let codes = items.par_iter().map(code).collect();
    let (groups, work): (Groups, Work<2>) = group_work(Work { codes, items }, sketches.len());
    drop(work);
    for group in groups.repeated() {
        let rows = groups.of(group);
        let best = match rank {
            None => rows[0],
            Some(rank) => rows.iter().copied().min_by_key(|&row| rank[row as usize]).unwrap_or(rows[0]),
        };
        rows.iter().for_each(|&row| twins[row as usize] = best);
    }
    twins
}

/// The progress of a join, to be read while it runs.
#[derive(Debug, Default)]
pub struct Progress {
    /// Tables that are done.
    pub tables: AtomicUsize,
    /// Candidates found in them.
    pub candidates: AtomicUsize,
}

#[derive(Default)]
struct Scratch {
    part: Vec<u64>,
    sorted: Vec<u64>,
    rows: Vec<Registers>,
}

impl<'a> NearJoin<'a> {
    /// Makes a join of the rows that are their own representative in `twins` and have a signal, in the given order.
    pub fn new(
        sketches: &'a [Sketch],
        plan: &'a Plan,
        signal: &[bool],
        twins: &[u32],
        order: Option<&[u32]>,
        first_row: usize,
    ) -> NearJoin<'a> {
        let stands = |&row: &u32| twins[row as usize] == row && signal[row as usize];
        let mut rows: Vec<u32> = with_room(sketches.len());
        match order {
            None => rows.extend((0..sketches.len() as u32).filter(stands)),
            Some(order) => rows.extend(order.iter().copied().filter(stands)),
        }
        let first = rows.iter().take_while(|&&row| (row as usize) < first_row).count() as u32;
        if first_row > 0 && first == 0 {
            // Nothing to compare the others with; they must not be compared with each other instead.
            rows.clear();
        }
        NearJoin { sketches, rows: Cow::Owned(rows), first, plan }
    }

    /// Makes a join of texts chosen before.
    pub fn of(sketches: &'a [Sketch], rows: &'a [u32], first: u32, plan: &'a Plan) -> NearJoin<'a> {
        NearJoin { sketches, rows: Cow::Borrowed(rows), first, plan }
    }

    #[inline(always)]
    pub(super) fn sketch(&self, text: u32) -> &Sketch {
        &self.sketches[self.rows[text as usize] as usize]
    }

    #[inline(always)]
    pub(super) fn registers(&self, text: u32) -> Registers {
        let mut row = [0; REGISTERS];
        row.copy_from_slice(&self.sketch(text)[..REGISTERS]);
        row
    }

    /// Returns whether two texts agree in one of the tables before this one.
    pub(super) fn agree_before(&self, left: &Registers, right: &Registers, before: usize) -> bool {
        self.plan.tables[..before].iter().any(|table| agree(table, left, right))
    }

    /// Returns all candidates, on the threads of the current rayon pool. The result is useless once `stop` is set.
    /// Updates `seen` while it runs.
    pub fn candidates(&self, stop: &AtomicBool, seen: &Progress) -> Candidates {
        let texts = self.rows.len();
        let mut found = Candidates::default();
        if texts < 2 || self.first as usize == texts {
            return found;
        }
        if self.plan.tables.is_empty() {
            found.whole = true;
            return found;
        }
        let mut keys: Vec<[u32; AT_ONCE]> = filled(texts, [0; AT_ONCE]);
        let mut records: Vec<u64> = filled(texts, 0);
        for (number, tables) in self.plan.tables.chunks(AT_ONCE).enumerate() {
            keys.par_iter_mut().zip(&self.rows[..]).for_each(|(keys, &row)| {
                let sketch = &self.sketches[row as usize];
                for (key, table) in keys.iter_mut().zip(tables) {
                    let bytes = table.iter().fold(0u32, |bytes, &at| bytes << 8 | u32::from(sketch[usize::from(at)]));
                    // Odd, so that different keys stay different; the high bits then depend on all of them.
                    *key = bytes.wrapping_mul(0x9e37_79b1);
                }
            });
            for at in 0..tables.len() {
                if stop.load(Relaxed) {
                    return found;
                }
                records.par_iter_mut().zip(&keys).enumerate().for_each(|(text, (record, keys))| {
                    *record = u64::from(keys[at]) << 32 | text as u64;
                });
                self.table(number * AT_ONCE + at, &mut records, &mut found, stop);
                seen.tables.fetch_add(1, Relaxed);
                seen.candidates.store(found.pairs.len(), Relaxed);
            }
        }
        drop((keys, records));
        self.arrange(&mut found.pairs);
        found
    }

    /// Returns candidates found elsewhere, arranged as `candidates` does.
    pub fn gathered(&self, mut pairs: Vec<Candidate>, dense: Vec<Dense>) -> Candidates {
        self.arrange(&mut pairs);
        Candidates { pairs, dense, whole: false }
    }

    /// Sorts records by the keys in their high halves and compares the texts of each bucket.
    fn table(&self, table: usize, records: &mut [u64], found: &mut Candidates, stop: &AtomicBool) {
        let bits = (records.len() / PART).max(1).ilog2().min(12);
        let parts = 1usize << bits;
        let part_of = |record: u64| (record >> 32 >> (32 - bits)) as usize & (parts - 1);
        let offsets: Vec<Vec<u32>> = records
            .par_chunks_mut(CHUNK)
            .map_init(Vec::new, |copy: &mut Vec<u64>, chunk| {
                copy.clear();
                copy.extend_from_slice(chunk);
                let mut starts = vec![0u32; parts + 1];
                copy.iter().for_each(|&record| starts[part_of(record) + 1] += 1);
                (1..=parts).for_each(|part| starts[part] += starts[part - 1]);
                let mut next = starts.clone();
                for &record in copy.iter() {
                    let place = &mut next[part_of(record)];
                    chunk[*place as usize] = record;
                    *place += 1;
                }
                starts
            })
            .collect();
        let records = &*records;
        let all: Vec<Candidates> = (0..parts)
            .into_par_iter()
            .map_init(Scratch::default, |scratch, part| {
                let mut found = Candidates::default();
                if stop.load(Relaxed) {
                    return found;
                }
                let Scratch { part: local, sorted, rows } = scratch;
                local.clear();
                for (chunk, starts) in records.chunks(CHUNK).zip(&offsets) {
                    local.extend_from_slice(&chunk[starts[part] as usize..starts[part + 1] as usize]);
                }
                let low = sort(local, sorted, 32 - bits);
                let mut start = 0;
                while start + 1 < local.len() {
                    let key = local[start] >> low;
                    let same = local[start + 1..].iter().take_while(|&&record| record >> low == key).count();
                    if same > 0 {
                        self.bucket(table, &local[start..=start + same], rows, &mut found, stop);
                    }
                    start += same + 1;
                }
                found
            })
            .collect();
        for part in all {
            append(&mut found.pairs, part.pairs);
            append(&mut found.dense, part.dense);
        }
    }

    /// Adds the candidates of one bucket, whose texts are in order.
    fn bucket(
        &self,
        table: usize,
        records: &[u64],
        rows: &mut Vec<Registers>,
        found: &mut Candidates,
        stop: &AtomicBool,
    ) {
        let text = |at: usize| records[at] as u32;
        let split = (self.first > 0).then(|| records.partition_point(|&record| (record as u32) < self.first));
        if split.is_some_and(|split| split == 0 || split == records.len()) {
            return;
        }
        rows.clear();
        for at in 0..records.len() {
            if at + AHEAD < records.len() {
                prefetch(self.sketch(text(at + AHEAD)));
            }
            rows.push(self.registers(text(at)));
        }
        let key = &self.plan.tables[table];
        let is_first =
            |left: &Registers, right: &Registers| agree(key, left, right) && !self.agree_before(left, right, table);
        let pair = |one, two| Candidate { later: text(two), earlier: text(one) };
        let dense = bucket_candidates(rows, split, self.plan.least, stop, is_first, pair, &mut found.pairs);
        if dense {
            // Different keys may share the bits sorted by.
            let own =
                |at: usize| key.iter().fold(0u32, |own, &at_key| own << 8 | u32::from(rows[at][usize::from(at_key)]));
            let mut members: Vec<(u32, u32)> = collected((0..records.len()).map(|at| (own(at), text(at))));
            members.sort_unstable();
            for same in members.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
                let members = collected(same.iter().map(|(_, text)| *text));
                push(&mut found.dense, Dense { table, members });
            }
        }
    }

    /// Puts connected pairs side by side, so that few texts are needed at a time to compare them.
    fn arrange(&self, pairs: &mut [Candidate]) {
        probe(self.rows.len() * 4);
        let forest = Forest::new(self.rows.len() as u32);
        pairs.par_iter().for_each(|pair| forest.link(pair.later, pair.earlier));
        pairs.par_sort_unstable_by_key(|pair| (forest.root(pair.earlier), pair.later, pair.earlier));
    }
}

/// Appends the candidates of one bucket to `pairs`: two rows that agree in `least` registers and that `is_first` says
/// are to be reported here. Appends nothing and returns true if the bucket is dense.
///
/// Compares all rows with each other: O(rows²), until the bucket turns out to be dense.
pub(super) fn bucket_candidates<T>(
    rows: &[Registers],
    split: Option<usize>,
    least: u32,
    stop: &AtomicBool,
    is_first: impl Fn(&Registers, &Registers) -> bool,
    pair: impl Fn(usize, usize) -> T,
    pairs: &mut Vec<T>,
) -> bool {
    let before = pairs.len();
    let most = if rows.len() > MANY { rows.len() * DENSE } else { usize::MAX };
    let mut seen = 0;
    each_alike(rows, split, least, &mut |one, two| {
        seen += 1;
        if is_first(&rows[one], &rows[two]) {
            push(pairs, pair(one, two));
        }
        seen <= most && !stop.load(Relaxed)
    });
    let dense = seen > most;
    if dense {
        pairs.truncate(before);
    }
    dense
}

/// Returns whether two texts agree in all registers of a table.
#[inline(always)]
pub(super) fn agree(table: &[u8], left: &Registers, right: &Registers) -> bool {
    table.iter().all(|&at| left[usize::from(at)] == right[usize::from(at)])
}

/// Sorts records by up to 16 bits of their key below the high ones, keeping their order otherwise; returns the lowest
/// bit that was looked at.
fn sort(records: &mut Vec<u64>, other: &mut Vec<u64>, bits: u32) -> u32 {
    let low = 32 + bits.saturating_sub(16);
    other.clear();
    other.resize(records.len(), 0);
    for shift in [low, low + 8] {
        let digit = |record: u64| (record >> shift) as u8 as usize;
        let mut next = [0u32; 256];
        records.iter().for_each(|&record| next[digit(record)] += 1);
        let mut total = 0;
        for place in &mut next {
            total += std::mem::replace(place, total);
        }
        for &record in records.iter() {
            let place = &mut next[digit(record)];
            other[*place as usize] = record;
            *place += 1;
        }
        std::mem::swap(records, other);
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::SKETCH_BYTES;
    use proptest::prelude::*;

    fn sketches() -> impl Strategy<Value = Vec<Sketch>> {
        // Few values, so that registers agree; a few digests, so that there are twins.
        let one = (prop::array::uniform(0u8..4), 0u8..60);
        prop::collection::vec(one, 0..150).prop_map(|rows| {
            let made = |(registers, digest): ([u8; REGISTERS], u8)| {
                let mut sketch = [0; SKETCH_BYTES];
                sketch[..REGISTERS].copy_from_slice(&registers);
                sketch[REGISTERS] = digest;
                sketch
            };
            rows.into_iter().map(made).collect()
        })
    }

    proptest! {
        #[test]
        fn candidates_are_those_of_the_definition(
            sketches in sketches(),
            similarity in prop_oneof![Just(0.6), Just(0.85), Just(0.95)],
            recall in prop_oneof![Just(0.9), Just(0.99), Just(1.0)],
            first in 0usize..50,
            reversed in any::<bool>(),
            silent in prop_oneof![Just(0), 0u32..50],
        ) {
            let plan = Plan::new(similarity, recall).unwrap();
            let count = sketches.len() as u32;
            let reversed = reversed && first == 0;
            let order: Vec<u32> = (0..count).rev().collect();
            let order = reversed.then_some(&order[..]);
            let signal: Vec<bool> = (0..count).map(|row| row % 7 != 3 && row >= silent).collect();
            let twins = twins(&sketches, order);
            for row in 0..count as usize {
                let same = |other: &usize| digest(&sketches[*other]) == digest(&sketches[row]) && digest(&sketches[row]) != 0;
                let mut equal = (0..count as usize).filter(same);
                let best = if reversed { equal.next_back() } else { equal.next() };
                prop_assert_eq!(twins[row] as usize, best.unwrap_or(row));
            }
            let join = NearJoin::new(&sketches, &plan, &signal, &twins, order, first);
            let stands = |row: &u32| twins[*row as usize] == *row && signal[*row as usize];
            let rows: Vec<u32> = match order {
                None => (0..count).filter(stands).collect(),
                Some(order) => order.iter().copied().filter(stands).collect(),
            };
            let across = |later: u32, earlier: u32| {
                first == 0 || (rows[earlier as usize] as usize) < first && rows[later as usize] as usize >= first
            };
            let seen = Progress::default();
            let found = join.candidates(&AtomicBool::new(false), &seen);
            if !plan.tables.is_empty() && join.rows.len() > 1 && (join.first as usize) < join.rows.len() {
                prop_assert_eq!(seen.tables.into_inner(), plan.tables.len());
                prop_assert_eq!(seen.candidates.into_inner(), found.pairs.len());
            }
            let mut pairs: Vec<(u32, u32)> = found.pairs.iter().map(|pair| (pair.later, pair.earlier)).collect();
            prop_assert!(pairs.iter().all(|pair| pair.0 > pair.1));
            let all = Dense { table: 0, members: (0..rows.len() as u32).collect() };
            for dense in found.dense.iter().chain(found.whole.then_some(&all)) {
                for (at, &later) in dense.members.iter().enumerate() {
                    for &earlier in &dense.members[..at] {
                        let (left, right) = (join.registers(later), join.registers(earlier));
                        let across = across(later, earlier);
                        let enough = crate::near::agree::same_count(&left, &right) >= plan.least;
                        if across && enough && !join.agree_before(&left, &right, dense.table) {
                            pairs.push((later, earlier));
                        }
                    }
                }
            }
            pairs.sort_unstable();
            let mut expected = Vec::new();
            for later in 0..rows.len() as u32 {
                for earlier in 0..later {
                    let sketch = |text: u32| &sketches[rows[text as usize] as usize];
                    if across(later, earlier) && plan.is_candidate(sketch(later), sketch(earlier)) {
                        expected.push((later, earlier));
                    }
                }
            }
            prop_assert_eq!(pairs, expected);
        }
    }
}
