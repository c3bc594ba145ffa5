//! `sessions-index.json` and `custom-title.json` -> session hints.

use super::extra::{Extra, parse_time};
use crate::discover::Place;
use crate::json::{self, parse_object};
use crate::record::object;
use crate::rows::{Document, SessionHint};

object! {
    /// `sessions-index.json`: written from January to about March 2026.
    pub struct IndexFile {
        "originalPath" => original_path: text,
        "entries" => entries: raw,
    }
}

object! {
    pub struct IndexEntry {
        "sessionId" => session_id: id,
        "customTitle" => custom_title: long_text,
        "summary" => summary: long_text,
        "firstPrompt" => first_prompt: long_text,
        "projectPath" => project_path: text,
        "gitBranch" => git_branch: text,
        "messageCount" => message_count: count,
        "created" => created: raw,
        "modified" => modified: raw,
    }
}

pub fn session_index(json: &str) -> Option<Vec<Document>> {
    let index: IndexFile = parse_object(json).ok()?;
    let entries = index
        .entries
        .and_then(|raw| json::list(raw.get()).ok())
        .unwrap_or_default();
    let hints = entries.iter().enumerate().map(|(position, raw)| {
        let entry: IndexEntry = parse_object(raw.get()).unwrap_or_default();
        let mut extra = Extra::from(&entry.rest);
        let project_path = entry.project_path.or_else(|| index.original_path.clone());
        Document::SessionHint(SessionHint {
            position: position as i64,
            session_id: entry.session_id.map(Into::into),
            custom_title: entry.custom_title.map(Into::into),
            summary: entry.summary.map(Into::into),
            first_prompt: entry.first_prompt.map(Into::into),
            project_path: project_path.map(Into::into),
            git_branch: entry.git_branch.map(Into::into),
            message_count: entry.message_count,
            created_at: entry
                .created
                .and_then(|raw| parse_time(raw, "created", &mut extra))
                .map(Into::into),
            modified_at: entry
                .modified
                .and_then(|raw| parse_time(raw, "modified", &mut extra))
                .map(Into::into),
            extra_json: extra.finish(),
            ..SessionHint::default()
        })
    });
    Some(hints.collect())
}

/// `custom-title.json`: written when another program renames a session.
pub fn custom_title(json: &str, place: &Place) -> Option<Vec<Document>> {
    let entry: IndexEntry = parse_object(json).ok()?;
    Some(vec![Document::SessionHint(SessionHint {
        session_id: place.session_id.clone(),
        custom_title: entry.custom_title.map(Into::into),
        ..SessionHint::default()
    })])
}
