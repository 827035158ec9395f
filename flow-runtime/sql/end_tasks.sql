-- End the live tasks of whole runs (p_steps null) or of single steps, with status p_status, and remove their messages
-- from the queues they carry. Returns the workers that were running some of them. The caller holds the runs' locks.
create or replace function flow.end_tasks(
    p_runs uuid[], p_steps integer[], p_status flow.task_status, p_now timestamptz, out p_workers bigint[]
) language plpgsql as $$
declare
    v_rows tid[];
    v_queue record;
begin
    -- Locked in order, and waited for: a claim may hold some of them for the length of its transaction.
    select coalesce(array_agg(l.row_id), '{}'), coalesce(array_agg(distinct l.worker_id) filter (where l.worker_id is not null), '{}')
    into v_rows, p_workers
    from (
        select t.row_id, t.worker_id
        from unnest(p_runs, p_steps) e(run_id, step_index)
        cross join lateral (
            select l.ctid as row_id, l.worker_id from flow.task l
            where l.run_id = e.run_id and (p_steps is null or l.step_index = e.step_index)
              and l.status in ('queued', 'started')
            order by l.step_index, l.task_index for update
        ) t
    ) l;

    for v_queue in
        with ended as (
            update flow.task t
            set status = p_status, ended_at = p_now, lease_until = null
            from unnest(v_rows) r(row_id)
            where t.ctid = r.row_id
            returning t.queue_id, t.message_id
        )
        select q.name, array_agg(e.message_id order by e.message_id) as ids
        from ended e cross join lateral (select q.name from flow.queue q where q.queue_id = e.queue_id offset 0) q
        group by q.name order by q.name
    loop
        perform flow.queue_remove(v_queue.name, v_queue.ids);
    end loop;
end $$;
