-- Hand over again the work that a worker holds and that is not among what it knows of, because the reply that named it was lost: same
-- attempt, new lease. Returns what flow.claim_work returns; p_claims is null when there is none.
-- Looks through the hidden messages of the queue, so it is not for every exchange.
create or replace function flow.resume_work(
    p_self flow.worker_state, p_lease_ms bigint, p_now timestamptz,
    p_held_runs uuid[], p_held_steps integer[], p_held_tasks integer[], p_held_attempts integer[],
    out p_claims flow.claim[], out p_value_runs uuid[], out p_value_steps integer[], out p_values text[]
) language plpgsql as $$
declare
    v_lease_until timestamptz := p_now + p_lease_ms * interval '1 ms';
    v_lost flow.work[];
    v_messages bigint[];
begin
    v_lost := array(
        select w.work
        from flow.queue_hidden(p_self.queue, p_now) m
        cross join lateral (
            select flow.single_work(l, l.ctid) as work from flow.step_state l
            where m.task_index < 0 and l.run_id = m.run_id and l.step_index = m.step_index
              and l.status = 'started' and l.worker_id = p_self.worker_id and l.message_id = m.message_id
              and l.queue_id = p_self.queue_id
            for update skip locked
        ) w
    ) || array(
        select w.work
        from flow.queue_hidden(p_self.queue, p_now) m
        cross join lateral (
            select flow.task_work(l, l.ctid) as work from flow.task l
            where m.task_index >= 0 and l.run_id = m.run_id and l.step_index = m.step_index and l.task_index = m.task_index
              and l.status = 'started' and l.worker_id = p_self.worker_id and l.message_id = m.message_id
              and l.queue_id = p_self.queue_id
            for update skip locked
        ) w
    );
    v_lost := array(
        select w from unnest(v_lost) w
        where (w.run_id, w.step_index, w.task_index, w.attempt) not in (
            select u.run_id, u.step_index, u.task_index, u.attempt
            from unnest(p_held_runs, p_held_steps, p_held_tasks, p_held_attempts) u(run_id, step_index, task_index, attempt)));
    if cardinality(v_lost) = 0 then
        return;
    end if;

    update flow.step_state ss set claimed_at = p_now, lease_until = v_lease_until
    from unnest(v_lost) w where w.task_index < 0 and ss.ctid = w.row_id;
    update flow.task t set claimed_at = p_now, lease_until = v_lease_until
    from unnest(v_lost) w where w.task_index >= 0 and t.ctid = w.row_id;
    select array_agg(row(w.run_id, w.step_index, w.task_index, w.attempt, i.item, s.timeout_ms, w.is_exhausted)::flow.claim),
           array_agg(w.message_id)
    into p_claims, v_messages
    from unnest(v_lost) w
    cross join lateral (
        select s.timeout_ms from flow.step s where s.flow_id = w.flow_id and s.step_index = w.step_index offset 0
    ) s
    left join lateral (
        select t.item from flow.task t
        where t.run_id = w.run_id and t.step_index = w.step_index and t.task_index = w.task_index offset 0
    ) i on true;
    perform flow.queue_hide(p_self.queue, v_messages, array_fill(v_lease_until, array[cardinality(v_messages)]));
    select v.p_runs, v.p_steps, v.p_values into p_value_runs, p_value_steps, p_values from flow.shared_values(p_self, p_claims) v;
end $$;
