-- Take the next part of a walk over the runs of all flows, the oldest runs of each flow first. Looks at up to p_entries runs, where each
-- flow costs one more, and returns up to p_limit runs that ended before the walk's instant (p_runs), the place behind the last run that was
-- looked at (p_next), and whether the walk has reached its end.
-- Changes only flow.oldest_run, and not even that while another walk is changing it. Never waits.
create or replace function flow.walk_runs(
    p_walk flow.pruning, p_limit integer, p_entries integer, out p_next flow.pruning, out p_runs uuid[], out p_is_done boolean
) language plpgsql as $$
declare
    v_flow integer;
    v_now timestamptz := clock_timestamp();
    v_oldest flow.oldest_run;
    v_seen record;
    v_left integer := p_entries;
    v_place uuid := p_walk.run_id;
    v_from timestamptz := p_walk.started_at;
begin
    p_next := p_walk;
    p_runs := '{}';
    p_is_done := false;
    for v_flow in select f.flow_id from flow.flow f where f.flow_id >= p_walk.flow_id order by f.flow_id loop
        if v_left <= 0 or cardinality(p_runs) >= p_limit then
            return;
        end if;
        if v_flow > p_walk.flow_id then
            select o.* into v_oldest from flow.oldest_run o where o.flow_id = v_flow;
            v_from := case when v_oldest.looked_at > v_now - interval '1 day' then v_oldest.started_at else '-infinity' end;
            v_place := '00000000-0000-0000-0000-000000000000';
        end if;
        -- Runs behind the last one that p_limit has room for are left to the next call.
        select count(*) as runs, min(w.started_at) as first_at, array_agg(w.run_id order by w.ord) filter (where w.is_over) as over,
               (array_agg(w.started_at order by w.ord desc))[1] as last_at, (array_agg(w.run_id order by w.ord desc))[1] as last_run
        into v_seen
        from (
            select l.*, count(*) filter (where l.is_over) over (order by l.ord rows unbounded preceding) as place
            from (
                select r.run_id, r.started_at, row_number() over (order by r.started_at, r.run_id) as ord,
                       r.status <> 'started' and r.ended_at < p_walk.before as is_over
                from flow.run r
                where r.flow_id = v_flow and (r.started_at, r.run_id) > (v_from, v_place) and r.started_at < p_walk.before
                order by r.started_at, r.run_id limit v_left
            ) l
        ) w
        where w.place < p_limit - cardinality(p_runs) or w.place = p_limit - cardinality(p_runs) and w.is_over;
        if v_flow > p_walk.flow_id and v_seen.runs > 0
           and (v_oldest.looked_at is null or v_from = '-infinity' or v_seen.first_at > v_oldest.started_at + interval '1 h')
           and pg_try_advisory_xact_lock(hashtextextended('flow.oldest_run', 0)) then
            -- A run that started within the last hour may not be committed yet, so the stored instant is at least an hour old.
            insert into flow.oldest_run as o (flow_id, started_at, looked_at)
            values (v_flow, least(v_seen.first_at, v_now - interval '1 h'), v_now)
            on conflict (flow_id) do update
            set started_at = excluded.started_at,
                looked_at = case when v_from = '-infinity' then excluded.looked_at else o.looked_at end;
        end if;
        p_next.flow_id := v_flow;
        p_next.started_at := coalesce(v_seen.last_at, v_from);
        p_next.run_id := coalesce(v_seen.last_run, v_place);
        p_runs := p_runs || coalesce(v_seen.over, '{}');
        v_left := v_left - v_seen.runs - 1;
    end loop;
    p_is_done := v_left > 0 and cardinality(p_runs) < p_limit;
end $$;
