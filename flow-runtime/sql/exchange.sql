-- Settle what worker p_worker has finished, then claim up to p_limit tasks of its queue: one round trip, one commit.
-- The settlement arrays are those of flow.apply_settlements, p_verdicts its answer. The rest of the answer is that of
-- flow.claim_tasks; p_state may also be paused, draining, worker_gone or upgrade_needed, and then nothing is claimed.
-- With p_resume the reply of an earlier exchange was lost: tasks that are started under this worker and are not among
-- those it holds (p_held_…) are handed over first, with the same attempt and a new lease, whatever the state.
-- With p_careful at most one task is claimed, and a task whose values cannot be sent fails its run: no data of one run may keep a
-- worker from the others.
-- p_places, p_fates, p_waits_ms and p_max_attempts tell what became of each failure, by its place among the settlements: `retry`
-- after a wait, or the mode that was applied; p_failed_… list the runs that failed with this exchange, with step and text.
-- Waits at most 10 s for a lock that somebody else holds on a run (55P03 then, and nothing happened).
create or replace function flow.exchange(
    p_worker bigint, p_limit integer, p_lease_ms bigint,
    p_settled_runs uuid[], p_settled_steps integer[], p_settled_tasks integer[], p_settled_attempts integer[],
    p_outcomes text[], p_outputs text[], p_errors text[], p_delays_ms bigint[],
    p_resume boolean, p_held_runs uuid[], p_held_steps integer[], p_held_tasks integer[], p_held_attempts integer[],
    p_careful boolean default false,
    out p_state text, out p_reason text, out p_more boolean, out p_verdicts text[], out p_now timestamptz,
    out p_runs uuid[], out p_steps integer[], out p_tasks integer[], out p_attempts integer[], out p_items text[],
    out p_timeouts_ms bigint[], out p_exhausted boolean[],
    out p_value_runs uuid[], out p_value_steps integer[], out p_values text[],
    out p_places bigint[], out p_fates text[], out p_waits_ms bigint[], out p_max_attempts integer[],
    out p_failed_runs uuid[], out p_failed_steps integer[], out p_failed_errors text[]
) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set enable_memoize = off set join_collapse_limit = 1 set plan_cache_mode = force_generic_plan set jit = off set lock_timeout = '10s'
as $$
declare
    v_self flow.worker_state := flow.worker_state(p_worker);
    v_settled record;
    v_claimed record;
    v_has_claimed boolean := false;
    v_tells_own boolean;
begin
    if v_self.state in ('worker_gone', 'upgrade_needed') then
        p_state := v_self.state;
        p_reason := v_self.reason;
        p_verdicts := array_fill('lost'::text, array[cardinality(p_settled_runs)]);
        return;
    end if;

    p_verdicts := '{}';
    if cardinality(p_settled_runs) > 0 then
        select * into v_settled from flow.apply_settlements(
            p_worker, v_self.queue_id, v_self.queue, p_settled_runs, p_settled_steps, p_settled_tasks,
            p_settled_attempts, p_outcomes, p_outputs, p_errors, p_delays_ms);
        p_verdicts := v_settled.p_verdicts;
        p_places := v_settled.p_places;
        p_fates := v_settled.p_fates;
        p_waits_ms := v_settled.p_waits_ms;
        p_max_attempts := v_settled.p_max_attempts;
        p_failed_runs := v_settled.p_failed_runs;
        p_failed_steps := v_settled.p_failed_steps;
        p_failed_errors := v_settled.p_failed_errors;
    end if;

    p_state := v_self.state;
    p_reason := v_self.reason;
    p_more := false;
    if p_resume then
        -- Also while nothing may be claimed: these tasks were claimed before, and must not wait for their leases to end.
        select * into v_claimed from flow.resume_tasks(
            p_worker, v_self, p_lease_ms, p_held_runs, p_held_steps, p_held_tasks, p_held_attempts);
        v_has_claimed := v_claimed.p_runs is not null;
    end if;
    if v_self.state = 'ok' and p_limit > 0 and not v_has_claimed then
        select * into v_claimed from flow.claim_tasks(p_worker, v_self, p_limit, p_lease_ms, p_careful);
        p_state := v_claimed.p_state;
        p_reason := v_claimed.p_reason;
        v_has_claimed := true;
    end if;
    if v_has_claimed then
        p_more := v_claimed.p_more;
        p_now := v_claimed.p_now;
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
    end if;

    if cardinality(p_settled_runs) > 0 then
        -- The own queue needs no wake-up when this exchange has left nothing visible in it.
        v_tells_own := v_self.state <> 'ok' or p_more or p_limit = 0;
        perform flow.notify_ids('flow_queue', array(
            select distinct q::text from unnest(v_settled.p_queues) q where v_tells_own or q <> v_self.queue_id));
        perform flow.notify_ids('flow_run', v_settled.p_ended::text[]);
        perform flow.notify_ids('flow_worker', array(select distinct w::text from unnest(v_settled.p_workers) w));
    end if;
end $$;
