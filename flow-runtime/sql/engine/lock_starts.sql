-- Take the lock that keeps starts of a flow and its deletion apart, until the transaction ends: starts share it, and the
-- deletion has it alone, so that no run appears in a flow that is being deleted.
create or replace function flow.lock_starts(p_slug text, p_alone boolean) returns void language plpgsql as $$
declare
    v_key bigint := hashtextextended('flow.starts.' || lower(p_slug collate "C"), 0);
begin
    if p_alone then
        perform pg_advisory_xact_lock(v_key);
    else
        perform pg_advisory_xact_lock_shared(v_key);
    end if;
end $$;
