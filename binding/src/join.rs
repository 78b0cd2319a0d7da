//! The self-join and clusters for Python.

use std::sync::Mutex;

use neardup_core::{Equal, Input, JoinPlan, JoinSettings, Linkage, Method, Next, Pair, PairStream, RadiusJoin};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::threads::{TICK, interruptible};
use crate::{guard, refuse};

type PairColumns<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u16>>);
type Values<'py> = PyReadonlyArray2<'py, u64>;
type Signal<'py> = Option<PyReadonlyArray1<'py, bool>>;
type PairTable<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u16>>, Bound<'py, PyDict>);

fn input<'a>(values: &'a Values<'_>, signal: &'a Signal<'_>) -> PyResult<Input<'a>> {
    let signal = signal.as_ref().map(|signal| signal.as_slice()).transpose()?;
    Ok(Input { values: values.as_slice()?, words: values.shape()[1], signal })
}

fn describe<'py>(py: Python<'py>, plan: &JoinPlan) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    let method = match plan.method {
        Method::Equal => "equal",
        Method::AllPairs => "all-pairs",
        Method::Blocks => "blocks",
        Method::Sampled => "sampled",
    };
    fields.set_item("method", method)?;
    fields.set_item("rows", plan.rows)?;
    fields.set_item("codes", plan.codes)?;
    fields.set_item("bits", plan.bits)?;
    fields.set_item("radius", plan.radius)?;
    fields.set_item("tables", plan.tables)?;
    fields.set_item("key_bits", plan.key_bits)?;
    fields.set_item("recall", plan.recall)?;
    fields.set_item("recall_at_radius", plan.recall_at_radius)?;
    fields.set_item("seconds", plan.seconds)?;
    Ok(fields)
}

fn columns<'py>(py: Python<'py>, pairs: &[Pair]) -> PairColumns<'py> {
    (
        PyArray1::from_iter(py, pairs.iter().map(|pair| i64::from(pair.left))),
        PyArray1::from_iter(py, pairs.iter().map(|pair| i64::from(pair.right))),
        PyArray1::from_iter(py, pairs.iter().map(|pair| pair.distance)),
    )
}

/// (radius, recall, the probability that a bit of a pair differs, if known).
#[derive(FromPyObject)]
struct Settings(u32, f64, Option<f64>);

impl From<Settings> for JoinSettings {
    fn from(Settings(radius, recall, flip): Settings) -> Self {
        JoinSettings { radius, recall, flip }
    }
}

/// Returns the plan of a join.
#[pyfunction]
fn join_plan<'py>(
    py: Python<'py>,
    values: Values<'py>,
    signal: Signal<'py>,
    settings: Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let input = input(&values, &signal)?;
    let plan = interruptible(py, None, |_| RadiusJoin::new(input, settings.into()).map(|join| join.plan().clone()))?;
    describe(py, &plan.map_err(refuse)?)
}

/// Returns all pairs, sorted, and the plan.
#[pyfunction]
fn pairs<'py>(
    py: Python<'py>,
    values: Values<'py>,
    signal: Signal<'py>,
    settings: Settings,
    equal: &str,
    threads: Option<usize>,
) -> PyResult<PairTable<'py>> {
    let equal: Equal = equal.parse().map_err(refuse)?;
    let input = input(&values, &signal)?;
    let found = interruptible(py, threads, |stop| {
        let join = RadiusJoin::new(input, settings.into())?;
        let plan = join.plan().clone();
        neardup_core::pairs(join, equal, stop).map(|pairs| (pairs, plan))
    })?;
    let (pairs, plan) = found.map_err(refuse)?;
    let (left, right, distance) = columns(py, &pairs);
    Ok((left, right, distance, describe(py, &plan)?))
}

/// Returns for each row the first row of its cluster.
#[pyfunction]
fn clusters<'py>(
    py: Python<'py>,
    values: Values<'py>,
    signal: Signal<'py>,
    settings: Settings,
    linkage: &str,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let linkage: Linkage = linkage.parse().map_err(refuse)?;
    let input = input(&values, &signal)?;
    let labels = interruptible(py, threads, |stop| {
        RadiusJoin::new(input, settings.into()).map(|join| neardup_core::clusters(join, linkage, stop))
    })?;
    let labels = labels.map_err(refuse)?;
    Ok(PyArray1::from_iter(py, labels.into_iter().map(i64::from)))
}

/// Pairs in batches.
#[pyclass(name = "PairStream", module = "neardup._core", frozen)]
struct PyPairStream {
    stream: Mutex<Option<PairStream>>,
    plan: JoinPlan,
}

#[pymethods]
impl PyPairStream {
    #[new]
    fn new(
        py: Python<'_>,
        values: Values<'_>,
        signal: Signal<'_>,
        settings: Settings,
        equal: &str,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let equal: Equal = equal.parse().map_err(refuse)?;
        let input = input(&values, &signal)?;
        let join = interruptible(py, threads, |_| RadiusJoin::new(input, settings.into()))?.map_err(refuse)?;
        let plan = join.plan().clone();
        let stream = PairStream::start(join, equal, threads).map_err(refuse)?;
        Ok(PyPairStream { stream: Mutex::new(Some(stream)), plan })
    }

    #[getter]
    fn plan<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        describe(py, &self.plan)
    }

    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<PairColumns<'py>>> {
        loop {
            let next = py.detach(|| {
                guard(|| {
                    // After a panic the stream is at its end.
                    let mut stream = self.stream.lock().unwrap_or_else(|broken| broken.into_inner());
                    stream.as_mut().map_or(Next::End, |stream| stream.next(TICK))
                })
            })?;
            match next {
                Next::Batch(pairs) => return Ok(Some(columns(py, &pairs))),
                Next::End => return Ok(None),
                Next::Waiting => py.check_signals()?,
                Next::Foreign => {
                    return Err(PyRuntimeError::new_err(
                        "this stream of pairs was started by another process, before a fork; start it in this one",
                    ));
                }
            }
        }
    }
}

impl Drop for PyPairStream {
    fn drop(&mut self) {
        let stream = self.stream.get_mut().unwrap_or_else(|broken| broken.into_inner()).take();
        // Stopping takes a moment; other Python threads may run meanwhile.
        Python::try_attach(|py| py.detach(|| drop(stream)));
    }
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPairStream>()?;
    module.add_function(wrap_pyfunction!(join_plan, module)?)?;
    module.add_function(wrap_pyfunction!(pairs, module)?)?;
    module.add_function(wrap_pyfunction!(clusters, module)?)
}
