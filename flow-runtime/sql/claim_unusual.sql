-- Classify a batch of messages that were read and of which at least one is not that of a queued task this worker serves,
-- and act on it as a whole: claim what is queued or has lost its lease, hand over what has no attempt left, hide what is
-- busy or running, remove what has ended; or claim nothing and refuse the batch when a message is corrupt or misrouted.
-- The arrays hold one entry a message, hidden until p_lease_until. Returns as flow.claim_tasks does.
create or replace function flow.claim_unusual(
    p_worker bigint, p_self flow.worker_state, p_messages bigint[], p_message_runs uuid[], p_message_steps integer[],
    p_message_tasks integer[], p_now timestamptz, p_lease_until timestamptz,
    out p_state text, out p_reason text,
    out p_runs uuid[], out p_steps integer[], out p_tasks integer[], out p_attempts integer[], out p_items text[],
    out p_timeouts_ms bigint[], out p_exhausted boolean[]
) language plpgsql as $$
declare
    v_batch flow.sighting[];
    v_removed bigint[];
begin
    select array_agg(row(m.message_id, t.run_id, t.step_index, t.task_index, t.row_id, t.attempt, t.worker_id,
                         t.lease_until, s.timeout_ms, case
               when t.row_id is null then case
                   when exists (select from flow.task b where b.run_id = m.run_id and b.step_index = m.step_index
                                and b.task_index = m.task_index offset 0)
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
    from unnest(p_messages, p_message_runs, p_message_steps, p_message_tasks) with ordinality
         m(message_id, run_id, step_index, task_index, ord)
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
        perform flow.queue_hide(p_self.queue, p_messages, array_fill(p_now, array[cardinality(p_messages)]));
        select r.p_state, r.p_reason into p_state, p_reason from flow.refuse_batch(p_worker, p_self, v_batch) r;
        return;
    end if;
    p_state := 'ok';

    with claimed as (
        update flow.task t
        set status = 'started', worker_id = p_worker, started_at = p_now, lease_until = p_lease_until,
            attempt = b.attempt + case when b.kind = 'exhausted' then 0 else 1 end
        from unnest(v_batch) with ordinality
             b(message_id, run_id, step_index, task_index, row_id, attempt, worker_id, lease_until, timeout_ms, kind, ord)
        where t.ctid = b.row_id and b.kind in ('queued', 'expired', 'exhausted')
        returning b.ord, t.run_id, t.step_index, t.task_index, t.attempt, t.item, b.timeout_ms, b.kind
    )
    select array_agg(c.run_id order by c.ord), array_agg(c.step_index order by c.ord),
           array_agg(c.task_index order by c.ord), array_agg(c.attempt order by c.ord),
           array_agg(c.item::text order by c.ord), array_agg(c.timeout_ms order by c.ord),
           array_agg(c.kind = 'exhausted' order by c.ord)
    into p_runs, p_steps, p_tasks, p_attempts, p_items, p_timeouts_ms, p_exhausted
    from claimed c;

    perform flow.queue_hide(
        p_self.queue, array_agg(b.message_id),
        array_agg(case b.kind when 'busy' then p_now + interval '1 s' else b.lease_until end))
    from unnest(v_batch) b where b.kind in ('busy', 'duplicate') having count(*) > 0;
    v_removed := array(select b.message_id from unnest(v_batch) b where b.kind = 'terminal');
    if cardinality(v_removed) > 0 then
        perform flow.queue_remove(p_self.queue, v_removed);
    end if;
    -- A queued task is exhausted too when its step has been given fewer attempts since; its last failure is on record.
    insert into flow.attempt_error (run_id, step_index, task_index, attempt, cause, error, worker_id, at)
    select b.run_id, b.step_index, b.task_index, b.attempt, 'lease_expired',
           'the lease ended before the attempt was settled', b.worker_id, p_now
    from unnest(v_batch) b where b.lease_until is not null and b.kind in ('expired', 'exhausted')
    on conflict (run_id, step_index, task_index, attempt) do nothing;
end $$;
