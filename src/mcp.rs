//! The Model Context Protocol over standard input and output: one JSON-RPC message per line.
//!
//! Both eras are spoken. Until 2025-11-25 a client begins with `initialize`; from 2026-07-28 on there is no handshake: every
//! request names its version in `_meta`, and `server/discover` lists the versions. A call of a tool runs on a thread of its own,
//! so that a client can cancel it. When the input ends, the program does, whatever still runs.

use crate::error::{Error, Result};
use crate::query::Cancelled;
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The version without a handshake.
const STATELESS: &str = "2026-07-28";
/// The versions with one; the last is what a client gets that asks for an unknown one.
const HANDSHAKE: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const UNSUPPORTED_VERSION: i64 = -32022;

/// How long a client may keep the list of tools, which only another program changes.
const TOOLS_TTL_MS: u64 = 3_600_000;

/// What a server offers.
pub trait Tools: Send + Sync + 'static {
    /// For the model: what the server is for.
    fn instructions(&self) -> String;

    /// The tools as the protocol describes them: name, description and inputSchema.
    fn list(&self) -> Vec<Json>;

    /// The text that a tool returns; none if there is no such tool. An error is a result too: the model reads it.
    fn call(
        &self,
        name: &str,
        arguments: &Map<String, Json>,
        cancelled: &Cancelled,
    ) -> Option<std::result::Result<String, String>>;
}

/// Serves until the input ends.
pub fn serve(tools: impl Tools) -> Result<()> {
    let server = Arc::new(Server {
        tools,
        running: Mutex::default(),
    });
    for line in io::stdin().lock().split(b'\n') {
        let line = line.map_err(Error::io("standard input"))?;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(message) => server.receive(message)?,
            Err(error) => send(&failure(&Json::Null, PARSE_ERROR, &error.to_string(), None))?,
        }
    }
    Ok(())
}

struct Server<T> {
    tools: T,
    /// The calls that run, by the JSON of their request's id.
    running: Mutex<HashMap<String, Cancelled>>,
}

/// A request that is being answered.
struct Request {
    id: Json,
    /// Whether it is of the version without a handshake, whose results say more.
    is_stateless: bool,
}

impl<T: Tools> Server<T> {
    fn receive(self: &Arc<Self>, message: Json) -> Result<()> {
        let id = &message["id"];
        let Some(method) = message["method"].as_str() else {
            // A response: this server sends no requests.
            return match message.get("result").or(message.get("error")) {
                Some(_) => Ok(()),
                None => send(&failure(
                    id,
                    INVALID_REQUEST,
                    "the message has no method",
                    None,
                )),
            };
        };
        let parameters = message["params"].as_object().cloned().unwrap_or_default();
        if id.is_null() {
            if method == "notifications/cancelled" {
                self.cancel(&parameters);
            }
            return Ok(());
        }
        let version = parameters
            .get("_meta")
            .and_then(|meta| meta[VERSION_KEY].as_str());
        if let Some(version) = version.filter(|version| !is_supported(version)) {
            let data = json!({"supported": supported(), "requested": version});
            let message = format!("unsupported protocol version {version}");
            return send(&failure(id, UNSUPPORTED_VERSION, &message, Some(data)));
        }
        let request = Request {
            id: id.clone(),
            is_stateless: version == Some(STATELESS) || method == "server/discover",
        };
        match method {
            "initialize" => send(&request.success(self.initialize(&parameters))),
            "server/discover" => send(&request.success(json!({
                "supportedVersions": supported(),
                "capabilities": {"tools": {}},
                "instructions": self.tools.instructions(),
                "ttlMs": TOOLS_TTL_MS,
                "cacheScope": "private",
            }))),
            "ping" => send(&request.success(json!({}))),
            "tools/list" => send(&request.success(self.list(&request))),
            "tools/call" => self.call(request, &parameters),
            _ => {
                let message = format!("there is no method {method}");
                send(&failure(id, METHOD_NOT_FOUND, &message, None))
            }
        }
    }

    fn initialize(&self, parameters: &Map<String, Json>) -> Json {
        let wanted = parameters.get("protocolVersion").and_then(Json::as_str);
        let version = HANDSHAKE
            .into_iter()
            .find(|version| Some(*version) == wanted)
            .unwrap_or(HANDSHAKE[HANDSHAKE.len() - 1]);
        json!({
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": server_info(),
            "instructions": self.tools.instructions(),
        })
    }

    fn list(&self, request: &Request) -> Json {
        let mut list = json!({"tools": self.tools.list()});
        if request.is_stateless {
            list["ttlMs"] = json!(TOOLS_TTL_MS);
            list["cacheScope"] = json!("private");
        }
        list
    }

    fn call(self: &Arc<Self>, request: Request, parameters: &Map<String, Json>) -> Result<()> {
        let Some(name) = parameters.get("name").and_then(Json::as_str) else {
            let message = "tools/call needs the name of a tool";
            return send(&failure(&request.id, INVALID_PARAMS, message, None));
        };
        let name = name.to_string();
        let arguments = parameters.get("arguments").and_then(Json::as_object);
        let arguments = arguments.cloned().unwrap_or_default();
        let cancelled = Cancelled::default();
        let key = request.id.to_string();
        self.running().insert(key.clone(), cancelled.clone());
        let server = self.clone();
        let work = move || {
            let answer = match server.tools.call(&name, &arguments, &cancelled) {
                Some(result) => request.success(content(result)),
                None => {
                    let message = format!("there is no tool {name}");
                    failure(&request.id, INVALID_PARAMS, &message, None)
                }
            };
            server.running().remove(&key);
            // Without anyone to read the answer there is nothing to do.
            if !cancelled.load(Ordering::Relaxed) {
                let _ = send(&answer);
            }
        };
        let spawned = std::thread::Builder::new().spawn(work);
        spawned
            .map(drop)
            .map_err(Error::io("a thread for the call"))
    }

    fn cancel(&self, parameters: &Map<String, Json>) {
        let id = parameters.get("requestId").map(Json::to_string);
        if let Some(cancelled) = id.and_then(|id| self.running().get(&id).cloned()) {
            cancelled.store(true, Ordering::Relaxed);
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, Cancelled>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Request {
    fn success(&self, mut result: Json) -> Json {
        if self.is_stateless {
            result["resultType"] = json!("complete");
            result["_meta"] = json!({SERVER_KEY: server_info()});
        }
        json!({"jsonrpc": "2.0", "id": self.id, "result": result})
    }
}

fn is_supported(version: &str) -> bool {
    version == STATELESS || HANDSHAKE.contains(&version)
}

fn supported() -> Vec<&'static str> {
    let stateless = std::iter::once(STATELESS);
    stateless.chain(HANDSHAKE.into_iter().rev()).collect()
}

fn server_info() -> Json {
    json!({"name": "cc-etl", "version": env!("CARGO_PKG_VERSION")})
}

fn content(result: std::result::Result<String, String>) -> Json {
    let (text, is_error) = match result {
        Ok(text) => (text, false),
        Err(text) => (text, true),
    };
    json!({"content": [{"type": "text", "text": text}], "isError": is_error})
}

fn failure(id: &Json, code: i64, message: &str, data: Option<Json>) -> Json {
    let mut error = json!({"code": code, "message": message});
    if let Some(data) = data {
        error["data"] = data;
    }
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

/// Writes one message; calls on several threads do not mix theirs.
fn send(message: &Json) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{message}")
        .and_then(|()| out.flush())
        .map_err(Error::io("standard output"))
}
