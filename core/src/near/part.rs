//! An immutable part of an index of sketches, in memory or mapped from a file.
//!
//! Equal sketches are stored once, in order of their digests, so that equal features are found without a table; a
//! million equal texts are one sketch with a million keys. Every table is a directory of buckets and the numbers of
//! sketches.

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::agree::{Registers, registers, same_count, same_mask};
use super::plan::Plan;
use super::sketch::{REGISTERS, Sketch, digest};
use super::table::{Address, SketchTable, buckets};
use crate::memory::prefetch;
use crate::saved::{Corrupt, Mapped, Repeats, Store, partition_point};

/// Sketches of one prefix of the digest, about.
const PREFIX: usize = 16;
/// Sketches that a scan compares with all queries before it goes on.
const STRETCH: usize = 1 << 10;
/// Reported as the number of equal registers if the digests are equal: the same features.
pub const TWIN: u8 = REGISTERS as u8 + 1;

/// A sketch near a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SketchHit {
    pub(super) query: u32,
    pub(super) number: u32,
    pub(super) same: u8,
}

/// Keys of documents: offsets from the first, of 32 bits where that is enough.
pub(super) enum Keys {
    Narrow(i64, Store<u32>),
    Wide(Store<i64>),
}

impl Keys {
    fn new(keys: &[i64], first: i64, last: i64) -> Keys {
        if keys.is_empty() || last.checked_sub(first).is_some_and(|span| span <= i64::from(u32::MAX)) {
            return Keys::Narrow(first, Store::Owned(keys.iter().map(|key| (key - first) as u32).collect()));
        }
        Keys::Wide(Store::Owned(keys.to_vec()))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Keys::Narrow(_, offsets) => offsets.len(),
            Keys::Wide(keys) => keys.len(),
        }
    }

    fn at(&self, place: usize) -> Result<i64, Corrupt> {
        match self {
            Keys::Narrow(first, offsets) => {
                let key = first.checked_add(i64::from(offsets.at(place)?));
                key.ok_or_else(|| offsets.corrupt("a key is too large"))
            }
            Keys::Wide(keys) => keys.at(place),
        }
    }
}

/// Sketches with their keys.
pub(super) struct SketchPart {
    /// The digests of the sketches, sorted; no two sketches are equal.
    pub(super) digests: Store<[u8; 16]>,
    pub(super) registers: Store<Registers>,
    /// Where the digests of each prefix start, and where the last ones end.
    pub(super) starts: Store<u32>,
    pub(super) repeats: Repeats,
    /// The keys of each sketch, sorted.
    pub(super) keys: Keys,
    /// The least and the greatest key.
    pub(super) span: (i64, i64),
    pub(super) tables: Vec<SketchTable>,
    /// The registers of tables that the index has and a file written for another plan has not.
    pub(super) lacking: Vec<Vec<u8>>,
    /// The tables for these, built by the first search that needs them.
    pub(super) built: OnceLock<Vec<SketchTable>>,
    pub(super) file: Option<Arc<Mapped>>,
}

/// Returns the number of bits of a digest's prefix.
pub(super) fn prefix_bits(count: usize) -> u32 {
    (count / PREFIX).max(1).ilog2()
}

impl SketchPart {
    /// Builds a part of sketches and their keys.
    pub(super) fn build(sketches: &[Sketch], keys: &[i64], tables: &[Vec<u8>]) -> SketchPart {
        let whole = |row: u32| &sketches[row as usize];
        let mut rows: Vec<(u64, u32)> =
            (0..sketches.len() as u32).map(|row| ((digest(whole(row)) >> 64) as u64, row)).collect();
        rows.par_sort_unstable_by(|left, right| {
            let rest = |row: u32| (digest(whole(row)), &whole(row)[..REGISTERS], keys[row as usize]);
            left.0.cmp(&right.0).then_with(|| rest(left.1).cmp(&rest(right.1)))
        });
        let groups: Vec<&[(u64, u32)]> =
            rows.chunk_by(|left, right| left.0 == right.0 && whole(left.1) == whole(right.1)).collect();
        let digests: Vec<[u8; 16]> = groups.iter().map(|group| digest(whole(group[0].1)).to_le_bytes()).collect();
        let registers: Vec<Registers> = groups
            .iter()
            .map(|group| {
                let mut registers = [0; REGISTERS];
                registers.copy_from_slice(&whole(group[0].1)[..REGISTERS]);
                registers
            })
            .collect();
        let bits = prefix_bits(groups.len());
        let mut starts = vec![0u32; (1 << bits) + 1];
        for group in &groups {
            starts[prefix(group[0].0, bits) + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let repeats = Repeats::counted(groups.iter().map(|group| group.len()));
        let ordered: Vec<i64> = rows.iter().map(|&(_, row)| keys[row as usize]).collect();
        let (first, last) = keys.iter().fold((i64::MAX, i64::MIN), |(low, high), &key| (low.min(key), high.max(key)));
        let tables = tables.par_iter().map(|table| SketchTable::build(table, &registers)).collect();
        SketchPart {
            repeats: Repeats::new(Store::Owned(repeats), groups.len(), rows.len()),
            digests: Store::Owned(digests),
            registers: Store::Owned(registers),
            starts: Store::Owned(starts),
            keys: Keys::new(&ordered, first, last),
            span: (first, last),
            tables,
            lacking: Vec::new(),
            built: OnceLock::new(),
            file: None,
        }
    }

    /// Returns the number of distinct sketches.
    pub(super) fn len(&self) -> usize {
        self.digests.len()
    }

    /// Returns the number of keys.
    pub(super) fn entries(&self) -> usize {
        self.repeats.entries()
    }

    pub(super) fn bytes(&self) -> usize {
        let keys = match &self.keys {
            Keys::Narrow(_, offsets) => 4 * offsets.len(),
            Keys::Wide(keys) => 8 * keys.len(),
        };
        let built = self.built.get().map_or(&[][..], Vec::as_slice);
        let tables: usize = self.tables.iter().chain(built).map(SketchTable::bytes).sum();
        (16 + REGISTERS) * self.len() + 4 * self.starts.len() + 8 * self.repeats.counts().len() + keys + tables
    }

    /// Refuses a mapped file that was truncated since it was opened.
    pub(super) fn check_length(&self) -> Result<(), Corrupt> {
        self.file.as_ref().map_or(Ok(()), |file| file.check_length())
    }

    /// Returns the keys of a sketch, in order.
    pub(super) fn keys_of(&self, number: u32) -> Result<impl Iterator<Item = Result<i64, Corrupt>>, Corrupt> {
        Ok(self.repeats.entries_of(number as usize)?.map(|place| self.keys.at(place)))
    }

    pub(super) fn sketch(&self, number: u32) -> Result<Sketch, Corrupt> {
        let mut sketch = [0; _];
        sketch[..REGISTERS].copy_from_slice(&self.registers.at(number as usize)?);
        sketch[REGISTERS..].copy_from_slice(&self.digests.at(number as usize)?);
        Ok(sketch)
    }

    /// Names the tables of an index that this part, read from a file, lacks: searches build them. None if the file's
    /// tables are not the first of them.
    pub(super) fn expect(&mut self, tables: &[Vec<u8>]) {
        let filed = self.tables.len();
        if tables.len() > filed && tables.iter().zip(&self.tables).all(|(wanted, table)| *wanted == table.registers) {
            self.lacking = tables[filed..].to_vec();
        }
    }

    /// Returns whether the part has all the tables of its index.
    pub(super) fn is_complete(&self) -> bool {
        self.lacking.is_empty()
    }

    fn built(&self) -> Result<&[SketchTable], Corrupt> {
        if self.built.get().is_none() {
            let registers = self.registers.all()?;
            let build = |table: &Vec<u8>| SketchTable::build(table, registers);
            // Another thread may have been faster: the tables are the same.
            let _ = self.built.set(self.lacking.iter().map(build).collect());
        }
        Ok(self.built.get().map_or(&[], Vec::as_slice))
    }

    /// Returns tables such that every candidate of a plan shares a key with the query in one of them: those of the
    /// plan, if the part has or expects them; or, of tables without a common register, one more than the registers that
    /// may differ (pigeonhole).
    fn tables_for(&self, plan: &Plan) -> Result<Option<Vec<&SketchTable>>, Corrupt> {
        let wanted = &plan.tables;
        if wanted.is_empty() {
            return Ok(None);
        }
        let known = self.tables.iter().map(|table| &table.registers).chain(&self.lacking);
        if wanted.len() <= self.tables.len() + self.lacking.len() && wanted.iter().zip(known).all(|(a, b)| a == b) {
            let built = if wanted.len() > self.tables.len() { self.built()? } else { &[] };
            return Ok(Some(self.tables.iter().chain(built).take(wanted.len()).collect()));
        }
        let needed = REGISTERS - plan.least as usize + 1;
        let mut used = 0;
        let disjoint = self.tables.iter().take_while(|table| {
            let free = used & table.mask == 0;
            used |= table.mask;
            free
        });
        let tables: Vec<&SketchTable> = disjoint.take(needed).collect();
        Ok((tables.len() == needed).then_some(tables))
    }

    /// Adds the candidates of each query: the sketches with its digest, and those the plan finds.
    pub(super) fn search(&self, plan: &Plan, queries: &[Sketch], hits: &mut Vec<SketchHit>) -> Result<(), Corrupt> {
        let scan = Scan::new(plan);
        let Some(tables) = self.tables_for(plan)? else { return self.scan(&scan, queries, hits) };
        let mut filed = Vec::with_capacity(tables.len());
        let mut places = Vec::with_capacity(tables.len());
        let mut numbers: Vec<(u32, u8)> = Vec::new();
        for (query, sketch) in queries.iter().enumerate() {
            let own = registers(sketch);
            // Prefetches step by step for all tables, so that the memory latencies overlap.
            filed.clear();
            filed.extend(tables.iter().map(|table| table.place_of(own)));
            for (table, place) in tables.iter().zip(&filed) {
                table.fetch_directory(place.bucket);
            }
            self.twins(query as u32, sketch, hits)?;
            places.clear();
            for (table, place) in tables.iter().zip(&filed) {
                let bucket = table.places(place.bucket)?;
                table.fetch_numbers(&bucket);
                places.push(bucket);
            }
            numbers.clear();
            let all = self.registers.unchecked();
            for (at, (table, bucket)) in tables.iter().zip(&places).enumerate() {
                for (number, tag) in table.numbers(bucket.clone())? {
                    if tag != filed[at].tag {
                        continue;
                    }
                    let Some(place) = all.get(number as usize) else {
                        return Err(table.numbers.corrupt("a number is of no sketch"));
                    };
                    prefetch(place);
                    numbers.push((number, at as u8));
                }
            }
            for &(number, at) in &numbers {
                let mask = same_mask(own, &self.registers.range(number as usize..number as usize + 1)?[0]);
                let agrees = |table: &&SketchTable| mask & table.mask == table.mask;
                let at = usize::from(at);
                // Reported by the first table that holds it.
                if agrees(&tables[at]) && !tables[..at].iter().any(agrees) && scan.is_candidate(mask) {
                    self.hit(query as u32, sketch, number, mask.count_ones(), hits)?;
                }
            }
        }
        Ok(())
    }

    /// Adds a candidate by registers, unless its digest is the query's: then it was added already.
    fn hit(
        &self,
        query: u32,
        sketch: &Sketch,
        number: u32,
        same: u32,
        hits: &mut Vec<SketchHit>,
    ) -> Result<(), Corrupt> {
        if self.digests.at(number as usize)? != sketch[REGISTERS..] {
            hits.push(SketchHit { query, number, same: same as u8 });
        }
        Ok(())
    }

    /// Adds the sketches with the digest of a query.
    fn twins(&self, query: u32, sketch: &Sketch, hits: &mut Vec<SketchHit>) -> Result<(), Corrupt> {
        let own = digest(sketch);
        let at = prefix((own >> 64) as u64, prefix_bits(self.len()));
        let ends = self.starts.range(at..at + 2)?;
        let (start, end) = (ends[0] as usize, ends[1] as usize);
        if start > end || end > self.len() {
            return Err(self.starts.corrupt("a directory of digests is out of order"));
        }
        let value = |number: usize| self.digests.at(number).map(u128::from_le_bytes);
        let first = start + partition_point(end - start, |at| Ok(value(start + at)? < own))?;
        for number in first..end {
            if value(number)? != own {
                break;
            }
            hits.push(SketchHit { query, number: number as u32, same: TWIN });
        }
        Ok(())
    }

    /// Adds the candidates of each query without tables.
    fn scan(&self, scan: &Scan, queries: &[Sketch], hits: &mut Vec<SketchHit>) -> Result<(), Corrupt> {
        for (query, sketch) in queries.iter().enumerate() {
            self.twins(query as u32, sketch, hits)?;
        }
        for first in (0..self.len()).step_by(STRETCH) {
            let stretch = self.registers.range(first..(first + STRETCH).min(self.len()))?;
            for (query, sketch) in queries.iter().enumerate() {
                for (at, other) in stretch.iter().enumerate() {
                    if let Some(same) = scan.same(registers(sketch), other) {
                        self.hit(query as u32, sketch, (first + at) as u32, same, hits)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks every byte against its checksum, and the order of everything.
    pub(super) fn verify(&self) -> Result<(), Corrupt> {
        let (digests, registers) = (self.digests.all()?, self.registers.all()?);
        let starts = self.starts.all()?;
        let bits = prefix_bits(self.len());
        let mut last = None;
        let mut places = 0;
        for (number, (digest, registers)) in digests.iter().zip(registers).enumerate() {
            let own = (u128::from_le_bytes(*digest), registers);
            if last.is_some_and(|last| last >= own) {
                return Err(self.digests.corrupt("its sketches are out of order"));
            }
            last = Some(own);
            let at = prefix((own.0 >> 64) as u64, bits);
            if !(starts[at] as usize..starts[at + 1] as usize).contains(&number) {
                return Err(self.starts.corrupt("a sketch is not where its digest says"));
            }
            let entries = self.repeats.entries_of(number)?;
            if entries.start != places {
                return Err(self.repeats.counts().corrupt("the counts of repeated sketches do not add up"));
            }
            places = entries.end;
        }
        if places != self.entries() || self.keys.len() != self.entries() {
            return Err(self.repeats.counts().corrupt("the counts of repeated sketches do not add up"));
        }
        for table in &self.tables {
            let mut seen = vec![false; self.len()];
            for bucket in 0..buckets(self.len()) as u32 {
                for (number, tag) in table.numbers(table.places(bucket)?)? {
                    let twice = seen.get_mut(number as usize).map(|seen| std::mem::replace(seen, true));
                    let place = Address { bucket, tag };
                    if twice != Some(false) || table.place_of(&registers[number as usize]) != place {
                        return Err(table.numbers.corrupt("a table does not hold each sketch once, in its bucket"));
                    }
                }
            }
            if seen.iter().any(|seen| !seen) {
                return Err(table.numbers.corrupt("a table does not hold each sketch once, in its bucket"));
            }
        }
        for number in 0..self.len() as u32 {
            let keys = self.keys_of(number)?.collect::<Result<Vec<_>, _>>()?;
            let within = keys.iter().all(|key| (self.span.0..=self.span.1).contains(key));
            if !within || !keys.is_sorted_by(|left, right| left < right) {
                return Err(self.digests.corrupt("the keys of a sketch are out of order or range"));
            }
        }
        Ok(())
    }
}

/// A plan for scanning all sketches.
pub(super) struct Scan {
    least: u32,
    masks: Vec<u64>,
}

impl Scan {
    pub(super) fn new(plan: &Plan) -> Scan {
        Scan { least: plan.least, masks: plan.tables.iter().map(|table| super::table::mask(table)).collect() }
    }

    /// Returns how many registers agree, if the two are candidates.
    #[inline(always)]
    pub(super) fn same(&self, left: &Registers, right: &Registers) -> Option<u32> {
        let same = same_count(left, right);
        (same >= self.least && self.is_candidate(same_mask(left, right))).then_some(same)
    }

    /// Returns whether two sketches with these equal registers are candidates.
    fn is_candidate(&self, mask: u64) -> bool {
        mask.count_ones() >= self.least
            && (self.masks.is_empty() || self.masks.iter().any(|table| mask & table == *table))
    }
}

fn prefix(top: u64, bits: u32) -> usize {
    top.checked_shr(64 - bits).unwrap_or(0) as usize
}
