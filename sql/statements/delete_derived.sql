-- Empties everything that is derived from the archive. A test sees to it that no table is forgotten here.
delete from rejected_lines;
delete from unknown_kinds;
delete from sessions;
delete from agents;
delete from messages;
delete from message_copies;
delete from content_blocks;
delete from tool_uses;
delete from tool_use_copies;
delete from tool_results;
delete from events;
delete from file_backups;
delete from history_prompts;
delete from api_responses;
delete from usage_lines;
update projects set path = null, name = directory_name;
