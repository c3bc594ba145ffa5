//! Decides which line gives the numbers of an API response, and why its other lines are not counted.
//!
//! The rules are functions of the set of lines, so their order does not matter. Most responses have all their lines next to
//! each other in one file: the response is buffered, judged, and inserted with its lines. If another line arrives later, the
//! response is judged again at the commit.

use super::Loader;
use super::copies::{FileKey, reason_in_other_file};
use crate::database::{Inserter, statements as sql, version_number};
use crate::error::Result;
use crate::rows::{ApiResponse, Insert, Message, Text, Usage, UsageLine};
use crate::store::{Id, Store};
use rusqlite::types::FromSql;
use rusqlite::{Connection, Row};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// A line with the usage of a response.
pub struct Line<'a> {
    /// Its key; 0 before it is inserted.
    usage_line_id: i64,
    usage: UsageLine<'a>,
    /// The version of Claude Code in its message, as a number.
    version: i64,
    /// Its file; `None` if all lines are in one file.
    file: Option<Box<FileKey>>,
}

/// Buffered responses.
#[derive(Default)]
pub struct OpenResponses<'a> {
    /// By key: they are inserted in the order of the table.
    open: BTreeMap<i64, NewResponse<'a>>,
    /// Their keys by their names.
    keys: HashMap<String, i64>,
    /// Responses of agents that only their parents have told of, by their names. Their own lines mostly follow in the
    /// next files, and only then do they get keys.
    echoes: BTreeMap<String, NewResponse<'static>>,
    echoed_lines: usize,
}

/// At most this many responses stay buffered at the end of a chunk. Their other lines usually follow at once.
const OPEN_RESPONSES: usize = 8;

/// A response with more lines than this is inserted at the end of the chunk.
const OPEN_LINES: usize = 256;

/// At most this many progress lines are buffered until the agent's own lines arrive.
const ECHOED_LINES: usize = 8192;

impl OpenResponses<'_> {
    pub fn into_owned(self) -> OpenResponses<'static> {
        let own = |(key, response): (i64, NewResponse<'_>)| (key, response.into_owned());
        OpenResponses {
            open: self.open.into_iter().map(own).collect(),
            ..self
        }
    }
}

impl<S: Store> Loader<S> {
    /// Adds the usage of a message.
    pub(super) fn add_usage_of_message<'a>(
        &mut self,
        usage: &mut Usage<'a>,
        message: &mut Message<'a>,
        responses: &mut OpenResponses<'a>,
    ) -> Result<()> {
        usage.line.set_message(message);
        let is_progress = usage.line.is_progress;
        let key = self.add_usage(usage, message.version.as_deref(), responses)?;
        if !is_progress {
            message.api_response_id = key;
        }
        Ok(())
    }

    /// Adds the usage of a line: to its response if that waits, else to the database. Returns the key of the response, if it
    /// has one by now.
    pub(super) fn add_usage<'a>(
        &mut self,
        usage: &mut Usage<'a>,
        version: Option<&str>,
        responses: &mut OpenResponses<'a>,
    ) -> Result<Option<i64>> {
        let name = usage.response_name();
        let line = &mut usage.line;
        if let Some(model) = line.model.as_deref()
            && !self.deferred.models.contains(model)
        {
            self.deferred.models.insert(model.to_string());
        }
        let known = match responses.keys.get(&*name) {
            None => self.store.find(Id::Response(&name))?,
            open => open.copied(),
        };
        if known.is_none() && line.is_progress {
            let echo = responses.echoes.entry(name.to_string());
            echo.or_insert_with(|| {
                NewResponse::new(
                    usage.api_message_id.to_string().into(),
                    usage.id_scope.to_string().into(),
                )
            })
            .add(std::mem::take(line).into_owned(), version);
            responses.echoed_lines += 1;
            return Ok(None);
        }
        let key = known.unwrap_or_else(|| {
            let echo = responses.echoes.remove(&*name);
            let response = echo.unwrap_or_else(|| {
                NewResponse::new(usage.api_message_id.clone(), usage.id_scope.clone())
            });
            responses.echoed_lines -= response.lines.len();
            self.open_response(response, &name, responses)
        });
        line.api_response_id = key;
        match responses.open.get_mut(&key) {
            Some(response) => response.add(std::mem::take(line), version),
            None => {
                self.deferred.responses.insert(key);
                self.store.insert_last(line)?;
            }
        }
        Ok(Some(key))
    }

    /// Assigns the key of a response.
    fn open_response<'a>(
        &mut self,
        response: NewResponse<'a>,
        name: &str,
        responses: &mut OpenResponses<'a>,
    ) -> i64 {
        self.keys.response += 1;
        let key = self.keys.response;
        self.store.remember(Id::Response(name), key);
        responses.keys.insert(name.to_string(), key);
        responses.open.insert(key, response);
        key
    }

    /// Inserts the oldest buffered responses at the end of a chunk.
    pub(super) fn insert_finished_responses(
        &mut self,
        responses: &mut OpenResponses<'_>,
    ) -> Result<()> {
        if responses.echoed_lines > ECHOED_LINES {
            return self.insert_all_responses(responses);
        }
        let mut open = responses.open.values();
        let is_long = open.any(|response| response.lines.len() > OPEN_LINES);
        self.insert_responses(responses, if is_long { 0 } else { OPEN_RESPONSES })
    }

    /// Inserts all buffered responses, including those with only progress lines.
    pub(super) fn flush_responses(&mut self) -> Result<()> {
        let mut responses = std::mem::take(&mut self.buffers.responses);
        self.insert_all_responses(&mut responses)
    }

    fn insert_all_responses(&mut self, responses: &mut OpenResponses<'_>) -> Result<()> {
        responses.echoed_lines = 0;
        for (name, echo) in std::mem::take(&mut responses.echoes) {
            self.open_response(echo, &name, responses);
        }
        self.insert_responses(responses, 0)
    }

    /// Inserts responses with their lines, except the last ones.
    fn insert_responses(&mut self, responses: &mut OpenResponses<'_>, left: usize) -> Result<()> {
        while responses.open.len() > left
            && let Some((key, response)) = responses.open.pop_first()
        {
            responses.keys.retain(|_, open| *open != key);
            let files = &self.file_keys;
            if response.insert(key, files, &mut self.store)? {
                self.deferred.responses.insert(key);
            }
        }
        Ok(())
    }
}

/// A buffered response with its lines so far.
struct NewResponse<'a> {
    api_message_id: Text<'a>,
    id_scope: Text<'a>,
    lines: Vec<Line<'a>>,
}

impl<'a> NewResponse<'a> {
    fn new(api_message_id: Text<'a>, id_scope: Text<'a>) -> NewResponse<'a> {
        NewResponse {
            api_message_id,
            id_scope,
            // Most responses have one or two lines.
            lines: Vec::with_capacity(2),
        }
    }

    /// Adds a line; `version` is that of its message.
    fn add(&mut self, usage: UsageLine<'a>, version: Option<&str>) {
        self.lines.push(Line {
            usage_line_id: 0,
            usage,
            version: number_of(version),
            file: None,
        });
    }

    fn into_owned(self) -> NewResponse<'static> {
        let own = |line: Line<'a>| Line {
            usage: line.usage.into_owned(),
            ..line
        };
        NewResponse {
            api_message_id: Text::Owned(self.api_message_id.into_owned()),
            id_scope: Text::Owned(self.id_scope.into_owned()),
            lines: self.lines.into_iter().map(own).collect(),
        }
    }

    /// Inserts it with its lines. Returns whether the commit must derive it again.
    fn insert(
        mut self,
        api_response_id: i64,
        files: &foldhash::HashMap<i64, FileKey>,
        target: &mut impl Insert,
    ) -> Result<bool> {
        for line in &mut self.lines {
            line.usage.api_response_id = api_response_id;
        }
        let file_id = self.lines.first().map(|line| line.usage.file_id);
        if self
            .lines
            .iter()
            .any(|line| Some(line.usage.file_id) != file_id)
        {
            for line in &mut self.lines {
                line.file = files.get(&line.usage.file_id).cloned().map(Box::new);
            }
        }
        sort(&mut self.lines);
        target.insert(&ApiResponse {
            api_response_id,
            api_message_id: self.api_message_id,
            id_scope: Text::Borrowed(&self.id_scope),
            ..judge(&self.lines)
        })?;
        pass_verdicts(&mut self.lines, &self.id_scope);
        let mut lines = self.lines.iter().map(|line| &line.usage);
        let has_more = lines.any(|usage| usage.run_uuid.is_some() || tells_of_others(usage));
        self.lines
            .sort_by_key(|line| (line.usage.file_id, line.usage.byte_offset));
        for line in self.lines {
            target.insert(&line.usage)?;
        }
        Ok(has_more)
    }
}

/// Whether a line may have advisors or further models, which sql/derive reads.
fn tells_of_others(usage: &UsageLine<'_>) -> bool {
    let json = usage.extra_json.as_deref().unwrap_or_default();
    json.contains("iterations")
        && ["advisor", "model", "\\"]
            .iter()
            .any(|part| json.contains(part))
}

/// Judges all touched responses.
pub fn judge_touched(connection: &Connection) -> Result<()> {
    let inserter = Inserter::new(connection);
    let mut touched = connection.prepare(sql::FIND_TOUCHED_RESPONSES)?;
    let mut find_lines = connection.prepare(sql::FIND_USAGE_LINES)?;
    let mut update_line = connection.prepare(sql::JUDGE_USAGE_LINE)?;
    let mut responses = touched.query([])?;
    while let Some(row) = responses.next()? {
        let api_response_id: i64 = row.get(0)?;
        let api_message_id: String = row.get(1)?;
        let id_scope: String = row.get(2)?;
        let mut lines = find_lines
            .query_map([api_response_id], line)?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        let before: HashMap<i64, Verdict> = lines
            .iter()
            .map(|line| (line.usage_line_id, line.verdict()))
            .collect();
        sort(&mut lines);
        inserter.replace(&ApiResponse {
            api_response_id,
            api_message_id: api_message_id.into(),
            id_scope: Text::Borrowed(&id_scope),
            ..judge(&lines)
        })?;
        pass_verdicts(&mut lines, &id_scope);
        for line in &lines {
            let verdict = line.verdict();
            if before[&line.usage_line_id] != verdict {
                update_line.execute((line.usage_line_id, verdict.0, verdict.1))?;
            }
        }
    }
    Ok(())
}

/// Whether a line is counted, or why not.
type Verdict = (bool, Option<String>);

impl Line<'_> {
    fn verdict(&self) -> Verdict {
        let reason = self.usage.duplicate_reason.as_deref();
        (self.usage.is_counted, reason.map(str::to_string))
    }

    /// Its file, in any version.
    fn path(&self) -> Option<[&str; 3]> {
        let file = self.file.as_deref()?;
        Some([&file.machine_id, &file.root_path, &file.path])
    }
}

fn line(row: &Row<'_>) -> rusqlite::Result<Line<'static>> {
    let mut columns = Columns { row, read: 0 };
    Ok(Line {
        usage_line_id: columns.next()?,
        usage: UsageLine {
            message_id: columns.next()?,
            event_id: columns.next()?,
            file_id: columns.next()?,
            line_number: columns.next()?,
            byte_offset: columns.next()?,
            session_id: columns.text()?,
            agent_run_id: columns.next()?,
            request_id: columns.text()?,
            model: columns.text()?,
            service_tier: columns.text()?,
            speed: columns.text()?,
            inference_geo: columns.text()?,
            stop_reason: columns.text()?,
            duplicate_reason: columns.text()?,
            input_tokens: columns.next()?,
            output_tokens: columns.next()?,
            cache_write_tokens: columns.next()?,
            cache_write_5m_tokens: columns.next()?,
            cache_write_1h_tokens: columns.next()?,
            cache_read_tokens: columns.next()?,
            thinking_tokens: columns.next()?,
            web_search_count: columns.next()?,
            visible_char_count: columns.next()?,
            recorded_cost_usd: columns.next()?,
            is_progress: columns.next()?,
            is_sidechain: columns.next()?,
            is_fork: columns.next()?,
            is_counted: columns.next()?,
            sent_at: columns.text()?,
            ..UsageLine::default()
        },
        version: number_of(columns.text()?.as_deref()),
        file: Some(Box::new(FileKey {
            path: columns.next()?,
            machine_id: columns.next()?,
            root_path: columns.next()?,
            generation: columns.next()?,
        })),
    })
}

fn number_of(version: Option<&str>) -> i64 {
    version.and_then(version_number).unwrap_or(0)
}

/// Iterates over the columns of a row: a lookup by name takes longer than reading the value.
struct Columns<'r> {
    row: &'r Row<'r>,
    read: usize,
}

impl Columns<'_> {
    fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        self.read += 1;
        self.row.get(self.read - 1)
    }

    fn text(&mut self) -> rusqlite::Result<Option<Text<'static>>> {
        Ok(self.next::<Option<String>>()?.map(Into::into))
    }
}

/// Moves the counted line to the front.
fn sort(lines: &mut [Line<'_>]) {
    lines.sort_by(|a, b| counting_order(a).cmp(&counting_order(b)));
}

/// Sets the columns of a response from its lines, the counted one first.
fn judge<'l>(lines: &'l [Line<'_>]) -> ApiResponse<'l> {
    let mut response = ApiResponse {
        kind: "message",
        ..ApiResponse::default()
    };
    let Some(counted) = lines.first() else {
        return response;
    };
    let earliest = lines
        .iter()
        .min_by(|a, b| age_order(a).cmp(&age_order(b)))
        .expect("there is a line");
    let (usage, first) = (&counted.usage, &earliest.usage);
    response.request_id = borrowed(&usage.request_id);
    response.model = borrowed(&usage.model);
    response.service_tier = borrowed(&usage.service_tier);
    response.speed = borrowed(&usage.speed);
    response.inference_geo = borrowed(&usage.inference_geo);
    response.input_tokens = usage.input_tokens;
    response.output_tokens = usage.output_tokens;
    response.cache_write_tokens = usage.cache_write_tokens;
    response.cache_write_5m_tokens = usage.cache_write_5m_tokens;
    response.cache_write_1h_tokens = usage.cache_write_1h_tokens;
    response.cache_read_tokens = usage.cache_read_tokens;
    response.thinking_tokens = usage.thinking_tokens;
    response.web_search_count = usage.web_search_count;
    response.recorded_cost_usd = usage.recorded_cost_usd;
    response.visible_char_count = visible_chars(usage, lines);
    response.message_id = first.message_id;
    response.session_id = borrowed(&first.session_id);
    response.agent_run_id = first.agent_run_id;
    response.responded_at = borrowed(&first.sent_at);
    response.line_count = Some(lines.len() as i64);
    let mut stop_reasons = lines.iter().map(|line| &line.usage.stop_reason);
    response.stop_reason = stop_reasons.find_map(borrowed);
    judge_quality(&mut response, earliest.version);
    response
}

fn borrowed<'a>(text: &'a Option<Text<'_>>) -> Option<Text<'a>> {
    text.as_deref().map(Text::Borrowed)
}

/// Sets for each line, the counted one first, whether it is counted, or why not.
fn pass_verdicts(lines: &mut [Line<'_>], id_scope: &str) {
    let Some((counted, others)) = lines.split_first_mut() else {
        return;
    };
    counted.usage.is_counted = true;
    counted.usage.duplicate_reason = None;
    for line in others {
        line.usage.is_counted = false;
        line.usage.duplicate_reason = Some(duplicate_reason(line, counted, id_scope).into());
    }
}

/// Orders the counted line first.
fn counting_order(line: &Line<'_>) -> impl Ord {
    let usage = &line.usage;
    let input = [
        usage.input_tokens,
        usage.cache_write_tokens,
        usage.cache_read_tokens,
    ];
    (
        usage.is_sidechain, // a replay in a sidechain never wins over the conversation
        Reverse(usage.output_tokens.unwrap_or(-1)), // early lines have a placeholder
        Reverse(input.into_iter().flatten().map(i128::from).sum::<i128>()),
        usage.is_progress, // the agent's own line before a progress record of its parent
        usage.speed.is_none(), // early lines of some versions lack it
        Reverse((usage.line_number, usage.byte_offset)),
        &line.file,
    )
}

/// Orders the earliest line first.
fn age_order(line: &Line<'_>) -> impl Ord {
    let usage = &line.usage;
    (
        usage.sent_at.is_none(),
        &usage.sent_at,
        usage.is_progress,
        &line.file,
        usage.byte_offset,
    )
}

/// The characters of all lines in the file of the counted one; lines in other files are copies.
fn visible_chars(counted: &UsageLine<'_>, lines: &[Line<'_>]) -> Option<i64> {
    let mut chars: BTreeMap<(Option<i64>, Option<i64>), i64> = BTreeMap::new();
    for usage in lines.iter().map(|line| &line.usage) {
        if (usage.file_id, usage.is_progress) == (counted.file_id, counted.is_progress)
            && let Some(count) = usage.visible_char_count
        {
            let line = (usage.message_id, usage.event_id);
            let most = chars.entry(line).or_insert(count);
            *most = count.max(*most);
        }
    }
    (!chars.is_empty()).then(|| chars.values().sum())
}

/// The reliability of the output tokens.
fn judge_quality(response: &mut ApiResponse<'_>, version: i64) {
    let visible = response.visible_char_count.unwrap_or(0);
    let output = response.output_tokens.unwrap_or(0);
    let quality = if visible > 400 && visible > output.saturating_mul(15) {
        "placeholder"
    } else if response.stop_reason.is_none()
        && (output <= 12 || (2_001_009..=2_001_052).contains(&version))
    {
        "suspect"
    } else {
        "final"
    };
    // From about 2.1.100 on, thinking is not recorded, so the text is no estimate of the output.
    let is_estimated = quality != "final" && version < 2_001_100;
    response.usage_quality = Some(quality);
    response.estimated_output_tokens = is_estimated.then_some((visible * 10 + 33) / 34);
}

/// Why a line is not counted.
fn duplicate_reason(line: &Line<'_>, counted: &Line<'_>, id_scope: &str) -> &'static str {
    let (usage, other) = (&line.usage, &counted.usage);
    if usage.is_progress {
        "progress_echo"
    } else if usage.file_id == other.file_id {
        let is_same_message = usage.message_id.is_some() && usage.message_id == other.message_id;
        match id_scope.split(':').next() {
            _ if is_same_message => "same_file_replay",
            Some("request") => "same_request",
            Some("run") => "same_run",
            _ => "streaming",
        }
    } else {
        let is_rewrite = line.path() == counted.path();
        reason_in_other_file(is_rewrite, usage.is_sidechain, usage.is_fork)
    }
}
