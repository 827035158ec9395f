-- List by name the queues of flow p_slug that hold due messages or suspects and have no worker alive, except paused queues.
-- Only the messages of queues without a live worker are counted, so the call costs little while every queue has one.
create or replace function flow.unserved_queues(p_slug text) returns text[] language sql stable as $$
    select coalesce(array_agg(q.queue order by q.queue), '{}')
    from flow.queues q
    where q.flow = p_slug and q.paused_at is null and q.workers = 0 and q.visible + q.suspects > 0
$$;
