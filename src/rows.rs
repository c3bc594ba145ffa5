//! One plain struct per table that the importer fills. `sql/schema.sql` explains the columns.
//!
//! A key that only the database can assign (`file_id`, `message_id`, ...) is 0 until the loader sets it.
//!
//! The rows of a line borrow its strings, unless a string has to be unescaped: a message has about twenty strings, most of
//! them short. A row that outlives its chunk is made owned with `into_owned`.

use crate::error::Result;
use rusqlite::Statement;
use rusqlite::types::{ToSqlOutput, ValueRef};
use std::borrow::Cow;

/// A string of a line.
pub type Text<'a> = Cow<'a, str>;

/// A row of a table.
pub trait Row: Sized {
    const TABLE: &'static str;
    /// The index of the table in [`ROW_TABLES`]: faster to look up than its name.
    const NUMBER: usize;
    /// The columns that the importer writes.
    const COLUMNS: &'static [&'static str];

    /// Calls a function with the values, one per column.
    fn with_values<T>(&self, function: impl FnOnce(&[ValueRef<'_>]) -> T) -> T;

    /// Runs a statement with one parameter per column.
    fn write(&self, statement: &mut Statement<'_>) -> rusqlite::Result<usize> {
        self.with_values(|values| bind(statement, values))?;
        statement.raw_execute()
    }

    /// Like [`Row::write`], but may clear the row. SQLite copies each string when it is bound, so the strings of a large row
    /// are freed before the statement runs: otherwise both copies would be in memory.
    fn write_and_clear(&mut self, statement: &mut Statement<'_>) -> rusqlite::Result<usize>
    where
        Self: Default,
    {
        let length = self.with_values(|values| {
            bind(statement, values)?;
            Ok::<_, rusqlite::Error>(values.iter().map(value_length).sum::<usize>())
        })?;
        let is_large = length > LARGE_ROW_BYTES;
        if is_large {
            *self = Self::default();
        }
        let written = statement.raw_execute();
        if is_large {
            statement.clear_bindings();
        }
        written
    }
}

const LARGE_ROW_BYTES: usize = 1 << 20;

fn value_length(value: &ValueRef<'_>) -> usize {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        _ => 0,
    }
}

/// Something that rows of any table can be inserted into.
pub trait Insert {
    fn insert<R: Row>(&mut self, row: &R) -> Result<()>;
}

/// Binds the values of a row. Most are NULL, and SQLite takes an unbound parameter as NULL.
fn bind(statement: &mut Statement<'_>, values: &[ValueRef<'_>]) -> rusqlite::Result<()> {
    statement.clear_bindings();
    for (number, value) in (1..).zip(values) {
        if *value != ValueRef::Null {
            statement.raw_bind_parameter(number, ToSqlOutput::Borrowed(*value))?;
        }
    }
    Ok(())
}

/// The type of a column.
trait Field {
    fn value(&self) -> ValueRef<'_>;
}

/// Converts a value that may borrow into one that does not.
trait IntoOwned {
    type Owned;

    fn into_owned(self) -> Self::Owned;
}

/// Implements [`IntoOwned`] for types that borrow nothing.
macro_rules! is_owned {
    ($( $type:ty ),* $(,)?) => { $(
        impl $crate::rows::IntoOwned for $type {
            type Owned = $type;

            fn into_owned(self) -> $type {
                self
            }
        }
    )* };
}

macro_rules! fields {
    ($( $type:ty => |$field:ident| $value:expr ),* $(,)?) => { $(
        is_owned! { $type }

        impl Field for $type {
            fn value(&self) -> ValueRef<'_> {
                let $field = self;
                $value
            }
        }
    )* };
}

fields! {
    i64 => |number| ValueRef::Integer(*number),
    bool => |flag| ValueRef::Integer(i64::from(*flag)),
    f64 => |number| ValueRef::Real(*number),
    String => |text| ValueRef::Text(text.as_bytes()),
    &'static str => |text| ValueRef::Text(text.as_bytes()),
    Vec<u8> => |bytes| ValueRef::Blob(bytes),
    [u8; 16] => |hash| ValueRef::Blob(hash),
    [u8; 32] => |hash| ValueRef::Blob(hash),
}

impl Field for Text<'_> {
    fn value(&self) -> ValueRef<'_> {
        ValueRef::Text(self.as_bytes())
    }
}

impl<T: Field> Field for Option<T> {
    fn value(&self) -> ValueRef<'_> {
        self.as_ref().map_or(ValueRef::Null, Field::value)
    }
}

impl IntoOwned for Text<'_> {
    type Owned = Text<'static>;

    fn into_owned(self) -> Text<'static> {
        Cow::Owned(Cow::into_owned(self))
    }
}

impl<T: IntoOwned> IntoOwned for Option<T> {
    type Owned = Option<T::Owned>;

    fn into_owned(self) -> Option<T::Owned> {
        self.map(IntoOwned::into_owned)
    }
}

/// Implements `into_owned` for structs that borrow from a line.
macro_rules! into_owned {
    ($( $name:ident { $( $field:ident ),* } )*) => { $(
        impl $crate::rows::IntoOwned for $name<'_> {
            type Owned = $name<'static>;

            fn into_owned(self) -> $name<'static> {
                $name { $( $field: $crate::rows::IntoOwned::into_owned(self.$field) ),* }
            }
        }

        impl $name<'_> {
            pub fn into_owned(self) -> $name<'static> {
                $crate::rows::IntoOwned::into_owned(self)
            }
        }
    )* };
}

/// Declares the struct of each table and implements [`Row`] for it: `"column" => field: type`.
macro_rules! tables {
    ($(
        $(#[$meta:meta])*
        $table:literal => $name:ident $(<$line:lifetime>)? {
            $( $column:literal => $field:ident : $type:ty ),* $(,)?
        }
    )*) => { $(
        $(#[$meta])*
        #[derive(Debug, Default, Clone)]
        pub struct $name $(<$line>)? { $( pub $field: $type ),* }

        tables! { @owned $name $(<$line>)? { $($field),* } }

        impl $(<$line>)? $crate::rows::Row for $name $(<$line>)? {
            const TABLE: &'static str = $table;
            const NUMBER: usize = $crate::rows::Number::$name as usize;
            const COLUMNS: &'static [&'static str] = &[$($column),*];

            fn with_values<T>(
                &self,
                function: impl FnOnce(&[rusqlite::types::ValueRef<'_>]) -> T,
            ) -> T {
                use $crate::rows::Field;
                function(&[$(self.$field.value()),*])
            }
        }
    )* };
    (@owned $name:ident { $( $field:ident ),* }) => { is_owned! { $name } };
    (@owned $name:ident <$line:lifetime> { $( $field:ident ),* }) => {
        into_owned! { $name { $($field),* } }
    };
}

mod documents;
mod events;
mod files;
mod messages;
mod responses;

pub use documents::*;
pub use events::*;
pub use files::*;
pub use messages::*;
pub use responses::*;

macro_rules! row_tables {
    ($( $name:ident ),* $(,)?) => {
        enum Number { $( $name ),* }

        /// The name and columns of every table that rows are inserted into, by [`Row::NUMBER`].
        pub const ROW_TABLES: &[(&str, &[&str])] = &[$( ($name::TABLE, $name::COLUMNS) ),*];
    };
}

row_tables! {
    File, ArchiveChunk, RejectedLine, Message, MessageCopy, ContentBlock,
    ToolUse, ToolResult, FileChange, GitOperation, WebRequest, AgentLink,
    TaskNotification, Event, FileBackup, HistoryPrompt, PastedContent, Paste,
    Todo, Task, Plan, MemoryNote, ToolResultFile, AgentMeta,
    WorkflowRun, SessionHint, SessionFacet, SessionMeta, UsageStatistic, ModelPrice, ApiResponse, UsageLine,
}

/// The rows of one chunk of lines.
#[derive(Debug, Default)]
pub struct Rows<'a> {
    pub messages: Vec<Box<MessageRows<'a>>>,
    pub events: Vec<EventRows<'a>>,
    pub history_prompts: Vec<HistoryRows<'a>>,
    pub documents: Vec<Document>,
    pub rejected_lines: Vec<RejectedLine>,
    pub unknown_kinds: Vec<UnknownKind>,
    pub newline_count: i64,
    pub blank_line_count: i64,
    /// Whether the chunk ends with a line that has no newline yet.
    pub has_tail: bool,
}

impl Rows<'_> {
    /// The number of rows of each kind.
    pub fn lengths(&self) -> [usize; 6] {
        [
            self.messages.len(),
            self.events.len(),
            self.history_prompts.len(),
            self.documents.len(),
            self.rejected_lines.len(),
            self.unknown_kinds.len(),
        ]
    }

    /// Drops the rows that were added since [`Rows::lengths`] returned these.
    pub fn truncate(&mut self, lengths: [usize; 6]) {
        let [messages, events, prompts, documents, rejected, unknown] = lengths;
        self.messages.truncate(messages);
        self.events.truncate(events);
        self.history_prompts.truncate(prompts);
        self.documents.truncate(documents);
        self.rejected_lines.truncate(rejected);
        self.unknown_kinds.truncate(unknown);
    }
}

/// A name that this version of cc-etl does not know.
#[derive(Debug, Clone)]
pub struct UnknownKind {
    /// record, block or key.
    pub level: &'static str,
    pub name: String,
    /// The version of Claude Code that wrote it.
    pub version: Option<String>,
    /// Counted from the first line of the chunk.
    pub line_number: i64,
}

is_owned! { Document, UnknownKind }

into_owned! {
    Rows {
        messages, events, history_prompts, documents, rejected_lines, unknown_kinds,
        newline_count, blank_line_count, has_tail
    }
}

impl<T: IntoOwned> IntoOwned for Vec<T> {
    type Owned = Vec<T::Owned>;

    fn into_owned(self) -> Vec<T::Owned> {
        self.into_iter().map(IntoOwned::into_owned).collect()
    }
}

impl<T: IntoOwned> IntoOwned for Box<T> {
    type Owned = Box<T::Owned>;

    fn into_owned(self) -> Box<T::Owned> {
        Box::new((*self).into_owned())
    }
}
