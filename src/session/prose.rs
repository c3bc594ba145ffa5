//! Markdown as text for a terminal, with emphasis and wrapped lines.

use crate::format::QueryRows;
use crate::table;
use crate::terminal::{Emphasis, sanitize};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use rusqlite::types::Value;

/// The Markdown that Claude writes: CommonMark with tables, task lists and strikethrough.
pub const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS);

const BOLD: &str = "1";
const ITALIC: &str = "3";
const STRUCK: &str = "9";
const CODE: &str = "36";

/// Renders Markdown as lines of at most this width, except the lines of code.
pub fn render(markdown: &str, width: usize, emphasis: &Emphasis) -> Vec<String> {
    let mut page = Page {
        lines: Vec::new(),
        width,
        emphasis,
        inline: String::new(),
        styles: Vec::new(),
        indents: Vec::new(),
        lists: Vec::new(),
        code: None,
        table: Vec::new(),
        is_tight: true,
    };
    for event in Parser::new_ext(markdown, OPTIONS) {
        page.event(event);
    }
    page.paragraph();
    page.lines
}

/// Wraps plain text, keeping its lines. Tabs become spaces: their width depends on where they are.
pub fn plain(text: &str, width: usize) -> Vec<String> {
    let text = sanitize(text.trim_end()).replace('\t', "    ");
    let lines = text.lines().map(|line| wrap(line, width, "", ""));
    lines.flatten().collect()
}

struct Page<'a> {
    lines: Vec<String>,
    width: usize,
    emphasis: &'a Emphasis,
    /// The paragraph that is being read.
    inline: String,
    styles: Vec<&'static str>,
    /// Before the next line, and before the lines after it.
    indents: Vec<(Option<String>, String)>,
    /// The next number of each list around; none for bullets.
    lists: Vec<Option<u64>>,
    code: Option<String>,
    table: Vec<Vec<String>>,
    /// Whether no blank line goes before the next block.
    is_tight: bool,
}

impl Page<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(text) => {
                self.styles.push(CODE);
                self.text(&text);
                self.styles.pop();
            }
            Event::SoftBreak => self.inline.push(' '),
            Event::HardBreak => self.inline.push('\n'),
            Event::Rule => {
                self.block();
                self.inline = "─".repeat(self.width.min(40));
                self.paragraph();
            }
            Event::TaskListMarker(is_done) => self.text(if is_done { "[x] " } else { "[ ] " }),
            // HTML is shown as it is written.
            Event::Html(html) | Event::InlineHtml(html) => self.text(&html),
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.block(),
            Tag::Heading { .. } => {
                self.block();
                self.styles.push(BOLD);
            }
            Tag::BlockQuote(_) => {
                self.block();
                self.is_tight = true;
                self.indents.push((None, "│ ".to_string()));
            }
            Tag::CodeBlock(kind) => {
                self.block();
                self.code = Some(String::new());
                if let CodeBlockKind::Fenced(language) = kind
                    && !language.is_empty()
                {
                    let language = self.emphasis.faint(&sanitize(&language));
                    self.line(&language);
                }
            }
            Tag::List(first) => {
                match self.lists.is_empty() {
                    true => self.block(),
                    false => self.paragraph(),
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.paragraph();
                self.is_tight = true;
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_string(),
                };
                let blanks = " ".repeat(mark.chars().count());
                self.indents.push((Some(mark), blanks));
            }
            Tag::Table(_) => self.block(),
            Tag::TableHead | Tag::TableRow => self.table.push(Vec::new()),
            Tag::Emphasis => self.styles.push(ITALIC),
            Tag::Strong => self.styles.push(BOLD),
            Tag::Strikethrough => self.styles.push(STRUCK),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.paragraph(),
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.paragraph();
            }
            TagEnd::BlockQuote(_) => {
                self.paragraph();
                self.indents.pop();
            }
            TagEnd::CodeBlock => {
                let code = self.code.take().unwrap_or_default();
                for line in sanitize(&code).lines() {
                    let line = self.emphasis.style(CODE, line);
                    self.line(&format!("    {line}"));
                }
            }
            TagEnd::List(_) => {
                self.paragraph();
                self.lists.pop();
            }
            TagEnd::Item => {
                self.paragraph();
                self.indents.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(row) = self.table.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.table(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            _ => {}
        }
    }

    /// Appends text to the paragraph. Each word has its own styles: a line break between words leaves indents plain. Cells
    /// of tables have none, because a table measures them.
    fn text(&mut self, text: &str) {
        let text = sanitize(text);
        let styles = self.styles.join(";");
        for word in text.split_inclusive([' ', '\n']) {
            let bare = word.trim_end_matches([' ', '\n']);
            match styles.is_empty() || bare.is_empty() || !self.table.is_empty() {
                true => self.inline.push_str(bare),
                false => self.inline.push_str(&self.emphasis.style(&styles, bare)),
            }
            self.inline.push_str(&word[bare.len()..]);
        }
    }

    /// Ends the paragraph, and separates the next block from it.
    fn block(&mut self) {
        self.paragraph();
        if !std::mem::replace(&mut self.is_tight, false) && !self.lines.is_empty() {
            let (indent, _) = self.indent();
            self.lines.push(indent.trim_end().to_string());
        }
    }

    fn paragraph(&mut self) {
        let text = std::mem::take(&mut self.inline);
        for line in text.trim_end().lines() {
            self.line(line);
        }
    }

    fn line(&mut self, line: &str) {
        let (first, rest) = self.indent();
        // Code and tables have lines of their own.
        let width = match self.code.is_some() || !self.table.is_empty() {
            true => usize::MAX,
            false => self.width,
        };
        self.lines.extend(wrap(line, width, &first, &rest));
        for (mark, _) in &mut self.indents {
            *mark = None;
        }
        self.is_tight = false;
    }

    fn indent(&self) -> (String, String) {
        let first = self.indents.iter();
        let first = first.map(|(mark, blanks)| mark.as_ref().unwrap_or(blanks).as_str());
        let rest = self.indents.iter().map(|(_, blanks)| blanks.as_str());
        (first.collect(), rest.collect())
    }

    fn table(&mut self) {
        let mut rows = std::mem::take(&mut self.table).into_iter();
        let head = rows.next().unwrap_or_default();
        let width = head.len();
        let rows: Vec<Vec<Value>> = rows
            .map(|mut row| {
                row.resize(width, String::new());
                row.into_iter().map(Value::Text).collect()
            })
            .collect();
        let (indent, _) = self.indent();
        let rows = QueryRows {
            columns: head,
            rows,
        };
        let options = table::Options {
            width: Some(self.width.saturating_sub(indent.chars().count())),
            is_prose: true,
            ..table::Options::default()
        };
        for line in table::draw(&rows, &options).lines() {
            self.lines.push(format!("{indent}{line}"));
        }
    }
}

fn wrap(line: &str, width: usize, first: &str, rest: &str) -> Vec<String> {
    let options = textwrap::Options::new(width)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let lines = textwrap::wrap(line, options).into_iter();
    lines.map(|line| line.into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plainly(markdown: &str) -> String {
        render(markdown, 30, &Emphasis::default()).join("\n")
    }

    #[test]
    fn blocks_are_separated_and_wrapped() {
        let markdown = "# Steps\nA line that is too long for\nthe page.\n\n1. one\n2. two\n   - inner\n\n> said\n\n```sh\ncargo   test\n```\nend";
        assert_eq!(
            plainly(markdown),
            "Steps\n\nA line that is too long for\nthe page.\n\n1. one\n2. two\n   • inner\n\n│ said\n\nsh\n    cargo   test\n\nend"
        );
    }

    #[test]
    fn html_stays_text() {
        assert_eq!(plainly("a <b>c</b> <script>x"), "a <b>c</b> <script>x");
        assert_eq!(plainly("<div>\nx\n</div>"), "<div>\nx\n</div>");
    }

    #[test]
    fn a_table_has_columns() {
        let table = plainly("| a | b |\n|---|---|\n| one | `two` |");
        assert_eq!(table, "a    b\n───  ───\none  two");
    }

    #[test]
    fn each_word_has_its_style_and_controls_are_escaped() {
        let page = render(
            "**two words** \u{9b}31m",
            80,
            &Emphasis::new(crate::terminal::Color::Always),
        )
        .join("\n");
        assert_eq!(
            page,
            "\u{1b}[1mtwo\u{1b}[0m \u{1b}[1mwords\u{1b}[0m \\u{9b}31m"
        );
    }
}
