//! One thread's buffers, and the steps from text to fingerprint, sketch and features.

use crate::bag::{Bag, Entry};
use crate::cosine::Vector;
use crate::hash::{HashCache, TokenHash, keep_low, token_key};
use crate::hashed_words::{LengthBatches, each_xxh3, length_batches};
use crate::http_tokens;
use crate::near::{Race, Sketch, without_signal};
use crate::pipeline::{Feature, Judged, Settings};
use crate::shares::Shares;
use crate::tokens::TokenScratch;
use crate::version::Version;
use crate::vote::{Planes, columns};
use crate::weights::{STEPS, SmallWeights, TextSize, TokenClasses, Weights};

/// Hashes are passed to the vote counters in groups of this many.
const VOTE_BATCH: usize = 64;
/// A worker keeps buffers up to this size from text to text.
const KEPT_BYTES: usize = 1 << 20;
/// Distinct tokens that fit into a bag of that size.
const KEPT_ENTRIES: usize = KEPT_BYTES / 64;

/// A worker for fingerprints of any width.
pub(crate) trait AnyWorker: Send {
    /// Writes the fingerprint unless `value` is empty, and the sketch if there is one; returns whether there is a
    /// signal.
    fn make(&mut self, settings: &Settings, text: &str, value: &mut [u64], sketch: Option<&mut Sketch>) -> bool;
    fn features(&mut self, settings: &Settings, text: &str) -> Vec<Feature>;
    /// Writes the fingerprint of features; returns whether there is a signal.
    fn vote_features(&mut self, settings: &Settings, features: &[Feature], value: &mut [u64]) -> bool;
    fn judged(&mut self, settings: &Settings, text: &str) -> Judged;
    /// Returns a buffer for a normalised text.
    fn buffer(&mut self) -> &mut String;
    /// Returns the distinct tokens and their counts.
    fn counted(&mut self, settings: &Settings, text: &str) -> Vec<(String, u32)>;
    /// Returns the keys of the distinct tokens and their counts.
    fn terms(&mut self, settings: &Settings, text: &str) -> Vec<(u64, u32)>;
}

/// A worker for fingerprints of up to W·64 bits.
pub(crate) struct Worker<const W: usize> {
    normalized: String,
    tokens: TokenScratch,
    batches: Box<LengthBatches>,
    bag: Bag<W>,
    planes: Planes<W>,
    race: Race,
    hashes: HashCache<W>,
}

impl<const W: usize> Worker<W> {
    pub(crate) fn new() -> Self {
        Worker {
            normalized: String::new(),
            tokens: TokenScratch::default(),
            batches: length_batches(),
            bag: Bag::default(),
            planes: Planes::new(),
            race: Race::default(),
            hashes: HashCache::default(),
        }
    }

    /// Counts every token, with its hash, in the bag.
    fn fill_bag(&mut self, settings: &Settings, classes: TokenClasses, text: &str) {
        let text = settings.normalize.apply_keeping(text, settings.tokenizer.kept(), &mut self.normalized);
        let Settings { hash, bits, .. } = *settings;
        let (bag, hashes) = (&mut self.bag, &mut self.hashes);
        bag.start((text.len() / 4).min(KEPT_ENTRIES));
        match hash {
            // The hash a token votes with is also its key: one hash instead of two.
            TokenHash::Xxh3 if bits >= 64 => {
                let scratch = (&mut self.tokens, &mut *self.batches);
                each_xxh3(&settings.tokenizer, (bits, classes), text, scratch, |hash: [u64; W], class| {
                    bag.add(hash[0], hash, class);
                });
            }
            _ => {
                let mut add = |token: &str, class: u8| {
                    let key = token_key(token);
                    if bag.add(key, [0; W], class) {
                        bag.set_last_hash(hashes.get(key, || hash.hash::<W>(token, bits)));
                    }
                };
                match settings.tokenizer.views() {
                    Some(wanted) => {
                        http_tokens::each(text, (wanted, settings.tokenizer.hangul()), &mut self.tokens.view, &mut add)
                    }
                    None => {
                        let each = |token: &str| add(token, classes.of(token));
                        settings.tokenizer.each(text, &mut self.tokens, each);
                    }
                }
            }
        }
    }

    /// Counts every token by its key alone; calls `new` with each distinct token.
    fn count_tokens(&mut self, settings: &Settings, text: &str, mut new: impl FnMut(&str)) {
        let text = settings.normalize.apply_keeping(text, settings.tokenizer.kept(), &mut self.normalized);
        let bag = &mut self.bag;
        bag.start((text.len() / 4).min(KEPT_ENTRIES));
        let mut add = |token: &str, class: u8| {
            if bag.add(token_key(token), [0; W], class) {
                new(token);
            }
        };
        match settings.tokenizer.views() {
            Some(wanted) => {
                http_tokens::each(text, (wanted, settings.tokenizer.hangul()), &mut self.tokens.view, &mut add)
            }
            None => settings.tokenizer.each(text, &mut self.tokens, |token| add(token, 0)),
        }
    }

    /// Returns the majority bits of the tokens in the bag.
    fn vote_counts(&mut self, settings: &Settings, weights: SmallWeights) -> [u64; W] {
        let weights = weights.of_bag(self.bag.entries());
        for entry in self.bag.entries() {
            self.planes.push(entry.hash, weights.of(entry.count, entry.class));
        }
        self.planes.finish(settings.tie)
    }

    /// Returns the sketch of the tokens in the bag.
    fn sketch_counts(&mut self, weights: SmallWeights) -> Sketch {
        let weights = weights.of_bag(self.bag.entries());
        self.race.start();
        for &Entry { key, count, class, .. } in self.bag.entries() {
            self.race.add(key, weights.race_weight(count, class), u64::from(weights.of(count, class)));
        }
        self.race.finish()
    }

    /// Returns the sketch of features with any weights above 0.
    fn sketch_features(&mut self, features: &[&Feature]) -> Sketch {
        let heaviest = features.iter().map(|feature| feature.weight).fold(0.0, f64::max);
        self.race.start();
        for feature in features {
            self.race.add_weighted(token_key(&feature.token), feature.weight, heaviest);
        }
        self.race.finish()
    }

    /// Returns the features of a response, weighted by the shares of its views.
    fn shared_features(
        &mut self,
        settings: &Settings,
        (shares, version): (&Shares, Version),
        text: &str,
    ) -> Vec<Feature> {
        let mut tokens = Vec::new();
        self.count_tokens(settings, text, |token| tokens.push(token.to_owned()));
        let factors = shares.factors_of(version, self.bag.entries());
        let feature = |(token, entry): (String, &Entry<W>)| {
            let weight = f64::from(factors.of(entry.count, entry.class)) / STEPS;
            Feature { token, count: entry.count, weight }
        };
        let features = tokens.into_iter().zip(self.bag.entries()).map(feature).collect();
        self.release();
        features
    }

    /// Votes with every occurrence as it comes. For weights that are counts, so that no token has to be counted.
    fn vote_occurrences(&mut self, settings: &Settings, text: &str) -> Option<[u64; W]> {
        let text = settings.normalize.apply_keeping(text, settings.tokenizer.kept(), &mut self.normalized);
        let bits = settings.bits;
        let planes = &mut self.planes;
        let mut first = None;
        let mut several = false;
        // Batched: adders and hashing disturb each other less in loops of their own.
        let mut hashes = [[0; W]; VOTE_BATCH];
        let mut batched = 0;
        let scratch = (&mut self.tokens, &mut *self.batches);
        each_xxh3(&settings.tokenizer, (bits, TokenClasses::Full), text, scratch, |hash: [u64; W], _| {
            several |= *first.get_or_insert(hash) != hash;
            hashes[batched % VOTE_BATCH] = hash;
            batched += 1;
            if batched == VOTE_BATCH {
                planes.push_units(&hashes);
                batched = 0;
            }
        });
        planes.push_units(&hashes[..batched]);
        let distinct = usize::from(first.is_some()) + usize::from(several);
        let value = planes.finish(settings.tie);
        (distinct >= settings.min_features.max(1)).then_some(value)
    }

    /// Frees the buffers that a huge text has left behind.
    fn release(&mut self) {
        let bytes = self.normalized.capacity().max(self.tokens.capacity());
        if bytes > KEPT_BYTES || self.bag.entries().len() > KEPT_ENTRIES {
            self.normalized = String::new();
            self.tokens = TokenScratch::default();
            self.bag.shrink(KEPT_ENTRIES);
        }
    }
}

impl<const W: usize> AnyWorker for Worker<W> {
    fn make(&mut self, settings: &Settings, text: &str, value: &mut [u64], sketch: Option<&mut Sketch>) -> bool {
        let signal = match small_weights(settings) {
            // Different tokens may share a hash of fewer than 64 bits; to tell them apart they have to be counted.
            Some(SmallWeights::Tf)
                if settings.hash == TokenHash::Xxh3
                    && settings.bits >= 64
                    && settings.min_features <= 2
                    && sketch.is_none() =>
            {
                let voted = self.vote_occurrences(settings, text);
                self.release();
                return write(settings, voted, value);
            }
            Some(weights) => {
                self.fill_bag(settings, weights.classes(), text);
                let signal = self.bag.entries().len() >= settings.min_features.max(1);
                if !value.is_empty() {
                    let voted = signal.then(|| self.vote_counts(settings, weights));
                    write(settings, voted, value);
                }
                if let Some(sketch) = sketch {
                    *sketch = if signal { self.sketch_counts(weights) } else { without_signal(text) };
                }
                signal
            }
            None => {
                let features = self.features(settings, text);
                let heavy: Vec<&Feature> = features.iter().filter(|feature| feature.weight > 0.0).collect();
                let signal = heavy.len() >= settings.min_features.max(1);
                if !value.is_empty() {
                    self.vote_features(settings, &features, value);
                }
                if let Some(sketch) = sketch {
                    *sketch = if signal { self.sketch_features(&heavy) } else { without_signal(text) };
                }
                signal
            }
        };
        self.release();
        signal
    }

    fn features(&mut self, settings: &Settings, text: &str) -> Vec<Feature> {
        if let Weights::Shares(shares, version) = &settings.weights {
            let features = self.shared_features(settings, (shares, *version), text);
            return choose_features(settings, features);
        }
        let counted = self.counted(settings, text);
        let tokens = counted.iter().map(|&(_, count)| u64::from(count)).sum();
        let size = TextSize { tokens, distinct: counted.len() };
        let features = counted
            .into_iter()
            .map(|(token, count)| {
                let weight = settings.weights.of(&token, count, size);
                Feature { token, count, weight }
            })
            .collect();
        choose_features(settings, features)
    }

    fn vote_features(&mut self, settings: &Settings, features: &[Feature], value: &mut [u64]) -> bool {
        let Settings { hash, bits, tie, votes, .. } = *settings;
        let heavy: Vec<&Feature> = features.iter().filter(|feature| feature.weight > 0.0).collect();
        if heavy.len() < settings.min_features.max(1) {
            return false;
        }
        // Small multiples of 1/16 add up exactly in every kind of sum, so the fast counters give the same result.
        let steps = |feature: &Feature| {
            let steps = feature.weight * STEPS;
            (steps < f64::from(1 << 16) && steps.fract() == 0.0).then_some(steps as u32)
        };
        let voted = if heavy.iter().all(|feature| steps(feature).is_some()) {
            for feature in heavy {
                self.planes.push(hash.hash(&feature.token, bits), steps(feature).unwrap_or(0));
            }
            self.planes.finish(tie)
        } else {
            let (hashes, weights): (Vec<[u64; W]>, Vec<f64>) =
                heavy.iter().map(|feature| (hash.hash(&feature.token, bits), feature.weight)).unzip();
            columns(&hashes, &weights, bits, tie, votes).0
        };
        write(settings, Some(voted), value)
    }

    fn judged(&mut self, settings: &Settings, text: &str) -> Judged {
        let mut value = vec![0; settings.bits.div_ceil(64)];
        let features: Vec<(u64, f64)> = match small_weights(settings) {
            Some(weights) => {
                self.fill_bag(settings, weights.classes(), text);
                if self.bag.entries().len() >= settings.min_features.max(1) {
                    let voted = self.vote_counts(settings, weights);
                    write(settings, Some(voted), &mut value);
                }
                let weights = weights.of_bag(self.bag.entries());
                let unit = weights.unit();
                let weight = |entry: &Entry<W>| f64::from(weights.of(entry.count, entry.class)) / unit;
                self.bag.entries().iter().map(|entry| (entry.key, weight(entry))).collect()
            }
            None => {
                let features = self.features(settings, text);
                self.vote_features(settings, &features, &mut value);
                features.iter().map(|feature| (token_key(&feature.token), feature.weight)).collect()
            }
        };
        self.release();
        let vector = Vector::new(features);
        let alone = (vector.norm == 0.0).then(|| without_signal(text));
        Judged { vector, value, alone, marks: None }
    }

    fn buffer(&mut self) -> &mut String {
        &mut self.normalized
    }

    fn counted(&mut self, settings: &Settings, text: &str) -> Vec<(String, u32)> {
        let mut tokens = Vec::new();
        self.count_tokens(settings, text, |token| tokens.push(token.to_owned()));
        let counted = tokens.into_iter().zip(self.bag.entries()).map(|(token, entry)| (token, entry.count)).collect();
        self.release();
        counted
    }

    fn terms(&mut self, settings: &Settings, text: &str) -> Vec<(u64, u32)> {
        if settings.top.is_some() {
            let features = self.features(settings, text);
            return features.iter().map(|feature| (token_key(&feature.token), feature.count)).collect();
        }
        match settings.hash {
            TokenHash::Xxh3 => self.fill_bag(settings, TokenClasses::Full, text),
            // Only the key is needed: the recipe's own hash would be computed for nothing.
            _ => self.count_tokens(settings, text, |_| {}),
        }
        let terms = self.bag.entries().iter().map(|entry| (entry.key, entry.count)).collect();
        self.release();
        terms
    }
}

/// Keeps the `top` heaviest features, earlier ones first among equals, then applies `scale`.
pub(crate) fn choose_features(settings: &Settings, mut features: Vec<Feature>) -> Vec<Feature> {
    if let Some(top) = settings.top {
        features.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        features.truncate(top);
    }
    if let Some(scale) = settings.scale {
        for feature in &mut features {
            feature.weight = (feature.weight * scale).trunc();
        }
    }
    features
}

/// Returns weights that need only count and class, if all features are kept: then no token has to be stored.
fn small_weights(settings: &Settings) -> Option<SmallWeights> {
    settings.weights.small().filter(|_| settings.top.is_none() && settings.scale.is_none())
}

/// Writes a fingerprint, or zeros; returns whether there was one.
fn write<const W: usize>(settings: &Settings, voted: Option<[u64; W]>, value: &mut [u64]) -> bool {
    let Some(mut words) = voted else {
        value.fill(0);
        return false;
    };
    keep_low(&mut words, settings.bits);
    value.copy_from_slice(&words[..value.len()]);
    true
}
