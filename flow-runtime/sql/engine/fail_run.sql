-- Fail a run because of a step, as the last resort for what can be recorded in no other way. Changes nothing when the run has ended.
-- Returns what this has brought about.
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
