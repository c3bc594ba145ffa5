-- Set the keys of references whose target has been imported since.
update messages indexed by messages_without_parent
set parent_message_id = (select parent.message_id from messages as parent where parent.uuid = messages.parent_uuid)
where parent_message_id is null
    and parent_uuid is not null
    and exists (select 1 from messages as parent where parent.uuid = messages.parent_uuid);

update messages
set logical_parent_message_id = (
    select parent.message_id from messages as parent where parent.uuid = messages.logical_parent_uuid
)
where logical_parent_message_id is null
    and logical_parent_uuid is not null
    and exists (select 1 from messages as parent where parent.uuid = messages.logical_parent_uuid);
