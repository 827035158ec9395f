-- Lock up to p_limit messages of a worker's queue of pgmq delivery that are visible at p_now, in the order of becoming visible, skipping
-- locked messages and those in p_passed.
-- Returns the messages; a part of a message's body that cannot be read is null.
create or replace function flow.pgmq_read(
    p_self flow.worker_state, p_limit integer, p_passed flow.delivery[], p_now timestamptz
) returns flow.delivery[] language plpgsql as $$
declare
    v_ids bigint[];
    v_bodies jsonb[];
begin
    execute format($sql$
        select array_agg(t.msg_id), array_agg(t.message)
        from (select q.msg_id, q.message from pgmq.%I q where q.vt <= $1 and q.msg_id <> all ($3)
              order by q.vt limit $2 for update skip locked) t
    $sql$, 'q_' || p_self.queue)
    into v_ids, v_bodies
    using p_now, p_limit, array(select p.message_id from unnest(p_passed) p);
    begin
        return array(
            select row(p_self.queue_id, null, null, (b.body ->> 'run')::uuid, (b.body ->> 'step')::integer,
                       coalesce((b.body ->> 'task')::integer, -1), b.id, null)::flow.delivery
            from unnest(v_ids, v_bodies) b(id, body));
    exception when data_exception then
        return array(
            select row(p_self.queue_id, null, null, m.p_run, m.p_step, m.p_task, b.id, null)::flow.delivery
            from unnest(v_ids, v_bodies) b(id, body) cross join lateral flow.read_message(b.body) m);
    end;
end $$;
