-- Return the work of a single step, read from its step state. The status is null when the step has never been enqueued.
create or replace function flow.single_work(p_state flow.step_state, p_row tid) returns flow.work language sql stable as $$
    select row(p_state.run_id, p_state.step_index, -1, p_state.flow_id, p_row,
               flow.work_status(p_state.status, p_state.skip_reason, p_state.queued_at, p_state.worker_id),
               p_state.queue_id, p_state.attempt, p_state.worker_id, p_state.batch, p_state.claimed_at,
               p_state.timeout_ms, p_state.is_exhausted)::flow.work
$$;
