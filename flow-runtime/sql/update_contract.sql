-- Record the schemas of a deployment whose hash differs from the stored one. Returns the changed JSON paths by what they
-- belong to ("input", or a step's slug), or null when there are none and nothing was written.
create or replace function flow.update_contract(p_flow_id integer, p_contract jsonb, p_shape jsonb)
returns jsonb language plpgsql as $$
declare
    v_drift jsonb;
begin
    select jsonb_object_agg(coalesce(p_shape -> 'steps' -> nullif(c.step_index, -1) ->> 'slug', 'input'),
                            to_jsonb(flow.json_differences(o.schema, c.schema)))
    into v_drift
    from flow.list_contract(p_contract) c
    join flow.contract o on o.flow_id = p_flow_id and o.step_index = c.step_index
    where o.hash <> c.hash;
    if v_drift is not null then
        update flow.contract o set schema = c.schema, hash = c.hash, changed_at = clock_timestamp()
        from flow.list_contract(p_contract) c
        where o.flow_id = p_flow_id and o.step_index = c.step_index and o.hash <> c.hash;
    end if;
    return v_drift;
end $$;
