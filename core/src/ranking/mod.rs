//! Ranking: the documents most similar to a query by TF-IDF cosine, exactly.
//!
//! `Counted`: documents cut into terms, with counts. `PostingPart`: postings of some documents, which never change. `TermIndex`:
//! parts, and what was removed of them. `Weighted`: what follows from the corpus as it is: idf, norms, bounds. `ask`: a
//! query answered by them.

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

/// What a term stands in: a document's number and how often, in 32 bits. A count that does not fit stands elsewhere.
const COUNT_BITS: u32 = 8;
/// In place of a count of so much or more.
const LARGE: u32 = (1 << COUNT_BITS) - 1;
/// Documents of a part.
const MOST_ROWS: usize = 1 << (32 - COUNT_BITS);

#[cfg(test)]
mod tests;
