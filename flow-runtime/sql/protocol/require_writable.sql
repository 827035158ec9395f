-- Raise 25006 on a read-only server, and return true elsewhere. What a read-only server says of a run may be old: a demoted primary or a
-- lagging standby does not know of runs that others have started or ended since.
create or replace function flow.require_writable() returns boolean language plpgsql as $$
begin
    if current_setting('transaction_read_only') = 'on' then
        raise exception 'this server is read-only, so what it says of runs may be old' using errcode = '25006';
    end if;
    return true;
end $$;
