create view session_feedback as
-- One row per session with a signal from the person, or that /insights had a model judge; with that judgement.
with signals as (
    select
        session_id,
        max(project) as project,
        count(*) as signal_count,
        sum(kind = 'prompt') as prompt_count,
        sum(kind = 'correction') as correction_count,
        sum(kind = 'queued_prompt') as queued_prompt_count,
        sum(kind = 'denial') as denial_count,
        sum(kind = 'plan_rejected') as plan_rejected_count,
        sum(kind = 'interruption') as interruption_count,
        sum(kind = 'answer') as answer_count,
        sum(is_trivial) as trivial_count,
        min(said_at) as first_said_at,
        max(said_at) as last_said_at
    from feedback
    group by session_id
),

-- If several homes have one, always the same.
judgements as (
    select
        session_facets.*,
        row_number() over (
            partition by session_facets.session_id
            order by sources.machine_id, sources.root_path
        ) as place
    from session_facets
    join files using (file_id)
    join sources using (source_id)
    where files.is_current = 1
),

judged as (
    select *
    from judgements
    where place = 1
),

all_sessions as (
    select session_id from signals
    union
    select session_id from judged
)

select
    all_sessions.session_id,
    coalesce(signals.project, projects.name) as project,
    (select bi_sessions.machine from bi_sessions where bi_sessions.session_id = all_sessions.session_id) as machine,
    sessions.title,
    coalesce(signals.signal_count, 0) as signal_count,
    coalesce(signals.prompt_count, 0) as prompt_count,
    coalesce(signals.correction_count, 0) as correction_count,
    coalesce(signals.queued_prompt_count, 0) as queued_prompt_count,
    coalesce(signals.denial_count, 0) as denial_count,
    coalesce(signals.plan_rejected_count, 0) as plan_rejected_count,
    coalesce(signals.interruption_count, 0) as interruption_count,
    coalesce(signals.answer_count, 0) as answer_count,
    coalesce(signals.trivial_count, 0) as trivial_count,
    judged.underlying_goal,
    judged.outcome,
    judged.user_satisfaction_counts_json,
    judged.friction_counts_json,
    judged.friction_detail,
    judged.brief_summary,
    signals.first_said_at,
    signals.last_said_at
from all_sessions
left join signals on signals.session_id is all_sessions.session_id
left join judged on judged.session_id = all_sessions.session_id
left join sessions on sessions.session_id = all_sessions.session_id
left join projects on projects.project_id = sessions.project_id;
