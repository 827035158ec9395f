-- Start runs of flow p_slug, one for each input, and enqueue their root steps, in the caller's transaction.
-- p_run_ids, p_keys and p_start_at are empty or hold one entry a run, null where none is given. A run id or an idempotency key that is used
-- already gives the existing run.
-- Returns the run ids in the order of the inputs. Raises WF001 (no such flow), WF004 (the input must be an array, or another argument does
-- not fit), WF005 (the id belongs to another flow's run), WF006 (too large), WF008 (cannot be stored); nothing is written then. Shares the
-- lock of the flow's starts with other starts, then locks keys in order.
create or replace function flow.start_runs(
    p_slug text, p_inputs text[], p_run_ids uuid[] default '{}', p_keys text[] default '{}',
    p_start_at timestamptz[] default '{}'
) returns uuid[] language plpgsql as $$
declare
    v_started record;
begin
    select * into v_started from flow.start_runs_quietly(p_slug, p_inputs, p_run_ids, p_keys, p_start_at, false);
    perform flow.tell(row('{}', v_started.p_tell_runs, v_started.p_tell_queues, v_started.p_tell_workers, '{}')::flow.progress);
    return v_started.p_ids;
end $$;
