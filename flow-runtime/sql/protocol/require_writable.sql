-- Raise 25006 on a server that may not write, and return true elsewhere. What such a server says of a run may be of long ago: a
-- primary that was demoted, or a standby that lags, knows nothing of runs that others have started or ended since.
create or replace function flow.require_writable() returns boolean language plpgsql as $$
begin
    if current_setting('transaction_read_only') = 'on' then
        raise exception 'this server is read-only, so what it says of runs may be old' using errcode = '25006';
    end if;
    return true;
end $$;
