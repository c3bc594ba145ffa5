//! Lays out tables for people. A table fits the terminal: free text wraps, file names lose their beginning, headers wrap at
//! underscores, tokens are abbreviated, and if that is not enough the columns of least weight are dropped, and named below the
//! table. Dates, money, counts and ids are never cut.

mod text;

use crate::column::{Kind, SESSION_WIDTH};
use crate::format::QueryRows;
use crate::terminal::{Emphasis, abbreviated, ago, bar, counted, sanitize};
use crate::time_zone::TimeZone;
use crate::timestamp;
use rusqlite::types::Value;
use std::collections::HashSet;
use text::{end_of, last_of, start_of};
use unicode_width::UnicodeWidthStr;

pub use text::wrap;

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
    /// Whether to say how long ago the times of the first column were, if that is less than a week.
    pub has_ages: bool,
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
/// Columns of less weight than this are dropped before free text gets narrower than [`READABLE_TEXT_WIDTH`].
const TEXT_WEIGHT: u32 = 6;
const READABLE_TEXT_WIDTH: usize = 20;
const LEAST_TREND_WIDTH: usize = 7;
/// Older times have no age.
const LAST_AGE_S: u64 = 7 * 86_400;
/// Free text gets this much before anything else grows.
const GOOD_TEXT_WIDTH: usize = 32;
/// Longer cells of free text are cut.
const TEXT_LINES: usize = 3;

struct Column {
    name: String,
    /// The name without the unit that the cells have.
    header: String,
    kind: Kind,
    cells: Vec<String>,
    /// Instead of the cells and the total, if the table is narrow.
    short: Option<(Vec<String>, String)>,
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
        let mut column = Column::new(name, kind, cells, total, place == 0 || is_measured);
        if kind == Kind::Tokens {
            let cells = values.clone().map(short_cell).collect();
            let total = total_value(options.totals, &rows.columns[place]).map(short_cell);
            column.short = Some((cells, total.unwrap_or_else(|| column.total.clone())));
        }
        columns.push(column);
        if place == 0 && kind == Kind::Time && options.has_ages {
            columns.extend(Column::ages(values.clone()));
        }
        if is_measured {
            let shares = shares(&values.map(number).collect::<Vec<_>>());
            columns.extend(shares.map(Column::bar));
        }
    }
    columns
}

/// How long ago a time was, if that is less than a week.
pub fn age(moment: &str) -> Option<String> {
    let seconds = timestamp::seconds_since(moment)?;
    (seconds < LAST_AGE_S).then(|| ago(seconds))
}

/// The cell of the last row; its first one says what the row is.
fn total(totals: Option<&QueryRows>, name: &str, kind: Kind, place: usize) -> String {
    match total_value(totals, name) {
        Some(value) => kind.cell(value),
        None if place == 0 && totals.is_some() => "total".to_string(),
        None => String::new(),
    }
}

fn total_value<'r>(totals: Option<&'r QueryRows>, name: &str) -> Option<&'r Value> {
    let totals = totals?;
    let place = totals.columns.iter().position(|column| column == name)?;
    totals.rows.first()?.get(place)
}

fn short_cell(value: &Value) -> String {
    match value {
        Value::Integer(number) => abbreviated(*number),
        other => Kind::Tokens.cell(other),
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
        let unit = kind.unit(&name);
        Column {
            header: name[..name.len() - unit.len()].to_string(),
            name,
            kind,
            short: None,
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

    /// How long ago the times were; none if all of them are old.
    fn ages<'v>(values: impl Iterator<Item = &'v Value>) -> Option<Column> {
        let age = |value: &Value| match value {
            Value::Text(moment) => age(moment),
            _ => None,
        };
        let cells: Vec<String> = values.map(|value| age(value).unwrap_or_default()).collect();
        let is_shown = cells.iter().any(|cell| !cell.is_empty());
        is_shown.then(|| Column::new(String::new(), Kind::Age, cells, String::new(), false))
    }

    fn abbreviate(&mut self) {
        if let Some((cells, total)) = self.short.take() {
            let widths = cells.iter().chain([&total]).map(|cell| cell.width());
            self.content = widths.max().unwrap_or(0);
            (self.cells, self.total) = (cells, total);
        }
    }

    /// The least width that cuts nothing that must not be cut.
    fn least(&self) -> usize {
        let header = self
            .header
            .split_inclusive('_')
            .map(|part| part.width())
            .max();
        let content = match self.kind {
            Kind::Bar => LEAST_BAR_WIDTH,
            Kind::Session => self.prefix,
            Kind::Text | Kind::Models | Kind::Branch => self.content.min(self.least_text),
            Kind::Trend => self.content.min(LEAST_TREND_WIDTH),
            Kind::Path => self.content.min(LEAST_PATH_WIDTH),
            _ => self.content,
        };
        match self.text_lines {
            usize::MAX => content,
            _ => content.max(header.unwrap_or(0)),
        }
    }

    /// The least width at which free text is readable.
    fn readable(&self) -> usize {
        match self.kind == Kind::Text && self.text_lines != usize::MAX {
            true => self.least().max(self.content.min(READABLE_TEXT_WIDTH)),
            false => self.least(),
        }
    }

    fn full(&self) -> usize {
        self.content.max(self.header.width())
    }

    fn is_text(&self) -> bool {
        matches!(
            self.kind,
            Kind::Text | Kind::Path | Kind::Models | Kind::Branch
        )
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
            return wrap(&self.header, self.width, usize::MAX);
        }
        let mut lines = vec![String::new()];
        for part in self.header.split_inclusive('_') {
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
            Kind::Text | Kind::Models => wrap(&self.cells[row], self.width, self.text_lines),
            Kind::Branch => vec![start_of(&self.cells[row], self.width)],
            Kind::Trend => vec![last_of(&self.cells[row], self.width)],
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
    if needed(columns, Column::readable) > width {
        columns.iter_mut().for_each(Column::abbreviate);
    }
    let mut dropped = Vec::new();
    drop_columns(columns, width, Column::readable, TEXT_WEIGHT, &mut dropped);
    drop_columns(columns, width, Column::least, u32::MAX, &mut dropped);
    let start = match needed(columns, Column::readable) <= width {
        true => Column::readable,
        false => Column::least,
    };
    columns
        .iter_mut()
        .for_each(|column| column.width = start(column));
    let mut spare = width.saturating_sub(needed(columns, start));
    grow_texts(columns, &mut spare, GOOD_TEXT_WIDTH);
    grow(columns, &mut spare, |column| column.kind == Kind::Bar);
    grow_texts(columns, &mut spare, usize::MAX);
    grow(columns, &mut spare, |_| true);
    dropped
}

fn needed(columns: &[Column], width: impl Fn(&Column) -> usize) -> usize {
    let gaps = GAP.len() * columns.len().saturating_sub(1);
    columns.iter().map(width).sum::<usize>() + gaps
}

/// Drops the columns of least weight, below a limit, until the others have these widths.
fn drop_columns(
    columns: &mut Vec<Column>,
    width: usize,
    column_width: impl Fn(&Column) -> usize,
    limit: u32,
    dropped: &mut Vec<String>,
) {
    while needed(columns, &column_width) > width {
        let candidates = (0..columns.len()).filter(|place| !columns[*place].is_kept);
        let lightest = candidates
            .rev()
            .min_by_key(|place| columns[*place].weight());
        let Some(place) = lightest.filter(|place| columns[*place].weight() < limit) else {
            return;
        };
        let column = columns.remove(place);
        if !matches!(column.kind, Kind::Bar | Kind::Age) {
            dropped.insert(0, column.name);
        }
    }
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
        let is_elastic = matches!(column.kind, Kind::Bar | Kind::Trend);
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
                    Kind::Bar | Kind::Trend => emphasis.accent(cell),
                    Kind::Id | Kind::Session | Kind::Age => emphasis.faint(cell),
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

/// Joins names; of many only the first.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = names.iter().take(SHOWN).map(String::as_str);
    let text = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => text,
        more => format!("{text} and {}", counted(more as i64, "more column")),
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
            drawn.contains("on and on, and then some") && drawn.contains("████"),
            "{drawn}"
        );
        assert!(
            drawn.contains("not shown: response_count, uuid; --wide"),
            "{drawn}"
        );
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
    fn a_narrow_table_abbreviates_tokens_before_it_drops_anything() {
        let rows = QueryRows {
            columns: ["day", "input_tokens", "p95_duration_ms"]
                .map(str::to_string)
                .to_vec(),
            rows: vec![vec![
                text("2026-01-31"),
                Value::Integer(12_345_678),
                Value::Integer(2_000),
            ]],
        };
        let totals = QueryRows {
            columns: vec!["input_tokens".to_string()],
            rows: vec![vec![Value::Integer(351_371_936)]],
        };
        let at = |width| {
            let options = Options {
                width: Some(width),
                totals: Some(&totals),
                ..Options::default()
            };
            draw(&rows, &options)
        };
        let (narrow, wide) = (at(30), at(40));
        assert!(
            narrow.contains(" 12.3M ") && narrow.contains(" 351M"),
            "{narrow}"
        );
        assert!(
            narrow.contains("duration") && !narrow.contains("_ms"),
            "{narrow}"
        );
        assert!(
            wide.contains(" 12,345,678 ") && wide.contains("351,371,936"),
            "{wide}"
        );
    }

    #[test]
    fn times_of_the_last_week_have_an_age() {
        let moment = |age_s: i64| {
            let moment = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(age_s);
            text(&format!("{moment:.3}"))
        };
        let rows = |ages: [i64; 2]| QueryRows {
            columns: vec!["started_at".to_string()],
            rows: ages.map(|age| vec![moment(age)]).to_vec(),
        };
        let options = Options {
            has_ages: true,
            ..Options::default()
        };
        let drawn = draw(&rows([7_300, 8 * 86_400]), &options);
        assert_eq!(drawn.matches(" ago").count(), 1, "{drawn}");
        assert!(drawn.contains("2 h ago"), "{drawn}");
        assert!(!draw(&rows([9 * 86_400; 2]), &options).contains("ago"));
        assert!(!draw(&rows([60; 2]), &Options::default()).contains("ago"));
    }

    #[test]
    fn a_trend_keeps_its_end_and_free_text_stays_readable() {
        let rows = QueryRows {
            columns: ["title", "git_branch", "cost_trend"]
                .map(str::to_string)
                .to_vec(),
            rows: vec![vec![
                text("a title with several words"),
                text("feature/of-a-long-name"),
                text("▁▁▁▁▁▂▃▄▅▆▇█"),
            ]],
        };
        let at = |width| {
            draw(
                &rows,
                &Options {
                    width: Some(width),
                    ..Options::default()
                },
            )
        };
        assert!(at(80).contains("▁▁▁▁▁▂▃▄▅▆▇█"), "{}", at(80));
        assert!(at(50).contains("a title with several  "), "{}", at(50));
        let narrow = at(46);
        assert!(
            narrow.contains("feature/of-a-l…") && narrow.contains(" ▂▃▄▅▆▇█"),
            "{narrow}"
        );
        assert!(at(34).contains("not shown: git_branch"), "{}", at(34));
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
