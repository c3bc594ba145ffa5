//! Source files, their archived bytes, and the lines that are not records.

use crate::archive::Hash;

tables! {
    /// One version of a source file: a file that is rewritten gets a new row.
    "files" => File {
        "file_id" => file_id: i64,
        "source_id" => source_id: i64,
        "project_id" => project_id: Option<i64>,
        "path" => path: String,
        "path_bytes" => path_bytes: Option<Vec<u8>>,
        "archived_hash" => archived_hash: Option<Hash>,
        "kind" => kind: &'static str,
        "session_id" => session_id: Option<String>,
        "generation" => generation: i64,
        "size_bytes" => size_bytes: i64,
        "archived_bytes" => archived_bytes: i64,
        "parsed_bytes" => parsed_bytes: i64,
        "line_count" => line_count: i64,
        "newline_count" => newline_count: i64,
        "blank_line_count" => blank_line_count: i64,
        "modified_ns" => modified_ns: i64,
        "changed_ns" => changed_ns: i64,
        "device" => device: i64,
        "inode" => inode: i64,
        "is_racy" => is_racy: bool,
        "is_current" => is_current: bool,
        "first_seen_at" => first_seen_at: String,
        "last_synced_at" => last_synced_at: String,
        "missing_since" => missing_since: Option<String>,
    }

    "archive_chunks" => ArchiveChunk {
        "file_id" => file_id: i64,
        "position" => position: i64,
        "byte_offset" => byte_offset: i64,
        "byte_length" => byte_length: i64,
        "content" => content: Vec<u8>,
        "content_hash" => content_hash: Hash,
    }

    /// Bytes of a line that are not a record.
    "rejected_lines" => RejectedLine {
        "file_id" => file_id: i64,
        "line_number" => line_number: i64,
        "byte_offset" => byte_offset: i64,
        "reason" => reason: &'static str,
        "raw" => raw: Vec<u8>,
    }
}
