//! Generates `sql/README.md` from the statements of the schema and their comments.

use crate::database::{SCHEMA_VERSION, VIEWS, schema};
use std::fmt::Write as _;

/// A table, parsed from its statement.
pub struct Table {
    pub name: String,
    /// The banner above it in the schema.
    pub section: String,
    /// The first comment: what one row is.
    pub grain: String,
    pub columns: Vec<Column>,
}

pub struct Column {
    pub name: String,
    pub kind: String,
    /// The table it refers to.
    pub references: Option<String>,
    pub is_optional: bool,
    /// The allowed values, if a check lists them.
    pub values: Vec<String>,
    pub comment: String,
}

/// The tables of the schema, in its order.
pub fn tables() -> Vec<Table> {
    let tables = schema::tables().map(|statement| {
        let mut table = Table {
            name: statement.name.to_string(),
            section: statement.section.to_string(),
            grain: String::new(),
            columns: Vec::new(),
        };
        let lines = statement.sql.lines().skip(1);
        let body = lines.take_while(|line| !line.starts_with(')'));
        body.for_each(|line| table.read_line(line));
        table
    });
    tables.collect()
}

impl Table {
    fn read_line(&mut self, line: &str) {
        let (code, comment) = match line.split_once("--") {
            Some((code, comment)) => (code.trim(), comment.trim()),
            None => (line.trim(), ""),
        };
        let first_word = code.split_whitespace().next().unwrap_or_default();
        if code.is_empty() {
            if self.columns.is_empty() {
                append(&mut self.grain, comment);
            }
        } else if ["unique", "primary", "check", "foreign"].contains(&first_word) {
            // A constraint of the table.
        } else if code.starts_with('\'') || code.starts_with("))") {
            // The values of a check, one per line.
            if let Some(column) = self.columns.last_mut() {
                let value = code.split('\'').nth(1).unwrap_or_default();
                match (value.is_empty(), comment.is_empty()) {
                    (true, _) => append(&mut column.comment, comment),
                    (false, true) => column.values.push(format!("`{value}`")),
                    (false, false) => column.values.push(format!("`{value}` ({comment})")),
                }
            }
        } else {
            self.columns.push(Column::read(code, comment));
        }
    }
}

impl Column {
    fn read(code: &str, comment: &str) -> Column {
        let words: Vec<&str> = code.trim_end_matches(',').split_whitespace().collect();
        let target = words
            .iter()
            .position(|word| *word == "references")
            .and_then(|at| words.get(at + 1));
        let values = match code.split_once(" in (") {
            Some((_, list)) => list
                .split('\'')
                .skip(1)
                .step_by(2)
                .map(|value| format!("`{value}`"))
                .collect(),
            None => Vec::new(),
        };
        Column {
            name: words.first().copied().unwrap_or_default().to_string(),
            kind: words.get(1).copied().unwrap_or_default().to_string(),
            references: target.map(|name| name.to_string()),
            is_optional: !code.contains("not null") && !code.contains("primary key"),
            values,
            comment: comment.to_string(),
        }
    }
}

fn append(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push(' ');
    }
    text.push_str(more);
}

/// The names of the views, with their first comments.
pub fn views() -> Vec<(String, String)> {
    let grain = |sql: &str| {
        let mut grain = String::new();
        for line in sql
            .lines()
            .skip(1)
            .map_while(|line| line.trim().strip_prefix("--"))
        {
            append(&mut grain, line.trim());
        }
        grain
    };
    let views = VIEWS
        .iter()
        .map(|(name, sql)| (name.to_string(), grain(sql)));
    views.collect()
}

/// The columns of a view with a comment after them in its last select.
pub fn view_columns(sql: &str) -> impl Iterator<Item = (&str, &str)> {
    let last = sql.rfind("\nselect\n").unwrap_or_default();
    sql[last..].lines().filter_map(|line| {
        let (code, comment) = line.split_once(" -- ")?;
        let name = code.trim_end_matches(',').rsplit([' ', '.']).next()?;
        (!name.is_empty()).then_some((name, comment))
    })
}

pub fn markdown() -> String {
    let tables = tables();
    let mut page = String::new();
    let _ = writeln!(
        page,
        "# The schema\n\n\
        Version {SCHEMA_VERSION}. Made by `cc-etl schema --format markdown` from [schema.sql](schema.sql) and \
        [views/](views); do not edit.\n"
    );
    page.push_str("| table | one row per |\n|---|---|\n");
    for table in &tables {
        let grain = first_sentence(&table.grain).trim_start_matches("One row per ");
        let _ = writeln!(page, "| [{0}](#{0}) | {1} |", table.name, cell(grain));
    }
    page.push_str("\n| view | one row per |\n|---|---|\n");
    for (name, grain) in views() {
        let _ = writeln!(
            page,
            "| [{name}](views/{name}.sql) | {} |",
            cell(grain.trim_start_matches("One row per "))
        );
    }
    let mut section = "";
    for table in &tables {
        if table.section != section {
            section = &table.section;
            let _ = writeln!(page, "\n## {section}\n");
            diagram(&mut page, section, &tables);
        }
        table_page(&mut page, table);
    }
    page
}

/// The foreign keys of a section, as a Mermaid diagram.
fn diagram(page: &mut String, section: &str, tables: &[Table]) {
    page.push_str("```mermaid\nerDiagram\n");
    for table in tables.iter().filter(|table| table.section == section) {
        for column in &table.columns {
            if let Some(target) = &column.references {
                let many = if column.is_optional {
                    "|o--o{"
                } else {
                    "||--o{"
                };
                let _ = writeln!(page, "    {target} {many} {} : {}", table.name, column.name);
            }
        }
    }
    page.push_str("```\n");
}

fn table_page(page: &mut String, table: &Table) {
    let _ = writeln!(page, "\n### {}\n\n{}\n", table.name, table.grain);
    page.push_str("| column | type | |\n|---|---|---|\n");
    for column in &table.columns {
        let mut about = column.comment.clone();
        if let Some(target) = &column.references {
            append(&mut about, &format!("→ [{target}](#{target})"));
        }
        if !column.values.is_empty() {
            let separator = if about.is_empty() { "" } else { ": " };
            let _ = write!(about, "{separator}{}", column.values.join(", "));
        }
        let kind = match column.is_optional {
            true => format!("{}, optional", column.kind),
            false => column.kind.clone(),
        };
        let _ = writeln!(page, "| `{}` | {kind} | {} |", column.name, cell(&about));
    }
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ")
        .map_or(text, |(first, _)| first)
        .trim_end_matches('.')
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}
