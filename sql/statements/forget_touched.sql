delete from touched_sessions;
delete from told_sessions;
delete from touched_responses;
delete from touched_tool_uses;
delete from touched_changes;
delete from touched_messages;
delete from changed_responses;
