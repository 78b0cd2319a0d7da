//! Unicode normalisation: texts that look the same become the same.

use std::borrow::Cow;

use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizer;

use crate::chars::{class, is_usual_han, usual_han_length};
use crate::error::{Error, choose};
use crate::words::ascii_length;

/// The differences of writing to remove before tokenising.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalize {
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
        if self == Normalize::None {
            return text;
        }
        if text.is_ascii() {
            if self == Normalize::Nfkc {
                return text;
            }
            // For ASCII all three foldings are the same; this loop is vectorised.
            buffer.clear();
            buffer.push_str(text);
            buffer.make_ascii_lowercase();
            return buffer;
        }
        buffer.clear();
        match self {
            Normalize::NfkcCasefold => nfkc_casefold(text, buffer),
            Normalize::Nfkc => buffer.push_str(&ComposingNormalizer::new_nfkc().normalize(text)),
            Normalize::Casefold => buffer.push_str(&CaseMapper::new().fold_string(text)),
            Normalize::Lower => buffer.push_str(&text.to_lowercase()),
            Normalize::None => buffer.push_str(text),
        }
        buffer
    }
}

/// Copies stretches that normalising cannot change, maps single characters that become single
/// characters, and hands only the rest to ICU.
///
/// What must be looked at as a whole starts one character before the first that may compose with it,
/// and ends before the next that, stable or mapped, composes with nothing before it.
fn nfkc_casefold(text: &str, out: &mut String) {
    let settled = |c: char| c < '\u{80}' || !class(c).is_unstable() || class(c).mapped().is_some();
    let mut copied = 0;
    // Where the last character begins, in the text and, if it is already written, in the output.
    let mut last = 0;
    let mut last_out = None;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let next = at + c.len_utf8();
        if c < '\u{80}' {
            at += ascii_length(&text.as_bytes()[at..]);
            (last, last_out) = (at - 1, None);
            continue;
        }
        if is_usual_han(c) {
            at += usual_han_length(&text[at..]);
            (last, last_out) = (at - c.len_utf8(), None);
            continue;
        }
        if !class(c).is_unstable() {
            (last, last_out, at) = (at, None, next);
            continue;
        }
        if let Some(mapped) = class(c).mapped() {
            push_ascii_lower(&text[copied..at], out);
            (last, last_out) = (at, Some(out.len()));
            out.push(mapped);
            (copied, at) = (next, next);
            continue;
        }
        match last_out {
            // The character before is not copied yet, or was mapped: it is taken back into this stretch.
            None if last >= copied => push_ascii_lower(&text[copied..last], out),
            None => last = copied,
            Some(length) => out.truncate(length),
        }
        let end = text[at..].find(settled).map_or(text.len(), |found| at + found);
        out.push_str(&nfkc_casefold_whole(&text[last..end]));
        (copied, at) = (end, end);
        (last, last_out) = (end, None);
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
fn nfkc_casefold_whole(text: &str) -> String {
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
