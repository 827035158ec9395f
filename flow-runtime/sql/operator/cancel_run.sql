-- Cancel a run: its open steps and live tasks become cancelled, their messages are removed, and the workers that hold
-- some of the work are told. Returns the run's status afterwards; a run that has ended keeps its own. Raises WF002 when there
-- is no such run.
create or replace function flow.cancel_run(run_id uuid) returns flow.run_status language plpgsql as $$
declare
    v_status flow.run_status;
    v_workers bigint[];
begin
    perform flow.require_read_committed();
    select r.status into v_status from flow.run r where r.run_id = cancel_run.run_id for no key update;
    if not found then
        raise exception 'there is no run %', cancel_run.run_id using errcode = 'WF002';
    end if;
    if v_status <> 'started' then
        return v_status;
    end if;
    v_workers := flow.end_runs(array[row(cancel_run.run_id, null, null)::flow.cause], 'cancelled', clock_timestamp());
    perform flow.tell(row('{}', array[cancel_run.run_id], '{}', v_workers, '{}')::flow.progress);
    return 'cancelled';
end $$;
