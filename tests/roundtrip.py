"""Proves that nothing of a line is dropped: columns and JSON together give back the line.

Usage: python3 tests/roundtrip.py HOME [HOME ...] --db FILE, with the homes in the order in which they were synced.

Every record of the homes is put together again from the database alone and compared with the record in its file. The
only values that may be missing are those that the archive alone keeps:

- the bytes of images and documents (their type, size and hash are columns);
- the signature of thinking, which only the API can read;
- what says nothing: the type of a message that is "message", nulls instead of a stop reason or sequence, and
  sourceToolAssistantUUID when it is the parent;
- in toolUseResult: what the text of the result says already, whole files before or after a change, and the strings of an
  edit, which stand in the call's input, when there is a patch;
- the running output in progress records;
- in agent_progress: what the agent's line says (its envelope and usage are kept), its prompt and its lines so far.

Lone surrogates and NUL characters read U+FFFD in the database; the archive has them.
"""

import argparse
import json
import re
import sqlite3
import sys
from pathlib import Path

# Column -> key, of all chain records.
ENVELOPE = {
    "uuid": "uuid", "logical_parent_uuid": "logicalParentUuid", "agent_id": "agentId", "type": "type",
    "request_id": "requestId", "prompt_id": "promptId", "permission_mode": "permissionMode",
    "prompt_source": "promptSource", "effort": "effort", "attribution_skill": "attributionSkill",
    "attribution_plugin": "attributionPlugin", "attribution_agent": "attributionAgent",
    "attribution_mcp_server": "attributionMcpServer", "attribution_mcp_tool": "attributionMcpTool", "error": "error",
    "interrupted_message_id": "interruptedMessageId", "tool_denial_kind": "toolDenialKind",
    "user_feedback": "userFeedback", "source_tool_use_id": "toolUseID", "parent_tool_use_id": "parentToolUseID",
    "cause_tool_use_id": "sourceToolUseID", "origin_session_id": "session_id", "session_kind": "sessionKind",
    "team_name": "teamName", "agent_name": "agentName", "cwd": "cwd", "git_branch": "gitBranch", "version": "version",
    "entrypoint": "entrypoint", "user_type": "userType", "slug": "slug", "level": "level", "duration_ms": "durationMs",
    "sent_at": "timestamp",
}
FLAGS = {
    "is_sidechain": "isSidechain", "is_meta": "isMeta", "is_compact_summary": "isCompactSummary",
    "is_api_error": "isApiErrorMessage",
}
USAGE = {
    "input_tokens": "input_tokens", "output_tokens": "output_tokens",
    "cache_write_tokens": "cache_creation_input_tokens", "cache_read_tokens": "cache_read_input_tokens",
    "service_tier": "service_tier", "speed": "speed", "inference_geo": "inference_geo",
}
CONTENT_KEYS = {
    "message", "toolUseResult", "attachment", "data", "content", "planContent", "todos", "rendered", "compactMetadata",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("homes", nargs="+", type=Path)
    parser.add_argument("--db", required=True)
    arguments = parser.parse_args()
    database = sqlite3.connect(f"{Path(arguments.db).absolute().as_uri()}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    counts, failures = {}, []
    for kind, compared in ((kind, check(database, arguments.homes)) for kind, check in CHECKS.items()):
        for where, problems in compared:
            counts[kind] = counts.get(kind, 0) + 1
            if problems:
                failures.append((kind, where, problems))
    for kind, where, problems in failures[:20]:
        print(f"{kind} {where}: {'; '.join(problems[:4])}")
    print(f"{', '.join(f'{count} {kind}' for kind, count in counts.items())}: {len(failures)} not given back")
    sys.exit(1 if failures else 0)


# --- the records as they are in their files


class Sources:
    """The files of the homes, each read once."""

    def __init__(self, database, homes):
        roots = {row["source_id"]: home for row, home in zip(database.execute(
            "select source_id from sources order by source_id"), homes, strict=True)}
        self.files = {row["file_id"]: roots[row["source_id"]] / row["path"] for row in database.execute(
            "select file_id, source_id, path from files where path_bytes is null")}
        self.file_id, self.data = None, b""

    def record(self, file_id, offset):
        """The record at an offset, as text columns can hold it."""
        if file_id != self.file_id:
            self.file_id, self.data = file_id, self.files[file_id].read_bytes()
        end = self.data.find(b"\n", offset)
        line = self.data[offset : end if end >= 0 else None].decode("utf-8", "replace")
        return clean(json.JSONDecoder(strict=False).raw_decode(line)[0])


def clean(value):
    if isinstance(value, str):
        return re.sub("[\0\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, list):
        return [clean(element) for element in value]
    if isinstance(value, dict):
        return {clean(key): clean(element) for key, element in value.items()}
    return value


# --- the records as the database gives them back


def check_messages(database, homes):
    sources = Sources(database, homes)
    for row in database.execute("select * from messages order by file_id, byte_offset"):
        source = sources.record(row["file_id"], row["byte_offset"])
        rebuilt, result_text = rebuild(database, row)
        yield row["uuid"], differences(source, rebuilt, result_text)


def check_copies(database, homes):
    sources = Sources(database, homes)
    for copy in database.execute("select * from message_copies order by file_id, byte_offset"):
        source = sources.record(copy["file_id"], copy["byte_offset"])
        rebuilt, result_text = {}, ""
        if not copy["is_different"]:
            message = database.execute("select * from messages where message_id = ?", (copy["message_id"],)).fetchone()
            whole, result_text = rebuild(database, message)
            rebuilt = {key: value for key, value in whole.items() if key in CONTENT_KEYS}
        rebuilt |= json.loads(copy["extra_json"] or "{}")
        yield source.get("uuid"), differences(source, rebuilt, result_text)


def check_events(database, homes):
    sources = Sources(database, homes)
    for row in database.execute("select * from events order by file_id, byte_offset"):
        source = sources.record(row["file_id"], row["byte_offset"])
        yield f"{row['type']} in line {row['line_number']}", differences(source, json.loads(row["payload_json"]), "")


def check_history(database, homes):
    sources = Sources(database, homes)
    for row in database.execute("select * from history_prompts order by file_id, byte_offset"):
        source = sources.record(row["file_id"], row["byte_offset"])
        rebuilt = present({"display": row["display"], "project": row["project_path"], "sessionId": row["session_id"]})
        if row["prompted_at"]:
            moment = database.execute(
                "select cast(round((julianday(?) - 2440587.5) * 86400000) as integer)", (row["prompted_at"],))
            rebuilt["timestamp"] = moment.fetchone()[0]
        pasted = {}
        for paste in database.execute(
            "select * from pasted_contents where history_prompt_id = ?", (row["history_prompt_id"],)
        ):
            pasted[str(paste["paste_number"])] = merge(
                present({"type": paste["kind"], "content": paste["content"], "contentHash": paste["cache_name"],
                         "mediaType": paste["media_type"]}), paste["extra_json"])
        rebuilt["pastedContents"] = pasted
        yield f"history line {row['line_number']}", differences(source, merge(rebuilt, row["extra_json"]), "")


CHECKS = {"messages": check_messages, "copies": check_copies, "events": check_events, "history prompts": check_history}


def rebuild(database, row):
    """The line of a message, and the text of its first tool result."""
    record = present({key: row[column] for column, key in ENVELOPE.items()})
    record |= present({key: boolean(row[column]) for column, key in FLAGS.items()})
    record["parentUuid"] = row["parent_uuid"]
    if row["session_id"] is not None and row["has_own_session"] is None:
        record["sessionId"] = row["session_id"]
    if row["origin_kind"] is not None:
        record["origin"] = {"kind": row["origin_kind"]}
    if row["forked_from_session_id"] is not None:
        record["forkedFrom"] = {"sessionId": row["forked_from_session_id"]}
    extra = json.loads(row["extra_json"] or "{}")
    content, first_result = content_of(database, row)
    message = present({"role": row["role"], "model": row["model"], "stop_reason": row["stop_reason"]})
    usage = database.execute(
        "select * from usage_lines join api_responses using (api_response_id)"
        " where usage_lines.file_id = ? and usage_lines.byte_offset = ? and is_progress = 0",
        (row["file_id"], row["byte_offset"])).fetchone()
    if usage is not None:
        line = database.execute("select * from usage_lines where usage_line_id = ?", (usage["usage_line_id"],)).fetchone()
        message["usage"] = usage_of(line)
        if line["recorded_cost_usd"] is not None:
            record["costUSD"] = line["recorded_cost_usd"]
        if usage["api_message_id"] != row["uuid"]:
            message["id"] = usage["api_message_id"]
    nested = {"attachment": "attachment", "progress": "data"}.get(row["type"])
    if row["subtype"] is not None:
        if nested:
            record[nested] = {"type": row["subtype"]}
        else:
            record["subtype"] = row["subtype"]
    if content is not None:
        if nested == "attachment":
            record["attachment"]["prompt"] = content
        elif message or "message" in extra or row["type"] in ("user", "assistant"):
            message["content"] = content
        else:
            record["content"] = content
    if message:
        record["message"] = message
    result_text = ""
    if first_result is not None:
        result_text = first_result["content"] or ""
        if first_result["details_json"] is not None:
            record["toolUseResult"] = json.loads(first_result["details_json"])
    return deep_merge(record, extra), result_text


def content_of(database, row):
    """The content of a message from its blocks, and its first tool result."""
    blocks = database.execute(
        "select * from content_blocks where message_id = ? order by position, part_number", (row["message_id"],)
    ).fetchall()
    if row["has_string_content"] or (row["has_string_content"] is None and blocks):
        return blocks[0]["text"], None
    if row["has_string_content"] is None:
        return None, None
    content, first_result = [], None
    for block in (block for block in blocks if block["part_number"] == 0):
        parts = [part for part in blocks if part["position"] == block["position"] and part["part_number"] > 0]
        rebuilt, result = block_of(database, block, parts)
        content.append(rebuilt)
        first_result = first_result or result
    return content, first_result


def block_of(database, block, parts):
    if block["type"] is None and block["text"] is not None:
        return block["text"], None
    extra = json.loads(block["extra_json"] or "{}")
    if block["type"] is None and set(extra) == {"value"}:
        return extra["value"], None
    rebuilt = present({"type": block["type"]})
    if block["text"] is not None:
        rebuilt["thinking" if block["type"] == "thinking" else "text"] = block["text"]
    source_of(block, rebuilt)
    call = database.execute("select * from tool_uses where block_id = ?", (block["block_id"],)).fetchone()
    if call is not None:
        rebuilt |= present({"id": call["tool_use_id"], "name": call["name"]})
        if call["input_json"] is not None:
            rebuilt["input"] = json.loads(call["input_json"])
    result = database.execute("select * from tool_results where block_id = ?", (block["block_id"],)).fetchone()
    if result is not None:
        rebuilt |= present({"tool_use_id": result["source_tool_use_id"], "is_error": boolean(result["is_error"])})
        if result["has_string_content"]:
            rebuilt["content"] = result["content"]
        elif result["has_string_content"] == 0:
            rebuilt["content"] = parts_of(result["content"], parts)
    return deep_merge(rebuilt, extra), result


def parts_of(text, parts):
    """The parts of a tool result: their texts stand in the result's, one behind the other."""
    remaining, content = (text or "").encode(), []
    for part in parts:
        extra = json.loads(part["extra_json"] or "{}")
        if part["type"] is None and set(extra) == {"value"}:
            content.append(extra["value"])
            continue
        rebuilt = present({"type": part["type"]})
        source_of(part, rebuilt)
        if part["byte_length"] is not None and "source" not in rebuilt and "source" not in extra:
            rebuilt["text"] = remaining[: part["byte_length"]].decode()
            remaining = remaining[part["byte_length"] + 1 :]
        content.append(deep_merge(rebuilt, extra))
    return content


def source_of(block, rebuilt):
    if block["media_type"] is not None:
        rebuilt["source"] = {"media_type": block["media_type"]}


def usage_of(line):
    usage = present({key: line[column] for column, key in USAGE.items()})
    split = present({"ephemeral_5m_input_tokens": line["cache_write_5m_tokens"],
                     "ephemeral_1h_input_tokens": line["cache_write_1h_tokens"]})
    if split:
        usage["cache_creation"] = split
    if line["web_search_count"] is not None:
        usage["server_tool_use"] = {"web_search_requests": line["web_search_count"]}
    if line["thinking_tokens"] is not None:
        usage["output_tokens_details"] = {"thinking_tokens": line["thinking_tokens"]}
    return merge(usage, line["extra_json"])


def present(values):
    return {key: value for key, value in values.items() if value is not None}


def boolean(value):
    return None if value is None else bool(value)


def merge(values, extra_json):
    return deep_merge(values, json.loads(extra_json or "{}"))


def deep_merge(values, extra):
    """What stands in the JSON wins over what the columns say."""
    for key, value in extra.items():
        both = isinstance(value, dict) and isinstance(values.get(key), dict)
        values[key] = deep_merge(values[key], value) if both else value
    return values


# --- comparison


def differences(source, rebuilt, result_text, path=(), whole=None):
    """Where the rebuilt value is not the source's, but for what the archive alone keeps."""
    whole = source if whole is None else whole
    if isinstance(source, dict) and isinstance(rebuilt, dict):
        found = []
        for key in source.keys() | rebuilt.keys():
            place = (*path, key)
            if key not in source:
                found.append(f"{'.'.join(place)} is invented")
            elif key not in rebuilt:
                if not is_archived(place, source[key], result_text, whole, source):
                    found.append(f"{'.'.join(place)} is missing")
            else:
                found += differences(source[key], rebuilt[key], result_text, place, whole)
        return found
    if isinstance(source, list) and isinstance(rebuilt, list) and len(source) == len(rebuilt):
        return [problem for index, pair in enumerate(zip(source, rebuilt))
                for problem in differences(*pair, result_text, (*path, str(index)), whole)]
    return [] if source == rebuilt else [f"{'.'.join(path)} differs: {str(source)[:60]!r}, {str(rebuilt)[:60]!r}"]


def is_archived(place, value, result_text, whole, around):
    """Whether the archive alone keeps a value, which stands in the object `around` of the line `whole`."""
    name = place[-1]
    if place[-2:] == ("source", "data"):
        return True
    if place in (("message", "stop_reason"), ("message", "stop_sequence")):
        return value is None
    if place == ("message", "type"):
        return value == "message"
    if place == ("sourceToolAssistantUUID",):
        return value == whole["parentUuid"]
    if name == "signature" and around.get("type") == "thinking":
        return place[:2] == ("message", "content") and isinstance(value, str)
    if place[0] == "data" and whole["data"].get("type") == "agent_progress":
        return place[1:] in (("prompt",), ("normalizedMessages",), ("message", "toolUseResult"), ("message", "message", "content"))
    if place[0] == "data" and len(place) == 2:
        return name in ("output", "fullOutput") and isinstance(value, str)
    if place[0] != "toolUseResult":
        return False
    if len(place) == 1:
        return said(value, result_text)
    if name in ("originalFile", "originalFileContents", "original_file", "updated_file"):
        return isinstance(value, str)
    if place[1:] in (("file", "content"), ("file", "base64")):
        return isinstance(value, str)
    if place[1:] in (("oldString",), ("newString",)) and around.get("structuredPatch"):
        return isinstance(value, str)
    if place[1:] == ("content",) and around.get("filePath") and around.get("type") in ("create", "update"):
        return isinstance(value, str) and around.get("userModified") is not True
    return name in ("stdout", "stderr", "result", "content") and said(value, result_text)


def said(value, result_text):
    """Whether a value says nothing but what stands in the text of the result."""
    if isinstance(value, str):
        bare = value.removeprefix("Error: ").strip()
        return bool(bare) and (bare in result_text or value.strip() in result_text)
    if isinstance(value, list):
        return bool(value) and all(
            isinstance(part, dict) and (part.get("type") == "image" or said(part.get("text"), result_text))
            for part in value)
    return False


if __name__ == "__main__":
    main()
