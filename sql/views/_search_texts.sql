create view _search_texts as
-- One row per text that can be searched, with its kind: what the table `search` finds it by is `text`, the first 1,000,000
-- characters. This view alone decides what can be searched: the index is filled from it, and again when the view changes.
-- SQLite looks up a text by its key only if a column has the same affinity in all parts: that is what the casts are for.
select
    content_blocks.block_id as text_id,
    content_blocks.block_id,
    content_blocks.message_id,
    cast(null as integer) as event_id,
    cast(null as integer) as history_prompt_id,
    messages.session_id,
    cast(case
        when content_blocks.type = 'thinking' then 'thinking'
        when messages.type = 'assistant' then 'response'
        when coalesce(content_blocks.prompt_kind, messages.prompt_kind)
            in (select prompt_kind from prompt_kinds where is_prompt) then 'prompt'
        when messages.prompt_kind in ('agent_prompt', 'agent_message') then 'agent_prompt'
        else 'program'
    end as text) as kind,
    substr(content_blocks.text, 1, (select text_characters from _limits)) as text
from content_blocks
left join messages on messages.message_id = content_blocks.message_id
where content_blocks.text is not null

union all

-- Every string of the input of a call, but for the contents of the file that it changes.
select
    tool_uses.block_id, tool_uses.block_id, tool_uses.message_id, cast(null as integer), cast(null as integer),
    messages.session_id, cast('tool_input' as text),
    substr(coalesce((
        select group_concat(leaf.atom, char(10))
        from json_tree(tool_uses.input_json) as leaf
        where leaf.type = 'text'
            and (
                tool_uses.change_kind is null
                or leaf.key not in ('content', 'old_string', 'new_string', 'new_source')
            )
    ), ''), 1, (select text_characters from _limits))
from tool_uses
left join messages on messages.message_id = tool_uses.message_id

union all

-- What the person said in a result; with `sync --index-tool-output` all of it.
select
    tool_results.block_id, tool_results.block_id, tool_results.message_id, cast(null as integer), cast(null as integer),
    messages.session_id,
    cast(case
        when tool_results.denial_reason is not null then 'rejection'
        when tool_results.reply is not null then 'reply'
        else 'tool_result'
    end as text),
    substr(
        coalesce(tool_results.denial_reason || char(10), '')
            || coalesce(tool_results.reply || char(10), '')
            || case
                when exists (select 1 from settings where setting = 'index_tool_output')
                    then coalesce(tool_results.content, '')
                else ''
            end,
        1, (select text_characters from _limits)
    )
from tool_results
left join messages on messages.message_id = tool_results.message_id
where tool_results.denial_reason is not null
    or tool_results.reply is not null
    or exists (select 1 from settings where setting = 'index_tool_output')

union all

select
    text_id, cast(null as integer), cast(null as integer), event_id, history_prompt_id, session_id, cast(kind as text),
    substr(text, 1, (select text_characters from _limits))
from _other_texts;
