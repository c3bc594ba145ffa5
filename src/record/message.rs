//! The API message inside user and assistant records.

use super::{Content, object};

object! {
    /// `message` of a user or assistant record.
    pub struct Message {
        /// The id of the API response, the same on each of its lines. A plain UUID on `<synthetic>` lines.
        "id" => id: text,
        "role" => role: text,
        /// `<synthetic>` if no API was called.
        "model" => model: text,
        "content" => content: Content,
        /// Of assistant records: [`super::Usage`].
        "usage" => usage: raw,
        /// Null on all lines of a response but the last; in many versions null on that too.
        "stop_reason" => stop_reason: text,
    }
}
