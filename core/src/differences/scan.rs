//! Normalised text → words, numbers, negations and symbols.

use super::negation::Negation;
use super::symbols::Symbols;
use crate::chars::class;
use crate::words::{Hangul, Piece, each_piece};

/// A token of a text. Numbers and negations are words as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A word, or a character of a script without spaces.
    Word(&'a str),
    /// A word with a digit, with its sign and decimal point, without commas between thousands; or a numeral of Han.
    Number(&'a str),
    /// A word or phrase that negates.
    Negation(&'a str),
    /// A symbol: an operator, a currency, an emoji.
    Symbol(&'a str),
}

/// Calls `sink` with every token of a text in the form `standard`; symbols before a word come before it.
pub(super) fn scan(text: &str, negation: &Negation, sink: &mut impl FnMut(Token<'_>)) {
    let mut symbols = Symbols::default();
    let mut number = String::new();
    let mut end = 0;
    each_piece(text, Hangul::Words, |piece| {
        let (Piece::Word(part) | Piece::Hangul(part) | Piece::Run(part) | Piece::Letters(part)) = piece;
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        symbols.between(text, end, start, sink);
        match piece {
            Piece::Word(word) | Piece::Hangul(word) => {
                // Nearly all words are ASCII: one pass over their bytes rules out the rest.
                let (mut digit, mut beyond) = (false, false);
                for byte in word.bytes() {
                    digit |= byte.is_ascii_digit();
                    beyond |= !byte.is_ascii();
                }
                let straight = (beyond && word.contains(APOSTROPHES)).then(|| word.replace(APOSTROPHES, "'"));
                let word = straight.as_deref().unwrap_or(word);
                sink(Token::Word(word));
                if digit || beyond && word.chars().any(|c| class(c).is_number()) {
                    write_number(&mut number, &text[end..start], end > 0, word);
                    sink(Token::Number(&number));
                } else if negation.has(word) {
                    sink(Token::Negation(word));
                }
            }
            Piece::Run(run) | Piece::Letters(run) => characters(run, negation, sink),
        }
        end = start + part.len();
    });
    symbols.between(text, end, text.len(), sink);
}

const APOSTROPHES: [char; 3] = ['\u{2019}', '\u{2018}', '\u{2BC}'];

/// Writes a number with the sign and the decimal point that the gap before it ends with. They belong to the number
/// unless a word is right before them: COVID-19 and 10-20 hold no negative number. A sign may stand before a currency.
pub(crate) fn write_number(number: &mut String, gap: &str, after_word: bool, word: &str) {
    number.clear();
    let joined = |rest: &str| rest.is_empty() && after_word;
    let mut gap = gap;
    let point = gap.strip_suffix('.').filter(|rest| !joined(rest) && !rest.ends_with('.'));
    gap = point.unwrap_or(gap);
    gap = gap.strip_suffix(['$', '€', '£', '¥', '₹']).unwrap_or(gap);
    for (sign, plain) in [('-', '-'), ('\u{2212}', '-'), ('+', '+')] {
        let rest = gap.strip_suffix(sign);
        if rest.is_some_and(|rest| !joined(rest) && !rest.ends_with([sign, ')', ']'])) {
            number.push(plain);
        }
    }
    if point.is_some() {
        number.push('.');
    }
    if has_thousands(word) {
        number.extend(word.chars().filter(|&c| c != ','));
    } else {
        number.push_str(word);
    }
}

/// Returns whether commas part the thousands of a number: 1,000,000 or 1,000.5, but not 3,14 or 1,2,3.
fn has_thousands(word: &str) -> bool {
    let whole = word.split('.').next().unwrap_or(word);
    let mut groups = whole.split(',');
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().is_some_and(|group| (1..=3).contains(&group.len()) && digits(group));
    first && whole.contains(',') && groups.all(|group| group.len() == 3 && digits(group))
}

const NUMERALS: &str = "〇零一二三四五六七八九十百千万億亿兩两";
/// Characters that make a number of a single numeral: 三月, 两倍, 二回; 第一, 星期二, 周三.
const UNITS: &str = "月日号號年倍成折次回岁歲歳元";
const BEFORE: &str = "第期周週拜曜";

/// Reads a run of a script without spaces: its characters, digits, numerals of Han and phrases that negate.
fn characters(run: &str, negation: &Negation, sink: &mut impl FnMut(Token<'_>)) {
    run.char_indices().for_each(|(at, c)| sink(Token::Word(&run[at..at + c.len_utf8()])));
    let is_numeral = |c: char| NUMERALS.contains(c) || class(c).is_number();
    let (mut at, mut ordinal) = (0, false);
    while let Some(c) = run[at..].chars().next() {
        if is_numeral(c) {
            let length = run[at..].find(|c| !is_numeral(c)).unwrap_or(run.len() - at);
            let numeral = &run[at..at + length];
            // A single numeral is often part of a word, as in 一些; with a unit it is not.
            let counts = || run[at + length..].starts_with(|c| UNITS.contains(c));
            if ordinal || numeral.chars().nth(1).is_some() || !NUMERALS.contains(c) || counts() {
                sink(Token::Number(numeral));
            }
            at += length;
        } else if let Some((phrase, negates)) = negation.phrase(c, &run[at..]) {
            if negates {
                sink(Token::Negation(phrase));
            }
            at += phrase.len();
        } else {
            at += c.len_utf8();
        }
        ordinal = BEFORE.contains(c);
    }
}
