//! SQL functions for the scripts of `sql/derive`.

use crate::machine::Machine;
use crate::normalize::usage_number;
use crate::record;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, Result};

/// Registers the functions. Views do not use them, so that other programs can read the database.
pub fn register(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("project_path", 2, flags, |context| {
        let cwd: Option<String> = context.get(0)?;
        let directory_name: Option<String> = context.get(1)?;
        Ok(cwd
            .zip(directory_name)
            .and_then(|(cwd, name)| project_path(&cwd, &name).map(str::to_string)))
    })?;
    connection.create_scalar_function("repository_path", 2, flags, |context| {
        let path: Option<String> = context.get(0)?;
        let original: Option<String> = context.get(1)?;
        Ok(path.map(|path| repository_path(&path, original.as_deref()).to_string()))
    })?;
    connection.create_scalar_function("prompt_key", 1, flags, |context| {
        let prompt = context.get_raw(0).as_str_or_null()?;
        Ok(prompt.map(prompt_key))
    })?;
    connection.create_scalar_function("collapsed", 1, flags, |context| {
        let text = context.get_raw(0).as_str_or_null()?;
        Ok(text.map(collapsed))
    })?;
    connection.create_scalar_function("priced_model", 1, flags, |context| {
        let name: Option<String> = context.get(0)?;
        Ok(name.map(|name| priced_model(&name)))
    })?;
    connection.create_scalar_function("regional_model", 1, flags, |context| {
        let name: Option<String> = context.get(0)?;
        Ok(name.and_then(|name| regional_model(&name)))
    })?;
    connection.create_scalar_function("count_of", 1, flags, |context| {
        let json = context.get_raw(0).as_str_or_null()?;
        Ok(json.and_then(record::count))
    })?;
    connection.create_scalar_function("usage_number", 2, flags, |context| {
        let json = context.get_raw(0).as_str_or_null()?;
        let column = context.get_raw(1).as_str()?;
        Ok(json.and_then(|json| usage_number(json, column)))
    })?;
    connection.create_scalar_function("machine_id", 1, flags, |context| {
        let name: String = context.get(0)?;
        Ok(Machine::with_name(&name).id)
    })?;
    connection.create_scalar_function("last_part", 1, flags, |context| {
        let path: Option<String> = context.get(0)?;
        Ok(path.map(|path| last_part(&path).to_string()))
    })
}

/// A text with one space in place of each run of white space, and none around it.
fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The working directory or its ancestor from which the name of a folder under `projects/` was made.
fn project_path<'a>(cwd: &'a str, directory_name: &str) -> Option<&'a str> {
    let mut path = cwd;
    loop {
        if is_named_for(directory_name, path) {
            return Some(path);
        }
        let end = path.rfind(['/', '\\'])?;
        path = if end == 0 { return None } else { &path[..end] };
    }
}

/// Whether Claude Code names the folder of a path like this. It replaces every UTF-16 unit that is not an ASCII letter or digit
/// by a dash. Long names are the first 200 units, a dash and a hash; the hash function has changed, so only the prefix counts.
fn is_named_for(directory_name: &str, path: &str) -> bool {
    let encoded: String = path
        .encode_utf16()
        .map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => byte as char,
            _ => '-',
        })
        .collect();
    match encoded.get(..200) {
        Some(prefix) if encoded.len() > 200 => {
            directory_name.len() > 201
                && directory_name.starts_with(prefix)
                && directory_name.as_bytes()[200] == b'-'
        }
        _ => encoded == directory_name,
    }
}

/// A version as an integer: 2.1.49 is 2001049.
pub fn version_number(version: &str) -> Option<i64> {
    let mut parts = version
        .split(['.', '-', '+'])
        .map(|part| part.parse::<i64>().ok());
    let (major, minor, patch) = (parts.next()??, parts.next()??, parts.next()??);
    let number = major.checked_mul(1_000_000)?;
    number
        .checked_add(minor.checked_mul(1000)?)?
        .checked_add(patch)
}

/// The lower of two versions; unparsable ones are higher than all others.
pub fn lower_version<'a>(a: Option<&'a str>, b: Option<&'a str>) -> Option<&'a str> {
    let order = |version: &&str| {
        (
            version_number(version).unwrap_or(i64::MAX),
            version.to_string(),
        )
    };
    a.into_iter().chain(b).min_by_key(order)
}

/// The model name in the price table: without provider, region, date and variant, and with dashes for dots. Names without
/// `claude` are unchanged.
pub fn priced_model(name: &str) -> String {
    let lower = name.trim().to_lowercase();
    let Some((_, mut model)) = split_provider(&lower) else {
        return name.to_string();
    };
    for mark in ["@", "[", ":"] {
        model = model.split_once(mark).map_or(model, |(before, _)| before);
    }
    let mut model = model.replace('.', "-");
    loop {
        let shorter = ["-v1", "-v2", "-latest", "-fast"]
            .iter()
            .find_map(|suffix| model.strip_suffix(suffix))
            .or_else(|| strip_date(&model));
        match shorter {
            Some(shorter) => model = shorter.to_string(),
            None => break,
        }
    }
    // `claude-4-opus` is the old word order, and `claude-opus-4-0` is `claude-opus-4`.
    for family in ["opus", "sonnet"] {
        if model == format!("claude-4-{family}") || model == format!("claude-{family}-4-0") {
            return format!("claude-{family}-4");
        }
    }
    model
}

/// The name of a model bound to a region, in the price table. Bedrock writes the region before `anthropic.`, or in the path if it is
/// that of AWS GovCloud; Vertex AI has it in the path of a resource, unless that is global.
pub fn regional_model(name: &str) -> Option<String> {
    let lower = name.trim().to_lowercase();
    let (provider, _) = split_provider(&lower)?;
    let region = match provider.strip_suffix("anthropic.") {
        _ if provider.contains("us-gov") => "us-gov.anthropic.",
        Some(before) => {
            let regions = ["us.", "eu.", "jp.", "au.", "apac."];
            let region = regions.iter().find(|region| before.ends_with(*region));
            return Some(format!(
                "{}anthropic.{}",
                region.unwrap_or(&""),
                priced_model(name)
            ));
        }
        None => match provider.split_once("/locations/") {
            Some((_, location)) if !location.starts_with("global/") => "vertex.regional.",
            _ => return None,
        },
    };
    Some(format!("{region}{}", priced_model(name)))
}

/// Splits what the provider puts before the name of a model: `us.anthropic.`, `vertex_ai/`, `openrouter/anthropic/`,
/// `bedrock/claude_platform/`.
fn split_provider(name: &str) -> Option<(&str, &str)> {
    let last_part = name.rfind('/').map_or(0, |slash| slash + 1);
    let at = name[last_part..].find("claude")?;
    Some(name.split_at(last_part + at))
}

/// Strips the date at the end of a name.
fn strip_date(model: &str) -> Option<&str> {
    let (before, date) = model.rsplit_once('-')?;
    (date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit())).then_some(before)
}

/// The repository of a path. For a worktree under `.claude/worktrees/` or `.worktrees/` it is that of `original`, else the folder
/// above.
fn repository_path<'a>(path: &'a str, original: Option<&'a str>) -> &'a str {
    let marks = [
        "/.claude/worktrees/",
        "\\.claude\\worktrees\\",
        "/.worktrees/",
        "\\.worktrees\\",
    ];
    let Some(end) = marks.iter().filter_map(|mark| path.find(mark)).min() else {
        return path;
    };
    match original.filter(|original| *original != path) {
        Some(original) => repository_path(original, None),
        None => &path[..end],
    }
}

/// A hash that matches the prompt of a call with that of a sub-agent: of the lower-case words, without the tag around the
/// prompt of a teammate.
fn prompt_key(prompt: &str) -> String {
    let prompt = prompt.trim();
    let inside = prompt
        .strip_prefix("<teammate-message")
        .and_then(|rest| rest.split_once('>'))
        .map_or(prompt, |(_, body)| {
            body.trim_end().trim_end_matches("</teammate-message>")
        });
    let mut hasher = blake3::Hasher::new();
    for (index, word) in inside.split_whitespace().enumerate() {
        if index > 0 {
            hasher.update(b" ");
        }
        hasher.update(word.to_lowercase().as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

fn last_part(path: &str) -> &str {
    let trimmed = path.trim_end_matches(['/', '\\']);
    match trimmed.rfind(['/', '\\']) {
        Some(slash) => &trimmed[slash + 1..],
        None if trimmed.is_empty() => path,
        None => trimmed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_collapsed() {
        assert_eq!(collapsed("\n fix\tthe\u{a0}\r\n test\n"), "fix the test");
        assert_eq!(collapsed(" \n"), "");
    }

    #[test]
    fn a_model_bound_to_a_region_has_a_price_of_its_own() {
        for (written, regional) in [
            (
                "us.anthropic.claude-opus-5-v1:0",
                Some("us.anthropic.claude-opus-5"),
            ),
            (
                "arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
                Some("eu.anthropic.claude-sonnet-4-5"),
            ),
            (
                "global.anthropic.claude-opus-5",
                Some("anthropic.claude-opus-5"),
            ),
            ("anthropic.claude-opus-5", Some("anthropic.claude-opus-5")),
            (
                "bedrock/us-gov-west-1/anthropic.claude-opus-5",
                Some("us-gov.anthropic.claude-opus-5"),
            ),
            (
                "projects/p/locations/europe-west1/publishers/anthropic/models/claude-haiku-4-5@20251001",
                Some("vertex.regional.claude-haiku-4-5"),
            ),
            (
                "projects/p/locations/global/publishers/anthropic/models/claude-haiku-4-5",
                None,
            ),
            ("vertex_ai/claude-haiku-4-5", None),
            ("claude-opus-5", None),
            ("gpt-6", None),
        ] {
            assert_eq!(regional_model(written).as_deref(), regional, "{written}");
        }
    }

    #[test]
    fn a_folder_name_is_its_path_with_dashes() {
        assert_eq!(
            project_path("/a/.claude/b", "-a--claude-b"),
            Some("/a/.claude/b")
        );
        assert_eq!(
            project_path(r"C:\GH\ras-commander", "C--GH-ras-commander"),
            Some(r"C:\GH\ras-commander")
        );
        assert_eq!(
            project_path("/tmp/emoji-😀-x", "-tmp-emoji----x"),
            Some("/tmp/emoji-😀-x")
        );
        assert_eq!(project_path("/other", "-tmp"), None);
    }

    #[test]
    fn a_session_may_start_in_a_subfolder() {
        assert_eq!(project_path("/w/app/src/deep", "-w-app"), Some("/w/app"));
    }

    #[test]
    fn long_paths_match_by_their_first_200_units() {
        let path = format!("/tmp/{}", "w".repeat(196));
        let name = format!("-tmp-{}-seh04n", "w".repeat(195));
        assert_eq!(project_path(&path, &name), Some(path.as_str()));
        let exactly = format!("/tmp/{}", "w".repeat(195));
        assert_eq!(
            project_path(&exactly, &format!("-tmp-{}", "w".repeat(195))),
            Some(exactly.as_str())
        );
    }

    #[test]
    fn a_worktree_folds_into_its_repository() {
        assert_eq!(
            repository_path("/w/app/.claude/worktrees/fix", None),
            "/w/app"
        );
        assert_eq!(
            repository_path(r"C:\app\.claude\worktrees\fix", None),
            r"C:\app"
        );
        assert_eq!(repository_path("/w/app", Some("/elsewhere")), "/w/app");
        assert_eq!(repository_path("/w/cli/.worktrees/1", None), "/w/cli");
        assert_eq!(
            repository_path("/w/cli/.worktrees/1/.claude/worktrees/x", None),
            "/w/cli"
        );
        assert_eq!(repository_path(r"C:\w\cli\.worktrees\1", None), r"C:\w\cli");
        assert_eq!(
            repository_path("/w/cli/.claude/worktrees/x", Some("/w/cli/.worktrees/1")),
            "/w/cli"
        );
        assert_eq!(repository_path("/w/.worktrees", None), "/w/.worktrees");
    }

    #[test]
    fn prompt_keys_ignore_blanks_case_and_tags() {
        assert_eq!(
            prompt_key("Look  at\nthe Tests"),
            prompt_key(" look at the tests ")
        );
        let tagged =
            "<teammate-message teammate_id=\"team-lead\">\nLook at the tests\n</teammate-message>";
        assert_eq!(prompt_key(tagged), prompt_key("look at the tests"));
    }

    #[test]
    fn a_model_name_is_reduced_to_its_bare_name() {
        for (written, priced) in [
            ("claude-opus-5", "claude-opus-5"),
            ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
            ("us.anthropic.claude-sonnet-5-v1:0", "claude-sonnet-5"),
            (
                "anthropic.claude-3-5-sonnet-20241022-v2:0",
                "claude-3-5-sonnet",
            ),
            ("vertex_ai/claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
            ("claude-sonnet-4-5@default", "claude-sonnet-4-5"),
            ("openrouter/anthropic/claude-opus-4.6", "claude-opus-4-6"),
            ("databricks-claude-opus-4-1", "claude-opus-4-1"),
            ("claude-sonnet-4-6[1m]", "claude-sonnet-4-6"),
            ("claude-3-7-sonnet-latest", "claude-3-7-sonnet"),
            ("claude-opus-5-5-fast", "claude-opus-5-5"),
            ("claude-4-opus-20250514", "claude-opus-4"),
            ("claude-sonnet-4-0", "claude-sonnet-4"),
            ("claude-opus-4-20250514", "claude-opus-4"),
            ("glm-5.2-air", "glm-5.2-air"),
            ("gpt-5", "gpt-5"),
        ] {
            assert_eq!(priced_model(written), priced, "{written}");
        }
    }

    #[test]
    fn versions_compare_as_numbers() {
        assert!(version_number("2.1.9") < version_number("2.1.52"));
        assert_eq!(version_number("2.1.49"), Some(2_001_049));
        assert_eq!(version_number("nightly"), None);
    }

    #[test]
    fn the_last_part_is_the_name() {
        assert_eq!(last_part("/w/app/"), "app");
        assert_eq!(last_part(r"C:\GH\x"), "x");
        assert_eq!(last_part("/"), "/");
    }
}
