//! The pipeline of a recipe: text or features → fingerprint, sketch, cosine.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use crate::cosine::Vector;
use crate::differences::{Distinguish, Marks};
use crate::error::Error;
use crate::hash::{TokenHash, keep_low, token_key};
use crate::near::Sketch;
use crate::normalize::Normalize;
use crate::tokens::Tokenizer;
use crate::vote::{Tie, Votes, columns};
use crate::weights::Weights;
use crate::worker::{AnyWorker, Worker, choose_features};
use crate::{MAX_BITS, MIN_BITS};

/// All settings of a recipe.
#[derive(Debug)]
pub struct Settings {
    /// The normalisation of text before tokenising.
    pub normalize: Normalize,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// The weights of tokens.
    pub weights: Weights,
    /// Keep only this many of the heaviest features.
    pub top: Option<usize>,
    /// Replace each weight by int(weight · scale).
    pub scale: Option<f64>,
    /// The hash tokens vote with.
    pub hash: TokenHash,
    /// Width of the fingerprint: a multiple of 8.
    pub bits: usize,
    /// The bit of a tied column.
    pub tie: Tie,
    /// How sums are formed.
    pub votes: Votes,
    /// A text with fewer distinct features has no signal.
    pub min_features: usize,
}

/// A token with its number of occurrences and its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// The token.
    pub token: String,
    /// How often it occurs.
    pub count: u32,
    /// Its weight: finite, at least 0.
    pub weight: f64,
}

/// Turns texts into fingerprints. Threads share it; each call borrows a worker of its own.
pub struct Pipeline {
    settings: Arc<Settings>,
    pub(crate) distinguish: Option<Distinguish>,
    workers: Mutex<Vec<Box<dyn AnyWorker>>>,
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipeline").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Output buffers for many texts. Either may be left out by an empty slice.
#[derive(Debug)]
pub struct Made<'a> {
    /// Fingerprints, `Pipeline::words` words each, least significant first.
    pub values: &'a mut [u64],
    /// Sketches.
    pub sketches: &'a mut [Sketch],
}

impl<'a> Made<'a> {
    /// Splits off the part for the first `texts` texts; `words` is the size of a fingerprint.
    fn split(self, texts: usize, words: usize) -> (Made<'a>, Made<'a>) {
        let (values, later_values) = self.values.split_at_mut((texts * words).min(self.values.len()));
        let (sketches, later_sketches) = self.sketches.split_at_mut(texts.min(self.sketches.len()));
        (Made { values, sketches }, Made { values: later_values, sketches: later_sketches })
    }
}

/// The features and fingerprint of a text, for exact comparison.
pub(crate) struct Judged {
    pub(crate) vector: Vector,
    /// The fingerprint; zeros without a signal.
    pub(crate) value: Vec<u64>,
    /// Set for a text without features: identifies equal texts.
    pub(crate) alone: Option<Sketch>,
    /// Set by a pipeline that distinguishes texts.
    pub(crate) marks: Option<Marks>,
}

/// Texts that one task tokenises for the judge.
const TASK_TEXTS: usize = 16;
/// A task has texts of about this many bytes.
const TASK_BYTES: usize = 128 << 10;

/// Makes the fingerprint (unless the slice is empty) and the sketch of a text; returns whether there is a signal.
pub(crate) type Make<'a> = dyn FnMut(&str, &mut [u64], Option<&mut Sketch>) -> bool + 'a;

impl Pipeline {
    /// Makes a pipeline; refuses settings that do not go together.
    pub fn new(settings: Settings) -> Result<Pipeline, Error> {
        let bits = settings.bits;
        if !(MIN_BITS..=MAX_BITS).contains(&bits) || !bits.is_multiple_of(8) {
            return Err(Error::new(format!(
                "bits is {bits}; it must be a multiple of 8 from {MIN_BITS} to {MAX_BITS}"
            )));
        }
        let widest = settings.hash.max_bits();
        if bits > widest {
            return Err(Error::new(format!(
                "bits is {bits}, but the hash gives only {widest}; use fewer bits or hash \"xxh3\""
            )));
        }
        if settings.scale.is_some_and(|scale| !(scale.is_finite() && scale > 0.0)) {
            return Err(Error::new(format!("scale is {:?}; it must be a finite number above 0", settings.scale)));
        }
        if settings.tokenizer.views().is_some() != matches!(settings.weights, Weights::Shares(..)) {
            return Err(Error::new("tokens \"http\" and weights \"shares\" go together; set both, or neither"));
        }
        Ok(Pipeline { settings: Arc::new(settings), distinguish: None, workers: Mutex::default() })
    }

    /// Returns this pipeline with a rule: its sketches, fingerprints and exact comparisons keep texts apart that differ
    /// so. Distances of texts that do not differ stay as they are, and so does `similarity`.
    pub fn distinguishing(&self, rule: Distinguish) -> Pipeline {
        Pipeline { settings: self.settings.clone(), distinguish: Some(rule), workers: Mutex::default() }
    }

    /// Returns the number of 64-bit words in a fingerprint.
    pub fn words(&self) -> usize {
        self.settings.bits.div_ceil(64)
    }

    /// Writes the fingerprint of `text` into `value`, least significant word first; false means no signal.
    pub fn fingerprint(&self, text: &str, value: &mut [u64]) -> bool {
        self.make_one(text, value, None)
    }

    /// Writes the fingerprint of a text, unless `value` is empty, and its sketch; returns whether there is a signal.
    pub fn make_one(&self, text: &str, value: &mut [u64], sketch: Option<&mut Sketch>) -> bool {
        self.with_worker(|worker| self.make_with(worker, text, value, sketch))
    }

    fn make_with(
        &self,
        worker: &mut dyn AnyWorker,
        text: &str,
        value: &mut [u64],
        sketch: Option<&mut Sketch>,
    ) -> bool {
        match (&self.distinguish, sketch) {
            (None, sketch) => worker.make(&self.settings, text, value, sketch),
            (Some(rule), mut sketch) => {
                let signal = worker.make(&self.settings, text, value, sketch.as_deref_mut());
                rule.mix(text, signal, value, sketch, worker.buffer());
                keep_low(value, self.settings.bits);
                signal
            }
        }
    }

    /// Calls `work` with a function that does what `make_one` does, on one worker for many texts.
    pub(crate) fn one_by_one<T>(&self, work: impl FnOnce(&mut Make<'_>) -> T) -> T {
        self.with_worker(|worker| work(&mut |text, value, sketch| self.make_with(worker, text, value, sketch)))
    }

    /// Writes the fingerprints of many texts, `words()` words each, on the threads of the current rayon pool. A missing
    /// text has no signal.
    pub fn fingerprints(&self, texts: &[Option<&str>], values: &mut [u64], signal: &mut [bool]) {
        self.make(texts, Made { values, sketches: &mut [] }, signal);
    }

    /// Writes fingerprints and sketches of many texts, on the threads of the current rayon pool. A missing text has no
    /// signal and equals no other.
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
                    signal[at] = text.is_some_and(|text| self.make_with(worker, text, value, sketch));
                }
            });
        });
    }

    /// Returns the features of a text, in the order the vote takes them.
    pub fn features(&self, text: &str) -> Vec<Feature> {
        self.with_worker(|worker| worker.features(&self.settings, text))
    }

    /// Writes the fingerprint of given features; returns whether there is a signal. Tokens are distinct, weights finite
    /// and at least 0.
    pub fn fingerprint_features(&self, features: Vec<Feature>, value: &mut [u64]) -> bool {
        let features = choose_features(&self.settings, features);
        self.with_worker(|worker| worker.vote_features(&self.settings, &features, value))
    }

    /// Returns the bits a token votes with.
    pub fn hash(&self, token: &str) -> Vec<u64> {
        self.settings.hash.hash::<{ MAX_BITS / 64 }>(token, self.settings.bits)[..self.words()].to_vec()
    }

    /// Returns the fingerprint and the column sums of hashed features, computed column by column for explanations.
    pub fn vote(&self, hashes: &[Vec<u64>], weights: &[f64]) -> (Vec<u64>, Vec<f64>) {
        let settings = &self.settings;
        let rows: Vec<[u64; MAX_BITS / 64]> =
            hashes.iter().map(|hash| std::array::from_fn(|at| hash.get(at).copied().unwrap_or(0))).collect();
        let (value, sums) = columns(&rows, weights, settings.bits, settings.tie, settings.votes);
        (value[..self.words()].to_vec(), sums)
    }

    /// Returns the exact cosine of the features of two texts; NaN when either has none.
    pub fn similarity(&self, left: &str, right: &str) -> f64 {
        self.with_worker(|worker| {
            let left = worker.judged(&self.settings, left);
            left.vector.cosine(&worker.judged(&self.settings, right).vector)
        })
    }

    /// Returns the features of a text as a vector.
    pub(crate) fn vector(&self, text: &str) -> Vector {
        self.with_worker(|worker| worker.judged(&self.settings, text).vector)
    }

    /// Returns the features and the fingerprint of a text.
    pub(crate) fn judged_one(&self, text: &str) -> Judged {
        self.with_worker(|worker| {
            let mut judged = worker.judged(&self.settings, text);
            judged.marks = self.distinguish.as_ref().map(|rule| rule.marks(text, worker.buffer()));
            judged
        })
    }

    /// Returns the features and fingerprints of many texts, on the threads of the current rayon pool. The result is
    /// useless once `stop` is set.
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

    /// Returns the distinct tokens of a text, hashed, and how often each occurs; in no order.
    pub(crate) fn terms(&self, text: &str) -> Vec<(u64, u32)> {
        self.with_worker(|worker| worker.terms(&self.settings, text))
    }

    /// Returns how many of `texts` have each token, on the threads of the current rayon pool.
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

    fn with_worker<T>(&self, work: impl FnOnce(&mut dyn AnyWorker) -> T) -> T {
        // Never blocks: a process forked while another thread held the lock would wait for ever.
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

/// Returns the cosine of two bags of distinct tokens with weights; NaN when either has no weight.
pub fn cosine_of_features(left: &[Feature], right: &[Feature]) -> f64 {
    let vector = |features: &[Feature]| {
        Vector::new(features.iter().map(|feature| (token_key(&feature.token), feature.weight)).collect())
    };
    vector(left).cosine(&vector(right))
}
