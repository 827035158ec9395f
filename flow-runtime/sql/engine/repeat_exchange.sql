-- Answer an exchange whose reply was lost, from what it has written: its results are busy, to be sent again, where the worker still
-- holds their work, and the work that it handed out is handed out once more.
create or replace function flow.repeat_exchange(
    p_self flow.worker_state, p_batch bigint, p_results flow.result[],
    out p_verdicts text[], out p_claims flow.claim[]
) language plpgsql as $$
begin
    p_verdicts := array(
        select case v.verdict when 'accepted' then 'busy' else v.verdict end
        from flow.judge_results(p_self, p_results, flow.look_at_work(p_results)) j
        cross join lateral unnest(j.p_verdicts) with ordinality v(verdict, ord)
        where p_results is not null
        order by v.ord);
    select array_agg(row(w.run_id, w.step_index, w.task_index, w.attempt, i.item, w.timeout_ms, w.is_exhausted)::flow.claim)
    into p_claims
    -- Work that failed and was claimed again is listed in two rows; only one of them is of this batch.
    from unnest(flow.look_at_work(array(
        select l from unnest(flow.listed_work(p_self.worker_id)) l where l.batch = p_batch order by l.ord))) w
    left join lateral (
        select t.item from flow.task t
        where t.run_id = w.run_id and t.step_index = w.step_index and t.task_index = w.task_index offset 0
    ) i on true
    where w.status = 'started' and w.worker_id = p_self.worker_id and w.batch = p_batch;
end $$;
