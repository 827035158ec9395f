-- Skip everything that depends on the given steps, directly or through other steps, level by level, with skip reason dependency_skipped.
-- Returns the run of each step that was skipped, one entry a step. The caller holds the locks of the runs.
create or replace function flow.skip_dependents(p_steps flow.step_ref[], p_now timestamptz) returns uuid[]
language plpgsql as $$
declare
    v_steps flow.step_ref[] := p_steps;
    v_ended uuid[] := '{}';
begin
    while cardinality(v_steps) > 0 loop
        with reached as (
            select distinct e.run_id, d.step_index
            from unnest(v_steps) e
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
        select coalesce(array_agg(row(s.run_id, s.step_index, s.flow_id)::flow.step_ref), '{}') into v_steps from skipped s;
        v_ended := v_ended || array(select s.run_id from unnest(v_steps) s);
    end loop;
    return v_ended;
end $$;
