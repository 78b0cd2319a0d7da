//! The index against a plain list of codes and ids.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use neardup_core::{Id, Ids, Index};
use proptest::prelude::*;

/// These searches are not stopped.
static GO: AtomicBool = AtomicBool::new(false);

type Model = BTreeMap<i64, Vec<u64>>;

fn distance(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

fn near(model: &Model, query: &[u64], radius: usize) -> Vec<(u16, i64)> {
    let mut found: Vec<(u16, i64)> = model
        .iter()
        .map(|(&id, code)| (distance(code, query) as u16, id))
        .filter(|(distance, _)| usize::from(*distance) <= radius)
        .collect();
    found.sort();
    found
}

/// Codes around a few centres, so that there are neighbours and equals at every distance.
fn code(bits: usize, seed: u64, centres: u64, flips: u32) -> Vec<u64> {
    let mix = |x: u64| {
        let x = (x ^ x >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (x ^ x >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ x >> 29
    };
    let centre = mix(seed) % centres;
    let mut code: Vec<u64> = (0..bits.div_ceil(64) as u64).map(|word| mix(centre.wrapping_mul(8) + word + 1)).collect();
    for flip in 0..mix(seed ^ 0x55) % u64::from(flips + 1) {
        let bit = mix(seed ^ flip << 20 ^ 0xabc) as usize % bits;
        code[bit / 64] ^= 1 << (bit % 64);
    }
    if !bits.is_multiple_of(64) {
        *code.last_mut().unwrap() &= u64::MAX >> (64 - bits % 64);
    }
    code
}

fn check(index: &Index, model: &Model, queries: &[Vec<u64>], radius: usize) -> Result<(), TestCaseError> {
    let flat: Vec<u64> = queries.concat();
    let matches = index.search(&flat, radius, None, &GO).unwrap();
    let Ids::Int(ids) = &matches.ids else { panic!("integer ids") };
    let mut answers: Vec<Vec<(u16, i64)>> = vec![Vec::new(); queries.len()];
    for ((&query, &distance), &id) in matches.queries.iter().zip(&matches.distances).zip(ids) {
        answers[query as usize].push((distance, id));
    }
    let contained = index.contains(&flat, radius, None, &GO).unwrap();
    for (at, query) in queries.iter().enumerate() {
        let expected = near(model, query, radius);
        prop_assert_eq!(&answers[at], &expected, "radius {}", radius);
        prop_assert_eq!(contained[at], !expected.is_empty());
    }
    for count in [1, 3] {
        let nearest = index.nearest(&flat, count, radius, None, &GO).unwrap();
        let Ids::Int(ids) = &nearest.ids else { panic!("integer ids") };
        let mut rows = nearest.queries.iter().zip(nearest.distances.iter().zip(ids));
        for (at, query) in queries.iter().enumerate() {
            for expected in near(model, query, radius).into_iter().take(count) {
                let (&number, (&distance, &id)) = rows.next().unwrap();
                prop_assert_eq!((number as usize, (distance, id)), (at, expected));
            }
        }
        prop_assert!(rows.next().is_none());
    }
    Ok(())
}

#[derive(Clone, Debug)]
enum Step {
    Add(usize, u64),
    Remove(usize, u64),
    Search(usize),
    Compact,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1usize..1500, any::<u64>()).prop_map(|(count, seed)| Step::Add(count, seed)),
        2 => (1usize..800, any::<u64>()).prop_map(|(count, seed)| Step::Remove(count, seed)),
        3 => (0usize..520).prop_map(Step::Search),
        1 => Just(Step::Compact),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn long_random_use_equals_a_plain_list(
        bytes in prop_oneof![Just(8usize), Just(16), 1usize..=64], centres in 1u64..400, flips in 0u32..12,
        steps in prop::collection::vec(step(), 1..24), random_ids in any::<bool>(), levels in prop_oneof![Just(None), Just(Some(1)), Just(Some(2))],
    ) {
        let bits = 8 * bytes;
        let levels = levels.filter(|&levels| levels == 1 || bits > 16);
        let file = std::env::temp_dir().join(format!("neardup-index-{}-{bits}.ndx", std::process::id()));
        let mut index = Index::new(bits, Some("a recipe".to_owned()), levels).unwrap();
        let mut model = Model::new();
        for step in steps {
            match step {
                Step::Add(count, seed) => {
                    let codes: Vec<Vec<u64>> =
                        (0..count as u64).map(|row| code(bits, seed.wrapping_add(row), centres, flips)).collect();
                    let ids = random_ids.then(|| {
                        let first = (seed % 10_000) as i64;
                        let ids: Vec<i64> = (0..count as i64).map(|row| first - 7 * row).collect();
                        Ids::Int(ids)
                    });
                    let known = ids.as_ref().is_some_and(|ids| (0..count).any(|row| {
                        matches!(ids.get(row), Id::Int(id) if model.contains_key(&id))
                    }));
                    let added = index.add(&codes.concat(), ids, None, None, count, None);
                    prop_assert_eq!(added.is_err(), known);
                    if let Ok(Ids::Int(ids)) = added {
                        model.extend(ids.into_iter().zip(codes));
                    }
                }
                Step::Remove(count, seed) => {
                    let ids: Vec<i64> = model.keys().copied().skip(seed as usize % (model.len() + 1)).take(count).collect();
                    let removed = index.remove(&Ids::Int([ids.clone(), vec![-1 << 40]].concat())).unwrap();
                    prop_assert_eq!(removed, ids.len());
                    for id in ids { model.remove(&id); }
                }
                Step::Search(radius) => {
                    let mut queries: Vec<Vec<u64>> = (0..3).map(|seed| code(bits, seed * 77 + 5, centres, flips)).collect();
                    queries.push(code(bits, 9, u64::MAX, 0));
                    for radius in [0, 1, 3, 6, radius % (bits + 1)] {
                        if radius <= bits { check(&index, &model, &queries, radius)?; }
                    }
                }
                Step::Compact => index.compact(None).unwrap(),
                Step::Reopen => {
                    index.save(&file, None).unwrap();
                    index = Index::open(&file).unwrap();
                    prop_assert_eq!(index.recipe(), Some("a recipe".to_owned()));
                    index.verify().unwrap();
                }
            }
            if index.is_unsettled() { index.settle(None).unwrap(); }
            prop_assert!(!index.is_unsettled());
            prop_assert_eq!(index.len(), model.len());
        }
        let Ids::Int(ids) = index.ids().unwrap() else { panic!("integer ids") };
        prop_assert_eq!(ids, model.keys().copied().collect::<Vec<_>>());
        for (&id, code) in model.iter().take(50) {
            prop_assert_eq!(index.get(Id::Int(id)).unwrap(), Some(code.clone()));
        }
        let _ = std::fs::remove_file(&file);
    }
}

#[test]
fn string_ids_survive_a_file() {
    let file = std::env::temp_dir().join(format!("neardup-strings-{}.ndx", std::process::id()));
    let index = Index::new(64, None, None).unwrap();
    let names: Vec<String> = ["b", "", "ä", "a"].map(str::to_owned).to_vec();
    index.add(&[1, 2, 3, 1], Some(Ids::Str(names)), None, None, 4, None).unwrap();
    index.save(&file, None).unwrap();
    let opened = Index::open(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let matches = opened.search(&[1], 1, None, &GO).unwrap();
    assert_eq!(matches.ids, Ids::Str(["a", "b", "ä"].map(str::to_owned).to_vec()));
    assert_eq!(matches.distances, [0, 0, 1]);
    assert_eq!(opened.get(Id::Str("")).unwrap(), Some(vec![2]));
    assert!(opened.add(&[9], Some(Ids::Int(vec![1])), None, None, 1, None).is_err());
}

#[test]
fn a_million_equal_codes_are_one_code() {
    let index = Index::new(64, None, None).unwrap();
    let codes = vec![42; 1 << 20];
    index.add(&codes, None, None, None, codes.len(), None).unwrap();
    assert!(index.contains(&[43], 1, None, &GO).unwrap()[0]);
    assert_eq!(index.nearest(&[43], 2, 64, None, &GO).unwrap().ids, Ids::Int(vec![0, 1]));
    assert_eq!(index.search(&[42], 0, None, &GO).unwrap().distances.len(), codes.len());
}

#[test]
fn the_highest_id_of_all_is_an_id_like_others() {
    let index = Index::new(64, None, None).unwrap();
    let last = || Some(Ids::Int(vec![i64::MAX]));
    index.add(&[1], last(), None, None, 1, None).unwrap();
    assert!(index.add(&[2], last(), None, None, 1, None).is_err());
    assert!(index.add(&[2], None, None, None, 1, None).is_err());
    index.remove(&Ids::Int(vec![i64::MAX])).unwrap();
    index.add(&[2], last(), None, None, 1, None).unwrap();
    assert_eq!(index.ids().unwrap(), Ids::Int(vec![i64::MAX]));
}

/// Planted copies of which each bit differs with the chance `flip`: the share that is found, and that nothing else is.
#[test]
fn a_share_is_found_and_nothing_wrong() {
    let bits = 128;
    let mut seed = 7u64;
    let mut next = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    let codes: Vec<[u64; 2]> = (0..60_000)
        .map(|_| [0; 2].map(|_: u64| (0..64).fold(0, |word, _| word << 1 | u64::from(next() < 0.5))))
        .collect();
    let index = Index::new(bits, None, None).unwrap();
    index.add(codes.as_flattened(), None, None, None, codes.len(), None).unwrap();
    index.compact(None).unwrap();

    for (flip, radius, recall) in [(0.1436, 30, 0.99), (0.1436, 30, 0.9), (0.05, 14, 0.95)] {
        let queries: Vec<[u64; 2]> = codes
            .iter()
            .step_by(20)
            .map(|code| code.map(|word| (0..64).fold(word, |word, bit| word ^ u64::from(next() < flip) << bit)))
            .collect();
        let reach = (radius, recall, Some(flip));
        let found = index.search_some(queries.as_flattened(), reach, None, &GO).unwrap();
        let Ids::Int(ids) = &found.ids else { unreachable!("ids are numbers") };
        let mut planted = 0;
        for ((&query, &id), &apart) in found.queries.iter().zip(ids).zip(&found.distances) {
            let exact = distance(&queries[query as usize], &codes[id as usize]);
            assert_eq!(u32::from(apart), exact);
            assert!(exact <= radius as u32);
            planted += u32::from(id == 20 * i64::from(query));
        }
        let within = queries.iter().zip(codes.iter().step_by(20)).filter(|(a, b)| distance(*a, *b) <= radius as u32);
        let share = f64::from(planted) / within.count() as f64;
        assert!(share >= recall - 0.01, "{share} of {recall}");
        let plan = index.plan(radius, recall).unwrap();
        assert!(plan[0].tables.is_some() && plan[0].cost < index.plan(radius, 1.0).unwrap()[0].cost);
    }
    assert!(index.search_some(&[0, 0], (3, 1.5, None), None, &GO).is_err());
    assert!(index.search_some(&[0, 0], (3, 0.5, Some(f64::NAN)), None, &GO).is_err());
}
