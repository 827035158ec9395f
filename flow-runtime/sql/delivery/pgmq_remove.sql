-- Remove messages from a queue of pgmq delivery: they are deleted, or moved to PGMQ's archive where the queue's on_remove is 'archive'.
-- Messages that do not exist any more are passed over.
create or replace function flow.pgmq_remove(p_queue text, p_ids bigint[]) returns void language plpgsql as $$
begin
    if (select q.on_remove from flow.queue q where q.name = p_queue) = 'archive' then
        -- pgmq.archive is not used, because it would fail on a message that was sent a second time and is in the archive already.
        execute format($sql$
            with removed as (
                delete from pgmq.%I q where q.msg_id = any ($1) returning q.*
            )
            insert into pgmq.%I (msg_id, read_ct, enqueued_at, last_read_at, archived_at, vt, message, headers)
            select r.msg_id, r.read_ct, r.enqueued_at, r.last_read_at, clock_timestamp(), r.vt, r.message, r.headers
            from removed r
            on conflict (msg_id) do nothing
        $sql$, 'q_' || p_queue, 'a_' || p_queue) using p_ids;
    else
        execute format('delete from pgmq.%I q where q.msg_id = any ($1)', 'q_' || p_queue) using p_ids;
    end if;
end $$;
