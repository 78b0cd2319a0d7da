//! Segmentation of text into Unicode words, in one pass.
//!
//! Runs of scripts written without spaces are taken out first; the text between them is cut by the word-boundary rules
//! of UAX #29 (<https://www.unicode.org/reports/tr29/>), O(n).

use crate::ascii_blocks::{BLOCK, BlockScanner, classify_at};
use crate::chars::{Break, Group, class, usual_han_length};
use crate::version::Version;
use crate::weights::{HAN, HAN_PAIR, HANGUL, HANGUL_PAIR, KANA, KANA_PAIR, LETTER, LETTER_PAIR, SYLLABLE, WINDOW};

/// A segment of text with letters or digits.
#[derive(Clone, Copy)]
pub(crate) enum Piece<'a> {
    /// A word by UAX #29 with at least one letter or digit.
    Word(&'a str),
    /// A maximal run of characters of Han and Kana.
    Run(&'a str),
    /// A maximal run of letters of other scripts without spaces.
    Letters(&'a str),
    /// A maximal run of words of Hangul, with white space between them (`Hangul::Runs`).
    Hangul(&'a str),
}

/// What becomes of Korean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hangul {
    /// Syllables are letters of words, as in other scripts with spaces.
    Words,
    /// Runs of words are pieces of their own, so that particles behind a name or a number and missing spaces cost little.
    Runs,
}

impl Version {
    /// Returns how the features of this version cut Korean.
    pub(crate) fn hangul(self) -> Hangul {
        if self == Version::Two { Hangul::Words } else { Hangul::Runs }
    }
}

/// A receiver of pieces, in order.
pub(crate) trait PieceSink<'a> {
    /// Takes one piece.
    fn piece(&mut self, piece: Piece<'a>);

    /// Takes words of ASCII: their starts and ends in the text.
    #[inline(always)]
    fn ascii_words(&mut self, text: &'a str, places: &[[usize; 2]]) {
        for &[start, end] in places {
            self.piece(Piece::Word(&text[start..end]));
        }
    }
}

/// A function of pieces.
struct Each<F>(F);

impl<'a, F: FnMut(Piece<'a>)> PieceSink<'a> for Each<F> {
    #[inline(always)]
    fn piece(&mut self, piece: Piece<'a>) {
        self.0(piece);
    }
}

/// Calls `sink` with every piece, in order.
#[inline]
pub(crate) fn each_piece<'a>(text: &'a str, hangul: Hangul, sink: impl FnMut(Piece<'a>)) {
    cut(text, hangul, &mut Each(sink));
}

/// Calls `sink` with each word and each part of a run without spaces.
#[inline]
pub(crate) fn each_word(text: &str, hangul: Hangul, mut sink: impl FnMut(&str)) {
    each_piece(text, hangul, |piece| match piece {
        Piece::Word(word) => sink(word),
        run => run.each_part(&mut |part, _| sink(part)),
    });
}

/// Calls `sink` with each word and each pair of neighbouring characters of a run. These can be joined to n-grams, since
/// none overlaps another by more than its neighbours do.
#[inline(never)]
pub(crate) fn each_neighbour<'a>(text: &'a str, hangul: Hangul, sink: &mut dyn FnMut(&'a str)) {
    each_piece(text, hangul, |piece| piece.each_neighbour(sink));
}

/// Letters of one window, for scripts with a small alphabet and no spaces.
pub(crate) const LONG_WINDOW: usize = 6;

impl<'a> Piece<'a> {
    /// Calls `sink` with a word, or with the pairs of a run, or with a run of one character.
    #[inline]
    pub(crate) fn each_neighbour(self, sink: &mut dyn FnMut(&'a str)) {
        match self {
            Piece::Word(word) => sink(word),
            Piece::Hangul(run) => run.split_whitespace().for_each(sink),
            Piece::Run(run) | Piece::Letters(run) if run.chars().nth(1).is_none() => sink(run),
            Piece::Run(run) | Piece::Letters(run) => each_window::<2>(run, &mut |pair| sink(pair)),
        }
    }

    /// Calls `sink` with the parts of a run and their weight classes; does nothing for a word.
    ///
    /// Han and Kana are cut into all characters and all pairs of neighbours, letters into all windows of two and of
    /// six; a single letter is one part. Hangul is cut into words, syllables and pairs of syllables.
    #[inline]
    pub(crate) fn each_part(self, sink: &mut impl FnMut(&str, u8)) {
        match self {
            Piece::Word(_) => {}
            Piece::Run(run) => {
                let mut before = None;
                for (at, c) in run.char_indices() {
                    let end = at + c.len_utf8();
                    let han = class(c).group() == Group::Han;
                    if let Some((start, han_before)) = before {
                        sink(&run[start..end], if han | han_before { HAN_PAIR } else { KANA_PAIR });
                    }
                    sink(&run[at..end], if han { HAN } else { KANA });
                    before = Some((at, han));
                }
            }
            Piece::Letters(run) if run.chars().nth(1).is_none() => sink(run, LETTER),
            Piece::Letters(run) => {
                each_window::<2>(run, &mut |pair| sink(pair, LETTER_PAIR));
                each_window::<LONG_WINDOW>(run, &mut |window| sink(window, WINDOW));
            }
            Piece::Hangul(run) => hangul_parts(run, sink),
        }
    }
}

/// Bytes of a syllable of Hangul.
const SYLLABLE_BYTES: usize = 3;

/// Calls `sink` with the words of a run of Hangul, its syllables, and all pairs of them, over the spaces between words.
/// A word of one or two syllables is no part of its own.
fn hangul_parts(run: &str, sink: &mut impl FnMut(&str, u8)) {
    const SIZE: usize = SYLLABLE_BYTES;
    let mut before: Option<&str> = None;
    for word in run.split_whitespace() {
        if word.len() > 2 * SIZE {
            sink(word, HANGUL);
        }
        for at in (0..word.len()).step_by(SIZE) {
            let syllable = &word[at..at + SIZE];
            match before {
                Some(_) if at > 0 => sink(&word[at - SIZE..at + SIZE], HANGUL_PAIR),
                Some(before) => {
                    let mut pair = [0; 2 * SIZE];
                    pair[..SIZE].copy_from_slice(before.as_bytes());
                    pair[SIZE..].copy_from_slice(syllable.as_bytes());
                    sink(std::str::from_utf8(&pair).unwrap_or_default(), HANGUL_PAIR);
                }
                None => {}
            }
            sink(syllable, SYLLABLE);
            before = Some(syllable);
        }
    }
}

/// Calls `sink` with every window of `N` characters.
#[inline]
fn each_window<'a, const N: usize>(run: &'a str, sink: &mut impl FnMut(&'a str)) {
    let ends = run.char_indices().map(|(at, c)| at + c.len_utf8()).skip(N - 1);
    for ((start, _), end) in run.char_indices().zip(ends) {
        sink(&run[start..end]);
    }
}

/// Calls `sink` with every piece.
///
/// Nearly all text in spaced scripts is ASCII. Long stretches of it are cut 64 bytes at a time; text near a character
/// beyond ASCII is cut piece by piece.
#[inline(always)]
pub(crate) fn cut<'a>(text: &'a str, hangul: Hangul, sink: &mut impl PieceSink<'a>) {
    let bytes = text.as_bytes();
    let mut blocks = BlockScanner::new(bytes);
    let mut at = 0;
    while at < bytes.len() {
        let beyond = at + ascii_length(&bytes[at..]);
        let stretch = if beyond == bytes.len() { beyond } else { after_separator(bytes, at, beyond) };
        if stretch - at >= BLOCK || stretch == bytes.len() {
            cut_ascii(&text[at..stretch], sink);
            at = stretch;
        }
        while at <= beyond && at < bytes.len() {
            at = cut_one(text, hangul, &mut blocks, at, sink);
        }
    }
}

/// Returns how many bytes come before the first beyond ASCII.
#[inline]
pub(crate) fn ascii_length(bytes: &[u8]) -> usize {
    let mut length = 0;
    while let Some(chunk) = bytes[length..].first_chunk::<{ BLOCK }>()
        && chunk.is_ascii()
    {
        length += BLOCK;
    }
    length + bytes[length..].iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len() - length)
}

/// Returns the last position up to `end` that no word crosses, or `start`.
#[inline]
fn after_separator(bytes: &[u8], start: usize, end: usize) -> usize {
    let separates = |&byte: &u8| BYTES[usize::from(byte)] == 0;
    bytes[start..end].iter().rposition(separates).map_or(start, |at| start + at + 1)
}

/// The most words of ASCII that the sink gets at a time.
pub(crate) const WORDS: usize = 128;

/// Cuts a stretch of ASCII that begins and ends between words.
///
/// A word is a run of letters, digits and underscores, and of single marks between two letters or between two digits.
/// Shifts of bits decide all of that, so only the number of words in a block can be mispredicted.
#[inline(always)]
fn cut_ascii<'a>(text: &'a str, sink: &mut impl PieceSink<'a>) {
    let bytes = text.as_bytes();
    // Where words begin and end, alternating.
    let mut edges = [0; 2 * WORDS];
    let mut count = 0;
    let mut underscores = false;
    // The last bit of each kind in the block before.
    let (mut letter, mut digit, mut inside_before) = (0, 0, 0);
    let mut next = classify_at(bytes, 0);
    let mut start = 0;
    // One block more where a word ends with the text.
    while start <= bytes.len() {
        let this = next;
        next = classify_at(bytes, start + BLOCK);
        let between = |kind: u64, last: u64, following: u64| (kind << 1 | last) & (kind >> 1 | following << 63);
        let joined = this.in_letters & between(this.letters, letter, next.letters)
            | this.in_digits & between(this.digits, digit, next.digits);
        let inside = this.inside() | joined;
        let mut changes = inside ^ (inside << 1 | inside_before);
        (letter, digit, inside_before) = (this.letters >> 63, this.digits >> 63, inside >> 63);
        underscores |= this.underscores != 0;
        while changes != 0 {
            edges[count % (2 * WORDS)] = start + changes.trailing_zeros() as usize;
            count += 1;
            changes &= changes - 1;
        }
        start += BLOCK;
        // Another block might not fit, or this is the end.
        if count > 2 * WORDS - BLOCK || start > bytes.len() {
            let (words, open) = edges[..count].as_chunks_mut::<2>();
            let mut number = words.len();
            if underscores {
                number = leave_out_underscores(bytes, words);
            }
            sink.ascii_words(text, &words[..number]);
            count = open.len();
            edges[0] = open.first().copied().unwrap_or(0);
            underscores = count > 0 && underscores;
        }
    }
}

/// Moves the words that are more than underscores to the front; returns their number.
#[cold]
#[inline(never)]
fn leave_out_underscores(bytes: &[u8], words: &mut [[usize; 2]]) -> usize {
    let mut number = 0;
    for at in 0..words.len() {
        let [start, end] = words[at];
        words[number] = [start, end];
        number += usize::from(bytes[start..end].iter().any(u8::is_ascii_alphanumeric));
    }
    number
}

/// Cuts the piece at or after `at`; returns where it ends.
#[inline(always)]
fn cut_one<'a>(
    text: &'a str,
    hangul: Hangul,
    blocks: &mut BlockScanner<'_>,
    at: usize,
    sink: &mut impl PieceSink<'a>,
) -> usize {
    let bytes = text.as_bytes();
    let at = blocks.next_candidate(at);
    let Some(&first) = bytes.get(at) else { return at };
    if !first.is_ascii() {
        let (end, piece) = piece_beyond_ascii(text, hangul, at);
        if let Some(piece) = piece {
            sink.piece(piece);
        }
        return end;
    }
    let mut end = blocks.next_outside(at);
    // One mark between two letters, or between two digits, does not end the word. That is rare; a single test of both
    // bytes is well predicted.
    while needs_a_look(bytes, end) {
        match after_mark(bytes, end) {
            Some(true) => end = blocks.next_outside(end + 1),
            Some(false) => break,
            None => {
                let (end, word) = segment(text, hangul, at);
                if let Some(word) = word {
                    sink.piece(word);
                }
                return end;
            }
        }
    }
    if first != b'_' || bytes[at..end].iter().any(u8::is_ascii_alphanumeric) {
        sink.piece(Piece::Word(&text[at..end]));
    }
    end
}

/// May stand between letters.
const IN_LETTERS: u8 = 1;
/// May stand between digits.
const IN_DIGITS: u8 = 2;
/// Not ASCII: all rules are needed.
const BEYOND: u8 = 4;
/// A letter, a digit or an underscore.
const WORD: u8 = 8;

/// The role of a byte after a run of word characters.
const BYTES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b':' => IN_LETTERS,
            b'.' | b'\'' => IN_LETTERS | IN_DIGITS,
            b',' | b';' => IN_DIGITS,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => WORD,
            0x80..=0xFF => BEYOND,
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// Returns whether the byte at `at` is beyond ASCII, or a mark that may join the byte after it to the word.
#[inline(always)]
fn needs_a_look(bytes: &[u8], at: usize) -> bool {
    let kind = |at: usize| bytes.get(at).map_or(0, |&byte| BYTES[usize::from(byte)]);
    let (mark, next) = (kind(at), kind(at + 1));
    (mark & BEYOND != 0) | ((mark & (IN_LETTERS | IN_DIGITS) != 0) & (next & (WORD | BEYOND) != 0))
}

/// Returns whether the word continues after the mark at `at`; None if ASCII cannot decide.
#[inline]
fn after_mark(bytes: &[u8], at: usize) -> Option<bool> {
    let mark = BYTES[usize::from(bytes[at])];
    let next = bytes.get(at + 1).copied().unwrap_or(b' ');
    if mark == BEYOND || !next.is_ascii() {
        return None;
    }
    let before = bytes[at - 1];
    Some(
        mark & IN_LETTERS != 0 && before.is_ascii_alphabetic() && next.is_ascii_alphabetic()
            || mark & IN_DIGITS != 0 && before.is_ascii_digit() && next.is_ascii_digit(),
    )
}

/// Returns which run a character belongs to; Han and Kana make one together. None if it belongs to a word.
#[inline]
fn run_of(c: char, hangul: Hangul) -> Option<Group> {
    match class(c).group() {
        Group::Spaced => None,
        Group::Han | Group::Kana => Some(Group::Han),
        Group::Letters => Some(Group::Letters),
        Group::Hangul => (hangul == Hangul::Runs).then_some(Group::Hangul),
    }
}

/// Returns where the piece that starts here ends, and the piece: a run without spaces, or a segment if it is a word.
fn piece_beyond_ascii(text: &str, hangul: Hangul, start: usize) -> (usize, Option<Piece<'_>>) {
    let known = start + usual_han_length(&text[start..]);
    let first =
        if known > start { Some(Group::Han) } else { text[start..].chars().next().and_then(|c| run_of(c, hangul)) };
    let Some(first) = first else { return segment(text, hangul, start) };
    let ends = |&(_, c): &(usize, char)| c < '\u{80}' || run_of(c, hangul) != Some(first);
    let run_end = |from: usize| text[from..].char_indices().find(ends).map_or(text.len(), |(at, _)| from + at);
    let mut end = run_end(known);
    if first == Group::Hangul {
        // Words of Hangul belong together if only white space is between them.
        let next = |end: usize| Some(text.len() - text[end..].trim_start().len()).filter(|&at| at > end);
        let goes_on = |at: &usize| text[*at..].starts_with(|c| run_of(c, hangul) == Some(first));
        while let Some(at) = next(end).filter(goes_on) {
            end = run_end(at);
        }
    }
    let run = &text[start..end];
    let piece = match first {
        Group::Letters => Piece::Letters(run),
        Group::Hangul => Piece::Hangul(run),
        _ => Piece::Run(run),
    };
    (end, Some(piece))
}

/// Returns where the segment of UAX #29 from `start` ends, by all rules, and the segment if it is a word.
fn segment(text: &str, hangul: Hangul, start: usize) -> (usize, Option<Piece<'_>>) {
    let mut chars = text[start..].chars().peekable();
    let mut wordlike = false;
    let mut length = 0;
    let mut take = |c: char, length: &mut usize| {
        *length += c.len_utf8();
        wordlike |= class(c).is_wordlike();
    };
    let Some(first) = chars.next() else { return (text.len(), None) };
    take(first, &mut length);
    let mut state = class(first).word_break();
    let mut after_zwj = state == Break::Zwj;
    while let Some(&c) = chars.peek() {
        let this = class(c);
        if run_of(c, hangul).is_some() || state == Break::Newline {
            break;
        }
        let kind = this.word_break();
        // WB4: marks belong to what they follow. WB3c: ZWJ holds emoji sequences together.
        if matches!(kind, Break::Extend | Break::Zwj) || after_zwj && this.is_pictograph() {
            after_zwj = kind == Break::Zwj;
            if !matches!(kind, Break::Extend | Break::Zwj) {
                state = kind;
            }
            take(c, &mut length);
            chars.next();
            continue;
        }
        after_zwj = false;
        // The state after this character, if it belongs to the segment.
        let joined = match (state, kind) {
            // WB5, WB8 to WB10, WB13a and WB13b
            (
                Break::Letter | Break::Hebrew | Break::Numeric | Break::Joiner,
                Break::Letter | Break::Hebrew | Break::Numeric | Break::Joiner,
            ) => Some(kind),
            // WB6 and WB7: a mark in the middle needs the right right-hand side
            (Break::Letter | Break::Hebrew, Break::MidLetter | Break::MidNumLet | Break::SingleQuote)
                if is_letter(follower(&chars, hangul)) =>
            {
                Some(state)
            }
            // WB7a, WB7b and WB7c
            (Break::Hebrew, Break::SingleQuote) => Some(Break::Other),
            (Break::Hebrew, Break::DoubleQuote) if follower(&chars, hangul) == Break::Hebrew => Some(state),
            // WB11 and WB12
            (Break::Numeric, Break::MidNum | Break::MidNumLet | Break::SingleQuote)
                if follower(&chars, hangul) == Break::Numeric =>
            {
                Some(state)
            }
            _ => None,
        };
        let Some(next_state) = joined else { break };
        state = next_state;
        take(c, &mut length);
        chars.next();
    }
    let end = start + length;
    (end, wordlike.then(|| Piece::Word(&text[start..end])))
}

fn is_letter(kind: Break) -> bool {
    matches!(kind, Break::Letter | Break::Hebrew)
}

/// Returns the class of the character after the next one, ignoring marks.
fn follower(chars: &std::iter::Peekable<std::str::Chars<'_>>, hangul: Hangul) -> Break {
    chars
        .clone()
        .skip(1)
        .find(|&c| !matches!(class(c).word_break(), Break::Extend | Break::Zwj) || run_of(c, hangul).is_some())
        .filter(|&c| run_of(c, hangul).is_none())
        .map_or(Break::Other, |c| class(c).word_break())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::TokenClasses;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, Hangul::Runs, |word| words.push(word.to_owned()));
        words
    }

    /// Returns the definition, word for word: take the runs out, cut the rest by an independent UAX #29.
    fn naive(text: &str) -> Vec<String> {
        let kind = |c: char| match class(c).group() {
            Group::Spaced => "words",
            Group::Han | Group::Kana => "characters",
            Group::Letters => "letters",
            Group::Hangul => "hangul",
        };
        let mut words = Vec::new();
        let chars: Vec<char> = text.chars().collect();
        // The last syllable of Hangul, if only white space has come since.
        let mut syllable: Option<char> = None;
        for piece in chars.chunk_by(|&a, &b| kind(a) == kind(b)) {
            let windows = |size| piece.windows(size).map(|window| window.iter().collect::<String>());
            if kind(piece[0]) != "hangul" && !piece.iter().all(|c| c.is_whitespace()) {
                syllable = None;
            }
            match kind(piece[0]) {
                "characters" => {
                    let mut pairs = windows(2);
                    words.extend(windows(1).flat_map(|single| [Some(single), pairs.next()]).flatten());
                }
                "letters" if piece.len() == 1 => words.extend(windows(1)),
                "letters" => {
                    words.extend(windows(2));
                    words.extend(windows(6));
                }
                "hangul" => {
                    words.extend((piece.len() > 2).then(|| piece.iter().collect::<String>()));
                    for &c in piece {
                        words.extend(syllable.map(|before| [before, c].iter().collect::<String>()));
                        words.push(c.to_string());
                        syllable = Some(c);
                    }
                }
                _ => {
                    let between: String = piece.iter().collect();
                    words.extend(
                        between
                            .split_word_bounds()
                            .filter(|segment| segment.chars().any(|c| class(c).is_wordlike()))
                            .map(str::to_owned),
                    );
                }
            }
        }
        words
    }

    #[test]
    fn known_cuts() {
        for (text, expected) in [
            ("", vec![]),
            ("... --- !", vec![]),
            ("The cat can't sit.", vec!["The", "cat", "can't", "sit"]),
            ("3.14 1,000; x_1 a:b e.g. ___", vec!["3.14", "1,000", "x_1", "a:b", "e.g"]),
            ("'quoted' a.1 1.a", vec!["quoted", "a", "1", "1", "a"]),
            ("naïve café’s", vec!["naïve", "café’s"]),
            ("我爱NLP处理", vec!["我", "我爱", "爱", "NLP", "处", "处理", "理"]),
            ("语", vec!["语"]),
            ("東京タワー", vec!["東", "東京", "京", "京タ", "タ", "タワ", "ワ", "ワー", "ー"]),
            ("ไทย", vec!["ไท", "ทย"]),
            ("ก", vec!["ก"]),
            ("汉ก", vec!["汉", "ก"]),
            ("ภาษาไทย", vec!["ภา", "าษ", "ษา", "าไ", "ไท", "ทย", "ภาษาไท", "าษาไทย"]),
            ("བོད་ཡིག།", vec!["བོ", "ོད", "ད་", "་ཡ", "ཡི", "ིག", "བོད་ཡི", "ོད་ཡིག"]),
            ("한국어 단어", vec!["한국어", "한", "한국", "국", "국어", "어", "어단", "단", "단어", "어"]),
            ("한, 국", vec!["한", "국"]),
            ("3시에 Python은", vec!["3", "시", "시에", "에", "Python", "은"]),
            ("צה\"ל ג'", vec!["צה\"ל", "ג'"]),
            ("😀", vec![]),
            // WB3c, and what a ZWJ after a mark in the middle does not change
            ("a\u{200D}😀b", vec!["a\u{200D}😀", "b"]),
            ("9.\u{200D}😀", vec!["9"]),
        ] {
            assert_eq!(words(text), expected, "{text:?}");
        }
    }

    #[test]
    fn hangul_can_stay_in_words() {
        let mut found = Vec::new();
        each_word("한국어를 3시에 a.한", Hangul::Words, |word| found.push(word.to_owned()));
        assert_eq!(found, ["한국어를", "3시에", "a.한"]);
    }

    #[test]
    fn words_across_blocks() {
        for length in 50..140 {
            let text = format!("{} {}'s", "x".repeat(length), "y".repeat(length));
            assert_eq!(words(&text), naive(&text));
        }
    }

    #[test]
    fn underscores_of_an_earlier_block_do_not_make_a_word() {
        // The batch is full while a word of underscores alone is open.
        for ones in 100..140 {
            for lines in 1..70 {
                let text = format!("{}{} b", "a ".repeat(ones), "_".repeat(lines));
                assert_eq!(words(&text), naive(&text), "{ones} {lines}");
            }
        }
        assert_eq!(words(&("a ".repeat(127) + "__ b")).len(), 128);
    }

    proptest! {
        #[test]
        fn a_part_weighs_by_what_it_is(text in "[汉字かなカーกไม้๑〇མི་ខ្ម한국어 ]{0,30}") {
            each_piece(&text, Hangul::Runs, |piece| {
                piece.each_part(&mut |part, class| assert_eq!(TokenClasses::ByLength.of(part), class, "{part}"));
            });
        }

        #[test]
        fn neighbours_are_words_and_pairs(text in "[a 汉かกไ한]{0,30}") {
            let mut found = Vec::new();
            each_neighbour(&text, Hangul::Runs, &mut |word| found.push(word.to_owned()));
            let mut expected = Vec::new();
            let kind = |c: char| "汉か".contains(c) as u8 + 2 * "กไ".contains(c) as u8 + 3 * (c == '한') as u8;
            for piece in text.chars().collect::<Vec<_>>().chunk_by(|&a, &b| kind(a) == kind(b)) {
                let windows = |size| piece.windows(size).map(|window| window.iter().collect::<String>());
                match (kind(piece[0]), piece.len()) {
                    (0, _) => expected.extend(piece.iter().collect::<String>().split_whitespace().map(str::to_owned)),
                    (_, 1) => expected.extend(windows(1)),
                    (3, _) => expected.push(piece.iter().collect()),
                    _ => expected.extend(windows(2)),
                }
            }
            prop_assert_eq!(found, expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn equals_the_definition(text in "[a_ ]{900,1500}|([a0.' _]{80,200}é?){5,9}|[a0_.:,;' ]{0,300}|[a0.' é\u{2019}]{0,300}|([a0.':_ ]{0,90}[é\u{2019}汉 ]){0,4}|\\PC*|[aZ09_.:,;'\"\u{2019} é\u{301}א汉ก็ไทยカ་བ😀٣한\n\r\u{AD}]*") {
            prop_assert_eq!(words(&text), naive(&text));
        }
    }
}
