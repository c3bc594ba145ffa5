//! A home and a database in a folder of their own, and the real program to run on them.

#![allow(dead_code)] // each test file uses a part of it

pub mod content;
pub mod records;

use rusqlite::Connection;
use rusqlite::types::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

pub struct Sandbox {
    folder: TempDir,
    /// Whether a new database is filled by statements, not page by page.
    uses_statements: bool,
}

impl Sandbox {
    pub fn new() -> Sandbox {
        Sandbox::in_folder(tempfile::tempdir().unwrap())
    }

    /// One in memory, where there is such a place: faster, if nothing waits for a disk.
    pub fn in_memory() -> Sandbox {
        let memory = Path::new("/dev/shm");
        match memory.is_dir() {
            true => Sandbox::in_folder(tempfile::tempdir_in(memory).unwrap()),
            false => Sandbox::new(),
        }
    }

    fn in_folder(folder: TempDir) -> Sandbox {
        fs::create_dir_all(folder.path().join("home/projects")).unwrap();
        Sandbox {
            folder,
            uses_statements: false,
        }
    }

    /// The same, where a new database is filled by statements.
    pub fn with_statements() -> Sandbox {
        Sandbox {
            uses_statements: true,
            ..Sandbox::new()
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub fn database(&self) -> PathBuf {
        self.path("test.db")
    }

    /// Writes a file of the home.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let file = self.home().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, content).unwrap();
        file
    }

    /// The program, with the database set.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cc-etl"));
        command
            .args(arguments)
            .env("CC_ETL_DB", self.database())
            .env_remove("CLAUDE_CONFIG_DIR")
            .env("TZ", "UTC")
            .env("HOME", self.path("nobody"))
            .env("XDG_DATA_HOME", self.path("data"));
        if self.uses_statements {
            command.env("CC_ETL_BULK", "0");
        }
        command
    }

    /// Runs the program.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs the program, which must succeed, and returns what it printed.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(
            output.status.success(),
            "cc-etl {arguments:?} exits with {:?}\n{}{}",
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr)
        );
        text(&output.stdout)
    }

    /// Imports the home.
    pub fn sync(&self) -> String {
        self.sync_with(&[])
    }

    pub fn sync_with(&self, arguments: &[&str]) -> String {
        let home = self.home();
        let mut all = vec!["sync", "--source", home.to_str().unwrap()];
        all.extend(arguments);
        self.ok(&all)
    }

    pub fn hash(&self) -> String {
        self.ok(&["check", "--hash"])
    }

    pub fn check(&self) {
        self.ok(&["check"]);
    }

    pub fn connection(&self) -> Connection {
        open(&self.database())
    }

    /// The rows of a query, values separated by `|`.
    pub fn query(&self, sql: &str) -> Vec<String> {
        query(&self.connection(), sql)
    }

    /// The only value of a query, as a number.
    pub fn count(&self, sql: &str) -> i64 {
        self.connection()
            .query_row(sql, [], |row| row.get(0))
            .unwrap()
    }
}

pub fn open(path: &Path) -> Connection {
    Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

pub fn query(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        let cells: Vec<String> = (0..columns)
            .map(|column| cell(row.get(column).unwrap()))
            .collect();
        Ok(cells.join("|"))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

fn cell(value: Value) -> String {
    match value {
        Value::Null => "NULL".to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The homes of `CC_ETL_CORPUS`; none if it is not set.
pub fn corpus() -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("CC_ETL_CORPUS") else {
        return Vec::new();
    };
    let entries = fs::read_dir(folder).unwrap();
    let homes = entries.map(|entry| entry.unwrap().path());
    homes
        .filter(|home| home.join("projects").is_dir())
        .collect()
}
