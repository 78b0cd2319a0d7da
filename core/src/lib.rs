//! The engine of neardup, with no Python in it: text → weighted features → fingerprint.
//!
//! ```
//! use neardup_core::{Normalize, Pipeline, Settings, Tie, TokenHash, Tokenizer, Version, Votes, Weights};
//!
//! let pipeline = Pipeline::new(Settings {
//!     normalize: Normalize::NfkcCasefold,
//!     tokenizer: Tokenizer::new("words", 1, None, None, Default::default(), Version::Three)?,
//!     weights: Weights::Log,
//!     top: None,
//!     scale: None,
//!     hash: TokenHash::Xxh3,
//!     bits: 64,
//!     tie: Tie::Mask,
//!     votes: Votes::Exact,
//!     min_features: 2,
//! })?;
//! let fingerprint = |text| {
//!     let mut value = [0; 1];
//!     pipeline.fingerprint(text, &mut value).then_some(value[0])
//! };
//! assert_eq!(fingerprint("The cat sat on the mat."), fingerprint("the cat SAT on, the mat"));
//! assert_eq!(fingerprint("?!"), None);
//! # Ok::<(), neardup_core::Error>(())
//! ```

mod ascii_blocks;
mod bag;
#[doc(hidden)]
pub mod bench;
mod chars;
mod cosine;
pub mod differences;
mod entities;
mod error;
mod folding;
mod hash;
mod hashed_words;
pub mod http;
mod http_tokens;
mod index;
mod jieba;
mod join;
pub mod jsonl;
mod memory;
pub mod near;
mod normalize;
mod once;
mod passages;
mod pipeline;
pub mod ranking;
mod rounds;
mod saved;
mod shares;
pub mod templates;
mod tokens;
mod turns;
mod version;
mod vote;
mod weights;
mod words;
mod worker;

pub use error::Error;
pub use hash::TokenHash;
pub use index::{Id, Ids, Index, IndexError, Matches, PlannedPart, PlannedTable};
pub use join::{
    Equal, Found, Groups, Input, JoinPlan, JoinSettings, Linkage, Method, Next, Pair, PairStream, RadiusJoin, Sink,
    clusters, pairs,
};
pub use memory::{OutOfMemory, collected, filled, probe};
pub use normalize::Normalize;
pub use passages::{Cover, Passage, Passages, Shared, Unit, every_run, units, winnowed};
pub use pipeline::{Feature, Made, Pipeline, Settings, cosine_of_features};
pub use saved::{Corrupt, FileError};
pub use shares::Shares;
pub use tokens::Tokenizer;
pub use version::Version;
pub use vote::{Tie, Votes};
pub use weights::{Idf, IdfSource, Weights};

/// The narrowest fingerprint.
const MIN_BITS: usize = 8;
/// The widest fingerprint.
const MAX_BITS: usize = 512;

/// Returns XXH3-64 with seed 0, which identifies a word list or table in a recipe's identity.
pub fn stable_hash(data: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(data)
}
