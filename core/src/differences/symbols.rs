//! Symbols that carry meaning: operators of code and formulas, C++ and C#, currencies, emoji.
//!
//! Most symbols in prose are typography: bullets, rules, quoted mail, emphasis, tags. They are left out, so that a text
//! does not differ from its copy because it was formatted in another way.

use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;

use super::scan::Token;
use crate::chars::class;

/// Characters of operators. `$`, `%` and symbols beyond ASCII stand alone.
const OPERATORS: &[u8] = b"=!<>+*/&|^~#?:-";
/// Runs of these that are operators.
const KNOWN: [&str; 28] = [
    "=", "<", ">", "+", "*", "^", "==", "!=", "===", "!==", "<=", ">=", "<>", "<=>", "+=", "-=", "*=", "/=", "&&",
    "||", ":=", "=>", "->", "<-", "~=", "**", "<<", ">>",
];
/// Bytes that may be, or begin, a symbol.
const INTERESTING: [bool; 256] = {
    let mut table = [false; 256];
    let mut at = 0x80;
    while at < 256 {
        table[at] = true;
        at += 1;
    }
    let mut at = 0;
    while at < OPERATORS.len() {
        table[OPERATORS[at] as usize] = true;
        at += 1;
    }
    table[b'$' as usize] = true;
    table[b'%' as usize] = true;
    // A hyphen, a colon or a question mark is a symbol only together with others.
    table[b'-' as usize] = false;
    table[b':' as usize] = false;
    table[b'?' as usize] = false;
    table[b'/' as usize] = false;
    table
};
/// Bytes of a tag, at most.
const TAG: usize = 200;

/// Finds the symbols between words.
#[derive(Default)]
pub(super) struct Symbols {
    /// Where the tag that was met last ends.
    tag_end: usize,
}

impl Symbols {
    /// Calls `sink` with the symbols of `text[start..end]`, which lies between two words.
    #[inline]
    pub(super) fn between(&mut self, text: &str, start: usize, end: usize, sink: &mut impl FnMut(Token<'_>)) {
        let gap = &text.as_bytes()[start..end];
        if gap.iter().any(|&byte| INTERESTING[usize::from(byte)]) {
            self.slow(text, start, end, &mut |symbol| sink(Token::Symbol(symbol)));
        }
    }

    #[cold]
    fn slow(&mut self, text: &str, start: usize, end: usize, sink: &mut dyn FnMut(&str)) {
        // Whether nothing but space and marks of typography stands before in this line.
        let mut line_start = start == 0;
        let mut at = start;
        while let Some(c) = text[at..end].chars().next() {
            let next = at + c.len_utf8();
            if c == '\n' {
                line_start = true;
            } else if at >= self.tag_end && !c.is_whitespace() {
                if let Some(tag_end) = tag(text, at) {
                    self.tag_end = tag_end;
                } else if c.is_ascii() && OPERATORS.contains(&(c as u8)) {
                    let length = text.as_bytes()[at..end].iter().take_while(|byte| OPERATORS.contains(byte)).count();
                    let run = Run { text, start: at, end: at + length };
                    if !(line_start && run.is_marker()) {
                        line_start = false;
                        if let Some(operator) = run.operator() {
                            sink(operator);
                        }
                    }
                    at += length;
                    continue;
                } else if is_symbol(c) {
                    sink(&text[at..next]);
                }
                line_start = false;
            }
            at = next;
        }
    }
}

/// Returns where the tag that begins here ends, as in `<br>` and `</b>`. Behind a letter or digit, `<` is an operator
/// unless a slash follows.
fn tag(text: &str, at: usize) -> Option<usize> {
    let rest = text[at..].strip_prefix('<')?;
    let opens = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!');
    if !(rest.starts_with('/') || opens && !text[..at].ends_with(char::is_alphanumeric)) {
        return None;
    }
    let close = rest.bytes().take(TAG).position(|byte| matches!(byte, b'<' | b'>' | b'\n'))?;
    (rest.as_bytes()[close] == b'>').then_some(at + close + 2)
}

/// Returns whether a character that stands alone is a symbol: mathematical, a currency, an emoji.
fn is_symbol(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, '$' | '%');
    }
    let category = CodePointMapData::<GeneralCategory>::new().get(c);
    matches!(category, GeneralCategory::MathSymbol | GeneralCategory::CurrencySymbol)
        || class(c).is_pictograph() && !matches!(c, '©' | '®' | '™')
        || ('\u{1F1E6}'..='\u{1F1FF}').contains(&c)
}

/// A run of characters of operators.
struct Run<'a> {
    text: &'a str,
    start: usize,
    end: usize,
}

impl<'a> Run<'a> {
    fn before(&self) -> Option<char> {
        self.text[..self.start].chars().next_back()
    }

    fn after(&self) -> Option<char> {
        self.text[self.end..].chars().next()
    }

    /// Returns whether it is typography at the start of a line: a bullet, a heading, a rule, a mark of quoted mail.
    fn is_marker(&self) -> bool {
        let run = &self.text[self.start..self.end];
        run.starts_with('>')
            || run.bytes().all(|byte| b"*#=+|~-".contains(&byte)) && self.after().is_none_or(char::is_whitespace)
    }

    /// Returns the run without the sign of a number that follows, by the rules of `write_number`.
    fn without_sign(&self) -> &'a str {
        let run = &self.text[self.start..self.end];
        let number = &self.text[self.end..];
        let Some(rest) = run.strip_suffix(['-', '+']) else { return run };
        let joined = rest.is_empty() && self.before().is_some_and(|c| c.is_alphanumeric() || matches!(c, ')' | ']'));
        let follows = number.strip_prefix('.').unwrap_or(number).starts_with(char::is_numeric);
        if !follows || joined || rest.ends_with(&run[rest.len()..]) { run } else { rest }
    }

    /// Returns the operator, without the sign of a number that follows; None for typography.
    fn operator(&self) -> Option<&'a str> {
        let (before, after) = (self.before(), self.after());
        let after_word = before.is_some_and(char::is_alphanumeric);
        let before_word = after.is_some_and(char::is_alphanumeric);
        let run = self.without_sign();
        match run {
            // C#, but neither #1 nor a hashtag
            "#" => (after_word && !before_word).then_some(run),
            // Not, of a name or a bracket
            "!" => {
                let of = after.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || c == '(');
                (of && !after_word).then_some(run)
            }
            "++" => Some(run),
            // Emphasis touches a word on one side only.
            "*" | "**" => (after_word == before_word).then_some(run),
            _ => KNOWN.contains(&run).then_some(run),
        }
    }
}
