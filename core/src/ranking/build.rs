//! Documents → terms and counts → postings.

use rayon::prelude::*;

use super::part::{PostingPart, posting};
use super::{LARGE, MOST_ROWS};
use crate::Error;
use crate::pipeline::Pipeline;

/// Terms are divided by their first bits, so that several threads can sort them.
const SHARD_BITS: u32 = 6;
const SHARDS: usize = 1 << SHARD_BITS;
/// A task has texts of about this many bytes.
const TASK_BYTES: usize = 256 << 10;
/// Occurrences in memory before postings are made of them.
const MOST_OCCURRENCES: usize = 1 << 26;

/// A term in a document.
#[derive(Clone, Copy)]
struct Occurrence {
    term: u64,
    row: u32,
    count: u32,
}

type Shards = Vec<Vec<Occurrence>>;

/// Documents as terms with counts, before postings are built. Sixteen bytes an occurrence.
#[derive(Default)]
pub struct Counted {
    keys: Vec<i64>,
    tasks: Vec<Shards>,
}

impl Counted {
    /// Returns the number of documents so far.
    pub fn rows(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether postings should be built before more documents are added.
    pub fn is_full(&self) -> bool {
        self.keys.len() >= MOST_ROWS / 2 || self.tasks.iter().flatten().map(Vec::len).sum::<usize>() >= MOST_OCCURRENCES
    }

    /// Tokenises texts, on the threads of the current rayon pool. Keys ascend; a missing text is skipped.
    pub fn add(&mut self, pipeline: &Pipeline, texts: &[Option<&str>], keys: &[i64]) {
        let mut tasks: Vec<Vec<(u32, &str)>> = Vec::new();
        let mut bytes = TASK_BYTES;
        for (text, &key) in texts.iter().zip(keys) {
            let Some(text) = text else { continue };
            if bytes >= TASK_BYTES {
                tasks.push(Vec::new());
                bytes = 0;
            }
            bytes += text.len() + 64;
            if let Some(task) = tasks.last_mut() {
                task.push((self.keys.len() as u32, text));
            }
            self.keys.push(key);
        }
        self.tasks.par_extend(tasks.into_par_iter().map(|task| {
            let mut shards: Shards = vec![Vec::new(); SHARDS];
            for (row, text) in task {
                for (term, count) in pipeline.terms(text) {
                    shards[(term >> (64 - SHARD_BITS)) as usize].push(Occurrence { term, row, count });
                }
            }
            shards
        }));
    }

    /// Adds documents by their distinct terms: `bounds` has the start of each document's terms, and the end of the
    /// last.
    pub fn add_terms(&mut self, bounds: &[u64], terms: &[u64], keys: &[i64]) -> Result<(), Error> {
        let sorted = bounds.first() == Some(&0) && bounds.is_sorted() && bounds.last() == Some(&(terms.len() as u64));
        if bounds.len() != keys.len() + 1 || !sorted {
            return Err(Error::new(format!(
                "bounds must ascend from 0 to the {} terms, one more than the {} documents",
                terms.len(),
                keys.len()
            )));
        }
        let mut shards: Shards = vec![Vec::new(); SHARDS];
        for (bound, &key) in bounds.windows(2).zip(keys) {
            let row = self.keys.len() as u32;
            for &term in &terms[bound[0] as usize..bound[1] as usize] {
                shards[(term >> (64 - SHARD_BITS)) as usize].push(Occurrence { term, row, count: 1 });
            }
            self.keys.push(key);
        }
        self.tasks.push(shards);
        Ok(())
    }

    /// Returns the postings of these documents, on the threads of the current rayon pool. O(occurrences).
    pub(super) fn part(self) -> PostingPart {
        let Counted { keys, tasks } = self;
        let sorted: Vec<Sorted> =
            (0..SHARDS).into_par_iter().map(|shard| Sorted::new(tasks.iter().map(|task| &task[shard][..]))).collect();
        drop(tasks);
        joined(keys, sorted)
    }
}

/// Postings of some terms.
#[derive(Default)]
pub(super) struct Sorted {
    pub(super) terms: Vec<u64>,
    /// Where the postings of each term end.
    pub(super) ends: Vec<u64>,
    pub(super) postings: Vec<u32>,
    pub(super) large: Vec<u64>,
    pub(super) large_counts: Vec<u32>,
}

impl Sorted {
    /// Numbers the terms in order of appearance, then sorts the occurrences by term.
    fn new<'a>(tasks: impl Iterator<Item = &'a [Occurrence]> + Clone) -> Sorted {
        let total: usize = tasks.clone().map(<[Occurrence]>::len).sum();
        let mut numbers = Numbers::new(total / 8);
        let found: Vec<u32> = tasks.clone().flatten().map(|occurrence| numbers.of(occurrence.term)).collect();
        let mut order: Vec<u32> = (0..numbers.terms.len() as u32).collect();
        order.sort_unstable_by_key(|&number| numbers.terms[number as usize]);
        let mut places = vec![0u64; order.len()];
        let (mut terms, mut ends, mut end) = (Vec::with_capacity(order.len()), Vec::with_capacity(order.len()), 0);
        for &number in &order {
            terms.push(numbers.terms[number as usize]);
            places[number as usize] = end;
            end += u64::from(numbers.counts[number as usize]);
            ends.push(end);
        }
        let mut postings = vec![0; total];
        let mut large = Vec::new();
        for (occurrence, number) in tasks.flatten().zip(found) {
            let place = &mut places[number as usize];
            postings[*place as usize] = posting(occurrence.row, occurrence.count);
            if occurrence.count >= LARGE {
                large.push((*place, occurrence.count));
            }
            *place += 1;
        }
        large.sort_unstable();
        let (large, large_counts) = large.into_iter().unzip();
        Sorted { terms, ends, postings, large, large_counts }
    }
}

/// Concatenates postings of ascending terms into one part.
pub(super) fn joined(keys: Vec<i64>, sorted: Vec<Sorted>) -> PostingPart {
    let (terms, total) =
        sorted.iter().fold((0, 0), |(terms, total), some| (terms + some.terms.len(), total + some.postings.len()));
    let (mut all_terms, mut starts) = (Vec::with_capacity(terms), Vec::with_capacity(terms + 1));
    let mut postings: Vec<u32> = Vec::with_capacity(total);
    let (mut large, mut large_counts) = (Vec::new(), Vec::new());
    starts.push(0);
    for some in sorted {
        let before = postings.len() as u64;
        all_terms.extend(some.terms);
        starts.extend(some.ends.iter().map(|end| end + before));
        postings.extend(some.postings);
        large.extend(some.large.iter().map(|at| at + before));
        large_counts.extend(some.large_counts);
    }
    PostingPart::new(keys, all_terms, starts, postings, (large, large_counts))
}

/// Terms numbered in the order in which they come: a table with open addressing.
struct Numbers {
    /// A number plus one; 0 is free.
    slots: Vec<u32>,
    terms: Vec<u64>,
    counts: Vec<u32>,
}

impl Numbers {
    fn new(expected: usize) -> Numbers {
        let size = (2 * expected).next_power_of_two().max(64);
        Numbers { slots: vec![0; size], terms: Vec::new(), counts: Vec::new() }
    }

    /// Counts an occurrence of a term; returns its number.
    #[inline]
    fn of(&mut self, term: u64) -> u32 {
        let mask = self.slots.len() - 1;
        let mut slot = term as usize & mask;
        loop {
            match self.slots[slot] {
                0 => break,
                number if self.terms[number as usize - 1] == term => {
                    self.counts[number as usize - 1] += 1;
                    return number - 1;
                }
                _ => slot = (slot + 1) & mask,
            }
        }
        self.terms.push(term);
        self.counts.push(1);
        self.slots[slot] = self.terms.len() as u32;
        if self.terms.len() * 2 > self.slots.len() {
            self.grow();
        }
        self.terms.len() as u32 - 1
    }

    #[cold]
    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        self.slots = vec![0; mask + 1];
        for (number, &term) in (1..).zip(&self.terms) {
            let mut slot = term as usize & mask;
            while self.slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = number;
        }
    }
}
