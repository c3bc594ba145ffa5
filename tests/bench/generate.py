"""Generates a Claude home of a given size that resembles real ones.

Usage: python3 tests/bench/generate.py FOLDER [--size 1G] [--files 2000] [--seed 1]

The types and lengths of lines follow 142 MB of published transcripts: half of the bytes are tool results and a
`toolUseResult` that repeats them with the whole file, a third of the lines is progress, a response has two lines, and text
compresses to a seventh with `zstd -1`. A quarter of the files are sessions, the rest agents; some sessions start with the
lines of an earlier one; one has 37 MB; a few lines are damaged. Words are random, with the frequencies of a natural
language. The same arguments give the same bytes.
"""

import argparse
import base64
import functools
import itertools
import json
import random
import shutil
from concurrent.futures import ProcessPoolExecutor
from datetime import date, timedelta
from pathlib import Path

LONG_SESSION_BYTES = 37_000_000
SMALL_HOME_BYTES = 200_000_000  # a smaller home has no such session
UNITS = {"K": 10**3, "M": 10**6, "G": 10**9}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", type=size, default=size("1G"))
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    generate(arguments.folder, arguments.size, arguments.files, arguments.seed)


def size(text):
    """1G, 500M, 20K or a number of bytes."""
    text = text.upper().removesuffix("B")
    return int(float(text[:-1]) * UNITS[text[-1]]) if text[-1:] in UNITS else int(text)


def generate(folder, total, files, seed=1):
    """Writes the home from scratch. Its sessions are independent, so they can be written in parallel."""
    shutil.rmtree(folder, ignore_errors=True)
    random_ = random.Random(seed)
    sessions = max(1, files // 4)
    agents = spread(random_, sessions, files - sessions)
    long = LONG_SESSION_BYTES if total >= SMALL_HOME_BYTES else 0
    weights = [random_.lognormvariate(0, 1.1) * (1 + count) for count in agents]
    rest = (total - long) / sum(weights)
    plans = [
        (str(folder), seed, number, int(weight * rest) + (long if number == 0 else 0), count)
        for number, (weight, count) in enumerate(zip(weights, agents))
    ]
    history = []
    with ProcessPoolExecutor() as pool:
        for prompts in pool.map(write_session, plans, chunksize=4):
            history += prompts
    history.sort(key=lambda line: line["timestamp"])
    (folder / "history.jsonl").write_text("".join(dump(line) for line in history))


def spread(random_, groups, items):
    """Splits a number of items into groups of very different sizes."""
    counts = [0] * groups
    for _ in range(items):
        few = int(random_.paretovariate(0.9)) - 1
        counts[few if few < groups and random_.random() < 0.3 else random_.randrange(groups)] += 1
    return counts


def dump(record):
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


# --- words


class Language:
    """Random words: a few are frequent and most are rare, as in every language."""

    def __init__(self, seed, count=24_000):
        random_ = random.Random(f"language {seed}")
        onsets = "b c d f g h j k l m n p r s t v w z br cr dr fl gr pl pr sc sh sp st str th tr ch".split()
        vowels = "a e i o u ai ea ee io ou".split()
        codas = ["", "", "", "n", "r", "s", "t", "l", "m", "nd", "nt", "ck", "x", "rd"]
        words = {}
        while len(words) < count:
            syllables = 1 + min(3, int(random_.expovariate(0.9)) + (len(words) > 150))
            words["".join(
                random_.choice(onsets) + random_.choice(vowels) + random_.choice(codas) for _ in range(syllables))] = None
        self.words = list(words)
        self.weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(count)))

    def some(self, random_, count):
        return random_.choices(self.words, cum_weights=self.weights, k=count)

    def prose(self, random_, count):
        """A number of words, in sentences and paragraphs."""
        words = self.some(random_, count)
        start = 0
        while start < count:
            words[start] = words[start].capitalize()
            end = min(start + random_.randint(5, 18), count) - 1
            words[end] += random_.choice((".", ".", ".", ":", ".\n\n", ".\n- "))
            start = end + 1
        return " ".join(words)


class Project:
    """A project: its files and the output of its commands."""

    def __init__(self, language, seed, number):
        random_ = random.Random(f"project {seed} {number}")
        self.name = "-".join(language.some(random_, 2))
        self.path = f"/home/dev/work/{self.name}"
        self.names = [f"{a}_{b}" for a, b in zip(language.some(random_, 260), language.some(random_, 260))]
        self.types = [name.title().replace("_", "") for name in self.names[:60]]
        self.files = [self.file(language, random_) for _ in range(36)]
        self.logs = [
            f"{random_.choice(('INFO', 'WARN', 'test', 'DEBUG', 'ok'))} {self.name}::{random_.choice(self.names)}: "
            + " ".join(language.some(random_, random_.randint(3, 9)))
            for _ in range(220)
        ]

    def file(self, language, random_):
        """A path and its lines."""
        name, type_ = random_.choice, random_.choice
        lines = []
        for _ in range(min(3000, int(random_.lognormvariate(5.9, 0.8)) + 12)):
            a, b, c = name(self.names), name(self.names), name(self.names)
            lines.append(random_.choice((
                f"    let {a} = {b}.{c}(&{name(self.names)})?;",
                f"    if {a}.is_empty() {{ return Err({type_(self.types)}::{b.title()}) }}",
                f"        {a}: {b}.{c}.clone(),",
                f"    // {' '.join(language.some(random_, random_.randint(4, 11)))}",
                f"pub fn {a}({b}: &{type_(self.types)}) -> Result<{type_(self.types)}> {{",
                f"        .map(|{a}| {a}.{b}(\"{c}\"))",
                f"    assert_eq!({a}({random_.randint(0, 99)}), {b});",
                "    }", "}", "",
            )))
        return f"{self.path}/src/{name(self.names)}/{name(self.names)}.rs", lines

    def output(self, random_, count):
        """The output of a command."""
        clock = random_.randint(0, 80_000)
        lines = []
        for text in random_.choices(self.logs, k=count):
            clock += random_.randint(0, 400)
            lines.append(f"{clock // 1000 % 60:02}.{clock % 1000:03} {text} {random_.randint(0, 4000)}")
        return "\n".join(lines)


# --- sessions


@functools.cache
def language(seed):
    return Language(seed)


@functools.cache
def project(seed, number):
    return Project(language(seed), seed, number)


def write_session(plan):
    """Writes a session and its agents. Returns its lines for history.jsonl."""
    folder, seed, number, total, agents = plan
    session = Session(folder, seed, number, language(seed), project(seed, number % 23))
    session.write(total, agents)
    return session.prompts


class Session:
    """The lines of one session: prompts, responses and tool results in turn."""

    def __init__(self, folder, seed, number, language, project):
        self.random = random.Random(f"session {seed} {number}")
        self.language, self.project, self.number = language, project, number
        directory = "".join(letter if letter.isalnum() else "-" for letter in project.path)
        self.folder = Path(folder) / "projects" / directory
        self.id = self.uuid()
        self.version = f"2.{self.random.choice((0, 1))}.{self.random.randint(20, 60)}"
        self.model = self.random.choice(("claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"))
        self.branch = self.random.choice(("main", f"feature/{self.random.choice(project.names)}"))
        self.slug = "-".join(language.some(self.random, 3))
        self.clock = 1_760_000_000_000 + number * 3_600_000 // 4
        self.files = [(path, list(lines)) for path, lines in self.random.sample(project.files, 7)]
        self.hook = f"callback {self.random.choice(project.names)}"
        self.agent = None
        self.parent = None
        self.lines = []
        self.written = 0
        self.counter = 0
        self.prompts = []

    def write(self, total, agents):
        self.folder.mkdir(parents=True, exist_ok=True)
        share = int(total * 0.45 / max(1, agents)) if agents else 0
        beside = share * agents
        spawn_at = [int((total - beside) * (place + 0.5) / max(1, agents)) for place in range(agents)]
        while self.written < total - beside:
            self.turn()
            while spawn_at and spawn_at[0] < self.written:
                spawn_at.pop(0)
                self.spawn(share)
        for _ in spawn_at:
            self.spawn(share)
        if self.number % 90 == 7:  # as a crash leaves it
            self.lines.append(self.lines[-1][: len(self.lines[-1]) // 2] + "\n")
        if self.number % 120 == 9:
            self.lines.insert(len(self.lines) // 2, self.lines[-1].rstrip("\n") + self.lines[0])
        if self.number % 200 == 11:
            self.lines.append("\0" * 512 + "\n")
        if self.number % 50 == 5:  # half of an emoji
            self.lines[-1] = self.lines[-1].replace('"gitBranch"', '"note":"\\ud83d","gitBranch"')
        (self.folder / f"{self.id}.jsonl").write_text("".join(self.lines))
        if self.number % 25 == 3:
            self.resume()

    def resume(self):
        """A second file that starts with the lines of the first, as after a resume or fork."""
        new = self.uuid()
        copied = [line.replace(self.id, new) for line in self.lines[: len(self.lines) // 3]]
        (self.folder / f"{new}.jsonl").write_text("".join(copied))

    def spawn(self, total):
        """An agent: a call, the agent's own file, progress records of it, and the result."""
        prompt = self.language.prose(self.random, 160)
        call = self.call("Task", {"description": " ".join(self.language.some(self.random, 4)), "prompt": prompt,
                                  "subagent_type": "general-purpose"})
        agent = Session.__new__(Session)
        agent.__dict__ |= self.__dict__
        agent.agent, agent.parent, agent.lines, agent.written = f"a{self.random.getrandbits(28):07x}", None, [], 0
        agent.say(prompt)
        while agent.written < total:
            agent.step()
        agent.answer([{"type": "text", "text": self.language.prose(self.random, 120)}], "end_turn")
        folder = self.folder / self.id / "subagents"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"agent-{agent.agent}.jsonl").write_text("".join(agent.lines))
        self.clock, self.counter = agent.clock, agent.counter
        for line in agent.lines[1::5]:
            self.echo(json.loads(line), call, agent.agent, prompt)
        text = self.language.prose(self.random, 150)
        self.result(call, text, {
            "status": "completed", "prompt": prompt, "agentId": agent.agent, "content": [{"type": "text", "text": text}],
            "totalDurationMs": self.random.randint(9_000, 400_000), "totalTokens": self.random.randint(4_000, 90_000),
            "totalToolUseCount": self.random.randint(1, 40)}, content=[{"type": "text", "text": text}])

    def echo(self, line, call, agent, prompt):
        """A line of an agent in a progress record of its parent."""
        if "message" not in line:
            return
        echoed = {key: line[key] for key in ("type", "timestamp", "message", "requestId", "uuid") if key in line}
        self.put({"type": "progress", "data": {
            "message": echoed, "normalizedMessages": [], "type": "agent_progress",
            "prompt": prompt, "agentId": agent}, "toolUseID": f"agent_msg_{self.counter}", "parentToolUseID": call})

    # --- the conversation

    def turn(self):
        """A prompt, and the steps until the model is done."""
        text = self.random.choice(("continue", "go on", "yes")) if self.random.random() < 0.2 else self.language.prose(
            self.random, max(4, int(self.random.lognormvariate(3.4, 1.0))))
        self.prompts.append({"display": text, "pastedContents": {}, "timestamp": self.clock, "project": self.project.path,
                             "sessionId": self.id})
        if self.random.random() < 0.02:
            data = base64.b64encode(self.random.randbytes(self.random.randint(40_000, 260_000))).decode()
            self.say([{"type": "text", "text": text}, {"type": "image", "source": {
                "type": "base64", "media_type": "image/png", "data": data}}])
        else:
            self.say(text)
        self.put_event({"type": "file-history-snapshot", "messageId": self.parent, "snapshot": {
            "messageId": self.parent, "trackedFileBackups": {
                path: {"backupFileName": f"{self.random.getrandbits(64):016x}@v1", "version": 1, "backupTime": self.time()}
                for path, _ in self.random.sample(self.files, 3)}, "timestamp": self.time()}, "isSnapshotUpdate": False})
        for _ in range(max(1, int(self.random.lognormvariate(2.0, 0.8)))):
            self.step()
        self.answer([{"type": "text", "text": self.prose(3.9)}], "end_turn")
        self.put({"type": "system", "subtype": "turn_duration", "durationMs": self.random.randint(2_000, 600_000), "isMeta": False})

    def step(self):
        """A response with a tool call, its hooks, and the result."""
        if self.random.random() < 0.35:
            self.answer([{"type": "thinking", "thinking": self.prose(4.1), "signature": base64.b64encode(
                self.random.randbytes(self.random.randint(200, 1500))).decode()}], None)
        if self.random.random() < 0.4:
            self.answer([{"type": "text", "text": self.prose(3.2)}], None)
        self.random.choices(
            (self.bash, self.read, self.edit, self.grep, self.task, self.write_file), (34, 23, 22, 10, 8, 3))[0]()

    def bash(self):
        command = f"cargo {self.random.choice(('test', 'build', 'run'))} --package {self.project.name} " \
            f"{self.random.choice(self.project.names)} 2>&1 | tail -{self.random.randint(5, 80)}"
        call = self.call("Bash", {"command": command, "description": " ".join(self.language.some(self.random, 5)).capitalize()})
        output = self.project.output(self.random, max(1, min(700, int(self.random.lognormvariate(2.3, 1.2)))))
        for seconds in range(2, 2 + (int(self.random.expovariate(0.25)) if self.random.random() < 0.3 else 0)):
            self.put({"type": "progress", "data": {"type": "bash_progress", "output": output[-500:], "fullOutput": output,
                                                   "elapsedTimeSeconds": seconds, "totalLines": output.count("\n") + 1},
                      "toolUseID": f"bash-progress-{seconds}", "parentToolUseID": call})
        if self.random.random() < 0.08:
            text = f"Exit code {self.random.choice((1, 2, 101))}\n{output}"
            self.result(call, text, f"Error: {text}", is_error=True)
        else:
            self.result(call, output, {"stdout": output, "stderr": "", "interrupted": False, "isImage": False})

    def read(self):
        path, lines = self.random.choice(self.files)
        start = self.random.randrange(max(1, len(lines) - 150)) if len(lines) > 200 else 0
        shown = lines[start : start + 110]
        call = self.call("Read", {"file_path": path} | ({"offset": start, "limit": 110} if start else {}))
        numbered = "\n".join(f"{start + number + 1:6}→{line}" for number, line in enumerate(shown))
        self.result(call, numbered, {"type": "text", "file": {
            "filePath": path, "content": "\n".join(shown), "numLines": len(shown), "startLine": start + 1, "totalLines": len(lines)}})

    def edit(self):
        path, lines = self.random.choice(self.files)
        at = self.random.randrange(max(1, len(lines) - 8))
        old = lines[at : at + self.random.randint(1, 7)]
        new = [line.replace("let", "let mut") for line in old] + [f"    // {self.prose(1.5)}".replace("\n", " ")]
        call = self.call("Edit", {"file_path": path, "old_string": "\n".join(old), "new_string": "\n".join(new), "replace_all": False})
        patch = [{"oldStart": at + 1, "oldLines": len(old), "newStart": at + 1, "newLines": len(new),
                  "lines": [f"-{line}" for line in old] + [f"+{line}" for line in new]}]
        original = "\n".join(lines)
        shown = "\n".join(f"{at + number + 1:6}→{line}" for number, line in enumerate(new))
        self.result(call, f"The file {path} has been updated. Here's the result of running `cat -n` on a snippet:\n{shown}", {
            "filePath": path, "oldString": "\n".join(old), "newString": "\n".join(new), "originalFile": original,
            "structuredPatch": patch, "userModified": False, "replaceAll": False})
        lines[at : at + len(old)] = new if len(lines) < 3300 else old

    def write_file(self):
        path = f"{self.project.path}/docs/{self.random.choice(self.project.names)}.md"
        content = self.prose(5.2)
        call = self.call("Write", {"file_path": path, "content": content})
        self.result(call, f"File created successfully at: {path}", {
            "type": "create", "filePath": path, "content": content, "structuredPatch": [], "originalFile": None})

    def grep(self):
        pattern = self.random.choice(self.project.names)
        call = self.call("Grep", {"pattern": pattern, "output_mode": "content", "-n": True})
        found = []
        for path, lines in self.files:
            at = self.random.randrange(len(lines))
            found += [f"{path}:{at + place}:{line}" for place, line in enumerate(lines[at : at + 5])]
        text = "\n".join(found)
        self.result(call, text, {"mode": "content", "numFiles": 0, "filenames": [], "content": text, "numLines": len(found)})

    def task(self):
        number = str(self.random.randint(1, 20))
        call = self.call("TaskUpdate", {"taskId": number, "status": "completed"})
        self.result(call, f"Updated task #{number} status", {
            "success": True, "taskId": number, "updatedFields": ["status"], "statusChange": {"from": "in_progress", "to": "completed"}})

    # --- lines

    def say(self, content):
        self.put({"type": "user", "message": {"role": "user", "content": content}})

    def call(self, name, input_):
        tool_use_id = f"toolu_{self.token(24)}"
        self.answer([{"type": "tool_use", "id": tool_use_id, "name": name, "input": input_}], "tool_use")
        for event in ("PreToolUse", "PostToolUse"):
            if self.agent is None and self.random.random() < 0.9:
                self.put({"type": "progress", "data": {"type": "hook_progress", "hookEvent": event, "hookName": f"{event}:{name}",
                                                       "command": self.hook},
                          "parentToolUseID": tool_use_id, "toolUseID": tool_use_id})
        return tool_use_id

    def result(self, call, text, returned, content=None, is_error=False):
        self.put({"type": "user", "message": {"role": "user", "content": [
            {"tool_use_id": call, "type": "tool_result", "content": content or text, "is_error": is_error}]},
            "toolUseResult": returned, "sourceToolAssistantUUID": self.parent})

    def answer(self, content, stop_reason):
        """A line of a response; the next one belongs to the same response unless this one ended it."""
        if not self.__dict__.get("response"):
            self.response = (f"msg_{self.token(24)}", f"req_{self.token(24)}")
        message_id, request_id = self.response
        self.put({"message": {
            "model": self.model, "id": message_id, "type": "message", "role": "assistant", "content": content,
            "stop_reason": stop_reason, "stop_sequence": None, "usage": {
                "input_tokens": self.random.randint(1, 20), "cache_creation_input_tokens": self.random.randint(100, 9_000),
                "cache_read_input_tokens": self.random.randint(9_000, 150_000), "cache_creation": {
                    "ephemeral_5m_input_tokens": self.random.randint(100, 9_000), "ephemeral_1h_input_tokens": 0},
                "output_tokens": self.random.randint(1, 900), "service_tier": "standard", "inference_geo": "not_available"}},
            "requestId": request_id, "type": "assistant"})
        if stop_reason:
            self.response = None

    def put(self, record):
        """A line with the envelope that all lines of the chain have."""
        uuid = self.uuid()
        envelope = {"parentUuid": self.parent, "isSidechain": self.agent is not None, "userType": "external",
                    "cwd": self.project.path, "sessionId": self.id, "version": self.version, "gitBranch": self.branch}
        if self.agent:
            envelope["agentId"] = self.agent
        self.put_event(envelope | {"slug": self.slug} | record | {"uuid": uuid, "timestamp": self.time()})
        self.parent = uuid

    def put_event(self, record):
        line = dump(record)
        self.lines.append(line)
        self.written += len(line)
        self.counter += 1

    def prose(self, scale):
        return self.language.prose(self.random, max(3, int(self.random.lognormvariate(scale, 0.9))))

    def time(self):
        self.clock += self.random.randint(20, 4_000)
        seconds, milliseconds = divmod(self.clock, 1000)
        return f"{day(seconds // 86400)}T{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{milliseconds:03}Z"

    def uuid(self):
        digits = f"{self.random.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def token(self, length):
        return "".join(self.random.choices("abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789", k=length))


@functools.cache
def day(number):
    return (date(1970, 1, 1) + timedelta(days=number)).isoformat()


if __name__ == "__main__":
    main()
