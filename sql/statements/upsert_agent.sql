insert into agents (session_id, agent_id, layout, link_method)
values (?1, ?2, ?3, 'none')
on conflict (session_id, agent_id) do update
set layout = case
    when instr('inline flat nested workflow', excluded.layout) > instr('inline flat nested workflow', layout)
    then excluded.layout else layout end
returning agent_key
