//! Runs → passages: over a few units that differ to the next run.
//!
//! From the end of a run the texts are followed unit by unit: two equal units are taken together, or one is passed over
//! on either side, at most `bridge` on each, or twice as many where the first is a character of a script without spaces:
//! a word there has about two. The way with the fewest passed over that comes to a run of a fifth of the minimum leads
//! on; of two such ways the one that passes over as many on both sides, then the one that passes over fewer in the text
//! walked through. Equal units on the way count. O(bridge²) ways of bounded length for each end of a run.

use super::covered::Covered;
use super::runs::Run;

/// A text as it is compared: its symbols, which of them are characters, and the weight before each place.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) characters: &'a [bool],
    pub(super) symbols: &'a [u32],
    pub(super) weights: &'a [u64],
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    On,
    Back,
}

pub(super) struct Bridges<'a> {
    here: Side<'a>,
    there: Side<'a>,
    /// The least weight of a run to continue with.
    least: u64,
    bridge: usize,
    /// How many units are passed over here and there, in the order of preference: among words, and with characters.
    ways: [Vec<(usize, usize)>; 2],
    /// For each of them, by the number of equal units taken: 0 if that cannot be reached, else one more than the
    /// equal units just before it.
    reached: Vec<Vec<u32>>,
    /// Steps left. Adversarial texts would need n² steps without a limit.
    steps: u64,
}

impl<'a> Bridges<'a> {
    pub(super) fn new(here: Side<'a>, there: Side<'a>, least: u64, bridge: usize, steps: u64) -> Bridges<'a> {
        let ways = [bridge, 2 * bridge].map(|most| {
            let both = (0..=most).flat_map(|here| (0..=most).map(move |there| (here, there)));
            let mut ways: Vec<(usize, usize)> = both.skip(1).collect();
            ways.sort_by_key(|&(here, there)| (here + there, here.abs_diff(there), here));
            ways
        });
        let reached = vec![Vec::new(); ways[1].len() + 1];
        Bridges { here, there, least, bridge, ways, reached, steps }
    }

    /// Returns whether the steps are used up, so that passages may be too short.
    pub(super) fn exhausted(&self) -> bool {
        self.steps == 0
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the run and all it is bridged with, in order. Where the text walked through is covered already, it ends.
    pub(super) fn chain(&mut self, run: Run, covered: &mut Covered) -> Vec<Run> {
        let mut runs = vec![run];
        let (mut here, mut there) = (run.here, run.there);
        while let Some(found) = self.next(here, there, Direction::Back, covered) {
            runs.extend(&found);
            (here, there) = found.last().map_or((here, there), |run| (run.here, run.there));
        }
        runs.reverse();
        let (mut here, mut there) = (run.here + run.length, run.there + run.length);
        while let Some(found) = self.next(here, there, Direction::On, covered) {
            runs.extend(&found);
            let end = |run: &Run| (run.here + run.length, run.there + run.length);
            (here, there) = found.last().map_or((here, there), end);
        }
        runs
    }

    fn next(&mut self, here: usize, there: usize, direction: Direction, covered: &mut Covered) -> Option<Vec<Run>> {
        let found = self.gap(here, there, direction)?;
        let last = found.last()?;
        covered.rest(last.here, last.here + last.length)?;
        Some(found)
    }

    /// Returns the runs after a gap from this position: equal units on the way, then a full run.
    fn gap(&mut self, here: usize, there: usize, direction: Direction) -> Option<Vec<Run>> {
        if self.bridge == 0 {
            return None;
        }
        let (room_here, room_there) = match direction {
            Direction::On => (self.here.symbols.len() - here, self.there.symbols.len() - there),
            Direction::Back => (here, there),
        };
        let (walked, other) = (self.here, self.there);
        let equal = |x: usize, y: usize| match direction {
            Direction::On => walked.symbols[here + x] == other.symbols[there + y],
            Direction::Back => walked.symbols[here - 1 - x] == other.symbols[there - 1 - y],
        };
        let weight = |from: usize, to: usize| match direction {
            Direction::On => walked.weights[here + to] - walked.weights[here + from],
            Direction::Back => walked.weights[here - from] - walked.weights[here - to],
        };
        let most = |side: Side<'_>, start: usize| {
            let at = if direction == Direction::On { start } else { start.wrapping_sub(1) };
            if side.characters.get(at) == Some(&true) { 2 * self.bridge } else { self.bridge }
        };
        let (most_here, most_there) = (most(walked, here), most(other, there));
        let wide = usize::from(most_here.max(most_there) > self.bridge);
        let mut target = None;
        self.reached[0].clear();
        self.reached[0].push(1);
        'ways: for at in 0..self.ways[wide].len() {
            let (x, y) = self.ways[wide][at];
            if x > most_here || y > most_there {
                continue;
            }
            let index = self.index(x, y);
            let mut reached = std::mem::take(&mut self.reached[index]);
            reached.clear();
            let left = if x > 0 { &self.reached[self.index(x - 1, y)][..] } else { &[] };
            let right = if y > 0 { &self.reached[self.index(x, y - 1)][..] } else { &[] };
            let longest = left.len().max(right.len());
            for taken in 0.. {
                if x + taken > room_here || y + taken > room_there || self.steps == 0 {
                    break;
                }
                self.steps -= 1;
                let entered =
                    left.get(taken).is_some_and(|&run| run > 0) || right.get(taken).is_some_and(|&run| run > 0);
                let before = if taken > 0 { reached[taken - 1] } else { 0 };
                let value =
                    if before > 0 && equal(x + taken - 1, y + taken - 1) { before + 1 } else { u32::from(entered) };
                if value == 0 && taken >= longest {
                    break;
                }
                reached.push(value);
                if value > 1 && weight(x + taken + 1 - value as usize, x + taken) >= self.least {
                    target = Some((x, y, taken));
                    self.reached[index] = reached;
                    break 'ways;
                }
            }
            self.reached[index] = reached;
        }
        let mut runs = self.way_to(target?);
        let last = runs.last_mut()?;
        while last.here + last.length < room_here
            && last.there + last.length < room_there
            && equal(last.here + last.length, last.there + last.length)
        {
            last.length += 1;
            self.steps = self.steps.saturating_sub(1);
        }
        for run in &mut runs {
            (run.here, run.there) = match direction {
                Direction::On => (here + run.here, there + run.there),
                Direction::Back => (here - run.here - run.length, there - run.there - run.length),
            };
        }
        Some(runs)
    }

    fn index(&self, here: usize, there: usize) -> usize {
        here * (2 * self.bridge + 1) + there
    }

    /// Returns the equal units on the way, as distances from where it began.
    fn way_to(&self, (here, there, taken): (usize, usize, usize)) -> Vec<Run> {
        let (mut x, mut y, mut taken) = (here, there, taken);
        let mut runs = Vec::new();
        while (x, y) != (0, 0) {
            let length = self.reached[self.index(x, y)][taken] as usize - 1;
            if length > 0 {
                taken -= length;
                runs.push(Run { here: x + taken, there: y + taken, length });
            }
            let from_here = x > 0 && self.reached[self.index(x - 1, y)].get(taken).is_some_and(|&run| run > 0);
            if from_here {
                x -= 1;
            } else {
                y -= 1;
            }
        }
        runs.reverse();
        runs
    }
}
