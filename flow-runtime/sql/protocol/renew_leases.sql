-- Extend the leases of tasks that worker p_worker runs by p_lease_ms from now, never past the attempt's start plus its
-- timeout plus ten seconds, and write the worker's heartbeat. The arrays may be empty.
-- Returns one verdict a task: renewed | lost (with a reason in p_reasons: cancelled | skipped | taken | gone) | busy
-- (locked by somebody else, to be asked again), and the worker's own state as flow.exchange does.
-- Never waits for a task.
create or replace function flow.renew_leases(
    p_worker bigint, p_lease_ms bigint,
    p_runs uuid[], p_steps integer[], p_tasks integer[], p_attempts integer[],
    out p_state text, out p_reason text, out p_verdicts text[], out p_reasons text[]
) language plpgsql as $$
declare
    v_self flow.worker_state := flow.worker_state(p_worker);
    v_now timestamptz;
    v_rows tid[];
    v_are_single boolean[];
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
    with sent as (
        select u.*, coalesce(ss.row_id, t.row_id) as row_id,
               least(v_now + p_lease_ms * interval '1 ms',
                     coalesce(ss.claimed_at, t.claimed_at) + s.timeout_ms * interval '1 ms' + interval '10 s') as until,
               coalesce(ss.message_id, t.message_id) as message_id
        from unnest(p_runs, p_steps, p_tasks, p_attempts) with ordinality u(run_id, step_index, task_index, attempt, ord)
        left join lateral (
            select l.ctid as row_id, l.claimed_at, l.message_id from flow.step_state l
            where u.task_index < 0 and l.run_id = u.run_id and l.step_index = u.step_index
              and l.status = 'started' and l.worker_id = p_worker and l.attempt = u.attempt and l.queue_id = v_self.queue_id
            for update skip locked
        ) ss on true
        left join lateral (
            select l.ctid as row_id, l.claimed_at, l.message_id from flow.task l
            where u.task_index >= 0 and l.run_id = u.run_id and l.step_index = u.step_index and l.task_index = u.task_index
              and l.status = 'started' and l.worker_id = p_worker and l.attempt = u.attempt and l.queue_id = v_self.queue_id
            for update skip locked
        ) t on true
        left join lateral (
            select s.timeout_ms from flow.step s
            where s.flow_id = v_self.flow_id and s.step_index = u.step_index offset 0
        ) s on true
    ), looked as (
        select n.*, case when n.row_id is null then flow.why_lost(p_worker, n.run_id, n.step_index, n.task_index, n.attempt) end as why
        from sent n
    )
    select array_agg(case when l.row_id is not null then 'renewed' when l.why is null then 'busy' else 'lost' end order by l.ord),
           array_agg(l.why order by l.ord),
           array_agg(l.row_id order by l.ord) filter (where l.row_id is not null),
           array_agg(l.task_index < 0 order by l.ord) filter (where l.row_id is not null),
           array_agg(l.until order by l.ord) filter (where l.row_id is not null),
           array_agg(l.message_id order by l.ord) filter (where l.row_id is not null)
    into p_verdicts, p_reasons, v_rows, v_are_single, v_until, v_messages
    from looked l;
    p_verdicts := coalesce(p_verdicts, '{}');
    p_reasons := coalesce(p_reasons, '{}');
    if v_rows is not null then
        update flow.step_state ss set lease_until = r.until
        from unnest(v_rows, v_are_single, v_until) r(row_id, is_single, until) where r.is_single and ss.ctid = r.row_id;
        update flow.task t set lease_until = r.until
        from unnest(v_rows, v_are_single, v_until) r(row_id, is_single, until) where not r.is_single and t.ctid = r.row_id;
        perform flow.queue_hide(v_self.queue, v_messages, v_until);
    end if;
    -- Workers come after messages in the order of locks: a claim that disables this name holds messages.
    update flow.worker w set seen_at = clock_timestamp() where w.worker_id = p_worker;
end $$;
