create view _interrupt_marks as
-- One row per interrupt mark: the record that it follows in its thread, and the call that was stopped.
-- The walk does not leave the session, so every change along the way touches that session.
with recursive steps as (
    select message_id as mark_id, parent_message_id as message_id, 1 as step
    from messages indexed by messages_by_prompt
    where prompt_kind = 'interrupt'
    union all
    -- Skip records that Claude Code generates in between. A cycle of parents ends the walk.
    select steps.mark_id, messages.parent_message_id, steps.step + 1
    from steps
    cross join messages using (message_id)
    cross join messages as marks on marks.message_id = steps.mark_id
    where steps.step < 100
        and messages.session_id is marks.session_id
        and (
            messages.type not in ('user', 'assistant')
            or messages.prompt_kind in ('machine', 'interrupt')
            or messages.model = '<synthetic>'
        )
),

-- The last step is the longest walk.
followed as (
    select mark_id, message_id as followed_message_id, max(step) as step
    from steps
    group by mark_id
),

marks as (
    select
        followed.mark_id, followed.followed_message_id, marks.session_id, marks.agent_run_id, marks.git_branch, marks.sent_at,
        (
            select content_blocks.text like '%for tool use]%'
            from content_blocks
            where content_blocks.message_id = followed.mark_id and content_blocks.part_number = 0
            order by content_blocks.position
            limit 1
        ) as is_of_tool,
        (
            select tool_results.tool_result_id
            from tool_results
            join content_blocks using (block_id)
            where tool_results.message_id = followed.followed_message_id
            order by content_blocks.position desc
            limit 1
        ) as tool_result_id,
        -- A call without a result. The lines of a response are consecutive.
        (
            select tool_uses.tool_use_id
            from tool_uses
            join content_blocks using (block_id)
            where tool_uses.message_id = followed.followed_message_id and tool_uses.tool_result_id is null
            order by content_blocks.position desc
            limit 1
        ) as pending_tool_use_id
    from followed
    cross join messages as marks on marks.message_id = followed.mark_id
)

select
    marks.mark_id as message_id,
    marks.session_id,
    marks.agent_run_id,
    marks.tool_result_id, -- the preceding result
    -- The stopped call. Without "for tool use" the person stopped the response to a result, unless the command was killed.
    case
        when marks.is_of_tool
            or tool_results.exit_code = 137
            or tool_results.outcome in ('user_rejected', 'interrupted')
            then tool_results.tool_use_id
        when marks.tool_result_id is null then marks.pending_tool_use_id
    end as tool_use_id,
    -- The response that was stopped or made the call. If it left no line, the model is that of the response before it or, after
    -- the first prompt, of the next one.
    coalesce(
        (select tool_uses.message_id from tool_uses where tool_uses.tool_use_id = tool_results.tool_use_id),
        case when followed.type = 'assistant' then followed.message_id end,
        (
            select messages.message_id
            from messages
            where messages.session_id = marks.session_id
                and messages.sent_at < marks.sent_at
                and messages.type = 'assistant'
                and messages.model <> '<synthetic>'
                and messages.agent_run_id is marks.agent_run_id
            order by messages.sent_at desc, messages.uuid desc
            limit 1
        ),
        (
            select messages.message_id
            from messages
            where messages.session_id = marks.session_id
                and messages.sent_at >= marks.sent_at
                and messages.type = 'assistant'
                and messages.model <> '<synthetic>'
                and messages.agent_run_id is marks.agent_run_id
            order by messages.sent_at, messages.uuid
            limit 1
        )
    ) as about_message_id,
    -- The result says that the call failed, and the mark says why.
    coalesce(
        (marks.is_of_tool or tool_results.exit_code = 137)
        and (tool_results.outcome = 'error' or tool_results.interrupt_message_id is not null),
        0
    ) as is_stopped_call,
    -- The result already shows the interruption.
    coalesce(tool_results.outcome in ('user_rejected', 'interrupted'), 0) as is_repeated,
    marks.git_branch,
    marks.sent_at
from marks
left join tool_results on tool_results.tool_result_id = marks.tool_result_id
left join messages as followed on followed.message_id = marks.followed_message_id;
