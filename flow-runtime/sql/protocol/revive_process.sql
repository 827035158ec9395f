-- Let workers whose process was ended go on under process p_process, which is registered when it is new. Workers that belong to p_process
-- already stay as they are, so that the call may be repeated.
-- Returns false, and changes nothing, while hands of the other workers still list work: that work is to be recovered first, so that nothing
-- is held twice.
create or replace function flow.revive_process(p_workers bigint[], p_process bigint, p_name text, p_lease_ms bigint)
returns boolean language plpgsql as $$
begin
    if exists (select from flow.worker w join flow.hand h on h.worker_id = w.worker_id
               where w.worker_id = any (p_workers) and w.process_id <> p_process and w.stopped_at is null) then
        return false;
    end if;
    perform flow.register_process(p_process, p_name, p_lease_ms);
    update flow.worker w set process_id = p_process
    from (select l.worker_id from flow.worker l
          where l.worker_id = any (p_workers) and l.process_id <> p_process and l.stopped_at is null
          order by l.worker_id for no key update) l
    where w.worker_id = l.worker_id;
    return true;
end $$;
