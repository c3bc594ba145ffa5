-- Without sessions of which only the judgement of /insights is known.
select *
from session_feedback
where signal_count > 0;
