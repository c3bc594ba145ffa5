//! Adds a server of the Model Context Protocol to a file of Claude Code, and removes it, as hooks are: everything else stays
//! byte for byte.
//!
//! Servers are in an object `mcpServers`: of `.mcp.json`, of `~/.claude.json`, or there of a folder in `projects`.

use super::{Container, Entry, Refusal, Settings, Style, container};
use serde::Deserialize;
use serde_json::json;

/// The key of the object with the servers.
pub const SERVERS: &str = "mcpServers";

/// Adds a server that is this command; one with its name that `is_ours` is replaced, another one is kept.
pub fn install(
    text: &str,
    place: &[&str],
    name: &str,
    command: &[String],
    is_ours: impl Fn(&[String]) -> bool,
) -> Result<String, Refusal> {
    let server = |style: Style| style.server(command);
    add(text, place, name, command, is_ours, &server)
}

fn add(
    text: &str,
    place: &[&str],
    name: &str,
    command: &[String],
    is_ours: impl Fn(&[String]) -> bool,
    server: &dyn Fn(Style) -> String,
) -> Result<String, Refusal> {
    let settings = Settings::parse(text)?;
    let path = settings.follow(place)?;
    let (object, missing) = path.end(place);
    let index = match missing {
        [] => settings.find(object, name)?,
        _ => None,
    };
    let entry = |style: Style| style.nested(missing, name, server);
    let Some(index) = index else {
        return Ok(settings.append(object, entry));
    };
    let old = &object.entries[index];
    match settings.server(old) {
        Some(known) if known == command => Ok(text.to_string()),
        Some(known) if is_ours(&known) => {
            let style = Style {
                space: settings.style_of(object),
                unit: settings.unit(),
            };
            Ok(settings.with(old.whole, &entry(style)))
        }
        _ => Err(format!("it has another server of the name {name}")),
    }
}

/// Removes the server of this name if it `is_ours`.
pub fn remove(
    text: &str,
    place: &[&str],
    name: &str,
    is_ours: impl Fn(&[String]) -> bool,
) -> Result<String, Refusal> {
    let settings = Settings::parse(text)?;
    let path = settings.follow(place)?;
    let (object, missing) = path.end(place);
    let found = match missing {
        [] => settings.find(object, name)?,
        _ => None,
    };
    let is_ours = |index: &usize| {
        let command = settings.server(&object.entries[*index]);
        command.is_some_and(|command| is_ours(&command))
    };
    let Some(index) = found.filter(is_ours) else {
        return Ok(text.to_string());
    };
    let mut shorter = settings.without(object, index);
    for (object, index) in path.steps.iter().rev() {
        shorter = shorter.or_else(|| settings.without(object, *index));
    }
    Ok(shorter.unwrap_or_else(|| text.to_string()))
}

/// The command of the server of this name, with its arguments.
pub fn command(text: &str, place: &[&str], name: &str) -> Result<Option<Vec<String>>, Refusal> {
    let settings = Settings::parse(text)?;
    let path = settings.follow(place)?;
    let (object, missing) = path.end(place);
    Ok(match missing {
        [] => settings
            .find(object, name)?
            .and_then(|index| settings.server(&object.entries[index])),
        _ => None,
    })
}

/// The text of a file that does not exist yet. The keys of the server are in another order than [`install`] gives them, so
/// that [`is_new`] knows the file.
pub fn new(place: &[&str], name: &str, command: &[String]) -> String {
    let server = |style: Style| style.new_server(command);
    add("{\n}\n", place, name, command, |_| false, &server).expect("this is an object")
}

/// Whether the text is that of a file that [`new`] gave.
pub fn is_new(text: &str, place: &[&str], name: &str) -> bool {
    let known = self::command(text, place, name).ok().flatten();
    known.is_some_and(|command| text == new(place, name, &command))
}

/// The objects on the way to a place.
struct Path {
    /// Each object and the index of its entry that is the next one.
    steps: Vec<(Container, usize)>,
    last: Container,
}

impl Path {
    /// The last object that exists, and the keys that are missing from there.
    fn end<'p>(&self, place: &'p [&'p str]) -> (&Container, &'p [&'p str]) {
        (&self.last, &place[self.steps.len()..])
    }
}

#[derive(Deserialize)]
struct Server {
    command: String,
    #[serde(default)]
    args: Vec<String>,
}

impl Settings<'_> {
    fn follow(&self, place: &[&str]) -> Result<Path, Refusal> {
        let mut steps = Vec::new();
        let mut last = self.root();
        for key in place {
            let Some(index) = self.find(&last, key)? else {
                break;
            };
            let next = container(self.text, last.entries[index].value, b'{');
            let next = next.ok_or_else(|| format!("its {key:?} is not an object"))?;
            steps.push((std::mem::replace(&mut last, next), index));
        }
        Ok(Path { steps, last })
    }

    fn root(&self) -> Container {
        container(self.text, self.root.span, b'{').expect("it was parsed")
    }

    fn server(&self, entry: &Entry) -> Option<Vec<String>> {
        let json = &self.text[entry.value.start..entry.value.end];
        let server: Server = serde_json::from_str(json).ok()?;
        let mut command = vec![server.command];
        command.extend(server.args);
        Some(command)
    }
}

impl Style<'_> {
    /// The server, within objects with the missing keys.
    fn nested(self, missing: &[&str], name: &str, server: &dyn Fn(Style) -> String) -> String {
        match missing {
            [] => self.member(name, ['{', '}'], server),
            [key, rest @ ..] => {
                self.member(key, ['{', '}'], |style| style.nested(rest, name, server))
            }
        }
    }

    fn server(self, command: &[String]) -> String {
        format!("{TYPE},{}{}", self.space, self.command_of_server(command))
    }

    fn new_server(self, command: &[String]) -> String {
        format!("{},{}{TYPE}", self.command_of_server(command), self.space)
    }

    fn command_of_server(self, command: &[String]) -> String {
        let (program, arguments) = command.split_first().expect("a command has a program");
        let (program, arguments) = (json!(program), json!(arguments));
        let space = self.space;
        format!("\"command\": {program},{space}\"args\": {arguments}")
    }
}

const TYPE: &str = "\"type\": \"stdio\"";

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "history";

    fn words(command: &str) -> Vec<String> {
        command.split(' ').map(str::to_string).collect()
    }

    fn is_ours(command: &[String]) -> bool {
        command[0].contains("cc-etl")
    }

    #[test]
    fn what_is_added_is_found_and_taken_away_exactly() {
        let ours = words("/bin/cc-etl mcp");
        for place in [&[SERVERS][..], &["projects", "/w \"x\"", SERVERS]] {
            for before in [
                "{}",
                "{\n}\n",
                "{\"mcpServers\": {}}",
                "{\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"x\"}\n\t},\n\t\"b\": 1\n}\n",
                "{\r\n  \"projects\": {\"/w \\\"x\\\"\": {\"c\": [1, 2]}}}",
                "{\"projects\":{\"/w \\\"x\\\"\":{\"mcpServers\":{}}},\"z\":null}",
            ] {
                let with = install(before, place, NAME, &ours, is_ours).unwrap();
                assert_eq!(
                    command(&with, place, NAME).unwrap().as_ref(),
                    Some(&ours),
                    "{with}"
                );
                assert_eq!(install(&with, place, NAME, &ours, is_ours).unwrap(), with);
                let other = words("/opt/cc-etl mcp --db x");
                let replaced = install(&with, place, NAME, &other, is_ours).unwrap();
                assert_eq!(command(&replaced, place, NAME).unwrap(), Some(other));
                assert_eq!(
                    install(&replaced, place, NAME, &ours, is_ours).unwrap(),
                    with
                );
                assert_eq!(remove(&with, place, NAME, is_ours).unwrap(), before);
                assert!(!is_new(&with, place, NAME), "{with}");
            }
            let text = new(place, NAME, &ours);
            assert!(is_new(&text, place, NAME), "{text}");
        }
    }

    #[test]
    fn a_server_of_a_person_is_kept() {
        let theirs = "{\"mcpServers\": {\"history\": {\"command\": \"other\"}}}";
        let ours = words("cc-etl mcp");
        let refusal = install(theirs, &[SERVERS], NAME, &ours, is_ours);
        assert!(refusal.unwrap_err().contains("another server"));
        assert_eq!(remove(theirs, &[SERVERS], NAME, is_ours).unwrap(), theirs);
        for (text, why) in [
            ("{\"mcpServers\": []}", "not an object"),
            ("{\"mcpServers\": {}, \"mcpServers\": {}}", "twice"),
            (
                "{\"mcpServers\": {\"history\": {\"url\": \"x\"}}}",
                "another server",
            ),
            ("[]", "not a JSON object"),
        ] {
            let refusal = install(text, &[SERVERS], NAME, &ours, is_ours).unwrap_err();
            assert!(refusal.contains(why), "{text}: {refusal}");
        }
    }
}
