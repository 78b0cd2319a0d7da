//! Chinese words by jieba, and jieba's idf table.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use jieba_rs::{Jieba, KeywordExtract, KeywordExtractConfig, TfIdf};
use regex::Regex;

use crate::chars::class;
use crate::error::Error;
use crate::once::Once;
use crate::tokens::is_python_space;

static DEFAULT: Once<Arc<Jieba>> = Once::new(|| Arc::new(Jieba::new()));

/// Returns jieba with its own dictionary, shared, or with the user's words added. `dictionary` has lines of `word
/// [frequency [tag]]`.
pub(crate) fn with_dictionary(dictionary: Option<&str>) -> Result<Arc<Jieba>, Error> {
    let Some(lines) = dictionary else { return Ok(Arc::clone(DEFAULT.get())) };
    let mut jieba = Jieba::new();
    for (at, line) in lines.lines().enumerate() {
        let mut fields = line.split_whitespace();
        let Some(word) = fields.next() else { continue };
        let frequency = match fields.next() {
            None => None,
            Some(field) => Some(field.parse().map_err(|_| {
                Error::new(format!(
                    "dictionary line {} is {line:?}; it must be a word, a frequency (an integer) and a tag",
                    at + 1
                ))
            })?),
        };
        jieba.add_word(word, frequency, fields.next());
    }
    Ok(Arc::new(jieba))
}

/// Calls `sink` with every word, as Python's `jieba.cut` gives them.
///
/// jieba-rs cuts more scripts and keeps more together: Chinese characters beyond those of Unicode 8,
/// and `e-mail` or `example.com`. Python's jieba gives such characters one by one and cuts such words
/// at their marks; its tables were counted on words cut that way.
pub(crate) fn each_word<'a>(jieba: &Jieba, text: &'a str, sink: &mut dyn FnMut(&'a str)) {
    // If only punctuation lies between words of the dictionary, both cut at the same places and one call is enough.
    if text.chars().all(|c| is_cut(c) || !class(c).is_wordlike()) {
        return each_word_of_run(jieba, text, sink);
    }
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_cut(c)).unwrap_or(rest.len());
        each_word_of_run(jieba, &rest[..end], sink);
        let after = rest[end..].find(is_cut).map_or(rest.len(), |length| end + length);
        each_character(&rest[end..after], sink);
        rest = &rest[after..];
    }
}

fn each_word_of_run<'a>(jieba: &Jieba, run: &'a str, sink: &mut dyn FnMut(&'a str)) {
    for token in jieba.cut(run, true) {
        let word = token.word;
        if !word.starts_with(is_cut) {
            each_character(word, sink);
        } else if word.len() > 1
            && word.is_ascii()
            && word.bytes().any(|byte| byte.is_ascii_punctuation())
            && !jieba.has_word(word)
        {
            each_ascii_word(word, sink);
        } else {
            sink(word);
        }
    }
}

/// Calls `sink` with each character; CR LF is one.
fn each_character<'a>(text: &'a str, sink: &mut dyn FnMut(&'a str)) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("\r\n") { 2 } else { first.len_utf8() };
        sink(&rest[..length]);
        rest = &rest[length..];
    }
}

/// Returns whether Python's jieba looks the character up in its dictionary; it passes the others through.
fn is_cut(c: char) -> bool {
    ('\u{4E00}'..='\u{9FD5}').contains(&c)
        || c.is_ascii_alphanumeric()
        || matches!(c, '+' | '#' | '&' | '.' | '_' | '%' | '-')
}

/// Calls `sink` with runs of letters and digits, including a decimal part and a percent sign, and with the text between
/// them.
fn each_ascii_word<'a>(text: &'a str, sink: &mut dyn FnMut(&'a str)) {
    static WORD: Once<Regex> = Once::new(|| {
        #[allow(clippy::unwrap_used)] // a constant pattern, compiled by every test
        Regex::new(r"[a-zA-Z0-9]+(?:\.[0-9]+)?%?").unwrap()
    });
    let mut done = 0;
    for word in WORD.get().find_iter(text) {
        if word.start() > done {
            sink(&text[done..word.start()]);
        }
        sink(word.as_str());
        done = word.end();
    }
    if done < text.len() {
        sink(&text[done..]);
    }
}

/// Words that `jieba.analyse` never takes for keywords.
const NO_KEYWORDS: [&str; 32] = [
    "the", "of", "is", "and", "to", "in", "that", "we", "for", "an", "are", "by", "be", "as", "on", "with", "can",
    "if", "from", "which", "you", "it", "this", "then", "at", "have", "all", "not", "one", "has", "or", "that",
];

/// Returns whether `jieba.analyse` counts a word: two characters or more, and not one of its stop words.
pub(crate) fn is_keyword(word: &str) -> bool {
    word.trim_matches(is_python_space).chars().nth(1).is_some() && !NO_KEYWORDS.contains(&word.to_lowercase().as_str())
}

/// The cache of looked-up words is cleared at this size, so that it cannot grow without bound.
const REMEMBERED: usize = 1 << 18;

/// Returns the idf of a word by jieba's table, or the table's median for a word it lacks.
///
/// jieba-rs does not publish the table but weighs words by it: a text of a single word, cut by a dictionary that has
/// only this word, gets exactly its idf.
pub(crate) fn idf(word: &str) -> f64 {
    static TABLE: Once<TfIdf> = Once::new(|| {
        let mut table = TfIdf::default();
        *table.config_mut() = KeywordExtractConfig::builder()
            .set_stop_words(Default::default())
            .min_keyword_length(1)
            .use_hmm(false)
            .build();
        table
    });
    static KNOWN: Once<RwLock<HashMap<String, f64>>> = Once::new(Default::default);
    // The median: the idf of a word that no table has.
    static MEDIAN: Once<f64> = Once::new(|| look_up("\u{4E00}\u{9FA5}\u{4E00}\u{9FA5}").unwrap_or(0.0));

    fn look_up(word: &str) -> Option<f64> {
        let mut only = Jieba::empty();
        only.add_word(word, Some(1), None);
        let keywords = TABLE.get().extract_keywords(&only, word, 1, Vec::new());
        keywords.first().filter(|keyword| keyword.keyword == word).map(|keyword| keyword.weight)
    }

    // Never blocks: a process forked while another thread held the lock would wait for ever.
    if let Ok(known) = KNOWN.get().try_read()
        && let Some(&known) = known.get(word)
    {
        return known;
    }
    let found = look_up(word).unwrap_or(*MEDIAN.get());
    if let Ok(mut known) = KNOWN.get().try_write() {
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(word.to_owned(), found);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rarity_of_words() {
        // From jieba's idf.txt; the last word is in no table.
        assert_eq!(idf("劳动防护"), 13.900677652);
        assert_eq!(idf("北京"), 4.66740230872);
        assert_eq!(idf("没有这个词的"), 11.9547675029);
        assert_eq!(idf("!!"), 11.9547675029);
    }

    #[test]
    fn words_as_python_gives_them() {
        let jieba = with_dictionary(None).unwrap();
        for (text, expected) in [
            ("我爱北京", vec!["我", "爱", "北京"]),
            (
                "发e-mail到a.b.com，3.14%和C++",
                vec!["发", "e", "-", "mail", "到", "a", ".", "b", ".", "com", "，", "3.14%", "和", "C++"],
            ),
            ("㐀㐁é\r\n ", vec!["㐀", "㐁", "é", "\r\n", " "]),
            ("——好，，\r\n", vec!["—", "—", "好", "，", "，", "\r\n"]),
            ("", vec![]),
        ] {
            let mut words = Vec::new();
            each_word(&jieba, text, &mut |word| words.push(word));
            assert_eq!(words, expected);
        }
    }

    #[test]
    fn user_words_stay_whole() {
        let plain = with_dictionary(None).unwrap();
        let own = with_dictionary(Some("近似重复 10 n\n\n指纹法\n")).unwrap();
        let cut = |jieba: &Jieba, text| jieba.cut(text, true).iter().map(|t| t.word.to_owned()).collect::<Vec<_>>();
        assert_ne!(cut(&plain, "近似重复检测"), cut(&own, "近似重复检测"));
        assert_eq!(cut(&own, "近似重复检测")[0], "近似重复");
        let error = with_dictionary(Some("好\n词 many")).unwrap_err().to_string();
        assert!(error.contains("line 2"), "{error}");
    }
}
