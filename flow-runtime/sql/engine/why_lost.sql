-- Say why worker p_worker no longer holds a piece of work under this batch: cancelled | skipped | taken | gone. Null when the worker still
-- holds the work.
create or replace function flow.why_lost(p_worker bigint, p_run uuid, p_step integer, p_task integer, p_batch bigint)
returns text language plpgsql stable as $$
declare
    v_status flow.task_status;
    v_worker bigint;
    v_batch bigint;
begin
    if p_task < 0 then
        select flow.work_status(ss.status, ss.skip_reason, ss.queued_at, ss.worker_id), ss.worker_id, ss.batch
        into v_status, v_worker, v_batch
        from flow.step_state ss where ss.run_id = p_run and ss.step_index = p_step and ss.queued_at is not null;
    else
        select t.status, t.worker_id, t.batch into v_status, v_worker, v_batch
        from flow.task t where t.run_id = p_run and t.step_index = p_step and t.task_index = p_task;
    end if;
    return case
        when not found then 'gone'
        when v_status in ('cancelled', 'skipped') then v_status::text
        when v_status <> 'started' or v_worker <> p_worker or v_batch <> p_batch then 'taken' end;
end $$;
