//! A scanner for the usual record, in one pass into existing buffers.
//!
//! It reads an object of strings, numbers and names, and leaves everything else to a full parser. It must not accept
//! anything that a full parser refuses.

use memchr::memchr2;
use serde::de::IgnoredAny;

use super::{FieldNames, Fields};

/// Reads the wanted fields of a line. None means undecided, and leaves the fields in any state.
pub(super) fn record(line: &str, columns: &FieldNames, fields: &mut Fields) -> Option<()> {
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

    /// Returns the next byte that is not a space, without consuming it.
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

    /// Returns the text before the next quote or backslash, and that byte, and moves past it.
    #[inline]
    fn stretch(&mut self) -> Option<(&'a str, u8)> {
        let rest = self.rest();
        let length = memchr2(b'"', b'\\', rest)?;
        // Control characters have to be escaped. This loop is vectorised.
        if rest[..length].iter().fold(false, |found, &byte| found | (byte < b' ')) {
            return None;
        }
        let found = &self.line[self.at..self.at + length];
        self.at += length + 1;
        Some((found, rest[length]))
    }

    /// Returns a string without escapes; its opening quote is passed.
    fn plain_string(&mut self) -> Option<&'a str> {
        let (found, end) = self.stretch()?;
        (end == b'"').then_some(found)
    }

    /// Reads a string behind its opening quote.
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

    /// Returns the character of an escape; its backslash is passed.
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

    /// Returns a number of at most 18 digits, as it is written.
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

    /// Skips any value.
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
        let columns = FieldNames { texts: vec!["text".to_owned()], id: "id".to_owned(), id_required: false };
        let mut fields = Fields { texts: vec![Default::default()], ..Default::default() };
        record(line, &columns, &mut fields)?;
        let (there, text) = fields.texts.remove(0);
        there.then_some((text, fields.has_id.then_some(fields.id)))
    }

    /// Reads a line by a full parser: an object with a string as text.
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

    /// A line made of choices, so that a failure shrinks. Half of the lines are JSON, unless they are mutated; the
    /// others have faults here and there.
    struct Maker<'a> {
        choices: std::slice::Iter<'a, u8>,
        line: String,
        faulty: bool,
    }

    const ESCAPES: [&str; 8] = [r"\n", r#"\""#, r"\\", r"\/", r"\b", r"\f", r"\r", r"\t"];
    const BAD_ESCAPES: [&str; 5] = [r"\x", r"\", r"\'", r"\U0041", r"\a"];
    const UNITS: [&str; 9] = [
        r"\u0041",
        r"\u00e9",
        r"\u0000",
        r"\uFFFF",
        r"\uD83D\uDE00",
        r"\ud83d\ude00",
        r"\udbff\udfff",
        r"\ud7ff",
        r"\ue000",
    ];
    const BAD_UNITS: [&str; 15] = [
        r"\u",
        r"\u12",
        r"\u+123",
        r"\u-123",
        r"\u 123",
        r"\u123é",
        r"\ud800",
        r"\udc00",
        r"\udfff",
        r"\uD800\u0041",
        r"\ud800\ud800",
        r"\uDC00\uD800",
        r"\ud800\n",
        r"\ud83dx",
        r"\u00g0",
    ];
    const WHOLE: [&str; 12] = [
        "0",
        "7",
        "12",
        "10",
        "999999999999999999",
        "1000000000000000000",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "340282366920938463463374607431768211456",
        "12345678901234567",
    ];

    impl Maker<'_> {
        fn line(choices: &[u8]) -> String {
            let mut maker = Maker { choices: choices.iter(), line: String::new(), faulty: false };
            maker.faulty = maker.choose(2) == 1;
            maker.space();
            match maker.choose(24) {
                1 => maker.value(0),
                _ => maker.object(0),
            }
            maker.space();
            if maker.has_fault() {
                maker.pick(&["x", "{", "}", ",", "\"", "null", "\u{feff}", "\0", "{\"text\":\"b\"}", "//", "1"]);
            }
            for _ in 0..maker.choose(8).saturating_sub(5) {
                maker.mutate();
            }
            maker.line
        }

        /// Returns a number below `most`; 0 when there are no more choices, so that lines end.
        fn choose(&mut self, most: usize) -> usize {
            usize::from(self.choices.next().copied().unwrap_or(0)) % most
        }

        fn has_fault(&mut self) -> bool {
            self.faulty && self.choose(16) == 1
        }

        fn pick(&mut self, from: &[&str]) {
            let at = self.choose(from.len());
            self.line += from[at];
        }

        /// Appends the good string, or one of the bad ones.
        fn rather(&mut self, good: &str, bad: &[&str]) {
            if self.has_fault() { self.pick(bad) } else { self.line += good }
        }

        fn space(&mut self) {
            match self.choose(8) {
                at @ 1..6 => self.line += ["\t", "\r", "\n", "  ", " \t\r\n "][at - 1],
                _ => self.rather("", &["\u{b}", "\u{c}", "\u{a0}", "\u{2028}", "\u{feff}", "\0", "\u{85}"]),
            }
        }

        fn object(&mut self, depth: usize) {
            self.line += "{";
            for at in 0..self.choose(5) {
                self.space();
                if at > 0 {
                    self.rather(",", &["", ",,", ";"]);
                    self.space();
                }
                self.name();
                self.space();
                self.rather(":", &["", "::", "="]);
                self.space();
                match self.choose(3) {
                    1 => self.value(depth + 1),
                    _ => self.string(),
                }
            }
            self.space();
            self.rather("}", &["", "]", ",}"]);
        }

        fn name(&mut self) {
            if self.has_fault() {
                return self.pick(&["text", "'text'", "null", "1", "\"\t\""]);
            }
            if self.choose(16) == 1 {
                return self.string();
            }
            self.line += "\"";
            self.pick(&[
                "text",
                "text",
                "text",
                "id",
                "id",
                "more",
                r"te\u0078t",
                r"i\u0064",
                "n",
                "",
                "TEXT",
                "text ",
            ]);
            self.line += "\"";
        }

        fn string(&mut self) {
            self.line += "\"";
            for _ in 0..self.choose(5) {
                match self.choose(6) {
                    1 if self.has_fault() => self.pick(&BAD_ESCAPES),
                    1 => self.pick(&ESCAPES),
                    2 if self.has_fault() => self.pick(&BAD_UNITS),
                    2 => self.pick(&UNITS),
                    3 if self.has_fault() => self.pick(&["\0", "\u{1}", "\t", "\n", "\r", "\u{1f}", "\u{8}"]),
                    3 => self.pick(&["é", "猫", "\u{1f600}", "\u{301}", "\u{feff}", "\u{2028}", "\u{7f}", "\u{80}"]),
                    _ => self.pick(&["a", "the cat", " ", "}", "]", ",", ":", "{", "'", "0", "u0041", "/", "null"]),
                }
            }
            self.rather("\"", &[""]);
        }

        fn value(&mut self, depth: usize) {
            match self.choose(10) {
                1 if self.has_fault() => {
                    self.pick(&["nul", "True", "nulll", "NaN", "-Infinity", "undefined", "", "'a'"])
                }
                1 => self.pick(&["null", "true", "false"]),
                2..5 => self.number(),
                5 if depth < 6 => self.object(depth),
                6 if depth < 6 => {
                    self.line += "[";
                    for at in 0..self.choose(4) {
                        if at > 0 {
                            self.rather(" , ", &["", ",,"]);
                        }
                        self.value(depth + 1);
                    }
                    self.rather("]", &["", "}", ",]"]);
                }
                7 => {
                    // Deeper than parsers that call themselves go.
                    let deep = [1, 3, 126, 127, 128, 129, 2000][self.choose(7)];
                    let (open, close) = [("[", "]"), ("{\"text\":", "}")][self.choose(2)];
                    let missing = usize::from(self.has_fault());
                    self.line += &open.repeat(deep);
                    self.line += "1";
                    self.line += &close.repeat(deep - missing);
                }
                _ => self.string(),
            }
        }

        fn number(&mut self) {
            let minus = self.choose(3) == 1;
            self.rather(if minus { "-" } else { "" }, &["+", "--", " -"]);
            if self.has_fault() {
                self.pick(&["", "00", "01", "0x10", "1_000", "١"])
            } else {
                self.pick(&WHOLE)
            }
            match self.choose(5) {
                1 if self.has_fault() => self.pick(&[".", ".e1", ".5.5"]),
                1 => self.pick(&[".0", ".5", ".00000000000000000001"]),
                2 if self.has_fault() => self.pick(&["e", "e+", "f", "e1.5"]),
                2 => self.pick(&["e1", "E+2", "e-3", "E400", "e-400", "e99999999999999999999", ".5e7"]),
                _ => {}
            }
        }

        /// Removes, doubles, inserts or replaces a character, or truncates the line.
        fn mutate(&mut self) {
            let count = self.line.chars().count();
            if count == 0 {
                return;
            }
            let at = (self.choose(256) << 8 | self.choose(256)) % count;
            let mut chars: Vec<char> = self.line.chars().collect();
            let other =
                ['"', '\\', '{', '}', '[', ']', ',', ':', ' ', '\t', '\0', '0', '-', '.', 'e', 'u', 'é', '\u{1f600}'];
            let other = other[self.choose(other.len())];
            match self.choose(5) {
                0 => drop(chars.remove(at)),
                1 => chars.insert(at, chars[at]),
                2 => chars.insert(at, other),
                3 => chars[at] = other,
                _ => chars.truncate(at),
            }
            self.line = chars.into_iter().collect();
        }
    }

    /// What is found in a line: each text that is there, and the id.
    type FoundFields = (Vec<Option<String>>, Option<String>);

    fn columns_of(texts: &[&str], id: &str, id_required: bool) -> FieldNames {
        FieldNames { texts: texts.iter().map(|&name| name.to_owned()).collect(), id: id.to_owned(), id_required }
    }

    fn found(fields: Fields) -> FoundFields {
        let texts = fields.texts.into_iter().map(|(there, text)| there.then_some(text)).collect();
        (texts, fields.has_id.then_some(fields.id))
    }

    fn by_scanner(line: &str, columns: &FieldNames) -> Option<FoundFields> {
        let mut fields = Fields::new(columns);
        (record(line, columns, &mut fields).is_some() && fields.is_complete(columns)).then(|| found(fields))
    }

    /// Returns the fields that serde_json finds, with the same rules.
    fn by_reader(line: &str, columns: &FieldNames) -> Option<FoundFields> {
        use serde::de::DeserializeSeed;
        let mut fields = Fields::new(columns);
        let mut json = serde_json::Deserializer::from_str(line);
        let read =
            super::super::Record { columns, fields: &mut fields }.deserialize(&mut json).and_then(|()| json.end());
        (read.is_ok() && fields.is_complete(columns)).then(|| found(fields))
    }

    /// Returns the fields of serde_json's own tree of values. `Err` where it has limits that the reader does not have:
    /// a number that no float holds, or nesting beyond 127, in a field that is not read.
    fn by_tree(line: &str, columns: &FieldNames) -> Result<Option<FoundFields>, serde_json::Error> {
        let Value::Object(object) = serde_json::from_str(line)? else { return Ok(None) };
        let texts: Vec<_> =
            columns.texts.iter().map(|name| object.get(name).and_then(Value::as_str).map(str::to_owned)).collect();
        let wrong = columns.texts.iter().any(|name| object.get(name).is_some_and(|text| !text.is_string()));
        let id = match object.get(&columns.id) {
            None => None,
            Some(Value::String(id)) => Some(id.clone()),
            Some(Value::Number(id)) if id.is_i64() || id.is_u64() => Some(id.to_string()),
            Some(_) => return Ok(None),
        };
        let complete = texts.iter().any(Option::is_some) && (id.is_some() || !columns.id_required) && !wrong;
        Ok(complete.then_some((texts, id)))
    }

    fn check_against_parsers(line: &str) -> Result<bool, TestCaseError> {
        let mut taken = false;
        for columns in [
            columns_of(&["text"], "id", false),
            columns_of(&["text", "more"], "id", true),
            columns_of(&["id", "text"], "id", false),
            columns_of(&["", "TEXT"], "text", false),
        ] {
            if let Some(found) = by_scanner(line, &columns) {
                taken = true;
                let read = by_reader(line, &columns);
                prop_assert_eq!(Some(&found), read.as_ref(), "the reader: {:?} {:?}", line, columns);
                if let Ok(expected) = by_tree(line, &columns) {
                    prop_assert_eq!(Some(found), expected, "the tree: {:?} {:?}", line, columns);
                }
            }
        }
        Ok(taken)
    }

    #[test]
    fn many_made_lines_are_taken_and_many_are_not() {
        let mut random = 1u64;
        let mut taken = 0;
        for _ in 0..2000 {
            let choices: Vec<u8> = (0..80)
                .map(|_| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (random >> 56) as u8
                })
                .collect();
            taken += usize::from(check_against_parsers(&Maker::line(&choices)).expect("the parsers agree"));
        }
        assert!((300..1700).contains(&taken), "{taken} of 2000");
    }

    proptest! {
        // PROPTEST_CASES=10000000 cargo test --release -p neardup-core scan   is the long form.
        #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(20_000), ..ProptestConfig::default() })]
        #[test]
        fn what_is_taken_is_what_parsers_find(choices in prop::collection::vec(any::<u8>(), 0..160)) {
            check_against_parsers(&Maker::line(&choices))?;
        }
    }
}
