//! One error type: a setting the core cannot work with.

use std::fmt;

/// A setting or value that cannot be used; the message names it, its value and the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Looks a setting's value up among its choices.
pub(crate) fn choose<T: Copy>(parameter: &str, value: &str, choices: &[(&str, T)]) -> Result<T, Error> {
    choices.iter().find(|(name, _)| *name == value).map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        Error(format!("{parameter} is {value:?}; it must be one of {}", names.join(", ")))
    })
}
