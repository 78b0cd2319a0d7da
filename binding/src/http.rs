//! HTTP responses → views.

use neardup_core::http::{MASKS, Response, VIEWS, View, Views};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyString, PyTuple};

use crate::threads::interruptible;
use crate::{guard, refuse};

type Made<'py> = (Bound<'py, PyBytes>, Bound<'py, PyArray1<i64>>, Vec<String>);
type Previewed = (String, String, Vec<(&'static str, String, String)>);

/// A Python string whose lone surrogates become U+FFFD: headers and URLs of captures may hold them.
struct Text(String);

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    fn extract(text: Borrowed<'_, 'py, PyAny>) -> PyResult<Text> {
        Ok(Text(text.cast::<PyString>()?.to_string_lossy().into_owned()))
    }
}

/// (url, status, headers, body, within, final url, title, length of an absent body).
#[derive(FromPyObject)]
struct Given(Text, i64, Vec<(Text, Text)>, PyBackedBytes, Option<Text>, Text, Text, Option<u64>);

impl Given {
    fn headers(&self) -> Vec<(&str, &str)> {
        self.2.iter().map(|(name, value)| (name.0.as_str(), value.0.as_str())).collect()
    }

    fn response<'a>(&'a self, headers: &'a [(&'a str, &'a str)]) -> Response<'a> {
        let within = self.4.as_ref().map(|within| within.0.as_str());
        Response {
            url: &self.0.0,
            status: self.1,
            headers,
            body: &self.3,
            within,
            final_url: &self.5.0,
            title: &self.6.0,
            absent: self.7,
        }
    }
}

/// The views to make, and the masks to apply.
#[pyclass(name = "Views", module = "neardup._core", frozen)]
pub(crate) struct PyViews(Views);

#[pymethods]
impl PyViews {
    #[new]
    fn new(py: Python<'_>, views: Vec<String>, masks: Vec<String>) -> PyResult<PyViews> {
        let views: Vec<&str> = views.iter().map(String::as_str).collect();
        let masks: Vec<&str> = masks.iter().map(String::as_str).collect();
        py.detach(|| guard(|| Views::new(&views, &masks)))?.map(PyViews).map_err(refuse)
    }

    /// Returns the texts one after the other, where each ends, and the titles.
    fn make<'py>(&self, py: Python<'py>, responses: Vec<Given>, threads: Option<usize>) -> PyResult<Made<'py>> {
        let headers: Vec<Vec<(&str, &str)>> = responses.iter().map(Given::headers).collect();
        let given: Vec<Response<'_>> =
            responses.iter().zip(&headers).map(|(response, headers)| response.response(headers)).collect();
        // None means interrupted, and then `interruptible` raises before this value is used.
        let views: Vec<View> = interruptible(py, threads, |stop| self.0.make(&given, stop))?.unwrap_or_default();
        let mut data = String::with_capacity(views.iter().map(|view| view.text.len()).sum());
        let mut ends = Vec::with_capacity(views.len());
        let mut titles = Vec::with_capacity(views.len());
        for view in views {
            data.push_str(&view.text);
            ends.push(data.len() as i64);
            titles.push(view.title);
        }
        Ok((PyBytes::new(py, data.as_bytes()), PyArray1::from_vec(py, ends), titles))
    }

    /// Returns the view of one response, its title, and (rule, original, line) of each masked part.
    fn masked(&self, py: Python<'_>, response: Given) -> PyResult<Previewed> {
        let headers = response.headers();
        let given = response.response(&headers);
        let (view, masked) = py.detach(|| guard(|| self.0.masked(&given)))?;
        let masked = masked.into_iter().map(|part| (part.rule, part.original, part.line)).collect();
        Ok((view.text, view.title, masked))
    }
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("MASKS", PyTuple::new(module.py(), MASKS)?)?;
    module.add("VIEWS", PyTuple::new(module.py(), VIEWS)?)?;
    module.add_class::<PyViews>()
}
