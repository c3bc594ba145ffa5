//! The README is run: its shell commands in their order, in a home of its own with the demo as `~/.claude`, and its
//! statements on the demo. The outputs it shows are theirs. `UPDATE_GOLDEN=1 cargo test` updates them. So are the commands of the
//! skill in `examples/skill`.

#![cfg(unix)] // its commands are those of a shell

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The width of the tables in the README.
const WIDTH: &str = "100";

#[test]
fn the_commands_of_the_readme_run_in_order_and_print_what_it_shows() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = fs::read_to_string(path).unwrap();
    let user = User::new();
    let mut updated = String::new();
    let mut output = None;
    let mut shown = 0;
    let mut rest = readme.as_str();
    while let Some((before, language, code, after)) = next_block(rest) {
        updated.push_str(before);
        rest = after;
        let code = match language {
            "sh" => {
                output = Some(user.run(code));
                code.to_string()
            }
            "sql" => {
                output = Some(user.query(code));
                code.to_string()
            }
            "text" => {
                shown += 1;
                output.take().expect("an output follows its command")
            }
            other => panic!("a block of {other:?} is not run"),
        };
        updated.push_str(&format!("```{language}\n{code}```\n"));
    }
    updated.push_str(rest);
    assert_eq!(shown, 7);
    for file in [".local/share/cc-etl/cc-etl.db", "report.html"] {
        assert!(user.home.path().join(file).is_file(), "{file}");
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(path, &updated).unwrap();
    }
    let readme = fs::read_to_string(path).unwrap();
    assert!(
        readme == updated,
        "README.md is out of date; UPDATE_GOLDEN=1 cargo test writes it"
    );
}

#[test]
fn the_commands_of_the_skill_run_in_order_and_find_something() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/skill/SKILL.md");
    let skill = fs::read_to_string(path).unwrap();
    let user = User::new();
    let mut count = 0;
    let mut rest = skill.as_str();
    while let Some((_, language, code, after)) = next_block(rest) {
        rest = after;
        assert_eq!(language, "sh");
        for command in code.lines() {
            count += 1;
            assert!(command.starts_with("cc-etl "), "{command}");
            let printed = user.run(command);
            let is_silent = command.ends_with(" --quiet") || command.contains(" --since 7d");
            assert!(
                is_silent || !printed.trim().is_empty() && printed.trim() != "[]",
                "{command} finds nothing"
            );
        }
    }
    assert!(count >= 15, "{count} commands");
}

#[test]
fn the_skill_says_what_it_is_for_as_claude_code_expects_it() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/skill/SKILL.md");
    let skill = fs::read_to_string(path).unwrap();
    let (_, rest) = skill.split_once("---\n").unwrap();
    let (header, _) = rest.split_once("\n---\n").unwrap();
    let field = |name: &str| {
        let found = header
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        found.unwrap_or_else(|| panic!("no {name}"))
    };
    assert!(skill.starts_with("---\n"));
    assert!(
        field("name")
            .chars()
            .all(|c| c.is_ascii_lowercase() || c == '-')
    );
    let description = field("description");
    assert!(description.len() <= 1024 && !description.contains([':', '<', '>', '#']));
    // What writes files needs the person's consent.
    for rule in field("allowed-tools").split(", ") {
        let command = rule
            .strip_prefix("Bash(cc-etl ")
            .unwrap()
            .strip_suffix(')')
            .unwrap();
        let command = command.split(' ').next().unwrap();
        assert!(
            ["sync", "search", "query", "advise", "daily"].contains(&command),
            "{rule}"
        );
    }
}

/// The text before the first block, the block's language and code, and the text after it.
fn next_block(text: &str) -> Option<(&str, &str, &str, &str)> {
    let begin = match text.starts_with("```") {
        true => 0,
        false => text.find("\n```")? + 1,
    };
    let (language, code) = text[begin + 3..].split_once('\n').unwrap();
    let end = match code.starts_with("```") {
        true => 0,
        false => code.find("\n```").unwrap() + 1,
    };
    Some((
        &text[..begin],
        language,
        &code[..end],
        &code[end + "```\n".len()..],
    ))
}

/// A person who has just installed the program.
struct User {
    home: TempDir,
}

impl User {
    fn new() -> User {
        let home = tempfile::tempdir().unwrap();
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/home");
        copy(&demo, &home.path().join(".claude"));
        let programs = home.path().join(".cargo/bin");
        fs::create_dir_all(&programs).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_cc-etl"), programs.join("cc-etl")).unwrap();
        // Those of the machine would change what it runs.
        for (name, script) in [
            ("systemctl", "exit 0"),
            ("launchctl", "exit 0"),
            ("crontab", "echo no crontab >&2; exit 1"),
            ("claude", "exit 0"),
            ("psql", "cat > /dev/null"),
        ] {
            let file = programs.join(name);
            fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
        }
        User { home }
    }

    /// Runs commands, and returns what they print.
    fn run(&self, commands: &str) -> String {
        let is_table = ["daily", "sessions", "query"]
            .iter()
            .any(|command| commands.starts_with(&format!("cc-etl --demo {command}")));
        let commands = match is_table {
            true => format!("{} --width {WIDTH}", commands.trim_end()),
            false => commands.to_string(),
        };
        let programs = std::env::var_os("PATH").unwrap();
        let path = std::iter::once(self.home.path().join(".cargo/bin"))
            .chain(std::env::split_paths(&programs));
        let output = Command::new("bash")
            .args(["-euo", "pipefail", "-c", &commands])
            .current_dir(self.home.path())
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("TZ", "UTC")
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success(),
            "{commands}\n{printed}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        lines_as_shown(&printed)
    }

    fn query(&self, sql: &str) -> String {
        let sql = sql.replace('\'', "'\\''");
        self.run(&format!("cc-etl --demo query --sql '{sql}'"))
    }
}

/// Without blanks at the ends of lines, and with the age of a sync that has just ended.
fn lines_as_shown(printed: &str) -> String {
    let line = |line: &str| {
        let line = line.trim_end();
        match line.split_once("last sync ") {
            Some((before, _)) => format!("{before}last sync 1 second ago\n"),
            None => format!("{line}\n"),
        }
    };
    printed.lines().map(line).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => {
                fs::copy(entry.path(), target).unwrap();
            }
        }
    }
}
