//! What the path of a file says about its content.

/// What the path of a file says about its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The kind of file.
    pub kind: Kind,
    /// How it is read.
    pub reading: Reading,
    /// The folder under `projects/`.
    pub directory_name: Option<String>,
    /// The session in the path.
    pub session_id: Option<String>,
    /// The agent in the file name.
    pub agent_id: Option<String>,
    /// Where the lines of the agent are stored.
    pub layout: Layout,
    /// The workflow run of the file.
    pub workflow_id: Option<String>,
}

/// The kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `projects/<dir>/<session>.jsonl`
    Session,
    /// `agent-<id>.jsonl`, next to the sessions or under `<session>/subagents/`
    Agent,
    /// `journal.jsonl` of a workflow
    Journal,
    /// Any other JSONL under `projects/`
    Transcript,
    /// `history.jsonl`
    History,
    /// `todos/*.json`
    Todo,
    /// `tasks/<list>/<n>.json`
    Task,
    /// `plans/<slug>.md`
    Plan,
    /// `<session>/tool-results/*`
    ToolResult,
    /// `paste-cache/<hash>.txt`, `image-cache/<session>/*`
    Paste,
    /// `file-history/<session>/<hash>@v<n>`
    FileBackup,
    /// `stats-cache.json`
    Statistics,
    /// `sessions-index.json`, `<session>/custom-title.json`
    SessionIndex,
    /// `agent-<id>.meta.json`
    AgentMeta,
    /// `<session>/workflows/*`
    Workflow,
    /// `projects/<dir>/memory/*.md`
    Memory,
    /// `usage-data/facets/<session>.json`
    SessionFacet,
    /// `usage-data/session-meta/<session>.json`
    SessionMeta,
    /// Everything else.
    Other,
}

impl Kind {
    /// Whether the path of a file names the session that its rows reference, whatever the file holds. The list of a task
    /// need not be a session, and transcripts name theirs in each line.
    pub fn is_of_session(self) -> bool {
        matches!(
            self,
            Kind::Todo
                | Kind::ToolResult
                | Kind::AgentMeta
                | Kind::Workflow
                | Kind::SessionFacet
                | Kind::SessionMeta
        )
    }
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Archived; every line is a record.
    Lines,
    /// Archived; the file as a whole is a document.
    Whole,
    /// Archived, but not parsed.
    Archive,
    /// Only its size is stored, because it has no use or may contain secrets.
    Count,
}

/// Where the lines of an agent are stored, which depends on the version of Claude Code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Among the lines of its session.
    Inline,
    /// In a file next to that of its session.
    Flat,
    /// In a file under `<session>/subagents/`.
    Nested,
    /// In a file under `<session>/subagents/workflows/`.
    Workflow,
}

impl Kind {
    /// The name in the database.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Session => "session",
            Kind::Agent => "agent",
            Kind::Journal => "journal",
            Kind::Transcript => "transcript",
            Kind::History => "history",
            Kind::Todo => "todo",
            Kind::Task => "task",
            Kind::Plan => "plan",
            Kind::ToolResult => "tool_result",
            Kind::Paste => "paste",
            Kind::FileBackup => "file_backup",
            Kind::Statistics => "statistics",
            Kind::SessionIndex => "session_index",
            Kind::AgentMeta => "agent_meta",
            Kind::Workflow => "workflow",
            Kind::Memory => "memory",
            Kind::SessionFacet => "session_facet",
            Kind::SessionMeta => "session_meta",
            Kind::Other => "other",
        }
    }
}

impl Layout {
    /// The name in the database.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Inline => "inline",
            Layout::Flat => "flat",
            Layout::Nested => "nested",
            Layout::Workflow => "workflow",
        }
    }
}

/// Classifies a file by its relative path.
pub fn classify(path: &str) -> Place {
    let parts: Vec<&str> = path.split('/').collect();
    let name = parts.last().copied().unwrap_or_default();
    let stem = name.strip_suffix(".jsonl").unwrap_or(name);
    let is_lines = stem.len() < name.len();
    let is_json = name.ends_with(".json");
    let place = |kind, reading| Place {
        kind,
        reading,
        directory_name: match parts.as_slice() {
            ["projects", directory, _, ..] => Some((*directory).to_string()),
            _ => None,
        },
        session_id: None,
        agent_id: None,
        layout: Layout::Inline,
        workflow_id: None,
    };
    let of_session = |kind, reading, session: &str| Place {
        session_id: Some(session.to_string()),
        ..place(kind, reading)
    };
    match parts.as_slice() {
        ["projects", _, _] if is_lines && is_uuid(stem) => {
            of_session(Kind::Session, Reading::Lines, stem)
        }
        ["projects", _, _] if is_lines && stem.starts_with("agent-") => Place {
            agent_id: agent_id(stem),
            layout: Layout::Flat,
            ..place(Kind::Agent, Reading::Lines)
        },
        ["projects", _, session, "subagents", folders @ .., _] => {
            let layout = match folders.first() {
                Some(&"workflows") => Layout::Workflow,
                _ => Layout::Nested,
            };
            let meta = name.strip_suffix(".meta.json");
            let (kind, reading, agent_id) = match (agent_id(stem), meta.and_then(agent_id)) {
                (_, Some(agent)) => (Kind::AgentMeta, Reading::Whole, Some(agent)),
                (Some(agent), _) if is_lines => (Kind::Agent, Reading::Lines, Some(agent)),
                _ if is_lines && stem == "journal" => (Kind::Journal, Reading::Lines, None),
                _ if is_lines => (Kind::Transcript, Reading::Lines, None),
                _ => (Kind::Other, Reading::Count, None),
            };
            Place {
                agent_id,
                layout,
                workflow_id: folders
                    .get(1)
                    .filter(|_| layout == Layout::Workflow)
                    .map(ToString::to_string),
                ..of_session(kind, reading, session)
            }
        }
        ["projects", _, .., _] if is_lines && stem == "journal" => {
            place(Kind::Journal, Reading::Lines)
        }
        ["projects", _, .., _] if is_lines => place(Kind::Transcript, Reading::Lines),
        ["projects", _, session, "tool-results", ..] => {
            of_session(Kind::ToolResult, Reading::Whole, session)
        }
        ["projects", _, session, "workflows", _] if is_json => {
            of_session(Kind::Workflow, Reading::Whole, session)
        }
        ["projects", _, session, "workflows", ..] => {
            of_session(Kind::Workflow, Reading::Archive, session)
        }
        ["projects", _, session, "custom-title.json"] => {
            of_session(Kind::SessionIndex, Reading::Whole, session)
        }
        ["projects", _, "sessions-index.json"] => place(Kind::SessionIndex, Reading::Whole),
        ["projects", _, "memory", ..] if name.ends_with(".md") => {
            place(Kind::Memory, Reading::Whole)
        }
        ["history.jsonl"] => place(Kind::History, Reading::Lines),
        ["todos", _] if is_json => {
            let stem = name.trim_end_matches(".json");
            let (session, agent) = match stem.split_once("-agent-") {
                Some((session, agent)) => (session, (agent != session).then(|| agent.to_string())),
                None => (stem, None),
            };
            Place {
                agent_id: agent,
                ..of_session(Kind::Todo, Reading::Whole, session)
            }
        }
        ["tasks", list, _] if is_json => of_session(Kind::Task, Reading::Whole, list),
        ["plans", ..] if name.ends_with(".md") => place(Kind::Plan, Reading::Whole),
        ["paste-cache", ..] => place(Kind::Paste, Reading::Whole),
        ["image-cache", session, ..] => of_session(Kind::Paste, Reading::Archive, session),
        ["file-history", session, _] => of_session(Kind::FileBackup, Reading::Archive, session),
        ["teams", ..] if is_json => place(Kind::Other, Reading::Archive),
        ["stats-cache.json"] => place(Kind::Statistics, Reading::Whole),
        ["usage-data", "facets", _] if is_json => of_session(
            Kind::SessionFacet,
            Reading::Whole,
            name.trim_end_matches(".json"),
        ),
        ["usage-data", "session-meta", _] if is_json => of_session(
            Kind::SessionMeta,
            Reading::Whole,
            name.trim_end_matches(".json"),
        ),
        _ => place(Kind::Other, Reading::Count),
    }
}

/// The agent of a file named `agent-<id>`.
fn agent_id(stem: &str) -> Option<String> {
    stem.strip_prefix("agent-").map(str::to_string)
}

/// Whether a text has the form of a UUID.
pub fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, byte)| match i {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = "0141fab3-8bf8-4b69-be1f-89552ccfce5d";

    #[test]
    fn files_are_classified_by_their_path() {
        let kind = |path: &str| classify(path).kind;
        assert_eq!(kind("history.jsonl"), Kind::History);
        assert_eq!(kind(&format!("projects/-w/{SESSION}.jsonl")), Kind::Session);
        assert_eq!(kind("projects/-w/agent-a12b3c4.jsonl"), Kind::Agent);
        assert_eq!(kind("projects/-w/notes.jsonl"), Kind::Transcript);
        assert_eq!(
            kind(&format!("projects/-w/{SESSION}/chat.jsonl")),
            Kind::Transcript
        );
        assert_eq!(
            kind(&format!(
                "projects/-w/{SESSION}/subagents/workflows/wf_1/journal.jsonl"
            )),
            Kind::Journal
        );
        let nested = classify(&format!(
            "projects/-w/{SESSION}/subagents/agent-aP1-x-9cf2.jsonl"
        ));
        assert_eq!(nested.kind, Kind::Agent);
        assert_eq!(nested.layout, Layout::Nested);
        assert_eq!(nested.agent_id.as_deref(), Some("aP1-x-9cf2"));
        assert_eq!(nested.session_id.as_deref(), Some(SESSION));
        assert_eq!(nested.directory_name.as_deref(), Some("-w"));
        let workflow = classify(&format!(
            "projects/-w/{SESSION}/subagents/workflows/wf_1/agent-a1.jsonl"
        ));
        assert_eq!(workflow.layout, Layout::Workflow);
        assert_eq!(classify("projects/-w/agent-a1.jsonl").layout, Layout::Flat);
        let meta = classify(&format!(
            "projects/-w/{SESSION}/subagents/agent-a1.meta.json"
        ));
        assert_eq!(
            (meta.kind, meta.agent_id.as_deref()),
            (Kind::AgentMeta, Some("a1"))
        );
        assert_eq!(
            kind(&format!("projects/-w/{SESSION}/tool-results/b1.txt")),
            Kind::ToolResult
        );
        assert_eq!(kind("projects/-w/sessions-index.json"), Kind::SessionIndex);
        assert_eq!(kind("projects/-w/memory/MEMORY.md"), Kind::Memory);
        assert_eq!(kind("tasks/list/1.json"), Kind::Task);
        let facet = classify(&format!("usage-data/facets/{SESSION}.json"));
        assert_eq!(
            (facet.kind, facet.session_id.as_deref()),
            (Kind::SessionFacet, Some(SESSION))
        );
        assert_eq!(
            kind(&format!("usage-data/session-meta/{SESSION}.json")),
            Kind::SessionMeta
        );
        assert_eq!(kind("usage-data/report.html"), Kind::Other);
        let todo = classify(&format!("todos/{SESSION}-agent-a1.json"));
        assert_eq!(
            (todo.session_id.as_deref(), todo.agent_id.as_deref()),
            (Some(SESSION), Some("a1"))
        );
        assert_eq!(
            classify(&format!("todos/{SESSION}-agent-{SESSION}.json")).agent_id,
            None
        );
    }

    #[test]
    fn what_may_hold_secrets_is_never_opened() {
        for path in [
            ".credentials.json",
            ".claude.json",
            "sessions/4242.0123abcd.key",
            "settings.json",
            "shell-snapshots/snapshot-bash-1.sh",
            "anything/new.json",
            "projects/-w/unknown.bin",
        ] {
            assert_eq!(classify(path).reading, Reading::Count, "{path}");
        }
    }
}
