-- Remove messages, each from the queue at its place in p_queues. Pairs with a null are passed over.
create or replace function flow.remove_messages(p_queues integer[], p_messages bigint[]) returns void language plpgsql as $$
declare
    v_queue record;
begin
    for v_queue in
        select q.name, array_agg(m.message_id order by m.message_id) as messages
        from unnest(p_queues, p_messages) m(queue_id, message_id)
        cross join lateral (select q.name from flow.queue q where q.queue_id = m.queue_id offset 0) q
        where m.message_id is not null
        group by q.name order by q.name
    loop
        perform flow.queue_remove(v_queue.name, v_queue.messages);
    end loop;
end $$;
