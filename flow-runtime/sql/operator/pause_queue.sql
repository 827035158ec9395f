-- Pause a queue until flow.resume_queue: workers claim nothing more from the queue; work that is claimed already may still be settled.
-- Raises WF007 when there is no such queue.
create or replace function flow.pause_queue(queue text, why text) returns void language plpgsql as $$
begin
    update flow.queue q set paused_at = clock_timestamp(), paused_by = current_user, paused_why = why
    where q.name = lower(queue collate "C");
    if not found then
        raise exception 'no queue "%" is registered; see flow.queues', queue using errcode = 'WF007';
    end if;
end $$;
