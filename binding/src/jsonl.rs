//! Lines of JSON → columns for Arrow.

use neardup_core::jsonl::{self, FieldNames, Making};
use neardup_core::near::SKETCH_BYTES;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::texts::bytes_of;
use crate::threads::Threads;

/// The records of some lines.
#[pyclass(name = "JsonLines", module = "neardup._core", frozen, get_all)]
pub(crate) struct JsonLines {
    /// None if fingerprints or sketches were made instead.
    texts: Option<Py<PyAny>>,
    lengths: Py<PyAny>,
    /// Signal, values and sketches, if they were made; one that was not requested is empty.
    made: Option<Py<PyAny>>,
    ids: Py<PyAny>,
    spans: Py<PyAny>,
    lines: Py<PyAny>,
    refused: Vec<(i64, usize, usize)>,
    line_count: i64,
}

/// (fields of the text, field of the id, whether the id is required).
#[derive(FromPyObject)]
pub(crate) struct Wanted(Vec<String>, String, bool);

/// Reads whole lines on all cores; with `making`, texts are not returned.
pub(crate) fn read(
    py: Python<'_>,
    data: &PyBuffer<u8>,
    Wanted(texts, id, id_required): Wanted,
    (name, first): (&str, i64),
    threads: Option<usize>,
    making: Option<Making<'_>>,
) -> PyResult<JsonLines> {
    let columns = FieldNames { texts, id, id_required };
    let (bytes, threads) = (bytes_of(data)?, Threads::new(threads)?);
    let records = py.detach(|| threads.run(|| jsonl::read(bytes, &columns, name, first, making)))?;
    let column = |data: &[u8], ends: &[i64]| -> PyResult<Py<PyAny>> {
        let bounds = PyArray1::from_iter(py, [0].into_iter().chain(ends.iter().copied()));
        Ok((PyBytes::new(py, data), bounds).into_pyobject(py)?.into_any().unbind())
    };
    let count = records.spans.len();
    let spans: Bound<'_, PyArray2<i64>> = PyArray1::from_vec(py, records.spans.into_flattened()).reshape([count, 2])?;
    let starts = [0].into_iter().chain(records.text_ends.iter().copied());
    let lengths = PyArray1::from_iter(py, records.text_ends.iter().zip(starts).map(|(end, start)| end - start));
    let made = match making {
        None => None,
        Some(making) => {
            let words = if making.values { making.pipeline.words() } else { 0 };
            let values = PyArray1::from_vec(py, records.values).reshape([count, words])?;
            let sketched = records.sketches.len();
            let sketches =
                PyArray1::from_vec(py, records.sketches.into_flattened()).reshape([sketched, SKETCH_BYTES])?;
            let made = (PyArray1::from_vec(py, records.signal), values, sketches);
            Some(made.into_pyobject(py)?.into_any().unbind())
        }
    };
    Ok(JsonLines {
        texts: if making.is_none() { Some(column(&records.texts, &records.text_ends)?) } else { None },
        lengths: lengths.into_any().unbind(),
        made,
        ids: column(&records.ids, &records.id_ends)?,
        spans: spans.into_any().unbind(),
        lines: PyArray1::from_vec(py, records.lines).into_any().unbind(),
        refused: records.refused.into_iter().map(|(line, span)| (line, span.start, span.end)).collect(),
        line_count: records.line_count,
    })
}

/// Reads whole lines on all cores.
#[pyfunction]
fn read_json_lines(
    py: Python<'_>,
    data: PyBuffer<u8>,
    columns: Wanted,
    name: &str,
    first: i64,
    threads: Option<usize>,
) -> PyResult<JsonLines> {
    read(py, &data, columns, (name, first), threads, None)
}

/// Returns how many line ends there are.
#[pyfunction]
fn count_lines(py: Python<'_>, data: PyBuffer<u8>) -> PyResult<usize> {
    let bytes = bytes_of(&data)?;
    Ok(py.detach(|| jsonl::count_lines(bytes)))
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<JsonLines>()?;
    module.add_function(wrap_pyfunction!(count_lines, module)?)?;
    module.add_function(wrap_pyfunction!(read_json_lines, module)?)
}
