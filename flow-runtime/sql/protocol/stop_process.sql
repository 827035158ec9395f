-- Mark a process as stopped. What its workers still hold is recovered by whichever process sees it first.
create or replace function flow.stop_process(p_process bigint) returns void language sql as $$
    update flow.process p set stopped_at = clock_timestamp() where p.process_id = p_process and p.stopped_at is null
$$;
