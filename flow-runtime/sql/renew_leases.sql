-- Extend the leases of tasks that worker p_worker runs by p_lease_ms from now, never past the attempt's start plus its
-- timeout plus ten seconds, and write the worker's heartbeat. The arrays may be empty.
-- Returns one verdict a task: renewed | lost (with a reason in p_reasons: cancelled | skipped | taken | gone) | busy
-- (locked by somebody else, to be asked again), and the worker's own state as flow.exchange does.
-- Never waits for a task.
create or replace function flow.renew_leases(
    p_worker bigint, p_lease_ms bigint,
    p_runs uuid[], p_steps integer[], p_tasks integer[], p_attempts integer[],
    out p_state text, out p_reason text, out p_verdicts text[], out p_reasons text[]
) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set enable_memoize = off set join_collapse_limit = 1 set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
    v_self flow.worker_state := flow.worker_state(p_worker);
    v_now timestamptz;
    v_rows tid[];
    v_until timestamptz[];
    v_messages bigint[];
begin
    p_state := v_self.state;
    p_reason := v_self.reason;
    if v_self.state = 'worker_gone' then
        p_verdicts := array_fill('lost'::text, array[cardinality(p_runs)]);
        p_reasons := array_fill('gone'::text, array[cardinality(p_runs)]);
        return;
    end if;
    v_now := clock_timestamp();
    select array_agg(case when l.row_id is not null then 'renewed' when b.is_held then 'busy' else 'lost' end
                     order by u.ord),
           array_agg(case when l.row_id is not null or b.is_held then null
                          when b.status is null then 'gone'
                          when b.status in ('cancelled', 'skipped') then b.status::text
                          else 'taken' end order by u.ord),
           array_agg(l.row_id order by u.ord) filter (where l.row_id is not null),
           array_agg(least(v_now + p_lease_ms * interval '1 ms',
                           l.started_at + s.timeout_ms * interval '1 ms' + interval '10 s') order by u.ord)
               filter (where l.row_id is not null),
           array_agg(l.message_id order by u.ord) filter (where l.row_id is not null)
    into p_verdicts, p_reasons, v_rows, v_until, v_messages
    from unnest(p_runs, p_steps, p_tasks, p_attempts) with ordinality u(run_id, step_index, task_index, attempt, ord)
    left join lateral (
        select t.ctid as row_id, t.started_at, t.message_id, t.flow_id from flow.task t
        where t.run_id = u.run_id and t.step_index = u.step_index and t.task_index = u.task_index
          and t.status = 'started' and t.worker_id = p_worker and t.attempt = u.attempt
          and t.queue_id = v_self.queue_id
        for update skip locked
    ) l on true
    left join lateral (
        select t.status, t.status = 'started' and t.worker_id = p_worker and t.attempt = u.attempt as is_held
        from flow.task t
        where t.run_id = u.run_id and t.step_index = u.step_index and t.task_index = u.task_index offset 0
    ) b on true
    left join lateral (
        select s.timeout_ms from flow.step s
        where s.flow_id = v_self.flow_id and s.step_index = u.step_index offset 0
    ) s on true;
    p_verdicts := coalesce(p_verdicts, '{}');
    p_reasons := coalesce(p_reasons, '{}');
    if v_rows is not null then
        update flow.task t set lease_until = r.until
        from unnest(v_rows, v_until) r(row_id, until) where t.ctid = r.row_id;
        perform flow.queue_hide(v_self.queue, v_messages, v_until);
    end if;
    -- Workers come after messages in the order of locks: a claim that disables this name holds messages.
    update flow.worker w set seen_at = clock_timestamp() where w.worker_id = p_worker;
end $$;
