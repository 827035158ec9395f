-- Send the messages that have a number (message_id) to their queues of pgmq delivery, each visible from its instant in p_due_at on.
-- Messages without a number are ignored.
create or replace function flow.pgmq_send(p_deliveries flow.delivery[], p_due_at timestamptz[]) returns void language plpgsql as $$
declare
    v_queue record;
begin
    for v_queue in
        select q.name, array_agg(d.message_id order by d.ord) as ids, array_agg(d.due_at order by d.ord) as due_at,
               array_agg(case when d.task_index < 0 then jsonb_build_object('run', d.run_id, 'step', d.step_index)
                              else jsonb_build_object('run', d.run_id, 'step', d.step_index, 'task', d.task_index) end
                         order by d.ord) as bodies
        from unnest(p_deliveries, p_due_at) with ordinality
             d(queue_id, priority, age, run_id, step_index, task_index, message_id, row_id, due_at, ord)
        cross join lateral (select q.name from flow.queue q where q.queue_id = d.queue_id offset 0) q
        where d.message_id is not null
        group by q.name order by q.name
    loop
        execute format($sql$
            insert into pgmq.%I (msg_id, vt, message) overriding system value
            select * from unnest($1, $2, $3)
        $sql$, 'q_' || v_queue.name)
        using v_queue.ids, v_queue.due_at, v_queue.bodies;
    end loop;
end $$;
