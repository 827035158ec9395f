-- Count one ended dependency down in every step that waits for one of the steps named by the arrays.
-- Returns the steps whose last dependency ended with this, by run and step order. The caller holds the locks of the runs.
create or replace function flow.count_down_dependents(
    p_runs uuid[], p_steps integer[], p_flows integer[],
    out p_ready_runs uuid[], out p_ready_steps integer[], out p_ready_flows integer[]
) language plpgsql as $$
begin
    with waiting as (
        select e.run_id, d.step_index, count(*)::integer as ended
        from unnest(p_runs, p_steps, p_flows) e(run_id, step_index, flow_id)
        cross join lateral (
            select s.dependents from flow.step s
            where s.flow_id = e.flow_id and s.step_index = e.step_index offset 0
        ) s
        cross join lateral unnest(s.dependents) d(step_index)
        group by e.run_id, d.step_index
    ), counted as (
        update flow.step_state ss
        set remaining_deps = ss.remaining_deps - w.ended
        from waiting w
        cross join lateral (
            select t.ctid as row_id from flow.step_state t
            where t.run_id = w.run_id and t.step_index = w.step_index and t.status = 'created' offset 0
        ) t
        where ss.ctid = t.row_id
        returning ss.run_id, ss.step_index, ss.flow_id, ss.remaining_deps
    )
    select coalesce(array_agg(c.run_id order by c.run_id, c.step_index), '{}'),
           coalesce(array_agg(c.step_index order by c.run_id, c.step_index), '{}'),
           coalesce(array_agg(c.flow_id order by c.run_id, c.step_index), '{}')
    into p_ready_runs, p_ready_steps, p_ready_flows
    from counted c where c.remaining_deps = 0;
end $$;
