-- The tables of a cc-etl database.
--
-- Two layers: `archive_chunks` keeps the bytes of every file exactly as they were read; all tables under
-- "Conversation" and "Usage" are derived from those bytes and can be derived again (`cc-etl rebuild`).
--
-- Conventions: times are UTC text like 2026-01-31T09:15:00.000Z; a column of our own words names the field of the
-- source in its comment; whatever has no column of its own stands in the `*_json` column of its row; a NULL means
-- "not said in the source". A count that is negative or above 2^40, and a cost that is negative or above 1,000,000 USD, stay
-- JSON: sums of them would overflow or depend on the order of rows. A reference whose target is not in the database keeps its text and has a NULL key.
-- The whole text of a message stands in content_blocks.text, that of a tool result in tool_results.content, the input of a
-- call in tool_uses.input_json. A column that repeats a text, or a part of it, has at most 1,000,000 characters of it.
-- Every table has a natural key, declared or indexed as `unique` or a text primary key: integer keys follow the order of
-- arrival and mean nothing outside one database. Texts that can be long stand last: SQLite reads a row up to the column it
-- needs.

-------------------------------------------------------------------------------------------------------------------
-- Provenance
-------------------------------------------------------------------------------------------------------------------

create table sources (
    -- One row per Claude home that was synced.
    source_id integer primary key,
    machine_id text not null, -- random and stored once per machine; 'name:NAME' for a home imported with --machine NAME
    machine text not null, -- a label: the machine's host name when it last synced the home, or NAME
    root_path text not null, -- absolute path of the home; 'demo' for the invented home inside the program
    product text not null check (product in ('claude-code', 'cowork', 'xcode')), -- the program that writes the home
    unique (machine, root_path, product),
    unique (machine_id, root_path, product)
) strict;

create table files (
    -- One row per version of a source file. A file that grew is the same version; a file that was rewritten is a new
    -- generation, and the rows of the old one stay.
    file_id integer primary key,
    source_id integer not null references sources (source_id) deferrable initially deferred,
    project_id integer references projects (project_id) deferrable initially deferred, -- the folder under projects/ it lies in
    path text not null, -- relative to the home, with '/'; backslashes and bytes that are not UTF-8 are written as \xNN
    path_bytes blob, -- the path itself, only where that is another
    archived_hash blob, -- running hash of its chunks, which every sync must extend; NULL while nothing is archived
    kind text not null check (kind in (
        'session', 'agent', 'journal', 'transcript', 'history', 'todo', 'task', 'plan', 'tool_result', 'paste',
        'file_backup', 'statistics', 'session_index', 'agent_meta', 'workflow', 'memory', 'other'
    )),
    session_id text, -- the session that its path names; its lines may say otherwise
    generation integer not null, -- 1, and one more after each rewrite
    size_bytes integer not null, -- as it was last seen
    archived_bytes integer not null, -- bytes read and archived; 0 for a file that is only counted
    parsed_bytes integer not null, -- bytes that became rows; what is behind is an incomplete last line
    line_count integer not null, -- lines; the last one counts without its newline when it has anything but blanks
    newline_count integer not null, -- newline bytes among the archived bytes
    blank_line_count integer not null, -- lines of nothing but blanks
    modified_ns integer not null, -- mtime in nanoseconds since 1970
    changed_ns integer not null, -- ctime in nanoseconds since 1970
    device integer not null,
    inode integer not null,
    is_racy integer not null check (is_racy in (0, 1)), -- changed so shortly before it was read that the next sync looks again
    is_current integer not null check (is_current in (0, 1)), -- the newest generation
    first_seen_at text not null,
    last_synced_at text not null, -- when bytes of it were last read
    missing_since text, -- when a sync first found it gone; its rows stay
    unique (source_id, path, generation)
) strict;
create index files_by_project on files (project_id);
create index files_by_session on files (session_id) where session_id is not null;

create table archive_chunks (
    -- One row per MiB of a file's bytes: chunk n holds the bytes from n * 1048576 on, so the chunks of a file are the
    -- same however often it was synced while it grew.
    archive_chunk_id integer primary key,
    file_id integer not null references files (file_id) deferrable initially deferred,
    position integer not null, -- n, from 0
    byte_offset integer not null, -- position * 1048576
    byte_length integer not null, -- 1048576 but for the last chunk
    content_hash blob not null, -- BLAKE3 of the bytes before compression
    content blob not null, -- the bytes, zstd; last, so that what stands before it is read without it
    unique (file_id, position)
) strict;

create table rejected_lines (
    -- One row per fragment of a line that is not a record.
    rejected_line_id integer primary key,
    file_id integer not null references files (file_id) deferrable initially deferred,
    line_number integer not null, -- from 1
    byte_offset integer not null, -- of the fragment in the file
    reason text not null check (reason in (
        'nul_run', -- NUL bytes, as a crash leaves them
        'torn_record', -- begins like a record and is cut or damaged
        'not_json', -- anything else that is not JSON
        'not_an_object', -- JSON, but no object
        'invalid_utf8',
        'too_deep', -- nested deeper than SQLite's JSON functions go
        'incomplete_tail', -- the last line, still without its end; gone as soon as the end arrives
        'internal_error' -- cc-etl failed on it, which is to be reported; `cc-etl rebuild` tries again
    )),
    raw blob not null, -- the bytes of the fragment
    unique (file_id, byte_offset)
) strict;

create table sync_runs (
    -- One row per run of `cc-etl sync` that changed something.
    sync_run_id integer primary key,
    version text not null, -- of cc-etl
    file_count integer not null, -- files found
    changed_file_count integer not null, -- of these, read
    read_bytes integer not null, -- bytes archived by this run
    line_count integer not null,
    message_count integer not null,
    copy_count integer not null,
    event_count integer not null,
    rejected_count integer not null,
    unreadable_count integer not null, -- files and folders that could not be read
    started_at text not null,
    finished_at text not null,
    unique (started_at, sync_run_id)
) strict;

create table unknown_kinds (
    -- One row per record type, system subtype, block type or key that this version of cc-etl does not know. Nothing is
    -- lost by it: such records are rows as any other, such keys stand in the JSON column.
    unknown_kind_id integer primary key,
    level text not null check (level in ('record', 'block', 'key')),
    name text not null, -- the type; for a key <record type>.<key>
    first_version text, -- lowest Claude Code version that wrote it
    occurrence_count integer not null, -- lines, copies included
    file_id integer not null references files (file_id) deferrable initially deferred, -- an example: the first by path
    line_number integer not null,
    unique (level, name)
) strict;
create index unknown_kinds_by_file on unknown_kinds (file_id);

-------------------------------------------------------------------------------------------------------------------
-- Conversation
-------------------------------------------------------------------------------------------------------------------

create table projects (
    -- One row per folder under projects/.
    project_id integer primary key,
    directory_name text not null unique, -- as found; the encoding loses information, so it is never decoded
    path text, -- the true path: a working directory of its sessions, as far as the folder is named for it
    repository_path text, -- the same, with a worktree folded into its repository
    name text -- last part of the repository's path; the folder's name while the path is unknown
) strict;

create table sessions (
    -- One row per sessionId that a line names.
    session_id text not null primary key, -- sessionId
    project_id integer references projects (project_id) deferrable initially deferred,
    title text, -- custom_title, else ai_title, else summary, else the first line of first_prompt, else the start of session_id
    custom_title text, -- given by the person
    ai_title text, -- given by the model
    summary text, -- of the resume list of old versions
    agent_name text, -- agentName, as /rename sets it
    slug text, -- nickname that plan files are named for
    tag text,
    first_prompt text, -- what the person said first; of a longer text the first 1,000,000 characters
    last_prompt text, -- lastPrompt, shortened by Claude Code
    start_cwd text, -- the working directory it began in
    relocated_cwd text, -- where /cd moved it
    worktree_path text, -- the worktree it is in
    worktree_name text,
    worktree_branch text,
    original_cwd text, -- originalCwd: what the worktree was made from
    git_branch text, -- last written
    version text, -- of Claude Code, last written
    entrypoint text, -- cli, sdk-cli, claude-vscode, ...
    session_kind text, -- 'bg' for sessions in the background
    mode text, -- normal or coordinator
    permission_mode text, -- last set
    agent_setting text, -- the agent that the session runs as
    agent_color text,
    team_name text,
    forked_from_session_id text references sessions (session_id) deferrable initially deferred, -- by /branch or the SDK
    resumed_from_session_id text references sessions (session_id) deferrable initially deferred, -- whose lines its file begins with
    continued_in_session_id text references sessions (session_id) deferrable initially deferred, -- its copy in the background
    plan_session_id text references sessions (session_id) deferrable initially deferred, -- that made the plan it carries out
    started_at text, -- first and last time of its messages
    ended_at text
) strict;
create index sessions_by_project on sessions (project_id);
create index sessions_by_start on sessions (started_at);
create index sessions_by_fork on sessions (forked_from_session_id) where forked_from_session_id is not null;
create index sessions_by_resume on sessions (resumed_from_session_id) where resumed_from_session_id is not null;
create index sessions_by_continuation on sessions (continued_in_session_id) where continued_in_session_id is not null;
create index sessions_by_plan on sessions (plan_session_id) where plan_session_id is not null;

create table agents (
    -- One row per sub-agent run.
    agent_run_id integer primary key,
    session_id text not null references sessions (session_id) deferrable initially deferred, -- the session it serves
    agent_id text not null, -- agentId; for an inline agent of old versions 'inline-' and the uuid of its first message
    agent_type text, -- subagent_type
    description text,
    name text, -- of a teammate
    team_name text, -- teamName
    model text, -- as it was asked for
    layout text not null check (layout in ('inline', 'flat', 'nested', 'workflow')), -- where its lines stand
    internal_kind text check (internal_kind in (
        'warmup', -- made by 2.0.x at the start, without a call
        'compaction', -- repeats the conversation to sum it up
        'prompt_suggestion',
        'side_question' -- /btw
    )), -- of an agent that Claude Code runs for itself
    parent_agent_run_id integer references agents (agent_run_id) deferrable initially deferred,
    spawned_by_tool_use_id text references tool_uses (tool_use_id) deferrable initially deferred,
    link_method text not null check (link_method in (
        'meta', -- its meta.json names the call
        'result', -- toolUseResult.agentId
        'progress', -- agent_progress
        'notification', -- a task notification names both
        'text', -- the text of the result names the agent
        'workflow', -- the call that started its workflow
        'parent', -- its meta.json names only the agent that spawned it
        'prompt', -- the call has the same prompt
        'none'
    )), -- how the call that spawned it was found
    link_confidence text not null check (link_confidence in ('certain', 'likely', 'none')),
    workflow_id text, -- runId of the workflow that it is part of
    workflow_phase text,
    workflow_label text,
    worktree_path text,
    worktree_branch text,
    status text, -- completed, failed, stopped, killed; 'finished' when only its last message tells
    status_source text check (status_source in ('notification', 'result', 'journal', 'last_message')),
    spawn_depth integer,
    context_length integer, -- messages of the session that a forked agent began with
    is_fork integer check (is_fork in (0, 1)), -- began with the conversation of its session
    started_at text,
    ended_at text,
    unique (session_id, agent_id)
) strict;
create index agents_by_parent on agents (parent_agent_run_id) where parent_agent_run_id is not null;
create index agents_by_spawn on agents (spawned_by_tool_use_id) where spawned_by_tool_use_id is not null;
create index agents_by_type on agents (agent_type);

create table agent_links (
    -- One row per agent, call and way in which lines tell that the call spawned the agent.
    agent_link_id integer primary key,
    session_id text not null references sessions (session_id) deferrable initially deferred,
    agent_id text not null,
    tool_use_id text not null, -- as written; the call may be nowhere
    method text not null check (method in (
        'result', -- toolUseResult.agentId beside the call's result
        'progress', -- parentToolUseID of an agent_progress record
        'notification', -- a task notification
        'text' -- "agentId: ..." at the end of the result's text
    )),
    unique (session_id, agent_id, tool_use_id, method)
) strict;
create index agent_links_by_tool_use on agent_links (tool_use_id);

create table messages (
    -- One row per chain record: a line with a uuid and a parentUuid (user, assistant, system, attachment, progress).
    -- A uuid that stands on several lines is one message: in each file its last line, between files the one with the
    -- earliest time, then by path. The other lines are message_copies. What progress records repeat is left to the
    -- archive: the output of a command so far; of an agent's line what it says, its prompt and the lines before it. So is
    -- what says nothing: message.type "message", a null stop_reason or stop_sequence, sourceToolAssistantUUID if it is
    -- the parent.
    message_id integer primary key,
    uuid text not null, -- unique
    parent_uuid text, -- parentUuid, as written
    parent_message_id integer references messages (message_id) deferrable initially deferred,
    logical_parent_uuid text, -- logicalParentUuid: what stood before a compaction
    logical_parent_message_id integer references messages (message_id) deferrable initially deferred,
    session_id text references sessions (session_id) deferrable initially deferred, -- sessionId; in agent files the parent's
    agent_run_id integer references agents (agent_run_id) deferrable initially deferred, -- the agent that this is a message of
    agent_id text, -- agentId, as written
    file_id integer not null references files (file_id) deferrable initially deferred,
    line_number integer not null, -- from 1
    byte_offset integer not null, -- of the record in the file
    byte_length integer not null,
    type text, -- user, assistant, system, attachment, progress, or what a newer version brings
    subtype text, -- subtype of system, attachment.type, data.type of progress
    role text, -- message.role
    prompt_kind text, -- who wrote the text of a user record, of a queued one or of a local command: one of prompt_kinds
    machine_kind text, -- of machine texts: task_notification, command_output, hook, timer, ...
    prompt_text text, -- what the person typed, where it is not all of the message's text; its first 1,000,000 characters
    command_name text, -- of a slash command, with the slash
    command_arguments text,
    plan_session_id text, -- the session whose plan is handed over here
    model text, -- message.model
    api_response_id integer references api_responses (api_response_id) deferrable initially deferred, -- message.id
    request_id text, -- requestId
    stop_reason text, -- message.stop_reason; NULL on all but the last line of a response in many versions
    prompt_id text, -- promptId: the turn
    permission_mode text, -- permissionMode
    prompt_source text, -- promptSource
    origin_kind text, -- origin.kind
    effort text,
    attribution_skill text, -- attributionSkill: what drove the call
    attribution_plugin text, -- attributionPlugin
    attribution_agent text, -- attributionAgent
    attribution_mcp_server text, -- attributionMcpServer
    attribution_mcp_tool text, -- attributionMcpTool
    error text, -- of a failed API call
    interrupted_message_id text, -- interruptedMessageId: the response that was stopped
    tool_denial_kind text, -- toolDenialKind
    user_feedback text, -- userFeedback: the reason typed with a denial
    tool_use_id text, -- toolUseID: the call that a progress, system or attachment record is about
    parent_tool_use_id text, -- parentToolUseID
    source_tool_use_id text, -- sourceToolUseID: the call that brought this text, as a skill does
    forked_from_session_id text, -- forkedFrom.sessionId: the session it was copied from
    origin_session_id text, -- session_id where it differs from sessionId: the session that the line was copied from
    session_kind text, -- sessionKind
    team_name text, -- teamName
    agent_name text, -- agentName
    cwd text,
    git_branch text, -- gitBranch
    version text, -- of Claude Code
    entrypoint text,
    user_type text, -- userType
    slug text,
    level text, -- of system records
    content_hash blob not null, -- XXH3 of everything but the envelope: tells whether a copy says the same
    extra_json text, -- the keys of the line that have no column, "message" being what is left of message
    is_sidechain integer check (is_sidechain in (0, 1)), -- isSidechain
    is_meta integer check (is_meta in (0, 1)), -- isMeta: written by the program
    is_compact_summary integer check (is_compact_summary in (0, 1)), -- isCompactSummary
    is_api_error integer check (is_api_error in (0, 1)), -- isApiErrorMessage
    has_string_content integer check (has_string_content in (0, 1)), -- the content is a string, not a list
    has_own_session integer check (has_own_session in (0, 1)), -- 0 when the line names no session and its file does
    duration_ms integer, -- durationMs: of a turn, of an old response
    sent_at text -- timestamp
) strict;
create unique index messages_by_uuid on messages (uuid);
create index messages_by_session on messages (session_id, sent_at, agent_run_id, type, api_response_id);
create index messages_by_file on messages (file_id, line_number);
create index messages_by_parent on messages (parent_message_id);
create index messages_by_logical_parent on messages (logical_parent_message_id) where logical_parent_message_id is not null;
create index messages_by_agent on messages (agent_run_id, sent_at) where agent_run_id is not null;
create index messages_of_inline_agents on messages (session_id) where is_sidechain = 1 and agent_id is null;
create index messages_by_response on messages (api_response_id) where api_response_id is not null;
create index messages_without_parent on messages (parent_uuid) where parent_message_id is null and parent_uuid is not null;
create index messages_by_prompt on messages (prompt_kind, session_id) where prompt_kind is not null;
create index messages_by_subtype on messages (subtype) where subtype is not null;
create index messages_with_errors on messages (session_id) where is_api_error = 1;
create index messages_with_mode on messages (session_id, sent_at) where permission_mode is not null;
create index messages_with_team on messages (session_id, sent_at) where team_name is not null;
create index messages_with_session_kind on messages (session_id, sent_at) where session_kind is not null;
create index messages_of_teams on messages (agent_run_id, sent_at) where team_name is not null;
create index messages_by_plan on messages (plan_session_id) where plan_session_id is not null;
create index messages_by_fork on messages (forked_from_session_id) where forked_from_session_id is not null;
create index messages_with_logical_parent on messages (logical_parent_uuid) where logical_parent_uuid is not null;

create table message_copies (
    -- One row per further line with the uuid of a message.
    message_copy_id integer primary key,
    message_id integer not null references messages (message_id) deferrable initially deferred,
    file_id integer not null references files (file_id) deferrable initially deferred,
    line_number integer not null,
    byte_offset integer not null,
    byte_length integer not null,
    session_id text references sessions (session_id) deferrable initially deferred,
    forked_from_session_id text, -- forkedFrom.sessionId
    reason text not null check (reason in (
        'rewritten_file', -- the same file before or after a rewrite
        'same_file_replay', -- again in the same file, as compaction does
        'sidechain_replay', -- the conversation repeated in an agent's file
        'fork_copy', -- has forkedFrom
        'resume_copy' -- any other second file
    )),
    content_hash blob not null,
    extra_json text, -- the keys of this line, without those whose values are the message's own content
    is_different integer not null check (is_different in (0, 1)), -- says something else than the message
    sent_at text,
    unique (file_id, byte_offset)
) strict;
create index message_copies_by_message on message_copies (message_id);
create index message_copies_by_session on message_copies (session_id);
create index message_copies_by_fork on message_copies (forked_from_session_id) where forked_from_session_id is not null;
create index message_copies_by_line on message_copies (file_id, line_number);

create table content_blocks (
    -- One row per block of a message; content that is a string is one text block. The parts inside a tool result are
    -- rows of their own, numbered by part_number. The signature of thinking is left to the archive.
    block_id integer primary key,
    message_id integer not null references messages (message_id) deferrable initially deferred,
    position integer not null, -- in the message, from 0
    part_number integer not null, -- 0 for the block itself, 1, 2, ... for the parts inside a tool result
    type text, -- text, thinking, tool_use, tool_result, image, document, ...
    prompt_kind text, -- of a text beside a tool result: who wrote it
    byte_length integer, -- of the text, or of the decoded image or document
    media_type text, -- of an image or document; its bytes are in the archive only
    content_hash blob, -- SHA-256 of the decoded image or document
    text text, -- text or thinking; a tool result's text stands in tool_results.content
    extra_json text, -- the keys of the block that have no column
    unique (message_id, position, part_number)
) strict;
create index content_blocks_beside_results on content_blocks (message_id) where prompt_kind is not null;

create table tool_uses (
    -- One row per tool call.
    tool_use_id text not null primary key, -- toolu_...
    message_id integer not null references messages (message_id) deferrable initially deferred,
    block_id integer not null references content_blocks (block_id) deferrable initially deferred,
    tool_result_id integer references tool_results (tool_result_id) deferrable initially deferred, -- the earliest answer; NULL while there is none
    name text,
    mcp_server text, -- of mcp__<server>__<tool>
    command text, -- the inputs that people filter by, the first 1,000,000 characters; all of them stand in input_json
    file_path text, -- file_path, notebook_path or path
    pattern text,
    url text,
    query text,
    description text,
    subagent_type text,
    skill text,
    change_kind text check (change_kind in ('create', 'update', 'edit', 'notebook')), -- of a call that changes a file
    input_lines_added integer, -- what the input alone tells of the change
    input_lines_removed integer,
    input_json text
) strict;
create index tool_uses_by_message on tool_uses (message_id);
create index tool_uses_by_block on tool_uses (block_id);
create index tool_uses_by_result on tool_uses (tool_result_id) where tool_result_id is not null;
create index tool_uses_by_name on tool_uses (name);
create index tool_uses_with_changes on tool_uses (message_id) where change_kind is not null;

create table tool_use_copies (
    -- One row per block that repeats a tool call of another message (a fork that gave new uuids). The call belongs to
    -- the message outside a sidechain, then the earliest, then the smallest uuid. The block keeps its JSON.
    block_id integer primary key references content_blocks (block_id) deferrable initially deferred,
    tool_use_id text not null references tool_uses (tool_use_id) deferrable initially deferred
) strict;
create index tool_use_copies_by_tool_use on tool_use_copies (tool_use_id);

create table tool_results (
    -- One row per answer to a tool call. Left to the archive is what toolUseResult repeats: the text of the answer, whole
    -- files, and the strings of an edit that its patch shows and the call's input has.
    tool_result_id integer primary key,
    tool_use_id text references tool_uses (tool_use_id) deferrable initially deferred, -- NULL when the call is nowhere
    source_tool_use_id text, -- tool_use_id, as written
    message_id integer not null references messages (message_id) deferrable initially deferred,
    block_id integer not null unique references content_blocks (block_id) deferrable initially deferred,
    outcome text not null, -- how the call ended: one of outcomes
    denial_reason text, -- what the person said with a rejection
    agent_id text, -- toolUseResult.agentId: the agent that the call spawned
    workflow_id text, -- toolUseResult.runId
    background_task_id text, -- toolUseResult.backgroundTaskId
    persisted_name text, -- file under the session's tool-results/ that has the whole output
    change_kind text check (change_kind in ('create', 'update', 'edit', 'notebook')), -- of a changed file
    changed_path text,
    byte_length integer, -- of content
    persisted_bytes integer, -- toolUseResult.persistedOutputSize
    exit_code integer, -- of a failed command, from its text
    duration_ms integer, -- as the tool tells it
    elapsed_ms integer, -- between call and answer, waiting for the person included
    lines_added integer, -- of a changed file
    lines_removed integer,
    line_count_source text check (line_count_source in ('patch', 'content', 'git_diff', 'strings')),
    is_error integer check (is_error in (0, 1)),
    is_user_modified integer check (is_user_modified in (0, 1)), -- userModified: the person changed the edit
    is_staged integer check (is_staged in (0, 1)), -- staged: prepared and not yet applied
    has_string_content integer check (has_string_content in (0, 1)), -- the content is a string, not a list
    content text, -- what the model was shown; the text parts of a list joined by newlines
    details_json text -- toolUseResult without what it repeats
) strict;
create index tool_results_by_tool_use on tool_results (tool_use_id);
create index tool_results_by_message on tool_results (message_id);
create index tool_results_stopped on tool_results (message_id) where outcome in ('user_rejected', 'interrupted');
create index tool_results_with_reason on tool_results (message_id) where denial_reason is not null;
create index tool_results_without_call on tool_results (source_tool_use_id) where tool_use_id is null;

create table file_changes (
    -- One row per file changed by a tool call.
    file_change_id integer primary key,
    tool_use_id text not null references tool_uses (tool_use_id) deferrable initially deferred,
    file_path text not null,
    kind text not null check (kind in ('create', 'update', 'edit', 'notebook')),
    lines_added integer, -- NULL when nothing tells
    lines_removed integer,
    line_count_source text check (line_count_source in (
        'patch', -- structuredPatch
        'content', -- the whole text of a new file
        'git_diff', -- gitDiff
        'strings', -- old and new string
        'input' -- the call's input, where the result says nothing
    )),
    is_user_modified integer check (is_user_modified in (0, 1)), -- the person changed the edit
    unique (tool_use_id, file_path)
) strict;
create index file_changes_by_path on file_changes (file_path);

create table git_operations (
    -- One row per commit, push, branch or pull request that a command made.
    git_operation_id integer primary key,
    tool_result_id integer not null references tool_results (tool_result_id) deferrable initially deferred,
    kind text not null check (kind in ('commit', 'push', 'branch', 'pr')),
    action text, -- of a branch or pull request; of a commit its kind
    branch text,
    commit_sha text,
    pr_number integer,
    pr_url text,
    unique (tool_result_id, kind)
) strict;

create table web_requests (
    -- One row per page fetched or search made.
    web_request_id integer primary key,
    tool_result_id integer not null unique references tool_results (tool_result_id) deferrable initially deferred,
    kind text not null check (kind in ('fetch', 'search')),
    url text,
    query text,
    status_code integer, -- code: a redirect or a 404 is no error of the tool
    response_bytes integer, -- bytes
    search_count integer, -- searchCount: what is paid for
    duration_ms integer
) strict;

create table events (
    -- One row per record without a uuid: titles, modes, queue operations, summaries, snapshots, costs, links.
    event_id integer primary key,
    file_id integer not null references files (file_id) deferrable initially deferred,
    line_number integer not null,
    byte_offset integer not null,
    type text,
    session_id text references sessions (session_id) deferrable initially deferred, -- sessionId, else the session the file is named for
    message_uuid text, -- the message it is about: leafUuid or messageId
    related_session_id text, -- another session that it names: continuedInSessionId or parentSessionId
    payload_json text not null, -- the record
    occurred_at text, -- timestamp
    unique (file_id, byte_offset)
) strict;
create index events_by_line on events (file_id, line_number);
create index events_by_session on events (session_id, type);
create index events_by_message on events (message_uuid) where message_uuid is not null;
create index events_by_related_session on events (related_session_id) where related_session_id is not null;
create index events_with_summary on events (message_uuid) where type = 'summary';

create table task_notifications (
    -- One row per notice about a task in the background, each time it was queued or delivered.
    task_notification_id integer primary key,
    message_id integer references messages (message_id) deferrable initially deferred, -- the message that delivers it
    event_id integer references events (event_id) deferrable initially deferred, -- the queue operation that holds it
    file_id integer not null references files (file_id) deferrable initially deferred,
    byte_offset integer not null, -- of the record
    position integer not null, -- in the record
    session_id text references sessions (session_id) deferrable initially deferred,
    background_task_id text, -- for agents the agentId
    tool_use_id text, -- the call that began the task, as written
    status text, -- completed, failed, stopped, killed
    summary text,
    result text,
    notified_at text,
    unique (file_id, byte_offset, position)
) strict;
create index task_notifications_by_message on task_notifications (message_id) where message_id is not null;
create index task_notifications_by_event on task_notifications (event_id) where event_id is not null;
create index task_notifications_by_session on task_notifications (session_id, background_task_id);

create table file_backups (
    -- One row per file in a file-history snapshot: Claude Code's copy of a file before it changed it.
    file_backup_id integer primary key,
    event_id integer not null references events (event_id) deferrable initially deferred,
    session_id text references sessions (session_id) deferrable initially deferred,
    message_uuid text, -- messageId of the snapshot
    file_path text not null,
    backup_name text, -- backupFileName, NULL when the file did not exist
    version integer,
    file_id integer references files (file_id) deferrable initially deferred, -- the copy itself, its newest version
    backed_up_at text, -- backupTime
    unique (event_id, file_path)
) strict;
create index file_backups_by_session on file_backups (session_id);
create index file_backups_by_file on file_backups (file_id) where file_id is not null;

-------------------------------------------------------------------------------------------------------------------
-- Beside the transcripts
-------------------------------------------------------------------------------------------------------------------

create table history_prompts (
    -- One row per line of history.jsonl: what was typed at the prompt, and drafts that were cleared.
    history_prompt_id integer primary key,
    file_id integer not null references files (file_id) deferrable initially deferred,
    line_number integer not null,
    byte_offset integer not null,
    message_id integer references messages (message_id) deferrable initially deferred, -- the message it became, where that is found
    session_id text, -- absent before about 2.0.60; the transcript of it may be gone
    project_path text, -- project
    display text, -- the text with placeholders for what was pasted
    match_kind text check (match_kind in (
        'matched', -- its message is in the database
        'draft', -- the session is here and has no such message: cleared, or a command that leaves no record
        'swept_or_draft' -- the session is not here
    )),
    extra_json text, -- the keys of the line that have no column
    prompted_at text, -- timestamp
    unique (file_id, byte_offset)
) strict;
create index history_prompts_by_line on history_prompts (file_id, line_number);
create index history_prompts_by_session on history_prompts (session_id);
create index history_prompts_by_message on history_prompts (message_id) where message_id is not null;

create table pasted_contents (
    -- One row per thing pasted into a prompt of history.jsonl.
    pasted_content_id integer primary key,
    history_prompt_id integer not null references history_prompts (history_prompt_id) deferrable initially deferred,
    paste_id integer references pastes (paste_id) on delete set null deferrable initially deferred, -- a long text's, its newest version
    paste_number integer not null, -- as in [Pasted text #1]
    kind text, -- type: text, image
    cache_name text, -- contentHash: names the file in paste-cache/
    media_type text, -- mediaType
    content text, -- of a short text; a long one is in pastes
    extra_json text,
    unique (history_prompt_id, paste_number)
) strict;
create index pasted_contents_by_paste on pasted_contents (paste_id) where paste_id is not null;
create index pasted_contents_by_name on pasted_contents (cache_name) where cache_name is not null;

create table pastes (
    -- One row per file of paste-cache/: a long text that was pasted.
    paste_id integer primary key,
    file_id integer not null unique references files (file_id) deferrable initially deferred,
    cache_name text not null, -- the name of the file: the first 16 hex digits of the text's SHA-256
    content text -- NULL when it is not UTF-8
) strict;
create index pastes_by_name on pastes (cache_name);

create table todos (
    -- One row per item of a todo list under todos/, which older versions wrote.
    todo_id integer primary key,
    file_id integer not null references files (file_id) deferrable initially deferred,
    session_id text, -- of the file's name
    agent_id text, -- of the file's name, unless it is the session itself
    position integer not null,
    content text,
    status text,
    priority text,
    active_form text, -- activeForm
    extra_json text,
    unique (file_id, position)
) strict;
create index todos_by_session on todos (session_id);

create table tasks (
    -- One row per task under tasks/, which newer versions write.
    task_id integer primary key,
    file_id integer not null unique references files (file_id) deferrable initially deferred,
    list_name text not null, -- a sessionId, or the name of a shared list
    task_number text, -- id: its number in the list
    subject text,
    description text,
    active_form text, -- activeForm
    status text,
    owner text,
    blocks_json text, -- numbers of the tasks that wait for this one
    blocked_by_json text, -- blockedBy: numbers of the tasks that this one waits for
    extra_json text
) strict;
create index tasks_by_list on tasks (list_name);

create table plans (
    -- One row per plan under plans/.
    plan_id integer primary key,
    file_id integer not null unique references files (file_id) deferrable initially deferred,
    slug text not null, -- its name; sessions that worked on it have the same slug
    content text -- NULL when it is not UTF-8
) strict;
create index plans_by_slug on plans (slug);

create table memory_notes (
    -- One row per note that Claude Code keeps about a project.
    memory_note_id integer primary key,
    file_id integer not null unique references files (file_id) deferrable initially deferred,
    name text not null, -- path below memory/
    content text
) strict;

create table tool_result_files (
    -- One row per output that was too large for its transcript and kept beside it.
    tool_result_file_id integer primary key,
    file_id integer not null unique references files (file_id) deferrable initially deferred,
    session_id text, -- of the folder it lies in
    name text not null, -- tool_results.persisted_name of the result whose output it is
    content text, -- NULL when it is not UTF-8 text, or larger than 64 MiB: then only the archive has it
    byte_length integer not null
) strict;
create index tool_result_files_by_name on tool_result_files (session_id, name);

create table agent_metas (
    -- One row per agent-<id>.meta.json: what Claude Code noted about an agent when it was spawned.
    agent_meta_id integer primary key,
    file_id integer not null unique references files (file_id) deferrable initially deferred,
    session_id text not null, -- of the folder it lies in
    agent_id text not null, -- of the file's name
    agent_type text, -- agentType
    description text,
    name text, -- of a teammate
    model text,
    tool_use_id text, -- toolUseId: the call that spawned it
    parent_agent_id text, -- parentAgentId: the agent that spawned it
    worktree_path text, -- worktreePath
    worktree_branch text, -- worktreeBranch
    workflow_phase text, -- workflowPhase
    extra_json text,
    spawn_depth integer, -- spawnDepth
    is_fork integer check (is_fork in (0, 1)), -- isFork
    is_stopped_by_user integer check (is_stopped_by_user in (0, 1)) -- stoppedByUser
) strict;
create index agent_metas_by_tool_use on agent_metas (tool_use_id) where tool_use_id is not null;
create index agent_metas_by_agent on agent_metas (session_id, agent_id);

create table workflow_runs (
    -- One row per workflows/wf_<run>.json: a workflow that came to its end.
    workflow_run_id integer primary key,
    file_id integer not null unique references files (file_id) deferrable initially deferred,
    session_id text not null, -- of the folder it lies in
    workflow_id text, -- runId: wf_...
    background_task_id text, -- taskId
    name text, -- workflowName
    status text,
    extra_json text, -- phases, agents, script, result
    duration_ms integer, -- durationMs
    agent_count integer, -- agentCount
    total_tokens integer, -- totalTokens
    tool_call_count integer, -- totalToolCalls
    started_at text -- startTime
) strict;
create index workflow_runs_by_session on workflow_runs (session_id);

create table session_hints (
    -- One row per session that sessions-index.json or a custom-title.json tells of, also of one whose transcript is gone.
    session_hint_id integer primary key,
    file_id integer not null references files (file_id) deferrable initially deferred,
    position integer not null,
    session_id text, -- sessionId
    custom_title text, -- customTitle
    summary text,
    first_prompt text, -- firstPrompt
    project_path text, -- projectPath, else originalPath
    git_branch text, -- gitBranch
    extra_json text,
    message_count integer, -- messageCount
    created_at text, -- created
    modified_at text, -- modified
    unique (file_id, position)
) strict;
create index session_hints_by_session on session_hints (session_id);

create table usage_statistics (
    -- One row per number that stats-cache.json keeps: of a day, of a model on a day, of a model, or of all. It outlives
    -- the transcripts; its output tokens have the faults of the versions that wrote them.
    usage_statistic_id integer primary key,
    file_id integer not null references files (file_id) deferrable initially deferred,
    scope text not null check (scope in ('day', 'day_and_model', 'model', 'all')),
    activity_date text not null, -- '' for all days
    model text not null, -- '' for all models
    extra_json text,
    message_count integer,
    session_count integer,
    tool_call_count integer,
    total_tokens integer, -- of a model on a day: tokensByModel
    input_tokens integer,
    output_tokens integer,
    cache_read_tokens integer,
    cache_write_tokens integer,
    web_search_count integer,
    cost_usd real, -- as Claude Code computed it
    unique (file_id, scope, activity_date, model)
) strict;

-------------------------------------------------------------------------------------------------------------------
-- Usage and money
-------------------------------------------------------------------------------------------------------------------

create table api_responses (
    -- One row per answer of the API, however many lines and files repeat it. All numbers come from one of its lines: the
    -- one outside a sidechain with the greatest output, then the greatest total, then the last.
    api_response_id integer primary key,
    api_message_id text not null, -- message.id; without one the uuid of the line; of an advisor with '#' and a number
    parent_api_response_id integer references api_responses (api_response_id) deferrable initially deferred, -- of an advisor: the answer it was asked for
    message_id integer references messages (message_id) deferrable initially deferred, -- of the earliest line
    session_id text references sessions (session_id) deferrable initially deferred, -- of the earliest line
    agent_run_id integer references agents (agent_run_id) deferrable initially deferred, -- of the earliest line
    kind text not null check (kind in ('message', 'advisor')), -- an advisor is asked within a message and has a model of its own
    request_id text, -- requestId
    model text, -- as written
    service_tier text,
    speed text,
    inference_geo text,
    stop_reason text, -- the one that any line names
    usage_quality text check (usage_quality in (
        'final', -- the numbers can be trusted
        'suspect', -- no line has a stop reason, and the output is tiny or the version known for placeholders
        'placeholder' -- far fewer output tokens than there is text: the true number is not on disk
    )), -- of output_tokens; from 2.1.9 to 2.1.52 most are placeholders
    input_tokens integer, -- uncached input
    output_tokens integer, -- thinking included; as recorded
    estimated_output_tokens integer, -- where the quality is not final and thinking is written down: visible characters / 3.4
    cache_write_tokens integer, -- all cache writes
    cache_write_5m_tokens integer,
    cache_write_1h_tokens integer,
    cache_read_tokens integer,
    thinking_tokens integer,
    web_search_count integer, -- as recorded, else what its WebSearch calls tell
    visible_char_count integer, -- of its texts, thinking and tool inputs
    line_count integer, -- lines that carry it
    recorded_cost_usd real, -- costUSD, as versions up to 1.0.3 wrote it
    responded_at text, -- of the earliest line
    unique (api_message_id, kind)
) strict;
create index api_responses_by_session on api_responses (session_id);
create index api_responses_by_agent on api_responses (agent_run_id) where agent_run_id is not null;
create index api_responses_by_message on api_responses (message_id);
create index api_responses_by_parent on api_responses (parent_api_response_id) where parent_api_response_id is not null;
create index api_responses_by_time on api_responses (responded_at, model);

create table usage_lines (
    -- One row per line that carried usage, with the numbers as that line has them.
    usage_line_id integer primary key,
    api_response_id integer not null references api_responses (api_response_id) deferrable initially deferred,
    message_id integer not null references messages (message_id) deferrable initially deferred, -- the line is this message or a copy of it
    file_id integer not null references files (file_id) deferrable initially deferred,
    line_number integer not null,
    byte_offset integer not null,
    session_id text references sessions (session_id) deferrable initially deferred, -- of the line
    agent_run_id integer references agents (agent_run_id) deferrable initially deferred, -- of the line
    request_id text,
    model text,
    service_tier text,
    speed text,
    inference_geo text,
    stop_reason text,
    duplicate_reason text check (duplicate_reason in (
        'streaming', -- another line of the same response in the same file
        'same_file_replay', -- a copy of a message, in the same file
        'resume_copy', -- another file
        'fork_copy', -- another file, with forkedFrom
        'sidechain_replay', -- a sidechain that repeats the conversation it came from
        'rewritten_file', -- the same file before or after a rewrite
        'progress_echo' -- an agent's line as its parent saw it go by
    )), -- why it is not counted
    extra_json text, -- the keys of usage that have no column
    input_tokens integer,
    output_tokens integer,
    cache_write_tokens integer, -- the greater of the flat number and the split
    cache_write_5m_tokens integer,
    cache_write_1h_tokens integer,
    cache_read_tokens integer,
    thinking_tokens integer,
    web_search_count integer,
    visible_char_count integer, -- of the line's text, thinking and tool inputs
    recorded_cost_usd real, -- costUSD
    is_progress integer not null check (is_progress in (0, 1)), -- nested in a progress record
    is_sidechain integer not null check (is_sidechain in (0, 1)),
    is_fork integer not null check (is_fork in (0, 1)), -- the line has forkedFrom
    is_counted integer not null check (is_counted in (0, 1)), -- this line gives the numbers of its response
    sent_at text,
    unique (file_id, byte_offset)
) strict;
create index usage_lines_by_response on usage_lines (api_response_id);
create index usage_lines_by_message on usage_lines (message_id);
create index usage_lines_by_session on usage_lines (session_id);
create index usage_lines_by_agent on usage_lines (agent_run_id) where agent_run_id is not null;

create table model_prices (
    -- One row per price of a model from one day on, in USD per million tokens. Rows of the user win over built-in ones.
    model_price_id integer primary key,
    model text not null, -- as model_aliases gives it
    valid_from text not null, -- a day; answers before the first row of a model take that row
    origin text not null check (origin in ('builtin', 'user')),
    source text not null, -- where the price is from
    input_usd real not null,
    output_usd real not null,
    cache_write_5m_usd real,
    cache_write_1h_usd real,
    cache_read_usd real,
    long_context_tokens integer, -- above so many input tokens, cached ones included, the whole request has the long prices
    long_input_usd real,
    long_output_usd real,
    long_cache_write_5m_usd real,
    long_cache_write_1h_usd real,
    long_cache_read_usd real,
    fast_multiplier real, -- of all token prices with speed = fast; NULL where there is no such mode
    us_multiplier real, -- of all token prices with inference_geo = us
    batch_multiplier real not null, -- of all token prices with service_tier = batch
    web_search_usd real not null, -- of one search
    unique (model, valid_from, origin)
) strict;

create table model_aliases (
    -- One row per model name as written: the name it is priced by.
    model_name text not null primary key, -- as written, with provider, date and suffix
    model text not null, -- without them
    origin text not null check (origin in ('builtin', 'user')) -- 'builtin' rows are made by a rule
) strict;

-------------------------------------------------------------------------------------------------------------------
-- Vocabulary: what outcomes and prompt kinds mean, and words that can be edited
-------------------------------------------------------------------------------------------------------------------

create table outcomes (
    -- One row per way in which a tool call can end. Every sync puts the rows of sql/words.sql in place.
    outcome text not null primary key,
    outcome_group text not null check (outcome_group in ('ok', 'error', 'denied', 'stopped', 'pending', 'other')),
    meaning text not null,
    is_timed integer not null check (is_timed in (0, 1)) -- the tool ran to its end: the duration of the call is that of the tool
) strict;

create table prompt_kinds (
    -- One row per kind of text in a user record: who wrote it. Every sync puts the rows of sql/words.sql in place.
    prompt_kind text not null primary key,
    meaning text not null,
    is_typed integer not null check (is_typed in (0, 1)), -- by the person at the keyboard
    is_prompt integer not null check (is_prompt in (0, 1)), -- typed, or by a program in the person's place
    is_turn_start integer not null check (is_turn_start in (0, 1)) -- Claude answers it
) strict;

create table trivial_texts (
    -- One row per text that says nothing by itself: the view `feedback` flags it. Add your own; is_used = 0 takes one out.
    trivial_text text not null primary key, -- lower case, without commas and without punctuation at its end
    is_used integer not null check (is_used in (0, 1))
) strict;

create table correction_phrases (
    -- One row per beginning of a prompt that corrects the answer before it. Add your own; is_used = 0 takes one out.
    correction_phrase text not null primary key, -- lower case; the next character of the prompt is no letter
    is_used integer not null check (is_used in (0, 1))
) strict;

-------------------------------------------------------------------------------------------------------------------
-- For BI tools
-------------------------------------------------------------------------------------------------------------------

-- Small tables that say in declared types what the views say: a view's computed column has no type over ODBC and JDBC, a
-- 32-bit INTEGER overflows there, and times with T and Z break their filters. So these tables are not strict. Times are
-- TIMESTAMP as 2026-01-31 09:15:00.000 (UTC): JDBC takes a DATETIME for a day, and both drivers compare with text that has
-- milliseconds, so that 09:15:00 without them would lie before 09:15:00. The same in seconds since 1970 (*_unix) is for
-- Grafana. What is not known is '' in the columns that tell rows apart. Sync and `prices import` keep them up. Of
-- the texts of a conversation only the titles of sessions are in them.

create table bi_session_days (
    -- One row per session, day, model and machine: tokens and cost.
    session_id TEXT not null, -- '' when the answer belongs to none
    activity_date DATE, -- UTC; NULL when no line says when
    model TEXT not null,
    machine TEXT not null, -- that the answer was recorded on
    project TEXT not null,
    response_count BIGINT not null, -- answers of the API
    input_tokens BIGINT not null,
    output_tokens BIGINT not null, -- as recorded
    estimated_output_tokens BIGINT not null, -- with estimates in place of placeholders
    cache_write_tokens BIGINT not null,
    cache_read_tokens BIGINT not null,
    web_search_count BIGINT not null,
    unpriced_count BIGINT not null, -- answers whose price is not known
    cost_usd DOUBLE, -- NULL when no price is known
    estimated_cost_usd DOUBLE, -- with estimates in place of placeholders
    agent_cost_usd DOUBLE, -- of cost_usd, what sub-agents spent
    primary key (session_id, activity_date, model, machine)
);
create index bi_session_days_by_date on bi_session_days (activity_date);

create table bi_days (
    -- One row per day, model, project and machine: tokens and cost.
    activity_date DATE, -- UTC; NULL when no line says when
    model TEXT not null,
    project TEXT not null,
    machine TEXT not null,
    session_count BIGINT not null, -- with an answer on that day
    response_count BIGINT not null, -- answers of the API
    input_tokens BIGINT not null,
    output_tokens BIGINT not null, -- as recorded
    estimated_output_tokens BIGINT not null, -- with estimates in place of placeholders
    cache_write_tokens BIGINT not null,
    cache_read_tokens BIGINT not null,
    web_search_count BIGINT not null,
    unpriced_count BIGINT not null, -- answers whose price is not known
    cost_usd DOUBLE, -- NULL when no price is known
    estimated_cost_usd DOUBLE, -- with estimates in place of placeholders
    agent_cost_usd DOUBLE, -- of cost_usd, what sub-agents spent
    day_began_at TIMESTAMP, -- the same day for tools that want a time
    day_began_unix BIGINT,
    primary key (activity_date, model, project, machine)
);

create table bi_tools (
    -- One row per session, day, tool and kind of agent that called it.
    session_id TEXT not null,
    activity_date DATE, -- UTC, of the call
    tool_name TEXT not null,
    agent_type TEXT not null, -- '' for the session itself
    mcp_server TEXT,
    project TEXT not null,
    machine TEXT not null,
    call_count BIGINT not null,
    ok_count BIGINT not null,
    error_count BIGINT not null, -- errors, timeouts and invalid input
    denied_count BIGINT not null, -- by the person, a rule or a hook
    stopped_count BIGINT not null, -- interrupted or cancelled
    pending_count BIGINT not null, -- without an answer
    other_count BIGINT not null, -- went on in the background, or ended in a way that is not known
    timed_count BIGINT not null, -- calls that ran and whose duration is known
    duration_ms BIGINT not null, -- of these, all together
    result_bytes BIGINT not null,
    is_mcp BOOLEAN not null check (is_mcp in (0, 1)),
    day_began_at TIMESTAMP,
    day_began_unix BIGINT,
    primary key (session_id, activity_date, tool_name, agent_type)
);
create index bi_tools_by_date on bi_tools (activity_date);

create table bi_feedback (
    -- One row per signal from the person; what was said is in the view feedback.
    session_id TEXT not null,
    signal_number BIGINT not null, -- in the session, from 1
    kind TEXT not null, -- denial, interruption, plan_rejected, answer, correction, queued_prompt, prompt
    tool_name TEXT, -- of the call that it is about
    tool_use_id TEXT,
    model TEXT, -- that it is about
    agent_type TEXT,
    git_branch TEXT,
    project TEXT not null,
    machine TEXT not null,
    text_length BIGINT not null, -- characters that the person typed, 1,000,000 at most
    is_trivial BOOLEAN not null check (is_trivial in (0, 1)),
    said_at TIMESTAMP,
    said_unix BIGINT,
    primary key (session_id, signal_number)
);
create index bi_feedback_by_time on bi_feedback (said_at);

create table bi_sessions (
    -- One row per session, its agents included.
    session_id TEXT not null primary key,
    project TEXT not null,
    machine TEXT not null, -- that its first message was recorded on
    title TEXT,
    git_branch TEXT,
    version TEXT, -- of Claude Code
    entrypoint TEXT,
    main_model TEXT, -- that cost most
    message_count BIGINT not null,
    prompt_count BIGINT not null, -- what the person said, however it was said
    denial_count BIGINT not null, -- rejected plans included
    correction_count BIGINT not null,
    interruption_count BIGINT not null,
    tool_call_count BIGINT not null,
    tool_error_count BIGINT not null,
    agent_count BIGINT not null,
    changed_file_count BIGINT not null,
    lines_added BIGINT not null,
    lines_removed BIGINT not null,
    response_count BIGINT not null,
    input_tokens BIGINT not null,
    output_tokens BIGINT not null,
    cache_write_tokens BIGINT not null,
    cache_read_tokens BIGINT not null,
    unpriced_count BIGINT not null, -- answers whose price is not known
    duration_s BIGINT, -- from its first to its last message
    cost_usd DOUBLE, -- NULL when no price is known
    estimated_cost_usd DOUBLE, -- with estimates in place of placeholders
    is_background BOOLEAN not null check (is_background in (0, 1)),
    started_at TIMESTAMP,
    started_unix BIGINT,
    ended_at TIMESTAMP,
    ended_unix BIGINT
);
create index bi_sessions_by_start on bi_sessions (started_at);

-------------------------------------------------------------------------------------------------------------------
-- What the tables for BI tools are summed from
-------------------------------------------------------------------------------------------------------------------

-- Of no use but to sync: it counts again only the parts of a session that changed, however long the session is. A part
-- is 256 keys in the order of arrival, so these tables are not the same in two databases.

create table _response_parts (
    -- One row per part, session, day, model and machine: tokens and cost, to be summed into bi_session_days.
    part_number integer not null, -- api_response_id / 256
    session_id text not null, -- '' when the answer belongs to none
    model text not null,
    machine text not null,
    response_count integer not null,
    input_tokens integer not null,
    output_tokens integer not null,
    estimated_output_tokens integer not null,
    cache_write_tokens integer not null,
    cache_read_tokens integer not null,
    web_search_count integer not null,
    unpriced_count integer not null,
    cost_units real, -- 1e-10 USD: whole numbers have the same sum in any order
    estimated_cost_units real,
    agent_cost_units real,
    activity_date text,
    unique (part_number, session_id, activity_date, model, machine)
) strict;
create index response_parts_by_session on _response_parts (session_id);

create table _tool_parts (
    -- One row per part, session, day, tool and agent: calls, to be summed into bi_tools.
    part_number integer not null, -- message_id / 256
    session_id text not null, -- '' when the call belongs to none
    agent_run_id integer not null, -- 0 for the session itself
    tool_name text not null,
    mcp_server text,
    call_count integer not null,
    ok_count integer not null,
    error_count integer not null,
    denied_count integer not null,
    stopped_count integer not null,
    pending_count integer not null,
    other_count integer not null,
    timed_count integer not null,
    duration_ms integer not null,
    result_bytes integer not null,
    activity_date text,
    unique (part_number, session_id, activity_date, tool_name, agent_run_id)
) strict;
create index tool_parts_by_session on _tool_parts (session_id);

create table _file_change_parts (
    -- One row per part, session and file that was changed, to be summed into bi_sessions.
    part_number integer not null, -- message_id / 256
    session_id text not null,
    file_path text not null,
    lines_added integer,
    lines_removed integer,
    unique (part_number, session_id, file_path)
) strict;
create index file_change_parts_by_session on _file_change_parts (session_id);

-------------------------------------------------------------------------------------------------------------------
-- Search
-------------------------------------------------------------------------------------------------------------------

create table settings (
    -- One row per choice that holds for the whole database.
    setting text not null primary key, -- index_tool_output, refreshed_with, derived_with
    value text not null -- of refreshed_with a hash of the prices and words that the program brought, of derived_with one of
    -- the prices, words, scripts and views that all tables were derived with
) strict;

-- Full text of prompts, answers, thinking and commands: `where search match 'words'`; rowid is content_blocks.block_id.
-- The text is not stored a second time: it is read from the view _search_texts. Of a text the first 1,000,000 characters
-- can be found.
create virtual table search using fts5 (
    text, content="_search_texts", content_rowid="block_id", tokenize="unicode61 remove_diacritics 2"
);
