//! A lenient JSON reader.
//!
//! It reads JSON once, from left to right. For each value the caller decides whether to read its entries, to read it as a string
//! or number, or to keep its JSON. A value of an unexpected type is not an error: its JSON is kept ([`Lenient`]). Strings without
//! escapes are borrowed from the input.
//!
//! **This module is independent:** it uses no other module of the program. The grammar is exactly that of `serde_json`, and tests
//! compare the two. It also reports the nesting depth, and whether there are escapes that are not characters.
//!
//! **Why not `serde_json`:** on every level it has to keep a value of unknown type as text and parse it again. Decoding the lines of
//! three homes took 1.4, 1.6 and 2.0 times as long, which is 4, 10 and 11 % of the CPU time of a first sync. `sonic-rs` was slower
//! than either, and `jiter` limits the depth to 200 levels.

mod escapes;
mod lenient;
mod reader;

pub use escapes::{repair_escapes, unescape};
pub use lenient::{
    Json, Lenient, Object, Opened, Rest, Value, flag, nullable_text, number, other, parse_object,
    push_string, read_scalar, read_text, text,
};
pub use reader::{NotJson, Raw, Reader, list, object_length};
