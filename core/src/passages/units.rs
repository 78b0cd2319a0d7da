//! Text → units: what passages are made of.
//!
//! A unit is a word, or a grapheme where a script has no spaces. Two units are equal when their words are after NFKC
//! and case folding, whichever apostrophe they are written with; punctuation and space are no unit.

use crate::chars::{Break, Group, class};
use crate::hash::token_key;
use crate::normalize::Normalize;
use crate::words::{Piece, each_piece};

/// A unit and its place, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Equal for equal units. The lowest bit tells a character of a script without spaces from a word.
    pub key: u64,
    /// Where it begins.
    pub start: usize,
    /// Where it ends, marks that belong to it included.
    pub end: usize,
}

impl Unit {
    /// Returns whether it is a character of a script without spaces.
    pub fn is_character(&self) -> bool {
        self.key & 1 == 1
    }
}

/// Returns the units of a text, in order.
pub fn units(text: &str) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::with_capacity(text.len() / 6);
    let mut buffer = String::new();
    each_piece(text, |piece| match piece {
        Piece::Word(word) => {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            units.push(Unit { key: word_key(word, &mut buffer), start, end: start + word.len() });
        }
        Piece::Run(run) | Piece::Letters(run) => {
            let start = run.as_ptr() as usize - text.as_ptr() as usize;
            characters(text, start..start + run.len(), &mut units, &mut buffer);
        }
    });
    units
}

fn word_key(word: &str, buffer: &mut String) -> u64 {
    let folded = Normalize::NfkcCasefold.apply(word, buffer);
    // Only an apostrophe may stand inside a word, and people write it in many ways.
    if folded.contains(['\u{2019}', '\u{2018}', '\u{2BC}']) {
        return token_key(&folded.replace(['\u{2019}', '\u{2018}', '\u{2BC}'], "'")) & !1;
    }
    token_key(folded) & !1
}

/// Cuts a run of a script without spaces into graphemes.
fn characters(text: &str, run: std::ops::Range<usize>, units: &mut Vec<Unit>, buffer: &mut String) {
    let mut at = run.start;
    // A mark that begins a run belongs to what is before it.
    if let Some(before) = units.last_mut().filter(|before| before.end >= at) {
        at = after_marks(text, before.end);
        before.end = at;
    }
    while at < run.end {
        let first = text[at..].chars().next().map_or(1, char::len_utf8);
        let end = after_marks(text, at + first);
        let key = token_key(Normalize::NfkcCasefold.apply(&text[at..end], buffer)) | 1;
        units.push(Unit { key, start: at, end });
        at = end;
    }
}

/// Returns where what belongs to the character before `at` ends: marks, the vowels of Thai and Lao that are written as
/// one, and what a mark of Burmese or Khmer stacks below it.
fn after_marks(text: &str, at: usize) -> usize {
    let mut end = at;
    let mut stacks = false;
    for c in text[at..].chars() {
        let mark = matches!(class(c).word_break(), Break::Extend | Break::Zwj) || matches!(c, '\u{E33}' | '\u{EB3}');
        let stacked = stacks && class(c).group() == Group::Letters;
        if c < '\u{80}' || !(mark || stacked) {
            break;
        }
        // Further marks may stand between.
        stacks = matches!(c, '\u{1039}' | '\u{17D2}') || stacks && mark;
        end += c.len_utf8();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    fn written(text: &str) -> Vec<&str> {
        units(text).iter().map(|unit| &text[unit.start..unit.end]).collect()
    }

    fn keys(text: &str) -> Vec<u64> {
        units(text).iter().map(|unit| unit.key).collect()
    }

    #[test]
    fn known_units() {
        assert_eq!(written("The cat's mat, 3.14!"), ["The", "cat's", "mat", "3.14"]);
        assert_eq!(written("我爱 NLP，你"), ["我", "爱", "NLP", "你"]);
        assert_eq!(written("น้ำใจ"), ["น้ำ", "ใ", "จ"]);
        assert_eq!(written("葛\u{E0100}城"), ["葛\u{E0100}", "城"]);
        assert_eq!(written("က\u{1039}ကက ខ\u{17D2}មែ"), ["က\u{1039}က", "က", "ខ\u{17D2}មែ"]);
        assert_eq!(written("?! …"), [""; 0]);
    }

    #[test]
    fn writing_does_not_matter() {
        for (left, right) in [
            ("don't", "DON\u{2019}T"),
            ("Ｈｅｌｌｏ，ｗｏｒｌｄ", "hello, world"),
            ("ｶﾞ", "ガ"),
            ("我「爱」你。", "我“爱”你."),
            ("葛\u{E0100}城", "葛城"),
        ] {
            assert_eq!(keys(left), keys(right), "{left} {right}");
        }
        assert!(units("我").iter().all(Unit::is_character) && !units("we").iter().any(Unit::is_character));
    }

    proptest! {
        #[test]
        fn units_are_in_order_and_on_grapheme_boundaries(text in "[a-zé\u{301}我葛\u{E0100}ｶﾞกำ้\u{200D}ᠠ '’.က္ခ]{0,24}|\\PC{0,24}") {
            let bounds: Vec<usize> =
                text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
            let mut end = 0;
            for unit in units(&text) {
                prop_assert!(unit.start >= end && unit.end > unit.start);
                end = unit.end;
                if unit.is_character() {
                    // Words follow the rules of words, which cut some graphemes of their own.
                    prop_assert!(bounds.contains(&unit.end), "{:?} ends at {}", text, unit.end);
                }
            }
        }
    }
}
