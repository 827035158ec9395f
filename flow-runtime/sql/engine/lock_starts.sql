-- Take the lock that keeps starts of a flow apart from its deletion, until the transaction ends. Starts and retries share the lock; the
-- deletion takes it alone (p_alone), so that no run appears in a flow that is being deleted.
-- A request to have the lock alone blocks new starts while it waits. So each request waits a tenth of a second, with 0.2 s of pause between
-- requests, for some five seconds in all.
-- Raises 55P03 when open transactions have held the lock for that long.
create or replace function flow.lock_starts(p_slug text, p_alone boolean) returns void language plpgsql as $$
declare
    v_key bigint := hashtextextended('flow.starts.' || lower(p_slug collate "C"), 0);
    v_usual text;
begin
    if not p_alone then
        perform pg_advisory_xact_lock_shared(v_key);
        return;
    end if;
    v_usual := current_setting('lock_timeout');
    perform set_config('lock_timeout', '100ms', true);
    for i in 1 .. 17 loop
        begin
            perform pg_advisory_xact_lock(v_key);
            perform set_config('lock_timeout', v_usual, true);
            return;
        exception when lock_not_available then
            perform pg_sleep(0.2);
        end;
    end loop;
    raise exception 'flow "%" has transactions open that have started runs, of the server processes %; end them, or try again later',
        p_slug, (select string_agg(distinct l.pid::text, ', ') from pg_locks l
                 where l.locktype = 'advisory' and l.granted and l.objsubid = 1
                   and l.database = (select d.oid from pg_database d where d.datname = current_database())
                   and (l.classid::bigint << 32 | l.objid::bigint) = v_key)
        using errcode = 'lock_not_available';
end $$;
