-- Mark a process as stopped; what its workers still hold is to be recovered by whoever comes first.
create or replace function flow.stop_process(p_process bigint) returns void language sql as $$
    update flow.process p set stopped_at = clock_timestamp() where p.process_id = p_process and p.stopped_at is null
$$;
