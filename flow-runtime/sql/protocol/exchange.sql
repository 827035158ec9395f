-- Settle what worker p_worker has finished, then claim up to p_limit pieces of work of its queue: one round trip, one commit.
-- The settlement arrays hold one entry a result, as flow.settle_work takes them, p_verdicts its answer. p_state is ok, or why nothing
-- was claimed: paused | draining | worker_gone | upgrade_needed | corrupt | misrouted. Then come one entry a claimed piece of work, and
-- each value that the work needs once (step -1 is the run's input).
-- With p_resume the reply of an earlier exchange was lost: work that this worker holds and that is not among what it knows of
-- (p_held_…) is handed over first, with the same attempt and a new lease, whatever the state.
-- With p_careful at most one piece is claimed, and one whose values cannot be sent fails its run: no data of one run may keep a worker
-- from the others.
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
) language plpgsql set lock_timeout = '10s' as $$
declare
    v_self flow.worker_state := flow.worker_state(p_worker);
    v_settled record;
    v_progress flow.progress;
    v_claimed record;
    v_claims flow.claim[];
    v_tells_own boolean;
begin
    p_state := v_self.state;
    p_reason := v_self.reason;
    if v_self.state in ('worker_gone', 'upgrade_needed') then
        p_verdicts := array_fill('lost'::text, array[cardinality(p_settled_runs)]);
        return;
    end if;

    p_verdicts := '{}';
    if cardinality(p_settled_runs) > 0 then
        select * into v_settled from flow.settle_work(v_self, flow.read_results(
            p_settled_runs, p_settled_steps, p_settled_tasks, p_settled_attempts, p_outcomes, p_outputs, p_errors, p_delays_ms));
        p_verdicts := v_settled.p_verdicts;
        v_progress := v_settled.p_progress;
        if v_settled.p_failed is not null then
            select array_agg(f.ord), array_agg(case when f.is_retried then 'retry' else f.mode::text end),
                   array_agg(case when f.is_retried then f.wait_ms end), array_agg(f.max_attempts)
            into p_places, p_fates, p_waits_ms, p_max_attempts from unnest(v_settled.p_failed) f;
        end if;
        if cardinality(v_progress.ended_runs) > 0 then
            select array_agg(r.run_id), array_agg(r.error_step), array_agg(r.error)
            into p_failed_runs, p_failed_steps, p_failed_errors
            from unnest(v_progress.ended_runs) e(run_id)
            cross join lateral (
                select r.run_id, r.error_step, r.error from flow.run r
                where r.run_id = e.run_id and r.status = 'failed' offset 0
            ) r;
        end if;
    end if;

    p_more := false;
    p_now := clock_timestamp();
    if p_resume then
        -- Also while nothing may be claimed: this work was claimed before, and must not wait for its leases to end.
        select * into v_claimed from flow.resume_work(
            v_self, p_lease_ms, p_now, p_held_runs, p_held_steps, p_held_tasks, p_held_attempts);
        v_claims := v_claimed.p_claims;
        p_more := v_claims is not null;
    end if;
    if v_self.state = 'ok' and p_limit > 0 and v_claims is null then
        select * into v_claimed from flow.claim_work(v_self, p_limit, p_lease_ms, p_careful, p_now);
        p_state := v_claimed.p_state;
        p_reason := v_claimed.p_reason;
        p_more := v_claimed.p_more;
        v_claims := v_claimed.p_claims;
    end if;
    if v_claims is not null then
        select array_agg(c.run_id), array_agg(c.step_index), array_agg(c.task_index), array_agg(c.attempt),
               array_agg(c.item::text), array_agg(c.timeout_ms), array_agg(c.is_exhausted)
        into p_runs, p_steps, p_tasks, p_attempts, p_items, p_timeouts_ms, p_exhausted from unnest(v_claims) c;
        p_value_runs := v_claimed.p_value_runs;
        p_value_steps := v_claimed.p_value_steps;
        p_values := v_claimed.p_values;
    end if;

    if cardinality(p_settled_runs) > 0 then
        -- The own queue needs no wake-up when this exchange has left nothing visible in it.
        v_tells_own := v_self.state <> 'ok' or p_more or p_limit = 0;
        perform flow.notify_ids('flow_queue', array(
            select distinct q::text from unnest(v_progress.queues) q where v_tells_own or q <> v_self.queue_id));
        perform flow.notify_ids('flow_run', v_progress.ended_runs::text[]);
        perform flow.notify_ids('flow_worker', array(select distinct w::text from unnest(v_progress.workers) w));
    end if;
end $$;
