-- Let work that a worker holds wait again under the attempt that is given with it, each piece visible from its time in p_due_at on.
-- Returns the queues that got messages which are due. The caller holds the locks of the work.
create or replace function flow.wait_again(p_work flow.work[], p_due_at timestamptz[], p_now timestamptz)
returns integer[] language plpgsql as $$
declare
    v_queue record;
    v_queues integer[] := '{}';
    v_messages flow.message[];
    v_due_at timestamptz[];
begin
    for v_queue in
        select q.queue_id, q.name, q.message_ids
        from (select distinct w.queue_id from unnest(p_work) w) u
        cross join lateral (
            select q.queue_id, q.name, q.message_ids from flow.queue q where q.queue_id = u.queue_id offset 0
        ) q
        order by q.queue_id
    loop
        with here as (
            select w.row_id, w.run_id, w.step_index, w.task_index, w.attempt, w.due_at, nextval(v_queue.message_ids) as message_id
            from unnest(p_work, p_due_at) w(
                run_id, step_index, task_index, flow_id, row_id, status, queue_id, attempt, worker_id, batch, claimed_at,
                timeout_ms, is_exhausted, due_at)
            where w.queue_id = v_queue.queue_id
        ), single as (
            update flow.step_state ss
            set message_id = h.message_id, attempt = h.attempt, worker_id = null, batch = null, claimed_at = null,
                timeout_ms = null, is_exhausted = false
            from here h where h.task_index < 0 and ss.ctid = h.row_id
        ), task as (
            update flow.task t
            set status = 'queued', message_id = h.message_id, attempt = h.attempt, worker_id = null, batch = null, claimed_at = null,
                timeout_ms = null, is_exhausted = false
            from here h where h.task_index >= 0 and t.ctid = h.row_id
        )
        select array_agg(row(h.message_id, h.run_id, h.step_index, h.task_index)::flow.message), array_agg(h.due_at)
        into v_messages, v_due_at from here h;
        perform flow.queue_send(v_queue.name, v_messages, v_due_at);
        if exists (select from unnest(v_due_at) d where d <= p_now) then
            v_queues := v_queues || v_queue.queue_id;
        end if;
    end loop;
    return v_queues;
end $$;
