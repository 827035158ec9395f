-- Send the messages of steps that have just begun. The tasks of a map are created here; their age is p_now, or the step's age where that is
-- later. A large map is cut into pieces, and only its first tasks are created.
-- Returns the queues that got messages. The caller holds the runs' locks.
create or replace function flow.enqueue_work(p_started flow.started_step[], p_now timestamptz) returns integer[] language plpgsql as $$
declare
    v_deliveries flow.delivery[];
    v_due_at timestamptz[];
begin
    select array_agg(row(s.queue_id, s.priority, s.age, s.run_id, s.step_index, -1, s.message_id, null)::flow.delivery),
           array_agg(s.due_at)
    into v_deliveries, v_due_at from unnest(p_started) s where s.source is null;
    if v_deliveries is not null then
        perform flow.send_messages(v_deliveries, v_due_at, p_now);
    end if;
    if exists (select from unnest(p_started) s where s.source is not null and s.task_count > flow.large_map()) then
        perform flow.cut_maps(array(select s from unnest(p_started) s where s.source is not null and s.task_count > flow.large_map()),
                              p_now);
    end if;
    if exists (select from unnest(p_started) s where s.source is not null and s.task_count between 1 and flow.large_map()) then
        with created as (
            insert into flow.task (run_id, step_index, task_index, flow_id, queue_id, priority, age, message_id, queued_at, item)
            select s.run_id, s.step_index, i.task_index, s.flow_id, s.queue_id, s.priority, greatest(s.age, p_now),
                   nextval(q.message_ids), p_now, i.item
            from unnest(p_started) s
            cross join lateral (select q.message_ids from flow.queue q where q.queue_id = s.queue_id offset 0) q
            cross join lateral flow.step_items(s.run_id, s.source) i
            where s.source is not null and s.task_count between 1 and flow.large_map()
            returning queue_id, priority, age, run_id, step_index, task_index, message_id
        )
        select array_agg(row(c.queue_id, c.priority, c.age, c.run_id, c.step_index, c.task_index, c.message_id, null)::flow.delivery),
               array_agg(s.due_at)
        into v_deliveries, v_due_at
        from created c
        join unnest(p_started) s on s.run_id = c.run_id and s.step_index = c.step_index;
        perform flow.send_messages(v_deliveries, v_due_at, p_now);
    end if;
    return array(select distinct s.queue_id from unnest(p_started) s where s.task_count > 0);
end $$;
