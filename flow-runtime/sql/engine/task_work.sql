-- Return the work of a map's task, read from its row.
create or replace function flow.task_work(p_task flow.task, p_row tid) returns flow.work language sql stable as $$
    select row(p_task.run_id, p_task.step_index, p_task.task_index, p_task.flow_id, p_row, p_task.status, p_task.queue_id,
               p_task.attempt, p_task.worker_id, p_task.batch, p_task.claimed_at, p_task.timeout_ms,
               p_task.is_exhausted)::flow.work
$$;
