//! Texts -> a search index of FTS5, without SQLite: what `insert into search` does, for all texts of a new database.
//!
//! Words are found as the tokenizer unicode61 finds them, gathered in runs, sorted, and written as one segment in the format
//! of FTS5, which `ext/fts5/fts5_index.c` of SQLite describes. What the tokenizer makes of a character beyond ASCII is asked
//! of SQLite, once for each.

mod segment;

use super::records::{put_varint, take_varint};
use super::sorter::{Sorter, Spill};
use foldhash::HashMap;
use rusqlite::Connection;
use segment::{SEGMENT, Segment};
use std::io;

/// So many characters of a text can be found.
const TEXT_CHARS: usize = 1_000_000;

/// So many bytes of a word can be found.
const WORD_BYTES: usize = 32_768;

/// So many words are sorted at once.
const RUN_WORDS: usize = if cfg!(test) { 1 << 12 } else { 1 << 19 };

/// What every word in the index begins with.
const WORD_MARK: u8 = b'0';

/// The segment is as if so many rounds of short ones had been merged into it: to merge the next few with it is not worth it.
const LEVEL: u64 = 3;

/// Whether a byte is a letter or a digit of ASCII: to look it up is quicker than to compare it with all that bounds them.
static IS_WORD: [bool; 256] = {
    let mut is_word = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        is_word[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    is_word
};

/// The words of texts, and where they stand.
#[derive(Default)]
pub struct Words {
    /// The numbers of the words of this run: of those of up to 8 bytes by these, as most are, of up to 16, and of longer
    /// ones. The smaller a table is, the more of it stays in the processor's cache.
    short: HashMap<u64, u32>,
    medium: HashMap<u128, u32>,
    long: HashMap<Box<[u8]>, u32>,
    /// How often each of them stands in this run.
    counts: Vec<u32>,
    /// The words of the texts of this run: the number of each, and its position in its text.
    places: Vec<(u32, u32)>,
    /// The texts of this run, and where their places end.
    texts: Vec<(i64, usize)>,
    /// For each word and run the texts it stands in, with the positions.
    lists: Sorter,
    run_count: u32,
    text_count: u64,
    word_count: u64,
    characters: Characters,
}

/// What goes into the rows of the index that are written last: how much is in it, and its segments.
pub struct Heads {
    /// The averages of the texts.
    pub averages: Vec<u8>,
    /// The structure of the index, without what it begins with: the number of the configuration.
    pub structure: Vec<u8>,
}

impl Words {
    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.text_count == 0
    }

    /// Adds the words of a text, and returns how many these are. Texts come in the order of their ids.
    pub fn add(&mut self, id: i64, text: &str, spill: &mut Spill) -> io::Result<u64> {
        let end = match text.len() > TEXT_CHARS {
            true => text.char_indices().nth(TEXT_CHARS).map(|(end, _)| end),
            false => None,
        };
        let count = self.read(end.map_or(text, |end| &text[..end]));
        self.texts.push((id, self.places.len()));
        self.text_count += 1;
        self.word_count += u64::from(count);
        if self.places.len() >= RUN_WORDS {
            self.end_run()?;
            self.lists.spill(spill)?;
        }
        Ok(u64::from(count))
    }

    /// Notes all words of a text.
    fn read(&mut self, text: &str) -> u32 {
        let bytes = text.as_bytes();
        let mut position = 0;
        let mut at = 0;
        while at < bytes.len() {
            let start = at;
            while bytes
                .get(at)
                .is_some_and(|byte| IS_WORD[usize::from(*byte)])
            {
                at += 1;
            }
            if bytes.get(at).is_some_and(|byte| !byte.is_ascii()) {
                let (word, end) = self.characters.word(&text[start..]);
                at = start + end;
                if let Some(word) = word {
                    self.note(&word, position);
                    position += 1;
                }
            } else {
                if at > start {
                    match (at - start, bytes[start..].first_chunk()) {
                        (length @ ..=8, Some(eight)) => {
                            self.note_short(plain_key(*eight, length), position);
                        }
                        _ => self.note(&bytes[start..at], position),
                    }
                    position += 1;
                }
                at += 1;
            }
        }
        position
    }

    /// Notes a word, whose letters of ASCII may be large ones.
    fn note(&mut self, word: &[u8], position: u32) {
        let next = self.counts.len() as u32;
        let mut key = [0; 16];
        for (letter, byte) in key.iter_mut().zip(word) {
            *letter = byte.to_ascii_lowercase();
        }
        let key = u128::from_be_bytes(key);
        let number = match word.len() {
            ..=8 => return self.note_short((key >> 64) as u64, position),
            9..=16 => *self.medium.entry(key).or_insert(next),
            length => {
                let word = word[..length.min(WORD_BYTES)].to_ascii_lowercase();
                *self.long.entry(word.into()).or_insert(next)
            }
        };
        self.note_number(number, position);
    }

    /// Notes a word by its bytes, which are small letters, and zeros behind them.
    fn note_short(&mut self, key: u64, position: u32) {
        let next = self.counts.len() as u32;
        let number = *self.short.entry(key).or_insert(next);
        self.note_number(number, position);
    }

    /// Notes a word by its number. That of a new one is the next.
    fn note_number(&mut self, number: u32, position: u32) {
        match self.counts.get_mut(number as usize) {
            Some(count) => *count += 1,
            None => self.counts.push(1),
        }
        self.places.push((number, position));
    }

    /// Gathers for each word where it stands.
    fn end_run(&mut self) -> io::Result<()> {
        // Where the places of each word begin; then, as they are filled, where they end.
        let mut ends = std::mem::take(&mut self.counts);
        let mut begin = 0;
        for end in &mut ends {
            let count = std::mem::replace(end, begin);
            begin += count;
        }
        let mut sorted = vec![(0, 0); self.places.len()];
        let mut from = 0;
        for (number, (_, to)) in (0..).zip(&self.texts) {
            for (word, position) in &self.places[from..*to] {
                let end = &mut ends[*word as usize];
                sorted[*end as usize] = (number, *position);
                *end += 1;
            }
            from = *to;
        }
        let texts = &self.texts;
        let run = self.run_count.to_be_bytes();
        let mut positions = Vec::new();
        let mut list = |word: &[u8], number: u32| {
            let number = number as usize;
            let begin = number.checked_sub(1).map_or(0, |before| ends[before]);
            let places = &sorted[begin as usize..ends[number] as usize];
            self.lists.add_with(|key| {
                key.push(WORD_MARK);
                key.extend_from_slice(word);
                key.push(0);
                key.extend_from_slice(&run);
                let mut previous = 0;
                for places in places.chunk_by(|a, b| a.0 == b.0) {
                    let (id, _) = texts[places[0].0 as usize];
                    put_varint(key, (id - previous).cast_unsigned());
                    previous = id;
                    put_positions(&mut positions, places);
                    put_varint(key, positions.len() as u64 * 2);
                    key.extend_from_slice(&positions);
                }
            });
        };
        for (key, number) in self.short.drain() {
            list(without_zeros(&key.to_be_bytes()), number);
        }
        for (key, number) in self.medium.drain() {
            list(without_zeros(&key.to_be_bytes()), number);
        }
        for (word, number) in self.long.drain() {
            list(&word, number);
        }
        self.places.clear();
        self.texts.clear();
        self.run_count += 1;
        Ok(())
    }

    /// Writes the segment: `write` gets its pages with their keys, which grow, and `divide` what leads to them.
    pub fn finish(
        mut self,
        spill: &Spill,
        write: impl FnMut(i64, &[u8]) -> io::Result<()>,
        divide: impl FnMut(i64, &[u8], i64) -> io::Result<()>,
    ) -> io::Result<Heads> {
        self.end_run()?;
        let mut segment = Segment::new(write, divide);
        self.lists.merge(spill, |key| {
            let end = memchr::memchr(0, key).expect("a word has its end");
            let (word, mut list) = (&key[..end], &key[end + 5..]);
            if word != segment.word {
                segment.begin_word(word)?;
            }
            let mut id = 0;
            while !list.is_empty() {
                id += take_varint(&mut list).cast_signed();
                let size = take_varint(&mut list);
                let (positions, rest) = list.split_at(size as usize / 2);
                list = rest;
                segment.begin_text(id)?;
                put_varint(&mut segment.page, size);
                segment.add_positions(positions)?;
            }
            Ok(())
        })?;
        let pages = segment.finish()?;
        let mut averages = Vec::new();
        put_varint(&mut averages, self.text_count);
        put_varint(&mut averages, self.word_count);
        let mut structure = Vec::new();
        let is_segment = u64::from(pages > 0);
        for number in [LEVEL + 1, is_segment, pages] {
            put_varint(&mut structure, number);
        }
        for level in 0..=LEVEL {
            let count = if level == LEVEL { is_segment } else { 0 };
            put_varint(&mut structure, 0); // none of them is being merged
            put_varint(&mut structure, count);
            if count > 0 {
                for number in [SEGMENT.cast_unsigned(), 1, pages] {
                    put_varint(&mut structure, number);
                }
            }
        }
        Ok(Heads {
            averages,
            structure,
        })
    }
}

/// The small letters and digits of a word of ASCII which is the beginning of these bytes, and zeros behind it.
fn plain_key(bytes: [u8; 8], length: usize) -> u64 {
    // Of letters this bit makes small ones, and digits have it.
    const SMALL: u64 = u64::from_be_bytes([0x20; 8]);
    (u64::from_be_bytes(bytes) | SMALL) & (u64::MAX << (64 - 8 * length))
}

fn without_zeros(word: &[u8]) -> &[u8] {
    let length = word.iter().rposition(|byte| *byte != 0);
    &word[..length.map_or(0, |last| last + 1)]
}

/// Puts the positions of a word in a text in place of what is there.
fn put_positions(out: &mut Vec<u8>, places: &[(u32, u32)]) {
    out.clear();
    let mut previous = 0;
    for (_, position) in places {
        put_varint(out, u64::from(position - previous) + 2);
        previous = *position;
    }
}

/// What SQLite makes of characters beyond ASCII.
#[derive(Default)]
struct Characters {
    asked: Option<Connection>,
    known: HashMap<char, Character>,
}

/// What a character is to the tokenizer.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Character {
    /// It stands between words.
    Separator,
    /// It belongs to a word, as these bytes.
    Letter(Vec<u8>),
    /// The same, but no word begins with it.
    Mark(Vec<u8>),
}

impl Characters {
    /// The word that a text begins with, if there is one, and where the rest goes on behind it.
    fn word(&mut self, text: &str) -> (Option<Vec<u8>>, usize) {
        let mut word = None::<Vec<u8>>;
        for (at, character) in text.char_indices() {
            let end = at + character.len_utf8();
            if character.is_ascii() {
                if !character.is_ascii_alphanumeric() {
                    return (word, end);
                }
                word.get_or_insert_default().push(character as u8);
                continue;
            }
            match (self.find(character), &mut word) {
                (Character::Letter(bytes), _) => word.get_or_insert_default().extend(bytes),
                (Character::Mark(bytes), Some(word)) => word.extend(bytes),
                (Character::Separator | Character::Mark(_), _) => return (word, end),
            }
        }
        (word, text.len())
    }

    fn find(&mut self, character: char) -> &Character {
        let Characters { asked, known } = self;
        known
            .entry(character)
            .or_insert_with(|| ask(asked, character).expect("SQLite can search in memory"))
    }
}

/// Asks SQLite what a character is.
fn ask(connection: &mut Option<Connection>, character: char) -> rusqlite::Result<Character> {
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(searchable()?),
    };
    let text = format!("{character} a{character}z");
    connection.execute("insert into asked (rowid, text) values (1, ?1)", [&text])?;
    let words = connection
        .prepare_cached("select term from words order by offset")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<String>>>()?;
    connection.execute("delete from asked", [])?;
    let between = |word: &str| Some(word.strip_prefix('a')?.strip_suffix('z')?.to_string());
    Ok(match words.as_slice() {
        [word] => between(word).map(|part| Character::Mark(part.into())),
        [alone, word] => between(word)
            .filter(|part| part == alone)
            .map(|part| Character::Letter(part.into())),
        _ => None,
    }
    .unwrap_or(Character::Separator))
}

/// A database that finds words as ours does.
fn searchable() -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    let search = crate::database::SCHEMA
        .split_once("tokenize=")
        .and_then(|(_, rest)| rest.split_once('\n'));
    let (tokenizer, _) = search.expect("the schema has a search");
    connection.execute_batch(&format!(
        "create virtual table asked using fts5 (text, tokenize={tokenizer});
        create virtual table words using fts5vocab (asked, instance);"
    ))?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::super::SqliteFile;
    use crate::database;
    use crate::pipeline::Pipeline;
    use crate::rows::{ContentBlock, Insert};
    use proptest::prelude::*;
    use rusqlite::Connection;

    /// A database with texts, filled without SQLite, and one with the same index, filled by SQLite.
    fn fill(folder: &std::path::Path, texts: &[String]) -> [Connection; 2] {
        let path = folder.join("test.db");
        let mut file = SqliteFile::new(database::create(&path).unwrap(), &path).unwrap();
        let other = Connection::open_in_memory().unwrap();
        let statements = database::SCHEMA.split_inclusive(";\n");
        let search = statements.filter(|sql| sql.contains("using fts5")).last();
        let (_, options) = search.unwrap().split_once("tokenize=").unwrap();
        let create = format!("create virtual table search using fts5 (text, tokenize={options}");
        other.execute_batch(&create).unwrap();
        for (id, text) in (1..).map(|number| number * 3).zip(texts) {
            let block = ContentBlock {
                block_id: id,
                message_id: id,
                text: Some(text.as_str().into()),
                ..ContentBlock::default()
            };
            file.insert(&block).unwrap();
            file.index_text(id, text).unwrap();
            let insert = "insert into search (rowid, text) values (?1, ?2)";
            other.execute(insert, (id, text)).unwrap();
        }
        let heads = file.finish(&Pipeline::new(Some(1))).unwrap();
        let connection = database::open_new(&path).unwrap();
        for head in heads {
            let put = database::statements::PUT_SEARCH_HEAD;
            connection.execute(put, head).unwrap();
        }
        let view = database::VIEWS
            .iter()
            .find(|(name, _)| *name == "search_texts.sql");
        connection.execute_batch(view.unwrap().1).unwrap();
        [connection, other]
    }

    fn words(connection: &Connection) -> Vec<(String, i64, i64)> {
        connection
            .execute_batch(
                "create virtual table temp.words using fts5vocab (main, search, instance)",
            )
            .unwrap();
        let mut statement = connection
            .prepare("select term, doc, offset from words order by term, doc, offset")
            .unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        rows.unwrap().map(Result::unwrap).collect()
    }

    fn check(texts: &[String]) {
        let folder = tempfile::tempdir().unwrap();
        let [ours, theirs] = fill(folder.path(), texts);
        assert_eq!(words(&ours), words(&theirs));
        for (index, rank) in [(&ours, 1), (&theirs, 0)] {
            let check = "insert into search (search, rank) values ('integrity-check', ?1)";
            let checked = index.execute(check, [rank]);
            assert!(checked.is_ok(), "rank {rank}: {checked:?}");
        }
        let verdict = ours.query_row("pragma integrity_check", [], |row| row.get::<_, String>(0));
        assert_eq!(verdict.unwrap(), "ok");
        let sizes = |connection: &Connection| {
            let mut statement = connection
                .prepare("select id, sz from search_docsize order by id")
                .unwrap();
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
            let rows: Vec<(i64, Vec<u8>)> = rows.unwrap().map(Result::unwrap).collect();
            rows
        };
        assert_eq!(sizes(&ours), sizes(&theirs));
        // What comes later is merged with it.
        for connection in [&ours, &theirs] {
            for id in 1_000_000..1_000_010 {
                let insert = "insert into search (rowid, text) values (?1, 'later words')";
                connection.execute(insert, [id]).unwrap();
            }
            let optimize = "insert into search (search) values ('optimize')";
            connection.execute_batch(optimize).unwrap();
        }
        ours.execute_batch("drop table temp.words").unwrap();
        theirs.execute_batch("drop table temp.words").unwrap();
        assert_eq!(words(&ours), words(&theirs));
    }

    #[test]
    fn the_index_of_many_texts_is_that_of_sqlite() {
        let word = |number: usize| format!("w{}", number * number % 977);
        let text = |number: usize| {
            let words: Vec<_> = (0..number % 23).map(|place| word(number + place)).collect();
            let long = "x".repeat(number % 400);
            format!("The {} and the {long}, AND-the_end", words.join(" "))
        };
        // One of all texts, one in a single text very often, and one that is longer than can be found.
        let mut texts: Vec<String> = (0..4000).map(text).collect();
        texts.push("again ".repeat(3000));
        texts.push("y".repeat(40_000));
        texts.push(String::new());
        check(&texts);
    }

    #[test]
    fn characters_are_what_sqlite_makes_of_them() {
        let scattered = (1..0x11_0000).step_by(97).filter_map(char::from_u32);
        let first = (0x80..0x500).filter_map(char::from_u32);
        let marks = (0x2000..0x2c00)
            .chain(0x300..0x370)
            .filter_map(char::from_u32);
        let text = |character: char| {
            format!("{character}a{character}{character}b {character}\u{301}{character}-\u{301}c")
        };
        let texts: Vec<_> = first.chain(marks).chain(scattered).map(text).collect();
        check(&texts);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn the_index_of_any_texts_is_that_of_sqlite(texts in proptest::collection::vec("[a-cA-C \u{0}-\u{200}—é東]{0,40}", 0..60)) {
            let without_nul = |text: String| text.replace('\0', " ");
            check(&texts.into_iter().map(without_nul).collect::<Vec<_>>());
        }
    }
}
