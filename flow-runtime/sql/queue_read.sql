-- Take up to p_limit messages of queue p_queue that are visible at p_now, in the order of becoming visible, and hide
-- them until p_until. Counts the read as PGMQ does and skips what is locked. One of the functions that touch the
-- physical queue.
create or replace function flow.queue_read(
    p_queue text, p_limit integer, p_now timestamptz, p_until timestamptz, out p_ids bigint[], out p_bodies jsonb[]
) language plpgsql as $$
begin
    execute format($sql$
        with taken as (
            select q.ctid as row_id from pgmq.%1$I q
            where q.vt <= $1 order by q.vt limit $2 for update skip locked
        ), hidden as (
            update pgmq.%1$I q
            set vt = $3, read_ct = q.read_ct + 1, last_read_at = $1
            from taken t where q.ctid = t.row_id
            returning q.msg_id, q.message
        )
        select array_agg(h.msg_id), array_agg(h.message) from hidden h
    $sql$, 'q_' || p_queue)
    into p_ids, p_bodies using p_now, p_limit, p_until;
end $$;
