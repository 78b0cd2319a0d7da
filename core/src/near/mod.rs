//! Who is near whom, by cosine: sketches, the plan, the join, and the judge.
//!
//! ```text
//! features → sketch → join (tables of the plan) → candidates → judge (exact cosine) → links
//! ```

mod alike;
mod dense;
mod join;
mod judge;
mod links;
mod plan;
mod sketch;

pub use join::{Candidate, Candidates, Dense, Join, twins};
pub use judge::{TextOf, Verdict};
pub use links::{Links, Near};
pub use plan::Plan;
pub(crate) use sketch::{Race, without_signal};
pub use sketch::{REGISTERS, SKETCH_BYTES, Sketch, digest};

/// In how many registers two sketches agree.
pub fn same_registers(left: &Sketch, right: &Sketch) -> u32 {
    left.iter().zip(right).take(REGISTERS).map(|(a, b)| u32::from(a == b)).sum()
}
