-- Carry on after steps have begun (p_started) or become ready (p_ready: no dependency is open, and a condition may forbid the step).
-- Tests the conditions of the ready steps, begins those whose conditions are met, and enqueues the work of every step that began, except
-- what was handed out under p_offer. Skipped steps and empty maps end at once; the steps that become ready by them follow in the same way,
-- level by level. Runs whose unmet condition says `fail` are failed at the end.
-- Returns the progress that was made. The caller holds the locks of the runs.
create or replace function flow.advance_steps(
    p_started flow.started_step[], p_ready flow.step_ref[], p_offer flow.offer, p_now timestamptz
) returns flow.progress language plpgsql as $$
declare
    v flow.progress := row('{}', '{}', '{}', '{}', '{}');
    v_started flow.started_step[] := p_started;
    v_ready flow.step_ref[] := p_ready;
    v_done flow.step_ref[]; -- steps that ended on this level; their dependents are counted down next
    v_failed flow.cause[] := '{}';
    v_tested record;
    v_begun record;
    v_offer flow.offer := p_offer; -- p_offer with the slots that are left
begin
    loop
        v_done := '{}';
        if cardinality(v_ready) > 0 then
            v_tested := flow.test_conditions(v_ready, p_now);
            v_done := v_tested.p_skipped;
            v_failed := v_failed || v_tested.p_failed;
            v.ended_steps := v.ended_steps || v_tested.p_ended;
            if cardinality(v_tested.p_met) > 0 then
                v_begun := flow.begin_steps(
                    v_tested.p_met, array_fill(0, array[cardinality(v_tested.p_met)]), true, v_offer, p_now);
                v_started := v_started || v_begun.p_started;
                v.handed := v.handed || v_begun.p_handed;
                v_offer.slots := v_offer.slots - cardinality(v_begun.p_handed);
            end if;
        end if;
        if cardinality(v_failed) > 0 then
            v_started := array(select s from unnest(v_started) s
                               where s.run_id not in (select f.run_id from unnest(v_failed) f));
        end if;

        if exists (select from unnest(v_started) s where s.task_count = 0) then
            v_done := v_done || array(select row(s.run_id, s.step_index, s.flow_id)::flow.step_ref
                                      from unnest(v_started) s where s.task_count = 0);
            v.ended_steps := v.ended_steps || array(select s.run_id from unnest(v_started) s where s.task_count = 0);
        end if;
        if cardinality(v_started) > 0 then
            v.queues := v.queues || flow.enqueue_work(v_started, p_now);
        end if;

        exit when cardinality(v_done) = 0;
        v_begun := flow.count_down_dependents(v_done, v_offer, p_now);
        v_started := v_begun.p_started;
        v_ready := v_begun.p_ready;
        v.handed := v.handed || v_begun.p_handed;
        v_offer.slots := v_offer.slots - cardinality(v_begun.p_handed);
        if cardinality(v_failed) > 0 then
            v_ready := array(select r from unnest(v_ready) r
                             where r.run_id not in (select f.run_id from unnest(v_failed) f));
        end if;
    end loop;
    if cardinality(v_failed) > 0 then
        v.workers := flow.abort_runs(v_failed, 'failed', p_now);
        v.ended_runs := array(select f.run_id from unnest(v_failed) f);
    end if;
    return v;
end $$;
