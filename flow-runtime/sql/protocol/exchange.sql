-- Settle what worker p_worker has finished, then hand out up to p_limit pieces of work: what the results have made ready on its queue, and
-- what waits there. One round trip, one commit.
-- p_batch numbers the worker's exchanges, upwards; one whose reply was lost is sent again under its number and answered from what it
-- wrote. p_finished names batches of which every piece has been answered for.
-- The settlement arrays hold one entry a result, as flow.settle_work takes them, p_verdicts its answer. p_state is ok, or why nothing
-- was claimed: paused | draining | late | process_ended | worker_gone | upgrade_needed | corrupt | misrouted, or busy, to be sent again,
-- while an earlier exchange of this worker is still at work. Then come one entry a claimed piece of work, and each value that the work
-- needs once (step -1 is the run's input).
-- With p_careful at most one piece is claimed, and one whose values cannot be sent fails its run: no data of one run may keep a worker
-- from the others.
-- p_places, p_fates, p_waits_ms and p_max_attempts tell what became of each failure, by its place among the settlements: `retry`
-- after a wait, or the mode that was applied; p_failed_… list the runs that failed with this exchange, with step and text.
-- p_tell_… are for the worker to tell others, by flow.tell_others: queues that got due work, runs that ended, and workers that hold work
-- which was ended. Where a result was settled before, they name whatever that may have had to tell, since its reply may have been lost.
-- Waits at most half a second for a lock (55P03 then, and nothing happened).
create or replace function flow.exchange(
    p_process bigint, p_worker bigint, p_batch bigint, p_limit integer,
    p_settled_runs uuid[], p_settled_steps integer[], p_settled_tasks integer[], p_settled_batches bigint[],
    p_outcomes text[], p_outputs text[], p_errors text[], p_delays_ms bigint[],
    p_finished bigint[], p_careful boolean default false,
    out p_state text, out p_reason text, out p_more boolean, out p_verdicts text[], out p_now timestamptz,
    out p_runs uuid[], out p_steps integer[], out p_tasks integer[], out p_attempts integer[], out p_items text[],
    out p_timeouts_ms bigint[], out p_exhausted boolean[],
    out p_value_runs uuid[], out p_value_steps integer[], out p_values text[],
    out p_places bigint[], out p_fates text[], out p_waits_ms bigint[], out p_max_attempts integer[],
    out p_failed_runs uuid[], out p_failed_steps integer[], out p_failed_errors text[],
    out p_tell_queues integer[], out p_tell_runs uuid[], out p_tell_workers bigint[]
) language plpgsql set lock_timeout = '500ms' as $$
declare
    v_self flow.worker_state;
    v_results flow.result[];
    v_settled record;
    v_progress flow.progress;
    v_claimed record;
    v_claims flow.claim[];
    v_offer flow.offer;
begin
    if not (pg_try_advisory_xact_lock_shared(p_process) and pg_try_advisory_xact_lock(p_worker)) then
        p_state := 'busy';
        return;
    end if;
    -- A statement later than the locks, so that it sees whoever has ended the process before.
    v_self := flow.worker_state(p_worker);
    if v_self.process_id <> p_process and v_self.state <> 'upgrade_needed' then
        -- The worker has gone on under another process meanwhile, whose lock is not held here. What it held before is recovered.
        v_self.state := 'process_ended';
        v_self.reason := 'the worker belongs to another process by now';
    end if;
    p_state := v_self.state;
    p_reason := v_self.reason;
    if v_self.state in ('process_ended', 'worker_gone', 'upgrade_needed') then
        p_verdicts := array_fill('lost'::text, array[cardinality(p_settled_runs)]);
        return;
    end if;

    p_verdicts := '{}';
    p_more := false;
    if cardinality(p_settled_runs) > 0 then
        v_results := flow.read_results(p_settled_runs, p_settled_steps, p_settled_tasks, p_settled_batches, p_outcomes, p_outputs,
                                       p_errors, p_delays_ms);
    end if;
    if p_batch <= (select max(h.batch) from flow.hand h where h.worker_id = p_worker and h.is_exchange) then
        select * into v_claimed from flow.repeat_exchange(v_self, p_batch, v_results);
        p_verdicts := v_claimed.p_verdicts;
        v_claims := v_claimed.p_claims;
        p_more := true;
        p_now := clock_timestamp();
        select v.p_runs, v.p_steps, v.p_values into p_value_runs, p_value_steps, p_values
        from flow.shared_values(v_self, v_claims) v;
    else
        if v_results is not null then
            if v_self.state = 'ok' and not p_careful then
                -- Some slots, and now and then one of few, are for what waits in the queue: nobody's long chain may keep it waiting.
                v_offer := row(p_worker, p_batch, v_self.queue_id, v_self.flow_id, v_self.steps,
                               p_limit - greatest(p_limit / 10, (p_batch % 10 = 0)::integer), '{}');
            end if;
            select * into v_settled from flow.settle_work(v_self, v_results, v_offer);
            p_verdicts := v_settled.p_verdicts;
            v_progress := v_settled.p_progress;
            select array_agg(f.ord), array_agg(case when f.is_retried then 'retry' else f.mode::text end),
                   array_agg(case when f.is_retried then f.wait_ms end), array_agg(f.max_attempts)
            into p_places, p_fates, p_waits_ms, p_max_attempts from unnest(v_settled.p_failed) f;
            select array_agg(r.run_id), array_agg(r.error_step), array_agg(r.error)
            into p_failed_runs, p_failed_steps, p_failed_errors
            from unnest(v_progress.ended_runs) e(run_id)
            cross join lateral (
                select r.run_id, r.error_step, r.error from flow.run r
                where r.run_id = e.run_id and r.status = 'failed' offset 0
            ) r;
        end if;
        p_now := clock_timestamp();
        if v_self.state = 'ok' and p_limit > 0 then
            select * into v_claimed from flow.claim_work(
                v_self, p_batch, nullif(v_progress.handed, '{}'), p_limit - coalesce(cardinality(v_progress.handed), 0), p_careful,
                p_now);
            p_state := v_claimed.p_state;
            p_reason := v_claimed.p_reason;
            p_more := v_claimed.p_more;
            v_claims := v_claimed.p_claims;
            p_value_runs := v_claimed.p_value_runs;
            p_value_steps := v_claimed.p_value_steps;
            p_values := v_claimed.p_values;
        end if;
        perform flow.list_hand(p_worker, p_batch, v_claims, p_finished);
    end if;

    if v_claims is not null then
        select array_agg(c.run_id), array_agg(c.step_index), array_agg(c.task_index), array_agg(c.attempt),
               array_agg(c.item::text), array_agg(c.timeout_ms), array_agg(c.is_exhausted)
        into p_runs, p_steps, p_tasks, p_attempts, p_items, p_timeouts_ms, p_exhausted from unnest(v_claims) c;
    end if;
    if v_progress is not null then
        -- The own queue needs no wake-up when this exchange has left nothing visible in it.
        if v_self.state = 'ok' and not p_more and p_limit > 0 then
            v_progress.queues := array_remove(v_progress.queues, v_self.queue_id);
        end if;
        p_tell_queues := v_progress.queues;
        p_tell_runs := v_progress.ended_runs;
        p_tell_workers := v_progress.workers;
    end if;
    if 'already_settled' = any (p_verdicts) then
        p_tell_queues := p_tell_queues || array(select q.queue_id from flow.queue q where q.flow_id = v_self.flow_id);
        p_tell_runs := p_tell_runs || p_settled_runs;
    end if;
end $$;
