-- List the queues of flow p_slug that hold messages which are due, or suspects, and have no worker alive, by name; paused ones are left
-- out.
-- Reads the messages of queues without a worker only, so it costs little while all have theirs.
create or replace function flow.unserved_queues(p_slug text) returns text[] language sql stable as $$
    select coalesce(array_agg(q.queue order by q.queue), '{}')
    from flow.queues q
    where q.flow = p_slug and q.paused_at is null and q.workers = 0 and q.visible + q.suspects > 0
$$;
