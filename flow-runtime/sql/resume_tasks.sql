-- Hand over again the tasks that are started under a worker and are not among those it holds, because the reply that
-- named them was lost: same attempt, new lease. Returns what flow.claim_tasks returns; p_runs is null when there are none.
-- Looks through the hidden messages of the queue, so it is not for every exchange.
create or replace function flow.resume_tasks(
    p_worker bigint, p_self flow.worker_state, p_lease_ms bigint,
    p_held_runs uuid[], p_held_steps integer[], p_held_tasks integer[], p_held_attempts integer[],
    out p_state text, out p_reason text, out p_more boolean, out p_now timestamptz,
    out p_runs uuid[], out p_steps integer[], out p_tasks integer[], out p_attempts integer[], out p_items text[],
    out p_timeouts_ms bigint[], out p_exhausted boolean[],
    out p_value_runs uuid[], out p_value_steps integer[], out p_values text[]
) language plpgsql as $$
declare
    v_messages bigint[];
begin
    p_state := 'ok';
    p_more := true;
    p_now := clock_timestamp();
    with lost as (
        select t.row_id, h.message_id, s.timeout_ms
        from flow.queue_hidden(p_self.queue, p_now) h
        cross join lateral flow.read_message(h.body) m
        cross join lateral (
            select l.ctid as row_id, l.attempt from flow.task l
            where l.run_id = m.p_run and l.step_index = m.p_step and l.task_index = m.p_task
              and l.status = 'started' and l.worker_id = p_worker and l.message_id = h.message_id
              and l.queue_id = p_self.queue_id
            for update skip locked
        ) t
        cross join lateral (
            select s.timeout_ms from flow.step s
            where s.flow_id = p_self.flow_id and s.step_index = m.p_step offset 0
        ) s
        where (m.p_run, m.p_step, m.p_task, t.attempt) not in (
            select u.run_id, u.step_index, u.task_index, u.attempt
            from unnest(p_held_runs, p_held_steps, p_held_tasks, p_held_attempts)
                 u(run_id, step_index, task_index, attempt))
    ), resumed as (
        update flow.task t
        set started_at = p_now, lease_until = p_now + p_lease_ms * interval '1 ms'
        from lost l where t.ctid = l.row_id
        returning t.run_id, t.step_index, t.task_index, t.attempt, t.item, t.message_id, l.timeout_ms,
                  exists (select from flow.attempt_error e
                          where e.run_id = t.run_id and e.step_index = t.step_index and e.task_index = t.task_index
                            and e.attempt = t.attempt offset 0) as is_exhausted
    )
    select array_agg(r.run_id), array_agg(r.step_index), array_agg(r.task_index), array_agg(r.attempt),
           array_agg(r.item::text), array_agg(r.timeout_ms), array_agg(r.is_exhausted), array_agg(r.message_id)
    into p_runs, p_steps, p_tasks, p_attempts, p_items, p_timeouts_ms, p_exhausted, v_messages
    from resumed r;
    if p_runs is null then
        return;
    end if;
    perform flow.queue_hide(p_self.queue, v_messages,
                            array_fill(p_now + p_lease_ms * interval '1 ms', array[cardinality(v_messages)]));
    select v.p_runs, v.p_steps, v.p_values into p_value_runs, p_value_steps, p_values
    from flow.shared_values(p_self, p_runs, p_steps) v;
end $$;
