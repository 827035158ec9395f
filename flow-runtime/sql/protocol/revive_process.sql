-- Let the workers of a process that was ended work on under a new number. Returns false while some of what they held is still listed:
-- it is to be recovered first, so that nothing is held twice.
create or replace function flow.revive_process(p_ended bigint, p_process bigint, p_name text, p_lease_ms bigint)
returns boolean language plpgsql as $$
begin
    if exists (select from flow.worker w join flow.hand h on h.worker_id = w.worker_id
               where w.process_id = p_ended and w.stopped_at is null) then
        return false;
    end if;
    perform flow.register_process(p_process, p_name, p_lease_ms);
    update flow.worker w set process_id = p_process
    from (select l.worker_id from flow.worker l
          where l.process_id = p_ended and l.stopped_at is null order by l.worker_id for no key update) l
    where w.worker_id = l.worker_id;
    return true;
end $$;
