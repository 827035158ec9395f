-- Apply the options of a deployment to the steps of a flow, unless a newer build has applied its own options; p_forces applies them even
-- then.
-- Returns the changes as a list of objects (step, option, old, new): in p_applied the changes that were made, or in p_kept, with the newer
-- build, the changes that were not. Nulls when the options are those that were sent last; nothing is written then.
create or replace function flow.update_options(
    p_flow_id integer, p_new jsonb, p_build jsonb, p_forces boolean,
    out p_applied jsonb, out p_kept jsonb, out p_newer_build jsonb
) language plpgsql as $$
declare
    v_changes jsonb;
    v_stored record;
begin
    select f.build, f.options into v_stored from flow.flow f where f.flow_id = p_flow_id;
    -- The steps hold the values that apply. An option of the flow that every step overrides shows only in flow.options, so that is compared
    -- too.
    select jsonb_agg(jsonb_build_object('step', s.slug, 'option', k.key, 'old', to_jsonb(s) -> k.key, 'new', k.value)
                     order by s.step_index, k.key)
    into v_changes
    from flow.step_options(p_new) o
    join flow.step s on s.flow_id = p_flow_id and s.step_index = o.step_index
    cross join lateral jsonb_each(o.options) k
    where k.value <> to_jsonb(s) -> k.key;
    if v_changes is null and v_stored.options = p_new then
        return;
    end if;
    v_changes := coalesce(v_changes, '[]');
    if not p_forces and flow.is_older_build(p_build, v_stored.build) then
        p_kept := v_changes;
        p_newer_build := v_stored.build;
        return;
    end if;
    p_applied := v_changes;
    update flow.flow f set options = p_new, build = p_build, deployed_at = clock_timestamp() where f.flow_id = p_flow_id;
    perform flow.write_options(p_flow_id, p_new);
end $$;
