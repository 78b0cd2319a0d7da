//! The file of an index of sketches: the columns of one part.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::part::{Keys, SketchPart, prefix_bits};
use super::sketch::{REGISTERS, SKETCH_BYTES};
use super::table::{SketchTable, buckets, width};
use crate::saved::{self, Corrupt, FileError, Format, Head, Repeats, Store};

const FORMAT: Format = Format { magic: b"neardupS", version: 2, name: "file of neardup sketches", numbers: 8 };
/// Tables a file may have.
const MOST_TABLES: u64 = 1 << 12;

/// The numbers of the header.
#[derive(Clone, Copy)]
struct Header {
    /// Different sketches.
    sketches: usize,
    entries: usize,
    repeats: usize,
    /// The least and the greatest key.
    span: (i64, i64),
    /// Bytes of a key: 4 for offsets from the least key, 8 for whole keys.
    key_bytes: usize,
    tables: usize,
    /// Registers of a table.
    table_key: usize,
}

impl Header {
    fn from_head(head: &Head) -> Result<Header, &'static str> {
        let [sketches, entries, repeats, first, last, key_bytes, tables, table_key] = head.numbers[..] else {
            return Err("the header is cut short");
        };
        let few = entries <= u64::from(u32::MAX) && sketches <= entries && repeats <= sketches;
        if !few || (sketches == 0) != (entries == 0) || (repeats == 0) != (sketches == entries) {
            return Err("the counts in the header do not add up");
        }
        if !matches!(key_bytes, 4 | 8) || tables > MOST_TABLES || table_key > REGISTERS as u64 {
            return Err("the header has impossible keys or tables");
        }
        Ok(Header {
            sketches: sketches as usize,
            entries: entries as usize,
            repeats: repeats as usize,
            span: (first as i64, last as i64),
            key_bytes: key_bytes as usize,
            tables: tables as usize,
            table_key: table_key as usize,
        })
    }

    fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![
            (SKETCH_BYTES - REGISTERS) * self.sketches,
            REGISTERS * self.sketches,
            4 * ((1 << prefix_bits(self.sketches)) + 1),
            8 * self.repeats,
            self.key_bytes * self.entries,
            self.tables * self.table_key,
        ];
        for _ in 0..self.tables {
            sizes.push(4 * (buckets(self.sketches) + 1));
            sizes.push(width(self.sketches) * self.sketches);
        }
        sizes
    }
}

/// Writes a part to a temporary file, syncs it and renames it.
pub(super) fn write(path: &Path, part: &SketchPart, recipe: Option<&str>) -> Result<(), FileError> {
    let (key_bytes, keys): (u64, &[u8]) = match &part.keys {
        Keys::Narrow(_, offsets) => (4, bytemuck::cast_slice(offsets.all()?)),
        Keys::Wide(keys) => (8, bytemuck::cast_slice(keys.all()?)),
    };
    let table_key = part.tables.first().map_or(0, |table| table.registers.len());
    let registers: Vec<u8> = part.tables.iter().flat_map(|table| &table.registers).copied().collect();
    let repeats = part.repeats.counts();
    let head = Head {
        numbers: vec![
            part.len() as u64,
            part.entries() as u64,
            repeats.len() as u64,
            part.span.0 as u64,
            part.span.1 as u64,
            key_bytes,
            part.tables.len() as u64,
            table_key as u64,
        ],
        text: recipe.map(str::to_owned),
    };
    let mut columns: Vec<&[u8]> = vec![
        bytemuck::cast_slice(part.digests.all()?),
        bytemuck::cast_slice(part.registers.all()?),
        bytemuck::cast_slice(part.starts.all()?),
        bytemuck::cast_slice(repeats.all()?),
        keys,
        &registers,
    ];
    for table in &part.tables {
        columns.push(bytemuck::cast_slice(table.directory.all()?));
        columns.push(table.numbers.all()?);
    }
    saved::write(path, &FORMAT, &head, &columns)
}

/// Returns a part whose columns are mapped, and the recipe of its texts.
pub(super) fn open(path: &Path) -> Result<(SketchPart, Option<String>), FileError> {
    let mut file = saved::open(path, &[&FORMAT], |head| Ok(Header::from_head(head)?.sizes()))?;
    let wrong = |what: &str| FileError::Corrupt(Corrupt::new(what));
    let header = Header::from_head(&file.head).map_err(wrong)?;
    let count = header.sketches;
    let (digests, registers) = (file.next(count)?, file.next(count)?);
    let starts = file.next((1 << prefix_bits(count)) + 1)?;
    let repeats = Repeats::new(file.next(header.repeats)?, count, header.entries);
    let keys = match header.key_bytes {
        4 => Keys::Narrow(header.span.0, file.next(header.entries)?),
        _ => Keys::Wide(file.next(header.entries)?),
    };
    let filed: Store<u8> = file.next(header.tables * header.table_key)?;
    let mut tables = Vec::with_capacity(header.tables);
    for number in 0..header.tables {
        let key = filed.range(number * header.table_key..(number + 1) * header.table_key)?;
        if key.iter().any(|&at| usize::from(at) >= REGISTERS) {
            return Err(file.mapped.corrupt("a table has a register that does not exist").into());
        }
        let (directory, numbers) = (file.next(buckets(count) + 1)?, file.next(width(count) * count)?);
        tables.push(SketchTable::new(key.to_vec(), directory, numbers, count));
    }
    let mapped = Some(Arc::clone(&file.mapped));
    let (span, lacking, built) = (header.span, Vec::new(), OnceLock::new());
    let part = SketchPart { digests, registers, starts, repeats, keys, span, tables, lacking, built, file: mapped };
    Ok((part, file.head.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checksums find damage; these headers have right checksums and wrong contents.
    #[test]
    fn headers_that_cannot_be_are_refused() {
        let read = |numbers: &[u64]| {
            let head = Head { numbers: numbers.to_vec(), text: None };
            Header::from_head(&head).map(|header| header.sizes().len())
        };
        let (counts, keys) = ("the counts in the header do not add up", "the header has impossible keys or tables");
        let good = [10, 12, 2, 0, 11, 4, 3, 4];
        assert_eq!(read(&good), Ok(6 + 2 * 3));
        assert_eq!(read(&good[..7]), Err("the header is cut short"));
        let with = |changes: &[(usize, u64)]| {
            let mut numbers = good;
            changes.iter().for_each(|&(at, value)| numbers[at] = value);
            read(&numbers)
        };
        for fine in [&[(0, 12), (2, 0)][..], &[(0, 0), (1, 0), (2, 0)], &[(5, 8)], &[(6, MOST_TABLES)], &[(7, 48)]] {
            assert!(with(fine).is_ok(), "{fine:?}");
        }
        assert!(with(&[(1, u64::from(u32::MAX))]).is_ok());
        for (wrong, what) in [
            (&[(1, u64::from(u32::MAX) + 1)][..], counts),
            (&[(0, 13)], counts),
            (&[(2, 11)], counts),
            (&[(0, 0), (2, 0)], counts),
            (&[(0, 1), (1, 0), (2, 0)], counts),
            (&[(2, 0)], counts),
            (&[(0, 12)], counts),
            (&[(5, 5)], keys),
            (&[(5, 0)], keys),
            (&[(6, MOST_TABLES + 1)], keys),
            (&[(7, 49)], keys),
        ] {
            assert_eq!(with(wrong), Err(what), "{wrong:?}");
        }
    }
}
