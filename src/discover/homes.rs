//! Finds the homes to read when none is named, and tells which program writes a home.

use crate::error::{Error, Result};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the Claude desktop app with a home for each session of Cowork.
const COWORK: &str = "local-agent-mode-sessions";

/// The home that Xcode gives to Claude, in the home directory.
const XCODE: &str = "Library/Developer/Xcode/CodingAssistant/ClaudeAgentConfig";

/// Folders of a Cowork session are at most this deep: they are named for an account, an organization and the session.
const COWORK_DEPTH: usize = 4;

/// The default homes. Those of Claude Code are `CLAUDE_CONFIG_DIR` (which may be a list with commas), else `~/.claude` and
/// `$XDG_CONFIG_HOME/claude` if they exist. Those of Cowork and Xcode are read as well, if they exist.
pub fn default_homes() -> Result<Vec<PathBuf>> {
    let folders = Folders::of_this_user();
    let named = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|list| !list.is_empty());
    let mut homes = match &named {
        Some(list) => split_list(list),
        None => folders.of_claude_code(),
    };
    homes.extend(folders.of_other_products());
    if homes.is_empty() {
        return Err(Error::NoSource(super::no_home_message(
            match &folders.home {
                Some(home) => format!("there is no {}", home.join(".claude").display()),
                None => "no home directory is known".to_string(),
            }
            .as_str(),
        )));
    }
    Ok(homes)
}

/// The file in which Claude Code keeps what it knows of projects and servers.
pub fn global_settings() -> Result<PathBuf> {
    const NAME: &str = ".claude.json";
    let named = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|list| !list.is_empty());
    let first = named.and_then(|list| split_list(&list).into_iter().next());
    let folder = first.or_else(|| Folders::of_this_user().home);
    let folder = folder.ok_or_else(|| Error::NoSource("no home directory is known".to_string()))?;
    Ok(folder.join(NAME))
}

/// The program that writes a home: claude-code, cowork or xcode.
pub fn product(home: &Path) -> &'static str {
    if home.components().any(|part| part.as_os_str() == COWORK) {
        "cowork"
    } else if home.ends_with(XCODE) {
        "xcode"
    } else {
        "claude-code"
    }
}

/// The folders in which homes are found.
#[derive(Default)]
struct Folders {
    home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`, else `~/.config`.
    config: Option<PathBuf>,
    /// `%APPDATA%` and `%LOCALAPPDATA%`, on Windows.
    roaming: Option<PathBuf>,
    local: Option<PathBuf>,
}

impl Folders {
    fn of_this_user() -> Folders {
        let variable = |name: &str| {
            let path = std::env::var_os(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let home = etcetera::home_dir().ok();
        Folders {
            config: variable("XDG_CONFIG_HOME")
                .or_else(|| home.as_ref().map(|home| home.join(".config"))),
            roaming: variable("APPDATA"),
            local: variable("LOCALAPPDATA"),
            home,
        }
    }

    fn of_claude_code(&self) -> Vec<PathBuf> {
        let homes = [
            self.home.as_ref().map(|home| home.join(".claude")),
            self.config.as_ref().map(|config| config.join("claude")),
        ];
        let homes = homes.into_iter().flatten();
        homes.filter(|home| home.is_dir()).collect()
    }

    fn of_other_products(&self) -> Vec<PathBuf> {
        let mut homes = Vec::new();
        for data in self.of_desktop_app() {
            add_cowork_homes(&data.join(COWORK), COWORK_DEPTH, &mut homes);
        }
        homes.sort();
        let xcode = self.home.as_ref().map(|home| home.join(XCODE));
        homes.extend(xcode.filter(|home| home.is_dir()));
        homes
    }

    /// Where the Claude desktop app keeps its data, by system; as an app of the Microsoft Store in a folder of its package.
    fn of_desktop_app(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = [
            self.home
                .as_ref()
                .map(|home| home.join("Library/Application Support/Claude")),
            self.config.as_ref().map(|config| config.join("Claude")),
            self.roaming.as_ref().map(|roaming| roaming.join("Claude")),
        ]
        .into_iter()
        .flatten()
        .collect();
        if let Some(local) = &self.local {
            let packages = subfolders(&local.join("Packages")).into_iter();
            let ours = packages.filter(|(name, _)| name.contains("Claude_"));
            folders.extend(ours.map(|(_, package)| package.join("LocalCache/Roaming/Claude")));
        }
        folders
    }
}

/// Adds `**/local_*/.claude`. Symbolic links are not followed, and nothing below a session's folder is searched: it has the
/// person's files.
fn add_cowork_homes(folder: &Path, depth: usize, homes: &mut Vec<PathBuf>) {
    for (name, folder) in subfolders(folder) {
        if name.starts_with("local_") {
            homes.extend(Some(folder.join(".claude")).filter(|home| home.is_dir()));
        } else if depth > 0 {
            add_cowork_homes(&folder, depth - 1, homes);
        }
    }
}

/// The folders in a folder, with their names; none if it cannot be read.
fn subfolders(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, entry.path())
        })
        .collect()
}

fn split_list(list: &OsString) -> Vec<PathBuf> {
    match list.to_str() {
        Some(text) => text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(PathBuf::from)
            .collect(),
        None => vec![PathBuf::from(list)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_of_cowork_and_xcode_are_found_where_they_exist() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let folders = Folders {
            home: Some(path("home")),
            config: Some(path("home/.config")),
            roaming: Some(path("roaming")),
            local: Some(path("local")),
        };
        assert!(folders.of_other_products().is_empty());
        let cowork = [
            "home/.config/Claude/local-agent-mode-sessions/a/o/local_2/.claude",
            "home/Library/Application Support/Claude/local-agent-mode-sessions/local_1/.claude",
            "local/Packages/Claude_x/LocalCache/Roaming/Claude/local-agent-mode-sessions/a/local_3/.claude",
            "roaming/Claude/local-agent-mode-sessions/a/o/local_4/.claude",
        ];
        let xcode = format!("home/{XCODE}");
        for home in cowork.into_iter().chain([xcode.as_str()]) {
            fs::create_dir_all(path(home)).unwrap();
        }
        // A session without a home, a home of no session, and the person's own files.
        let sessions = "home/.config/Claude/local-agent-mode-sessions";
        for other in [
            "a/local_5/work",
            "a/other/.claude",
            "a/o/local_2/work/local_6/.claude",
        ] {
            fs::create_dir_all(path(&format!("{sessions}/{other}"))).unwrap();
        }
        let homes = folders.of_other_products();
        let expected: Vec<PathBuf> = cowork
            .into_iter()
            .chain([xcode.as_str()])
            .map(path)
            .collect();
        assert_eq!(homes, expected);
        let products: Vec<&str> = homes.iter().map(|home| product(home)).collect();
        assert_eq!(products, ["cowork", "cowork", "cowork", "cowork", "xcode"]);
        assert_eq!(product(&path("home/.claude")), "claude-code");
    }
}
