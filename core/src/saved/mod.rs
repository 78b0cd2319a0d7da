//! Files of columns: written atomically, checksummed throughout, mapped when opened.
//!
//! All numbers are little-endian. A file begins with a header: magic bytes, version, the header's length and its
//! checksum; then the numbers of the format, the length of the file, the checksum of the checksums, and a text.
//! Checksums of the body follow, one for each `CHUNK` of it, and then the body: columns, each starting at a multiple of
//! 64 bytes. The numbers in the header determine where a column lies.

mod columns;
mod repeats;

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;
use xxhash_rust::xxh3::xxh3_64;

use crate::Error;
use columns::CHUNK;
pub use columns::Corrupt;
pub(crate) use columns::{Mapped, Store};
pub(crate) use repeats::{Repeats, partition_point};

/// Magic bytes, version, length and checksum of the header.
const START: usize = 24;
const ALIGN: usize = 64;
/// EISDIR: the same number on Linux and macOS.
const IS_A_DIRECTORY: i32 = 21;
/// An identity is a line of text.
const LONGEST_TEXT: usize = 1 << 16;

/// Why a file could not be saved or opened.
#[derive(Debug)]
pub enum FileError {
    /// An operating system error.
    Io(io::Error),
    /// The file is damaged, or is not such a file.
    Corrupt(Corrupt),
    /// The file is intact but has another format version.
    Refused(Error),
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> FileError {
        FileError::Io(error)
    }
}

impl From<Corrupt> for FileError {
    fn from(error: Corrupt) -> FileError {
        FileError::Corrupt(error)
    }
}

fn corrupt(what: impl fmt::Display) -> FileError {
    FileError::Corrupt(Corrupt::new(what.to_string()))
}

/// A kind of file.
pub(crate) struct Format {
    pub(crate) magic: &'static [u8; 8],
    pub(crate) version: u32,
    /// The name of such a file in messages.
    pub(crate) name: &'static str,
    /// How many numbers of its own the header has.
    pub(crate) numbers: usize,
}

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) numbers: Vec<u64>,
    pub(crate) text: Option<String>,
}

/// The rest of a header: bytes of the whole file, and the checksum of the checksums.
#[derive(Clone, Copy)]
struct Frame {
    length: u64,
    sums: u64,
}

impl Head {
    fn to_bytes(&self, format: &Format, frame: Frame) -> Vec<u8> {
        let mut fields = Vec::new();
        for field in self.numbers.iter().chain(&[frame.length, frame.sums]) {
            fields.extend(field.to_le_bytes());
        }
        let text = self.text.as_deref();
        fields.extend(text.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
        fields.extend(text.unwrap_or_default().as_bytes());
        let mut header = Vec::with_capacity(START + fields.len());
        header.extend(format.magic);
        header.extend(format.version.to_le_bytes());
        header.extend(((START + fields.len()) as u32).to_le_bytes());
        header.extend([0; 8]);
        header.extend(fields);
        let sum = header_sum(&header);
        header[16..START].copy_from_slice(&sum.to_le_bytes());
        header
    }

    /// Parses the header at the start of a file; returns its length too.
    fn from_bytes(formats: &[&Format], file: &[u8]) -> Result<(Head, Frame, usize), FileError> {
        let number =
            |at: usize| file.get(at..at + 8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()));
        let newest = formats[formats.len() - 1];
        if !file.starts_with(newest.magic) {
            return Err(corrupt(format_args!("this is not a {}", newest.name)));
        }
        let cut = || corrupt("the header is cut short");
        let version_and_length = number(8).ok_or_else(cut)?;
        let (version, length) = (version_and_length as u32, (version_and_length >> 32) as usize);
        let header = file.get(..length).filter(|header| header.len() >= START).ok_or_else(cut)?;
        if number(16) != Some(header_sum(header)) {
            return Err(corrupt("the checksum of the header is wrong"));
        }
        let Some(format) = formats.iter().find(|format| format.version == version) else {
            return Err(FileError::Refused(Error::new(format!(
                "the index has format version {version}, this neardup reads version {}; use the neardup that saved \
                 it, or build the index again",
                newest.version
            ))));
        };
        let field = |at: usize| number(START + 8 * at).ok_or_else(cut);
        let own = format.numbers;
        let text_at = START + 8 * (own + 3);
        let text = match field(own + 2)? {
            u64::MAX => None,
            bytes if bytes <= LONGEST_TEXT as u64 && text_at + bytes as usize == length => {
                let text = String::from_utf8(file[text_at..length].to_vec());
                Some(text.map_err(|_| corrupt("the recipe's identity is not valid UTF-8"))?)
            }
            _ => return Err(corrupt("the recipe's identity does not fit the header")),
        };
        let numbers = (0..own).map(field).collect::<Result<_, _>>()?;
        Ok((Head { numbers, text }, Frame { length: field(own)?, sums: field(own + 1)? }, length))
    }
}

/// Returns the checksum of a header, without the magic bytes and itself. All versions compute it like this.
fn header_sum(header: &[u8]) -> u64 {
    xxh3_64(&[&header[8..16], &header[START..]].concat())
}

/// Returns where columns of these sizes start; None on overflow.
fn layout(sizes: &[usize]) -> Option<Vec<(usize, usize)>> {
    let mut start: usize = 0;
    let mut layout = Vec::with_capacity(sizes.len());
    for &size in sizes {
        layout.push((start, size));
        start = start.checked_add(size)?.checked_next_multiple_of(ALIGN)?;
    }
    Some(layout)
}

/// Returns the bytes of the body, and where its checksums and the body start in the file.
fn places(header: usize, layout: &[(usize, usize)]) -> (usize, usize, usize) {
    let body = layout.last().map_or(0, |(start, size)| start + size);
    let sums = header.next_multiple_of(ALIGN);
    (body, sums, (sums + 8 * body.div_ceil(CHUNK)).next_multiple_of(ALIGN))
}

/// A writer with a buffer of one chunk, which records the checksum of each.
struct BodyWriter<'a> {
    file: &'a mut File,
    chunk: Vec<u8>,
    sums: Vec<u64>,
    written: usize,
}

impl BodyWriter<'_> {
    fn write(&mut self, mut data: &[u8]) -> io::Result<()> {
        self.written += data.len();
        while !data.is_empty() {
            let (now, later) = data.split_at(data.len().min(CHUNK - self.chunk.len()));
            self.chunk.extend_from_slice(now);
            data = later;
            if self.chunk.len() == CHUNK {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.chunk.is_empty() {
            self.sums.push(xxh3_64(&self.chunk));
            self.file.write_all(&self.chunk)?;
            self.chunk.clear();
        }
        Ok(())
    }
}

/// Writes columns to a temporary file, syncs it and renames it.
pub(crate) fn write(path: &Path, format: &Format, head: &Head, columns: &[&[u8]]) -> Result<(), FileError> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    // A unique name for each call: others may save to the same path at the same time.
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let (mut file, temporary) = loop {
        let call = CALLS.fetch_add(1, Ordering::Relaxed);
        let mut temporary = name.to_owned();
        temporary.push(format!(".{}-{call}.tmp", std::process::id()));
        let temporary = path.with_file_name(temporary);
        match File::create_new(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => break (created?, temporary),
        }
    };
    let written =
        write_to(&mut file, format, head, columns).and_then(|()| fs::rename(&temporary, path).map_err(FileError::Io));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
        return written;
    }
    // The rename is durable only when the directory is synced. Not all file systems can do that, and the file exists in
    // any case.
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
    Ok(())
}

fn write_to(file: &mut File, format: &Format, head: &Head, columns: &[&[u8]]) -> Result<(), FileError> {
    let sizes: Vec<usize> = columns.iter().map(|column| column.len()).collect();
    let layout = layout(&sizes).unwrap_or_default();
    let (body, sums_at, body_at) = places(head.to_bytes(format, Frame { length: 0, sums: 0 }).len(), &layout);
    let length = (body_at + body) as u64;

    file.seek(SeekFrom::Start(body_at as u64))?;
    let mut writer = BodyWriter { file: &mut *file, chunk: Vec::with_capacity(CHUNK), sums: Vec::new(), written: 0 };
    for ((start, _), column) in layout.iter().zip(columns) {
        let gap = start - writer.written;
        writer.write(&[0; ALIGN][..gap])?;
        writer.write(column)?;
    }
    writer.flush()?;
    let sums: Vec<u8> = writer.sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
    file.seek(SeekFrom::Start(sums_at as u64))?;
    file.write_all(&sums)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&head.to_bytes(format, Frame { length, sums: xxh3_64(&sums) }))?;
    file.set_len(length)?;
    file.sync_all()?;
    Ok(())
}

/// An opened file: its header, its bytes, and the layout of its columns.
pub(crate) struct Opened {
    pub(crate) head: Head,
    pub(crate) mapped: Arc<Mapped>,
    layout: std::vec::IntoIter<(usize, usize)>,
}

impl Opened {
    /// Returns the next column, of `count` values.
    pub(crate) fn next<T: bytemuck::Pod>(&mut self, count: usize) -> Result<Store<T>, Corrupt> {
        let (start, _) = self.layout.next().unwrap_or_default();
        Store::mapped(&self.mapped, start, count)
    }
}

/// Opens a file of one of some versions of a format, the newest last. `sizes` returns the bytes of each column by the header, or an error message.
pub(crate) fn open(
    path: &Path,
    formats: &[&Format],
    sizes: impl Fn(&Head) -> Result<Vec<usize>, &'static str>,
) -> Result<Opened, FileError> {
    if cfg!(target_endian = "big") {
        return Err(FileError::Refused(Error::new("saved indexes are read on little-endian machines only")));
    }
    let name = path.display().to_string();
    let named = |error: FileError| match error {
        FileError::Corrupt(what) => {
            corrupt(format_args!("{name}: {what}; restore the file from a copy or build the index again"))
        }
        FileError::Refused(what) => FileError::Refused(Error::new(format!("{name}: {what}"))),
        other => other,
    };
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(FileError::Io(io::Error::from_raw_os_error(IS_A_DIRECTORY)));
    }
    // SAFETY: the map is only read, and its values are used only after their checksum, within bounds. The caller
    // promises that nobody writes to the file while it is open; saving replaces the file instead.
    let map = unsafe { Mmap::map(&file)? };
    let outside = || named(corrupt("the counts in the header do not fit the file"));
    let (head, frame, header_length) = Head::from_bytes(formats, &map).map_err(named)?;
    let sizes = sizes(&head).map_err(|what| named(corrupt(what)))?;
    if frame.length != map.len() as u64 {
        return Err(named(corrupt(format_args!("the file has {} bytes, {} were saved", map.len(), frame.length))));
    }
    let layout = layout(&sizes).ok_or_else(outside)?;
    let (body, sums_at, body_at) = places(header_length, &layout);
    if (body_at + body) as u64 != frame.length {
        return Err(outside());
    }
    let sums = &map[sums_at..sums_at + 8 * body.div_ceil(CHUNK)];
    if xxh3_64(sums) != frame.sums {
        return Err(named(corrupt("the checksum of the checksums is wrong")));
    }
    let sums = sums.chunks_exact(8).map(|sum| u64::from_le_bytes(sum.try_into().unwrap_or_default())).collect();
    let mapped = Arc::new(Mapped::new(map, file, name, body_at, sums));
    Ok(Opened { head, mapped, layout: layout.into_iter() })
}
