//! The usual record, read in one pass into buffers that are there already.
//!
//! It takes an object of strings, numbers and names; what it is not sure of, it leaves to a full parser. Nothing that
//! a full parser refuses may be taken here.

use memchr::memchr2;
use serde::de::IgnoredAny;

use super::{Columns, Fields};

/// Takes the wanted columns out of a line. None says nothing of the line, and leaves anything in the fields.
pub(super) fn record(line: &str, columns: &Columns, fields: &mut Fields) -> Option<()> {
    let mut scan = Scan { line, at: 0 };
    scan.expect(b'{')?;
    if scan.next()? == b'}' {
        return None;
    }
    loop {
        scan.expect(b'"')?;
        let name = scan.plain_string()?;
        scan.expect(b':')?;
        let text = columns.texts.iter().position(|column| column == name);
        match (text, columns.id == name) {
            (Some(_), true) => return None,
            (Some(column), false) => {
                scan.expect(b'"')?;
                scan.string(&mut fields.texts[column].1)?;
                fields.texts[column].0 = true;
            }
            (None, true) => {
                fields.id.clear();
                if scan.next()? == b'"' {
                    scan.at += 1;
                    scan.string(&mut fields.id)?;
                } else {
                    fields.id.push_str(scan.whole_number()?);
                }
                fields.has_id = true;
            }
            (None, false) => scan.skip()?,
        }
        match scan.next()? {
            b',' => scan.at += 1,
            b'}' => break,
            _ => return None,
        }
    }
    scan.line[scan.at + 1..].bytes().all(is_space).then_some(())
}

struct Scan<'a> {
    line: &'a str,
    at: usize,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

impl<'a> Scan<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.line.as_bytes()[self.at..]
    }

    /// The next byte that is no space, not passed.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        let spaces = self.rest().iter().position(|&byte| !is_space(byte))?;
        self.at += spaces;
        Some(self.line.as_bytes()[self.at])
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        let found = self.next()? == byte;
        self.at += 1;
        found.then_some(())
    }

    /// What comes before the next quote or backslash, which is returned as well and passed.
    #[inline]
    fn stretch(&mut self) -> Option<(&'a str, u8)> {
        let rest = self.rest();
        let length = memchr2(b'"', b'\\', rest)?;
        // Control characters have to be escaped. Asked of all at once, this is vector code.
        if rest[..length].iter().fold(false, |found, &byte| found | (byte < b' ')) {
            return None;
        }
        let found = &self.line[self.at..self.at + length];
        self.at += length + 1;
        Some((found, rest[length]))
    }

    /// A string without escapes; its opening quote is passed.
    fn plain_string(&mut self) -> Option<&'a str> {
        let (found, end) = self.stretch()?;
        (end == b'"').then_some(found)
    }

    /// A string; its opening quote is passed.
    fn string(&mut self, text: &mut String) -> Option<()> {
        text.clear();
        loop {
            let (found, end) = self.stretch()?;
            text.push_str(found);
            if end == b'"' {
                return Some(());
            }
            text.push(self.escaped()?);
        }
    }

    /// The character of an escape; its backslash is passed.
    fn escaped(&mut self) -> Option<char> {
        let kind = *self.rest().first()?;
        self.at += 1;
        Some(match kind {
            b'n' => '\n',
            b'"' | b'\\' | b'/' => char::from(kind),
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{C}',
            b'u' => {
                let first = self.unit()?;
                if !(0xD800..0xE000).contains(&first) {
                    return char::from_u32(first);
                }
                // Half a pair is no character.
                self.rest().starts_with(b"\\u").then_some(())?;
                self.at += 2;
                let second = self.unit()?;
                (first < 0xDC00 && (0xDC00..0xE000).contains(&second)).then_some(())?;
                return char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
            }
            _ => return None,
        })
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = self.line.get(self.at..self.at + 4)?;
        self.at += 4;
        // A sign is no digit, though from_str_radix takes one.
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
    }

    /// A number of at most 18 digits, as it is written.
    fn whole_number(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let sign = usize::from(rest.first() == Some(&b'-'));
        let digits = rest[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let starts_well = digits == 1 && sign == 0 || rest.get(sign).is_some_and(|&byte| byte != b'0');
        let ends = rest.get(sign + digits).is_some_and(|&byte| is_space(byte) || matches!(byte, b',' | b'}'));
        if !(1..=18).contains(&digits) || !starts_well || !ends {
            return None;
        }
        let found = &self.line[self.at..self.at + sign + digits];
        self.at += sign + digits;
        Some(found)
    }

    /// Passes any value.
    fn skip(&mut self) -> Option<()> {
        match self.next()? {
            b'"' => {
                self.at += 1;
                loop {
                    match self.stretch()?.1 {
                        b'"' => return Some(()),
                        _ => self.escaped().map(drop)?,
                    }
                }
            }
            b'0'..=b'9' | b'-' => {
                let start = self.at;
                if self.whole_number().is_some() {
                    return Some(());
                }
                self.at = start;
                self.skip_by_parser()
            }
            _ => self.skip_by_parser(),
        }
    }

    fn skip_by_parser(&mut self) -> Option<()> {
        let mut values = serde_json::Deserializer::from_slice(self.rest()).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        self.at += values.byte_offset();
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn taken(line: &str) -> Option<(String, Option<String>)> {
        let columns = Columns { texts: vec!["text".to_owned()], id: "id".to_owned(), id_required: false };
        let mut fields = Fields { texts: vec![Default::default()], ..Default::default() };
        record(line, &columns, &mut fields)?;
        let (there, text) = fields.texts.remove(0);
        there.then_some((text, fields.has_id.then_some(fields.id)))
    }

    /// The same by a full parser: an object with a string as text.
    fn parsed(line: &str) -> Option<(String, Option<String>)> {
        let Value::Object(object) = serde_json::from_str(line).ok()? else { return None };
        let id = match object.get("id") {
            None => None,
            Some(Value::String(id)) => Some(id.clone()),
            Some(Value::Number(id)) if id.is_i64() || id.is_u64() => Some(id.to_string()),
            Some(_) => return None,
        };
        Some((object.get("text")?.as_str()?.to_owned(), id))
    }

    #[test]
    fn usual_records_are_taken() {
        for line in [
            r#"{"text": "a", "id": 7}"#,
            "{\"id\":\"x\\u00e9\\ud83d\\ude00\\n\\/\",\"n\":-1.5e3,\"text\":\"b\\t\\\\\\\"é\"}\r\n",
            r#" { "text" : "" , "more" : {"text": [1, "]"]}, "id" : -12 } "#,
            r#"{"text": "first", "text": "last", "x": null, "y": true}"#,
        ] {
            assert_eq!(taken(line), parsed(line), "{line}");
            assert!(taken(line).is_some(), "{line}");
        }
    }

    #[test]
    fn nothing_wrong_is_taken() {
        for line in [
            "",
            "{}",
            "[]",
            r#"{"text": "a"} {"text": "b"}"#,
            r#"{"text": "a",}"#,
            r#"{"text": "a" "id": 1}"#,
            r#"{"text": "a", "id": 01}"#,
            r#"{"text": "a", "id": -0}"#,
            r#"{"text": "a", "id": 1.5}"#,
            r#"{"text": "a", "id": 1x}"#,
            r#"{"text": "a", "n": 1.}"#,
            r#"{"text": "a", "n": nul}"#,
            r#"{"text": "a", "n": truely}"#,
            r#"{"text": "\ud800"}"#,
            r#"{"text": "\ud800\u0041"}"#,
            r#"{"text": "\udc00\ud800"}"#,
            r#"{"text": "\u+123"}"#,
            r#"{"text": "\x41"}"#,
            r#"{"text": "a"#,
            "{\"text\": \"a\u{1}\"}",
            "{\"text\": \"a\", \"n\": \"\t\"}",
        ] {
            assert_eq!(taken(line), None, "{line}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn what_is_taken_is_what_a_parser_finds(
            line in "\\{(\"(text|id|n)\" ?: ?(\"([a-é ]|\\\\[nu\"x/]|\\\\u[0-9a-d]{4}|\\\\ud8[0-9]{2}\\\\udc[0-9]{2}){0,4}\"|-?[0-9]{1,20}(\\.[0-9])?|null|\\[1\\])[,, ]){1,3}[}} ]"
        ) {
            let line = line.replace(", }", "}").replace(",}", "}");
            if let Some(found) = taken(&line) {
                prop_assert_eq!(Some(found), parsed(&line), "{}", line);
            }
        }
    }
}
