//! Writes cells in ascending order to the pages of a B-tree: <https://sqlite.org/fileformat2.html>.
//!
//! A full leaf page is appended to the file; the interior pages follow after all leaves. The root stays on the page that SQLite
//! assigned, so the schema does not change.

use super::record::{put_varint, varint_length};
use super::write_at;
use std::fs::File;
use std::io;
use std::sync::{Mutex, MutexGuard};

/// The page size of a database that can be filled.
pub const PAGE_BYTES: usize = 8192;

/// The page with the bytes that SQLite locks, which is never used.
const LOCK_PAGE: u32 = (0x4000_0000 / PAGE_BYTES + 1) as u32;

/// Pages are flushed when this many bytes are buffered.
const WRITE_BYTES: usize = 1 << 17;

pub const TABLE_LEAF: u8 = 0x0d;
const TABLE_INNER: u8 = 0x05;
pub const INDEX_LEAF: u8 = 0x0a;
const INDEX_INNER: u8 = 0x02;

/// A database file to append pages to.
pub struct PageFile {
    file: File,
    /// Buffered pages; the last one may be incomplete.
    buffer: Vec<u8>,
    /// The number of the page after the buffered ones.
    next: u32,
}

impl PageFile {
    /// Appends to a database with a number of pages.
    pub fn new(file: File, page_count: u32) -> PageFile {
        PageFile {
            file,
            buffer: Vec::with_capacity(WRITE_BYTES + PAGE_BYTES),
            next: page_count + 1,
        }
    }

    /// Starts a page and returns its number.
    fn begin(&mut self) -> io::Result<u32> {
        if self.buffer.len() >= WRITE_BYTES {
            self.flush()?;
        }
        if self.next == LOCK_PAGE {
            self.buffer.resize(self.buffer.len() + PAGE_BYTES, 0);
            self.next += 1;
        }
        let number = self.next;
        let full = || io::Error::from(io::ErrorKind::FileTooLarge);
        self.next = number.checked_add(1).ok_or_else(full)?;
        Ok(number)
    }

    fn add(&mut self, page: &[u8]) -> io::Result<u32> {
        let number = self.begin()?;
        self.buffer.extend_from_slice(page);
        Ok(number)
    }

    /// The number of the page that is started next.
    fn upcoming(&self) -> u32 {
        match self.next {
            LOCK_PAGE => LOCK_PAGE + 1,
            next => next,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let first = self.next as u64 - 1 - (self.buffer.len() / PAGE_BYTES) as u64;
        write_at(&self.file, &self.buffer, first * PAGE_BYTES as u64)?;
        self.buffer.clear();
        Ok(())
    }

    /// Overwrites a page.
    fn replace(&mut self, number: u32, page: &[u8]) -> io::Result<()> {
        let offset = u64::from(number - 1) * PAGE_BYTES as u64;
        write_at(&self.file, page, offset)
    }

    /// Flushes the buffer, and writes the number of pages to the header of the database.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        write_at(&self.file, &(self.next - 1).to_be_bytes(), 28)
    }
}

/// A page that is being filled: an array of pointers grows from its head, the cells from its end.
struct Page {
    bytes: Vec<u8>,
    head: usize,
    cells: usize,
    /// The start of the cells.
    start: usize,
}

impl Page {
    fn new(kind: u8) -> Page {
        let mut page = Page {
            bytes: vec![0; PAGE_BYTES],
            head: if matches!(kind, TABLE_LEAF | INDEX_LEAF) {
                8
            } else {
                12
            },
            cells: 0,
            start: PAGE_BYTES,
        };
        page.bytes[0] = kind;
        page
    }

    fn has_room(&self, length: usize) -> bool {
        self.head + 2 * (self.cells + 1) + length.max(4) <= self.start
    }

    /// Allocates a cell. A cell has at least four bytes in SQLite.
    fn cell(&mut self, length: usize) -> &mut [u8] {
        self.start -= length.max(4);
        let pointer = self.head + 2 * self.cells;
        self.bytes[pointer..pointer + 2].copy_from_slice(&(self.start as u16).to_be_bytes());
        self.cells += 1;
        let cell = &mut self.bytes[self.start..];
        if length < 4 {
            cell[..4].fill(0);
        }
        &mut cell[..length]
    }

    /// Removes the last cell and returns it.
    fn pop(&mut self) -> Vec<u8> {
        let pointer = self.head + 2 * (self.cells - 1);
        let end = match self.cells {
            1 => PAGE_BYTES,
            _ => usize::from(u16::from_be_bytes([
                self.bytes[pointer - 2],
                self.bytes[pointer - 1],
            ])),
        };
        let cell = self.bytes[self.start..end].to_vec();
        self.start = end;
        self.cells -= 1;
        cell
    }

    /// Completes the page: writes its header, and zeros between pointers and cells.
    fn finished(&mut self) -> &[u8] {
        self.bytes[self.head + 2 * self.cells..self.start].fill(0);
        self.bytes[3..5].copy_from_slice(&(self.cells as u16).to_be_bytes());
        self.bytes[5..7].copy_from_slice(&(self.start as u16).to_be_bytes());
        &self.bytes
    }

    /// Empties the page.
    fn clear(&mut self) {
        self.cells = 0;
        self.start = PAGE_BYTES;
    }
}

/// The number of bytes of a record in its cell, of at most `most`; the rest is in overflow pages.
fn local_length(length: usize, most: usize) -> usize {
    let least = (PAGE_BYTES - 12) * 32 / 255 - 23;
    let surplus = least + length.saturating_sub(least) % (PAGE_BYTES - 4);
    match (length <= most, surplus <= most) {
        (true, _) => length,
        (_, true) => surplus,
        _ => least,
    }
}

/// Writes the bytes of a record, first to its cell, then to overflow pages.
pub struct Payload<'a> {
    file: &'a mut PageFile,
    /// The part of the cell that is not filled yet.
    local: &'a mut [u8],
    /// Bytes for overflow pages that are not written yet.
    rest: usize,
    /// Free bytes of the current overflow page.
    room: usize,
    failed: Option<io::Error>,
}

impl Payload<'_> {
    /// Appends bytes.
    pub fn write(&mut self, mut bytes: &[u8]) {
        let length = bytes.len().min(self.local.len());
        let (now, later) = std::mem::take(&mut self.local).split_at_mut(length);
        now.copy_from_slice(&bytes[..length]);
        self.local = later;
        bytes = &bytes[length..];
        while !bytes.is_empty() && self.failed.is_none() {
            if self.room == 0
                && let Err(error) = self.begin_page()
            {
                self.failed = Some(error);
                return;
            }
            let length = bytes.len().min(self.room);
            self.file.buffer.extend_from_slice(&bytes[..length]);
            self.room -= length;
            self.rest -= length;
            bytes = &bytes[length..];
        }
    }

    fn begin_page(&mut self) -> io::Result<()> {
        self.file.begin()?;
        self.room = PAGE_BYTES - 4;
        let next = match self.rest > self.room {
            true => self.file.upcoming(),
            false => 0,
        };
        self.file.buffer.extend_from_slice(&next.to_be_bytes());
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        let filled = self.file.buffer.len() + self.room;
        self.file.buffer.resize(filled, 0);
        match self.failed {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// Adds a cell to a page with enough free space: the prefix of the cell, the local part of the record, and the number of its
/// first overflow page.
fn put_record(
    page: &mut Page,
    file: &mut PageFile,
    front: &[u8],
    length: usize,
    local: usize,
    write: impl FnOnce(&mut Payload<'_>),
) -> io::Result<()> {
    let cell = page.cell(cell_length(front.len(), length, local));
    cell[..front.len()].copy_from_slice(front);
    let (start, end) = cell[front.len()..].split_at_mut(local);
    if length > local {
        end.copy_from_slice(&file.upcoming().to_be_bytes());
    }
    let mut payload = Payload {
        file,
        local: start,
        rest: length - local,
        room: 0,
        failed: None,
    };
    write(&mut payload);
    payload.finish()
}

/// The length of a cell, including the number of the first overflow page, if any.
fn cell_length(front: usize, length: usize, local: usize) -> usize {
    front + local + if length > local { 4 } else { 0 }
}

/// Pages of one level of a tree, and the cells between them.
#[derive(Default)]
struct Children {
    pages: Vec<u32>,
    /// One fewer than pages: the cells without page numbers.
    dividers: Vec<Vec<u8>>,
}

impl Children {
    /// Writes the upper levels, up to the root.
    fn finish(mut self, file: &mut PageFile, kind: u8, root: u32) -> io::Result<()> {
        loop {
            let mut page = Page::new(kind);
            let mut above = Children::default();
            let groups = self.groups();
            let is_root = groups.len() == 1;
            let mut first = 0;
            for end in groups {
                for index in first..end - 1 {
                    let divider = &self.dividers[index];
                    let cell = page.cell(4 + divider.len());
                    cell[..4].copy_from_slice(&self.pages[index].to_be_bytes());
                    cell[4..].copy_from_slice(divider);
                }
                page.bytes[8..12].copy_from_slice(&self.pages[end - 1].to_be_bytes());
                if is_root {
                    return file.replace(root, page.finished());
                }
                above.pages.push(file.add(page.finished())?);
                if end < self.pages.len() {
                    above
                        .dividers
                        .push(std::mem::take(&mut self.dividers[end - 1]));
                }
                page.clear();
                first = end;
            }
            self = above;
        }
    }

    /// The ends of the groups of pages with a common parent. A group has at least two pages.
    fn groups(&self) -> Vec<usize> {
        let mut ends = Vec::new();
        let mut used = 12;
        let mut first = 0;
        for index in 1..self.pages.len() {
            // The cell before this page is in the same parent.
            let length = 2 + (4 + self.dividers[index - 1].len()).max(4);
            if used + length > PAGE_BYTES && index > first + 1 {
                ends.push(index);
                first = index;
                used = 12;
            } else {
                used += length;
            }
        }
        if self.pages.len() - first == 1
            && let Some(last) = ends.last_mut()
        {
            *last -= 1;
        }
        ends.push(self.pages.len());
        ends
    }
}

/// The B-tree of a table, written in the order of its rowids.
pub struct TableTree {
    leaf: Page,
    children: Children,
    last_rowid: i64,
    front: Vec<u8>,
}

impl TableTree {
    /// An empty table.
    pub fn new() -> TableTree {
        TableTree {
            leaf: Page::new(TABLE_LEAF),
            children: Children::default(),
            last_rowid: 0,
            front: Vec::new(),
        }
    }

    /// Adds a record of a given length, whose bytes `write` supplies. Its rowid must be greater than the one before.
    pub fn add(
        &mut self,
        file: &mut PageFile,
        rowid: i64,
        length: usize,
        write: impl FnOnce(&mut Payload<'_>),
    ) -> io::Result<()> {
        let local = local_length(length, PAGE_BYTES - 35);
        self.front.clear();
        put_varint(&mut self.front, length as u64);
        put_varint(&mut self.front, rowid.cast_unsigned());
        if !self
            .leaf
            .has_room(cell_length(self.front.len(), length, local))
        {
            self.children.pages.push(file.add(self.leaf.finished())?);
            let mut divider = Vec::with_capacity(varint_length(self.last_rowid.cast_unsigned()));
            put_varint(&mut divider, self.last_rowid.cast_unsigned());
            self.children.dividers.push(divider);
            self.leaf.clear();
        }
        self.last_rowid = rowid;
        put_record(&mut self.leaf, file, &self.front, length, local, write)
    }

    /// Writes the remaining pages and the root.
    pub fn finish(mut self, file: &mut PageFile, root: u32) -> io::Result<()> {
        if self.children.pages.is_empty() {
            return file.replace(root, self.leaf.finished());
        }
        self.children.pages.push(file.add(self.leaf.finished())?);
        self.children.finish(file, TABLE_INNER, root)
    }
}

/// The B-tree of an index, written in the order of its keys. Several indexes can be written to one file concurrently.
pub struct IndexTree {
    leaf: Page,
    /// The previous leaf, and the cell between both leaves.
    held: Option<(Page, Vec<u8>)>,
    children: Children,
    cell: Vec<u8>,
}

impl IndexTree {
    /// An empty index.
    pub fn new() -> IndexTree {
        IndexTree {
            leaf: Page::new(INDEX_LEAF),
            held: None,
            children: Children::default(),
            cell: Vec::new(),
        }
    }

    /// Adds a record, which must sort after those before.
    pub fn add(&mut self, file: &Mutex<PageFile>, record: &[u8]) -> io::Result<()> {
        let local = local_length(record.len(), (PAGE_BYTES - 12) * 64 / 255 - 23);
        self.cell.clear();
        put_varint(&mut self.cell, record.len() as u64);
        self.cell.extend_from_slice(&record[..local]);
        if local < record.len() {
            let mut file = lock(file);
            self.cell.extend_from_slice(&file.upcoming().to_be_bytes());
            let mut payload = Payload {
                file: &mut file,
                local: &mut [],
                rest: record.len() - local,
                room: 0,
                failed: None,
            };
            payload.write(&record[local..]);
            payload.finish()?;
        }
        if self.leaf.has_room(self.cell.len()) {
            let length = self.cell.len();
            self.leaf.cell(length).copy_from_slice(&self.cell);
            return Ok(());
        }
        let next = match self.held.take() {
            Some((mut page, divider)) => {
                self.children.pages.push(lock(file).add(page.finished())?);
                self.children.dividers.push(divider);
                page.clear();
                page
            }
            None => Page::new(INDEX_LEAF),
        };
        let full = std::mem::replace(&mut self.leaf, next);
        self.held = Some((full, self.cell.clone()));
        Ok(())
    }

    /// Writes the remaining pages and the root.
    pub fn finish(mut self, file: &Mutex<PageFile>, root: u32) -> io::Result<()> {
        let mut file = lock(file);
        let Some((mut page, mut divider)) = self.held else {
            return file.replace(root, self.leaf.finished());
        };
        // A leaf must not be empty.
        if self.leaf.cells == 0 {
            self.leaf.cell(divider.len()).copy_from_slice(&divider);
            divider = page.pop();
        }
        self.children.pages.push(file.add(page.finished())?);
        self.children.dividers.push(divider);
        self.children.pages.push(file.add(self.leaf.finished())?);
        self.children.finish(&mut file, INDEX_INNER, root)
    }
}

/// Locks the file.
fn lock(file: &Mutex<PageFile>) -> MutexGuard<'_, PageFile> {
    file.lock().expect("no thread panics while it adds pages")
}
