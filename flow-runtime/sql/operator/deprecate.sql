-- Ask the workers of a flow to drain: they claim nothing more, finish what they run, and stop. No worker of the flow starts again until
-- flow.undeprecate. Runs stay as they are.
-- Returns how many of the workers are still alive; call again until the number is 0. Raises WF001 when there is no such flow.
create or replace function flow.deprecate(slug text) returns integer language plpgsql as $$
declare
    v_flow_id integer;
begin
    perform flow.require_read_committed();
    perform flow.lock_slug(slug);
    update flow.flow f set deprecated_at = coalesce(f.deprecated_at, clock_timestamp())
    where f.slug = deprecate.slug returning f.flow_id into v_flow_id;
    if not found then
        raise exception 'flow "%" is not deployed', slug using errcode = 'WF001';
    end if;
    return jsonb_array_length(flow.drain_flow(v_flow_id));
end $$;
