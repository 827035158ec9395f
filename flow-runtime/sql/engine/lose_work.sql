-- Take work away from a worker that has not settled it in time. The attempt is used; the work waits again while attempts are left, else its
-- step or run goes on as `when_exhausted` says. The work is no suspect any more. An attempt that is recorded already keeps its record.
-- Returns the progress that was made. The caller holds the locks of runs and work.
create or replace function flow.lose_work(p_work flow.work[], p_now timestamptz) returns flow.progress language plpgsql as $$
declare
    v_failures flow.failure[];
    v_progress flow.progress;
begin
    v_failures := array(
        select row(w.ord, w.run_id, w.step_index, w.task_index, w.flow_id, w.row_id, w.queue_id, w.worker_id, w.batch, w.attempt,
                   'lease_expired', coalesce(e.error, 'the lease ended before the attempt was settled'), w.is_exhausted,
                   w.attempt < s.max_attempts, 0, s.max_attempts, s.when_exhausted)::flow.failure
        from unnest(p_work) with ordinality w(
            run_id, step_index, task_index, flow_id, row_id, status, queue_id, attempt, worker_id, batch, claimed_at,
            timeout_ms, is_exhausted, ord)
        cross join lateral (
            select s.max_attempts, s.when_exhausted from flow.step s
            where s.flow_id = w.flow_id and s.step_index = w.step_index offset 0
        ) s
        -- Exhausted work fails with the error of its last attempt.
        left join lateral (
            select e.error from flow.attempt_error e
            where w.is_exhausted and e.run_id = w.run_id and e.step_index = w.step_index and e.task_index = w.task_index
              and e.attempt = w.attempt and e.used_attempt limit 1
        ) e on true
        order by w.run_id, w.step_index, w.task_index);
    delete from flow.suspect s
    using unnest(p_work) w
    cross join lateral (
        select l.ctid as row_id from flow.suspect l
        where l.run_id = w.run_id and l.step_index = w.step_index and l.task_index = w.task_index for update
    ) l
    where s.ctid = l.row_id;
    v_progress := (select f.p_progress from flow.fail_work(v_failures, p_now) f);
    return flow.count_down_runs(v_progress, p_now);
end $$;
