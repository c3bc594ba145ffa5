//! Lines of transcripts, made from what matters in them, and homes made of such lines.

use super::Sandbox;
use serde_json::{Value, json};

pub const S1: &str = "5e550001-0000-4000-8000-000000000001";
pub const S2: &str = "5e550002-0000-4000-8000-000000000002";

/// A chain record with an envelope around what is given; `null` takes a key away.
pub fn record(uuid: &str, parent: Option<&str>, given: Value) -> Value {
    let mut line = json!({
        "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/w", "sessionId": S1,
        "version": "2.1.200", "gitBranch": "main", "uuid": uuid, "timestamp": "2026-01-10T10:00:00.000Z",
    });
    merge(&mut line, given);
    line
}

pub fn merge(line: &mut Value, given: Value) {
    for (key, value) in given.as_object().unwrap() {
        match value {
            Value::Null => line.as_object_mut().unwrap().remove(key),
            other => line
                .as_object_mut()
                .unwrap()
                .insert(key.clone(), other.clone()),
        };
    }
}

pub fn user(uuid: &str, text: &str, given: Value) -> Value {
    let mut line = record(
        uuid,
        None,
        json!({"type": "user", "message": {"role": "user", "content": text}}),
    );
    merge(&mut line, given);
    line
}

/// A line of a response.
pub fn response(uuid: &str, id: &str, output: i64, given: Value) -> Value {
    let mut line = record(
        uuid,
        None,
        json!({"type": "assistant", "requestId": format!("req_{id}"), "message": {
            "id": id, "role": "assistant", "model": "claude-sonnet-4-5",
            "content": [{"type": "text", "text": "hello"}],
            "usage": {"input_tokens": 10, "output_tokens": output, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
        }}),
    );
    merge(&mut line, given);
    line
}

/// A tool call.
pub fn call(uuid: &str, id: &str, name: &str, input: Value) -> Value {
    record(
        uuid,
        None,
        json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": name, "input": input}
        ]}}),
    )
}

/// The answer to a tool call.
pub fn answer(uuid: &str, id: &str, content: Value, given: Value) -> Value {
    let mut line = record(
        uuid,
        None,
        json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": content}
        ]}}),
    );
    merge(&mut line, given);
    line
}

/// A home with these files, imported and checked.
pub fn imported(files: &[(&str, &[Value])]) -> Sandbox {
    let sandbox = Sandbox::new();
    for (path, lines) in files {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        sandbox.write(path, text);
    }
    sandbox.sync();
    sandbox.check();
    sandbox
}

pub fn file(session: &str) -> String {
    format!("projects/-w/{session}.jsonl")
}

pub fn session(lines: &[Value]) -> Sandbox {
    imported(&[(&file(S1), lines)])
}

pub fn at(time: &str) -> Value {
    json!({"timestamp": format!("2026-01-10T{time}.000Z")})
}
