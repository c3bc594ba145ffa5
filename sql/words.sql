-- How a tool call can end. A new outcome needs a row here and its rule in src/normalize/outcome.rs.
insert into outcomes (outcome, outcome_group, is_timed, meaning)
values
    ('ok', 'ok', 1, 'did what it was asked'),
    ('error', 'error', 1, 'failed in any other way'),
    ('invalid_input', 'error', 0, 'the call made no sense'),
    ('timeout', 'error', 0, 'took too long'),
    ('user_rejected', 'denied', 0, 'the person said no'),
    ('permission_denied', 'denied', 0, 'a rule or a mode said no; never run'),
    ('hook_blocked', 'denied', 0, 'a hook said no'),
    ('security_blocked', 'denied', 0, 'Claude Code itself said no, for security'),
    ('interrupted', 'stopped', 0, 'the person stopped it while it ran'),
    ('cancelled', 'stopped', 0, 'a call in parallel failed'),
    ('pending', 'pending', 0, 'there is no result'),
    ('backgrounded', 'other', 0, 'goes on in the background'),
    ('unknown_outcome', 'other', 0, 'the session ended before the result was recorded')
on conflict (outcome) do update
set outcome_group = excluded.outcome_group, is_timed = excluded.is_timed, meaning = excluded.meaning
where (outcome_group, is_timed, meaning) is not (excluded.outcome_group, excluded.is_timed, excluded.meaning);

-- Who wrote the text of a user record. A new kind needs a row here and its rule in src/normalize/prompt.rs.
insert into prompt_kinds (prompt_kind, is_typed, is_prompt, is_turn_start, meaning)
values
    ('human', 1, 1, 1, 'typed or pasted by the person, or only an image'),
    ('slash_command', 1, 1, 1, 'typed by the person: command_name and command_arguments'),
    ('bash_command', 1, 1, 0, 'typed by the person after "!"'),
    ('memory_note', 1, 1, 0, 'typed by the person after "#"'),
    ('sdk_prompt', 0, 1, 1, 'by a program that drives Claude Code, or by a person with -p'),
    ('agent_prompt', 0, 0, 0, 'what an agent was told to do'),
    ('agent_message', 0, 0, 0, 'to an agent, from another one'),
    ('tool_result', 0, 0, 0, 'carries tool results; text of the person may follow them'),
    ('compact_summary', 0, 0, 0, 'what compaction left of the conversation'),
    ('interrupt', 0, 0, 0, 'the person stopped the turn'),
    ('machine', 0, 0, 0, 'written by the program in the person''s place: machine_kind')
on conflict (prompt_kind) do update
set
    is_typed = excluded.is_typed, is_prompt = excluded.is_prompt, is_turn_start = excluded.is_turn_start,
    meaning = excluded.meaning
where (is_typed, is_prompt, is_turn_start, meaning)
    is not (excluded.is_typed, excluded.is_prompt, excluded.is_turn_start, excluded.meaning);

-- Texts that say nothing by themselves, and beginnings that correct. Rows that a person switched off stay switched off.
insert or ignore into trivial_texts (trivial_text, is_used)
values
    ('y', 1), ('n', 1), ('yes', 1), ('no', 1), ('yes please', 1), ('no thanks', 1), ('yep', 1), ('yeah', 1), ('yup', 1),
    ('nope', 1), ('ok', 1), ('okay', 1), ('k', 1), ('kk', 1), ('sure', 1), ('fine', 1), ('right', 1), ('correct', 1),
    ('g', 1), ('go', 1), ('go on', 1), ('go ahead', 1), ('go for it', 1), ('do it', 1), ('yes do it', 1), ('do that', 1),
    ('continue', 1), ('yes continue', 1), ('please continue', 1), ('carry on', 1), ('keep going', 1), ('resume', 1),
    ('proceed', 1), ('please proceed', 1), ('next', 1), ('again', 1), ('retry', 1), ('try again', 1),
    ('thanks', 1), ('thank you', 1), ('thx', 1), ('ty', 1), ('great', 1), ('good', 1), ('nice', 1), ('perfect', 1),
    ('cool', 1), ('awesome', 1), ('excellent', 1), ('lgtm', 1), ('looks good', 1), ('all good', 1), ('sounds good', 1),
    ('ok lets', 1), ('ok let''s', 1), ('ok go', 1), ('ok do it', 1), ('ok continue', 1), ('ok thanks', 1), ('lets go', 1),
    ('let''s go', 1), ('lets do it', 1), ('let''s do it', 1), ('yes let''s do it', 1), ('yes lets do it', 1),
    ('yeah let''s do it', 1), ('yeah lets do it', 1), ('yeah do it', 1), ('yep do it', 1), ('yes go ahead', 1),
    ('yes looks good', 1), ('yep looks good', 1), ('looks good to me', 1), ('looks great', 1), ('sounds great', 1),
    ('it''s perfect', 1), ('its perfect', 1), ('perfect thanks', 1), ('great thanks', 1), ('continue please', 1),
    ('done', 1), ('ready', 1), ('hi', 1), ('hello', 1), ('hey', 1), ('test', 1), ('exit', 1), ('quit', 1);

insert or ignore into correction_phrases (correction_phrase, is_used)
values
    ('no,', 1), ('no.', 1), ('no -', 1), ('no!', 1), ('no don''t', 1), ('no do not', 1), ('no revert', 1), ('no ignore', 1),
    ('no we', 1), ('no you', 1), ('no it', 1), ('no that', 1), ('no the', 1), ('no just', 1), ('no not', 1), ('no i', 1),
    ('nope,', 1), ('nah', 1), ('not quite', 1), ('not what', 1), ('not like that', 1), ('not there', 1), ('not that', 1),
    ('don''t', 1), ('do not', 1), ('please don''t', 1), ('please do not', 1), ('never do', 1),
    ('stop', 1), ('wait', 1), ('hold on', 1), ('actually', 1), ('instead', 1), ('rather', 1),
    ('wrong', 1), ('that''s wrong', 1), ('this is wrong', 1), ('that is wrong', 1), ('incorrect', 1),
    ('that''s not', 1), ('that is not', 1), ('this is not', 1), ('thats not', 1), ('that isn''t', 1), ('this isn''t', 1),
    ('that was not', 1), ('that wasn''t', 1), ('that doesn''t', 1), ('that does not', 1), ('this doesn''t', 1),
    ('it doesn''t', 1), ('it does not', 1), ('it didn''t', 1), ('it did not', 1), ('it still', 1), ('it''s still', 1),
    ('still not', 1), ('still doesn''t', 1), ('still broken', 1), ('still failing', 1), ('still fails', 1), ('still the', 1),
    ('doesn''t work', 1), ('does not work', 1), ('not working', 1),
    ('you didn''t', 1), ('you did not', 1), ('you forgot', 1), ('you missed', 1), ('you broke', 1), ('you removed', 1),
    ('you should not', 1), ('you shouldn''t', 1), ('you should have', 1), ('you misunderstood', 1), ('you keep', 1),
    ('i said', 1), ('i told you', 1), ('i meant', 1), ('i didn''t', 1), ('i did not', 1), ('i asked', 1), ('i want you to', 1),
    ('i don''t want', 1), ('i do not want', 1), ('i''d rather', 1), ('i would rather', 1), ('sorry, i meant', 1),
    ('why did you', 1), ('why didn''t you', 1), ('why are you', 1), ('why won''t you', 1), ('why do you', 1),
    ('revert', 1), ('undo', 1), ('roll back', 1), ('rollback', 1), ('put it back', 1), ('take it back', 1),
    ('it should not', 1), ('it shouldn''t', 1), ('it should be', 1), ('should be', 1), ('shouldn''t it', 1),
    ('wrong file', 1), ('wrong folder', 1), ('wrong branch', 1), ('never mind', 1), ('nevermind', 1), ('forget it', 1);
