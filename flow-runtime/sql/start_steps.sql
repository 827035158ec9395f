-- Mark ready steps as started with the number of their tasks; a map without elements is completed at once with [].
-- Returns the started steps with queue, time and map source (null in a single step), and the empty maps.
-- The caller holds the locks of the runs.
create or replace function flow.start_steps(
    p_ready_runs uuid[], p_ready_steps integer[], p_ready_flows integer[], p_start_at timestamptz[], p_now timestamptz,
    out p_runs uuid[], out p_steps integer[], out p_flows integer[], out p_counts integer[], out p_queues integer[],
    out p_visible_at timestamptz[], out p_sources integer[],
    out p_empty_runs uuid[], out p_empty_steps integer[], out p_empty_flows integer[]
) language plpgsql as $$
begin
    with ready as (
        select e.run_id, e.step_index, s.queue_id, s.over_step,
               greatest(e.start_at, p_now) + s.start_delay_ms * interval '1 ms' as visible_at,
               case
                   when s.over_step is null then 1
                   when s.over_step = -1 then (
                       select jsonb_array_length(r.input) from flow.run r where r.run_id = e.run_id)
                   else coalesce((
                       select jsonb_array_length(o.output) from flow.step_state o
                       where o.run_id = e.run_id and o.step_index = s.over_step and o.status = 'completed'), 0)
               end as task_count
        from unnest(p_ready_runs, p_ready_steps, p_ready_flows, p_start_at) e(run_id, step_index, flow_id, start_at)
        cross join lateral (
            select s.queue_id, s.over_step, s.start_delay_ms from flow.step s
            where s.flow_id = e.flow_id and s.step_index = e.step_index offset 0
        ) s
    ), started as (
        update flow.step_state ss
        set status = case when r.task_count > 0 then 'started' else 'completed' end::flow.step_status,
            task_count = r.task_count,
            remaining_tasks = r.task_count,
            started_at = p_now,
            ended_at = case when r.task_count = 0 then p_now end,
            output = case when r.task_count = 0 then '[]'::jsonb end
        from ready r
        cross join lateral (
            select t.ctid as row_id from flow.step_state t
            where t.run_id = r.run_id and t.step_index = r.step_index and t.status = 'created' offset 0
        ) t
        where ss.ctid = t.row_id
        returning ss.run_id, ss.step_index, ss.flow_id, ss.task_count, r.queue_id, r.visible_at, r.over_step
    )
    select coalesce(array_agg(s.run_id) filter (where s.task_count > 0), '{}'),
           coalesce(array_agg(s.step_index) filter (where s.task_count > 0), '{}'),
           coalesce(array_agg(s.flow_id) filter (where s.task_count > 0), '{}'),
           coalesce(array_agg(s.task_count) filter (where s.task_count > 0), '{}'),
           coalesce(array_agg(s.queue_id) filter (where s.task_count > 0), '{}'),
           coalesce(array_agg(s.visible_at) filter (where s.task_count > 0), '{}'),
           coalesce(array_agg(s.over_step) filter (where s.task_count > 0), '{}'),
           coalesce(array_agg(s.run_id) filter (where s.task_count = 0), '{}'),
           coalesce(array_agg(s.step_index) filter (where s.task_count = 0), '{}'),
           coalesce(array_agg(s.flow_id) filter (where s.task_count = 0), '{}')
    into p_runs, p_steps, p_flows, p_counts, p_queues, p_visible_at, p_sources,
         p_empty_runs, p_empty_steps, p_empty_flows
    from started s;
end $$;
