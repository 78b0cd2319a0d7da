//! Lines of JSON → columns for Arrow.

use neardup_core::jsonl::{self, Columns};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::texts::bytes_of;
use crate::threads::Threads;

/// Texts one after the other, and where each begins; the last number is where the last one ends.
type Column<'py> = (Bound<'py, PyBytes>, Bound<'py, PyArray1<i64>>);

/// What lines hold.
#[pyclass(name = "JsonLines", module = "neardup._core", frozen, get_all)]
struct JsonLines {
    texts: Py<PyAny>,
    ids: Py<PyAny>,
    spans: Py<PyAny>,
    lines: Py<PyAny>,
    refused: Vec<(i64, usize, usize)>,
    line_count: i64,
}

/// Reads whole lines on all cores.
#[pyfunction]
fn read_json_lines(
    py: Python<'_>,
    data: PyBuffer<u8>,
    columns: (Vec<String>, String, bool),
    name: &str,
    first: i64,
    threads: Option<usize>,
) -> PyResult<JsonLines> {
    let (texts, id, id_required) = columns;
    let columns = Columns { texts, id, id_required };
    let (bytes, threads) = (bytes_of(&data)?, Threads::new(threads)?);
    let records = py.detach(|| threads.run(|| jsonl::read(bytes, &columns, name, first)))?;
    let column = |data: &[u8], ends: &[i64]| -> Column<'_> {
        (PyBytes::new(py, data), PyArray1::from_iter(py, [0].into_iter().chain(ends.iter().copied())))
    };
    let count = records.spans.len();
    let spans: Bound<'_, PyArray2<i64>> = PyArray1::from_vec(py, records.spans.into_flattened()).reshape([count, 2])?;
    let any = |value: Bound<'_, PyAny>| value.unbind();
    Ok(JsonLines {
        texts: any(column(&records.texts, &records.text_ends).into_pyobject(py)?.into_any()),
        ids: any(column(&records.ids, &records.id_ends).into_pyobject(py)?.into_any()),
        spans: any(spans.into_any()),
        lines: any(PyArray1::from_vec(py, records.lines).into_any()),
        refused: records.refused.into_iter().map(|(line, span)| (line, span.start, span.end)).collect(),
        line_count: records.line_count,
    })
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<JsonLines>()?;
    module.add_function(wrap_pyfunction!(read_json_lines, module)?)
}
