create view import_accounting as
-- One row per version of a JSON Lines file: where its lines went. `difference` is 0 unless a line was lost:
-- lines = messages + copies + events + history prompts - glued records + rejected lines + blank lines.
with messages_of_files as (
    select file_id, count(*) as message_count, count(distinct line_number) as line_count
    from messages
    group by file_id
),

others as (
    select file_id, line_number, 'copy' as kind from message_copies
    union all
    select file_id, line_number, 'event' from events
    union all
    select file_id, line_number, 'history' from history_prompts
),

lines_with_others as (
    select
        file_id,
        line_number,
        count(*) as record_count,
        sum(kind = 'copy') as copy_count,
        sum(kind = 'event') as event_count,
        sum(kind = 'history') as history_prompt_count,
        exists (
            select 1
            from messages
            where messages.file_id = others.file_id and messages.line_number = others.line_number
        ) as has_message
    from others
    group by file_id, line_number
),

others_of_files as (
    select
        file_id,
        sum(copy_count) as copy_count,
        sum(event_count) as event_count,
        sum(history_prompt_count) as history_prompt_count,
        sum(record_count - 1 + has_message) as glued_count
    from lines_with_others
    group by file_id
),

recorded as (
    select
        files.file_id,
        messages_of_files.message_count,
        others_of_files.copy_count,
        others_of_files.event_count,
        others_of_files.history_prompt_count,
        coalesce(messages_of_files.message_count - messages_of_files.line_count, 0)
            + coalesce(others_of_files.glued_count, 0) as glued_count
    from files
    left join messages_of_files using (file_id)
    left join others_of_files using (file_id)
),

rejected as (
    select
        rejected_lines.file_id,
        count(distinct rejected_lines.line_number) as rejected_line_count
    from rejected_lines
    where not exists (
        select 1
        from messages
        where messages.file_id = rejected_lines.file_id and messages.line_number = rejected_lines.line_number
    )
        and not exists (
            select 1
            from others
            where others.file_id = rejected_lines.file_id and others.line_number = rejected_lines.line_number
        )
    group by rejected_lines.file_id
)

select
    files.file_id,
    files.path,
    files.kind,
    files.generation,
    files.line_count,
    coalesce(recorded.message_count, 0) as message_count,
    coalesce(recorded.copy_count, 0) as copy_count,
    coalesce(recorded.event_count, 0) as event_count,
    coalesce(recorded.history_prompt_count, 0) as history_prompt_count,
    coalesce(recorded.glued_count, 0) as glued_count, -- records after the first one on a line
    coalesce(rejected.rejected_line_count, 0) as rejected_line_count, -- lines with only rejected parts
    files.blank_line_count,
    files.line_count
        - coalesce(recorded.message_count, 0)
        - coalesce(recorded.copy_count, 0)
        - coalesce(recorded.event_count, 0)
        - coalesce(recorded.history_prompt_count, 0)
        + coalesce(recorded.glued_count, 0)
        - coalesce(rejected.rejected_line_count, 0)
        - files.blank_line_count as difference
from files
left join recorded using (file_id)
left join rejected using (file_id)
where files.kind in ('session', 'agent', 'journal', 'transcript', 'history');
