//! `cc-etl mcp install`: makes the server known to Claude Code, by its command `claude mcp` if that is installed, else in its file.

use crate::cli::{Global, McpEdit, McpScope};
use crate::commands::edit::{edit_file, read};
use crate::commands::hook::installed_program;
use crate::commands::{database_path, print, warn};
use crate::discover;
use crate::error::{Error, Result};
use crate::service::shell_word;
use crate::settings::servers::{self, SERVERS};
use crate::terminal::sanitize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The name of the server in Claude Code.
const NAME: &str = "history";

pub fn install(global: &Global, edit: &McpEdit) -> Result<()> {
    let place = Place::of(edit.scope)?;
    let ours = command_of(global, edit.scope)?;
    let Some(claude) = claude() else {
        return place.edit(global, edit, |text, keys| match text {
            None => Ok(Some(servers::new(keys, NAME, &ours))),
            Some(text) => servers::install(text, keys, NAME, &ours, is_ours).map(Some),
        });
    };
    match place.command()? {
        Some(known) if known == ours => nothing_to_change(global, &place),
        Some(known) if !is_ours(&known) => Err(Error::Usage(format!(
            "{}: it has another server of the name {NAME}",
            place.file.display()
        ))),
        known => {
            if known.is_some() {
                call(&claude, global, edit, &["remove"], &[])?;
            }
            call(&claude, global, edit, &["add"], &ours)
        }
    }
}

pub fn remove(global: &Global, edit: &McpEdit) -> Result<()> {
    let place = Place::of(edit.scope)?;
    let Some(claude) = claude() else {
        return place.edit(global, edit, |text, keys| {
            let Some(text) = text else {
                return Ok(None);
            };
            match servers::is_new(text, keys, NAME) {
                true => Ok(None),
                false => servers::remove(text, keys, NAME, is_ours).map(Some),
            }
        });
    };
    match place.command()? {
        Some(known) if is_ours(&known) => call(&claude, global, edit, &["remove"], &[]),
        _ => nothing_to_change(global, &place),
    }
}

pub fn status() -> Result<()> {
    for scope in [McpScope::User, McpScope::Project, McpScope::Local] {
        let place = Place::of(scope)?;
        let status = match place.command()?.filter(|command| is_ours(command)) {
            None => "not installed".to_string(),
            Some(command) => format!("installed\n  {}", command.join(" ")),
        };
        let text = format!("{}: {}: {status}", scope.name(), place.file.display());
        print(&sanitize(&text))?;
    }
    Ok(())
}

/// The program, the command and the database, for Claude Code to run without a shell.
fn command_of(global: &Global, scope: McpScope) -> Result<Vec<String>> {
    let text = |path: &Path| match path.to_str() {
        Some(text) => Ok(text.to_string()),
        None => Err(Error::Usage(format!(
            "the path {} is not UTF-8",
            path.display()
        ))),
    };
    let program = match scope {
        // It is elsewhere on other machines.
        McpScope::Project => "cc-etl".to_string(),
        McpScope::User | McpScope::Local => text(&installed_program()?)?,
    };
    let mut command = vec![program, "mcp".to_string()];
    if global.demo {
        command.push("--demo".to_string());
    }
    if global.db.is_some() {
        let path = database_path(global)?;
        let path = std::path::absolute(&path).map_err(Error::io(&path))?;
        command.extend(["--db".to_string(), text(&path)?]);
    }
    Ok(command)
}

/// Whether a server is cc-etl, of any version and for any database.
fn is_ours(command: &[String]) -> bool {
    let program = command[0].trim_end_matches(".exe");
    program.ends_with("cc-etl") && command.get(1).is_some_and(|argument| argument == "mcp")
}

/// Where Claude Code keeps the servers of a scope.
struct Place {
    file: PathBuf,
    keys: Vec<String>,
}

impl Place {
    fn of(scope: McpScope) -> Result<Place> {
        let folder = || std::env::current_dir().map_err(Error::io("the current folder"));
        let servers = SERVERS.to_string();
        Ok(match scope {
            McpScope::User => Place {
                file: discover::global_settings()?,
                keys: vec![servers],
            },
            McpScope::Project => Place {
                file: folder()?.join(".mcp.json"),
                keys: vec![servers],
            },
            McpScope::Local => Place {
                file: discover::global_settings()?,
                keys: vec![
                    "projects".to_string(),
                    folder()?.display().to_string(),
                    servers,
                ],
            },
        })
    }

    fn keys(&self) -> Vec<&str> {
        self.keys.iter().map(String::as_str).collect()
    }

    /// The command of the server with our name.
    fn command(&self) -> Result<Option<Vec<String>>> {
        match read(&self.file).map_err(Error::io(&self.file))? {
            None => Ok(None),
            Some(text) => servers::command(&text, &self.keys(), NAME)
                .map_err(|why| Error::Usage(format!("{}: {why}", self.file.display()))),
        }
    }

    fn edit(
        &self,
        global: &Global,
        arguments: &McpEdit,
        edit: impl Fn(Option<&str>, &[&str]) -> std::result::Result<Option<String>, String>,
    ) -> Result<()> {
        let keys = self.keys();
        let done = edit_file(&self.file, arguments.dry_run, &|text| edit(text, &keys));
        match done {
            Ok(_) if global.quiet && !arguments.dry_run => Ok(()),
            Ok(done) => print(&sanitize(&done)),
            Err(problem) => {
                warn(&problem.to_string());
                Err(Error::Unwritten(1))
            }
        }
    }
}

fn nothing_to_change(global: &Global, place: &Place) -> Result<()> {
    match global.quiet {
        true => Ok(()),
        false => print(&sanitize(&format!(
            "{}: nothing to change",
            place.file.display()
        ))),
    }
}

/// The program of Claude Code, if it is on PATH.
fn claude() -> Option<PathBuf> {
    let names: &[&str] = match cfg!(windows) {
        true => &["claude.exe", "claude.cmd"],
        false => &["claude"],
    };
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|path| path.is_file())
}

/// Runs `claude mcp add` or `remove`, and prints it.
fn call(
    claude: &Path,
    global: &Global,
    edit: &McpEdit,
    what: &[&str],
    server: &[String],
) -> Result<()> {
    let mut arguments = vec!["mcp".to_string()];
    arguments.extend(what.iter().map(|word| word.to_string()));
    arguments.extend(["--scope", edit.scope.name(), NAME].map(str::to_string));
    if !server.is_empty() {
        arguments.push("--".to_string());
        arguments.extend_from_slice(server);
    }
    let words = arguments.iter().map(|word| shell_word(word));
    let shown = format!("claude {}", words.collect::<Vec<_>>().join(" "));
    if edit.dry_run || !global.quiet {
        print(&sanitize(&shown))?;
    }
    if edit.dry_run {
        return Ok(());
    }
    let output = Command::new(claude)
        .args(&arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(Error::io(claude))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::Usage(format!(
        "{shown}\nfailed with {}: {}",
        output.status,
        said.trim()
    )))
}
