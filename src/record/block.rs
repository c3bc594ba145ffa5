//! The blocks of a message's content.

use super::object;
use crate::json::{self, Lenient, NotJson, Reader, Value};
use std::borrow::Cow;

object! {
    /// A content block. One struct serves all types, because their keys do not conflict.
    pub struct Block {
        "type" => kind: text,
        /// Of `text` blocks.
        "text" => text: long_text,
        /// Of `thinking` blocks. Since about 2.1.150 it is empty, with a long signature.
        "thinking" => thinking: long_text,
        /// Of `tool_use` blocks.
        "id" => id: text,
        "name" => name: text,
        "input" => input: raw,
        /// Of `tool_result` blocks.
        "tool_use_id" => tool_use_id: text,
        "content" => content: PartContent,
        "is_error" => is_error: flag,
        /// Of `image` and `document` blocks.
        "source" => source: Source,
    }
}

object! {
    /// A block inside a tool result. Blocks inside it stay JSON, so the nesting is bounded.
    pub struct Part {
        "type" => kind: text,
        "text" => text: long_text,
        "source" => source: Source,
    }
}

object! {
    /// The source of an image or document.
    pub struct Source {
        "type" => kind: text,
        "media_type" => media_type: text,
        "data" => data: long_text,
    }
}

/// Content: a string or a list of blocks. An element that is not an object stays JSON.
#[derive(Debug)]
pub enum ContentOf<'a, B> {
    Text(Cow<'a, str>),
    Blocks(Vec<Lenient<'a, B>>),
}

/// Content of a message.
pub type Content<'a> = ContentOf<'a, Block<'a>>;

/// Content of a tool result.
pub type PartContent<'a> = ContentOf<'a, Part<'a>>;

impl<'a, B: Value<'a>> Value<'a> for ContentOf<'a, B> {
    fn read(reader: &mut Reader<'a>) -> Result<Lenient<'a, Self>, NotJson> {
        match reader.peek() {
            Some(b'"') => {
                let (_, text) = reader.string()?;
                let text = text.ok_or(NotJson)?;
                Ok(Lenient::Is(ContentOf::Text(text)))
            }
            Some(b'[') => {
                // Nearly every list has one block.
                let mut blocks = Vec::with_capacity(1);
                reader.list(|reader| {
                    blocks.push(B::read(reader)?);
                    Ok(())
                })?;
                Ok(Lenient::Is(ContentOf::Blocks(blocks)))
            }
            _ => json::other(reader),
        }
    }
}
