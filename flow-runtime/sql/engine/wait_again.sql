-- Let held work wait again: each piece under the attempt number that p_work gives, due at its instant in p_due_at, at its old place in the
-- queue's order.
-- Returns the queues that got messages which are due. The caller holds the locks of the work.
create or replace function flow.wait_again(p_work flow.work[], p_due_at timestamptz[], p_now timestamptz)
returns integer[] language plpgsql as $$
declare
    v_deliveries flow.delivery[];
    v_due_at timestamptz[];
begin
    with held as (
        select w.row_id, w.task_index, w.attempt, w.due_at, nextval(q.message_ids) as message_id
        from unnest(p_work, p_due_at) w(
            run_id, step_index, task_index, flow_id, row_id, status, queue_id, attempt, worker_id, batch, claimed_at,
            timeout_ms, is_exhausted, due_at)
        cross join lateral (select q.message_ids from flow.queue q where q.queue_id = w.queue_id offset 0) q
    ), single as (
        update flow.step_state ss
        set message_id = h.message_id, attempt = h.attempt, worker_id = null, batch = null, claimed_at = null,
            timeout_ms = null, is_exhausted = false
        from held h where h.task_index < 0 and ss.ctid = h.row_id
        returning row(ss.queue_id, ss.priority, ss.age, ss.run_id, ss.step_index, -1, ss.message_id, null)::flow.delivery as delivery,
                  h.due_at
    ), task as (
        update flow.task t
        set status = 'queued', message_id = h.message_id, attempt = h.attempt, worker_id = null, batch = null, claimed_at = null,
            timeout_ms = null, is_exhausted = false
        from held h where h.task_index >= 0 and t.ctid = h.row_id
        returning row(t.queue_id, t.priority, t.age, t.run_id, t.step_index, t.task_index, t.message_id, null)::flow.delivery
                      as delivery, h.due_at
    )
    select array_agg(w.delivery), array_agg(w.due_at) into v_deliveries, v_due_at
    from (select * from single union all select * from task) w;
    perform flow.send_messages(v_deliveries, v_due_at, p_now);
    return array(
        select distinct w.queue_id
        from unnest(p_work, p_due_at) w(
            run_id, step_index, task_index, flow_id, row_id, status, queue_id, attempt, worker_id, batch, claimed_at,
            timeout_ms, is_exhausted, due_at)
        where w.due_at <= p_now);
end $$;
