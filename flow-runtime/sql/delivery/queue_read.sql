-- Lock up to p_limit messages of queue p_queue that are visible at p_now, in the order of becoming visible, and skip what is locked
-- and those in p_passed.
-- Returns them, with nulls for what a message does not name; null when there are none. They stay until flow.queue_remove.
create or replace function flow.queue_read(p_queue text, p_limit integer, p_passed bigint[], p_now timestamptz)
returns flow.message[] language plpgsql as $$
declare
    v_ids bigint[];
    v_bodies jsonb[];
begin
    execute format($sql$
        select array_agg(t.msg_id), array_agg(t.message)
        from (select q.msg_id, q.message from pgmq.%I q where q.vt <= $1 and q.msg_id <> all ($3)
              order by q.vt limit $2 for update skip locked) t
    $sql$, 'q_' || p_queue)
    into v_ids, v_bodies using p_now, p_limit, p_passed;
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
