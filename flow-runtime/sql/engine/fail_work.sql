-- Record attempts that did not succeed: their work waits again while attempts are left and the failure allows it, else it has failed,
-- and its step or run goes on as `mode` says. A failure whose work an earlier part of this batch has ended is left out.
-- Returns what this has brought about, and the failures that count. The caller holds the locks of runs and work.
create or replace function flow.fail_work(
    p_self flow.worker_state, p_failures flow.failure[], p_now timestamptz,
    out p_progress flow.progress, out p_failed flow.failure[]
) language plpgsql as $$
declare
    v_ended flow.failure[];
begin
    p_progress := row('{}', '{}', '{}', '{}');
    with single as (
        -- What becomes of a step that failed for good is said below, by its mode.
        update flow.step_state ss
        set worker_id = case when not f.is_retried then ss.worker_id end,
            claimed_at = case when not f.is_retried then ss.claimed_at end,
            lease_until = case when not f.is_retried then ss.lease_until end
        from unnest(p_failures) f
        where f.task_index < 0 and ss.ctid = f.row_id and ss.status = 'started'
        returning f.ord
    ), task as (
        update flow.task t
        set status = case when f.is_retried then 'queued' else 'failed' end::flow.task_status,
            worker_id = case when not f.is_retried then t.worker_id end,
            claimed_at = case when not f.is_retried then t.claimed_at end,
            ended_at = case when not f.is_retried then p_now end,
            lease_until = null
        from unnest(p_failures) f
        where f.task_index >= 0 and t.ctid = f.row_id and t.status = 'started'
        returning f.ord
    )
    select array(select f from unnest(p_failures) f
                 where f.ord in (select s.ord from single s union all select t.ord from task t))
    into p_failed;

    insert into flow.attempt_error (run_id, step_index, task_index, attempt, cause, error, worker_id, at)
    select f.run_id, f.step_index, f.task_index, f.attempt, f.cause, f.error, p_self.worker_id, p_now
    from unnest(p_failed) f
    on conflict (run_id, step_index, task_index, attempt) do nothing;

    perform flow.queue_hide(p_self.queue, array_agg(f.message_id), array_agg(p_now + f.wait_ms * interval '1 ms'))
    from unnest(p_failed) f where f.is_retried having count(*) > 0;
    if exists (select from unnest(p_failed) f where f.is_retried and f.wait_ms = 0) then
        p_progress.queues := array[p_self.queue_id];
    end if;

    v_ended := array(select f from unnest(p_failed) f where not f.is_retried);
    if cardinality(v_ended) > 0 then
        perform flow.queue_remove(p_self.queue, array(select f.message_id from unnest(v_ended) f));
        p_progress := flow.join_progress(p_progress, flow.end_failed_steps(v_ended, p_now));
    end if;
end $$;
