-- Fail the run of an attempt whose result the database has refused twice, whatever it was. Returns the verdict, as for a settlement:
-- accepted, or lost when the attempt is not this worker's any more. Locks the run, then the work.
create or replace function flow.give_up_attempt(
    p_worker bigint, p_run uuid, p_step integer, p_task integer, p_attempt integer, p_error text
) returns text language plpgsql as $$
declare
    v_work flow.work;
begin
    perform from flow.run r where r.run_id = p_run for no key update;
    v_work := (flow.lock_work(array[row(1, p_run, p_step, p_task, p_attempt, 'error', null, null, null, false)::flow.result]))[1];
    if v_work.status is distinct from 'started' or v_work.worker_id <> p_worker or v_work.attempt <> p_attempt then
        return 'lost';
    end if;
    perform flow.fail_run(p_run, p_step, p_error);
    return 'accepted';
end $$;
