-- Claim up to p_limit pieces of work that wait in the worker's queue, under number p_batch of its exchange. p_handed are the claims that
-- the exchange has made already (null when there are none); they are returned together with the new claims.
-- With p_marks only messages behind the marks are read. With p_is_empty none are read: the exchange has just found the queue empty.
-- Returns p_state and p_reason as flow.claim_messages does, the claims, each value that they need once, the last place that was read in
-- each priority (p_read), the microseconds that reading took, and p_more: more messages may be there, because as many were taken as were
-- asked for, or none were asked for.
-- Messages whose work somebody else has locked are passed over, and later messages are taken in their place; the call gives up after a
-- thousand of them.
-- With p_careful at most one piece is claimed. When claiming that piece fails because of its run's data, the run is failed with a text that
-- says why, and p_more is true.
-- Locks messages, then work, and skips locked rows: never waits.
create or replace function flow.claim_work(
    p_self flow.worker_state, p_batch bigint, p_handed flow.claim[], p_limit integer, p_careful boolean, p_marks flow.mark[],
    p_is_empty boolean, p_now timestamptz,
    out p_state text, out p_reason text, out p_more boolean, out p_claims flow.claim[],
    out p_value_runs uuid[], out p_value_steps integer[], out p_values text[], out p_read flow.mark[], out p_read_us bigint
) language plpgsql as $$
declare
    v_left integer := p_limit;
    v_passed flow.delivery[]; -- messages of work that somebody has locked
    v_deliveries flow.delivery[];
    v_all flow.delivery[] := '{}';
    v_began timestamptz;
    v_claimed record;
    v_values record;
begin
    p_state := 'ok';
    p_more := v_left <= 0;
    p_claims := p_handed;
    p_read_us := 0;
    if p_careful then
        v_deliveries := flow.read_messages(p_self, 1, null, null, p_now);
        if cardinality(v_deliveries) = 0 then
            return;
        end if;
        begin
            select c.p_state, c.p_reason, c.p_claims into p_state, p_reason, p_claims
            from flow.claim_messages(p_self, p_batch, v_deliveries, p_now) c;
            v_values := flow.shared_values(p_self, p_claims);
        exception when data_exception or program_limit_exceeded or out_of_memory or internal_error then
            -- Too much text for one reply raises program_limit_exceeded, and internal_error when the text is beyond 1 GB.
            perform flow.fail_unclaimable(p_self, v_deliveries[1], sqlerrm, p_now);
            p_more := true;
            return;
        end;
        p_more := p_claims is not null;
    else
        if p_is_empty then
            v_left := 0;
        end if;
        while v_left > 0 loop
            v_began := clock_timestamp();
            v_deliveries := flow.read_messages(p_self, v_left, p_marks, v_passed, p_now);
            p_read_us := p_read_us + extract(microseconds from clock_timestamp() - v_began);
            exit when cardinality(v_deliveries) = 0;
            v_claimed := flow.claim_messages(p_self, p_batch, v_deliveries, p_now);
            p_state := v_claimed.p_state;
            p_reason := v_claimed.p_reason;
            p_claims := p_claims || v_claimed.p_claims;
            v_all := v_all || v_deliveries;
            p_more := p_state = 'ok' and cardinality(v_deliveries) >= v_left and v_claimed.p_busy is null;
            exit when v_claimed.p_busy is null or cardinality(v_deliveries) < v_left or cardinality(v_passed) >= 1000;
            v_passed := v_passed || v_claimed.p_busy;
            v_left := cardinality(v_claimed.p_busy);
        end loop;
        p_read := case when v_all <> '{}' then array(
            select distinct on (d.priority) row(d.priority, d.age, d.run_id, d.step_index, d.task_index)::flow.mark
            from unnest(v_all) d where d.priority is not null
            order by d.priority, d.age desc, d.run_id desc, d.step_index desc, d.task_index desc) end;
        if p_claims is null then
            return;
        end if;
        v_values := flow.shared_values(p_self, p_claims);
    end if;
    p_value_runs := v_values.p_runs;
    p_value_steps := v_values.p_steps;
    p_values := v_values.p_values;
end $$;
