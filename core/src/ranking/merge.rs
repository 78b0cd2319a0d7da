//! Merging parts into one, without removed documents.

use super::build::{Sorted, joined};
use super::index::Slot;
use super::part::{PostingColumns, PostingPart, posting};
use super::{LARGE, MOST_ROWS};
use crate::saved::Corrupt;

/// Documents of a row that is gone.
const GONE: u32 = u32::MAX;

/// Returns the rows of all parts as one numbering, in the order of the parts, whose keys ascend from part to part.
pub(super) fn merged(slots: &[Slot]) -> Result<PostingPart, Corrupt> {
    let columns = slots.iter().map(|slot| slot.part.columns()).collect::<Result<Vec<_>, _>>()?;
    let mut keys = Vec::new();
    let mut rows: Vec<Vec<u32>> = Vec::with_capacity(slots.len());
    for (slot, columns) in slots.iter().zip(&columns) {
        let mut numbers = Vec::with_capacity(columns.keys.len());
        for (row, &key) in columns.keys.iter().enumerate() {
            if slot.is_gone(row) {
                numbers.push(GONE);
            } else {
                numbers.push(keys.len() as u32);
                keys.push(key);
            }
        }
        rows.push(numbers);
    }
    debug_assert!(keys.len() <= MOST_ROWS);
    let mut sorted = Sorted::default();
    let mut places = vec![0; columns.len()];
    let first = |places: &[usize]| {
        let next = columns.iter().zip(places).filter_map(|(columns, &place)| columns.terms.get(place));
        next.min().copied()
    };
    while let Some(term) = first(&places) {
        let before = sorted.postings.len();
        for ((columns, numbers), place) in columns.iter().zip(&rows).zip(&mut places) {
            if columns.terms.get(*place) == Some(&term) {
                copy(columns, *place, numbers, &mut sorted);
                *place += 1;
            }
        }
        if sorted.postings.len() > before {
            sorted.terms.push(term);
            sorted.ends.push(sorted.postings.len() as u64);
        }
    }
    Ok(joined(keys, vec![sorted]))
}

fn copy(columns: &PostingColumns<'_>, term: usize, numbers: &[u32], sorted: &mut Sorted) {
    columns.each(term, |row, count| {
        // A row that does not exist: `verify` refuses such a file.
        let Some(&number) = numbers.get(row).filter(|&&number| number != GONE) else { return };
        if count >= LARGE {
            sorted.large.push(sorted.postings.len() as u64);
            sorted.large_counts.push(count);
        }
        sorted.postings.push(posting(number, count));
    });
}
