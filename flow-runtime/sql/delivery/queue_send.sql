-- Send messages to queue p_queue under the ids that they were given, each visible from its time in p_visible_at on.
create or replace function flow.queue_send(p_queue text, p_messages flow.message[], p_visible_at timestamptz[])
returns void language plpgsql as $$
begin
    execute format($sql$
        insert into pgmq.%I (msg_id, vt, message) overriding system value
        select m.message_id, m.vt,
               case when m.task_index < 0 then jsonb_build_object('run', m.run_id, 'step', m.step_index)
                    else jsonb_build_object('run', m.run_id, 'step', m.step_index, 'task', m.task_index) end
        from unnest($1, $2) m(message_id, run_id, step_index, task_index, vt)
    $sql$, 'q_' || p_queue)
    using p_messages, p_visible_at;
end $$;
