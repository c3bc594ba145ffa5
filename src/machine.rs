//! Identifies a machine by a random id. It is created once and stored in the user's data folder, next to the default
//! database. The host name is only a label: it may change, and several machines may have the same one.

use crate::database::{self, statements as sql};
use crate::discover;
use crate::error::Result;
use etcetera::BaseStrategy;
use rusqlite::{Connection, OptionalExtension};
use std::collections::hash_map::RandomState;
use std::fs::{self, OpenOptions};
use std::hash::BuildHasher;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A machine in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    pub id: String,
    /// A label.
    pub name: String,
}

impl Machine {
    /// This machine.
    pub fn this() -> Machine {
        Machine::from_id_file(read_id)
    }

    /// This machine. Creates its id if it has none.
    pub fn this_with_id() -> Machine {
        Machine::from_id_file(|file| read_id(file).or_else(|| create_id(file).ok()))
    }

    /// Without a place to store an id, the host name is the id.
    fn from_id_file(id: impl FnOnce(&Path) -> Option<String>) -> Machine {
        let name = host_name();
        match id_file().and_then(|file| id(&file)) {
            Some(id) => Machine { id, name },
            None => Machine::named(&name),
        }
    }

    /// A machine known only by the name that a person gives it.
    pub fn named(name: &str) -> Machine {
        Machine {
            id: format!("name:{name}"),
            name: name.to_string(),
        }
    }

    /// This machine if the name is its host name, else a machine known only by its name.
    pub fn with_name(name: &str) -> Machine {
        match name == host_name() {
            true => Machine::this_with_id(),
            false => Machine::named(name),
        }
    }

    /// The key of a home of this machine. Adds a new home, and updates the label of a known one.
    pub fn home(&self, connection: &Connection, root_path: &str) -> Result<i64> {
        let product = discover::product(Path::new(root_path));
        let (source_id, label) = self.find_or_add_home(connection, root_path, product)?;
        if label != self.name {
            connection.execute(sql::NAME_SOURCE, (source_id, &self.name))?;
            database::derive_again(connection)?;
        }
        Ok(source_id)
    }

    /// The key and the label of a home of this machine. Adds a new home.
    pub fn find_or_add_home(
        &self,
        connection: &Connection,
        root_path: &str,
        product: &str,
    ) -> Result<(i64, String)> {
        let known = connection
            .prepare_cached(sql::FIND_SOURCE)?
            .query_row([&self.id, root_path], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        if let Some(known) = known {
            return Ok(known);
        }
        let source = [&self.id, &self.name, root_path, product];
        connection.execute(sql::INSERT_SOURCE, source)?;
        Ok((connection.last_insert_rowid(), self.name.clone()))
    }
}

/// The file of the id; `None` without a home directory.
fn id_file() -> Option<PathBuf> {
    let folders = etcetera::choose_base_strategy().ok()?;
    let data = folders.data_dir();
    // Do not create a home directory for it.
    let is_possible = data.is_dir() || folders.home_dir().is_dir();
    is_possible.then(|| data.join("cc-etl").join("machine-id"))
}

fn read_id(file: &Path) -> Option<String> {
    let id = fs::read_to_string(file).ok()?;
    let id = id.trim();
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_string())
}

/// Creates the id. If another process creates it first, its id is returned.
fn create_id(file: &Path) -> io::Result<String> {
    // The standard library takes its keys from the system's random numbers.
    let random = RandomState::new();
    let id = format!("{:016x}{:016x}", random.hash_one(0), random.hash_one(1));
    let folder = database::folder_of(file);
    database::create_private_folder(folder)?;
    let mut new = tempfile::Builder::new().make_in(folder, |path| {
        let mut options = OpenOptions::new();
        database::open_private(path, options.write(true).create_new(true))
    })?;
    writeln!(new, "{id}")?;
    new.as_file().sync_all()?;
    match new.persist_noclobber(file) {
        Ok(_) => Ok(id),
        Err(failed) => read_id(file).ok_or(failed.error),
    }
}

fn host_name() -> String {
    let from_system = || fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let from_environment = || {
        ["COMPUTERNAME", "HOSTNAME"]
            .iter()
            .find_map(|name| std::env::var(name).ok())
    };
    from_system()
        .or_else(from_environment)
        .or_else(|| {
            let output = std::process::Command::new("hostname").output().ok()?;
            String::from_utf8(output.stdout).ok()
        })
        .map(|name| name.trim().to_string())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "unknown".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_created_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cc-etl/machine-id");
        assert_eq!(read_id(&file), None);
        let id = create_id(&file).unwrap();
        assert_eq!(read_id(&file), Some(id.clone()));
        assert_eq!(create_id(&file).unwrap(), id);
        let other = folder.path().join("other/machine-id");
        assert_ne!(create_id(&other).unwrap(), id);
        fs::write(&file, "no id").unwrap();
        assert_eq!(read_id(&file), None);
    }

    #[test]
    fn a_home_is_identified_by_the_id_of_its_machine_and_not_by_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let connection = database::create(&folder.path().join("test.db")).unwrap();
        let home = |id: &str, name: &str| {
            let (id, name) = (id.to_string(), name.to_string());
            let machine = Machine { id, name };
            machine.home(&connection, "/home/a/.claude").unwrap()
        };
        let labels = || -> String {
            let query = "select group_concat(machine order by source_id) from sources";
            connection.query_row(query, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(home("1", "old"), 1);
        assert_eq!(home("1", "new"), 1);
        assert_eq!(labels(), "new");
        // Another machine of the same name, and a name without an id.
        assert_eq!(home("2", "new"), 2);
        assert_eq!(home(&Machine::named("new").id, "new"), 3);
        assert_eq!(labels(), "new,new,new");
        assert_eq!(home("1", "other"), 1);
        assert_eq!(home("2", "new"), 2);
        assert_eq!(labels(), "other,new,new");
    }
}
