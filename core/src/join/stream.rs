//! A stream of pairs in batches, while the join runs.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use super::pairs::{Equal, Pair};
use super::{Found, Groups, RadiusJoin, Sink};
use crate::Error;

/// Pairs of one batch.
const BATCH: usize = 1 << 16;
/// Capacity of the queue of batches; when it is full, the join waits.
const WAITING: usize = 4;

/// The next item of a stream.
pub enum Next {
    /// A batch of pairs, never empty.
    Batch(Vec<Pair>),
    /// Nothing yet.
    Waiting,
    /// There are no more pairs.
    End,
    /// This process was forked; the threads of the join are in the parent.
    Foreign,
}

/// A join on threads of its own, so that a reader may use the shared threads meanwhile. Dropping it stops the join.
pub struct PairStream {
    batches: Option<Receiver<Vec<Pair>>>,
    stop: Arc<AtomicBool>,
    worker: Option<JoinHandle<()>>,
    /// The process that started it.
    process: u32,
}

struct Batches<'a> {
    groups: &'a Groups,
    equal: Equal,
    pending: Mutex<Vec<Pair>>,
    sender: SyncSender<Vec<Pair>>,
    stop: &'a AtomicBool,
}

impl Batches<'_> {
    /// Adds a pair to the batch `local`; returns false if the reader is gone.
    fn add(&self, pair: Pair, local: &mut Vec<Pair>) -> bool {
        local.push(pair);
        local.len() < BATCH || self.send(std::mem::take(local))
    }

    fn send(&self, batch: Vec<Pair>) -> bool {
        let read = self.sender.send(batch).is_ok();
        if !read {
            self.stop.store(true, Relaxed);
        }
        read && !self.stop.load(Relaxed)
    }

    /// Merges the rest of a batch with that of other threads.
    fn put(&self, mut local: Vec<Pair>) {
        let mut pending = self.pending.lock().unwrap_or_else(|broken| broken.into_inner());
        pending.append(&mut local);
        if pending.len() >= BATCH {
            let batch = std::mem::take(&mut *pending);
            drop(pending);
            self.send(batch);
        }
    }
}

impl Sink for Batches<'_> {
    fn take(&self, found: &[Found]) {
        let mut local = Vec::new();
        for found in found {
            if self.stop.load(Relaxed) {
                return;
            }
            self.equal.between(self.groups, found, |pair| self.add(pair, &mut local));
        }
        self.put(local);
    }
}

impl PairStream {
    /// Starts the join on this many threads, or one for each core.
    pub fn start(mut join: RadiusJoin, equal: Equal, threads: Option<usize>) -> Result<Self, Error> {
        let (sender, batches) = sync_channel(WAITING);
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let failed = |error: &dyn std::fmt::Display| Error::new(format!("cannot start threads: {error}"));
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.unwrap_or(0))
            .thread_name(|at| format!("neardup-join-{at}"))
            .build()
            .map_err(|error| failed(&error))?;
        let work = move || {
            let RadiusJoin { groups, codes, .. } = &mut join;
            let groups = &*groups;
            let sink = Batches { groups, equal, pending: Mutex::default(), sender, stop: &told };
            let mut local = Vec::new();
            for group in groups.repeated() {
                if told.load(Relaxed) {
                    return;
                }
                equal.within(groups.of(group), |pair| sink.add(pair, &mut local));
            }
            sink.put(local);
            pool.install(|| codes.run(&sink, &told));
            let rest = sink.pending.into_inner().unwrap_or_else(|broken| broken.into_inner());
            if !rest.is_empty() {
                // If the reader is gone, there is nothing left to do.
                let _ = sink.sender.send(rest);
            }
        };
        let worker =
            std::thread::Builder::new().name("neardup-join".into()).spawn(work).map_err(|error| failed(&error))?;
        Ok(PairStream { batches: Some(batches), stop, worker: Some(worker), process: std::process::id() })
    }

    /// Returns the next batch; waits for it at most `wait`. Panics if the join did.
    pub fn next(&mut self, wait: Duration) -> Next {
        let Some(batches) = &self.batches else { return Next::End };
        if self.process != std::process::id() {
            return Next::Foreign;
        }
        match batches.recv_timeout(wait) {
            Ok(batch) => Next::Batch(batch),
            Err(RecvTimeoutError::Timeout) => Next::Waiting,
            Err(RecvTimeoutError::Disconnected) => {
                self.batches = None;
                if let Some(Err(panic)) = self.worker.take().map(JoinHandle::join) {
                    std::panic::resume_unwind(panic);
                }
                Next::End
            }
        }
    }
}

impl Drop for PairStream {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // The threads are in the parent process; their resources must not be touched.
            std::mem::forget((self.batches.take(), self.worker.take()));
            return;
        }
        self.stop.store(true, Relaxed);
        self.batches = None;
        if let Some(worker) = self.worker.take() {
            // It stops at the next bucket; its panic, if any, is of no use to anyone now.
            let _ = worker.join();
        }
    }
}
