//! `neardup._core`: converts between Python and the core, releases the GIL, and nothing else.

mod buckets;
mod differences;
mod http;
mod index;
mod join;
mod jsonl;
mod near;
mod passages;
mod sketches;
mod stored;
mod templates;
mod terms;
mod texts;
mod threads;

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;

use neardup_core::differences::{Aspects, Distinguish};
use neardup_core::near::SKETCH_BYTES;
use neardup_core::{
    Feature, Idf, IdfSource, Made, OutOfMemory, Pipeline, Settings, Shares, Tokenizer, Version, Weights, filled,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use stored::PyTexts;
use texts::{ArrowChunk, Texts};
use threads::{Threads, interruptible};

type Fingerprints<'py> = (Bound<'py, PyArray2<u64>>, Bound<'py, PyArray1<bool>>);
type Sketched<'py> = (Bound<'py, PyArray2<u64>>, Bound<'py, PyArray1<bool>>, Bound<'py, PyArray2<u8>>);
type Sketches<'py> = (Bound<'py, PyArray1<bool>>, Bound<'py, PyArray2<u8>>);
type Verdicts<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u16>>);

/// What to make of texts.
#[derive(Clone, Copy)]
struct Wants {
    values: bool,
    sketches: bool,
}

fn refuse(error: neardup_core::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Runs `work`; turns a want of memory into a MemoryError, and any other panic, which is a bug of the core, into a
/// RuntimeError.
fn guard<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        if panic.is::<OutOfMemory>() {
            return PyMemoryError::new_err("not enough memory; free some, or process fewer records at a time");
        }
        let message = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        PyRuntimeError::new_err(format!("internal error in neardup's core, please report it: {message}"))
    })
}

fn to_bytes<'py>(py: Python<'py>, words: &[u64]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())
}

#[derive(FromPyObject)]
enum IdfArgument {
    Name(String),
    Table(u64, HashMap<String, u64>),
}

impl IdfArgument {
    fn source(self) -> PyResult<IdfSource> {
        match self {
            IdfArgument::Name(name) if name == "jieba" => Ok(IdfSource::Jieba),
            IdfArgument::Name(name) => {
                Err(PyValueError::new_err(format!("idf is {name:?}; it must be \"jieba\" or a fitted table")))
            }
            IdfArgument::Table(documents, counts) => Ok(IdfSource::Fitted(Idf { documents, counts })),
        }
    }
}

/// A recipe made ready to run.
#[pyclass(name = "Pipeline", module = "neardup._core", frozen)]
struct PyPipeline(Pipeline);

#[pymethods]
impl PyPipeline {
    #[new]
    #[pyo3(signature = (*, version, normalize, tokens, ngram, pattern, dictionary, stopwords, weights, idf, top, scale, hash, bits, tie, votes, min_features, shares))]
    #[allow(clippy::too_many_arguments)] // the fields of Recipe, one by one
    fn new(
        py: Python<'_>,
        version: u8,
        normalize: &str,
        tokens: &str,
        ngram: usize,
        pattern: Option<&str>,
        dictionary: Option<&str>,
        stopwords: Vec<String>,
        weights: &str,
        idf: Option<IdfArgument>,
        top: Option<usize>,
        scale: Option<f64>,
        hash: &str,
        bits: usize,
        tie: &str,
        votes: &str,
        min_features: usize,
        shares: Option<Vec<(String, f64)>>,
    ) -> PyResult<Self> {
        let idf = idf.map(IdfArgument::source).transpose()?;
        let build = || {
            let version = Version::new(version)?;
            let normalize: neardup_core::Normalize = normalize.parse()?;
            let mut buffer = String::new();
            let stopwords = stopwords.iter().map(|word| normalize.apply(word, &mut buffer).into()).collect();
            let mut tokenizer = Tokenizer::new(tokens, ngram, pattern, dictionary, stopwords, version)?;
            let mut weights = Weights::new(weights, idf, version)?;
            if let (Weights::Shares(even, _), Some(shares)) = (&mut weights, &shares) {
                *even = Shares::new(shares)?;
                tokenizer = tokenizer.for_shares(even);
            }
            Pipeline::new(Settings {
                normalize,
                tokenizer,
                weights,
                top,
                scale,
                hash: hash.parse()?,
                bits,
                tie: tie.parse()?,
                votes: votes.parse()?,
                min_features,
            })
        };
        py.detach(|| guard(build))?.map(PyPipeline).map_err(refuse)
    }

    fn fingerprint<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let py = text.py();
        let text = texts::Text::new(text, "text", None)?;
        let text = text.as_str();
        let mut value = vec![0; self.0.words()];
        let signal = py.detach(|| guard(|| self.0.fingerprint(text, &mut value)))?;
        Ok(signal.then(|| to_bytes(py, &value)))
    }

    fn fingerprint_features<'py>(
        &self,
        py: Python<'py>,
        tokens: Vec<String>,
        weights: Vec<f64>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let features = features(tokens, weights)?;
        let mut value = vec![0; self.0.words()];
        let signal = py.detach(|| guard(|| self.0.fingerprint_features(features, &mut value)))?;
        Ok(signal.then(|| to_bytes(py, &value)))
    }

    fn fingerprints<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<Bound<'py, PyAny>>,
        threads: Option<usize>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Fingerprints<'py>> {
        let wants = Wants { values: true, sketches: false };
        self.run(py, Texts::List(texts), threads, progress, wants).map(|(values, signal, _)| (values, signal))
    }

    fn fingerprints_arrow<'py>(
        &self,
        py: Python<'py>,
        chunks: Vec<ArrowChunk>,
        threads: Option<usize>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Fingerprints<'py>> {
        let wants = Wants { values: true, sketches: false };
        self.run(py, Texts::Arrow(chunks), threads, progress, wants).map(|(values, signal, _)| (values, signal))
    }

    fn sketch<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Option<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)>> {
        let py = text.py();
        let text = texts::Text::new(text, "text", None)?;
        let text = text.as_str();
        let (mut value, mut sketch) = (vec![0; self.0.words()], [0; SKETCH_BYTES]);
        let signal = py.detach(|| guard(|| self.0.make_one(text, &mut value, Some(&mut sketch))))?;
        Ok(signal.then(|| (to_bytes(py, &value), PyBytes::new(py, &sketch))))
    }

    fn sketched<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<Bound<'py, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Sketched<'py>> {
        self.run(py, Texts::List(texts), threads, None, Wants { values: true, sketches: true })
    }

    fn sketches_arrow<'py>(
        &self,
        py: Python<'py>,
        chunks: Vec<ArrowChunk>,
        threads: Option<usize>,
    ) -> PyResult<Sketches<'py>> {
        let wants = Wants { values: false, sketches: true };
        self.run(py, Texts::Arrow(chunks), threads, None, wants).map(|(_, signal, sketches)| (signal, sketches))
    }

    #[pyo3(signature = (data, columns, name, first, threads, *, sketches))]
    #[allow(clippy::too_many_arguments)] // what there is to say of lines
    fn make_json_lines(
        &self,
        py: Python<'_>,
        data: PyBuffer<u8>,
        columns: jsonl::Wanted,
        name: &str,
        first: i64,
        threads: Option<usize>,
        sketches: bool,
    ) -> PyResult<jsonl::JsonLines> {
        let making = neardup_core::jsonl::Making { pipeline: &self.0, values: !sketches, sketches };
        jsonl::read(py, &data, columns, (name, first), threads, Some(making))
    }

    fn features(&self, text: &Bound<'_, PyString>) -> PyResult<Vec<(String, u32, f64)>> {
        let py = text.py();
        let text = texts::Text::new(text, "text", None)?;
        let text = text.as_str();
        let features = py.detach(|| guard(|| self.0.features(text)))?;
        Ok(features.into_iter().map(|feature| (feature.token, feature.count, feature.weight)).collect())
    }

    fn hash<'py>(&self, py: Python<'py>, token: &str) -> PyResult<Bound<'py, PyBytes>> {
        Ok(to_bytes(py, &guard(|| self.0.hash(token))?))
    }

    fn vote<'py>(
        &self,
        py: Python<'py>,
        hashes: Vec<Vec<u8>>,
        weights: Vec<f64>,
    ) -> PyResult<(Bound<'py, PyBytes>, Vec<f64>)> {
        check_weights(&weights)?;
        if hashes.len() != weights.len() {
            return Err(PyValueError::new_err(format!(
                "{} hashes but {} weights; give one weight for each hash",
                hashes.len(),
                weights.len()
            )));
        }
        let words = |hash: &Vec<u8>| {
            hash.chunks(8)
                .map(|chunk| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)))
                .collect::<Vec<u64>>()
        };
        let hashes: Vec<Vec<u64>> = hashes.iter().map(words).collect();
        let (value, sums) = py.detach(|| guard(|| self.0.vote(&hashes, &weights)))?;
        Ok((to_bytes(py, &value), sums))
    }

    fn similarity(&self, left: &Bound<'_, PyString>, right: &Bound<'_, PyString>) -> PyResult<f64> {
        let py = left.py();
        let left = texts::Text::new(left, "left text", None)?;
        let right = texts::Text::new(right, "right text", None)?;
        let (left, right) = (left.as_str(), right.as_str());
        py.detach(|| guard(|| self.0.similarity(left, right)))
    }

    fn judge<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyTexts>,
        left: PyReadonlyArray1<'py, u32>,
        right: PyReadonlyArray1<'py, u32>,
        threads: Option<usize>,
    ) -> PyResult<Verdicts<'py>> {
        let pairs = near::pairs_of(&left, &right)?;
        let places = texts.get().places(py)?;
        let reader = texts.get().reader(&places)?;
        let verdicts = interruptible(py, threads, |stop| self.0.judge(&pairs, &|row| reader.get(row), stop))?;
        reader.finish()?;
        Ok((
            PyArray1::from_iter(py, verdicts.iter().map(|verdict| verdict.similarity)),
            PyArray1::from_iter(py, verdicts.iter().map(|verdict| verdict.distance)),
        ))
    }

    /// Returns for pairs of rows how far they agree under the rule of this pipeline.
    fn agreement<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyTexts>,
        left: PyReadonlyArray1<'py, u32>,
        right: PyReadonlyArray1<'py, u32>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let pairs = near::pairs_of(&left, &right)?;
        let places = texts.get().places(py)?;
        let reader = texts.get().reader(&places)?;
        let found = interruptible(py, threads, |stop| self.0.agreement(&pairs, &|row| reader.get(row), stop))?;
        reader.finish()?;
        Ok(PyArray1::from_vec(py, found))
    }

    /// Compares one text with each of a few others, on this thread.
    fn judge_one(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyString>,
        others: Vec<Bound<'_, PyString>>,
    ) -> PyResult<(Vec<f64>, Vec<u16>)> {
        let text = texts::Text::new(text, "text", None)?;
        let others: Vec<texts::Text<'_>> =
            others.iter().map(|other| texts::Text::new(other, "other text", None)).collect::<PyResult<_>>()?;
        let (text, others): (&str, Vec<&str>) = (text.as_str(), others.iter().map(texts::Text::as_str).collect());
        let verdicts = py.detach(|| guard(|| self.0.judge_one(text, &others)))?;
        Ok(verdicts.iter().map(|verdict| (verdict.similarity, verdict.distance)).unzip())
    }

    /// Returns a pipeline that keeps texts apart that differ in these aspects.
    fn distinguishing(
        &self,
        aspects: Vec<String>,
        negation: &Bound<'_, differences::PyNegation>,
        threshold: f64,
    ) -> PyResult<PyPipeline> {
        let aspects = Aspects::parse(&aspects).map_err(refuse)?;
        let rule = Distinguish::new(aspects, negation.get().0.clone(), threshold);
        Ok(PyPipeline(self.0.distinguishing(rule)))
    }

    fn document_frequencies<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<Bound<'py, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<(usize, Bound<'py, PyDict>)> {
        let count = texts.len();
        let threads = Threads::new(threads)?;
        let mut all: HashMap<String, u64> = HashMap::new();
        Texts::List(texts).batches(py, |batch, _| {
            let present: Vec<&str> = batch.iter().flatten().copied().collect();
            let part = py.detach(|| threads.run(|| self.0.document_frequencies(&present)))?;
            for (token, with_token) in part {
                *all.entry(token).or_default() += with_token;
            }
            Ok(())
        })?;
        let counts = PyDict::new(py);
        for (token, with_token) in all {
            counts.set_item(token, with_token)?;
        }
        Ok((count, counts))
    }
}

impl PyPipeline {
    fn run<'py>(
        &self,
        py: Python<'py>,
        texts: Texts<'py>,
        threads: Option<usize>,
        progress: Option<Bound<'py, PyAny>>,
        wants: Wants,
    ) -> PyResult<Sketched<'py>> {
        let threads = Threads::new(threads)?;
        let rows = texts.len();
        let words = if wants.values { self.0.words() } else { 0 };
        let sketched = if wants.sketches { rows } else { 0 };
        let mut values = guard(|| filled(rows * words, 0u64))?;
        let mut signal = guard(|| filled(rows, false))?;
        let mut sketches = guard(|| filled(sketched, [0; SKETCH_BYTES]))?;
        texts.batches(py, |batch, start| {
            let end = start + batch.len();
            let made = Made {
                values: &mut values[start * words..end * words],
                sketches: &mut sketches[start.min(sketched)..end.min(sketched)],
            };
            let batch_signal = &mut signal[start..end];
            py.detach(|| threads.run(|| self.0.make(batch, made, batch_signal)))?;
            // Ctrl-C, and a callback that raises, stop a long run here.
            py.check_signals()?;
            match &progress {
                Some(progress) => progress.call1((end, rows)).map(drop),
                None => Ok(()),
            }
        })?;
        let values = PyArray1::from_vec(py, values).reshape([rows, words])?;
        let sketches = PyArray1::from_vec(py, sketches.into_flattened()).reshape([sketched, SKETCH_BYTES])?;
        Ok((values, PyArray1::from_vec(py, signal), sketches))
    }
}

fn check_weights(weights: &[f64]) -> PyResult<()> {
    match weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
        Some(at) => Err(PyValueError::new_err(format!(
            "weights[{at}] is {}; a weight must be a finite number that is not negative",
            weights[at]
        ))),
        None => Ok(()),
    }
}

fn features(tokens: Vec<String>, weights: Vec<f64>) -> PyResult<Vec<Feature>> {
    check_weights(&weights)?;
    if tokens.len() != weights.len() {
        return Err(PyValueError::new_err(format!(
            "{} tokens but {} weights; give one weight for each token",
            tokens.len(),
            weights.len()
        )));
    }
    Ok(tokens.into_iter().zip(weights).map(|(token, weight)| Feature { token, count: 1, weight }).collect())
}

/// Returns XXH3-64 of `data`, seed 0.
#[pyfunction]
fn stable_hash(data: &[u8]) -> u64 {
    neardup_core::stable_hash(data)
}

/// Returns XXH3-64 of each of the concatenated strings in a buffer, split at `bounds`.
#[pyfunction]
fn stable_hashes<'py>(
    py: Python<'py>,
    data: PyBuffer<u8>,
    bounds: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let (data, bounds) = (texts::bytes_of(&data)?, bounds.as_slice()?);
    let string = |ends: &[i64]| usize::try_from(ends[0]).ok().zip(usize::try_from(ends[1]).ok());
    let strings = bounds.windows(2).map(|ends| string(ends).and_then(|(start, end)| data.get(start..end)));
    let hashes = strings.map(|string| string.map(neardup_core::stable_hash)).collect::<Option<Vec<u64>>>();
    let hashes = hashes.ok_or_else(|| PyValueError::new_err("bounds are out of order or beyond the data"))?;
    Ok(PyArray1::from_vec(py, hashes))
}

/// Returns whether a text holds a letter or digit.
#[pyfunction]
fn says_something(text: &Bound<'_, PyString>) -> PyResult<bool> {
    Ok(neardup_core::near::says_something(texts::Text::new(text, "text", None)?.as_str()))
}

/// Returns the exact cosine of two weighted bags.
#[pyfunction]
fn cosine(
    py: Python<'_>,
    left_tokens: Vec<String>,
    left_weights: Vec<f64>,
    right_tokens: Vec<String>,
    right_weights: Vec<f64>,
) -> PyResult<f64> {
    let left = features(left_tokens, left_weights)?;
    let right = features(right_tokens, right_weights)?;
    py.detach(|| guard(|| neardup_core::cosine_of_features(&left, &right)))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CorruptIndexError", module.py().get_type::<index::CorruptIndexError>())?;
    module.add_class::<PyPipeline>()?;
    module.add_class::<PyTexts>()?;
    module.add_class::<index::PyIndex>()?;
    differences::add_to(module)?;
    templates::add_to(module)?;
    sketches::add_to(module)?;
    module.add("TWIN", neardup_core::near::TWIN)?;
    module.add_function(wrap_pyfunction!(stable_hash, module)?)?;
    module.add_function(wrap_pyfunction!(stable_hashes, module)?)?;
    module.add_function(wrap_pyfunction!(cosine, module)?)?;
    module.add_function(wrap_pyfunction!(says_something, module)?)?;
    buckets::add_to(module)?;
    http::add_to(module)?;
    join::add_to(module)?;
    jsonl::add_to(module)?;
    near::add_to(module)?;
    passages::add_to(module)?;
    terms::add_to(module)
}
