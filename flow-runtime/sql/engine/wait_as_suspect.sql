-- Let held work wait as a suspect, without a message: each piece under the attempt number that p_work gives and with its limit in p_limits.
-- Returns the queues in which the work waits. The caller holds the locks of the work.
create or replace function flow.wait_as_suspect(p_work flow.work[], p_limits integer[], p_now timestamptz)
returns integer[] language plpgsql as $$
declare
    v_queues integer[];
begin
    with here as (
        select w.row_id, w.run_id, w.step_index, w.task_index, w.attempt, w.queue_id, w.suspect_limit
        from unnest(p_work, p_limits) w(
            run_id, step_index, task_index, flow_id, row_id, status, queue_id, attempt, worker_id, batch, claimed_at,
            timeout_ms, is_exhausted, suspect_limit)
    ), single as (
        update flow.step_state ss
        set attempt = h.attempt, worker_id = null, batch = null, claimed_at = null, timeout_ms = null, is_exhausted = false
        from here h where h.task_index < 0 and ss.ctid = h.row_id
        returning ss.run_id, ss.step_index, -1 as task_index, ss.queue_id, ss.queued_at, h.suspect_limit
    ), task as (
        update flow.task t
        set status = 'queued', attempt = h.attempt, worker_id = null, batch = null, claimed_at = null, timeout_ms = null,
            is_exhausted = false
        from here h where h.task_index >= 0 and t.ctid = h.row_id
        returning t.run_id, t.step_index, t.task_index, t.queue_id, t.queued_at, h.suspect_limit
    ), suspect as (
        insert into flow.suspect as s (run_id, step_index, task_index, queue_id, queued_at, suspect_limit)
        select u.run_id, u.step_index, u.task_index, u.queue_id, u.queued_at, u.suspect_limit
        from (select * from single union all select * from task) u
        order by u.run_id, u.step_index, u.task_index
        on conflict (run_id, step_index, task_index) do update
        set suspect_limit = excluded.suspect_limit, process_id = null, worker_id = null, batch = null
        returning s.queue_id
    )
    select array_agg(distinct s.queue_id) into v_queues from suspect s;
    return coalesce(v_queues, '{}');
end $$;
