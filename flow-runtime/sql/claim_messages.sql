-- Claim the tasks of messages that were read and are hidden until p_lease_until. The whole batch is classified before any task is
-- changed: one corrupt message pauses the queue, one misrouted message disables the worker's name, and then nothing is claimed.
-- Returns p_state (ok | corrupt | misrouted) with the reason, one entry a claimed task, and each value that the tasks need once
-- (step -1 is the run's input). Skips tasks that are locked: it never waits for a row.
create or replace function flow.claim_messages(
    p_worker bigint, p_self flow.worker_state, p_messages bigint[], p_bodies jsonb[],
    p_now timestamptz, p_lease_until timestamptz,
    out p_state text, out p_reason text,
    out p_runs uuid[], out p_steps integer[], out p_tasks integer[], out p_attempts integer[], out p_items text[],
    out p_timeouts_ms bigint[], out p_exhausted boolean[],
    out p_value_runs uuid[], out p_value_steps integer[], out p_values text[]
) language plpgsql as $$
declare
    v_runs uuid[];
    v_steps integer[];
    v_tasks integer[];
    v_unusual record;
begin
    p_state := 'ok';
    begin
        select array_agg((b.body ->> 'run')::uuid order by b.ord), array_agg((b.body ->> 'step')::integer order by b.ord),
               array_agg((b.body ->> 'task')::integer order by b.ord)
        into v_runs, v_steps, v_tasks
        from unnest(p_bodies) with ordinality b(body, ord);
    exception when data_exception then
        select array_agg(m.p_run order by b.ord), array_agg(m.p_step order by b.ord), array_agg(m.p_task order by b.ord)
        into v_runs, v_steps, v_tasks
        from unnest(p_bodies) with ordinality b(body, ord) cross join lateral flow.read_message(b.body) m;
    end;

    -- A second statement, so that its snapshot is newer than the messages it looks at. It claims the batch when every
    -- task of it is queued, as nearly always, and nothing else.
    with seen as (
        select t.row_id, s.timeout_ms, m.ord,
               coalesce(t.status = 'queued' and t.message_id = m.message_id and t.queue_id = p_self.queue_id
                        and t.flow_id = p_self.flow_id and t.step_index = any (p_self.steps)
                        and t.attempt < s.max_attempts, false) as is_usual
        from unnest(p_messages, v_runs, v_steps, v_tasks) with ordinality
             m(message_id, run_id, step_index, task_index, ord)
        left join lateral (
            select l.ctid as row_id, l.status, l.message_id, l.queue_id, l.flow_id, l.step_index, l.attempt
            from flow.task l
            where l.run_id = m.run_id and l.step_index = m.step_index and l.task_index = m.task_index
            for update skip locked
        ) t on true
        left join lateral (
            select s.timeout_ms, s.max_attempts from flow.step s
            where s.flow_id = t.flow_id and s.step_index = t.step_index offset 0
        ) s on true
    ), claimed as (
        update flow.task t
        set status = 'started', worker_id = p_worker, started_at = p_now, lease_until = p_lease_until,
            attempt = t.attempt + 1
        from seen b
        where t.ctid = b.row_id and (select bool_and(a.is_usual) from seen a)
        returning b.ord, t.run_id, t.step_index, t.task_index, t.attempt, t.item, b.timeout_ms
    )
    select array_agg(c.run_id order by c.ord), array_agg(c.step_index order by c.ord),
           array_agg(c.task_index order by c.ord), array_agg(c.attempt order by c.ord),
           array_agg(c.item::text order by c.ord), array_agg(c.timeout_ms order by c.ord),
           array_agg(false order by c.ord)
    into p_runs, p_steps, p_tasks, p_attempts, p_items, p_timeouts_ms, p_exhausted
    from claimed c;

    if p_runs is null then
        select * into v_unusual from flow.claim_unusual(
            p_worker, p_self, p_messages, v_runs, v_steps, v_tasks, p_now, p_lease_until);
        p_state := v_unusual.p_state;
        p_reason := v_unusual.p_reason;
        p_runs := v_unusual.p_runs;
        p_steps := v_unusual.p_steps;
        p_tasks := v_unusual.p_tasks;
        p_attempts := v_unusual.p_attempts;
        p_items := v_unusual.p_items;
        p_timeouts_ms := v_unusual.p_timeouts_ms;
        p_exhausted := v_unusual.p_exhausted;
    elsif cardinality(p_runs) <> cardinality(p_messages) then
        raise exception 'queue "%": % messages were hidden and % tasks claimed', p_self.queue,
            cardinality(p_messages), cardinality(p_runs) using errcode = 'WF021';
    end if;
    if p_runs is not null then
        select v.p_runs, v.p_steps, v.p_values into p_value_runs, p_value_steps, p_values
        from flow.shared_values(p_self, p_runs, p_steps) v;
    end if;
end $$;
