-- End the steps whose work has failed for good, as the mode of each failure says. `fail`: the run fails, with the error of its lowest
-- failed step. `skip`: the step is skipped with its live tasks, and its dependents go on. `skip_cascade`: the step is skipped with its live
-- tasks, and so is everything that depends on it.
-- Returns the progress that was made. The caller holds the locks of the runs.
create or replace function flow.end_failed_steps(p_failures flow.failure[], p_now timestamptz)
returns flow.progress language plpgsql as $$
declare
    v flow.progress := row('{}', '{}', '{}', '{}', '{}');
    v_failures flow.failure[];
    v_causes flow.cause[];
    v_skipped flow.step_ref[];
    v_cascading flow.step_ref[];
    v_ready record;
begin
    -- Of several failures in one step the failure of the lowest task counts.
    v_failures := array(select f from (
        select distinct on (f.run_id, f.step_index) f.* from unnest(p_failures) f
        order by f.run_id, f.step_index, f.task_index) f);

    v_causes := array(
        select distinct on (f.run_id) row(f.run_id, f.step_index, f.error)::flow.cause
        from unnest(v_failures) f where f.mode = 'fail' order by f.run_id, f.step_index);
    if cardinality(v_causes) > 0 then
        -- Every failed step gets its own error; the run names the lowest of the failed steps.
        update flow.step_state ss
        set status = 'failed', error = f.error, ended_at = p_now
        from unnest(v_failures) f
        cross join lateral (
            select t.ctid as row_id from flow.step_state t
            where t.run_id = f.run_id and t.step_index = f.step_index and t.status = 'started' offset 0
        ) t
        where f.mode = 'fail' and ss.ctid = t.row_id;
        v.workers := flow.abort_runs(v_causes, 'failed', p_now);
        v.ended_runs := array(select c.run_id from unnest(v_causes) c);
        v_failures := array(select f from unnest(v_failures) f where f.run_id <> all (v.ended_runs));
    end if;
    if cardinality(v_failures) = 0 then
        return v;
    end if;

    update flow.step_state ss
    set status = 'skipped', skip_reason = 'handler_failed', error = f.error, ended_at = p_now
    from unnest(v_failures) f
    cross join lateral (
        select t.ctid as row_id from flow.step_state t
        where t.run_id = f.run_id and t.step_index = f.step_index and t.status = 'started' offset 0
    ) t
    where ss.ctid = t.row_id;
    select coalesce(array_agg(r.step) filter (where r.mode = 'skip'), '{}'),
           coalesce(array_agg(r.step) filter (where r.mode = 'skip_cascade'), '{}')
    into v_skipped, v_cascading
    from (select row(f.run_id, f.step_index, f.flow_id)::flow.step_ref as step, f.mode from unnest(v_failures) f) r;
    v.workers := v.workers || flow.end_tasks(v_skipped || v_cascading, 'skipped', p_now);
    v.ended_steps := array(select f.run_id from unnest(v_failures) f) || flow.skip_dependents(v_cascading, p_now);
    v_ready := flow.count_down_dependents(v_skipped, null, p_now);
    return flow.join_progress(v, flow.advance_steps(v_ready.p_started, v_ready.p_ready, null, p_now));
end $$;
