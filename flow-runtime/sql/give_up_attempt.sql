-- Fail the run of an attempt whose result the database has refused twice, whatever it was. Returns the verdict, as for a settlement:
-- accepted, or lost when the attempt is not this worker's any more. Locks the run, then the task.
create or replace function flow.give_up_attempt(
    p_worker bigint, p_run uuid, p_step integer, p_task integer, p_attempt integer, p_error text
) returns text language plpgsql as $$
begin
    perform from flow.run r where r.run_id = p_run for no key update;
    perform from flow.task t
    where t.run_id = p_run and t.step_index = p_step and t.task_index = p_task and t.status = 'started'
      and t.worker_id = p_worker and t.attempt = p_attempt for update;
    if not found then
        return 'lost';
    end if;
    perform flow.fail_run(p_run, p_step, p_error);
    return 'accepted';
end $$;
