-- Read a worker with its process and queue, and say whether the worker may claim: ok | late (the process has not renewed its lease in time)
-- | paused | draining | process_ended | worker_gone | upgrade_needed; the reason is a text.
create or replace function flow.worker_state(p_worker bigint) returns flow.worker_state language plpgsql stable as $$
declare
    v flow.worker_state;
begin
    select w.worker_id, w.process_id, w.flow_id, w.queue_id, q.name, q.message_ids, w.steps, w.input_steps, f.is_plain, (l.value)::bigint,
           case when w.interface < (o.value)::integer then 'upgrade_needed'
                when p.process_id is null or p.ended_at is not null or p.stopped_at is not null then 'process_ended'
                when w.draining_at is not null or n.name is not null then 'draining'
                when p.lease_until <= clock_timestamp() then 'late'
                when q.paused_at is not null then 'paused'
                else 'ok' end,
           case when w.interface < (o.value)::integer then format(
                    'this program speaks interface %s, the database speaks %s or newer', w.interface, o.value)
                when p.process_id is null or p.ended_at is not null or p.stopped_at is not null
                    then 'the process did not renew its lease in time'
                when w.draining_at is not null or n.name is not null then coalesce(n.disabled_why, 'the worker was asked to drain')
                else q.paused_why end
    into v
    from flow.worker w
    left join flow.process p on p.process_id = w.process_id
    join flow.queue q on q.queue_id = w.queue_id
    join flow.flow f on f.flow_id = w.flow_id
    join flow.setting o on o.name = 'oldest_interface'
    join flow.setting l on l.name = 'max_value_bytes'
    left join flow.worker_name n on n.name = w.name and n.disabled_at is not null
    where w.worker_id = p_worker and w.stopped_at is null;
    if not found then
        v.state := 'worker_gone';
        v.reason := format('worker %s is not registered; its flow was deleted or made anew, or it was marked stopped',
                           p_worker);
    end if;
    return v;
end $$;
