delete from touched_sessions;
delete from touched_responses;
