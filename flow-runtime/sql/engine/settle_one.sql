-- Do what flow.settle_usual does, for a single result and row by row. A worker with little to do settles one result at a time, and most of
-- the cost of such an exchange is starting and ending statements, which is cheapest for plain statements.
-- Returns what flow.settle_usual returns.
create or replace function flow.settle_one(
    p_self flow.worker_state, p_run uuid, p_step integer, p_batch bigint, p_output jsonb, p_offer flow.offer,
    out p_completed bigint[], out p_progress flow.progress
) language plpgsql as $$
declare
    v_now timestamptz;
    v_step flow.step; -- a step that depends on the settled one
    v_is_offered boolean;
    v_begun record;
begin
    perform from flow.run r where r.run_id = p_run for no key update skip locked;
    if not found then
        return;
    end if;
    v_now := clock_timestamp();
    p_completed := '{}';
    p_progress := row('{}', '{}', '{}', '{}', '{}');
    update flow.step_state ss
    set status = 'completed', remaining_tasks = 0, ended_at = v_now, output = p_output
    where ss.run_id = p_run and ss.step_index = p_step and ss.status = 'started' and ss.worker_id = p_self.worker_id
      and ss.batch = p_batch and ss.queue_id = p_self.queue_id and not ss.is_exhausted;
    if not found then
        return;
    end if;
    p_completed := array[1];

    for v_step in
        select d.* from flow.step s
        cross join lateral unnest(s.dependents) u(step_index)
        cross join lateral (
            select t.* from flow.step t where t.flow_id = p_self.flow_id and t.step_index = u.step_index offset 0
        ) d
        where s.flow_id = p_self.flow_id and s.step_index = p_step
    loop
        v_is_offered := coalesce(p_offer.slots > cardinality(p_progress.handed) and v_step.start_delay_ms = 0
                                 and v_step.queue_id = p_offer.queue_id and v_step.step_index = any (p_offer.steps)
                                 and p_run <> all (p_offer.barred), false);
        update flow.step_state ss
        set remaining_deps = 0, status = 'started', task_count = 1, remaining_tasks = 1, started_at = v_now, queued_at = v_now,
            queue_id = v_step.queue_id, priority = v_step.priority,
            message_id = case when not w.is_handed then
                nextval((select q.message_ids from flow.queue q where q.queue_id = v_step.queue_id)) end,
            attempt = case when w.is_handed then 1 else 0 end,
            worker_id = case when w.is_handed then p_offer.worker_id end,
            batch = case when w.is_handed then p_offer.batch end,
            claimed_at = case when w.is_handed then v_now end,
            timeout_ms = case when w.is_handed then v_step.timeout_ms end
        from (
            select l.ctid as row_id,
                   v_is_offered and (p_offer.head is null
                                     or (v_step.priority, l.age, p_run, v_step.step_index)
                                        < ((p_offer.head).priority, (p_offer.head).age, (p_offer.head).run_id,
                                           (p_offer.head).step_index)) as is_handed
            from flow.step_state l
            where l.run_id = p_run and l.step_index = v_step.step_index and l.remaining_deps = 1 offset 0
        ) w
        where ss.ctid = w.row_id
        returning ss.age, ss.message_id, ss.worker_id is not null as is_handed into v_begun;
        if not found then
            update flow.step_state ss set remaining_deps = ss.remaining_deps - 1
            where ss.run_id = p_run and ss.step_index = v_step.step_index;
        elsif v_begun.is_handed then
            p_progress.handed := p_progress.handed
                || row(p_run, v_step.step_index, -1, 1, null, v_step.timeout_ms, false)::flow.claim;
        else
            p_progress.queues := p_progress.queues || flow.enqueue_work(array[
                row(p_run, v_step.step_index, v_step.flow_id, 1, v_step.queue_id, v_step.priority, v_begun.age, v_begun.message_id,
                    greatest(v_begun.age, v_now) + v_step.start_delay_ms * interval '1 ms', null)::flow.started_step], v_now);
        end if;
    end loop;

    update flow.run r set remaining_steps = r.remaining_steps - 1 where r.run_id = p_run and r.remaining_steps > 1;
    if not found then
        p_progress.ended_runs := flow.complete_runs(array[p_run], v_now);
    end if;
end $$;
