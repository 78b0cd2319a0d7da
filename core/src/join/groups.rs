//! Groups of equal codes: a million copies of a text cost no more than one.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;

use super::keys::hash;
use super::partition::{Sorted, Work, scatter};
use super::{Code, Input};
use crate::memory::prefetch;

/// Rows in order of their code; a group of equal rows is known by its place in that order.
pub struct Groups {
    order: Vec<u32>,
    /// A bit for each place at which a group starts.
    starts: Vec<u64>,
    count: usize,
    rows: usize,
}

impl Groups {
    /// Returns the number of rows, with or without a signal.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of rows that have a code.
    pub(super) fn coded(&self) -> usize {
        self.order.len()
    }

    /// Returns the number of distinct codes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the rows of a group, ascending.
    pub fn of(&self, group: u32) -> &[u32] {
        let from = group as usize;
        &self.order[from..self.next_start(from + 1)]
    }

    /// Prefetches a group.
    pub(super) fn fetch(&self, group: u32) {
        prefetch(&self.order[group as usize]);
        prefetch(&self.starts[group as usize / 64]);
    }

    /// Returns the first row of a group.
    pub fn first(&self, group: u32) -> u32 {
        self.order[group as usize]
    }

    /// Returns all groups, by number.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let group = at;
            at = if at < self.order.len() { self.next_start(at + 1) } else { at };
            (group < self.order.len()).then_some(group as u32)
        })
    }

    /// Returns the groups of more than one row, by number. Skips whole words of single rows.
    pub(crate) fn repeated(&self) -> impl Iterator<Item = u32> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let repeat = self.next_repeat(at);
            at = if repeat < self.order.len() { self.next_start(repeat) } else { repeat };
            // The position before the first repeat is the start of its group.
            (repeat < self.order.len()).then(|| repeat as u32 - 1)
        })
    }

    /// Returns the next place at which no group starts.
    fn next_repeat(&self, at: usize) -> usize {
        let Some(&word) = self.starts.get(at / 64) else { return self.order.len() };
        let here = !word >> (at % 64);
        if here != 0 {
            return at + here.trailing_zeros() as usize;
        }
        let later = self.starts[at / 64 + 1..].iter().position(|&word| word != u64::MAX);
        later.map_or(self.order.len(), |skip| {
            let word = at / 64 + 1 + skip;
            word * 64 + (!self.starts[word]).trailing_zeros() as usize
        })
    }

    /// Returns the number of pairs among equal rows.
    pub(crate) fn equal_pairs(&self) -> u64 {
        self.repeated().map(|group| self.of(group).len() as u64).map(|size| size * (size - 1) / 2).sum()
    }

    fn next_start(&self, at: usize) -> usize {
        let Some(&word) = self.starts.get(at / 64) else { return self.order.len() };
        let here = word >> (at % 64);
        if here != 0 {
            return at + here.trailing_zeros() as usize;
        }
        let later = self.starts[at / 64 + 1..].iter().position(|&word| word != 0);
        later.map_or(self.order.len(), |skip| {
            let word = at / 64 + 1 + skip;
            word * 64 + self.starts[word].trailing_zeros() as usize
        })
    }
}

/// Up to this many codes under one hash are compared with each other before they are sorted.
const FEW: usize = 8;
/// Marks the position of a repeated code.
const REPEAT: u32 = u32::MAX;

/// Returns the rows with a signal, equal ones grouped; the work holds one code for each group.
pub(super) fn group<const W: usize>(input: &Input) -> (Groups, Work<W>) {
    group_work(copy(input), input.rows())
}

/// Groups codes, each with its row number among `all` rows.
pub(crate) fn group_work<const W: usize>(mut work: Work<W>, all: usize) -> (Groups, Work<W>) {
    let rows = work.len();
    let log = usize::BITS - rows.leading_zeros();
    let high = log.saturating_sub(13).min(10);
    let low = log.saturating_sub(high + 1).clamp(1, 16);
    let pieces = scatter(&mut work.codes, &mut work.items, 1 << high, |codes, keys| {
        keys.clear();
        keys.extend(codes.iter().map(|code| (u64::from(hash(code)) >> (32 - high)) as u32));
    });

    let mut order = vec![0; rows];
    let starts: Vec<AtomicU64> = (0..rows.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
    let count = AtomicUsize::new(0);
    let mut parts = Vec::with_capacity(1 << high);
    let (mut rest, mut base) = (order.as_mut_slice(), 0);
    for (bucket, size) in pieces.split(&mut work.codes, &mut work.items).zip(pieces.sizes()) {
        let (part, later) = rest.split_at_mut(size);
        parts.push((bucket, base, part));
        (rest, base) = (later, base + size);
    }
    parts.into_par_iter().for_each_init(
        || (Work::default(), Sorted::default(), Vec::new(), Vec::new()),
        |(local, sorted, keys, run), (mut bucket, base, order)| {
            bucket.gather(local);
            keys.clear();
            keys.extend(local.codes.iter().map(|code| hash(code) << high >> (32 - low) & ((1 << low) - 1)));
            sorted.sort(&local.codes, &local.items, keys, low);
            // Equal codes under one hash must be adjacent; two codes always are.
            for ends in sorted.starts.windows(2).filter(|ends| ends[1] - ends[0] > 2) {
                let (from, to) = (ends[0] as usize, ends[1] as usize);
                let (codes, rows) = (&mut sorted.work.codes[from..to], &mut sorted.work.items[from..to]);
                if are_mixed(codes) {
                    run.clear();
                    run.extend(codes.iter().copied().zip(rows.iter().copied()));
                    run.sort_unstable();
                    for (at, (code, row)) in run.iter().enumerate() {
                        (codes[at], rows[at]) = (*code, *row);
                    }
                }
            }
            let (codes, rows) = (&sorted.work.codes[..order.len()], &sorted.work.items[..order.len()]);
            order.copy_from_slice(rows);
            let mut groups = 0;
            let mut word = (base / 64, 0u64);
            for (at, code) in codes.iter().enumerate() {
                let first = at == 0 || *code != codes[at - 1];
                // A repeat is overwritten by the next code: no branch to mispredict.
                (local.codes[groups], local.items[groups]) = (*code, (base + at) as u32);
                groups += usize::from(first);
                if (base + at) / 64 != word.0 {
                    starts[word.0].fetch_or(word.1, Relaxed);
                    word = ((base + at) / 64, 0);
                }
                word.1 |= u64::from(first) << ((base + at) % 64);
            }
            if let Some(start) = starts.get(word.0) {
                start.fetch_or(word.1, Relaxed);
            }
            count.fetch_add(groups, Relaxed);
            let mut taken = 0;
            bucket.each_piece(|codes, items| {
                let fill = codes.len().min(groups - taken);
                codes[..fill].copy_from_slice(&local.codes[taken..taken + fill]);
                items[..fill].copy_from_slice(&local.items[taken..taken + fill]);
                items[fill..].fill(REPEAT);
                taken += fill;
            });
        },
    );
    let count = count.into_inner();
    if count < rows {
        let mut kept = 0;
        for at in 0..rows {
            if work.items[at] != REPEAT {
                work.codes[kept] = work.codes[at];
                work.items[kept] = work.items[at];
                kept += 1;
            }
        }
        work.codes.truncate(kept);
        work.items.truncate(kept);
        work.codes.shrink_to_fit();
        work.items.shrink_to_fit();
    }
    let starts = starts.into_iter().map(AtomicU64::into_inner).collect();
    (Groups { order, starts, count, rows: all }, work)
}

/// Returns whether equal codes may lie apart: not if all are equal, nor if all of a few differ.
fn are_mixed<const W: usize>(codes: &[Code<W>]) -> bool {
    let few = codes.len() <= FEW;
    let repeats = |at: usize| codes[..at].contains(&codes[at]);
    if few { (1..codes.len()).any(repeats) } else { codes.iter().any(|code| *code != codes[0]) }
}

/// Returns the codes of rows with a signal and their row numbers.
fn copy<const W: usize>(input: &Input) -> Work<W> {
    let code = |row: &[u64]| std::array::from_fn(|word| row.get(word).copied().unwrap_or(0));
    let mut work = Work::default();
    match input.signal {
        None => {
            work.codes = input.values.par_chunks_exact(input.words).map(code).collect();
            work.items = (0..input.rows() as u32).collect();
        }
        Some(signal) => {
            let rows = signal.iter().filter(|&&signal| signal).count();
            work.codes.reserve_exact(rows);
            work.items.reserve_exact(rows);
            for (row, values) in input.values.chunks_exact(input.words).enumerate() {
                if signal[row] {
                    work.codes.push(code(values));
                    work.items.push(row as u32);
                }
            }
        }
    }
    work
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn repeated_groups_are_those_of_more_than_one_row(values in prop::collection::vec(0u64..150, 0..400)) {
            let (groups, _) = group::<1>(&Input { values: &values, words: 1, signal: None });
            let expected: Vec<u32> = groups.iter().filter(|&group| groups.of(group).len() > 1).collect();
            prop_assert_eq!(groups.repeated().collect::<Vec<_>>(), expected);
            prop_assert!(groups.iter().all(|group| groups.of(group).is_sorted()));
        }
    }
}
