//! Templates among clusters, for Python.

use neardup_core::templates::{Form, find, fit, values};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::near::pairs_of;
use crate::stored::PyTexts;
use crate::texts;
use crate::threads::interruptible;

/// The form of a template.
#[pyclass(name = "Form", module = "neardup._core", frozen, eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
struct PyForm(Form);

#[pymethods]
impl PyForm {
    fn __len__(&self) -> usize {
        self.0.field_count()
    }

    fn cut(&self, text: &Bound<'_, PyString>) -> PyResult<(Vec<String>, Vec<String>)> {
        let text = texts::Text::new(text, "text", None)?;
        let (parts, values) = self.0.cut(text.as_str());
        let owned = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect();
        Ok((owned(parts), owned(values)))
    }
}

/// Returns the rows of each cluster; `ends` has the end of each.
fn clusters_of<'a>(rows: &'a [u32], ends: &[u32]) -> PyResult<Vec<&'a [u32]>> {
    let mut start = 0;
    let next = |&end: &u32| {
        let part = rows.get(start..end as usize).filter(|part| !part.is_empty());
        start = end as usize;
        part.ok_or_else(|| PyValueError::new_err("ends must grow up to the number of rows"))
    };
    ends.iter().map(next).collect()
}

fn forms_of(forms: &[Bound<'_, PyForm>]) -> Vec<Form> {
    forms.iter().map(|form| form.get().0.clone()).collect()
}

#[pyfunction]
fn find_forms(
    py: Python<'_>,
    texts: &Bound<'_, PyTexts>,
    rows: PyReadonlyArray1<'_, u32>,
    ends: PyReadonlyArray1<'_, u32>,
    threads: Option<usize>,
) -> PyResult<Vec<Option<PyForm>>> {
    let clusters = clusters_of(rows.as_slice()?, ends.as_slice()?)?;
    let places = texts.get().places(py)?;
    let reader = texts.get().reader(&places)?;
    let found = interruptible(py, threads, |stop| find(&clusters, &|row| reader.get(row), stop))?;
    reader.finish()?;
    Ok(found.into_iter().map(|form| form.map(PyForm)).collect())
}

#[pyfunction]
fn fit_forms(
    py: Python<'_>,
    forms: Vec<Bound<'_, PyForm>>,
    texts: &Bound<'_, PyTexts>,
    rows: PyReadonlyArray1<'_, u32>,
    ends: PyReadonlyArray1<'_, u32>,
    threads: Option<usize>,
) -> PyResult<Vec<Option<u32>>> {
    let forms = forms_of(&forms);
    let clusters = clusters_of(rows.as_slice()?, ends.as_slice()?)?;
    let places = texts.get().places(py)?;
    let reader = texts.get().reader(&places)?;
    let found = interruptible(py, threads, |stop| fit(&forms, &clusters, &|row| reader.get(row), stop))?;
    reader.finish()?;
    Ok(found)
}

#[pyfunction]
fn field_values<'py>(
    py: Python<'py>,
    forms: Vec<Bound<'py, PyForm>>,
    texts: &Bound<'py, PyTexts>,
    rows: PyReadonlyArray1<'py, u32>,
    form: PyReadonlyArray1<'py, u32>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let forms = forms_of(&forms);
    let rows = pairs_of(&rows, &form)?;
    if rows.iter().any(|&(_, form)| form as usize >= forms.len()) {
        return Err(PyValueError::new_err(format!("a row has a form beyond the {} forms", forms.len())));
    }
    let places = texts.get().places(py)?;
    let reader = texts.get().reader(&places)?;
    let found = interruptible(py, threads, |stop| values(&forms, &rows, &|row| reader.get(row), stop))?;
    reader.finish()?;
    Ok(PyArray1::from_vec(py, found))
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyForm>()?;
    module.add_function(wrap_pyfunction!(find_forms, module)?)?;
    module.add_function(wrap_pyfunction!(fit_forms, module)?)?;
    module.add_function(wrap_pyfunction!(field_values, module)?)
}
