//! Words that negate, by language; the lists come from the caller.

use std::collections::{HashMap, HashSet};

use crate::normalize::Normalize;

/// Returns the length of a word as a bit; long ones share the last.
fn length_bit(word: &str) -> u64 {
    1 << word.len().min(63)
}

/// Lists of words that negate.
#[derive(Clone, Debug)]
pub struct Negation {
    words: HashSet<String>,
    beginnings: Vec<String>,
    endings: Vec<String>,
    /// Phrases of scripts without spaces by their first character, longest first, and whether each negates.
    phrases: HashMap<char, Vec<(String, bool)>>,
    /// The lengths of words by their first byte, as bits, and the first and last bytes of beginnings and endings: most
    /// words are ruled out by these.
    lengths: [u64; 256],
    firsts: [bool; 256],
    lasts: [bool; 256],
}

impl Negation {
    /// Makes the lists.
    ///
    /// words       whole words of scripts with spaces
    /// beginnings  of words, such as n' in French
    /// endings     of words, such as n't
    /// phrases     of scripts without spaces, wherever they stand
    /// others      phrases that hold one of `phrases` and do not negate
    pub fn new(
        words: &[String],
        beginnings: &[String],
        endings: &[String],
        phrases: &[String],
        others: &[String],
    ) -> Negation {
        let mut buffer = String::new();
        let mut fold = |word: &String| Normalize::Standard.apply(word, &mut buffer).to_owned();
        let words: HashSet<String> = words.iter().map(&mut fold).filter(|word| !word.is_empty()).collect();
        let mut parts =
            |list: &[String]| list.iter().map(&mut fold).filter(|part| !part.is_empty()).collect::<Vec<String>>();
        let (beginnings, endings) = (parts(beginnings), parts(endings));
        let mut by_first: HashMap<char, Vec<(String, bool)>> = HashMap::new();
        for (list, negates) in [(phrases, true), (others, false)] {
            for phrase in list.iter().map(&mut fold) {
                if let Some(first) = phrase.chars().next() {
                    by_first.entry(first).or_default().push((phrase, negates));
                }
            }
        }
        by_first.values_mut().for_each(|list| list.sort_by_key(|(phrase, _)| std::cmp::Reverse(phrase.len())));
        let (mut lengths, mut firsts, mut lasts) = ([0; 256], [false; 256], [false; 256]);
        words.iter().for_each(|word| lengths[usize::from(word.as_bytes()[0])] |= length_bit(word));
        beginnings.iter().for_each(|part| firsts[usize::from(part.as_bytes()[0])] = true);
        endings.iter().for_each(|part| lasts[usize::from(part.as_bytes()[part.len() - 1])] = true);
        Negation { words, beginnings, endings, phrases: by_first, lengths, firsts, lasts }
    }

    /// Returns whether a word negates; apostrophes are straight.
    pub(super) fn has(&self, word: &str) -> bool {
        let bytes = word.as_bytes();
        let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return false };
        self.lengths[usize::from(first)] & length_bit(word) != 0 && self.words.contains(word)
            || self.firsts[usize::from(first)] && self.beginnings.iter().any(|part| word.starts_with(part.as_str()))
            || self.lasts[usize::from(last)] && self.endings.iter().any(|part| word.ends_with(part.as_str()))
    }

    /// Returns the longest phrase that a text begins with, and whether it negates.
    pub(super) fn phrase(&self, first: char, text: &str) -> Option<(&str, bool)> {
        let list = self.phrases.get(&first)?;
        list.iter()
            .find(|(phrase, _)| text.starts_with(phrase.as_str()))
            .map(|(phrase, negates)| (&phrase[..], *negates))
    }
}
