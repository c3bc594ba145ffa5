//! The blocks of a message's content.

use super::json::{self, Lenient};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::marker::PhantomData;

json::object! {
    /// A block of content, of whatever type: the keys of the types do not contradict each other.
    pub struct Block {
        "type" => kind: text,
        /// Of `text` blocks.
        "text" => text: long_text,
        /// Of `thinking` blocks; empty with a long signature since about 2.1.150.
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

json::object! {
    /// A block inside a tool result. What it may itself hold stays JSON, so that no nesting is followed.
    pub struct Part {
        "type" => kind: text,
        "text" => text: long_text,
        "source" => source: Source,
    }
}

json::object! {
    /// Where the bytes of an image or document come from.
    pub struct Source {
        "type" => kind: text,
        "media_type" => media_type: text,
        "data" => data: long_text,
    }
}

/// Content: a string, or a list of blocks, of which an element that is no object stays as JSON.
#[derive(Debug)]
pub enum ContentOf<'a, B> {
    /// A plain string.
    Text(Cow<'a, str>),
    /// A list.
    Blocks(Vec<Lenient<'a, B>>),
}

/// Content of a message.
pub type Content<'a> = ContentOf<'a, Block<'a>>;

/// Content of a tool result.
pub type PartContent<'a> = ContentOf<'a, Part<'a>>;

/// Reads content with blocks of one type. Two impls and not a generic one, whose bounds the compiler cannot bring to an end.
macro_rules! content_of {
    ($block:ident) => {
        impl<'de: 'a, 'a> Deserialize<'de> for Lenient<'a, ContentOf<'a, $block<'a>>> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct List<'a>(PhantomData<&'a ()>);
                impl<'de: 'a, 'a> Visitor<'de> for List<'a> {
                    type Value = Lenient<'a, ContentOf<'a, $block<'a>>>;
                    fn visit_seq<A: SeqAccess<'de>>(
                        self,
                        mut list: A,
                    ) -> Result<Self::Value, A::Error> {
                        let mut blocks = Vec::new();
                        while let Some(block) = list.next_element::<Lenient<'a, $block<'a>>>()? {
                            blocks.push(block);
                        }
                        Ok(Lenient::Is(ContentOf::Blocks(blocks)))
                    }
                    json::other_visits!(map);
                }
                let raw = <&RawValue>::deserialize(deserializer)?;
                match json::text(raw.get()) {
                    Some(text) => Ok(Lenient::Is(ContentOf::Text(text))),
                    None => serde_json::Deserializer::from_str(raw.get())
                        .deserialize_any(List(PhantomData))
                        .map_err(D::Error::custom),
                }
            }
        }
    };
}

content_of!(Block);
content_of!(Part);
