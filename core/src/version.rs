//! Versions of recipes.

use crate::error::Error;

/// What words and their weights mean. Recipes of version 2 are kept for collections that were made with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// Words of Hangul are not cut further, and short words weigh less in every text.
    Two,
    /// The current version.
    #[default]
    Three,
}

impl Version {
    /// Returns a version by its number.
    pub fn new(number: u8) -> Result<Version, Error> {
        match number {
            2 => Ok(Version::Two),
            3 => Ok(Version::Three),
            _ => Err(Error::new(format!("version is {number}; it must be 2 or 3"))),
        }
    }
}
