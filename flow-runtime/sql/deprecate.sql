-- Deprecate a flow, whose place a flow under another slug takes: its workers finish what they hold and stop. Runs that are
-- left stay as they are. Returns how many workers are still alive; at 0 it is safe to delete the flow.
-- Raises WF001 when there is no such flow.
create or replace function flow.deprecate(slug text) returns integer language plpgsql as $$
declare
    v_flow_id integer;
begin
    perform flow.lock_slug(slug);
    update flow.flow f set deprecated_at = coalesce(f.deprecated_at, clock_timestamp())
    where f.slug = deprecate.slug returning f.flow_id into v_flow_id;
    if not found then
        raise exception 'no flow "%" is deployed', slug using errcode = 'WF001';
    end if;
    return jsonb_array_length(flow.drain_flow(v_flow_id));
end $$;
