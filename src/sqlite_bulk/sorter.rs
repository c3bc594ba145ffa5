//! An external sort: sorted runs are written to a temporary file and merged at the end.

use super::record::put_key;
use super::{read_at, write_at};
use rusqlite::types::ValueRef;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io;

/// The size of reads from a run.
const READ_BYTES: usize = 1 << 15;

/// The size of writes to a run.
const WRITE_BYTES: usize = 1 << 18;

/// The temporary file with the runs.
pub struct Spill {
    file: File,
    length: u64,
}

impl Spill {
    /// Writes to an empty file.
    pub fn new(file: File) -> Spill {
        Spill { file, length: 0 }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        write_at(&self.file, bytes, self.length)?;
        self.length += bytes.len() as u64;
        Ok(())
    }
}

/// The keys of an index.
#[derive(Default)]
pub struct Sorter {
    bytes: Vec<u8>,
    keys: Vec<Key>,
    runs: Vec<Run>,
}

/// The range of a key in memory, and its first eight bytes, which usually decide a comparison.
struct Key {
    beginning: u64,
    start: u32,
    end: u32,
}

impl Key {
    fn of<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[self.start as usize..self.end as usize]
    }
}

/// Sorted keys in the file.
struct Run {
    offset: u64,
    length: u64,
}

impl Sorter {
    /// Adds the key of some values. Returns the memory that it uses.
    pub fn add<'a>(&mut self, values: impl Iterator<Item = ValueRef<'a>>) -> usize {
        let start = self.bytes.len();
        for value in values {
            put_key(&mut self.bytes, value);
        }
        let key = &self.bytes[start..];
        let mut beginning = [0; 8];
        let length = key.len().min(8);
        beginning[..length].copy_from_slice(&key[..length]);
        let place = |position| {
            u32::try_from(position)
                .expect("a sorter is written to the file long before it has 4 GB")
        };
        let size = key.len() + size_of::<Key>();
        self.keys.push(Key {
            beginning: u64::from_be_bytes(beginning),
            start: place(start),
            end: place(self.bytes.len()),
        });
        size
    }

    /// Bytes in memory.
    pub fn held(&self) -> usize {
        self.bytes.len() + self.keys.len() * size_of::<Key>()
    }

    /// Bytes of all keys.
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64 + self.runs.iter().map(|run| run.length).sum::<u64>()
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.keys.sort_unstable_by(|a, b| {
            a.beginning
                .cmp(&b.beginning)
                .then_with(|| a.of(bytes).cmp(b.of(bytes)))
        });
    }

    /// Sorts the keys in memory and writes them as a run.
    pub fn spill(&mut self, spill: &mut Spill) -> io::Result<()> {
        self.sort();
        let offset = spill.length;
        let mut piece = Vec::with_capacity(WRITE_BYTES);
        for key in &self.keys {
            if piece.len() > WRITE_BYTES {
                spill.write(&piece)?;
                piece.clear();
            }
            piece.extend_from_slice(&(key.end - key.start).to_le_bytes());
            piece.extend_from_slice(key.of(&self.bytes));
        }
        spill.write(&piece)?;
        self.runs.push(Run {
            offset,
            length: spill.length - offset,
        });
        self.bytes = Vec::new();
        self.keys = Vec::new();
        Ok(())
    }

    /// Passes all keys to `each`, in ascending order.
    pub fn merge(
        mut self,
        spill: &Spill,
        mut each: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.sort();
        let memory = Source {
            key: Vec::new(),
            rest: Rest::Memory {
                bytes: self.bytes,
                keys: self.keys.into_iter(),
            },
        };
        let runs = self.runs.into_iter().map(|run| Source {
            key: Vec::new(),
            rest: Rest::File {
                buffer: Vec::new(),
                used: 0,
                run,
            },
        });
        let mut sources = BinaryHeap::new();
        for mut source in runs.chain([memory]) {
            if source.advance(&spill.file)? {
                sources.push(source);
            }
        }
        while let Some(mut least) = sources.peek_mut() {
            each(&least.key)?;
            if !least.advance(&spill.file)? {
                PeekMut::pop(least);
            }
        }
        Ok(())
    }
}

/// A run that is being read.
struct Source {
    /// Its current key.
    key: Vec<u8>,
    rest: Rest,
}

/// The keys after the current one.
enum Rest {
    Memory {
        bytes: Vec<u8>,
        keys: std::vec::IntoIter<Key>,
    },
    File {
        buffer: Vec<u8>,
        used: usize,
        run: Run,
    },
}

impl Source {
    /// Advances to the next key; false at the end.
    fn advance(&mut self, file: &File) -> io::Result<bool> {
        self.key.clear();
        match &mut self.rest {
            Rest::Memory { bytes, keys } => {
                let Some(key) = keys.next() else {
                    return Ok(false);
                };
                self.key.extend_from_slice(key.of(bytes));
            }
            Rest::File { buffer, used, run } => {
                if !fill(buffer, used, run, file, 4)? {
                    return Ok(false);
                }
                let length = buffer[*used..*used + 4].try_into().expect("four bytes");
                let length = u32::from_le_bytes(length) as usize;
                *used += 4;
                fill(buffer, used, run, file, length)?;
                self.key.extend_from_slice(&buffer[*used..*used + length]);
                *used += length;
            }
        }
        Ok(true)
    }
}

/// Reads until the buffer has `wanted` unused bytes; false at the end of the run.
fn fill(
    buffer: &mut Vec<u8>,
    used: &mut usize,
    run: &mut Run,
    file: &File,
    wanted: usize,
) -> io::Result<bool> {
    if buffer.len() - *used < wanted {
        buffer.drain(..*used);
        *used = 0;
        let more = run.length.min(READ_BYTES.max(wanted) as u64);
        let start = buffer.len();
        buffer.resize(start + more as usize, 0);
        read_at(file, &mut buffer[start..], run.offset)?;
        run.offset += more;
        run.length -= more;
        if buffer.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Ord for Source {
    /// Reversed, because a heap returns its largest element, and the source with the smallest key is needed.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

impl PartialOrd for Source {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Source {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_keys_come_back_in_their_order() {
        let mut sorter = Sorter::default();
        let mut spill = Spill::new(tempfile::tempfile().unwrap());
        let count = 300_000_i64;
        for number in 0..count {
            let scattered = number * 7_919 % count;
            let text = format!("key {:06}", scattered / 10);
            let values = [
                ValueRef::Text(text.as_bytes()),
                ValueRef::Integer(scattered),
            ];
            sorter.add(values.into_iter());
            if sorter.held() > 1 << 20 {
                sorter.spill(&mut spill).unwrap();
            }
        }
        assert!(sorter.runs.len() > 3);
        let mut found = Vec::new();
        sorter
            .merge(&spill, |key| {
                found.push(key.to_vec());
                Ok(())
            })
            .unwrap();
        assert_eq!(found.len(), 300_000);
        assert!(found.is_sorted());
    }
}
