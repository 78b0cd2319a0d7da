//! Unicode normalisation: texts that look the same become the same.

use std::borrow::Cow;

use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizer;

use crate::chars::{Group, class, is_usual_han, usual_han_length};
use crate::entities::decoded_strictly;
use crate::error::{Error, choose};
use crate::folding::{Folded, Folding, is_unchanged_han, push_han};
use crate::words::ascii_length;

/// The differences of writing to remove before tokenising.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalize {
    /// `NfkcCasefold`, and ways of writing that say the same: optional marks, digits of any script, traditional
    /// characters, spaces between Han characters, references of HTML.
    Standard,
    /// `Standard`, and accents, hamza and other spellings.
    Fold,
    /// Default-ignorable characters dropped, NFKC, full case folding, NFKC.
    NfkcCasefold,
    /// NFKC only.
    Nfkc,
    /// Full case folding only.
    Casefold,
    /// Lower case as Python's `str.lower`.
    Lower,
    /// The text as it is.
    None,
}

impl std::str::FromStr for Normalize {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        choose(
            "normalize",
            name,
            &[
                ("standard", Normalize::Standard),
                ("fold", Normalize::Fold),
                ("nfkc_casefold", Normalize::NfkcCasefold),
                ("nfkc", Normalize::Nfkc),
                ("casefold", Normalize::Casefold),
                ("lower", Normalize::Lower),
                ("none", Normalize::None),
            ],
        )
    }
}

impl Normalize {
    /// Returns the text in this form. `buffer` is reused between calls and holds the result if the text had to change.
    pub fn apply<'a>(self, text: &'a str, buffer: &'a mut String) -> &'a str {
        self.apply_keeping(text, Kept::default(), buffer)
    }

    /// Returns the text in this form, but for what is to be kept.
    pub(crate) fn apply_keeping<'a>(self, text: &'a str, kept: Kept, buffer: &'a mut String) -> &'a str {
        match self {
            Normalize::None => return text,
            Normalize::Nfkc if text.is_ascii() => return text,
            Normalize::Standard => folded(text, Folding::Standard, kept, buffer),
            Normalize::Fold => {
                folded(text, Folding::Loose, kept, buffer);
                without_e(buffer);
            }
            // For ASCII all three foldings are the same; this loop is vectorised.
            _ if text.is_ascii() => {
                buffer.clear();
                push_ascii_lower(text, buffer);
            }
            Normalize::NfkcCasefold => {
                buffer.clear();
                settle(text, &CaseFolding, buffer);
            }
            Normalize::Nfkc => *buffer = ComposingNormalizer::new_nfkc().normalize(text).into_owned(),
            Normalize::Casefold => *buffer = CaseMapper::new().fold_string(text).into_owned(),
            Normalize::Lower => *buffer = text.to_lowercase(),
        }
        buffer
    }
}

/// What `standard` and `fold` keep as it is written, for tokenizers that need it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// White space between Han characters, where tokens are cut at white space.
    pub(crate) spaces: bool,
    /// References of HTML, where they were decoded before: decoded once more, one could pass for a line of a view.
    pub(crate) references: bool,
}

/// Writes a text into `out` by a folding.
fn folded(text: &str, folding: Folding, kept: Kept, out: &mut String) {
    let text = if kept.references { Cow::Borrowed(text) } else { decoded_strictly(text) };
    out.clear();
    if text.is_ascii() {
        push_ascii_lower(&text, out);
    } else {
        settle(&text, &Writing { folding, kept }, out);
    }
}

/// Drops the e after a, o and u: ä is an a here, and people write ae for it.
fn without_e(text: &mut String) {
    let mut before = '\0';
    text.retain(|c| {
        let drops = c == 'e' && matches!(before, 'a' | 'o' | 'u');
        before = if drops { before } else { c };
        !drops
    });
}

/// The rules of a form: what is decided by a character alone, and what by its neighbours.
trait Rules {
    /// Returns what becomes of a character beyond ASCII.
    fn of(&self, c: char) -> Folded;
    /// Returns whether a stretch of usual Han characters stays as it is.
    fn is_unchanged_han(&self, stretch: &[u8]) -> bool;
    /// Appends a stretch of usual Han characters.
    fn push_han(&self, stretch: &str, out: &mut String);
    /// Returns where the white space ends that is to be dropped from here on, if it is.
    fn dropped_space(&self, text: &str, at: usize) -> Option<usize>;
    /// Appends a stretch that must be looked at as a whole.
    fn push_whole(&self, text: &str, out: &mut String);
}

/// The rules of `nfkc_casefold`.
struct CaseFolding;

impl Rules for CaseFolding {
    #[inline(always)]
    fn of(&self, c: char) -> Folded {
        let class = class(c);
        match class.mapped() {
            _ if !class.is_unstable() => Folded::Same,
            Some(mapped) => Folded::To(mapped),
            None => Folded::Depends,
        }
    }

    #[inline(always)]
    fn is_unchanged_han(&self, _: &[u8]) -> bool {
        true
    }

    fn push_han(&self, stretch: &str, out: &mut String) {
        out.push_str(stretch);
    }

    #[inline(always)]
    fn dropped_space(&self, _: &str, _: usize) -> Option<usize> {
        None
    }

    fn push_whole(&self, text: &str, out: &mut String) {
        out.push_str(&nfkc_casefold_whole(text));
    }
}

/// The rules of `standard` and `fold`.
struct Writing {
    folding: Folding,
    kept: Kept,
}

impl Rules for Writing {
    #[inline(always)]
    fn of(&self, c: char) -> Folded {
        self.folding.of(c)
    }

    #[inline(always)]
    fn is_unchanged_han(&self, stretch: &[u8]) -> bool {
        is_unchanged_han(self.folding, stretch)
    }

    fn push_han(&self, stretch: &str, out: &mut String) {
        push_han(self.folding, stretch.as_bytes(), out);
    }

    #[inline(always)]
    fn dropped_space(&self, text: &str, at: usize) -> Option<usize> {
        // Han and Kana have three bytes at least, of which the first is at least this.
        let wide = at >= 3 && text.as_bytes()[at - 3] >= 0xE3 || at >= 4 && text.as_bytes()[at - 4] >= 0xF0;
        if wide && !self.kept.spaces { space_between_han(text, at) } else { None }
    }

    fn push_whole(&self, text: &str, out: &mut String) {
        self.folding.push(&nfkc_casefold_whole(text), out);
    }
}

/// Returns where the white space that begins here ends, if it stands between two characters of Han or Kana, of which
/// the second is no half-width sound mark, which would join the first.
fn space_between_han(text: &str, at: usize) -> Option<usize> {
    let wide = |c: char| matches!(class(c).group(), Group::Han | Group::Kana);
    let rest = text[at..].trim_start();
    let end = text.len() - rest.len();
    let (before, after) = (text[..at].chars().next_back()?, rest.chars().next()?);
    (end > at && wide(before) && wide(after) && !matches!(after, '\u{FF9E}' | '\u{FF9F}')).then_some(end)
}

/// Copies stretches that a form cannot change, maps single characters that become single characters, and hands only the
/// rest to ICU.
///
/// What must be looked at as a whole starts one character before the first that may compose with it,
/// and ends before the next that, stable or mapped, composes with nothing before it.
fn settle(text: &str, rules: &impl Rules, out: &mut String) {
    let settled = |c: char| c < '\u{80}' || rules.of(c) != Folded::Depends;
    let mut copied = 0;
    // Where the last character begins, in the text and, if it is already written, in the output.
    let mut last = 0;
    let mut last_out = None;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let next = at + c.len_utf8();
        if (c < '\u{80}' || c.is_whitespace())
            && let Some(end) = rules.dropped_space(text, at)
        {
            push_ascii_lower(&text[copied..at], out);
            (copied, at) = (end, end);
            (last, last_out) = (end, None);
            continue;
        }
        if c < '\u{80}' {
            at += ascii_length(&text.as_bytes()[at..]);
            (last, last_out) = (at - 1, None);
            continue;
        }
        if is_usual_han(c) {
            let end = at + usual_han_length(&text[at..]);
            let last_length = c.len_utf8();
            if rules.is_unchanged_han(&text.as_bytes()[at..end]) {
                (last, last_out, at) = (end - last_length, None, end);
            } else {
                push_ascii_lower(&text[copied..at], out);
                rules.push_han(&text[at..end], out);
                (last, last_out) = (end - last_length, Some(out.len() - last_length));
                (copied, at) = (end, end);
            }
            continue;
        }
        let folded = rules.of(c);
        match folded {
            Folded::Same => (last, last_out, at) = (at, None, next),
            Folded::To(_) | Folded::Dropped => {
                push_ascii_lower(&text[copied..at], out);
                (last, last_out) = (at, Some(out.len()));
                if let Folded::To(mapped) = folded {
                    out.push(mapped);
                }
                (copied, at) = (next, next);
            }
            Folded::Depends => {
                match last_out {
                    // The character before is not copied yet, or was mapped: it is taken back into this stretch.
                    None if last >= copied => push_ascii_lower(&text[copied..last], out),
                    None => last = copied,
                    Some(length) => out.truncate(length),
                }
                let end = text[at..].find(settled).map_or(text.len(), |found| at + found);
                rules.push_whole(&text[last..end], out);
                (copied, at) = (end, end);
                (last, last_out) = (end, None);
            }
        }
    }
    push_ascii_lower(&text[copied..], out);
}

/// Appends text whose only unstable characters are ASCII capitals.
fn push_ascii_lower(text: &str, out: &mut String) {
    let start = out.len();
    out.push_str(text);
    out[start..].make_ascii_lowercase();
}

/// Returns the normalised text by the definition, without the fast path.
pub(crate) fn nfkc_casefold_whole(text: &str) -> String {
    let visible: Cow<'_, str> = if text.chars().any(|c| class(c).is_ignorable()) {
        text.chars().filter(|&c| !class(c).is_ignorable()).collect::<String>().into()
    } else {
        text.into()
    };
    let nfkc = ComposingNormalizer::new_nfkc();
    let composed = nfkc.normalize(&visible);
    let folded = CaseMapper::new().fold_string(&composed);
    nfkc.normalize(&folded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn apply(form: Normalize, text: &str) -> String {
        form.apply(text, &mut String::new()).to_owned()
    }

    #[test]
    fn known_forms() {
        for (text, expected) in [
            ("Straße", "strasse"),
            ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
            ("e\u{301}té É", "été é"),
            ("soft\u{AD}hyphen", "softhyphen"),
            ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
            ("가\u{11A8}", "각"),
            ("汉字，标点", "汉字,标点"),
            ("", ""),
        ] {
            assert_eq!(apply(Normalize::NfkcCasefold, text), expected, "{text:?}");
        }
        assert_eq!(apply(Normalize::Lower, "ΟΔΟΣ Ab"), "οδος ab");
        assert_eq!(apply(Normalize::Nfkc, "Ａb"), "Ab");
        assert_eq!(apply(Normalize::Casefold, "ß\u{AD}"), "ss\u{AD}");
        assert_eq!(apply(Normalize::None, "Ａ"), "Ａ");
    }

    #[test]
    fn unknown_name_lists_the_choices() {
        let error = "nfc".parse::<Normalize>().unwrap_err().to_string();
        assert!(error.contains("normalize") && error.contains("\"nfc\"") && error.contains("nfkc_casefold"));
    }

    /// The definition of `standard` and `fold`, step by step.
    fn folded_naively(text: &str, folding: Folding) -> String {
        let text = decoded_strictly(text);
        let chars: Vec<char> = text.chars().collect();
        let wide = |c: char| matches!(class(c).group(), Group::Han | Group::Kana);
        let mut joined = String::new();
        let mut at = 0;
        while at < chars.len() {
            let end = at + chars[at..].iter().take_while(|c| c.is_whitespace()).count();
            let between = at > 0 && end > at && end < chars.len();
            if between && wide(chars[at - 1]) && wide(chars[end]) && !matches!(chars[end], '\u{FF9E}' | '\u{FF9F}') {
                at = end;
            }
            joined.push(chars[at]);
            at += 1;
        }
        let mut out = String::new();
        folding.push(&nfkc_casefold_whole(&joined), &mut out);
        if folding == Folding::Loose {
            for letter in ["a", "o", "u"] {
                while out.contains(&format!("{letter}e")) {
                    out = out.replace(&format!("{letter}e"), letter);
                }
            }
        }
        out
    }

    #[test]
    fn the_same_in_another_writing() {
        for (text, plain) in [
            ("שָׁלוֹם", "שלום"),
            ("مُحَمَّدٌ", "محمد"),
            ("كتـــاب", "كتاب"),
            ("за́мок", "замок"),
            ("٣٤ ۳۴ ३४ ๓๔ ３４", "34 34 34 34 34"),
            ("ISPARTA Istanbul İSTANBUL ısparta", "isparta istanbul istanbul isparta"),
            ("ΑΘΗΝΑ Αθήνα", "αθηνα αθηνα"),
            ("προϊόν ΐ", "προϊον ϊ"),
            ("漢語 語⻓", "汉语语长"),
            ("汉 字　与\n字", "汉字与字"),
            ("汉 a 字", "汉 a 字"),
            ("a&nbsp;b &amp;nbsp; &#27721;&#x5B57; AT&T &copy", "a b   汉字 at&t &copy"),
            ("café tiếng ё", "café tiếng ё"),
            ("й Й é", "й й é"),
        ] {
            assert_eq!(
                apply(Normalize::Standard, text).split_whitespace().collect::<Vec<_>>(),
                plain.split_whitespace().collect::<Vec<_>>(),
                "{text}"
            );
        }
        for (text, plain) in [
            ("Café tiếng Việt Đà", "cafe tieng viet da"),
            ("Müller Mueller Muller", "muller muller muller"),
            ("Ærø Łódź ёж", "aro lodz еж"),
            ("أحمد إلى مدرسة", "احمد الي مدرسه"),
            ("کتاب ی", "كتاب ي"),
        ] {
            assert_eq!(apply(Normalize::Fold, text), plain, "{text}");
        }
    }

    #[test]
    fn what_is_kept_is_as_written() {
        let apply = |text, kept| Normalize::Standard.apply_keeping(text, kept, &mut String::new()).to_owned();
        assert_eq!(apply("汉 字 &#10;", Kept { spaces: true, references: false }), "汉 字 \n");
        assert_eq!(apply("汉 字 &#10;", Kept { spaces: false, references: true }), "汉字 &#10;");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn folding_equals_its_steps(text in "\\PC*|[a-zA-ZİıéάΐϊЖё\u{300}\u{301}\u{307}\u{308}\u{AD}\u{64B}\u{640}\u{5B8}שالأ٣३漢语汉⻓カｶﾞ&#x; \n\u{3000}가한e]*|([漢汉か][ \u{3000}\n]{0,2}){0,9}") {
            prop_assert_eq!(apply(Normalize::Standard, &text), folded_naively(&text, Folding::Standard));
            prop_assert_eq!(apply(Normalize::Fold, &text), folded_naively(&text, Folding::Loose));
        }
    }

    proptest! {
        #[test]
        fn stretches_equal_the_whole(text in "\\PC*|[a-zA-ZéЖÉ，\u{300}-\u{302}\u{AD}ａ-ｄ가\u{1161}\u{11A8}한漢Å\u{345}ᾳ ]*") {
            prop_assert_eq!(apply(Normalize::NfkcCasefold, &text), nfkc_casefold_whole(&text));
        }

        #[test]
        fn once_is_enough(text in "\\PC*") {
            let once = apply(Normalize::NfkcCasefold, &text);
            prop_assert_eq!(apply(Normalize::NfkcCasefold, &once), once.clone());
        }
    }
}
