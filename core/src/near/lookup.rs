//! An index of sketches under keys: look-ups while sketches are added and removed.
//!
//! New sketches wait in a short tail, which is scanned. A full tail is sealed into a part, and parts of one size are
//! merged into one of the next. A query reads one bucket of each table of its plan in each part: with `t` tables and
//! buckets of `b` sketches it compares `t·b` of them, where `b` grows with the number of sketches that share a key. If
//! the index does not have the tables of a plan, it uses those it has where the plan requires so many equal registers
//! that they find everything, and otherwise scans all sketches. Either way the answer is what `Plan::is_candidate` says
//! of each sketch.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

use rayon::ThreadPool;
use rayon::prelude::*;

use super::agree::registers;
use super::file;
use super::part::{Scan, SketchHit, SketchPart, TWIN};
use super::plan::Plan;
use super::sketch::{REGISTERS, Sketch};
use crate::Error;
use crate::index::IndexError;
use crate::saved::{Corrupt, FileError};

/// Sketches in the tail at most; scanning them takes a few microseconds.
const TAIL: usize = 1 << 12;
/// This many parts of one size are merged into one of the next.
const FAN: usize = 4;
/// Queries of one task.
const BATCH: usize = 64;
/// Sketches are numbered in 32 bits.
const MOST: usize = u32::MAX as usize;

/// Matches by query, then by the number of equal registers, most first, then by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matched {
    /// The query's number.
    pub queries: Vec<u32>,
    /// The key found.
    pub keys: Vec<i64>,
    /// How many registers agree; `TWIN` if the digests are equal.
    pub same: Vec<u8>,
}

/// A part, and the keys that were removed from it.
#[derive(Clone)]
struct Slot {
    part: Arc<SketchPart>,
    gone: Arc<HashSet<i64>>,
}

impl Slot {
    fn new(part: SketchPart) -> Slot {
        Slot { part: Arc::new(part), gone: Arc::default() }
    }

    fn is_mostly_gone(&self) -> bool {
        2 * self.gone.len() > self.part.entries()
    }
}

#[derive(Clone, Default)]
struct State {
    slots: Vec<Slot>,
    sketches: Vec<Sketch>,
    keys: Vec<i64>,
    recipe: Option<String>,
}

/// Sketches under keys. A key is added once; it can be removed, but not changed.
pub struct SketchIndex {
    /// The registers of the tables that parts have.
    tables: Vec<Vec<u8>>,
    /// The current state. A search clones the Arc and releases the lock; a change copies the state if it is shared.
    state: RwLock<Arc<State>>,
    /// Held while writing: one writer at a time.
    writer: Mutex<()>,
}

fn on<T: Send>(pool: Option<&ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

impl SketchIndex {
    /// Returns an empty index with the tables of this plan, which also serve plans with fewer tables of the same kind.
    pub fn new(plan: &Plan, recipe: Option<String>) -> SketchIndex {
        SketchIndex::from_state(plan.tables.clone(), State { recipe, ..State::default() })
    }

    fn from_state(tables: Vec<Vec<u8>>, state: State) -> SketchIndex {
        SketchIndex { tables, state: RwLock::new(Arc::new(state)), writer: Mutex::new(()) }
    }

    // A panic cannot leave the state half changed, since no step of a change fails. So poison is ignored.
    fn read(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    fn sound(&self) -> Result<Arc<State>, Corrupt> {
        let state = self.read();
        state.slots.iter().try_for_each(|slot| slot.part.check_length())?;
        Ok(state)
    }

    fn change(&self, work: impl FnOnce(&mut State)) {
        let mut state = self.state.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        work(Arc::make_mut(&mut state));
    }

    fn lock_writer(&self) -> MutexGuard<'_, ()> {
        self.writer.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns the number of keys held, including removed ones that no merge has dropped yet.
    pub fn entries(&self) -> usize {
        let state = self.read();
        state.slots.iter().map(|slot| slot.part.entries()).sum::<usize>() + state.keys.len()
    }

    /// Returns the bytes held, including those of a mapped file.
    pub fn bytes(&self) -> usize {
        let state = self.read();
        let slots: usize = state.slots.iter().map(|slot| slot.part.bytes() + 16 * slot.gone.len()).sum();
        slots + size_of::<Sketch>() * state.sketches.capacity() + 8 * state.keys.capacity()
    }

    /// Returns the identity of the recipe of the texts, where it is known.
    pub fn recipe(&self) -> Option<String> {
        self.read().recipe.clone()
    }

    /// Adds sketches under their keys. A full tail is sealed, and parts are merged, on the pool.
    pub fn add(&self, sketches: &[Sketch], keys: &[i64], pool: Option<&ThreadPool>) -> Result<(), IndexError> {
        if sketches.len() != keys.len() {
            return Err(
                Error::new(format!("{} keys for {} sketches; give one for each", keys.len(), sketches.len())).into()
            );
        }
        let _writer = self.lock_writer();
        let total = self.entries() + keys.len();
        if total > MOST {
            return Err(Error::new(format!("{total} sketches; an index holds at most {MOST}: use several")).into());
        }
        self.change(|state| {
            state.sketches.extend_from_slice(sketches);
            state.keys.extend_from_slice(keys);
        });
        let state = self.sound()?;
        if state.keys.len() >= TAIL {
            let slot = on(pool, || Slot::new(SketchPart::build(&state.sketches, &state.keys, &self.tables)));
            drop(state);
            self.change(|state| {
                (state.sketches, state.keys) = Default::default();
                state.slots.push(slot);
            });
            self.merge_tiers(pool)?;
        }
        Ok(())
    }

    /// Merges parts where there are too many of a size, or much was removed.
    fn merge_tiers(&self, pool: Option<&ThreadPool>) -> Result<(), Corrupt> {
        loop {
            let state = self.sound()?;
            let tier = |slot: &Slot| slot.part.entries().max(1).ilog2() / FAN.ilog2();
            let crowded = |own: u32| state.slots.iter().filter(|slot| tier(slot) == own).count() >= FAN;
            let (merge, keep): (Vec<Slot>, Vec<Slot>) = match state.slots.iter().map(tier).find(|&own| crowded(own)) {
                Some(own) => state.slots.iter().cloned().partition(|slot| tier(slot) == own),
                None => state.slots.iter().cloned().partition(Slot::is_mostly_gone),
            };
            if merge.is_empty() {
                return Ok(());
            }
            let merged = on(pool, || self.merged(&merge, &[], &[]))?;
            drop(state);
            self.change(|state| {
                state.slots = keep;
                state.slots.push(merged);
            });
        }
    }

    /// Returns one part with the remaining sketches of some parts, and more sketches.
    fn merged(&self, slots: &[Slot], sketches: &[Sketch], keys: &[i64]) -> Result<Slot, Corrupt> {
        let total = slots.iter().map(|slot| slot.part.entries()).sum::<usize>() + keys.len();
        let (mut all, mut all_keys) = (Vec::with_capacity(total), Vec::with_capacity(total));
        for slot in slots {
            each(slot, |sketch, key| {
                all.push(*sketch);
                all_keys.push(key);
            })?;
        }
        all.extend_from_slice(sketches);
        all_keys.extend_from_slice(keys);
        Ok(Slot::new(SketchPart::build(&all, &all_keys, &self.tables)))
    }

    /// Removes keys; ignores unknown ones.
    pub fn remove(&self, keys: &[i64], pool: Option<&ThreadPool>) -> Result<(), Corrupt> {
        if keys.is_empty() {
            return Ok(());
        }
        let _writer = self.lock_writer();
        let gone: HashSet<i64> = keys.iter().copied().collect();
        self.change(|state| {
            if state.keys.iter().any(|key| gone.contains(key)) {
                let kept: Vec<usize> = (0..state.keys.len()).filter(|&at| !gone.contains(&state.keys[at])).collect();
                state.sketches = kept.iter().map(|&at| state.sketches[at]).collect();
                state.keys = kept.iter().map(|&at| state.keys[at]).collect();
            }
            for slot in &mut state.slots {
                let (first, last) = slot.part.span;
                if gone.iter().any(|key| (first..=last).contains(key)) {
                    let mine = gone.iter().filter(|key| (first..=last).contains(*key));
                    Arc::make_mut(&mut slot.gone).extend(mine);
                }
            }
        });
        if self.read().slots.iter().any(Slot::is_mostly_gone) {
            self.merge_tiers(pool)?;
        }
        Ok(())
    }

    /// Returns the candidates of each query; of equal sketches, and of sketches with the query's features, at most the
    /// first `most` keys. The result is useless once `stop` is set.
    pub fn search(&self, queries: &[Sketch], plan: &Plan, most: usize, stop: &AtomicBool) -> Result<Matched, Corrupt> {
        search(&[self], queries, plan, most, stop)
    }

    /// Returns all keys and their sketches, in order of keys.
    pub fn rows(&self) -> Result<(Vec<i64>, Vec<Sketch>), Corrupt> {
        let state = self.sound()?;
        let mut rows: Vec<(i64, Sketch)> = state.keys.iter().copied().zip(state.sketches.iter().copied()).collect();
        for slot in &state.slots {
            each(slot, |sketch, key| rows.push((key, *sketch)))?;
        }
        rows.sort_unstable_by_key(|row| row.0);
        Ok(rows.into_iter().unzip())
    }

    /// Merges the index into one part and writes it to a file, atomically.
    pub fn save(&self, path: &Path, pool: Option<&ThreadPool>) -> Result<(), FileError> {
        let _writer = self.lock_writer();
        let state = self.sound()?;
        let clean = |slot: &&Slot| slot.gone.is_empty() && slot.part.is_complete();
        let only = state.keys.is_empty() && state.slots.len() == 1;
        let slot = match state.slots.first().filter(clean).filter(|_| only) {
            Some(only) => only.clone(),
            None => on(pool, || self.merged(&state.slots, &state.sketches, &state.keys))?,
        };
        let recipe = state.recipe.clone();
        drop(state);
        let part = Arc::clone(&slot.part);
        self.change(|state| {
            *state = State { slots: vec![slot], recipe: state.recipe.take(), ..State::default() };
        });
        file::write(path, &part, recipe.as_deref())
    }

    /// Opens a saved index: maps the file without reading it. The file must not be written to while it is open.
    ///
    /// The index has the tables of this plan. If the file was written with fewer of them, by a version that planned
    /// otherwise, the first search that needs the others builds them in memory, and they are saved with the rest.
    pub fn open(path: &Path, plan: &Plan) -> Result<SketchIndex, FileError> {
        let (mut part, recipe) = file::open(path)?;
        part.expect(&plan.tables);
        let state = State { slots: vec![Slot::new(part)], recipe, ..State::default() };
        Ok(SketchIndex::from_state(plan.tables.clone(), state))
    }

    /// Checks every byte of a mapped file, and the order of everything in it.
    pub fn verify(&self) -> Result<(), Corrupt> {
        self.sound()?.slots.iter().try_for_each(|slot| slot.part.verify())
    }
}

/// Calls `visit` with the remaining sketches of a part.
fn each(slot: &Slot, mut visit: impl FnMut(&Sketch, i64)) -> Result<(), Corrupt> {
    for number in 0..slot.part.len() as u32 {
        let sketch = slot.part.sketch(number)?;
        for key in slot.part.keys_of(number)? {
            let key = key?;
            if !slot.gone.contains(&key) {
                visit(&sketch, key);
            }
        }
    }
    Ok(())
}

/// Searches several indexes at once, as `SketchIndex::search`: of equal sketches the first `most` keys in each, of
/// sketches with the query's features in all.
pub fn search(
    indexes: &[&SketchIndex],
    queries: &[Sketch],
    plan: &Plan,
    most: usize,
    stop: &AtomicBool,
) -> Result<Matched, Corrupt> {
    let states = indexes.iter().map(|index| index.sound()).collect::<Result<Vec<_>, _>>()?;
    let found = |queries: &[Sketch]| {
        let mut found = Vec::new();
        states.iter().try_for_each(|state| state.search(queries, plan, most, &mut found))?;
        Ok(told(found, most))
    };
    if queries.len() <= BATCH {
        return found(queries);
    }
    let parts: Vec<Matched> =
        queries.par_chunks(BATCH).filter(|_| !stop.load(Relaxed)).map(found).collect::<Result<_, _>>()?;
    let mut all = Matched::default();
    for (batch, part) in parts.into_iter().enumerate() {
        all.queries.extend(part.queries.iter().map(|query| query + (batch * BATCH) as u32));
        all.keys.extend(part.keys);
        all.same.extend(part.same);
    }
    Ok(all)
}

/// Query, registers that differ, key: sorts in the order of the result.
type MatchRow = (u32, u8, i64);

/// Returns the matches in order; of sketches with the query's features the first `most`.
fn told(mut found: Vec<MatchRow>, most: usize) -> Matched {
    found.sort_unstable();
    let mut all = Matched::default();
    for own in found.chunk_by(|left, right| left.0 == right.0) {
        let twins = own.partition_point(|row| row.1 == 0);
        for &(query, apart, key) in own[..twins.min(most)].iter().chain(&own[twins..]) {
            all.queries.push(query);
            all.keys.push(key);
            all.same.push(TWIN - apart);
        }
    }
    all
}

impl State {
    fn search(&self, queries: &[Sketch], plan: &Plan, most: usize, found: &mut Vec<MatchRow>) -> Result<(), Corrupt> {
        let mut hits: Vec<SketchHit> = Vec::new();
        for slot in &self.slots {
            hits.clear();
            slot.part.search(plan, queries, &mut hits)?;
            for hit in &hits {
                let mut left = most;
                for key in slot.part.keys_of(hit.number)? {
                    let key = key?;
                    if left == 0 {
                        break;
                    }
                    if slot.gone.is_empty() || !slot.gone.contains(&key) {
                        found.push((hit.query, TWIN - hit.same, key));
                        left -= 1;
                    }
                }
            }
        }
        if self.keys.is_empty() {
            return Ok(());
        }
        let scan = Scan::new(plan);
        for (query, sketch) in queries.iter().enumerate() {
            for (other, &key) in self.sketches.iter().zip(&self.keys) {
                if sketch[REGISTERS..] == other[REGISTERS..] {
                    found.push((query as u32, 0, key));
                } else if let Some(same) = scan.same(registers(sketch), registers(other)) {
                    found.push((query as u32, TWIN - same as u8, key));
                }
            }
        }
        Ok(())
    }
}
