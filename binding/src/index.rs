//! `Index` for Python: arrays in, arrays out, the GIL released while the core works.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use neardup_core::{Corrupt, FileError, Id, Ids, Index, IndexError, Matches, PlannedPart, PlannedTable};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;
use rayon::ThreadPool;

use crate::threads::{Threads, interruptible};
use crate::{guard, refuse};

create_exception!(
    neardup,
    CorruptIndexError,
    PyValueError,
    "A saved index is damaged, cut short, or not an index; the message names the file and what is wrong."
);

/// Up to this many rows are searched on the calling thread.
const FEW: usize = 64;

pub(crate) fn corrupt(error: Corrupt) -> PyErr {
    CorruptIndexError::new_err(error.to_string())
}

pub(crate) fn failed(error: IndexError) -> PyErr {
    match error {
        IndexError::Refused(error) => refuse(error),
        IndexError::Corrupt(error) => corrupt(error),
    }
}

pub(crate) fn file_failed(error: FileError, path: &Path) -> PyErr {
    match error {
        // With the error number Python chooses the class: FileNotFoundError, PermissionError and so on.
        FileError::Io(error) => match error.raw_os_error() {
            Some(number) => {
                let what = error.to_string();
                let what = what.split(" (os error").next().unwrap_or_default().to_owned();
                PyOSError::new_err((number, what, path.to_path_buf()))
            }
            None => PyOSError::new_err(format!("{}: {error}", path.display())),
        },
        FileError::Corrupt(error) => corrupt(error),
        FileError::Refused(error) => refuse(error),
    }
}

/// Ids from Python.
#[derive(FromPyObject)]
enum IdsArgument<'py> {
    Int(PyReadonlyArray1<'py, i64>),
    Str(Vec<String>),
}

impl IdsArgument<'_> {
    fn ids(self) -> PyResult<Ids> {
        Ok(match self {
            IdsArgument::Int(ids) => Ids::Int(ids.as_slice()?.to_vec()),
            IdsArgument::Str(ids) => Ids::Str(ids),
        })
    }
}

#[derive(FromPyObject)]
enum IdArgument {
    Int(i64),
    Str(String),
}

impl IdArgument {
    fn id(&self) -> Id<'_> {
        match self {
            IdArgument::Int(id) => Id::Int(*id),
            IdArgument::Str(id) => Id::Str(id),
        }
    }
}

fn to_python(py: Python<'_>, ids: Ids) -> PyResult<Bound<'_, PyAny>> {
    Ok(match ids {
        Ids::Int(ids) => PyArray1::from_vec(py, ids).into_any(),
        Ids::Str(ids) => PyList::new(py, ids)?.into_any(),
    })
}

type Rows<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyAny>, Bound<'py, PyArray1<u16>>);
type Table = ((u32, u32), Option<(u32, Option<u32>)>);
type Part = (usize, Option<Vec<Table>>, usize, f64, f64, f64);

fn rows(py: Python<'_>, matches: Matches) -> PyResult<Rows<'_>> {
    Ok((
        PyArray1::from_vec(py, matches.queries),
        to_python(py, matches.ids)?,
        PyArray1::from_vec(py, matches.distances),
    ))
}

/// Codes of one width under ids.
#[pyclass(name = "Index", module = "neardup._core", frozen)]
pub(crate) struct PyIndex(Index);

impl PyIndex {
    /// Runs a search on the requested threads; a few rows stay on the calling thread, which is faster.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        values: &PyReadonlyArray2<'_, u64>,
        threads: Option<usize>,
        work: impl FnOnce(&Index, &[u64], &AtomicBool) -> Result<T, IndexError> + Send,
    ) -> PyResult<T> {
        let codes = values.as_slice()?;
        if codes.len() <= FEW * self.0.words() {
            return py.detach(|| guard(|| work(&self.0, codes, &AtomicBool::new(false))))?.map_err(failed);
        }
        interruptible(py, threads, |stop| work(&self.0, codes, stop))?.map_err(failed)
    }

    /// Runs work that may move much of the index, on the shared threads.
    fn on_threads<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Index, Option<&ThreadPool>) -> T + Send,
    ) -> PyResult<T> {
        let threads = Threads::new(None)?;
        py.detach(|| guard(|| work(&self.0, Some(threads.pool()))))
    }

    fn settle(&self, py: Python<'_>) -> PyResult<()> {
        if py.detach(|| self.0.is_unsettled()) {
            self.on_threads(py, Index::settle)?.map_err(corrupt)?;
        }
        Ok(())
    }
}

#[pymethods]
impl PyIndex {
    #[new]
    #[pyo3(signature = (bits, recipe, levels=None))]
    fn new(bits: usize, recipe: Option<String>, levels: Option<u32>) -> PyResult<Self> {
        Index::new(bits, recipe, levels).map(PyIndex).map_err(refuse)
    }

    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| guard(|| Index::open(&path)))?.map(PyIndex).map_err(|error| file_failed(error, &path))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.on_threads(py, |index, pool| index.save(&path, pool))?.map_err(|error| file_failed(error, &path))
    }

    #[getter]
    fn bits(&self) -> usize {
        self.0.bits()
    }

    #[getter]
    fn levels(&self) -> Option<u32> {
        self.0.levels()
    }

    #[getter]
    fn recipe(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.0.recipe())
    }

    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.bytes())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.len())
    }

    /// Adds the rows of `values` under their ids; `numbers` and `rows` say which rows of how many these are.
    #[pyo3(signature = (values, ids, numbers, rows, recipe, threads))]
    #[allow(clippy::too_many_arguments)]
    fn add<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray2<'py, u64>,
        ids: Option<IdsArgument<'py>>,
        numbers: Option<PyReadonlyArray1<'py, u32>>,
        rows: usize,
        recipe: Option<String>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let ids = ids.map(IdsArgument::ids).transpose()?;
        let numbers = numbers.map(|numbers| numbers.as_slice().map(<[u32]>::to_vec)).transpose()?;
        let codes = values.as_slice()?;
        let add = |pool: Option<&ThreadPool>| self.0.add(codes, ids, numbers.as_deref(), recipe.as_deref(), rows, pool);
        let ids = if codes.len() <= FEW * self.0.words() {
            py.detach(|| guard(|| add(None)))?.map_err(failed)?
        } else {
            let threads = Threads::new(threads)?;
            py.detach(|| guard(|| add(Some(threads.pool()))))?.map_err(failed)?
        };
        self.settle(py)?;
        to_python(py, ids)
    }

    fn remove(&self, py: Python<'_>, ids: IdsArgument<'_>) -> PyResult<usize> {
        let ids = ids.ids()?;
        let removed = py.detach(|| guard(|| self.0.remove(&ids)))?.map_err(corrupt)?;
        self.settle(py)?;
        Ok(removed)
    }

    fn search<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray2<'py, u64>,
        reach: (usize, f64, Option<f64>),
        recipe: Option<String>,
        threads: Option<usize>,
    ) -> PyResult<Rows<'py>> {
        let search =
            |index: &Index, codes: &[u64], stop: &AtomicBool| index.search_some(codes, reach, recipe.as_deref(), stop);
        rows(py, self.run(py, &values, threads, search)?)
    }

    fn nearest<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray2<'py, u64>,
        count: usize,
        max_distance: usize,
        recipe: Option<String>,
        threads: Option<usize>,
    ) -> PyResult<Rows<'py>> {
        let nearest = |index: &Index, codes: &[u64], stop: &AtomicBool| {
            index.nearest(codes, count, max_distance, recipe.as_deref(), stop)
        };
        rows(py, self.run(py, &values, threads, nearest)?)
    }

    fn contains<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray2<'py, u64>,
        radius: usize,
        recipe: Option<String>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let contains =
            |index: &Index, codes: &[u64], stop: &AtomicBool| index.contains(codes, radius, recipe.as_deref(), stop);
        Ok(PyArray1::from_vec(py, self.run(py, &values, threads, contains)?))
    }

    fn get(&self, py: Python<'_>, id: IdArgument) -> PyResult<Option<Vec<u64>>> {
        py.detach(|| guard(|| self.0.get(id.id())))?.map_err(corrupt)
    }

    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, py.detach(|| guard(|| self.0.ids()))?.map_err(corrupt)?)
    }

    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| guard(|| self.0.clear()))
    }

    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        self.on_threads(py, Index::compact)?.map_err(corrupt)
    }

    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| guard(|| self.0.verify()))?.map_err(corrupt)
    }

    /// Returns for each part: entries, (key bits of both levels, bits probed) of each table or None for a scan, probes,
    /// candidates, candidates saved by the second level, nanoseconds.
    fn plan(&self, py: Python<'_>, radius: usize, recall: f64) -> PyResult<Vec<Part>> {
        let parts = py.detach(|| guard(|| self.0.plan(radius, recall)))?.map_err(refuse)?;
        let tables =
            |tables: Vec<PlannedTable>| tables.into_iter().map(|table| (table.key_bits, table.flips)).collect();
        let part = |part: PlannedPart| {
            (part.entries, part.tables.map(tables), part.probes, part.candidates, part.saved, part.cost)
        };
        Ok(parts.into_iter().map(part).collect())
    }
}
