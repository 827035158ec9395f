-- Take up to p_limit messages of queue p_queue that are visible at p_now, in the order of becoming visible, and hide them until
-- p_until. Counts the read as PGMQ does and skips what is locked. Returns them, with nulls for what a message does not name; null when
-- there are none.
create or replace function flow.queue_read(p_queue text, p_limit integer, p_now timestamptz, p_until timestamptz)
returns flow.message[] language plpgsql as $$
declare
    v_ids bigint[];
    v_bodies jsonb[];
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
    into v_ids, v_bodies using p_now, p_limit, p_until;
    if v_ids is null then
        return null;
    end if;
    begin
        return array(
            select row(b.id, (b.body ->> 'run')::uuid, (b.body ->> 'step')::integer,
                       coalesce((b.body ->> 'task')::integer, -1))::flow.message
            from unnest(v_ids, v_bodies) b(id, body));
    exception when data_exception then
        return array(
            select row(b.id, m.p_run, m.p_step, m.p_task)::flow.message
            from unnest(v_ids, v_bodies) b(id, body) cross join lateral flow.read_message(b.body) m);
    end;
end $$;
