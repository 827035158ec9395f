-- Count ended steps down in their runs (one entry of p_ended a step) and complete the runs that have none left, with
-- the object of their completed leaf steps as output. Returns the completed runs. The caller holds the runs' locks.
create or replace function flow.finish_runs(p_ended uuid[], p_now timestamptz, out p_completed uuid[])
language plpgsql as $$
begin
    with ended as (
        select e.run_id, count(*)::integer as steps from unnest(p_ended) e(run_id) group by e.run_id
    ), counted as (
        update flow.run r
        set remaining_steps = r.remaining_steps - e.steps,
            status = case when r.remaining_steps = e.steps then 'completed' else r.status end,
            ended_at = case when r.remaining_steps = e.steps then p_now end,
            output = case when r.remaining_steps = e.steps then (
                select coalesce(jsonb_object_agg(l.slug, l.output), '{}')
                from flow.step s
                cross join lateral (
                    select s.slug, ss.output from flow.step_state ss
                    where ss.run_id = r.run_id and ss.step_index = s.step_index and ss.status = 'completed' offset 0
                ) l
                where s.flow_id = r.flow_id and cardinality(s.dependents) = 0) end
        from ended e
        cross join lateral (
            select t.ctid as row_id from flow.run t where t.run_id = e.run_id and t.status = 'started' offset 0
        ) t
        where r.ctid = t.row_id
        returning r.run_id, r.status
    )
    select coalesce(array_agg(c.run_id) filter (where c.status = 'completed'), '{}') into p_completed from counted c;
end $$;
