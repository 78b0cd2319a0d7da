//! A saved index: one file, checksummed throughout, mapped when opened.
//!
//! All numbers are little-endian. The file begins with a header: the magic bytes, the version, the header's length and
//! its checksum, then the fields below in their order. Checksums of the body follow, one for each `CHUNK` of it, and
//! then the body: the columns of the one segment, each starting at a multiple of 64 bytes. Where a column lies
//! follows from the counts in the header.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;
use xxhash_rust::xxh3::xxh3_64;

use super::ids::{Id, IdColumn, Kind};
use super::records::{PADDING, Shape};
use super::segment::{Columns, Segment};
use super::store::{CHUNK, Corrupt, Mapped, Store};
use crate::{Error, MAX_BITS};

const MAGIC: &[u8; 8] = b"neardupI";
const VERSION: u32 = 1;
/// Magic bytes, version, length and checksum of the header.
const START: usize = 24;
const ALIGN: usize = 64;
/// EISDIR: the same number on Linux and macOS.
const IS_A_DIRECTORY: i32 = 21;
/// An identity is a line of text.
const LONGEST_RECIPE: usize = 1 << 16;

/// Why an index could not be saved or opened.
#[derive(Debug)]
pub enum FileError {
    /// The system refused.
    Io(io::Error),
    /// The file is damaged or something else.
    Corrupt(Corrupt),
    /// The file is sound but not for this version.
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

/// What the header says.
struct Header {
    bits: u64,
    /// 0: no ids, 1: integers, 2: strings.
    kind: u64,
    unique: u64,
    entries: u64,
    repeats: u64,
    /// Bytes of all string ids.
    text: u64,
    next_id: i64,
    /// Bytes of the whole file.
    length: u64,
    /// Checksum of the checksums.
    sums: u64,
    recipe: Option<String>,
}

impl Header {
    fn to_bytes(&self) -> Vec<u8> {
        let mut fields = Vec::new();
        for field in [self.bits, self.kind, self.unique, self.entries, self.repeats, self.text] {
            fields.extend(field.to_le_bytes());
        }
        fields.extend(self.next_id.to_le_bytes());
        fields.extend(self.length.to_le_bytes());
        fields.extend(self.sums.to_le_bytes());
        let recipe = self.recipe.as_deref();
        fields.extend(recipe.map_or(u64::MAX, |recipe| recipe.len() as u64).to_le_bytes());
        fields.extend(recipe.unwrap_or_default().as_bytes());
        let mut header = Vec::with_capacity(START + fields.len());
        header.extend(MAGIC);
        header.extend(VERSION.to_le_bytes());
        header.extend(((START + fields.len()) as u32).to_le_bytes());
        header.extend([0; 8]);
        header.extend(fields);
        let sum = header_sum(&header);
        header[16..START].copy_from_slice(&sum.to_le_bytes());
        header
    }

    /// Reads the header at the start of a file; says what is wrong with it.
    fn from_bytes(file: &[u8]) -> Result<(Header, usize), FileError> {
        let corrupt = |what: &str| FileError::Corrupt(Corrupt(what.to_owned()));
        let number =
            |at: usize| file.get(at..at + 8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()));
        if !file.starts_with(MAGIC) {
            return Err(corrupt("this is not a saved neardup index"));
        }
        let cut = || corrupt("the header is cut short");
        let version_and_length = number(8).ok_or_else(cut)?;
        let (version, length) = (version_and_length as u32, (version_and_length >> 32) as usize);
        let header = file.get(..length).filter(|header| header.len() >= START).ok_or_else(cut)?;
        if number(16) != Some(header_sum(header)) {
            return Err(corrupt("the checksum of the header is wrong"));
        }
        if version != VERSION {
            return Err(FileError::Refused(Error(format!(
                "the index has format version {version}, this neardup reads version {VERSION}; use the neardup that \
                 saved it, or build the index again"
            ))));
        }
        let field = |at: usize| number(START + 8 * at).ok_or_else(cut);
        let recipe = match field(9)? {
            u64::MAX => None,
            bytes if bytes <= LONGEST_RECIPE as u64 && START + 80 + bytes as usize == length => {
                let recipe = String::from_utf8(file[START + 80..length].to_vec());
                Some(recipe.map_err(|_| corrupt("the recipe's identity is not valid UTF-8"))?)
            }
            _ => return Err(corrupt("the recipe's identity does not fit the header")),
        };
        let header = Header {
            bits: field(0)?,
            kind: field(1)?,
            unique: field(2)?,
            entries: field(3)?,
            repeats: field(4)?,
            text: field(5)?,
            next_id: field(6)? as i64,
            length: field(7)?,
            sums: field(8)?,
            recipe,
        };
        header.check().map_err(corrupt)?;
        if header.length != file.len() as u64 {
            let (is, was) = (file.len(), header.length);
            return Err(corrupt(&format!("the file has {is} bytes, {was} were saved")));
        }
        Ok((header, length))
    }

    fn check(&self) -> Result<(), &'static str> {
        let few = |number: u64| number <= u64::from(u32::MAX);
        if self.bits == 0 || self.bits > MAX_BITS as u64 || !self.bits.is_multiple_of(8) || self.kind > 2 {
            return Err("the header has an impossible width or kind of ids");
        }
        let empty = self.kind == 0 && self.entries == 0 && self.unique == 0;
        let filled = self.kind > 0 && 0 < self.unique && self.unique <= self.entries;
        let repeated = (self.repeats == 0) == (self.unique == self.entries);
        if !(few(self.entries) && self.repeats <= self.unique && repeated && (empty || filled) && self.next_id >= 0) {
            return Err("the counts in the header do not add up");
        }
        Ok(())
    }

    /// The columns of the body: where each starts, and its bytes. None if they do not fit in memory's numbers.
    fn layout(&self) -> Option<Vec<(usize, usize)>> {
        if self.kind == 0 {
            return Some(Vec::new());
        }
        let (unique, entries) = (self.unique as usize, self.entries as usize);
        let mut sizes = Vec::new();
        for shape in Shape::tables(self.bits as usize, unique) {
            sizes.push(4 * (shape.buckets() + 1));
            sizes.push(unique * shape.stride() + PADDING);
        }
        sizes.push(8 * self.repeats as usize);
        sizes.push(8 * entries);
        if self.kind == 2 {
            sizes.push(usize::try_from(self.text).ok()?);
        }
        sizes.push(4 * entries);
        let mut start: usize = 0;
        let mut layout = Vec::with_capacity(sizes.len());
        for size in sizes {
            layout.push((start, size));
            start = start.checked_add(size)?.checked_next_multiple_of(ALIGN)?;
        }
        Some(layout)
    }
}

/// The checksum of a header: of all of it but the magic bytes and itself. It is so in every version.
fn header_sum(header: &[u8]) -> u64 {
    xxh3_64(&[&header[8..16], &header[START..]].concat())
}

/// Bytes of the body, and where its checksums and it start in the file.
fn places(header: usize, layout: &[(usize, usize)]) -> (usize, usize, usize) {
    let body = layout.last().map_or(0, |(start, size)| start + size);
    let sums = header.next_multiple_of(ALIGN);
    (body, sums, (sums + 8 * body.div_ceil(CHUNK)).next_multiple_of(ALIGN))
}

/// Writes through a buffer of one chunk, and keeps the checksum of each.
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

/// Writes an index beside its final name, and gives it that name when all of it is on the disk.
pub(crate) fn write(
    path: &Path,
    bits: usize,
    segment: Option<&Segment>,
    recipe: Option<&str>,
    next_id: i64,
) -> Result<(), FileError> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    // A name of its own for each call: others may save under the same name at the same time.
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
    let written = write_to(&mut file, bits, segment, recipe, next_id)
        .and_then(|()| fs::rename(&temporary, path).map_err(FileError::Io));
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
        return written;
    }
    // The new name itself is on the disk only when the directory is. Not all file systems can do that, and the file is
    // there in any case.
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
    Ok(())
}

fn write_to(
    file: &mut File,
    bits: usize,
    segment: Option<&Segment>,
    recipe: Option<&str>,
    next_id: i64,
) -> Result<(), FileError> {
    let columns = segment.map(Segment::columns).transpose()?.unwrap_or_default();
    let mut header = Header {
        bits: bits as u64,
        kind: segment.map_or(0, |segment| match segment.ids().kind() {
            Kind::Int => 1,
            Kind::Str => 2,
        }),
        unique: segment.map_or(0, |segment| segment.unique() as u64),
        entries: segment.map_or(0, |segment| segment.entries() as u64),
        repeats: segment.map_or(0, |segment| segment.repeats() as u64),
        text: segment.map_or(0, |segment| match segment.ids() {
            IdColumn::Int(_) => 0,
            IdColumn::Str(_, text) => text.len() as u64,
        }),
        next_id,
        length: 0,
        sums: 0,
        recipe: recipe.map(str::to_owned),
    };
    let layout = header.layout().unwrap_or_default();
    let (body, sums_at, body_at) = places(header.to_bytes().len(), &layout);
    header.length = (body_at + body) as u64;

    file.seek(SeekFrom::Start(body_at as u64))?;
    let mut writer = BodyWriter { file: &mut *file, chunk: Vec::with_capacity(CHUNK), sums: Vec::new(), written: 0 };
    for ((start, _), column) in layout.iter().zip(columns) {
        let gap = start - writer.written;
        writer.write(&[0; ALIGN][..gap])?;
        writer.write(column)?;
    }
    writer.flush()?;
    let sums: Vec<u8> = writer.sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
    header.sums = xxh3_64(&sums);
    file.seek(SeekFrom::Start(sums_at as u64))?;
    file.write_all(&sums)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&header.to_bytes())?;
    file.set_len(header.length)?;
    file.sync_all()?;
    Ok(())
}

/// A file that was opened.
pub(crate) struct Opened {
    pub(crate) bits: usize,
    pub(crate) segment: Option<Segment>,
    pub(crate) recipe: Option<String>,
    pub(crate) next_id: i64,
}

pub(crate) fn open(path: &Path) -> Result<Opened, FileError> {
    if cfg!(target_endian = "big") {
        return Err(FileError::Refused(Error("saved indexes are read on little-endian machines only".to_owned())));
    }
    let name = path.display().to_string();
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(FileError::Io(io::Error::from_raw_os_error(IS_A_DIRECTORY)));
    }
    // SAFETY: the map is only read, and every value in it is used by its checksum and within bounds. Who writes into
    // the file while it is open breaks the promise of `Index::open`; saving never does, it replaces the file.
    let map = unsafe { Mmap::map(&file)? };
    let named = |error: FileError| match error {
        FileError::Corrupt(Corrupt(what)) => FileError::Corrupt(Corrupt(format!(
            "{name}: {what}; restore the file from a copy or build the index again"
        ))),
        FileError::Refused(Error(what)) => FileError::Refused(Error(format!("{name}: {what}"))),
        other => other,
    };
    let outside = || named(FileError::Corrupt(Corrupt("the counts in the header do not fit the file".to_owned())));
    let (header, header_length) = Header::from_bytes(&map).map_err(named)?;
    let layout = header.layout().ok_or_else(outside)?;
    let (body, sums_at, body_at) = places(header_length, &layout);
    if (body_at + body) as u64 != header.length {
        return Err(outside());
    }
    let sums = &map[sums_at..sums_at + 8 * body.div_ceil(CHUNK)];
    if xxh3_64(sums) != header.sums {
        return Err(named(FileError::Corrupt(Corrupt("the checksum of the checksums is wrong".to_owned()))));
    }
    let sums = sums.chunks_exact(8).map(|sum| u64::from_le_bytes(sum.try_into().unwrap_or_default())).collect();
    let mapped = Arc::new(Mapped::new(map, name, body_at, sums));
    let bits = header.bits as usize;
    let segment = if header.kind == 0 { None } else { Some(segment(&mapped, &header, &layout)?) };
    Ok(Opened { bits, segment, recipe: header.recipe, next_id: header.next_id })
}

fn segment(mapped: &Arc<Mapped>, header: &Header, layout: &[(usize, usize)]) -> Result<Segment, Corrupt> {
    let (bits, unique) = (header.bits as usize, header.unique as usize);
    let mut columns = layout.iter();
    let mut next = || columns.next().copied().unwrap_or_default();
    let mut tables = Vec::new();
    for shape in Shape::tables(bits, unique) {
        let ((directory, _), (records, bytes)) = (next(), next());
        let directory = Store::mapped(mapped, directory, shape.buckets() + 1)?;
        tables.push((shape, directory, Store::mapped(mapped, records, bytes)?));
    }
    let repeats = Store::mapped(mapped, next().0, header.repeats as usize)?;
    let ids = match header.kind {
        1 => IdColumn::Int(Store::mapped(mapped, next().0, header.entries as usize)?),
        _ => {
            let ends = Store::mapped(mapped, next().0, header.entries as usize)?;
            IdColumn::Str(ends, Store::mapped(mapped, next().0, header.text as usize)?)
        }
    };
    let by_id = Store::mapped(mapped, next().0, header.entries as usize)?;
    let segment = Segment::from_columns(bits, unique, Columns { tables, repeats, ids, by_id })?;
    let next_is_free = match segment.id_at(segment.entries() - 1)?.1 {
        Id::Int(last) => last < header.next_id || last == i64::MAX,
        Id::Str(_) => true,
    };
    if next_is_free { Ok(segment) } else { Err(mapped.corrupt("the next id is one that is there")) }
}
