-- Claim up to p_limit visible tasks of a worker's queue, each under a lease of p_lease_ms. The whole batch is classified
-- before anything is changed: one corrupt message pauses the queue, one misrouted message disables the worker's name,
-- and then nothing is claimed.
-- Returns p_state (ok | corrupt | misrouted) with the reason, whether as many messages were there as were asked for,
-- one entry a claimed task, and each value that the tasks need once (step -1 is the run's input).
-- Takes messages, then tasks, and skips what is locked: it never waits for a row.
create or replace function flow.claim_tasks(
    p_worker bigint, p_self flow.worker_state, p_limit integer, p_lease_ms bigint,
    out p_state text, out p_reason text, out p_more boolean, out p_now timestamptz,
    out p_runs uuid[], out p_steps integer[], out p_tasks integer[], out p_attempts integer[], out p_items text[],
    out p_timeouts_ms bigint[], out p_exhausted boolean[],
    out p_value_runs uuid[], out p_value_steps integer[], out p_values text[]
) language plpgsql as $$
declare
    v_read record;
    v_runs uuid[];
    v_steps integer[];
    v_tasks integer[];
    v_batch flow.sighting[];
    v_lease_until timestamptz;
    v_messages bigint[];
    v_until timestamptz[];
begin
    p_state := 'ok';
    p_more := false;
    p_now := clock_timestamp();
    select * into v_read from flow.queue_read(p_self.queue, p_limit, p_now);
    if v_read.p_ids is null then
        return;
    end if;
    p_more := cardinality(v_read.p_ids) >= p_limit;
    v_lease_until := p_now + p_lease_ms * interval '1 ms';

    begin
        select array_agg((b.body ->> 'run')::uuid order by b.ord), array_agg((b.body ->> 'step')::integer order by b.ord),
               array_agg((b.body ->> 'task')::integer order by b.ord)
        into v_runs, v_steps, v_tasks
        from unnest(v_read.p_bodies) with ordinality b(body, ord);
    exception when data_exception then
        select array_agg(m.p_run order by b.ord), array_agg(m.p_step order by b.ord), array_agg(m.p_task order by b.ord)
        into v_runs, v_steps, v_tasks
        from unnest(v_read.p_bodies) with ordinality b(body, ord) cross join lateral flow.read_message(b.body) m;
    end;

    -- A second statement, so that its snapshot is newer than the messages it looks at.
    select array_agg(row(m.message_id, t.run_id, t.step_index, t.task_index, t.row_id, t.attempt, t.worker_id,
                         t.lease_until, s.timeout_ms, case
               when t.row_id is null then case
                   when exists (select from flow.task b where b.run_id = m.run_id and b.step_index = m.step_index
                                and b.task_index = m.task_index)
                   then 'busy' else 'corrupt' end
               when t.message_id <> m.message_id or t.queue_id <> p_self.queue_id then 'corrupt'
               when t.status not in ('queued', 'started') then 'terminal'
               when t.flow_id <> p_self.flow_id or t.step_index <> all (p_self.steps) then 'misrouted'
               when t.lease_until > p_now then 'duplicate'
               when t.attempt >= s.max_attempts then 'exhausted'
               when t.status = 'queued' then 'queued'
               else 'expired'
           end)::flow.sighting order by m.ord)
    into v_batch
    from unnest(v_read.p_ids, v_runs, v_steps, v_tasks) with ordinality m(message_id, run_id, step_index, task_index, ord)
    left join lateral (
        select l.ctid as row_id, l.* from flow.task l
        where l.run_id = m.run_id and l.step_index = m.step_index and l.task_index = m.task_index
        for update skip locked
    ) t on true
    left join lateral (
        select s.timeout_ms, s.max_attempts from flow.step s
        where s.flow_id = t.flow_id and s.step_index = t.step_index offset 0
    ) s on true;

    if exists (select from unnest(v_batch) b where b.kind in ('corrupt', 'misrouted')) then
        select r.p_state, r.p_reason into p_state, p_reason from flow.refuse_batch(p_worker, p_self, v_batch) r;
        p_more := false;
        return;
    end if;

    update flow.task t
    set status = 'started', worker_id = p_worker, started_at = p_now, lease_until = v_lease_until,
        attempt = b.attempt + case when b.kind = 'exhausted' then 0 else 1 end
    from unnest(v_batch) b
    where t.ctid = b.row_id and b.kind in ('queued', 'expired', 'exhausted');

    select array_agg(b.message_id), array_agg(case b.kind
               when 'busy' then p_now + interval '1 s'
               when 'duplicate' then b.lease_until
               else v_lease_until end)
    into v_messages, v_until
    from unnest(v_batch) b where b.kind <> 'terminal';
    if v_messages is not null and flow.queue_hide(p_self.queue, v_messages, v_until) <> cardinality(v_messages) then
        raise exception 'queue "%": a message vanished while its task was claimed', p_self.queue
            using errcode = 'WF021';
    end if;

    if exists (select from unnest(v_batch) b where b.kind = 'terminal') then
        perform flow.queue_remove(
            p_self.queue, array(select b.message_id from unnest(v_batch) b where b.kind = 'terminal'));
    end if;
    -- A queued task is exhausted too when its step has been given fewer attempts since; its last failure is on record.
    if exists (select from unnest(v_batch) b where b.kind in ('expired', 'exhausted')) then
        insert into flow.attempt_error (run_id, step_index, task_index, attempt, cause, error, worker_id, at)
        select b.run_id, b.step_index, b.task_index, b.attempt, 'lease_expired',
               'the lease ended before the attempt was settled', b.worker_id, p_now
        from unnest(v_batch) b where b.lease_until is not null and b.kind in ('expired', 'exhausted')
        on conflict (run_id, step_index, task_index, attempt) do nothing;
    end if;

    select array_agg(b.run_id), array_agg(b.step_index), array_agg(b.task_index),
           array_agg(b.attempt + case when b.kind = 'exhausted' then 0 else 1 end),
           array_agg(b.timeout_ms), array_agg(b.kind = 'exhausted')
    into p_runs, p_steps, p_tasks, p_attempts, p_timeouts_ms, p_exhausted
    from unnest(v_batch) b where b.kind in ('queued', 'expired', 'exhausted');
    if p_runs is not null then
        select v.p_items, v.p_value_runs, v.p_value_steps, v.p_values
        into p_items, p_value_runs, p_value_steps, p_values
        from flow.task_values(p_self, p_runs, p_steps, p_tasks) v;
    end if;
end $$;
