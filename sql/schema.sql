-- The tables of a cc-etl database.
--
-- `archive_chunks` keeps the bytes of every file exactly as they were read. All tables under "Conversation" and "Usage" are
-- derived from those bytes and can be derived again (`cc-etl rebuild`).
--
-- Conventions: times are UTC text like 2026-01-31T09:15:00.000Z. The comment of a renamed column starts with the field of
-- the source. Fields without a column are kept in the `*_json` column of their row. NULL means that the source has no value.
-- A count that is negative or above 2^40, and a cost that is negative or above 1,000,000 USD, stay in JSON: their sums would
-- overflow or depend on the order of rows. A reference to a missing row keeps its text and has a NULL key.
-- The whole text of a message is in content_blocks.text, that of a tool result in tool_results.content, the input of a
-- call in tool_uses.input_json. Columns that repeat a text are truncated to 1,000,000 characters.
-- Every table has a natural key: a unique constraint or index, or a text primary key. Integer keys follow the order of
-- arrival and have no meaning outside one database. Long texts are last, because SQLite reads a row only up to the column
-- it needs.

-------------------------------------------------------------------------------------------------------------------
-- Provenance
-------------------------------------------------------------------------------------------------------------------

create table sources (
    -- One row per Claude home that was synced.
    source_id integer primary key,
    machine_id text not null, -- random, created once per machine; 'name:NAME' for a home imported with --machine NAME
    machine text not null, -- label: the host name at the last sync of this home, or NAME
    root_path text not null, -- absolute path of the home; 'demo' for the built-in demo home
    product text not null check (product in ('claude-code', 'cowork', 'xcode')), -- the program that writes the home
    unique (machine_id, root_path, product)
) strict;

create table files (
    -- One row per version of a source file. A file that grows keeps its version; a file that is rewritten or replaced
    -- starts a new generation, and the rows of the old generation stay.
    file_id integer primary key,
    source_id integer not null references sources (source_id) deferrable initially deferred,
    project_id integer references projects (project_id) deferrable initially deferred, -- the folder under projects/ that contains it
    path text not null, -- relative to the home, with '/'; backslashes and bytes that are not UTF-8 are written as \xNN
    path_bytes blob, -- the raw path, only where it differs from `path`
    archived_hash blob, -- running hash of its chunks, which every sync extends; NULL while nothing is archived
    kind text not null check (kind in (
        'session', 'agent', 'journal', 'transcript', 'history', 'todo', 'task', 'plan', 'tool_result', 'paste',
        'file_backup', 'statistics', 'session_index', 'agent_meta', 'workflow', 'memory', 'session_facet',
        'session_meta', 'other'
    )),
    session_id text, -- the session named by its path; its lines may name another
    generation integer not null, -- 1, plus 1 for each rewrite
    size_bytes integer not null, -- file size at the last sync
    archived_bytes integer not null, -- bytes read and archived; 0 for a file that is only counted
    parsed_bytes integer not null, -- bytes parsed into rows; the rest is an incomplete last line
    line_count integer not null, -- lines; the last one counts without its newline unless it is blank
    newline_count integer not null, -- newline bytes among the archived bytes
    blank_line_count integer not null, -- lines that contain only blanks
    modified_ns integer not null, -- mtime in nanoseconds since 1970
    changed_ns integer not null, -- ctime in nanoseconds since 1970
    device integer not null,
    inode integer not null,
    is_racy integer not null check (is_racy in (0, 1)), -- modified so shortly before it was read that the next sync reads it again
    is_current integer not null check (is_current in (0, 1)), -- 1 for the newest generation
    first_seen_at text not null, -- first sync that found it
    last_synced_at text not null, -- last sync that read bytes of it
    missing_since text, -- first sync that did not find it; NULL while it exists; its rows stay
    unique (source_id, path, generation)
) strict;
create index files_by_project on files (project_id);
create index files_by_session on files (session_id) where session_id is not null;

create table archive_chunks (
    -- One row per MiB of a file: chunk n holds the bytes from n * 1048576 on, so the chunks do not depend on how often the
    -- file was synced while it grew.
    archive_chunk_id integer primary key,
    file_id integer not null references files (file_id) deferrable initially deferred,
    position integer not null, -- n, from 0
    byte_offset integer not null, -- position * 1048576
    byte_length integer not null, -- 1048576, except in the last chunk
    content_hash blob not null, -- BLAKE3 of the uncompressed bytes
    content blob not null, -- the bytes, compressed with zstd
    unique (file_id, position)
) strict;

create table rejected_lines (
    -- One row per fragment of a line that is not a valid record, or that a record could not keep.
    rejected_line_id integer primary key,
    file_id integer not null references files (file_id) deferrable initially deferred,
    line_number integer not null, -- from 1
    byte_offset integer not null, -- of the fragment in the file
    reason text not null check (reason in (
        'nul_run', -- NUL bytes, as a crash leaves them
        'torn_record', -- starts like a record and is cut or damaged
        'not_json', -- any other invalid JSON
        'not_an_object', -- valid JSON, but not an object
        'invalid_utf8', -- bytes of a record that are not UTF-8; the record is imported with U+FFFD in their place
        'too_deep', -- nested deeper than SQLite's JSON functions allow
        'incomplete_tail', -- the last line without its end; removed when the rest arrives
        'internal_error' -- cc-etl failed on it; please report it; `cc-etl rebuild` tries again
    )),
    raw blob not null, -- the bytes of the fragment
    unique (file_id, byte_offset)
) strict;

create table sync_runs (
    -- One row per run of `cc-etl sync` that changed the database.
    sync_run_id integer primary key,
    version text not null, -- of cc-etl
    file_count integer not null, -- files found
    changed_file_count integer not null, -- files read because they changed
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
    -- One row per record type, system subtype, block type or key that this version of cc-etl does not know. Nothing is lost:
    -- the record has a row like any other, the key is kept in a JSON column.
    unknown_kind_id integer primary key,
    level text not null check (level in ('record', 'block', 'key')),
    name text not null, -- the type; for a key <record type>.<key>
    first_version text, -- lowest Claude Code version that wrote it
    occurrence_count integer not null, -- lines with it, copies included
    file_id integer not null references files (file_id) deferrable initially deferred, -- file of an example: the first by path
    line_number integer not null, -- line of the example
    unique (level, name)
) strict;
create index unknown_kinds_by_file on unknown_kinds (file_id);

-------------------------------------------------------------------------------------------------------------------
-- Conversation
-------------------------------------------------------------------------------------------------------------------

create table projects (
    -- One row per folder under projects/.
    project_id integer primary key,
    directory_name text not null unique, -- as found; the encoding is ambiguous, so it is never decoded
    path text, -- real path: a working directory of its sessions that encodes to directory_name; NULL if none does
    repository_path text, -- the same, with a worktree mapped to its repository
    name text -- last part of repository_path; directory_name while the path is unknown
) strict;

create table sessions (
    -- One row per sessionId found in a line or a file. Views omit empty sessions.
    session_id text not null primary key, -- sessionId
    project_id integer references projects (project_id) deferrable initially deferred,
    title text, -- custom_title, else ai_title, else summary, else first line of first_prompt or of the plan, else start of session_id
    custom_title text, -- set by the person
    ai_title text, -- generated by the model
    summary text, -- from the resume list of old versions
    agent_name text, -- agentName, set by /rename
    slug text, -- nickname, also used to name plan files
    tag text,
    first_prompt text, -- the person's first prompt, truncated to 1,000,000 characters; a command without arguments only if there is no other
    last_prompt text, -- lastPrompt, truncated by Claude Code
    start_cwd text, -- working directory at the start
    relocated_cwd text, -- working directory after /cd
    worktree_path text, -- current worktree
    worktree_name text,
    worktree_branch text,
    original_cwd text, -- originalCwd: the directory the worktree was created from
    git_branch text, -- last recorded
    version text, -- of Claude Code, last recorded
    entrypoint text, -- cli, sdk-cli, claude-vscode, ...
    session_kind text, -- 'bg' for a background session
    mode text, -- normal or coordinator
    permission_mode text, -- last set
    agent_setting text, -- the agent the session runs as
    agent_color text,
    team_name text,
    forked_from_session_id text references sessions (session_id) deferrable initially deferred, -- session it was forked from by /branch or the SDK
    resumed_from_session_id text references sessions (session_id) deferrable initially deferred, -- session whose lines begin its file
    continued_in_session_id text references sessions (session_id) deferrable initially deferred, -- background session that continues it
    plan_session_id text references sessions (session_id) deferrable initially deferred, -- session that wrote the plan it carries out
    is_empty integer not null default 1 check (is_empty in (0, 1)), -- no response, and no message except those with the model <synthetic>
    started_at text, -- time of its first message
    ended_at text -- time of its last message
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
    session_id text not null references sessions (session_id) deferrable initially deferred, -- session it belongs to
    agent_id text not null, -- agentId; for an inline agent of old versions 'inline-' and the uuid of its first message
    agent_type text, -- subagent_type
    description text,
    name text, -- of a teammate
    team_name text, -- teamName
    model text, -- as requested
    layout text check (layout in ('inline', 'flat', 'nested', 'workflow')), -- where its lines are stored; NULL without a line
    internal_kind text check (internal_kind in (
        'warmup', -- started by 2.0.x at startup, without a call
        'compaction', -- repeats the conversation to summarize it
        'prompt_suggestion',
        'side_question' -- /btw
    )), -- set for an agent that Claude Code runs for itself
    parent_agent_run_id integer references agents (agent_run_id) deferrable initially deferred,
    spawned_by_tool_use_id text references tool_uses (tool_use_id) deferrable initially deferred,
    link_method text not null check (link_method in (
        'meta', -- its meta.json names the call
        'result', -- toolUseResult.agentId
        'progress', -- agent_progress
        'notification', -- a task notification names both
        'text', -- the text of the result names the agent
        'workflow', -- the call that started its workflow
        'parent', -- its meta.json names only the parent agent
        'prompt', -- the call has the same prompt
        'none'
    )), -- how its call was found
    link_confidence text not null check (link_confidence in ('certain', 'likely', 'none')),
    workflow_id text, -- runId of the workflow that it is part of
    workflow_phase text,
    workflow_label text,
    worktree_path text,
    worktree_branch text,
    status text, -- completed, failed, stopped, killed; 'finished' if known only from its last message
    status_source text check (status_source in ('notification', 'result', 'journal', 'last_message')),
    spawn_depth integer,
    context_length integer, -- messages of the session that a forked agent starts with
    is_fork integer check (is_fork in (0, 1)), -- starts with the conversation of its session
    started_at text, -- time of its first message
    ended_at text, -- time of its last message
    unique (session_id, agent_id)
) strict;
create index agents_by_parent on agents (parent_agent_run_id) where parent_agent_run_id is not null;
create index agents_by_spawn on agents (spawned_by_tool_use_id) where spawned_by_tool_use_id is not null;
create index agents_by_type on agents (agent_type);

create table agent_links (
    -- One row per agent, call and kind of evidence that the call spawned the agent.
    agent_link_id integer primary key,
    session_id text not null references sessions (session_id) deferrable initially deferred,
    agent_id text not null,
    tool_use_id text references tool_uses (tool_use_id) deferrable initially deferred, -- NULL if the call is missing
    source_tool_use_id text not null, -- as written
    method text not null check (method in (
        'result', -- toolUseResult.agentId of the call's result
        'progress', -- parentToolUseID of an agent_progress record
        'notification', -- a task notification
        'text' -- "agentId: ..." at the end of the result's text
    )),
    unique (session_id, agent_id, source_tool_use_id, method)
) strict;
create index agent_links_by_tool_use on agent_links (tool_use_id);
create index agent_links_by_source on agent_links (source_tool_use_id);

create table messages (
    -- One row per chain record: a line with a uuid and a parentUuid (user, assistant, system, attachment, progress).
    -- A uuid found on several lines is one message: its last line in each file, then the file with the earliest time, then
    -- by path. The other lines are message_copies. Only the archive has what progress records repeat (the output of a command
    -- so far; an agent's line with its prompt and the lines before it) and values without information: message.type
    -- "message", a null stop_reason or stop_sequence, a sourceToolAssistantUUID equal to the parent.
    message_id integer primary key,
    uuid text not null, -- unique
    parent_uuid text, -- parentUuid, as written
    parent_message_id integer references messages (message_id) deferrable initially deferred,
    logical_parent_uuid text, -- logicalParentUuid: the message before a compaction
    logical_parent_message_id integer references messages (message_id) deferrable initially deferred,
    session_id text references sessions (session_id) deferrable initially deferred, -- sessionId; in agent files the session of the parent
    agent_run_id integer references agents (agent_run_id) deferrable initially deferred, -- agent that the message belongs to; NULL for the session itself
    agent_id text, -- agentId, as written
    file_id integer not null references files (file_id) deferrable initially deferred,
    line_number integer not null, -- from 1
    byte_offset integer not null, -- of the record in the file
    byte_length integer not null,
    type text, -- user, assistant, system, attachment, progress, or a type of a newer version
    subtype text, -- subtype of system, attachment.type, data.type of progress
    role text, -- message.role
    prompt_kind text, -- one of prompt_kinds: who wrote the text of a user record, a queued prompt or a local command
    machine_kind text, -- of generated text: task_notification, command_output, hook, timer, ...
    prompt_text text, -- what the person typed, if not the whole text; truncated to 1,000,000 characters
    command_name text, -- slash command, with the slash
    command_arguments text,
    plan_session_id text, -- session whose plan this message hands over
    model text, -- message.model
    api_response_id integer references api_responses (api_response_id) deferrable initially deferred, -- message.id
    request_id text, -- requestId
    stop_reason text, -- message.stop_reason; many versions write it only on the last line of a response
    prompt_id text, -- promptId: the turn
    permission_mode text, -- permissionMode
    prompt_source text, -- promptSource
    origin_kind text, -- origin.kind
    effort text,
    attribution_skill text, -- attributionSkill: the skill that caused the API call
    attribution_plugin text, -- attributionPlugin
    attribution_agent text, -- attributionAgent
    attribution_mcp_server text, -- attributionMcpServer
    attribution_mcp_tool text, -- attributionMcpTool
    error text, -- of a failed API call
    interrupted_message_id text, -- interruptedMessageId: the response that was interrupted
    tool_denial_kind text, -- toolDenialKind
    user_feedback text, -- userFeedback: reason typed with a denial
    tool_use_id text references tool_uses (tool_use_id) deferrable initially deferred, -- the call that source_tool_use_id names; NULL if it is missing
    source_tool_use_id text, -- toolUseID of a progress, system or attachment record, as written: a call, or a run of hooks
    parent_tool_use_id text, -- parentToolUseID
    cause_tool_use_id text, -- sourceToolUseID: the call that added this text, such as a skill
    forked_from_session_id text, -- forkedFrom.sessionId: the session it was copied from
    origin_session_id text, -- session_id of the line, where it differs from sessionId: the session it was copied from
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
    content_hash blob not null, -- XXH3 of everything but the envelope, to compare copies
    extra_json text, -- keys of the line without a column; "message" holds the rest of message
    is_sidechain integer check (is_sidechain in (0, 1)), -- isSidechain
    is_meta integer check (is_meta in (0, 1)), -- isMeta: generated by Claude Code
    is_compact_summary integer check (is_compact_summary in (0, 1)), -- isCompactSummary
    is_api_error integer check (is_api_error in (0, 1)), -- isApiErrorMessage
    has_string_content integer check (has_string_content in (0, 1)), -- 1 if the content is a string, 0 if it is a list
    has_own_session integer check (has_own_session in (0, 1)), -- 0 if only the file names the session, not the line
    duration_ms integer, -- durationMs: of a turn, or of an old response
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
create index messages_by_tool_use on messages (tool_use_id) where tool_use_id is not null;
create index messages_without_call on messages (source_tool_use_id) where tool_use_id is null and source_tool_use_id is not null;
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
        'rewritten_file', -- another generation of the same file
        'same_file_replay', -- repeated in the same file, as compaction does
        'sidechain_replay', -- the conversation repeated in an agent's file
        'fork_copy', -- has forkedFrom
        'resume_copy' -- any other second file
    )),
    content_hash blob not null,
    extra_json text, -- keys of this line, without the message's own content
    is_different integer not null check (is_different in (0, 1)), -- 1 if its content differs from the message
    sent_at text,
    unique (file_id, byte_offset)
) strict;
create index message_copies_by_message on message_copies (message_id);
create index message_copies_by_session on message_copies (session_id);
create index message_copies_by_fork on message_copies (forked_from_session_id) where forked_from_session_id is not null;
create index message_copies_by_line on message_copies (file_id, line_number);

create table content_blocks (
    -- One row per block of a message; content that is a string is one text block. Parts of a tool result have rows of their
    -- own, numbered by part_number. Only the archive has the signature of thinking.
    block_id integer primary key,
    message_id integer not null references messages (message_id) deferrable initially deferred,
    position integer not null, -- in the message, from 0
    part_number integer not null, -- 0 for the block itself; 1, 2, ... for the parts of a tool result
    type text, -- text, thinking, tool_use, tool_result, image, document, ...
    prompt_kind text, -- who wrote a text block that accompanies a tool result
    byte_length integer, -- of the text, or of the decoded image or document
    media_type text, -- of an image or document, whose bytes are only in the archive
    content_hash blob, -- SHA-256 of the decoded image or document
    text text, -- text or thinking; a tool result's text is in tool_results.content
    extra_json text, -- keys of the block without a column
    unique (message_id, position, part_number)
) strict;
create index content_blocks_beside_results on content_blocks (message_id) where prompt_kind is not null;

create table tool_uses (
    -- One row per tool call.
    tool_use_id text not null primary key, -- toolu_...
    message_id integer not null references messages (message_id) deferrable initially deferred,
    block_id integer not null references content_blocks (block_id) deferrable initially deferred,
    tool_result_id integer references tool_results (tool_result_id) deferrable initially deferred, -- its earliest result; NULL while pending
    name text,
    mcp_server text, -- of mcp__<server>__<tool>
    command text, -- inputs to filter by, truncated to 1,000,000 characters; input_json has them all
    file_path text, -- file_path, notebook_path or path
    pattern text,
    url text,
    query text,
    description text, -- for ProposeGoal and SetGoal the condition of the goal
    subagent_type text,
    skill text,
    change_kind text check (change_kind in ('create', 'update', 'edit', 'notebook')), -- set if the call changes a file
    input_lines_added integer, -- known from the input alone
    input_lines_removed integer,
    input_json text
) strict;
create index tool_uses_by_message on tool_uses (message_id);
create index tool_uses_by_block on tool_uses (block_id);
create index tool_uses_by_result on tool_uses (tool_result_id) where tool_result_id is not null;
create index tool_uses_by_name on tool_uses (name);
create index tool_uses_with_changes on tool_uses (message_id) where change_kind is not null;

create table tool_use_copies (
    -- One row per block that repeats a tool call of another message (a fork that assigned new uuids). The call belongs to
    -- the message outside a sidechain, then the earliest, then the smallest uuid. The block keeps its JSON.
    block_id integer primary key references content_blocks (block_id) deferrable initially deferred,
    tool_use_id text not null references tool_uses (tool_use_id) deferrable initially deferred
) strict;
create index tool_use_copies_by_tool_use on tool_use_copies (tool_use_id);

create table tool_results (
    -- One row per result of a tool call. Only the archive has what toolUseResult repeats: the text of the result, whole
    -- files, and the strings of an edit that are in its patch and in the call's input.
    tool_result_id integer primary key,
    tool_use_id text references tool_uses (tool_use_id) deferrable initially deferred, -- NULL if the call is missing
    source_tool_use_id text, -- tool_use_id, as written
    message_id integer not null references messages (message_id) deferrable initially deferred,
    block_id integer not null unique references content_blocks (block_id) deferrable initially deferred,
    outcome text not null, -- one of outcomes: how the call ended
    interrupt_message_id integer references messages (message_id) deferrable initially deferred, -- the interrupt mark that makes an error an interruption
    denial_reason text, -- the person's reason for a rejection
    reply text, -- the person's reply to questions: choices, notes and free text, one per line
    agent_id text, -- toolUseResult.agentId: the agent that the call spawned
    workflow_id text, -- toolUseResult.runId
    background_task_id text, -- toolUseResult.backgroundTaskId
    persisted_name text, -- file in the session's tool-results/ folder with the whole output
    change_kind text check (change_kind in ('create', 'update', 'edit', 'notebook')), -- set if it changed a file
    changed_path text,
    byte_length integer, -- of content
    persisted_bytes integer, -- toolUseResult.persistedOutputSize
    exit_code integer, -- of a failed command, parsed from its text
    duration_ms integer, -- as reported by the tool
    elapsed_ms integer, -- time between call and result, including the wait for the person
    lines_added integer, -- of the changed file
    lines_removed integer,
    line_count_source text check (line_count_source in ('patch', 'content', 'git_diff', 'strings')),
    is_error integer check (is_error in (0, 1)),
    is_user_modified integer check (is_user_modified in (0, 1)), -- userModified: the person changed the edit
    is_staged integer check (is_staged in (0, 1)), -- staged: prepared but not yet applied
    is_kept_in_sandbox integer check (is_kept_in_sandbox in (0, 1)), -- keptInSandboxByCheck: a check kept the command in the sandbox
    has_string_content integer check (has_string_content in (0, 1)), -- 1 if the content is a string, 0 if it is a list
    content text, -- as shown to the model; the text parts of a list are joined with newlines
    details_json text -- toolUseResult without what it repeats
) strict;
create index tool_results_by_tool_use on tool_results (tool_use_id);
create index tool_results_by_message on tool_results (message_id);
create index tool_results_stopped on tool_results (message_id) where outcome in ('user_rejected', 'interrupted');
create index tool_results_with_mark on tool_results (interrupt_message_id) where interrupt_message_id is not null;
create index tool_results_with_reason on tool_results (message_id) where denial_reason is not null;
create index tool_results_with_reply on tool_results (message_id) where reply is not null;
create index tool_results_without_call on tool_results (source_tool_use_id) where tool_use_id is null;

create table file_changes (
    -- One row per file changed by a tool call.
    file_change_id integer primary key,
    tool_use_id text not null references tool_uses (tool_use_id) deferrable initially deferred,
    file_path text not null,
    kind text not null check (kind in ('create', 'update', 'edit', 'notebook')),
    lines_added integer, -- NULL if unknown
    lines_removed integer, -- NULL if unknown
    line_count_source text check (line_count_source in (
        'patch', -- structuredPatch
        'content', -- the whole text of a new file
        'git_diff', -- gitDiff
        'strings', -- old and new string
        'input' -- the call's input, if the result has no counts
    )),
    is_user_modified integer check (is_user_modified in (0, 1)), -- the person changed the edit
    unique (tool_use_id, file_path)
) strict;
create index file_changes_by_path on file_changes (file_path);

create table git_operations (
    -- One row per commit, push, branch or pull request made by a command.
    git_operation_id integer primary key,
    tool_result_id integer not null references tool_results (tool_result_id) deferrable initially deferred,
    kind text not null check (kind in ('commit', 'push', 'branch', 'pr')),
    action text, -- of a branch or pull request; for a commit its kind
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
    status_code integer, -- code: a redirect or a 404 is not a tool error
    response_bytes integer, -- bytes
    search_count integer, -- searchCount: the billed searches
    duration_ms integer
) strict;

create table events (
    -- One row per record without a uuid: titles, modes, queue operations, summaries, snapshots, costs, links.
    event_id integer primary key,
    file_id integer not null references files (file_id) deferrable initially deferred,
    line_number integer not null,
    byte_offset integer not null,
    type text,
    session_id text references sessions (session_id) deferrable initially deferred, -- sessionId, else the session that the file is named for
    message_uuid text, -- leafUuid or messageId: the message it refers to
    related_session_id text, -- continuedInSessionId or parentSessionId: another session it refers to
    payload_json text not null, -- the record
    occurred_at text, -- timestamp
    unique (file_id, byte_offset)
) strict;
create index events_by_line on events (file_id, line_number);
create index events_by_session on events (session_id, type);
create index events_by_message on events (message_uuid) where message_uuid is not null;
create index events_by_related_session on events (related_session_id) where related_session_id is not null;
create index events_with_summary on events (message_uuid) where type = 'summary';

create table queue_entries (
    -- One row per enqueue operation: what was typed or sent while Claude worked, and what became of it. A record that carries it
    -- has the same text.
    queue_entry_id integer primary key,
    event_id integer not null unique references events (event_id) deferrable initially deferred, -- the enqueue operation
    session_id text references sessions (session_id) deferrable initially deferred,
    message_id integer references messages (message_id) deferrable initially deferred, -- the message that carries it
    fate text not null check (fate in (
        'delivered', -- a prompt of its own after the turn
        'absorbed', -- by the running turn: an attachment, or a text beside a tool result
        'queue_only', -- by the running turn, and the queue is its only trace, as often before 2.1.97
        'removed', -- taken back by the person, or removed and never sent
        'undelivered', -- no record carries it, and nothing says that it was removed
        'copy' -- the same operation in another file, or in another version of the file
    )),
    prompt_kind text not null, -- one of prompt_kinds: who wrote it
    machine_kind text, -- as in messages
    command_name text, -- of a slash command, with the slash
    command_arguments text,
    queued_at text,
    text text -- what the person typed, where no message carries it; its first 1,000,000 characters
) strict;
create index queue_entries_by_session on queue_entries (session_id, fate);
create index queue_entries_by_message on queue_entries (message_id) where message_id is not null;

create table task_notifications (
    -- One row per notification about a background task, each time it was queued or delivered.
    task_notification_id integer primary key,
    message_id integer references messages (message_id) deferrable initially deferred, -- the message that delivers it
    event_id integer references events (event_id) deferrable initially deferred, -- the queue operation that contains it
    file_id integer not null references files (file_id) deferrable initially deferred,
    byte_offset integer not null, -- of the record
    position integer not null, -- in the record
    session_id text references sessions (session_id) deferrable initially deferred,
    background_task_id text, -- for agents the agentId
    tool_use_id text, -- the call that started the task, as written
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
    backup_name text, -- backupFileName; NULL if the file did not exist
    version integer,
    file_id integer references files (file_id) deferrable initially deferred, -- newest version of the copy; NULL if it is not in the database
    backed_up_at text, -- backupTime
    unique (event_id, file_path)
) strict;
create index file_backups_by_session on file_backups (session_id);
create index file_backups_by_file on file_backups (file_id) where file_id is not null;

-------------------------------------------------------------------------------------------------------------------
-- Files next to the transcripts
-------------------------------------------------------------------------------------------------------------------

create table history_prompts (
    -- One row per line of history.jsonl: text entered at the prompt, including drafts that were cleared.
    history_prompt_id integer primary key,
    file_id integer not null references files (file_id) deferrable initially deferred,
    line_number integer not null,
    byte_offset integer not null,
    message_id integer references messages (message_id) deferrable initially deferred, -- the message it became; NULL if none was found
    event_id integer references events (event_id) deferrable initially deferred, -- the queue operation, if only the queue has it
    session_id text references sessions (session_id) deferrable initially deferred, -- absent before about 2.0.60; its transcript may be deleted
    project_path text, -- project
    display text, -- the text, with placeholders for pasted content
    match_kind text check (match_kind in (
        'matched', -- its message or its queue operation is in the database
        'draft', -- its session has no such message: cleared, or a command that leaves no record
        'swept_or_draft' -- the main transcript of its session is not in the database; files of agents may be
    )),
    prompt_kind text, -- one of prompt_kinds: how it was typed; NULL for an empty line
    command_name text, -- of a slash command, with the slash
    command_arguments text,
    extra_json text, -- keys of the line without a column
    prompted_at text, -- timestamp
    unique (file_id, byte_offset)
) strict;
create index history_prompts_by_line on history_prompts (file_id, line_number);
create index history_prompts_by_session on history_prompts (session_id);
create index history_prompts_by_message on history_prompts (message_id) where message_id is not null;
create index history_prompts_by_event on history_prompts (event_id) where event_id is not null;
create index history_prompts_without_transcript on history_prompts (session_id, prompted_at) where match_kind = 'swept_or_draft';

create table pasted_contents (
    -- One row per item pasted into a prompt of history.jsonl.
    pasted_content_id integer primary key,
    history_prompt_id integer not null references history_prompts (history_prompt_id) deferrable initially deferred,
    paste_id integer references pastes (paste_id) on delete set null deferrable initially deferred, -- of a long text, its newest version; NULL if its file is missing
    paste_number integer not null, -- as in [Pasted text #1]
    kind text, -- type: text, image
    cache_name text, -- contentHash: the name of the file in paste-cache/
    media_type text, -- mediaType
    content text, -- of a short text; a long text is in pastes
    extra_json text,
    unique (history_prompt_id, paste_number)
) strict;
create index pasted_contents_by_paste on pasted_contents (paste_id) where paste_id is not null;
create index pasted_contents_by_name on pasted_contents (cache_name) where cache_name is not null;

create table pastes (
    -- One row per file in paste-cache/: a long pasted text.
    paste_id integer primary key,
    file_id integer not null unique references files (file_id) deferrable initially deferred,
    cache_name text not null, -- file name: the first 16 hex digits of the text's SHA-256
    content text -- NULL if it is not UTF-8
) strict;
create index pastes_by_name on pastes (cache_name);

create table todos (
    -- One row per item of a todo list under todos/, written by older versions.
    todo_id integer primary key,
    file_id integer not null references files (file_id) deferrable initially deferred,
    session_id text references sessions (session_id) deferrable initially deferred, -- from the file name
    agent_id text, -- from the file name; NULL for the session itself
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
    -- One row per task under tasks/, written by newer versions.
    task_id integer primary key,
    file_id integer not null unique references files (file_id) deferrable initially deferred,
    list_name text not null, -- a sessionId, or the name of a shared list
    task_number text, -- id: its number in the list
    subject text,
    description text,
    active_form text, -- activeForm
    status text,
    owner text,
    blocks_json text, -- numbers of the tasks that wait for this task
    blocked_by_json text, -- blockedBy: numbers of the tasks that this task waits for
    extra_json text
) strict;
create index tasks_by_list on tasks (list_name);

create table plans (
    -- One row per file under plans/.
    plan_id integer primary key,
    file_id integer not null unique references files (file_id) deferrable initially deferred,
    slug text not null, -- file name; the sessions that worked on the plan have the same slug
    content text -- NULL if it is not UTF-8
) strict;
create index plans_by_slug on plans (slug);

create table memory_notes (
    -- One row per note that Claude Code keeps about a project.
    memory_note_id integer primary key,
    file_id integer not null unique references files (file_id) deferrable initially deferred,
    name text not null, -- path relative to memory/
    content text -- NULL if it is not UTF-8
) strict;

create table tool_result_files (
    -- One row per tool output that was too large for its transcript and has its own file.
    tool_result_file_id integer primary key,
    file_id integer not null unique references files (file_id) deferrable initially deferred,
    session_id text references sessions (session_id) deferrable initially deferred, -- from the folder name
    name text not null, -- the same as tool_results.persisted_name of the result
    content text, -- NULL if it is not UTF-8 or larger than 64 MiB; the archive has the bytes
    byte_length integer not null
) strict;
create index tool_result_files_by_name on tool_result_files (session_id, name);

create table agent_metas (
    -- One row per agent-<id>.meta.json: what Claude Code recorded about an agent when it was spawned.
    agent_meta_id integer primary key,
    file_id integer not null unique references files (file_id) deferrable initially deferred,
    session_id text not null references sessions (session_id) deferrable initially deferred, -- from the folder name
    agent_id text not null, -- from the file name
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
    -- One row per workflows/wf_<run>.json: a workflow that has ended.
    workflow_run_id integer primary key,
    file_id integer not null unique references files (file_id) deferrable initially deferred,
    session_id text not null references sessions (session_id) deferrable initially deferred, -- from the folder name
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
    -- One row per session listed in sessions-index.json or a custom-title.json, even if its transcript is deleted.
    session_hint_id integer primary key,
    file_id integer not null references files (file_id) deferrable initially deferred,
    position integer not null,
    session_id text references sessions (session_id) deferrable initially deferred, -- sessionId
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

create table session_facets (
    -- One row per file of usage-data/facets/: what /insights had a model say about a session. The words are the model's
    -- judgement, not the person's. The file may outlive the transcript.
    session_facet_id integer primary key,
    file_id integer not null unique references files (file_id) deferrable initially deferred,
    session_id text not null references sessions (session_id) deferrable initially deferred, -- from the file name
    underlying_goal text,
    goal_categories_json text, -- goal_categories: category -> count
    outcome text, -- fully_achieved, mostly_achieved, partially_achieved, not_achieved, ...
    user_satisfaction_counts_json text, -- user_satisfaction_counts: satisfied, frustrated, ... -> count
    claude_helpfulness text,
    session_type text, -- single_task, multi_task, exploration, ...
    friction_counts_json text, -- friction_counts: misunderstood_request, buggy_code, ... -> count
    friction_detail text,
    primary_success text,
    brief_summary text,
    extra_json text
) strict;
create index session_facets_by_session on session_facets (session_id);

create table session_metas (
    -- One row per file of usage-data/session-meta/: figures that /insights computed about a session. Not deduplicated, so
    -- its tokens count a response once per line, and possibly stale: it is not updated when the session goes on. For
    -- figures to rely on, see session_overview and session_costs.
    session_meta_id integer primary key,
    file_id integer not null unique references files (file_id) deferrable initially deferred,
    session_id text not null references sessions (session_id) deferrable initially deferred, -- from the file name
    project_path text,
    first_prompt text,
    tool_counts_json text, -- tool_counts: tool -> calls
    tool_error_categories_json text, -- tool_error_categories: category -> errors
    extra_json text, -- languages, response times, features used, ...
    duration_minutes integer,
    user_message_count integer,
    assistant_message_count integer,
    interruption_count integer, -- user_interruptions
    tool_error_count integer, -- tool_errors
    git_commit_count integer, -- git_commits
    git_push_count integer, -- git_pushes
    changed_file_count integer, -- files_modified
    lines_added integer,
    lines_removed integer,
    input_tokens integer,
    output_tokens integer,
    started_at text -- start_time
) strict;
create index session_metas_by_session on session_metas (session_id);

create table usage_statistics (
    -- One row per figure in stats-cache.json: of a day, of a model on a day, of a model, or of all. The file outlives the
    -- transcripts; its output tokens have the errors of the versions that wrote them.
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
    cost_usd real, -- as computed by Claude Code
    unique (file_id, scope, activity_date, model)
) strict;

-------------------------------------------------------------------------------------------------------------------
-- Usage and money
-------------------------------------------------------------------------------------------------------------------

create table api_responses (
    -- One row per API response, no matter how many lines and files repeat it. All numbers come from one of its lines: outside
    -- a sidechain if possible, then the line with the most output tokens, then the most tokens, then the last.
    api_response_id integer primary key,
    api_message_id text not null, -- message.id; without one the uuid of the line, or a hash of it; for an advisor followed by '#' and a number
    id_scope text not null, -- scope of api_message_id: '' if unique; for gateways 'request:' and requestId, or 'run:' and the first line
    parent_api_response_id integer references api_responses (api_response_id) deferrable initially deferred, -- of an advisor: the response that asked it
    message_id integer references messages (message_id) deferrable initially deferred, -- of the earliest line
    session_id text references sessions (session_id) deferrable initially deferred, -- of the earliest line
    agent_run_id integer references agents (agent_run_id) deferrable initially deferred, -- of the earliest line
    kind text not null check (kind in ('message', 'advisor')), -- an advisor is asked within a response and has its own model
    request_id text, -- requestId
    model text, -- as written
    service_tier text,
    speed text,
    inference_geo text,
    stop_reason text, -- from any of its lines
    usage_quality text check (usage_quality in (
        'final', -- the numbers are reliable
        'suspect', -- no line has a stop reason, and the output is tiny or the version known for placeholders
        'placeholder' -- far fewer output tokens than text: the true number is not on disk
    )), -- of output_tokens; most are placeholders from 2.1.9 to 2.1.52
    input_tokens integer, -- uncached input
    output_tokens integer, -- as recorded, thinking included
    estimated_output_tokens integer, -- visible_char_count / 3.4, where the quality is not final and the thinking is recorded
    cache_write_tokens integer, -- all cache writes
    cache_write_5m_tokens integer,
    cache_write_1h_tokens integer,
    cache_read_tokens integer,
    thinking_tokens integer,
    web_search_count integer, -- as recorded, else the sum over its WebSearch calls
    visible_char_count integer, -- characters of its text, thinking and tool inputs
    line_count integer, -- lines that repeat it
    recorded_cost_usd real, -- costUSD, written by versions up to 1.0.3
    responded_at text, -- time of the earliest line
    unique (api_message_id, id_scope, kind)
) strict;
create index api_responses_by_session on api_responses (session_id, responded_at);
create index api_responses_by_agent on api_responses (agent_run_id) where agent_run_id is not null;
create index api_responses_by_message on api_responses (message_id);
create index api_responses_by_parent on api_responses (parent_api_response_id) where parent_api_response_id is not null;
create index api_responses_by_time on api_responses (responded_at, model);

create table usage_lines (
    -- One row per line with usage, with the numbers of that line.
    usage_line_id integer primary key,
    api_response_id integer not null references api_responses (api_response_id) deferrable initially deferred,
    message_id integer references messages (message_id) deferrable initially deferred, -- the line is this message or a copy of it
    event_id integer references events (event_id) deferrable initially deferred, -- the line is this event, if it has no uuid
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
        'same_request', -- another line of the same request, if the id is unique only within it
        'same_run', -- another line of the same run, if the id is unique only within it
        'same_file_replay', -- a copy of a message in the same file
        'resume_copy', -- another file
        'fork_copy', -- another file, with forkedFrom
        'sidechain_replay', -- a sidechain that repeats its parent conversation
        'rewritten_file', -- another generation of the same file
        'progress_echo' -- an agent's line inside a progress record of its parent
    )), -- why the line is not counted; NULL if it is
    run_uuid text, -- uuid of the line, if its response is a run of lines (api_responses.id_scope)
    extra_json text, -- keys of usage without a column
    input_tokens integer,
    output_tokens integer,
    cache_write_tokens integer, -- the larger of the total and the sum of its split
    cache_write_5m_tokens integer,
    cache_write_1h_tokens integer,
    cache_read_tokens integer,
    thinking_tokens integer,
    web_search_count integer,
    visible_char_count integer, -- characters of the line's text, thinking and tool inputs
    recorded_cost_usd real, -- costUSD
    is_progress integer not null check (is_progress in (0, 1)), -- inside a progress record
    is_sidechain integer not null check (is_sidechain in (0, 1)),
    is_fork integer not null check (is_fork in (0, 1)), -- the line has forkedFrom
    is_counted integer not null check (is_counted in (0, 1)), -- 1 if this line gives the numbers of its response
    sent_at text,
    unique (file_id, byte_offset)
) strict;
create index usage_lines_by_response on usage_lines (api_response_id);
create index usage_lines_by_message on usage_lines (message_id);
create index usage_lines_by_event on usage_lines (event_id) where event_id is not null;
create index usage_lines_by_run on usage_lines (run_uuid) where run_uuid is not null;
create index usage_lines_by_session on usage_lines (session_id);
create index usage_lines_by_agent on usage_lines (agent_run_id) where agent_run_id is not null;

create table model_prices (
    -- One row per price of a model from a day on, in USD per million tokens. Rows of the user override built-in rows.
    model_price_id integer primary key,
    model text not null, -- as in model_aliases: model, regional_model or model_name
    valid_from text not null, -- first day; the first row of a model also applies to earlier responses
    origin text not null check (origin in ('builtin', 'user')),
    source text not null, -- where the price is published
    input_usd real not null,
    output_usd real not null,
    cache_write_5m_usd real,
    cache_write_1h_usd real,
    cache_read_usd real,
    long_context_tokens integer, -- if a request has more input tokens, cached ones included, all of it has the long_ prices
    long_input_usd real,
    long_output_usd real,
    long_cache_write_5m_usd real,
    long_cache_write_1h_usd real,
    long_cache_read_usd real,
    fast_multiplier real, -- of all token prices if speed = fast; NULL if the model has no such mode
    us_multiplier real, -- of all token prices if inference_geo = us
    batch_multiplier real not null, -- of all token prices if service_tier = batch
    web_search_usd real not null, -- per search
    checked_on text not null, -- day on which the source was last read
    unique (model, valid_from, origin)
) strict;

create table model_aliases (
    -- One row per model name as written, with the name that its price is stored under.
    model_name text not null primary key, -- as written, with provider, date and suffix
    model text not null, -- without provider, date and suffix
    regional_model text, -- the same after the region of Bedrock or Vertex AI that the name gives, such as us.anthropic.
    origin text not null check (origin in ('builtin', 'user')) -- 'builtin' rows are computed
) strict;

-------------------------------------------------------------------------------------------------------------------
-- Vocabulary: outcomes, prompt kinds, and editable words
-------------------------------------------------------------------------------------------------------------------

create table outcomes (
    -- One row per way a tool call can end. Every sync restores the rows of sql/words.sql.
    outcome text not null primary key,
    outcome_group text not null check (outcome_group in ('ok', 'error', 'denied', 'stopped', 'pending', 'other')),
    meaning text not null,
    is_timed integer not null check (is_timed in (0, 1)) -- the tool ran to its end, so the duration of the call is that of the tool
) strict;

create table prompt_kinds (
    -- One row per kind of text in a user record: who wrote it. Every sync restores the rows of sql/words.sql.
    prompt_kind text not null primary key,
    meaning text not null,
    is_typed integer not null check (is_typed in (0, 1)), -- by the person at the keyboard
    is_prompt integer not null check (is_prompt in (0, 1)), -- typed, or sent by a program in place of the person
    is_turn_start integer not null check (is_turn_start in (0, 1)) -- Claude responds to it
) strict;

create table trivial_texts (
    -- One row per text that carries no information: the view `feedback` flags it. Add your own; is_used = 0 disables a row.
    trivial_text text not null primary key, -- lower case, without commas, and without punctuation around it
    language text not null default 'en', -- ISO 639-1
    is_used integer not null check (is_used in (0, 1)) -- 0 disables the row
) strict;

create table correction_phrases (
    -- One row per phrase by which the view `feedback` recognizes prompts that correct the response before them. Add your own
    -- rows; is_used = 0 disables a row.
    correction_phrase text not null, -- lower case, without commas; the next character must not be one of a to z
    role text not null default 'opening' check (role in (
        'opening', -- a correction opens with it, after words that are fillers
        'problem', -- a statement that has it near its beginning or its end is a correction; a request is none
        'hint', -- a statement with three of these or of the problems is a correction
        'request', -- a prompt that opens with it is no statement
        'filler', -- says nothing at the beginning of a prompt
        'excuse' -- the person corrects themselves
    )),
    language text not null default 'en', -- ISO 639-1
    is_used integer not null check (is_used in (0, 1)), -- 0 disables the row
    primary key (role, correction_phrase)
) strict;

create table command_patterns (
    -- One row per beginning of a command that is known to be harmless, or too powerful to allow: the view `command_permissions` takes
    -- the longest that fits. Add your own rows; is_used = 0 disables a row.
    command_pattern text not null primary key, -- whole words, at most three
    verdict text not null check (verdict in (
        'any arguments', -- tests, builds, formats or shows, whatever its arguments
        'exact', -- harmless only as it is: its arguments can write files
        'never' -- runs other code, or deletes, sends or changes what cannot be undone
    )),
    is_used integer not null check (is_used in (0, 1)) -- 0 disables the row
) strict;

-------------------------------------------------------------------------------------------------------------------
-- Budgets and limits
-------------------------------------------------------------------------------------------------------------------

create table budgets (
    -- One row per budget that `cc-etl budget set` stored.
    budget_id integer primary key,
    project text not null, -- projects.name; '' for all projects together
    period text not null check (period in ('day', 'week', 'month')), -- of local days; a week begins on Monday
    limit_usd real not null check (limit_usd > 0),
    unique (project, period)
) strict;

create table limit_samples (
    -- One row per value of a limit of the account that Claude Code's status line showed, since 2.1.80. `cc-etl statusline` records
    -- them, and the next sync imports them; no transcript has them.
    limit_sample_id integer primary key,
    limit_name text not null, -- a key of rate_limits: five_hour, seven_day
    used_percentage real not null, -- of the limit; above 100 if it is exceeded
    resets_at text not null, -- end of the period of the limit, to the minute
    sampled_at text not null, -- when it was seen first; sessions that wait go on showing earlier values
    unique (limit_name, resets_at, used_percentage)
) strict;

-------------------------------------------------------------------------------------------------------------------
-- Local time
-------------------------------------------------------------------------------------------------------------------

-- Times are UTC. Days and hours (`*_date`, and hours in queries) are local: those of the time zone of the database, which
-- `cc-etl config time-zone` sets. A time becomes a local one by one expression, the same in all views and queries:
--
--     datetime(sent_at, (
--         select utc_offset from time_zone_offsets where begins_at <= sent_at order by begins_at desc limit 1
--     ))
--
-- date() instead of datetime() gives the day.

create table time_zone_offsets (
    -- One row per period in which the time zone of the database has one offset from UTC, to the end of the year 2100.
    begins_at text not null primary key, -- the period ends where the next one begins
    utc_offset text not null -- a modifier of SQLite's date functions, like +05:30
) without rowid, strict;

-------------------------------------------------------------------------------------------------------------------
-- For BI tools
-------------------------------------------------------------------------------------------------------------------

-- Small tables with the figures of the views in declared types: over ODBC and JDBC a view's computed column has no type, a
-- 32-bit INTEGER overflows, and times with T and Z break filters. So these tables are not strict. Times are TIMESTAMP
-- like 2026-01-31 09:15:00.000 (UTC): JDBC reads a DATETIME as a day, and both drivers compare with text that has
-- milliseconds, so 09:15:00 without them would sort before 09:15:00.000. Grafana needs seconds since 1970 (*_unix). Unknown
-- values of key columns are ''. `sync` and `prices import` update these tables. The only conversation text in them is the
-- titles of sessions.

create table bi_session_days (
    -- One row per session, day, model and machine: tokens and cost.
    session_id TEXT not null, -- '' if the response has none
    activity_date DATE, -- local; NULL if no line has a time
    model TEXT not null,
    machine TEXT not null, -- of the session; without a session, that recorded the response
    project TEXT not null,
    response_count BIGINT not null, -- API responses
    input_tokens BIGINT not null,
    output_tokens BIGINT not null, -- as recorded
    estimated_output_tokens BIGINT not null, -- with estimates for placeholders
    cache_write_tokens BIGINT not null,
    cache_read_tokens BIGINT not null,
    web_search_count BIGINT not null,
    unpriced_count BIGINT not null, -- responses without a known price
    cost_usd DOUBLE, -- NULL if no price is known
    estimated_cost_usd DOUBLE, -- with estimates for placeholders
    agent_cost_usd DOUBLE, -- the part of cost_usd spent by sub-agents
    primary key (session_id, activity_date, model, machine)
);
create index bi_session_days_by_date on bi_session_days (activity_date);

create table bi_days (
    -- One row per day, model, project and machine: tokens and cost.
    activity_date DATE, -- local; NULL if no line has a time
    model TEXT not null,
    project TEXT not null,
    machine TEXT not null,
    session_count BIGINT not null, -- sessions with a response on that day
    response_count BIGINT not null, -- API responses
    input_tokens BIGINT not null,
    output_tokens BIGINT not null, -- as recorded
    estimated_output_tokens BIGINT not null, -- with estimates for placeholders
    cache_write_tokens BIGINT not null,
    cache_read_tokens BIGINT not null,
    web_search_count BIGINT not null,
    unpriced_count BIGINT not null, -- responses without a known price
    cost_usd DOUBLE, -- NULL if no price is known
    estimated_cost_usd DOUBLE, -- with estimates for placeholders
    agent_cost_usd DOUBLE, -- the part of cost_usd spent by sub-agents
    day_began_at TIMESTAMP, -- activity_date, for tools that need a time
    day_began_unix BIGINT, -- activity_date in seconds since 1970
    primary key (activity_date, model, project, machine)
);

create table bi_tools (
    -- One row per session, day, tool, type of agent that called it, and machine.
    session_id TEXT not null, -- '' if the call has none
    activity_date DATE, -- local, of the call
    tool_name TEXT not null,
    agent_type TEXT not null, -- '' for the session itself
    mcp_server TEXT, -- NULL for a built-in tool
    project TEXT not null,
    machine TEXT not null,
    call_count BIGINT not null,
    ok_count BIGINT not null,
    error_count BIGINT not null, -- errors, timeouts and invalid input
    denied_count BIGINT not null, -- by the person, a rule or a hook
    stopped_count BIGINT not null, -- interrupted or cancelled
    pending_count BIGINT not null, -- without a result
    other_count BIGINT not null, -- moved to the background, or with an unknown end
    timed_count BIGINT not null, -- calls that ran to their end with a known duration
    duration_ms BIGINT not null, -- total of the timed calls
    result_bytes BIGINT not null,
    is_mcp BOOLEAN not null check (is_mcp in (0, 1)),
    day_began_at TIMESTAMP, -- activity_date, for tools that need a time
    day_began_unix BIGINT, -- activity_date in seconds since 1970
    primary key (session_id, activity_date, tool_name, agent_type, machine)
);
create index bi_tools_by_date on bi_tools (activity_date);

create table bi_feedback (
    -- One row per signal from the person; the view `feedback` has the text.
    session_id TEXT not null,
    signal_number BIGINT not null, -- in the session, from 1
    kind TEXT not null, -- denial, interruption, plan_rejected, answer, correction, queued_prompt, prompt
    tool_name TEXT, -- of the call it refers to
    tool_use_id TEXT,
    model TEXT, -- that it refers to
    agent_type TEXT,
    git_branch TEXT,
    project TEXT not null,
    machine TEXT not null,
    text_length BIGINT not null, -- characters typed by the person, at most 1,000,000
    is_trivial BOOLEAN not null check (is_trivial in (0, 1)),
    said_date DATE, -- local
    said_at TIMESTAMP,
    said_unix BIGINT, -- said_at in seconds since 1970
    primary key (session_id, signal_number)
);
create index bi_feedback_by_time on bi_feedback (said_at);

create table bi_sessions (
    -- One row per session, its agents included.
    session_id TEXT not null primary key,
    project TEXT not null,
    machine TEXT not null, -- that recorded its first message
    title TEXT,
    git_branch TEXT,
    version TEXT, -- of Claude Code
    entrypoint TEXT,
    main_model TEXT, -- the model with the highest cost
    message_count BIGINT not null,
    prompt_count BIGINT not null, -- everything the person said, by any means
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
    unpriced_count BIGINT not null, -- responses without a known price
    duration_s BIGINT, -- from its first to its last message
    cost_usd DOUBLE, -- NULL if no price is known
    estimated_cost_usd DOUBLE, -- with estimates for placeholders
    is_background BOOLEAN not null check (is_background in (0, 1)),
    started_at TIMESTAMP,
    started_unix BIGINT, -- started_at in seconds since 1970
    ended_at TIMESTAMP,
    ended_unix BIGINT -- ended_at in seconds since 1970
);
create index bi_sessions_by_start on bi_sessions (started_at);

-------------------------------------------------------------------------------------------------------------------
-- Partial results for the BI tables
-------------------------------------------------------------------------------------------------------------------

-- Sync computes only the changed parts of a session again, however long the session is. A part is 256 consecutive integer keys, so
-- these tables differ between databases.

create table _response_parts (
    -- One row per part, session, day and model, without a session also per machine: tokens and cost, summed into
    -- bi_session_days.
    part_number integer not null, -- api_response_id / 256
    session_id text not null, -- '' if the response has none
    model text not null,
    machine text not null, -- '' if the response has a session
    response_count integer not null,
    input_tokens integer not null,
    output_tokens integer not null,
    estimated_output_tokens integer not null,
    cache_write_tokens integer not null,
    cache_read_tokens integer not null,
    web_search_count integer not null,
    unpriced_count integer not null,
    cost_units real, -- 1e-10 USD: sums of whole numbers do not depend on the order
    estimated_cost_units real,
    agent_cost_units real,
    activity_date text,
    unique (part_number, session_id, activity_date, model, machine)
) strict;
create index response_parts_by_session on _response_parts (session_id);

create table _tool_parts (
    -- One row per part, session, day, tool and agent, without a session also per machine: calls, summed into bi_tools.
    part_number integer not null, -- message_id / 256
    session_id text not null, -- '' if the call has none
    machine text not null, -- '' if the call has a session
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
    unique (part_number, session_id, machine, activity_date, tool_name, agent_run_id)
) strict;
create index tool_parts_by_session on _tool_parts (session_id);

create table _file_change_parts (
    -- One row per part, session and changed file, summed into bi_sessions.
    part_number integer not null, -- message_id / 256
    session_id text not null,
    file_path text not null,
    lines_added integer,
    lines_removed integer,
    unique (part_number, session_id, file_path)
) strict;
create index file_change_parts_by_session on _file_change_parts (session_id);

create table _correction_reasons (
    -- One row per message of a session with a prompt that is not trivial: why its words make it a correction. It depends only on the
    -- text and the phrases; a prompt without a row is judged by the view _judged_prompts, which reads this table.
    message_id integer primary key references messages (message_id) deferrable initially deferred,
    correction_reason text -- NULL if they do not
) strict;

-------------------------------------------------------------------------------------------------------------------
-- Search
-------------------------------------------------------------------------------------------------------------------

create table settings (
    -- One row per setting of the whole database.
    setting text not null primary key, -- index_tool_output, time_zone, refreshed_with, derived_with, judged_with
    value text not null -- time_zone: a name of the tz database; refreshed_with: hash of the built-in prices and
    -- words; derived_with: hash of prices, words, scripts and views; judged_with: the phrases that corrections were found by
) strict;

create table _other_texts (
    -- One row per searchable text outside of messages: a queued prompt, a line of history.jsonl, the titles of a session.
    text_id integer primary key, -- negative; the key of any other text is its block_id
    kind text not null check (kind in ('queued_prompt', 'history', 'title')),
    session_id text, -- NULL for old lines of history.jsonl
    event_id integer references events (event_id) deferrable initially deferred, -- the queue operation
    history_prompt_id integer references history_prompts (history_prompt_id) deferrable initially deferred,
    text text not null, -- truncated to 1,000,000 characters
    unique (kind, session_id, event_id, history_prompt_id)
) strict;
create unique index _other_texts_by_event on _other_texts (event_id) where event_id is not null;
create unique index _other_texts_by_history_prompt on _other_texts (history_prompt_id) where history_prompt_id is not null;

-- Full-text index of everything that the person said or was told: `where search match 'words'`; rowid is text_id of the view
-- _search_texts, which is content_blocks.block_id for text in messages. The text is not stored twice: FTS5 reads it from that
-- view, which truncates it to 1,000,000 characters.
create virtual table search using fts5 (
    text, content="_search_texts", content_rowid="text_id", tokenize="unicode61 remove_diacritics 2"
);
