//! Normalised text → tokens.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use jieba_rs::Jieba;
use regex::Regex;
use regex_syntax::hir::{Class, HirKind};

use crate::chars::class;
use crate::error::{Error, choose};
use crate::http_tokens::{self, ViewScratch};
use crate::jieba;
use crate::normalize::Kept;
use crate::shares::Shares;
use crate::version::Version;
use crate::words::{Hangul, each_neighbour, each_word};

#[derive(Clone, Debug)]
enum Kind {
    Words,
    Chars(Option<Keep>),
    Jieba(Arc<Jieba>),
    JiebaKeywords(Arc<Jieba>),
    Whitespace,
    Lines,
    Regex(Regex),
    /// The views to tokenise, one bit each.
    Http(u8),
}

/// Cuts a text into tokens, leaves out stop words, and joins neighbours to n-grams.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    kind: Kind,
    ngram: usize,
    stopwords: HashSet<Box<str>>,
    hangul: Hangul,
}

/// Buffers that a tokenizer reuses between texts.
#[derive(Debug, Default)]
pub(crate) struct TokenScratch {
    kept: Vec<u8>,
    window: Window,
    pub(crate) view: ViewScratch,
}

impl TokenScratch {
    /// Returns the size of the largest buffer in bytes.
    pub(crate) fn capacity(&self) -> usize {
        self.kept.capacity().max(self.window.text.capacity()).max(self.view.capacity())
    }
}

/// A pattern may need this much memory when compiled; larger ones are refused.
const PATTERN_LIMIT: usize = 10 << 20;

impl Tokenizer {
    /// Makes a tokenizer. `pattern` goes with "regex" and "chars", `dictionary` with the jieba kinds. Stop words are
    /// already normalised.
    pub fn new(
        kind: &str,
        ngram: usize,
        pattern: Option<&str>,
        dictionary: Option<&str>,
        stopwords: HashSet<Box<str>>,
        version: Version,
    ) -> Result<Tokenizer, Error> {
        let code = choose(
            "tokens",
            kind,
            &[
                ("words", 0),
                ("chars", 1),
                ("jieba", 2),
                ("jieba-keywords", 3),
                ("whitespace", 4),
                ("lines", 5),
                ("regex", 6),
                ("http", 7),
            ],
        )?;
        if ngram == 0 {
            return Err(Error::new("ngram is 0; it must be at least 1"));
        }
        if pattern.is_some() && !matches!(kind, "regex" | "chars") {
            return Err(Error::new(format!("pattern goes with tokens \"regex\" or \"chars\", not with {kind:?}")));
        }
        if dictionary.is_some() && !kind.starts_with("jieba") {
            return Err(Error::new(format!("dictionary goes with tokens \"jieba\", not with {kind:?}")));
        }
        if kind == "http" && ngram > 1 {
            return Err(Error::new(format!(
                "ngram is {ngram}, but tokens \"http\" are joined as each view needs; use 1"
            )));
        }
        if kind == "http" && !stopwords.is_empty() {
            return Err(Error::new("stopwords do not go with tokens \"http\"; leave them out"));
        }
        let kind = match code {
            0 => Kind::Words,
            1 => Kind::Chars(pattern.map(Keep::new).transpose()?),
            2 => Kind::Jieba(jieba::with_dictionary(dictionary)?),
            3 => Kind::JiebaKeywords(jieba::with_dictionary(dictionary)?),
            4 => Kind::Whitespace,
            5 => Kind::Lines,
            7 => Kind::Http(u8::MAX),
            _ => Kind::Regex(compile(pattern.ok_or_else(|| {
                Error::new("tokens is \"regex\" but pattern is missing; pass the pattern of a token")
            })?)?),
        };
        Ok(Tokenizer { kind, ngram, stopwords, hangul: version.hangul() })
    }

    /// Calls `sink` with every token, in order.
    ///
    /// The loop over characters is inlined at the call, since cutting one takes no longer than a call; the other kinds
    /// are compiled once.
    #[inline]
    pub(crate) fn each(&self, text: &str, scratch: &mut TokenScratch, mut sink: impl FnMut(&str)) {
        let Kind::Chars(keep) = &self.kind else { return self.each_called(text, scratch, &mut sink) };
        let text = match keep {
            Some(keep) => keep.apply(text, &mut scratch.kept),
            None => text,
        };
        each_window(text, self.ngram, |token| {
            if self.stopwords.is_empty() || !self.stopwords.contains(token) {
                sink(token);
            }
        });
    }

    #[inline(never)]
    fn each_called(&self, text: &str, scratch: &mut TokenScratch, sink: &mut dyn FnMut(&str)) {
        if let Kind::Http(wanted) = self.kind {
            return http_tokens::each(text, (wanted, self.hangul), &mut scratch.view, &mut |token, _| sink(token));
        }
        if self.ngram == 1 {
            return self.each_kept(text, sink);
        }
        let window = &mut scratch.window;
        window.clear();
        self.each_kept(text, &mut |token| {
            window.push(token);
            if window.len() == self.ngram {
                sink(window.joined());
                window.pop();
            }
        });
        if !window.full && window.len() > 0 {
            sink(window.joined());
        }
    }

    /// Restricts a tokenizer of responses to the views that have a share.
    pub fn for_shares(mut self, shares: &Shares) -> Tokenizer {
        if let Kind::Http(wanted) = &mut self.kind {
            *wanted = shares.wanted();
        }
        self
    }

    /// Returns the views to tokenise, one bit each, if the texts are views of responses.
    #[inline]
    pub(crate) fn views(&self) -> Option<u8> {
        if let Kind::Http(wanted) = self.kind { Some(wanted) } else { None }
    }

    /// Returns what normalising leaves as it is written: white space where it cuts tokens, and references in views, which
    /// were decoded when the view was made.
    pub(crate) fn kept(&self) -> Kept {
        Kept {
            spaces: matches!(self.kind, Kind::Whitespace | Kind::Lines | Kind::Regex(_)),
            references: matches!(self.kind, Kind::Http(_)),
        }
    }

    /// Returns what becomes of Korean.
    pub(crate) fn hangul(&self) -> Hangul {
        self.hangul
    }

    /// Returns whether the tokens are exactly the words of a text.
    pub(crate) fn is_words(&self) -> bool {
        matches!(self.kind, Kind::Words) && self.ngram == 1 && self.stopwords.is_empty()
    }

    fn each_kept(&self, text: &str, sink: &mut dyn FnMut(&str)) {
        if self.stopwords.is_empty() {
            self.each_plain(text, sink);
        } else if matches!(self.kind, Kind::JiebaKeywords(_)) {
            // jieba.analyse looks its stop words up in lower case, whatever the text's case.
            self.each_plain(text, &mut |token| {
                if !self.stopwords.contains(token.to_lowercase().as_str()) {
                    sink(token);
                }
            });
        } else {
            self.each_plain(text, &mut |token| {
                if !self.stopwords.contains(token) {
                    sink(token);
                }
            });
        }
    }

    fn each_plain(&self, text: &str, sink: &mut dyn FnMut(&str)) {
        match &self.kind {
            Kind::Words if self.ngram == 1 => each_word(text, self.hangul, sink),
            Kind::Words => each_neighbour(text, self.hangul, sink),
            Kind::Jieba(jieba) => {
                jieba::each_word(jieba, text, &mut |word| {
                    if word.chars().any(|c| class(c).is_wordlike()) {
                        sink(word);
                    }
                });
            }
            Kind::JiebaKeywords(jieba) => {
                let mut words = String::with_capacity(text.len() * 3 / 2);
                jieba::each_word(jieba, text, &mut |word| {
                    words.push_str(word);
                    words.push('|');
                });
                words.pop();
                jieba::each_word(jieba, &words, &mut |word| {
                    if jieba::is_keyword(word) {
                        sink(word);
                    }
                });
            }
            Kind::Whitespace => text.split(is_python_space).filter(|token| !token.is_empty()).for_each(sink),
            Kind::Lines => text
                .lines()
                .map(|line| line.trim_matches(is_python_space))
                .filter(|line| !line.is_empty())
                .for_each(sink),
            Kind::Regex(regex) => {
                regex.find_iter(text).map(|found| found.as_str()).filter(|token| !token.is_empty()).for_each(sink);
            }
            Kind::Chars(_) | Kind::Http(_) => unreachable!("cut by each_window and by http_tokens"),
        }
    }
}

/// Returns whether Python's `str.split` takes the character for white space: Unicode's, and four separators of ASCII.
pub(crate) fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1C}'..='\u{1F}').contains(&c)
}

fn compile(pattern: &str) -> Result<Regex, Error> {
    regex::RegexBuilder::new(pattern)
        .size_limit(PATTERN_LIMIT)
        .build()
        .map_err(|error| Error::new(format!("pattern is {pattern:?}, which cannot be used: {error}")))
}

/// Calls `sink` with every window of `size` characters; a shorter text is one token.
#[inline]
fn each_window<'a>(text: &'a str, size: usize, mut sink: impl FnMut(&'a str)) {
    if text.is_empty() {
        return;
    }
    if text.is_ascii() {
        let size = size.min(text.len());
        for start in 0..=text.len() - size {
            // SAFETY: start + size is at most the length, and every byte of ASCII is a character.
            sink(unsafe { text.get_unchecked(start..start + size) });
        }
        return;
    }
    let mut starts = text.char_indices().map(|(at, _)| at);
    let mut ends = text.char_indices().map(|(at, c)| at + c.len_utf8()).skip(size - 1).peekable();
    if ends.peek().is_none() {
        return sink(text);
    }
    for end in ends {
        let start = starts.next().unwrap_or(0);
        sink(&text[start..end]);
    }
}

/// The characters that `chars` keeps of a text: the matches of a pattern, joined.
#[derive(Clone, Debug)]
enum Keep {
    /// The pattern is a repeated set of characters, so a look-up replaces matching.
    Set {
        ascii: Box<[bool; 128]>,
        ranges: Vec<(char, char)>,
    },
    Pattern(Regex),
}

impl Keep {
    fn new(pattern: &str) -> Result<Keep, Error> {
        let regex = compile(pattern)?;
        let parsed = regex_syntax::parse(pattern).ok();
        Ok(parsed.and_then(|hir| Keep::set(&hir)).unwrap_or(Keep::Pattern(regex)))
    }

    /// Returns the set of a pattern of the form `[…]+`.
    fn set(hir: &regex_syntax::hir::Hir) -> Option<Keep> {
        let HirKind::Repetition(repetition) = hir.kind() else { return None };
        let HirKind::Class(Class::Unicode(class)) = repetition.sub.kind() else { return None };
        if repetition.min > 1 || repetition.max.is_some() {
            return None;
        }
        let ranges: Vec<(char, char)> = class.iter().map(|range| (range.start(), range.end())).collect();
        let ascii = std::array::from_fn(|code| contains(&ranges, code as u8 as char));
        Some(Keep::Set { ascii: Box::new(ascii), ranges })
    }

    fn apply<'a>(&self, text: &str, kept: &'a mut Vec<u8>) -> &'a str {
        kept.clear();
        match self {
            Keep::Set { ascii, .. } if text.is_ascii() => {
                // Every byte is written, and overwritten by the next if it is not kept: no branch to mispredict.
                kept.resize(text.len(), 0);
                let mut length = 0;
                for byte in text.bytes() {
                    kept[length] = byte;
                    length += usize::from(ascii[usize::from(byte & 0x7F)]);
                }
                kept.truncate(length);
            }
            Keep::Set { ascii, ranges } => {
                let keeps = |c: char| match ascii.get(c as usize) {
                    Some(&keep) => keep,
                    None => contains(ranges, c),
                };
                let mut rest = text;
                while let Some(start) = rest.find(keeps) {
                    rest = &rest[start..];
                    let end = rest.find(|c| !keeps(c)).unwrap_or(rest.len());
                    kept.extend_from_slice(&rest.as_bytes()[..end]);
                    rest = &rest[end..];
                }
            }
            Keep::Pattern(regex) => {
                regex.find_iter(text).for_each(|found| kept.extend_from_slice(found.as_str().as_bytes()));
            }
        }
        // Whole characters were copied, so this cannot fail.
        std::str::from_utf8(kept).unwrap_or_default()
    }
}

fn contains(ranges: &[(char, char)], c: char) -> bool {
    ranges
        .binary_search_by(|&(low, high)| {
            if high < c {
                std::cmp::Ordering::Less
            } else if low > c {
                std::cmp::Ordering::Greater
            } else {
                std::cmp::Ordering::Equal
            }
        })
        .is_ok()
}

/// The last tokens, joined by one space.
#[derive(Debug, Default)]
struct Window {
    text: String,
    starts: VecDeque<usize>,
    full: bool,
}

impl Window {
    /// Tokens that left the window are dropped once they are this long.
    const SLACK: usize = 1 << 14;

    fn clear(&mut self) {
        self.text.clear();
        self.starts.clear();
        self.full = false;
    }

    fn len(&self) -> usize {
        self.starts.len()
    }

    fn push(&mut self, token: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.starts.push_back(self.text.len());
        self.text.push_str(token);
    }

    fn joined(&self) -> &str {
        &self.text[self.starts.front().copied().unwrap_or(0)..]
    }

    fn pop(&mut self) {
        self.full = true;
        self.starts.pop_front();
        let front = self.starts.front().copied().unwrap_or(self.text.len());
        if front > Self::SLACK {
            self.text.drain(..front);
            self.starts.iter_mut().for_each(|start| *start -= front);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tokenizer(kind: &str, ngram: usize, pattern: Option<&str>) -> Tokenizer {
        Tokenizer::new(kind, ngram, pattern, None, HashSet::new(), Version::Three).unwrap()
    }

    fn tokens(tokenizer: &Tokenizer, text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        tokenizer.each(text, &mut TokenScratch::default(), |token| tokens.push(token.to_owned()));
        tokens
    }

    #[test]
    fn every_kind() {
        for (kind, ngram, pattern, text, expected) in [
            ("words", 2, None, "a b c", vec!["a b", "b c"]),
            ("words", 4, None, "a b c", vec!["a b c"]),
            ("words", 1, None, "我爱 you", vec!["我", "我爱", "爱", "you"]),
            ("words", 2, None, "我爱你 ก", vec!["我爱 爱你", "爱你 ก"]),
            ("words", 3, None, "我爱 you", vec!["我爱 you"]),
            ("chars", 1, None, "a汉", vec!["a", "汉"]),
            ("chars", 2, None, "a汉b", vec!["a汉", "汉b"]),
            ("chars", 4, None, "abc", vec!["abc"]),
            ("chars", 4, None, "汉", vec!["汉"]),
            ("chars", 4, None, "", vec![]),
            ("chars", 2, Some(r"[a-z]+"), "a-b,汉c", vec!["ab", "bc"]),
            ("chars", 2, Some(r"[a-z]x|y"), "ax--y", vec!["ax", "xy"]),
            ("whitespace", 1, None, "a\u{1c}b \u{a0}c,d", vec!["a", "b", "c,d"]),
            ("lines", 1, None, "a b\r\n\n c \n", vec!["a b", "c"]),
            ("regex", 1, Some(r"\d+|[a-z]*"), "a1 22", vec!["a", "1", "22"]),
            ("jieba", 1, None, "我爱北京天安门。", vec!["我", "爱", "北京", "天安门"]),
            ("jieba-keywords", 1, None, "我爱北京，the 天安门", vec!["北京", "天安门"]),
        ] {
            assert_eq!(tokens(&tokenizer(kind, ngram, pattern), text), expected, "{kind} {ngram} {text:?}");
        }
    }

    #[test]
    fn stop_words_go_before_joining() {
        let stopwords = HashSet::from(["the".into()]);
        let tokenizer = Tokenizer::new("words", 2, None, None, stopwords, Version::Three).unwrap();
        assert_eq!(tokens(&tokenizer, "see the cat"), ["see cat"]);
    }

    #[test]
    fn hostile_patterns_are_linear_or_refused() {
        let text = "a".repeat(100_000) + "!";
        assert!(tokens(&tokenizer("regex", 1, Some("(a+)+$")), &text).is_empty());
        for pattern in ["(", r"(?:\w{1000}){1000}", r"(a)\1"] {
            let error = Tokenizer::new("regex", 1, Some(pattern), None, HashSet::new(), Version::Three)
                .unwrap_err()
                .to_string();
            assert!(error.contains("pattern is"), "{error}");
        }
    }

    #[test]
    fn settings_that_contradict_are_named() {
        for (kind, ngram, pattern, dictionary, expected) in [
            ("word", 1, None, None, "one of words"),
            ("words", 0, None, None, "ngram is 0"),
            ("words", 1, Some("a"), None, "pattern goes with"),
            ("words", 1, None, Some("a"), "dictionary goes with"),
            ("regex", 1, None, None, "pattern is missing"),
        ] {
            let error = Tokenizer::new(kind, ngram, pattern, dictionary, HashSet::new(), Version::Three)
                .unwrap_err()
                .to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    proptest! {
        #[test]
        fn windows_of_words(text in "[a-c ]{0,60}", ngram in 2usize..5) {
            let words: Vec<&str> = text.split_whitespace().collect();
            let mut expected: Vec<String> = words.windows(ngram).map(|window| window.join(" ")).collect();
            if expected.is_empty() && !words.is_empty() {
                expected.push(words.join(" "));
            }
            prop_assert_eq!(tokens(&tokenizer("whitespace", ngram, None), &text), expected);
        }

        #[test]
        fn windows_of_characters(text in "\\PC{0,40}", ngram in 1usize..6) {
            let chars: Vec<char> = text.chars().collect();
            let mut expected: Vec<String> = chars.windows(ngram).map(|window| window.iter().collect()).collect();
            if expected.is_empty() && !text.is_empty() {
                expected.push(text.clone());
            }
            prop_assert_eq!(tokens(&tokenizer("chars", ngram, None), &text), expected);
        }

        #[test]
        fn a_set_keeps_what_its_pattern_matches(text in "\\PC{0,60}|[a-z_ ,汉é]{0,60}") {
            let pattern = r"[\p{L}\p{N}_\u{4e00}-\u{9fcc}]+";
            let keep = Keep::new(pattern).unwrap();
            let is_set = matches!(keep, Keep::Set { .. });
            prop_assert!(is_set);
            let by_pattern = Keep::Pattern(compile(pattern).unwrap());
            let (mut by_lookup, mut by_match) = (Vec::new(), Vec::new());
            prop_assert_eq!(keep.apply(&text, &mut by_lookup), by_pattern.apply(&text, &mut by_match));
        }
    }
}
