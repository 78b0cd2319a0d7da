//! Masking of volatile parts: one pass of one automaton over the lines that may hold some, O(n).

use std::borrow::Cow;

use memchr::memchr_iter;
use regex_automata::util::syntax;
use regex_automata::{Input, meta};

use super::preview::Log;
use super::random;
use super::rules::{Look, MASKS, Rule, patterns};
use crate::Error;

/// A word of ASCII without digits is looked at if it has so many letters.
const LONG: usize = 20;

/// Compiled rules.
pub(super) struct Masker {
    rules: [bool; MASKS.len()],
    /// All patterns, and those but for the last, which takes words of any length.
    all: Option<Patterns>,
    short: Option<Patterns>,
}

struct Patterns {
    regex: meta::Regex,
    kinds: Vec<(Rule, Look)>,
}

impl Patterns {
    fn new(chosen: Vec<(Rule, Look, String)>) -> Result<Option<Patterns>, Error> {
        if chosen.is_empty() {
            return Ok(None);
        }
        let kinds = chosen.iter().map(|(rule, look, _)| (*rule, *look)).collect();
        // Boundaries of words are those of ASCII: what stands beside Chinese is a word of its own.
        let sources: Vec<String> =
            chosen.into_iter().map(|(_, _, pattern)| pattern.replace(r"\b", r"(?-u:\b)")).collect();
        let regex = meta::Regex::builder()
            .syntax(syntax::Config::new().case_insensitive(true).unicode(true))
            .configure(meta::Config::new().hybrid_cache_capacity(8 << 20))
            .build_many(&sources)
            .map_err(|error| Error::new(format!("the patterns of masks cannot be used: {error}")))?;
        Ok(Some(Patterns { regex, kinds }))
    }
}

impl Masker {
    /// Compiles the rules with these names.
    pub(super) fn new(names: &[&str]) -> Result<Masker, Error> {
        let mut rules = [false; MASKS.len()];
        for name in names {
            let place = MASKS.iter().position(|rule| rule == name);
            let place = place
                .ok_or_else(|| Error::new(format!("masks has {name:?}; a mask must be one of {}", MASKS.join(", "))))?;
            rules[place] = true;
        }
        let chosen = || patterns().into_iter().filter(|(rule, _, _)| rules[*rule as usize]).collect::<Vec<_>>();
        let mut short = chosen();
        short.retain(|(_, look, _)| *look != Look::Random);
        Ok(Masker { rules, all: Patterns::new(chosen())?, short: Patterns::new(short)? })
    }

    pub(super) fn has(&self, rule: Rule) -> bool {
        self.rules[rule as usize]
    }

    /// Copies lines, with what is volatile masked.
    pub(super) fn lines(&self, lines: &str, out: &mut String, mut log: Option<&mut Log>) {
        let mut start = 0;
        let ends = memchr_iter(b'\n', lines.as_bytes()).map(|at| at + 1);
        for end in ends.chain((!lines.ends_with('\n')).then_some(lines.len())) {
            let line = &lines[start..end];
            start = end;
            if let Some(log) = log.as_deref_mut() {
                log.line.clear();
                log.line.push_str(line.split(' ').next().unwrap_or_default());
            }
            self.value(line, out, log.as_deref_mut());
        }
    }

    /// Copies one line.
    pub(super) fn value(&self, line: &str, out: &mut String, mut log: Option<&mut Log>) {
        let Some(patterns) = self.all.as_ref().filter(|_| may_be_volatile(line.as_bytes())) else {
            out.push_str(line);
            return;
        };
        let mut copied = 0;
        let mut replace = |start: usize, end: usize, rule: Rule| {
            out.push_str(&line[copied..start]);
            out.push_str(rule.sign());
            if let Some(log) = log.as_deref_mut() {
                log.add(rule, &line[start..end]);
            }
            copied = end;
        };
        self.search(patterns, line, 0, line.len(), &mut replace);
        out.push_str(&line[copied..]);
    }

    fn search(
        &self,
        patterns: &Patterns,
        line: &str,
        from: usize,
        to: usize,
        replace: &mut dyn FnMut(usize, usize, Rule),
    ) {
        let mut at = from;
        while at < to {
            let Some(found) = patterns.regex.find(Input::new(line).span(at..to)) else { return };
            let (rule, look) = patterns.kinds[found.pattern().as_usize()];
            let (start, end) = (found.start(), found.end());
            if look == Look::Random {
                // The parts that are not random are searched again for other rules.
                let mut seen = start;
                for part in random::parts(&line[start..end]) {
                    if let Some(short) = &self.short {
                        self.search(short, line, seen, start + part.start, replace);
                    }
                    replace(start + part.start, start + part.end, rule);
                    seen = start + part.end;
                }
                if let Some(short) = &self.short {
                    self.search(short, line, seen, end, replace);
                }
                at = end;
                continue;
            }
            match looked(look, line, start, end) {
                Some((first, last)) => {
                    replace(first, last, rule);
                    at = last.max(start + 1);
                }
                None => at = start + word_length(&line[start..end]),
            }
        }
    }

    /// Returns the name of a class; of one that was generated, what of it was not.
    pub(super) fn class<'a>(&self, name: &'a str, log: Option<&mut Log>) -> Cow<'a, str> {
        if !self.has(Rule::Classes) {
            return Cow::Borrowed(name);
        }
        let Some(part) = random::class(name) else { return Cow::Borrowed(name) };
        if let Some(log) = log {
            log.line.clear();
            log.line.push_str("tags");
            log.add(Rule::Classes, name);
        }
        Cow::Owned(format!("{}{}{}", &name[..part.start], Rule::Classes.sign(), &name[part.end..]))
    }
}

/// Returns whether a line holds a digit or a long word; otherwise no rule matches.
fn may_be_volatile(line: &[u8]) -> bool {
    has_digit(line) || has_long_word(line)
}

fn has_digit(line: &[u8]) -> bool {
    // Of whole chunks without a way out in the middle, so that it compiles to vector code.
    let (chunks, rest) = line.as_chunks::<32>();
    chunks.iter().any(|chunk| chunk.iter().fold(false, |found, byte| found | byte.is_ascii_digit()))
        || rest.iter().fold(false, |found, byte| found | byte.is_ascii_digit())
}

/// Looks at every so-many-th byte, and back from those that are in a word: O(n), and most bytes are never seen.
fn has_long_word(line: &[u8]) -> bool {
    let in_word = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'~');
    // No word that is long enough begins before this place.
    let mut start = 0;
    while let Some(window) = line.get(start..start + LONG) {
        match window.iter().rposition(|byte| !in_word(byte)) {
            None => return true,
            Some(outside) => start += outside + 1,
        }
    }
    false
}

/// Returns the length of the word a text begins with, at least one character.
fn word_length(text: &str) -> usize {
    let word = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    if word > 0 { word } else { text.chars().next().map_or(1, char::len_utf8) }
}

/// Returns the part of a match to mask, if any.
fn looked(look: Look, line: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let (before, found, after) = (&line.as_bytes()[..start], &line[start..end], &line.as_bytes()[end..]);
    let last = before.last().copied().unwrap_or(b' ');
    let next = after.first().copied().unwrap_or(b' ');
    let next_is_digit = after.get(1).is_some_and(u8::is_ascii_digit);
    match look {
        Look::Whole | Look::Random => Some((start, end)),
        Look::Time => {
            let is_part = matches!(last, b'.' | b':' | b'$') || (matches!(next, b':' | b'.') && next_is_digit);
            (!is_part).then_some((start, end))
        }
        Look::Number => {
            let is_money = matches!(last, b'.' | b'+' | b'$' | b'-' | b',') || before.ends_with("€".as_bytes());
            let is_part = matches!(next, b'-' | b'.' | b',') && next_is_digit;
            (!is_money && !is_part && !says(before, &["isbn", "issn", "tel", "phone", "fax", "电话", "书号"]))
                .then_some((start, end))
        }
        Look::Four => {
            let is_version = (last == b'/' && before.len() > 1 && before[before.len() - 2].is_ascii_alphanumeric())
                || matches!(last, b'.' | b'-' | b'_')
                || says(before, &["version", "版本", "ver", "build", "release"])
                || (next == b'.' && next_is_digit);
            (!is_version).then_some((start, end))
        }
        Look::Six => {
            let is_part = last == b':' || next == b':' || !found.bytes().any(|byte| byte.is_ascii_digit());
            (!is_part && found.len() > 3).then_some((start, end))
        }
        Look::Value => {
            let is_value = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'-' | b'%');
            let (value, is_nonce) = match found.to_ascii_lowercase().starts_with("nonce-") {
                true => (start + 6, true),
                false => {
                    let length = found.bytes().rev().take_while(|&byte| is_value(byte)).count();
                    (end - length, false)
                }
            };
            // A label without a colon ran into its value: `Reference:18.2`.
            let value = value + line[value..end].bytes().take_while(|byte| matches!(byte, b':' | b'.' | b'-')).count();
            let trimmed = line[value..end].trim_end_matches([':', '.', '-', '_']);
            let has_digit = trimmed.bytes().any(|byte| byte.is_ascii_digit());
            (is_nonce || (has_digit && !trimmed.is_empty())).then(|| (value, value + trimmed.len()))
        }
        Look::Amount => {
            let label = found.bytes().position(|byte| byte.is_ascii_digit())?;
            Some((start + label, end))
        }
        Look::File => {
            let hash = random::file_hash(&found[1..])?;
            (last != b'.').then_some((start + 1, start + 1 + hash))
        }
    }
}

/// Returns whether one of these words stands just before.
fn says(before: &[u8], words: &[&str]) -> bool {
    let near = &before[before.len().saturating_sub(16)..];
    let near = near.trim_ascii_end();
    let near = near.strip_suffix(b":").or_else(|| near.strip_suffix("：".as_bytes())).unwrap_or(near);
    let near = near.trim_ascii_end();
    words
        .iter()
        .any(|word| near.len() >= word.len() && near[near.len() - word.len()..].eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tests `may_be_volatile` byte by byte.
    fn may_be_volatile_plainly(line: &[u8]) -> bool {
        let mut run = 0;
        for &byte in line {
            if byte.is_ascii_digit() {
                return true;
            }
            let in_word = byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'~');
            run = if in_word { run + 1 } else { 0 };
            if run >= LONG {
                return true;
            }
        }
        false
    }

    proptest! {
        #[test]
        fn volatile_lines_are_told_as_byte_by_byte(line in "[a-z]{0,24}[ é中]([a-z/~_+-]{0,21}[ .]){0,8}[a-z]{0,22}[0-9]{0,1}[a-z ]{0,80}|\\PC{0,60}") {
            prop_assert_eq!(may_be_volatile(line.as_bytes()), may_be_volatile_plainly(line.as_bytes()));
        }
    }
}
