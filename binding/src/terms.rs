//! `TermIndex` for Python: texts in, ranked keys out, the GIL released while the core works.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use neardup_core::ranking::{Counted, Covered, IdfKind, Ranked, TermIndex};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::index::{corrupt, failed, file_failed};
use crate::texts::{ArrowChunk, Text, Texts};
use crate::threads::{Threads, interruptible};
use crate::{PyPipeline, guard, refuse};

type Found<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);
/// First key, last key, documents, stamp, identity.
type Told = (i64, i64, usize, u64, String);

fn told(covered: Covered) -> Told {
    (covered.first, covered.last, covered.documents, covered.stamp, covered.identity)
}

/// Documents by their terms, under ascending keys.
#[pyclass(name = "TermIndex", module = "neardup._core", frozen)]
pub(crate) struct PyTermIndex(TermIndex);

#[pymethods]
impl PyTermIndex {
    #[new]
    fn new(identity: String) -> Self {
        PyTermIndex(TermIndex::new(identity))
    }

    fn add<'py>(
        &self,
        py: Python<'py>,
        pipeline: &PyPipeline,
        texts: Vec<Bound<'py, PyAny>>,
        keys: PyReadonlyArray1<'py, i64>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        self.take(py, pipeline, &Texts::List(texts), keys.as_slice()?, threads)
    }

    fn add_arrow<'py>(
        &self,
        py: Python<'py>,
        pipeline: &PyPipeline,
        chunks: Vec<ArrowChunk>,
        keys: PyReadonlyArray1<'py, i64>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        self.take(py, pipeline, &Texts::Arrow(chunks), keys.as_slice()?, threads)
    }

    fn add_terms(
        &self,
        py: Python<'_>,
        bounds: PyReadonlyArray1<'_, u64>,
        terms: PyReadonlyArray1<'_, u64>,
        keys: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<()> {
        let (bounds, terms, keys) = (bounds.as_slice()?, terms.as_slice()?, keys.as_slice()?);
        let threads = Threads::new(None)?;
        let added = py.detach(|| {
            threads.run(|| {
                let mut counted = Counted::default();
                counted.add_terms(bounds, terms, keys)?;
                self.0.add(counted)
            })
        })?;
        added.map_err(failed)
    }

    fn sharing<'py>(&self, py: Python<'py>, terms: PyReadonlyArray1<'py, u64>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let terms = terms.as_slice()?;
        let keys = py.detach(|| guard(|| self.0.sharing(terms)))?.map_err(corrupt)?;
        Ok(PyArray1::from_vec(py, keys))
    }

    fn remove(&self, py: Python<'_>, keys: PyReadonlyArray1<'_, i64>) -> PyResult<()> {
        let keys = keys.as_slice()?;
        py.detach(|| guard(|| self.0.remove(keys)))?.map_err(corrupt)
    }

    #[allow(clippy::too_many_arguments)] // one for each that Python passes
    fn search<'py>(
        &self,
        py: Python<'py>,
        pipeline: &PyPipeline,
        queries: Vec<Bound<'py, PyString>>,
        n: usize,
        least: f64,
        idf: &str,
        threads: Option<usize>,
    ) -> PyResult<Found<'py>> {
        let kind: IdfKind = idf.parse().map_err(refuse)?;
        let queries: Vec<Text<'_>> = queries
            .iter()
            .enumerate()
            .map(|(at, query)| Text::new(query, "query", Some(at)))
            .collect::<PyResult<_>>()?;
        let queries: Vec<&str> = queries.iter().map(Text::as_str).collect();
        let search = |stop: &AtomicBool| self.0.search(&pipeline.0, &queries, n, least, kind, stop);
        // One query stays on this thread, which is faster.
        let found = if queries.len() == 1 && self.0.is_ready(kind) {
            py.detach(|| guard(|| search(&AtomicBool::new(false))))?
        } else {
            interruptible(py, threads, search)?
        };
        let Ranked { queries, keys, scores } = found.map_err(corrupt)?;
        Ok((PyArray1::from_vec(py, queries), PyArray1::from_vec(py, keys), PyArray1::from_vec(py, scores)))
    }

    fn save(&self, py: Python<'_>, path: PathBuf, first: i64, last: i64, stamp: u64) -> PyResult<()> {
        let saved = py.detach(|| guard(|| self.0.save(&path, first, last, stamp)))?;
        saved.map_err(|error| file_failed(error, &path))
    }

    fn attach(&self, py: Python<'_>, path: PathBuf) -> PyResult<Told> {
        let attached = py.detach(|| guard(|| self.0.attach(&path)))?;
        attached.map(told).map_err(|error| file_failed(error, &path))
    }

    #[staticmethod]
    fn covered(py: Python<'_>, path: PathBuf) -> PyResult<Told> {
        let covered = py.detach(|| guard(|| TermIndex::covered(&path)))?;
        covered.map(told).map_err(|error| file_failed(error, &path))
    }

    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.bytes())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.documents())
    }

    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let keys = py.detach(|| guard(|| self.0.keys()))?.map_err(corrupt)?;
        Ok(PyArray1::from_vec(py, keys))
    }

    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| guard(|| self.0.verify()))?.map_err(corrupt)
    }
}

impl PyTermIndex {
    fn take<'py>(
        &self,
        py: Python<'py>,
        pipeline: &PyPipeline,
        texts: &Texts<'py>,
        keys: &[i64],
        threads: Option<usize>,
    ) -> PyResult<()> {
        if keys.len() != texts.len() {
            let (keys, texts) = (keys.len(), texts.len());
            return Err(PyValueError::new_err(format!("{keys} keys for {texts} texts; give one for each")));
        }
        let threads = Threads::new(threads)?;
        let mut counted = Counted::default();
        texts.batches(py, |batch, start| {
            let own = &keys[start..start + batch.len()];
            py.detach(|| threads.run(|| counted.add(&pipeline.0, batch, own)))?;
            py.check_signals()?;
            if counted.is_full() {
                let full = std::mem::take(&mut counted);
                py.detach(|| threads.run(|| self.0.add(full)))?.map_err(failed)?;
            }
            Ok(())
        })?;
        py.detach(|| threads.run(|| self.0.add(counted)))?.map_err(failed)
    }
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyTermIndex>()
}
