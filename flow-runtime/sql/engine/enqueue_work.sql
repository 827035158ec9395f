-- Send the messages of steps that have just begun, queue by queue. A map's elements become its tasks here, once. With p_is_held_back
-- a run that is not due yet delays its work by what is left until then.
-- Returns the queues that got messages. The caller holds the runs' locks.
create or replace function flow.enqueue_work(p_started flow.started_step[], p_is_held_back boolean, p_now timestamptz)
returns integer[] language plpgsql as $$
declare
    v_started flow.started_step[] := p_started;
    v_queue record;
    v_queues integer[] := '{}';
    v_messages flow.message[];
    v_visible_at timestamptz[];
begin
    if p_is_held_back then
        v_started := array(
            select row(s.run_id, s.step_index, s.flow_id, s.task_count, s.queue_id, s.message_id,
                       s.visible_at + greatest(r.due_at - p_now, interval '0'), s.source)::flow.started_step
            from unnest(p_started) with ordinality
                 s(run_id, step_index, flow_id, task_count, queue_id, message_id, visible_at, source, ord)
            cross join lateral (select r.due_at from flow.run r where r.run_id = s.run_id offset 0) r
            order by s.ord);
    end if;
    for v_queue in
        select q.queue_id, q.name, q.message_ids, u.has_maps
        from (select s.queue_id, bool_or(s.source is not null) as has_maps
              from unnest(v_started) s where s.task_count > 0 group by s.queue_id) u
        cross join lateral (
            select q.queue_id, q.name, q.message_ids from flow.queue q where q.queue_id = u.queue_id offset 0
        ) q
        order by q.queue_id
    loop
        perform flow.queue_send(v_queue.name, array_agg(row(s.message_id, s.run_id, s.step_index, -1)::flow.message),
                                array_agg(s.visible_at))
        from unnest(v_started) s
        where s.queue_id = v_queue.queue_id and s.source is null having count(*) > 0;
        if v_queue.has_maps then
            with element as (
                select s.run_id, s.step_index, i.task_index, s.flow_id, nextval(v_queue.message_ids) as message_id, i.item,
                       s.visible_at
                from unnest(v_started) s
                cross join lateral flow.step_items(s.run_id, s.source) i
                where s.queue_id = v_queue.queue_id and s.task_count > 0 and s.source is not null
            ), created as (
                insert into flow.task (run_id, step_index, task_index, flow_id, queue_id, message_id, queued_at, item)
                select e.run_id, e.step_index, e.task_index, e.flow_id, v_queue.queue_id, e.message_id, p_now, e.item
                from element e
            )
            select array_agg(row(e.message_id, e.run_id, e.step_index, e.task_index)::flow.message), array_agg(e.visible_at)
            into v_messages, v_visible_at from element e;
            perform flow.queue_send(v_queue.name, v_messages, v_visible_at);
        end if;
        v_queues := v_queues || v_queue.queue_id;
    end loop;
    return v_queues;
end $$;
