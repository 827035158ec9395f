-- Fail a run because of a step, where no outcome of an attempt can be recorded. Changes nothing when the run has ended. The error text is
-- cut to 10,000 characters.
-- Returns the progress that was made. Locks the run.
create or replace function flow.fail_run(p_run uuid, p_step integer, p_error text, p_now timestamptz default clock_timestamp())
returns flow.progress language plpgsql as $$
declare
    v_workers bigint[];
begin
    perform from flow.run r where r.run_id = p_run and r.status = 'started' for no key update;
    if not found then
        return row('{}', '{}', '{}', '{}', '{}')::flow.progress;
    end if;
    v_workers := flow.abort_runs(array[row(p_run, p_step, left(p_error, 10000))::flow.cause], 'failed', p_now);
    return row('{}', array[p_run], '{}', v_workers, '{}')::flow.progress;
end $$;
