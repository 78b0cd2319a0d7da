//! A segment: sealed codes with their ids, filed in tables, in memory or mapped from a file.
//!
//! Two codes at most `k` bits apart cannot differ in more than `r` bits in every block if the `r + 1` of all blocks
//! add up to more than `k` (pigeonhole). So a search reads, in each table, the buckets whose key is at most `r` bits
//! from the query's, and reports a code from the first table that finds it.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use rayon::prelude::*;

use super::PlannedPart;
use super::ids::{Id, IdColumn, Ids};
use super::probe::{CodeHit, probe};
use super::records::{Near, Shape, WORDS, scan, with_words};
use super::table::{CodeTable, ball, masks};
use crate::saved::{Corrupt, Mapped, Repeats, Store, partition_point};

/// Keys are probed at most this many bits away; beyond it a scan of all codes is cheaper.
const MAX_FLIPS: usize = 4;
/// From this radius on the tables never pay: four tables, each probed to `MAX_FLIPS`, are exact below it.
const MAX_PLANNED: usize = 4 * (MAX_FLIPS + 1);
/// Size of the cache of methods that find only a share.
const KEPT_METHODS: usize = 8;
/// A bucket of this size is sorted by all threads.
const HEAVY_BUCKET: usize = 1 << 15;

// Nanoseconds of the steps of a search, measured on one core; only their ratios matter.
const PROBE_COST: f64 = 12.0;
const COMPARE_COST: f64 = 0.8;
const SCAN_COST: f64 = 0.7;

/// How one segment is searched at one radius.
#[derive(Clone, Debug)]
pub(crate) struct Method {
    /// For each table how far its keys are probed; None if it is not used. No tables: a scan.
    pub(crate) flips: Option<Vec<Option<u32>>>,
    pub(crate) probes: usize,
    pub(crate) candidates: f64,
    /// Expected nanoseconds.
    pub(crate) cost: f64,
    masks: Vec<Vec<u32>>,
}

/// The radius of a search, the share of matches it has to find, and the probability that a bit of a match differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reach {
    pub(crate) radius: u32,
    pub(crate) recall: f64,
    pub(crate) flip: f64,
}

impl Reach {
    /// Returns a reach that finds everything within the radius.
    pub(crate) fn all(radius: u32) -> Reach {
        Reach { radius, recall: 1.0, flip: 0.0 }
    }
}

/// Returns the probability that more than `most` of `bits` bits differ.
fn chance_beyond(bits: u32, flip: f64, most: usize) -> f64 {
    let mut chance = (1.0 - flip).powi(bits as i32);
    let mut within = 0.0;
    for differing in 0..=most.min(bits as usize) {
        within += chance;
        chance *= flip / (1.0 - flip) * (f64::from(bits) - differing as f64) / (differing as f64 + 1.0);
    }
    (1.0 - within).max(0.0)
}

/// Sealed codes with their ids.
pub(crate) struct Segment {
    pub(crate) bits: usize,
    pub(super) tables: Vec<CodeTable>,
    /// Codes with more than one id.
    repeats: Repeats,
    /// Ids, code by code in the order of the first table.
    ids: IdColumn,
    /// Places of the ids, in ascending order of id.
    by_id: Store<u32>,
    /// The method for each small radius, and a scan for all others; planned at first use.
    methods: Vec<OnceLock<Arc<Method>>>,
    /// Methods that find only a share, the latest ones.
    sampled: Mutex<Vec<(Reach, Arc<Method>)>>,
    /// The file that the columns are mapped from.
    file: Option<Arc<Mapped>>,
}

/// Returns the rows sorted by code, then by row, each with the highest 64 bits of its code.
fn sorted_rows(bits: usize, codes: &[u64]) -> Vec<(u64, u32)> {
    let words = bits.div_ceil(64);
    let count = codes.len() / words;
    let top = |code: &[u64]| match bits % 64 {
        0 => code[words - 1],
        rest if words == 1 => code[0] << (64 - rest),
        rest => code[words - 1] << (64 - rest) | code[words - 2] >> rest,
    };
    let order = |left: &(u64, u32), right: &(u64, u32)| {
        let rest = |row: u32| codes[row as usize * words..(row as usize + 1) * words].iter().rev();
        let equal_tops = || if words == 1 { Ordering::Equal } else { rest(left.1).cmp(rest(right.1)) };
        left.0.cmp(&right.0).then_with(equal_tops).then(left.1.cmp(&right.1))
    };
    // First into short buckets by the highest bits: nearly sorted in one pass.
    let shift = 64 - count.max(1).ilog2().saturating_sub(4).clamp(1, 16);
    let mut starts = vec![0usize; (1 << (64 - shift)) + 1];
    for code in codes.chunks_exact(words) {
        starts[(top(code) >> shift) as usize + 1] += 1;
    }
    for bucket in 1..starts.len() {
        starts[bucket] += starts[bucket - 1];
    }
    let mut rows = vec![(0, 0); count];
    let mut next = starts.clone();
    for (row, code) in codes.chunks_exact(words).enumerate() {
        let place = &mut next[(top(code) >> shift) as usize];
        rows[*place] = (top(code), row as u32);
        *place += 1;
    }
    let mut rest = rows.as_mut_slice();
    let mut buckets = Vec::with_capacity(starts.len());
    for range in starts.windows(2) {
        let (bucket, others) = rest.split_at_mut(range[1] - range[0]);
        buckets.push(bucket);
        rest = others;
    }
    buckets.into_par_iter().with_min_len(64).for_each(|bucket| match bucket.len() {
        0 | 1 => {}
        // One bucket may hold nearly everything.
        HEAVY_BUCKET.. => bucket.par_sort_unstable_by(order),
        _ => bucket.sort_unstable_by(order),
    });
    rows
}

/// The columns of a saved segment.
pub(crate) struct SegmentColumns {
    pub(crate) tables: Vec<(Shape, Store<u32>, Store<u8>)>,
    pub(crate) repeats: Store<[u32; 2]>,
    pub(crate) ids: IdColumn,
    pub(crate) by_id: Store<u32>,
    pub(crate) file: Option<Arc<Mapped>>,
}

impl Segment {
    /// Builds a segment of codes and their ids; `ascending` has the rows sorted by id.
    pub(crate) fn build(bits: usize, codes: &[u64], ids: &Ids, ascending: &[u32]) -> Segment {
        let words = bits.div_ceil(64);
        let code = |row: u32| &codes[row as usize * words..(row as usize + 1) * words];
        let mut rows = sorted_rows(bits, codes);
        // The ids of a code are sorted, so that the first ones can be read without the others.
        for equal in rows.chunk_by_mut(|left, right| left.0 == right.0 && code(left.1) == code(right.1)) {
            if equal.len() > 1 {
                equal.sort_unstable_by(|left, right| ids.get(left.1 as usize).cmp(&ids.get(right.1 as usize)));
            }
        }
        let mut unique = Vec::with_capacity(codes.len());
        let mut repeats: Vec<[u32; 2]> = Vec::new();
        for (entry, &(_, row)) in rows.iter().enumerate() {
            let number = (unique.len() / words) as u32;
            if entry > 0 && unique[unique.len() - words..].iter().eq(code(row)) {
                let extra = repeats.last().map_or(0, |last| last[1]) + 1;
                match repeats.last_mut() {
                    Some(last) if last[0] == number - 1 => last[1] = extra,
                    _ => repeats.push([number - 1, extra]),
                }
            } else {
                unique.extend_from_slice(code(row));
            }
        }
        repeats.shrink_to_fit();

        let column = IdColumn::from_ids(rows.len(), rows.iter().map(|&(_, row)| row as usize), ids);
        let mut entry_of = vec![0; rows.len()];
        for (entry, &(_, row)) in rows.iter().enumerate() {
            entry_of[row as usize] = entry as u32;
        }
        drop(rows);
        let by_id = ascending.iter().map(|&row| entry_of[row as usize]).collect();
        let shapes = Shape::tables(bits, unique.len() / words);
        let build = |shape: Shape| with_words!(shape.words(), build_table::<N>(shape, &unique, words));
        let tables = shapes.into_par_iter().map(build).collect();
        let repeats = Repeats::new(Store::Owned(repeats), unique.len() / words, ascending.len());
        Segment::assemble(bits, tables, repeats, column, Store::Owned(by_id), None)
    }

    fn assemble(
        bits: usize,
        tables: Vec<CodeTable>,
        repeats: Repeats,
        ids: IdColumn,
        by_id: Store<u32>,
        file: Option<Arc<Mapped>>,
    ) -> Segment {
        let methods = (0..=MAX_PLANNED).map(|_| OnceLock::new()).collect();
        Segment { bits, tables, repeats, ids, by_id, methods, sampled: Mutex::default(), file }
    }

    /// Returns a segment of saved columns. Refuses directories whose buckets do not follow each other up to `unique`.
    pub(crate) fn from_columns(bits: usize, unique: usize, columns: SegmentColumns) -> Result<Segment, Corrupt> {
        let mut tables = Vec::with_capacity(columns.tables.len());
        for (shape, directory, records) in columns.tables {
            let starts = directory.all()?;
            if starts[0] != 0 || starts[shape.buckets()] as usize != unique || !starts.is_sorted() {
                return Err(directory.corrupt("a directory of buckets is out of order"));
            }
            tables.push(CodeTable { shape, directory, records });
        }
        let repeats = Repeats::new(columns.repeats, unique, columns.by_id.len());
        Ok(Segment::assemble(bits, tables, repeats, columns.ids, columns.by_id, columns.file))
    }

    /// Returns the columns in the order they are saved: for each table its directory and records; then the rest.
    pub(crate) fn columns(&self) -> Result<Vec<&[u8]>, Corrupt> {
        let mut columns: Vec<&[u8]> = Vec::new();
        for table in &self.tables {
            columns.push(bytemuck::cast_slice(table.directory.all()?));
            columns.push(table.records.all()?);
        }
        columns.push(bytemuck::cast_slice(self.repeats.counts().all()?));
        match &self.ids {
            IdColumn::Int(ids) => columns.push(bytemuck::cast_slice(ids.all()?)),
            IdColumn::Str(ends, text) => {
                columns.push(bytemuck::cast_slice(ends.all()?));
                columns.push(text.all()?);
            }
        }
        columns.push(bytemuck::cast_slice(self.by_id.all()?));
        Ok(columns)
    }

    pub(crate) fn ids(&self) -> &IdColumn {
        &self.ids
    }

    pub(crate) fn repeats(&self) -> usize {
        self.repeats.counts().len()
    }

    /// Returns the number of distinct codes.
    pub(crate) fn unique(&self) -> usize {
        self.tables[0].directory.unchecked()[self.tables[0].shape.buckets()] as usize
    }

    /// Returns the number of ids.
    pub(crate) fn entries(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        let tables: usize = self.tables.iter().map(|table| 4 * table.directory.len() + table.records.len()).sum();
        tables + 8 * self.repeats() + self.ids.bytes() + 4 * self.by_id.len()
    }

    /// Returns the places of a code's ids.
    pub(crate) fn entries_of(&self, unique: usize) -> Result<Range<usize>, Corrupt> {
        self.repeats.entries_of(unique)
    }

    /// Refuses a mapped file that was truncated since it was opened.
    pub(crate) fn check_length(&self) -> Result<(), Corrupt> {
        self.file.as_ref().map_or(Ok(()), |file| file.check_length())
    }

    /// Prefetches the id of a code, if no code has several.
    pub(super) fn fetch_id(&self, unique: usize) {
        if self.repeats() == 0 {
            self.ids.fetch(unique);
        }
    }

    fn code(&self, unique: usize) -> Result<[u64; WORDS], Corrupt> {
        let table = &self.tables[0];
        table.code(unique, table.key_at(unique))
    }

    /// Returns the code of an id.
    pub(crate) fn code_of_entry(&self, entry: usize) -> Result<[u64; WORDS], Corrupt> {
        self.code(self.repeats.value_of(entry)?)
    }

    /// Returns the place of an id.
    pub(crate) fn entry_of(&self, id: Id<'_>) -> Result<Option<usize>, Corrupt> {
        if self.ids.kind() != id.kind() {
            return Ok(None);
        }
        let at = partition_point(self.entries(), |at| Ok(self.id_at(at)?.1 < id))?;
        Ok(if at < self.entries() { Some(self.id_at(at)?).filter(|found| found.1 == id) } else { None }
            .map(|found| found.0))
    }

    /// Returns the id at a rank among all ids of the segment, and its place.
    pub(crate) fn id_at(&self, rank: usize) -> Result<(usize, Id<'_>), Corrupt> {
        let entry = self.by_id.at(rank)? as usize;
        if entry >= self.entries() {
            return Err(self.by_id.corrupt("an id's place is outside of the index"));
        }
        Ok((entry, self.ids.get(entry)?))
    }

    /// Calls `visit` with all codes in order, with their number.
    pub(crate) fn each_code(&self, visit: impl FnMut(usize, &[u64]) -> Result<(), Corrupt>) -> Result<(), Corrupt> {
        with_words!(self.tables[0].shape.words(), each_code::<N>(self, visit))
    }

    /// Returns the number of a code that is in the first table.
    fn find<const N: usize>(&self, code: &[u64]) -> Result<Option<usize>, Corrupt> {
        let table = &self.tables[0];
        table.position(table.bucket(table.shape.key(code)), &table.shape.pack::<N>(code))
    }

    /// Returns the method of a search, with its expected cost.
    pub(crate) fn method(&self, reach: Reach) -> Arc<Method> {
        let at = (reach.radius as usize).min(MAX_PLANNED);
        let make = || Arc::new(if at < MAX_PLANNED { self.plan(reach.radius) } else { self.scan_method() });
        let exact = self.methods[at].get_or_init(make);
        if reach.recall >= 1.0 {
            return Arc::clone(exact);
        }
        // Never blocks: a process forked while another thread held the lock would wait for ever.
        let mut known = self.sampled.try_lock().ok();
        if let Some((_, method)) = known.iter().flat_map(|known| known.iter()).find(|(of, _)| *of == reach) {
            return Arc::clone(method);
        }
        let method = self.sample(reach).filter(|method| method.cost < exact.cost).map_or(Arc::clone(exact), Arc::new);
        if let Some(known) = &mut known {
            known.truncate(KEPT_METHODS - 1);
            known.insert(0, (reach, Arc::clone(&method)));
        }
        method
    }

    fn words_cost(&self) -> f64 {
        self.bits.div_ceil(64) as f64
    }

    fn scan_method(&self) -> Method {
        let candidates = self.unique() as f64;
        Method {
            flips: None,
            probes: 0,
            candidates,
            cost: candidates * SCAN_COST * self.words_cost(),
            masks: Vec::new(),
        }
    }

    /// Returns the cheapest way to spread `radius + 1` over the tables: one more than the bits a table's keys are
    /// probed away.
    fn plan(&self, radius: u32) -> Method {
        let whole = self.scan_method();
        let needed = radius as usize + 1;
        // best[n]: least cost to spread n over the tables so far, and the share of each.
        let mut best: Vec<Option<(f64, f64, Vec<usize>)>> = vec![None; needed + 1];
        best[0] = Some((0.0, 0.0, Vec::new()));
        for table in &self.tables {
            let mut shares = vec![(0.0, 0.0)];
            for flips in 0..needed.min(MAX_FLIPS + 1).min(table.shape.key_bits as usize + 1) {
                let candidates = table.surroundings(flips);
                let probes = ball(table.shape.key_bits, flips) as f64;
                let cost = probes * PROBE_COST + candidates * COMPARE_COST * self.words_cost();
                shares.push((cost, candidates));
                if cost > whole.cost {
                    break;
                }
            }
            let mut next: Vec<Option<(f64, f64, Vec<usize>)>> = vec![None; needed + 1];
            for (sum, so_far) in best.iter().enumerate() {
                let Some((cost, candidates, chosen)) = so_far else { continue };
                for (share, (more_cost, more_candidates)) in shares.iter().enumerate() {
                    let place = &mut next[(sum + share).min(needed)];
                    let total = cost + more_cost;
                    if place.as_ref().is_none_or(|(known, ..)| total < *known) {
                        let chosen = chosen.iter().copied().chain([share]).collect();
                        *place = Some((total, candidates + more_candidates, chosen));
                    }
                }
            }
            best = next;
        }
        let Some((cost, candidates, shares)) = best.pop().flatten().filter(|(cost, ..)| *cost < whole.cost) else {
            return whole;
        };
        self.by_tables(&shares, candidates, cost)
    }

    /// Returns the cheapest method that finds the requested share of codes whose bits each differ with the same
    /// probability: a code is missed if its key is too far away in every table, and tables have disjoint bits.
    fn sample(&self, reach: Reach) -> Option<Method> {
        let loss = 1.0 - reach.recall;
        // (nanoseconds, records looked at, share missed, what each table has) for each choice so far.
        let mut choices = vec![(0.0, 0.0, 1.0, Vec::new())];
        for table in &self.tables {
            let key_bits = table.shape.key_bits;
            let mut shares = vec![(0.0, 0.0, 1.0)];
            for flips in 0..=MAX_FLIPS.min(key_bits as usize) {
                let candidates = table.surroundings(flips);
                let probes = ball(key_bits, flips) as f64;
                let cost = probes * PROBE_COST + candidates * COMPARE_COST * self.words_cost();
                shares.push((cost, candidates, chance_beyond(key_bits, reach.flip, flips)));
            }
            let more = |(cost, candidates, missed, chosen): &(f64, f64, f64, Vec<usize>)| {
                let with = |(share, more): (usize, &(f64, f64, f64))| {
                    let chosen = chosen.iter().copied().chain([share]).collect();
                    (cost + more.0, candidates + more.1, missed * more.2, chosen)
                };
                shares.iter().enumerate().map(with).collect::<Vec<_>>()
            };
            choices = choices.iter().flat_map(more).collect();
        }
        let enough = choices.into_iter().filter(|(_, _, missed, _)| *missed <= loss);
        let (cost, candidates, _, shares) = enough.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(self.by_tables(&shares, candidates, cost))
    }

    /// Returns the method that probes each table to one bit less than its share.
    fn by_tables(&self, shares: &[usize], candidates: f64, cost: f64) -> Method {
        let flips: Vec<Option<u32>> =
            shares.iter().map(|share| share.checked_sub(1).map(|flips| flips as u32)).collect();
        let masks: Vec<Vec<u32>> = self
            .tables
            .iter()
            .zip(&flips)
            .map(|(table, flips)| flips.map_or(Vec::new(), |flips| masks(table.shape.key_bits, flips as usize)))
            .collect();
        Method { probes: masks.iter().map(Vec::len).sum(), flips: Some(flips), candidates, cost, masks }
    }

    /// Returns the plan of such a search.
    pub(crate) fn planned(&self, reach: Reach) -> PlannedPart {
        let method = self.method(reach);
        let key_bits = self.tables.iter().map(|table| table.shape.key_bits);
        PlannedPart {
            entries: self.entries(),
            tables: method.flips.as_ref().map(|flips| key_bits.zip(flips.iter().copied()).collect()),
            probes: method.probes,
            candidates: method.candidates,
            cost: method.cost,
        }
    }

    /// Checks every byte against its checksum, and that tables and ids agree.
    pub(crate) fn verify(&self) -> Result<(), Corrupt> {
        self.columns()?;
        let words = self.bits.div_ceil(64);
        let mut last: Option<[u64; WORDS]> = None;
        let mut places = 0;
        let first = &self.tables[0];
        self.each_code(|unique, code| {
            if first.shape.key(code) != first.key_at(unique) {
                return Err(first.records.corrupt("a code is in the wrong bucket"));
            }
            let mut own = [0; WORDS];
            own[..words].copy_from_slice(code);
            if last.is_some_and(|last| last.iter().rev().cmp(own.iter().rev()) != Ordering::Less) {
                return Err(self.tables[0].records.corrupt("its codes are out of order"));
            }
            last = Some(own);
            let entries = self.entries_of(unique)?;
            if entries.start != places {
                return Err(self.repeats.counts().corrupt("the counts of repeated codes do not add up"));
            }
            places = entries.end;
            Ok(())
        })?;
        if places != self.entries() {
            return Err(self.repeats.counts().corrupt("the counts of repeated codes do not add up"));
        }
        for table in &self.tables[1..] {
            let mut seen = vec![false; self.unique()];
            for key in 0..table.shape.buckets() {
                for place in table.bucket(key) {
                    let code = table.code(place, key)?;
                    let code = &code[..words];
                    let found = with_words!(table.shape.words(), find::<N>(self, code))?;
                    // As many as in the first table and none twice, so all of them.
                    if table.shape.key(code) != key
                        || found.is_none_or(|found| std::mem::replace(&mut seen[found], true))
                    {
                        return Err(table.records.corrupt("its tables do not hold the same codes"));
                    }
                }
            }
        }
        for rank in 1..self.entries() {
            if self.id_at(rank - 1)?.1 >= self.id_at(rank)?.1 {
                return Err(self.by_id.corrupt("its ids are out of order"));
            }
        }
        Ok(())
    }

    /// Finds the codes at most `radius` bits from each query.
    pub(crate) fn search(
        &self,
        method: &Method,
        queries: &[&[u64]],
        radius: u32,
        hits: &mut Vec<CodeHit>,
    ) -> Result<(), Corrupt> {
        match &method.flips {
            Some(flips) => {
                with_words!(self.tables[0].shape.words(), probe::<N>(self, flips, &method.masks, queries, radius, hits))
            }
            None => self.scan(queries, &mut vec![radius; queries.len()], |query, unique, distance, limit| {
                hits.push(CodeHit { query, unique, distance });
                Ok(limit)
            }),
        }
    }

    /// Compares all codes with each query. `visit` gets the query, the number of the code and the distance; it returns
    /// the largest distance that still matters to that query.
    pub(crate) fn scan(
        &self,
        queries: &[&[u64]],
        limits: &mut [u32],
        visit: impl FnMut(u32, u32, u32, u32) -> Result<u32, Corrupt>,
    ) -> Result<(), Corrupt> {
        with_words!(self.tables[0].shape.words(), scan_all::<N>(self, queries, limits, visit))
    }
}

fn each_code<const N: usize>(
    segment: &Segment,
    mut visit: impl FnMut(usize, &[u64]) -> Result<(), Corrupt>,
) -> Result<(), Corrupt> {
    let (table, words) = (&segment.tables[0], segment.bits.div_ceil(64));
    let stride = table.shape.stride();
    for key in 0..table.shape.buckets() {
        let places = table.bucket(key);
        let records = table.records(places.clone())?;
        for (at, place) in places.enumerate() {
            visit(place, &table.shape.unpack::<N>(&records[at * stride..], key)[..words])?;
        }
    }
    Ok(())
}

fn scan_all<const N: usize>(
    segment: &Segment,
    queries: &[&[u64]],
    limits: &mut [u32],
    mut visit: impl FnMut(u32, u32, u32, u32) -> Result<u32, Corrupt>,
) -> Result<(), Corrupt> {
    let table = &segment.tables[0];
    let prepared: Vec<(usize, [u64; N])> =
        queries.iter().map(|query| (table.shape.key(query), table.shape.pack(query))).collect();
    let mut near: Vec<Near> = Vec::new();
    // A stretch of buckets stays in the cache while all queries pass over it.
    let stretch = (table.shape.buckets() * (1 << 18) / table.records.len()).clamp(1, table.shape.buckets());
    for first in (0..table.shape.buckets()).step_by(stretch) {
        for (query, (query_key, packed)) in prepared.iter().enumerate() {
            for key in first..(first + stretch).min(table.shape.buckets()) {
                let bucket = table.bucket(key);
                let apart = table.shape.dropped_distance(key ^ query_key);
                if bucket.is_empty() || apart > limits[query] {
                    continue;
                }
                near.clear();
                scan(&table.shape, table.records(bucket.clone())?, packed, limits[query] - apart, &mut near);
                for &(at, distance) in &near {
                    if distance + apart <= limits[query] {
                        let unique = bucket.start as u32 + at;
                        limits[query] = visit(query as u32, unique, distance + apart, limits[query])?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn find<const N: usize>(segment: &Segment, code: &[u64]) -> Result<Option<usize>, Corrupt> {
    segment.find::<N>(code)
}

fn build_table<const N: usize>(shape: Shape, codes: &[u64], words: usize) -> CodeTable {
    CodeTable::build::<N>(shape, codes, words)
}
