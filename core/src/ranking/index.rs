//! Postings that come and go.

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
/// Larger parts are left as they are: to merge them would take long, and to search one more takes no time.
const LARGEST_MERGED: usize = 1 << 27;
/// Weights for so many kinds of idf are kept.
const KEPT: usize = 2;

/// A part, and the documents that were removed from it.
#[derive(Clone)]
pub(super) struct Slot {
    pub(super) part: Arc<PostingPart>,
    /// A bit for each row, if any is gone.
    gone: Option<Arc<Vec<u64>>>,
    gone_count: usize,
    /// Whether a mapped file was looked at as a whole.
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

    /// Looks at all of a mapped file, once.
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

/// What a file of postings says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covered {
    /// All documents with keys from here…
    pub first: i64,
    /// …to here, that were there when it was written, are in it.
    pub last: i64,
    /// So many.
    pub documents: usize,
    /// A number of the caller's.
    pub stamp: u64,
    /// What the postings are of, in the caller's words.
    pub identity: String,
}

/// Documents under ascending keys, ranked by the TF-IDF cosine of their terms with those of a query: exactly, for the
/// corpus as it is. Postings only know counts, so that documents can come and go; what depends on all of them is made when
/// a query comes after a change (`Weighted`: O(postings)). Adding `m` documents to `n` takes O(m log n), as parts are
/// merged when they are of a size (Bentley and Saxe, 1980). Queries: see `ask`.
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

    /// As `new`; terms of fewer documents are never taken for frequent ones.
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

    // A panic cannot leave the state half changed: changes are steps that do not fail. So poison is ignored.
    fn read(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    fn set(&self, state: State) {
        *self.state.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = Arc::new(state);
        // Those of the state before are of no more use, and large.
        if let Ok(mut weighted) = self.weighted.try_lock() {
            weighted.clear();
        }
    }

    fn lock_writer(&self) -> MutexGuard<'_, ()> {
        self.writer.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Documents that were not removed.
    pub fn documents(&self) -> usize {
        self.read().slots.iter().map(Slot::live).sum()
    }

    /// Bytes of the postings, those of mapped files included.
    pub fn bytes(&self) -> usize {
        self.read().slots.iter().map(|slot| slot.part.bytes()).sum()
    }

    /// Keys that were not removed, ascending.
    pub fn keys(&self) -> Result<Vec<i64>, Corrupt> {
        let mut keys = Vec::new();
        for slot in &self.read().slots {
            slot.part.check_length()?;
            let own = slot.part.keys.all()?.iter().enumerate();
            keys.extend(own.filter(|&(row, _)| !slot.is_gone(row)).map(|(_, &key)| key));
        }
        Ok(keys)
    }

    /// Adds documents whose keys follow all that are there, on the threads of the current rayon pool.
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
            Some(((_, last), &first)) if first <= last => {
                Err(Error::new(format!("the key {first} comes after {last}; keys must ascend")).into())
            }
            _ if !ascend => Err(Error::new("keys must ascend".to_owned()).into()),
            _ => Ok(()),
        }
    }

    /// Takes keys out; those that are not there make no difference.
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

    /// Returns the best `n` documents for each query, on the threads of the current rayon pool: those with the highest cosine, if
    /// it is at least `least`, of equal ones those with the lowest keys. Documents that share nothing with a query are not found.
    ///
    /// What comes back is of no use once `stop` was set.
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

    /// Returns the documents that have one of some terms at least, by ascending keys. O(terms + their postings).
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
        // Never waits: in a process forked while another thread held the lock, it stays locked for ever.
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

    /// Writes all documents with keys from `first` to `last` to a file, whole or not at all; from then on it is mapped in
    /// place of what was in memory. The caller promises that no other document will ever have such a key.
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
                        "the keys from {first} to {last} are not whole parts: one has {low} to {high}"
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

    /// Maps a file of postings behind what is there. It must not be written to while it is open.
    pub fn attach(&self, path: &Path) -> Result<Covered, FileError> {
        let (part, covered) = file::open(path)?;
        if covered.identity != self.identity {
            return Err(FileError::Refused(Error::new(format!(
                "{}: postings of {}, where those of {} are expected; delete the file",
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

    /// What a file says of itself.
    pub fn covered(path: &Path) -> Result<Covered, FileError> {
        file::open(path).map(|(_, covered)| covered)
    }

    /// Reads and checks everything.
    pub fn verify(&self) -> Result<(), Corrupt> {
        self.read().slots.iter().try_for_each(|slot| slot.part.check_length().and_then(|()| slot.part.verify()))
    }
}
