//! Keys of rows, and the pairs among rows of one bucket, for engines that shuffle rows by key.

use neardup_core::near::{Blocks, Fallen, Place, Plan, REGISTERS, Registers};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::refuse;
use crate::threads::interruptible;

type Places<'py> =
    (PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, u8>, PyReadonlyArray1<'py, i64>);
type Numbers<'py> = Bound<'py, PyArray1<u32>>;

fn registers_of<'a>(rows: &'a PyReadonlyArray2<'_, u8>) -> PyResult<&'a [Registers]> {
    match rows.as_slice()?.as_chunks::<REGISTERS>() {
        (registers, []) if rows.shape()[1] == REGISTERS => Ok(registers),
        _ => Err(PyValueError::new_err(format!("registers are rows of {REGISTERS} bytes"))),
    }
}

fn places_of(places: &Places<'_>, rows: usize) -> PyResult<Vec<Place>> {
    let (keys, parts) = (places.0.as_slice()?, places.1.as_slice()?);
    let (sides, numbers) = (places.2.as_slice()?, places.3.as_slice()?);
    if [parts.len(), sides.len(), numbers.len(), rows].iter().any(|&length| length != keys.len()) {
        return Err(PyValueError::new_err(
            "keys, parts, sides, rows and values are of the same places: they must have one length",
        ));
    }
    if keys.len() >= u32::MAX as usize {
        return Err(PyValueError::new_err(format!("{} places; a call takes at most {}", keys.len(), u32::MAX - 1)));
    }
    let at = |at: usize| Place { key: keys[at], part: parts[at], side: sides[at], row: numbers[at] };
    Ok((0..keys.len()).map(at).collect())
}

fn pairs_of<'py>(py: Python<'py>, found: &Fallen) -> (Numbers<'py>, Numbers<'py>) {
    (
        PyArray1::from_iter(py, found.pairs.iter().map(|pair| pair.0)),
        PyArray1::from_iter(py, found.pairs.iter().map(|pair| pair.1)),
    )
}

/// Returns the keys of each row, one a table of the question's plan.
#[pyfunction]
fn sketch_keys<'py>(
    py: Python<'py>,
    registers: PyReadonlyArray2<'py, u8>,
    question: (f64, f64),
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let plan = Plan::new(question.0, question.1).map_err(refuse)?;
    let rows = registers_of(&registers)?;
    let width = plan.tables.len().max(1);
    let keys: Vec<u64> = interruptible(py, threads, |_| rows.par_iter().flat_map_iter(|row| plan.keys(row)).collect())?;
    PyArray1::from_vec(py, keys).reshape([rows.len(), width])
}

/// Returns the number of the first table that holds each pair of rows; where none does, one more than the last.
#[pyfunction]
fn first_tables<'py>(
    py: Python<'py>,
    registers: PyReadonlyArray2<'py, u8>,
    left: PyReadonlyArray1<'py, u32>,
    right: PyReadonlyArray1<'py, u32>,
    question: (f64, f64),
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let plan = Plan::new(question.0, question.1).map_err(refuse)?;
    let rows = registers_of(&registers)?;
    let pairs = crate::near::pairs_of(&left, &right)?;
    let row = |at: u32| {
        rows.get(at as usize)
            .ok_or_else(|| PyValueError::new_err(format!("row {at} of {} registers is out of range", rows.len())))
    };
    let first = |(left, right)| -> PyResult<u32> {
        Ok(plan.first_table(row(left)?, row(right)?).unwrap_or(plan.tables.len()) as u32)
    };
    Ok(PyArray1::from_vec(py, pairs.into_iter().map(first).collect::<PyResult<_>>()?))
}

/// Returns the candidates among the rows of buckets, and the places of dense buckets, whose pairs are not listed.
#[pyfunction]
fn fallen_sketches<'py>(
    py: Python<'py>,
    places: Places<'py>,
    registers: PyReadonlyArray2<'py, u8>,
    question: (f64, f64),
    threads: Option<usize>,
) -> PyResult<(Numbers<'py>, Numbers<'py>, Numbers<'py>)> {
    let plan = Plan::new(question.0, question.1).map_err(refuse)?;
    let rows = registers_of(&registers)?;
    let places = places_of(&places, rows.len())?;
    let found = interruptible(py, threads, |stop| plan.fallen(&places, rows, stop))?;
    let (later, earlier) = pairs_of(py, &found);
    Ok((later, earlier, PyArray1::from_vec(py, found.dense)))
}

/// Returns the keys of each fingerprint, one a block.
#[pyfunction]
fn code_keys<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, u64>,
    bits: usize,
    radius: u32,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (rows, words) = (values.shape()[0], values.shape()[1]);
    if words == 0 || bits > 64 * words {
        return Err(PyValueError::new_err(format!(
            "{bits} bits are not in {words} words; bits must be at most {}",
            64 * words
        )));
    }
    let blocks = Blocks::new(bits, radius);
    let keys: Vec<u64> = values.as_slice()?.chunks_exact(words).flat_map(|code| blocks.keys(code)).collect();
    PyArray1::from_vec(py, keys).reshape([rows, blocks.number()])
}

/// Returns the pairs within the radius among the fingerprints of buckets: later, earlier, distance.
#[pyfunction]
#[pyo3(signature = (places, values, bits, radius, threads, *, forest=false))]
fn fallen_codes<'py>(
    py: Python<'py>,
    places: Places<'py>,
    values: PyReadonlyArray2<'py, u64>,
    bits: usize,
    radius: u32,
    threads: Option<usize>,
    forest: bool,
) -> PyResult<(Numbers<'py>, Numbers<'py>, Bound<'py, PyArray1<u16>>)> {
    let (rows, words) = (values.shape()[0], values.shape()[1]);
    if words == 0 || bits > 64 * words {
        return Err(PyValueError::new_err(format!(
            "{bits} bits are not in {words} words; bits must be at most {}",
            64 * words
        )));
    }
    let places = places_of(&places, rows)?;
    let (codes, blocks) = (values.as_slice()?, Blocks::new(bits, radius));
    let found = interruptible(py, threads, |stop| blocks.fallen(&places, codes, words, forest, stop))?;
    let (later, earlier) = pairs_of(py, &found);
    Ok((later, earlier, PyArray1::from_vec(py, found.distances)))
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(sketch_keys, module)?)?;
    module.add_function(wrap_pyfunction!(first_tables, module)?)?;
    module.add_function(wrap_pyfunction!(fallen_sketches, module)?)?;
    module.add_function(wrap_pyfunction!(code_keys, module)?)?;
    module.add_function(wrap_pyfunction!(fallen_codes, module)?)
}
