-- Complete the tasks of those settlements that say `complete`, fit their step and are held by worker p_worker: status,
-- attempt and worker are the fence. Removes their messages and counts them down in their steps. A single step's output
-- goes into its step state, a map's is gathered there from its tasks when the last one ends.
-- The arrays hold one entry a settlement; p_among, unless null, says which of them to look at, counted from 1. Returns the
-- places of those that were completed, the steps whose last task this was, and the maps whose outputs are too large together, with
-- a text: those are left started and without an output, and the caller fails their runs. The caller holds the locks of the runs.
create or replace function flow.complete_tasks(
    p_worker bigint, p_queue_id integer, p_queue text, p_among bigint[],
    p_runs uuid[], p_steps integer[], p_tasks integer[], p_attempts integer[],
    p_outcomes text[], p_outputs jsonb[], p_errors text[], p_now timestamptz,
    out p_completed bigint[], out p_ended_runs uuid[], out p_ended_steps integer[], out p_ended_flows integer[],
    out p_large_runs uuid[], out p_large_steps integer[], out p_large_errors text[]
) language plpgsql as $$
declare
    v_done record;
begin
    p_completed := '{}';
    p_ended_runs := '{}';
    p_ended_steps := '{}';
    p_ended_flows := '{}';
    p_large_runs := '{}';
    with ended as (
        update flow.task t
        set status = 'completed', ended_at = p_now, lease_until = null,
            output = case when u.kind = 'map' then u.output end
        from (
            select u.ord, u.attempt, u.output, l.row_id, s.kind, s.max_attempts
            from unnest(p_runs, p_steps, p_tasks, p_attempts, p_outcomes, p_outputs, p_errors) with ordinality
                 u(run_id, step_index, task_index, attempt, outcome, output, error, ord)
            cross join lateral (
                select l.ctid as row_id, l.flow_id from flow.task l
                where l.run_id = u.run_id and l.step_index = u.step_index and l.task_index = u.task_index offset 0
            ) l
            cross join lateral (
                select s.kind, s.max_attempts, s.feeds_map from flow.step s
                where s.flow_id = l.flow_id and s.step_index = u.step_index offset 0
            ) s
            where u.outcome = 'complete' and u.error is null and (p_among is null or u.ord = any (p_among))
              and (not s.feeds_map or s.kind = 'map' or jsonb_typeof(u.output) = 'array')
            offset 0
        ) u
        where t.ctid = u.row_id and t.status = 'started' and t.attempt = u.attempt and t.worker_id = p_worker
          and t.queue_id = p_queue_id
          -- A task handed over without attempts left has its last one on record, and can only be given up.
          and (t.attempt < u.max_attempts or not exists (
              select from flow.attempt_error e
              where e.run_id = t.run_id and e.step_index = t.step_index and e.task_index = t.task_index
                and e.attempt = t.attempt offset 0))
        returning u.ord, t.run_id, t.step_index, t.message_id, u.kind,
                  case when u.kind = 'single' then u.output end as output
    )
    select array_agg(e.ord) as ords, array_agg(e.run_id) as runs, array_agg(e.step_index) as steps,
           array_agg(e.kind) as kinds, array_agg(e.output) as outputs, array_agg(e.message_id) as messages
    into v_done from ended e;
    if v_done.ords is null then
        return;
    end if;
    p_completed := v_done.ords;
    perform flow.queue_remove(p_queue, v_done.messages);

    with done as (
        select i.run_id, i.step_index, i.kind, count(*)::integer as tasks, (array_agg(i.output))[1] as output
        from unnest(v_done.runs, v_done.steps, v_done.kinds, v_done.outputs) i(run_id, step_index, kind, output)
        group by i.run_id, i.step_index, i.kind
    ), counted as (
        update flow.step_state ss
        set remaining_tasks = ss.remaining_tasks - d.tasks,
            status = case when ss.remaining_tasks = d.tasks and not z.is_large then 'completed' else ss.status end,
            ended_at = case when ss.remaining_tasks = d.tasks and not z.is_large then p_now end,
            output = case
                when ss.remaining_tasks <> d.tasks or z.is_large then null
                when d.kind = 'single' then d.output
                else (select jsonb_agg(o.output) from (
                          select t.output from flow.task t
                          where t.run_id = ss.run_id and t.step_index = ss.step_index order by t.task_index) o)
            end
        from done d
        cross join lateral (
            select t.ctid as row_id, t.remaining_tasks from flow.step_state t
            where t.run_id = d.run_id and t.step_index = d.step_index and t.status = 'started' offset 0
        ) t
        cross join lateral (
            select case when d.kind = 'map' and t.remaining_tasks = d.tasks then (
                       select sum(octet_length(o.output::text) + 2) from flow.task o
                       where o.run_id = d.run_id and o.step_index = d.step_index) end as bytes
        ) b
        cross join lateral (
            select b.bytes,
                   b.bytes is not null and b.bytes > (
                       select (s.value)::bigint from flow.setting s where s.name = 'max_aggregate_bytes') as is_large
        ) z
        where ss.ctid = t.row_id
        returning ss.run_id, ss.step_index, ss.flow_id, ss.status, z.is_large, z.bytes
    )
    select coalesce(array_agg(c.run_id) filter (where c.status = 'completed'), '{}'),
           coalesce(array_agg(c.step_index) filter (where c.status = 'completed'), '{}'),
           coalesce(array_agg(c.flow_id) filter (where c.status = 'completed'), '{}'),
           coalesce(array_agg(c.run_id) filter (where c.is_large), '{}'),
           array_agg(c.step_index) filter (where c.is_large),
           array_agg(format('the outputs of map "%s" have %s bytes together, more than the limit of %s; return less from each '
                            'task, or raise the setting max_aggregate_bytes',
                            (select s.slug from flow.step s where s.flow_id = c.flow_id and s.step_index = c.step_index),
                            c.bytes, (select s.value from flow.setting s where s.name = 'max_aggregate_bytes')))
               filter (where c.is_large)
    into p_ended_runs, p_ended_steps, p_ended_flows, p_large_runs, p_large_steps, p_large_errors
    from counted c;
end $$;
