-- End started runs before their time, as failed (with the step and text that caused it) or cancelled: their live tasks
-- and open steps become cancelled and their messages leave the queues. What has ended already stays as it is.
-- Returns the workers that were running some of the tasks. The caller holds the runs' locks.
create or replace function flow.end_runs(
    p_runs uuid[], p_status flow.run_status, p_error_steps integer[], p_errors text[], p_now timestamptz,
    out p_workers bigint[]
) language plpgsql as $$
begin
    update flow.step_state ss
    set status = 'failed', error = e.error, ended_at = p_now
    from unnest(p_runs, p_error_steps, p_errors) e(run_id, step_index, error)
    cross join lateral (
        select t.ctid as row_id from flow.step_state t
        where t.run_id = e.run_id and t.step_index = e.step_index and t.status in ('created', 'started') offset 0
    ) t
    where ss.ctid = t.row_id;

    p_workers := flow.end_tasks(p_runs, null, 'cancelled', p_now);

    update flow.step_state ss
    set status = 'cancelled', ended_at = p_now
    from unnest(p_runs) e(run_id)
    cross join lateral (
        select t.ctid as row_id from flow.step_state t
        where t.run_id = e.run_id and t.status in ('created', 'started') offset 0
    ) t
    where ss.ctid = t.row_id;

    update flow.run r
    set status = p_status, ended_at = p_now, error_step = e.step_index, error = e.error,
        remaining_steps = 0
    from unnest(p_runs, p_error_steps, p_errors) e(run_id, step_index, error)
    cross join lateral (
        select t.ctid as row_id from flow.run t where t.run_id = e.run_id and t.status = 'started' offset 0
    ) t
    where r.ctid = t.row_id;
end $$;
