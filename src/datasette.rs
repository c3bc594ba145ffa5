//! The configuration of Datasette: `metadata.yaml`, generated from the comments of the schema and the questions, a plugin
//! and templates.

use crate::database::VIEWS;
use crate::question;
use crate::schema_page;
use std::fmt::Write as _;

/// Configuration of the plugin datasette-dashboards, with the placeholder `DATABASE`.
const DASHBOARDS: &str = include_str!("../examples/datasette/dashboards.yaml");

/// The plugin and its templates, by path in the folder of the configuration.
const FILES: &[(&str, &str)] = &[
    (
        "plugins/cc_etl.py",
        include_str!("../examples/datasette/plugins/cc_etl.py"),
    ),
    (
        "templates/cc_etl_style.html",
        include_str!("../examples/datasette/templates/cc_etl_style.html"),
    ),
    (
        "templates/database.html",
        include_str!("../examples/datasette/templates/database.html"),
    ),
    (
        "templates/index.html",
        include_str!("../examples/datasette/templates/index.html"),
    ),
    (
        "templates/row.html",
        include_str!("../examples/datasette/templates/row.html"),
    ),
    (
        "templates/table.html",
        include_str!("../examples/datasette/templates/table.html"),
    ),
];

/// How Datasette displays a table or view.
struct Page {
    pub table: &'static str,
    /// The column that labels a row in the foreign keys of other tables.
    pub label: &'static str,
    /// The column to sort by, in descending order; by key if none.
    pub sort: Option<&'static str>,
    /// Facet columns; in large tables only indexed ones.
    pub facets: &'static [&'static str],
    /// Besides those whose name begins with `_`.
    pub is_hidden: bool,
}

const fn page(
    table: &'static str,
    label: &'static str,
    sort: Option<&'static str>,
    facets: &'static [&'static str],
) -> Page {
    Page {
        table,
        label,
        sort,
        facets,
        is_hidden: false,
    }
}

const fn hidden(table: &'static str, label: &'static str) -> Page {
    Page {
        is_hidden: true,
        ..page(table, label, None, &[])
    }
}

/// All tables, and the views that need more than a description.
#[rustfmt::skip]
const PAGES: &[Page] = &[
    page("sources", "root_path", None, &[]),
    page("files", "path", None, &["kind"]),
    hidden("archive_chunks", "position"),
    page("rejected_lines", "reason", None, &["reason"]),
    page("sync_runs", "started_at", Some("sync_run_id"), &[]),
    page("unknown_kinds", "name", Some("occurrence_count"), &["level"]),
    page("projects", "name", None, &[]),
    page("sessions", "title", Some("started_at"), &["project_id"]),
    page("agents", "agent_id", Some("started_at"), &["agent_type", "layout", "link_method"]),
    hidden("agent_links", "method"),
    page("messages", "uuid", None, &[]),
    page("message_copies", "reason", None, &["reason"]),
    page("content_blocks", "block_id", None, &[]),
    page("tool_uses", "name", None, &["name"]),
    hidden("tool_use_copies", "tool_use_id"),
    page("tool_results", "outcome", None, &[]),
    page("file_changes", "file_path", None, &["kind"]),
    page("git_operations", "kind", None, &["kind"]),
    page("web_requests", "url", None, &["kind"]),
    page("events", "type", None, &[]),
    page("queue_entries", "fate", Some("queued_at"), &["fate"]),
    page("task_notifications", "background_task_id", None, &["status"]),
    hidden("file_backups", "file_path"),
    page("history_prompts", "display", Some("prompted_at"), &[]),
    page("pasted_contents", "kind", None, &["kind"]),
    hidden("pastes", "cache_name"),
    page("todos", "content", None, &["status"]),
    page("tasks", "subject", None, &["status"]),
    page("plans", "slug", None, &[]),
    page("memory_notes", "name", None, &[]),
    hidden("tool_result_files", "name"),
    hidden("agent_metas", "agent_id"),
    page("workflow_runs", "name", Some("started_at"), &["status"]),
    hidden("session_hints", "session_id"),
    page("session_facets", "underlying_goal", None, &["outcome"]),
    page("session_metas", "session_id", Some("started_at"), &[]),
    page("usage_statistics", "activity_date", None, &["scope"]),
    page("api_responses", "api_message_id", Some("responded_at"), &[]),
    page("usage_lines", "duplicate_reason", None, &[]),
    page("model_prices", "model", None, &["origin"]),
    page("model_aliases", "model_name", None, &[]),
    page("outcomes", "outcome", None, &["outcome_group"]),
    page("prompt_kinds", "prompt_kind", None, &[]),
    page("trivial_texts", "trivial_text", None, &[]),
    page("correction_phrases", "correction_phrase", None, &[]),
    page("command_patterns", "command_pattern", None, &["verdict"]),
    page("budgets", "period", None, &[]),
    page("limit_samples", "limit_name", Some("sampled_at"), &["limit_name"]),
    hidden("settings", "setting"),
    page("time_zone_offsets", "begins_at", None, &[]),
    page("bi_session_days", "session_id", Some("activity_date"), &["model", "project"]),
    page("bi_days", "activity_date", Some("activity_date"), &["model", "project"]),
    page("bi_tools", "tool_name", Some("activity_date"), &["tool_name", "project"]),
    page("bi_feedback", "kind", Some("said_at"), &["kind", "is_trivial", "project"]),
    page("bi_sessions", "title", Some("started_at"), &["project", "main_model"]),
    page("_response_parts", "model", None, &[]),
    page("_tool_parts", "tool_name", None, &[]),
    page("_file_change_parts", "file_path", None, &[]),
    page("_correction_reasons", "correction_reason", None, &[]),
    page("_other_texts", "text", None, &[]),
    page("agent_tree", "", Some("started_at"), &[]),
    page("conversation", "", Some("sent_at"), &[]),
    page("daily_costs", "", Some("response_date"), &["model"]),
    page("denial_stats", "", Some("denial_rate"), &["tool_name"]),
    page("feedback", "", Some("said_at"), &["kind"]),
    page("model_costs", "", Some("cost_usd"), &[]),
    page("project_costs", "", Some("cost_usd"), &[]),
    page("prompts", "", Some("said_at"), &["kind"]),
    page("session_costs", "", Some("cost_usd"), &["project"]),
    page("session_overview", "", Some("started_at"), &["project"]),
    page("tool_stats", "", Some("call_count"), &[]),
];

/// Tables and views with full-text search, and the column with the rowids of the index.
const SEARCHED: &[(&str, &str)] = &[("content_blocks", "block_id"), ("_search_texts", "text_id")];

/// The files of the configuration for a database of this name, by path.
pub fn files(database: &str) -> impl Iterator<Item = (&'static str, String)> {
    let fixed = FILES.iter().map(|(path, text)| (*path, text.to_string()));
    fixed.chain([("metadata.yaml", metadata(database))])
}

/// Datasette 0.65 reads it with `-m`, 1.0 with `-m` and `-c`.
fn metadata(database: &str) -> String {
    let mut tables: Vec<(String, Yaml)> = Vec::new();
    for table in schema_page::tables() {
        let columns = table
            .columns
            .iter()
            .filter(|column| !column.comment.is_empty())
            .map(|column| (column.name.as_str(), column.comment.as_str()));
        tables.push((
            table.name.clone(),
            describe(&table.name, &table.grain, columns),
        ));
    }
    for ((name, grain), (_, sql)) in schema_page::views().iter().zip(VIEWS) {
        tables.push((
            name.clone(),
            describe(name, grain, schema_page::view_columns(sql)),
        ));
    }
    let content = map([
        ("tables", Yaml::Map(tables)),
        ("queries", Yaml::Map(questions())),
    ]);
    let page = map([
        ("title", text("Claude Code history")),
        (
            "description",
            text("Sessions, tool calls, costs and feedback of Claude Code; imported by cc-etl."),
        ),
        (
            "databases",
            Yaml::Map(vec![(database.to_string(), content)]),
        ),
    ]);
    let mut yaml = format!(
        "# Generated by `cc-etl datasette`. Datasette 0.65 reads it with -m, 1.0 with -m and -c.\n{}",
        page.render(0)
    );
    yaml.push_str(&DASHBOARDS.replace("DATABASE", &quoted(database)));
    // Within `plugins`, the last key of the dashboards.
    let own = map([
        ("database", text(database)),
        ("questions", Yaml::Map(groups())),
    ]);
    yaml.push_str("  cc-etl:\n");
    yaml.push_str(&own.render(2));
    yaml
}

/// The titles of the questions by group, for the index page.
fn groups() -> Vec<(String, Yaml)> {
    let mut groups: Vec<(String, Vec<(String, Yaml)>)> = Vec::new();
    for question in question::builtin() {
        let entry = (question.name, text(&question.title));
        match groups.iter_mut().find(|(name, _)| *name == question.group) {
            Some((_, entries)) => entries.push(entry),
            None => groups.push((question.group, vec![entry])),
        }
    }
    groups.sort_by_key(|(name, _)| question::group_place(name));
    let groups = groups.into_iter();
    groups
        .map(|(name, entries)| (name, Yaml::Map(entries)))
        .collect()
}

fn describe<'t>(
    name: &str,
    grain: &str,
    columns: impl Iterator<Item = (&'t str, &'t str)>,
) -> Yaml {
    let mut entries = vec![("description".to_string(), text(grain))];
    let columns: Vec<(String, Yaml)> = columns
        .map(|(column, comment)| (column.to_string(), text(comment)))
        .collect();
    if !columns.is_empty() {
        entries.push(("columns".to_string(), Yaml::Map(columns)));
    }
    let mut set = |key: &str, value: Yaml| entries.push((key.to_string(), value));
    if let Some(page) = PAGES.iter().find(|page| page.table == name) {
        if !page.label.is_empty() {
            set("label_column", text(page.label));
        }
        if let Some(column) = page.sort {
            set("sort_desc", text(column));
        }
        if !page.facets.is_empty() {
            set(
                "facets",
                Yaml::List(page.facets.iter().map(|facet| text(facet)).collect()),
            );
        }
    }
    let is_hidden = PAGES
        .iter()
        .any(|page| page.table == name && page.is_hidden);
    if is_hidden || name.starts_with('_') {
        entries.push(("hidden".to_string(), Yaml::True));
    }
    let mut set = |key: &str, value: Yaml| entries.push((key.to_string(), value));
    if let Some((_, key)) = SEARCHED.iter().find(|(searched, _)| *searched == name) {
        set("fts_table", text("search"));
        set("fts_pk", text(key));
    }
    Yaml::Map(entries)
}

fn questions() -> Vec<(String, Yaml)> {
    let entry = |question: &question::Question| {
        let mut description = escaped(&question.how_to_read);
        for parameter in &question.parameters {
            let (name, meaning) = (&parameter.name, escaped(&parameter.meaning));
            let _ = write!(description, "<br><b>{name}</b>: {meaning}");
        }
        let parameters = question.parameters.iter();
        let parameters = parameters.map(|parameter| text(&parameter.name));
        let mut entries = vec![
            ("title", text(&question.title)),
            ("description_html", text(&description)),
            ("hide_sql", Yaml::True),
            ("sql", text(question.sql.trim_end().trim_end_matches(';'))),
        ];
        if !question.parameters.is_empty() {
            entries.push(("params", Yaml::List(parameters.collect())));
        }
        (question.name.to_string(), map(entries))
    };
    question::builtin().iter().map(entry).collect()
}

/// The subset of YAML that the file uses.
enum Yaml {
    True,
    Text(String),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

fn text(text: &str) -> Yaml {
    Yaml::Text(text.to_string())
}

fn map<'k>(entries: impl IntoIterator<Item = (&'k str, Yaml)>) -> Yaml {
    let entries = entries.into_iter();
    Yaml::Map(
        entries
            .map(|(key, value)| (key.to_string(), value))
            .collect(),
    )
}

impl Yaml {
    /// Formats the value of a key at this depth.
    fn render(&self, depth: usize) -> String {
        let indent = "  ".repeat(depth);
        match self {
            Yaml::True => "true\n".to_string(),
            // Statements are block scalars, to stay readable.
            Yaml::Text(text) if text.contains('\n') => {
                let lines = text.lines().map(|line| format!("{indent}{line}\n"));
                let lines: String = lines.collect();
                format!("|-\n{}", lines.replace(&format!("{indent}\n"), "\n"))
            }
            Yaml::Text(text) => format!("{}\n", quoted(text)),
            Yaml::List(items) => {
                let items: Vec<String> = items
                    .iter()
                    .map(|item| item.render(depth).trim_end().to_string())
                    .collect();
                format!("[{}]\n", items.join(", "))
            }
            Yaml::Map(entries) => {
                let mut lines = String::new();
                for (key, value) in entries {
                    let gap = if matches!(value, Yaml::Map(_)) {
                        "\n"
                    } else {
                        " "
                    };
                    let _ = write!(
                        lines,
                        "{indent}{}:{gap}{}",
                        plain_key(key),
                        value.render(depth + 1)
                    );
                }
                lines
            }
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// A JSON string is a valid YAML string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn plain_key(key: &str) -> String {
    let is_plain = key.starts_with(|first: char| first.is_ascii_lowercase())
        && key
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    match is_plain {
        true => key.to_string(),
        false => quoted(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_a_page_and_every_page_names_existing_columns() {
        let tables = schema_page::tables();
        for table in &tables {
            let page = PAGES.iter().find(|page| page.table == table.name);
            let page = page.unwrap_or_else(|| panic!("{} has no page", table.name));
            let named = [page.label].into_iter().chain(page.sort);
            for column in named.chain(page.facets.iter().copied()) {
                let is_there = table.columns.iter().any(|other| other.name == column);
                assert!(is_there, "{}.{column}", table.name);
            }
        }
        for page in PAGES {
            let is_table = tables.iter().any(|table| table.name == page.table);
            let is_view = schema_page::views()
                .iter()
                .any(|(name, _)| name == page.table);
            assert!(is_table || is_view, "{}", page.table);
        }
    }

    #[test]
    fn no_question_has_the_name_of_a_table() {
        let tables = schema_page::tables().into_iter().map(|table| table.name);
        let views = schema_page::views().into_iter().map(|(name, _)| name);
        let taken: Vec<String> = tables.chain(views).collect();
        for question in question::builtin() {
            assert!(!taken.contains(&question.name), "{}", question.name);
        }
    }

    #[test]
    fn keys_that_are_not_plain_yaml_strings_are_quoted() {
        assert_eq!(plain_key("cc_etl"), "cc_etl");
        assert_eq!(plain_key("1e3"), "\"1e3\"");
        assert_eq!(plain_key("cc-etl: \"x\""), "\"cc-etl: \\\"x\\\"\"");
        assert_eq!(
            map([("sql", text("select 1\n\nfrom t"))]).render(0),
            "sql: |-\n  select 1\n\n  from t\n"
        );
    }
}
