//! Union-find for many threads.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Trees of numbers, which many threads may link at a time. A parent is smaller than its children, so there are no
/// cycles, and the root of a tree is its smallest number.
pub(crate) struct Forest(Vec<AtomicU32>);

impl Forest {
    /// Returns the numbers below `count`, each alone.
    pub(crate) fn new(count: u32) -> Forest {
        Forest((0..count).map(AtomicU32::new).collect())
    }

    /// Returns the smallest number connected with this one.
    pub(crate) fn root(&self, mut member: u32) -> u32 {
        loop {
            let parent = self.0[member as usize].load(Relaxed);
            if parent == member {
                return member;
            }
            // Halves the path. Another thread may have done better meanwhile; either is an ancestor.
            let above = self.0[parent as usize].load(Relaxed);
            self.0[member as usize].store(above, Relaxed);
            member = above;
        }
    }

    /// Connects two numbers, and all that are connected with them.
    pub(crate) fn link(&self, left: u32, right: u32) {
        let (mut left, mut right) = (self.root(left), self.root(right));
        while left != right {
            let (low, high) = (left.min(right), left.max(right));
            // Fails if the higher one has ceased to be a root.
            if self.0[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok() {
                return;
            }
            (left, right) = (self.root(low), self.root(high));
        }
    }
}
