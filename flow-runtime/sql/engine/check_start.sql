-- Check the arguments of flow.start_runs. Raises WF004 when p_run_ids, p_keys or p_start_at is neither empty nor as long as p_inputs, or
-- when an idempotency key does not have 1 to 256 bytes.
create or replace function flow.check_start(
    p_inputs text[], p_run_ids uuid[], p_keys text[], p_start_at timestamptz[]
) returns void language plpgsql immutable as $$
declare
    v_bad record;
begin
    select a.name, a.entries into v_bad
    from (values ('run ids', cardinality(p_run_ids)), ('idempotency keys', cardinality(p_keys)),
                 ('start times', cardinality(p_start_at))) a(name, entries)
    where coalesce(a.entries, 0) not in (0, cardinality(p_inputs)) limit 1;
    if found then
        raise exception '% inputs come with % %; pass one for each input, null where there is none, or none at all',
            cardinality(p_inputs), v_bad.entries, v_bad.name using errcode = 'WF004';
    end if;
    select k.ord, octet_length(k.key) as bytes into v_bad
    from unnest(p_keys) with ordinality k(key, ord) where octet_length(k.key) not between 1 and 256 order by k.ord limit 1;
    if found then
        raise exception 'idempotency key % has % bytes; a key has 1 to 256', v_bad.ord, v_bad.bytes using errcode = 'WF004';
    end if;
end $$;
