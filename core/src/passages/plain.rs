//! Text → the same with what would be cut otherwise in another writing, and the places of both.
//!
//! References of HTML (`&nbsp;`, `&#20013;`), digits of scripts without spaces, radicals that stand for characters.
//! Everything else is folded unit by unit, and stays where it is. O(n); most texts have nothing of the kind.

use std::ops::Range;

use crate::chars::{class, usual_han_length};
use crate::entities::complete_references;
use crate::folding::{Folded, Folding};

/// A text in which stretches were replaced by single characters.
pub(super) struct Plain {
    pub(super) text: String,
    /// Where each replaced stretch ends, here and in the text as it was written.
    ends: Vec<(usize, usize)>,
}

impl Plain {
    /// Returns None if nothing has to be replaced.
    pub(super) fn new(written: &str) -> Option<Plain> {
        let changes = changes(written);
        if changes.is_empty() {
            return None;
        }
        let mut plain = Plain { text: String::with_capacity(written.len()), ends: Vec::with_capacity(changes.len()) };
        let mut copied = 0;
        for (place, character) in changes {
            plain.text.push_str(&written[copied..place.start]);
            plain.text.push(character);
            plain.ends.push((plain.text.len(), place.end));
            copied = place.end;
        }
        plain.text.push_str(&written[copied..]);
        Some(plain)
    }

    /// Returns a function from places here, in ascending order, to those of the text as it was written.
    pub(super) fn places(&self) -> impl FnMut(usize) -> usize {
        let mut before = (0, 0);
        let mut ends = self.ends.iter().copied().peekable();
        move |at| {
            while let Some(end) = ends.next_if(|&(here, _)| here <= at) {
                before = end;
            }
            before.1 + (at - before.0)
        }
    }
}

fn changes(text: &str) -> Vec<(Range<usize>, char)> {
    let mut found: Vec<(Range<usize>, char)> =
        complete_references(text).map(|(place, c)| (place, in_other_writing(c).unwrap_or(c))).collect();
    let references = found.len();
    let mut at = 0;
    // None of two bytes is among them but some of Latin-1.
    let may_be = |&byte: &u8| byte == 0xC2 || byte >= 0xE0;
    while let Some(next) = text.as_bytes()[at..].iter().position(may_be) {
        at += next;
        at += usual_han_length(&text[at..]);
        let Some(c) = text[at..].chars().next() else { break };
        found.extend(in_other_writing(c).map(|other| (at..at + c.len_utf8(), other)));
        at += c.len_utf8();
    }
    if references > 0 {
        found.sort_unstable_by_key(|(place, _)| place.start);
    }
    found
}

/// Returns what a character becomes if texts are cut otherwise there.
fn in_other_writing(c: char) -> Option<char> {
    let Folded::To(other) = Folding::Standard.of(c) else { return None };
    let cut = |c: char| (class(c).group(), class(c).word_break(), class(c).is_wordlike());
    (cut(c) != cut(other)).then_some(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_cut_otherwise_is_replaced() {
        for (written, plain) in [
            ("a&nbsp;b", "a\u{A0}b"),
            ("&#20013;文 &amp;nbsp;", "中文 \u{A0}"),
            ("ราคา ๓๔ บาท", "ราคา 34 บาท"),
            ("⽂⻓", "文长"),
            ("&#3667;", "3"),
        ] {
            assert_eq!(Plain::new(written).map(|found| found.text).as_deref(), Some(plain), "{written}");
        }
        for text in ["AT&T &copy &c.", "naïve “words”, ﬁne", "漢語，文字。", "ｶﾞ ３．１４", "שָׁלוֹם ٣٤", ""]
        {
            assert!(Plain::new(text).is_none(), "{text}");
        }
    }

    #[test]
    fn no_letter_of_two_bytes_is_cut_otherwise() {
        assert!(('\0'..'\u{80}').chain('\u{C0}'..'\u{800}').all(|c| in_other_writing(c).is_none()));
    }

    proptest! {
        #[test]
        fn places_are_those_of_the_text_as_written(parts in prop::collection::vec("&amp;|&#20013;|๓|⽂|[a-c中é]", 0..20)) {
            let written = parts.concat();
            let Some(plain) = Plain::new(&written) else { return Ok(()) };
            prop_assert_eq!(plain.text.chars().count(), parts.len());
            let mut to_written = plain.places();
            let mut place = 0;
            for ((at, _), part) in plain.text.char_indices().zip(&parts) {
                prop_assert_eq!(to_written(at), place);
                place += part.len();
            }
            prop_assert_eq!(to_written(plain.text.len()), written.len());
        }
    }
}
