//! Detection of random words, by how often upper case, lower case and digits alternate.

use std::ops::Range;

/// Hexadecimal digits in a row that are a token.
const HEXADECIMAL: usize = 16;
/// Letters and digits of other words that are one.
const LONG: usize = 20;

/// What a word is made of.
#[derive(Default)]
struct Made {
    upper: usize,
    lower: usize,
    digits: usize,
    others: usize,
    /// Neighbours of which one is a small letter, a capital or a digit, and the other is not the same.
    changes: usize,
    /// A capital after a small letter.
    rises: usize,
    hexadecimal: usize,
}

fn made(word: &[u8]) -> Made {
    let mut made = Made::default();
    let mut last = 0;
    for &byte in word {
        let class = match byte {
            b'A'..=b'Z' => 1,
            b'a'..=b'z' => 2,
            b'0'..=b'9' => 3,
            _ => 0,
        };
        match class {
            1 => made.upper += 1,
            2 => made.lower += 1,
            3 => made.digits += 1,
            _ => made.others += 1,
        }
        made.hexadecimal += usize::from(byte.is_ascii_hexdigit());
        made.changes += usize::from(class != last && class != 0 && last != 0);
        made.rises += usize::from(class == 1 && last == 2);
        last = class;
    }
    made
}

/// Returns whether a word of letters, digits and a few signs was made at random.
pub(super) fn is_token(word: &str) -> bool {
    let word = word.trim_end_matches('=');
    let length = word.len();
    if length < HEXADECIMAL {
        return false;
    }
    let made = made(word.as_bytes());
    if made.hexadecimal == length && (made.upper == 0 || made.lower == 0) {
        return made.digits > 0;
    }
    let letters = made.upper + made.lower;
    if length < LONG || letters + made.digits < 18 {
        return false;
    }
    match (made.upper > 0 && made.lower > 0, made.digits) {
        // `HTTPSURLConnection` and `getElementsByClassName` are words.
        (true, 0) => (3 * letters..=7 * letters).contains(&(10 * made.upper)) && made.rises >= 3,
        (true, 1..) => 10 * made.changes >= 3 * length,
        (false, digits) => digits >= 3 && 20 * made.changes >= 3 * length,
    }
}

/// Returns whether a word has the form of a UUID, which has a rule of its own.
fn is_uuid(word: &str) -> bool {
    let is_sign = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    word.len() == 36 && word.bytes().enumerate().all(is_sign)
}

/// Returns the parts of a long word that were made at random: all of it, or some parts of a path.
pub(super) fn parts(word: &str) -> Vec<Range<usize>> {
    if is_uuid(word) {
        return Vec::new();
    }
    let is_word = |part: &str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_lowercase());
    if !word.contains('/') || !(word.starts_with('/') || word.split(['/', '-', '_']).any(is_word)) {
        return is_token(word).then_some(0..word.len()).into_iter().collect();
    }
    let mut start = 0;
    let mut found = Vec::new();
    for part in word.split('/') {
        if !is_uuid(part) && is_token(part) {
            found.push(start..start + part.len());
        }
        start += part.len() + 1;
    }
    found
}

/// Returns the length of the hash with which what follows the stem of a file's name begins.
pub(super) fn file_hash(rest: &str) -> Option<usize> {
    let length = rest.bytes().take_while(|byte| *byte != b'.').count();
    let hash = &rest.as_bytes()[..length];
    let made = made(hash);
    let is_hash = made.digits > 0 && (made.hexadecimal == length || (length >= 8 && made.changes >= 2));
    (is_hash && (made.digits < length || length >= 6)).then_some(length)
}

/// Returns the part of a class that was generated.
pub(super) fn class(name: &str) -> Option<Range<usize>> {
    let bytes = name.as_bytes();
    if !name.is_ascii() || bytes.len() < 4 {
        return None;
    }
    let start = bytes.iter().rposition(|byte| matches!(byte, b'-' | b'_')).map_or(0, |at| at + 1);
    let last = &bytes[start..];
    let made = made(last);
    let letters = made.upper + made.lower;
    if made.others == 0 && last.len() >= 5 && made.digits > 0 && letters > 0 {
        let is_hexadecimal = made.hexadecimal == last.len() && last.len() >= 6;
        let changes = if start == 0 { 3 } else { 2 };
        if is_hexadecimal || made.changes >= changes {
            return Some(start..bytes.len());
        }
    }
    // `css-6jhswp`: what tools for styles put before a hash.
    if made.others == 0
        && (5..=10).contains(&last.len())
        && matches!(&name[..start], "css-" | "jsx-" | "svelte-" | "emotion-" | "astro-")
    {
        return Some(start..bytes.len());
    }
    // `sc-bdVaJa`, `Button_root__aXkQz`.
    if letters == last.len() && (5..=12).contains(&letters) {
        let mixed = made.upper > 0 && made.lower > 0;
        if name.starts_with("sc-") && start == 3 && mixed {
            return Some(start..bytes.len());
        }
        if start >= 2 && bytes[start - 2] == b'_' && bytes[start - 1] == b'_' && made.changes >= 3 {
            return Some(start..bytes.len());
        }
    }
    // `post-1234`, `page-id-42`, `ember123`, `jsx-3172456`.
    if made.digits == last.len() && made.digits > 0 && start > 0 {
        let stem = &name[..start - 1];
        let before = stem.rsplit(['-', '_']).next().unwrap_or(stem);
        const NUMBERED: [&str; 20] = [
            "id",
            "ids",
            "post",
            "postid",
            "pageid",
            "item",
            "node",
            "nid",
            "image",
            "element",
            "category",
            "cat",
            "term",
            "attachment",
            "author",
            "comment",
            "user",
            "product",
            "entry",
            "thread",
        ];
        if made.digits >= 6 || NUMBERED.contains(&before.to_ascii_lowercase().as_str()) {
            return Some(start..bytes.len());
        }
    }
    let digits = bytes.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let stem = &name[..bytes.len() - digits];
    if digits > 0 && matches!(stem, "ember" | "postid" | "node" | "yui_" | "ext-gen" | "uid") {
        return Some(stem.len()..bytes.len());
    }
    is_token(name).then_some(0..bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_told_from_words() {
        for token in [
            "3f2a1b4c5d6e7f80",
            "D41D8CD98F00B204E9800998ECF8427E",
            "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA==",
            "QmFzZTY0RW5jb2RlZFRva2VuVmFsdWU",
            "k3j5h2l9x0q8w7e6r5t4y3",
            "dGhpc-lz_YV90-b2tlbi1h",
            "12345678901234567",
        ] {
            assert!(is_token(token), "{token}");
        }
        for word in [
            "getElementsByClassName",
            "HTTPSURLConnectionXMLParser",
            "internationalization",
            "well-known-hyphenated-words",
            "top-10-tips-for-2024-and-2025",
            "x86_64-unknown-linux-gnu",
            "9780131103627",
            "deadbeefdeadbeefx",
            "utf8mb4_unicode_520_ci",
            "Donaudampfschifffahrtsgesellschaft",
            "----------------------------",
            "________________________",
        ] {
            assert!(!is_token(word), "{word}");
        }
    }

    #[test]
    fn classes_that_were_generated_are_told_from_classes_with_names() {
        for (name, kept) in [
            ("css-1x2y3z", "css-"),
            ("sc-bdVaJa", "sc-"),
            ("css-6jhswp", "css-"),
            ("css-abcdef", "css-"),
            ("svelte-1abc2de", "svelte-"),
            ("jsx-3172456789", "jsx-"),
            ("Button_root__3fXk2", "Button_root__"),
            ("post-1234", "post-"),
            ("page-id-42", "page-id-"),
            ("elementor-element-3f2a1b7", "elementor-element-"),
            ("ember123", "ember"),
            ("x1n2onr6", ""),
            ("a3f9b21c", ""),
        ] {
            assert_eq!(class(name).map(|part| &name[..part.start]), Some(kept), "{name}");
        }
        for name in [
            "main",
            "col-md-12",
            "btn-primary",
            "mt-20",
            "text-2xl",
            "h1",
            "navBarItem",
            "gray-500",
            "w-100",
            "fa-500px",
            "block__title",
            "Card__Title",
            "is-active",
            "grid12",
            "sc-title",
            "container",
            "导航",
            "article-body",
            "wp-block",
        ] {
            assert_eq!(class(name), None, "{name}");
        }
    }
}
