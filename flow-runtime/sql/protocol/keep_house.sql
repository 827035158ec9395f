-- Remove what the setting `retention` keeps no longer: one call of flow.prune, for a process that calls this now and then. Returns how
-- many runs were removed, and whether there is more; none and false when the setting is off, or when another process is at it.
create or replace function flow.keep_house(out p_runs integer, out p_has_more boolean) language plpgsql as $$
declare
    v_retention text := (select s.value #>> '{}' from flow.setting s where s.name = 'retention');
begin
    p_runs := 0;
    p_has_more := false;
    if v_retention <> 'off' and pg_try_advisory_xact_lock(hashtextextended('flow.keep_house', 0)) then
        select p.runs, p.has_more into p_runs, p_has_more from flow.prune(clock_timestamp() - v_retention::interval) p;
    end if;
end $$;
