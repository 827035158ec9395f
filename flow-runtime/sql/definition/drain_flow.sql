-- Ask the workers of a flow to drain and notify them. Returns the workers that are alive (flow.is_alive) as a list of objects.
-- Locks the workers by id.
create or replace function flow.drain_flow(p_flow_id integer) returns jsonb language plpgsql as $$
declare
    v_workers jsonb;
begin
    update flow.worker w set draining_at = clock_timestamp()
    from (select l.worker_id from flow.worker l
          where l.flow_id = p_flow_id and l.stopped_at is null and l.draining_at is null
          order by l.worker_id for no key update) l
    where w.worker_id = l.worker_id;
    select coalesce(jsonb_agg(jsonb_build_object(
               'worker_id', w.worker_id, 'name', w.name,
               'seen_at', (select p.seen_at from flow.process p where p.process_id = w.process_id)) order by w.worker_id), '[]')
    into v_workers
    from flow.worker w
    where w.flow_id = p_flow_id and w.stopped_at is null and flow.is_alive(w);
    perform flow.notify_ids('flow_worker', array(select w ->> 'worker_id' from jsonb_array_elements(v_workers) w));
    return v_workers;
end $$;
