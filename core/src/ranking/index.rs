//! An index of documents by their terms, with additions and removals.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

use rayon::prelude::*;

use super::ask::{Ranked, ScoredDocument, Scratch, best};
use super::build::Counted;
use super::merge::merged;
use super::part::PostingPart;
use super::weighted::{IdfKind, LEAST_FREQUENT, Weighted};
use super::{COUNT_BITS, MOST_ROWS, file};
use crate::Error;
use crate::index::IndexError;
use crate::pipeline::Pipeline;
use crate::saved::{Corrupt, FileError};

/// A part in memory is merged with one before it that is at most so many times larger.
const NOT_MUCH_LARGER: usize = 2;
/// Larger parts are never merged: it would take long, and one more part to search costs nothing.
const LARGEST_MERGED: usize = 1 << 27;
/// Size of the cache of weights, one entry for each kind of idf.
const KEPT: usize = 2;

/// A part, and the documents that were removed from it.
#[derive(Clone)]
pub(super) struct Slot {
    pub(super) part: Arc<PostingPart>,
    /// A bit for each row, if any is gone.
    gone: Option<Arc<Vec<u64>>>,
    gone_count: usize,
    /// Whether a mapped file was checked as a whole.
    checked: Arc<AtomicBool>,
}

impl Slot {
    pub(super) fn new(part: PostingPart) -> Slot {
        let checked = Arc::new(AtomicBool::new(part.file.is_none()));
        Slot { part: Arc::new(part), gone: None, gone_count: 0, checked }
    }

    #[inline]
    pub(super) fn is_gone(&self, row: usize) -> bool {
        self.gone.as_ref().is_some_and(|gone| gone.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1))
    }

    pub(super) fn has_gone(&self) -> bool {
        self.gone_count > 0
    }

    pub(super) fn live(&self) -> usize {
        self.part.rows() - self.gone_count
    }

    /// Checks all of a mapped file, once.
    pub(super) fn check(&self) -> Result<(), Corrupt> {
        self.part.check_length()?;
        if !self.checked.load(Relaxed) {
            self.part.verify()?;
            self.checked.store(true, Relaxed);
        }
        Ok(())
    }

    fn span(&self) -> Result<Option<(i64, i64)>, Corrupt> {
        let keys = self.part.keys.len();
        if keys == 0 {
            return Ok(None);
        }
        Ok(Some((self.part.keys.at(0)?, self.part.keys.at(keys - 1)?)))
    }

    fn remove(&mut self, keys: &[i64]) -> Result<(), Corrupt> {
        let own = self.part.keys.all()?;
        let rows: Vec<usize> = keys.iter().filter_map(|key| own.binary_search(key).ok()).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let gone = self.gone.get_or_insert_with(|| Arc::new(vec![0; own.len().div_ceil(64)]));
        let gone = Arc::make_mut(gone);
        for row in rows {
            let (word, bit) = (&mut gone[row / 64], 1 << (row % 64));
            self.gone_count += usize::from(*word & bit == 0);
            *word |= bit;
        }
        Ok(())
    }
}

/// Parts, their keys ascending from one to the next.
#[derive(Clone, Default)]
pub(super) struct State {
    pub(super) slots: Vec<Slot>,
}

/// The description of a file of postings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The first key covered.
    pub first: i64,
    /// The last key covered: the file has all documents of this range that existed when it was written.
    pub last: i64,
    /// The number of documents.
    pub documents: usize,
    /// A number of the caller's.
    pub stamp: u64,
    /// The texts and the recipe of the postings, as the caller names them.
    pub identity: String,
}

/// Documents under ascending keys, ranked by the TF-IDF cosine of their terms with those of a query: exactly, for the
/// corpus as it is. Postings only know counts, so that documents can come and go; what depends on all of them is made
/// when a query comes after a change (`Weighted`: O(postings)). Adding `m` documents to `n` takes O(m log n), as parts
/// are merged when they are of a size (Bentley and Saxe, 1980). Queries: see `ask`.
pub struct TermIndex {
    identity: String,
    least_frequent: u64,
    state: RwLock<Arc<State>>,
    /// Held while writing: one writer at a time.
    writer: Mutex<()>,
    weighted: Mutex<Vec<Arc<Weighted>>>,
    scratch: Mutex<Vec<Scratch>>,
}

impl TermIndex {
    /// Returns an empty index; `identity` says of what texts and by what recipe.
    pub fn new(identity: String) -> TermIndex {
        TermIndex::with_frequent(identity, LEAST_FREQUENT)
    }

    /// Makes an index in which terms of fewer documents are never frequent.
    pub(super) fn with_frequent(identity: String, least_frequent: u64) -> TermIndex {
        TermIndex {
            identity,
            least_frequent,
            state: RwLock::default(),
            writer: Mutex::new(()),
            weighted: Mutex::default(),
            scratch: Mutex::default(),
        }
    }

    // A panic cannot leave the state half changed, since no step of a change fails. So poison is ignored.
    fn read(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    fn set(&self, state: State) {
        *self.state.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = Arc::new(state);
        // The weights of the previous state are large and of no more use.
        if let Ok(mut weighted) = self.weighted.try_lock() {
            weighted.clear();
        }
    }

    fn lock_writer(&self) -> MutexGuard<'_, ()> {
        self.writer.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns the number of documents, without removed ones.
    pub fn documents(&self) -> usize {
        self.read().slots.iter().map(Slot::live).sum()
    }

    /// Returns the bytes of the postings, including those of mapped files.
    pub fn bytes(&self) -> usize {
        self.read().slots.iter().map(|slot| slot.part.bytes()).sum()
    }

    /// Returns the keys of the documents, ascending.
    pub fn keys(&self) -> Result<Vec<i64>, Corrupt> {
        let mut keys = Vec::new();
        for slot in &self.read().slots {
            slot.part.check_length()?;
            let own = slot.part.keys.all()?.iter().enumerate();
            keys.extend(own.filter(|&(row, _)| !slot.is_gone(row)).map(|(_, &key)| key));
        }
        Ok(keys)
    }

    /// Adds documents whose keys are above all existing ones, on the threads of the current rayon pool.
    pub fn add(&self, counted: Counted) -> Result<(), IndexError> {
        if counted.rows() == 0 {
            return Ok(());
        }
        let slot = Slot::new(counted.part());
        let _writer = self.lock_writer();
        let state = self.read();
        self.check_follows(&state, &slot)?;
        let mut slots = state.slots.clone();
        slots.push(slot);
        while let [.., before, last] = &slots[..]
            && before.part.file.is_none()
            && before.live() <= NOT_MUCH_LARGER * last.live()
            && before.live() + last.live() <= MOST_ROWS
            && before.part.postings.len() + last.part.postings.len() <= LARGEST_MERGED
        {
            let together = Slot::new(merged(&slots[slots.len() - 2..])?);
            slots.truncate(slots.len() - 2);
            slots.push(together);
        }
        self.set(State { slots });
        Ok(())
    }

    fn check_follows(&self, state: &State, slot: &Slot) -> Result<(), IndexError> {
        let keys = slot.part.keys.all()?;
        let last = state.slots.iter().rev().find_map(|slot| slot.span().transpose()).transpose()?;
        let ascend = keys.is_sorted_by(|a, b| a < b);
        match last.zip(keys.first()) {
            Some(((_, last), &first)) if first <= last => Err(Error::new(format!(
                "the key {first} is not above {last}; keys must ascend: add documents in order of their keys"
            ))
            .into()),
            _ if !ascend => Err(Error::new("keys must ascend: add documents in order of their keys").into()),
            _ => Ok(()),
        }
    }

    /// Removes keys; ignores unknown ones.
    pub fn remove(&self, keys: &[i64]) -> Result<(), Corrupt> {
        if keys.is_empty() {
            return Ok(());
        }
        let _writer = self.lock_writer();
        let mut slots = self.read().slots.clone();
        for slot in &mut slots {
            slot.part.check_length()?;
            slot.remove(keys)?;
        }
        slots.retain(|slot| slot.live() > 0 || slot.part.file.is_some());
        self.set(State { slots });
        Ok(())
    }

    /// Returns the best `n` documents for each query, on the threads of the current rayon pool: those with the highest
    /// cosine, if it is at least `least`; among equals those with the lowest keys. Documents that share no term with a
    /// query are not found. The result is useless once `stop` is set.
    pub fn search(
        &self,
        pipeline: &Pipeline,
        queries: &[&str],
        n: usize,
        least: f64,
        kind: IdfKind,
        stop: &AtomicBool,
    ) -> Result<Ranked, Corrupt> {
        let weighted = self.weights(kind)?;
        let one = |query: &&str| {
            if stop.load(Relaxed) { Vec::new() } else { self.best(&weighted, &mut pipeline.terms(query), n, least) }
        };
        let found: Vec<Vec<ScoredDocument>> = match queries {
            [only] => vec![one(only)],
            _ => queries.par_iter().map(one).collect(),
        };
        let mut ranked = Ranked::default();
        for (query, hits) in (0..).zip(found) {
            for hit in hits {
                ranked.queries.push(query);
                ranked.keys.push(hit.key);
                ranked.scores.push(hit.score);
            }
        }
        Ok(ranked)
    }

    /// Returns the documents with at least one of some terms, by ascending keys. O(terms + their postings).
    pub fn sharing(&self, terms: &[u64]) -> Result<Vec<i64>, Corrupt> {
        let mut keys = Vec::new();
        for slot in &self.read().slots {
            slot.check()?;
            let columns = slot.part.seen();
            let found = terms.iter().filter_map(|&term| columns.find(term));
            let mut rows: Vec<u32> = found
                .flat_map(|term| &columns.postings[columns.span(term)])
                .map(|posting| posting >> COUNT_BITS)
                .collect();
            rows.sort_unstable();
            rows.dedup();
            let live = rows.into_iter().map(|row| row as usize).filter(|&row| !slot.is_gone(row));
            keys.extend(live.map(|row| columns.keys[row]));
        }
        Ok(keys)
    }

    pub(super) fn best(
        &self,
        weighted: &Weighted,
        terms: &mut [(u64, u32)],
        n: usize,
        least: f64,
    ) -> Vec<ScoredDocument> {
        // Never blocks: a process forked while another thread held the lock would wait for ever.
        let spare = self.scratch.try_lock().ok().and_then(|mut spare| spare.pop());
        let mut scratch = spare.unwrap_or_default();
        let hits = best(weighted, terms, n, least, &mut scratch);
        if let Ok(mut spare) = self.scratch.try_lock() {
            spare.push(scratch);
        }
        hits
    }

    /// Returns whether weights are ready for a query.
    pub fn is_ready(&self, kind: IdfKind) -> bool {
        let state = self.read();
        self.weighted
            .try_lock()
            .is_ok_and(|kept| kept.iter().any(|one| one.kind == kind && Arc::ptr_eq(&one.state, &state)))
    }

    pub(super) fn weights(&self, kind: IdfKind) -> Result<Arc<Weighted>, Corrupt> {
        let state = self.read();
        state.slots.iter().try_for_each(|slot| slot.part.check_length())?;
        let same = |one: &&Arc<Weighted>| one.kind == kind && Arc::ptr_eq(&one.state, &state);
        if let Ok(kept) = self.weighted.try_lock()
            && let Some(found) = kept.iter().find(same)
        {
            return Ok(Arc::clone(found));
        }
        let made = Arc::new(Weighted::new(Arc::clone(&state), kind, self.least_frequent)?);
        if let Ok(mut kept) = self.weighted.try_lock() {
            kept.retain(|one| Arc::ptr_eq(&one.state, &state) && one.kind != kind);
            kept.truncate(KEPT - 1);
            kept.push(Arc::clone(&made));
        }
        Ok(made)
    }

    /// Writes all documents with keys from `first` to `last` to a file, atomically; then maps it in place of their
    /// postings in memory. The caller promises that no other document will ever have such a key.
    pub fn save(&self, path: &Path, first: i64, last: i64, stamp: u64) -> Result<(), FileError> {
        let _writer = self.lock_writer();
        let state = self.read();
        let mut slots: [Vec<Slot>; 3] = Default::default();
        for slot in &state.slots {
            let (low, high) = slot.span()?.unwrap_or((first, last));
            let place = match (high < first, low > last, first <= low && high <= last) {
                (true, ..) => 0,
                (_, true, _) => 2,
                (.., true) => 1,
                _ => {
                    return Err(FileError::Refused(Error::new(format!(
                        "the keys {first} to {last} split a part with the keys {low} to {high}; save whole parts"
                    ))));
                }
            };
            slots[place].push(slot.clone());
        }
        let [before, own, after] = slots;
        let rows: usize = own.iter().map(Slot::live).sum();
        if rows > MOST_ROWS {
            return Err(FileError::Refused(Error::new(format!("{rows} documents; a file holds at most {MOST_ROWS}"))));
        }
        own.iter().try_for_each(Slot::check)?;
        let part = merged(&own)?;
        file::write(path, &part, &Covered { first, last, documents: rows, stamp, identity: self.identity.clone() })?;
        drop(part);
        let mapped = Slot::new(file::open(path)?.0);
        self.set(State { slots: before.into_iter().chain([mapped]).chain(after).collect() });
        Ok(())
    }

    /// Adds a file of postings by mapping it. It must not be written to while it is open.
    pub fn attach(&self, path: &Path) -> Result<Covered, FileError> {
        let (part, covered) = file::open(path)?;
        if covered.identity != self.identity {
            return Err(FileError::Refused(Error::new(format!(
                "{}: the file has postings of {}, not of {}; delete it",
                path.display(),
                covered.identity,
                self.identity
            ))));
        }
        let _writer = self.lock_writer();
        let state = self.read();
        let slot = Slot::new(part);
        self.check_follows(&state, &slot).map_err(|error| match error {
            IndexError::Refused(error) => FileError::Refused(error),
            IndexError::Corrupt(corrupt) => FileError::Corrupt(corrupt),
        })?;
        self.set(State { slots: state.slots.iter().cloned().chain([slot]).collect() });
        Ok(covered)
    }

    /// Returns the description of a file.
    pub fn covered(path: &Path) -> Result<Covered, FileError> {
        file::open(path).map(|(_, covered)| covered)
    }

    /// Reads and checks everything.
    pub fn verify(&self) -> Result<(), Corrupt> {
        self.read().slots.iter().try_for_each(|slot| slot.part.check_length().and_then(|()| slot.part.verify()))
    }
}
