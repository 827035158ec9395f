-- Apply the options of a deployment to a flow and its steps. Returns the changes as a list of objects (step, option, old,
-- new), or null when there are none and nothing was written.
create or replace function flow.update_options(p_flow_id integer, p_old jsonb, p_new jsonb, p_shape jsonb)
returns jsonb language plpgsql as $$
declare
    v_changes jsonb;
begin
    if p_old = p_new then
        return null;
    end if;
    select coalesce(jsonb_agg(jsonb_build_object('step', p_shape -> 'steps' -> o.step_index ->> 'slug', 'option', k.key,
                                                 'old', k.value, 'new', to_jsonb(n) -> k.key)
                              order by o.step_index, k.key), '[]')
    into v_changes
    from flow.step_options(p_old) o
    join flow.step_options(p_new) n on n.step_index = o.step_index
    cross join lateral jsonb_each(to_jsonb(o)) k
    where k.value <> to_jsonb(n) -> k.key;

    update flow.flow f set options = p_new, deployed_at = clock_timestamp() where f.flow_id = p_flow_id;
    update flow.step s
    set max_attempts = o.max_attempts, base_delay_ms = o.base_delay_ms, max_delay_ms = o.max_delay_ms,
        timeout_ms = o.timeout_ms, start_delay_ms = o.start_delay_ms
    from flow.step_options(p_new) o
    where s.flow_id = p_flow_id and s.step_index = o.step_index;
    return v_changes;
end $$;
