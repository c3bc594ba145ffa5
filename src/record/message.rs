//! The API message inside user and assistant records.

use super::{Content, json};

json::object! {
    /// `message` of a user or assistant record.
    pub struct Message {
        /// Names the response of the API; the same on every line of it. A plain UUID on `<synthetic>` lines.
        "id" => id: text,
        "role" => role: text,
        /// The served model; `<synthetic>` when no API was called.
        "model" => model: text,
        "content" => content: Content,
        /// Of assistant records: [`super::Usage`].
        "usage" => usage: raw,
        /// Null on all but the last line of a response, in many versions on that too.
        "stop_reason" => stop_reason: text,
    }
}
