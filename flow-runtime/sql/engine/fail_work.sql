-- Record attempts that did not succeed. Work that the failure lets retry waits again; other work has failed, and its step or run goes on as
-- the failure's `mode` says. A failure whose work was ended by an earlier part of the same call is left out.
-- Returns the progress that was made, and the failures that count (p_failed). The caller holds the locks of runs and work.
create or replace function flow.fail_work(
    p_failures flow.failure[], p_now timestamptz, out p_progress flow.progress, out p_failed flow.failure[]
) language plpgsql as $$
declare
    v_ended flow.failure[];
begin
    p_progress := row('{}', '{}', '{}', '{}', '{}');
    -- A locked row that is no longer started under its ctid was ended by an earlier part of this call.
    p_failed := array(
        select f from unnest(p_failures) f
        where case when f.task_index < 0 then exists (
                  select from flow.step_state ss where ss.ctid = f.row_id and ss.run_id = f.run_id and ss.status = 'started')
              else exists (
                  select from flow.task t where t.ctid = f.row_id and t.run_id = f.run_id and t.status = 'started') end
        order by f.ord);

    insert into flow.attempt_error (run_id, step_index, task_index, worker_id, batch, attempt, cause, error, at)
    select f.run_id, f.step_index, f.task_index, f.worker_id, f.batch, f.attempt, f.cause, f.error, p_now
    from unnest(p_failed) f where not f.is_recorded
    on conflict (run_id, step_index, task_index, worker_id, batch) do nothing;

    if exists (select from unnest(p_failed) f where f.is_retried) then
        p_progress.queues := (
            select flow.wait_again(
                array_agg(row(f.run_id, f.step_index, f.task_index, f.flow_id, f.row_id, 'started', f.queue_id, f.attempt,
                              f.worker_id, f.batch, null, null, false)::flow.work order by f.ord),
                array_agg(p_now + f.wait_ms * interval '1 ms' order by f.ord), p_now)
            from unnest(p_failed) f where f.is_retried);
    end if;

    v_ended := array(select f from unnest(p_failed) f where not f.is_retried);
    if cardinality(v_ended) > 0 then
        -- Only tasks become failed here: flow.end_failed_steps gives a single step the status that its mode asks for.
        update flow.task t set status = 'failed', ended_at = p_now
        from unnest(v_ended) f where f.task_index >= 0 and t.ctid = f.row_id;
        p_progress := flow.join_progress(p_progress, flow.end_failed_steps(v_ended, p_now));
    end if;
end $$;
