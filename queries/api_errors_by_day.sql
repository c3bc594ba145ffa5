-- Failures of the API
-- How to read: retries, and failures that were shown.
-- Bar: error_count
select substr(failed_at, 1, 10) as error_date, kind, error, status_code, count(*) as error_count, max(message) as example
from api_errors
group by error_date, kind, error, status_code
order by error_date desc, error_count desc, kind, error, status_code;
