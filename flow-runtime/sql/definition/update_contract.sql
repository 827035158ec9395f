-- Store the schemas of a deployment whose hashes differ from the stored ones, and mark the flow's types as drifted. An older build than the
-- one that recorded last changes nothing (p_is_older).
-- Returns the changed JSON paths by what they belong to ("input", or a step's slug), and the old and new schemas (`of`, `old`, `new`);
-- nulls when no schema differs.
create or replace function flow.update_contract(
    p_flow_id integer, p_contract jsonb, p_shape jsonb, p_build jsonb,
    out p_paths jsonb, out p_schemas jsonb, out p_is_older boolean
) language plpgsql as $$
begin
    select jsonb_object_agg(d.name, to_jsonb(flow.json_differences(d.old, d.new))),
           jsonb_agg(jsonb_build_object('of', d.name, 'old', d.old, 'new', d.new) order by d.step_index)
    into p_paths, p_schemas
    from (
        select c.step_index, coalesce(p_shape -> 'steps' -> nullif(c.step_index, -1) ->> 'slug', 'input') as name,
               o.schema as old, c.schema as new
        from flow.list_contract(p_contract) c
        join flow.contract o on o.flow_id = p_flow_id and o.step_index = c.step_index
        where o.hash <> c.hash
    ) d;
    p_is_older := flow.is_older_build(p_build, (select f.build from flow.flow f where f.flow_id = p_flow_id));
    if p_paths is not null and not p_is_older then
        update flow.contract o set schema = c.schema, hash = c.hash, changed_at = clock_timestamp()
        from flow.list_contract(p_contract) c
        where o.flow_id = p_flow_id and o.step_index = c.step_index and o.hash <> c.hash;
        update flow.flow f set drifted_at = clock_timestamp(), build = p_build where f.flow_id = p_flow_id;
    end if;
end $$;
