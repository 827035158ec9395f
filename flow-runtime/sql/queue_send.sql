-- Send one message for each task named by the three arrays to queue p_queue, visible from p_visible_at on.
-- Returns the message ids, in the order of the arrays. One of the functions that touch the physical queue.
create or replace function flow.queue_send(
    p_queue text, p_runs uuid[], p_steps integer[], p_tasks integer[], p_visible_at timestamptz[]
) returns bigint[] language plpgsql as $$
declare
    v_ids bigint[];
begin
    execute format($sql$
        with sent as (
            insert into pgmq.%I (vt, message)
            select m.vt, jsonb_build_object('run', m.run_id, 'step', m.step_index, 'task', m.task_index)
            from unnest($1, $2, $3, $4) with ordinality m(run_id, step_index, task_index, vt, ord)
            order by m.ord
            returning msg_id
        )
        select array_agg(sent.msg_id order by sent.msg_id) from sent
    $sql$, 'q_' || p_queue)
    into v_ids using p_runs, p_steps, p_tasks, p_visible_at;
    return v_ids;
end $$;
