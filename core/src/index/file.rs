//! The file of an index: the columns of one segment.

use std::path::Path;

use super::ids::{Id, IdColumn, Kind};
use super::records::{PADDING, Shape, blocks};
use super::segment::{Segment, SegmentColumns};
use crate::MAX_BITS;
use crate::saved::{self, Corrupt, FileError, Format, Head, Opened as File};

/// The format of an index with one level that was not told how many to have.
const PLAIN: Format = Format { magic: b"neardupI", version: 1, name: "saved neardup index", numbers: 7 };
/// The format of other indexes.
const LEVELLED: Format = Format { version: 2, numbers: 9, ..PLAIN };

/// The numbers of the header.
struct Header {
    bits: u64,
    /// 0: no ids, 1: integers, 2: strings.
    kind: u64,
    unique: u64,
    entries: u64,
    repeats: u64,
    /// Bytes of all string ids.
    text: u64,
    next_id: i64,
    /// Levels of the segment.
    levels: u64,
    /// Levels that were asked for; 0: none.
    asked: u64,
}

impl Header {
    fn to_head(&self, recipe: Option<&str>) -> Head {
        let Header { bits, kind, unique, entries, repeats, text, next_id, levels, asked } = *self;
        let mut numbers = vec![bits, kind, unique, entries, repeats, text, next_id as u64];
        if !self.is_plain() {
            numbers.extend([levels, asked]);
        }
        Head { numbers, text: recipe.map(str::to_owned) }
    }

    fn is_plain(&self) -> bool {
        (self.levels, self.asked) == (1, 0)
    }

    fn from_head(head: &Head) -> Header {
        let number = |at: usize| head.numbers.get(at).copied().unwrap_or_default();
        Header {
            bits: number(0),
            kind: number(1),
            unique: number(2),
            entries: number(3),
            repeats: number(4),
            text: number(5),
            next_id: number(6) as i64,
            levels: head.numbers.get(7).copied().unwrap_or(1),
            asked: number(8),
        }
    }

    fn check(&self) -> Result<(), &'static str> {
        let few = |number: u64| number <= u64::from(u32::MAX);
        if self.bits == 0 || self.bits > MAX_BITS as u64 || !self.bits.is_multiple_of(8) || self.kind > 2 {
            return Err("the header has an impossible width or kind of ids");
        }
        let most = blocks(self.bits as usize).min(2) as u64;
        if !(1..=most).contains(&self.levels) || self.asked > most {
            return Err("the header has an impossible number of levels");
        }
        let empty = self.kind == 0 && self.entries == 0 && self.unique == 0;
        let filled = self.kind > 0 && 0 < self.unique && self.unique <= self.entries;
        let repeated = (self.repeats == 0) == (self.unique == self.entries);
        if !(few(self.entries) && self.repeats <= self.unique && repeated && (empty || filled) && self.next_id >= 0) {
            return Err("the counts in the header do not add up");
        }
        Ok(())
    }

    /// Returns the bytes of each column.
    fn sizes(&self) -> Result<Vec<usize>, &'static str> {
        self.check()?;
        if self.kind == 0 {
            return Ok(Vec::new());
        }
        let (unique, entries) = (self.unique as usize, self.entries as usize);
        let mut sizes = Vec::new();
        for shape in Shape::tables(self.bits as usize, unique, self.levels as u32) {
            sizes.push(4 * (shape.buckets() + 1));
            sizes.push(unique * shape.stride() + PADDING);
        }
        sizes.push(8 * self.repeats as usize);
        sizes.push(8 * entries);
        if self.kind == 2 {
            sizes.push(usize::try_from(self.text).map_err(|_| "the counts in the header do not fit the file")?);
        }
        sizes.push(4 * entries);
        Ok(sizes)
    }
}

/// Writes an index to a temporary file, syncs it and renames it.
pub(crate) fn write(
    path: &Path,
    (bits, levels): (usize, Option<u32>),
    segment: Option<&Segment>,
    recipe: Option<&str>,
    next_id: i64,
) -> Result<(), FileError> {
    let header = Header {
        bits: bits as u64,
        kind: segment.map_or(0, |segment| match segment.ids().kind() {
            Kind::Int => 1,
            Kind::Str => 2,
        }),
        unique: segment.map_or(0, |segment| segment.unique() as u64),
        entries: segment.map_or(0, |segment| segment.entries() as u64),
        repeats: segment.map_or(0, |segment| segment.repeats() as u64),
        text: segment.map_or(0, |segment| match segment.ids() {
            IdColumn::Int(_) => 0,
            IdColumn::Str(_, text) => text.len() as u64,
        }),
        next_id,
        levels: segment.map_or(1, |segment| u64::from(segment.levels)),
        asked: u64::from(levels.unwrap_or(0)),
    };
    let format = if header.is_plain() { &PLAIN } else { &LEVELLED };
    let columns = segment.map(Segment::columns).transpose()?.unwrap_or_default();
    saved::write(path, format, &header.to_head(recipe), &columns)
}

/// An opened index file.
pub(crate) struct Opened {
    pub(crate) bits: usize,
    /// Levels that were asked for.
    pub(crate) levels: Option<u32>,
    pub(crate) segment: Option<Segment>,
    pub(crate) recipe: Option<String>,
    pub(crate) next_id: i64,
}

pub(crate) fn open(path: &Path) -> Result<Opened, FileError> {
    let mut file = saved::open(path, &[&PLAIN, &LEVELLED], |head| Header::from_head(head).sizes())?;
    let header = Header::from_head(&file.head);
    let segment = if header.kind == 0 { None } else { Some(segment(&mut file, &header)?) };
    let levels = Some(header.asked as u32).filter(|&asked| asked > 0);
    Ok(Opened { bits: header.bits as usize, levels, segment, recipe: file.head.text, next_id: header.next_id })
}

fn segment(file: &mut File, header: &Header) -> Result<Segment, Corrupt> {
    let (bits, unique, entries) = (header.bits as usize, header.unique as usize, header.entries as usize);
    let mut tables = Vec::new();
    let levels = header.levels as u32;
    for shape in Shape::tables(bits, unique, levels) {
        let directory = file.next(shape.buckets() + 1)?;
        let records = file.next(unique * shape.stride() + PADDING)?;
        tables.push((shape, directory, records));
    }
    let repeats = file.next(header.repeats as usize)?;
    let ids = match header.kind {
        1 => IdColumn::Int(file.next(entries)?),
        _ => IdColumn::Str(file.next(entries)?, file.next(header.text as usize)?),
    };
    let by_id = file.next(entries)?;
    let mapped = std::sync::Arc::clone(&file.mapped);
    let columns = SegmentColumns { levels, tables, repeats, ids, by_id, file: Some(mapped) };
    let segment = Segment::from_columns(bits, unique, columns)?;
    let next_is_free = match segment.id_at(segment.entries() - 1)?.1 {
        Id::Int(last) => last < header.next_id || last == i64::MAX,
        Id::Str(_) => true,
    };
    if next_is_free { Ok(segment) } else { Err(file.mapped.corrupt("the next id is one that is there")) }
}
