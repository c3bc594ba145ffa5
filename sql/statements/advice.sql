-- name: rank_advice
-- What could be saved
-- How to read: findings with an example: the call or response at a line of a transcript. cost_usd is what the waste cost, where that is known; then those without a cost, by their number. question is what to ask to see more.
-- Group: waste
-- :since first_day - first local day, like 2026-09-01; all days without it
-- :until last_day - last local day; all days without it
-- :project - name of a project or a part of it; all projects without it
-- :limit number - rows to show; 20 without it
-- Bar: cost_usd
with findings as (
    -- Every file of sql/advice
)

select
    findings.finding,
    findings.evidence,
    findings.advice,
    findings.cost_usd,
    findings.occurrence_count,
    substr(findings.example, 1, 300) as example,
    messages.session_id,
    files.path,
    messages.line_number,
    findings.question
from findings
left join messages on messages.message_id = findings.message_id
left join files on files.file_id = messages.file_id
order by findings.cost_usd desc nulls last, findings.occurrence_count desc, findings.finding
limit coalesce(nullif(:limit, ''), 20);
