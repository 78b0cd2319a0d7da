//! Weights of tokens.

use std::collections::HashMap;
use std::sync::Arc;

use crate::bag::Entry;
use crate::chars::{Group, class};
use crate::error::{Error, choose};
use crate::once::Once;
use crate::shares::{Factors, Shares};
use crate::words::LONG_WINDOW;

/// Logarithmic and fitted weights are multiples of 1/16: fine enough for the similarity, cheap to add, and exact, so
/// that the order of features never matters.
pub(crate) const STEPS: f64 = 16.0;

/// How the weight of a token follows from its count.
#[derive(Clone, Debug)]
pub enum Weights {
    /// 1 + ln tf, in sixteenths: repeating a word does not make it dominate.
    Log,
    /// As `Log`, times the factor of the token's class ([`CLASSES`]), in sixteenths: short words are the common ones in
    /// most languages, and with them at full weight unrelated texts would share too many features.
    LogLength,
    /// tf.
    Tf,
    /// 1.
    Binary,
    /// tf / number of tokens.
    Frequency,
    /// As `LogLength` within each view of a response, and each view in its share.
    Shares(Shares),
    /// tf · (1 + ln((1 + N) / (1 + df))), in sixteenths.
    Fitted(Arc<Idf>),
    /// tf · (idf / number of tokens), with jieba's own table.
    Jieba,
}

/// Document frequencies of a corpus.
#[derive(Debug, Default)]
pub struct Idf {
    /// Number of documents.
    pub documents: u64,
    /// Number of documents with the token.
    pub counts: HashMap<String, u64>,
}

impl Idf {
    fn weight(&self, token: &str) -> f64 {
        let with_token = self.counts.get(token).copied().unwrap_or(0);
        1.0 + ((1.0 + self.documents as f64) / (1.0 + with_token as f64)).ln()
    }
}

impl Weights {
    /// Returns weights by name, with the table of a tf-idf recipe.
    pub fn new(name: &str, idf: Option<IdfSource>) -> Result<Weights, Error> {
        match (name, idf) {
            ("tfidf", Some(IdfSource::Jieba)) => {
                // Loads the table now: jieba-rs holds a lock while it loads, and a process forked then would wait for
                // ever.
                crate::jieba::idf("");
                Ok(Weights::Jieba)
            }
            ("tfidf", Some(IdfSource::Fitted(idf))) => Ok(Weights::Fitted(Arc::new(idf))),
            ("tfidf", None) => Err(Error::new(
                "weights is \"tfidf\" but idf is missing; fit the recipe on a corpus or pass idf=\"jieba\"",
            )),
            (_, Some(_)) => Err(Error::new(format!("idf goes with weights \"tfidf\", not with {name:?}"))),
            (_, None) => {
                let names = ["log", "log-length", "tf", "binary", "frequency", "shares", "tfidf"];
                let shares = Weights::Shares(Shares::default());
                let kinds =
                    [Weights::Log, Weights::LogLength, Weights::Tf, Weights::Binary, Weights::Frequency, shares];
                let choices: Vec<(&str, usize)> = names.iter().enumerate().map(|(at, &name)| (name, at)).collect();
                choose("weights", name, &choices).map(|at| kinds[at].clone())
            }
        }
    }

    /// Returns the weight of `token` that occurs `count` times among `total` tokens.
    pub(crate) fn of(&self, token: &str, count: u32, total: u64) -> f64 {
        let tf = f64::from(count);
        match self {
            Weights::Log => f64::from(log_steps(count, FULL)) / STEPS,
            Weights::LogLength => f64::from(log_steps(count, weight_class(token))) / STEPS,
            Weights::Tf => tf,
            Weights::Binary => 1.0,
            Weights::Frequency => tf / total as f64,
            // The weight depends on all tokens of a text (`Shares::factors`).
            Weights::Shares(_) => 0.0,
            Weights::Fitted(idf) => (tf * idf.weight(token) * STEPS).round() / STEPS,
            Weights::Jieba => tf * (crate::jieba::idf(token) / total as f64),
        }
    }

    /// Returns the weights as integers, if they need only the count and the class of a token.
    pub(crate) fn small(&self) -> Option<SmallWeights> {
        match self {
            Weights::Log => Some(SmallWeights::Log),
            Weights::LogLength => Some(SmallWeights::LogLength),
            Weights::Tf => Some(SmallWeights::Tf),
            Weights::Binary => Some(SmallWeights::Binary),
            Weights::Shares(shares) => Some(SmallWeights::Shares(*shares)),
            _ => None,
        }
    }
}

/// The idf table of a tf-idf recipe.
#[derive(Debug)]
pub enum IdfSource {
    /// The table that comes with jieba.
    Jieba,
    /// A table fitted on a corpus.
    Fitted(Idf),
}

/// Weights that need only the count and the class of a token, as integers: only their ratios matter to the vote.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SmallWeights {
    Log,
    LogLength,
    Tf,
    Binary,
    Shares(Shares),
}

impl SmallWeights {
    /// Returns which class of a token the weights need beside its count.
    pub(crate) fn classes(&self) -> TokenClasses {
        if matches!(self, SmallWeights::LogLength) { TokenClasses::ByLength } else { TokenClasses::Full }
    }

    /// Returns the weights of the tokens of one text.
    #[inline]
    pub(crate) fn of_bag<const W: usize>(&self, entries: &[Entry<W>]) -> BagWeights {
        match self {
            SmallWeights::Log | SmallWeights::LogLength => BagWeights::Log(LOG_STEPS.get()),
            SmallWeights::Tf => BagWeights::Count,
            SmallWeights::Binary => BagWeights::One,
            SmallWeights::Shares(shares) => BagWeights::Shares(shares.factors_of(entries)),
        }
    }
}

/// How tokens are classified while they are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenClasses {
    /// All count in full.
    Full,
    /// By length and script (`CLASSES`).
    ByLength,
}

impl TokenClasses {
    /// Returns the class of a token.
    #[inline]
    pub(crate) fn of(self, token: &str) -> u8 {
        if self == TokenClasses::ByLength { weight_class(token) } else { FULL }
    }

    /// Returns the class of a word of ASCII, which is not empty.
    #[inline(always)]
    pub(crate) fn of_ascii(self, word: &[u8]) -> u8 {
        if self == TokenClasses::ByLength { weight_class_of_ascii(word) } else { FULL }
    }

    /// Returns the class of a part of a run, which the segmenter knows already.
    #[inline]
    pub(crate) fn of_part(self, class: u8) -> u8 {
        if self == TokenClasses::ByLength { class } else { FULL }
    }
}

/// The weights of the tokens of one text, by count and class.
pub(crate) enum BagWeights {
    /// Holds the table of `log_steps`, which a static would have to check for initialisation at every token.
    Log(&'static CountTable<u32>),
    Count,
    One,
    Shares(Factors),
}

impl BagWeights {
    /// Returns a weight in units of 1 / `steps`.
    #[inline(always)]
    pub(crate) fn of(&self, count: u32, class: u8) -> u32 {
        match self {
            BagWeights::Log(table) => look_up(table, compute_log_steps, count, class),
            BagWeights::Count => count,
            BagWeights::One => 1,
            BagWeights::Shares(factors) => factors.of(count, class),
        }
    }

    /// Returns the rate at which a feature competes for the registers of a sketch.
    ///
    /// A cosine compares squares, so the factor of a class is squared. The power of the count is 1.5: with 2 a repeated
    /// passage, with less a text that is mostly one word, would agree in too few registers.
    #[inline(always)]
    pub(crate) fn race_weight(&self, count: u32, class: u8) -> f32 {
        let powered = |weight: f64| weight * weight.sqrt();
        match self {
            BagWeights::Log(_) => race_steps(count, class),
            BagWeights::Count => powered(f64::from(count)) as f32,
            BagWeights::One => 1.0,
            BagWeights::Shares(factors) => factors.race_weight(count, class),
        }
    }

    /// Returns the number of units in a weight of 1.
    pub(crate) fn steps(&self) -> f64 {
        match self {
            BagWeights::Log(_) | BagWeights::Shares(_) => STEPS,
            BagWeights::Count | BagWeights::One => 1.0,
        }
    }
}

/// A word of this many letters counts in full.
const FULL_LENGTH: usize = 5;

/// The class of a token that counts in full. Classes 1 to 4 are words that are 1 to 4 letters short of five.
pub(crate) const FULL: u8 = 0;
/// One character of a script without spaces, in addition to the pairs it is in: an edited character then costs less.
pub(crate) const SINGLE: u8 = 5;
/// Two letters of a small alphabet. There are few such pairs, and every long text has them all.
pub(crate) const PAIR: u8 = 6;
/// A window of letters of a script without spaces, which tells long texts apart. It weighs as a word of four letters.
pub(crate) const WINDOW: u8 = 1;

/// A token of a response that counts once, however often it occurs: a list of nine links equals one of eight.
pub(crate) const ONCE: u8 = 7;

/// For each class the factor of the weight 1 + ln tf, and the largest tf that counts.
///
/// Without a limit on tf, long texts would be compared by the features that all texts of a script repeat, not by the
/// rare ones.
pub(crate) const CLASSES: [(f64, u32); 8] = [
    (1.0, u32::MAX),
    (0.5, u32::MAX),
    (0.25, u32::MAX),
    (0.125, u32::MAX),
    (0.0625, u32::MAX),
    (0.875, 2),
    (1.0, 2),
    (1.0, 1),
];

/// Returns the class of a token, all that its weight needs beside its count: how many letters it is short of five, or
/// its role in a script without spaces. A token with a digit, a Hangul syllable or a Han character counts in full,
/// since these carry more information than a letter.
///
/// It runs for every token, so the usual case has no branch to mispredict. Four bytes are tested: a token of up to four
/// bytes has no others, and a token of five bytes or more with fewer than five characters has a byte beyond ASCII among
/// them.
#[inline(always)]
pub(crate) fn weight_class(token: &str) -> u8 {
    let bytes = token.as_bytes();
    if bytes.is_empty() {
        return FULL_LENGTH as u8 - 1;
    }
    // One branch, rarely taken.
    let says_more = looked_at(bytes).iter().fold(false, |more, byte| more | !byte.is_ascii() | byte.is_ascii_digit());
    if says_more {
        return weight_class_by_character(token);
    }
    FULL_LENGTH.saturating_sub(bytes.len()) as u8
}

/// Returns the class of a word of ASCII, without a branch.
#[inline(always)]
fn weight_class_of_ascii(word: &[u8]) -> u8 {
    let short = FULL_LENGTH.saturating_sub(word.len()) as u8;
    let has_digit = looked_at(word).iter().fold(false, |found, byte| found | byte.is_ascii_digit());
    short * u8::from(!has_digit)
}

/// Returns four bytes of a token; these are all bytes of one of up to four.
#[inline(always)]
fn looked_at(bytes: &[u8]) -> [u8; 4] {
    let last = bytes.len() - 1;
    [bytes[0], bytes[last / 2], bytes[bytes.len() / 2], bytes[last]]
}

fn weight_class_by_character(token: &str) -> u8 {
    let mut count = 0;
    let mut says_more = false;
    let (mut unspaced, mut han, mut letters) = (true, false, true);
    for c in token.chars() {
        count += 1;
        let class = class(c);
        let group = class.group();
        says_more |= class.is_number() || class.is_unspaced() || ('\u{AC00}'..='\u{D7A3}').contains(&c);
        unspaced &= class.is_unspaced();
        han |= group == Group::Han;
        letters &= group == Group::Letters;
        // A window of letters has to be read to its end.
        if count > LONG_WINDOW || count >= FULL_LENGTH && !letters {
            return FULL;
        }
    }
    match count {
        1 if unspaced => SINGLE,
        2 if unspaced && !han => PAIR,
        LONG_WINDOW => WINDOW,
        _ if says_more => FULL,
        _ => FULL_LENGTH.saturating_sub(count).min(FULL_LENGTH - 1) as u8,
    }
}

/// Values for small counts and all classes.
type CountTable<T> = [[T; CLASSES.len()]; 256];

static LOG_STEPS: Once<CountTable<u32>> = Once::new(|| tabulate(compute_log_steps));
static RACE_STEPS: Once<CountTable<f32>> = Once::new(|| tabulate(compute_race_steps));

fn tabulate<T>(compute: fn(u32, u8) -> T) -> CountTable<T> {
    std::array::from_fn(|count| std::array::from_fn(|class| compute(count.max(1) as u32, class as u8)))
}

/// Returns `compute(count, class)`, from the table where it has it.
#[inline(always)]
fn look_up<T: Copy>(table: &CountTable<T>, compute: fn(u32, u8) -> T, count: u32, class: u8) -> T {
    match table.get(count as usize) {
        Some(row) => row[usize::from(class) % CLASSES.len()],
        None => compute(count, class),
    }
}

/// Returns round((1 + ln count) · 16 · factor); the class gives the factor and the largest count.
#[inline]
pub(crate) fn log_steps(count: u32, class: u8) -> u32 {
    look_up(LOG_STEPS.get(), compute_log_steps, count, class)
}

/// Returns the race weight of logarithmic weights (`BagWeights::race_weight`).
#[inline]
pub(crate) fn race_steps(count: u32, class: u8) -> f32 {
    look_up(RACE_STEPS.get(), compute_race_steps, count, class)
}

fn compute_log_steps(count: u32, class: u8) -> u32 {
    let (factor, most) = CLASSES[usize::from(class) % CLASSES.len()];
    ((1.0 + f64::from(count.min(most)).ln()) * STEPS * factor).round() as u32
}

fn compute_race_steps(count: u32, class: u8) -> f32 {
    let (factor, most) = CLASSES[usize::from(class) % CLASSES.len()];
    // In sixteenths, which all platforms round alike.
    let weight = f64::from(log_steps(count.min(most), FULL)) / STEPS;
    (weight * weight.sqrt() * factor * factor) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn log_weights_are_sixteenths() {
        for (count, steps) in [(1, 16), (2, 27), (3, 34), (10, 53), (255, 105), (256, 105), (1_000_000, 237)] {
            assert_eq!(log_steps(count, 0), steps);
        }
        assert_eq!(Weights::Log.of("a", 2, 9), 27.0 / 16.0);
    }

    #[test]
    fn short_words_count_less() {
        for (token, steps) in [
            ("a", 1),
            ("of", 2),
            ("the", 4),
            ("it's", 8),
            ("words", 16),
            ("wordier", 16),
            ("5", 16),
            ("x2", 16),
            ("한국", 16),
            ("汉字", 16),
            ("汉", 14),
            ("か", 14),
            ("ก", 14),
            ("๑", 14),
            ("漢か", 16),
            ("かな", 16),
            ("ไท", 16),
            ("ภาษาไทย", 16),
            ("ภาษาไ", 16),
            ("ภาษาไท", 8),
            ("ひらがなです", 16),
            ("ไท ไท", 16),
            ("aก", 16),
            ("für", 4),
            ("и", 1),
            ("слово", 16),
            ("", 1),
        ] {
            assert_eq!(Weights::LogLength.of(token, 1, 9), f64::from(steps) / STEPS, "{token}");
        }
        assert_eq!(Weights::LogLength.of("the", 2, 9), 7.0 / STEPS);
    }

    #[test]
    fn repeats_count_once_more_where_all_texts_have_them() {
        for (token, steps) in [
            ("words", [16, 27, 34]),
            ("汉字", [16, 27, 34]),
            ("汉", [14, 24, 24]),
            ("かな", [16, 27, 27]),
            ("ภาษาไท", [8, 14, 17]),
        ] {
            for (count, steps) in (1..).zip(steps) {
                assert_eq!(Weights::LogLength.of(token, count, 9), f64::from(steps) / STEPS, "{token} {count}");
                let small = SmallWeights::LogLength;
                assert_eq!(small.of_bag::<1>(&[]).of(count, small.classes().of(token)), steps, "{token} {count}");
            }
        }
        assert_eq!(log_steps(1_000_000, SINGLE), 24);
    }

    #[test]
    fn fitted_weights_follow_the_formula() {
        let idf = Idf { documents: 9, counts: HashMap::from([("a".to_owned(), 4)]) };
        let weights = Weights::new("tfidf", Some(IdfSource::Fitted(idf))).unwrap();
        assert_eq!(weights.of("a", 3, 10), (3.0 * (1.0 + 2f64.ln()) * 16.0).round() / 16.0);
        assert_eq!(weights.of("new", 1, 10), ((1.0 + 10f64.ln()) * 16.0).round() / 16.0);
    }

    #[test]
    fn contradictions_are_named() {
        for (name, idf, expected) in [
            ("tfidf", None, "idf is missing"),
            ("log", Some(IdfSource::Jieba), "idf goes with"),
            ("bm25", None, "one of log, log-length, tf, binary, frequency, shares, tfidf"),
        ] {
            let error = Weights::new(name, idf).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]
        #[test]
        fn four_bytes_tell_the_class(token in "\\PC{0,6}|[a-z0-9éü€汉ж😀กか]{0,6}") {
            prop_assert_eq!(weight_class(&token), weight_class_by_character(&token));
            if token.is_ascii() && !token.is_empty() {
                prop_assert_eq!(weight_class_of_ascii(token.as_bytes()), weight_class_by_character(&token));
            }
        }
    }
}
