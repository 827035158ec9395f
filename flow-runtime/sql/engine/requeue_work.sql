-- Queue again, in the run that retries theirs, the work of started steps that was not taken over: from its first attempt, with the
-- items it had. Returns the queues that got messages. The caller holds the old run's lock.
create or replace function flow.requeue_work(p_old uuid, p_new uuid, p_visible_at timestamptz, p_now timestamptz)
returns integer[] language plpgsql as $$
declare
    v_queue record;
    v_queues integer[] := '{}';
    v_messages flow.message[];
begin
    for v_queue in
        select q.queue_id, q.name, q.message_ids
        from (select distinct s.queue_id
              from flow.step_state ss
              cross join lateral (
                  select s.queue_id from flow.step s
                  where s.flow_id = ss.flow_id and s.step_index = ss.step_index offset 0
              ) s
              where ss.run_id = p_new and ss.status = 'started') u
        cross join lateral (
            select q.queue_id, q.name, q.message_ids from flow.queue q where q.queue_id = u.queue_id offset 0
        ) q
        order by q.queue_id
    loop
        with here as (
            select ss.step_index, ss.flow_id, s.kind
            from flow.step_state ss
            cross join lateral (
                select s.kind, s.queue_id from flow.step s
                where s.flow_id = ss.flow_id and s.step_index = ss.step_index offset 0
            ) s
            where ss.run_id = p_new and ss.status = 'started' and s.queue_id = v_queue.queue_id
        ), single as (
            update flow.step_state ss
            set queue_id = v_queue.queue_id, message_id = nextval(v_queue.message_ids), queued_at = p_now
            from here h
            cross join lateral (
                select t.ctid as row_id from flow.step_state t
                where t.run_id = p_new and t.step_index = h.step_index offset 0
            ) t
            where h.kind = 'single' and ss.ctid = t.row_id
            returning ss.message_id, ss.step_index, -1 as task_index
        ), task as (
            insert into flow.task (run_id, step_index, task_index, flow_id, queue_id, message_id, queued_at, item)
            select p_new, h.step_index, t.task_index, h.flow_id, v_queue.queue_id, nextval(v_queue.message_ids), p_now, t.item
            from here h
            cross join lateral (
                select t.task_index, t.item from flow.task t
                where t.run_id = p_old and t.step_index = h.step_index and t.status <> 'completed' offset 0
            ) t
            where h.kind = 'map'
            returning message_id, step_index, task_index
        )
        select array_agg(row(w.message_id, p_new, w.step_index, w.task_index)::flow.message order by w.step_index, w.task_index)
        into v_messages
        from (select * from single union all select * from task) w;
        if v_messages is not null then
            perform flow.queue_send(v_queue.name, v_messages, array_fill(p_visible_at, array[cardinality(v_messages)]));
            v_queues := v_queues || v_queue.queue_id;
        end if;
    end loop;
    return v_queues;
end $$;
