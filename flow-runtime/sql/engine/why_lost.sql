-- Why a worker does not hold a piece of work under this attempt any more: cancelled | skipped | taken | gone; null when it does.
create or replace function flow.why_lost(p_worker bigint, p_run uuid, p_step integer, p_task integer, p_attempt integer)
returns text language plpgsql as $$
declare
    v_work flow.work;
begin
    if p_task < 0 then
        select (flow.single_work(ss, ss.ctid)).* into v_work from flow.step_state ss
        where ss.run_id = p_run and ss.step_index = p_step and ss.queued_at is not null;
    else
        select (flow.task_work(t, t.ctid)).* into v_work from flow.task t
        where t.run_id = p_run and t.step_index = p_step and t.task_index = p_task;
    end if;
    return case
        when not found then 'gone'
        when v_work.status in ('cancelled', 'skipped') then v_work.status::text
        when v_work.status <> 'started' or v_work.worker_id <> p_worker or v_work.attempt <> p_attempt then 'taken' end;
end $$;
