-- Compactions
-- How to read: tokens before and after the compaction, and its duration.
-- Group: cache
-- Bar: tokens_before
select compactions.compacted_at, projects.name as project, sessions.title, compactions.kind, compactions.trigger,
    compactions.tokens_before, compactions.tokens_after, compactions.duration_ms, compactions.session_id
from compactions
left join sessions on sessions.session_id = compactions.session_id
left join projects on projects.project_id = sessions.project_id
order by
    compactions.compacted_at desc, compactions.session_id, compactions.kind, compactions.trigger, compactions.tokens_before,
    compactions.tokens_after, compactions.duration_ms;
