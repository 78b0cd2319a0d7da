//! JSON → key paths with their types, and messages for people.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::fold::{Lines, cut};
use super::mask::Masker;
use super::page::push_word;
use super::preview::Log;

/// What is kept of a key.
const KEY: usize = 64;
/// Keys nested deeper than this add nothing to the path.
const DEEPEST: usize = 24;
/// Longer strings are no messages.
const MESSAGE: usize = 200;

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

/// Key paths, sorted, if the text is JSON with an object or an array; its messages become lines.
///
/// Nested deeper than 127 levels, it is none.
pub(super) fn read<'m>(
    source: &str,
    masker: &'m Masker,
    lines: Option<&'m mut Lines>,
    log: Option<&'m mut Log>,
) -> Option<Vec<String>> {
    let source = source.trim_start_matches('\u{FEFF}').trim();
    if !source.starts_with(['{', '[']) {
        return None;
    }
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
    let mut stream = serde_json::Deserializer::from_str(source);
    // Several values, one after the other, are lines of JSON.
    loop {
        Value(&mut walk, Place::Root).deserialize(&mut stream).ok()?;
        if stream.end().is_ok() {
            break;
        }
    }
    walk.paths.sort_unstable();
    walk.paths.dedup();
    Some(walk.paths)
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Root,
    Key,
    Element,
}

struct Value<'w, 'm>(&'w mut Walk<'m>, Place);

impl Walk<'_> {
    /// Notes the type of the value at the path.
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

/// Whether people are meant to read a string: it has words, of a script with spaces or without.
fn is_message(text: &str) -> bool {
    let is_without_spaces = |character: char| matches!(character, '\u{3040}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}');
    if text.len() > 4 * MESSAGE || text.chars().count() > MESSAGE {
        return false;
    }
    let text = text.trim();
    text.contains(' ') || text.chars().filter(|&character| is_without_spaces(character)).nth(1).is_some()
}
