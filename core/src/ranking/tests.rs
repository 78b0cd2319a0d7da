//! The fast path against the plainest version of it.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::*;
use crate::Version;
use crate::{Normalize, Pipeline, Settings, Tie, TokenHash, Tokenizer, Votes, Weights};

fn pipeline() -> Pipeline {
    Pipeline::new(Settings {
        normalize: Normalize::NfkcCasefold,
        tokenizer: Tokenizer::new("whitespace", 1, None, None, Default::default(), Version::Three).unwrap(),
        weights: Weights::Log,
        top: None,
        scale: None,
        hash: TokenHash::Xxh3,
        bits: 64,
        tie: Tie::Mask,
        votes: Votes::Exact,
        min_features: 2,
    })
    .unwrap()
}

type Documents = BTreeMap<i64, String>;
type Bag<'a> = HashMap<&'a str, f64>;

fn counts(text: &str) -> Bag<'_> {
    let mut counts = HashMap::new();
    text.split_whitespace().for_each(|word| *counts.entry(word).or_default() += 1.0);
    counts
}

/// Ranks by the definition: every document, every word.
fn naive(documents: &Documents, query: &str, kind: IdfKind) -> Vec<(i64, f64)> {
    let bags: BTreeMap<i64, Bag<'_>> = documents.iter().map(|(&key, text)| (key, counts(text))).collect();
    let n = bags.len() as f64;
    let weighted = |bag: &Bag<'_>| {
        let idf = |word: &str| {
            let df = bags.values().filter(|bag| bag.contains_key(word)).count() as f64;
            match kind {
                _ if df == 0.0 => 0.0,
                IdfKind::Smooth => ((1.0 + n) / (1.0 + df)).ln() + 1.0,
                IdfKind::Gensim => (n / df).log2(),
            }
        };
        bag.iter().map(|(word, count)| ((*word).to_owned(), count * idf(word))).collect::<HashMap<String, f64>>()
    };
    let norm = |bag: &HashMap<String, f64>| bag.values().map(|weight| weight * weight).sum::<f64>().sqrt();
    let query = weighted(&counts(query));
    let mut scores: Vec<(i64, f64)> = bags
        .iter()
        .map(|(&key, bag)| {
            let bag = weighted(bag);
            let dot: f64 = query.iter().map(|(word, weight)| weight * bag.get(word).unwrap_or(&0.0)).sum();
            (key, dot / (norm(&query) * norm(&bag)))
        })
        .filter(|(_, score)| *score > 0.0)
        .collect();
    scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scores
}

fn add(index: &TermIndex, documents: &[(i64, Option<&str>)]) {
    let (keys, texts): (Vec<i64>, Vec<Option<&str>>) = documents.iter().copied().unzip();
    let mut counted = Counted::default();
    counted.add(&pipeline(), &texts, &keys);
    index.add(counted).unwrap();
}

fn ask(index: &TermIndex, query: &str, n: usize, kind: IdfKind) -> Vec<(i64, f64)> {
    let found = index.search(&pipeline(), &[query], n, 0.0, kind, &AtomicBool::new(false)).unwrap();
    found.keys.into_iter().zip(found.scores).collect()
}

/// Sums of other orders differ in their last digits, and so may the order of what differs by no more.
fn check(found: &[(i64, f64)], all: &[(i64, f64)], n: usize) {
    assert_eq!(found.len(), all.len().min(n));
    let scores: HashMap<i64, f64> = all.iter().copied().collect();
    for ((key, score), (_, expected)) in found.iter().zip(all) {
        assert!((score - expected).abs() < 1e-11, "{score} {expected}");
        assert!((scores[key] - score).abs() < 1e-11);
    }
    assert!(found.is_sorted_by(|a, b| a.1 > b.1 || a.1 == b.1 && a.0 < b.0));
}

/// Words as unevenly frequent as real ones.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => (0u32..3).prop_map(|word| format!("the{word}")),
        3 => (0u32..12).prop_map(|word| format!("some{word}")),
        2 => (0u32..300).prop_map(|word| format!("rare{word}")),
    ];
    prop::collection::vec(word, 0..25).prop_map(|words| words.join(" "))
}

fn kinds() -> impl Strategy<Value = IdfKind> {
    prop_oneof![Just(IdfKind::Smooth), Just(IdfKind::Gensim)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever counts as frequent, the answer is the same.
    #[test]
    fn equals_a_look_at_everything(
        texts in prop::collection::vec(text(), 1..220),
        query in text(),
        n in 1usize..30,
        least in prop_oneof![Just(1u64), Just(5), Just(40), Just(u64::MAX)],
        kind in kinds(),
    ) {
        let index = TermIndex::with_frequent(String::new(), least);
        let documents: Documents = (0..).zip(texts).collect();
        let given: Vec<(i64, Option<&str>)> = documents.iter().map(|(&key, text)| (key, Some(&text[..]))).collect();
        add(&index, &given);
        let all = naive(&documents, &query, kind);
        check(&ask(&index, &query, n, kind), &all, n);
        check(&ask(&index, &query, 1000, kind), &all, 1000);
    }

    /// However documents came and went, the answer is that of those that are there.
    #[test]
    fn documents_come_and_go(
        steps in prop::collection::vec((prop::collection::vec(text(), 0..40), prop::collection::vec(0i64..200, 0..20), any::<bool>()), 1..8),
        query in text(),
        kind in kinds(),
    ) {
        let index = TermIndex::with_frequent("a recipe".to_owned(), 3);
        let folder = std::env::temp_dir().join(format!("neardup-terms-{}-{:?}", std::process::id(), std::thread::current().id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (mut documents, mut key, mut saved, mut files) = (Documents::new(), 1, 1, Vec::new());
        for (texts, gone, save) in steps {
            let given: Vec<(i64, String)> = (key..).zip(texts).collect();
            key += given.len() as i64;
            add(&index, &given.iter().map(|(key, text)| (*key, Some(&text[..]))).collect::<Vec<_>>());
            documents.extend(given);
            index.remove(&gone).unwrap();
            gone.iter().for_each(|key| drop(documents.remove(key)));
            if save && key > saved {
                let path = folder.join(format!("{saved}"));
                index.save(&path, saved, key - 1, 7).unwrap();
                files.push(path);
                saved = key;
            }
            prop_assert_eq!(index.documents(), documents.len());
            prop_assert_eq!(index.keys().unwrap(), documents.keys().copied().collect::<Vec<_>>());
            check(&ask(&index, &query, 10, kind), &naive(&documents, &query, kind), 10);
        }
        index.verify().unwrap();
        // What is in files, and later ones in memory, is the same corpus.
        let again = TermIndex::with_frequent("a recipe".to_owned(), 3);
        for path in &files {
            let covered = again.attach(path).unwrap();
            prop_assert_eq!(TermIndex::covered(path).unwrap(), covered);
        }
        let gone: Vec<i64> = (1..key).filter(|key| !documents.contains_key(key)).collect();
        again.remove(&gone).unwrap();
        let later: Vec<(i64, Option<&str>)> = documents.range(saved..).map(|(&key, text)| (key, Some(&text[..]))).collect();
        add(&again, &later);
        again.verify().unwrap();
        prop_assert_eq!(ask(&again, &query, 10, kind), ask(&index, &query, 10, kind));
        // All of it as one file.
        let path = folder.join("all");
        again.save(&path, 1, key - 1, 8).unwrap();
        prop_assert_eq!(ask(&again, &query, 10, kind), ask(&index, &query, 10, kind));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn equal_documents_are_told_in_order() {
    let index = TermIndex::with_frequent(String::new(), 1);
    let texts = ["x y", "a b c d", "d c b a", "a b c d", "z"];
    add(&index, &(0..).zip(texts).map(|(key, text)| (key, Some(text))).collect::<Vec<_>>());
    add(&index, &[(9, Some("b a d c"))]);
    for n in 1..6 {
        let found = ask(&index, "a b c d", n, IdfKind::Smooth);
        assert_eq!(found.iter().map(|hit| hit.0).collect::<Vec<_>>(), [1, 2, 3, 9][..n.min(4)]);
        assert!(found.iter().all(|hit| hit.1 == 1.0));
    }
}

#[test]
fn counts_may_be_large() {
    let index = TermIndex::with_frequent(String::new(), 1);
    let texts = ["a ".repeat(254) + "b", "a ".repeat(255) + "b", "a ".repeat(70_000) + "b", "c b".to_owned()];
    let documents: Documents = (0..).zip(texts).collect();
    add(&index, &documents.iter().map(|(&key, text)| (key, Some(&text[..]))).collect::<Vec<_>>());
    for query in ["a b", "b", "a"] {
        for kind in [IdfKind::Smooth, IdfKind::Gensim] {
            check(&ask(&index, query, 9, kind), &naive(&documents, query, kind), 9);
        }
    }
    index.verify().unwrap();
}

#[test]
fn nothing_finds_nothing() {
    let index = TermIndex::new(String::new());
    assert_eq!(ask(&index, "a", 3, IdfKind::Smooth), []);
    add(&index, &[(1, None), (2, Some("")), (3, Some("a b"))]);
    // A missing text is no document, an empty one is.
    assert_eq!(index.documents(), 2);
    for query in ["", "unknown"] {
        assert_eq!(ask(&index, query, 3, IdfKind::Smooth), []);
    }
    assert_eq!(ask(&index, "a", 3, IdfKind::Smooth).len(), 1);
    index.remove(&[2, 3, 77]).unwrap();
    assert_eq!((index.documents(), ask(&index, "a", 3, IdfKind::Gensim)), (0, vec![]));
}

#[test]
fn keys_must_ascend() {
    let index = TermIndex::new(String::new());
    let refused = |keys: &[i64]| {
        let mut counted = Counted::default();
        counted.add(&pipeline(), &vec![Some("a"); keys.len()], keys);
        match index.add(counted) {
            Err(crate::IndexError::Refused(error)) => error.to_string(),
            _ => String::new(),
        }
    };
    assert_eq!(refused(&[5, 6]), "");
    assert_eq!(refused(&[6]), "the key 6 is not above 6; keys must ascend: add documents in order of their keys");
    assert_eq!(refused(&[9, 8]), "keys must ascend: add documents in order of their keys");
}

#[test]
fn files_of_others_are_refused() {
    let path = std::env::temp_dir().join(format!("neardup-terms-of-others-{}", std::process::id()));
    let index = TermIndex::new("one".to_owned());
    add(&index, &[(1, Some("a b")), (2, Some("b c"))]);
    assert!(index.save(&path, 2, 5, 0).is_err_and(|error| format!("{error:?}").contains("save whole parts")));
    index.save(&path, 1, 5, 0).unwrap();
    let other = TermIndex::new("two".to_owned());
    assert!(other.attach(&path).is_err_and(|error| format!("{error:?}").contains("postings of one")));
    assert!(index.attach(&path).is_err_and(|error| format!("{error:?}").contains("keys must ascend")));
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let damaged = path.with_extension("damaged");
    std::fs::write(&damaged, bytes).unwrap();
    // Keys lie in the same chunk as what is damaged.
    let third = TermIndex::new("one".to_owned());
    assert!(third.attach(&damaged).is_err_and(|error| format!("{error:?}").contains("checksum")));
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_file(&damaged).unwrap();
}

proptest! {
    /// Terms that were made elsewhere, in several parts, some of the documents removed.
    #[test]
    fn documents_that_share_a_term(
        documents in prop::collection::vec(prop::collection::btree_set(0u64..30, 0..6), 1..30),
        parts in 1usize..4,
        gone in prop::collection::btree_set(0i64..30, 0..8),
        asked in prop::collection::vec(0u64..40, 0..6),
    ) {
        // As hashes are: spread over all their bits.
        let term = |small: &u64| small.wrapping_mul(crate::hash::GOLDEN);
        let index = TermIndex::new("test".to_owned());
        for (part, some) in documents.chunks(documents.len().div_ceil(parts)).enumerate() {
            let first = (part * documents.len().div_ceil(parts)) as i64;
            let mut bounds = vec![0];
            let mut terms = Vec::new();
            for document in some {
                terms.extend(document.iter().map(term));
                bounds.push(terms.len() as u64);
            }
            let keys: Vec<i64> = (first..first + some.len() as i64).collect();
            let mut counted = Counted::default();
            counted.add_terms(&bounds, &terms, &keys).unwrap();
            index.add(counted).unwrap();
            prop_assert!(Counted::default().add_terms(&bounds[1..], &terms, &keys).is_err());
        }
        index.remove(&gone.iter().copied().collect::<Vec<_>>()).unwrap();
        let expected: Vec<i64> = (0..documents.len() as i64)
            .filter(|key| !gone.contains(key) && asked.iter().any(|term| documents[*key as usize].contains(term)))
            .collect();
        let asked: Vec<u64> = asked.iter().map(term).collect();
        prop_assert_eq!(index.sharing(&asked).unwrap(), expected);
    }
}

proptest! {
    #[test]
    fn only_scores_that_reach_what_is_asked(
        texts in prop::collection::vec(text(), 1..300),
        query in text(),
        n in 1usize..20,
        least in 0.0..1.0f64,
        kind in kinds(),
    ) {
        let documents: Vec<(i64, Option<&str>)> = (0..).zip(texts.iter().map(|text| Some(&text[..]))).collect();
        let index = TermIndex::with_frequent("test".to_owned(), 4);
        add(&index, &documents);
        let every = ask(&index, &query, texts.len(), kind);
        let expected: Vec<(i64, f64)> = every.into_iter().filter(|(_, score)| *score >= least).take(n).collect();
        let found = index.search(&pipeline(), &[&query], n, least, kind, &AtomicBool::new(false)).unwrap();
        prop_assert_eq!(found.keys.into_iter().zip(found.scores).collect::<Vec<_>>(), expected);
    }
}
