//! Adds hooks to the text of Claude Code's settings.json, and removes them.
//!
//! A person wrote this file: everything else in it stays byte for byte. So the text is edited at the place of a hook, in the
//! style around it. Claude Code may write the file again in its own style; hooks are then still found.
//!
//! **What is added can be taken away exactly.** A hook is put behind the last of its list, and is taken away with the comma
//! before it. A list or an object that was added begins with white space before its first entry; one that was there and empty
//! gets its first entry without white space, and is kept.

pub mod servers;
mod text;

use serde::Serialize;
use serde_json::ser::PrettyFormatter;
use text::{Container, Entry, Settings, Span, Style, container, without_mark};

pub use text::Refusal;

/// The events after which transcripts have new lines: the end of a response, and the end of a session.
pub const EVENTS: [&str; 2] = ["Stop", "SessionEnd"];

/// Adds the hooks for this command; those of a command that `is_ours` are replaced.
pub fn install(
    text: &str,
    command: &str,
    is_ours: impl Fn(&str) -> bool,
) -> Result<String, Refusal> {
    let mut text = text.to_string();
    for event in EVENTS {
        text = add(&text, event, command, &is_ours)?;
    }
    Ok(text)
}

/// Removes the hooks of every command that `is_ours`.
pub fn remove(text: &str, is_ours: impl Fn(&str) -> bool) -> Result<String, Refusal> {
    let mut text = text.to_string();
    for event in EVENTS.iter().rev() {
        while let Some(shorter) = remove_last(&text, event, &is_ours)? {
            text = shorter;
        }
    }
    Ok(text)
}

/// The key of the status line.
const STATUS_LINE: &str = "statusLine";

/// Adds the status line with this command; one that `is_ours` gets it. Another one is replaced only if that is wanted.
pub fn install_status_line(
    text: &str,
    command: &str,
    is_replacing: bool,
    is_ours: impl Fn(&str) -> bool,
) -> Result<String, Refusal> {
    let settings = Settings::parse(text)?;
    let new = |style: Style| style.status_line(command);
    let Some(index) = settings.find(&settings.root, STATUS_LINE)? else {
        return Ok(settings.append(&settings.root, |style| {
            style.member(STATUS_LINE, ['{', '}'], new)
        }));
    };
    let entry = &settings.root.entries[index];
    match settings.command(entry) {
        Some(old) if old.text == command => Ok(text.to_string()),
        Some(old) if is_ours(&old.text) => {
            let command = serde_json::to_string(command).expect("a string is JSON");
            Ok(settings.with(old.span, &command))
        }
        _ if is_replacing => {
            let style = Style {
                space: settings.style_of(&settings.root),
                unit: settings.unit(),
            };
            Ok(settings.with(entry.whole, &style.member(STATUS_LINE, ['{', '}'], new)))
        }
        _ => Err(
            "it has another status line; call cc-etl statusline from that, or replace it with --replace-statusline"
                .to_string(),
        ),
    }
}

/// Removes the status line if its command `is_ours`.
pub fn remove_status_line(text: &str, is_ours: impl Fn(&str) -> bool) -> Result<String, Refusal> {
    let settings = Settings::parse(text)?;
    let found = settings.find(&settings.root, STATUS_LINE)?;
    let ours = found.filter(|index| {
        let command = settings.command(&settings.root.entries[*index]);
        command.is_some_and(|command| is_ours(&command.text))
    });
    let shorter = ours.and_then(|index| settings.without(&settings.root, index));
    Ok(shorter.unwrap_or_else(|| text.to_string()))
}

/// The command of the status line.
pub fn status_line(text: &str) -> Result<Option<String>, Refusal> {
    let settings = Settings::parse(text)?;
    let found = settings.find(&settings.root, STATUS_LINE)?;
    let command = found.and_then(|index| settings.command(&settings.root.entries[index]));
    Ok(command.map(|command| command.text))
}

/// The commands that run at an event.
pub fn commands(text: &str, event: &str) -> Result<Vec<String>, Refusal> {
    let settings = Settings::parse(text)?;
    let found = settings.event(event)?;
    let hooks = found.map(|found| settings.hooks(&found.list));
    let hooks = hooks.unwrap_or_default().into_iter();
    Ok(hooks.map(|hook| hook.command.text).collect())
}

/// Whether all hooks are turned off.
pub fn are_hooks_disabled(text: &str) -> bool {
    values(text).is_ok_and(|settings| settings["disableAllHooks"] == true)
}

/// All settings.
pub fn values(text: &str) -> serde_json::Result<serde_json::Value> {
    serde_json::from_str(without_mark(text))
}

/// The settings of a file that does not exist yet. The events are in another order than [`install`] gives them, so that
/// [`is_new`] knows the file.
pub fn new(command: &str) -> String {
    let mut text = "{\n}\n".to_string();
    for event in EVENTS.iter().rev() {
        text = add(&text, event, command, &|_| false).expect("this is an object");
    }
    text
}

/// Whether the text is that of a file that [`new`] gave.
pub fn is_new(text: &str) -> bool {
    commands(text, EVENTS[0]).is_ok_and(|commands| match commands.as_slice() {
        [command] => text == new(command),
        _ => false,
    })
}

/// The string of a command.
struct Text {
    span: Span,
    text: String,
}

/// A hook with a command: its place in the list of an event.
struct Hook {
    /// The number of its group in the list of the event.
    group: usize,
    /// The list of the group, and its place there.
    list: Container,
    index: usize,
    command: Text,
}

/// The list of an event, the object that it is in, and its place there.
struct Event {
    hooks: Container,
    hooks_index: usize,
    index: usize,
    list: Container,
}

impl Settings<'_> {
    /// The object with all hooks, and its place.
    fn all_hooks(&self) -> Result<Option<(usize, Container)>, Refusal> {
        let Some(index) = self.find(&self.root, "hooks")? else {
            return Ok(None);
        };
        let hooks = container(self.text, self.root.entries[index].value, b'{');
        let hooks = hooks.ok_or("its \"hooks\" is not an object")?;
        Ok(Some((index, hooks)))
    }

    fn event(&self, event: &str) -> Result<Option<Event>, Refusal> {
        let Some((hooks_index, hooks)) = self.all_hooks()? else {
            return Ok(None);
        };
        let Some(index) = self.find(&hooks, event)? else {
            return Ok(None);
        };
        let list = container(self.text, hooks.entries[index].value, b'[');
        let list = list.ok_or_else(|| format!("its hooks for {event} are not a list"))?;
        Ok(Some(Event {
            hooks,
            hooks_index,
            index,
            list,
        }))
    }

    /// The hooks with a command in the list of an event. Others are not ours.
    fn hooks(&self, list: &Container) -> Vec<Hook> {
        let mut hooks = Vec::new();
        for (group, entry) in list.entries.iter().enumerate() {
            let count = self.group(entry).map_or(0, |list| list.entries.len());
            for index in 0..count {
                let list = self.group(entry).expect("it was counted");
                if let Some(command) = self.command(&list.entries[index]) {
                    hooks.push(Hook {
                        group,
                        list,
                        index,
                        command,
                    });
                }
            }
        }
        hooks
    }

    /// The list of hooks of a group.
    fn group(&self, entry: &Entry) -> Option<Container> {
        let object = container(self.text, entry.value, b'{')?;
        let index = self.find(&object, "hooks").ok()??;
        container(self.text, object.entries[index].value, b'[')
    }

    fn command(&self, hook: &Entry) -> Option<Text> {
        let object = container(self.text, hook.value, b'{')?;
        let span = object.entries[self.find(&object, "command").ok()??].value;
        let text = serde_json::from_str(&self.text[span.start..span.end]).ok()?;
        Some(Text { span, text })
    }
}

impl Style<'_> {
    /// The entries of the object of the status line.
    fn status_line(self, command: &str) -> String {
        let command = serde_json::to_string(command).expect("a string is JSON");
        format!("\"type\": \"command\",{}\"command\": {command}", self.space)
    }

    fn group(self, command: &str) -> String {
        let hook = NewHook {
            kind: "command",
            command,
        };
        let group = NewGroup { hooks: [hook] };
        if self.is_on_one_line() {
            return serde_json::to_string(&group).expect("strings are JSON");
        }
        let mut json = Vec::new();
        let formatter = PrettyFormatter::with_indent(self.unit.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut json, formatter);
        group.serialize(&mut serializer).expect("strings are JSON");
        let json = String::from_utf8(json).expect("JSON is UTF-8");
        json.replace('\n', self.space)
    }
}

#[derive(Serialize)]
struct NewGroup<'a> {
    hooks: [NewHook<'a>; 1],
}

#[derive(Serialize)]
struct NewHook<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    command: &'a str,
}

fn add(
    text: &str,
    event: &str,
    command: &str,
    is_ours: &impl Fn(&str) -> bool,
) -> Result<String, Refusal> {
    let settings = Settings::parse(text)?;
    let list = |style: Style| style.member(event, ['[', ']'], |style| style.group(command));
    let Some((_, hooks)) = settings.all_hooks()? else {
        let hooks = |style: Style| style.member("hooks", ['{', '}'], list);
        return Ok(settings.append(&settings.root, hooks));
    };
    let Some(found) = settings.event(event)? else {
        return Ok(settings.append(&hooks, list));
    };
    let mut ours = settings.hooks(&found.list);
    ours.retain(|hook| is_ours(&hook.command.text));
    match ours.first() {
        None => Ok(settings.append(&found.list, |style| style.group(command))),
        Some(hook) if hook.command.text == command => Ok(text.to_string()),
        Some(hook) => {
            let command = serde_json::to_string(command).expect("a string is JSON");
            Ok(settings.with(hook.command.span, &command))
        }
    }
}

/// Removes the last hook that is ours; none if there is none.
fn remove_last(
    text: &str,
    event: &str,
    is_ours: &impl Fn(&str) -> bool,
) -> Result<Option<String>, Refusal> {
    let settings = Settings::parse(text)?;
    let Some(found) = settings.event(event)? else {
        return Ok(None);
    };
    let mut ours = settings.hooks(&found.list);
    ours.retain(|hook| is_ours(&hook.command.text));
    let Some(hook) = ours.last() else {
        return Ok(None);
    };
    if hook.list.entries.len() > 1 {
        return Ok(settings.without(&hook.list, hook.index));
    }
    let shorter = settings
        .without(&found.list, hook.group)
        .or_else(|| settings.without(&found.hooks, found.index))
        .or_else(|| settings.without(&settings.root, found.hooks_index));
    Ok(shorter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const COMMAND: &str = "/opt/it's \"here\"/cc-etl sync --detach --quiet";

    fn is_ours(command: &str) -> bool {
        command.contains("cc-etl sync --detach")
    }

    /// Installs and removes the hooks, and returns the text between.
    fn round_trip(before: &str) -> String {
        let with = install(before, COMMAND, is_ours).unwrap();
        for event in EVENTS {
            let ours = commands(&with, event).unwrap();
            assert_eq!(ours.last().unwrap(), COMMAND, "{with}");
        }
        assert_eq!(install(&with, COMMAND, is_ours).unwrap(), with);
        assert_eq!(remove(&with, is_ours).unwrap(), before, "{with}");
        // Another program writes the same settings in its own style.
        let value: Value = serde_json::from_str(without_mark(&with)).unwrap();
        for other in [value.to_string(), format!("{value:#}")] {
            assert_eq!(install(&other, COMMAND, is_ours).unwrap(), other);
            let removed = remove(&other, is_ours).unwrap();
            for event in EVENTS {
                assert!(
                    !commands(&removed, event)
                        .unwrap()
                        .iter()
                        .any(|command| is_ours(command))
                );
            }
        }
        with
    }

    #[test]
    fn hooks_are_added_and_taken_away_byte_for_byte() {
        for before in [
            "{}",
            "{}\n",
            "{\n}\n",
            "{\r\n}\r\n",
            " { } ",
            "\u{feff}{}",
            "{\"model\":\"opus\"}",
            "{\n  \"model\": \"opus\"\n}",
            "{\n\t\"model\": \"opus\",\n\n\t\"env\": {\"A\": \"}\"}\n\n}\n\n",
            "{\r\n    \"model\": \"opus\"\r\n}\r\n",
            "{\"hooks\":{}}",
            "{\"hooks\" : { } , \"b\":[]}",
            "{\n  \"hooks\": {\n  }\n}\n",
            "{\"hooks\":{\"Stop\":[]}}",
            "{\n  \"hooks\": {\n    \"Stop\": [\n    ],\n    \"SessionEnd\": [ ]\n  }\n}\n",
            "{\"a\": 1,\n\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": []}]\n}}",
            "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"say done\"\n          }\n        ]\n      }\n    ]\n  },\n  \"z\": null\n}\n",
            "{\"hooks\": {\"Stop\": [7, null, {}, {\"hooks\": 5}, {\"hooks\": [{\"type\": \"prompt\"}]}]}}",
        ] {
            round_trip(before);
        }
    }

    #[test]
    fn hooks_are_written_in_the_style_of_the_file() {
        let with = round_trip("{\r\n\t\"model\": \"opus\"\r\n}");
        assert!(with.contains(
            "opus\",\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\t{\r\n\t\t\t\t\"hooks\": ["
        ));
        assert_eq!(with.matches('\n').count(), with.matches("\r\n").count());
        let with = round_trip("{\"model\": \"opus\"}");
        assert!(!with.contains('\n'), "{with}");
        assert!(new(COMMAND).contains("\n  \"hooks\": {\n    \"SessionEnd\": [\n      {\n"));
    }

    #[test]
    fn a_hook_beside_others_is_replaced_and_removed_alone() {
        let old = "cc-etl sync --detach --db old";
        let before = format!(
            r#"{{"hooks": {{"Stop": [{{"matcher": "", "hooks": [{{"command": "a"}}, {{"command": "{old}", "timeout": 5}}]}}]}}}}"#
        );
        let with = install(&before, COMMAND, is_ours).unwrap();
        assert_eq!(commands(&with, "Stop").unwrap(), ["a", COMMAND]);
        assert!(with.contains("\"timeout\": 5"));
        let without = remove(&with, is_ours).unwrap();
        let left = r#"{"hooks": {"Stop": [{"matcher": "", "hooks": [{"command": "a"}]}]}}"#;
        assert_eq!(without, left);
    }

    fn is_our_line(command: &str) -> bool {
        command.ends_with(" statusline")
    }

    #[test]
    fn the_status_line_is_added_after_the_hooks_and_removed_byte_for_byte() {
        const LINE: &str = "'/a b/cc-etl' statusline";
        for before in [
            "{}",
            "{\n}\n",
            " { } ",
            "{\"model\":\"opus\"}",
            "{\n\t\"model\": \"opus\"\n}",
            "{\r\n    \"model\": \"opus\"\r\n}\r\n",
        ] {
            let hooks = install(before, COMMAND, is_ours).unwrap();
            for hooks in [before, &hooks] {
                let with = install_status_line(hooks, LINE, false, is_our_line).unwrap();
                let value: Value = serde_json::from_str(&with).unwrap();
                assert_eq!(
                    value["statusLine"],
                    json!({"type": "command", "command": LINE})
                );
                assert_eq!(status_line(&with).unwrap().as_deref(), Some(LINE));
                let again = install_status_line(&with, LINE, false, is_our_line).unwrap();
                assert_eq!(again, with);
                assert_eq!(remove_status_line(&with, is_our_line).unwrap(), hooks);
            }
        }
        let with = install_status_line("{\n  \"a\": 1\n}", LINE, false, is_our_line).unwrap();
        assert!(
            with.contains(
                "1,\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \""
            )
        );
    }

    #[test]
    fn the_status_line_of_a_person_is_kept_unless_it_is_to_be_replaced() {
        for theirs in [
            "{\"statusLine\": {\"type\": \"command\", \"command\": \"~/my.sh\"}, \"z\": 1}",
            "{\"statusLine\": null, \"z\": 1}",
        ] {
            let refusal = install_status_line(theirs, "c statusline", false, is_our_line);
            assert!(refusal.unwrap_err().contains("--replace-statusline"));
            assert_eq!(remove_status_line(theirs, is_our_line).unwrap(), theirs);
            let ours = install_status_line(theirs, "c statusline", true, is_our_line).unwrap();
            let value: Value = serde_json::from_str(&ours).unwrap();
            assert_eq!(value["statusLine"]["command"], "c statusline");
            assert_eq!(value["z"], 1);
        }
        let old = "{\"statusLine\": {\"command\": \"old statusline\", \"padding\": 0}}";
        let new = install_status_line(old, "new statusline", false, is_our_line).unwrap();
        assert_eq!(new, old.replace("old", "new"));
    }

    #[test]
    fn what_cannot_be_understood_is_refused() {
        for (text, why) in [
            ("", "empty"),
            (" \n", "empty"),
            ("{\n  // my settings\n  \"a\": 1\n}", "line 2 has a comment"),
            ("{\"a\": 1, /* b */ \"c\": 2}", "line 1 has a comment"),
            ("{\"a\": 1,}", "not JSON"),
            ("{\"a\": 1} x", "not JSON"),
            ("[]", "not a JSON object"),
            ("{\"hooks\": []}", "not an object"),
            ("{\"hooks\": {}, \"hooks\": {}}", "twice"),
            ("{\"hooks\": {\"Stop\": {}}}", "not a list"),
            ("{\"hooks\": {\"SessionEnd\": null}}", "not a list"),
        ] {
            let refusal = install(text, COMMAND, is_ours).unwrap_err();
            assert!(refusal.contains(why), "{text}: {refusal}");
        }
    }

    #[test]
    fn a_file_that_was_created_is_known() {
        assert!(is_new(&new(COMMAND)));
        assert!(!is_new(&new(COMMAND).replace("  ", "\t")));
        for before in ["{}", "{\n}\n", "{}\n"] {
            assert!(!is_new(&install(before, COMMAND, is_ours).unwrap()));
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            "[a-z{}\\[\\],:\"\\\\ \n]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map("[a-z\"]{1,3}", inner, 0..4)
                    .prop_map(|entries| entries.into_iter().collect()),
            ]
        })
    }

    fn any_groups() -> impl Strategy<Value = Value> {
        let group = prop_oneof![
            any_value(),
            Just(json!({"hooks": [{"type": "command", "command": "say done"}]})),
            Just(json!({"matcher": "*", "hooks": []})),
        ];
        prop::collection::vec(group, 0..3).prop_map(Value::from)
    }

    fn any_settings() -> impl Strategy<Value = Value> {
        let event = || prop::option::of(any_groups());
        let hooks = (event(), event(), event()).prop_map(|(stop, end, other)| {
            let events = [("Stop", stop), ("SessionEnd", end), ("PreToolUse", other)];
            let events = events.into_iter();
            let given = events.filter_map(|(name, groups)| Some((name.to_string(), groups?)));
            given.collect::<Value>()
        });
        let others = prop::collection::hash_map("[a-gi-z]{1,3}|zz", any_value(), 0..4);
        (prop::option::of(hooks), others).prop_map(|(hooks, others)| {
            let hooks = hooks.map(|hooks| ("hooks".to_string(), hooks));
            others.into_iter().chain(hooks).collect()
        })
    }

    /// Writes a value with any white space between its tokens.
    fn write(value: &Value, space: &mut impl FnMut() -> &'static str, text: &mut String) {
        match value {
            Value::Object(entries) => {
                text.push('{');
                for (at, (key, value)) in entries.iter().enumerate() {
                    *text += if at > 0 { "," } else { "" };
                    *text += &format!("{}{}{}:{}", space(), json!(key), space(), space());
                    write(value, space, text);
                    *text += space();
                }
                *text += space();
                text.push('}');
            }
            Value::Array(values) => {
                text.push('[');
                for (at, value) in values.iter().enumerate() {
                    *text += if at > 0 { "," } else { "" };
                    *text += space();
                    write(value, space, text);
                    *text += space();
                }
                *text += space();
                text.push(']');
            }
            other => *text += &other.to_string(),
        }
    }

    proptest! {
        #[test]
        fn any_settings_survive(
            settings in any_settings(),
            spaces in prop::collection::vec(
                prop::sample::select(vec!["", " ", "\n", "\n  ", "\r\n\t", "\n\n    ", "\t", "  \n"]), 1..40),
        ) {
            let mut spaces = spaces.into_iter().cycle();
            let mut text = String::new();
            write(&settings, &mut || spaces.next().unwrap(), &mut text);
            round_trip(&text);
        }
    }
}
