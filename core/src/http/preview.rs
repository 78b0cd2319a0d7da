//! A log of masked parts, for previews.

use super::rules::Rule;

/// One part of a response that a rule masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked {
    /// The name of the rule, as in [`super::MASKS`].
    pub rule: &'static str,
    /// The original text.
    pub original: String,
    /// The line of the view it was in: its name, and for a header the header's too.
    pub line: String,
}

/// The parts masked so far.
#[derive(Default)]
pub(super) struct Log {
    pub(super) masked: Vec<Masked>,
    /// The line that is being made.
    pub(super) line: String,
}

impl Log {
    pub(super) fn add(&mut self, rule: Rule, original: &str) {
        self.masked.push(Masked { rule: rule.name(), original: original.to_owned(), line: self.line.clone() });
    }
}
