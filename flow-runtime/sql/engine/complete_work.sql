-- Complete the work whose results say `complete` and count under the fence: single steps by flow.complete_steps, tasks of maps by
-- flow.complete_tasks.
-- Returns the places (ord) of those results, the steps that ended, the maps whose outputs are too large together (p_large, to fail their
-- runs), and the large maps that have room for another piece (p_roomy). The caller holds the locks of the runs.
create or replace function flow.complete_work(
    p_self flow.worker_state, p_results flow.result[], p_now timestamptz,
    out p_completed bigint[], out p_ended flow.step_ref[], out p_large flow.cause[], out p_roomy flow.step_ref[]
) language plpgsql as $$
declare
    v_steps record;
    v_tasks record;
begin
    p_completed := '{}';
    p_ended := '{}';
    p_large := '{}';
    p_roomy := '{}';
    if exists (select from unnest(p_results) r where r.task_index < 0 and r.outcome = 'complete') then
        v_steps := flow.complete_steps(p_self, p_results, p_now);
        p_completed := v_steps.p_completed;
        p_ended := v_steps.p_ended;
    end if;
    if exists (select from unnest(p_results) r where r.task_index >= 0 and r.outcome = 'complete') then
        v_tasks := flow.complete_tasks(p_self, p_results, p_now);
        p_completed := p_completed || v_tasks.p_completed;
        p_ended := p_ended || v_tasks.p_ended;
        p_large := v_tasks.p_large;
        p_roomy := v_tasks.p_roomy;
    end if;
end $$;
