//! The join by similarity for Python.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use neardup_core::near::{
    Candidate, Candidates, Dense, Links, Near, NearJoin, PART_BYTES, Plan, Progress, SKETCH_BYTES, Sketch,
    same_registers, twins,
};
use neardup_core::{Linkage, collected, filled};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::stored::PyTexts;
use crate::threads::{interruptible, watched};
use crate::{PyPipeline, guard, refuse};

/// Pairs up to this much above the similarity are used to estimate how many were missed.
const EDGE: f64 = 0.02;

type Rows<'py> = Bound<'py, PyArray1<u32>>;
type Told<'py> = (Rows<'py>, Rows<'py>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u16>>);

/// Returns rows of bytes as sketches.
pub(crate) fn as_sketches(bytes: &[u8]) -> PyResult<&[Sketch]> {
    match bytes.as_chunks::<SKETCH_BYTES>() {
        (sketches, []) => Ok(sketches),
        _ => Err(PyValueError::new_err(format!(
            "sketches has {} bytes; it must be rows of {SKETCH_BYTES} bytes",
            bytes.len()
        ))),
    }
}

/// Returns the plan for a similarity and a recall.
#[pyfunction]
fn near_plan(py: Python<'_>, similarity: f64, recall: f64) -> PyResult<Bound<'_, PyDict>> {
    let plan = Plan::new(similarity, recall).map_err(refuse)?;
    let fields = PyDict::new(py);
    let tables: Vec<Vec<u32>> =
        plan.tables.iter().map(|table| table.iter().map(|&at| u32::from(at)).collect()).collect();
    fields.set_item("similarity", plan.similarity)?;
    fields.set_item("recall", plan.recall)?;
    fields.set_item("key", plan.key())?;
    fields.set_item("tables", tables)?;
    fields.set_item("least", plan.least)?;
    Ok(fields)
}

/// A join of texts by their sketches.
#[pyclass(name = "NearJoin", module = "neardup._core", frozen)]
struct PyNearJoin {
    sketches: Py<PyArray2<u8>>,
    plan: Plan,
    twins: Vec<u32>,
    rows: Vec<u32>,
    first: u32,
    found: Mutex<Candidates>,
}

fn bytes_of<'a>(sketches: &'a PyReadonlyArray2<'_, u8>) -> PyResult<&'a [Sketch]> {
    as_sketches(sketches.as_slice()?)
}

#[pymethods]
impl PyNearJoin {
    #[new]
    #[pyo3(signature = (sketches, signal, similarity, recall, *, order=None, first=0, threads=None))]
    #[allow(clippy::too_many_arguments)] // what there is to say of a join
    fn new(
        py: Python<'_>,
        sketches: Py<PyArray2<u8>>,
        signal: PyReadonlyArray1<'_, bool>,
        similarity: f64,
        recall: f64,
        order: Option<PyReadonlyArray1<'_, u32>>,
        first: usize,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let plan = Plan::new(similarity, recall).map_err(refuse)?;
        let borrowed = sketches.bind(py).try_readonly()?;
        let (rows, signal) = (bytes_of(&borrowed)?, signal.as_slice()?);
        let order = order.as_ref().map(|order| order.as_slice()).transpose()?;
        if rows.len() >= u32::MAX as usize {
            return Err(PyValueError::new_err(format!(
                "{} texts; a join takes at most {}: join parts of them",
                rows.len(),
                u32::MAX - 1
            )));
        }
        let fits = |order: &[u32]| order.len() == rows.len() && order.iter().all(|&row| (row as usize) < rows.len());
        if signal.len() != rows.len() || !order.is_none_or(fits) || first > rows.len() {
            return Err(PyValueError::new_err(format!(
                "sketches has {} rows; signal and order must have as many, and first at most that",
                rows.len()
            )));
        }
        let (twins, texts, first) = interruptible(py, threads, |_| {
            let rank = order.map(|order| {
                let mut rank = filled(order.len(), 0);
                order.iter().zip(0..).for_each(|(&row, place)| rank[row as usize] = place);
                rank
            });
            let twins = twins(rows, rank.as_deref());
            let join = NearJoin::new(rows, &plan, signal, &twins, order, first);
            let (texts, first) = (join.rows.into_owned(), join.first);
            (twins, texts, first)
        })?;
        Ok(PyNearJoin { sketches, plan, twins, rows: texts, first, found: Mutex::default() })
    }

    /// Returns for each row the first row in order with the same features.
    #[getter]
    fn twins<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        array(py, self.twins.iter().map(|&row| i64::from(row)))
    }

    /// Returns the plan: tables, registers of a key, registers that must agree, texts compared.
    #[getter]
    fn plan<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        fields.set_item("method", if self.plan.tables.is_empty() { "inverted" } else { "sketches" })?;
        fields.set_item("texts", self.rows.len())?;
        fields.set_item("tables", self.plan.tables.len())?;
        fields.set_item("key", self.plan.key())?;
        fields.set_item("least", self.plan.least)?;
        Ok(fields)
    }

    /// Returns the sizes of the dense buckets, whose pairs are not listed.
    #[getter]
    fn dense(&self) -> Vec<usize> {
        self.lock().dense.iter().map(|dense| dense.members.len()).collect()
    }

    /// Chooses how to find the near pairs: the method, the seconds it takes about, the pairs looked at, and the seconds
    /// of the other method.
    fn forecast<'py>(
        &self,
        py: Python<'py>,
        pipeline: &PyPipeline,
        texts: &Bound<'py, PyTexts>,
        threads: Option<usize>,
    ) -> PyResult<(&'static str, f64, f64, f64)> {
        let borrowed = self.sketches.bind(py).try_readonly()?;
        let sketches = bytes_of(&borrowed)?;
        let places = texts.get().places(py)?;
        let reader = texts.get().reader(&places)?;
        let found =
            interruptible(py, threads, |stop| self.join(sketches).forecast(&pipeline.0, &|row| reader.get(row), stop))?;
        reader.finish()?;
        let method = if found.inverted { "inverted" } else { "sketches" };
        Ok((method, found.seconds, found.pairs, found.other))
    }

    /// Returns whether no pair is listed: all texts are looked up in an inverted index.
    #[getter]
    fn whole(&self) -> bool {
        self.lock().whole
    }

    /// Lists no candidates: `clusters` and `dense_pairs` then look all texts up in an inverted index.
    fn invert(&self) {
        *self.lock() = Candidates { whole: true, ..Candidates::default() };
    }

    /// Returns the rows of candidates, later and earlier, connected pairs side by side. Calls `told` now and then with
    /// the number of tables done and candidates found so far.
    #[pyo3(signature = (threads, told=None))]
    fn candidates<'py>(
        &self,
        py: Python<'py>,
        threads: Option<usize>,
        told: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Rows<'py>, Rows<'py>)> {
        let borrowed = self.sketches.bind(py).try_readonly()?;
        let sketches = bytes_of(&borrowed)?;
        let seen = Progress::default();
        let watch = || match &told {
            Some(told) => told.call1((seen.tables.load(Relaxed), seen.candidates.load(Relaxed))).map(drop),
            None => Ok(()),
        };
        let found = watched(py, threads, watch, |stop| self.join(sketches).candidates(stop, &seen))?;
        let later = array(py, found.pairs.iter().map(|pair| self.rows[pair.later as usize]))?;
        let earlier = array(py, found.pairs.iter().map(|pair| self.rows[pair.earlier as usize]))?;
        *self.lock() = found;
        Ok((later, earlier))
    }

    /// Returns all near pairs, found by an inverted index, with the columns of `clusters`, as if they were candidates;
    /// None if there are more than `most`. Calls `told` now and then with the number of texts looked up so far.
    fn look_up<'py>(
        &self,
        py: Python<'py>,
        pipeline: &PyPipeline,
        texts: &Bound<'py, PyTexts>,
        most: usize,
        threads: Option<usize>,
        told: Bound<'py, PyAny>,
    ) -> PyResult<Option<Told<'py>>> {
        let borrowed = self.sketches.bind(py).try_readonly()?;
        let sketches = bytes_of(&borrowed)?;
        let places = texts.get().places(py)?;
        let reader = texts.get().reader(&places)?;
        let asked = AtomicUsize::new(0);
        let watch = || told.call1((asked.load(Relaxed),)).map(drop);
        let found = watched(py, threads, watch, |stop| {
            let (join, text) = (self.join(sketches), |row| reader.get(row));
            let links = Links {
                join: &join,
                dense: &[],
                whole: true,
                part_bytes: PART_BYTES,
                pipeline: &pipeline.0,
                text: &text,
            };
            links.at_most(most, stop, &asked)
        })?;
        reader.finish()?;
        let Some(found) = found else { return Ok(None) };
        let pairs = found.iter().map(|pair| Candidate { later: pair.later, earlier: pair.earlier });
        let pairs = guard(|| collected(pairs))?;
        *self.lock() = Candidates { pairs, ..Candidates::default() };
        self.told(py, &found).map(Some)
    }

    /// Takes candidates found elsewhere, by numbers of texts, and dense buckets; returns what `candidates` returns.
    fn put<'py>(
        &self,
        py: Python<'py>,
        later: PyReadonlyArray1<'py, u32>,
        earlier: PyReadonlyArray1<'py, u32>,
        dense: Vec<(usize, PyReadonlyArray1<'py, u32>)>,
        threads: Option<usize>,
    ) -> PyResult<(Rows<'py>, Rows<'py>)> {
        let borrowed = self.sketches.bind(py).try_readonly()?;
        let sketches = bytes_of(&borrowed)?;
        let texts = self.rows.len() as u32;
        let pairs = pairs_of(&later, &earlier)?;
        let buckets = dense
            .iter()
            .map(|(table, members)| Ok(Dense { table: *table, members: members.as_slice()?.to_vec() }))
            .collect::<PyResult<Vec<Dense>>>()?;
        let known = |bucket: &Dense| {
            bucket.table < self.plan.tables.len().max(1) && bucket.members.iter().all(|&text| text < texts)
        };
        if !pairs.iter().all(|&(later, earlier)| earlier < later && later < texts) || !buckets.iter().all(known) {
            return Err(PyValueError::new_err(format!(
                "later, earlier and the members of dense buckets must be numbers below {texts}, with earlier < later"
            )));
        }
        let pairs = pairs.into_iter().map(|(later, earlier)| Candidate { later, earlier });
        let pairs = guard(|| collected(pairs))?;
        let found = interruptible(py, threads, |_| self.join(sketches).gathered(pairs, buckets))?;
        let later = array(py, found.pairs.iter().map(|pair| self.rows[pair.later as usize]))?;
        let earlier = array(py, found.pairs.iter().map(|pair| self.rows[pair.earlier as usize]))?;
        *self.lock() = found;
        Ok((later, earlier))
    }

    /// Returns the rows of the texts compared, in order; a text's number is its position here.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> Rows<'py> {
        PyArray1::from_slice(py, &self.rows)
    }

    /// Returns the number of texts that are compared only with later ones; 0 if all are compared.
    #[getter]
    fn first(&self) -> u32 {
        self.first
    }

    /// Returns how many pairs of rows with these similarities lie just above the threshold, and the estimated number of
    /// such pairs.
    fn at_the_edge<'py>(
        &self,
        py: Python<'py>,
        later: PyReadonlyArray1<'py, u32>,
        earlier: PyReadonlyArray1<'py, u32>,
        similarities: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<(usize, f64)> {
        let borrowed = self.sketches.bind(py).try_readonly()?;
        let sketches = bytes_of(&borrowed)?;
        let of = |row: u32| sketches.get(row as usize).ok_or_else(|| PyValueError::new_err(format!("no row {row}")));
        let (mut count, mut expected) = (0, 0.0);
        for ((later, earlier), &similarity) in pairs_of(&later, &earlier)?.into_iter().zip(similarities.as_slice()?) {
            if similarity >= self.plan.similarity && similarity < self.plan.similarity + EDGE {
                count += 1;
                expected += 1.0 / self.plan.chance(same_registers(of(later)?, of(earlier)?));
            }
        }
        Ok((count, expected))
    }

    /// Returns the clusters of candidates with these similarities and of dense buckets. For each text that is not the
    /// first of its cluster: its row, the row of the first, their similarity (NaN if unknown) and distance.
    #[pyo3(signature = (linkage, similarities, distances, pipeline, texts, threads, told=None))]
    #[allow(clippy::too_many_arguments)] // what there is to say
    fn clusters<'py>(
        &self,
        py: Python<'py>,
        linkage: &str,
        similarities: PyReadonlyArray1<'py, f64>,
        distances: PyReadonlyArray1<'py, u16>,
        pipeline: &PyPipeline,
        texts: &Bound<'py, PyTexts>,
        threads: Option<usize>,
        told: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Told<'py>> {
        let linkage: Linkage = linkage.parse().map_err(refuse)?;
        let borrowed = self.sketches.bind(py).try_readonly()?;
        let sketches = bytes_of(&borrowed)?;
        let places = texts.get().places(py)?;
        let reader = texts.get().reader(&places)?;
        let near = self.judged(similarities.as_slice()?, distances.as_slice()?)?;
        let Candidates { dense, whole, .. } = std::mem::take(&mut *self.lock());
        let asked = AtomicUsize::new(0);
        let watch = || told.as_ref().map_or(Ok(()), |told| told.call1((asked.load(Relaxed),)).map(drop));
        let links = watched(py, threads, watch, |stop| {
            let (join, text) = (self.join(sketches), |row| reader.get(row));
            let links =
                Links { join: &join, dense: &dense, whole, part_bytes: PART_BYTES, pipeline: &pipeline.0, text: &text };
            links.clusters(linkage, near, stop, &asked)
        })?;
        reader.finish()?;
        self.told(py, &links)
    }

    /// Calls `take` with the near pairs of dense buckets, in batches with the columns of `clusters`.
    fn dense_pairs<'py>(
        &self,
        py: Python<'py>,
        pipeline: &PyPipeline,
        texts: &Bound<'py, PyTexts>,
        take: Py<PyAny>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let borrowed = self.sketches.bind(py).try_readonly()?;
        let sketches = bytes_of(&borrowed)?;
        let places = texts.get().places(py)?;
        let reader = texts.get().reader(&places)?;
        let Candidates { dense, whole, .. } = std::mem::take(&mut *self.lock());
        let asked = AtomicUsize::new(0);
        let raised: Mutex<Option<PyErr>> = Mutex::new(None);
        interruptible(py, threads, |stop: &AtomicBool| {
            let (join, text) = (self.join(sketches), |row| reader.get(row));
            let links =
                Links { join: &join, dense: &dense, whole, part_bytes: PART_BYTES, pipeline: &pipeline.0, text: &text };
            links.each_pair(stop, &asked, &mut |batch| {
                let taken = Python::attach(|py| take.call1(py, self.told(py, &batch)?).map(drop));
                if let Err(error) = taken {
                    *raised.lock().unwrap_or_else(|broken| broken.into_inner()) = Some(error);
                    stop.store(true, Relaxed);
                    return false;
                }
                true
            });
        })?;
        if let Some(error) = raised.into_inner().unwrap_or_else(|broken| broken.into_inner()) {
            return Err(error);
        }
        reader.finish()
    }
}

impl PyNearJoin {
    fn lock(&self) -> std::sync::MutexGuard<'_, Candidates> {
        self.found.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    fn join<'a>(&'a self, sketches: &'a [Sketch]) -> NearJoin<'a> {
        NearJoin::of(sketches, &self.rows, self.first, &self.plan)
    }

    /// Returns the candidates that are near.
    fn judged(&self, similarities: &[f64], distances: &[u16]) -> PyResult<Vec<Near>> {
        let pairs = std::mem::take(&mut self.lock().pairs);
        if similarities.len() != pairs.len() || distances.len() != pairs.len() {
            return Err(PyValueError::new_err(format!(
                "{} similarities and {} distances for {} candidates; give one of each",
                similarities.len(),
                distances.len(),
                pairs.len()
            )));
        }
        let is_near = |similarity: f64| similarity >= self.plan.similarity;
        let count = similarities.iter().filter(|&&similarity| is_near(similarity)).count();
        let mut near = guard(|| collected((0..count).map(|_| Near::default())))?;
        let judged = pairs.iter().zip(similarities.iter().zip(distances));
        let judged = judged.filter(|(_, (similarity, _))| is_near(**similarity));
        for (near, (pair, (&similarity, &distance))) in near.iter_mut().zip(judged) {
            *near = Near { later: pair.later, earlier: pair.earlier, similarity, distance };
        }
        Ok(near)
    }

    fn told<'py>(&self, py: Python<'py>, pairs: &[Near]) -> PyResult<Told<'py>> {
        Ok((
            array(py, pairs.iter().map(|pair| self.rows[pair.later as usize]))?,
            array(py, pairs.iter().map(|pair| self.rows[pair.earlier as usize]))?,
            array(py, pairs.iter().map(|pair| pair.similarity))?,
            array(py, pairs.iter().map(|pair| pair.distance))?,
        ))
    }
}

/// Returns an array of these items.
fn array<T: numpy::Element>(
    py: Python<'_>,
    items: impl ExactSizeIterator<Item = T>,
) -> PyResult<Bound<'_, PyArray1<T>>> {
    Ok(PyArray1::from_vec(py, guard(|| collected(items))?))
}

/// Returns pairs of rows.
pub(crate) fn pairs_of(
    left: &PyReadonlyArray1<'_, u32>,
    right: &PyReadonlyArray1<'_, u32>,
) -> PyResult<Vec<(u32, u32)>> {
    if left.len() != right.len() {
        return Err(PyValueError::new_err(format!(
            "{} left rows and {} right rows; give as many of both",
            left.len(),
            right.len()
        )));
    }
    let pairs = left.as_slice()?.iter().copied().zip(right.as_slice()?.iter().copied());
    guard(|| collected(pairs))
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("SKETCH_BYTES", SKETCH_BYTES)?;
    module.add_class::<PyNearJoin>()?;
    module.add_function(wrap_pyfunction!(near_plan, module)?)
}
