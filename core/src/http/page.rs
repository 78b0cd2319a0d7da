//! HTML and XML → tags, title and visible text, in one pass over the bytes: O(n) on any input.
//!
//! A scanner of our own instead of a tree: it follows the tokeniser of the HTML standard
//! (<https://html.spec.whatwg.org/multipage/parsing.html>) and of its tree only what changes the depth of
//! elements in pages as they are: void elements, implied ends, ends that cross others.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memmem};

use super::elements::*;
use super::fold::{Lines, cut, folded};
use super::mask::Masker;
use super::preview::Log;
use crate::entities::{decoded, reference};

/// Elements deeper than this are written as if they were just here.
const DEEPEST: usize = 64;
/// How far up an end tag looks for its start: a bound, so that hostile pages take linear time.
const REACH: usize = 256;
/// The most bytes of a name, a class, a title.
const NAME: usize = 64;
pub(super) const TITLE: usize = 1000;
/// How many classes of an element count.
const CLASSES: usize = 32;
/// How many values of `class` are remembered.
const KNOWN: usize = 64;

/// The parts of a page to read.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) tags: bool,
    pub(super) text: bool,
    pub(super) xml: bool,
}

struct Open {
    name: u64,
    flags: u16,
}

/// The attributes that count.
#[derive(Default)]
struct Attributes<'a> {
    class: Option<&'a str>,
    alt: Option<&'a str>,
    placeholder: Option<&'a str>,
    value: Option<&'a str>,
    kind: Option<&'a str>,
}

pub(super) struct Page<'a, 'm> {
    source: &'a str,
    wanted: Wanted,
    masker: &'m Masker,
    log: Option<&'m mut Log>,
    stack: Vec<Open>,
    /// How many of these are open.
    pre: usize,
    svg: usize,
    head: usize,
    template: usize,
    title: Option<String>,
    /// Values of `class` that have come, and where in the tags is what was written for them.
    classes: [Option<(&'a str, usize, usize)>; KNOWN],
    tags: &'m mut String,
    lines: &'m mut Lines,
}

/// Writes the tags and the lines of text of a page; returns its title.
pub(super) fn read<'m>(
    source: &str,
    wanted: Wanted,
    masker: &'m Masker,
    tags: &'m mut String,
    lines: &'m mut Lines,
    log: Option<&'m mut Log>,
) -> String {
    let page = Page {
        source,
        wanted,
        masker,
        log,
        stack: Vec::with_capacity(32),
        pre: 0,
        svg: 0,
        head: 0,
        template: 0,
        title: None,
        classes: [None; KNOWN],
        tags,
        lines,
    };
    page.run()
}

impl<'a> Page<'a, '_> {
    fn run(mut self) -> String {
        let bytes = self.source.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let Some(found) = memchr(b'<', &bytes[at..]) else {
                self.text(&self.source[at..]);
                break;
            };
            let start = at + found;
            match bytes.get(start + 1) {
                Some(byte) if byte.is_ascii_alphabetic() || (self.wanted.xml && (*byte == b'_' || *byte >= 0x80)) => {
                    self.text(&self.source[at..start]);
                    at = self.start_tag(start);
                }
                Some(b'/') if bytes.get(start + 2).is_some_and(u8::is_ascii_alphabetic) || self.wanted.xml => {
                    self.text(&self.source[at..start]);
                    at = self.end_tag(start);
                }
                Some(b'!' | b'?' | b'/') => {
                    self.text(&self.source[at..start]);
                    at = self.declaration(start);
                }
                // A sign of text. All that follow go with it, so that many in a row are one step.
                _ => {
                    let mut end = start + 1;
                    while bytes.get(end) == Some(&b'<') && !begins_markup(bytes.get(end + 1)) {
                        end += 1;
                    }
                    self.text(&self.source[at..end]);
                    at = end;
                }
            }
            if !self.wanted.tags && !self.wanted.text && self.is_past_title() {
                break;
            }
        }
        self.lines.end();
        self.title.unwrap_or_default()
    }

    /// Returns whether reading can stop, if only the title is wanted.
    fn is_past_title(&self) -> bool {
        self.title.is_some() || self.wanted.xml || self.stack.last().is_some_and(|open| open.name == key(b"body"))
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() || !self.wanted.text || self.template > 0 {
            return;
        }
        if self.head > 0 && (text.bytes().all(|byte| byte.is_ascii_whitespace()) || !self.leave_head()) {
            return;
        }
        if self.pre > 0 {
            for (index, line) in text.split('\n').enumerate() {
                if index > 0 {
                    self.lines.end();
                }
                self.add(line);
            }
        } else {
            self.add(text);
        }
    }

    /// Adds text to a line, with character references decoded.
    fn add(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(found) = memchr(b'&', &bytes[at..]) {
            let start = at + found;
            self.lines.add("text", &text[at..start]);
            match reference(&text[start..]) {
                Some((character, length)) => {
                    self.lines.add("text", character.encode_utf8(&mut [0; 4]));
                    at = start + length;
                }
                None => {
                    self.lines.add("text", "&");
                    at = start + 1;
                }
            }
        }
        self.lines.add("text", &text[at..]);
    }

    /// Reads a comment, a declaration, an instruction or CDATA; returns the position after it.
    fn declaration(&mut self, start: usize) -> usize {
        let bytes = self.source.as_bytes();
        let rest = &bytes[start..];
        if rest.starts_with(b"<!--") {
            // `<!-->` is a whole one.
            return memmem::find(&rest[2..], b"-->").map_or(bytes.len(), |end| start + 2 + end + 3);
        }
        if rest.starts_with(b"<![CDATA[") && (self.wanted.xml || self.svg > 0) {
            let end = memmem::find(rest, b"]]>").unwrap_or(rest.len());
            if self.wanted.text && self.template == 0 {
                let text = &self.source[start + 9..start + end];
                self.lines.add("text", text);
            }
            return (start + end + 3).min(bytes.len());
        }
        memchr(b'>', rest).map_or(bytes.len(), |end| start + end + 1)
    }

    fn end_tag(&mut self, start: usize) -> usize {
        let bytes = self.source.as_bytes();
        let Some(length) = memchr(b'>', &bytes[start..]) else { return bytes.len() };
        let inner = &self.source[start + 2..start + length];
        let mut buffer = [0; NAME];
        let name = lowered(name_of(inner), &mut buffer, self.wanted.xml);
        let known = if self.wanted.xml { LINE } else { flags(name) };
        self.break_line(known);
        self.close(key(name), known);
        start + length + 1
    }

    fn start_tag(&mut self, start: usize) -> usize {
        let name = name_of(&self.source[start + 1..]);
        let mut buffer = [0; NAME];
        let lower = lowered(name, &mut buffer, self.wanted.xml);
        let flags = if self.wanted.xml { LINE } else { flags(lower) };
        let Some((attributes, end, closed)) = self.attributes(start + 1 + name.len()) else {
            // The end of the page lies within the tag: it is none.
            return self.source.len();
        };
        let key = key(lower);
        if !self.wanted.xml && self.svg == 0 && !self.make_room(key, flags) {
            return end;
        }
        self.break_line(flags);
        self.write_tag(lower, &attributes);
        self.write_attributes(lower, &attributes);
        if flags & VOID != 0 || (closed && (self.wanted.xml || self.svg > 0 || flags & SVG != 0)) {
            return end;
        }
        if flags & (RAW | ONLY_TEXT) != 0 && self.svg == 0 {
            return self.raw(lower, flags, end);
        }
        self.pre += usize::from(flags & PRE != 0);
        self.svg += usize::from(flags & SVG != 0);
        self.head += usize::from(flags & HEAD != 0);
        self.template += usize::from(flags & TEMPLATE != 0);
        self.stack.push(Open { name: key, flags });
        end
    }

    /// Returns the attributes from here on, the place after the tag, and whether it ends in `/>`.
    fn attributes(&self, from: usize) -> Option<(Attributes<'a>, usize, bool)> {
        let source = self.source;
        let bytes = source.as_bytes();
        let mut found = Attributes::default();
        let mut at = from;
        let mut closed = false;
        loop {
            match *bytes.get(at)? {
                b'>' => return Some((found, at + 1, closed)),
                b'/' => {
                    closed = true;
                    at += 1;
                    continue;
                }
                byte if byte.is_ascii_whitespace() => {
                    at += 1;
                    continue;
                }
                _ => closed = false,
            }
            let start = at;
            at += 1;
            while !matches!(*bytes.get(at)?, b'=' | b'>' | b'/' | b' ' | b'\n' | b'\t' | b'\r' | 0x0C) {
                at += 1;
            }
            let name = &bytes[start..at];
            while bytes.get(at)?.is_ascii_whitespace() {
                at += 1;
            }
            if bytes[at] != b'=' {
                continue;
            }
            at += 1;
            while bytes.get(at)?.is_ascii_whitespace() {
                at += 1;
            }
            let value = match bytes[at] {
                quote @ (b'"' | b'\'') => {
                    let start = at + 1;
                    let end = start + memchr(quote, &bytes[start..])?;
                    at = end + 1;
                    start..end
                }
                _ => {
                    let start = at;
                    while !matches!(*bytes.get(at)?, b'>' | b' ' | b'\n' | b'\t' | b'\r' | 0x0C) {
                        at += 1;
                    }
                    start..at
                }
            };
            let place = match name.len() {
                5 if name.eq_ignore_ascii_case(b"class") => &mut found.class,
                5 if name.eq_ignore_ascii_case(b"value") => &mut found.value,
                3 if name.eq_ignore_ascii_case(b"alt") => &mut found.alt,
                4 if name.eq_ignore_ascii_case(b"type") => &mut found.kind,
                11 if name.eq_ignore_ascii_case(b"placeholder") => &mut found.placeholder,
                _ => continue,
            };
            // Cuts at signs of ASCII are cuts between characters.
            place.get_or_insert(&source[value]);
        }
    }

    fn write_tag(&mut self, name: &[u8], attributes: &Attributes<'a>) {
        if !self.wanted.tags || self.template > 0 {
            return;
        }
        if !self.tags.is_empty() {
            self.tags.push(' ');
        }
        let depth = self.stack.len().min(DEEPEST);
        if depth >= 10 {
            self.tags.push(char::from(b'0' + (depth / 10) as u8));
        }
        self.tags.push(char::from(b'0' + (depth % 10) as u8));
        push_word(self.tags, &String::from_utf8_lossy(name));
        if let Some(class) = attributes.class {
            self.write_classes(class);
        }
    }

    fn write_classes(&mut self, class: &'a str) {
        // Most are on a page many times over. A log has each of them.
        let slot = xxhash_rust::xxh3::xxh3_64(class.as_bytes()) as usize % KNOWN;
        match self.classes[slot] {
            Some((known, start, end)) if known == class && self.log.is_none() => {
                return self.tags.extend_from_within(start..end);
            }
            _ => {}
        }
        let start = self.tags.len();
        self.write_new_classes(class);
        self.classes[slot] = Some((class, start, self.tags.len()));
    }

    fn write_new_classes(&mut self, class: &str) {
        let class = decoded(class);
        let mut classes: Vec<Cow<'_, str>> = class
            .split_ascii_whitespace()
            .take(CLASSES)
            .map(|name| self.masker.class(cut(name, NAME), self.log.as_deref_mut()))
            .collect();
        if classes.len() > 1 {
            classes.sort_unstable();
            classes.dedup();
        }
        for name in classes {
            self.tags.push('.');
            push_word(self.tags, &name);
        }
    }

    /// Writes the visible attributes.
    fn write_attributes(&mut self, name: &[u8], attributes: &Attributes<'_>) {
        if !self.wanted.text || self.template > 0 || self.head > 0 || self.wanted.xml {
            return;
        }
        let is_button = || {
            attributes.kind.is_some_and(|kind| {
                ["submit", "button", "reset"].iter().any(|button| kind.trim().eq_ignore_ascii_case(button))
            })
        };
        match name {
            b"img" | b"area" => self.add_apart(attributes.alt),
            b"input" => {
                self.add_apart(attributes.placeholder);
                if is_button() {
                    self.add_apart(attributes.value);
                } else if attributes.kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("image")) {
                    self.add_apart(attributes.alt);
                }
            }
            b"textarea" => self.add_apart(attributes.placeholder),
            _ => {}
        }
    }

    fn add_apart(&mut self, text: Option<&str>) {
        if let Some(text) = text {
            self.lines.gap();
            self.add(text);
            self.lines.gap();
        }
    }

    /// Reads an element whose content is not markup; returns the position after it.
    fn raw(&mut self, name: &[u8], flags: u16, from: usize) -> usize {
        let bytes = self.source.as_bytes();
        let mut at = from;
        let end = loop {
            let Some(found) = memmem::find(&bytes[at..], b"</") else { break bytes.len() };
            let start = at + found;
            let after = start + 2 + name.len();
            if bytes.get(start + 2..after).is_some_and(|other| other.eq_ignore_ascii_case(name))
                && bytes.get(after).is_none_or(|byte| matches!(byte, b'>' | b'/') || byte.is_ascii_whitespace())
            {
                break start;
            }
            at = start + 2;
        };
        let content = &self.source[from..end];
        if name == b"title" {
            if self.title.is_none() && self.template == 0 {
                self.title = Some(cut(&folded(&decoded(cut(content, 8 * TITLE))), TITLE).trim_end().to_owned());
            }
        } else if flags & ONLY_TEXT != 0 {
            match name {
                b"xmp" if self.wanted.text && self.template == 0 => self.lines.add("text", content),
                b"xmp" => {}
                _ => self.text(content),
            }
            self.break_line(flags);
        }
        if end == bytes.len() {
            return end;
        }
        memchr(b'>', &bytes[end..]).map_or(bytes.len(), |length| end + length + 1)
    }

    fn break_line(&mut self, flags: u16) {
        if flags & LINE != 0 {
            self.lines.end();
        } else if flags & GAP != 0 {
            self.lines.gap();
        }
    }

    /// Closes the elements that a start tag ends; returns false if the tag adds nothing.
    fn make_room(&mut self, name: u64, known: u16) -> bool {
        if self.head > 0 && known & (IN_HEAD | HEAD) == 0 {
            self.leave_head();
        }
        if known & (ONCE | HEAD) != 0 {
            return !self.stack.iter().take(4).any(|open| open.name == name);
        }
        if known & ENDS_P != 0 {
            self.end_open(&[key(b"p")], |flags| flags & SPECIAL != 0);
        }
        match name {
            name if name == key(b"li") => self.end_open(&[name], is_no_wrapper),
            name if name == key(b"dt") || name == key(b"dd") => {
                self.end_open(&[key(b"dt"), key(b"dd")], is_no_wrapper);
            }
            name if name == key(b"option") => self.end_open(&[name], |flags| flags & SPECIAL != 0),
            name if name == key(b"optgroup") => {
                self.end_open(&[key(b"option")], |flags| flags & SPECIAL != 0);
                self.end_open(&[name], |flags| flags & SPECIAL != 0);
            }
            name if name == key(b"td") || name == key(b"th") => {
                self.end_open(&[key(b"td"), key(b"th")], |flags| flags & TABLE != 0);
            }
            name if name == key(b"tr") => {
                self.end_open(&[name], |flags| flags & (TABLE | SCOPE) == TABLE | SCOPE && flags & GAP == 0);
            }
            name if name == key(b"tbody") || name == key(b"thead") || name == key(b"tfoot") => {
                let parts = [key(b"tbody"), key(b"thead"), key(b"tfoot")];
                self.end_open(&parts, |flags| flags & (TABLE | SCOPE) == TABLE | SCOPE && flags & GAP == 0);
            }
            _ => {}
        }
        true
    }

    /// Closes the innermost of these elements, unless a barrier lies between.
    fn end_open(&mut self, names: &[u64], barrier: impl Fn(u16) -> bool) {
        for (index, open) in self.stack.iter().enumerate().rev().take(REACH) {
            if names.contains(&open.name) {
                self.shorten(index);
                return;
            }
            if barrier(open.flags) {
                return;
            }
        }
    }

    fn close(&mut self, name: u64, known: u16) {
        let xml = self.wanted.xml;
        self.end_open(&[name], |flags| {
            if xml {
                false
            } else if known & TABLE != 0 {
                flags & (TABLE | SCOPE) == TABLE | SCOPE && flags & ENDS_P != 0
            } else if known & (SPECIAL | SVG) != 0 {
                flags & SCOPE != 0
            } else {
                flags & SPECIAL != 0
            }
        });
    }

    /// Closes the head before content that it may not hold; returns false if it is not the innermost.
    fn leave_head(&mut self) -> bool {
        let innermost = self.stack.last().is_some_and(|open| open.flags & HEAD != 0);
        if innermost {
            self.shorten(self.stack.len() - 1);
        }
        innermost
    }

    fn shorten(&mut self, length: usize) {
        for open in self.stack.drain(length..) {
            self.pre -= usize::from(open.flags & PRE != 0);
            self.svg -= usize::from(open.flags & SVG != 0);
            self.head -= usize::from(open.flags & HEAD != 0);
            self.template -= usize::from(open.flags & TEMPLATE != 0);
        }
    }
}

fn is_no_wrapper(flags: u16) -> bool {
    flags & (SPECIAL | WRAPPER) == SPECIAL
}

fn begins_markup(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'!' | b'?' | b'/'))
}

fn name_of(rest: &str) -> &str {
    let length = rest.bytes().position(|byte| matches!(byte, b'>' | b'/') || byte.is_ascii_whitespace());
    &rest[..length.unwrap_or(rest.len())]
}

/// Returns a name in small letters; names of XML as they are. What is longer than any is cut.
fn lowered<'b>(name: &str, buffer: &'b mut [u8; NAME], xml: bool) -> &'b [u8] {
    let name = cut(name, NAME).as_bytes();
    let lower = &mut buffer[..name.len()];
    lower.copy_from_slice(name);
    if !xml {
        lower.make_ascii_lowercase();
    }
    lower
}

/// Returns a name as a number: FNV-1a.
const fn key(name: &[u8]) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    let mut at = 0;
    while at < name.len() {
        hash = (hash ^ name[at] as u64).wrapping_mul(0x100_0000_01B3);
        at += 1;
    }
    hash
}

/// Writes a word of a line of words, without white space.
pub(super) fn push_word(out: &mut String, word: &str) {
    if word.bytes().all(|byte| (0x21..0x7F).contains(&byte)) {
        out.push_str(word);
    } else {
        out.extend(word.chars().map(|character| if super::fold::is_space(character) { '_' } else { character }));
    }
}

/// Returns whether a text looks like HTML, for bodies without a declared type.
pub(super) fn looks_like_html(text: &str) -> bool {
    let Some(start) = memchr2(b'<', b'{', text.as_bytes()) else { return false };
    if text[..start].bytes().any(|byte| !byte.is_ascii_whitespace()) {
        return false;
    }
    let mut rest = &text[start..];
    // Comments may stand before it.
    while let Some(comment) = rest.strip_prefix("<!--") {
        let Some(end) = comment.find("-->") else { return false };
        rest = comment[end + 3..].trim_start();
    }
    let head = cut(rest, 32).to_ascii_lowercase();
    const STARTS: [&str; 20] = [
        "<!doctype html",
        "<html",
        "<head",
        "<body",
        "<title",
        "<script",
        "<style",
        "<meta",
        "<link",
        "<div",
        "<p>",
        "<h1",
        "<h2",
        "<table",
        "<center",
        "<iframe",
        "<a ",
        "<br",
        "<font",
        "<form",
    ];
    STARTS.iter().any(|tag| head.starts_with(tag))
}
