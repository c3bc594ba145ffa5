//! A source file -> its lines, chunk by chunk.
//!
//! The unit of work is a chunk of the archive, so that one large file keeps every core busy. A chunk's lines are those
//! that *end* in it: when chunk `n` is written, everything up to its last newline can be rows, and what is behind is an
//! incomplete last line, just as if the file had been cut there.

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

/// Where the bytes of a file come from.
pub enum Bytes {
    /// The file itself.
    File(File),
    /// The archive.
    Archive(ArchivedFile),
}

/// A file as the archive keeps it.
pub struct ArchivedFile {
    /// A connection that only reads.
    pub connection: Arc<Mutex<Connection>>,
    /// The file.
    pub file_id: i64,
}

/// A chunk of a file with the lines that end in it.
pub struct Section {
    buffer: Vec<u8>,
    /// Where in the file the buffer begins.
    buffer_offset: u64,
    /// Where in the buffer the chunk begins.
    chunk_start: usize,
    /// Where in the buffer the first line begins.
    first_line: usize,
    /// Whether the first line goes on behind records that are known already.
    is_continued: bool,
    /// Whether the file ends with this chunk.
    pub is_last: bool,
}

/// A line, or what is there of the last one.
pub struct Line<'a> {
    /// Where it begins in the file.
    pub offset: u64,
    /// Its bytes without the newline, and without a byte order mark.
    pub bytes: &'a [u8],
    /// Whether it has its newline.
    pub is_complete: bool,
    /// Whether records of it are known already: a newline was missing when it was last read.
    pub is_continued: bool,
    /// Where its texts go without their escapes; each has memory of its own without it.
    pub texts: Option<&'a Bump>,
}

/// Opens a source file, unless something else has taken its place: a link would lead elsewhere, a pipe never end.
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
        false => Err(io::Error::other("no longer a file")),
    }
}

impl Bytes {
    /// Reads from an offset, up to a length: less only where the file ends.
    pub fn read_at(&self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        match self {
            Bytes::File(file) => read_at(file, offset, length),
            Bytes::Archive(file) => file.read_at(offset, length),
        }
    }

    /// What the file system says of the file that is open; nothing of the archive.
    pub fn stat(&self) -> io::Result<Option<Stat>> {
        match self {
            Bytes::File(file) => Ok(Some(Stat::of(&file.metadata()?))),
            Bytes::Archive(_) => Ok(None),
        }
    }

    /// Whether the file begins with chunks of these lengths and hashes.
    pub fn begin_with(&self, chunks: &[(u64, Hash)]) -> io::Result<bool> {
        let is_same = |(position, (length, hash)): (usize, &(u64, Hash))| {
            let found = self.hash_at(position as u64 * CHUNK_BYTES, *length)?;
            Ok(found == *hash)
        };
        let chunks = chunks.par_iter().enumerate();
        chunks.map(is_same).try_reduce(|| true, |a, b| Ok(a && b))
    }

    /// The hash of a part of a file, as [`archive::hash`] computes it. It is read in small pieces, which stay in the
    /// processor's cache.
    fn hash_at(&self, offset: u64, length: u64) -> io::Result<Hash> {
        const PIECE_BYTES: u64 = 64 << 10;
        let mut hasher = blake3::Hasher::new();
        let mut read = 0;
        while read < length {
            let piece = self.read_at(offset + read, PIECE_BYTES.min(length - read))?;
            if piece.is_empty() {
                break;
            }
            hasher.update(&piece);
            read += piece.len() as u64;
        }
        Ok(*hasher.finalize().as_bytes())
    }
}

/// Reads a file from an offset, up to a length: less only where it ends.
pub fn read_at(file: &File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_into(&mut bytes, file, offset, length)?;
    Ok(bytes)
}

/// The same, into memory that may have been used before.
fn read_into(bytes: &mut Vec<u8>, file: &File, offset: u64, length: u64) -> io::Result<()> {
    let length = usize::try_from(length).map_err(io::Error::other)?;
    bytes.clear();
    bytes.reserve_exact(length);
    while bytes.len() < length {
        match read_on(file, bytes, offset) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // There may be more memory than was asked for.
    bytes.truncate(length);
    Ok(())
}

/// So much of it is kept: what is read, and what waits to be written meanwhile.
const SPARE_BUFFERS: usize = 2;

thread_local! {
    /// The memory of the last sections that a thread was done with: the system need not give it anew for each.
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Reads on behind the bytes that were read from an offset on, as far as there is memory for them, which is not zeroed before.
#[cfg(unix)]
fn read_on(file: &File, bytes: &mut Vec<u8>, offset: u64) -> io::Result<usize> {
    let offset = offset + bytes.len() as u64;
    let memory = rustix::buffer::spare_capacity(bytes);
    Ok(rustix::io::pread(file, memory, offset)?)
}

/// Reads on behind the bytes that were read from an offset on, as far as there is memory for them.
#[cfg(windows)]
fn read_on(file: &File, bytes: &mut Vec<u8>, offset: u64) -> io::Result<usize> {
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
                // Held for the query only: the threads unpack side by side.
                let connection = self.connection.lock();
                let connection =
                    connection.map_err(|_| io::Error::other("the archive's reader failed"))?;
                archive::find(&connection, self.file_id, position)?
            };
            let chunk = archive::unpack(&content, byte_length)?;
            range.extend_from_slice(archive::slice(&chunk, position, offset, end));
        }
        Ok(range)
    }
}

/// So many bytes before a chunk are read with it: most often the line that goes on in it begins there.
const HEAD_BYTES: u64 = 1 << 16;

/// Reads chunk `position` of a file of `size` bytes, of which `parsed` are rows already.
pub fn read_section(bytes: &Bytes, position: u64, size: u64, parsed: u64) -> io::Result<Section> {
    let chunk_offset = position * CHUNK_BYTES;
    let wanted = CHUNK_BYTES.min(size - chunk_offset);
    let head = chunk_offset.saturating_sub(parsed).min(HEAD_BYTES);
    let mut buffer_offset = chunk_offset - head;
    let mut buffer = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
    match bytes {
        Bytes::File(file) => read_into(&mut buffer, file, buffer_offset, head + wanted)?,
        Bytes::Archive(file) => buffer = file.read_at(buffer_offset, head + wanted)?,
    }
    if (buffer.len() as u64) < head {
        buffer_offset = chunk_offset;
        buffer.clear();
    }
    let mut chunk_start = (chunk_offset - buffer_offset) as usize;
    let chunk = &buffer[chunk_start..];
    // A file that shrank meanwhile ends here; the next sync will see it rewritten.
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

/// The bytes before an offset that belong to the line at it: back to a newline, or to what is parsed. No more than the line
/// is in memory at once, however much stands before it.
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
    /// Keeps the memory, unless a long line made it large.
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
    /// The last line of a file, which has no newline: its bytes from an offset on, and the byte before these.
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

    /// The bytes of the chunk.
    pub fn chunk(&self) -> &[u8] {
        &self.buffer[self.chunk_start..]
    }

    /// Where the chunk ends in the file.
    pub fn end_offset(&self) -> u64 {
        self.buffer_offset + self.buffer.len() as u64
    }

    /// The lines that end in the chunk; with the last chunk also what stands behind the last newline.
    pub fn lines<'a>(&'a self, texts: Option<&'a Bump>) -> impl Iterator<Item = Line<'a>> {
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
                texts,
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

    /// All lines of a file, read from `parsed` on: offset and bytes.
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
        let texts: Vec<Vec<u8>> = lines(content, 0).into_iter().map(|line| line.1).collect();
        assert_eq!(texts, [&b"a\xe2\x80\xa8b\rc"[..], b"", b"d"]);
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
    fn reading_goes_on_where_it_stopped() {
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
