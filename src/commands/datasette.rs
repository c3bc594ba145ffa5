//! `cc-etl datasette`: writes the configuration of Datasette, and starts it.

use super::{database_path, print};
use crate::cli::{DatasetteArguments, Global};
use crate::error::{Error, Result};
use crate::terminal::sanitize;
use crate::{database, datasette};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

const INSTALL: &str = "pip install 'datasette<1' datasette-dashboards";

/// Writes `metadata.yaml`, then starts Datasette or prints the command that does.
pub fn run(global: &Global, arguments: &DatasetteArguments) -> Result<()> {
    let path = database_path(global)?;
    database::open_read_only(&path)?;
    fs::create_dir_all(&arguments.out).map_err(Error::io(&arguments.out))?;
    let page = arguments.out.join("metadata.yaml");
    // Datasette names a database after its file.
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    write_private(&page, &datasette::metadata(&name))?;

    let mut command = command(&path, &page);
    if !arguments.serve {
        return match global.quiet {
            true => Ok(()),
            false => print(&sanitize(&format!(
                "{}\n\nStart it with:  {}\nInstall it with:  {INSTALL}",
                page.display(),
                shell_line(&command)
            ))),
        };
    }
    // Since 1.0 canned queries are read from the configuration file.
    if version()?.starts_with("1.") {
        command.arg("-c").arg(&page);
    }
    command.args(&arguments.options);
    let status = command.status().map_err(not_there)?;
    match status.success() {
        true => Ok(()),
        false => Err(Error::Unusable(format!("datasette exited with {status}"))),
    }
}

fn command(path: &Path, page: &Path) -> Command {
    let mut command = Command::new("datasette");
    command.arg("serve").arg(path).arg("-m").arg(page);
    // Suggesting facets scans every column of a large table.
    command.args(["--setting", "suggest_facets", "off"]);
    // A long prompt would fill the page.
    command.args(["--setting", "truncate_cells_html", "200"]);
    command
}

/// The version of the installed Datasette.
fn version() -> Result<String> {
    let output = Command::new("datasette").arg("--version").output();
    let output = output.map_err(not_there)?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text
        .split_whitespace()
        .last()
        .unwrap_or_default()
        .to_string())
}

fn not_there(error: std::io::Error) -> Error {
    Error::Usage(format!(
        "cannot start datasette: {error}; install it with: {INSTALL}"
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
