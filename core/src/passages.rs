//! Two texts → the passages they share.
//!
//! Left to right through the second text, at each word the longest match in the first is taken, as
//! in LZ77: O(n) in time and memory, whatever the texts, since at most `CANDIDATES` starts are tried
//! for a word and a match is never looked at twice.

use std::collections::HashMap;

use crate::hash::token_key;
use crate::normalize::Normalize;
use crate::words::{Piece, each_piece};

/// A passage both texts have, as byte ranges; the words are equal after normalising.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Start and end in the first text.
    pub left: (usize, usize),
    /// Start and end in the second text.
    pub right: (usize, usize),
}

/// Of a beginning that occurs more often in the first text, only so many places are tried.
const CANDIDATES: usize = 8;

struct Word {
    key: u64,
    start: usize,
    end: usize,
}

/// All shared passages of at least `shortest` words; a character counts as a word where a script has no spaces.
pub fn passages(left: &str, right: &str, shortest: usize) -> Vec<Passage> {
    let shortest = shortest.max(1);
    let (left, right) = (words(left), words(right));
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, window) in left.windows(shortest).enumerate() {
        let found = places.entry(window_key(window)).or_default();
        if found.len() < CANDIDATES {
            found.push(at);
        }
    }
    let mut passages = Vec::new();
    let mut at = 0;
    while at + shortest <= right.len() {
        let starts = places.get(&window_key(&right[at..at + shortest]));
        let longest = starts
            .into_iter()
            .flatten()
            .map(|&start| (common(&left[start..], &right[at..]), start))
            // Of equally long ones the first.
            .max_by_key(|&(length, start)| (length, std::cmp::Reverse(start)));
        match longest {
            Some((length, start)) if length >= shortest => {
                passages.push(Passage {
                    left: (left[start].start, left[start + length - 1].end),
                    right: (right[at].start, right[at + length - 1].end),
                });
                at += length;
            }
            _ => at += 1,
        }
    }
    passages
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut buffer = String::new();
    let mut push = |word: &str| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        let key = token_key(Normalize::NfkcCasefold.apply(word, &mut buffer));
        words.push(Word { key, start, end: start + word.len() });
    };
    each_piece(text, |piece| match piece {
        Piece::Word(word) => push(word),
        Piece::Run(run) | Piece::Letters(run) => {
            run.char_indices().for_each(|(at, c)| push(&run[at..at + c.len_utf8()]))
        }
    });
    words
}

fn window_key(window: &[Word]) -> u64 {
    window.iter().fold(0, |key, word| (key ^ word.key).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29))
}

fn common(left: &[Word], right: &[Word]) -> usize {
    left.iter().zip(right).take_while(|(l, r)| l.key == r.key).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shared(left: &str, right: &str, shortest: usize) -> Vec<(String, String)> {
        passages(left, right, shortest)
            .iter()
            .map(|p| (left[p.left.0..p.left.1].to_owned(), right[p.right.0..p.right.1].to_owned()))
            .collect()
    }

    #[test]
    fn known_passages() {
        let pair = |l: &str, r: &str| (l.to_owned(), r.to_owned());
        assert_eq!(
            shared("The cat sat, on the mat.", "Yes: THE CAT SAT on a mat", 3),
            [pair("The cat sat, on", "THE CAT SAT on")]
        );
        assert_eq!(shared("我爱自然语言处理", "他爱自然语言分析", 3), [pair("爱自然语言", "爱自然语言")]);
        assert_eq!(shared("a b c", "c b a", 2), []);
        assert_eq!(shared("", "a", 1), []);
    }

    #[test]
    fn repetition_stays_linear() {
        let text = "spam ".repeat(200_000);
        assert_eq!(passages(&text, &text, 5).len(), 1);
    }

    proptest! {
        #[test]
        fn passages_are_equal_words_and_do_not_overlap(left in "[ab ]{0,80}", right in "[ab ]{0,80}", shortest in 1usize..4) {
            let mut end = 0;
            for passage in passages(&left, &right, shortest) {
                let l: Vec<&str> = left[passage.left.0..passage.left.1].split_whitespace().collect();
                let r: Vec<&str> = right[passage.right.0..passage.right.1].split_whitespace().collect();
                prop_assert_eq!(&l, &r);
                prop_assert!(l.len() >= shortest && passage.right.0 >= end);
                end = passage.right.1;
            }
        }

        #[test]
        fn a_text_shares_all_of_itself(text in "[a-z]{1,5}( [a-z]{1,5}){3,20}") {
            let found = passages(&text, &text, 3);
            prop_assert_eq!(found, vec![Passage { left: (0, text.len()), right: (0, text.len()) }]);
        }
    }
}
