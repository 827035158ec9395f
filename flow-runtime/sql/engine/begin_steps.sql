-- Subtract p_ended[i] ended dependencies from each step p_steps[i] that waits, and begin the step in the same update when none is left
-- open.
-- A single step that begins waits for a worker, or is held at once by the worker of p_offer where the offer covers the step. A map gets the
-- number of its tasks; an empty map is completed with output [].
-- A step that a condition may forbid begins only with p_is_met, by which the caller says that the conditions are met; without p_is_met the
-- step is returned in p_ready.
-- Returns the steps that began and were not handed out (p_started), the ready steps, and what was handed out, each ordered by run and step.
-- The caller holds the runs' locks.
create or replace function flow.begin_steps(
    p_steps flow.step_ref[], p_ended integer[], p_is_met boolean, p_offer flow.offer, p_now timestamptz,
    out p_started flow.started_step[], out p_ready flow.step_ref[], out p_handed flow.claim[]
) language plpgsql as $$
begin
    with counted as (
        update flow.step_state ss
        set remaining_deps = ss.remaining_deps - w.ended,
            status = case when w.task_count > 0 then 'started' when w.task_count = 0 then 'completed' else ss.status end,
            task_count = w.task_count,
            remaining_tasks = w.task_count,
            started_at = case when w.task_count is not null then p_now end,
            ended_at = case when w.task_count = 0 then p_now end,
            output = case when w.task_count = 0 then '[]'::jsonb end,
            queue_id = case when w.is_work then w.queue_id end,
            priority = case when w.is_work then w.priority end,
            message_id = case when w.is_work and not w.is_handed then nextval(w.message_ids) end,
            queued_at = case when w.is_work then p_now end,
            attempt = case when w.is_handed then 1 else 0 end,
            worker_id = case when w.is_handed then p_offer.worker_id end,
            batch = case when w.is_handed then p_offer.batch end,
            claimed_at = case when w.is_handed then p_now end,
            timeout_ms = case when w.is_handed then w.timeout_ms end
        from (
            select e.ended, t.row_id, s.queue_id, s.priority, q.message_ids, s.over_step, s.timeout_ms, c.task_count,
                   greatest(t.age, p_now) + s.start_delay_ms * interval '1 ms' as due_at, c.is_work,
                   c.is_offered and row_number() over (partition by c.is_offered
                                                       order by s.priority, t.age, e.run_id, e.step_index)
                                    <= p_offer.slots as is_handed
            from unnest(p_steps, p_ended) e(run_id, step_index, flow_id, ended)
            cross join lateral (
                select t.ctid as row_id, t.remaining_deps, t.age from flow.step_state t
                where t.run_id = e.run_id and t.step_index = e.step_index and t.status = 'created' offset 0
            ) t
            cross join lateral (
                select s.queue_id, s.priority, s.over_step, s.start_delay_ms, s.timeout_ms, s.starts_at_once from flow.step s
                where s.flow_id = e.flow_id and s.step_index = e.step_index offset 0
            ) s
            cross join lateral (select q.message_ids from flow.queue q where q.queue_id = s.queue_id offset 0) q
            cross join lateral (
                select c.task_count, w.is_work,
                       coalesce(w.is_work and p_offer.slots > 0 and s.start_delay_ms = 0 and s.queue_id = p_offer.queue_id
                                and e.flow_id = p_offer.flow_id and e.step_index = any (p_offer.steps)
                                and e.run_id <> all (p_offer.barred)
                                and (p_offer.head is null
                                     or (s.priority, t.age, e.run_id, e.step_index)
                                        < ((p_offer.head).priority, (p_offer.head).age, (p_offer.head).run_id,
                                           (p_offer.head).step_index)), false) as is_offered
                from (select case when t.remaining_deps > e.ended or not (p_is_met or s.starts_at_once) then null
                                  when s.over_step is null then 1
                                  else flow.element_count(e.run_id, s.over_step) end as task_count offset 0) c
                cross join lateral (select s.over_step is null and c.task_count is not null as is_work) w
                offset 0
            ) c
            offset 0
        ) w
        where ss.ctid = w.row_id
        returning ss.run_id, ss.step_index, ss.flow_id, ss.task_count, w.queue_id, w.priority, ss.age, ss.message_id, w.due_at,
                  w.over_step, ss.remaining_deps, w.is_handed, ss.timeout_ms
    )
    select coalesce(array_agg(row(c.run_id, c.step_index, c.flow_id, c.task_count, c.queue_id, c.priority, c.age, c.message_id,
                                  c.due_at, c.over_step)::flow.started_step order by c.run_id, c.step_index)
                        filter (where c.task_count is not null and not c.is_handed), '{}'),
           coalesce(array_agg(row(c.run_id, c.step_index, c.flow_id)::flow.step_ref order by c.run_id, c.step_index)
                        filter (where c.task_count is null and c.remaining_deps = 0), '{}'),
           coalesce(array_agg(row(c.run_id, c.step_index, -1, 1, null, c.timeout_ms, false)::flow.claim
                              order by c.run_id, c.step_index) filter (where c.is_handed), '{}')
    into p_started, p_ready, p_handed
    from counted c;
end $$;
