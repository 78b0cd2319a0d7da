//! An index of fingerprints by Hamming distance: add, remove and search at any time.
//!
//! New codes wait in a short tail, which is scanned. A full tail is sealed into a segment, and segments of one size are
//! merged into one of the next, so that there are few to search and each code is moved only a few times.

mod file;
mod ids;
mod probe;
mod records;
mod segment;
mod state;
mod table;

use std::cmp::Ordering;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::join::usual_flip;
use crate::saved::{Corrupt, FileError};
use crate::{Error, MAX_BITS};
use ids::Kind;
pub use ids::{Id, Ids};
use records::blocks;
use segment::{Reach, Segment};
use state::{Rows, Slot, State};

/// Codes in the tail at most.
const TAIL: usize = 1024;
/// This many segments of one size are merged into one of the next.
const FAN: usize = 4;
/// Queries of one task at least.
const BATCH: usize = 64;
/// Nanoseconds a task may take, about, so that a search can be interrupted.
const MOST_NANOSECONDS: f64 = 300e6;
/// Codes are numbered in 32 bits.
const MOST: usize = u32::MAX as usize;

/// The result of a search, one row a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matches {
    /// The query's number, ascending.
    pub queries: Vec<u32>,
    /// The id found.
    pub ids: Ids,
    /// Its distance; ascending for each query, then by id.
    pub distances: Vec<u16>,
}

/// The plan of a search in one part of the index.
#[derive(Clone, Debug)]
pub struct PlannedPart {
    /// Codes with an id in this part.
    pub entries: usize,
    /// How each table is read. Without tables the part is scanned.
    pub tables: Option<Vec<PlannedTable>>,
    /// Buckets read.
    pub probes: usize,
    /// Codes compared, expected.
    pub candidates: f64,
    /// Codes that would be compared besides if only the first level of the keys were used, expected.
    pub saved: f64,
    /// Nanoseconds expected for one query of a batch.
    pub cost: f64,
}

/// The plan of a search in one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedTable {
    /// Bits of the first and of the second level of its keys; none of the second if there is one level.
    pub key_bits: (u32, u32),
    /// In how many bits of the first level a key may differ from the query's, and in how many of both levels together
    /// if the second is used; None if the table is not used.
    pub flips: Option<(u32, Option<u32>)>,
}

/// Codes of one width under ids, to be searched by distance.
///
/// Methods that take a pool hold the writer's lock on the calling thread while they work on the threads of the pool, or
/// of rayon's global pool. Do not call them from within a pool: a thread that waits for its own work may start another
/// call, and would wait for a lock that it already holds.
pub struct Index {
    bits: usize,
    words: usize,
    /// Levels of the keys; None to have two where they pay.
    levels: Option<u32>,
    /// The current state. A search clones the Arc and releases the lock; a change copies the state if it is shared.
    state: RwLock<Arc<State>>,
    /// Held while writing: one writer at a time.
    writer: Mutex<()>,
}

/// Why a call on an index failed.
#[derive(Debug)]
pub enum IndexError {
    /// An argument cannot be used.
    Refused(Error),
    /// The file behind the index is damaged.
    Corrupt(Corrupt),
}

impl From<Corrupt> for IndexError {
    fn from(error: Corrupt) -> IndexError {
        IndexError::Corrupt(error)
    }
}

impl From<Error> for IndexError {
    fn from(error: Error) -> IndexError {
        IndexError::Refused(error)
    }
}

impl Index {
    /// Returns an empty index of codes with `bits` bits, made by the recipe of this identity. Keys have one level or
    /// two, or two where they pay.
    pub fn new(bits: usize, recipe: Option<String>, levels: Option<u32>) -> Result<Index, Error> {
        if bits == 0 || bits > MAX_BITS || !bits.is_multiple_of(8) {
            return Err(Error::new(format!("bits is {bits}; it must be a multiple of 8 from 8 to {MAX_BITS}")));
        }
        match levels {
            None | Some(1) => {}
            Some(2) if blocks(bits) > 1 => {}
            Some(2) => {
                return Err(Error::new(format!(
                    "levels is 2; fingerprints of {bits} bits have one block, so one level"
                )));
            }
            Some(other) => return Err(Error::new(format!("levels is {other}; it must be 1 or 2"))),
        }
        Ok(Index::from_parts(bits, recipe, levels, None, Vec::new(), 0))
    }

    fn from_parts(
        bits: usize,
        recipe: Option<String>,
        levels: Option<u32>,
        kind: Option<Kind>,
        slots: Vec<Slot>,
        next_id: i64,
    ) -> Index {
        let tail = Rows::new(kind.unwrap_or(Kind::Int));
        let state = RwLock::new(Arc::new(State { recipe, kind, slots, tail, next_id }));
        Index { bits, words: bits.div_ceil(64), levels, state, writer: Mutex::new(()) }
    }

    fn on<T: Send>(pool: Option<&ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
        match pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    // A panic cannot leave the state half changed, since no step of a change fails. So poison is ignored.
    fn read(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// Returns the state, after checking that mapped files are not truncated.
    fn sound(&self) -> Result<Arc<State>, Corrupt> {
        let state = self.read();
        state.slots.iter().try_for_each(|slot| slot.segment.check_length())?;
        Ok(state)
    }

    fn change<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        work(Arc::make_mut(&mut state))
    }

    fn lock_writer(&self) -> MutexGuard<'_, ()> {
        self.writer.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns the bits of a code.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Returns the words of a code.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Returns the levels of the keys; None if there are two where they pay.
    pub fn levels(&self) -> Option<u32> {
        self.levels
    }

    /// Returns the identity of the recipe the codes were made with, where it is known.
    pub fn recipe(&self) -> Option<String> {
        self.read().recipe.clone()
    }

    /// Returns the number of ids.
    pub fn len(&self) -> usize {
        let state = self.read();
        state.slots.iter().map(Slot::live).sum::<usize>() + state.tail.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes held, including those of a mapped file.
    pub fn bytes(&self) -> usize {
        let state = self.read();
        let slots: usize = state.slots.iter().map(|slot| slot.segment.bytes() + 8 * slot.dead.len()).sum();
        slots + 8 * state.tail.codes.capacity() + 8 * state.tail.len()
    }

    /// Refuses codes of another recipe; adopts the first recipe.
    fn check_recipe(&self, state: &State, recipe: Option<&str>) -> Result<(), Error> {
        match (&state.recipe, recipe) {
            (Some(own), Some(other)) if own != other => Err(Error::new(format!(
                "the index holds fingerprints of the recipe {own}, these are of {other}; they cannot be compared"
            ))),
            _ => Ok(()),
        }
    }

    /// Adds rows of codes under their ids: all of them, or none if one is refused. Returns the ids. After small
    /// additions call `settle` whenever `is_unsettled`.
    ///
    /// Without ids a row gets its number, counted from the highest id so far; `numbers` has the rows' own numbers if
    /// some rows were left out.
    pub fn add(
        &self,
        codes: &[u64],
        ids: Option<Ids>,
        numbers: Option<&[u32]>,
        recipe: Option<&str>,
        rows: usize,
        pool: Option<&ThreadPool>,
    ) -> Result<Ids, IndexError> {
        let _writer = self.lock_writer();
        let count = codes.len() / self.words;
        let state = self.sound()?;
        self.check_recipe(&state, recipe)?;
        let given = ids.is_some();
        let ids = match ids {
            Some(ids) => ids,
            None => automatic(state.kind, state.next_id, count, numbers, rows)?,
        };
        if ids.len() != count {
            return Err(Error::new(format!("{} ids for {count} fingerprints; give one for each", ids.len())).into());
        }
        if count > 0
            && let Some(kind) = state.kind
            && kind != ids.kind()
        {
            return Err(Error::new(format!(
                "the index has {} ids, these are {} ids; use one kind",
                kind.name(),
                ids.kind().name()
            ))
            .into());
        }
        let total = count + state.tail.len() + state.slots.iter().map(|slot| slot.segment.entries()).sum::<usize>();
        if total > MOST {
            return Err(Error::new(format!("{total} entries; an index holds at most {MOST}: use several")).into());
        }
        let ascending = ids.rows_ascending();
        if given {
            self.check_new(&state, &ids, &ascending)?;
        }
        let next_id = match ascending.last().map(|&row| ids.get(row as usize)) {
            Some(Id::Int(id)) => state.next_id.max(id.saturating_add(1)),
            _ => state.next_id,
        };
        let next_id = if given { next_id } else { next_id.max(state.next_id.saturating_add(rows as i64)) };
        drop(state);

        // A large batch is sealed before the lock is taken.
        let build = || Slot::new(Segment::build(self.bits, self.levels, codes, &ids, &ascending));
        let sealed = (count >= TAIL).then(|| Self::on(pool, build));
        let large = sealed.is_some();
        self.change(|state| {
            if state.recipe.is_none() {
                state.recipe = recipe.map(str::to_owned);
            }
            state.next_id = next_id;
            if count > 0 && state.kind.is_none() {
                state.kind = Some(ids.kind());
                state.tail = Rows::new(ids.kind());
            }
            match sealed {
                Some(slot) => state.slots.push(slot),
                None if count > 0 => {
                    state.tail.codes.extend_from_slice(codes);
                    state.tail.ids.append(ids.clone());
                }
                None => {}
            }
        });
        if large {
            self.settle_locked(pool)?;
        }
        Ok(ids)
    }

    /// Returns whether `settle` has something to do, as after a few small additions or removals.
    pub fn is_unsettled(&self) -> bool {
        let state = self.read();
        state.tail.len() >= TAIL || state.slots.iter().any(Slot::is_mostly_dead)
    }

    /// Seals a full tail, and merges segments where there are too many of a size or too many removed ids in one.
    /// Searches go on meanwhile.
    pub fn settle(&self, pool: Option<&ThreadPool>) -> Result<(), Corrupt> {
        let _writer = self.lock_writer();
        self.settle_locked(pool)
    }

    fn settle_locked(&self, pool: Option<&ThreadPool>) -> Result<(), Corrupt> {
        let state = self.read();
        let tail = (state.tail.len() >= TAIL).then(|| state.tail.clone());
        drop(state);
        if let Some(tail) = tail {
            let build = || Segment::build(self.bits, self.levels, &tail.codes, &tail.ids, &tail.ids.rows_ascending());
            let slot = Slot::new(Self::on(pool, build));
            self.change(|state| {
                state.tail = Rows::new(tail.ids.kind());
                state.slots.push(slot);
            });
        }
        self.merge_tiers(pool)
    }

    /// Refuses ids that are already there, or twice in the batch.
    fn check_new(&self, state: &State, ids: &Ids, ascending: &[u32]) -> Result<(), IndexError> {
        let name = |row: u32| match ids.get(row as usize) {
            Id::Int(id) => format!("the id {id}"),
            Id::Str(id) => format!("the id {id:?}"),
        };
        if let Some(twice) = ascending.windows(2).find(|pair| ids.get(pair[0] as usize) == ids.get(pair[1] as usize)) {
            return Err(
                Error::new(format!("{} is given twice; an id stands for one fingerprint", name(twice[0]))).into()
            );
        }
        for &row in ascending {
            let id = ids.get(row as usize);
            // Every id so far lies below the next one, unless there is no next one.
            if matches!(id, Id::Int(id) if id >= state.next_id && state.next_id < i64::MAX) {
                break;
            }
            if state.find(id)?.is_some() {
                return Err(Error::new(format!("{} is already in the index; remove it first", name(row))).into());
            }
        }
        Ok(())
    }

    /// Merges segments where there are too many of a size.
    fn merge_tiers(&self, pool: Option<&ThreadPool>) -> Result<(), Corrupt> {
        loop {
            let state = self.sound()?;
            let tier = |slot: &Slot| slot.live().max(1).ilog2() / FAN.ilog2();
            let crowded = |own: u32| state.slots.iter().filter(|slot| tier(slot) == own).count() >= FAN;
            let (merge, keep): (Vec<Slot>, Vec<Slot>) = match state.slots.iter().map(tier).find(|&own| crowded(own)) {
                Some(own) => state.slots.iter().cloned().partition(|slot| tier(slot) == own),
                None => state.slots.iter().cloned().partition(Slot::is_mostly_dead),
            };
            drop(state);
            if merge.is_empty() {
                return Ok(());
            }
            let merged = Self::on(pool, || self.merge(&merge, None))?;
            self.change(|state| {
                state.slots = keep;
                state.slots.extend(merged);
            });
        }
    }

    /// Returns one segment with the remaining codes of some segments and a tail; None if there are none.
    fn merge(&self, slots: &[Slot], tail: Option<&Rows>) -> Result<Option<Slot>, Corrupt> {
        let total = slots.iter().map(Slot::live).sum::<usize>() + tail.map_or(0, Rows::len);
        let kind = slots.first().map(|slot| slot.segment.ids().kind()).or(tail.map(|tail| tail.ids.kind()));
        let Some(kind) = kind.filter(|_| total > 0) else { return Ok(None) };
        let mut codes = Vec::with_capacity(total * self.words);
        let mut ids = Ids::of_kind(kind);
        let mut ascending = Vec::with_capacity(total);
        for slot in slots {
            let segment = &slot.segment;
            let mut row_of = vec![u32::MAX; segment.entries()];
            segment.each_code(|unique, code| {
                for entry in slot.live_entries(unique as u32)? {
                    row_of[entry] = ids.len() as u32;
                    ids.push(segment.ids().get(entry)?);
                    codes.extend_from_slice(code);
                }
                Ok(())
            })?;
            for rank in 0..segment.entries() {
                let row = row_of[segment.id_at(rank)?.0];
                if row != u32::MAX {
                    ascending.push(row);
                }
            }
        }
        if let Some(tail) = tail {
            let first = ids.len() as u32;
            ascending.extend(tail.ids.rows_ascending().iter().map(|row| first + row));
            codes.extend_from_slice(&tail.codes);
            ids.append(tail.ids.clone());
        }
        let by_id = |left: &u32, right: &u32| ids.get(*left as usize).cmp(&ids.get(*right as usize));
        if !ascending.is_sorted_by(|left, right| by_id(left, right) != Ordering::Greater) {
            ascending.sort_by(by_id);
        }
        let unique = ascending.is_sorted_by(|left, right| by_id(left, right) == Ordering::Less);
        if ascending.len() != ids.len() || !unique {
            return Err(Corrupt::new("the ids of the index are not all different; build it again"));
        }
        Ok(Some(Slot::new(Segment::build(self.bits, self.levels, &codes, &ids, &ascending))))
    }

    /// Merges everything into one segment without removed ids.
    pub fn compact(&self, pool: Option<&ThreadPool>) -> Result<(), Corrupt> {
        let _writer = self.lock_writer();
        self.compact_locked(pool)
    }

    fn compact_locked(&self, pool: Option<&ThreadPool>) -> Result<(), Corrupt> {
        let state = self.sound()?;
        let clean = state.slots.iter().all(|slot| slot.dead_count == 0);
        if clean && state.tail.len() == 0 && state.slots.len() <= 1 {
            return Ok(());
        }
        let (slots, tail) = (state.slots.clone(), state.tail.clone());
        drop(state);
        let merged = Self::on(pool, || self.merge(&slots, Some(&tail)))?;
        self.change(|state| {
            state.tail = Rows::new(tail.ids.kind());
            state.slots = merged.into_iter().collect();
        });
        Ok(())
    }

    /// Removes ids; returns how many there were. `settle` frees their memory later.
    pub fn remove(&self, ids: &Ids) -> Result<usize, Corrupt> {
        let _writer = self.lock_writer();
        self.sound()?;
        self.change(|state| {
            let mut removed = 0;
            for row in 0..ids.len() {
                removed += usize::from(state.remove(ids.get(row), self.words)?);
            }
            Ok(removed)
        })
    }

    /// Removes everything, and forgets the recipe and the kind of ids.
    pub fn clear(&self) {
        let _writer = self.lock_writer();
        self.change(|state| {
            *state = State { recipe: None, kind: None, slots: Vec::new(), tail: Rows::new(Kind::Int), next_id: 0 };
        });
    }

    /// Returns all ids in ascending order.
    pub fn ids(&self) -> Result<Ids, Corrupt> {
        let state = self.sound()?;
        let mut all = Ids::of_kind(state.kind.unwrap_or(Kind::Int));
        for slot in &state.slots {
            for rank in 0..slot.segment.entries() {
                let (entry, id) = slot.segment.id_at(rank)?;
                if !slot.is_dead(entry) {
                    all.push(id);
                }
            }
        }
        all.append(state.tail.ids.clone());
        match &mut all {
            Ids::Int(ids) => ids.sort(),
            Ids::Str(ids) => ids.sort(),
        }
        Ok(all)
    }

    /// Returns the code under an id.
    pub fn get(&self, id: Id<'_>) -> Result<Option<Vec<u64>>, Corrupt> {
        self.sound()?.get(id, self.words)
    }

    /// Refuses a radius wider than the codes and queries of another recipe.
    fn check_query(&self, state: &State, radius: usize, recipe: Option<&str>) -> Result<u32, Error> {
        self.check_recipe(state, recipe)?;
        if radius > self.bits {
            return Err(Error::new(format!(
                "radius is {radius}; it must be from 0 to {}, the bits of the index",
                self.bits
            )));
        }
        Ok(radius as u32)
    }

    /// Runs `answer` over batches of queries, on the threads of the current pool if there are many. The result is
    /// useless once `stop` is set.
    fn batches<T: Send>(
        &self,
        codes: &[u64],
        batch: usize,
        stop: &AtomicBool,
        answer: impl Fn(&[&[u64]]) -> Result<T, Corrupt> + Sync,
    ) -> Result<Vec<T>, Corrupt> {
        let answer = |batch: &[u64]| answer(&batch.chunks_exact(self.words).collect::<Vec<_>>());
        match codes.len() {
            0 => Ok(Vec::new()),
            few if few <= batch * self.words => answer(codes).map(|only| vec![only]),
            _ => codes.par_chunks(batch * self.words).filter(|_| !stop.load(Relaxed)).map(answer).collect(),
        }
    }

    /// Returns the number of queries of a task. Larger batches read the tables from the cache more often, but all
    /// threads need work, and a batch must end soon enough to be interrupted.
    fn batch(&self, state: &State, queries: usize, reach: Reach) -> usize {
        let methods: Vec<_> = state.slots.iter().map(|slot| slot.segment.method(reach)).collect();
        if methods.iter().any(|method| method.looks.is_none()) {
            return BATCH;
        }
        let cost: f64 = methods.iter().map(|method| method.cost).sum();
        let patient = (MOST_NANOSECONDS / cost.max(1.0)) as usize;
        queries.div_ceil(rayon::current_num_threads()).min(patient).max(BATCH)
    }

    /// Returns all ids at most `radius` bits from each query.
    pub fn search(
        &self,
        codes: &[u64],
        radius: usize,
        recipe: Option<&str>,
        stop: &AtomicBool,
    ) -> Result<Matches, IndexError> {
        self.search_some(codes, (radius, 1.0, None), recipe, stop)
    }

    /// Searches as `search` but finds only a share of the matches: the share of codes whose bits each differ from the
    /// query's with the given probability, or such that 99 in 100 lie within the radius. Every match found is exact.
    pub fn search_some(
        &self,
        codes: &[u64],
        (radius, recall, flip): (usize, f64, Option<f64>),
        recipe: Option<&str>,
        stop: &AtomicBool,
    ) -> Result<Matches, IndexError> {
        let state = self.sound()?;
        let reach = self.reach(&state, radius, recall, flip, recipe)?;
        let batch = self.batch(&state, codes.len() / self.words, reach);
        let search = |queries: &[&[u64]]| state.collect(&state.near(queries, reach)?, usize::MAX);
        Ok(joined(self.batches(codes, batch, stop, search)?, batch, state.kind))
    }

    fn reach(
        &self,
        state: &State,
        radius: usize,
        recall: f64,
        flip: Option<f64>,
        recipe: Option<&str>,
    ) -> Result<Reach, Error> {
        let radius = self.check_query(state, radius, recipe)?;
        for (name, share) in [("recall", Some(recall)), ("flip", flip)] {
            if let Some(share) = share.filter(|share| !(0.0..=1.0).contains(share)) {
                return Err(Error::new(format!("{name} is {share}; it must be from 0 to 1")));
            }
        }
        if recall >= 1.0 {
            return Ok(Reach::all(radius));
        }
        let flip = flip.unwrap_or_else(|| usual_flip(self.bits as u32, radius)).clamp(1e-9, 1.0 - 1e-9);
        Ok(Reach { radius, recall, flip })
    }

    /// Returns whether there is an id at most `radius` bits from each query.
    pub fn contains(
        &self,
        codes: &[u64],
        radius: usize,
        recipe: Option<&str>,
        stop: &AtomicBool,
    ) -> Result<Vec<bool>, IndexError> {
        let state = self.sound()?;
        let radius = self.check_query(&state, radius, recipe)?;
        let by_tables = state.slots.iter().all(|slot| slot.segment.method(Reach::all(radius)).looks.is_some());
        let any = |queries: &[&[u64]]| {
            if !by_tables {
                // For a wide radius the nearest is enough; not all matches are needed.
                return queries.iter().map(|query| Ok(!state.nearest_by_scan(query, 1, radius)?.is_empty())).collect();
            }
            let mut any = vec![false; queries.len()];
            for found in state.near(queries, Reach::all(radius))?.chunk_by(|a, b| a.query == b.query) {
                any[found[0].query as usize] = state.count_live(found, 1)? > 0;
            }
            Ok(any)
        };
        let batch = self.batch(&state, codes.len() / self.words, Reach::all(radius));
        Ok(self.batches(codes, batch, stop, any)?.concat())
    }

    /// Returns the `count` ids nearest to each query, no further away than `radius`.
    pub fn nearest(
        &self,
        codes: &[u64],
        count: usize,
        radius: usize,
        recipe: Option<&str>,
        stop: &AtomicBool,
    ) -> Result<Matches, IndexError> {
        let state = self.sound()?;
        let radius = self.check_query(&state, radius, recipe)?;
        let nearest = |queries: &[&[u64]]| state.collect(&state.nearest(queries, count, radius)?, count);
        Ok(joined(self.batches(codes, BATCH, stop, nearest)?, BATCH, state.kind))
    }

    /// Returns the plan of a search for each part of the index; the last is the tail.
    pub fn plan(&self, radius: usize, recall: f64) -> Result<Vec<PlannedPart>, Error> {
        let state = self.sound().map_err(|corrupt| Error::new(corrupt.to_string()))?;
        let reach = self.reach(&state, radius, recall, None, None)?;
        let mut parts: Vec<PlannedPart> = state.slots.iter().map(|slot| slot.segment.planned(reach)).collect();
        if state.tail.len() > 0 {
            let candidates = state.tail.len() as f64;
            let cost = candidates * self.words as f64;
            parts.push(PlannedPart {
                entries: state.tail.len(),
                tables: None,
                probes: 0,
                candidates,
                saved: 0.0,
                cost,
            });
        }
        Ok(parts)
    }

    /// Merges the index into one segment and writes it to a file, atomically.
    pub fn save(&self, path: &Path, pool: Option<&ThreadPool>) -> Result<(), FileError> {
        let _writer = self.lock_writer();
        self.compact_locked(pool)?;
        let state = self.read();
        let (segment, recipe, next_id) =
            (state.slots.first().map(|slot| Arc::clone(&slot.segment)), state.recipe.clone(), state.next_id);
        drop(state);
        file::write(path, (self.bits, self.levels), segment.as_deref(), recipe.as_deref(), next_id)
    }

    /// Opens a saved index: maps the file without reading it. The file must not be written to while it is open; saving
    /// replaces it, which is safe.
    pub fn open(path: &Path) -> Result<Index, FileError> {
        let opened = file::open(path)?;
        let kind = opened.segment.as_ref().map(|segment| segment.ids().kind());
        let slots = opened.segment.map(Slot::new).into_iter().collect();
        Ok(Index::from_parts(opened.bits, opened.recipe, opened.levels, kind, slots, opened.next_id))
    }

    /// Checks every byte of a mapped file, and that its tables and ids agree.
    pub fn verify(&self) -> Result<(), Corrupt> {
        self.sound()?.slots.iter().try_for_each(|slot| slot.segment.verify())
    }
}

/// Returns the ids of rows without ids, counted from the highest id.
fn automatic(kind: Option<Kind>, next: i64, count: usize, numbers: Option<&[u32]>, rows: usize) -> Result<Ids, Error> {
    if kind == Some(Kind::Str) && count > 0 {
        return Err(Error::new("the index has string ids; give an id for each fingerprint"));
    }
    if i64::MAX - next < rows as i64 {
        return Err(Error::new(format!("the highest id is {}; no higher one is left, give ids", next - 1)));
    }
    Ok(Ids::Int(match numbers {
        Some(numbers) => numbers.iter().map(|&number| next + i64::from(number)).collect(),
        None => (next..next + count as i64).collect(),
    }))
}

fn joined(parts: Vec<Matches>, size: usize, kind: Option<Kind>) -> Matches {
    let mut all = Matches { queries: Vec::new(), ids: Ids::of_kind(kind.unwrap_or(Kind::Int)), distances: Vec::new() };
    for (batch, part) in parts.into_iter().enumerate() {
        all.queries.extend(part.queries.iter().map(|query| query + (batch * size) as u32));
        all.distances.extend(part.distances);
        all.ids.append(part.ids);
    }
    all
}
