//! The view of an HTTP response → tokens: lines, each a name, a space and a value.
//!
//! Words of the text are tokens as they are; all others begin with the name of what they are of and a sign that no word
//! has, so that no two views share one. Nothing is allocated for a token, and no part of a view that is written into
//! many tokens is long: the work is linear in the view, whatever it holds.

use memchr::memchr_iter;

use crate::http::VIEWS;
use crate::weights::{FULL, ONCE, weight_class};
use crate::words::{Hangul, Piece, each_piece, each_word};

const STATUS: usize = 0;
const HEADERS: usize = 1;
const TITLE: usize = 2;
pub(crate) const TAGS: usize = 3;
pub(crate) const KEYS: usize = 4;
pub(crate) const TEXT: usize = 5;
pub(crate) const BODY: usize = 6;

/// Neighbours joined to one token.
const SHINGLE: usize = 3;
/// Longer parts of tokens are replaced by their hash.
const LONGEST: usize = 96;

/// A class whose weight is a quarter.
const QUARTER: u8 = 2;
/// Headers of the connection: another client, or another capture of the same response, has others.
const OF_THE_WAY: [&str; 10] = [
    "age",
    "connection",
    "content-encoding",
    "content-length",
    "date",
    "keep-alive",
    "proxy-connection",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Packs the view of a token and its class within (`weights::CLASSES`).
#[inline(always)]
fn kind(view: usize, class: u8) -> u8 {
    (view as u8) << 5 | class
}

/// Returns the view of a token.
#[inline(always)]
pub(crate) fn view_of(kind: u8) -> usize {
    usize::from(kind >> 5) % VIEWS.len()
}

/// Returns the class of a token within its view.
#[inline(always)]
pub(crate) fn class_of(kind: u8) -> u8 {
    kind & 31
}

/// Buffers reused between views.
#[derive(Debug, Default)]
pub(crate) struct ViewScratch {
    /// The group that all tokens begin with, if there is one, then the current token.
    token: String,
    group: usize,
    /// The elements of a page, or the words of a line: names one after the other, and where each begins and ends.
    names: String,
    elements: Vec<Place>,
    /// Hashes of the names of elements.
    hashes: Vec<u64>,
    /// Depths and numbers of the elements that are open.
    open: Vec<(usize, usize)>,
    /// Tokens of tags that have come.
    come: Come,
    /// The last words of a line.
    window: [Place; SHINGLE],
}

type Place = [usize; 2];

/// A set of the hashes of tokens seen: most tokens of a page are repeated and need not be written again.
#[derive(Debug, Default)]
struct Come {
    /// A power of two long, less than half full; 0 is free.
    slots: Vec<u64>,
}

impl Come {
    /// Clears the set and makes room for `most` hashes.
    fn start(&mut self, most: usize) {
        self.slots.clear();
        self.slots.resize((2 * most).next_power_of_two().max(64), 0);
    }

    /// Returns whether this sequence of names is new. `seed` separates different uses of the same names.
    #[inline(always)]
    fn is_new(&mut self, seed: u64, names: impl Iterator<Item = u64>) -> bool {
        let mixed = |sum: u64, name: u64| {
            let product = u128::from(sum ^ name) * 0xa076_1d64_78bd_642f_u128;
            (product >> 64) as u64 ^ product as u64
        };
        // Two different sequences collide with probability 2^-64.
        let key = names.fold(seed, mixed).max(1);
        let mask = self.slots.len() - 1;
        let mut slot = key as usize & mask;
        while self.slots[slot] != 0 {
            if self.slots[slot] == key {
                return false;
            }
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = key;
        true
    }
}

impl ViewScratch {
    /// Returns the size of the largest buffer in bytes.
    pub(crate) fn capacity(&self) -> usize {
        self.token.capacity().max(self.names.capacity()).max(self.come.slots.capacity() * 8)
    }

    /// Starts a token.
    #[inline(always)]
    fn begin(&mut self, start: &str) {
        self.token.truncate(self.group);
        self.token.push_str(start);
    }

    /// Writes a token behind a short start that many tokens share; returns it.
    #[inline(always)]
    fn whole(&mut self, start: &str, rest: &str) -> &str {
        self.begin(start);
        self.token.push_str(rest);
        &self.token
    }
}

/// Calls `sink` with every token of the views in `wanted`, a bit for each, and with its kind.
#[inline(never)]
pub(crate) fn each(
    text: &str,
    (wanted, hangul): (u8, Hangul),
    scratch: &mut ViewScratch,
    sink: &mut dyn FnMut(&str, u8),
) {
    let mut lines = text.split('\n').peekable();
    scratch.token.clear();
    if let Some(group) = lines.peek().and_then(|line| line.strip_prefix("within ")) {
        scratch.token.push('[');
        push_short(&mut scratch.token, group.trim());
        scratch.token.push_str("] ");
        lines.next();
    }
    scratch.group = scratch.token.len();
    let wants = |view: usize| wanted >> view & 1 == 1;
    for line in lines {
        let line = line.trim_end();
        let (name, value) = line.split_once(' ').unwrap_or((line, ""));
        let value = value.trim_start();
        let view = match name {
            "status" => STATUS,
            "header" => HEADERS,
            "title" => TITLE,
            "tags" => TAGS,
            "keys" => KEYS,
            "body" => BODY,
            _ => TEXT,
        };
        if !wants(view) {
            continue;
        }
        match view {
            STATUS if !value.is_empty() => sink(scratch.whole("status=", value), kind(STATUS, FULL)),
            HEADERS => header(value, hangul, scratch, sink),
            TITLE => title(value, hangul, scratch, sink),
            TAGS => tags(value, scratch, sink),
            KEYS => value.split(' ').filter(|path| !path.is_empty()).for_each(|path| {
                sink(scratch.whole("key=", path), kind(KEYS, FULL));
            }),
            BODY => body(value, scratch, sink),
            TEXT => words(if name == "text" { value } else { line }, (!wants(TAGS), hangul), scratch, sink),
            _ => {}
        }
    }
}

/// Tokenises a header: its name, and each word of its value with the name.
fn header(line: &str, hangul: Hangul, scratch: &mut ViewScratch, sink: &mut dyn FnMut(&str, u8)) {
    let (name, value) = line.split_once(' ').unwrap_or((line, ""));
    if name.is_empty() || OF_THE_WAY.contains(&name) {
        return;
    }
    scratch.begin("header=");
    push_short(&mut scratch.token, name);
    sink(&scratch.token, kind(HEADERS, ONCE));
    scratch.token.push('=');
    let start = scratch.token.len();
    each_word(value, hangul, |word| {
        scratch.token.truncate(start);
        push_word(&mut scratch.token, word);
        sink(&scratch.token, kind(HEADERS, ONCE));
    });
}

/// Tokenises a title: the whole, and its words.
fn title(title: &str, hangul: Hangul, scratch: &mut ViewScratch, sink: &mut dyn FnMut(&str, u8)) {
    if title.is_empty() {
        return;
    }
    sink(scratch.whole("title: ", title), kind(TITLE, FULL));
    each_weighed(title, hangul, &mut |word, class| {
        scratch.begin("title=");
        push_word(&mut scratch.token, word);
        sink(&scratch.token, kind(TITLE, class));
    });
}

/// Tokenises elements: three neighbours in document order, and each element with its two ancestors; each token once.
fn tags(line: &str, scratch: &mut ViewScratch, sink: &mut dyn FnMut(&str, u8)) {
    let ViewScratch { token, group, names, elements, hashes, open, come, .. } = scratch;
    names.clear();
    elements.clear();
    hashes.clear();
    open.clear();
    come.start(2 * (memchr_iter(b' ', line.as_bytes()).count() + 1));
    for element in parted(line) {
        let digits = element.bytes().take_while(u8::is_ascii_digit).count();
        let (depth, name) = element.split_at(digits);
        // A depth that overflows is the largest depth.
        let deeper = |depth: usize, digit: u8| depth.checked_mul(10)?.checked_add(usize::from(digit - b'0'));
        let depth = depth.bytes().try_fold(0, deeper).unwrap_or(usize::MAX);
        let start = names.len();
        push_short(names, name);
        let at = elements.len();
        hashes.push(xxhash_rust::xxh3::xxh3_64(&names.as_bytes()[start..]));
        elements.push([start, names.len()]);
        while open.last().is_some_and(|&(other, _)| other >= depth) {
            open.pop();
        }
        open.push((depth, at));
        let path = &open[open.len().saturating_sub(SHINGLE)..];
        if !come.is_new(path.len() as u64, path.iter().map(|&(_, at)| hashes[at])) {
            continue;
        }
        token.truncate(*group);
        token.push_str("path=");
        for (nth, &(_, at)) in path.iter().enumerate() {
            let [start, end] = elements[at];
            token.push_str(if nth > 0 { ">" } else { "" });
            token.push_str(&names[start..end]);
        }
        sink(token, kind(TAGS, ONCE));
    }
    let size = SHINGLE.min(elements.len()).max(1);
    for (window, hashes) in elements.windows(size).zip(hashes.windows(size)) {
        if !come.is_new(SHINGLE as u64 + 1, hashes.iter().copied()) {
            continue;
        }
        token.truncate(*group);
        token.push_str("tags=");
        for (nth, &[start, end]) in window.iter().enumerate() {
            token.push_str(if nth > 0 { " " } else { "" });
            token.push_str(&names[start..end]);
        }
        sink(token, kind(TAGS, ONCE));
    }
}

/// Returns the parts between spaces that are not empty.
fn parted(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let start = rest.bytes().position(|byte| byte != b' ')?;
        // Elements are short: a loop over bytes is faster than memchr.
        let length = rest.bytes().skip(start).position(|byte| byte == b' ').unwrap_or(rest.len() - start);
        let element = &rest[start..start + length];
        rest = &rest[start + length..];
        Some(element)
    })
}

/// Tokenises a body that is neither page, JSON nor text: its type, and its type with its size.
fn body(value: &str, scratch: &mut ViewScratch, sink: &mut dyn FnMut(&str, u8)) {
    let what = value.split_once(' ').map_or(value, |(what, _)| what);
    if what.is_empty() {
        return;
    }
    sink(scratch.whole("body=", what), kind(BODY, FULL));
    if what.len() < value.len() {
        sink(scratch.whole("body=", value), kind(BODY, QUARTER));
    }
}

/// Tokenises words as the default recipe does; with `shingled` also three joined neighbours of a line, or two if there
/// are no more. Where tags count, shingles would make a page with one changed name a different kind.
fn words(line: &str, (shingled, hangul): (bool, Hangul), scratch: &mut ViewScratch, sink: &mut dyn FnMut(&str, u8)) {
    let ViewScratch { token, group, names, window, .. } = scratch;
    let group = *group;
    // Words one after the other, a space between: neighbours are joined already.
    names.clear();
    let mut seen = 0;
    each_piece(line, hangul, |piece| {
        let mut weighed = |word: &str, class: u8| {
            if group == 0 && !has_point(word) {
                sink(word, kind(TEXT, class));
            } else {
                token.truncate(group);
                push_word(token, word);
                sink(token, kind(TEXT, class));
            }
        };
        match piece {
            Piece::Word(word) => weighed(word, weight_class(word)),
            run => run.each_part(&mut weighed),
        }
        if !shingled {
            return;
        }
        piece.each_neighbour(&mut |word| {
            let start = names.len();
            push_word(names, word);
            window.rotate_left(1);
            window[SHINGLE - 1] = [start, names.len()];
            seen += 1;
            if seen >= SHINGLE {
                joined(&names[window[0][0]..], (token, group), sink);
            }
            names.push(' ');
        });
    });
    if seen == SHINGLE - 1 {
        joined(&names[..names.len() - 1], (token, group), sink);
    }
}

/// Joins neighbours to one token, behind the group if there is one.
#[inline(always)]
fn joined(words: &str, (token, group): (&mut String, usize), sink: &mut dyn FnMut(&str, u8)) {
    if group == 0 {
        return sink(words, kind(TEXT, FULL));
    }
    token.truncate(group);
    token.push_str(words);
    sink(token, kind(TEXT, FULL));
}

/// Calls `sink` with words and the parts of runs without spaces, with their classes.
fn each_weighed(text: &str, hangul: Hangul, sink: &mut dyn FnMut(&str, u8)) {
    each_piece(text, hangul, |piece| match piece {
        Piece::Word(word) => sink(word, weight_class(word)),
        run => run.each_part(&mut |part, class| sink(part, class)),
    });
}

/// Returns whether a word is a number with a point or comma in it: a version, a price, a share.
#[inline(always)]
fn has_point(word: &str) -> bool {
    word.as_bytes().first().is_some_and(u8::is_ascii_digit) && word.bytes().any(|byte| matches!(byte, b'.' | b','))
}

/// Writes a word; a number with a point as its shape, 0.0.0 for 1.18.0, since another version is not another kind of
/// response.
#[inline]
fn push_word(out: &mut String, word: &str) {
    if !has_point(word) {
        return out.push_str(word);
    }
    let mut before = ' ';
    for c in word.chars() {
        let c = if c.is_ascii_digit() { '0' } else { c };
        if c != '0' || before != '0' {
            out.push(c);
        }
        before = c;
    }
}

/// Writes the text, or its hash if it is long.
fn push_short(out: &mut String, text: &str) {
    if text.len() <= LONGEST {
        return out.push_str(text);
    }
    let sum = xxhash_rust::xxh3::xxh3_128(text.as_bytes());
    (0..32).rev().for_each(|digit| out.extend(char::from_digit((sum >> (4 * digit)) as u32 & 15, 16)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tokens_of(text: &str, wanted: u8) -> Vec<(String, usize, u8)> {
        let mut found = Vec::new();
        each(text, (wanted, Hangul::Runs), &mut ViewScratch::default(), &mut |token, kind| {
            found.push((token.to_owned(), view_of(kind), class_of(kind)));
        });
        found
    }

    fn tokens(text: &str) -> Vec<String> {
        tokens_of(text, u8::MAX).into_iter().map(|(token, ..)| token).collect()
    }

    #[test]
    fn every_line() {
        for (line, expected) in [
            ("status 404", vec!["status=404"]),
            ("header server nginx/1.18.0", vec!["header=server", "header=server=nginx", "header=server=0.0.0"]),
            ("header etag", vec!["header=etag"]),
            ("header date\nheader connection close", vec![]),
            ("title v 2.10", vec!["title: v 2.10", "title=v", "title=0.0"]),
            ("title not found", vec!["title: not found", "title=not", "title=found"]),
            (
                "tags 0html 1head 2title 1body 2p.a",
                vec![
                    "path=html",
                    "path=html>head",
                    "path=html>head>title",
                    "path=html>body",
                    "path=html>body>p.a",
                    "tags=html head title",
                    "tags=head title body",
                    "tags=title body p.a",
                ],
            ),
            ("tags 0p", vec!["path=p", "tags=p"]),
            ("keys a:object a.b:number", vec!["key=a:object", "key=a.b:number"]),
            ("text one two three four", vec!["one", "two", "three", "one two three", "four", "two three four"]),
            ("text one two", vec!["one", "two", "one two"]),
            ("text one", vec!["one"]),
            ("text php 8.1,2 10", vec!["php", "0.0,0", "10", "php 0.0,0 10"]),
            ("text 我爱你", vec!["我", "我爱", "爱", "爱你", "你", "我爱 爱你"]),
            ("plain text", vec!["plain", "text", "plain text"]),
            ("body empty", vec!["body=empty"]),
            ("body image/png 14", vec!["body=image/png", "body=image/png 14"]),
            ("within a\nstatus 1\ntext b c", vec!["[a] status=1", "[a] b", "[a] c", "[a] b c"]),
            ("status 1\nwithin a", vec!["status=1", "within", "a", "within a"]),
            ("", vec![]),
            ("status\nheader\ntitle \ntags\nkeys\ntext\nbody\n", vec![]),
        ] {
            let wanted = if line.starts_with("tags") { u8::MAX } else { !(1 << TAGS) };
            let found: Vec<String> = tokens_of(line, wanted).into_iter().map(|(token, ..)| token).collect();
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn views_and_classes() {
        let text = "status 1\nheader a b\ntitle of\ntags 0p\nkeys k:null\ntext of 汉\nbody empty";
        let found = tokens_of(text, u8::MAX);
        let views: Vec<usize> = found.iter().map(|&(_, view, _)| view).collect();
        assert_eq!(views, [0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6]);
        assert_eq!(found[4].2, 3, "a short word of a title");
        assert_eq!((found[8].2, found[9].2), (3, 5));
        let shingle = tokens_of(text, 1 << TEXT).pop().unwrap();
        assert_eq!(shingle, ("of 汉".to_owned(), TEXT, FULL));
        for view in (0..VIEWS.len()).filter(|&view| view != TEXT) {
            let only = tokens_of(text, 1 << view);
            assert_eq!(only, found.iter().filter(|one| one.1 == view).cloned().collect::<Vec<_>>());
        }
    }

    #[test]
    fn nothing_long_is_written_many_times() {
        let long = "x".repeat(100_000);
        let words = "w ".repeat(1000);
        let children = " 1b".repeat(1000);
        for text in [
            format!("within {long}\ntext {words}"),
            format!("header {long} {words}"),
            format!("tags 0{long}{children}"),
            format!("tags 99999999999999999999999a 5b{children}"),
        ] {
            let mut bytes = 0;
            each(&text, (u8::MAX, Hangul::Runs), &mut ViewScratch::default(), &mut |token, _| bytes += token.len());
            assert!(bytes < 1_000_000, "{bytes}");
        }
        assert_ne!(tokens(&format!("within {long}\ntext a")), tokens(&format!("within {long}y\ntext a")));
    }

    #[test]
    fn a_hundred_thousand_elements_deep() {
        let line: String = (0..100_000).map(|depth| format!(" {depth}a")).collect();
        assert_eq!(tokens(&format!("tags{line}")), ["path=a", "path=a>a", "path=a>a>a", "tags=a a a"]);
    }

    proptest! {
        #[test]
        fn a_token_is_of_one_view_and_class(text in "((status|header|title|tags|keys|text|body|within)? [a-c0-2汉ก:=>. ]{0,12}\n){0,9}") {
            let mut kinds = std::collections::HashMap::new();
            for (token, view, class) in tokens_of(&text, u8::MAX) {
                let before = *kinds.entry(token.clone()).or_insert((view, class));
                prop_assert_eq!(before, (view, class), "{}", token);
            }
        }

        #[test]
        fn groups_share_no_token(text in "((status|title|tags|text) [a-c ]{0,9}\n){0,9}", left in "[a-b]{1,3}", right in "[c-d]{1,3}") {
            let found = |group: &str| tokens(&format!("within {group}\n{text}"));
            let (left, right) = (found(&left), found(&right));
            prop_assert_eq!(left.len(), tokens(&text).len());
            prop_assert!(left.iter().all(|token| !right.contains(token)));
        }
    }
}
