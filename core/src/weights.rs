//! Weights of tokens.

use std::collections::HashMap;
use std::sync::Arc;

use crate::bag::Entry;
use crate::chars::{GROUPS, Group, class};
use crate::error::{Error, choose};
use crate::once::Once;
use crate::shares::{Factors, Shares};
use crate::version::Version;
use crate::words::LONG_WINDOW;

/// Logarithmic and fitted weights are multiples of 1/16: fine enough for the similarity, cheap to add, and exact, so
/// that the order of features never matters.
pub(crate) const STEPS: f64 = 16.0;

/// How the weight of a token follows from its count.
#[derive(Clone, Debug)]
pub enum Weights {
    /// 1 + ln tf, in sixteenths: repeating a word does not make it dominate.
    Log,
    /// As `Log`, times the factor of the token's class, in sixteenths: short words are the common ones in most languages,
    /// and with them at full weight unrelated texts would share too many features.
    LogLength(Version),
    /// tf.
    Tf,
    /// 1.
    Binary,
    /// tf / number of tokens.
    Frequency,
    /// As `LogLength` within each view of a response, and each view in its share.
    Shares(Shares, Version),
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
    pub fn new(name: &str, idf: Option<IdfSource>, version: Version) -> Result<Weights, Error> {
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
                let shares = Weights::Shares(Shares::default(), version);
                let length = Weights::LogLength(version);
                let kinds = [Weights::Log, length, Weights::Tf, Weights::Binary, Weights::Frequency, shares];
                let choices: Vec<(&str, usize)> = names.iter().enumerate().map(|(at, &name)| (name, at)).collect();
                choose("weights", name, &choices).map(|at| kinds[at].clone())
            }
        }
    }

    /// Returns the weight of `token` that occurs `count` times among the tokens of a text.
    pub(crate) fn of(&self, token: &str, count: u32, text: TextSize) -> f64 {
        let tf = f64::from(count);
        let steps = |table: &Table, class| f64::from(table.steps(count, class)) / STEPS;
        match self {
            Weights::Log => steps(Table::full(), FULL),
            Weights::LogLength(version) => steps(Table::of(*version, text.distinct), weight_class(token)),
            Weights::Tf => tf,
            Weights::Binary => 1.0,
            Weights::Frequency => tf / text.tokens as f64,
            // The weight depends on all tokens of a text (`Shares::factors`).
            Weights::Shares(..) => 0.0,
            Weights::Fitted(idf) => (tf * idf.weight(token) * STEPS).round() / STEPS,
            Weights::Jieba => tf * (crate::jieba::idf(token) / text.tokens as f64),
        }
    }

    /// Returns the weights as integers, if they need only the count and the class of a token.
    pub(crate) fn small(&self) -> Option<SmallWeights> {
        match self {
            Weights::Log => Some(SmallWeights::Log),
            Weights::LogLength(version) => Some(SmallWeights::LogLength(*version)),
            Weights::Tf => Some(SmallWeights::Tf),
            Weights::Binary => Some(SmallWeights::Binary),
            Weights::Shares(shares, version) => Some(SmallWeights::Shares(*shares, *version)),
            _ => None,
        }
    }
}

/// How many tokens a text has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextSize {
    /// All, repeated ones too.
    pub(crate) tokens: u64,
    /// Distinct ones.
    pub(crate) distinct: usize,
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
    LogLength(Version),
    Tf,
    Binary,
    Shares(Shares, Version),
}

impl SmallWeights {
    /// Returns which class of a token the weights need beside its count.
    pub(crate) fn classes(&self) -> TokenClasses {
        if matches!(self, SmallWeights::LogLength(_)) { TokenClasses::ByLength } else { TokenClasses::Full }
    }

    /// Returns the weights of the tokens of one text.
    #[inline]
    pub(crate) fn of_bag<const W: usize>(&self, entries: &[Entry<W>]) -> BagWeights {
        match self {
            SmallWeights::Log => BagWeights::Log(Table::full()),
            SmallWeights::LogLength(version) => BagWeights::Log(Table::of(*version, entries.len())),
            SmallWeights::Tf => BagWeights::Count,
            SmallWeights::Binary => BagWeights::One,
            SmallWeights::Shares(shares, version) => BagWeights::Shares(shares.factors_of(*version, entries)),
        }
    }
}

/// How tokens are classified while they are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenClasses {
    /// All count in full.
    Full,
    /// By length and script (`weight_class`).
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

    /// Returns the class of a word of ASCII of at least five letters.
    #[inline(always)]
    pub(crate) fn of_long_ascii(self, word: &[u8]) -> u8 {
        let [first, .., last] = word else { return FULL };
        let number = first.is_ascii_digit() | last.is_ascii_digit();
        if self == TokenClasses::ByLength && number { NUMBER } else { FULL }
    }

    /// Returns the class of a part of a run, which the segmenter knows already.
    #[inline]
    pub(crate) fn of_part(self, class: u8) -> u8 {
        if self == TokenClasses::ByLength { class } else { FULL }
    }
}

/// The weights of the tokens of one text, by count and class.
pub(crate) enum BagWeights {
    Log(&'static Table),
    Count,
    One,
    Shares(Factors),
}

impl BagWeights {
    /// Returns a weight in units of 1 / `unit`.
    #[inline(always)]
    pub(crate) fn of(&self, count: u32, class: u8) -> u32 {
        match self {
            BagWeights::Log(table) => table.steps(count, class),
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
            BagWeights::Log(table) => table.race(count, class),
            BagWeights::Count => powered(f64::from(count)) as f32,
            BagWeights::One => 1.0,
            BagWeights::Shares(factors) => factors.race_weight(count, class),
        }
    }

    /// Returns the number of units in a weight of 1.
    pub(crate) fn unit(&self) -> f64 {
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
/// One Han character, beside the pairs it is in: an edited character then costs less.
pub(crate) const HAN: u8 = 5;
/// One character of Hiragana or Katakana, likewise.
pub(crate) const KANA: u8 = 6;
/// One letter of a small alphabet written without spaces.
pub(crate) const LETTER: u8 = 7;
/// Two characters with a Han character among them, or more characters without spaces.
pub(crate) const HAN_PAIR: u8 = 8;
/// Two characters of Hiragana or Katakana.
pub(crate) const KANA_PAIR: u8 = 9;
/// Two letters of a small alphabet. There are few such pairs, and every long text has them all.
pub(crate) const LETTER_PAIR: u8 = 10;
/// A window of letters of a script without spaces, which tells long texts apart.
pub(crate) const WINDOW: u8 = 11;
/// A Korean word of three syllables or more.
pub(crate) const HANGUL: u8 = 12;
/// Two neighbouring syllables of Korean.
pub(crate) const HANGUL_PAIR: u8 = 13;
/// A token that begins or ends with a digit.
pub(crate) const NUMBER: u8 = 14;
/// A token of a response that counts once, however often it occurs: a list of nine links equals one of eight.
pub(crate) const ONCE: u8 = 15;
/// One syllable of Korean.
pub(crate) const SYLLABLE: u8 = 16;
/// Classes.
pub(crate) const CLASSES: usize = 17;

/// The factor of the weight 1 + ln tf, and the largest tf that counts.
///
/// Without a limit on tf, long texts would be compared by the features that all texts of a script repeat, not by the
/// rare ones.
type Class = (f64, u32);

const NO_LIMIT: u32 = u32::MAX;

/// The classes of recipes of version 2.
const SECOND: [Class; CLASSES] = {
    let mut classes = [(1.0, NO_LIMIT); CLASSES];
    let mut letters = 1;
    while letters < FULL_LENGTH {
        classes[letters].0 = 1.0 / (1 << letters) as f64;
        letters += 1;
    }
    classes[HAN as usize] = (0.875, 2);
    classes[KANA as usize] = (0.875, 2);
    classes[LETTER as usize] = (0.875, 2);
    classes[KANA_PAIR as usize].1 = 2;
    classes[LETTER_PAIR as usize].1 = 2;
    classes[WINDOW as usize].0 = 0.5;
    classes[ONCE as usize].1 = 1;
    classes
};

/// The classes of recipes of version 3 whose weights follow the number of distinct tokens: in texts of up to 10, and in
/// texts of 60 or more. What is written without spaces has many features for what a word says, so that each weighs
/// less; a text of a few characters is told by these alone, as in version 2.
const UNSPACED: [(u8, [f64; 2], u32); 10] = [
    (HAN, [0.75, 0.5], 2),
    (KANA, [0.75, 0.25], 2),
    (LETTER, [0.75, 0.25], 2),
    (HAN_PAIR, [1.0, 0.25], NO_LIMIT),
    (KANA_PAIR, [1.0, 0.25], 2),
    (LETTER_PAIR, [1.0, 0.25], 2),
    (WINDOW, [0.5, 0.125], NO_LIMIT),
    (SYLLABLE, [0.5, 0.25], 2),
    (HANGUL_PAIR, [0.75, 0.25], NO_LIMIT),
    (HANGUL, [0.75, 0.25], NO_LIMIT),
];
const UNSPACED_FADE: [usize; 2] = [10, 60];
/// Short words weigh as others in a text of 10 distinct tokens, which has hardly any other, and less and less up to 100.
const SHORT_FADE: [usize; 2] = [10, 100];
/// Numbers weigh half as much again in texts of 16 to 40 distinct tokens: reports made from one form differ in little
/// else. In a text of six tokens a number is a word like others, and in a long one there are many.
const MORE_FOR_NUMBERS: f64 = 0.5;
const NUMBERS_RISE: [usize; 2] = [6, 16];
const NUMBERS_FADE: [usize; 2] = [40, 200];

/// Returns how far a text is from the first number of distinct tokens to the second, from 0 to 1.
fn share_of_way([from, to]: [usize; 2], distinct: usize) -> f64 {
    (distinct.clamp(from, to) - from) as f64 / (to - from) as f64
}

/// Returns the nearest power of a half, or three quarters of one. The fewer different weights a text has, the faster its
/// tokens vote (`Planes`).
fn rounded(factor: f64) -> f64 {
    let mut power = 1.0;
    while factor < 0.625 * power {
        power /= 2.0;
    }
    if factor < 0.875 * power { 0.75 * power } else { power }
}

/// Returns the classes of recipes of version 3 for a text of this many distinct tokens.
fn third(distinct: usize) -> [Class; CLASSES] {
    let mut classes = SECOND;
    for (factor, _) in &mut classes[1..FULL_LENGTH] {
        *factor = rounded(1.0 - (1.0 - *factor) * share_of_way(SHORT_FADE, distinct));
    }
    for (class, [short, long], most) in UNSPACED {
        let factor = rounded(short + (long - short) * share_of_way(UNSPACED_FADE, distinct));
        classes[usize::from(class)] = (factor, most);
    }
    let numbers = share_of_way(NUMBERS_RISE, distinct) * (1.0 - share_of_way(NUMBERS_FADE, distinct));
    classes[usize::from(NUMBER)].0 = 1.0 + MORE_FOR_NUMBERS * numbers;
    classes
}

/// Returns the class of a token, all that its weight needs beside its count: how many letters it is short of five, or
/// what it is of a script without spaces. A token with a digit counts in full however short, since a digit carries more
/// information than a letter.
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
    let [first, one, other, last] = looked_at(word).map(|byte| byte.is_ascii_digit());
    let class = short * u8::from(!(one | other));
    if first | last { NUMBER } else { class }
}

/// Returns four bytes of a token; these are all bytes of one of up to four.
#[inline(always)]
fn looked_at(bytes: &[u8]) -> [u8; 4] {
    let last = bytes.len() - 1;
    [bytes[0], bytes[last / 2], bytes[bytes.len() / 2], bytes[last]]
}

#[inline(never)]
fn weight_class_by_character(token: &str) -> u8 {
    let is_number = |c: char| class(c).is_number() && !class(c).is_unspaced();
    if token.chars().next().is_some_and(is_number) || token.chars().next_back().is_some_and(is_number) {
        return NUMBER;
    }
    let (mut count, mut groups, mut number) = (0, [0; GROUPS], false);
    for c in token.chars() {
        count += 1;
        groups[class(c).group() as usize] += 1;
        number |= class(c).is_number();
    }
    let all = |group: Group| groups[group as usize] == count;
    let has = |group: Group| groups[group as usize] > 0;
    match count {
        0 => FULL_LENGTH as u8 - 1,
        _ if all(Group::Hangul) => [SYLLABLE, HANGUL_PAIR, HANGUL][count.min(3) - 1],
        1 if all(Group::Han) => HAN,
        1 if all(Group::Kana) => KANA,
        1 if all(Group::Letters) => LETTER,
        2 if all(Group::Letters) => LETTER_PAIR,
        2 if all(Group::Kana) => KANA_PAIR,
        LONG_WINDOW if all(Group::Letters) => WINDOW,
        _ if !has(Group::Spaced) && !has(Group::Hangul) => HAN_PAIR,
        _ if number || !all(Group::Spaced) => FULL,
        _ => FULL_LENGTH.saturating_sub(count).min(FULL_LENGTH - 1) as u8,
    }
}

/// Counts below this have their values in a table.
const COUNTS: usize = 64;

/// The weights of all classes by count: a table, since a logarithm for each token would take too long.
pub(crate) struct Table {
    steps: [[u16; CLASSES]; COUNTS],
    race: [[f32; CLASSES]; COUNTS],
    classes: [Class; CLASSES],
}

/// Texts whose numbers of distinct tokens have the same quotient by this share a table.
const GRAIN: usize = 4;

static SECOND_TABLE: Once<Table> = Once::new(|| Table::new(SECOND));
static THIRD_TABLES: Once<Vec<Table>> =
    Once::new(|| (0..=NUMBERS_FADE[1]).step_by(GRAIN).map(|distinct| Table::new(third(distinct))).collect());

impl Table {
    fn new(classes: [Class; CLASSES]) -> Table {
        let logarithms: [f64; COUNTS] = std::array::from_fn(|count| logarithm(count.max(1) as u32));
        let limited = |count: usize, most: u32| logarithms[count.min(most as usize)];
        let steps = |count| classes.map(|(factor, most)| steps_of(limited(count, most), factor) as u16);
        let race = |count| classes.map(|(factor, most)| race_of(limited(count, most), factor));
        Table { steps: std::array::from_fn(steps), race: std::array::from_fn(race), classes }
    }

    /// Returns the weights of a text with this many distinct tokens.
    #[inline]
    pub(crate) fn of(version: Version, distinct: usize) -> &'static Table {
        match version {
            Version::Two => SECOND_TABLE.get(),
            Version::Three => {
                let tables = THIRD_TABLES.get();
                &tables[(distinct / GRAIN).min(tables.len() - 1)]
            }
        }
    }

    /// Returns the weights whose class `FULL` is 1 + ln tf.
    #[inline]
    pub(crate) fn full() -> &'static Table {
        SECOND_TABLE.get()
    }

    /// Returns round((1 + ln count) · 16 · factor); the class gives the factor and the largest count.
    #[inline(always)]
    pub(crate) fn steps(&self, count: u32, class: u8) -> u32 {
        let class = usize::from(class).min(CLASSES - 1);
        match self.steps.get(count as usize) {
            Some(row) => u32::from(row[class]),
            None => {
                let (factor, most) = self.classes[class];
                steps_of(logarithm(count.min(most)), factor)
            }
        }
    }

    /// Returns the race weight (`BagWeights::race_weight`).
    #[inline(always)]
    pub(crate) fn race(&self, count: u32, class: u8) -> f32 {
        let class = usize::from(class).min(CLASSES - 1);
        match self.race.get(count as usize) {
            Some(row) => row[class],
            None => {
                let (factor, most) = self.classes[class];
                race_of(logarithm(count.min(most)), factor)
            }
        }
    }
}

fn logarithm(count: u32) -> f64 {
    1.0 + f64::from(count).ln()
}

fn steps_of(logarithm: f64, factor: f64) -> u32 {
    (logarithm * STEPS * factor).round() as u32
}

fn race_of(logarithm: f64, factor: f64) -> f32 {
    // In sixteenths, which all platforms round alike.
    let weight = (logarithm * STEPS).round() / STEPS;
    (weight * weight.sqrt() * factor * factor) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIZE: TextSize = TextSize { tokens: 9, distinct: 9 };

    #[test]
    fn log_weights_are_sixteenths() {
        for (count, steps) in [(1, 16), (2, 27), (3, 34), (10, 53), (255, 105), (256, 105), (1_000_000, 237)] {
            assert_eq!(Table::full().steps(count, FULL), steps);
        }
        assert_eq!(Weights::Log.of("a", 2, SIZE), 27.0 / 16.0);
    }

    #[test]
    fn tokens_weigh_by_what_they_are() {
        // In version 2, and in version 3 in texts of 10, 60 and 200 distinct tokens.
        for (token, second, third) in [
            ("a", 1, [16, 8, 1]),
            ("of", 2, [16, 8, 2]),
            ("the", 4, [16, 8, 4]),
            ("it's", 8, [16, 12, 8]),
            ("words", 16, [16, 16, 16]),
            ("wordier", 16, [16, 16, 16]),
            ("5", 16, [18, 23, 16]),
            ("x2", 16, [18, 23, 16]),
            ("2026-word", 16, [18, 23, 16]),
            ("x2y", 16, [16, 16, 16]),
            ("한국어", 16, [12, 4, 4]),
            ("한국", 16, [12, 4, 4]),
            ("한", 16, [8, 4, 4]),
            ("汉字", 16, [16, 4, 4]),
            ("汉", 14, [12, 8, 8]),
            ("か", 14, [12, 4, 4]),
            ("ก", 14, [12, 4, 4]),
            ("๑", 14, [12, 4, 4]),
            ("漢か", 16, [16, 4, 4]),
            ("かな", 16, [16, 4, 4]),
            ("ไท", 16, [16, 4, 4]),
            ("ภาษาไทย", 16, [16, 4, 4]),
            ("ภาษาไ", 16, [16, 4, 4]),
            ("ภาษาไท", 8, [8, 2, 2]),
            ("ひらがなです", 16, [16, 4, 4]),
            ("ไท ไท", 16, [16, 16, 16]),
            ("aก", 16, [16, 16, 16]),
            ("a한", 16, [16, 16, 16]),
            ("für", 4, [16, 8, 4]),
            ("и", 1, [16, 8, 1]),
            ("слово", 16, [16, 16, 16]),
            ("", 1, [16, 8, 1]),
        ] {
            let weight = |version, distinct| Weights::LogLength(version).of(token, 1, TextSize { tokens: 9, distinct });
            assert_eq!(weight(Version::Two, 10), f64::from(second) / STEPS, "{token}");
            for (distinct, steps) in [10, 60, 200].into_iter().zip(third) {
                assert_eq!(weight(Version::Three, distinct), f64::from(steps) / STEPS, "{token} {distinct}");
            }
        }
        assert_eq!(Weights::LogLength(Version::Two).of("the", 2, SIZE), 7.0 / STEPS);
    }

    #[test]
    fn weights_fade_from_short_texts_to_long_ones() {
        let steps = |distinct, class| Table::of(Version::Three, distinct).steps(1, class);
        for class in (0..CLASSES as u8).filter(|&class| class != NUMBER) {
            assert!((0..300).all(|distinct| steps(distinct, class) >= steps(distinct + 1, class)), "{class}");
            assert_eq!(steps(200, class), steps(usize::MAX, class));
        }
        assert_eq!(
            [0, 6, 12, 16, 40, 120, 200, 1000].map(|distinct| steps(distinct, NUMBER)),
            [16, 16, 21, 24, 24, 20, 16, 16]
        );
        // For words of long texts nothing has changed since version 2.
        let second = Table::of(Version::Two, 0);
        for class in [FULL, 1, 2, 3, 4, NUMBER, ONCE] {
            assert!(
                (1..300).all(|count| Table::of(Version::Three, 200).steps(count, class) == second.steps(count, class))
            );
        }
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
                let weights = Weights::LogLength(Version::Two);
                assert_eq!(weights.of(token, count, SIZE), f64::from(steps) / STEPS, "{token} {count}");
                let small = SmallWeights::LogLength(Version::Two);
                assert_eq!(small.of_bag::<1>(&[]).of(count, small.classes().of(token)), steps, "{token} {count}");
            }
        }
        assert_eq!(Table::of(Version::Two, 0).steps(1_000_000, HAN), 24);
        assert_eq!(Table::of(Version::Three, 99).steps(1_000_000, HAN), 14);
    }

    #[test]
    fn counts_beyond_the_table_follow_the_formula() {
        for (count, class) in [(COUNTS as u32, FULL), (1000, NUMBER), (70, HAN_PAIR), (5000, 4), (99, KANA)] {
            let table = Table::of(Version::Three, 50);
            let (factor, most) = third(48)[usize::from(class)];
            let exact = 1.0 + f64::from(count.min(most)).ln();
            assert_eq!(table.steps(count, class), (exact * 16.0 * factor).round() as u32);
            assert!((f64::from(table.race(count, class)) / (exact.powf(1.5) * factor * factor) - 1.0).abs() < 0.05);
        }
    }

    #[test]
    fn fitted_weights_follow_the_formula() {
        let idf = Idf { documents: 9, counts: HashMap::from([("a".to_owned(), 4)]) };
        let weights = Weights::new("tfidf", Some(IdfSource::Fitted(idf)), Version::Three).unwrap();
        assert_eq!(weights.of("a", 3, SIZE), (3.0 * (1.0 + 2f64.ln()) * 16.0).round() / 16.0);
        assert_eq!(weights.of("new", 1, SIZE), ((1.0 + 10f64.ln()) * 16.0).round() / 16.0);
    }

    #[test]
    fn contradictions_are_named() {
        for (name, idf, expected) in [
            ("tfidf", None, "idf is missing"),
            ("log", Some(IdfSource::Jieba), "idf goes with"),
            ("bm25", None, "one of log, log-length, tf, binary, frequency, shares, tfidf"),
        ] {
            let error = Weights::new(name, idf, Version::Three).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]
        #[test]
        fn four_bytes_tell_the_class(token in "\\PC{0,6}|[a-z0-9éü€汉ж😀กか한]{0,9}") {
            prop_assert_eq!(weight_class(&token), weight_class_by_character(&token));
            if token.is_ascii() && !token.is_empty() {
                prop_assert_eq!(weight_class_of_ascii(token.as_bytes()), weight_class_by_character(&token));
                if token.len() >= FULL_LENGTH {
                    prop_assert_eq!(TokenClasses::ByLength.of_long_ascii(token.as_bytes()), weight_class(&token));
                }
            }
        }
    }
}
