//! Text → units: what passages are made of.
//!
//! A unit is a word, or a grapheme where a script has no spaces. Two units are equal when their words are in the form
//! `standard`, whichever apostrophe they are written with; punctuation and space are no unit.

use super::plain::Plain;
use crate::chars::{Break, Group, class};
use crate::folding::{Folded, Folding};
use crate::hash::token_key;
use crate::normalize::Normalize;
use crate::words::{Hangul, Piece, each_piece};

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
    let Some(plain) = Plain::new(text) else { return cut(text) };
    let mut units = cut(&plain.text);
    let mut to_written = plain.places();
    for unit in &mut units {
        (unit.start, unit.end) = (to_written(unit.start), to_written(unit.end));
    }
    units
}

fn cut(text: &str) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::with_capacity(text.len() / 6);
    let mut buffer = String::new();
    each_piece(text, Hangul::Words, |piece| match piece {
        Piece::Word(word) | Piece::Hangul(word) => {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            units.extend(word_key(word, &mut buffer).map(|key| Unit { key, start, end: start + word.len() }));
        }
        Piece::Run(run) | Piece::Letters(run) => {
            let start = run.as_ptr() as usize - text.as_ptr() as usize;
            characters(text, start..start + run.len(), &mut units, &mut buffer);
        }
    });
    units
}

/// Returns the key of a word; None if it has only marks that may be left out.
fn word_key(word: &str, buffer: &mut String) -> Option<u64> {
    if word.is_ascii() {
        // The same as `Standard`, without looking for references.
        return Some(token_key(Normalize::NfkcCasefold.apply(word, buffer)) & !1);
    }
    let folded = Normalize::Standard.apply(word, buffer);
    // Only an apostrophe may stand inside a word, and people write it in many ways.
    if folded.contains(['\u{2019}', '\u{2018}', '\u{2BC}']) {
        return Some(token_key(&folded.replace(['\u{2019}', '\u{2018}', '\u{2BC}'], "'")) & !1);
    }
    (!folded.is_empty()).then(|| token_key(folded) & !1)
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
        let Some(first) = text[at..].chars().next() else { break };
        let end = after_marks(text, at + first.len_utf8());
        let unit = &text[at..end];
        let key = match Folding::Standard.of(first) {
            Folded::Same if unit.len() == first.len_utf8() => token_key(unit),
            Folded::To(other) if unit.len() == first.len_utf8() => token_key(other.encode_utf8(&mut [0; 4])),
            _ => token_key(Normalize::Standard.apply(unit, buffer)),
        };
        units.push(Unit { key: key | 1, start: at, end });
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
            ("漢語大詞典，⻓⽂", "汉语大词典长文"),
            ("汉 字　与\n字", "汉字与字"),
            ("שָׁלוֹם עוֹלָם", "שלום עולם"),
            ("قَالَ الكتـــاب ـ", "قال الكتاب"),
            ("за́мок", "замок"),
            ("ΑΘΗΝΑ", "Αθήνα"),
            ("ราคา ๓๔๕ บาท ٣٤٥ ३४५", "ราคา 345 บาท 345 345"),
            ("a&nbsp;b AT&amp;T &#20013;&#x6587;", "a b AT&T 中文"),
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
