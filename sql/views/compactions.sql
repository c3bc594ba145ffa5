create view compactions as
-- One row per compaction: a conversation was replaced by its summary, or parts of it were dropped.
select
    boundary.session_id,
    boundary.agent_run_id,
    boundary.message_id,
    boundary.logical_parent_message_id, -- the last message before it
    summary.message_id as summary_message_id,
    case boundary.subtype when 'microcompact_boundary' then 'micro' else 'full' end as kind,
    coalesce(
        json_extract(boundary.extra_json, '$.compactMetadata.trigger'),
        json_extract(boundary.extra_json, '$.microcompactMetadata.trigger')
    ) as trigger,
    coalesce(
        json_extract(boundary.extra_json, '$.compactMetadata.preTokens'),
        json_extract(boundary.extra_json, '$.microcompactMetadata.preTokens')
    ) as tokens_before,
    coalesce(
        json_extract(boundary.extra_json, '$.compactMetadata.postTokens'),
        json_extract(boundary.extra_json, '$.microcompactMetadata.preTokens')
            - json_extract(boundary.extra_json, '$.microcompactMetadata.tokensSaved')
    ) as tokens_after,
    json_extract(boundary.extra_json, '$.compactMetadata.durationMs') as duration_ms,
    (select _message_texts.text from _message_texts where _message_texts.message_id = summary.message_id) as summary,
    boundary.sent_at as compacted_at
from messages as boundary
left join messages as summary
    on summary.parent_message_id = boundary.message_id and summary.prompt_kind = 'compact_summary'
where boundary.subtype in ('compact_boundary', 'microcompact_boundary')

union all

-- Before 2.0.76 only the summary was written.
select
    summary.session_id, summary.agent_run_id, summary.message_id, summary.logical_parent_message_id, summary.message_id, 'full',
    null, null, null, null,
    (select _message_texts.text from _message_texts where _message_texts.message_id = summary.message_id),
    summary.sent_at
from messages as summary
left join messages as boundary on boundary.message_id = summary.parent_message_id
where summary.prompt_kind = 'compact_summary'
    and boundary.subtype is not 'compact_boundary';
