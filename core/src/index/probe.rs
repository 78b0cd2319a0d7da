//! A search through the tables of a segment: the buckets near the query's keys, each code from the first table that
//! finds it.

use std::ops::Range;

use super::records::{Near, scan};
use super::segment::Segment;
use super::store::Corrupt;

/// Probes in flight: enough to hide the way to memory.
const PROBES: usize = 32;
/// Bytes memory is fetched by, and how many such lines of a bucket are asked for ahead.
const LINE: usize = 64;
const AHEAD: usize = 24;

/// One code near a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) query: u32,
    /// The code's number in its segment.
    pub(super) unique: u32,
    pub(super) distance: u32,
}

struct Probe {
    query: u32,
    table: u32,
    key: u32,
    /// Bits of difference in what the records leave out.
    apart: u32,
    bucket: Range<usize>,
}

/// Searches through the tables, many probes at a time, so that memory is asked for long before it is read.
struct Prober<'a, const N: usize> {
    segment: &'a Segment,
    flips: &'a [Option<u32>],
    words: usize,
    /// For each query and table: the query's key and record.
    prepared: Vec<(usize, [u64; N])>,
    radius: u32,
    /// Probes whose place in the directory was asked for.
    probes: Vec<Probe>,
    /// Those before them, whose records were asked for.
    ready: Vec<Probe>,
    near: Vec<Near>,
    hits: &'a mut Vec<Hit>,
}

pub(super) fn probe<const N: usize>(
    segment: &Segment,
    flips: &[Option<u32>],
    masks: &[Vec<u32>],
    queries: &[&[u64]],
    radius: u32,
    hits: &mut Vec<Hit>,
) -> Result<(), Corrupt> {
    let mut prepared = Vec::with_capacity(queries.len() * segment.tables.len());
    for query in queries {
        for table in &segment.tables {
            let key = table.shape.key(query);
            prefetch(&table.directory.unchecked()[key]);
            prepared.push((key, table.shape.pack::<N>(query)));
        }
    }
    let words = segment.bits.div_ceil(64);
    let (probes, ready) = (Vec::with_capacity(PROBES), Vec::with_capacity(PROBES));
    let mut prober = Prober { segment, flips, words, prepared, radius, probes, ready, near: Vec::new(), hits };
    for query in 0..queries.len() {
        prober.query(query, masks)?;
    }
    prober.advance()?;
    prober.advance()
}

impl<const N: usize> Prober<'_, N> {
    fn query(&mut self, query: usize, masks: &[Vec<u32>]) -> Result<(), Corrupt> {
        let tables = &self.segment.tables;
        for (number, (table, masks)) in tables.iter().zip(masks).enumerate() {
            let own = self.prepared[query * tables.len() + number].0;
            for &mask in masks {
                let apart = table.shape.dropped_distance(mask as usize);
                if apart > self.radius {
                    continue;
                }
                let key = own ^ mask as usize;
                if mask != 0 {
                    prefetch(&table.directory.unchecked()[key]);
                }
                let (query, number, key) = (query as u32, number as u32, key as u32);
                self.probes.push(Probe { query, table: number, key, apart, bucket: 0..0 });
                if self.probes.len() == PROBES {
                    self.advance()?;
                }
            }
        }
        Ok(())
    }

    /// Reads the buckets that are ready, and asks for those of the probes gathered since.
    fn advance(&mut self) -> Result<(), Corrupt> {
        let ready = std::mem::take(&mut self.ready);
        for probe in &ready {
            self.read(probe)?;
        }
        self.ready = std::mem::replace(&mut self.probes, ready);
        self.probes.clear();
        for probe in &mut self.ready {
            let table = &self.segment.tables[probe.table as usize];
            probe.bucket = table.bucket(probe.key as usize);
            let (records, stride) = (table.records.unchecked(), table.shape.stride());
            let bytes = probe.bucket.start * stride..probe.bucket.end * stride;
            // The processor follows a longer run by itself.
            for line in records[bytes].chunks(LINE).take(AHEAD) {
                prefetch(&line[0]);
            }
        }
        Ok(())
    }

    fn read(&mut self, probe: &Probe) -> Result<(), Corrupt> {
        if probe.bucket.is_empty() {
            return Ok(());
        }
        let tables = &self.segment.tables;
        let table = &tables[probe.table as usize];
        let prepared = &self.prepared[probe.query as usize * tables.len()..][..tables.len()];
        let records = table.records(probe.bucket.clone())?;
        self.near.clear();
        scan(&table.shape, records, &prepared[probe.table as usize].1, self.radius - probe.apart, &mut self.near);
        for &(at, distance) in &self.near {
            let unique = if probe.table == 0 {
                probe.bucket.start + at as usize
            } else {
                let record = &records[at as usize * table.shape.stride()..];
                let code = &table.shape.unpack::<N>(record, probe.key as usize)[..self.words];
                let earlier = tables.iter().zip(self.flips).zip(prepared).take(probe.table as usize);
                let mut found_before = earlier.map(|((table, flips), (key, _))| {
                    flips.is_some_and(|flips| (table.shape.key(code) ^ key).count_ones() <= flips)
                });
                if found_before.any(|found| found) {
                    continue;
                }
                match self.segment.find::<N>(code)? {
                    Some(unique) => unique,
                    None => return Err(table.records.corrupt("its tables do not hold the same codes")),
                }
            };
            self.hits.push(Hit { query: probe.query, unique: unique as u32, distance: distance + probe.apart });
        }
        Ok(())
    }
}

/// Asks for the memory behind a reference, so that it is near when it is read.
#[inline(always)]
fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has this instruction, and it changes nothing a program can see.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(std::ptr::from_ref(place).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
