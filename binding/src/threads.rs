//! The threads the core runs on.

use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::guard;

/// More threads than this is a mistake, not a machine.
const MOST: usize = 1024;

/// One pool a process: a forked child inherits the memory of a pool but none of its threads.
static SHARED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The threads of one call: those the user asked for, or one for each core.
pub(crate) struct Threads(Arc<ThreadPool>);

impl Threads {
    pub(crate) fn new(count: Option<usize>) -> PyResult<Threads> {
        match count {
            None => shared().map(Threads),
            Some(count @ 1..=MOST) => Ok(Threads(Arc::new(build(count)?))),
            Some(count) => {
                Err(PyValueError::new_err(format!("threads is {count}; it must be from 1 to {MOST}, or None")))
            }
        }
    }

    /// The pool itself, for work that takes locks before it goes there.
    pub(crate) fn pool(&self) -> &ThreadPool {
        &self.0
    }

    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> PyResult<T> {
        guard(|| self.0.install(work))
    }
}

fn shared() -> PyResult<Arc<ThreadPool>> {
    // Never waits: a child forked while another thread held the lock would wait for ever.
    let Ok(mut shared) = SHARED.try_lock() else { return Ok(Arc::new(build(0)?)) };
    let process = std::process::id();
    match shared.as_ref() {
        Some((owner, threads)) if *owner == process => Ok(Arc::clone(threads)),
        _ => {
            let threads = Arc::new(build(0)?);
            // Dropping the parent's pool would wait for threads that do not exist here.
            std::mem::forget(shared.replace((process, Arc::clone(&threads))));
            Ok(threads)
        }
    }
}

fn build(count: usize) -> PyResult<ThreadPool> {
    ThreadPoolBuilder::new()
        .num_threads(count)
        .thread_name(|at| format!("neardup-{at}"))
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))
}
