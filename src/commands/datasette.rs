//! `cc-etl datasette`: writes the configuration of Datasette, and starts it.

use super::{database_path, print};
use crate::cli::{DatasetteArguments, Global};
use crate::error::{Error, Result};
use crate::stop::Stop;
use crate::terminal::sanitize;
use crate::{database, datasette};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const INSTALL: &str = "pip install 'datasette<1' datasette-dashboards";

/// How often to look whether Datasette or the user ended the run.
const INTERVAL: Duration = Duration::from_millis(50);

/// How long Datasette may take to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// Writes the configuration, then starts Datasette or prints the command that does. Without a folder the configuration
/// lasts as long as Datasette runs.
pub fn run(global: &Global, arguments: &DatasetteArguments) -> Result<()> {
    let path = database_path(global)?;
    database::open_read_only(&path)?;
    let Some(out) = &arguments.out else {
        let folder = tempfile::Builder::new().prefix("cc-etl-").tempdir();
        let folder = folder.map_err(Error::io(std::env::temp_dir()))?;
        write(&path, folder.path())?;
        return serve(global, &path, folder.path(), &arguments.options);
    };
    write(&path, out)?;
    if arguments.serve {
        return serve(global, &path, out, &arguments.options);
    }
    if !arguments.options.is_empty() {
        return Err(Error::Usage(
            "options for Datasette have no effect unless it is started: add --serve, or leave out --out".to_string(),
        ));
    }
    let mut command = Command::new("datasette");
    add_arguments(&mut command, &path, out);
    match global.quiet {
        true => Ok(()),
        false => print(&sanitize(&format!(
            "{}\n\nStart it with:  {}\nInstall it with:  {INSTALL}",
            out.display(),
            shell_line(&command)
        ))),
    }
}

/// Writes the files of the configuration.
fn write(path: &Path, out: &Path) -> Result<()> {
    // Datasette names a database after its file.
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    for (file, content) in datasette::files(&name) {
        let file = out.join(file);
        let folder = database::folder_of(&file);
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
        write_private(&file, &content)?;
    }
    Ok(())
}

/// Starts Datasette and waits for its end. It ends with this program, however this program ends: our plugin ends Datasette
/// when its standard input is closed.
fn serve(global: &Global, path: &Path, folder: &Path, options: &[String]) -> Result<()> {
    let mut command = launcher()?;
    let program = command.get_program().to_string_lossy().into_owned();
    add_arguments(&mut command, path, folder);
    // Since 1.0 canned queries are read from the configuration file.
    if program == "datasette" && version()?.starts_with("1.") {
        command.arg("-c").arg(folder.join("metadata.yaml"));
    }
    command.args(options);
    if !global.quiet {
        let how = match program.as_str() {
            "datasette" => "",
            _ => " with uvx, which downloads it the first time",
        };
        print(&sanitize(&format!(
            "Starting Datasette{how}, to read {}. Press Ctrl-C to end it.",
            path.display()
        )))?;
    }
    let stop = Stop::listen()?;
    command.env("CC_ETL_END_WITH_STDIN", "1");
    let mut child = command.stdin(Stdio::piped()).spawn().map_err(missing)?;
    match wait(&mut child, &stop).map_err(Error::io(&program))? {
        Some(status) if !status.success() && !stop.is_requested() => {
            Err(Error::Unusable(format!("{program} exited with {status}")))
        }
        _ => Ok(()),
    }
}

/// Waits until the child ends; ends it when the user ends this program.
fn wait(child: &mut Child, stop: &Stop) -> std::io::Result<Option<ExitStatus>> {
    // Open until Datasette is to end.
    let input = child.stdin.take();
    while !stop.is_requested() {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(INTERVAL);
    }
    drop(input);
    let asked = Instant::now();
    while asked.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(INTERVAL);
    }
    child.kill()?;
    child.wait().map(Some)
}

/// Datasette if it is installed, else uvx, which runs it from a cache of its own.
fn launcher() -> Result<Command> {
    if is_installed("datasette") {
        return Ok(Command::new("datasette"));
    }
    if !is_installed("uvx") {
        return Err(Error::Usage(format!(
            "Datasette is not installed; install it with: {INSTALL}\nor install uv, which runs it without that: https://docs.astral.sh/uv"
        )));
    }
    let mut command = Command::new("uvx");
    command.args(["--from", "datasette<1", "--with", "datasette-dashboards"]);
    command.arg("datasette");
    Ok(command)
}

fn is_installed(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&folders).any(|folder: PathBuf| folder.join(&file).is_file())
}

fn add_arguments(command: &mut Command, path: &Path, folder: &Path) {
    command.arg("serve").arg(path);
    command.arg("-m").arg(folder.join("metadata.yaml"));
    command.arg("--plugins-dir").arg(folder.join("plugins"));
    command.arg("--template-dir").arg(folder.join("templates"));
    // Suggesting facets scans every column of a large table.
    command.args(["--setting", "suggest_facets", "off"]);
    // On a large history some views take longer than the default of one second.
    command.args(["--setting", "sql_time_limit_ms", "10000"]);
    // A long prompt would fill the page.
    command.args(["--setting", "truncate_cells_html", "200"]);
}

/// The version of the installed Datasette.
fn version() -> Result<String> {
    let output = Command::new("datasette").arg("--version").output();
    let output = output.map_err(missing)?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text
        .split_whitespace()
        .last()
        .unwrap_or_default()
        .to_string())
}

fn missing(error: std::io::Error) -> Error {
    Error::Usage(format!(
        "cannot start Datasette: {error}; install it with: {INSTALL}"
    ))
}

/// Formats a command for a POSIX shell.
fn shell_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| {
        let word = word.to_string_lossy();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
        match word.bytes().all(is_plain) {
            true => word.to_string(),
            false => format!("'{}'", word.replace('\'', "'\\''")),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Writes a file with mode 0600.
fn write_private(path: &Path, content: &str) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    let written = database::open_private(path, &mut options)
        .and_then(|mut file| file.write_all(content.as_bytes()));
    written.map_err(Error::io(path))
}
