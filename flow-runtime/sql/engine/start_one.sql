-- Do what flow.start_plain does, for a single run, with fewer and simpler statements: in a small call the statements are what costs.
-- Returns whether the id was new, the queues that got work, and what was handed out under p_offer.
create or replace function flow.start_one(
    p_flow_id integer, p_step_count integer, p_run uuid, p_input jsonb, p_now timestamptz, p_offer flow.offer,
    out p_is_new boolean, out p_queues integer[], out p_handed flow.claim[]
) language plpgsql as $$
declare
    v_started flow.started_step[];
begin
    insert into flow.run (run_id, flow_id, remaining_steps, started_at, due_at, input)
    values (p_run, p_flow_id, p_step_count, p_now, p_now, p_input)
    on conflict (run_id) do nothing;
    p_is_new := found;
    if not p_is_new then
        return;
    end if;

    with born as (
        insert into flow.step_state (run_id, step_index, flow_id, age, remaining_deps, status, task_count, remaining_tasks, started_at,
                                     queue_id, priority, message_id, queued_at, attempt, worker_id, batch, claimed_at, timeout_ms)
        select p_run, s.step_index, p_flow_id, p_now, cardinality(s.dependencies),
               case when s.dependencies = '{}' then 'started' else 'created' end::flow.step_status,
               case when s.dependencies = '{}' then 1 end, case when s.dependencies = '{}' then 1 end,
               case when s.dependencies = '{}' then p_now end, case when s.dependencies = '{}' then s.queue_id end,
               case when s.dependencies = '{}' then s.priority end,
               case when s.dependencies = '{}' and not h.is_handed then
                   nextval((select q.message_ids from flow.queue q where q.queue_id = s.queue_id)) end,
               case when s.dependencies = '{}' then p_now end, h.is_handed::integer,
               case when h.is_handed then p_offer.worker_id end, case when h.is_handed then p_offer.batch end,
               case when h.is_handed then p_now end, case when h.is_handed then s.timeout_ms end
        from flow.step s
        cross join lateral (
            select coalesce(array_position(p_offer.steps, s.step_index) <= p_offer.slots, false) as is_handed offset 0
        ) h
        where s.flow_id = p_flow_id order by s.step_index
        returning step_index, queue_id, priority, message_id, worker_id, timeout_ms
    )
    select array_agg(row(p_run, b.step_index, p_flow_id, 1, b.queue_id, b.priority, p_now, b.message_id, p_now, null)::flow.started_step)
               filter (where b.worker_id is null),
           array_agg(row(p_run, b.step_index, -1, 1, null, b.timeout_ms, false)::flow.claim) filter (where b.worker_id is not null)
    into v_started, p_handed from born b where b.queue_id is not null;
    if v_started is not null then
        p_queues := flow.enqueue_work(v_started, p_now);
    end if;
end $$;
