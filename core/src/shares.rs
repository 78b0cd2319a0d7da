//! Weights of the views of a response: each view gets its share, whatever its length.
//!
//! A page has thousands of words and one status. Each view is a vector of its own, with the weights of the default
//! recipe. All vectors are scaled to length 1 times the root of their share and concatenated, so each view has its
//! share of the squared length by which a cosine compares.

use crate::bag::Entry;
use crate::error::Error;
use crate::http::VIEWS;
use crate::http_tokens::{BODY, KEYS, TAGS, TEXT, class_of, view_of};
use crate::version::Version;
use crate::weights::Table;

/// The length of a vector that has all views: 1000, in sixteenths. Fine enough for pages of a million words.
const LENGTH: f64 = 16_000.0;

/// With this many distinct tags, the tags leave half of their share to the text.
const FEW_TAGS: f64 = 16.0;

/// The share of each view; together they are 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares([f64; VIEWS.len()]);

impl Default for Shares {
    /// Returns equal shares.
    fn default() -> Self {
        Shares([1.0 / VIEWS.len() as f64; VIEWS.len()])
    }
}

impl Shares {
    /// Returns shares by the names of views, in any unit. A view that is not named has none.
    pub fn new(named: &[(String, f64)]) -> Result<Shares, Error> {
        let mut shares = [0.0; VIEWS.len()];
        for (name, share) in named {
            let Some(view) = VIEWS.iter().position(|view| view == name) else {
                return Err(Error::new(format!("views has {name:?}; it may have {}", VIEWS.join(", "))));
            };
            if !(share.is_finite() && *share > 0.0 && *share <= 1e9) {
                return Err(Error::new(format!(
                    "views gives {name} the share {share}; it must be above 0, at most 1e9"
                )));
            }
            shares[view] = *share;
        }
        let sum: f64 = shares.iter().sum();
        if sum == 0.0 {
            return Err(Error::new(format!("views is empty; it must have some of {}", VIEWS.join(", "))));
        }
        Ok(Shares(shares.map(|share| share / sum)))
    }

    /// Returns the views that have a share, one bit each.
    pub(crate) fn wanted(&self) -> u8 {
        (0..VIEWS.len()).filter(|&view| self.0[view] > 0.0).fold(0, |bits, view| bits | 1 << view)
    }

    /// Returns the factor of each view, from the counts and kinds of all distinct tokens.
    ///
    /// Sums are integers, followed by a root, a quotient and products: every order and every platform gives the same
    /// result.
    pub(crate) fn factors(&self, version: Version, tokens: impl Iterator<Item = (u32, u8)>) -> Factors {
        let table = Table::of(version, usize::MAX);
        let mut squares = [0u64; VIEWS.len()];
        let mut tags = 0u32;
        for (count, kind) in tokens {
            let steps = u64::from(table.steps(count, class_of(kind)));
            squares[view_of(kind)] += steps * steps;
            tags += u32::from(view_of(kind) == TAGS);
        }
        let mut shares = self.0;
        // The text identifies a page of a heading and a line; a plain text has no tags at all.
        if squares[TEXT] > 0 && squares[KEYS] == 0 && squares[BODY] == 0 {
            let few = FEW_TAGS * FEW_TAGS;
            let left = shares[TAGS] * few / (f64::from(tags) * f64::from(tags) + few);
            shares[TAGS] -= left;
            shares[TEXT] += left;
        }
        let factor = |view: usize| match squares[view] {
            0 => 0.0,
            sum => (shares[view] / sum as f64).sqrt() * LENGTH,
        };
        Factors { table, views: std::array::from_fn(factor) }
    }

    /// Returns the factors from the entries of a bag.
    pub(crate) fn factors_of<const W: usize>(&self, version: Version, entries: &[Entry<W>]) -> Factors {
        self.factors(version, entries.iter().map(|entry| (entry.count, entry.class)))
    }
}

/// The factors of the views of one text.
#[derive(Clone, Copy)]
pub(crate) struct Factors {
    table: &'static Table,
    views: [f64; VIEWS.len()],
}

impl Factors {
    /// Returns the weight of a token in sixteenths, from 1 to below 2^16.
    #[inline]
    pub(crate) fn of(&self, count: u32, kind: u8) -> u32 {
        let exact = f64::from(self.table.steps(count, class_of(kind))) * self.views[view_of(kind)];
        // The value is positive, so truncation rounds down; a call of `floor` costs more than all else here.
        ((exact + 0.5) as u32).max(1)
    }

    /// Returns the race weight of a token (`BagWeights::race_weight`): the default one times the square of the factor,
    /// since a cosine compares squares.
    #[inline]
    pub(crate) fn race_weight(&self, count: u32, kind: u8) -> f32 {
        let factor = self.views[view_of(kind)];
        (f64::from(self.table.race(count, class_of(kind))) * factor * factor) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(named: &[(&str, f64)]) -> Result<Shares, Error> {
        Shares::new(&named.iter().map(|&(name, share)| (name.to_owned(), share)).collect::<Vec<_>>())
    }

    #[test]
    fn each_view_has_its_share_of_the_squares() {
        let shares = shares(&[("status", 1.0), ("text", 3.0)]).unwrap();
        assert_eq!(shares.wanted(), 0b10_0001);
        for words in [1u32, 10, 1000, 100_000] {
            let tokens = || std::iter::once((1, 0)).chain((0..words).map(|word| (1 + word % 7, 5 << 5)));
            let factors = shares.factors(Version::Two, tokens());
            let square = |(count, kind)| f64::from(factors.of(count, kind)).powi(2);
            let whole: f64 = tokens().map(square).sum();
            assert!((square((1, 0)) / whole - 0.25).abs() < 0.01, "{words}");
            assert!((whole.sqrt() - LENGTH).abs() < LENGTH / 100.0, "{words}: {}", whole.sqrt());
        }
    }

    #[test]
    fn few_tags_leave_their_share_to_the_text() {
        let shares = shares(&[("tags", 3.0), ("text", 1.0)]).unwrap();
        for (tags, expected) in [(0, 1.0), (16, 0.25 + 0.75 / 2.0), (48, 0.25 + 0.075), (4000, 0.25)] {
            let tokens = || std::iter::repeat_n((1, 3 << 5 | 15), tags).chain((0..9).map(|_| (1, 5 << 5)));
            let factors = shares.factors(Version::Two, tokens());
            let square = |(count, kind)| f64::from(factors.of(count, kind)).powi(2);
            let text: f64 = tokens().filter(|&(_, kind)| kind == 5 << 5).map(square).sum();
            let whole: f64 = tokens().map(square).sum();
            assert!((text / whole - expected).abs() < 0.01, "{tags}: {}", text / whole);
            // If a response has other views than text, missing tags change nothing.
            let factors = shares.factors(Version::Two, tokens().chain([(1, 4 << 5)]));
            assert_eq!(factors.of(1, 5 << 5), 2667);
        }
    }

    #[test]
    fn no_weight_is_lost_or_too_large() {
        let factors = shares(&[("text", 1e9)]).unwrap().factors(Version::Two, [(1, 5 << 5)].into_iter());
        assert_eq!(factors.of(1, 5 << 5), 16_000);
        let tokens = (0..3_000_000).map(|_| (u32::MAX, 5 << 5));
        assert_eq!(Shares::default().factors(Version::Two, tokens).of(1, 5 << 5 | 4), 1);
    }

    #[test]
    fn wrong_shares_are_named() {
        for (named, expected) in [
            (&[("words", 1.0)][..], "views has \"words\"; it may have status, headers, title"),
            (&[("text", 0.0)], "gives text the share 0"),
            (&[("text", f64::NAN)], "gives text the share NaN"),
            (&[], "views is empty"),
        ] {
            let error = shares(named).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
