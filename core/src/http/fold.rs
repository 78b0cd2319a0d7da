//! White space folded: a value of a view is one line, with single spaces.

/// What a byte is while text is folded.
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
            while at < bytes.len() && CLASSES[usize::from(bytes[at])] == PLAIN {
                at += 1;
            }
            if at < bytes.len() && CLASSES[usize::from(bytes[at])] == PERHAPS {
                let character = text[at..].chars().next().unwrap_or(' ');
                if !is_space(character) {
                    at += character.len_utf8();
                    self.word(name, &text[start..at]);
                    continue;
                }
                self.word(name, &text[start..at]);
                self.space = true;
                at += character.len_utf8();
                continue;
            }
            self.word(name, &text[start..at]);
            if at < bytes.len() {
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

    /// A space, if something follows in the same line.
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

/// White space, and the control characters, of which several end lines.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() || character.is_control()
}

/// A value of one line.
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

/// The beginning of a text, of at most so many bytes.
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
        fn lines_are_folded_as_the_plain_way_does(parts in proptest::collection::vec("[ a&\u{85}\u{a0}\u{2028}\u{3000}é中\\n\\t\u{1c}]{0,8}", 0..6)) {
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
