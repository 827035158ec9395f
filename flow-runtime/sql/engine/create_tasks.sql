-- Create the tasks of the next p_pieces pieces of each given large map, and send their messages. A task's age is the instant from which it
-- is due. Returns the queues that got messages. The caller holds the runs' locks.
create or replace function flow.create_tasks(p_steps flow.step_ref[], p_pieces integer, p_now timestamptz) returns integer[]
language plpgsql as $$
declare
    v_deliveries flow.delivery[];
    v_due_at timestamptz[];
begin
    with next as (
        select p.row_id, p.run_id, p.step_index, p.piece_index, p.items, ss.flow_id, s.queue_id, s.priority, s.message_ids,
               greatest(ss.begun_at + s.start_delay_ms * interval '1 ms', p_now) as due_at
        from unnest(p_steps) e
        cross join lateral (
            select t.flow_id, (t.task_count - t.uncreated_tasks) / flow.piece_size() as piece_index, greatest(t.age, t.started_at) as begun_at
            from flow.step_state t
            where t.run_id = e.run_id and t.step_index = e.step_index and t.status = 'started' and t.uncreated_tasks > 0 offset 0
        ) ss
        cross join lateral (
            select t.ctid as row_id, t.run_id, t.step_index, t.piece_index, t.items from flow.piece t
            where t.run_id = e.run_id and t.step_index = e.step_index
              and t.piece_index >= ss.piece_index and t.piece_index < ss.piece_index + p_pieces and t.items is not null offset 0
        ) p
        cross join lateral (
            select s.queue_id, s.priority, s.start_delay_ms, q.message_ids
            from flow.step s
            join flow.queue q on q.queue_id = s.queue_id
            where s.flow_id = ss.flow_id and s.step_index = e.step_index offset 0
        ) s
    ), opened as (
        update flow.piece p set items = null from next n where p.ctid = n.row_id
    ), counted as (
        update flow.step_state ss set uncreated_tasks = ss.uncreated_tasks - n.elements
        from (select n.run_id, n.step_index, sum(jsonb_array_length(n.items))::integer as elements from next n
              group by n.run_id, n.step_index) n
        where ss.run_id = n.run_id and ss.step_index = n.step_index
    ), created as (
        insert into flow.task (run_id, step_index, task_index, flow_id, queue_id, priority, age, message_id, queued_at, item)
        select n.run_id, n.step_index, n.piece_index * flow.piece_size() + (i.ord - 1), n.flow_id, n.queue_id, n.priority, n.due_at,
               nextval(n.message_ids), p_now, i.item
        from next n
        cross join lateral jsonb_array_elements(n.items) with ordinality i(item, ord)
        returning queue_id, priority, age, run_id, step_index, task_index, message_id
    )
    select coalesce(array_agg(row(c.queue_id, c.priority, c.age, c.run_id, c.step_index, c.task_index, c.message_id, null)::flow.delivery),
                    '{}'),
           coalesce(array_agg(c.age), '{}')
    into v_deliveries, v_due_at from created c;
    perform flow.send_messages(v_deliveries, v_due_at, p_now);
    return array(select distinct d.queue_id from unnest(v_deliveries) d);
end $$;
