-- Notes whatever changes in rows that are counted, whoever changes it. New messages and responses are known by their keys.
create temp trigger if not exists message_updated
after update of file_id, session_id, agent_key, prompt_kind, cwd, git_branch, version, entrypoint, slug, sent_at on messages
begin
    insert or ignore into touched_messages (message_id) values (new.message_id);
end;

create temp trigger if not exists tool_use_inserted
after insert on tool_uses
begin
    insert or ignore into touched_messages (message_id) values (new.message_id);
end;

create temp trigger if not exists tool_use_updated
after update on tool_uses
begin
    insert or ignore into touched_messages (message_id) values (old.message_id), (new.message_id);
end;

create temp trigger if not exists tool_use_deleted
after delete on tool_uses
begin
    insert or ignore into touched_messages (message_id) values (old.message_id);
end;

create temp trigger if not exists tool_result_updated
after update on tool_results
begin
    insert or ignore into touched_messages (message_id)
    select message_id from tool_uses where tool_use_id = new.tool_use_id;
end;

create temp trigger if not exists file_change_inserted
after insert on file_changes
begin
    insert or ignore into touched_messages (message_id)
    select message_id from tool_uses where tool_use_id = new.tool_use_id;
end;

create temp trigger if not exists file_change_deleted
after delete on file_changes
begin
    insert or ignore into touched_messages (message_id)
    select message_id from tool_uses where tool_use_id = old.tool_use_id;
end;

create temp trigger if not exists response_updated
after update on api_responses
begin
    insert or ignore into changed_responses (api_response_id) values (new.api_response_id);
end;

create temp trigger if not exists response_deleted
after delete on api_responses
begin
    insert or ignore into changed_responses (api_response_id) values (old.api_response_id);
end;
