create view _used_phrases as
-- One row per database: the phrases that corrections are found by, as one text.
select coalesce(group_concat(role || ' ' || correction_phrase, char(10)), '') as phrases
from (
    select role, correction_phrase
    from correction_phrases
    where is_used
    order by role, correction_phrase
);
