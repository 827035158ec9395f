-- Drop a private queue with its messages and its registry row.
create or replace function flow.drop_queue(p_name text) returns void language plpgsql as $$
declare
    v_queue flow.queue;
begin
    delete from flow.queue q where q.name = p_name returning q.* into v_queue;
    if v_queue.delivery = 'pgmq' then
        perform pgmq.drop_queue(p_name);
    else
        delete from flow.delayed d where d.queue_id = v_queue.queue_id;
        delete from flow.message m where m.queue_id = v_queue.queue_id;
    end if;
end $$;
