//! JSON lines → texts and ids, many lines at a time.
//!
//! A fast path: lines it cannot read (broken JSON, a field of another type, numbers beyond 64 bits) are returned as
//! refused, and a slower reader decides. Plain records are scanned, others go to serde_json.

use std::fmt;
use std::ops::Range;

use memchr::{memchr, memchr_iter};
use rayon::prelude::*;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use crate::Pipeline;
use crate::near::{SKETCH_BYTES, Sketch};
use crate::pipeline::Make;

mod scan;

/// Bytes of one task.
const PART: usize = 1 << 18;
/// Joins a text from several fields.
const JOINT: &str = "\n";

/// The names of the fields to read.
#[derive(Clone, Debug)]
pub struct FieldNames {
    /// The fields of the text; several are joined, and at least one has to be present.
    pub texts: Vec<String>,
    /// The field of the id.
    pub id: String,
    /// Whether a record without an id is refused; otherwise it gets a name and line as its id.
    pub id_required: bool,
}

/// The records of some lines, as columns.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Records {
    /// The texts, concatenated; empty if fingerprints or sketches were made instead.
    pub texts: Vec<u8>,
    /// Where each text ends.
    pub text_ends: Vec<i64>,
    /// Fingerprints of the texts, if requested.
    pub values: Vec<u64>,
    /// Sketches of the texts, if requested.
    pub sketches: Vec<Sketch>,
    /// Which texts have a signal, if either was requested.
    pub signal: Vec<bool>,
    /// The ids, concatenated.
    pub ids: Vec<u8>,
    /// Where each id ends.
    pub id_ends: Vec<i64>,
    /// Where each record begins and ends in the data, its line end included.
    pub spans: Vec<[i64; 2]>,
    /// The line each record is in, counted from 0.
    pub lines: Vec<i64>,
    /// Lines this reader cannot read, and their byte ranges.
    pub refused: Vec<(i64, Range<usize>)>,
    /// Lines read, including blank ones.
    pub line_count: i64,
}

/// What to make of texts while they are in the cache, instead of returning them.
#[derive(Clone, Copy, Debug)]
pub struct Making<'a> {
    /// The pipeline.
    pub pipeline: &'a Pipeline,
    /// Whether to make fingerprints.
    pub values: bool,
    /// Whether to make sketches.
    pub sketches: bool,
}

/// Reads whole lines, on the threads of the current rayon pool. A record without an id gets the id `name`:line, where
/// the first line has the number `first`. With `making`, texts are not returned and `text_ends` only gives their
/// lengths.
pub fn read(data: &[u8], columns: &FieldNames, name: &str, first: i64, making: Option<Making<'_>>) -> Records {
    let parts = parts(data);
    let counts: Vec<i64> = parts.par_iter().map(|part| count_lines(&data[part.clone()]) as i64).collect();
    let lines: Vec<i64> = (0..parts.len()).map(|part| counts[..part].iter().sum()).collect();
    let read: Vec<Records> = parts
        .into_par_iter()
        .zip(lines)
        .map(|(part, line)| match making {
            None => Reader::new(columns, name, first, None).read(data, part, line),
            Some(Making { pipeline, values, sketches }) => pipeline.one_by_one(|make| {
                let words = if values { pipeline.words() } else { 0 };
                Reader::new(columns, name, first, Some(Maker { make, words, sketches })).read(data, part, line)
            }),
        })
        .collect();
    let mut all = Records::default();
    all.texts.reserve_exact(read.iter().map(|part| part.texts.len()).sum());
    read.into_iter().for_each(|part| all.append(part));
    all
}

/// Returns the text of a line that `read` accepted before; None if it has changed.
pub fn text_of(line: &[u8], columns: &FieldNames) -> Option<String> {
    let mut reader = Reader::new(columns, "", 0, None);
    let mut fields = Fields::new(columns);
    reader.fill(line, &mut fields).then(|| {
        reader.join(&mut fields);
        reader.text
    })
}

/// Returns how many line ends there are.
pub fn count_lines(data: &[u8]) -> usize {
    memchr_iter(b'\n', data).count()
}

/// Splits the data at line ends.
fn parts(data: &[u8]) -> Vec<Range<usize>> {
    let mut parts = Vec::with_capacity(data.len() / PART + 1);
    let mut start = 0;
    while start < data.len() {
        let reach = (start + PART).min(data.len());
        let end = memchr(b'\n', &data[reach - 1..]).map_or(data.len(), |at| reach + at);
        parts.push(start..end);
        start = end;
    }
    parts
}

impl Records {
    fn append(&mut self, other: Records) {
        let (texts, ids) = (self.text_ends.last().copied().unwrap_or(0), self.ids.len() as i64);
        self.texts.extend_from_slice(&other.texts);
        self.text_ends.extend(other.text_ends.iter().map(|end| end + texts));
        self.ids.extend_from_slice(&other.ids);
        self.id_ends.extend(other.id_ends.iter().map(|end| end + ids));
        self.values.extend(other.values);
        self.sketches.extend(other.sketches);
        self.signal.extend(other.signal);
        self.spans.extend(other.spans);
        self.lines.extend(other.lines);
        self.refused.extend(other.refused);
        self.line_count = other.line_count;
    }
}

/// Makes the fingerprint and sketch of a text.
struct Maker<'a> {
    make: &'a mut Make<'a>,
    /// Words of a fingerprint; 0 if it is not requested.
    words: usize,
    sketches: bool,
}

/// A reader of one part, which reuses its buffers.
struct Reader<'a> {
    columns: &'a FieldNames,
    name: &'a str,
    first: i64,
    maker: Option<Maker<'a>>,
    records: Records,
    /// The current text.
    text: String,
}

/// The fields of the current record.
#[derive(Default)]
struct Fields {
    /// For each field of the text whether it is present, and its value.
    texts: Vec<(bool, String)>,
    id: String,
    has_id: bool,
}

impl Fields {
    fn new(columns: &FieldNames) -> Self {
        Fields { texts: columns.texts.iter().map(|_| Default::default()).collect(), ..Default::default() }
    }

    fn clear(&mut self) {
        self.has_id = false;
        self.texts.iter_mut().for_each(|(there, _)| *there = false);
    }

    fn is_complete(&self, columns: &FieldNames) -> bool {
        self.texts.iter().any(|(there, _)| *there) && (self.has_id || !columns.id_required)
    }
}

impl<'a> Reader<'a> {
    fn new(columns: &'a FieldNames, name: &'a str, first: i64, maker: Option<Maker<'a>>) -> Self {
        Reader { columns, name, first, maker, records: Records::default(), text: String::new() }
    }

    fn read(mut self, data: &[u8], part: Range<usize>, mut line: i64) -> Records {
        let mut fields = Fields::new(self.columns);
        if self.maker.is_none() {
            self.records.texts.reserve_exact(part.len());
        }
        let mut start = part.start;
        while start < part.end {
            let end = memchr(b'\n', &data[start..part.end]).map_or(part.end, |at| start + at + 1);
            let record = &data[start..end];
            if !record.trim_ascii().is_empty() {
                if self.fill(record, &mut fields) {
                    self.push(&mut fields, start..end, line);
                } else {
                    self.records.refused.push((line, start..end));
                }
            }
            line += 1;
            start = end;
        }
        self.records.line_count = line;
        self.records
    }

    /// Parses a line; returns whether it is a record with a text, and with an id if one is required.
    fn fill(&self, line: &[u8], fields: &mut Fields) -> bool {
        // Invalid UTF-8 is refused even in a field that is not read.
        let Ok(line) = std::str::from_utf8(line) else { return false };
        fields.clear();
        if scan::record(line, self.columns, fields).is_some() && fields.is_complete(self.columns) {
            return true;
        }
        fields.clear();
        let mut json = serde_json::Deserializer::from_str(line);
        let read = Record { columns: self.columns, fields }.deserialize(&mut json).and_then(|()| json.end());
        read.is_ok() && fields.is_complete(self.columns)
    }

    /// Joins the fields of the text.
    fn join(&mut self, fields: &mut Fields) {
        if let [(true, only)] = fields.texts.as_mut_slice() {
            return std::mem::swap(&mut self.text, only);
        }
        self.text.clear();
        for (at, (there, text)) in fields.texts.iter().enumerate() {
            if at > 0 {
                self.text.push_str(JOINT);
            }
            if *there {
                self.text.push_str(text);
            }
        }
    }

    fn push(&mut self, fields: &mut Fields, span: Range<usize>, line: i64) {
        self.join(fields);
        let records = &mut self.records;
        let start = records.text_ends.last().copied().unwrap_or(0);
        records.text_ends.push(start + self.text.len() as i64);
        match &mut self.maker {
            None => records.texts.extend_from_slice(self.text.as_bytes()),
            Some(Maker { make, words, sketches }) => {
                let start = records.values.len();
                records.values.resize(start + *words, 0);
                let value = &mut records.values[start..];
                let signal = if *sketches {
                    let mut sketch = [0; SKETCH_BYTES];
                    let signal = make(&self.text, value, Some(&mut sketch));
                    records.sketches.push(sketch);
                    signal
                } else {
                    make(&self.text, value, None)
                };
                records.signal.push(signal);
            }
        }
        if fields.has_id {
            records.ids.extend_from_slice(fields.id.as_bytes());
        } else {
            records.ids.extend_from_slice(format!("{}:{}", self.name, self.first + line).as_bytes());
        }
        records.id_ends.push(records.ids.len() as i64);
        records.spans.push([span.start as i64, span.end as i64]);
        records.lines.push(line);
    }
}

/// Deserializes the wanted fields of an object; of equal names the last one counts.
struct Record<'a> {
    columns: &'a FieldNames,
    fields: &'a mut Fields,
}

impl<'de> DeserializeSeed<'de> for Record<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Record<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Record { columns, fields } = self;
        let mut name = String::new();
        while map.next_key_seed(Text(&mut name))?.is_some() {
            let column = columns.texts.iter().position(|column| *column == name);
            let is_id = columns.id == name;
            if let Some(column) = column {
                let (there, text) = &mut fields.texts[column];
                // A null is a missing text only if there are other fields of the text.
                *there = map.next_value_seed(Text(text))?;
                if !*there && columns.texts.len() == 1 {
                    return Err(A::Error::custom("no text"));
                }
                if is_id {
                    (fields.has_id, fields.id) = (*there, text.clone());
                }
            } else if is_id {
                fields.has_id = map.next_value_seed(Id(&mut fields.id))?;
                if !fields.has_id && columns.id_required {
                    return Err(A::Error::custom("no id"));
                }
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Deserializes a string into a buffer; false for null.
struct Text<'a>(&'a mut String);
/// Deserializes a string or an integer into a buffer.
struct Id<'a>(&'a mut String);

fn put(place: &mut String, text: &str) {
    place.clear();
    place.push_str(text);
}

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Text<'_> {
    type Value = bool;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<bool, E> {
        put(self.0, text);
        Ok(true)
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(false)
    }
}

impl<'de> DeserializeSeed<'de> for Id<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Id<'_> {
    type Value = bool;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a string or a whole number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<bool, E> {
        put(self.0, text);
        Ok(true)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<bool, E> {
        put(self.0, &number.to_string());
        Ok(true)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<bool, E> {
        put(self.0, &number.to_string());
        Ok(true)
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn columns(texts: &[&str], id_required: bool) -> FieldNames {
        FieldNames { texts: texts.iter().map(|&name| name.to_owned()).collect(), id: "id".to_owned(), id_required }
    }

    fn rows(records: &Records) -> Vec<(String, String)> {
        let cut = |data: &[u8], ends: &[i64]| -> Vec<String> {
            let mut start = 0;
            ends.iter()
                .map(|&end| {
                    let part = data[std::mem::replace(&mut start, end as usize)..end as usize].to_vec();
                    String::from_utf8(part).expect("valid UTF-8")
                })
                .collect()
        };
        cut(&records.ids, &records.id_ends).into_iter().zip(cut(&records.texts, &records.text_ends)).collect()
    }

    #[test]
    fn what_is_no_record_is_refused() {
        let data = "{\"text\": \"a\", \"id\": 7}\r\n\n[1]\n{\"text\": 1}\n{\"text\": \"\\ud800\"}\n{\"text\": null}\n{}\n{\"text\": \"b\"";
        let data = [data.as_bytes(), b"\n{\"text\": \"a\", \"x\": \"\xFF\"}"].concat();
        let records = read(&data, &columns(&["text"], false), "f", 1, None);
        assert_eq!(rows(&records), [("7".to_owned(), "a".to_owned())]);
        let refused: Vec<i64> = records.refused.iter().map(|(line, _)| *line).collect();
        assert_eq!(refused, [2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(records.spans, [[0, 24]]);
    }

    proptest! {
        #[test]
        fn every_record_comes_out_as_it_went_in(
            given in prop::collection::vec((".*", ".*", prop::option::of(any::<i64>()), any::<bool>()), 0..40),
            blank in 0usize..3,
        ) {
            let mut data = String::new();
            let mut expected = Vec::new();
            let mut line = 0;
            for (one, other, id, null) in &given {
                for _ in 0..blank { data.push('\n'); line += 1; }
                let second = if *null { Value::Null } else { json!(other) };
                data += &json!({"x": [one, {"text": 1}], "text": one, "more": second, "id": id}).to_string();
                data.push('\n');
                line += 1;
                let name = id.map_or(format!("f:{line}"), |id| id.to_string());
                expected.push((name, format!("{one}\n{}", if *null { "" } else { other })));
            }
            let records = read(data.as_bytes(), &columns(&["text", "more"], false), "f", 1, None);
            prop_assert_eq!(rows(&records), expected);
            prop_assert!(records.refused.is_empty());
            for span in &records.spans {
                prop_assert!(serde_json::from_slice::<Value>(&data.as_bytes()[span[0] as usize..span[1] as usize]).is_ok());
            }
        }
    }
}
