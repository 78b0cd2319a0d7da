//! What differs between two texts that share their words: numbers, negation, symbols, order, and what is lost.
//!
//! A cosine of words does not see any of these. `Traits` holds them for one text; two texts differ in an aspect if its
//! part of their traits differs. Numbers, negation and symbols are equal or not, so texts fall into classes, and a
//! sketch can be mixed with the class of its text: sketches of different classes then agree by chance only. Order is a
//! matter of degree: see `order`.
//!
//! ```text
//! text → normalised → scan → tokens → traits → sketch mixed, pair compared
//! ```

mod negation;
mod order;
mod scan;
mod symbols;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rayon::prelude::*;

use crate::error::Error;
use crate::hash::{GOLDEN, token_key};
use crate::near::{REGISTERS, Sketch, TextOf, digest};
use crate::normalize::Normalize;
pub use negation::Negation;
pub use order::common_words;
pub(crate) use order::places;
pub(crate) use scan::write_number;
use scan::{Token, scan};

/// Ways in which texts may differ, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aspects(u8);

impl Aspects {
    /// Other numbers: tokens with a digit, sign and decimal point included.
    pub const NUMBERS: Aspects = Aspects(1);
    /// Another number of negations.
    pub const NEGATION: Aspects = Aspects(2);
    /// Other symbols of code and formulas, currencies, emoji.
    pub const SYMBOLS: Aspects = Aspects(4);
    /// The same words, or the same numbers, in another order.
    pub const ORDER: Aspects = Aspects(8);

    /// Returns the aspects with these names.
    pub fn parse(names: &[String]) -> Result<Aspects, Error> {
        names.iter().try_fold(Aspects::default(), |all, name| {
            let one = crate::error::choose(
                "distinguish",
                name,
                &[
                    ("numbers", Aspects::NUMBERS),
                    ("negation", Aspects::NEGATION),
                    ("symbols", Aspects::SYMBOLS),
                    ("order", Aspects::ORDER),
                ],
            )?;
            Ok(Aspects(all.0 | one.0))
        })
    }

    /// Returns whether one of `other` is among them.
    pub fn has(self, other: Aspects) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the bits.
    pub fn bits(self) -> u8 {
        self.0
    }

    fn set(&mut self, aspect: Aspects, differs: bool) {
        self.0 |= if differs { aspect.0 } else { 0 };
    }
}

/// The parts of a text that a cosine of words does not see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Sums of hashes: equal for equal multisets of tokens.
    numbers: u64,
    symbols: u64,
    negations: u64,
    /// A hash of the numbers in their order.
    number_order: u64,
    /// The words, in order; empty unless they were asked for.
    words: Vec<u64>,
}

impl Traits {
    /// Reads a text; `words` says whether its words are needed too.
    pub fn of(text: &str, negation: &Negation, words: bool, buffer: &mut String) -> Traits {
        let mut traits = Traits::default();
        let normalized = Normalize::Standard.apply(text, buffer);
        scan(normalized, negation, &mut |token| match token {
            Token::Word(word) if words => traits.words.push(token_key(word)),
            Token::Word(_) => {}
            Token::Number(number) => {
                let key = token_key(number);
                traits.numbers = traits.numbers.wrapping_add(spread(key));
                traits.number_order = spread(traits.number_order.wrapping_add(key));
            }
            Token::Symbol(symbol) => traits.symbols = traits.symbols.wrapping_add(spread(token_key(symbol))),
            Token::Negation(_) => traits.negations += 1,
        });
        traits
    }

    /// Returns in which aspects two texts differ, both with their words, and how many words of `other` this one lacks.
    pub fn differences(&self, other: &Traits) -> (Aspects, u32) {
        let mut differs = Aspects::default();
        differs.set(Aspects::NUMBERS, self.numbers != other.numbers);
        differs.set(Aspects::NEGATION, self.negations != other.negations);
        differs.set(Aspects::SYMBOLS, self.symbols != other.symbols);
        let moved = self.numbers == other.numbers && self.number_order != other.number_order;
        differs.set(Aspects::ORDER, moved);
        if self.words == other.words {
            return (differs, 0);
        }
        let [mut left, mut right] = [self, other].map(|traits| traits.words.clone());
        left.sort_unstable();
        right.sort_unstable();
        let lost = missing(&right, &left);
        differs.set(Aspects::ORDER, lost == 0 && left.len() == right.len());
        (differs, lost)
    }

    /// Returns the class of a text: equal for texts that do not differ in these aspects, order aside.
    fn class(&self, aspects: Aspects) -> u64 {
        let parts =
            [(Aspects::NUMBERS, self.numbers), (Aspects::NEGATION, self.negations), (Aspects::SYMBOLS, self.symbols)];
        let chosen = parts.iter().filter(|(aspect, _)| aspects.has(*aspect));
        chosen.fold(0, |class, &(_, part)| spread(class ^ part))
    }
}

/// Returns how many of the sorted `words` are not among the sorted `others`.
fn missing(words: &[u64], others: &[u64]) -> u32 {
    let (mut at, mut lost) = (0, 0);
    for word in words {
        while others.get(at).is_some_and(|other| other < word) {
            at += 1;
        }
        if others.get(at) == Some(word) {
            at += 1;
        } else {
            lost += 1;
        }
    }
    lost
}

/// Mixes 64 bits so that a sum of the results tells multisets apart.
fn spread(value: u64) -> u64 {
    let product = u128::from(value ^ GOLDEN) * 0xd6e8_feb8_6659_fd93_u128;
    (product >> 64) as u64 ^ product as u64
}

/// What a rule compares of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Marks {
    class: u64,
    /// The words, in order, if order counts; sums of hashes of the words and of the numbers, which are equal for equal
    /// multisets; and a hash of the numbers in their order.
    words: Vec<u64>,
    word_sum: u64,
    numbers: u64,
    number_order: u64,
    /// The threshold of the rule.
    threshold: f64,
}

impl Marks {
    /// Returns how far two texts agree under the rule: 0 if they differ in an aspect; if order counts, the share of
    /// words in the same order; else 1. Texts of the same words, or of the same numbers, in another order differ so.
    pub(crate) fn agreement(&self, other: &Marks) -> f64 {
        if self.class == other.class { self.common_order(other) } else { 0.0 }
    }

    /// Returns the cosine of two texts under the rule: 0 if they differ in an aspect, and at most the share of words in
    /// the same order. A cosine below the threshold is not compared with that.
    pub(crate) fn limit(&self, other: &Marks, cosine: f64) -> f64 {
        if self.class != other.class {
            return 0.0;
        }
        if cosine < self.threshold { cosine } else { cosine.min(self.common_order(other)) }
    }

    fn common_order(&self, other: &Marks) -> f64 {
        if self.numbers == other.numbers && self.number_order != other.number_order {
            return 0.0;
        }
        if self.words == other.words {
            return 1.0;
        }
        if self.words.len() == other.words.len() && self.word_sum == other.word_sum {
            return 0.0;
        }
        let words = self.words.len() + other.words.len();
        2.0 * common_words(&self.words, &other.words) as f64 / words as f64
    }
}

/// The aspects that a question insists on: texts that differ in one are no near-duplicates, whatever their cosine.
#[derive(Clone, Debug)]
pub struct Distinguish {
    aspects: Aspects,
    negation: Arc<Negation>,
    threshold: f64,
}

impl Distinguish {
    /// Makes the rule for these aspects. Pairs below the threshold may keep their cosine whatever the order of words.
    pub fn new(aspects: Aspects, negation: Arc<Negation>, threshold: f64) -> Distinguish {
        Distinguish { aspects, negation, threshold }
    }

    /// Reads the marks of a text.
    pub(crate) fn marks(&self, text: &str, buffer: &mut String) -> Marks {
        let traits = Traits::of(text, &self.negation, self.aspects.has(Aspects::ORDER), buffer);
        let class = traits.class(self.aspects);
        let Traits { words, numbers, mut number_order, .. } = traits;
        if !self.aspects.has(Aspects::ORDER) {
            number_order = 0;
        }
        let word_sum = words.iter().fold(0u64, |sum, &word| sum.wrapping_add(spread(word)));
        Marks { class, words, word_sum, numbers, number_order, threshold: self.threshold }
    }

    /// Mixes a fingerprint and a sketch with the marks of their text. Fingerprints and registers of different classes
    /// agree by chance only; digests are equal only for texts that the rule cannot tell apart.
    pub(crate) fn mix(
        &self,
        text: &str,
        signal: bool,
        value: &mut [u64],
        sketch: Option<&mut Sketch>,
        buffer: &mut String,
    ) {
        let Marks { class, words, number_order, .. } = self.marks(text, buffer);
        let mask = |at: usize| spread(class.wrapping_add((at as u64 + 1).wrapping_mul(GOLDEN)));
        if signal {
            value.iter_mut().enumerate().for_each(|(at, word)| *word ^= mask(at));
        }
        let Some(sketch) = sketch else { return };
        if signal {
            for (at, part) in sketch[..REGISTERS].chunks_exact_mut(8).enumerate() {
                part.iter_mut().zip(mask(at).to_le_bytes()).for_each(|(byte, mask)| *byte ^= mask);
            }
        }
        // Zeros mean that a text equals no other; the second half is never zero by itself.
        let sum = digest(sketch);
        if sum != 0 {
            let same =
                words.iter().fold(class.wrapping_add(number_order), |sum, &word| spread(sum.rotate_left(1) ^ word));
            let low = sum as u64 ^ spread(same);
            let high = ((sum >> 64) as u64 ^ spread(!same)).max(1);
            sketch[REGISTERS..REGISTERS + 8].copy_from_slice(&low.to_le_bytes());
            sketch[REGISTERS + 8..].copy_from_slice(&high.to_le_bytes());
        }
    }
}

/// Texts that one task reads.
const TASK_TEXTS: usize = 16;

/// Returns for each pair of rows in which aspects they differ, and how many words of the second the first lacks; on the
/// threads of the current rayon pool. All texts are in memory at the same time: pass some thousand pairs. The result is
/// useless once `stop` is set.
pub fn differences(
    pairs: &[(u32, u32)],
    text: TextOf<'_, '_>,
    negation: &Negation,
    stop: &AtomicBool,
) -> Vec<(Aspects, u32)> {
    let read = |text: &str, buffer: &mut String| Traits::of(text, negation, true, buffer);
    compare(pairs, text, stop, read, |left, right| left.differences(right))
}

/// Returns the same for one text and each of some others, on this thread: how many of its words each of them lacks.
pub fn differences_one(text: &str, others: &[&str], negation: &Negation) -> Vec<(Aspects, u32)> {
    let (mut own, mut buffer) = (None, String::new());
    let mut compare = |other: &str| {
        // Most matches of a look-up are exact copies.
        if other == text {
            return (Aspects::default(), 0);
        }
        let own = own.get_or_insert_with(|| Traits::of(text, negation, true, &mut String::new()));
        Traits::of(other, negation, true, &mut buffer).differences(own)
    };
    others.iter().map(|other| compare(other)).collect()
}

/// Reads each text of some pairs once, then compares the pairs.
pub(crate) fn compare<T: Send + Sync + Default, U: Send>(
    pairs: &[(u32, u32)],
    text: TextOf<'_, '_>,
    stop: &AtomicBool,
    read: impl Fn(&str, &mut String) -> T + Sync,
    compare: impl Fn(&T, &T) -> U + Sync,
) -> Vec<U> {
    let mut rows: Vec<u32> = pairs.iter().flat_map(|&(left, right)| [left, right]).collect();
    rows.sort_unstable();
    rows.dedup();
    let read = |buffer: &mut String, &row: &u32| {
        if stop.load(Relaxed) { T::default() } else { read(&text(row as usize), buffer) }
    };
    let read: Vec<T> = rows.par_iter().with_min_len(TASK_TEXTS).map_init(String::new, read).collect();
    // Every row of a pair is in `rows`.
    let of = |row: u32| &read[rows.partition_point(|&other| other < row)];
    pairs.par_iter().with_min_len(64).map(|&(left, right)| compare(of(left), of(right))).collect()
}

/// The tokens of a text by kind, to show to a reader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Words, in order.
    pub words: Vec<String>,
    /// Numbers, in order.
    pub numbers: Vec<String>,
    /// Negations, in order.
    pub negations: Vec<String>,
    /// Symbols, in order.
    pub symbols: Vec<String>,
}

impl Tokens {
    /// Reads a text.
    pub fn of(text: &str, negation: &Negation) -> Tokens {
        let mut tokens = Tokens::default();
        let mut buffer = String::new();
        let normalized = Normalize::Standard.apply(text, &mut buffer);
        scan(normalized, negation, &mut |token| match token {
            Token::Word(word) => tokens.words.push(word.to_owned()),
            Token::Number(number) => tokens.numbers.push(number.to_owned()),
            Token::Symbol(symbol) => tokens.symbols.push(symbol.to_owned()),
            Token::Negation(word) => tokens.negations.push(word.to_owned()),
        });
        tokens
    }
}

#[cfg(test)]
mod tests;
