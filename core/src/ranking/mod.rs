//! Ranking: the documents most similar to a query by TF-IDF cosine, exactly.
//!
//! `Counted`: documents as terms with counts. `PostingPart`: immutable postings of some documents. `TermIndex`: parts,
//! and the documents removed from them. `Weighted`: idf, norms and bounds of the current corpus. `ask`: answers a
//! query.

mod ask;
mod build;
mod file;
mod index;
mod merge;
mod part;
mod sweep;
mod weighted;

pub use ask::Ranked;
pub use build::Counted;
pub use index::{Covered, TermIndex};
pub use weighted::IdfKind;

/// Bits of the count in a posting of 32 bits; the others are the document's number. Larger counts are stored apart.
const COUNT_BITS: u32 = 8;
/// Marks a larger count.
const LARGE: u32 = (1 << COUNT_BITS) - 1;
/// Documents of a part.
const MOST_ROWS: usize = 1 << (32 - COUNT_BITS);

#[cfg(test)]
mod tests;
