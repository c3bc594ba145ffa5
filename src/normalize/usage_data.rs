//! `usage-data/facets/` and `usage-data/session-meta/`, which `/insights` writes -> session facets and session metas.

use super::extra::{Extra, parse_time};
use crate::discover::Place;
use crate::json::{Raw, parse_object};
use crate::record::object;
use crate::rows::{Document, SessionFacet, SessionMeta};

object! {
    pub struct FacetFile {
        "session_id" => session_id: text,
        "underlying_goal" => underlying_goal: long_text,
        "goal_categories" => goal_categories: raw,
        "outcome" => outcome: text,
        "user_satisfaction_counts" => user_satisfaction_counts: raw,
        "claude_helpfulness" => claude_helpfulness: text,
        "session_type" => session_type: text,
        "friction_counts" => friction_counts: raw,
        "friction_detail" => friction_detail: long_text,
        "primary_success" => primary_success: text,
        "brief_summary" => brief_summary: long_text,
    }
}

pub fn session_facet(json: &str, place: &Place) -> Option<Vec<Document>> {
    let facet: FacetFile = parse_object(json).ok()?;
    let mut extra = Extra::from(&facet.rest);
    Some(vec![Document::SessionFacet(SessionFacet {
        session_id: named_session(facet.session_id.as_deref(), place, &mut extra),
        underlying_goal: facet.underlying_goal.map(Into::into),
        goal_categories_json: raw(facet.goal_categories),
        outcome: facet.outcome.map(Into::into),
        user_satisfaction_counts_json: raw(facet.user_satisfaction_counts),
        claude_helpfulness: facet.claude_helpfulness.map(Into::into),
        session_type: facet.session_type.map(Into::into),
        friction_counts_json: raw(facet.friction_counts),
        friction_detail: facet.friction_detail.map(Into::into),
        primary_success: facet.primary_success.map(Into::into),
        brief_summary: facet.brief_summary.map(Into::into),
        extra_json: extra.finish(),
        ..SessionFacet::default()
    })])
}

object! {
    pub struct MetaFile {
        "session_id" => session_id: text,
        "project_path" => project_path: text,
        "first_prompt" => first_prompt: long_text,
        "tool_counts" => tool_counts: raw,
        "tool_error_categories" => tool_error_categories: raw,
        "duration_minutes" => duration_minutes: count,
        "user_message_count" => user_message_count: count,
        "assistant_message_count" => assistant_message_count: count,
        "user_interruptions" => interruption_count: count,
        "tool_errors" => tool_error_count: count,
        "git_commits" => git_commit_count: count,
        "git_pushes" => git_push_count: count,
        "files_modified" => changed_file_count: count,
        "lines_added" => lines_added: count,
        "lines_removed" => lines_removed: count,
        "input_tokens" => input_tokens: count,
        "output_tokens" => output_tokens: count,
        "start_time" => start_time: raw,
    }
}

pub fn session_meta(json: &str, place: &Place) -> Option<Vec<Document>> {
    let meta: MetaFile = parse_object(json).ok()?;
    let mut extra = Extra::from(&meta.rest);
    let started_at = meta
        .start_time
        .and_then(|raw| parse_time(raw, "start_time", &mut extra));
    Some(vec![Document::SessionMeta(SessionMeta {
        session_id: named_session(meta.session_id.as_deref(), place, &mut extra),
        project_path: meta.project_path.map(Into::into),
        first_prompt: meta.first_prompt.map(Into::into),
        tool_counts_json: raw(meta.tool_counts),
        tool_error_categories_json: raw(meta.tool_error_categories),
        duration_minutes: meta.duration_minutes,
        user_message_count: meta.user_message_count,
        assistant_message_count: meta.assistant_message_count,
        interruption_count: meta.interruption_count,
        tool_error_count: meta.tool_error_count,
        git_commit_count: meta.git_commit_count,
        git_push_count: meta.git_push_count,
        changed_file_count: meta.changed_file_count,
        lines_added: meta.lines_added,
        lines_removed: meta.lines_removed,
        input_tokens: meta.input_tokens,
        output_tokens: meta.output_tokens,
        started_at: started_at.map(Into::into),
        extra_json: extra.finish(),
        ..SessionMeta::default()
    })])
}

/// The session that the file is named for. If the file itself names another one, that is kept as JSON.
fn named_session(written: Option<&str>, place: &Place, extra: &mut Extra) -> String {
    let session_id = place.session_id.clone().unwrap_or_default();
    if let Some(written) = written.filter(|written| *written != session_id) {
        extra.push_text("session_id", written);
    }
    session_id
}

fn raw(json: Option<Raw<'_>>) -> Option<String> {
    json.map(|raw| raw.get().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::classify;

    #[test]
    fn a_facet_has_its_counts_as_json_and_unknown_keys_beside_them() {
        let json = r#"{"session_id":"other","underlying_goal":"Sell tea","outcome":7,
            "user_satisfaction_counts":{"satisfied":2},"friction_counts":{},"new":true}"#;
        let rows = session_facet(json, &classify("usage-data/facets/s.json")).unwrap();
        let [Document::SessionFacet(facet)] = rows.as_slice() else {
            panic!()
        };
        assert_eq!(facet.session_id, "s");
        assert_eq!(facet.underlying_goal.as_deref(), Some("Sell tea"));
        assert_eq!(facet.outcome, None);
        assert_eq!(
            facet.user_satisfaction_counts_json.as_deref(),
            Some(r#"{"satisfied":2}"#)
        );
        assert_eq!(
            facet.extra_json.as_deref(),
            Some(r#"{"outcome":7,"new":true,"session_id":"other"}"#)
        );
        assert!(session_facet("[]", &classify("usage-data/facets/s.json")).is_none());
    }

    #[test]
    fn a_session_meta_has_whole_numbers_in_columns_and_others_as_json() {
        let json = r#"{"session_id":"s","start_time":"2026-01-10T10:00:00.000Z","duration_minutes":2.5,"input_tokens":10}"#;
        let rows = session_meta(json, &classify("usage-data/session-meta/s.json")).unwrap();
        let [Document::SessionMeta(meta)] = rows.as_slice() else {
            panic!()
        };
        assert_eq!((meta.duration_minutes, meta.input_tokens), (None, Some(10)));
        assert_eq!(meta.started_at.as_deref(), Some("2026-01-10T10:00:00.000Z"));
        assert_eq!(
            meta.extra_json.as_deref(),
            Some(r#"{"duration_minutes":2.5}"#)
        );
    }
}
