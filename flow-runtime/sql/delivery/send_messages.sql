-- Send the messages of work that waits, each due from its instant in p_due_at on. Messages with a number go to their queues of pgmq
-- delivery; the others become rows of flow.message, or of flow.delayed until they are due.
create or replace function flow.send_messages(p_deliveries flow.delivery[], p_due_at timestamptz[], p_now timestamptz)
returns void language plpgsql as $$
begin
    -- A row that exists already is the same message, so conflicts are ignored.
    insert into flow.message (queue_id, priority, age, run_id, step_index, task_index)
    select d.queue_id, d.priority, d.age, d.run_id, d.step_index, d.task_index
    from unnest(p_deliveries, p_due_at) d(queue_id, priority, age, run_id, step_index, task_index, message_id, row_id, due_at)
    where d.message_id is null and d.due_at <= p_now
    on conflict do nothing;
    if exists (select from unnest(p_due_at) d(due_at) where d.due_at > p_now) then
        insert into flow.delayed (run_id, step_index, task_index, queue_id, priority, age, due_at)
        select d.run_id, d.step_index, d.task_index, d.queue_id, d.priority, d.age, d.due_at
        from unnest(p_deliveries, p_due_at) d(queue_id, priority, age, run_id, step_index, task_index, message_id, row_id, due_at)
        where d.message_id is null and d.due_at > p_now
        on conflict do nothing;
    end if;
    if exists (select from unnest(p_deliveries) d where d.message_id is not null) then
        perform flow.pgmq_send(p_deliveries, p_due_at);
    end if;
end $$;
