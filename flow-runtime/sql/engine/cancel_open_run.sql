-- Cancel a run that has not ended: its open steps and live tasks become cancelled, and their messages are removed. A run that has ended
-- keeps its status.
-- Returns the run's status afterwards and the progress that was made. Raises WF002 when there is no such run. Locks the run.
create or replace function flow.cancel_open_run(p_run uuid, out p_status flow.run_status, out p_progress flow.progress)
language plpgsql as $$
begin
    perform flow.require_read_committed();
    p_progress := row('{}', '{}', '{}', '{}', '{}');
    select r.status into p_status from flow.run r where r.run_id = p_run for no key update;
    if not found then
        raise exception 'there is no run %', p_run using errcode = 'WF002';
    end if;
    if p_status = 'started' then
        p_progress.workers := flow.abort_runs(array[row(p_run, null, null)::flow.cause], 'cancelled', clock_timestamp());
        p_progress.ended_runs := array[p_run];
        p_status := 'cancelled';
    end if;
end $$;
