-- Remove the messages of work that has ended, each from its queue and its place in the order. Work without a message is passed over.
create or replace function flow.remove_messages(p_deliveries flow.delivery[]) returns void language plpgsql as $$
declare
    v_queue record;
begin
    -- flow.delayed first, flow.message in a later statement: the second statement sees a message that flow.move_due has moved in between.
    delete from flow.delayed l
    using unnest(p_deliveries) d
    cross join lateral (
        select t.ctid as row_id from flow.delayed t
        where t.run_id = d.run_id and t.step_index = d.step_index and t.task_index = d.task_index offset 0
    ) t
    where l.ctid = t.row_id;
    delete from flow.message m
    using unnest(p_deliveries) d
    where d.message_id is null
      and m.queue_id = d.queue_id and m.priority = d.priority and m.age = d.age and m.run_id = d.run_id
      and m.step_index = d.step_index and m.task_index = d.task_index;
    for v_queue in
        select q.name, array_agg(d.message_id order by d.message_id) as messages
        from unnest(p_deliveries) d
        cross join lateral (select q.name from flow.queue q where q.queue_id = d.queue_id offset 0) q
        where d.message_id is not null
        group by q.name order by q.name
    loop
        perform flow.pgmq_remove(v_queue.name, v_queue.messages);
    end loop;
end $$;
