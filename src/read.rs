//! A source file -> its lines, chunk by chunk.
//!
//! The unit of work is an archive chunk, so that one large file keeps every core busy. A line belongs to the chunk in which
//! it *ends*: when chunk `n` is committed, every line up to its last newline can be in the tables, and the rest is an
//! incomplete last line, as if the file had been cut there.

use crate::archive::{self, CHUNK_BYTES, Hash};
use crate::discover::Stat;
use bumpalo::Bump;
use memchr::{memchr, memrchr};
use rayon::prelude::*;
use rusqlite::Connection;
use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The source of a file's bytes.
#[derive(Debug)]
pub enum Bytes {
    File(File),
    /// The archive of the database itself.
    Archive(ArchivedFile),
    /// The archive of another database.
    Other(ArchivedFile),
}

/// A file in an archive.
#[derive(Debug)]
pub struct ArchivedFile {
    /// A read-only connection.
    pub connection: Arc<Mutex<Connection>>,
    pub file_id: i64,
    /// The hashes that its chunks must have, as far as they are to be verified.
    pub hashes: Vec<Hash>,
}

/// A chunk of a file with the lines that end in it.
pub struct Section {
    buffer: Vec<u8>,
    /// The offset of the buffer in the file.
    buffer_offset: u64,
    /// The index of the chunk in the buffer.
    chunk_start: usize,
    /// The index of the first line in the buffer.
    first_line: usize,
    /// Whether the first line continues one whose first records are already in the tables.
    is_continued: bool,
    /// Whether the file ends with this chunk.
    pub is_last: bool,
}

/// A line. The last one of a file may be incomplete.
pub struct Line<'a> {
    /// The offset of the line in the file.
    pub offset: u64,
    /// Without the newline and without a byte order mark.
    pub bytes: &'a [u8],
    /// Whether the line ends with a newline.
    pub is_complete: bool,
    /// Whether its first records are already in the tables: the line had no newline when it was last read.
    pub is_continued: bool,
    /// Where unescaped strings are allocated. Without an arena each of them is a `String`.
    pub arena: Option<&'a Bump>,
}

/// Opens a source file. Returns an error if a symbolic link, a pipe or a device replaced it: a link could lead out of the home,
/// and reading a pipe could block forever.
pub fn open(path: &Path) -> io::Result<(File, Stat)> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    match metadata.is_file() {
        true => Ok((file, Stat::of(&metadata))),
        false => Err(io::Error::other("no longer a regular file")),
    }
}

impl Bytes {
    /// Reads `length` bytes at an offset, or fewer at the end of the file.
    pub fn read_at(&self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        match self {
            Bytes::File(file) => read_at(file, offset, length),
            Bytes::Archive(file) | Bytes::Other(file) => file.read_at(offset, length),
        }
    }

    /// The metadata of the open file; `None` for an archive.
    pub fn stat(&self) -> io::Result<Option<Stat>> {
        match self {
            Bytes::File(file) => Ok(Some(Stat::of(&file.metadata()?))),
            Bytes::Archive(_) | Bytes::Other(_) => Ok(None),
        }
    }

    /// Whether the first bytes of the file are chunks of these lengths and hashes.
    pub fn begin_with(&self, chunks: &[(u64, Hash)]) -> io::Result<bool> {
        let is_same = |(position, (length, hash)): (usize, &(u64, Hash))| {
            let found = self.hash_at(position as u64 * CHUNK_BYTES, *length)?;
            Ok(found == *hash)
        };
        let chunks = chunks.par_iter().enumerate();
        chunks.map(is_same).try_reduce(|| true, |a, b| Ok(a && b))
    }

    /// The hash of a range, as [`archive::hash`] computes it. The buffer is small enough for the processor's cache.
    fn hash_at(&self, offset: u64, length: u64) -> io::Result<Hash> {
        const BUFFER_BYTES: u64 = 64 << 10;
        let mut hasher = blake3::Hasher::new();
        let mut read = 0;
        while read < length {
            let bytes = self.read_at(offset + read, BUFFER_BYTES.min(length - read))?;
            if bytes.is_empty() {
                break;
            }
            hasher.update(&bytes);
            read += bytes.len() as u64;
        }
        Ok(*hasher.finalize().as_bytes())
    }
}

/// Reads `length` bytes at an offset, or fewer at the end of the file.
pub(crate) fn read_at(file: &File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_into(&mut bytes, file, offset, length)?;
    Ok(bytes)
}

/// Like [`read_at`], into a buffer that is reused.
fn read_into(bytes: &mut Vec<u8>, file: &File, offset: u64, length: u64) -> io::Result<()> {
    let length = usize::try_from(length).map_err(io::Error::other)?;
    bytes.clear();
    bytes.reserve_exact(length);
    while bytes.len() < length {
        match append(file, bytes, offset) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // The capacity may be larger than requested.
    bytes.truncate(length);
    Ok(())
}

/// Two per thread: one section is read while another waits to be written.
const SPARE_BUFFERS: usize = 2;

thread_local! {
    /// Buffers of dropped sections, for reuse: allocating one of this size is a system call.
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Appends bytes of a file to those that were read from `offset` on, up to the capacity of the buffer, without zeroing it.
#[cfg(unix)]
fn append(file: &File, bytes: &mut Vec<u8>, offset: u64) -> io::Result<usize> {
    let offset = offset + bytes.len() as u64;
    let spare = rustix::buffer::spare_capacity(bytes);
    Ok(rustix::io::pread(file, spare, offset)?)
}

/// Appends bytes of a file to those that were read from `offset` on, up to the capacity of the buffer.
#[cfg(windows)]
fn append(file: &File, bytes: &mut Vec<u8>, offset: u64) -> io::Result<usize> {
    let filled = bytes.len();
    bytes.resize(bytes.capacity(), 0);
    let offset = offset + filled as u64;
    let read = std::os::windows::fs::FileExt::seek_read(file, &mut bytes[filled..], offset);
    bytes.truncate(filled + read.as_ref().map_or(0, |count| *count));
    read
}

impl ArchivedFile {
    fn read_at(&self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let end = offset + length;
        let mut range = Vec::new();
        for position in offset / CHUNK_BYTES..end.div_ceil(CHUNK_BYTES) {
            let (content, byte_length) = {
                // The lock is held for the query only, so that threads decompress in parallel.
                let connection = self.connection.lock();
                let connection = connection
                    .map_err(|_| io::Error::other("a thread panicked while it read the archive"))?;
                archive::find(&connection, self.file_id, position)?
            };
            let chunk = archive::unpack(&content, byte_length)?;
            let expected = self.hashes.get(position as usize);
            if expected.is_some_and(|expected| archive::hash(&chunk) != *expected) {
                let message = "its archived bytes are damaged: they do not match their hash";
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            range.extend_from_slice(archive::slice(&chunk, position, offset, end));
        }
        Ok(range)
    }
}

/// How many bytes before a chunk are read with it. Most lines that cross into a chunk start within them.
const HEAD_BYTES: u64 = 1 << 16;

/// Reads chunk `position` of a file of `size` bytes, of which the first `parsed` are already in the tables.
pub fn read_section(bytes: &Bytes, position: u64, size: u64, parsed: u64) -> io::Result<Section> {
    let chunk_offset = position * CHUNK_BYTES;
    let wanted = CHUNK_BYTES.min(size - chunk_offset);
    let head = chunk_offset.saturating_sub(parsed).min(HEAD_BYTES);
    let mut buffer_offset = chunk_offset - head;
    let mut buffer = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
    match bytes {
        Bytes::File(file) => read_into(&mut buffer, file, buffer_offset, head + wanted)?,
        Bytes::Archive(file) | Bytes::Other(file) => {
            buffer = file.read_at(buffer_offset, head + wanted)?;
        }
    }
    if (buffer.len() as u64) < head {
        buffer_offset = chunk_offset;
        buffer.clear();
    }
    let mut chunk_start = (chunk_offset - buffer_offset) as usize;
    let chunk = &buffer[chunk_start..];
    // If the file shrank since the discovery, it ends here, and the next sync reads it as rewritten.
    let is_last = chunk_offset + chunk.len() as u64 >= size || (chunk.len() as u64) < wanted;
    let unparsed = parsed.saturating_sub(chunk_offset) as usize;
    let has_end = is_last || memchr(b'\n', &chunk[unparsed..]).is_some();
    let mut first_line = chunk_start;
    if has_end && parsed < chunk_offset {
        match memrchr(b'\n', &buffer[..chunk_start]) {
            Some(newline) => first_line = newline + 1,
            None => {
                let before = line_head(bytes, parsed, buffer_offset)?;
                chunk_start += before.len();
                buffer_offset -= before.len() as u64;
                buffer.splice(..0, before);
                first_line = 0;
            }
        }
    } else if parsed > chunk_offset {
        first_line = unparsed;
    }
    let line_offset = buffer_offset + first_line as u64;
    let is_continued =
        line_offset == parsed && parsed > 0 && bytes.read_at(parsed - 1, 1)? != b"\n";
    Ok(Section {
        buffer,
        buffer_offset,
        chunk_start,
        first_line,
        is_continued,
        is_last,
    })
}

/// The start of the line that crosses `offset`: the bytes after the newline before it, or after `parsed`. It searches backwards
/// chunk by chunk, so that memory is bounded by the line and not by the file.
fn line_head(bytes: &Bytes, parsed: u64, offset: u64) -> io::Result<Vec<u8>> {
    let mut from = offset;
    while from > parsed {
        let end = from;
        from = end.saturating_sub(CHUNK_BYTES).max(parsed);
        let before = bytes.read_at(from, end - from)?;
        if let Some(newline) = memrchr(b'\n', &before) {
            from += newline as u64 + 1;
            break;
        }
    }
    bytes.read_at(from, offset - from)
}

impl Drop for Section {
    /// Returns the buffer for reuse, unless a long line made it large.
    fn drop(&mut self) {
        if self.buffer.capacity() as u64 <= CHUNK_BYTES + HEAD_BYTES {
            let buffer = std::mem::take(&mut self.buffer);
            SPARE.with_borrow_mut(|spare| {
                if spare.len() < SPARE_BUFFERS {
                    spare.push(buffer);
                }
            });
        }
    }
}

impl Section {
    /// A section of the last line of a file, which has no newline: its bytes at an offset, and the byte before that.
    pub fn of_last_line(bytes: Vec<u8>, offset: u64, before: Option<u8>) -> Section {
        Section {
            buffer: bytes,
            buffer_offset: offset,
            chunk_start: 0,
            first_line: 0,
            is_continued: before.is_some_and(|byte| byte != b'\n'),
            is_last: true,
        }
    }

    pub fn chunk(&self) -> &[u8] {
        &self.buffer[self.chunk_start..]
    }

    /// The offset in the file at which the chunk ends.
    pub fn end_offset(&self) -> u64 {
        self.buffer_offset + self.buffer.len() as u64
    }

    /// The lines that end in the chunk. The last chunk of a file also has what follows the last newline.
    pub fn lines<'a>(&'a self, arena: Option<&'a Bump>) -> impl Iterator<Item = Line<'a>> {
        let mut start = self.first_line;
        let mut is_continued = self.is_continued;
        std::iter::from_fn(move || {
            let rest = self.buffer.get(start..).filter(|rest| !rest.is_empty())?;
            let (bytes, is_complete) = match memchr(b'\n', rest) {
                Some(newline) => (&rest[..newline], true),
                None if self.is_last => (rest, false),
                None => return None,
            };
            let mut line = Line {
                offset: self.buffer_offset + start as u64,
                bytes,
                is_complete,
                is_continued,
                arena,
            };
            if line.offset == 0
                && let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf")
            {
                line.offset = 3;
                line.bytes = rest;
            }
            start += bytes.len() + 1;
            is_continued = false;
            Some(line)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(content: &[u8]) -> Bytes {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        Bytes::File(file)
    }

    /// The lines of a file from `parsed` on: offset, bytes, `is_complete`, `is_continued`.
    fn lines(content: &[u8], parsed: u64) -> Vec<(u64, Vec<u8>, bool, bool)> {
        let bytes = file(content);
        let size = content.len() as u64;
        let mut found = Vec::new();
        for position in parsed / CHUNK_BYTES..size.div_ceil(CHUNK_BYTES) {
            let section = read_section(&bytes, position, size, parsed).unwrap();
            let from = (position * CHUNK_BYTES) as usize;
            assert_eq!(
                section.chunk(),
                &content[from..section.end_offset() as usize]
            );
            for line in section.lines(None) {
                found.push((
                    line.offset,
                    line.bytes.to_vec(),
                    line.is_complete,
                    line.is_continued,
                ));
            }
        }
        found
    }

    #[test]
    fn lines_are_split_at_newline_bytes_only() {
        let content = "a\u{2028}b\rc\n\nd".as_bytes();
        let lines: Vec<Vec<u8>> = lines(content, 0).into_iter().map(|line| line.1).collect();
        assert_eq!(lines, [&b"a\xe2\x80\xa8b\rc"[..], b"", b"d"]);
    }

    #[test]
    fn a_line_across_chunks_belongs_to_the_chunk_it_ends_in() {
        let long = vec![b'x'; 3 * CHUNK_BYTES as usize];
        let content = [&b"first\n"[..], &long, b"\nlast"].concat();
        let found = lines(&content, 0);
        assert_eq!(found.len(), 3);
        assert_eq!(found[1].0, 6);
        assert!(found[1].1 == long);
        assert_eq!(found[2].1, b"last");
        assert!(!found[2].2);
    }

    #[test]
    fn reading_resumes_where_it_stopped() {
        let content = b"{\"a\":1}{\"b\":2}\n{\"c\":3}\n";
        let found = lines(content, 7);
        assert_eq!(found[0], (7, b"{\"b\":2}".to_vec(), true, true));
        assert_eq!(found[1], (15, b"{\"c\":3}".to_vec(), true, false));
        assert!(!lines(content, 15)[0].3);
    }

    #[test]
    fn a_byte_order_mark_is_skipped_at_the_start_only() {
        let found = lines(b"\xef\xbb\xbf{}\n\xef\xbb\xbf{}\n", 0);
        assert_eq!((found[0].0, found[0].1.as_slice()), (3, &b"{}"[..]));
        assert_eq!(found[1].1, b"\xef\xbb\xbf{}");
    }
}
