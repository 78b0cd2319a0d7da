//! The fast paths from text to fingerprint against the slow one: features, hashes, columns one by one.
#![allow(clippy::unwrap_used)] // a test may

use std::collections::HashMap;

use neardup_core::{
    Feature, Idf, IdfSource, Normalize, Pipeline, Settings, Tie, TokenHash, Tokenizer, Version, Votes, Weights,
    cosine_of_features,
};
use proptest::prelude::*;

fn settings() -> Settings {
    Settings {
        normalize: Normalize::NfkcCasefold,
        tokenizer: Tokenizer::new("words", 1, None, None, Default::default(), Version::Three).unwrap(),
        weights: Weights::LogLength(Version::Three),
        top: None,
        scale: None,
        hash: TokenHash::Xxh3,
        bits: 128,
        tie: Tie::Mask,
        votes: Votes::Exact,
        min_features: 2,
    }
}

fn fingerprint(pipeline: &Pipeline, text: &str) -> Option<Vec<u64>> {
    let mut value = vec![0; pipeline.words()];
    pipeline.fingerprint(text, &mut value).then_some(value)
}

/// Computes the fingerprint by the steps of an explanation.
fn naive(pipeline: &Pipeline, min_features: usize, text: &str) -> Option<Vec<u64>> {
    let features: Vec<Feature> = pipeline.features(text).into_iter().filter(|f| f.weight > 0.0).collect();
    if features.len() < min_features {
        return None;
    }
    let hashes: Vec<Vec<u64>> = features.iter().map(|feature| pipeline.hash(&feature.token)).collect();
    let weights: Vec<f64> = features.iter().map(|feature| feature.weight).collect();
    Some(pipeline.vote(&hashes, &weights).0)
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,80}",
        "[a-eA-E0-2 ,.']{0,120}",
        "[的一是不了人我在有他，。 a-c]{0,80}",
        prop::collection::vec("[a-d]{1,6}", 0..200).prop_map(|words| words.join(" ")),
    ]
}

fn recipes() -> impl Strategy<Value = Settings> {
    let tokens = prop::sample::select(vec![
        ("words", None),
        ("chars", None),
        ("chars", Some("[a-z]+")),
        ("whitespace", None),
        ("lines", None),
        ("regex", Some("[a-c]+")),
        ("jieba", None),
    ]);
    let weights = prop::sample::select(vec!["log", "log-length", "tf", "binary", "frequency", "fitted", "jieba"]);
    let hashes = prop::sample::select(vec![
        (TokenHash::Xxh3, 512),
        (TokenHash::Md5, 128),
        (TokenHash::Md5First, 128),
        (TokenHash::Python, 512),
        (TokenHash::Lookup3, 64),
        (TokenHash::Lookup3Yanyiwu, 64),
    ]);
    let ties = prop::sample::select(vec![Tie::Mask, Tie::Zero, Tie::One]);
    let votes = prop::sample::select(vec![Votes::Exact, Votes::SignedFloat, Votes::HalfFloat]);
    let limits = (prop::option::of(1usize..9), prop::option::of(0.5f64..40.0), 1usize..5);
    (tokens, 1usize..4, weights, hashes, 1usize..=64, ties, votes, limits).prop_map(
        |((tokens, pattern), ngram, weights, (hash, widest), bytes, tie, votes, (top, scale, min_features))| {
            let fitted = || Idf { documents: 9, counts: HashMap::from([("a".into(), 8), ("的一".into(), 3)]) };
            Settings {
                tokenizer: Tokenizer::new(tokens, ngram, pattern, None, Default::default(), Version::Three).unwrap(),
                weights: match weights {
                    "fitted" => Weights::new("tfidf", Some(IdfSource::Fitted(fitted())), Version::Three).unwrap(),
                    "jieba" => Weights::new("tfidf", Some(IdfSource::Jieba), Version::Three).unwrap(),
                    name => Weights::new(name, None, Version::Three).unwrap(),
                },
                top,
                scale,
                hash,
                bits: (bytes * 8).min(widest),
                tie,
                votes,
                min_features,
                ..settings()
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn every_road_ends_at_the_same_bits(settings in recipes(), text in texts()) {
        let min_features = settings.min_features;
        let pipeline = Pipeline::new(settings).unwrap();
        let expected = naive(&pipeline, min_features, &text);
        prop_assert_eq!(fingerprint(&pipeline, &text), expected.clone());
        // A reused worker, and many texts at once, give the same.
        let many = [Some(text.as_str()), None, Some("a b c"), Some(text.as_str())];
        let mut values = vec![0; many.len() * pipeline.words()];
        let mut signal = [false; 4];
        pipeline.fingerprints(&many, &mut values, &mut signal);
        let rows: Vec<&[u64]> = values.chunks(pipeline.words()).collect();
        for row in [0, 3] {
            prop_assert_eq!(signal[row].then(|| rows[row].to_vec()), expected.clone());
        }
        prop_assert!(!signal[1] && rows[1].iter().all(|&word| word == 0));
    }

    #[test]
    fn features_made_elsewhere_vote_alike(text in texts()) {
        let pipeline = Pipeline::new(settings()).unwrap();
        let mut features = pipeline.features(&text);
        features.reverse();
        let mut value = vec![0; pipeline.words()];
        let signal = pipeline.fingerprint_features(features, &mut value);
        prop_assert_eq!(signal.then_some(value), fingerprint(&pipeline, &text));
    }

    #[test]
    fn similarity_is_the_cosine_of_the_features(settings in recipes(), left in texts(), right in texts()) {
        let pipeline = Pipeline::new(settings).unwrap();
        let expected = cosine_of_features(&pipeline.features(&left), &pipeline.features(&right));
        let found = pipeline.similarity(&left, &right);
        prop_assert!(found == expected || found.is_nan() && expected.is_nan(), "{found} {expected}");
    }
}

#[test]
fn a_huge_text_leaves_the_worker_fit_for_small_ones() {
    let pipeline = Pipeline::new(settings()).unwrap();
    let before = fingerprint(&pipeline, "one small text");
    let huge: String = (0..400_000).map(|number| format!("w{number} ")).collect();
    assert!(fingerprint(&pipeline, &huge).is_some());
    assert_eq!(fingerprint(&pipeline, "one small text"), before);
}

#[test]
fn tokens_with_one_narrow_hash_are_still_two() {
    for weights in [Weights::Tf, Weights::Log] {
        let pipeline = Pipeline::new(Settings { bits: 8, weights, ..settings() }).unwrap();
        assert_eq!(pipeline.hash("word002"), pipeline.hash("word000"));
        assert!(fingerprint(&pipeline, "word002 word000").is_some());
    }
}

#[test]
fn widths_the_hash_cannot_fill_are_refused() {
    for (bits, hash, expected) in [
        (0, TokenHash::Xxh3, "multiple of 8 from 8 to 512"),
        (12, TokenHash::Xxh3, "multiple of 8"),
        (520, TokenHash::Xxh3, "bits is 520"),
        (136, TokenHash::Md5, "gives only 128"),
        (72, TokenHash::Lookup3, "gives only 64"),
    ] {
        let error = Pipeline::new(Settings { bits, hash, ..settings() }).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let error = Pipeline::new(Settings { scale: Some(f64::NAN), ..settings() }).unwrap_err().to_string();
    assert!(error.contains("scale is"), "{error}");
}

#[test]
fn document_frequencies_count_texts_not_words() {
    let pipeline = Pipeline::new(settings()).unwrap();
    let counts = pipeline.document_frequencies(&["a a b", "b c", ""]);
    assert_eq!(counts, HashMap::from([("a".into(), 1), ("b".into(), 2), ("c".into(), 1)]));
}
