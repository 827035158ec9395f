-- Give work that worker p_worker has claimed back unused: waiting and visible at once, the attempt not counted. The worker drains
-- from here on and claims nothing more, so that no (worker, attempt) pair ever occurs twice.
-- Returns one truth value a piece: whether the worker held that attempt; where not, nothing changed.
create or replace function flow.release_work(
    p_worker bigint, p_runs uuid[], p_steps integer[], p_tasks integer[], p_attempts integer[]
) returns boolean[] language plpgsql set lock_timeout = '10s' as $$
declare
    v_self flow.worker_state := flow.worker_state(p_worker);
    v_now timestamptz;
    v_held flow.work[];
    v_is_held boolean[];
begin
    -- The runs' locks come first: only under them may work be waited for.
    perform from (select distinct u.run_id from unnest(p_runs) u(run_id) order by u.run_id) u
    cross join lateral (select from flow.run r where r.run_id = u.run_id for no key update) r;
    v_now := clock_timestamp();
    v_held := flow.lock_work(flow.read_results(
        p_runs, p_steps, p_tasks, p_attempts, array_fill('released'::text, array[cardinality(p_runs)]), null, null, null));
    select coalesce(array_agg(coalesce(u.status = 'started' and u.worker_id = p_worker and u.attempt = u.sent
                                       and u.queue_id = v_self.queue_id, false) order by u.ord), '{}')
    into v_is_held
    from unnest(v_held, p_attempts) with ordinality u(
        run_id, step_index, task_index, flow_id, row_id, status, queue_id, message_id, attempt, worker_id, claimed_at, lease_until,
        is_exhausted, sent, ord);
    v_held := array(
        select w.work from (
            select row(u.run_id, u.step_index, u.task_index, u.flow_id, u.row_id, u.status, u.queue_id, u.message_id, u.attempt,
                       u.worker_id, u.claimed_at, u.lease_until, u.is_exhausted)::flow.work as work
            from unnest(v_held, v_is_held) u(
                run_id, step_index, task_index, flow_id, row_id, status, queue_id, message_id, attempt, worker_id, claimed_at,
                lease_until, is_exhausted, is_held)
            where u.is_held) w);
    if cardinality(v_held) > 0 then
        -- What was handed over without an attempt left has used none here: the next claim hands it over in the same way.
        update flow.step_state ss
        set worker_id = null, claimed_at = null, lease_until = null, is_exhausted = false,
            attempt = w.attempt - case when w.is_exhausted then 0 else 1 end
        from unnest(v_held) w where w.task_index < 0 and ss.ctid = w.row_id;
        update flow.task t
        set status = 'queued', worker_id = null, claimed_at = null, lease_until = null, is_exhausted = false,
            attempt = w.attempt - case when w.is_exhausted then 0 else 1 end
        from unnest(v_held) w where w.task_index >= 0 and t.ctid = w.row_id;
        perform flow.queue_hide(v_self.queue, array_agg(w.message_id), array_agg(v_now)) from unnest(v_held) w;
        perform flow.notify_ids('flow_queue', array[v_self.queue_id::text]);
    end if;
    -- Workers come after messages in the order of locks.
    update flow.worker w set draining_at = clock_timestamp()
    where w.worker_id = p_worker and w.draining_at is null;
    return v_is_held;
end $$;
