-- Count one ended dependency down in every step that waits for one of the steps named by the arrays, and start those
-- whose last dependency ended with this, with the same update: as flow.start_steps does. Those that a condition may
-- forbid to start stay as they are and are returned as ready, by run and step order. The caller holds the runs' locks.
create or replace function flow.count_down_dependents(
    p_runs uuid[], p_steps integer[], p_flows integer[], p_now timestamptz,
    out p_started flow.started_step[],
    out p_ready_runs uuid[], out p_ready_steps integer[], out p_ready_flows integer[]
) language plpgsql as $$
begin
    with waiting as (
        select e.run_id, e.flow_id, d.step_index, count(*)::integer as ended
        from unnest(p_runs, p_steps, p_flows) e(run_id, step_index, flow_id)
        cross join lateral (
            select s.dependents from flow.step s
            where s.flow_id = e.flow_id and s.step_index = e.step_index offset 0
        ) s
        cross join lateral unnest(s.dependents) d(step_index)
        group by e.run_id, e.flow_id, d.step_index
    ), counted as (
        update flow.step_state ss
        set remaining_deps = ss.remaining_deps - w.ended,
            status = case when w.task_count > 0 then 'started'
                          when w.task_count = 0 then 'completed'
                          else ss.status end,
            task_count = w.task_count,
            remaining_tasks = w.task_count,
            started_at = case when w.task_count is not null then p_now end,
            ended_at = case when w.task_count = 0 then p_now end,
            output = case when w.task_count = 0 then '[]'::jsonb end
        from (
            select w.ended, t.row_id, s.queue_id, s.over_step, p_now + s.start_delay_ms * interval '1 ms' as visible_at,
                   case when t.remaining_deps > w.ended or not s.starts_at_once then null
                        when s.over_step is null then 1
                        else flow.element_count(w.run_id, s.over_step) end as task_count
            from waiting w
            cross join lateral (
                select t.ctid as row_id, t.remaining_deps from flow.step_state t
                where t.run_id = w.run_id and t.step_index = w.step_index and t.status = 'created' offset 0
            ) t
            cross join lateral (
                select s.queue_id, s.over_step, s.start_delay_ms, s.starts_at_once from flow.step s
                where s.flow_id = w.flow_id and s.step_index = w.step_index offset 0
            ) s
            offset 0
        ) w
        where ss.ctid = w.row_id
        returning ss.run_id, ss.step_index, ss.flow_id, ss.task_count, w.queue_id, w.visible_at, w.over_step,
                  ss.remaining_deps
    )
    select coalesce(array_agg(row(c.run_id, c.step_index, c.flow_id, c.task_count, c.queue_id, c.visible_at,
                                  c.over_step)::flow.started_step order by c.run_id, c.step_index)
                        filter (where c.task_count is not null), '{}'),
           coalesce(array_agg(c.run_id order by c.run_id, c.step_index)
                        filter (where c.task_count is null and c.remaining_deps = 0), '{}'),
           coalesce(array_agg(c.step_index order by c.run_id, c.step_index)
                        filter (where c.task_count is null and c.remaining_deps = 0), '{}'),
           coalesce(array_agg(c.flow_id order by c.run_id, c.step_index)
                        filter (where c.task_count is null and c.remaining_deps = 0), '{}')
    into p_started, p_ready_runs, p_ready_steps, p_ready_flows
    from counted c;
end $$;
