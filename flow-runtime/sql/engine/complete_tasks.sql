-- Complete the tasks of maps whose results say `complete`. A result counts only under the fence (the task is started, not exhausted, and
-- held by this worker under the result's batch), and only the first of a work and batch. Each map's count of remaining tasks goes down; the
-- map whose last task completes gets the array of the outputs.
-- Returns the places (ord) of the results that counted; the maps that ended; in p_large, with an error text, the maps whose outputs
-- together exceed max_aggregate_bytes (they stay started without an output, and the caller fails their runs); and in p_roomy the large maps
-- that have room for another piece.
-- The caller holds the locks of the runs.
create or replace function flow.complete_tasks(
    p_self flow.worker_state, p_results flow.result[], p_now timestamptz,
    out p_completed bigint[], out p_ended flow.step_ref[], out p_large flow.cause[], out p_roomy flow.step_ref[]
) language plpgsql as $$
declare
    v_runs uuid[];
    v_steps integer[];
    v_tasks integer[]; -- how many tasks of each map were completed
    v_limit bigint;
    v_is_cut boolean; -- one of the maps is large
begin
    p_ended := '{}';
    p_large := '{}';
    p_roomy := '{}';
    with ended as (
        update flow.task t
        set status = 'completed', ended_at = p_now, output = u.output
        from (
            select u.ord, u.batch, u.output, l.row_id
            from unnest(p_results) u
            cross join lateral (
                select l.ctid as row_id from flow.task l
                where l.run_id = u.run_id and l.step_index = u.step_index and l.task_index = u.task_index offset 0
            ) l
            where u.task_index >= 0 and u.outcome = 'complete' and not u.is_repeat
            offset 0
        ) u
        where t.ctid = u.row_id and t.status = 'started' and t.worker_id = p_self.worker_id and t.batch = u.batch
          and t.queue_id = p_self.queue_id and not t.is_exhausted
        returning u.ord, t.run_id, t.step_index
    ), map as (
        select e.run_id, e.step_index, count(*)::integer as tasks from ended e group by e.run_id, e.step_index
    )
    select coalesce((select array_agg(e.ord) from ended e), '{}'),
           array_agg(m.run_id), array_agg(m.step_index), array_agg(m.tasks)
    into p_completed, v_runs, v_steps, v_tasks from map m;
    if v_runs is null then
        return;
    end if;

    select (s.value)::bigint into v_limit from flow.setting s where s.name = 'max_aggregate_bytes';
    with counted as (
        update flow.step_state ss
        set remaining_tasks = ss.remaining_tasks - m.tasks,
            status = case when m.is_last and m.bytes <= v_limit then 'completed' else ss.status end,
            ended_at = case when m.is_last and m.bytes <= v_limit then p_now end,
            output = case when not m.is_last or m.bytes > v_limit then null
                          when ss.taken_from is not null then (
                              select jsonb_agg(o.output order by o.task_index) from flow.map_outputs(ss.run_id, ss.step_index) o)
                          else (select jsonb_agg(o.output) from (
                              select t.output from flow.task t
                              where t.run_id = ss.run_id and t.step_index = ss.step_index order by t.task_index) o) end
        from (
            select m.tasks, t.row_id, t.remaining_tasks = m.tasks as is_last, z.bytes
            from unnest(v_runs, v_steps, v_tasks) m(run_id, step_index, tasks)
            cross join lateral (
                select t.ctid as row_id, t.remaining_tasks, t.taken_from from flow.step_state t
                where t.run_id = m.run_id and t.step_index = m.step_index and t.status = 'started' offset 0
            ) t
            cross join lateral (
                select case when t.remaining_tasks <> m.tasks then null
                            when t.taken_from is not null then (
                                select sum(octet_length(o.output::text) + 2) from flow.map_outputs(m.run_id, m.step_index) o)
                            else (select sum(octet_length(o.output::text) + 2) from flow.task o
                                  where o.run_id = m.run_id and o.step_index = m.step_index) end as bytes
                offset 0
            ) z
            offset 0
        ) m
        where ss.ctid = m.row_id
        returning ss.run_id, ss.step_index, ss.flow_id, ss.status, ss.task_count,
                  ss.uncreated_tasks > 0 and ss.remaining_tasks - ss.uncreated_tasks <= flow.large_map() - flow.piece_size()
                      as is_roomy, m.bytes
    )
    select coalesce(array_agg(row(c.run_id, c.step_index, c.flow_id)::flow.step_ref) filter (where c.status = 'completed'), '{}'),
           coalesce(array_agg(row(c.run_id, c.step_index, format(
               'the outputs of map "%s" have %s bytes together, more than the limit of %s; return less from each task, or raise '
               'the setting max_aggregate_bytes',
               (select s.slug from flow.step s where s.flow_id = c.flow_id and s.step_index = c.step_index),
               c.bytes, v_limit))::flow.cause) filter (where c.bytes > v_limit), '{}'),
           coalesce(array_agg(row(c.run_id, c.step_index, c.flow_id)::flow.step_ref) filter (where c.is_roomy), '{}'),
           bool_or(c.task_count > flow.large_map())
    into p_ended, p_large, p_roomy, v_is_cut from counted c;
    if v_is_cut then
        update flow.piece p
        set live_tasks = p.live_tasks - u.tasks
        from (select r.run_id, r.step_index, r.task_index / flow.piece_size() as piece_index, count(*)::integer as tasks
              from unnest(p_results) r where r.ord = any (p_completed)
              group by r.run_id, r.step_index, r.task_index / flow.piece_size()) u
        cross join lateral (
            select t.ctid as row_id from flow.piece t
            where t.run_id = u.run_id and t.step_index = u.step_index and t.piece_index = u.piece_index offset 0
        ) t
        where p.ctid = t.row_id;
    end if;
end $$;
