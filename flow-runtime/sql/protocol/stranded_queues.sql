-- List by name the queues of flow p_slug with work that nobody would ever take up, as the view flow.queues counts it.
create or replace function flow.stranded_queues(p_slug text) returns text[] language sql stable as $$
    select coalesce(array_agg(q.queue order by q.queue), '{}')
    from flow.queues q
    where q.flow = p_slug and q.stranded > 0
$$;
