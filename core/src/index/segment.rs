//! A segment: sealed codes with their ids, filed in tables, in memory or mapped from a file.
//!
//! Two codes at most `k` bits apart cannot differ in more than `r` bits in every block if the `r + 1` of all blocks
//! add up to more than `k` (pigeonhole). So a search reads, in each table, the buckets whose key is at most `r` bits
//! from the query's, and reports a code from the first table that finds it.
//!
//! More is true if the blocks stand in a ring: in one of those blocks and the next one together they differ in less
//! than the two `r + 1` add up to. For if each block with at most `r` differing bits were followed by one that makes up
//! for it, all together would differ in more than `k`. (Qin, Xiao, "Pigeonring", VLDB 2018.) So a table with two levels
//! files codes under a block and, within it, the first bits of the next, and a search leaves out most of a bucket.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use rayon::prelude::*;

use super::ids::{Id, IdColumn, Ids};
use super::probe::{CodeHit, probe};
use super::records::{Near, Shape, WORDS, blocks, scan, with_words};
use super::table::{CodeTable, Look, Run};
use super::{PlannedPart, PlannedTable};
use crate::saved::{Corrupt, Mapped, Repeats, Store, partition_point};

/// Keys are probed at most this many bits away; beyond it a scan of all codes is cheaper.
const MAX_FLIPS: usize = 4;
/// From this radius on the tables never pay: four tables, each probed to `MAX_FLIPS`, are exact below it.
const MAX_PLANNED: usize = 4 * (MAX_FLIPS + 1);
/// Size of the cache of methods that find only a share.
const KEPT_METHODS: usize = 8;
/// From this many different codes on a segment has two levels, unless told otherwise.
const TWO_LEVELS: usize = 30_000_000;
/// A bucket of this size is sorted by all threads.
const HEAVY_BUCKET: usize = 1 << 15;

// Nanoseconds of the steps of a search, measured on one core; only their ratios matter.
const PROBE_COST: f64 = 24.0;
const COMPARE_COST: f64 = 0.5;
const SCAN_COST: f64 = 0.7;

/// How one segment is searched at one radius.
#[derive(Clone, Debug)]
pub(crate) struct Method {
    /// For each table how far its keys are probed; None if it is not used. No tables: a scan.
    pub(super) looks: Option<Vec<Option<Look>>>,
    pub(crate) probes: usize,
    pub(crate) candidates: f64,
    /// The candidates that the second levels leave out.
    pub(crate) saved: f64,
    /// Expected nanoseconds.
    pub(crate) cost: f64,
    runs: Vec<Vec<Run>>,
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

/// What a look into one table costs.
#[derive(Clone, Copy)]
struct Share {
    look: Option<Look>,
    /// Expected nanoseconds.
    cost: f64,
    candidates: f64,
    /// The candidates that the second level leaves out.
    saved: f64,
}

impl Share {
    const NONE: Share = Share { look: None, cost: 0.0, candidates: 0.0, saved: 0.0 };
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
    pub(crate) levels: u32,
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
    pub(crate) levels: u32,
    pub(crate) tables: Vec<(Shape, Store<u32>, Store<u8>)>,
    pub(crate) repeats: Store<[u32; 2]>,
    pub(crate) ids: IdColumn,
    pub(crate) by_id: Store<u32>,
    pub(crate) file: Option<Arc<Mapped>>,
}

impl Segment {
    /// Builds a segment of codes and their ids; `ascending` has the rows sorted by id. Without `levels` there are two
    /// where they pay.
    pub(crate) fn build(bits: usize, levels: Option<u32>, codes: &[u64], ids: &Ids, ascending: &[u32]) -> Segment {
        let words = bits.div_ceil(64);
        let code = |row: u32| &codes[row as usize * words..(row as usize + 1) * words];
        let mut rows = sorted_rows(bits, codes);
        let distinct =
            rows.windows(2).filter(|pair| pair[0].0 != pair[1].0 || code(pair[0].1) != code(pair[1].1)).count();
        let distinct = distinct + usize::from(!rows.is_empty());
        let planned = if distinct >= TWO_LEVELS && blocks(bits) > 1 { 2 } else { 1 };
        let levels = levels.unwrap_or(planned);
        let shapes = Shape::tables(bits, distinct, levels);
        if !shapes[0].keeps_order() {
            rows.par_sort_by_key(|&(_, row)| shapes[0].key(code(row)));
        }
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
        let build = |shape: Shape| with_words!(shape.words(), build_table::<N>(shape, &unique, words));
        let tables = shapes.into_par_iter().map(build).collect();
        let repeats = Repeats::new(Store::Owned(repeats), unique.len() / words, ascending.len());
        Segment::assemble(bits, levels, tables, repeats, column, Store::Owned(by_id), None)
    }

    fn assemble(
        bits: usize,
        levels: u32,
        tables: Vec<CodeTable>,
        repeats: Repeats,
        ids: IdColumn,
        by_id: Store<u32>,
        file: Option<Arc<Mapped>>,
    ) -> Segment {
        let methods = (0..=MAX_PLANNED).map(|_| OnceLock::new()).collect();
        Segment { bits, levels, tables, repeats, ids, by_id, methods, sampled: Mutex::default(), file }
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
        Ok(Segment::assemble(bits, columns.levels, tables, repeats, columns.ids, columns.by_id, columns.file))
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
            looks: None,
            probes: 0,
            candidates,
            saved: 0.0,
            cost: candidates * SCAN_COST * self.words_cost(),
            runs: Vec::new(),
        }
    }

    /// Returns what it costs to look into a table.
    fn share(&self, table: &CodeTable, look: Look) -> Share {
        let candidates = table.surroundings(look);
        let probes = look.probes(&table.shape) as f64;
        let cost = probes * PROBE_COST + candidates * COMPARE_COST * self.words_cost();
        Share { look: Some(look), cost, candidates, saved: 0.0 }
    }

    /// Returns what it costs to look into the first level of each table, for each number of bits its keys may differ in,
    /// up to `most` or to what costs more than `limit`.
    fn outer_shares(&self, most: usize, limit: f64) -> Vec<Vec<Share>> {
        let of = |table: &CodeTable| {
            let mut shares = Vec::new();
            for outer in 0..=most.min(MAX_FLIPS).min(table.shape.outer_bits as usize) {
                shares.push(self.share(table, Look { outer: outer as u32, both: None }));
                if shares[outer].cost > limit {
                    break;
                }
            }
            shares
        };
        self.tables.iter().map(of).collect()
    }

    /// Returns the cheapest way to spread `radius + 1` over the tables: one more than the bits a table's keys are
    /// probed away, in the first level alone or in both.
    fn plan(&self, radius: u32) -> Method {
        let whole = self.scan_method();
        let needed = radius as usize + 1;
        let outer = self.outer_shares(radius as usize, whole.cost);
        // shares[table][share][share of the next table]
        let both = |table: usize, share: usize, next: usize| {
            let Some(look) = Look::by_both(share, next) else { return Share::NONE };
            let (one, shape) = (outer[table][share - 1], &self.tables[table].shape);
            if self.levels == 1 || look.probes(shape) as f64 * PROBE_COST >= one.cost {
                return one;
            }
            let two = self.share(&self.tables[table], look);
            if two.cost < one.cost { Share { saved: one.candidates - two.candidates, ..two } } else { one }
        };
        let count = self.tables.len();
        let most = |table: usize| outer[table % count].len().min(needed);
        let nexts = |table: usize, share: usize| match self.levels {
            1 => 0..=0,
            _ => 0..=most(table + 1).min(needed - share),
        };
        let of = |table: usize| {
            let of_share = |share: usize| nexts(table, share).map(|next| both(table, share, next)).collect();
            (0..=most(table)).map(of_share).collect()
        };
        let shares: Vec<Vec<Vec<Share>>> = (0..count).map(of).collect();
        let mut best: Option<(f64, Vec<Share>)> = None;
        let mut chosen = vec![0; count];
        // All ways to spread, as counting goes.
        loop {
            if chosen.iter().sum::<usize>() == needed {
                let next = |table: usize| if self.levels == 1 { 0 } else { chosen[(table + 1) % count] };
                let own = |table: usize| shares[table][chosen[table]][next(table)];
                let own: Vec<Share> = (0..count).map(own).collect();
                let cost = own.iter().map(|share| share.cost).sum();
                if best.as_ref().is_none_or(|(known, _)| cost < *known) {
                    best = Some((cost, own));
                }
            }
            let Some(table) = (0..count).find(|&table| chosen[table] < most(table)) else { break };
            chosen[table] += 1;
            chosen[..table].fill(0);
        }
        match best {
            Some((cost, shares)) if cost < whole.cost => self.by_tables(&shares),
            _ => whole,
        }
    }

    /// Returns the cheapest method that finds the requested share of codes whose bits each differ with the same
    /// probability: a code is missed if its key is too far away in every table, and tables have disjoint bits. Second
    /// levels are not disjoint, so they are not used.
    fn sample(&self, reach: Reach) -> Option<Method> {
        let loss = 1.0 - reach.recall;
        // (nanoseconds, share missed, what each table has) for each choice so far.
        let mut choices = vec![(0.0, 1.0, Vec::new())];
        for (table, shares) in self.tables.iter().zip(self.outer_shares(MAX_FLIPS, f64::INFINITY)) {
            let missed = |flips: usize| chance_beyond(table.shape.outer_bits, reach.flip, flips);
            let shares: Vec<(Share, f64)> = std::iter::once((Share::NONE, 1.0))
                .chain(shares.into_iter().enumerate().map(|(flips, share)| (share, missed(flips))))
                .collect();
            let more = |(cost, missed, chosen): &(f64, f64, Vec<Share>)| {
                let with = |(share, more): &(Share, f64)| {
                    (cost + share.cost, missed * more, chosen.iter().copied().chain([*share]).collect())
                };
                shares.iter().map(with).collect::<Vec<_>>()
            };
            choices = choices.iter().flat_map(more).collect();
        }
        let enough = choices.into_iter().filter(|(_, missed, _)| *missed <= loss);
        Some(self.by_tables(&enough.min_by(|a, b| a.0.total_cmp(&b.0))?.2))
    }

    /// Returns the method that looks into the tables like this.
    fn by_tables(&self, shares: &[Share]) -> Method {
        let looks: Vec<Option<Look>> = shares.iter().map(|share| share.look).collect();
        let runs_of =
            |(table, look): (&CodeTable, &Option<Look>)| look.map_or(Vec::new(), |look| look.runs(&table.shape));
        let runs: Vec<Vec<Run>> = self.tables.iter().zip(&looks).map(runs_of).collect();
        Method {
            probes: runs.iter().map(Vec::len).sum(),
            looks: Some(looks),
            candidates: shares.iter().map(|share| share.candidates).sum(),
            saved: shares.iter().map(|share| share.saved).sum(),
            cost: shares.iter().map(|share| share.cost).sum(),
            runs,
        }
    }

    /// Returns the plan of such a search.
    pub(crate) fn planned(&self, reach: Reach) -> PlannedPart {
        let method = self.method(reach);
        let planned = |(table, look): (&CodeTable, &Option<Look>)| PlannedTable {
            key_bits: (table.shape.outer_bits, table.shape.inner_bits),
            flips: look.map(|look| (look.outer, look.both)),
        };
        PlannedPart {
            entries: self.entries(),
            tables: method.looks.as_ref().map(|looks| self.tables.iter().zip(looks).map(planned).collect()),
            probes: method.probes,
            candidates: method.candidates,
            saved: method.saved,
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
            let in_order = |last: [u64; WORDS]| {
                let keys = first.shape.key(&last).cmp(&first.shape.key(&own));
                keys.then(last.iter().rev().cmp(own.iter().rev())) == Ordering::Less
            };
            if last.is_some_and(|last| !in_order(last)) {
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
        match &method.looks {
            Some(looks) => {
                with_words!(self.tables[0].shape.words(), probe::<N>(self, looks, &method.runs, queries, radius, hits))
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
        queries.iter().map(|query| (table.shape.outer(query), table.shape.pack(query))).collect();
    let mut near: Vec<Near> = Vec::new();
    // A stretch of buckets stays in the cache while all queries pass over it.
    let (keys, below) = (1 << table.shape.outer_bits, table.shape.inner_bits);
    let stretch = (keys * (1 << 18) / table.records.len()).clamp(1, keys);
    for first in (0..keys).step_by(stretch) {
        for (query, (query_key, packed)) in prepared.iter().enumerate() {
            for key in first..(first + stretch).min(keys) {
                let bucket = table.buckets(key << below, below);
                let apart = table.shape.dropped_distance((key ^ query_key) << below);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn apart(a: &[u64], b: &[u64]) -> u32 {
        a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
    }

    /// Returns the look by both levels into a table, if the tables have these shares.
    fn look(shares: &[usize], table: usize) -> Option<Look> {
        Look::by_both(shares[table], shares[(table + 1) % shares.len()])
    }

    /// All keys of two codes within the radius, however they differ: some table covers them and reads their bucket.
    #[test]
    fn no_difference_escapes_all_tables() {
        let mut random = 1u64;
        let mut below = |limit: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % limit
        };
        let (mut only_by_last_bit, mut tried) = (0, 0);
        for bits in [24, 32, 40, 56, 64, 72, 128] {
            for _ in 0..4000 {
                let shapes = Shape::tables(bits, 1 << (8 + below(22)), 2);
                let shares: Vec<usize> = shapes.iter().map(|_| below(4)).collect();
                let Some(radius) = shares.iter().sum::<usize>().checked_sub(1) else { continue };
                // Most bits of the highest, where the keys are.
                let mut difference = [0u64; 2];
                for _ in 0..radius {
                    let bit = bits - 1 - below(bits.min(64));
                    difference[bit / 64] |= 1 << (bit % 64);
                }
                let near = |table: usize, less: u32| {
                    let (shape, look) = (&shapes[table], look(&shares, table)?);
                    let key = shape.key(&difference[..bits.div_ceil(64)]);
                    let both = look.both.map(|both| both - less.min(both - look.outer));
                    let look = Look { both, ..look };
                    look.covers(shape, key).then_some((look, key as u32))
                };
                let covering: Vec<_> = (0..shapes.len()).filter_map(|table| Some((table, near(table, 0)?))).collect();
                assert!(!covering.is_empty(), "{bits} bits, {shares:?}, {difference:x?}");
                for (table, (look, key)) in covering {
                    let runs = look.runs(&shapes[table]);
                    let reading = runs.iter().filter(|run| run.mask >> run.below == key >> run.below);
                    assert_eq!(reading.count(), 1, "{look:?} of {:?}", shapes[table]);
                }
                tried += 1;
                only_by_last_bit += usize::from((0..shapes.len()).all(|table| near(table, 1).is_none()));
            }
        }
        // With one bit less for both levels, some would escape.
        assert!(only_by_last_bit > tried / 500, "{only_by_last_bit} of {tried}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        /// Looks that the planner would not choose for so few codes are exact too, and find each code once.
        #[test]
        fn every_spread_over_the_tables_is_exact(
            bytes in prop_oneof![Just(8usize), Just(16), 3usize..=20], levels in 1u32..=2,
            shares in [0usize..4, 0..4, 0..4, 0..4], first_level_only in any::<[bool; 4]>(),
            centre in any::<[u64; 3]>(), others in prop::collection::vec((any::<[u64; 3]>(), 0u32..64), 1..300),
            filler in prop_oneof![Just(0u64), 1u64..20_000],
        ) {
            let (bits, words) = (8 * bytes, bytes.div_ceil(8));
            // Each bit differs from the centre's rarely, so that distances are around the radius.
            let code = |(noise, often): &([u64; 3], u32)| -> Vec<u64> {
                let mut code = centre;
                for turn in 0..often % 16 {
                    let bit = (noise[0] >> (8 * (turn % 8)) ^ noise[1] >> (8 * (turn / 8))) as usize % bits;
                    code[bit / 64] ^= 1 << (bit % 64);
                }
                if bits % 64 != 0 {
                    code[words - 1] &= u64::MAX >> (64 - bits % 64);
                }
                code[..words].to_vec()
            };
            let mut codes: Vec<Vec<u64>> = others.iter().map(code).collect();
            let queries: Vec<Vec<u64>> = codes.iter().take(4).cloned().chain([code(&(centre, 0))]).collect();
            // Keys are longer with more codes.
            let strange = |number: u64| -> Vec<u64> {
                let mut code = [number.wrapping_mul(0x9e37_79b9_7f4a_7c15), number, !number];
                code.rotate_left(3 - words);
                if bits % 64 != 0 {
                    code[words - 1] &= u64::MAX >> (64 - bits % 64);
                }
                code[..words].to_vec()
            };
            codes.extend((0..filler).map(strange));
            let ids = Ids::Int((0..codes.len() as i64).collect());
            let ascending: Vec<u32> = (0..codes.len() as u32).collect();
            let segment = Segment::build(bits, Some(levels), &codes.concat(), &ids, &ascending);
            segment.verify().unwrap();
            let count = segment.tables.len();
            let spread = &shares[..count];
            let Some(radius) = spread.iter().sum::<usize>().checked_sub(1) else { return Ok(()) };
            let share = |table: usize| match look(spread, table) {
                Some(Look { outer, .. }) if levels == 1 || first_level_only[table] => {
                    segment.share(&segment.tables[table], Look { outer, both: None })
                }
                Some(look) => segment.share(&segment.tables[table], look),
                None => Share::NONE,
            };
            let chosen: Vec<Share> = (0..count).map(share).collect();
            let method = segment.by_tables(&chosen);
            for (table, share) in segment.tables.iter().zip(&chosen) {
                if let Some(look) = share.look {
                    prop_assert_eq!(look.probes(&table.shape), look.runs(&table.shape).len() as u64);
                }
            }
            let asked: Vec<&[u64]> = queries.iter().map(Vec::as_slice).collect();
            let mut hits = Vec::new();
            segment.search(&method, &asked, radius as u32, &mut hits).unwrap();
            let mut found: Vec<(u32, u32, u32)> =
                hits.iter().map(|hit| (hit.query, hit.unique, hit.distance)).collect();
            found.sort_unstable();
            let mut expected = Vec::new();
            for (number, query) in (0..).zip(&queries) {
                segment.each_code(|unique, code| {
                    let distance = apart(query, code);
                    if distance as usize <= radius {
                        expected.push((number, unique as u32, distance));
                    }
                    Ok(())
                }).unwrap();
            }
            prop_assert_eq!(found, expected);
        }
    }
}
