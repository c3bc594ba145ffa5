-- Failures of the API
-- How to read: failed requests to the API: retries, and errors that Claude Code showed.
-- Group: tools
-- Bar: error_count
select failed_date, kind, error, status_code, count(*) as error_count, max(message) as example
from api_errors
group by failed_date, kind, error, status_code
order by failed_date desc, error_count desc, kind, error, status_code;
