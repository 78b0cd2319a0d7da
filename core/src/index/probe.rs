//! A search through the tables of a segment: the buckets near the query's keys, each code from the first table that
//! finds it.
//!
//! Queries go through a table in the order of their keys, roughly: those of one stretch of the table find it in the
//! cache. Memory is asked for long before it is read.

use std::ops::Range;

use super::records::{Near, scan};
use super::segment::Segment;
use super::table::{Look, Run};
use crate::memory::{LINE, prefetch};
use crate::saved::Corrupt;

/// Probes in flight: enough to hide memory latency.
const PROBES: usize = 32;
/// Cache lines of a bucket to prefetch.
const AHEAD: usize = 24;
/// A table is gone through in stretches, at most 2^this many, with at least so many queries in each.
const STRETCHES: u32 = 14;
const QUERIES_EACH: usize = 8;

/// One code near a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodeHit {
    pub(super) query: u32,
    /// The code's number in its segment.
    pub(super) unique: u32,
    pub(super) distance: u32,
}

/// A query in one bucket.
#[derive(Clone, Copy)]
struct Wanted<const N: usize> {
    query: u32,
    key: u32,
    record: [u64; N],
    /// Differing bits in the bytes that records leave out.
    apart: u32,
    /// Bits in which a record may differ.
    limit: u32,
}

struct Probe<const N: usize> {
    wanted: Wanted<N>,
    table: u32,
    /// The lowest bits of the key that do not count.
    below: u32,
    bucket: Range<usize>,
}

/// Searches through the tables, many probes at a time.
struct Prober<'a, const N: usize> {
    segment: &'a Segment,
    looks: &'a [Option<Look>],
    queries: &'a [&'a [u64]],
    words: usize,
    /// Probes whose directory entry is prefetched.
    probes: Vec<Probe<N>>,
    /// Earlier probes, whose records are prefetched.
    ready: Vec<Probe<N>>,
    near: Vec<Near>,
    /// Codes found in a later table, whose number the first table tells.
    unnumbered: Vec<Wanted<N>>,
    hits: &'a mut Vec<CodeHit>,
}

pub(super) fn probe<const N: usize>(
    segment: &Segment,
    looks: &[Option<Look>],
    runs: &[Vec<Run>],
    queries: &[&[u64]],
    radius: u32,
    hits: &mut Vec<CodeHit>,
) -> Result<(), Corrupt> {
    let mut prober: Prober<'_, N> = Prober {
        segment,
        looks,
        queries,
        words: segment.bits.div_ceil(64),
        probes: Vec::with_capacity(PROBES),
        ready: Vec::with_capacity(PROBES),
        near: Vec::new(),
        unnumbered: Vec::new(),
        hits,
    };
    for (number, (table, runs)) in segment.tables.iter().zip(runs).enumerate() {
        if runs.is_empty() {
            continue;
        }
        let shape = &table.shape;
        let wanted = |(query, code): (u32, &&[u64])| Wanted {
            query,
            key: shape.key(code) as u32,
            record: shape.pack(code),
            apart: 0,
            limit: radius,
        };
        for wanted in by_key((0..).zip(queries).map(wanted), queries.len(), shape.key_bits()) {
            for &Run { mask, below } in runs {
                let apart = shape.dropped_distance(mask as usize);
                if apart <= radius {
                    let key = wanted.key ^ mask;
                    prober.push(number, below, Wanted { key, apart, limit: radius - apart, ..wanted })?;
                }
            }
        }
    }
    prober.finish()?;
    let (found, unnumbered) = (prober.hits.len(), std::mem::take(&mut prober.unnumbered));
    let count = unnumbered.len();
    for wanted in by_key(unnumbered.into_iter(), count, segment.tables[0].shape.key_bits()) {
        prober.push(0, 0, wanted)?;
    }
    prober.finish()?;
    if prober.hits.len() != found + count {
        return Err(segment.tables[0].records.corrupt("its tables do not hold the same codes"));
    }
    Ok(())
}

/// Returns the queries of a table, sorted by the first bits of the key.
fn by_key<const N: usize>(
    wanted: impl Iterator<Item = Wanted<N>> + Clone,
    count: usize,
    key_bits: u32,
) -> Vec<Wanted<N>> {
    let bits = (count / QUERIES_EACH).max(1).ilog2().min(STRETCHES).min(key_bits);
    if bits == 0 {
        return wanted.collect();
    }
    let stretch = |wanted: &Wanted<N>| (wanted.key >> (key_bits - bits)) as usize;
    let mut next = vec![0u32; (1 << bits) + 1];
    for wanted in wanted.clone() {
        next[stretch(&wanted) + 1] += 1;
    }
    for at in 1..next.len() {
        next[at] += next[at - 1];
    }
    let mut sorted = vec![Wanted { query: 0, key: 0, record: [0; N], apart: 0, limit: 0 }; count];
    for wanted in wanted {
        let place = &mut next[stretch(&wanted)];
        sorted[*place as usize] = wanted;
        *place += 1;
    }
    sorted
}

impl<const N: usize> Prober<'_, N> {
    fn push(&mut self, table: usize, below: u32, wanted: Wanted<N>) -> Result<(), Corrupt> {
        let directory = self.segment.tables[table].directory.unchecked();
        // A record that does not differ at all has the second level of the key, too.
        let below = if wanted.limit == 0 { 0 } else { below };
        let first = wanted.key as usize >> below << below;
        prefetch(&directory[first]);
        if below > 0 {
            prefetch(&directory[first + (1 << below)]);
        }
        self.probes.push(Probe { wanted, table: table as u32, below, bucket: 0..0 });
        if self.probes.len() == PROBES { self.advance() } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<(), Corrupt> {
        self.advance()?;
        self.advance()
    }

    /// Reads the buckets that are ready, and prefetches those of the probes added since.
    fn advance(&mut self) -> Result<(), Corrupt> {
        let ready = std::mem::take(&mut self.ready);
        for probe in &ready {
            self.read(probe)?;
        }
        self.ready = std::mem::replace(&mut self.probes, ready);
        self.probes.clear();
        for probe in &mut self.ready {
            let table = &self.segment.tables[probe.table as usize];
            probe.bucket = table.buckets(probe.wanted.key as usize, probe.below);
            let (records, stride) = (table.records.unchecked(), table.shape.stride());
            let bytes = probe.bucket.start * stride..probe.bucket.end * stride;
            // The hardware prefetcher follows a longer run.
            let bytes = &records[bytes];
            for line in bytes.chunks(LINE).take(AHEAD) {
                prefetch(&line[0]);
            }
            bytes.last().into_iter().for_each(prefetch);
        }
        Ok(())
    }

    fn read(&mut self, probe: &Probe<N>) -> Result<(), Corrupt> {
        if probe.bucket.is_empty() {
            return Ok(());
        }
        let wanted = &probe.wanted;
        let tables = &self.segment.tables;
        let table = &tables[probe.table as usize];
        if probe.table == 0 && wanted.limit == 0 {
            if let Some(unique) = table.position(probe.bucket.clone(), &wanted.record)? {
                self.hits.push(CodeHit { query: wanted.query, unique: unique as u32, distance: wanted.apart });
            }
            return Ok(());
        }
        let records = table.records(probe.bucket.clone())?;
        self.near.clear();
        scan(&table.shape, records, &wanted.record, wanted.limit, &mut self.near);
        let number = probe.table as usize;
        // A run of buckets has codes that this table leaves to another.
        let all_covered = probe.below == 0 || self.looks[number].is_some_and(|look| look.both.is_none());
        for &(at, distance) in &self.near {
            let distance = distance + wanted.apart;
            let record = &records[at as usize * table.shape.stride()..];
            let code = table.shape.unpack::<N>(record, wanted.key as usize);
            let (code, query) = (&code[..self.words], self.queries[wanted.query as usize]);
            let covered = |number: usize| {
                let shape = &tables[number].shape;
                let difference = shape.key(code) ^ shape.key(query);
                self.looks[number].is_some_and(|look| look.covers(shape, difference))
            };
            if !all_covered && !covered(number) {
                continue;
            }
            if number == 0 {
                let unique = probe.bucket.start as u32 + at;
                self.hits.push(CodeHit { query: wanted.query, unique, distance });
            } else if !(0..number).any(covered) {
                // In the first table it is the record that does not differ at all.
                let first = &tables[0].shape;
                let (key, record) = (first.key(code) as u32, first.pack(code));
                self.unnumbered.push(Wanted { query: wanted.query, key, record, apart: distance, limit: 0 });
            }
        }
        Ok(())
    }
}
