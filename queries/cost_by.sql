-- What a skill, plugin, MCP server, effort or hour costs
-- How to read: the cost of the responses that Claude Code attributes to each; responses without one are the row without a name.
-- Group: tools
-- :by - skill, plugin, mcp_server, effort or hour; skill without it
-- Bar: cost_usd
-- Total: response_count, total_tokens, cost_usd
select
    case coalesce(nullif(:by, ''), 'skill')
        when 'skill' then messages.attribution_skill
        when 'plugin' then messages.attribution_plugin
        when 'mcp_server' then messages.attribution_mcp_server
        when 'effort' then messages.effort
        when 'hour' then substr(datetime(response_costs.responded_at, (
            select utc_offset from time_zone_offsets where begins_at <= response_costs.responded_at order by begins_at desc limit 1
        )), 12, 2)
        else 'by is ' || :by || ', and not skill, plugin, mcp_server, effort or hour'
    end as name,
    count(*) as response_count,
    count(distinct response_costs.session_id) as session_count,
    sum(response_costs.total_tokens) as total_tokens,
    round(sum(response_costs.cost_usd), 4) as cost_usd
from response_costs
left join messages on messages.message_id = response_costs.message_id
group by name
order by cost_usd desc, name;
