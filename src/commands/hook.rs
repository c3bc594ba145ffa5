//! `cc-etl hook`: lets Claude Code start a sync after each response and at the end of a session.

use super::sync::background;
use super::{database_path, print, warn};
use crate::cli::{Global, HookArguments, HookCommand, HookEdit};
use crate::database::folder_of;
use crate::discover;
use crate::error::{Error, Problem, Result};
use crate::settings::{self, EVENTS};
use crate::terminal::sanitize;
use similar::TextDiff;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub fn run(global: &Global, command: &HookCommand) -> Result<()> {
    if global.demo {
        let message = "the demo has no hooks; leave out --demo";
        return Err(Error::Usage(message.to_string()));
    }
    match command {
        HookCommand::Install(edit) => {
            let command = sync_command(global)?;
            edit_all(global, edit, |text| match text {
                None => Ok(Some(settings::new(&command))),
                Some(text) => settings::install(text, &command, is_ours).map(Some),
            })
        }
        HookCommand::Remove(edit) => edit_all(global, edit, |text| match text {
            Some(text) if settings::is_new(text) => Ok(None),
            Some(text) => settings::remove(text, is_ours).map(Some),
            None => Ok(None),
        }),
        HookCommand::Status(arguments) => status(global, arguments),
    }
}

/// The command of the hooks.
fn sync_command(global: &Global) -> Result<String> {
    let program = installed_program()?;
    let mut command = format!("{} sync --detach --quiet", quoted(&program)?);
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

/// The path of this program. A package manager links its newest version into a folder of PATH: that path stays valid.
fn installed_program() -> Result<PathBuf> {
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
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@%".contains(letter);
    Ok(match path.chars().all(is_plain) {
        true => path,
        false => format!("'{}'", path.replace('\'', r"'\''")),
    })
}

/// The settings of the given homes, else of those that Claude Code uses by default.
fn settings_files(arguments: &HookArguments) -> Result<Vec<PathBuf>> {
    let mut homes = arguments.config_dir.clone();
    if homes.is_empty() {
        homes = discover::default_homes()?;
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

/// Maps the text of a file to its new text; none means that there is no file.
type Edit<'a> = dyn Fn(Option<&str>) -> std::result::Result<Option<String>, settings::Refusal> + 'a;

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

/// Edits a file, and returns what was done.
fn edit_file(file: &Path, is_dry_run: bool, edit: &Edit) -> std::result::Result<String, Problem> {
    let failed = |error: io::Error| Problem::new(file, error);
    let before = read(file).map_err(failed)?;
    let after = edit(before.as_deref()).map_err(|why| {
        let message = format!("{why}; it is left as it is");
        Problem::new(file, message)
    })?;
    let name = file.display();
    if before == after {
        return Ok(format!("{name}: nothing to change"));
    }
    if is_dry_run {
        return Ok(difference(file, before.as_deref(), after.as_deref()));
    }
    let backup = match &before {
        None => None,
        Some(_) => Some(back_up(file).map_err(failed)?),
    };
    // Claude Code may have changed it meanwhile.
    if read(file).map_err(failed)? != before {
        return Err(Problem::new(file, "another program writes it; try again"));
    }
    let written = match &after {
        Some(after) => write(file, after),
        None => target_of(file).and_then(fs::remove_file),
    };
    written.map_err(failed)?;
    let what = match (&before, &after) {
        (None, _) => "created",
        (_, None) => "removed: it had only the hooks",
        _ => "changed",
    };
    Ok(match backup {
        None => format!("{name}: {what}"),
        Some(backup) => format!("{name}: {what}; {} has it as it was", backup.display()),
    })
}

fn difference(file: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = file.display().to_string();
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let lines = TextDiff::from_lines(before, after);
    let mut lines = lines.unified_diff();
    lines
        .header(&name, &name)
        .to_string()
        .trim_end()
        .to_string()
}

/// The text of a file; none if there is no file.
fn read(file: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn back_up(file: &Path) -> io::Result<PathBuf> {
    let backup = file.with_file_name("settings.json.cc-etl-backup");
    match fs::remove_file(&backup) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::copy(file, &backup)?;
    Ok(backup)
}

/// The file that a symbolic link leads to, which may be missing.
fn target_of(file: &Path) -> io::Result<PathBuf> {
    const LINKS: usize = 40;
    let mut target = file.to_path_buf();
    for _ in 0..LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = folder_of(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Replaces a file in one step: a reader finds the old text or the new one.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let target = target_of(file)?;
    let permissions = match fs::metadata(&target) {
        Ok(data) if data.permissions().readonly() => {
            return Err(io::Error::other("it is read-only"));
        }
        Ok(data) => Some(data.permissions()),
        Err(_) => None,
    };
    let mut new = tempfile::NamedTempFile::new_in(folder_of(&target))?;
    new.write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        new.as_file().set_permissions(permissions)?;
    }
    new.as_file().sync_all()?;
    let _: File = new.persist(&target).map_err(|error| error.error)?;
    Ok(())
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
    if let Some(failure) = background::last_failure(&database_path(global)?) {
        print(&sanitize(&failure))?;
    }
    match problems {
        0 => Ok(()),
        problems => Err(Error::Unreadable(problems)),
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
    Ok(format!("{status}\n  {command}"))
}
