-- Claim the work of messages that the caller has read and locked. All messages are classified before any row is changed: one corrupt
-- message pauses the queue, one misrouted message disables the worker's name, and in both cases nothing is claimed.
-- Exhausted work is claimed too, so that the worker can fail it. Messages of work that a worker holds or that has ended are removed. A
-- message stays where somebody else has locked its work.
-- Returns p_state (ok | corrupt | misrouted) with the reason, the claims, and the messages that stay (p_busy, null when there are none).
-- Skips locked rows and never waits.
create or replace function flow.claim_messages(
    p_self flow.worker_state, p_batch bigint, p_deliveries flow.delivery[], p_now timestamptz,
    out p_state text, out p_reason text, out p_claims flow.claim[], out p_busy flow.delivery[]
) language plpgsql as $$
declare
    v_seen flow.message_class[];
    v_is_usual boolean; -- all messages are of kind `queued`
begin
    select array_agg(row(row(m.queue_id, m.priority, m.age, m.run_id, m.step_index, m.task_index, m.message_id,
                             m.row_id)::flow.delivery,
                         m.run_id, m.step_index, m.task_index, w.row_id, w.attempt, w.item, s.timeout_ms,
                         k.kind)::flow.message_class order by m.ord),
           bool_and(k.kind = 'queued')
    into v_seen, v_is_usual
    from unnest(p_deliveries) with ordinality m(queue_id, priority, age, run_id, step_index, task_index, message_id, row_id, ord)
    left join lateral (
        select l.ctid as row_id, flow.work_status(l.status, l.skip_reason, l.queued_at, l.worker_id) as status, l.queue_id,
               l.message_id, l.priority, l.age, l.flow_id, l.attempt
        from flow.step_state l
        where m.task_index < 0 and l.run_id = m.run_id and l.step_index = m.step_index
        for update skip locked
    ) ss on true
    left join lateral (
        select l.ctid as row_id, l.status, l.queue_id, l.message_id, l.priority, l.age, l.flow_id, l.attempt, l.item
        from flow.task l
        where m.task_index >= 0 and l.run_id = m.run_id and l.step_index = m.step_index and l.task_index = m.task_index
        for update skip locked
    ) t on true
    cross join lateral (
        select coalesce(ss.row_id, t.row_id) as row_id, coalesce(ss.status, t.status) as status,
               coalesce(ss.queue_id, t.queue_id) as queue_id, coalesce(ss.message_id, t.message_id) as message_id,
               coalesce(ss.priority, t.priority) as priority, coalesce(ss.age, t.age) as age,
               coalesce(ss.flow_id, t.flow_id) as flow_id, coalesce(ss.attempt, t.attempt) as attempt, t.item
    ) w
    left join lateral (
        select s.timeout_ms, s.max_attempts from flow.step s
        where s.flow_id = w.flow_id and s.step_index = m.step_index offset 0
    ) s on true
    cross join lateral (
        select case
            when w.row_id is null then case
                when flow.has_work(m.run_id, m.step_index, m.task_index) then 'busy' else 'corrupt' end
            when w.status is null or w.queue_id <> p_self.queue_id then 'corrupt'
            when m.message_id is not null and w.message_id is distinct from m.message_id then 'corrupt'
            when m.message_id is null and (w.priority <> m.priority or w.age <> m.age) then 'corrupt'
            when w.status <> 'queued' then 'ended'
            when w.flow_id <> p_self.flow_id or m.step_index <> all (p_self.steps) then 'misrouted'
            when w.attempt >= s.max_attempts then 'exhausted'
            else 'queued'
        end as kind
        offset 0
    ) k;

    if not v_is_usual and exists (select from unnest(v_seen) b where b.kind in ('corrupt', 'misrouted')) then
        select r.p_state, r.p_reason into p_state, p_reason from flow.refuse_batch(p_self, v_seen) r;
        return;
    end if;
    p_state := 'ok';
    p_claims := flow.hold_work(p_self, p_batch, v_seen, p_now);
    if v_is_usual then
        perform flow.take_messages(p_self, p_deliveries);
    else
        perform flow.take_messages(p_self, array(select b.delivery from unnest(v_seen) b where b.kind <> 'busy'));
        p_busy := (select array_agg(b.delivery) from unnest(v_seen) b where b.kind = 'busy');
    end if;
end $$;
