-- Mark ready steps as started with the number of their tasks; a map without elements is completed at once with [].
-- Returns what was started, one entry a step; its task_count is 0 for an empty map. The caller holds the runs' locks.
create or replace function flow.start_steps(
    p_ready_runs uuid[], p_ready_steps integer[], p_ready_flows integer[], p_now timestamptz,
    out p_started flow.started_step[]
) language plpgsql as $$
begin
    with started as (
        update flow.step_state ss
        set status = case when r.task_count > 0 then 'started' else 'completed' end::flow.step_status,
            task_count = r.task_count,
            remaining_tasks = r.task_count,
            started_at = p_now,
            ended_at = case when r.task_count = 0 then p_now end,
            output = case when r.task_count = 0 then '[]'::jsonb end
        from (
            select t.row_id, s.queue_id, s.over_step,
                   p_now + s.start_delay_ms * interval '1 ms' as visible_at,
                   case when s.over_step is null then 1 else flow.element_count(e.run_id, s.over_step) end as task_count
            from unnest(p_ready_runs, p_ready_steps, p_ready_flows) e(run_id, step_index, flow_id)
            cross join lateral (
                select s.queue_id, s.over_step, s.start_delay_ms from flow.step s
                where s.flow_id = e.flow_id and s.step_index = e.step_index offset 0
            ) s
            cross join lateral (
                select t.ctid as row_id from flow.step_state t
                where t.run_id = e.run_id and t.step_index = e.step_index and t.status = 'created' offset 0
            ) t
            offset 0
        ) r
        where ss.ctid = r.row_id
        returning ss.run_id, ss.step_index, ss.flow_id, ss.task_count, r.queue_id, r.visible_at, r.over_step
    )
    select coalesce(array_agg(row(s.*)::flow.started_step), '{}') into p_started from started s;
end $$;
