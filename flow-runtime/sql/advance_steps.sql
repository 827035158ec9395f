-- Start the steps named by the arrays, whose last dependency has ended: test their conditions, complete empty maps,
-- enqueue the tasks of the others, and go on level by level with whatever becomes ready by a skip or an empty map.
-- Returns the run of each step that ended (one entry a step), the queues that got messages, how many messages each
-- got, and the runs that fail by an unmet condition with the step that says so; the caller ends those runs.
-- The caller holds the locks of the runs. p_start_at, one entry a step or none at all, delays the first level.
create or replace function flow.advance_steps(
    p_runs uuid[], p_steps integer[], p_flows integer[], p_start_at timestamptz[], p_now timestamptz,
    out p_ended uuid[], out p_queues integer[], out p_queued integer[],
    out p_failed_runs uuid[], out p_failed_steps integer[]
) language plpgsql as $$
declare
    v_runs uuid[] := p_runs;
    v_steps integer[] := p_steps;
    v_flows integer[] := p_flows;
    v_start_at timestamptz[] := p_start_at;
    -- Steps that ended on this level and whose dependents are still to be counted down.
    v_done_runs uuid[];
    v_done_steps integer[];
    v_done_flows integer[];
    v_tested record;
    v_started record;
    v_enqueued record;
begin
    p_ended := '{}';
    p_queues := '{}';
    p_queued := '{}';
    p_failed_runs := '{}';
    p_failed_steps := '{}';
    while cardinality(v_runs) > 0 loop
        v_done_runs := '{}';
        v_done_steps := '{}';
        v_done_flows := '{}';

        perform from unnest(v_flows, v_steps) e(flow_id, step_index)
        cross join lateral (
            select s.when_unmet from flow.step s
            where s.flow_id = e.flow_id and s.step_index = e.step_index offset 0
        ) s
        where s.when_unmet is not null limit 1;
        if found then
            select * into v_tested from flow.test_conditions(v_runs, v_steps, v_flows, v_start_at, p_now);
            v_runs := v_tested.p_met_runs;
            v_steps := v_tested.p_met_steps;
            v_flows := v_tested.p_met_flows;
            v_start_at := v_tested.p_met_start_at;
            v_done_runs := v_tested.p_skipped_runs;
            v_done_steps := v_tested.p_skipped_steps;
            v_done_flows := v_tested.p_skipped_flows;
            p_failed_runs := p_failed_runs || v_tested.p_failed_runs;
            p_failed_steps := p_failed_steps || v_tested.p_failed_steps;
            p_ended := p_ended || v_tested.p_ended;
        end if;

        if cardinality(v_runs) > 0 then
            select * into v_started from flow.start_steps(v_runs, v_steps, v_flows, v_start_at, p_now);
            p_ended := p_ended || v_started.p_empty_runs;
            v_done_runs := v_done_runs || v_started.p_empty_runs;
            v_done_steps := v_done_steps || v_started.p_empty_steps;
            v_done_flows := v_done_flows || v_started.p_empty_flows;

            select * into v_enqueued from flow.enqueue_tasks(
                v_started.p_runs, v_started.p_steps, v_started.p_flows, v_started.p_counts,
                v_started.p_queues, v_started.p_visible_at, v_started.p_sources, p_now);
            p_queues := p_queues || v_enqueued.p_queues;
            p_queued := p_queued || v_enqueued.p_queued;
        end if;

        exit when cardinality(v_done_runs) = 0;
        select c.p_ready_runs, c.p_ready_steps, c.p_ready_flows into v_runs, v_steps, v_flows
        from flow.count_down_dependents(v_done_runs, v_done_steps, v_done_flows) c;
        v_start_at := '{}';
        if cardinality(p_failed_runs) > 0 then
            select coalesce(array_agg(r.run_id), '{}'), coalesce(array_agg(r.step_index), '{}'),
                   coalesce(array_agg(r.flow_id), '{}')
            into v_runs, v_steps, v_flows
            from unnest(v_runs, v_steps, v_flows) r(run_id, step_index, flow_id)
            where r.run_id <> all (p_failed_runs);
        end if;
    end loop;
end $$;
