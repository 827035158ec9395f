-- List those of the given runs that have ended or do not exist, so that nobody need wait for them.
create or replace function flow.list_ended_runs(p_runs uuid[]) returns uuid[] language sql stable as $$
    select coalesce(array_agg(u.run_id), '{}')
    from unnest(p_runs) u(run_id)
    left join lateral (select r.status from flow.run r where r.run_id = u.run_id offset 0) r on true
    where r.status is distinct from 'started'
$$;
