//! What differs between texts, for Python.

use std::sync::Arc;

use neardup_core::differences::{Negation, Tokens, differences, differences_one};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::near::pairs_of;
use crate::stored::PyTexts;
use crate::threads::interruptible;
use crate::{guard, texts};

type Differences<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<u32>>);
type TokenLists = (Vec<String>, Vec<String>, Vec<String>, Vec<String>);

/// Words that negate.
#[pyclass(name = "Negation", module = "neardup._core", frozen)]
pub(crate) struct PyNegation(pub(crate) Arc<Negation>);

#[pymethods]
impl PyNegation {
    #[new]
    #[pyo3(signature = (*, words, beginnings, endings, phrases, others))]
    fn new(
        words: Vec<String>,
        beginnings: Vec<String>,
        endings: Vec<String>,
        phrases: Vec<String>,
        others: Vec<String>,
    ) -> Self {
        PyNegation(Arc::new(Negation::new(&words, &beginnings, &endings, &phrases, &others)))
    }

    /// Returns for pairs of rows the aspects in which they differ, as bits, and the number of words of the right text
    /// that the left one lacks.
    fn differences<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyTexts>,
        left: PyReadonlyArray1<'py, u32>,
        right: PyReadonlyArray1<'py, u32>,
        threads: Option<usize>,
    ) -> PyResult<Differences<'py>> {
        let pairs = pairs_of(&left, &right)?;
        let places = texts.get().places(py)?;
        let reader = texts.get().reader(&places)?;
        let found = interruptible(py, threads, |stop| differences(&pairs, &|row| reader.get(row), &self.0, stop))?;
        reader.finish()?;
        Ok((
            PyArray1::from_iter(py, found.iter().map(|(differs, _)| differs.bits())),
            PyArray1::from_iter(py, found.iter().map(|(_, lost)| *lost)),
        ))
    }

    /// Returns the same for one text and each of a few others, on this thread: how many of its words each of them lacks.
    fn differences_one(
        &self,
        text: &Bound<'_, PyString>,
        others: Vec<Bound<'_, PyString>>,
    ) -> PyResult<(Vec<u16>, Vec<u32>)> {
        let py = text.py();
        let text = texts::Text::new(text, "text", None)?;
        let others: Vec<texts::Text<'_>> =
            others.iter().map(|other| texts::Text::new(other, "other text", None)).collect::<PyResult<_>>()?;
        let (text, others): (&str, Vec<&str>) = (text.as_str(), others.iter().map(texts::Text::as_str).collect());
        let found = py.detach(|| guard(|| differences_one(text, &others, &self.0)))?;
        Ok(found.iter().map(|(differs, lost)| (u16::from(differs.bits()), *lost)).unzip())
    }

    /// Returns the words, numbers, negations and symbols of a text.
    fn tokens(&self, text: &Bound<'_, PyString>) -> PyResult<TokenLists> {
        let py = text.py();
        let text = texts::Text::new(text, "text", None)?;
        let text = text.as_str();
        let Tokens { words, numbers, negations, symbols } = py.detach(|| guard(|| Tokens::of(text, &self.0)))?;
        Ok((words, numbers, negations, symbols))
    }
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyNegation>()
}
