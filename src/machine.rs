//! Which machine this is: a random id, made once and kept in the folder for the user's data, and a name, which may change.

use crate::database::{self, statements as sql};
use crate::error::Result;
use etcetera::BaseStrategy;
use rusqlite::{Connection, OptionalExtension};
use std::collections::hash_map::RandomState;
use std::fs::{self, OpenOptions};
use std::hash::BuildHasher;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A machine as the database knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Its id; nothing for a machine that is known by its name alone.
    pub id: Option<String>,
    /// A label.
    pub name: String,
}

impl Machine {
    /// This machine.
    pub fn this() -> Machine {
        Machine {
            id: id_file().and_then(|file| read_id(&file)),
            name: host_name(),
        }
    }

    /// This machine, whose id is made if it has none. Where none can be kept, its name has to do.
    pub fn this_with_id() -> Machine {
        let file = id_file();
        let id = file.and_then(|file| read_id(&file).or_else(|| make_id(&file).ok()));
        Machine {
            id,
            name: host_name(),
        }
    }

    /// A machine that a person names.
    pub fn named(name: &str) -> Machine {
        Machine {
            id: None,
            name: name.to_string(),
        }
    }

    /// The machine that older databases know by a name: this one, if that is its name.
    pub fn with_name(name: &str) -> Machine {
        match name == host_name() {
            true => Machine::this_with_id(),
            false => Machine::named(name),
        }
    }

    /// The id in the database.
    pub fn id(&self) -> String {
        let id = self.id.clone();
        id.unwrap_or_else(|| format!("name:{}", self.name))
    }

    /// The key of a home of this machine, which is added if it is new. The host name may have changed since the last sync.
    pub fn home(&self, connection: &Connection, root_path: &str) -> Result<i64> {
        let id = self.id();
        let find = |statement, name: &str| -> Result<Option<(i64, String)>> {
            let mut find = connection.prepare_cached(statement)?;
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            Ok(find.query_row([name, root_path], row).optional()?)
        };
        if let Some((source_id, label)) = find(sql::FIND_SOURCE_BY_ID, &id)? {
            if label != self.name && find(sql::FIND_SOURCE_BY_NAME, &self.name)?.is_none() {
                connection.execute(sql::NAME_SOURCE, (source_id, &self.name))?;
                database::derive_again(connection)?;
            }
            return Ok(source_id);
        }
        // A machine whose id is gone, or that could not keep one.
        if let Some((source_id, _)) = find(sql::FIND_SOURCE_BY_NAME, &self.name)? {
            return Ok(source_id);
        }
        connection.execute(sql::INSERT_SOURCE, [&id, &self.name, root_path])?;
        Ok(connection.last_insert_rowid())
    }
}

/// Where the id is kept; nothing without a home directory.
fn id_file() -> Option<PathBuf> {
    let folders = etcetera::choose_base_strategy().ok()?;
    let data = folders.data_dir();
    // A home directory is not made for it.
    let is_possible = data.is_dir() || folders.home_dir().is_dir();
    is_possible.then(|| data.join("cc-etl").join("machine-id"))
}

fn read_id(file: &Path) -> Option<String> {
    let id = fs::read_to_string(file).ok()?;
    let id = id.trim();
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_string())
}

/// Makes an id. If another program was quicker, its id is the one.
fn make_id(file: &Path) -> io::Result<String> {
    // Its keys are random numbers of the system.
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

/// The name of this machine.
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
    fn an_id_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cc-etl/machine-id");
        assert_eq!(read_id(&file), None);
        let id = make_id(&file).unwrap();
        assert_eq!(read_id(&file), Some(id.clone()));
        assert_eq!(make_id(&file).unwrap(), id);
        let other = folder.path().join("other/machine-id");
        assert_ne!(make_id(&other).unwrap(), id);
        fs::write(&file, "no id").unwrap();
        assert_eq!(read_id(&file), None);
    }

    #[test]
    fn a_home_is_known_by_the_id_of_its_machine_and_then_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let connection = database::create(&folder.path().join("test.db")).unwrap();
        let machine = |id: Option<&str>, name: &str| Machine {
            id: id.map(str::to_string),
            name: name.to_string(),
        };
        let home = |machine: &Machine| machine.home(&connection, "/home/a/.claude").unwrap();
        let label = || -> String {
            let query = "select group_concat(machine order by source_id) from sources";
            connection.query_row(query, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(home(&machine(Some("1"), "old")), 1);
        assert_eq!(home(&machine(Some("1"), "new")), 1);
        assert_eq!(label(), "new");
        // Its id is gone.
        assert_eq!(home(&machine(None, "new")), 1);
        assert_eq!(home(&machine(Some("2"), "new")), 1);
        // Another machine, and one that a person names.
        assert_eq!(home(&machine(Some("3"), "other")), 2);
        assert_eq!(home(&Machine::named("mine")), 3);
        assert_eq!(home(&Machine::named("other")), 2);
        // A label that another home has is not taken.
        assert_eq!(home(&machine(Some("1"), "other")), 1);
        assert_eq!(label(), "new,other,mine");
    }
}
