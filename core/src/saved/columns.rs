//! Columns in memory, or mapped from a file and checked on first access.

use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a mapped file under one checksum.
pub(crate) const CHUNK: usize = 1 << 16;

/// A damaged file: a wrong checksum, a truncated file, or not an index at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrupt {
    message: String,
}

impl Corrupt {
    pub(crate) fn new(message: impl Into<String>) -> Corrupt {
        Corrupt { message: message.into() }
    }
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Corrupt {}

/// A mapped file whose chunks are checked on first access: opening reads none of the body, and no value is used that
/// does not match its checksum.
pub(crate) struct Mapped {
    map: Mmap,
    /// Kept to check the length: reading beyond the end of a truncated file kills the process.
    file: File,
    name: String,
    body: usize,
    sums: Vec<u64>,
    checked: Vec<AtomicU64>,
}

impl Mapped {
    pub(crate) fn new(map: Mmap, file: File, name: String, body: usize, sums: Vec<u64>) -> Mapped {
        let checked = (0..sums.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Mapped { map, file, name, body, sums, checked }
    }

    /// Refuses a file that was truncated since it was opened. Call it before each use.
    pub(crate) fn check_length(&self) -> Result<(), Corrupt> {
        let length = self.map.len() as u64;
        match self.file.metadata().map(|found| found.len()) {
            Ok(found) if found >= length => Ok(()),
            Ok(found) => Err(self.corrupt(&format!("the file has {found} bytes, {length} were saved"))),
            Err(error) => Err(self.corrupt(&format!("its length cannot be read: {error}"))),
        }
    }

    /// Returns the bytes of the body, unchecked.
    pub(crate) fn body(&self) -> &[u8] {
        &self.map[self.body..]
    }

    pub(crate) fn corrupt(&self, what: &str) -> Corrupt {
        Corrupt::new(format!("{}: {what}; restore the file from a copy or build the index again", self.name))
    }

    /// Checks the chunks that hold these bytes of the body, once.
    #[inline]
    fn check(&self, bytes: &Range<usize>) -> Result<(), Corrupt> {
        let last = bytes.end.max(bytes.start + 1) - 1;
        for chunk in bytes.start / CHUNK..=last / CHUNK {
            let seen =
                self.checked.get(chunk / 64).is_some_and(|seen| seen.load(Ordering::Relaxed) >> (chunk % 64) & 1 == 1);
            if !seen {
                self.check_chunk(chunk)?;
            }
        }
        Ok(())
    }

    #[cold]
    fn check_chunk(&self, chunk: usize) -> Result<(), Corrupt> {
        let body = self.body();
        let data = &body[(chunk * CHUNK).min(body.len())..((chunk + 1) * CHUNK).min(body.len())];
        if self.sums.get(chunk) != Some(&xxh3_64(data)) {
            let start = self.body + chunk * CHUNK;
            return Err(self.corrupt(&format!("the checksum of bytes {start} to {} is wrong", start + data.len())));
        }
        self.checked[chunk / 64].fetch_or(1 << (chunk % 64), Ordering::Relaxed);
        Ok(())
    }
}

/// A column of plain values.
pub(crate) enum Store<T> {
    Owned(Vec<T>),
    /// Values at a byte range of the file's body.
    Mapped(Arc<Mapped>, Range<usize>),
}

impl<T: bytemuck::Pod> Store<T> {
    /// Maps a column of the body; refuses one outside of it or misaligned.
    pub(crate) fn mapped(file: &Arc<Mapped>, start: usize, count: usize) -> Result<Store<T>, Corrupt> {
        let end = count.checked_mul(size_of::<T>()).and_then(|bytes| bytes.checked_add(start));
        let bytes = end.and_then(|end| file.body().get(start..end));
        if bytes.is_none_or(|bytes| bytemuck::try_cast_slice::<u8, T>(bytes).is_err()) {
            return Err(file.corrupt("a column lies outside of it"));
        }
        Ok(Store::Mapped(Arc::clone(file), start..start + count * size_of::<T>()))
    }

    /// Returns all values, unchecked. For sizes, prefetching, and after `check`.
    #[inline]
    pub(crate) fn unchecked(&self) -> &[T] {
        match self {
            Store::Owned(values) => values,
            Store::Mapped(file, bytes) => bytemuck::cast_slice(&file.body()[bytes.clone()]),
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Store::Owned(values) => values.len(),
            Store::Mapped(_, bytes) => bytes.len() / size_of::<T>(),
        }
    }

    /// Returns the values of a range, checked. Panics outside of the column.
    #[inline]
    pub(crate) fn range(&self, range: Range<usize>) -> Result<&[T], Corrupt> {
        if let Store::Mapped(file, bytes) = self
            && !range.is_empty()
        {
            file.check(&(bytes.start + range.start * size_of::<T>()..bytes.start + range.end * size_of::<T>()))?;
        }
        Ok(&self.unchecked()[range])
    }

    #[inline]
    pub(crate) fn at(&self, index: usize) -> Result<T, Corrupt> {
        self.range(index..index + 1).map(|values| values[0])
    }

    pub(crate) fn all(&self) -> Result<&[T], Corrupt> {
        self.range(0..self.len())
    }

    /// Returns the error for an impossible value under a right checksum.
    pub(crate) fn corrupt(&self, what: &str) -> Corrupt {
        match self {
            Store::Owned(_) => Corrupt::new(format!("the index in memory: {what}")),
            Store::Mapped(file, _) => file.corrupt(what),
        }
    }
}
