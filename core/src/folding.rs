//! What a character says, however it is written: the tables behind the forms `standard` and `fold`.

use std::collections::HashMap;

use hanconv::RawDictionary;
use icu_normalizer::{ComposingNormalizer, DecomposingNormalizer};
use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, Script};

use crate::chars::{CharTable, class};
use crate::normalize::nfkc_casefold_whole;
use crate::once::Once;

/// Which ways of writing are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folding {
    /// Those that every reader takes for the same: optional marks, digits, forms of a character.
    Standard,
    /// Also those that some languages need to tell words apart: accents, hamza.
    Loose,
}

/// What becomes of one character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folded {
    Same,
    To(char),
    Dropped,
    /// It depends on the characters before it.
    Depends,
}

/// Radicals that look like characters (Equivalent_Unified_Ideograph of Unicode), each followed by that character.
/// Those of the block Kangxi Radicals are mapped by NFKC already.
const RADICALS: &str = "⺁厂⺂乛⺃乚⺄乙⺅亻⺆冂⺈刀⺉刂⺊卜⺋㔾⺌小⺍小⺎兀⺏尣⺐尢⺒巳⺓幺⺔彑⺕彐⺖忄⺗心⺘扌⺙攵⺛旡⺜日 \
    ⺝月⺞歺⺟母⺠民⺡氵⺢氺⺣灬⺤爫⺥爫⺦丬⺧牛⺨犭⺩王⺫目⺬示⺭礻⺯糹⺰纟⺱罓⺲罒⺳㓁⺴冗⺶羊⺹耂 \
    ⺺肀⺻聿⺼肉⺾艹⺿艹⻀艹⻁虎⻂衤⻃覀⻄西⻅见⻆角⻈讠⻉贝⻋车⻌辶⻍辶⻎辶⻏邑⻐钅⻑長⻒镸⻓长⻔门 \
    ⻖阝⻗雨⻘青⻙韦⻚页⻛风⻜飞⻝食⻟飠⻠饣⻢马⻣骨⻤鬼⻥鱼⻦鸟⻧卤⻨麦⻩黄⻪黾⻫斉⻬齐⻭歯⻮齿⻯竜 \
    ⻰龙⻱龜⻲亀⻳龟";

/// Letters of Latin with a stroke or a ligature, which have no decomposition, each followed by its plain letter.
const PLAIN_LATIN: &str = "æaœoøoðdđdłlħhŧtıiȷjƀbɨiŋn";
/// Spellings of Arabic and Persian letters, and the letter that stands for all: alef, waw, ya, kaf, ha.
const PLAIN_ARABIC: [(char, char); 16] = [
    ('\u{623}', '\u{627}'),
    ('\u{625}', '\u{627}'),
    ('\u{622}', '\u{627}'),
    ('\u{671}', '\u{627}'),
    ('\u{624}', '\u{648}'),
    ('\u{626}', '\u{64A}'),
    ('\u{649}', '\u{64A}'),
    ('\u{6CC}', '\u{64A}'),
    ('\u{6D0}', '\u{64A}'),
    ('\u{6A9}', '\u{643}'),
    ('\u{629}', '\u{647}'),
    ('\u{6C0}', '\u{647}'),
    ('\u{6C1}', '\u{647}'),
    ('\u{6C2}', '\u{647}'),
    ('\u{6BE}', '\u{647}'),
    ('\u{6D5}', '\u{647}'),
];

/// The marks of Arabic that say how a word is pronounced, and those of the Quran. Maddah and hamza are part of letters.
fn is_arabic_mark(c: char) -> bool {
    matches!(c, '\u{610}'..='\u{61A}' | '\u{64B}'..='\u{652}' | '\u{656}'..='\u{65F}' | '\u{670}'
        | '\u{6D6}'..='\u{6DC}' | '\u{6DF}'..='\u{6E4}' | '\u{6E7}' | '\u{6E8}' | '\u{6EA}'..='\u{6ED}'
        | '\u{897}'..='\u{89F}' | '\u{8CA}'..='\u{8E1}' | '\u{8E3}'..='\u{8FF}')
}

/// The vowels and accents of Hebrew.
fn is_hebrew_mark(c: char) -> bool {
    matches!(
        c,
        '\u{591}'..='\u{5BD}' | '\u{5BF}' | '\u{5C1}' | '\u{5C2}' | '\u{5C4}' | '\u{5C5}' | '\u{5C7}' | '\u{FB1E}'
    )
}

/// Returns whether a mark is dropped wherever it stands; tatweel, which only stretches a word, is one.
fn is_dropped(c: char) -> bool {
    is_arabic_mark(c) || is_hebrew_mark(c) || c == '\u{640}'
}

impl Folding {
    fn table(self) -> &'static Table {
        static STANDARD: Once<Table> = Once::new(|| Table::new(Folding::Standard));
        static LOOSE: Once<Table> = Once::new(|| Table::new(Folding::Loose));
        match self {
            Folding::Standard => STANDARD.get(),
            Folding::Loose => LOOSE.get(),
        }
    }

    /// Returns what becomes of a character.
    #[inline]
    pub(crate) fn of(self, c: char) -> Folded {
        self.table().characters.get(c)
    }

    /// Appends a text in the form `nfkc_casefold`, folded.
    pub(crate) fn push(self, text: &str, out: &mut String) {
        let table = self.table();
        let mut before = '\0';
        for c in text.chars() {
            if self.drops_after(before, c) {
                continue;
            }
            if !is_dropped(c) {
                out.push(table.single.get(&c).copied().unwrap_or(c));
            }
            before = c;
        }
    }

    /// Returns whether a mark after this character is dropped: the stress of Cyrillic, the dot that a Turkish capital I
    /// leaves behind, every accent if the folding is loose.
    fn drops_after(self, before: char, c: char) -> bool {
        match c {
            '\u{300}' | '\u{301}' if ('\u{400}'..='\u{52F}').contains(&before) => true,
            '\u{307}' if before == 'i' => true,
            '\u{300}'..='\u{36F}' => self == Folding::Loose,
            _ => false,
        }
    }
}

/// The number of usual Han characters, U+4E00 to U+9FFF.
const USUAL_HAN: usize = 0x5200;

/// Characters that become others alone are below this.
const LAST_SINGLE: usize = 0x2_0000;

/// What becomes of each character.
struct Table {
    characters: CharTable<Folded>,
    /// What a single character in the form `nfkc_casefold` becomes.
    single: HashMap<char, char>,
    /// A bit for each usual Han character that becomes another, and what each becomes.
    variants: Box<[u64; USUAL_HAN / 64]>,
    han: Vec<[u8; 3]>,
}

impl Table {
    fn new(folding: Folding) -> Table {
        let single = singles(folding);
        // A list for the hundred thousands of look-ups that build the table.
        let mut plain = vec![None; LAST_SINGLE];
        single.iter().for_each(|(&from, &to)| plain[from as usize] = Some(to));
        let characters = CharTable::new(Folded::Same, |code| {
            let Some(c) = char::from_u32(code) else { return Folded::Same };
            let class = class(c);
            if class.is_unstable() && class.mapped().is_none() {
                return Folded::Depends;
            }
            let stable = class.mapped().unwrap_or(c);
            if is_dropped(stable) {
                return Folded::Dropped;
            }
            let folded = plain.get(stable as usize).copied().flatten().unwrap_or(stable);
            if folded == c { Folded::Same } else { Folded::To(folded) }
        });
        let mut variants = Box::new([0; USUAL_HAN / 64]);
        let mut han = Vec::with_capacity(USUAL_HAN);
        for (at, c) in ('\u{4E00}'..='\u{9FFF}').enumerate() {
            let folded = single.get(&c).copied().unwrap_or(c);
            variants[at / 64] |= u64::from(folded != c) << (at % 64);
            let mut bytes = [0; 3];
            folded.encode_utf8(&mut bytes);
            han.push(bytes);
        }
        Table { characters, single, variants, han }
    }
}

/// Returns the place of a usual Han character among them.
#[inline(always)]
fn place(&[a, b, c]: &[u8; 3]) -> usize {
    ((usize::from(a & 15) << 12 | usize::from(b & 63) << 6 | usize::from(c & 63)) - 0x4E00) % USUAL_HAN
}

/// Returns whether a stretch of usual Han characters stays as it is.
#[inline]
pub(crate) fn is_unchanged_han(folding: Folding, stretch: &[u8]) -> bool {
    let variants = &folding.table().variants;
    let varies = |character: &[u8; 3]| variants[place(character) / 64] >> (place(character) % 64) & 1;
    // No branch in the inner loop: traditional characters are rare, or they are many.
    stretch
        .as_chunks::<3>()
        .0
        .chunks(32)
        .all(|some| some.iter().fold(0, |found, character| found | varies(character)) == 0)
}

/// Appends a stretch of usual Han characters, each as what it becomes.
pub(crate) fn push_han(folding: Folding, stretch: &[u8], out: &mut String) {
    let han = &folding.table().han;
    let start = out.len();
    // Filled up and then overwritten: every character has three bytes before and after.
    out.extend(std::iter::repeat_n('一', stretch.len() / 3));
    // SAFETY: each three bytes are replaced by three bytes that are one character.
    let written = unsafe { out[start..].as_bytes_mut() };
    for (to, character) in written.as_chunks_mut::<3>().0.iter_mut().zip(stretch.as_chunks::<3>().0) {
        *to = han[place(character)];
    }
}

/// Returns the characters in the form `nfkc_casefold` that become others.
fn singles(folding: Folding) -> HashMap<char, char> {
    let mut found = HashMap::new();
    let pairs = |list: &'static str| {
        let mut chars = list.chars().filter(|c| !c.is_whitespace());
        std::iter::from_fn(move || chars.next().zip(chars.next()))
    };
    decimal_digits(&mut found);
    // Traditional characters → simplified ones, where both are of the basic plane.
    let only = |text: &str| text.chars().next().filter(|c| text.len() == c.len_utf8() && text.len() == 3);
    for (from, to) in RawDictionary::TSCharacters.iter() {
        if let (Some(from), Some(to)) = (only(from), only(to)) {
            found.insert(from, to);
        }
    }
    found.extend(pairs(RADICALS));
    // A radical or a character may stand for one that has a simplified form itself.
    let once = found.clone();
    found.values_mut().for_each(|to| *to = once.get(to).copied().unwrap_or(*to));
    found.insert('ı', 'i');
    found.extend([('ѐ', 'е'), ('ѝ', 'и')]);
    let scripts = CodePointMapData::<Script>::new();
    for c in ('\u{C0}'..'\u{2000}').filter(|&c| c.is_alphabetic()) {
        match (scripts.get(c), folding) {
            (Script::Greek, Folding::Standard) => found.extend(without_marks(c, true).map(|plain| (c, plain))),
            (Script::Greek | Script::Latin, Folding::Loose) => {
                found.extend(without_marks(c, false).map(|plain| (c, plain)));
            }
            _ => {}
        }
    }
    if folding == Folding::Loose {
        found.insert('ё', 'е');
        found.extend(pairs(PLAIN_LATIN));
        // A letter may have a stroke and marks.
        let once = found.clone();
        found.values_mut().for_each(|to| *to = once.get(to).copied().unwrap_or(*to));
        found.extend(PLAIN_ARABIC);
    }
    found.retain(|from, to| from != to);
    found
}

/// Adds the decimal digits of all scripts. Unicode lists those of a script from 0 to 9.
fn decimal_digits(found: &mut HashMap<char, char>) {
    let categories = CodePointMapData::<GeneralCategory>::new();
    let digits = ('\u{80}'..'\u{20000}').filter(|&c| {
        class(c).is_number() && !class(c).is_unstable() && categories.get(c) == GeneralCategory::DecimalNumber
    });
    found.extend(digits.zip(('0'..='9').cycle()));
}

/// Returns a letter without its marks, but for the diaeresis if that is kept; None if nothing changes.
fn without_marks(c: char, keep_diaeresis: bool) -> Option<char> {
    // Capitals and the like are no part of the form that is folded.
    if class(c).is_unstable() && nfkc_casefold_whole(c.encode_utf8(&mut [0; 4])) != c.to_string() {
        return None;
    }
    let categories = CodePointMapData::<GeneralCategory>::new();
    let decomposed = DecomposingNormalizer::new_nfd().normalize(c.encode_utf8(&mut [0; 4])).into_owned();
    let is_mark = |c: char| categories.get(c) == GeneralCategory::NonspacingMark;
    let kept: String = decomposed.chars().filter(|&c| !is_mark(c) || keep_diaeresis && c == '\u{308}').collect();
    let composed = ComposingNormalizer::new_nfc().normalize(&kept).into_owned();
    let mut chars = composed.chars();
    chars.next().filter(|&plain| chars.next().is_none() && plain != c)
}
