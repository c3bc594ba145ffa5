//! What an export may show.

use super::data_set::Kind;
use super::homes::{self, Homes};
use super::secrets::{self, Counts};
use crate::database;
use crate::error::{Error, Result};
use clap::ValueEnum;
use rusqlite::Connection;
use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, OpenOptions};
use std::hash::BuildHasher;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

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
    redaction: Option<Redaction>,
}

/// Masks what should not be shared.
struct Redaction {
    homes: Homes,
    /// How often each rule has masked something of each machine.
    counts: Mutex<BTreeMap<String, Counts>>,
}

/// Shows the strings of one machine after the other as a profile does. Each thread has its own.
pub struct Filter<'p> {
    profile: &'p Profile,
    machine: String,
    counts: Counts,
    /// Hashes of names, which are few and in most rows.
    hashes: HashMap<String, String>,
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
            counts: Mutex::default(),
        };
        Ok(Profile {
            detail: Detail::Redacted,
            redaction: Some(redaction),
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

    pub fn filter(&self) -> Filter<'_> {
        Filter {
            profile: self,
            machine: String::new(),
            counts: Counts::new(),
            hashes: HashMap::new(),
        }
    }

    /// How often each rule has masked something of a machine, or of all.
    pub fn masked(&self, machine: Option<&str>) -> Counts {
        let mut masked = Counts::new();
        if let Some(redaction) = &self.redaction {
            let counts = redaction
                .counts
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            for (of, counts) in &*counts {
                if machine.is_none_or(|machine| machine == of) {
                    add(&mut masked, counts);
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

impl Filter<'_> {
    /// A string as the profile shows it.
    pub fn show<'t>(&mut self, kind: Kind, text: &'t str) -> Cow<'t, str> {
        if let Some(redaction) = &self.profile.redaction {
            return match kind {
                Kind::Id if is_id(text) => Cow::Borrowed(text),
                Kind::Word if is_word(text) => Cow::Borrowed(text),
                _ => redaction.redact(text, &mut self.counts),
            };
        }
        let Some(key) = &self.profile.key else {
            return Cow::Borrowed(text);
        };
        let is_shown = match kind {
            Kind::Id => is_id(text),
            Kind::Word => is_word(text),
            Kind::Name => self.profile.has_names || text.is_empty(),
            _ => text.is_empty(),
        };
        match (is_shown, kind) {
            (true, _) => Cow::Borrowed(text),
            (false, Kind::Name) => Cow::Owned(self.hash_name(key, text)),
            (false, _) => Cow::Owned(key.hash(text)),
        }
    }

    /// What is masked from now on is counted for this machine.
    pub fn count_for(&mut self, machine: &str) {
        if self.machine != machine {
            self.finish();
            self.machine = machine.to_string();
        }
    }

    /// Adds what was masked to the counts of the profile.
    pub fn finish(&mut self) {
        let counts = std::mem::take(&mut self.counts);
        if let Some(redaction) = &self.profile.redaction
            && !counts.is_empty()
        {
            let mut of_machines = redaction
                .counts
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            add(
                of_machines.entry(self.machine.clone()).or_default(),
                &counts,
            );
        }
    }

    fn hash_name(&mut self, key: &Key, name: &str) -> String {
        const REMEMBERED: usize = 1 << 12;
        if let Some(hash) = self.hashes.get(name) {
            return hash.clone();
        }
        if self.hashes.len() == REMEMBERED {
            self.hashes.clear();
        }
        let hash = key.hash(name);
        self.hashes.insert(name.to_string(), hash.clone());
        hash
    }
}

fn add(counts: &mut Counts, more: &Counts) {
    for (rule, count) in more {
        *counts.entry(rule).or_default() += count;
    }
}

impl Redaction {
    fn redact<'t>(&self, text: &'t str, counts: &mut Counts) -> Cow<'t, str> {
        let masked = secrets::rules().mask(text, counts);
        let (hidden, home_count) = self.homes.hide(&masked);
        let hidden = match hidden {
            Cow::Borrowed(_) => None,
            Cow::Owned(hidden) => Some(hidden),
        };
        if home_count > 0 {
            *counts.entry(homes::RULE).or_default() += home_count;
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
    let mut has_digit = false;
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => has_digit = true,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'-' | b':' | b'#' => {}
            _ => return false,
        }
    }
    text.is_empty() || (has_digit && text.len() <= 128)
}

/// Whether a string has the form of a word of a vocabulary or of the name of a model or tool. Paths, and the ids of accounts in the
/// name of a cloud's resource, have not.
fn is_word(text: &str) -> bool {
    let (mut slashes, mut colons) = (0, 0);
    for byte in text.bytes() {
        match byte {
            b'/' => slashes += 1,
            b':' => colons += 1,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => {}
            b'_' | b'-' | b'.' | b'@' | b'[' | b']' | b'<' | b'>' => {}
            _ => return false,
        }
    }
    text.len() <= 100 && !text.starts_with(['/', '.']) && slashes <= 2 && colons <= 1
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
        let shows = |kind, text: &str| profile.filter().show(kind, text) == text;
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
        let mut filter = profile.filter();
        assert_eq!(filter.show(Kind::Name, "tea-shop"), "tea-shop");
        assert_ne!(filter.show(Kind::Path, "-home-a"), "-home-a");
    }
}
