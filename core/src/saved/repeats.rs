//! The number of entries of each value of a column without repeats.

use std::ops::Range;

use super::columns::{Corrupt, Store};

/// Numbered values with one entry or more each; the entries of a value are adjacent, in the order of values.
pub(crate) struct Repeats {
    /// For values with several entries: the value's number, and the running total of entries beyond the first.
    counts: Store<[u32; 2]>,
    values: usize,
    entries: usize,
}

impl Repeats {
    pub(crate) fn new(counts: Store<[u32; 2]>, values: usize, entries: usize) -> Repeats {
        Repeats { counts, values, entries }
    }

    /// Returns the column for values with these numbers of entries.
    pub(crate) fn counted(lengths: impl Iterator<Item = usize>) -> Vec<[u32; 2]> {
        let (mut counts, mut extra) = (Vec::new(), 0);
        for (value, length) in lengths.enumerate().filter(|(_, length)| *length > 1) {
            extra += length as u32 - 1;
            counts.push([value as u32, extra]);
        }
        counts.shrink_to_fit();
        counts
    }

    pub(crate) fn counts(&self) -> &Store<[u32; 2]> {
        &self.counts
    }

    pub(crate) fn entries(&self) -> usize {
        self.entries
    }

    /// Returns the positions of a value's entries.
    pub(crate) fn entries_of(&self, value: usize) -> Result<Range<usize>, Corrupt> {
        let counts = &self.counts;
        let at = partition_point(counts.len(), |at| Ok((counts.at(at)?[0] as usize) < value))?;
        let before = if at == 0 { 0 } else { counts.at(at - 1)?[1] as usize };
        let mut end = value + before + 1;
        if at < counts.len() {
            let [repeated, extra] = counts.at(at)?;
            if repeated as usize == value {
                end = value + 1 + extra as usize;
            }
        }
        if end > self.entries || end <= value + before {
            return Err(counts.corrupt("the counts of repeated codes do not add up"));
        }
        Ok(value + before..end)
    }

    /// Returns the number of the value that an entry belongs to.
    pub(crate) fn value_of(&self, entry: usize) -> Result<usize, Corrupt> {
        let counts = &self.counts;
        let extra = |at: usize| Ok(if at == 0 { 0 } else { counts.at(at - 1)?[1] as usize });
        let started = |at: usize| Ok(counts.at(at)?[0] as usize + extra(at)? <= entry);
        let at = partition_point(counts.len(), started)?;
        if at == 0 {
            return Ok(entry);
        }
        let [repeated, through] = counts.at(at - 1)?;
        let value =
            if entry <= repeated as usize + through as usize { repeated as usize } else { entry - through as usize };
        if value < self.values { Ok(value) } else { Err(counts.corrupt("a repeated code is none")) }
    }
}

/// Returns the first of `count` positions for which `before` is false.
pub(crate) fn partition_point(
    count: usize,
    mut before: impl FnMut(usize) -> Result<bool, Corrupt>,
) -> Result<usize, Corrupt> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle)? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}
