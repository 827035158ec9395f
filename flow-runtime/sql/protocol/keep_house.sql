-- Remove runs that the setting `retention` no longer keeps, by one call of flow.prune; processes call this now and then. Returns how many
-- runs were removed, and whether there are more; 0 and false when the setting is off or another process is in this call.
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
