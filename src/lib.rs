//! cc-etl turns a Claude Code home (`~/.claude`) into one SQLite file.
//!
//! ```text
//! discover -> read -> archive + decode -> normalize -> load -> views
//! files       bytes   chunks, records      rows         tables  answers
//! ```
//!
//! Everything left of *load* is pure and runs in parallel, by chunks of about a megabyte; *load* is one writer;
//! everything right of it is SQL. `commands/sync.rs` tells the story in one function. A new database is filled without
//! SQLite (`database/first_load.rs`), by the threads that parse, one at a time (`pipeline.rs`), while rows still borrow from
//! their chunk (`rows.rs`); what is not plain goes the way of every later sync (`database/load.rs`).
//!
//! | word      | module                 | from -> to                                                          |
//! |-----------|------------------------|---------------------------------------------------------------------|
//! | discover  | [`discover`]           | a Claude home -> `SourceFile`s, classified by path                   |
//! |           | [`changes`]            | source files and the database -> what of them is new                 |
//! | read      | [`read`]               | a file -> `Section`s: chunks with the lines that end in them         |
//! | archive   | [`archive`]            | bytes <-> zstd chunks                                                |
//! | decode    | [`decode`], [`record`] | a line -> `Record`s, salvaging what can be salvaged                  |
//! | normalize | [`normalize`]          | records -> [`rows`], the only place that gives meaning               |
//! | load      | [`database`]           | rows -> tables; which line is the message, references, responses     |
//! |           | [`sqlite_bulk`]        | the pages of a new SQLite file; uses no other module                 |
//! | views     | `sql/views/*.sql`      | tables -> answers                                                    |
//!
//! What always holds:
//!
//! - No line and no file can stop a sync.
//! - Every byte that was read is in the archive, and is a row or a rejected line with its reason.
//! - The content of the database is a function of the set of lines: any order, any number of threads, any split into
//!   several syncs gives the same. Where lines compete, a rule on the set decides, in `database/copies.rs`,
//!   `database/tool_uses.rs` and `sql/derive/`.
//! - Rust computes no statistics and no money. There is no SQL in Rust but generated inserts, pragmas and looks at the
//!   schema; statements stand in `sql/statements/`, and no value is ever formatted into one.
//! - The database may outlive its sources: nothing is removed or hidden because a file changed or went away.
//! - A Claude home is opened for reading only.

pub mod archive;
pub mod changes;
pub mod cli;
pub mod commands;
pub mod database;
pub mod datasette;
pub mod decode;
pub mod discover;
pub mod error;
pub mod format;
pub mod import;
pub mod load;
pub mod normalize;
pub mod pipeline;
pub mod prices;
pub mod progress;
pub mod query;
pub mod read;
pub mod record;
pub mod rows;
pub mod schema_page;
pub mod sqlite_bulk;
pub mod stop;
pub mod store;
pub mod terminal;
pub mod timestamp;
