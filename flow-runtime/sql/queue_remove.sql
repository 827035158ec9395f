-- Remove messages from queue p_queue: deleted, or moved to PGMQ's archive when the queue is set so.
-- Messages that are gone already are passed over. One of the functions that touch the physical queue.
create or replace function flow.queue_remove(p_queue text, p_ids bigint[])
returns void language plpgsql as $$
begin
    if (select q.on_remove from flow.queue q where q.name = p_queue) = 'archive' then
        perform pgmq.archive(p_queue, p_ids);
    else
        execute format('delete from pgmq.%I q where q.msg_id = any ($1)', 'q_' || p_queue) using p_ids;
    end if;
end $$;
