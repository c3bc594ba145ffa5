create view queued_prompts as
-- One row per text that the person typed while Claude worked and that only the queue records, as often before 2.1.97.
select
    queue_entries.session_id,
    queue_entries.event_id,
    queue_entries.prompt_kind as kind,
    queue_entries.text,
    queue_entries.command_name,
    queue_entries.command_arguments,
    events.file_id,
    events.line_number,
    queue_entries.queued_at as said_at
from queue_entries
join events using (event_id)
where queue_entries.fate = 'queue_only'
    and queue_entries.prompt_kind in (select prompt_kind from prompt_kinds where is_typed);
