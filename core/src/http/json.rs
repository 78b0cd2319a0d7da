//! JSON → key paths with their types, and messages for people.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::fold::{Lines, cut};
use super::mask::Masker;
use super::page::push_word;
use super::preview::Log;

/// The most bytes of a key.
const KEY: usize = 64;
/// Keys nested deeper than this add nothing to the path.
const DEEPEST: usize = 24;
/// The longest message.
const MESSAGE: usize = 200;
/// A number of so many digits may be too large for a float.
const DIGITS: usize = 300;

struct Walk<'m> {
    path: String,
    depth: usize,
    seen: HashSet<u64>,
    paths: Vec<String>,
    /// How many bytes of paths may still be kept: never much more than was read.
    room: usize,
    masker: &'m Masker,
    log: Option<&'m mut Log>,
    lines: Option<&'m mut Lines>,
}

/// Returns the sorted key paths of a JSON object or array, None for other texts; writes its messages as lines.
///
/// JSON nested deeper than 127 levels is refused. Half a surrogate pair, or a number too large for a float, is
/// accepted.
pub(super) fn read(
    source: &str,
    masker: &Masker,
    mut lines: Option<&mut Lines>,
    mut log: Option<&mut Log>,
) -> Option<Vec<String>> {
    let source = source.trim_start_matches('\u{FEFF}').trim();
    if !source.starts_with(['{', '[']) {
        return None;
    }
    let logged = log.as_deref().map_or(0, |log| log.masked.len());
    let mut once = |source: &str| {
        let found = walked(source, masker, lines.as_deref_mut(), log.as_deref_mut());
        if found.is_none() {
            if let Some(lines) = lines.as_deref_mut() {
                lines.clear();
            }
            if let Some(log) = log.as_deref_mut() {
                log.masked.truncate(logged);
            }
        }
        found
    };
    once(source).or_else(|| once(&mended(source)?))
}

fn walked<'m>(
    source: &str,
    masker: &'m Masker,
    lines: Option<&'m mut Lines>,
    log: Option<&'m mut Log>,
) -> Option<Vec<String>> {
    let mut walk = Walk {
        path: String::new(),
        depth: 0,
        seen: HashSet::new(),
        paths: Vec::new(),
        room: 2 * source.len() + 256,
        masker,
        log,
        lines,
    };
    // Several values, one after the other, are lines of JSON. Each is read by a reader of its own: to ask one reader
    // whether it is at the end makes an error if it is not, and that counts lines from the start.
    let mut rest = source;
    while !rest.is_empty() {
        let mut reader = serde_json::Deserializer::from_str(rest);
        Value(&mut walk, Place::Root).deserialize(&mut reader).ok()?;
        let end = reader.into_iter::<IgnoredAny>().byte_offset();
        rest = rest[end..].trim_start_matches([' ', '\t', '\r', '\n']);
    }
    walk.paths.sort_unstable();
    walk.paths.dedup();
    Some(walk.paths)
}

/// Replaces what serde_json refuses and other writers produce: half a surrogate pair by U+FFFD, numbers with an
/// exponent or of hundreds of digits by 0. None if there is nothing to replace.
fn mended(source: &str) -> Option<String> {
    let bytes = source.as_bytes();
    let mut out = String::with_capacity(source.len());
    let (mut at, mut copied) = (0, 0);
    let mut in_string = false;
    while at < bytes.len() {
        let start = at;
        let mut new = None;
        match bytes[at] {
            b'"' => {
                in_string = !in_string;
                at += 1;
            }
            b'\\' if in_string => match (half(bytes, at), half(bytes, at + 6)) {
                (Some(Half::First), Some(Half::Second)) => at += 12,
                (Some(_), _) => {
                    at += 6;
                    new = Some("\\uFFFD");
                }
                (None, _) => at += 2,
            },
            b'0'..=b'9' if !in_string => {
                let has_exponent;
                (at, has_exponent) = number(bytes, at);
                new = (has_exponent || at - start > DIGITS).then_some("0");
            }
            _ => at += 1,
        }
        if let Some(new) = new {
            out.push_str(&source[copied..start]);
            out.push_str(new);
            copied = at;
        }
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&source[copied..]);
    Some(out)
}

enum Half {
    First,
    Second,
}

/// Returns which half of a surrogate pair is written here, as `\ud83d`.
fn half(bytes: &[u8], at: usize) -> Option<Half> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let is_hex = digits[2..].iter().all(u8::is_ascii_hexdigit);
    match (digits[0] | 0x20, digits[1] | 0x20) {
        (b'd', b'8' | b'9' | b'a' | b'b') if is_hex => Some(Half::First),
        (b'd', b'c'..=b'f') if is_hex => Some(Half::Second),
        _ => None,
    }
}

/// Returns where the number ends that begins here, as far as it is one, and whether it has an exponent.
fn number(bytes: &[u8], start: usize) -> (usize, bool) {
    let digits = |at: usize| at + bytes.iter().skip(at).take_while(|byte| byte.is_ascii_digit()).count();
    // What has zeros in front is no number, and stays what it is.
    let mut end = digits(start);
    if bytes[start] == b'0' && end > start + 1 {
        return (start + 1, false);
    }
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > end + 1 {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            return (exponent, true);
        }
    }
    (end, false)
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Root,
    Key,
    Element,
}

struct Value<'w, 'm>(&'w mut Walk<'m>, Place);

impl Walk<'_> {
    /// Records the type of the value at the path.
    fn note(&mut self, kind: &str) {
        let mut hasher = xxhash_rust::xxh3::Xxh3Default::new();
        hasher.update(self.path.as_bytes());
        hasher.update(kind.as_bytes());
        if !self.seen.insert(hasher.digest()) {
            return;
        }
        let length = self.path.len() + 1 + kind.len();
        if length <= self.room {
            self.room -= length;
            self.paths.push(format!("{}:{kind}", self.path));
        }
    }

    fn enter(&mut self, key: &str) -> usize {
        let length = self.path.len();
        self.depth += 1;
        if self.depth <= DEEPEST {
            if !self.path.is_empty() {
                self.path.push('.');
            }
            let mut masked = String::new();
            if let Some(log) = self.log.as_deref_mut() {
                log.line.clear();
                log.line.push_str("keys");
            }
            self.masker.value(cut(key, KEY), &mut masked, self.log.as_deref_mut());
            push_word(&mut self.path, &masked);
        }
        length
    }

    fn leave(&mut self, length: usize) {
        self.depth -= 1;
        self.path.truncate(length);
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.note("null");
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.0.note("boolean");
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.0.note("number");
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.0.note("number");
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.0.note("number");
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.note("string");
        if let Some(lines) = self.0.lines.as_deref_mut().filter(|_| is_message(text)) {
            lines.add("text", text);
            lines.end();
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let Value(walk, place) = self;
        if place != Place::Root {
            walk.note("array");
        }
        let length = walk.path.len();
        walk.depth += 1;
        if walk.depth <= DEEPEST {
            walk.path.push_str("[]");
        }
        let mut count = 0_u64;
        while elements.next_element_seed(Value(walk, Place::Element))?.is_some() {
            count += 1;
        }
        walk.leave(length);
        if place == Place::Root && count == 0 {
            walk.note("array");
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Value(walk, place) = self;
        // The keys of an object in an array tell that it is one.
        if place == Place::Key {
            walk.note("object");
        }
        let mut count = 0_u64;
        while let Some(key) = entries.next_key::<String>()? {
            let length = walk.enter(&key);
            let value = entries.next_value_seed(Value(walk, Place::Key));
            walk.leave(length);
            value.map_err(A::Error::custom)?;
            count += 1;
        }
        if place != Place::Key && count == 0 {
            walk.note("object");
        }
        Ok(())
    }
}

/// Returns whether people are meant to read a string: it has words, of a script with spaces or without.
fn is_message(text: &str) -> bool {
    let is_without_spaces = |character: char| matches!(character, '\u{3040}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}');
    if text.len() > 4 * MESSAGE || text.chars().count() > MESSAGE {
        return false;
    }
    let text = text.trim();
    text.contains(' ') || text.chars().filter(|&character| is_without_spaces(character)).nth(1).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys(source: &str) -> Option<Vec<String>> {
        read(source, &Masker::new(&[]).unwrap(), None, None)
    }

    #[test]
    fn what_others_write_is_json_too() {
        for (source, expected) in [
            (r#"{"a":"\ud83d"}"#, "a:string"),
            (r#"{"a":"\uDE00x\ud83d\u0041\ud83d\ude00"}"#, "a:string"),
            (r#"{"\ud83d":1}"#, "\u{FFFD}:number"),
            (r#"{"a":1e999}"#, "a:number"),
            (r#"{"a":[-1.5E+999]}"#, "a:array a[]:number"),
            (&format!("{{\"a\":{}}}", "9".repeat(400)), "a:number"),
            ("{\"a\":1}\r\n\t {\"b\":1e999}\n", "a:number b:number"),
            ("[1][2]{}", ":object []:number"),
            ("[] 5", ":array :number"),
        ] {
            assert_eq!(keys(source).map(|keys| keys.join(" ")).as_deref(), Some(expected), "{source}");
        }
        for source in [
            r#"{"a":"\ud83d""#,
            r#"{"a":1e}"#,
            r#"{"a":01e5}"#,
            r#"{"a":1.e5}"#,
            r#"{"a":"\udxyz"}"#,
            r#"{"a":"\"#,
            r#"{"a":"\ud8"#,
            "{} x",
            "[1]\u{a0}[2]",
        ] {
            assert_eq!(keys(source), None, "{source}");
        }
    }

    #[test]
    fn an_attempt_that_fails_leaves_nothing() {
        let (mut lines, mut log) = (Lines::default(), Log::default());
        let source = r#"{"2026-11-17":"Some words","b":"\ud83d of it"}"#;
        let masker = Masker::new(&["dates"]).unwrap();
        read(source, &masker, Some(&mut lines), Some(&mut log)).unwrap();
        assert_eq!(lines.text, "text Some words\ntext \u{FFFD} of it\n");
        assert_eq!(log.masked.len(), 1);
        lines.clear();
        assert_eq!(read(&source[..source.len() - 1], &masker, Some(&mut lines), Some(&mut log)), None);
        assert_eq!((lines.text.as_str(), log.masked.len()), ("", 1));
    }

    proptest! {
        #[test]
        fn mending_changes_nothing_of_good_json(text in "[a\"\\\\\u{1F600}ud8e1]{0,12}", number in -1e9..1e9_f64) {
            let source = serde_json::json!({ "a": text, "b": number, "c": [text, 12] }).to_string();
            let mended = mended(&source).unwrap_or_else(|| source.clone());
            let value = |source: &str| serde_json::from_str::<serde_json::Value>(source).unwrap();
            prop_assert_eq!(&value(&mended)["a"], &value(&source)["a"]);
            prop_assert_eq!(&value(&mended)["c"], &value(&source)["c"]);
        }

        #[test]
        fn mending_any_text_ends(text in "[\\[{\"\\\\ud8cE+1.0é,]{0,40}") {
            mended(&text);
            keys(&format!("[{text}"));
        }
    }
}
