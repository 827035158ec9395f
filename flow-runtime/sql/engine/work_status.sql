-- Return the status of a single step's work, in the statuses of a task; null when the step has never been enqueued.
create or replace function flow.work_status(
    p_status flow.step_status, p_reason flow.skip_reason, p_queued_at timestamptz, p_worker bigint
) returns flow.task_status language sql immutable as $$
    select case
        when p_queued_at is null then null
        when p_status = 'started' and p_worker is null then 'queued'::flow.task_status
        when p_status = 'started' then 'started'
        when p_status = 'completed' then 'completed'
        when p_status = 'cancelled' then 'cancelled'
        else 'failed' -- or skipped: work that was begun is skipped only when its handler has failed
    end
$$;
