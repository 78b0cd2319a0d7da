//! Texts by row, in memory or in files.

use std::borrow::Cow;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;

use neardup_core::jsonl::{self, FieldNames};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::texts::bytes_of;

/// Texts by row.
#[pyclass(name = "Texts", module = "neardup._core", frozen)]
pub(crate) struct PyTexts(Kind);

enum Kind {
    /// Concatenated in a buffer, with the end of each.
    Memory { data: PyBuffer<u8>, ends: Py<PyArray1<i64>> },
    /// In files: for each row the number of the file, start and end.
    Files { files: Vec<Stored>, columns: FieldNames, places: Py<PyArray2<i64>> },
}

struct Stored {
    path: String,
    file: File,
    /// Whether a place is a line of JSON that holds the text; otherwise it is the text itself.
    lines: bool,
}

#[pymethods]
impl PyTexts {
    #[staticmethod]
    fn in_memory(data: PyBuffer<u8>, ends: Py<PyArray1<i64>>) -> PyResult<Self> {
        bytes_of(&data)?;
        Ok(PyTexts(Kind::Memory { data, ends }))
    }

    #[staticmethod]
    fn in_files(files: Vec<(String, bool)>, columns: Vec<String>, places: Py<PyArray2<i64>>) -> PyResult<Self> {
        let open = |(path, lines): (String, bool)| {
            let file = File::open(&path).map_err(|error| PyOSError::new_err(format!("{path}: {error}")))?;
            Ok(Stored { path, file, lines })
        };
        let files = files.into_iter().map(open).collect::<PyResult<_>>()?;
        // No id is read, only texts.
        let columns = FieldNames { texts: columns, id: String::new(), id_required: false };
        Ok(PyTexts(Kind::Files { files, columns, places }))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        match &self.0 {
            Kind::Memory { ends, .. } => ends.bind(py).len(),
            Kind::Files { places, .. } => places.bind(py).shape()[0],
        }
    }

    fn get(&self, py: Python<'_>, row: usize) -> PyResult<String> {
        let places = self.places(py)?;
        let texts = self.reader(&places)?;
        texts.find(row).map(Cow::into_owned).map_err(PyValueError::new_err)
    }
}

/// The places of texts, held while they are read.
pub(crate) enum Places<'py> {
    Ends(PyReadonlyArray1<'py, i64>),
    Spans(PyReadonlyArray2<'py, i64>),
}

impl PyTexts {
    pub(crate) fn places<'py>(&self, py: Python<'py>) -> PyResult<Places<'py>> {
        Ok(match &self.0 {
            Kind::Memory { ends, .. } => Places::Ends(ends.bind(py).try_readonly()?),
            Kind::Files { places, .. } => Places::Spans(places.bind(py).try_readonly()?),
        })
    }

    pub(crate) fn reader<'a>(&'a self, places: &'a Places<'_>) -> PyResult<Reader<'a>> {
        let source = match (&self.0, places) {
            (Kind::Memory { data, .. }, Places::Ends(ends)) => {
                Source::Memory { data: bytes_of(data)?, ends: ends.as_slice()? }
            }
            (Kind::Files { files, columns, .. }, Places::Spans(places)) if places.shape()[1] == 3 => {
                Source::Files { files, columns, places: places.as_slice()? }
            }
            _ => return Err(PyValueError::new_err("places must have three numbers a row: file, start, end")),
        };
        Ok(Reader { source, failed: Mutex::new(None) })
    }
}

enum Source<'a> {
    Memory { data: &'a [u8], ends: &'a [i64] },
    Files { files: &'a [Stored], columns: &'a FieldNames, places: &'a [i64] },
}

/// Reads texts, without Python, from many threads.
pub(crate) struct Reader<'a> {
    source: Source<'a>,
    failed: Mutex<Option<String>>,
}

impl<'a> Reader<'a> {
    /// Returns the text of a row; an empty one if it cannot be read, and `finish` raises the reason.
    pub(crate) fn get(&self, row: usize) -> Cow<'a, str> {
        self.find(row).unwrap_or_else(|problem| {
            self.failed.lock().unwrap_or_else(|broken| broken.into_inner()).get_or_insert(problem);
            Cow::Borrowed("")
        })
    }

    /// Raises if a text could not be read.
    pub(crate) fn finish(self) -> PyResult<()> {
        let failed = self.failed.into_inner().unwrap_or_else(|broken| broken.into_inner());
        failed.map_or(Ok(()), |problem| Err(PyValueError::new_err(problem)))
    }

    fn find(&self, row: usize) -> Result<Cow<'a, str>, String> {
        let nowhere = || format!("row {row} is out of range; there is no such text");
        match self.source {
            Source::Memory { data, ends } => {
                let place = |row: usize| ends.get(row).and_then(|&end| usize::try_from(end).ok());
                let start = if row == 0 { Some(0) } else { place(row - 1) };
                let bytes = start.zip(place(row)).and_then(|(start, end)| data.get(start..end)).ok_or_else(nowhere)?;
                std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| format!("row {row}: {error}"))
            }
            Source::Files { files, columns, places } => {
                let place = places.get(row * 3..row * 3 + 3).ok_or_else(nowhere)?;
                let stored = usize::try_from(place[0]).ok().and_then(|at| files.get(at)).ok_or_else(nowhere)?;
                let size = usize::try_from(place[2] - place[1]).map_err(|_| nowhere())?;
                let changed = |problem: String| {
                    format!("{}: {problem}; the file was changed while it was read: run again", stored.path)
                };
                let mut bytes = vec![0; size];
                stored.file.read_exact_at(&mut bytes, place[1] as u64).map_err(|error| changed(error.to_string()))?;
                let text = if stored.lines {
                    jsonl::text_of(&bytes, columns).ok_or_else(|| "the line has another content than before".to_owned())
                } else {
                    String::from_utf8(bytes).map_err(|error| error.to_string())
                };
                text.map(Cow::Owned).map_err(changed)
            }
        }
    }
}
