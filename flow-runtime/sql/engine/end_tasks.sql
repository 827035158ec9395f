-- End the live tasks of the given maps, or of whole runs where a step index is null, with status p_status, and remove their messages and
-- their suspect rows; the suspect rows of the runs' single steps go too.
-- Returns the workers that hold some of the tasks. The caller holds the runs' locks.
create or replace function flow.end_tasks(p_steps flow.step_ref[], p_status flow.task_status, p_now timestamptz)
returns bigint[] language plpgsql as $$
declare
    v_rows tid[];
    v_deliveries flow.delivery[]; -- the messages of tasks that wait
    v_workers bigint[];
begin
    -- Locks the tasks of each map in the order of their index, and waits: a claim keeps a task locked until its transaction ends.
    select array_agg(l.row_id), array_agg(l.delivery) filter (where l.worker_id is null),
           coalesce(array_agg(distinct l.worker_id) filter (where l.worker_id is not null), '{}')
    into v_rows, v_deliveries, v_workers
    from (
        select t.*
        from unnest(p_steps) e
        cross join lateral (
            select m.step_index, m.task_count from flow.step_state m
            where m.run_id = e.run_id and (e.step_index is null or m.step_index = e.step_index) and m.task_count > 0
              and m.queued_at is null
            order by m.step_index offset 0
        ) m
        cross join lateral flow.live_ranges(e.run_id, m.step_index, m.task_count) r
        cross join lateral (
            select l.ctid as row_id, l.worker_id,
                   row(l.queue_id, l.priority, l.age, l.run_id, l.step_index, l.task_index, l.message_id, null)::flow.delivery
                       as delivery
            from flow.task l
            where l.run_id = e.run_id and l.step_index = m.step_index and l.task_index between r.lowest and r.highest
              and l.status in ('queued', 'started')
            order by l.task_index for update
        ) t
    ) l;
    if v_rows is not null then
        update flow.task t
        set status = p_status, ended_at = p_now
        from unnest(v_rows) r(row_id) where t.ctid = r.row_id;
    end if;
    if v_deliveries is not null then
        perform flow.remove_messages(v_deliveries);
    end if;
    perform flow.clear_suspects(p_steps);
    return v_workers;
end $$;
