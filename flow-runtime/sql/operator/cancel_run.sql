-- Cancel a run: its open steps and live tasks become cancelled, their messages are removed, and the workers that hold some of the work are
-- notified.
-- Returns the run's status afterwards; a run that has ended keeps its status. Raises WF002 when there is no such run.
create or replace function flow.cancel_run(run_id uuid) returns flow.run_status language plpgsql as $$
declare
    v_aborted record;
begin
    select * into v_aborted from flow.cancel_open_run(cancel_run.run_id);
    perform flow.tell(v_aborted.p_progress);
    return v_aborted.p_status;
end $$;
