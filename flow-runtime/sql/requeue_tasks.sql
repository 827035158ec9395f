-- Queue again, in the run that retries theirs, the tasks of started steps that were not taken over: from their first
-- attempt, with the items they had. Returns the queues that got messages. The caller holds the old run's lock.
create or replace function flow.requeue_tasks(p_old uuid, p_new uuid, p_visible_at timestamptz, p_now timestamptz)
returns integer[] language plpgsql as $$
declare
    v_queue record;
    v_queues integer[] := '{}';
    v_ids bigint[];
begin
    for v_queue in
        select s.queue_id, q.name, array_agg(t.step_index order by t.step_index, t.task_index) as steps,
               array_agg(t.task_index order by t.step_index, t.task_index) as tasks,
               array_agg(t.item order by t.step_index, t.task_index) as items, min(t.flow_id) as flow_id
        from flow.step_state ss
        cross join lateral (
            select t.* from flow.task t
            where t.run_id = p_old and t.step_index = ss.step_index and t.status <> 'completed' offset 0
        ) t
        cross join lateral (
            select s.queue_id from flow.step s
            where s.flow_id = ss.flow_id and s.step_index = ss.step_index offset 0
        ) s
        cross join lateral (select q.name from flow.queue q where q.queue_id = s.queue_id offset 0) q
        where ss.run_id = p_new and ss.status = 'started'
        group by s.queue_id, q.name order by s.queue_id
    loop
        v_ids := flow.queue_send(
            v_queue.name, array_fill(p_new, array[cardinality(v_queue.tasks)]), v_queue.steps, v_queue.tasks,
            array_fill(p_visible_at, array[cardinality(v_queue.tasks)]));
        insert into flow.task (run_id, step_index, task_index, flow_id, queue_id, message_id, queued_at, item)
        select p_new, t.step_index, t.task_index, v_queue.flow_id, v_queue.queue_id, t.message_id, p_now, t.item
        from unnest(v_queue.steps, v_queue.tasks, v_ids, v_queue.items) t(step_index, task_index, message_id, item);
        v_queues := v_queues || v_queue.queue_id;
    end loop;
    return v_queues;
end $$;
