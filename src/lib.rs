//! cc-etl imports a Claude Code home (`~/.claude`) into one SQLite file.
//!
//! ```text
//! discover -> read -> archive + decode -> normalize -> load -> derive -> views
//! files       bytes   chunks, records      rows         tables  tables    queries
//! ```
//!
//! Everything left of *load* is pure and runs in parallel, in chunks of one megabyte. *load* has one writer. Everything right
//! of it is SQL. To follow an import, read `commands/sync.rs`, then [`import`] and [`load`].
//!
//! | step      | module                  | what it does                                                               |
//! |-----------|-------------------------|----------------------------------------------------------------------------|
//! | discover  | [`discover`]            | a Claude home -> `SourceFile`s, classified by path                         |
//! |           | [`file_diff`]           | source files and the database -> what is new                               |
//! |           | [`merge`]               | another database and the database -> what is new                           |
//! | read      | [`read`]                | a file -> `Section`s: chunks with the lines that end in them               |
//! | archive   | [`archive`]             | bytes <-> zstd chunks                                                      |
//! | decode    | [`decode`], [`record`]  | a line -> `Record`s, also of damaged lines                                 |
//! |           | [`json`]                | a lenient JSON reader; uses no other module                                |
//! | normalize | [`normalize`]           | records -> [`rows`], one struct per table                                  |
//! | load      | [`import`]              | runs the steps above on the workers of [`pipeline`], and passes batches on |
//! |           | [`load`]                | decides which row is inserted, replaced or deferred                        |
//! |           | [`store`]               | inserts rows and finds keys, in an existing or a new database              |
//! |           | [`sqlite_bulk`]         | writes the pages of a new SQLite file; uses no other module                |
//! |           | [`database`]            | opens, creates, upgrades and refreshes a database                          |
//! | derive    | `sql/derive/*.sql`      | what depends on several lines, and the `bi_` tables                        |
//! | views     | `sql/views/*.sql`       | the public interface                                                       |
//! |           | [`export`]              | the rows of `sql/export/*.sql` for other engines: Parquet, PostgreSQL, ... |
//!
//! A new database is filled by [`store::Pages`] through [`sqlite_bulk`]; an existing one by [`store::Statements`] through
//! SQLite. The loader and its rules are the same. If the page writer refuses, a new database is filled with statements too.
//!
//! Invariants:
//!
//! - No line and no file can stop a sync.
//! - Every byte that was read is in the archive, and is part of a row or of a rejected line with its reason.
//! - The content of the database is a function of the set of lines: it does not depend on their order, on the number of
//!   threads, or on how many syncs imported them. Where lines compete, a rule on the set of lines decides, in [`load`] and in
//!   `sql/derive`.
//! - Only [`normalize`] gives meaning to a record. A store decides nothing.
//! - Rust computes no statistics and no money. SQL statements are in `sql/`, except generated inserts, pragmas and queries of
//!   the schema, and no value is ever formatted into one.
//! - Every sync replaces views that differ; tables change only with the schema version.
//! - The database may outlive its sources: nothing is removed because a file changed or was deleted.
//! - A Claude home is opened for reading only.

pub mod archive;
pub mod cli;
mod column;
pub mod commands;
pub mod database;
mod datasette;
mod dates;
pub mod decode;
pub mod discover;
pub mod error;
pub mod export;
pub mod failures;
pub mod file_diff;
mod format;
mod html;
pub mod import;
pub mod json;
mod limits;
mod line_diff;
pub mod load;
pub mod machine;
mod mcp;
pub mod merge;
pub mod normalize;
mod pager;
pub mod pipeline;
mod prices;
pub mod progress;
mod query;
pub mod question;
pub mod read;
pub mod record;
mod report;
pub mod rows;
pub mod schema_page;
mod service;
mod session;
mod settings;
mod sql_error;
pub mod sqlite_bulk;
pub mod stop;
pub mod store;
mod table;
mod terminal;
mod time_zone;
mod timestamp;
