-- Claim up to p_limit visible tasks of a worker's queue, each under a lease of p_lease_ms. Returns what flow.claim_messages returns,
-- and whether as many messages were there as were asked for.
-- With p_careful at most one is claimed, and when that fails by the data of its run, the run fails and the text says why.
-- Takes messages, then tasks, and skips what is locked: it never waits for a row.
create or replace function flow.claim_tasks(
    p_worker bigint, p_self flow.worker_state, p_limit integer, p_lease_ms bigint, p_careful boolean,
    out p_state text, out p_reason text, out p_more boolean, out p_now timestamptz,
    out p_runs uuid[], out p_steps integer[], out p_tasks integer[], out p_attempts integer[], out p_items text[],
    out p_timeouts_ms bigint[], out p_exhausted boolean[],
    out p_value_runs uuid[], out p_value_steps integer[], out p_values text[]
) language plpgsql as $$
declare
    v_limit integer := case when p_careful then 1 else p_limit end;
    v_read record;
    v_claimed record;
    v_lease_until timestamptz;
begin
    p_state := 'ok';
    p_more := false;
    p_now := clock_timestamp();
    v_lease_until := p_now + p_lease_ms * interval '1 ms';
    select * into v_read from flow.queue_read(p_self.queue, v_limit, p_now, v_lease_until);
    if v_read.p_ids is null then
        return;
    end if;
    if not p_careful then
        select * into v_claimed
        from flow.claim_messages(p_worker, p_self, v_read.p_ids, v_read.p_bodies, p_now, v_lease_until);
    else
        begin
            select * into v_claimed
            from flow.claim_messages(p_worker, p_self, v_read.p_ids, v_read.p_bodies, p_now, v_lease_until);
        exception when data_exception or program_limit_exceeded or out_of_memory or internal_error then
            -- Too much text for one reply is told as a limit of the program, and beyond 1 GB as an internal error.
            perform flow.fail_unclaimable(p_self, v_read.p_ids[1], v_read.p_bodies[1], sqlerrm, p_now);
            p_more := true;
            return;
        end;
    end if;
    p_state := v_claimed.p_state;
    p_reason := v_claimed.p_reason;
    p_more := cardinality(v_read.p_ids) >= v_limit and p_state = 'ok';
    p_runs := v_claimed.p_runs;
    p_steps := v_claimed.p_steps;
    p_tasks := v_claimed.p_tasks;
    p_attempts := v_claimed.p_attempts;
    p_items := v_claimed.p_items;
    p_timeouts_ms := v_claimed.p_timeouts_ms;
    p_exhausted := v_claimed.p_exhausted;
    p_value_runs := v_claimed.p_value_runs;
    p_value_steps := v_claimed.p_value_steps;
    p_values := v_claimed.p_values;
end $$;
