-- Answer an exchange that is sent again because its reply was lost, from what the first call wrote. A result whose work the worker still
-- holds is answered `busy`, so that the worker sends the result again under a new number. The work that the first call handed out, and that
-- the worker still holds, is returned once more.
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
    p_claims := flow.listed_claims(p_self.worker_id, p_batch);
end $$;
