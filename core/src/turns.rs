//! Work on all threads whose results come in order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard};

/// Results that may wait for those before them.
const AHEAD: usize = 256;

/// Jobs after which `take` is called in any case.
const BEAT: usize = 32;

/// Takes results; false ends the work.
pub(crate) type Take<'a, T> = dyn FnMut(Vec<T>) -> bool + Send + 'a;
/// One job: gets its number and what to put its results into, some at a time; that returns false once the work ended.
pub(crate) type Job<'a, T> = dyn Fn(usize, &mut dyn FnMut(Vec<T>) -> bool) + Sync + 'a;

struct Turn<'a, 't, T> {
    /// The job whose results are taken.
    next: usize,
    /// Results of later ones.
    ready: BTreeMap<usize, Vec<T>>,
    /// Later jobs that are done.
    done: BTreeSet<usize>,
    take: &'a mut Take<'t, T>,
    ended: bool,
}

struct Turns<'a, 't, T> {
    turn: Mutex<Turn<'a, 't, T>>,
    changed: Condvar,
}

/// Calls `work` with the numbers below `jobs`, on the threads of the current rayon pool, and `take` with its results in
/// the order of the jobs; also from time to time with none.
pub(crate) fn in_turn<T: Send>(jobs: usize, work: &Job<'_, T>, take: &mut Take<'_, T>) {
    let turn = Turn { next: 0, ready: BTreeMap::new(), done: BTreeSet::new(), take, ended: false };
    let turns = Turns { turn: Mutex::new(turn), changed: Condvar::new() };
    let begun = AtomicUsize::new(0);
    rayon::broadcast(|_| {
        // A job that panics would let the others wait for ever.
        let _ended = EndedByPanic(&turns);
        loop {
            let job = begun.fetch_add(1, Relaxed);
            if job >= jobs || turns.lock().ended {
                return;
            }
            work(job, &mut |found| turns.put(job, found));
            turns.finish(job);
        }
    });
}

impl<'a, 't, T> Turns<'a, 't, T> {
    fn lock(&self) -> MutexGuard<'_, Turn<'a, 't, T>> {
        self.turn.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Takes results of a job, now or in its turn; returns whether to go on.
    fn put(&self, job: usize, found: Vec<T>) -> bool {
        let mut turn = self.lock();
        if !found.is_empty() {
            if turn.next != job && turn.ready.len() < AHEAD && !turn.ready.contains_key(&job) {
                turn.ready.insert(job, found);
                return !turn.ended;
            }
            while turn.next != job && !turn.ended {
                turn = self.changed.wait(turn).unwrap_or_else(|broken| broken.into_inner());
            }
            let before = turn.ready.remove(&job);
            before.into_iter().chain([found]).for_each(|found| turn.pass(found));
        }
        !turn.ended
    }

    fn finish(&self, job: usize) {
        let mut turn = self.lock();
        turn.done.insert(job);
        while {
            let next = turn.next;
            turn.done.remove(&next)
        } {
            let next = turn.next;
            if let Some(found) = turn.ready.remove(&next) {
                turn.pass(found);
            } else if next.is_multiple_of(BEAT) {
                turn.pass(Vec::new());
            }
            turn.next += 1;
        }
        self.changed.notify_all();
    }
}

impl<T> Turn<'_, '_, T> {
    fn pass(&mut self, found: Vec<T>) {
        self.ended = self.ended || !(self.take)(found);
    }
}

struct EndedByPanic<'a, 'b, 't, T>(&'a Turns<'b, 't, T>);

impl<T> Drop for EndedByPanic<'_, '_, '_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().ended = true;
            self.0.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let wanted: Vec<usize> = (0..1000).flat_map(|job| vec![job; job % 4]).collect();
            for most in [usize::MAX, 500] {
                let mut found = Vec::new();
                let work = |job: usize, put: &mut dyn FnMut(Vec<usize>) -> bool| {
                    // Early ones take longer than later ones, and some put their results in two parts.
                    std::thread::sleep(std::time::Duration::from_micros(50 * (7 - job as u64 % 8)));
                    put(vec![job; job % 4 / 2]);
                    put(vec![job; job % 4 - job % 4 / 2]);
                };
                let mut take = |some: Vec<usize>| {
                    found.extend(some);
                    found.len() < most
                };
                pool.install(|| in_turn(1000, &work, &mut take));
                assert!(found.len() >= most.min(wanted.len()));
                assert_eq!(found, wanted[..found.len()]);
            }
        }
    }

    #[test]
    fn a_job_that_panics_ends_the_others() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let work = |job: usize, put: &mut dyn FnMut(Vec<usize>) -> bool| {
            if job == 5 {
                std::thread::sleep(std::time::Duration::from_millis(20));
                std::panic::resume_unwind(Box::new("broken"));
            }
            (0..3).for_each(|_| _ = put(vec![job]));
        };
        let run = || pool.install(|| in_turn(10_000, &work, &mut |_| true));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    }
}
