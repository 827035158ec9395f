-- Test the conditions of ready steps and skip those that are not met.
-- Returns the steps that may start, the steps skipped with plain `skip` (their dependents are still to be counted
-- down), the runs that fail with the lowest step that says so, and the run of each step that ended.
-- A run that fails has none of its steps among the others. The caller holds the locks of the runs.
create or replace function flow.test_conditions(
    p_runs uuid[], p_steps integer[], p_flows integer[], p_now timestamptz,
    out p_met_runs uuid[], out p_met_steps integer[], out p_met_flows integer[],
    out p_skipped_runs uuid[], out p_skipped_steps integer[], out p_skipped_flows integer[],
    out p_failed_runs uuid[], out p_failed_steps integer[], out p_ended uuid[]
) language plpgsql as $$
declare
    v_unmet_runs uuid[];
    v_unmet_steps integer[];
    v_unmet_flows integer[];
    v_unmet_modes flow.mode[];
    v_cascade_runs uuid[];
    v_cascade_steps integer[];
    v_cascade_flows integer[];
begin
    with ready as (
        select e.run_id, e.step_index, e.flow_id, e.ord, s.when_unmet,
               s.when_unmet is null or (
                   (s.run_if is null or flow.has_pattern(e.run_id, e.flow_id, s.dependencies, s.run_if))
                   and (s.run_unless is null or not flow.has_pattern(e.run_id, e.flow_id, s.dependencies, s.run_unless))
               ) as is_met
        from unnest(p_runs, p_steps, p_flows) with ordinality e(run_id, step_index, flow_id, ord)
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
    select coalesce(array_agg(j.run_id order by j.ord) filter (where j.failed_step is null and j.is_met), '{}'),
           coalesce(array_agg(j.step_index order by j.ord) filter (where j.failed_step is null and j.is_met), '{}'),
           coalesce(array_agg(j.flow_id order by j.ord) filter (where j.failed_step is null and j.is_met), '{}'),
           coalesce(array_agg(j.run_id order by j.ord) filter (where j.failed_step is null and not j.is_met), '{}'),
           coalesce(array_agg(j.step_index order by j.ord) filter (where j.failed_step is null and not j.is_met), '{}'),
           coalesce(array_agg(j.flow_id order by j.ord) filter (where j.failed_step is null and not j.is_met), '{}'),
           coalesce(array_agg(j.when_unmet order by j.ord) filter (where j.failed_step is null and not j.is_met), '{}'),
           coalesce(array_agg(j.run_id order by j.ord) filter (where j.failed_step = j.step_index), '{}'),
           coalesce(array_agg(j.step_index order by j.ord) filter (where j.failed_step = j.step_index), '{}')
    into p_met_runs, p_met_steps, p_met_flows,
         v_unmet_runs, v_unmet_steps, v_unmet_flows, v_unmet_modes, p_failed_runs, p_failed_steps
    from judged j;

    p_ended := v_unmet_runs;
    p_skipped_runs := '{}';
    p_skipped_steps := '{}';
    p_skipped_flows := '{}';
    if cardinality(v_unmet_runs) > 0 then
        update flow.step_state ss
        set status = 'skipped', skip_reason = 'condition_unmet', ended_at = p_now
        from unnest(v_unmet_runs, v_unmet_steps) u(run_id, step_index)
        cross join lateral (
            select t.ctid as row_id from flow.step_state t
            where t.run_id = u.run_id and t.step_index = u.step_index and t.status = 'created' offset 0
        ) t
        where ss.ctid = t.row_id;

        select coalesce(array_agg(u.run_id), '{}'), coalesce(array_agg(u.step_index), '{}'),
               coalesce(array_agg(u.flow_id), '{}')
        into v_cascade_runs, v_cascade_steps, v_cascade_flows
        from unnest(v_unmet_runs, v_unmet_steps, v_unmet_flows, v_unmet_modes) u(run_id, step_index, flow_id, mode)
        where u.mode = 'skip_cascade';
        p_ended := p_ended || flow.skip_dependents(v_cascade_runs, v_cascade_steps, v_cascade_flows, p_now);

        select coalesce(array_agg(u.run_id), '{}'), coalesce(array_agg(u.step_index), '{}'),
               coalesce(array_agg(u.flow_id), '{}')
        into p_skipped_runs, p_skipped_steps, p_skipped_flows
        from unnest(v_unmet_runs, v_unmet_steps, v_unmet_flows, v_unmet_modes) u(run_id, step_index, flow_id, mode)
        where u.mode = 'skip';
    end if;
end $$;
