-- The lines of a response, with what tells them apart.
select
    usage_lines.*, files.path, files.generation, sources.machine, sources.root_path, messages.version
from usage_lines
cross join files using (file_id)
cross join sources using (source_id)
cross join messages on messages.message_id = usage_lines.message_id
where usage_lines.api_response_id = ?1
