//! Words in their order, with the texts they stand in -> the pages of a segment of FTS5.

use crate::database::sqlite_file::records::{put_varint, take_varint};
use std::io;

/// A page of the segment is full with so many bytes. Who reads it need not know.
const PAGE_BYTES: usize = if cfg!(test) { 200 } else { 4050 };

/// A word whose texts fill so many pages behind its own has an index of them.
const LISTED_PAGES: u64 = 4;

/// The number of the segment: there is one.
pub const SEGMENT: i64 = 1;

/// A segment that is being written, word by word.
pub struct Segment<W, D> {
    write: W,
    divide: D,
    /// The page that is being filled: where its first text begins, where its words are listed, and what is in it.
    pub page: Vec<u8>,
    /// Where its words stand: each as the distance from the one before.
    marks: Vec<u8>,
    last_mark: usize,
    /// Its number.
    number: u64,
    /// The last word.
    pub word: Vec<u8>,
    /// Whether the page has a text that is not the first of a word which begins in it.
    has_text: bool,
    is_first_text: bool,
    last_text: i64,
    /// The last page that begins with a word, if what leads to it is not written, and the beginning of the word.
    divided: Option<u64>,
    divider: Vec<u8>,
    /// Pages since then in which no word begins.
    pages_of_word: u64,
    /// The texts that these pages begin with, and the levels above.
    levels: Vec<Level>,
    /// Pages of such lists, which stand behind all others.
    lists: Vec<(i64, Vec<u8>)>,
}

/// A level of the index of the texts of one word.
#[derive(Default)]
struct Level {
    page: Vec<u8>,
    number: u64,
    last_text: Option<i64>,
}

impl<W, D> Segment<W, D>
where
    W: FnMut(i64, &[u8]) -> io::Result<()>,
    D: FnMut(i64, &[u8], i64) -> io::Result<()>,
{
    pub fn new(write: W, divide: D) -> Self {
        Segment {
            write,
            divide,
            page: vec![0; 4],
            marks: Vec::new(),
            last_mark: 0,
            number: 1,
            word: Vec::new(),
            has_text: false,
            is_first_text: false,
            last_text: 0,
            divided: Some(1),
            divider: Vec::new(),
            pages_of_word: 0,
            levels: vec![Level::default()],
            lists: Vec::new(),
        }
    }

    fn used(&self) -> usize {
        self.page.len() + self.marks.len()
    }

    pub fn begin_word(&mut self, word: &[u8]) -> io::Result<()> {
        if self.used() + word.len() + 2 >= PAGE_BYTES && self.page.len() > 4 {
            self.end_page()?;
        }
        let shared = self.word.iter().zip(word).take_while(|(a, b)| a == b);
        let mut shared = shared.count();
        let is_first = self.marks.is_empty();
        put_varint(&mut self.marks, (self.page.len() - self.last_mark) as u64);
        self.last_mark = self.page.len();
        if !is_first {
            put_varint(&mut self.page, shared as u64);
        } else {
            if self.number > 1 {
                self.end_list()?;
                self.divider.clear();
                self.divider.extend_from_slice(&word[..shared + 1]);
                self.divided = Some(self.number);
            }
            shared = 0;
        }
        put_varint(&mut self.page, (word.len() - shared) as u64);
        self.page.extend_from_slice(&word[shared..]);
        self.word.clear();
        self.word.extend_from_slice(word);
        self.has_text = true;
        self.is_first_text = true;
        self.levels[0].number = self.number;
        Ok(())
    }

    pub fn begin_text(&mut self, id: i64) -> io::Result<()> {
        if self.used() >= PAGE_BYTES {
            self.end_page()?;
        }
        if !self.has_text {
            let place = self.page.len() as u16;
            self.page[..2].copy_from_slice(&place.to_be_bytes());
            self.list_text(id);
        }
        let number = match self.is_first_text || !self.has_text {
            true => id,
            false => id - self.last_text,
        };
        put_varint(&mut self.page, number.cast_unsigned());
        self.last_text = id;
        self.is_first_text = false;
        self.has_text = true;
        Ok(())
    }

    /// Adds positions, which may go on in the next page, but none of them in two.
    pub fn add_positions(&mut self, mut positions: &[u8]) -> io::Result<()> {
        while self.used() + positions.len() >= PAGE_BYTES {
            let room = PAGE_BYTES.saturating_sub(self.used());
            let mut rest = positions;
            while positions.len() - rest.len() < room {
                take_varint(&mut rest);
            }
            let fitting = positions.len() - rest.len();
            self.page.extend_from_slice(&positions[..fitting]);
            positions = rest;
            self.end_page()?;
        }
        self.page.extend_from_slice(positions);
        Ok(())
    }

    fn end_page(&mut self) -> io::Result<()> {
        let length = self.page.len() as u16;
        self.page[2..4].copy_from_slice(&length.to_be_bytes());
        if self.marks.is_empty() {
            if !self.has_text && !self.levels[0].page.is_empty() {
                self.levels[0].page.push(0);
            }
            self.pages_of_word += 1;
        }
        self.page.extend_from_slice(&self.marks);
        (self.write)(key(false, 0, self.number), &self.page)?;
        self.page.clear();
        self.page.extend_from_slice(&[0; 4]);
        self.marks.clear();
        self.last_mark = 0;
        self.number += 1;
        self.has_text = false;
        Ok(())
    }

    /// Notes the first text of a page that goes on with a word, in as many levels as it takes.
    fn list_text(&mut self, id: i64) {
        for index in 0.. {
            let level = &mut self.levels[index];
            let is_full = level.page.len() >= PAGE_BYTES;
            if is_full {
                level.page[0] = 1; // there is a level above
                let page = std::mem::take(&mut level.page);
                let number = level.number;
                level.number += 1;
                level.last_text = None;
                if self.levels.len() == index + 1 {
                    self.levels.push(Level::default());
                }
                let above = &mut self.levels[index + 1];
                if above.page.is_empty() {
                    let mut rest = &page[1..];
                    take_varint(&mut rest);
                    let first = take_varint(&mut rest);
                    above.number = number;
                    for value in [0, number, first] {
                        put_varint(&mut above.page, value);
                    }
                    above.last_text = Some(first.cast_signed());
                }
                self.lists.push((key(true, index, number), page));
            }
            let below = match index {
                0 => self.number,
                _ => self.levels[index - 1].number,
            };
            let level = &mut self.levels[index];
            let number = match level.last_text {
                Some(last) => id - last,
                None => {
                    level.page.push(u8::from(is_full));
                    put_varint(&mut level.page, below);
                    id
                }
            };
            put_varint(&mut level.page, number.cast_unsigned());
            level.last_text = Some(id);
            if !is_full {
                return;
            }
        }
    }

    /// Writes what leads to the last page that begins with a word, now that it is known how many follow it.
    fn end_list(&mut self) -> io::Result<()> {
        let Some(number) = self.divided.take() else {
            return Ok(());
        };
        let is_listed = !self.levels[0].page.is_empty() && self.pages_of_word >= LISTED_PAGES;
        for (index, level) in self.levels.iter_mut().enumerate() {
            let page = std::mem::take(&mut level.page);
            level.last_text = None;
            if is_listed && !page.is_empty() {
                self.lists.push((key(true, index, level.number), page));
            }
        }
        self.pages_of_word = 0;
        let page = (number << 1 | u64::from(is_listed)).cast_signed();
        (self.divide)(SEGMENT, &self.divider, page)
    }

    /// Writes the rest, and returns how many pages the words are in.
    pub fn finish(mut self) -> io::Result<u64> {
        if self.page.len() > 4 {
            self.end_page()?;
        }
        let pages = self.number - 1;
        if pages > 0 {
            self.end_list()?;
        }
        self.lists.sort_by_key(|(key, _)| *key);
        for (key, page) in &self.lists {
            (self.write)(*key, page)?;
        }
        Ok(pages)
    }
}

/// The key of a page of the segment: of its words, or of a list of texts at a level.
fn key(is_list: bool, level: usize, number: u64) -> i64 {
    SEGMENT << 37 | i64::from(is_list) << 36 | (level as i64) << 31 | number.cast_signed()
}
