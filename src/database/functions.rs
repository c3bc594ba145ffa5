//! Functions that the scripts under sql/resolve call and SQL has no words for.

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, Result};

/// Makes the functions known to a connection. No view uses them: a database can be read without this program.
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
        let prompt: Option<String> = context.get(0)?;
        Ok(prompt.map(|prompt| prompt_key(&prompt)))
    })?;
    connection.create_scalar_function("last_part", 1, flags, |context| {
        let path: Option<String> = context.get(0)?;
        Ok(path.map(|path| last_part(&path).to_string()))
    })
}

/// The working directory, or the folder above it, that a folder under `projects/` is named for.
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

/// Whether Claude Code gives this name to the folder for a path: every UTF-16 unit that is no ASCII letter or digit
/// becomes a dash. Of a long path the first 200 units, a dash and a hash, whose kind has changed: the prefix decides.
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

/// The repository of a path: for a worktree under `.claude/worktrees/` the folder above, or what it was made from.
fn repository_path<'a>(path: &'a str, original: Option<&'a str>) -> &'a str {
    for mark in ["/.claude/worktrees/", "\\.claude\\worktrees\\"] {
        if let Some((repository, _)) = path.split_once(mark) {
            return original
                .filter(|original| *original != path)
                .unwrap_or(repository);
        }
    }
    path
}

/// What tells whether a call and an agent have the same prompt: the words, in lower case, without the tag that a
/// teammate's prompt stands in.
fn prompt_key(prompt: &str) -> String {
    let prompt = prompt.trim();
    let inside = prompt
        .strip_prefix("<teammate-message")
        .and_then(|rest| rest.split_once('>'))
        .map_or(prompt, |(_, body)| {
            body.trim_end().trim_end_matches("</teammate-message>")
        });
    let words: Vec<String> = inside.split_whitespace().map(str::to_lowercase).collect();
    blake3::hash(words.join(" ").as_bytes())
        .to_hex()
        .to_string()
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
    fn a_folder_is_named_for_its_path_with_every_other_unit_a_dash() {
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
    fn a_session_may_have_begun_below_the_folder() {
        assert_eq!(project_path("/w/app/src/deep", "-w-app"), Some("/w/app"));
    }

    #[test]
    fn long_paths_are_told_by_their_first_200_units() {
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
    }

    #[test]
    fn prompts_are_the_same_whatever_their_blanks_and_tags() {
        assert_eq!(
            prompt_key("Look  at\nthe Tests"),
            prompt_key(" look at the tests ")
        );
        let tagged =
            "<teammate-message teammate_id=\"team-lead\">\nLook at the tests\n</teammate-message>";
        assert_eq!(prompt_key(tagged), prompt_key("look at the tests"));
    }

    #[test]
    fn the_name_is_the_last_part() {
        assert_eq!(last_part("/w/app/"), "app");
        assert_eq!(last_part(r"C:\GH\x"), "x");
        assert_eq!(last_part("/"), "/");
    }
}
