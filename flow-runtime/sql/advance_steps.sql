-- Go on from steps that have just become ready or started: test the conditions of the ready ones, start those that are
-- met, enqueue the tasks of all that started, and go on level by level with whatever becomes ready by a skip or an
-- empty map. p_is_held_back says that some of the runs are not due yet: none of their tasks is claimable before that.
-- Returns the run of each step that ended (one entry a step), the queues that got messages, how many messages each
-- got, and the runs that fail by an unmet condition with the step that says so; the caller ends those runs.
-- The caller holds the locks of the runs.
create or replace function flow.advance_steps(
    p_started flow.started_step[], p_ready_runs uuid[], p_ready_steps integer[], p_ready_flows integer[],
    p_is_held_back boolean, p_now timestamptz,
    out p_ended uuid[], out p_queues integer[], out p_queued integer[],
    out p_failed_runs uuid[], out p_failed_steps integer[]
) language plpgsql as $$
declare
    v_started flow.started_step[] := p_started;
    v_runs uuid[] := p_ready_runs;
    v_steps integer[] := p_ready_steps;
    v_flows integer[] := p_ready_flows;
    -- Steps that ended on this level and whose dependents are still to be counted down.
    v_done_runs uuid[];
    v_done_steps integer[];
    v_done_flows integer[];
    v_tested record;
    v_empty record;
    v_enqueued record;
begin
    p_ended := '{}';
    p_queues := '{}';
    p_queued := '{}';
    p_failed_runs := '{}';
    p_failed_steps := '{}';
    loop
        v_done_runs := '{}';
        v_done_steps := '{}';
        v_done_flows := '{}';

        if cardinality(v_runs) > 0 then
            select * into v_tested from flow.test_conditions(v_runs, v_steps, v_flows, p_now);
            v_done_runs := v_tested.p_skipped_runs;
            v_done_steps := v_tested.p_skipped_steps;
            v_done_flows := v_tested.p_skipped_flows;
            p_failed_runs := p_failed_runs || v_tested.p_failed_runs;
            p_failed_steps := p_failed_steps || v_tested.p_failed_steps;
            p_ended := p_ended || v_tested.p_ended;
            if cardinality(v_tested.p_met_runs) > 0 then
                v_started := v_started || flow.start_steps(
                    v_tested.p_met_runs, v_tested.p_met_steps, v_tested.p_met_flows, p_now);
            end if;
        end if;
        if cardinality(p_failed_runs) > 0 then
            v_started := array(select s from unnest(v_started) s where s.run_id <> all (p_failed_runs));
        end if;

        if exists (select from unnest(v_started) s where s.task_count = 0) then
            select array_agg(s.run_id) as runs, array_agg(s.step_index) as steps, array_agg(s.flow_id) as flows
            into v_empty from unnest(v_started) s where s.task_count = 0;
            p_ended := p_ended || v_empty.runs;
            v_done_runs := v_done_runs || v_empty.runs;
            v_done_steps := v_done_steps || v_empty.steps;
            v_done_flows := v_done_flows || v_empty.flows;
        end if;
        if cardinality(v_started) > 0 then
            select * into v_enqueued from flow.enqueue_tasks(v_started, p_is_held_back, p_now);
            p_queues := p_queues || v_enqueued.p_queues;
            p_queued := p_queued || v_enqueued.p_queued;
        end if;

        exit when cardinality(v_done_runs) = 0;
        select c.p_started, c.p_ready_runs, c.p_ready_steps, c.p_ready_flows into v_started, v_runs, v_steps, v_flows
        from flow.count_down_dependents(v_done_runs, v_done_steps, v_done_flows, p_now) c;
        if cardinality(p_failed_runs) > 0 then
            select coalesce(array_agg(r.run_id), '{}'), coalesce(array_agg(r.step_index), '{}'),
                   coalesce(array_agg(r.flow_id), '{}')
            into v_runs, v_steps, v_flows
            from unnest(v_runs, v_steps, v_flows) r(run_id, step_index, flow_id)
            where r.run_id <> all (p_failed_runs);
        end if;
    end loop;
end $$;
