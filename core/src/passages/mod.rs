//! Two texts → the passages they share, and how much of each they cover.
//!
//! 1. `units`: words, or graphemes where a script has no spaces.
//! 2. `runs`: the longest stretches of equal units, for both texts, wherever they stand: moved ones too.
//! 3. `bridge`: runs with a few differing units between them become one passage.
//!
//! Runs of at least half the minimum are taken in order of the uncovered units they cover; each is bridged with its
//! neighbours, and becomes a passage if it has enough equal units. So every unit of either text in a run of the minimum
//! length is in a passage, and repeated passages are covered as often as they occur.
//!
//! Time O(n log n) and memory O(n) in the units of both texts, on any input: the automaton is linear, there are at most
//! as many runs as units, and bridging has a budget of steps proportional to them. The answer is `coarse` if the
//! deadline, the steps or the memory did not suffice.

mod bridge;
mod coarse;
mod covered;
mod plain;
mod runs;
#[cfg(test)]
mod tests;
mod units;
mod windows;
mod winnow;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use bridge::{Bridges, Side};
use covered::Covered;
use runs::{Hashes, NONE, Run, is_shared, longest_runs, numbered, within};
pub use units::{Unit, units};
use windows::{Measure, Window, windows};
pub use winnow::{every_run, winnowed};

/// What counts as a passage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passages {
    /// Equal words that make a passage.
    pub min_words: usize,
    /// Equal characters that make a passage, in scripts without spaces.
    pub min_chars: usize,
    /// Differing words, on either side, that do not end a passage; twice as many characters.
    pub bridge: usize,
    /// Seconds after which the answer may be coarse.
    pub seconds: Option<f64>,
}

/// A passage both texts have, as byte ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Start and end in the first text.
    pub left: (usize, usize),
    /// Start and end in the second text.
    pub right: (usize, usize),
    /// How many units are equal.
    pub words: usize,
    /// Stretches of equal units, in order: places in the first text and in the second. One if nothing differs.
    pub equal: Vec<[(usize, usize); 2]>,
}

/// How much of a text is shared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cover {
    /// All units.
    pub units: usize,
    /// Those that are equal in a passage.
    pub covered: usize,
    /// The share of its different n-grams that the other text has as well. An n-gram weighs half a passage: three
    /// words, or seven characters, at the usual minimum. A shorter text is one n-gram.
    pub containment: f64,
}

/// What two texts share.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// In the order of the first text, then of the second.
    pub passages: Vec<Passage>,
    /// How much of the first text.
    pub left: Cover,
    /// How much of the second text.
    pub right: Cover,
    /// Whether a passage may be missing or too short because time was up.
    pub coarse: bool,
}

/// Steps of bridging for each unit, and as many in any case.
const STEPS: u64 = 100;
const MORE_STEPS: u64 = 1 << 20;
/// Above this number of units in shared windows the automata would take gigabytes.
const MOST_UNITS: usize = 6_000_000;
/// From this number of units a second thread pays.
const TWO_THREADS: usize = 1 << 16;

/// When to stop.
pub(crate) struct Clock<'a> {
    end: Option<Instant>,
    stop: Option<&'a AtomicBool>,
}

impl<'a> Clock<'a> {
    fn after(start: Instant, seconds: Option<f64>, stop: Option<&'a AtomicBool>) -> Clock<'a> {
        // More seconds than a Duration holds mean no limit.
        let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).ok());
        Clock { end: time.and_then(|time| start.checked_add(time)), stop }
    }

    #[cfg(test)]
    fn endless() -> Clock<'a> {
        Clock { end: None, stop: None }
    }

    /// Returns whether time is up; reads the clock only at some steps.
    fn is_over(&self, step: usize) -> bool {
        step & 0x3FFF == 0x3FFF && self.is_over_now()
    }

    fn is_over_now(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end) || self.stop.is_some_and(|stop| stop.load(Relaxed))
    }
}

/// A text cut into units.
struct Cut {
    units: Vec<Unit>,
    /// Which units are characters. Small, for bridges look at it everywhere.
    characters: Vec<bool>,
    weights: Vec<u64>,
}

impl Cut {
    fn new(text: &str, measure: Measure) -> Cut {
        let units = units(text);
        let characters = units.iter().map(Unit::is_character).collect();
        Cut { weights: measure.weights(&units), characters, units }
    }

    fn keys(&self) -> Vec<u64> {
        self.units.iter().map(|unit| unit.key).collect()
    }

    /// Returns the n-grams: windows of half a passage, or all of a shorter text.
    fn grams(&self, measure: Measure) -> Vec<Window> {
        let all = self.weights.last().copied().unwrap_or(0);
        windows(&self.units, &self.weights, measure.seed().min(all).max(1))
    }
}

impl Passages {
    /// Returns the passages two texts share; the order of the texts does not matter. `stop` ends it early.
    pub fn shared(&self, left: &str, right: &str, stop: Option<&AtomicBool>) -> Shared {
        let start = Instant::now();
        let measure = Measure::new(self.min_words.max(1), self.min_chars.max(1));
        let (left, right) = (Cut::new(left, measure), Cut::new(right, measure));
        // Always processed in the same order, so that the order of arguments does not matter.
        let order = left.units.len().cmp(&right.units.len()).then_with(|| left.keys().cmp(&right.keys()));
        if order.is_gt() {
            let Shared { passages, left, right, coarse } = self.shared_of(&right, &left, measure, start, stop);
            let swap = |passage: Passage| Passage {
                left: passage.right,
                right: passage.left,
                words: passage.words,
                equal: passage.equal.iter().map(|&[left, right]| [right, left]).collect(),
            };
            let mut passages: Vec<Passage> = passages.into_iter().map(swap).collect();
            sort(&mut passages);
            return Shared { passages, left: right, right: left, coarse };
        }
        self.shared_of(&left, &right, measure, start, stop)
    }

    fn shared_of(
        &self,
        left: &Cut,
        right: &Cut,
        measure: Measure,
        start: Instant,
        stop: Option<&AtomicBool>,
    ) -> Shared {
        let clock = |part: f64| Clock::after(start, self.seconds.map(|seconds| seconds * part), stop);
        let grams = [left.grams(measure), right.grams(measure)];
        let hashes = grams.each_ref().map(|grams| grams.iter().map(|gram| gram.hash).collect::<Hashes>());
        let common = hashes[0].iter().filter(|hash| hashes[1].contains(hash)).count() as f64;
        let mut covered = [Covered::none(left.units.len()), Covered::none(right.units.len())];
        let fine = self.fine([left, right], measure, [&clock(0.5), &clock(0.8)], &grams, &hashes, &mut covered);
        let (chains, coarse) =
            fine.unwrap_or_else(|| (coarse::runs(left, right, measure, &clock(1.0), &mut covered), true));
        let mut passages: Vec<Passage> = chains.iter().map(|chain| passage(chain, left, right)).collect();
        sort(&mut passages);
        let [in_left, in_right] = covered.map(|covered| covered.count());
        let cover = |cut: &Cut, covered, grams: usize| Cover {
            units: cut.units.len(),
            covered,
            containment: if grams == 0 { 0.0 } else { common / grams as f64 },
        };
        Shared {
            passages,
            left: cover(left, in_left, hashes[0].len()),
            right: cover(right, in_right, hashes[1].len()),
            coarse,
        }
    }

    /// Returns chains of runs of the left and the right text; None if time or memory does not suffice.
    fn fine(
        &self,
        [left, right]: [&Cut; 2],
        measure: Measure,
        clocks: [&Clock<'_>; 2],
        grams: &[Vec<Window>; 2],
        hashes: &[Hashes; 2],
        covered: &mut [Covered; 2],
    ) -> Option<(Vec<Vec<Run>>, bool)> {
        // Places are kept in 32 bits.
        if left.units.len().max(right.units.len()) >= NONE as usize / 2 {
            return None;
        }
        let (a, b) = numbered(&left.keys(), &right.keys());
        let sides = [
            Side { characters: &left.characters, symbols: &a, weights: &left.weights },
            Side { characters: &right.characters, symbols: &b, weights: &right.weights },
        ];
        let parts = [within(&a, NONE, &grams[0], &hashes[1]), within(&b, NONE - 1, &grams[1], &hashes[0])];
        if parts.iter().flatten().filter(|&&symbol| is_shared(symbol)).count() > MOST_UNITS {
            return None;
        }
        let runs_of = |here: usize| {
            let weights = sides[here].weights;
            let mut runs = Vec::new();
            longest_runs(&parts[here], &parts[1 - here], clocks[0], |run| {
                if weights[run.here + run.length] - weights[run.here] >= measure.seed() {
                    runs.push(run);
                }
            })?;
            Some(runs)
        };
        let (of_left, of_right) = if a.len() + b.len() < TWO_THREADS {
            (runs_of(0), runs_of(1))
        } else {
            std::thread::scope(|scope| {
                let other = scope.spawn(|| runs_of(1));
                (runs_of(0), other.join().unwrap_or(None))
            })
        };
        let (of_left, of_right) = (of_left?, of_right?);
        let steps = STEPS * (a.len() + b.len()) as u64 + MORE_STEPS;
        let mut chains = Vec::new();
        let [in_left, in_right] = covered;
        let mut bridges = Bridges::new(sides[0], sides[1], measure.step(), self.bridge, steps);
        let mut coarse = tile(&mut bridges, sides[0], of_left, in_left, in_right, measure, clocks[1], |chain| {
            chains.push(chain);
        });
        // What repeats in the right text is not covered yet.
        let mut back = Bridges::new(sides[1], sides[0], measure.step(), self.bridge, bridges.steps());
        coarse |= tile(&mut back, sides[1], of_right, in_right, in_left, measure, clocks[1], |chain| {
            let swap = |run: Run| Run { here: run.there, there: run.here, length: run.length };
            chains.push(chain.into_iter().map(swap).collect());
        });
        Some((chains, coarse || bridges.exhausted() || back.exhausted()))
    }
}

/// Makes passages of runs, starting with those that cover most uncovered units; returns whether time was up.
///
/// The coverage of a run only shrinks, so a run whose coverage has not changed since it was weighed comes next.
#[allow(clippy::too_many_arguments)] // two texts, and what is known of each
fn tile(
    bridges: &mut Bridges<'_>,
    here: Side<'_>,
    runs: Vec<Run>,
    covered: &mut Covered,
    covered_there: &mut Covered,
    measure: Measure,
    clock: &Clock<'_>,
    mut take: impl FnMut(Vec<Run>),
) -> bool {
    let weight = |start: usize, end: usize| here.weights[end] - here.weights[start];
    let mut sorted: Vec<(u64, Reverse<Run>)> =
        runs.into_iter().map(|run| (weight(run.here, run.here + run.length), Reverse(run))).collect();
    sorted.sort_unstable();
    // Those that cover less than when they were sorted.
    let mut waiting: BinaryHeap<(u64, Reverse<Run>)> = BinaryHeap::new();
    let mut step = 0;
    loop {
        let next = if waiting.peek() > sorted.last() { waiting.pop() } else { sorted.pop() };
        let Some((before, Reverse(run))) = next else { return false };
        step += 1;
        if step & 0xFF == 0 && clock.is_over_now() {
            return true;
        }
        let Some((start, end)) = covered.rest(run.here, run.here + run.length) else { continue };
        let now = weight(start, end);
        if now < before {
            waiting.push((now, Reverse(run)));
            continue;
        }
        let chain = bridges.chain(run, covered);
        if chain.iter().map(|run| weight(run.here, run.here + run.length)).sum::<u64>() >= measure.passage() {
            for run in &chain {
                covered.mark(run.here, run.here + run.length);
                covered_there.mark(run.there, run.there + run.length);
            }
            take(chain);
        }
    }
}

fn passage(chain: &[Run], left: &Cut, right: &Cut) -> Passage {
    let place = |cut: &Cut, start: usize, length: usize| (cut.units[start].start, cut.units[start + length - 1].end);
    let equal: Vec<[(usize, usize); 2]> =
        chain.iter().map(|run| [place(left, run.here, run.length), place(right, run.there, run.length)]).collect();
    let [first, last] = [equal[0], equal[equal.len() - 1]];
    Passage {
        left: (first[0].0, last[0].1),
        right: (first[1].0, last[1].1),
        words: chain.iter().map(|run| run.length).sum(),
        equal,
    }
}

fn sort(passages: &mut [Passage]) {
    passages.sort_unstable_by_key(|passage| (passage.left, passage.right));
}
