-- Create the tasks and messages of started steps, queue by queue: messages first, then the tasks with their ids.
-- A map's elements are copied into its tasks here, once. With p_is_held_back a run that is not due yet delays its tasks by what is
-- left until then. Returns the queues and how many messages each got.
create or replace function flow.enqueue_tasks(
    p_started flow.started_step[], p_is_held_back boolean, p_now timestamptz, out p_queues integer[], out p_queued integer[]
) language plpgsql as $$
declare
    v_started flow.started_step[] := p_started;
    v_queue record;
    v_runs uuid[];
    v_steps integer[];
    v_flows integer[];
    v_tasks integer[];
    v_items jsonb[];
    v_visible_at timestamptz[];
    v_ids bigint[];
begin
    p_queues := '{}';
    p_queued := '{}';
    if p_is_held_back then
        v_started := array(
            select row(s.run_id, s.step_index, s.flow_id, s.task_count, s.queue_id,
                       s.visible_at + greatest(r.due_at - p_now, interval '0'), s.source)::flow.started_step
            from unnest(p_started) with ordinality
                 s(run_id, step_index, flow_id, task_count, queue_id, visible_at, source, ord)
            cross join lateral (select r.due_at from flow.run r where r.run_id = s.run_id offset 0) r
            order by s.ord);
    end if;
    for v_queue in
        select q.queue_id, q.name, u.has_maps
        from (select s.queue_id, bool_or(s.source is not null) as has_maps
              from unnest(v_started) s where s.task_count > 0 group by s.queue_id) u
        cross join lateral (select q.queue_id, q.name from flow.queue q where q.queue_id = u.queue_id offset 0) q
        order by q.queue_id
    loop
        if v_queue.has_maps then
            select array_agg(e.run_id), array_agg(e.step_index), array_agg(e.flow_id), array_agg(e.task_index),
                   array_agg(e.item), array_agg(e.visible_at)
            into v_runs, v_steps, v_flows, v_tasks, v_items, v_visible_at
            from (
                select s.run_id, s.step_index, s.flow_id, i.task_index, i.item, s.visible_at
                from unnest(v_started) with ordinality
                     s(run_id, step_index, flow_id, task_count, queue_id, visible_at, source, ord)
                cross join lateral flow.step_items(s.run_id, s.source) i
                where s.queue_id = v_queue.queue_id and s.task_count > 0
                order by s.ord, i.task_index
            ) e;
        else
            select array_agg(s.run_id), array_agg(s.step_index), array_agg(s.flow_id), array_agg(0), null,
                   array_agg(s.visible_at)
            into v_runs, v_steps, v_flows, v_tasks, v_items, v_visible_at
            from unnest(v_started) s where s.queue_id = v_queue.queue_id and s.task_count > 0;
        end if;

        v_ids := flow.queue_send(v_queue.name, v_runs, v_steps, v_tasks, v_visible_at);
        insert into flow.task (run_id, step_index, task_index, flow_id, queue_id, message_id, queued_at, item)
        select t.run_id, t.step_index, t.task_index, t.flow_id, v_queue.queue_id, t.message_id, p_now, t.item
        from unnest(v_runs, v_steps, v_tasks, v_flows, v_ids, v_items)
             t(run_id, step_index, task_index, flow_id, message_id, item);

        p_queues := p_queues || v_queue.queue_id;
        p_queued := p_queued || cardinality(v_ids);
    end loop;
end $$;
