//! The units of a text that are in a passage already, as a union-find forest: O(α(n)) a step.

pub(super) struct Covered {
    /// For each unit the first that is not covered, from it on, or one on the way to it.
    next: Vec<u32>,
    /// For each end the last end of a unit that is not covered, up to it, or one on the way to it.
    before: Vec<u32>,
    count: usize,
}

impl Covered {
    pub(super) fn none(units: usize) -> Covered {
        let all: Vec<u32> = (0..=units as u32).collect();
        Covered { next: all.clone(), before: all, count: 0 }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns a stretch without the covered units at its ends.
    pub(super) fn rest(&mut self, start: usize, end: usize) -> Option<(usize, usize)> {
        let first = find(&mut self.next, start);
        (first < end).then(|| (first, find(&mut self.before, end)))
    }

    pub(super) fn mark(&mut self, start: usize, end: usize) {
        let mut at = find(&mut self.next, start);
        while at < end {
            self.next[at] = at as u32 + 1;
            self.before[at + 1] = at as u32;
            self.count += 1;
            at = find(&mut self.next, at + 1);
        }
    }
}

fn find(parents: &mut [u32], at: usize) -> usize {
    let mut at = at;
    while parents[at] as usize != at {
        // Every other step is shortened, which is enough.
        let parent = parents[at] as usize;
        parents[at] = parents[parent];
        at = parents[at] as usize;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_equals_a_list(stretches in prop::collection::vec((0usize..30, 0usize..12), 0..12)) {
            let (mut covered, mut naive) = (Covered::none(40), [false; 40]);
            for (start, length) in stretches {
                let end = (start + length).min(40);
                let free: Vec<usize> = (start..end).filter(|&at| !naive[at]).collect();
                prop_assert_eq!(covered.rest(start, end), free.first().map(|&first| (first, free[free.len() - 1] + 1)));
                covered.mark(start, end);
                naive[start..end].fill(true);
                prop_assert_eq!(covered.count(), naive.iter().filter(|&&at| at).count());
            }
        }
    }
}
