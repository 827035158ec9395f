-- Lock and return up to p_limit messages of queue p_queue that are visible at p_now, in the order of becoming visible.
-- Skips what is locked and changes nothing: the caller hides what it keeps. One of the functions that touch the
-- physical queue.
create or replace function flow.queue_read(
    p_queue text, p_limit integer, p_now timestamptz, out p_ids bigint[], out p_bodies jsonb[]
) language plpgsql as $$
begin
    execute format($sql$
        select array_agg(m.msg_id), array_agg(m.message)
        from (
            select q.msg_id, q.message from pgmq.%I q
            where q.vt <= $1 order by q.vt limit $2 for update skip locked
        ) m
    $sql$, 'q_' || p_queue)
    into p_ids, p_bodies using p_now, p_limit;
end $$;
