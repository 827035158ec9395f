-- Subtract the ended steps from the open dependencies of the steps that depend on them, and begin the dependents that have none left.
-- Returns what flow.begin_steps returns. The caller holds the runs' locks.
create or replace function flow.count_down_dependents(
    p_ended flow.step_ref[], p_offer flow.offer, p_now timestamptz,
    out p_started flow.started_step[], out p_ready flow.step_ref[], out p_handed flow.claim[]
) language plpgsql as $$
declare
    v_steps flow.step_ref[];
    v_ended integer[];
begin
    select array_agg(row(w.run_id, w.step_index, w.flow_id)::flow.step_ref), array_agg(w.ended) into v_steps, v_ended
    from (
        select e.run_id, e.flow_id, d.step_index, count(*)::integer as ended
        from unnest(p_ended) e
        cross join lateral (
            select s.dependents from flow.step s
            where s.flow_id = e.flow_id and s.step_index = e.step_index offset 0
        ) s
        cross join lateral unnest(s.dependents) d(step_index)
        group by e.run_id, e.flow_id, d.step_index
    ) w;
    if v_steps is null then
        p_started := '{}';
        p_ready := '{}';
        p_handed := '{}';
        return;
    end if;
    select b.p_started, b.p_ready, b.p_handed into p_started, p_ready, p_handed
    from flow.begin_steps(v_steps, v_ended, false, p_offer, p_now) b;
end $$;
