-- Start runs under the given ids, due now, of a flow whose root steps are single steps that begin at once: the usual start. An id that is
-- used already starts nothing.
-- Returns how many runs were started, the queues that got work, and what was handed out under p_offer, which are root steps of the first
-- new runs.
-- The caller has checked the inputs, and holds the lock of the flow's starts.
create or replace function flow.start_plain(
    p_flow_id integer, p_step_count integer, p_ids uuid[], p_inputs jsonb[], p_now timestamptz, p_offer flow.offer,
    out p_new integer, out p_queues integer[], out p_handed flow.claim[]
) language plpgsql as $$
declare
    v_ids uuid[]; -- of the runs that are new
    v_started flow.started_step[];
begin
    with created as (
        insert into flow.run (run_id, flow_id, remaining_steps, started_at, due_at, input)
        select n.run_id, p_flow_id, p_step_count, p_now, p_now, n.input
        from unnest(p_ids, p_inputs) with ordinality n(run_id, input, ord) order by n.run_id, n.ord
        on conflict (run_id) do nothing
        returning run_id
    )
    select array_agg(c.run_id), count(*) into v_ids, p_new from created c;
    if p_new = 0 then
        return;
    end if;

    with born as (
        insert into flow.step_state (run_id, step_index, flow_id, age, remaining_deps, status, task_count, remaining_tasks, started_at,
                                     queue_id, priority, message_id, queued_at, attempt, worker_id, batch, claimed_at, timeout_ms)
        select n.run_id, s.step_index, p_flow_id, p_now, s.remaining_deps, s.status, s.tasks, s.tasks, s.started_at, s.queue_id,
               case when s.tasks = 1 then s.priority end,
               case when s.tasks = 1 and not h.is_handed then nextval(s.message_ids) end, s.started_at, h.is_handed::integer,
               case when h.is_handed then p_offer.worker_id end, case when h.is_handed then p_offer.batch end,
               case when h.is_handed then p_now end, case when h.is_handed then s.timeout_ms end
        from unnest(v_ids) with ordinality n(run_id, ord)
        cross join lateral (
            select s.step_index, s.priority, s.timeout_ms, cardinality(s.dependencies) as remaining_deps,
                   case when r.is_root then 'started' else 'created' end::flow.step_status as status,
                   case when r.is_root then 1 end as tasks, case when r.is_root then p_now end as started_at,
                   case when r.is_root then s.queue_id end as queue_id, q.message_ids
            from flow.step s
            cross join lateral (select cardinality(s.dependencies) = 0 as is_root offset 0) r
            cross join lateral (select q.message_ids from flow.queue q where q.queue_id = s.queue_id offset 0) q
            where s.flow_id = p_flow_id order by s.step_index offset 0
        ) s
        cross join lateral (
            select coalesce((n.ord - 1) * cardinality(p_offer.steps) + array_position(p_offer.steps, s.step_index) <= p_offer.slots,
                            false) as is_handed
            offset 0
        ) h
        returning run_id, step_index, queue_id, priority, message_id, worker_id, timeout_ms
    )
    select array_agg(row(b.run_id, b.step_index, p_flow_id, 1, b.queue_id, b.priority, p_now, b.message_id, p_now, null)::flow.started_step)
               filter (where b.worker_id is null),
           array_agg(row(b.run_id, b.step_index, -1, 1, null, b.timeout_ms, false)::flow.claim) filter (where b.worker_id is not null)
    into v_started, p_handed from born b where b.queue_id is not null;
    if v_started is not null then
        p_queues := flow.enqueue_work(v_started, p_now);
    end if;
end $$;
