//! `SketchIndex` for Python: arrays in, arrays out, the GIL released while the core works.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use neardup_core::near::{self, Matched, Plan, SKETCH_BYTES, Sketch, SketchIndex};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::index::{corrupt, failed, file_failed};
use crate::threads::{Threads, interruptible};
use crate::{guard, refuse};

/// Up to this many rows are searched on the calling thread.
const FEW: usize = 64;

/// A cache of plans: making one takes longer than a look-up.
static PLANS: Mutex<Vec<Arc<Plan>>> = Mutex::new(Vec::new());
/// The size of the cache.
const KEPT: usize = 16;

fn plan(similarity: f64, recall: f64) -> PyResult<Arc<Plan>> {
    // Never blocks: a child forked while another thread held the lock would wait for ever.
    let mut kept = PLANS.try_lock().ok();
    let same = |plan: &&Arc<Plan>| plan.similarity == similarity && plan.recall == recall;
    if let Some(plan) = kept.iter().flat_map(|kept| kept.iter()).find(same) {
        return Ok(Arc::clone(plan));
    }
    let plan = Arc::new(Plan::new(similarity, recall).map_err(refuse)?);
    if let Some(kept) = &mut kept {
        kept.truncate(KEPT - 1);
        kept.insert(0, Arc::clone(&plan));
    }
    Ok(plan)
}

type Found<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u8>>);
type Rows<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray2<u8>>);

/// Returns the rows of an array as sketches.
fn sketches<'a>(rows: &'a PyReadonlyArray2<'_, u8>) -> PyResult<&'a [Sketch]> {
    let (sketches, rest) = rows.as_slice()?.as_chunks();
    if rows.as_array().ncols() != SKETCH_BYTES || !rest.is_empty() {
        let columns = rows.as_array().ncols();
        return Err(PyValueError::new_err(format!(
            "sketches has rows of {columns} bytes; they must have {SKETCH_BYTES}"
        )));
    }
    Ok(sketches)
}

/// Sketches under keys.
#[pyclass(name = "SketchIndex", module = "neardup._core", frozen)]
pub(crate) struct PySketchIndex(SketchIndex);

#[pymethods]
impl PySketchIndex {
    #[new]
    fn new(similarity: f64, recall: f64, recipe: Option<String>) -> PyResult<Self> {
        Ok(PySketchIndex(SketchIndex::new(&*plan(similarity, recall)?, recipe)))
    }

    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, similarity: f64, recall: f64) -> PyResult<Self> {
        let plan = plan(similarity, recall)?;
        py.detach(|| guard(|| SketchIndex::open(&path, &plan)))?
            .map(PySketchIndex)
            .map_err(|error| file_failed(error, &path))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let threads = Threads::new(None)?;
        py.detach(|| guard(|| self.0.save(&path, Some(threads.pool()))))?.map_err(|error| file_failed(error, &path))
    }

    #[getter]
    fn recipe(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.0.recipe())
    }

    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.bytes())
    }

    #[getter]
    fn entries(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.entries())
    }

    fn add(&self, py: Python<'_>, rows: PyReadonlyArray2<'_, u8>, keys: PyReadonlyArray1<'_, i64>) -> PyResult<()> {
        let (rows, keys, threads) = (sketches(&rows)?, keys.as_slice()?, Threads::new(None)?);
        py.detach(|| guard(|| self.0.add(rows, keys, Some(threads.pool()))))?.map_err(failed)
    }

    fn remove(&self, py: Python<'_>, keys: PyReadonlyArray1<'_, i64>) -> PyResult<()> {
        let (keys, threads) = (keys.as_slice()?, Threads::new(None)?);
        py.detach(|| guard(|| self.0.remove(keys, Some(threads.pool()))))?.map_err(corrupt)
    }

    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Rows<'py>> {
        let (keys, rows) = py.detach(|| guard(|| self.0.rows()))?.map_err(corrupt)?;
        let count = keys.len();
        let rows = PyArray1::from_vec(py, rows.into_flattened()).reshape([count, SKETCH_BYTES])?;
        Ok((PyArray1::from_vec(py, keys), rows))
    }

    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| guard(|| self.0.verify()))?.map_err(corrupt)
    }
}

/// Returns the candidates of each row in all of the indexes.
#[pyfunction]
fn search_sketches<'py>(
    py: Python<'py>,
    indexes: Vec<PyRef<'py, PySketchIndex>>,
    rows: PyReadonlyArray2<'py, u8>,
    question: (f64, f64),
    most: Option<usize>,
    threads: Option<usize>,
) -> PyResult<Found<'py>> {
    let plan = plan(question.0, question.1)?;
    let indexes: Vec<&SketchIndex> = indexes.iter().map(|index| &index.0).collect();
    let (rows, most) = (sketches(&rows)?, most.unwrap_or(usize::MAX));
    let search = |stop: &AtomicBool| near::search(&indexes, rows, &plan, most, stop);
    // A few rows stay on this thread, which is faster.
    let found = if rows.len() <= FEW {
        py.detach(|| guard(|| search(&AtomicBool::new(false))))?
    } else {
        interruptible(py, threads, search)?
    };
    let Matched { queries, keys, same } = found.map_err(corrupt)?;
    Ok((PyArray1::from_vec(py, queries), PyArray1::from_vec(py, keys), PyArray1::from_vec(py, same)))
}

/// Returns the candidates of one sketch: keys, and how many registers agree.
#[pyfunction]
fn search_sketch(
    py: Python<'_>,
    indexes: Vec<PyRef<'_, PySketchIndex>>,
    sketch: &[u8],
    question: (f64, f64),
    most: Option<usize>,
) -> PyResult<Vec<(i64, u8)>> {
    let plan = plan(question.0, question.1)?;
    let indexes: Vec<&SketchIndex> = indexes.iter().map(|index| &index.0).collect();
    let Ok(sketch) = <&Sketch>::try_from(sketch) else {
        let bytes = sketch.len();
        return Err(PyValueError::new_err(format!("sketch has {bytes} bytes; it must have {SKETCH_BYTES}")));
    };
    let (queries, most) = (std::slice::from_ref(sketch), most.unwrap_or(usize::MAX));
    let search = || near::search(&indexes, queries, &plan, most, &AtomicBool::new(false));
    let found = py.detach(|| guard(search))?.map_err(corrupt)?;
    Ok(found.keys.into_iter().zip(found.same).collect())
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PySketchIndex>()?;
    module.add_function(wrap_pyfunction!(search_sketches, module)?)?;
    module.add_function(wrap_pyfunction!(search_sketch, module)?)
}
