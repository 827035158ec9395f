-- Return the messages of queue p_queue that are hidden at p_now. Reads all of them: only for a worker that lost the reply of an
-- exchange.
create or replace function flow.queue_hidden(p_queue text, p_now timestamptz) returns setof flow.message language plpgsql as $$
begin
    return query execute format(
        'select q.msg_id, m.p_run, m.p_step, m.p_task from pgmq.%I q cross join lateral flow.read_message(q.message) m
         where q.vt > $1 order by q.vt', 'q_' || p_queue) using p_now;
end $$;
