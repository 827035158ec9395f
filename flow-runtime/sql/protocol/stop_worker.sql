-- Mark a worker as stopped; changes nothing when the worker has stopped already or is gone. Returns the rows of its hand, which are to be
-- recovered.
create or replace function flow.stop_worker(p_worker bigint) returns bigint[] language plpgsql as $$
begin
    update flow.worker w set stopped_at = clock_timestamp() where w.worker_id = p_worker and w.stopped_at is null;
    return array(select h.batch from flow.hand h where h.worker_id = p_worker order by h.batch);
end $$;
