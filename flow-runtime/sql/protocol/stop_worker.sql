-- Mark a worker as stopped. Changes nothing when it is stopped already or gone.
create or replace function flow.stop_worker(p_worker bigint) returns void language sql as $$
    update flow.worker w set stopped_at = clock_timestamp() where w.worker_id = p_worker and w.stopped_at is null
$$;
