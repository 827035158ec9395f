-- Queue the work of started steps of run p_new that was not taken over from run p_old, which p_new retries: from its first attempt, with
-- the old items. Returns the queues that got messages. The caller holds the old run's lock.
create or replace function flow.requeue_work(p_old uuid, p_new uuid, p_due_at timestamptz, p_now timestamptz)
returns integer[] language plpgsql as $$
declare
    v_deliveries flow.delivery[];
begin
    with begun as (
        select ss.ctid as row_id, ss.step_index, ss.flow_id, ss.task_count, s.kind, s.queue_id, s.priority, q.message_ids
        from flow.step_state ss
        cross join lateral (
            select s.kind, s.queue_id, s.priority from flow.step s
            where s.flow_id = ss.flow_id and s.step_index = ss.step_index offset 0
        ) s
        cross join lateral (select q.message_ids from flow.queue q where q.queue_id = s.queue_id offset 0) q
        where ss.run_id = p_new and ss.status = 'started'
    ), single as (
        update flow.step_state ss
        set queue_id = b.queue_id, priority = b.priority, message_id = nextval(b.message_ids), queued_at = p_now
        from begun b where b.kind = 'single' and ss.ctid = b.row_id
        returning ss.queue_id, ss.priority, ss.age, ss.step_index, -1 as task_index, ss.message_id
    ), task as (
        insert into flow.task (run_id, step_index, task_index, flow_id, queue_id, priority, age, message_id, queued_at, item)
        select p_new, b.step_index, t.task_index, b.flow_id, b.queue_id, b.priority, p_due_at, nextval(b.message_ids), p_now, t.item
        from begun b
        cross join lateral flow.live_ranges(p_old, b.step_index, b.task_count) r
        cross join lateral (
            select t.task_index, t.item from flow.task t
            where t.run_id = p_old and t.step_index = b.step_index and t.task_index between r.lowest and r.highest
              and t.status <> 'completed' offset 0
        ) t
        where b.kind = 'map'
        returning queue_id, priority, age, step_index, task_index, message_id
    )
    select coalesce(array_agg(row(w.queue_id, w.priority, w.age, p_new, w.step_index, w.task_index, w.message_id, null)::flow.delivery
                              order by w.step_index, w.task_index), '{}')
    into v_deliveries
    from (select * from single union all select * from task) w;
    -- The pieces of large maps move to the new run.
    update flow.piece p set run_id = p_new
    from flow.step_state ss
    where ss.run_id = p_new and ss.taken_from = p_old and ss.status = 'started'
      and p.run_id = p_old and p.step_index = ss.step_index;
    perform flow.send_messages(v_deliveries, array_fill(p_due_at, array[cardinality(v_deliveries)]), p_now);
    return array(select distinct d.queue_id from unnest(v_deliveries) d);
end $$;
