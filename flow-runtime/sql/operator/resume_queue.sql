-- Let workers claim from a paused queue again, and wake them. A queue that is not paused stays as it is. Raises WF007 when there is no such
-- queue.
create or replace function flow.resume_queue(queue text) returns void language plpgsql as $$
declare
    v_id integer;
begin
    update flow.queue q set paused_at = null, paused_by = null, paused_why = null
    where q.name = lower(queue collate "C") returning q.queue_id into v_id;
    if not found then
        raise exception 'no queue "%" is registered; see flow.queues', queue using errcode = 'WF007';
    end if;
    perform flow.notify_ids('flow_queue', array[v_id::text]);
end $$;
