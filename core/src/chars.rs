//! The Unicode properties that every stage needs of a character, in one table look-up.

use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizer;
use icu_normalizer::properties::{CanonicalDecomposition, Decomposed};
use icu_properties::props::{
    BinaryProperty, CanonicalCombiningClass, ChangesWhenNfkcCasefolded, DefaultIgnorableCodePoint,
    ExtendedPictographic, GeneralCategory, GeneralCategoryGroup, Script, WordBreak,
};
use icu_properties::{CodePointMapData, CodePointSetData};

use crate::once::Once;

/// Word-break classes of UAX #29, reduced to those that decide where a word ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Break {
    Other,
    Letter,
    Hebrew,
    Numeric,
    /// Underscore and its like: joins letters, digits and itself.
    Joiner,
    MidLetter,
    MidNum,
    MidNumLet,
    SingleQuote,
    DoubleQuote,
    /// Extend, Format and ZWJ: belongs to the character before it.
    Extend,
    Zwj,
    Newline,
}

const BREAKS: [Break; 13] = [
    Break::Other,
    Break::Letter,
    Break::Hebrew,
    Break::Numeric,
    Break::Joiner,
    Break::MidLetter,
    Break::MidNum,
    Break::MidNumLet,
    Break::SingleQuote,
    Break::DoubleQuote,
    Break::Extend,
    Break::Zwj,
    Break::Newline,
];

/// How a script is written, as far as it decides how a text is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Group {
    /// With spaces between words; or no letter, digit or mark at all.
    Spaced,
    /// Han: without spaces, thousands of characters.
    Han,
    /// Hiragana and Katakana: without spaces, a hundred syllables.
    Kana,
    /// Thai, Lao, Tibetan, Myanmar, Khmer: without spaces, a few dozen letters.
    Letters,
    /// Syllables of Hangul: with spaces, but particles follow a word without one, and people leave spaces out.
    Hangul,
}

/// Groups.
pub(crate) const GROUPS: usize = 5;
const GROUP_OF: [Group; 8] = [
    Group::Spaced,
    Group::Han,
    Group::Kana,
    Group::Letters,
    Group::Hangul,
    Group::Spaced,
    Group::Spaced,
    Group::Spaced,
];

/// The properties of one character, packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class(u32);

/// Three bits.
const GROUP: u32 = 4;
const WORDLIKE: u32 = 1 << 7;
const UNSTABLE: u32 = 1 << 8;
const IGNORABLE: u32 = 1 << 9;
const PICTOGRAPH: u32 = 1 << 10;
const NUMBER: u32 = 1 << 11;
/// From here on: what the character normalises to, or 0. Nothing normalises to a character beyond plane 3.
const MAPPED: u32 = 12;

impl Class {
    #[inline]
    pub(crate) fn word_break(self) -> Break {
        BREAKS[(self.0 & 15) as usize]
    }
    /// Returns how its script is written.
    #[inline]
    pub(crate) fn group(self) -> Group {
        GROUP_OF[(self.0 >> GROUP & 7) as usize]
    }
    /// Returns whether it is a letter, digit or mark of a script written without spaces.
    #[inline]
    pub(crate) fn is_unspaced(self) -> bool {
        !matches!(self.group(), Group::Spaced | Group::Hangul)
    }
    /// Returns whether it is of general category L or N; a segment with such a character is a word.
    #[inline]
    pub(crate) fn is_wordlike(self) -> bool {
        self.0 & WORDLIKE != 0
    }
    /// Returns whether it is of general category N.
    #[inline]
    pub(crate) fn is_number(self) -> bool {
        self.0 & NUMBER != 0
    }
    /// Returns whether normalising may change it or compose it with the character before.
    #[inline]
    pub(crate) fn is_unstable(self) -> bool {
        self.0 & UNSTABLE != 0
    }
    #[inline]
    pub(crate) fn is_ignorable(self) -> bool {
        self.0 & IGNORABLE != 0
    }
    /// Returns the single character it normalises to in every context, if there is one: small letters for capitals,
    /// plain commas for full-width ones.
    #[inline]
    pub(crate) fn mapped(self) -> Option<char> {
        char::from_u32(self.0 >> MAPPED).filter(|&c| c != '\0')
    }
    #[inline]
    pub(crate) fn is_pictograph(self) -> bool {
        self.0 & PICTOGRAPH != 0
    }
}

/// Returns the class of a character.
#[inline]
pub(crate) fn class(c: char) -> Class {
    TABLE.get().get(c)
}

/// Returns whether it is a usual Han character, U+4E00 to U+9FFF. Normalising changes none of them, and all are of the
/// group Han.
#[inline]
pub(crate) fn is_usual_han(c: char) -> bool {
    ('\u{4E00}'..='\u{9FFF}').contains(&c)
}

/// Returns how many bytes at the start of a text are usual Han characters. Nothing is decoded: each has three bytes,
/// and the first two lie between those of the first and of the last character.
#[inline]
pub(crate) fn usual_han_length(text: &str) -> usize {
    let (characters, _) = text.as_bytes().as_chunks::<3>();
    let other = |&[first, second, _]: &[u8; 3]| !(0xE4B8..=0xE9BF).contains(&u16::from_be_bytes([first, second]));
    3 * characters.iter().position(other).unwrap_or(characters.len())
}

static TABLE: Once<CharTable<Class>> = Once::new(|| {
    let properties = Properties::new();
    CharTable::new(Class(0), |code| properties.class(code))
});

const PAGE: usize = 256;

/// A two-stage table of all characters: equal pages are stored once. Built in some milliseconds at first use,
/// so that the Unicode data has one source, the ICU crates, and none of it is generated code.
pub(crate) struct CharTable<T> {
    pages: Vec<u16>,
    entries: Vec<T>,
}

impl<T: Copy + PartialEq> CharTable<T> {
    /// Makes the table of a function of code points; unassigned planes have the value `blank`.
    pub(crate) fn new(blank: T, value: impl Fn(u32) -> T) -> CharTable<T> {
        let mut table = CharTable { pages: Vec::new(), entries: Vec::new() };
        for start in (0..0x11_0000u32).step_by(PAGE) {
            // Planes 4 to 13 are unassigned, 15 and 16 private: no page of theirs differs.
            let is_blank = (0x4_0000..0xE_0000).contains(&start) || start >= 0xF_0000;
            let page: Vec<T> =
                (start..start + PAGE as u32).map(|code| if is_blank { blank } else { value(code) }).collect();
            let known = table.entries.chunks(PAGE).position(|old| old == page);
            let index = known.unwrap_or_else(|| {
                table.entries.extend(page);
                table.entries.len() / PAGE - 1
            });
            table.pages.push(index as u16);
        }
        table
    }

    #[inline]
    pub(crate) fn get(&self, c: char) -> T {
        let code = c as usize;
        let page = usize::from(self.pages[code / PAGE]);
        self.entries[page * PAGE + code % PAGE]
    }
}

struct Properties {
    composing_seconds: std::collections::HashSet<u32>,
    ignorable: Set,
    pictographs: Set,
    changing: Set,
}

/// A set of characters as bits. The ICU set searches a list for each character, too slow for the million look-ups that
/// build the table.
struct Set(Vec<u64>);

impl Set {
    fn of<P: BinaryProperty>() -> Set {
        let mut bits = vec![0; 0x11_0000 / 64];
        for code in CodePointSetData::new::<P>().iter_ranges().flatten() {
            bits[code as usize / 64] |= 1 << (code % 64);
        }
        Set(bits)
    }

    fn has(&self, code: u32) -> bool {
        self.0.get(code as usize / 64).is_some_and(|word| word >> (code % 64) & 1 == 1)
    }
}

impl Properties {
    fn new() -> Properties {
        // A character composes with its predecessor only if some decomposition ends in it.
        let decomposition = CanonicalDecomposition::new();
        let composing_seconds = (0..0x2_0000)
            .filter_map(char::from_u32)
            .filter_map(|c| match decomposition.decompose(c) {
                Decomposed::Expansion(_, second) => Some(second as u32),
                _ => None,
            })
            .collect();
        Properties {
            composing_seconds,
            ignorable: Set::of::<DefaultIgnorableCodePoint>(),
            pictographs: Set::of::<ExtendedPictographic>(),
            changing: Set::of::<ChangesWhenNfkcCasefolded>(),
        }
    }

    fn class(&self, code: u32) -> Class {
        let category = CodePointMapData::<GeneralCategory>::new().get32(code);
        let script = CodePointMapData::<Script>::new().get32(code);
        let word_break = CodePointMapData::<WordBreak>::new().get32(code);
        let number = GeneralCategoryGroup::Number.contains(category);
        let wordlike = number || GeneralCategoryGroup::Letter.contains(category);
        let group = match script {
            // The mark between syllables is to Tibetan what a letter is: without it a run would be one syllable.
            _ if matches!(code, 0x0F0B | 0x0F0C) => Group::Letters,
            // The half-width sound marks of Katakana are letters that UAX #29 treats as marks.
            _ if word_break == WordBreak::Katakana || matches!(code, 0xFF9E | 0xFF9F) => Group::Kana,
            _ if !wordlike && !GeneralCategoryGroup::Mark.contains(category) => Group::Spaced,
            Script::Han => Group::Han,
            Script::Hiragana | Script::Katakana => Group::Kana,
            Script::Thai | Script::Lao | Script::Tibetan | Script::Myanmar | Script::Khmer => Group::Letters,
            _ if (0xAC00..=0xD7A3).contains(&code) => Group::Hangul,
            _ => Group::Spaced,
        };
        let ignorable = self.ignorable.has(code);
        let mut bits = break_of(word_break) as u32 | (group as u32) << GROUP;
        for (flag, set) in [
            (WORDLIKE, wordlike),
            (NUMBER, number),
            (UNSTABLE, ignorable || self.is_unstable(code)),
            (IGNORABLE, ignorable),
            (PICTOGRAPH, self.pictographs.has(code)),
        ] {
            if set {
                bits |= flag;
            }
        }
        let mapped = if ignorable { None } else { self.mapped(code) };
        Class(bits | mapped.map_or(0, |c| c as u32) << MAPPED)
    }

    fn mapped(&self, code: u32) -> Option<char> {
        let c = char::from_u32(code).filter(|_| self.is_unstable(code) && !self.composes(code))?;
        let nfkc = ComposingNormalizer::new_nfkc();
        let composed = nfkc.normalize(c.encode_utf8(&mut [0; 4])).into_owned();
        let folded = CaseMapper::new().fold_string(&composed).into_owned();
        let result = nfkc.normalize(&folded).into_owned();
        let mut chars = result.chars();
        let only = chars.next().filter(|_| chars.next().is_none())?;
        (only != c && !self.is_unstable(only as u32)).then_some(only)
    }

    /// Returns whether the character may join, or change places with, the one before it.
    fn composes(&self, code: u32) -> bool {
        // Vowel and trailing jamo of Hangul compose by arithmetic, not by table.
        matches!(code, 0x1160..=0x11FF)
            || self.composing_seconds.contains(&code)
            || CodePointMapData::<CanonicalCombiningClass>::new().get32(code) != CanonicalCombiningClass::NotReordered
    }

    fn is_unstable(&self, code: u32) -> bool {
        let Some(c) = char::from_u32(code) else { return false };
        let mut buffer = [0; 4];
        let text: &str = c.encode_utf8(&mut buffer);
        // The property omits characters that fold to a sequence which composes to them again, as ǰ does.
        self.composes(code)
            || self.changing.has(code)
            || CanonicalDecomposition::new().decompose(c) != Decomposed::Default
                && CaseMapper::new().fold_string(text) != text
    }
}

fn break_of(word_break: WordBreak) -> Break {
    match word_break {
        WordBreak::ALetter => Break::Letter,
        WordBreak::HebrewLetter => Break::Hebrew,
        WordBreak::Numeric => Break::Numeric,
        WordBreak::ExtendNumLet => Break::Joiner,
        WordBreak::MidLetter => Break::MidLetter,
        WordBreak::MidNum => Break::MidNum,
        WordBreak::MidNumLet => Break::MidNumLet,
        WordBreak::SingleQuote => Break::SingleQuote,
        WordBreak::DoubleQuote => Break::DoubleQuote,
        WordBreak::Extend | WordBreak::Format => Break::Extend,
        WordBreak::ZWJ => Break::Zwj,
        WordBreak::CR | WordBreak::LF | WordBreak::Newline => Break::Newline,
        _ => Break::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unstable_is_what_folding_or_composing_changes() {
        let properties = Properties::new();
        let nfkc = ComposingNormalizer::new_nfkc();
        for c in '\0'..=char::MAX {
            let mut buffer = [0; 4];
            let text: &str = c.encode_utf8(&mut buffer);
            let changes = CaseMapper::new().fold_string(text) != text || !nfkc.is_normalized(text);
            let expected = changes || properties.composes(c as u32) || class(c).is_ignorable();
            assert_eq!(class(c).is_unstable(), expected, "{c:?}");
        }
    }

    #[test]
    fn usual_han_is_stable_and_han() {
        for c in ('\0'..=char::MAX).filter(|&c| is_usual_han(c)) {
            assert_eq!((class(c).group(), class(c).is_unstable()), (Group::Han, false), "{c}");
        }
    }

    #[test]
    fn usual_han_is_told_by_two_bytes() {
        for c in '\0'..=char::MAX {
            let usual = if is_usual_han(c) { c.len_utf8() } else { 0 };
            for (text, before) in [(format!("{c}"), 0), (format!("一{c}"), 3), (format!("{c}é"), 0)] {
                assert_eq!(usual_han_length(&text), before + usual, "{text}");
            }
        }
        assert_eq!(usual_han_length(""), 0);
        assert_eq!(usual_han_length("一龥鿿㐀一"), 9);
    }

    #[test]
    fn classes_of_known_characters() {
        assert_eq!(class('a').word_break(), Break::Letter);
        assert_eq!(class('_').word_break(), Break::Joiner);
        assert_eq!(class('\'').word_break(), Break::SingleQuote);
        assert_eq!(class('א').word_break(), Break::Hebrew);
        for (characters, group) in [
            ("汉々〇", Group::Han),
            ("かカーﾞ", Group::Kana),
            ("ก็๑ລໍខ្មမ်བོ་༠", Group::Letters),
            ("a1。၊။།ㄱß", Group::Spaced),
            ("한힣", Group::Hangul),
        ] {
            for c in characters.chars() {
                assert_eq!(class(c).group(), group, "{c}");
                assert_eq!(class(c).is_unspaced(), !matches!(group, Group::Spaced | Group::Hangul), "{c}");
            }
        }
        for c in "Aßéｆ\u{301}\u{1161}\u{AD}\u{200D}".chars() {
            assert_eq!(class(c).is_unstable(), c != 'é', "{c:?}");
        }
        assert_eq!(class('，').mapped(), Some(','));
        assert_eq!(class('Ж').mapped(), Some('ж'));
        assert_eq!(class('ß').mapped(), None);
        assert!(class('\u{AD}').is_ignorable() && !class('汉').is_unstable());
        assert!(class('٣').is_wordlike() && !class('!').is_wordlike());
    }
}
