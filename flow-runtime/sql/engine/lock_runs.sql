-- Lock the runs that the given results name, by id. With p_waits, waits for every run and returns all results; without, skips the runs that
-- somebody else has locked and returns the results of the locked runs only.
create or replace function flow.lock_runs(p_results flow.result[], p_waits boolean) returns flow.result[] language plpgsql as $$
declare
    v_runs uuid[];
begin
    if p_waits then
        perform from (select distinct u.run_id from unnest(p_results) u order by u.run_id) u
        cross join lateral (select from flow.run r where r.run_id = u.run_id for no key update) r;
        return p_results;
    end if;
    v_runs := array(
        select r.run_id from (select distinct u.run_id from unnest(p_results) u order by u.run_id) u
        cross join lateral (
            select r.run_id from flow.run r where r.run_id = u.run_id for no key update skip locked
        ) r);
    return array(select u from unnest(p_results) u where u.run_id = any (v_runs) order by u.ord);
end $$;
