//! The index of sketches against a scan of all sketches.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use neardup_core::FileError;
use neardup_core::near::{Matched, Plan, REGISTERS, SKETCH_BYTES, Sketch, SketchIndex, TWIN};
use proptest::prelude::*;

/// The definition: every sketch is compared with every query.
#[derive(Default)]
struct Naive(BTreeMap<i64, Sketch>);

impl Naive {
    fn search(&self, queries: &[Sketch], plan: &Plan) -> Vec<(u32, u8, i64)> {
        let mut found = Vec::new();
        for (query, sketch) in queries.iter().enumerate() {
            for (&key, other) in self.0.iter().filter(|(_, other)| plan.is_candidate(sketch, other)) {
                let same = (0..REGISTERS).filter(|&at| sketch[at] == other[at]).count() as u8;
                let same = if sketch[REGISTERS..] == other[REGISTERS..] { TWIN } else { same };
                found.push((query as u32, TWIN - same, key));
            }
        }
        found.sort_unstable();
        found
    }
}

fn rows(found: Matched) -> Vec<(u32, u8, i64)> {
    let Matched { queries, keys, same } = found;
    queries.into_iter().zip(same).zip(keys).map(|((query, same), key)| (query, TWIN - same, key)).collect()
}

fn search(index: &SketchIndex, queries: &[Sketch], plan: &Plan, most: usize) -> Vec<(u32, u8, i64)> {
    rows(index.search(queries, plan, most, &AtomicBool::new(false)).unwrap())
}

fn file() -> PathBuf {
    static FILES: AtomicUsize = AtomicUsize::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("neardup-lookup-{}-{number}.sketches", std::process::id()))
}

/// Numbers that look random, from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % most
    }

    /// Returns a sketch that is near one of a few, or of few values, or a stranger; some are equal.
    fn sketch(&mut self) -> Sketch {
        let mut sketch: Sketch = [0; SKETCH_BYTES];
        let (seed, kind) = (self.below(6), self.below(8));
        let mut family = Dice(seed + 1);
        sketch.iter_mut().for_each(|byte| *byte = family.below(256) as u8);
        let changes = match kind {
            0 => 0,
            1..=5 => self.below(40),
            6 => REGISTERS as u64 * 4,
            _ => 0,
        };
        for _ in 0..changes {
            sketch[self.below(REGISTERS as u64) as usize] = self.below(256) as u8;
        }
        if kind == 7 {
            // Skewed: many share the keys of many tables.
            sketch[..REGISTERS].iter_mut().for_each(|byte| *byte = self.below(2) as u8);
        }
        if changes > 0 || kind == 7 {
            let sum = sketch[..REGISTERS].iter().fold(7u64, |sum, &byte| sum.wrapping_mul(31) + u64::from(byte));
            sketch[REGISTERS..REGISTERS + 8].copy_from_slice(&sum.to_le_bytes());
            let spread = sum.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            sketch[REGISTERS + 8..].copy_from_slice(&spread.to_le_bytes());
        }
        sketch
    }

    fn sketches(&mut self, count: usize) -> Vec<Sketch> {
        (0..count).map(|_| self.sketch()).collect()
    }
}

fn plans() -> Vec<Plan> {
    let asked =
        [(0.85, 0.99), (0.85, 0.9), (0.95, 0.99), (0.7, 0.99), (0.99, 0.999), (0.5, 0.5), (1.0, 0.99), (0.85, 1.0)];
    asked.iter().map(|&(similarity, recall)| Plan::new(similarity, recall).unwrap()).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Add(u16),
    Remove(Vec<prop::sample::Index>),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0u16..300).prop_map(Step::Add),
        1 => (4000u16..5000).prop_map(Step::Add),
        3 => prop::collection::vec(any::<prop::sample::Index>(), 0..40).prop_map(Step::Remove),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_life_of_an_index_gives_what_the_definition_says(
        seed in any::<u64>(), steps in steps(), wide in any::<bool>(), fewer_tables in any::<bool>(),
    ) {
        let mut dice = Dice(seed);
        let plans = plans();
        // Files of indexes with fewer tables are opened as well.
        let mut index = SketchIndex::new(&plans[usize::from(fewer_tables)], Some("a recipe".to_owned()));
        let mut naive = Naive::default();
        let stride = if wide { 1 << 40 } else { 1 };
        let mut next = -3 * stride;
        for step in steps {
            match step {
                Step::Add(count) => {
                    let sketches = dice.sketches(usize::from(count));
                    let keys: Vec<i64> = (0..i64::from(count)).map(|at| next + at * stride).collect();
                    next += i64::from(count) * stride;
                    index.add(&sketches, &keys, None).unwrap();
                    naive.0.extend(keys.iter().copied().zip(sketches));
                }
                Step::Remove(picks) => {
                    let there: Vec<i64> = naive.0.keys().copied().collect();
                    let mut gone: Vec<i64> = picks.iter().filter(|_| !there.is_empty()).map(|pick| *pick.get(&there)).collect();
                    gone.push(next + 5);
                    index.remove(&gone, None).unwrap();
                    naive.0.retain(|key, _| !gone.contains(key));
                }
                Step::Reopen => {
                    let path = file();
                    index.save(&path, None).unwrap();
                    index = SketchIndex::open(&path, &plans[0]).unwrap();
                    std::fs::remove_file(&path).unwrap();
                    index.verify().unwrap();
                    prop_assert_eq!(index.recipe(), Some("a recipe".to_owned()));
                    prop_assert_eq!(index.entries(), naive.0.len());
                }
            }
        }
        let (keys, sketches) = index.rows().unwrap();
        prop_assert_eq!(keys.into_iter().zip(sketches).collect::<Vec<_>>(), naive.0.clone().into_iter().collect::<Vec<_>>());
        let queries = dice.sketches(70);
        for plan in &plans {
            let queries = if plan.tables.is_empty() { &queries[..3] } else { &queries[..] };
            prop_assert_eq!(search(&index, queries, plan, usize::MAX), naive.search(queries, plan), "{:?}", plan);
        }
    }
}

#[test]
fn of_equal_sketches_the_first_keys_are_told() {
    let plan = Plan::new(0.85, 0.99).unwrap();
    let index = SketchIndex::new(&plan, None);
    let mut dice = Dice(1);
    let (one, mut other) = (dice.sketch(), dice.sketch());
    other[..36].copy_from_slice(&one[..36]);
    for start in [0, 10_000, 20_000, 30_000] {
        let keys: Vec<i64> = (start..start + 10_000).rev().collect();
        let sketches: Vec<Sketch> = keys.iter().map(|key| if key % 2 == 0 { one } else { other }).collect();
        index.add(&sketches, &keys, None).unwrap();
    }
    index.remove(&[0, 4, 1], None).unwrap();
    let path = file();
    index.save(&path, None).unwrap();
    let opened = SketchIndex::open(&path, &plan).unwrap();
    std::fs::remove_file(&path).unwrap();
    for index in [index, opened] {
        let found = search(&index, &[one], &plan, 3);
        assert_eq!(found[..3], [(0, 0, 2), (0, 0, 6), (0, 0, 8)]);
        assert_eq!(found[3..].iter().map(|row| row.2).collect::<Vec<_>>(), [3, 5, 7]);
        assert!(index.bytes() < 1_000_000);
    }
}

/// Columns are padded: a size that is wrong by a few bytes shows at some counts only.
#[test]
fn any_number_of_sketches_can_be_saved() {
    let plan = Plan::new(0.85, 0.99).unwrap();
    let different: Vec<Sketch> = (0..420u64)
        .map(|number| {
            let mut dice = Dice(number);
            std::array::from_fn(|_| dice.below(256) as u8)
        })
        .collect();
    for count in (0..20).chain(180..210).chain([255, 256, 257, 383, 384, 385, 420]) {
        let index = SketchIndex::new(&plan, None);
        let keys: Vec<i64> = (0..count as i64).collect();
        index.add(&different[..count], &keys, None).unwrap();
        let path = file();
        index.save(&path, None).unwrap();
        let opened = SketchIndex::open(&path, &plan).unwrap();
        std::fs::remove_file(&path).unwrap();
        opened.verify().unwrap();
        assert_eq!(opened.rows().unwrap(), (keys.clone(), different[..count].to_vec()));
        let found = search(&opened, &different[..count], &plan, 1);
        assert_eq!(found.iter().filter(|row| row.1 == 0).map(|row| row.2).collect::<Vec<_>>(), keys, "{count}");
        // 64 bytes of a sketch, 4 of its key, and some for each table.
        let tables = plan.tables.len();
        let (least, most) = (68 * count + tables * count, 68 * count + (tables + 2) * (count + 40) * 2 + 4096);
        assert!((least..=most).contains(&opened.bytes()), "{} bytes for {count}", opened.bytes());
    }
}

#[test]
fn tables_that_a_file_lacks_are_built_and_saved() {
    let (fewer, plan) = (Plan::new(0.85, 0.9).unwrap(), Plan::new(0.85, 0.99).unwrap());
    assert_eq!(fewer.tables, plan.tables[..fewer.tables.len()]);
    assert!(fewer.tables.len() < plan.tables.len());
    let (sketches, keys): (Vec<Sketch>, Vec<i64>) = (Dice(2).sketches(5000), (0..5000).collect());
    let bytes = |plan: &Plan| {
        let index = SketchIndex::new(plan, None);
        index.add(&sketches, &keys, None).unwrap();
        let path = file();
        index.save(&path, None).unwrap();
        (path, index.bytes())
    };
    let ((path, small), (whole, large)) = (bytes(&fewer), bytes(&plan));
    let opened = SketchIndex::open(&path, &plan).unwrap();
    let queries = Dice(4).sketches(50);
    search(&opened, &queries, &fewer, 9);
    assert_eq!(opened.bytes(), small, "no search needed them");
    let naive = Naive(keys.iter().copied().zip(sketches.iter().copied()).collect());
    assert_eq!(search(&opened, &queries, &plan, usize::MAX), naive.search(&queries, &plan));
    assert_eq!(opened.bytes(), large, "searches do not scan");
    opened.save(&path, None).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&whole).unwrap());
    [path, whole].iter().for_each(|path| std::fs::remove_file(path).unwrap());
}

#[test]
fn one_key_for_each_sketch() {
    let index = SketchIndex::new(&Plan::new(0.85, 0.99).unwrap(), None);
    let error = index.add(&[[0; SKETCH_BYTES]; 2], &[1], None).map_err(|error| format!("{error:?}")).unwrap_err();
    assert!(error.contains("1 keys for 2 sketches"), "{error}");
}

#[test]
fn nothing_is_found_in_nothing() {
    let plan = Plan::new(0.85, 0.99).unwrap();
    let index = SketchIndex::new(&plan, None);
    let path = file();
    index.save(&path, None).unwrap();
    let opened = SketchIndex::open(&path, &plan).unwrap();
    std::fs::remove_file(&path).unwrap();
    opened.verify().unwrap();
    for index in [index, opened] {
        assert_eq!(search(&index, &Dice(3).sketches(5), &plan, 9), []);
    }
}

fn saved(count: usize) -> (PathBuf, Vec<u8>, Naive) {
    let mut dice = Dice(5);
    let sketches = dice.sketches(count);
    let keys: Vec<i64> = (0..count as i64).collect();
    let index = SketchIndex::new(&Plan::new(0.85, 0.99).unwrap(), None);
    index.add(&sketches, &keys, None).unwrap();
    let path = file();
    index.save(&path, None).unwrap();
    let data = std::fs::read(&path).unwrap();
    (path, data, Naive(keys.into_iter().zip(sketches).collect()))
}

#[test]
fn damage_is_an_error_or_makes_no_difference() {
    let (path, data, naive) = saved(3000);
    let queries = Dice(9).sketches(20);
    let plans = plans();
    let mut dice = Dice(11);
    for start in (0..data.len()).step_by(997) {
        let mut damaged = data.clone();
        let end = (start + 256).min(data.len());
        damaged[start..end].iter_mut().for_each(|byte| *byte = dice.below(256) as u8);
        std::fs::write(&path, &damaged).unwrap();
        let Ok(index) = SketchIndex::open(&path, &plans[0]) else { continue };
        for plan in &plans[..4] {
            if let Ok(found) = index.search(&queries, plan, usize::MAX, &AtomicBool::new(false)) {
                assert_eq!(rows(found), naive.search(&queries, plan), "damage at {start}");
            }
        }
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_file_cut_short_is_told() {
    let (path, data, _) = saved(3000);
    let plan = Plan::new(0.85, 0.99).unwrap();
    for length in (0..data.len()).step_by(data.len() / 50) {
        std::fs::write(&path, &data[..length]).unwrap();
        assert!(matches!(SketchIndex::open(&path, &plan), Err(FileError::Corrupt(_) | FileError::Io(_))), "{length}");
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_file_cut_short_while_it_is_mapped_is_told() {
    let (path, data, _) = saved(3000);
    let plan = Plan::new(0.85, 0.99).unwrap();
    let index = SketchIndex::open(&path, &plan).unwrap();
    let query = Dice(9).sketches(1);
    index.search(&query, &plan, 1, &AtomicBool::new(false)).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(data.len() as u64 / 2).unwrap();
    std::fs::remove_file(&path).unwrap();
    let told = |error: String| assert!(error.contains("bytes") && error.contains("were saved"), "{error}");
    told(index.search(&query, &plan, 1, &AtomicBool::new(false)).unwrap_err().to_string());
    told(index.rows().unwrap_err().to_string());
    told(index.verify().unwrap_err().to_string());
    told(format!("{:?}", index.save(&path, None).unwrap_err()));
}
