//! HTML pages that stand alone: one file with its style, without scripts and without anything that is loaded.
//!
//! What they show is untrusted. [`escape`] is the only way for text into a page, and a content security policy forbids
//! scripts and requests if it is ever forgotten.

use crate::terminal::sanitize;

const STYLE: &str = include_str!("html/page.css");

/// A page with this title, style and body; the latter two are HTML and CSS already.
pub fn page(title: &str, style: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n<body>\n{body}\n\
         <footer>Made by cc-etl.</footer>\n</body>\n</html>",
        escape(title)
    )
}

/// Text as HTML, for content and for attributes in double quotes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in sanitize(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            character => escaped.push(character),
        }
    }
    escaped
}

/// Escapes a text; what is between backticks is code.
pub fn prose(text: &str) -> String {
    let mut html = String::new();
    for (number, part) in text.split('`').enumerate() {
        html += &match number % 2 {
            0 => escape(part),
            _ => format!("<code>{}</code>", escape(part)),
        };
    }
    html
}

/// A part that is closed until the reader opens it; both arguments are HTML.
pub fn fold(class: &str, summary: &str, body: &str) -> String {
    format!("<details class=\"{class}\"><summary>{summary}</summary><div>{body}</div></details>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_place() {
        assert_eq!(
            escape("</title><script>\"a\" & 'b'\u{202e}\u{1b}[m"),
            "&lt;/title&gt;&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;\\u{202e}\\u{1b}[m"
        );
    }

    #[test]
    fn what_is_between_backticks_is_code() {
        assert_eq!(prose("a `<b>` c"), "a <code>&lt;b&gt;</code> c");
        assert_eq!(prose("a < b"), "a &lt; b");
    }
}
