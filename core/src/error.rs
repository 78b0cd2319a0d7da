//! The error of a setting or argument that the core refuses.

use std::fmt;

/// A setting or argument that cannot be used. The message names the parameter, its value, the limit and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
}

impl Error {
    /// Makes an error of a message that names the parameter, its value, the limit and the way out.
    pub fn new(message: impl Into<String>) -> Error {
        Error { message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Returns the choice with this name, or an error that lists all names.
pub(crate) fn choose<T: Copy>(parameter: &str, value: &str, choices: &[(&str, T)]) -> Result<T, Error> {
    choices.iter().find(|(name, _)| *name == value).map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        Error::new(format!("{parameter} is {value:?}; it must be one of {}", names.join(", ")))
    })
}
