//! A recipe made ready to run: text or features → fingerprint.

use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rayon::prelude::*;

use crate::bag::{Bag, Entry};
use crate::chars::usual_han_length;
use crate::cosine::Vector;
use crate::error::Error;
use crate::hash::{TokenHash, keep_low, token_key, xxh3, xxh3_of_bytes};
use crate::http_tokens;
use crate::near::{Race, Sketch, without_signal};
use crate::normalize::Normalize;
use crate::shares::Shares;
use crate::tokens::{TokenScratch, Tokenizer};
use crate::vote::{Planes, Tie, Votes, columns};
use crate::weights::{FULL, SINGLE, STEPS, SmallWeights, Weights};
use crate::{MAX_BITS, MIN_BITS, words};

/// All settings of a recipe, in the core's own terms.
#[derive(Debug)]
pub struct Settings {
    /// The form of text before cutting.
    pub normalize: Normalize,
    /// How tokens are cut.
    pub tokenizer: Tokenizer,
    /// How much they count.
    pub weights: Weights,
    /// Keep only so many of the heaviest features.
    pub top: Option<usize>,
    /// Weights become int(weight · scale).
    pub scale: Option<f64>,
    /// The hash tokens vote with.
    pub hash: TokenHash,
    /// Width of the fingerprint: a multiple of 8.
    pub bits: usize,
    /// The bit of a tied column.
    pub tie: Tie,
    /// How sums are formed.
    pub votes: Votes,
    /// With fewer different features a text has no signal.
    pub min_features: usize,
}

/// A token with its number of occurrences and its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// The token.
    pub token: String,
    /// How often it occurs.
    pub count: u32,
    /// What it counts for; finite and not negative.
    pub weight: f64,
}

/// Turns texts into fingerprints. Shared between threads; each call borrows a worker of its own.
pub struct Pipeline {
    settings: Settings,
    workers: Mutex<Vec<Box<dyn Work>>>,
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipeline").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// What is made of texts. Either may be left out, by an empty slice.
#[derive(Debug)]
pub struct Made<'a> {
    /// Fingerprints, `Pipeline::words` words each, least significant first.
    pub values: &'a mut [u64],
    /// Sketches.
    pub sketches: &'a mut [Sketch],
}

impl<'a> Made<'a> {
    /// The part for so many texts, and the rest; `words` is that of a fingerprint.
    fn split(self, texts: usize, words: usize) -> (Made<'a>, Made<'a>) {
        let (values, later_values) = self.values.split_at_mut((texts * words).min(self.values.len()));
        let (sketches, later_sketches) = self.sketches.split_at_mut(texts.min(self.sketches.len()));
        (Made { values, sketches }, Made { values: later_values, sketches: later_sketches })
    }
}

/// What the judge needs of a text.
pub(crate) struct Judged {
    pub(crate) vector: Vector,
    /// The fingerprint; zeros without a signal.
    pub(crate) value: Vec<u64>,
    /// Of a text without features, by which equal ones are known.
    pub(crate) alone: Option<Sketch>,
}

/// Texts one thread cuts at a time for the judge.
const TASK_TEXTS: usize = 16;
/// Texts are handed to threads in tasks of about this many bytes.
const TASK_BYTES: usize = 128 << 10;
/// Hashes of occurrences are handed to the counters so many at a time.
const GATHERED: usize = 64;
/// A worker keeps buffers up to this size from text to text.
const KEPT_BYTES: usize = 1 << 20;

impl Pipeline {
    /// Checks what the parts could not check by themselves.
    pub fn new(settings: Settings) -> Result<Pipeline, Error> {
        let bits = settings.bits;
        if !(MIN_BITS..=MAX_BITS).contains(&bits) || !bits.is_multiple_of(8) {
            return Err(Error(format!("bits is {bits}; it must be a multiple of 8 from {MIN_BITS} to {MAX_BITS}")));
        }
        let widest = settings.hash.max_bits();
        if bits > widest {
            return Err(Error(format!(
                "bits is {bits}, but the hash gives only {widest}; use fewer bits or hash \"xxh3\""
            )));
        }
        if settings.scale.is_some_and(|scale| !(scale.is_finite() && scale > 0.0)) {
            return Err(Error(format!("scale is {:?}; it must be a finite number above 0", settings.scale)));
        }
        if settings.tokenizer.views().is_some() != matches!(settings.weights, Weights::Shares(_)) {
            return Err(Error("tokens \"http\" and weights \"shares\" go together; set both, or neither".into()));
        }
        Ok(Pipeline { settings, workers: Mutex::default() })
    }

    /// 64-bit words in a fingerprint.
    pub fn words(&self) -> usize {
        self.settings.bits.div_ceil(64)
    }

    /// Writes the fingerprint of `text` into `value`, least significant word first; false means no signal.
    pub fn fingerprint(&self, text: &str, value: &mut [u64]) -> bool {
        self.make_one(text, value, None)
    }

    /// Writes what is wanted of a text: its fingerprint unless `value` is empty, its sketch. False means no signal.
    pub fn make_one(&self, text: &str, value: &mut [u64], sketch: Option<&mut Sketch>) -> bool {
        self.with_worker(|worker| worker.make(&self.settings, text, value, sketch))
    }

    /// Hands over a function that does what `make_one` does, for one text after the other.
    pub(crate) fn one_by_one<T>(&self, work: impl FnOnce(&mut Make<'_>) -> T) -> T {
        self.with_worker(|worker| work(&mut |text, value, sketch| worker.make(&self.settings, text, value, sketch)))
    }

    /// Fingerprints many texts, on the threads of the current rayon pool; a missing text has no signal.
    /// `values` holds `words()` words a text.
    pub fn fingerprints(&self, texts: &[Option<&str>], values: &mut [u64], signal: &mut [bool]) {
        self.make(texts, Made { values, sketches: &mut [] }, signal);
    }

    /// Makes what is wanted of many texts, on the threads of the current rayon pool; a missing text has no signal and
    /// is like no other.
    pub fn make(&self, texts: &[Option<&str>], made: Made<'_>, signal: &mut [bool]) {
        let mut tasks = Vec::new();
        let words = self.words();
        let (mut texts, mut made, mut signal) = (texts, made, signal);
        while !texts.is_empty() {
            let mut bytes = 0;
            let length = texts
                .iter()
                .take_while(|text| {
                    let begun = bytes < TASK_BYTES;
                    bytes += text.map_or(0, str::len) + 64;
                    begun
                })
                .count();
            let (task_texts, task_made, task_signal);
            (task_texts, texts) = texts.split_at(length);
            (task_made, made) = made.split(length, words);
            (task_signal, signal) = signal.split_at_mut(length);
            tasks.push((task_texts, task_made, task_signal));
        }
        tasks.into_par_iter().for_each(|(texts, Made { values, sketches }, signal)| {
            self.with_worker(|worker| {
                for (at, text) in texts.iter().enumerate() {
                    let value = if values.is_empty() { &mut [] } else { &mut values[at * words..(at + 1) * words] };
                    let sketch = sketches.get_mut(at);
                    signal[at] = text.is_some_and(|text| worker.make(&self.settings, text, value, sketch));
                }
            });
        });
    }

    /// The features of a text, in the order the vote takes them.
    pub fn features(&self, text: &str) -> Vec<Feature> {
        self.with_worker(|worker| worker.features(&self.settings, text))
    }

    /// The fingerprint of features made elsewhere. Tokens are distinct, weights finite and not negative.
    pub fn fingerprint_features(&self, features: Vec<Feature>, value: &mut [u64]) -> bool {
        let features = choose_features(&self.settings, features);
        self.with_worker(|worker| worker.vote_features(&self.settings, &features, value))
    }

    /// The bits a token votes with.
    pub fn hash(&self, token: &str) -> Vec<u64> {
        self.settings.hash.hash::<{ MAX_BITS / 64 }>(token, self.settings.bits)[..self.words()].to_vec()
    }

    /// The fingerprint and the column sums of hashed features, one by one as an explanation shows them.
    pub fn vote(&self, hashes: &[Vec<u64>], weights: &[f64]) -> (Vec<u64>, Vec<f64>) {
        let settings = &self.settings;
        let rows: Vec<[u64; MAX_BITS / 64]> =
            hashes.iter().map(|hash| std::array::from_fn(|at| hash.get(at).copied().unwrap_or(0))).collect();
        let (value, sums) = columns(&rows, weights, settings.bits, settings.tie, settings.votes);
        (value[..self.words()].to_vec(), sums)
    }

    /// The exact cosine of the features of two texts; NaN when either has none.
    pub fn similarity(&self, left: &str, right: &str) -> f64 {
        self.with_worker(|worker| {
            let left = worker.judged(&self.settings, left);
            left.vector.cosine(&worker.judged(&self.settings, right).vector)
        })
    }

    /// What the judge needs of a text.
    pub(crate) fn judged_one(&self, text: &str) -> Judged {
        self.with_worker(|worker| worker.judged(&self.settings, text))
    }

    /// The same of many, on the threads of the current rayon pool; nothing of use once `stop` was set.
    pub(crate) fn judged<'a>(
        &self,
        rows: &[u32],
        text: &(dyn Fn(usize) -> Cow<'a, str> + Sync),
        stop: &AtomicBool,
    ) -> Vec<Judged> {
        let one = |&row: &u32| {
            let text = if stop.load(Relaxed) { Cow::Borrowed("") } else { text(row as usize) };
            self.judged_one(&text)
        };
        rows.par_iter().with_min_len(TASK_TEXTS).map(one).collect()
    }

    /// The distinct tokens of a text, hashed, and how often each occurs; in no order.
    pub(crate) fn terms(&self, text: &str) -> Vec<(u64, u32)> {
        self.with_worker(|worker| worker.terms(&self.settings, text))
    }

    /// How many of `texts` have each token, on the threads of the current rayon pool.
    pub fn document_frequencies(&self, texts: &[&str]) -> std::collections::HashMap<String, u64> {
        let merge = |mut all: std::collections::HashMap<String, u64>, part| {
            for (token, count) in part {
                *all.entry(token).or_default() += count;
            }
            all
        };
        texts
            .par_iter()
            .fold(Default::default, |counts, text| {
                let tokens = self.with_worker(|worker| worker.counted(&self.settings, text));
                merge(counts, tokens.into_iter().map(|(token, _)| (token, 1)).collect())
            })
            .reduce(Default::default, merge)
    }

    fn with_worker<T>(&self, work: impl FnOnce(&mut dyn Work) -> T) -> T {
        // Never waits: in a process forked while another thread held the lock, it stays locked for ever.
        let spare = self.workers.try_lock().ok().and_then(|mut workers| workers.pop());
        let mut worker = spare.unwrap_or_else(|| match self.words() {
            1 => Box::new(Worker::<1>::new()),
            2 => Box::new(Worker::<2>::new()),
            3 | 4 => Box::new(Worker::<4>::new()),
            _ => Box::new(Worker::<{ MAX_BITS / 64 }>::new()),
        });
        let result = work(worker.as_mut());
        if let Ok(mut workers) = self.workers.try_lock() {
            workers.push(worker);
        }
        result
    }
}

/// The cosine of two bags of distinct tokens with weights; NaN when either has no weight.
pub fn cosine_of_features(left: &[Feature], right: &[Feature]) -> f64 {
    let vector = |features: &[Feature]| {
        Vector::new(features.iter().map(|feature| (token_key(&feature.token), feature.weight)).collect())
    };
    vector(left).cosine(&vector(right))
}

/// `top`, the heaviest, of equal ones those that came first; then `scale`.
fn choose_features(settings: &Settings, mut features: Vec<Feature>) -> Vec<Feature> {
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

/// Calls `sink` with the XXH3 and the shortness of every token, in no order.
#[inline(always)]
fn each_xxh3<const W: usize>(
    tokenizer: &Tokenizer,
    (bits, weights): (usize, SmallWeights),
    text: &str,
    (scratch, roads): (&mut TokenScratch, &mut Roads),
    mut sink: impl FnMut([u64; W], u8),
) {
    // For wider hashes the road of all other tokens will do: making them takes longer than a call.
    if let Some(wanted) = tokenizer.views() {
        http_tokens::each(text, wanted, &mut scratch.view, &mut |token, kind| sink(xxh3(token, bits), kind));
    } else if tokenizer.is_words() && W <= 2 {
        words::cut(text, &mut HashedWords { bits, weights, roads, sink });
    } else {
        tokenizer.each(text, scratch, |token| sink(xxh3(token, bits), weights.shortness(token)));
    }
}

/// Hashes words where they are cut.
struct HashedWords<'r, const W: usize, F: FnMut([u64; W], u8)> {
    bits: usize,
    weights: SmallWeights,
    roads: &'r mut Roads,
    sink: F,
}

/// XXH3 takes another road for words longer than these. Nobody can foresee the length of the next word, but that of a
/// list of short ones is short.
const ROADS: [usize; 3] = [3, 8, 16];

/// The places of words by their road.
type Roads = [[[usize; 2]; words::WORDS]; ROADS.len() + 1];

/// The road for a word of so many bytes.
const ROAD_OF: [u8; 32] = {
    let mut table = [ROADS.len() as u8; 32];
    let mut length = 0;
    while length <= ROADS[2] {
        table[length] = (length > ROADS[0]) as u8 + (length > ROADS[1]) as u8;
        length += 1;
    }
    table
};

impl<const W: usize, F: FnMut([u64; W], u8)> HashedWords<'_, W, F> {
    /// What `Piece::each_part` makes of a run of usual Han characters: three bytes each, and no pair is without Han.
    #[inline(always)]
    fn usual_han(&mut self, run: &str) {
        let (single, pair) = (self.weights.shortness_of_part(SINGLE), self.weights.shortness_of_part(FULL));
        let mut rest = run.as_bytes();
        if let Some(first) = rest.first_chunk::<3>() {
            (self.sink)(xxh3_of_bytes(first, self.bits), single);
        }
        while let Some(neighbours) = rest.first_chunk::<6>() {
            (self.sink)(xxh3_of_bytes(neighbours, self.bits), pair);
            (self.sink)(xxh3_of_bytes(&neighbours[3..], self.bits), single);
            rest = &rest[3..];
        }
    }
}

impl<'a, const W: usize, F: FnMut([u64; W], u8)> words::Sink<'a> for HashedWords<'_, W, F> {
    #[inline]
    fn piece(&mut self, piece: words::Piece<'a>) {
        if let words::Piece::Word(word) = piece {
            return (self.sink)(xxh3(word, self.bits), self.weights.shortness(word));
        }
        if let words::Piece::Run(run) = piece
            && usual_han_length(run) == run.len()
        {
            return self.usual_han(run);
        }
        let weights = self.weights;
        piece.each_part(&mut |part, class| (self.sink)(xxh3(part, self.bits), weights.shortness_of_part(class)));
    }

    #[inline(always)]
    unsafe fn ascii_words(&mut self, text: &'a str, places: &[[usize; 2]]) {
        let mut counts = [0; ROADS.len() + 1];
        for &[start, end] in places {
            let road = usize::from(ROAD_OF[(end - start).min(ROAD_OF.len() - 1)]) % counts.len();
            self.roads[road][counts[road] % words::WORDS] = [start, end];
            counts[road] += 1;
        }
        for (number, (road, &count)) in self.roads.iter().zip(&counts).enumerate() {
            for &[start, end] in &road[..count] {
                // SAFETY: only places handed over were noted, which the caller promises are ASCII of this text.
                let word = unsafe { text.get_unchecked(start..end) };
                let shortness = if number < 2 { self.weights.shortness_of_ascii(word) } else { 0 };
                (self.sink)(xxh3(word, self.bits), shortness);
            }
        }
    }
}

/// Text, value (empty if it is not wanted), sketch → whether there is a signal.
pub(crate) type Make<'a> = dyn FnMut(&str, &mut [u64], Option<&mut Sketch>) -> bool + 'a;

/// One thread's buffers, for one width.
trait Work: Send {
    fn make(&mut self, settings: &Settings, text: &str, value: &mut [u64], sketch: Option<&mut Sketch>) -> bool;
    fn features(&mut self, settings: &Settings, text: &str) -> Vec<Feature>;
    fn vote_features(&mut self, settings: &Settings, features: &[Feature], value: &mut [u64]) -> bool;
    fn judged(&mut self, settings: &Settings, text: &str) -> Judged;
    fn counted(&mut self, settings: &Settings, text: &str) -> Vec<(String, u32)>;
    fn terms(&mut self, settings: &Settings, text: &str) -> Vec<(u64, u32)>;
}

struct Worker<const W: usize> {
    normalized: String,
    tokens: TokenScratch,
    roads: Box<Roads>,
    bag: Bag<W>,
    planes: Planes<W>,
    race: Race,
    memory: HashMemory<W>,
}

impl<const W: usize> Worker<W> {
    fn new() -> Self {
        Worker {
            normalized: String::new(),
            tokens: TokenScratch::default(),
            roads: Box::new([[[0; 2]; words::WORDS]; ROADS.len() + 1]),
            bag: Bag::default(),
            planes: Planes::new(),
            race: Race::default(),
            memory: HashMemory::default(),
        }
    }

    /// Every token with its hash, counted.
    fn fill_bag(&mut self, settings: &Settings, weights: SmallWeights, text: &str) {
        let text = settings.normalize.apply(text, &mut self.normalized);
        let Settings { hash, bits, .. } = *settings;
        let (bag, memory) = (&mut self.bag, &mut self.memory);
        bag.start((text.len() / 4).min(KEPT_BYTES / 64));
        match hash {
            // The vote's hash is as good a key as any: one hash instead of two.
            TokenHash::Xxh3 if bits >= 64 => {
                let scratch = (&mut self.tokens, &mut *self.roads);
                each_xxh3(&settings.tokenizer, (bits, weights), text, scratch, |hash: [u64; W], shortness| {
                    bag.add(hash[0], hash, shortness);
                });
            }
            _ => {
                let mut add = |token: &str, kind: u8| {
                    let key = token_key(token);
                    if bag.add(key, [0; W], kind) {
                        bag.set_last_hash(memory.get(key, || hash.hash::<W>(token, bits)));
                    }
                };
                match settings.tokenizer.views() {
                    Some(wanted) => http_tokens::each(text, wanted, &mut self.tokens.view, &mut add),
                    None => {
                        let each = |token: &str| add(token, weights.shortness(token));
                        settings.tokenizer.each(text, &mut self.tokens, each);
                    }
                }
            }
        }
    }

    /// The majority of what is in the bag.
    fn vote_counts(&mut self, settings: &Settings, weights: SmallWeights) -> [u64; W] {
        if let Weights::Shares(shares) = &settings.weights {
            let factors = shares.factors_of(self.bag.entries());
            for entry in self.bag.entries() {
                self.planes.push(entry.hash, factors.of(entry.count, entry.shortness));
            }
        } else {
            for entry in self.bag.entries() {
                self.planes.push(entry.hash, weights.of(entry.count, entry.shortness));
            }
        }
        self.planes.finish(settings.tie)
    }

    /// The sketch of what is in the bag.
    fn sketch_counts(&mut self, settings: &Settings, weights: SmallWeights) -> Sketch {
        self.race.start();
        if let Weights::Shares(shares) = &settings.weights {
            let factors = shares.factors_of(self.bag.entries());
            for entry in self.bag.entries() {
                let weight = factors.of(entry.count, entry.shortness);
                self.race.add(entry.key, factors.race_weight(entry.count, entry.shortness), u64::from(weight));
            }
            return self.race.finish();
        }
        for entry in self.bag.entries() {
            let weight = weights.of(entry.count, entry.shortness);
            self.race.add(entry.key, weights.race_weight(entry.count, entry.shortness), u64::from(weight));
        }
        self.race.finish()
    }

    /// As `sketch_counts`, of features with any weight above 0.
    fn sketch_features(&mut self, features: &[&Feature]) -> Sketch {
        let heaviest = features.iter().map(|feature| feature.weight).fold(0.0, f64::max);
        self.race.start();
        for feature in features {
            self.race.add_weighted(token_key(&feature.token), feature.weight, heaviest);
        }
        self.race.finish()
    }

    /// The features of the view of a response.
    fn shared_features(&mut self, settings: &Settings, shares: &Shares, text: &str) -> Vec<Feature> {
        let text = settings.normalize.apply(text, &mut self.normalized);
        let bag = &mut self.bag;
        let mut tokens = Vec::new();
        bag.start((text.len() / 4).min(KEPT_BYTES / 64));
        let wanted = settings.tokenizer.views().unwrap_or(0);
        http_tokens::each(text, wanted, &mut self.tokens.view, &mut |token, kind| {
            if bag.add(token_key(token), [0; W], kind) {
                tokens.push(token.to_owned());
            }
        });
        let factors = shares.factors_of(bag.entries());
        let feature = |(token, entry): (String, &Entry<W>)| {
            let weight = f64::from(factors.of(entry.count, entry.shortness)) / STEPS;
            Feature { token, count: entry.count, weight }
        };
        let features = tokens.into_iter().zip(bag.entries()).map(feature).collect();
        self.release();
        features
    }

    /// The weight is the count: every occurrence votes at once, and nothing needs to be counted.
    fn vote_occurrences(&mut self, settings: &Settings, text: &str) -> Option<[u64; W]> {
        let text = settings.normalize.apply(text, &mut self.normalized);
        let bits = settings.bits;
        let planes = &mut self.planes;
        let mut first = None;
        let mut several = false;
        // Gathered first: adders and hashing disturb each other less in loops of their own.
        let mut hashes = [[0; W]; GATHERED];
        let mut gathered = 0;
        let scratch = (&mut self.tokens, &mut *self.roads);
        each_xxh3(&settings.tokenizer, (bits, SmallWeights::Tf), text, scratch, |hash: [u64; W], _| {
            several |= *first.get_or_insert(hash) != hash;
            hashes[gathered % GATHERED] = hash;
            gathered += 1;
            if gathered == GATHERED {
                planes.push_units(&hashes);
                gathered = 0;
            }
        });
        planes.push_units(&hashes[..gathered]);
        let distinct = usize::from(first.is_some()) + usize::from(several);
        let value = planes.finish(settings.tie);
        (distinct >= settings.min_features.max(1)).then_some(value)
    }

    fn release(&mut self) {
        let bytes = self.normalized.capacity().max(self.tokens.capacity());
        if bytes > KEPT_BYTES || self.bag.entries().len() > KEPT_BYTES / 64 {
            self.normalized = String::new();
            self.tokens = TokenScratch::default();
            self.bag.shrink(KEPT_BYTES / 64);
        }
    }
}

impl<const W: usize> Work for Worker<W> {
    fn make(&mut self, settings: &Settings, text: &str, value: &mut [u64], sketch: Option<&mut Sketch>) -> bool {
        let signal = match small_weights(settings) {
            // Narrower hashes may be equal for different tokens, which have to be told apart to be counted.
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
                self.fill_bag(settings, weights, text);
                let signal = self.bag.entries().len() >= settings.min_features.max(1);
                if !value.is_empty() {
                    let voted = signal.then(|| self.vote_counts(settings, weights));
                    write(settings, voted, value);
                }
                if let Some(sketch) = sketch {
                    *sketch = if signal { self.sketch_counts(settings, weights) } else { without_signal(text) };
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
        if let Weights::Shares(shares) = &settings.weights {
            let features = self.shared_features(settings, shares, text);
            return choose_features(settings, features);
        }
        let counted = self.counted(settings, text);
        let total = counted.iter().map(|&(_, count)| u64::from(count)).sum();
        let features = counted
            .into_iter()
            .map(|(token, count)| {
                let weight = settings.weights.of(&token, count, total);
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
        // Small multiples of 1/16 add up exactly in every kind of sum, so the quick counters may do it.
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
                self.fill_bag(settings, weights, text);
                if self.bag.entries().len() >= settings.min_features.max(1) {
                    let voted = self.vote_counts(settings, weights);
                    write(settings, Some(voted), &mut value);
                }
                let weight = |steps: u32| f64::from(steps) / weights.steps();
                let entries = self.bag.entries().iter();
                if let Weights::Shares(shares) = &settings.weights {
                    let factors = shares.factors_of(self.bag.entries());
                    entries.map(|entry| (entry.key, weight(factors.of(entry.count, entry.shortness)))).collect()
                } else {
                    entries.map(|entry| (entry.key, weight(weights.of(entry.count, entry.shortness)))).collect()
                }
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
        Judged { vector, value, alone }
    }

    fn counted(&mut self, settings: &Settings, text: &str) -> Vec<(String, u32)> {
        let text = settings.normalize.apply(text, &mut self.normalized);
        let bag = &mut self.bag;
        let mut tokens = Vec::new();
        bag.start((text.len() / 4).min(KEPT_BYTES / 64));
        settings.tokenizer.each(text, &mut self.tokens, |token| {
            if bag.add(token_key(token), [0; W], 0) {
                tokens.push(token.to_owned());
            }
        });
        let counted = tokens.into_iter().zip(bag.entries()).map(|(token, entry)| (token, entry.count)).collect();
        self.release();
        counted
    }

    fn terms(&mut self, settings: &Settings, text: &str) -> Vec<(u64, u32)> {
        if settings.top.is_some() {
            let features = self.features(settings, text);
            return features.iter().map(|feature| (token_key(&feature.token), feature.count)).collect();
        }
        match settings.hash {
            TokenHash::Xxh3 => self.fill_bag(settings, SmallWeights::Tf, text),
            // A hash for votes would be computed in vain.
            _ => {
                let text = settings.normalize.apply(text, &mut self.normalized);
                let bag = &mut self.bag;
                bag.start((text.len() / 4).min(KEPT_BYTES / 64));
                settings.tokenizer.each(text, &mut self.tokens, |token| {
                    bag.add(token_key(token), [0; W], 0);
                });
            }
        }
        let terms = self.bag.entries().iter().map(|entry| (entry.key, entry.count)).collect();
        self.release();
        terms
    }
}

/// Weights that take only count and length, where no feature is left out: then no token needs to be kept.
fn small_weights(settings: &Settings) -> Option<SmallWeights> {
    settings.weights.small().filter(|_| settings.top.is_none() && settings.scale.is_none())
}

fn write<const W: usize>(settings: &Settings, voted: Option<[u64; W]>, value: &mut [u64]) -> bool {
    let Some(mut words) = voted else {
        value.fill(0);
        return false;
    };
    keep_low(&mut words, settings.bits);
    value.copy_from_slice(&words[..value.len()]);
    true
}

/// MD5 costs a hundred nanoseconds, and texts share most of their tokens: the latest are remembered.
/// Keyed by XXH3 of the token; each worker serves one recipe, so one hash and width.
struct HashMemory<const W: usize> {
    slots: Vec<(u64, [u64; W])>,
}

impl<const W: usize> HashMemory<W> {
    const SLOTS: usize = 1 << 17;

    fn get(&mut self, key: u64, hash: impl FnOnce() -> [u64; W]) -> [u64; W] {
        if self.slots.is_empty() {
            // No slot may hold key 0 by accident: slot i waits for a key that belongs elsewhere.
            self.slots = (0..Self::SLOTS as u64).map(|slot| (!slot, [0; W])).collect();
        }
        let slot = &mut self.slots[key as usize % Self::SLOTS];
        if slot.0 != key {
            *slot = (key, hash());
        }
        slot.1
    }
}

impl<const W: usize> Default for HashMemory<W> {
    fn default() -> Self {
        HashMemory { slots: Vec::new() }
    }
}
