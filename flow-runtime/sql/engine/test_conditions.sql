-- Test the conditions of ready steps and skip the steps whose conditions are not met.
-- Returns the steps that may begin (p_met); the steps skipped with `skip`, whose dependents the caller still has to count down (p_skipped);
-- for each run that fails, its lowest step with an unmet condition that says `fail` (p_failed); and the run of each step that ended, one
-- entry a step (p_ended).
-- Steps of a run that fails appear in p_failed only. The caller holds the locks of the runs.
create or replace function flow.test_conditions(
    p_ready flow.step_ref[], p_now timestamptz,
    out p_met flow.step_ref[], out p_skipped flow.step_ref[], out p_failed flow.cause[], out p_ended uuid[]
) language plpgsql as $$
declare
    v_unmet flow.step_ref[];
    v_cascading flow.step_ref[];
begin
    with ready as (
        select row(e.run_id, e.step_index, e.flow_id)::flow.step_ref as step, e.run_id, e.step_index, e.ord, s.when_unmet,
               s.when_unmet is null or (
                   (s.run_if is null or flow.has_pattern(e.run_id, e.flow_id, s.dependencies, s.run_if))
                   and (s.run_unless is null or not flow.has_pattern(e.run_id, e.flow_id, s.dependencies, s.run_unless))
               ) as is_met
        from unnest(p_ready) with ordinality e(run_id, step_index, flow_id, ord)
        cross join lateral (
            select s.* from flow.step s
            where s.flow_id = e.flow_id and s.step_index = e.step_index offset 0
        ) s
    ), failing as (
        select r.run_id, min(r.step_index) as step_index from ready r
        where not r.is_met and r.when_unmet = 'fail' group by r.run_id
    ), judged as (
        select r.*, f.step_index as failed_step from ready r left join failing f on f.run_id = r.run_id
    )
    select coalesce(array_agg(j.step order by j.ord) filter (where j.failed_step is null and j.is_met), '{}'),
           coalesce(array_agg(j.step order by j.ord) filter (where j.failed_step is null and not j.is_met), '{}'),
           coalesce(array_agg(j.step order by j.ord)
                        filter (where j.failed_step is null and not j.is_met and j.when_unmet = 'skip'), '{}'),
           coalesce(array_agg(j.step order by j.ord)
                        filter (where j.failed_step is null and not j.is_met and j.when_unmet = 'skip_cascade'), '{}'),
           coalesce(array_agg(row(j.run_id, j.step_index, 'condition not met')::flow.cause order by j.ord)
                        filter (where j.failed_step = j.step_index), '{}')
    into p_met, v_unmet, p_skipped, v_cascading, p_failed
    from judged j;

    p_ended := array(select u.run_id from unnest(v_unmet) u);
    if cardinality(v_unmet) > 0 then
        update flow.step_state ss
        set status = 'skipped', skip_reason = 'condition_unmet', ended_at = p_now
        from unnest(v_unmet) u
        cross join lateral (
            select t.ctid as row_id from flow.step_state t
            where t.run_id = u.run_id and t.step_index = u.step_index and t.status = 'created' offset 0
        ) t
        where ss.ctid = t.row_id;
        p_ended := p_ended || flow.skip_dependents(v_cascading, p_now);
    end if;
end $$;
