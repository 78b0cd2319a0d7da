//! The threads the core runs on.

use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::guard;

/// More threads than this is a mistake, not a machine.
const MOST: usize = 1024;

/// One pool a process: a forked child inherits the memory of a pool but none of its threads.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Runs `work` on `threads` threads, or on one for each core.
pub(crate) fn run<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    match threads {
        None => guard(|| shared().map(|pool| pool.install(work)))?,
        Some(count @ 1..=MOST) => guard(|| build(count).map(|pool| pool.install(work)))?,
        Some(count) => Err(PyValueError::new_err(format!("threads is {count}; it must be from 1 to {MOST}, or None"))),
    }
}

fn shared() -> PyResult<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let process = std::process::id();
    match pool.as_ref() {
        Some((owner, threads)) if *owner == process => Ok(Arc::clone(threads)),
        _ => {
            let threads = Arc::new(build(0)?);
            // Dropping the parent's pool would wait for threads that do not exist here.
            std::mem::forget(pool.replace((process, Arc::clone(&threads))));
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
