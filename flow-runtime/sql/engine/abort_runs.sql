-- End the started runs of p_causes with status p_status: failed (the cause then names the step and the error text) or cancelled.
-- The step that a cause names becomes failed, every other open step and every live task cancelled; their messages are removed. Steps, tasks
-- and runs that have ended already keep their status.
-- Returns the workers that hold some of the ended work. The caller holds the runs' locks.
create or replace function flow.abort_runs(p_causes flow.cause[], p_status flow.run_status, p_now timestamptz)
returns bigint[] language plpgsql as $$
declare
    v_rows tid[];
    v_errors text[]; -- the error of each row, null where the step becomes cancelled
    v_deliveries flow.delivery[]; -- the messages of single steps that wait
    v_workers bigint[];
begin
    -- Locks the step states of each run in the order of their index, and waits: a claim keeps a step state locked until its transaction
    -- ends.
    select array_agg(l.row_id), array_agg(l.error),
           array_agg(l.delivery) filter (where (l.delivery).queue_id is not null and l.worker_id is null),
           coalesce(array_agg(distinct l.worker_id) filter (where l.worker_id is not null), '{}')
    into v_rows, v_errors, v_deliveries, v_workers
    from (
        select t.row_id, t.delivery, t.worker_id, case when t.step_index = c.step_index then c.error end as error
        from unnest(p_causes) c
        cross join lateral (
            select l.ctid as row_id, l.step_index, l.worker_id,
                   row(l.queue_id, l.priority, l.age, l.run_id, l.step_index, -1, l.message_id, null)::flow.delivery as delivery
            from flow.step_state l
            where l.run_id = c.run_id and l.status in ('created', 'started')
            order by l.step_index for update
        ) t
    ) l;
    update flow.step_state ss
    set status = case when r.error is null then 'cancelled' else 'failed' end::flow.step_status, error = r.error,
        ended_at = p_now
    from unnest(v_rows, v_errors) r(row_id, error)
    where ss.ctid = r.row_id;
    if v_deliveries is not null then
        perform flow.remove_messages(v_deliveries);
    end if;

    v_workers := v_workers || flow.end_tasks(
        array(select row(c.run_id, null, null)::flow.step_ref from unnest(p_causes) c), 'cancelled', p_now);

    update flow.run r
    set status = p_status, ended_at = p_now, error_step = c.step_index, error = c.error, remaining_steps = 0
    from unnest(p_causes) c
    cross join lateral (
        select t.ctid as row_id from flow.run t where t.run_id = c.run_id and t.status = 'started' offset 0
    ) t
    where r.ctid = t.row_id;
    return v_workers;
end $$;
