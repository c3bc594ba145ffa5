//! What an export may show.

use super::data_set::Kind;
use super::homes::{self, Homes};
use super::secrets::{self, Counts};
use crate::database;
use crate::error::{Error, Result};
use clap::ValueEnum;
use rusqlite::Connection;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fs::{self, OpenOptions};
use std::hash::BuildHasher;
use std::io::Write;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Detail {
    /// No text, commands or paths; names are hashed
    Metrics,
    /// Text with secrets masked and home directories replaced by ~
    Redacted,
    /// Everything
    Full,
}

impl Detail {
    pub fn name(self) -> &'static str {
        match self {
            Detail::Metrics => "metrics",
            Detail::Redacted => "redacted",
            Detail::Full => "full",
        }
    }
}

/// How much detail an export has.
pub struct Profile {
    pub detail: Detail,
    /// Hashes what the profile hides. `None` for a profile that shows everything.
    key: Option<Key>,
    /// Names that people gave are not hashed.
    pub has_names: bool,
    redaction: Option<RefCell<Redaction>>,
}

/// Masks what should not be shared, and counts it by machine and rule.
struct Redaction {
    homes: Homes,
    machine: String,
    counts: BTreeMap<String, Counts>,
}

/// The key of the hashes. Who has it can find out whether a hash is that of a given name.
pub struct Key([u8; 32]);

impl Profile {
    pub fn metrics(key: Key, has_names: bool) -> Profile {
        Profile {
            detail: Detail::Metrics,
            key: Some(key),
            has_names,
            redaction: None,
        }
    }

    /// Reads the home directories of a database.
    pub fn redacted(connection: &Connection) -> Result<Profile> {
        let redaction = Redaction {
            homes: Homes::read(connection)?,
            machine: String::new(),
            counts: BTreeMap::new(),
        };
        Ok(Profile {
            detail: Detail::Redacted,
            redaction: Some(RefCell::new(redaction)),
            ..Profile::full()
        })
    }

    pub fn full() -> Profile {
        Profile {
            detail: Detail::Full,
            key: None,
            has_names: true,
            redaction: None,
        }
    }

    /// Whether it has the columns of a kind.
    pub fn shows(&self, kind: Kind) -> bool {
        kind != Kind::Content || self.key.is_none()
    }

    /// A string as the profile shows it.
    pub fn show<'t>(&self, kind: Kind, text: &'t str) -> Cow<'t, str> {
        if let Some(redaction) = &self.redaction {
            return match kind {
                Kind::Id if is_id(text) => Cow::Borrowed(text),
                Kind::Word if is_word(text) => Cow::Borrowed(text),
                _ => redaction.borrow_mut().redact(text),
            };
        }
        let Some(key) = &self.key else {
            return Cow::Borrowed(text);
        };
        let is_shown = match kind {
            Kind::Id => is_id(text),
            Kind::Word => is_word(text),
            Kind::Name => self.has_names || text.is_empty(),
            _ => text.is_empty(),
        };
        match is_shown {
            true => Cow::Borrowed(text),
            false => Cow::Owned(key.hash(text)),
        }
    }

    /// What is masked from now on is counted for this machine.
    pub fn count_for(&self, machine: &str) {
        if let Some(redaction) = &self.redaction {
            let mut redaction = redaction.borrow_mut();
            if redaction.machine != machine {
                redaction.machine = machine.to_string();
            }
        }
    }

    /// How often each rule has masked something of a machine, or of all.
    pub fn masked(&self, machine: Option<&str>) -> Counts {
        let mut masked = Counts::new();
        let redaction = self.redaction.as_ref().map(RefCell::borrow);
        for (of, counts) in redaction.iter().flat_map(|redaction| &redaction.counts) {
            if machine.is_none_or(|machine| machine == of) {
                for (rule, count) in counts {
                    *masked.entry(rule).or_default() += count;
                }
            }
        }
        masked
    }

    pub fn masked_json(&self, machine: &str) -> String {
        serde_json::to_string(&self.masked(Some(machine))).expect("rules and numbers are JSON")
    }

    /// Identifies the key without revealing it.
    pub fn key_id(&self) -> Option<String> {
        self.key.as_ref().map(|key| key.hash("cc-etl key id"))
    }
}

impl Redaction {
    fn redact<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let mut counts = Counts::new();
        let masked = secrets::rules().mask(text, &mut counts);
        let (hidden, home_count) = self.homes.hide(&masked);
        let hidden = match hidden {
            Cow::Borrowed(_) => None,
            Cow::Owned(hidden) => Some(hidden),
        };
        if home_count > 0 {
            counts.insert(homes::RULE, home_count);
        }
        if !counts.is_empty() {
            let of_machine = self.counts.entry(self.machine.clone()).or_default();
            for (rule, count) in counts {
                *of_machine.entry(rule).or_default() += count;
            }
        }
        hidden.map_or(masked, Cow::Owned)
    }
}

impl Key {
    /// Reads a key, and creates it if the file is missing. Returns whether it was created.
    pub fn read_or_create(file: &Path) -> Result<(Key, bool)> {
        match fs::read_to_string(file) {
            Ok(text) => match blake3::Hash::from_hex(text.trim()) {
                Ok(key) => Ok((Key(*key.as_bytes()), false)),
                Err(_) => Err(Error::Usage(format!(
                    "{} is not a key of cc-etl: it needs 64 hexadecimal digits; name another file with --key",
                    file.display()
                ))),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let key = random();
                let folder = database::folder_of(file);
                database::create_private_folder(folder).map_err(Error::io(folder))?;
                let mut options = OpenOptions::new();
                let options = options.write(true).create_new(true);
                let mut new = database::open_private(file, options).map_err(Error::io(file))?;
                let text = format!("{}\n", blake3::Hash::from_bytes(key).to_hex());
                let written = new.write_all(text.as_bytes()).and_then(|()| new.sync_all());
                written.map_err(Error::io(file))?;
                Ok((Key(key), true))
            }
            Err(error) => Err(Error::Io(file.to_path_buf(), error)),
        }
    }

    fn hash(&self, text: &str) -> String {
        const DIGITS: usize = 16;
        let hash = blake3::keyed_hash(&self.0, text.as_bytes());
        hash.to_hex()[..DIGITS].to_string()
    }
}

/// The standard library takes its keys from the system's random numbers.
fn random() -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for _ in 0..4 {
        let random = RandomState::new();
        for number in 0..4 {
            hasher.update(&random.hash_one(number).to_le_bytes());
        }
    }
    *hasher.finalize().as_bytes()
}

/// Whether a string has the form of an id that a program made up. A teammate's id is its name.
fn is_id(text: &str) -> bool {
    let is_of_id = |byte: u8| byte.is_ascii_alphanumeric() || b"_-:#".contains(&byte);
    text.is_empty()
        || (text.len() <= 128
            && text.bytes().all(is_of_id)
            && text.bytes().any(|byte| byte.is_ascii_digit()))
}

/// Whether a string has the form of a word of a vocabulary or of the name of a model or tool. Paths, and the ids of accounts in the
/// name of a cloud's resource, have not.
fn is_word(text: &str) -> bool {
    let is_of_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:@[]<>/".contains(&byte);
    text.len() <= 100
        && text.bytes().all(is_of_word)
        && !text.starts_with(['/', '.'])
        && text.bytes().filter(|byte| *byte == b'/').count() <= 2
        && text.bytes().filter(|byte| *byte == b':').count() <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_created_once_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("team/key");
        let (key, is_new) = Key::read_or_create(&file).unwrap();
        assert!(is_new);
        let (again, is_new) = Key::read_or_create(&file).unwrap();
        assert!(!is_new);
        assert_eq!(key.hash("tea-shop"), again.hash("tea-shop"));
        assert_ne!(key.hash("tea-shop"), key.hash("tea-shop2"));
        let (other, _) = Key::read_or_create(&folder.path().join("other")).unwrap();
        assert_ne!(key.hash("tea-shop"), other.hash("tea-shop"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::write(&file, "no key").unwrap();
        assert!(Key::read_or_create(&file).is_err());
    }

    #[test]
    fn metrics_show_only_ids_and_words_that_look_like_some() {
        let profile = Profile::metrics(Key([1; 32]), false);
        let shows = |kind, text: &str| profile.show(kind, text) == text;
        for id in [
            "5e550013-0000-4000-8000-000000000001",
            "toolu_01AbC",
            "inline-5e550013",
            "req_011C#2",
            "",
        ] {
            assert!(shows(Kind::Id, id), "{id}");
        }
        for id in [
            "researcher@team",
            "fix the login",
            "secrets",
            "a/b1",
            "ключ1",
        ] {
            assert!(!shows(Kind::Id, id), "{id}");
        }
        for word in [
            "claude-opus-5",
            "us.anthropic.claude-opus-5-v1:0",
            "mcp__jira__get_issue",
            "<synthetic>",
            "openrouter/anthropic/claude-opus-4.6",
            "claude-opus-5[1m]",
        ] {
            assert!(shows(Kind::Word, word), "{word}");
        }
        for word in [
            "/home/a/secret",
            "fix the login",
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/x",
            "projects/acme/locations/global/models/x",
        ] {
            assert!(!shows(Kind::Word, word), "{word}");
        }
        assert!(!shows(Kind::Name, "tea-shop"));
        assert!(!shows(Kind::Path, "-home-a"));
        let profile = Profile::metrics(Key([1; 32]), true);
        assert_eq!(profile.show(Kind::Name, "tea-shop"), "tea-shop");
        assert_ne!(profile.show(Kind::Path, "-home-a"), "-home-a");
    }
}
