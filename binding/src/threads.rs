//! The thread pools of the core.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::guard;

/// The interval of checks for Ctrl-C.
pub(crate) const TICK: Duration = Duration::from_millis(50);
/// Memory that must be free before work begins: for small buffers, whose allocations must not fail.
const ROOM: usize = 16 << 20;
/// More threads than this are a mistake.
const MOST: usize = 1024;

/// One pool a process: a forked child inherits the memory of a pool but none of its threads.
static SHARED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The threads of one call: those the user asked for, or one for each core.
pub(crate) struct Threads(Arc<ThreadPool>);

impl Threads {
    pub(crate) fn new(count: Option<usize>) -> PyResult<Threads> {
        guard(|| neardup_core::probe(ROOM))?;
        match count {
            None => shared().map(Threads),
            Some(count @ 1..=MOST) => Ok(Threads(Arc::new(build(count)?))),
            Some(count) => {
                Err(PyValueError::new_err(format!("threads is {count}; it must be from 1 to {MOST}, or None")))
            }
        }
    }

    /// Returns the pool, for work that takes locks before it enters the pool.
    pub(crate) fn pool(&self) -> &ThreadPool {
        &self.0
    }

    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> PyResult<T> {
        guard(|| self.0.install(work))
    }
}

fn shared() -> PyResult<Arc<ThreadPool>> {
    // Never blocks: a child forked while another thread held the lock would wait for ever.
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

/// Runs `work` on the threads, and stops it when Python has a signal to handle.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    watched(py, threads, || Ok(()), work)
}

/// Runs `work` as `interruptible` does, and calls `watch` at every check; an error of `watch` ends the work.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    watch: impl Fn() -> PyResult<()>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    let threads = Threads::new(threads)?;
    let (stop, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let caller = std::thread::current();
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let result = threads.run(|| work(&stop));
            done.store(true, Relaxed);
            caller.unpark();
            result
        });
        let mut interrupted = Ok(());
        while !done.load(Relaxed) {
            py.detach(|| std::thread::park_timeout(TICK));
            if interrupted.is_ok() {
                interrupted = py.check_signals().and_then(|()| watch());
                stop.fetch_or(interrupted.is_err(), Relaxed);
            }
        }
        let result = worker.join().map_err(|_| PyRuntimeError::new_err("a thread of neardup's ended early"))?;
        interrupted.and(result)
    })
}
