-- Skip everything behind the steps named by the arrays, level by level, with reason dependency_skipped.
-- Returns the run of each step it skipped, one entry a step. The caller holds the locks of the runs.
create or replace function flow.skip_dependents(
    p_runs uuid[], p_steps integer[], p_flows integer[], p_now timestamptz, out p_ended uuid[]
) language plpgsql as $$
declare
    v_runs uuid[] := p_runs;
    v_steps integer[] := p_steps;
    v_flows integer[] := p_flows;
begin
    p_ended := '{}';
    while cardinality(v_runs) > 0 loop
        with reached as (
            select distinct e.run_id, d.step_index
            from unnest(v_runs, v_steps, v_flows) e(run_id, step_index, flow_id)
            cross join lateral (
                select s.dependents from flow.step s
                where s.flow_id = e.flow_id and s.step_index = e.step_index offset 0
            ) s
            cross join lateral unnest(s.dependents) d(step_index)
        ), skipped as (
            update flow.step_state ss
            set status = 'skipped', skip_reason = 'dependency_skipped', ended_at = p_now
            from reached r
            cross join lateral (
                select t.ctid as row_id from flow.step_state t
                where t.run_id = r.run_id and t.step_index = r.step_index and t.status = 'created' offset 0
            ) t
            where ss.ctid = t.row_id
            returning ss.run_id, ss.step_index, ss.flow_id
        )
        select coalesce(array_agg(s.run_id), '{}'), coalesce(array_agg(s.step_index), '{}'),
               coalesce(array_agg(s.flow_id), '{}')
        into v_runs, v_steps, v_flows
        from skipped s;
        p_ended := p_ended || v_runs;
    end loop;
end $$;
