//! Python strings as Rust strings: borrowed in place, in batches of bounded size.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// A batch has at most about this many bytes…
const BATCH_BYTES: usize = 8 << 20;
/// …and this many texts.
const BATCH_TEXTS: usize = 1 << 16;

/// A text borrowed from Python.
///
/// An ASCII string is its own UTF-8. For any other, CPython would keep a UTF-8 copy inside the string
/// for good, so a copy of our own is made and dropped: memory does not grow with the number of texts.
pub(crate) enum Text<'py> {
    Ascii(Bound<'py, PyString>),
    Encoded(Bound<'py, PyBytes>),
}

impl<'py> Text<'py> {
    /// Borrows a text; `name` and `index` identify it in the error for a lone surrogate.
    pub(crate) fn new(text: &Bound<'py, PyString>, name: &str, index: Option<usize>) -> PyResult<Text<'py>> {
        if text.call_method0("isascii")?.extract()? {
            return Ok(Text::Ascii(text.clone()));
        }
        text.encode_utf8().map(Text::Encoded).map_err(|error| {
            let position = error.value(text.py()).getattr("start").and_then(|start| start.extract::<usize>());
            let place = index.map_or(name.to_owned(), |index| format!("{name}[{index}]"));
            PyValueError::new_err(format!(
                "{place} has a lone surrogate at position {}, so it is not Unicode text; \
                 clean it first, for example with text.encode(\"utf-8\", \"replace\").decode()",
                position.unwrap_or(0)
            ))
        })
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            // This cannot fail: ASCII needs no encoding.
            Text::Ascii(text) => text.to_str().unwrap_or_default(),
            // SAFETY: Python encoded it, strictly, so it is UTF-8. Checking it again would take a tenth of the time of
            // a Chinese fingerprint.
            Text::Encoded(bytes) => unsafe { std::str::from_utf8_unchecked(bytes.as_bytes()) },
        }
    }
}

/// (offset, length, validity, offsets, data, large): an Arrow string array by its buffers.
#[derive(FromPyObject)]
pub(crate) struct ArrowChunk(usize, usize, Option<PyBuffer<u8>>, PyBuffer<u8>, Option<PyBuffer<u8>>, bool);

/// Many texts.
pub(crate) enum Texts<'py> {
    List(Vec<Bound<'py, PyAny>>),
    Arrow(Vec<ArrowChunk>),
}

impl<'py> Texts<'py> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Texts::List(texts) => texts.len(),
            Texts::Arrow(chunks) => chunks.iter().map(|chunk| chunk.1).sum(),
        }
    }

    /// Calls `work` with one batch after the other and the index of its first text. `None` is a missing text.
    pub(crate) fn batches(
        &self,
        py: Python<'py>,
        mut work: impl FnMut(&[Option<&str>], usize) -> PyResult<()>,
    ) -> PyResult<()> {
        match self {
            Texts::List(texts) => list_batches(py, texts, work),
            Texts::Arrow(chunks) => {
                let mut start = 0;
                for chunk in chunks {
                    arrow_batches(chunk, start, &mut work)?;
                    start += chunk.1;
                }
                Ok(())
            }
        }
    }
}

fn list_batches<'py>(
    py: Python<'py>,
    texts: &[Bound<'py, PyAny>],
    mut work: impl FnMut(&[Option<&str>], usize) -> PyResult<()>,
) -> PyResult<()> {
    let mut start = 0;
    while start < texts.len() {
        let mut batch = Vec::new();
        let mut bytes = 0;
        for item in &texts[start..] {
            if bytes >= BATCH_BYTES || batch.len() >= BATCH_TEXTS {
                break;
            }
            let index = start + batch.len();
            let text = match item.cast::<PyString>() {
                Ok(text) => Some(Text::new(text, "texts", Some(index))?),
                Err(_) if item.is_none() => None,
                Err(_) => {
                    return Err(PyTypeError::new_err(format!(
                        "texts[{index}] is of type {}; a text must be a str, or None for a missing one",
                        item.get_type().name()?
                    )));
                }
            };
            bytes += text.as_ref().map_or(0, |text| text.as_str().len());
            batch.push(text);
        }
        let slices: Vec<Option<&str>> = batch.iter().map(|text| text.as_ref().map(Text::as_str)).collect();
        work(&slices, start)?;
        start += slices.len();
        py.check_signals()?;
    }
    Ok(())
}

fn arrow_batches(
    chunk: &ArrowChunk,
    start: usize,
    work: &mut impl FnMut(&[Option<&str>], usize) -> PyResult<()>,
) -> PyResult<()> {
    let ArrowChunk(first, length, validity, offsets, data, large) = chunk;
    let width = if *large { 8 } else { 4 };
    let validity = validity.as_ref().map(bytes_of).transpose()?;
    let offsets = bytes_of(offsets)?;
    let data = data.as_ref().map(bytes_of).transpose()?.unwrap_or(&[]);
    let damaged = |what: &str| PyValueError::new_err(format!("the Arrow array is damaged: {what}"));
    let end = first.checked_add(*length).ok_or_else(|| damaged("its length overflows"))?;
    if *length > 0 && offsets.len() / width <= end || validity.is_some_and(|bits| bits.len() * 8 < end) {
        return Err(damaged("a buffer is shorter than its length says"));
    }
    let offset_at = |row: usize| {
        let bytes = &offsets[row * width..];
        match bytes.first_chunk() {
            Some(eight) if *large => i64::from_ne_bytes(*eight) as usize,
            _ => bytes.first_chunk().map_or(0, |four| i32::from_ne_bytes(*four) as usize),
        }
    };
    let mut row = *first;
    while row < end {
        let mut batch: Vec<Option<&str>> = Vec::new();
        let mut bytes = 0;
        let batch_start = row;
        while row < end && bytes < BATCH_BYTES && batch.len() < BATCH_TEXTS {
            let present = validity.is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 == 1);
            batch.push(if present {
                let slice = data
                    .get(offset_at(row)..offset_at(row + 1))
                    .ok_or_else(|| damaged(&format!("the offsets of row {} leave its data", row - first)))?;
                bytes += slice.len();
                let text = std::str::from_utf8(slice).map_err(|error| {
                    PyValueError::new_err(format!("texts[{}] is not valid UTF-8: {error}", start + row - first))
                })?;
                Some(text)
            } else {
                None
            });
            row += 1;
        }
        work(&batch, start + batch_start - first)?;
    }
    Ok(())
}

pub(crate) fn bytes_of(buffer: &PyBuffer<u8>) -> PyResult<&[u8]> {
    if !buffer.is_c_contiguous() {
        return Err(PyValueError::new_err("an Arrow buffer is not contiguous; copy the array first"));
    }
    if buffer.len_bytes() == 0 {
        return Ok(&[]);
    }
    // SAFETY: the buffer is contiguous and `PyBuffer` keeps it alive and in place. Arrow arrays are
    // immutable: nobody writes to it while we read, with the GIL or without.
    Ok(unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast::<u8>(), buffer.len_bytes()) })
}

/// Byte offsets → character offsets, by counting from the nearest of evenly spaced marks.
pub(crate) struct CharOffsets<'a> {
    text: &'a str,
    marks: Vec<usize>,
}

impl<'a> CharOffsets<'a> {
    const STRIDE: usize = 1024;

    pub(crate) fn new(text: &'a str) -> Self {
        let mut marks = vec![0];
        let mut chars = 0;
        for chunk in text.as_bytes().chunks(Self::STRIDE) {
            chars += count_chars(chunk);
            marks.push(chars);
        }
        CharOffsets { text, marks }
    }

    pub(crate) fn at(&self, byte: usize) -> usize {
        let mark = byte / Self::STRIDE;
        self.marks[mark] + count_chars(&self.text.as_bytes()[mark * Self::STRIDE..byte])
    }
}

/// Returns how many bytes begin a character.
fn count_chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}
