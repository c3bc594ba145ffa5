//! A lenient JSON reader.
//!
//! It reads a text once, from left to right. Who calls it says for each value whether to look into it, to take it as a text or
//! number, or to keep it as the JSON that it is; a value of another type than expected is no error but is kept as JSON
//! ([`Lenient`]). Strings without escapes are borrowed from the text.
//!
//! **This module knows nothing of the program around it** and uses no other module of it. The grammar is exactly that of
//! `serde_json`, and tests compare the two; in addition it tells how deep a text is nested and whether it has escapes that are no
//! characters.
//!
//! **Why not `serde_json` itself:** a value of unknown type has to be kept by it as text first and parsed again, on every level.
//! Decoding the lines of three homes took it 1.4, 1.6 and 2.0 times as long, by which a first sync of the smaller two, real ones,
//! takes 10 % more processor time. `sonic-rs` was slower than either, and `jiter` admits no more than 200 levels.

mod escapes;
mod lenient;
mod reader;

pub use escapes::{repair_escapes, unescape};
pub use lenient::{
    Json, Lenient, Object, Opened, Rest, Value, flag, nullable_text, number, other, parse_object,
    push_string, read_scalar, read_text, text,
};
pub use reader::{NotJson, Raw, Reader, list, object_length};
