//! Near pairs by cosine: sketches, the plan, the join, look-ups, and exact comparison.
//!
//! ```text
//! features → sketch → join, lookup (tables of the plan) → candidates → judge (exact cosine) → links
//! ```

mod agree;
mod buckets;
mod file;
mod forecast;
mod inverted;
mod join;
mod judge;
mod links;
mod lookup;
mod part;
mod plan;
mod sketch;
mod table;

pub use agree::{Registers, same_registers};
pub use buckets::{Blocks, Fallen, Place};
pub use forecast::Forecast;
pub use inverted::PART_BYTES;
pub use join::{Candidate, Candidates, Dense, NearJoin, Progress, twins};
pub use judge::{TextOf, Verdict};
pub use links::{Links, Near, Take};
pub use lookup::{Matched, SketchIndex, search};
pub use part::TWIN;
pub use plan::Plan;
pub use sketch::{REGISTERS, SKETCH_BYTES, Sketch, says_something};
pub(crate) use sketch::{Race, digest, without_signal};
