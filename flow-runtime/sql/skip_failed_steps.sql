-- Skip the steps whose tasks failed for good under `when_exhausted = skip` or `skip_cascade`: live sibling tasks become
-- skipped and their messages are removed; then the dependents go on, or are skipped with everything behind them.
-- Returns the run of each step that ended, the queues that got messages and how many, the runs that failed by an unmet
-- condition further on, and the workers to tell. The caller holds the locks of the runs.
create or replace function flow.skip_failed_steps(
    p_failures flow.failure[], p_now timestamptz,
    out p_ended_steps uuid[], out p_queues integer[], out p_queued integer[], out p_ended uuid[],
    out p_workers bigint[]
) language plpgsql as $$
declare
    v_runs uuid[];
    v_steps integer[];
    v_flows integer[];
    v_modes flow.mode[];
    v_errors text[];
    v_ready record;
    v_advanced record;
begin
    select array_agg(f.run_id), array_agg(f.step_index), array_agg(f.flow_id), array_agg(f.mode), array_agg(f.error)
    into v_runs, v_steps, v_flows, v_modes, v_errors
    from (
        select distinct on (f.run_id, f.step_index) f.run_id, f.step_index, f.flow_id, f.mode, f.error
        from unnest(p_failures) f order by f.run_id, f.step_index, f.task_index
    ) f;

    update flow.step_state ss
    set status = 'skipped', skip_reason = 'handler_failed', error = e.error, ended_at = p_now
    from unnest(v_runs, v_steps, v_errors) e(run_id, step_index, error)
    cross join lateral (
        select t.ctid as row_id from flow.step_state t
        where t.run_id = e.run_id and t.step_index = e.step_index and t.status = 'started' offset 0
    ) t
    where ss.ctid = t.row_id;
    p_workers := flow.end_tasks(v_runs, v_steps, 'skipped', p_now);

    p_ended_steps := v_runs || flow.skip_dependents(
        array(select e.run_id from unnest(v_runs, v_modes) e(run_id, mode) where e.mode = 'skip_cascade'),
        array(select e.step_index from unnest(v_steps, v_modes) e(step_index, mode) where e.mode = 'skip_cascade'),
        array(select e.flow_id from unnest(v_flows, v_modes) e(flow_id, mode) where e.mode = 'skip_cascade'), p_now);

    select * into v_ready from flow.count_down_dependents(
        array(select e.run_id from unnest(v_runs, v_modes) e(run_id, mode) where e.mode = 'skip'),
        array(select e.step_index from unnest(v_steps, v_modes) e(step_index, mode) where e.mode = 'skip'),
        array(select e.flow_id from unnest(v_flows, v_modes) e(flow_id, mode) where e.mode = 'skip'), p_now);
    select * into v_advanced
    from flow.advance_steps(v_ready.p_started, v_ready.p_ready_runs, v_ready.p_ready_steps, v_ready.p_ready_flows, false,
                            p_now);
    p_ended_steps := p_ended_steps || v_advanced.p_ended;
    p_queues := v_advanced.p_queues;
    p_queued := v_advanced.p_queued;
    p_ended := v_advanced.p_failed_runs;
    if cardinality(p_ended) > 0 then
        p_workers := p_workers || flow.fail_unmet_runs(p_ended, v_advanced.p_failed_steps, p_now);
    end if;
end $$;
