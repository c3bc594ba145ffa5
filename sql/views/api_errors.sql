create view api_errors as
-- One row per failed API request: each retry, and each failure shown to the person.
select
    messages.session_id,
    messages.agent_run_id,
    messages.message_id,
    'retry' as kind,
    coalesce(
        json_extract(messages.extra_json, '$.error.error.error.type'),
        json_extract(messages.extra_json, '$.error.error.type'),
        json_extract(messages.extra_json, '$.error.connection.code')
    ) as error,
    json_extract(messages.extra_json, '$.error.status') as status_code,
    coalesce(
        json_extract(messages.extra_json, '$.error.error.error.message'),
        json_extract(messages.extra_json, '$.error.message')
    ) as message,
    json_extract(messages.extra_json, '$.retryAttempt') as retry_attempt,
    cast(round(json_extract(messages.extra_json, '$.retryInMs')) as integer) as retry_in_ms,
    messages.version,
    date(messages.sent_at, (
        select utc_offset from time_zone_offsets where begins_at <= messages.sent_at order by begins_at desc limit 1
    )) as failed_date, -- local
    messages.sent_at as failed_at
from messages
where messages.subtype = 'api_error'

union all

select
    messages.session_id,
    messages.agent_run_id,
    messages.message_id,
    'shown',
    messages.error,
    json_extract(messages.extra_json, '$.apiErrorStatus'),
    (select _message_texts.text from _message_texts where _message_texts.message_id = messages.message_id),
    null,
    null,
    messages.version,
    date(messages.sent_at, (
        select utc_offset from time_zone_offsets where begins_at <= messages.sent_at order by begins_at desc limit 1
    )),
    messages.sent_at
from messages
where messages.is_api_error = 1;
