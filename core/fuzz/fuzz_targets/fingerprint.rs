//! Normalise, tokenise, vote: no panic on any text, and the quick road equals the slow one.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use neardup_core::{Normalize, Passages, Pipeline, Settings, Tie, TokenHash, Tokenizer, Version, Votes, Weights};

static PIPELINES: LazyLock<Vec<Pipeline>> = LazyLock::new(|| {
    let forms = [Normalize::Standard, Normalize::Fold, Normalize::NfkcCasefold, Normalize::Nfkc, Normalize::Casefold, Normalize::Lower, Normalize::None];
    let tokens = [("words", None), ("chars", Some(r"[\p{L}\p{N}_]+")), ("whitespace", None), ("lines", None), ("jieba", None)];
    let hashes = [TokenHash::Xxh3, TokenHash::Md5, TokenHash::Python, TokenHash::Lookup3];
    let mut pipelines = Vec::new();
    for (at, normalize) in forms.into_iter().enumerate() {
        for (tokens, pattern) in tokens {
            for weights in [Weights::LogLength(Version::Three), Weights::Tf, Weights::Frequency] {
                let number = pipelines.len();
                pipelines.push(
                    Pipeline::new(Settings {
                        normalize,
                        tokenizer: Tokenizer::new(tokens, 1 + number % 3, pattern, None, Default::default(), Version::Three).unwrap(),
                        weights,
                        top: (number % 7 == 0).then_some(5),
                        scale: None,
                        hash: hashes[number % hashes.len()],
                        bits: 64,
                        tie: [Tie::Mask, Tie::Zero, Tie::One][at % 3],
                        votes: Votes::Exact,
                        min_features: 1,
                    })
                    .unwrap(),
                );
            }
        }
    }
    pipelines
});

fuzz_target!(|data: (u8, &str)| {
    let (which, text) = data;
    let pipeline = &PIPELINES[usize::from(which) % PIPELINES.len()];
    let mut value = [0];
    let signal = pipeline.fingerprint(text, &mut value);
    let features = pipeline.features(text);
    assert_eq!(signal, !features.is_empty());
    let hashes: Vec<Vec<u64>> = features.iter().map(|feature| pipeline.hash(&feature.token)).collect();
    let weights: Vec<f64> = features.iter().map(|feature| feature.weight).collect();
    if signal {
        assert_eq!(pipeline.vote(&hashes, &weights).0, value);
    }
    let (mut first, mut second) = (String::new(), String::new());
    let once = Normalize::NfkcCasefold.apply(text, &mut first);
    assert_eq!(Normalize::NfkcCasefold.apply(once, &mut second), once);
    let half = text.floor_char_boundary(text.len() / 2);
    let passages = Passages { min_words: 2, min_chars: 3, bridge: 2, seconds: None };
    passages.shared(&text[..half], &text[half..], None);
});
