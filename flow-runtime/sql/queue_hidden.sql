-- Return the messages of queue p_queue that are hidden at p_now. Reads all of them: only for a worker that lost the
-- reply of an exchange. One of the functions that touch the physical queue.
create or replace function flow.queue_hidden(p_queue text, p_now timestamptz)
returns table (message_id bigint, body jsonb) language plpgsql as $$
begin
    return query execute format(
        'select q.msg_id, q.message from pgmq.%I q where q.vt > $1 order by q.vt', 'q_' || p_queue) using p_now;
end $$;
