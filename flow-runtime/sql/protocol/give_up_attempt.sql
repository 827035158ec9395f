-- Fail the run of an attempt whose result the database has refused twice, whatever the refusal was. Returns the verdict as for a result:
-- accepted, or lost when the worker does not hold the work any more. The caller passes p_tell_… to flow.tell_others. Locks the run, then
-- the work.
create or replace function flow.give_up_attempt(
    p_worker bigint, p_run uuid, p_step integer, p_task integer, p_batch bigint, p_error text,
    out p_verdict text, out p_tell_runs uuid[], out p_tell_workers bigint[]
) language plpgsql as $$
declare
    v_progress flow.progress;
begin
    perform from flow.run r where r.run_id = p_run for no key update;
    if cardinality(flow.lock_held(p_worker, array[
        row(1, p_run, p_step, p_task, p_batch, 'given_up', null, null, null, false)::flow.result])) = 0 then
        p_verdict := 'lost';
        return;
    end if;
    v_progress := flow.fail_run(p_run, p_step, p_error);
    p_verdict := 'accepted';
    p_tell_runs := v_progress.ended_runs;
    p_tell_workers := v_progress.workers;
end $$;
