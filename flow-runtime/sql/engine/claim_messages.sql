-- Claim the work of messages that were read and are hidden until p_lease_until. The whole batch is classified before any of it is
-- changed: one corrupt message pauses the queue, one misrouted message disables the worker's name, and then nothing is claimed.
-- What has lost its lease is claimed too, what has no attempt left is handed over to be given up, what is busy or still held stays
-- hidden, and messages of work that has ended are removed.
-- Returns p_state (ok | corrupt | misrouted) with the reason, and what was claimed. Never waits for a row.
create or replace function flow.claim_messages(
    p_self flow.worker_state, p_messages flow.message[], p_now timestamptz, p_lease_until timestamptz,
    out p_state text, out p_reason text, out p_claims flow.claim[]
) language plpgsql as $$
declare
    v_batch flow.sighting[];
    v_is_usual boolean; -- all of it waits
begin
    select array_agg(row(m.message_id, m.run_id, m.step_index, m.task_index, w.row_id, w.attempt, w.worker_id, w.lease_until, w.item,
                         s.timeout_ms, k.kind)::flow.sighting order by m.ord),
           bool_and(k.kind = 'queued')
    into v_batch, v_is_usual
    from unnest(p_messages) with ordinality m(message_id, run_id, step_index, task_index, ord)
    left join lateral (
        select l.ctid as row_id, flow.work_status(l.status, l.skip_reason, l.queued_at, l.worker_id) as status, l.queue_id,
               l.message_id, l.flow_id, l.attempt, l.worker_id, l.lease_until, null::jsonb as item
        from flow.step_state l
        where m.task_index < 0 and l.run_id = m.run_id and l.step_index = m.step_index
        for update skip locked
    ) ss on true
    left join lateral (
        select l.ctid as row_id, l.status, l.queue_id, l.message_id, l.flow_id, l.attempt, l.worker_id, l.lease_until, l.item
        from flow.task l
        where m.task_index >= 0 and l.run_id = m.run_id and l.step_index = m.step_index and l.task_index = m.task_index
        for update skip locked
    ) t on true
    cross join lateral (
        select coalesce(ss.row_id, t.row_id) as row_id, coalesce(ss.status, t.status) as status,
               coalesce(ss.queue_id, t.queue_id) as queue_id, coalesce(ss.message_id, t.message_id) as message_id,
               coalesce(ss.flow_id, t.flow_id) as flow_id, coalesce(ss.attempt, t.attempt) as attempt,
               coalesce(ss.worker_id, t.worker_id) as worker_id, coalesce(ss.lease_until, t.lease_until) as lease_until, t.item
    ) w
    left join lateral (
        select s.timeout_ms, s.max_attempts from flow.step s
        where s.flow_id = w.flow_id and s.step_index = m.step_index offset 0
    ) s on true
    cross join lateral (
        select case
            when w.row_id is null then case
                when flow.has_work(m.run_id, m.step_index, m.task_index) then 'busy' else 'corrupt' end
            when w.status is null or w.message_id <> m.message_id or w.queue_id <> p_self.queue_id then 'corrupt'
            when w.status not in ('queued', 'started') then 'terminal'
            when w.flow_id <> p_self.flow_id or m.step_index <> all (p_self.steps) then 'misrouted'
            when w.lease_until > p_now then 'duplicate'
            when w.attempt >= s.max_attempts then 'exhausted'
            when w.status = 'queued' then 'queued'
            else 'expired'
        end as kind
        offset 0
    ) k;

    if not v_is_usual and exists (select from unnest(v_batch) b where b.kind in ('corrupt', 'misrouted')) then
        perform flow.queue_hide(p_self.queue, array_agg(m.message_id), array_agg(p_now)) from unnest(p_messages) m;
        select r.p_state, r.p_reason into p_state, p_reason from flow.refuse_batch(p_self, v_batch) r;
        return;
    end if;
    p_state := 'ok';
    p_claims := flow.hold_work(p_self, v_batch, p_now, p_lease_until);
    if not v_is_usual then
        perform flow.pass_over(p_self, v_batch, p_now);
    end if;
end $$;
