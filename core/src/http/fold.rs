//! White space folded: a value of a view is one line, with single spaces.

/// Classes of bytes for folding.
const PLAIN: u8 = 0;
const SPACE: u8 = 1;
/// May begin a space of Unicode, or a control character.
const PERHAPS: u8 = 2;

const CLASSES: [u8; 256] = {
    let mut classes = [PLAIN; 256];
    let mut byte = 0;
    while byte <= 0x20 {
        classes[byte] = SPACE;
        byte += 1;
    }
    classes[0x7F] = SPACE;
    // The lead bytes of U+0080 to U+00BF, U+1680, U+2000 to U+205F and U+3000.
    classes[0xC2] = PERHAPS;
    classes[0xE1] = PERHAPS;
    classes[0xE2] = PERHAPS;
    classes[0xE3] = PERHAPS;
    classes
};

/// Lines of a view being written: `name value`, the name only where there is a value.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) text: String,
    open: bool,
    space: bool,
}

impl Lines {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.open = false;
        self.space = false;
    }

    /// Adds to the line, which is begun with its name if it is new.
    pub(super) fn add(&mut self, name: &str, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let start = at;
            at += folded_length(&bytes[at..]);
            let Some(&byte) = bytes.get(at) else { return self.word(name, &text[start..]) };
            if CLASSES[usize::from(byte)] == PERHAPS {
                let character = text[at..].chars().next().unwrap_or(' ');
                let end = at + character.len_utf8();
                if is_space(character) {
                    self.word(name, &text[start..at]);
                    self.space = true;
                } else {
                    self.word(name, &text[start..end]);
                }
                at = end;
            } else {
                self.word(name, &text[start..at]);
                self.space = true;
                at += 1;
            }
        }
    }

    #[inline]
    fn word(&mut self, name: &str, word: &str) {
        if word.is_empty() {
            return;
        }
        if !self.open {
            self.text.push_str(name);
            self.text.push(' ');
            self.open = true;
        } else if self.space {
            self.text.push(' ');
        }
        self.space = false;
        self.text.push_str(word);
    }

    /// Adds a space, if something follows in the same line.
    pub(super) fn gap(&mut self) {
        self.space = true;
    }

    pub(super) fn end(&mut self) {
        if self.open {
            self.text.push('\n');
            self.open = false;
        }
        self.space = false;
    }
}

/// Returns how many bytes are folded already: words with single spaces between, up to a byte that is none of either.
fn folded_length(bytes: &[u8]) -> usize {
    let is_plain = |at: usize| bytes.get(at).is_some_and(|&byte| CLASSES[usize::from(byte)] == PLAIN);
    if !is_plain(0) {
        return 0;
    }
    let mut length = 1;
    while let Some(chunk) = bytes.get(length..).and_then(|rest| rest.first_chunk::<{ CHUNK + 1 }>())
        && is_folded(chunk)
    {
        length += CHUNK;
    }
    while is_plain(length) || (bytes.get(length) == Some(&b' ') && is_plain(length + 1)) {
        length += 1;
    }
    length
}

const CHUNK: usize = 32;

/// Returns whether all bytes but the last are plain, or spaces before plain ones. Compiles to vector code.
fn is_folded(chunk: &[u8; CHUNK + 1]) -> bool {
    // The lead bytes of most other spaces lie side by side; one beside them that is plain is looked at alone.
    let is_odd = |byte: u8| (byte < 0x20) | (byte == 0x7F) | (byte == 0xC2) | (byte & 0xFC == 0xE0);
    let odd = (0..CHUNK).fold(false, |odd, at| {
        let (byte, next) = (chunk[at], chunk[at + 1]);
        odd | is_odd(byte) | ((byte == b' ') & (is_odd(next) | (next == b' ')))
    });
    !odd
}

/// Returns whether it is white space or a control character, several of which end lines.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() || character.is_control()
}

/// Returns a value of one line.
pub(super) fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Returns the beginning of a text, of at most so many bytes.
pub(super) fn cut(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_are_folded_as_the_plain_way_does(parts in proptest::collection::vec("[ a&\u{85}\u{a0}\u{2028}\u{3000}é中\\n\\t\u{1c}]{0,8}|[a-z]{0,40}( [a-z]{1,9}){0,20}[ \u{a0}\\n中ก]{0,3}[a-z ]{0,70}", 0..6)) {
            let mut lines = Lines::default();
            for part in &parts {
                lines.add("text", part);
            }
            lines.end();
            let value = folded(&parts.concat());
            prop_assert_eq!(lines.text, if value.is_empty() { String::new() } else { format!("text {value}\n") });
        }
    }
}
