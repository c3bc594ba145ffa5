//! Lays out tables for people. A table fits the terminal: free text wraps, file names lose their beginning, headers wrap at
//! underscores, and if that is not enough the columns of least weight are dropped, and named below the table. Dates, money,
//! counts and ids are never cut.

use crate::column::{Kind, SESSION_WIDTH};
use crate::format::QueryRows;
use crate::terminal::{Emphasis, bar, sanitize};
use crate::time_zone::TimeZone;
use rusqlite::types::Value;
use std::collections::HashSet;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How to draw a table.
#[derive(Default)]
pub struct Options<'o> {
    /// Columns of the terminal; unlimited if none.
    pub width: Option<usize>,
    pub emphasis: Emphasis,
    /// The column to picture as bars.
    pub measured: Option<&'o str>,
    /// Times are in this zone; in UTC if none.
    pub zone: Option<&'o TimeZone>,
    /// A last row, with the names of its columns.
    pub totals: Option<&'o QueryRows>,
    /// Whether money is what one unit costs: all digits count then.
    pub has_prices: bool,
    /// Whether it is a table of a document: all columns are free text, shown in full.
    pub is_prose: bool,
}

pub fn draw(rows: &QueryRows, options: &Options) -> String {
    let mut columns = match options.is_prose {
        true => columns_of_prose(rows, options.width),
        false => columns(rows, options),
    };
    let dropped = match options.width {
        Some(width) => fit(&mut columns, width),
        None => {
            columns
                .iter_mut()
                .for_each(|column| column.width = column.full());
            Vec::new()
        }
    };
    let emphasis = &options.emphasis;
    let mut lines = block(
        &columns,
        emphasis,
        |column| column.header_lines(),
        |line| emphasis.bold(line),
    );
    let rule: Vec<String> = columns
        .iter()
        .map(|column| "─".repeat(column.width))
        .collect();
    let rule = emphasis.faint(&rule.join(GAP));
    lines.push(rule.clone());
    for row in 0..rows.rows.len() {
        lines.extend(block(
            &columns,
            emphasis,
            |column| column.lines(row),
            str::to_string,
        ));
    }
    if options.totals.is_some() {
        lines.push(rule);
        lines.extend(block(
            &columns,
            emphasis,
            |column| vec![column.total.clone()],
            |line| emphasis.bold(line),
        ));
    }
    let mut notes = Vec::new();
    if let Some(zone) = options.zone
        && (columns.iter()).any(|column| column.kind == Kind::Time && column.content > 0)
    {
        notes.push(format!("times are in {}", sanitize(&zone.name)));
    }
    if !dropped.is_empty() {
        notes.push(format!(
            "not shown: {}; --wide shows all columns, --json too",
            list(&dropped)
        ));
    }
    if !notes.is_empty() {
        lines.push(String::new());
    }
    for note in notes {
        lines.extend(
            wrap(&note, options.width.unwrap_or(usize::MAX), usize::MAX)
                .iter()
                .map(|line| emphasis.faint(line)),
        );
    }
    lines.join("\n")
}

const GAP: &str = "  ";
const BAR_WIDTH: usize = 16;
const LEAST_BAR_WIDTH: usize = 6;
/// Free text is not shrunk further, and other columns are dropped instead.
const LEAST_TEXT_WIDTH: usize = 12;
const LEAST_PATH_WIDTH: usize = 20;
/// Free text gets this much before anything else grows.
const GOOD_TEXT_WIDTH: usize = 32;
/// Longer cells of free text are cut.
const TEXT_LINES: usize = 3;

struct Column {
    name: String,
    kind: Kind,
    cells: Vec<String>,
    /// Of a bar, between 0 and 1.
    shares: Vec<f64>,
    total: String,
    /// Of the widest cell.
    content: usize,
    /// Of a session id that is unique among those shown.
    prefix: usize,
    /// Of free text.
    least_text: usize,
    /// More lines of free text are cut.
    text_lines: usize,
    /// Never dropped: the first column, and the one that bars picture.
    is_kept: bool,
    width: usize,
}

/// The columns of a document keep all of their text, however narrow they become.
fn columns_of_prose(rows: &QueryRows, width: Option<usize>) -> Vec<Column> {
    let share = width.unwrap_or(usize::MAX) / rows.columns.len().max(1);
    let column = |(place, name): (usize, &String)| {
        let cells = rows.rows.iter().map(|row| Kind::Text.cell(&row[place]));
        let name = sanitize(name).into_owned();
        let name_width = name.width();
        let column = Column::new(name, Kind::Text, cells.collect(), String::new(), true);
        Column {
            content: column.content.max(name_width),
            least_text: share.saturating_sub(GAP.len()).clamp(1, LEAST_TEXT_WIDTH),
            text_lines: usize::MAX,
            ..column
        }
    };
    rows.columns.iter().enumerate().map(column).collect()
}

fn columns(rows: &QueryRows, options: &Options) -> Vec<Column> {
    let mut columns = Vec::new();
    for (place, name) in rows.columns.iter().enumerate() {
        let values = rows.rows.iter().map(|row| &row[place]);
        let kind = match Kind::of(name, values.clone()) {
            Kind::Money | Kind::Decimal(_) if options.has_prices => Kind::Price,
            kind => kind,
        };
        let is_measured = options.measured == Some(name.as_str());
        let total = total(options.totals, name, kind, place);
        let cell = |value| kind.local_cell(value, options.zone);
        let cells: Vec<String> = values.clone().map(cell).collect();
        let name = sanitize(name).replace(char::is_whitespace, " ");
        columns.push(Column::new(
            name,
            kind,
            cells,
            total,
            place == 0 || is_measured,
        ));
        if is_measured {
            let shares = shares(&values.map(number).collect::<Vec<_>>());
            columns.extend(shares.map(Column::bar));
        }
    }
    columns
}

/// The cell of the last row; its first one says what the row is.
fn total(totals: Option<&QueryRows>, name: &str, kind: Kind, place: usize) -> String {
    let Some(totals) = totals else {
        return String::new();
    };
    let found = totals.columns.iter().position(|column| column == name);
    let value = found.and_then(|place| totals.rows.first()?.get(place));
    match value {
        Some(value) => kind.cell(value),
        None if place == 0 => "total".to_string(),
        None => String::new(),
    }
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Integer(number) => *number as f64,
        Value::Real(number) => *number,
        _ => 0.0,
    }
}

/// The numbers as parts of the greatest; none if there is nothing to compare.
fn shares(numbers: &[f64]) -> Option<Vec<f64>> {
    let greatest = numbers.iter().copied().fold(0.0, f64::max);
    (greatest > 0.0).then(|| numbers.iter().map(|number| number / greatest).collect())
}

impl Column {
    fn new(name: String, kind: Kind, cells: Vec<String>, total: String, is_kept: bool) -> Column {
        let content = cells.iter().chain([&total]).map(|cell| cell.width()).max();
        let prefix = match kind {
            Kind::Session => unique_prefix(&cells),
            _ => 0,
        };
        Column {
            name,
            kind,
            shares: Vec::new(),
            content: content.unwrap_or(0),
            prefix,
            least_text: LEAST_TEXT_WIDTH,
            text_lines: TEXT_LINES,
            is_kept,
            width: 0,
            cells,
            total,
        }
    }

    fn bar(shares: Vec<f64>) -> Column {
        Column {
            shares,
            content: BAR_WIDTH,
            ..Column::new(String::new(), Kind::Bar, Vec::new(), String::new(), false)
        }
    }

    /// The least width that cuts nothing that must not be cut.
    fn least(&self) -> usize {
        let header = self
            .name
            .split_inclusive('_')
            .map(|part| part.width())
            .max();
        let content = match self.kind {
            Kind::Bar => LEAST_BAR_WIDTH,
            Kind::Session => self.prefix,
            Kind::Text => self.content.min(self.least_text),
            Kind::Path => self.content.min(LEAST_PATH_WIDTH),
            _ => self.content,
        };
        match self.text_lines {
            usize::MAX => content,
            _ => content.max(header.unwrap_or(0)),
        }
    }

    fn full(&self) -> usize {
        self.content.max(self.name.width())
    }

    fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Path)
    }

    /// Columns with less go first. One without any value, or with zeros alone, says nothing.
    fn weight(&self) -> u32 {
        let says_nothing = |cell: &String| ["", "0"].contains(&cell.as_str());
        match self.kind != Kind::Bar && self.cells.iter().all(says_nothing) {
            true => 0,
            false => self.kind.weight(self.content),
        }
    }

    fn header_lines(&self) -> Vec<String> {
        if self.text_lines == usize::MAX {
            return wrap(&self.name, self.width, usize::MAX);
        }
        let mut lines = vec![String::new()];
        for part in self.name.split_inclusive('_') {
            let last = lines.last_mut().expect("there is a line");
            match last.is_empty() || last.width() + part.width() <= self.width {
                true => last.push_str(part),
                false => lines.push(part.to_string()),
            }
        }
        lines
    }

    fn lines(&self, row: usize) -> Vec<String> {
        match self.kind {
            Kind::Bar => vec![bar(self.shares[row], self.width)],
            Kind::Text => wrap(&self.cells[row], self.width, self.text_lines),
            Kind::Path => vec![end_of(&self.cells[row], self.width)],
            Kind::Session if self.width < self.content => {
                vec![self.cells[row].chars().take(self.prefix).collect()]
            }
            _ => vec![self.cells[row].clone()],
        }
    }
}

/// The number of characters that tell the ids apart.
fn unique_prefix(ids: &[String]) -> usize {
    let distinct: HashSet<&String> = ids.iter().collect();
    let longest = distinct
        .iter()
        .map(|id| id.chars().count())
        .max()
        .unwrap_or(0);
    let is_unique = |length: &usize| {
        let prefixes: HashSet<String> = distinct
            .iter()
            .map(|id| id.chars().take(*length).collect())
            .collect();
        prefixes.len() == distinct.len()
    };
    (SESSION_WIDTH.min(longest)..longest)
        .find(is_unique)
        .unwrap_or(longest)
}

/// Gives each column its width, and drops columns until the table fits. Returns their names.
fn fit(columns: &mut Vec<Column>, width: usize) -> Vec<String> {
    let needed = |columns: &[Column]| -> usize {
        let gaps = GAP.len() * columns.len().saturating_sub(1);
        columns.iter().map(Column::least).sum::<usize>() + gaps
    };
    let mut dropped = Vec::new();
    while needed(columns) > width {
        let candidates = (0..columns.len()).filter(|place| !columns[*place].is_kept);
        let Some(place) = candidates
            .rev()
            .min_by_key(|place| columns[*place].weight())
        else {
            break;
        };
        let column = columns.remove(place);
        if column.kind != Kind::Bar {
            dropped.insert(0, column.name);
        }
    }
    columns
        .iter_mut()
        .for_each(|column| column.width = column.least());
    let mut spare = width.saturating_sub(needed(columns));
    grow_texts(columns, &mut spare, GOOD_TEXT_WIDTH);
    grow(columns, &mut spare, |column| column.kind == Kind::Bar);
    grow_texts(columns, &mut spare, usize::MAX);
    grow(columns, &mut spare, |_| true);
    dropped
}

/// Widens texts, those first that need most lines.
fn grow_texts(columns: &mut [Column], spare: &mut usize, limit: usize) {
    while *spare > 0 {
        let texts = columns.iter_mut().filter(|column| column.is_text());
        let short = texts.filter(|column| column.width < column.content.min(limit));
        let Some(column) = short.max_by_key(|column| 100 * column.content / column.width.max(1))
        else {
            return;
        };
        column.width += 1;
        *spare -= 1;
    }
}

/// Widens columns to their full width, as far as that is possible.
fn grow(columns: &mut [Column], spare: &mut usize, is_meant: impl Fn(&Column) -> bool) {
    for column in columns.iter_mut().filter(|column| is_meant(column)) {
        let more = column.full().saturating_sub(column.width);
        let is_elastic = matches!(column.kind, Kind::Bar);
        if more <= *spare || is_elastic {
            column.width += more.min(*spare);
            *spare -= more.min(*spare);
        }
    }
}

/// The lines of one row.
fn block(
    columns: &[Column],
    emphasis: &Emphasis,
    lines: impl Fn(&Column) -> Vec<String>,
    styled: impl Fn(&str) -> String,
) -> Vec<String> {
    let cells: Vec<Vec<String>> = columns.iter().map(lines).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(1);
    let line = |number: usize| {
        let mut line = String::new();
        let mut pending = 0;
        for (column, cell) in columns.iter().zip(&cells) {
            let cell = cell.get(number).map_or("", String::as_str);
            let blanks = column.width.saturating_sub(cell.width());
            let before = if column.kind.is_number() { blanks } else { 0 };
            if !cell.is_empty() {
                line.push_str(&" ".repeat(pending + before));
                pending = 0;
                let cell = match column.kind {
                    Kind::Bar => emphasis.accent(cell),
                    Kind::Id | Kind::Session => emphasis.faint(cell),
                    _ => cell.to_string(),
                };
                line.push_str(&styled(&cell));
                pending += blanks - before;
            } else {
                pending += column.width;
            }
            pending += GAP.len();
        }
        line
    };
    (0..height).map(line).collect()
}

/// Breaks a text into at most this many lines; what remains is cut.
pub fn wrap(text: &str, width: usize, limit: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = match lines.len() + 1 < limit {
            true => line_end(rest, width),
            false => rest.len(),
        };
        let (line, after) = rest.split_at(end);
        lines.push(match line.width() > width {
            true => start_of(line, width),
            false => line.trim_end().to_string(),
        });
        rest = after.trim_start();
    }
    lines
}

/// Where to break: after the last space that fits, else after the last separator of a long word, else anywhere.
fn line_end(text: &str, width: usize) -> usize {
    let fitting = fitting(text, width);
    if fitting == text.len() {
        return fitting;
    }
    let line = &text[..fitting];
    let next_is_space = text[fitting..].starts_with(' ');
    let indent = line.len() - line.trim_start().len();
    match line[indent..].rfind(' ') {
        _ if next_is_space => fitting,
        Some(space) => indent + space + 1,
        None => match line.rfind(['/', '_', '-', '.', ',']) {
            Some(separator) if separator > fitting / 2 => separator + 1,
            _ => fitting,
        },
    }
}

/// The number of bytes that fit into a width; at least one character.
fn fitting(text: &str, width: usize) -> usize {
    let mut used = 0;
    for (place, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > width && place > 0 {
            return place;
        }
    }
    text.len()
}

fn start_of(text: &str, width: usize) -> String {
    match text.width() > width {
        true => format!(
            "{}…",
            text[..fitting(text, width.saturating_sub(1))].trim_end()
        ),
        false => text.to_string(),
    }
}

fn end_of(text: &str, width: usize) -> String {
    let mut used = text.width();
    if used <= width {
        return text.to_string();
    }
    let mut rest = text.chars();
    while used >= width {
        match rest.next() {
            Some(character) => used -= character.width().unwrap_or(0).min(used),
            None => break,
        }
    }
    format!("…{}", rest.as_str())
}

/// Joins names; of many only the first.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = names.iter().take(SHOWN).map(String::as_str);
    let text = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => text,
        more => format!("{text} and {more} more columns"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_string())
    }

    fn sample() -> QueryRows {
        let names = [
            "responded_at",
            "title",
            "response_count",
            "cost_usd",
            "session_id",
            "uuid",
        ];
        let row = |title: &str, id: &str, cost| {
            vec![
                text("2026-01-31T09:15:00.000Z"),
                text(title),
                Value::Integer(1234),
                Value::Real(cost),
                text(id),
                text(id),
            ]
        };
        QueryRows {
            columns: names.map(str::to_string).to_vec(),
            rows: vec![
                row(
                    "a long title\nthat goes on and on, and then some",
                    "5e550001-0000-4000-8000-000000000001",
                    1234.5,
                ),
                row("短い", "5e550002-0000-4000-8000-000000000001", 0.0025),
            ],
        }
    }

    fn at(width: usize) -> String {
        let options = Options {
            width: Some(width),
            measured: Some("cost_usd"),
            ..Options::default()
        };
        draw(&sample(), &options)
    }

    #[test]
    fn a_narrow_table_wraps_text_shortens_sessions_and_drops_what_weighs_least() {
        let drawn = at(70);
        for line in drawn.lines() {
            assert!(line.width() <= 70, "{}: {line}\n{drawn}", line.width());
        }
        assert!(
            drawn.contains("2026-01-31 09:15") && drawn.contains("1,234.50"),
            "{drawn}"
        );
        assert!(
            drawn.contains(" 5e550001") && !drawn.contains("5e550001-"),
            "{drawn}"
        );
        assert!(
            drawn.contains("that goes on") && drawn.contains("████"),
            "{drawn}"
        );
        assert!(drawn.contains("not shown: uuid; --wide"), "{drawn}");
    }

    #[test]
    fn a_wide_table_shows_everything() {
        let drawn = at(200);
        assert!(
            drawn.contains("5e550001-0000-4000-8000-000000000001"),
            "{drawn}"
        );
        assert!(
            drawn.contains("a long title that goes on and on, and then some  "),
            "{drawn}"
        );
        assert!(
            drawn.contains("response_count") && !drawn.contains("not shown"),
            "{drawn}"
        );
        let unlimited = draw(&sample(), &Options::default());
        assert!(unlimited.contains("000001  5e550001"), "{unlimited}");
    }

    #[test]
    fn session_ids_keep_enough_characters_to_tell_them_apart() {
        let ids = ["5e550001-1000", "5e550001-2000", "5e550003-1000"].map(str::to_string);
        assert_eq!(unique_prefix(&ids), "5e550001-1".len());
        assert_eq!(unique_prefix(&ids[1..]), SESSION_WIDTH);
        assert_eq!(unique_prefix(&["s1".to_string()]), 2);
    }

    #[test]
    fn texts_wrap_at_spaces_and_long_words_at_separators() {
        assert_eq!(wrap("one two three", 8, 3), ["one two", "three"]);
        assert_eq!(
            wrap("mcp__browser_click now", 14, 3),
            ["mcp__browser_", "click now"]
        );
        assert_eq!(wrap("one two three four", 5, 2), ["one", "two…"]);
        assert_eq!(wrap("短い短い", 4, 3), ["短い", "短い"]);
        assert_eq!(wrap("", 4, 3), [""; 0]);
        assert_eq!(end_of("/home/dev/tea-shop/cart.ts", 12), "…hop/cart.ts");
    }

    #[test]
    fn a_table_of_a_document_keeps_all_columns_and_their_text() {
        let options = Options {
            width: Some(24),
            is_prose: true,
            ..Options::default()
        };
        let drawn = draw(&sample(), &options);
        assert!(drawn.lines().all(|line| line.width() <= 24), "{drawn}");
        assert!(
            !drawn.contains('…') && !drawn.contains("not shown"),
            "{drawn}"
        );
    }

    #[test]
    fn totals_are_below_their_columns() {
        let totals = QueryRows {
            columns: vec!["cost_usd".to_string()],
            rows: vec![vec![Value::Real(1234.5)]],
        };
        let options = Options {
            totals: Some(&totals),
            ..Options::default()
        };
        let drawn = draw(&sample(), &options);
        let last = drawn.lines().last().unwrap();
        assert!(
            last.starts_with("total  ") && last.ends_with("1,234.50"),
            "{drawn}"
        );
    }
}
