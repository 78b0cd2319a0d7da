//! A file of postings: the columns of one part.

use std::path::Path;
use std::sync::Arc;

use super::MOST_ROWS;
use super::index::Covered;
use super::part::{PostingPart, prefix_bits};
use crate::saved::{self, Corrupt, FileError, Format, Head};

const FORMAT: Format = Format { magic: b"neardupT", version: 1, name: "file of neardup postings", numbers: 7 };

/// The numbers of the header.
#[derive(Clone, Copy)]
struct Header {
    documents: usize,
    terms: usize,
    postings: usize,
    large: usize,
    first: i64,
    last: i64,
    stamp: u64,
}

impl Header {
    fn from_head(head: &Head) -> Result<Header, &'static str> {
        let [documents, terms, postings, large, first, last, stamp] = head.numbers[..] else {
            return Err("the header is cut short");
        };
        let few =
            documents <= MOST_ROWS as u64 && terms <= postings && terms <= u64::from(u32::MAX) && large <= postings;
        let (first, last) = (first as i64, last as i64);
        if !few || postings > 1 << 48 || (terms == 0) != (postings == 0) || (documents == 0 && postings > 0) {
            return Err("the counts in the header do not add up");
        }
        if last.checked_sub(first).is_none_or(|keys| keys < -1 || (documents as i64) > keys + 1) {
            return Err("the header has impossible keys");
        }
        let [documents, terms, postings, large] = [documents, terms, postings, large].map(|count| count as usize);
        Ok(Header { documents, terms, postings, large, first, last, stamp })
    }

    fn sizes(&self) -> Vec<usize> {
        vec![
            8 * self.documents,
            8 * self.terms,
            4 * ((1 << prefix_bits(self.terms)) + 1),
            8 * (self.terms + 1),
            4 * self.postings,
            8 * self.large,
            4 * self.large,
        ]
    }
}

/// Writes a part to a temporary file, syncs it and renames it.
pub(super) fn write(path: &Path, part: &PostingPart, covered: &Covered) -> Result<(), FileError> {
    let columns = part.columns()?;
    let counts = [columns.keys.len(), columns.terms.len(), columns.postings.len(), columns.large.len()];
    let head = Head {
        numbers: counts
            .map(|count| count as u64)
            .into_iter()
            .chain([covered.first as u64, covered.last as u64, covered.stamp])
            .collect(),
        text: Some(covered.identity.clone()),
    };
    let columns: [&[u8]; 7] = [
        bytemuck::cast_slice(columns.keys),
        bytemuck::cast_slice(columns.terms),
        bytemuck::cast_slice(columns.prefixes),
        bytemuck::cast_slice(columns.starts),
        bytemuck::cast_slice(columns.postings),
        bytemuck::cast_slice(columns.large),
        bytemuck::cast_slice(columns.large_counts),
    ];
    saved::write(path, &FORMAT, &head, &columns)
}

/// Returns a part whose columns are mapped, and what it covers.
pub(super) fn open(path: &Path) -> Result<(PostingPart, Covered), FileError> {
    let mut file = saved::open(path, &[&FORMAT], |head| Ok(Header::from_head(head)?.sizes()))?;
    let wrong = |what: &str| FileError::Corrupt(Corrupt::new(what));
    let header = Header::from_head(&file.head).map_err(wrong)?;
    let part = PostingPart {
        keys: file.next(header.documents)?,
        terms: file.next(header.terms)?,
        prefixes: file.next((1 << prefix_bits(header.terms)) + 1)?,
        starts: file.next(header.terms + 1)?,
        postings: file.next(header.postings)?,
        large: file.next(header.large)?,
        large_counts: file.next(header.large)?,
        file: Some(Arc::clone(&file.mapped)),
    };
    let covered = Covered {
        first: header.first,
        last: header.last,
        documents: header.documents,
        stamp: header.stamp,
        identity: file.head.text.unwrap_or_default(),
    };
    Ok((part, covered))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checksums find damage; these headers have right checksums and wrong contents.
    #[test]
    fn headers_that_cannot_be_are_refused() {
        let read = |numbers: &[u64]| {
            let head = Head { numbers: numbers.to_vec(), text: None };
            Header::from_head(&head).map(|header| header.sizes().len())
        };
        let good = [10, 20, 40, 1, 1, 12, 99];
        assert_eq!(read(&good), Ok(7));
        assert_eq!(read(&[0, 0, 0, 0, 1, 0, 0]), Ok(7));
        assert_eq!(read(&good[..6]), Err("the header is cut short"));
        for (at, value, what) in [
            (0, MOST_ROWS as u64 + 1, "counts"),
            (0, 0, "counts"),
            (1, 41, "counts"),
            (1, 0, "counts"),
            (2, u64::MAX, "counts"),
            (3, 41, "counts"),
            (0, 13, "keys"),
            (4, 20, "keys"),
            (5, u64::MAX, "keys"),
        ] {
            let mut numbers = good;
            numbers[at] = value;
            assert!(read(&numbers).is_err_and(|error| error.contains(what)), "{at} {value}");
        }
    }
}
