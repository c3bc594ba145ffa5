delete from touched_sessions;
delete from touched_responses;
delete from touched_tool_uses;
delete from touched_changes;
