-- Refuse a batch with corrupt or misrouted messages. A corrupt message pauses the queue until flow.resume_queue; a misrouted one disables
-- the worker's name until flow.enable_worker.
-- Returns the state for the worker and the reason, which quotes no message body.
create or replace function flow.refuse_batch(
    p_self flow.worker_state, p_seen flow.message_class[], out p_state text, out p_reason text
) language plpgsql as $$
declare
    v_name text;
begin
    select format('queue "%s" holds messages that do not fit their work: %s', p_self.queue, string_agg(m.name, ', ' order by m.name))
    into p_reason
    from unnest(p_seen) b
    cross join lateral (
        select coalesce((b.delivery).message_id::text, format('%s.%s.%s', b.run_id, b.step_index, b.task_index)) as name
    ) m
    where b.kind = 'corrupt' having count(*) > 0;
    if p_reason is not null then
        p_state := 'corrupt';
        update flow.queue q
        set paused_at = clock_timestamp(), paused_by = 'worker ' || p_self.worker_id, paused_why = p_reason
        where q.queue_id = p_self.queue_id and q.paused_at is null;
        return;
    end if;

    p_state := 'misrouted';
    select w.name into v_name from flow.worker w where w.worker_id = p_self.worker_id;
    select format('queue "%s" holds work that worker "%s" does not serve, of step %s', p_self.queue, v_name,
                  string_agg(distinct format('"%s" of flow "%s"', s.slug, f.slug), ', '))
    into p_reason
    from unnest(p_seen) b
    join flow.run r on r.run_id = b.run_id
    join flow.flow f on f.flow_id = r.flow_id
    join flow.step s on s.flow_id = r.flow_id and s.step_index = b.step_index
    where b.kind = 'misrouted';
    perform flow.disable_name(v_name, p_reason);
end $$;
