-- Give each run its idempotency key, or find the run that has the key already. The arrays hold one entry a run; a key may be null.
-- Returns the run ids in the order of p_ids, where a key is taken already with the id of the run that has the key.
-- Locks the keys in order until the transaction ends, so that no prune removes a run that this start returns.
create or replace function flow.take_keys(p_flow_id integer, p_keys text[], p_ids uuid[]) returns uuid[] language plpgsql as $$
declare
    v_wanted text[] := array(select distinct k.key from unnest(p_keys) k(key) where k.key is not null order by k.key);
    v_found text[];
    v_runs uuid[];
begin
    loop
        insert into flow.run_key (flow_id, key, run_id)
        select p_flow_id, k.key, k.run_id
        from (select distinct on (k.key) k.key, k.run_id
              from unnest(p_keys, p_ids) with ordinality k(key, run_id, ord)
              where k.key is not null order by k.key, k.ord) k
        order by k.key
        on conflict (flow_id, key) do nothing;
        select array_agg(e.key), array_agg(e.run_id) into v_found, v_runs
        from unnest(v_wanted) with ordinality w(key, ord)
        cross join lateral (
            select e.key, e.run_id from flow.run_key e where e.flow_id = p_flow_id and e.key = w.key for share
        ) e;
        -- A key that the insert met and this read does not find was removed with a pruned run in between: it is free, so try again.
        exit when cardinality(v_found) = cardinality(v_wanted);
    end loop;
    return array(
        select coalesce(f.run_id, k.run_id)
        from unnest(p_keys, p_ids) with ordinality k(key, run_id, ord)
        left join unnest(v_found, v_runs) f(key, run_id) on f.key = k.key
        order by k.ord);
end $$;
