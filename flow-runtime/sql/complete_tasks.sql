-- Complete the tasks among p_items whose outcome is `complete`, remove their messages from queue p_queue, and count them
-- down in their steps. Returns the steps whose last task this was. A single step's output goes into its step state,
-- a map's is gathered there from its tasks when the last one ends. The caller holds the locks of runs and tasks.
create or replace function flow.complete_tasks(
    p_items flow.settlement[], p_queue text, p_now timestamptz,
    out p_runs uuid[], out p_steps integer[], out p_flows integer[]
) language plpgsql as $$
declare
    v_messages bigint[];
begin
    p_runs := '{}';
    with ended as (
        update flow.task t
        set status = 'completed', ended_at = p_now, lease_until = null,
            output = case when i.kind = 'map' then i.output end
        from unnest(p_items) i
        where i.outcome = 'complete' and t.ctid = i.row_id
        returning t.message_id
    )
    select array_agg(e.message_id) into v_messages from ended e;
    if v_messages is null then
        return;
    end if;
    perform flow.queue_remove(p_queue, v_messages);

    with done as (
        select i.run_id, i.step_index, i.kind, count(*)::integer as tasks,
               (array_agg(i.output) filter (where i.kind = 'single'))[1] as output
        from unnest(p_items) i where i.outcome = 'complete'
        group by i.run_id, i.step_index, i.kind
    ), counted as (
        update flow.step_state ss
        set remaining_tasks = ss.remaining_tasks - d.tasks,
            status = case when ss.remaining_tasks = d.tasks then 'completed' else ss.status end,
            ended_at = case when ss.remaining_tasks = d.tasks then p_now end,
            output = case
                when ss.remaining_tasks <> d.tasks then null
                when d.kind = 'single' then d.output
                else (select jsonb_agg(o.output) from (
                          select t.output from flow.task t
                          where t.run_id = ss.run_id and t.step_index = ss.step_index order by t.task_index) o)
            end
        from done d
        cross join lateral (
            select t.ctid as row_id from flow.step_state t
            where t.run_id = d.run_id and t.step_index = d.step_index and t.status = 'started' offset 0
        ) t
        where ss.ctid = t.row_id
        returning ss.run_id, ss.step_index, ss.flow_id, ss.status
    )
    select coalesce(array_agg(c.run_id), '{}'), coalesce(array_agg(c.step_index), '{}'),
           coalesce(array_agg(c.flow_id), '{}')
    into p_runs, p_steps, p_flows
    from counted c where c.status = 'completed';
end $$;
