//! Passages for Python: positions in characters.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use neardup_core::{Cover, Passages, Shared, every_run, winnowed};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyString;
use rayon::prelude::*;

use crate::guard;
use crate::texts::{CharOffsets, Text, Texts};
use crate::threads::{Threads, interruptible};

/// Texts of up to this many bytes are compared without checking for interrupts.
const SHORT: usize = 1 << 18;

/// `min_words, min_chars, bridge, seconds`
type Options = (usize, usize, usize, Option<f64>);
/// `left start, left end, right start, right end, words, exact`
type Passage = (usize, usize, usize, usize, usize, bool);
/// The number of a passage, then a stretch of equal units in it as in `Passage`.
type Equal = (usize, usize, usize, usize, usize);
/// Units, those covered, containment.
type Side = (usize, usize, f64);
type Found = (Vec<Passage>, Vec<Equal>, Side, Side, bool);
type Units<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<bool>>);
type Winnowed<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>);

fn options((min_words, min_chars, bridge, seconds): Options) -> Passages {
    Passages { min_words, min_chars, bridge, seconds }
}

fn in_characters(shared: &Shared, left: &CharOffsets<'_>, right: &str) -> Found {
    let right = CharOffsets::new(right);
    let place = |[a, b]: [(usize, usize); 2]| (left.at(a.0), left.at(a.1), right.at(b.0), right.at(b.1));
    let (mut passages, mut equal) = (Vec::with_capacity(shared.passages.len()), Vec::new());
    for (at, passage) in shared.passages.iter().enumerate() {
        let (a, b, c, d) = place([passage.left, passage.right]);
        passages.push((a, b, c, d, passage.words, passage.equal.len() == 1));
        equal.extend(passage.equal.iter().map(|&stretch| {
            let (a, b, c, d) = place(stretch);
            (at, a, b, c, d)
        }));
    }
    let side = |cover: Cover| (cover.units, cover.covered, cover.containment);
    (passages, equal, side(shared.left), side(shared.right), shared.coarse)
}

/// Returns the passages two texts share.
#[pyfunction]
fn shared(left: &Bound<'_, PyString>, right: &Bound<'_, PyString>, question: Options) -> PyResult<Found> {
    let py = left.py();
    let left = Text::new(left, "left text", None)?;
    let right = Text::new(right, "right text", None)?;
    let (left, right) = (left.as_str(), right.as_str());
    let work = |stop: &AtomicBool| {
        let found = options(question).shared(left, right, Some(stop));
        in_characters(&found, &CharOffsets::new(left), right)
    };
    if left.len() + right.len() <= SHORT {
        return py.detach(|| guard(|| work(&AtomicBool::new(false))));
    }
    interruptible(py, None, work)
}

/// Returns the passages a text shares with each of some others.
#[pyfunction]
fn shared_with_each(
    left: &Bound<'_, PyString>,
    rights: Vec<Bound<'_, PyString>>,
    question: Options,
    threads: Option<usize>,
) -> PyResult<Vec<Found>> {
    let py = left.py();
    let left = Text::new(left, "left text", None)?;
    let rights: Vec<Text<'_>> =
        rights.iter().enumerate().map(|(at, text)| Text::new(text, "texts", Some(at))).collect::<PyResult<_>>()?;
    let (left, rights): (&str, Vec<&str>) = (left.as_str(), rights.iter().map(Text::as_str).collect());
    interruptible(py, threads, |stop| {
        let in_left = CharOffsets::new(left);
        let of = |right: &&str| {
            let found = options(question).shared(left, right, Some(stop));
            // The result is dropped if stopped, so it need not be converted.
            (!stop.load(Relaxed)).then(|| in_characters(&found, &in_left, right))
        };
        rights.par_iter().filter_map(of).collect()
    })
}

/// Returns where the units of a text begin and end, and which are characters of scripts without spaces.
#[pyfunction]
fn units<'py>(text: &Bound<'py, PyString>) -> PyResult<Units<'py>> {
    let py = text.py();
    let text = Text::new(text, "text", None)?;
    let text = text.as_str();
    let (starts, ends, characters) = py.detach(|| {
        guard(|| {
            let offsets = CharOffsets::new(text);
            let found = neardup_core::units(text);
            let place = |byte: usize| offsets.at(byte) as i64;
            let starts: Vec<i64> = found.iter().map(|unit| place(unit.start)).collect();
            let ends: Vec<i64> = found.iter().map(|unit| place(unit.end)).collect();
            (starts, ends, found.iter().map(neardup_core::Unit::is_character).collect::<Vec<bool>>())
        })
    })?;
    Ok((PyArray1::from_vec(py, starts), PyArray1::from_vec(py, ends), PyArray1::from_vec(py, characters)))
}

/// Returns a text in the form in which words of passages are equal.
#[pyfunction]
fn standard_form(text: &Bound<'_, PyString>) -> PyResult<String> {
    let text = Text::new(text, "text", None)?;
    guard(|| neardup_core::Normalize::Standard.apply(text.as_str(), &mut String::new()).to_owned())
}

/// Returns the hashes of runs of each text: where those of each begin, and the hashes.
#[pyfunction]
#[pyo3(signature = (texts, min_words, min_chars, threads, *, every=false))]
fn winnow<'py>(
    py: Python<'py>,
    texts: Vec<Bound<'py, PyAny>>,
    min_words: usize,
    min_chars: usize,
    threads: Option<usize>,
    every: bool,
) -> PyResult<Winnowed<'py>> {
    let threads = Threads::new(threads)?;
    let (mut bounds, mut hashes) = (vec![0], Vec::new());
    Texts::List(texts).batches(py, |batch, _| {
        let hash = if every { every_run } else { winnowed };
        let of = |text: &Option<&str>| text.map_or_else(Vec::new, |text| hash(text, min_words, min_chars));
        let found: Vec<Vec<u64>> = py.detach(|| threads.run(|| batch.par_iter().map(of).collect()))?;
        for of_text in found {
            hashes.extend(of_text);
            bounds.push(hashes.len() as u64);
        }
        Ok(())
    })?;
    Ok((PyArray1::from_vec(py, bounds), PyArray1::from_vec(py, hashes)))
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(shared, module)?)?;
    module.add_function(wrap_pyfunction!(shared_with_each, module)?)?;
    module.add_function(wrap_pyfunction!(units, module)?)?;
    module.add_function(wrap_pyfunction!(standard_form, module)?)?;
    module.add_function(wrap_pyfunction!(winnow, module)?)
}
