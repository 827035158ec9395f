-- Set what becomes of messages that are removed from a queue: 'delete' (the default) deletes them, 'archive' moves them to PGMQ's archive
-- table.
-- Raises WF007 when there is no such queue; WF012 for another word, or for 'archive' on a queue that is not of pgmq delivery.
create or replace function flow.set_on_remove(queue text, on_remove text) returns void language plpgsql as $$
begin
    if on_remove not in ('delete', 'archive') then
        raise exception 'a queue takes ''delete'' or ''archive'', not ''%''', on_remove using errcode = 'WF012';
    end if;
    if on_remove = 'archive' and exists (
        select from flow.queue q where q.name = lower(queue collate "C") and q.delivery <> 'pgmq') then
        raise exception 'queue "%" has no archive, because its delivery is rows and not pgmq; its messages are deleted', queue
            using errcode = 'WF012';
    end if;
    update flow.queue q set on_remove = set_on_remove.on_remove where q.name = lower(queue collate "C");
    if not found then
        raise exception 'no queue "%" is registered; see flow.queues', queue using errcode = 'WF007';
    end if;
end $$;
