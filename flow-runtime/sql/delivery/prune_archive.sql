-- Delete messages that a queue of pgmq delivery archived before p_before, at most p_limit of them. Returns how many were deleted; 0 for a
-- queue without an archive.
create or replace function flow.prune_archive(p_queue flow.queue, p_before timestamptz, p_limit integer) returns bigint
language plpgsql as $$
declare
    v_removed bigint := 0;
begin
    if p_queue.delivery = 'pgmq' and to_regclass(format('pgmq.%I', 'a_' || p_queue.name)) is not null then
        execute format('delete from pgmq.%1$I a using (
                            select o.ctid as row_id from pgmq.%1$I o where o.archived_at < $1 limit $2 for update skip locked) o
                        where a.ctid = o.row_id', 'a_' || p_queue.name)
        using p_before, p_limit;
        get diagnostics v_removed = row_count;
    end if;
    return v_removed;
end $$;
