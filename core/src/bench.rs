//! Private parts that the benchmarks measure. Not part of the public surface.

use crate::vote::{Planes, Tie};

/// The vote kernel for W·64 columns, with its buffers.
pub struct UnitVotes<const W: usize>(Planes<W>);

impl<const W: usize> UnitVotes<W> {
    /// Makes empty counters.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        UnitVotes(Planes::new())
    }

    /// Returns the majority bits of hashes with weight 1 each; a tied column is 0.
    pub fn majority(&mut self, hashes: &[[u64; W]]) -> [u64; W] {
        self.0.push_units(hashes);
        self.0.finish(Tie::Zero)
    }
}
