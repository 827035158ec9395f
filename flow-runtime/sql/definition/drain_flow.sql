-- Ask the workers of a flow to drain, and list those that are alive: not stopped, and seen within three heartbeats.
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
    select coalesce(jsonb_agg(jsonb_build_object('worker_id', w.worker_id, 'name', w.name, 'seen_at', w.seen_at)
                              order by w.worker_id), '[]')
    into v_workers
    from flow.worker w
    where w.flow_id = p_flow_id and w.stopped_at is null and w.seen_at > clock_timestamp() - interval '30 s';
    perform flow.notify_ids('flow_worker', array(select w ->> 'worker_id' from jsonb_array_elements(v_workers) w));
    return v_workers;
end $$;
