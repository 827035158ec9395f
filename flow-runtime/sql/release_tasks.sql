-- Give tasks that worker p_worker has claimed back unused: queued and visible at once, the attempt not counted. The
-- worker drains from here on and claims nothing more, so that no (worker, attempt) pair ever occurs twice.
-- Returns one truth value a task: whether the worker held that attempt; where not, nothing changed.
create or replace function flow.release_tasks(
    p_worker bigint, p_runs uuid[], p_steps integer[], p_tasks integer[], p_attempts integer[]
) returns boolean[] language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set enable_memoize = off set join_collapse_limit = 1 set plan_cache_mode = force_generic_plan set jit = off set lock_timeout = '10s'
as $$
declare
    v_self flow.worker_state := flow.worker_state(p_worker);
    v_now timestamptz;
    v_rows tid[];
    v_messages bigint[];
    v_exhausted boolean[];
    v_released boolean[];
begin
    -- The runs' locks come first: only under them may a task be waited for.
    perform from (select distinct u.run_id from unnest(p_runs) u(run_id) order by u.run_id) u
    cross join lateral (select from flow.run r where r.run_id = u.run_id for no key update) r;
    v_now := clock_timestamp();
    select array_agg(l.row_id is not null order by u.ord),
           array_agg(l.row_id) filter (where l.row_id is not null),
           array_agg(l.message_id) filter (where l.row_id is not null),
           array_agg(exists (
               select from flow.attempt_error e
               where e.run_id = u.run_id and e.step_index = u.step_index and e.task_index = u.task_index
                 and e.attempt = u.attempt offset 0)) filter (where l.row_id is not null)
    into v_released, v_rows, v_messages, v_exhausted
    from (select * from unnest(p_runs, p_steps, p_tasks, p_attempts) with ordinality
               u(run_id, step_index, task_index, attempt, ord)
          order by u.run_id, u.step_index, u.task_index) u
    left join lateral (
        select t.ctid as row_id, t.message_id from flow.task t
        where t.run_id = u.run_id and t.step_index = u.step_index and t.task_index = u.task_index
          and t.status = 'started' and t.worker_id = p_worker and t.attempt = u.attempt
          and t.queue_id = v_self.queue_id
        for update
    ) l on true;
    if v_rows is not null then
        -- A task that was handed over as exhausted has its last attempt on record: it stays started with its lease
        -- over, so that the next claim hands it over in the same way.
        update flow.task t
        set status = case when e.is_exhausted then 'started' else 'queued' end::flow.task_status,
            attempt = case when e.is_exhausted then t.attempt else t.attempt - 1 end,
            worker_id = case when e.is_exhausted then t.worker_id end,
            started_at = case when e.is_exhausted then t.started_at end,
            lease_until = case when e.is_exhausted then v_now end
        from unnest(v_rows, v_exhausted) e(row_id, is_exhausted) where t.ctid = e.row_id;
        perform flow.queue_hide(v_self.queue, v_messages, array_fill(v_now, array[cardinality(v_messages)]));
        perform flow.notify_ids('flow_queue', array[v_self.queue_id::text]);
    end if;
    -- Workers come after messages in the order of locks.
    update flow.worker w set draining_at = clock_timestamp()
    where w.worker_id = p_worker and w.draining_at is null;
    return coalesce(v_released, '{}');
end $$;
