-- Days known only from the history
-- How to read: prompts whose transcripts were deleted before they could be imported.
-- Group: data
-- Bar: prompt_count
select prompt_date, project_path, sum(prompt_count) as prompt_count, count(distinct session_id) as session_count
from history_coverage
where is_only_in_history
group by prompt_date, project_path
order by prompt_date, project_path;
