//! `cc-etl hook`: lets Claude Code start a sync after each response and at the end of a session.

use super::edit::{edit_file, read};
use super::sync::background;
use super::{database_path, print, warn};
use crate::cli::{Global, HookArguments, HookCommand, HookEdit};
use crate::discover;
use crate::error::{Error, Result};
use crate::service::shell_word;
use crate::settings::{self, EVENTS};
use crate::terminal::{counted, sanitize};
use std::fs;
use std::path::{Path, PathBuf};

pub fn run(global: &Global, command: &HookCommand) -> Result<()> {
    if global.demo {
        let message = "the demo has no hooks; leave out --demo";
        return Err(Error::Usage(message.to_string()));
    }
    match command {
        HookCommand::Install(arguments) => {
            let sync = command_of(global, "sync --detach --quiet")?;
            let statusline = command_of(global, "statusline")?;
            if !is_ours(&sync) || !is_our_line(&statusline) {
                let message = "the name of this program must begin with cc-etl, so that hook remove finds its hooks";
                return Err(Error::Usage(message.to_string()));
            }
            edit_all(global, &arguments.edit, |text| {
                let text = match text {
                    None => settings::new(&sync),
                    Some(text) => settings::install(text, &sync, is_ours)?,
                };
                let has_line = settings::status_line(&text)?.is_some_and(|line| is_our_line(&line));
                let is_replacing = arguments.replace_statusline;
                match has_line || arguments.statusline || is_replacing {
                    true => {
                        settings::install_status_line(&text, &statusline, is_replacing, is_our_line)
                    }
                    false => Ok(text),
                }
                .map(Some)
            })
        }
        HookCommand::Remove(edit) => edit_all(global, edit, |text| {
            let Some(text) = text else {
                return Ok(None);
            };
            let text = settings::remove_status_line(text, is_our_line)?;
            match settings::is_new(&text) {
                true => Ok(None),
                false => settings::remove(&text, is_ours).map(Some),
            }
        }),
        HookCommand::Status(arguments) => status(global, arguments),
    }
}

/// A command of this program for Claude Code, on the same database.
fn command_of(global: &Global, arguments: &str) -> Result<String> {
    let program = installed_program()?;
    let mut command = format!("{} {arguments}", quoted(&program)?);
    if global.db.is_some() {
        let path = database_path(global)?;
        let path = std::path::absolute(&path).map_err(Error::io(&path))?;
        command += &format!(" --db {}", quoted(&path)?);
    }
    Ok(command)
}

/// Whether a command of a hook is one of cc-etl, of any version and for any database.
fn is_ours(command: &str) -> bool {
    command.contains("cc-etl") && command.contains(" sync --detach")
}

/// The homes whose hooks sync this database.
pub fn homes_of(database: &Path) -> Vec<PathBuf> {
    let database = std::path::absolute(database).unwrap_or_default();
    let named = quoted(&database).unwrap_or_default();
    let default = super::data_folder().map(|folder| folder.join("cc-etl.db"));
    let is_default = default.is_some_and(|path| path == database);
    let syncs_it = |command: &String| match command.split_once(" --db ") {
        Some((_, path)) => path == named,
        None => is_default,
    };
    let mut homes = discover::default_homes().unwrap_or_default();
    homes.retain(|home| {
        let text = read(&home.join("settings.json")).ok().flatten();
        let text = text.filter(|text| !settings::are_hooks_disabled(text));
        let commands = text.and_then(|text| settings::commands(&text, EVENTS[0]).ok());
        let mut commands = commands.unwrap_or_default().into_iter();
        commands.any(|command| is_ours(&command) && syncs_it(&command))
    });
    homes
}

/// Whether a command of a status line is `cc-etl statusline` itself, of any version and for any database.
fn is_our_line(command: &str) -> bool {
    let Some((program, options)) = command.split_once(" statusline") else {
        return false;
    };
    let path = program.trim_matches('\'');
    let is_quoted = path.len() + 2 == program.len();
    let is_alone = is_quoted || !path.contains(char::is_whitespace);
    let name = path.rsplit(['/', '\\']).next();
    let is_ours = name.is_some_and(|name| name.starts_with("cc-etl"));
    is_alone && is_ours && (options.is_empty() || options.starts_with(" --db "))
}

/// The path of this program. A package manager links its newest version into a folder of PATH: that path stays valid.
pub fn installed_program() -> Result<PathBuf> {
    let program = std::env::current_exe().map_err(Error::io("cc-etl"))?;
    let real = fs::canonicalize(&program).unwrap_or(program.clone());
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let name = program.file_name().unwrap_or_default();
    let mut paths = std::env::split_paths(&folders).map(|folder| folder.join(name));
    let is_this = |path: &PathBuf| {
        path.is_absolute() && fs::canonicalize(path).is_ok_and(|path| path == real)
    };
    Ok(paths.find(is_this).unwrap_or(program))
}

/// A path for the shell that runs hooks: a POSIX shell, on Windows too.
fn quoted(path: &Path) -> Result<String> {
    let path = path.to_str().ok_or_else(|| {
        let message = format!("the path {} is not UTF-8", path.display());
        Error::Usage(message)
    })?;
    let path = match cfg!(windows) {
        true => path.replace('\\', "/"),
        false => path.to_string(),
    };
    Ok(shell_word(&path))
}

/// The settings of the given homes, else of those that Claude Code uses by default.
fn settings_files(arguments: &HookArguments) -> Result<Vec<PathBuf>> {
    let mut homes = arguments.config_dir.clone();
    if homes.is_empty() {
        homes = discover::default_homes().map_err(|error| {
            let error = error.to_string();
            let what = error.lines().next().unwrap_or_default();
            let how = "name a Claude home with --config-dir DIR or CLAUDE_CONFIG_DIR";
            Error::NoSource(format!("{what}\n{how}"))
        })?;
        homes.retain(|home| discover::product(home) == "claude-code");
    }
    for home in &homes {
        if !home.is_dir() {
            let message = format!("{} is not a folder", home.display());
            return Err(Error::NoSource(message));
        }
    }
    let files = homes.into_iter().map(|home| home.join("settings.json"));
    Ok(files.collect())
}

fn edit_all(
    global: &Global,
    arguments: &HookEdit,
    edit: impl Fn(Option<&str>) -> std::result::Result<Option<String>, settings::Refusal>,
) -> Result<()> {
    let mut problems = 0;
    for file in settings_files(&arguments.homes)? {
        match edit_file(&file, arguments.dry_run, &edit) {
            Ok(_) if global.quiet && !arguments.dry_run => {}
            Ok(done) => print(&sanitize(&done))?,
            Err(problem) => {
                warn(&problem.to_string());
                problems += 1;
            }
        }
    }
    match problems {
        0 => Ok(()),
        problems => Err(Error::Unwritten(problems)),
    }
}

fn status(global: &Global, arguments: &HookArguments) -> Result<()> {
    let mut problems = 0;
    for file in settings_files(arguments)? {
        let name = file.display();
        match status_of(&file) {
            Ok(status) => print(&sanitize(&format!("{name}: {status}")))?,
            Err(why) => {
                warn(&format!("{name}: {why}"));
                problems += 1;
            }
        }
    }
    if let Some(run) = background::last_run(&database_path(global)?) {
        print(&sanitize(&run.sentence()))?;
    }
    match problems {
        0 => Ok(()),
        problems => Err(Error::CheckFailed(format!(
            "{} could not be read",
            counted(problems, "file")
        ))),
    }
}

fn status_of(file: &Path) -> std::result::Result<String, settings::Refusal> {
    let Some(text) = read(file).map_err(|error| error.to_string())? else {
        return Ok("not installed".to_string());
    };
    let mut found = Vec::new();
    for event in EVENTS {
        let commands = settings::commands(&text, event)?;
        let command = commands.into_iter().find(|command| is_ours(command));
        found.extend(command.map(|command| (event, command)));
    }
    let Some((_, command)) = found.first() else {
        return Ok("not installed".to_string());
    };
    let line = settings::status_line(&text)?.filter(|line| is_our_line(line));
    let mut status = match found.len() == EVENTS.len() {
        true => "installed".to_string(),
        false => format!(
            "installed only for {}; cc-etl hook install adds the rest",
            found[0].0
        ),
    };
    if settings::are_hooks_disabled(&text) {
        status += ", but its disableAllHooks turns all hooks off";
    }
    status += &format!("\n  {command}");
    if let Some(line) = line {
        status += &format!("\n  {line}");
    }
    Ok(status)
}
