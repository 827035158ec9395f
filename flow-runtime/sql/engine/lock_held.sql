-- Lock the work that the given results name, and return what worker p_worker holds of it under the results' batches, in the order of the
-- results.
-- The caller holds the locks of the runs.
create or replace function flow.lock_held(p_worker bigint, p_results flow.result[]) returns flow.work[] language plpgsql as $$
declare
    v_work flow.work[] := flow.lock_work(p_results);
begin
    -- Each piece of work is returned once, however often it is named, because the callers send it a message.
    return array(
        select h.work from (
            select distinct on (u.held_run, u.held_step, u.held_task) u.ord, row(
                u.held_run, u.held_step, u.held_task, u.flow_id, u.row_id, u.status, u.queue_id, u.attempt, u.worker_id,
                u.held_batch, u.claimed_at, u.timeout_ms, u.is_exhausted)::flow.work as work
            from unnest(p_results, v_work) u(
                ord, run_id, step_index, task_index, batch, outcome, output, error, delay_ms, is_repeat,
                held_run, held_step, held_task, flow_id, row_id, status, queue_id, attempt, worker_id, held_batch,
                claimed_at, timeout_ms, is_exhausted)
            where u.status = 'started' and u.worker_id = p_worker and u.held_batch = u.batch
            order by u.held_run, u.held_step, u.held_task) h
        order by h.ord);
end $$;
