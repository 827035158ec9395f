-- Settle what worker p_worker has finished, then hand out up to p_limit pieces of work: work that the results have made ready on the
-- worker's queue, and work that waits there. One round trip, one commit.
-- p_batch numbers the worker's exchanges, upwards. An exchange whose reply was lost is sent again under its number, and is answered from
-- what the first call wrote. p_finished names batches of which every piece has been settled or given back.
-- The settlement arrays (p_settled_… to p_delays_ms) hold one entry a result; p_verdicts answers them as flow.settle_work does.
-- p_state is ok, or says why nothing was claimed: paused | draining | late | process_ended | worker_gone | upgrade_needed | corrupt |
-- misrouted; or busy, while an earlier exchange of this worker is running or another call has the lock of the process alone: then nothing
-- happened, and the exchange is to be sent again.
-- p_runs to p_exhausted hold one entry a claimed piece of work; p_value_… hold each value that the work needs once (step -1 is the run's
-- input).
-- With p_mark_… only messages behind those places of the queue's order are read, each in its priority; without, the whole queue. p_read_…
-- are the last places that were read, p_read_us the microseconds that reading took, and p_next_due_ms the milliseconds until the next
-- delayed work is due.
-- Suspects come before other waiting work; while a suspect must be alone in the process, nothing else is handed out.
-- With p_careful at most one piece is claimed, and when its values cannot be sent its run is failed, so that no data of one run keeps the
-- worker from other runs.
-- p_places, p_fates, p_waits_ms and p_max_attempts say what became of each failure: its place among the results, `retry` with a wait or the
-- mode that was applied, and the step's max_attempts. p_failed_… list the runs that failed with this exchange, with step and text.
-- p_tell_… are for the worker to pass to flow.tell_others: queues that got due work, runs that ended, and workers that hold work which was
-- ended. Where a result was settled before, they name everything that the earlier settlement may have had to tell, since its reply may have
-- been lost.
-- Waits at most half a second for a lock; then raises 55P03, and nothing happened.
create or replace function flow.exchange(
    p_process bigint, p_worker bigint, p_batch bigint, p_limit integer,
    p_settled_runs uuid[], p_settled_steps integer[], p_settled_tasks integer[], p_settled_batches bigint[],
    p_outcomes text[], p_outputs text[], p_errors text[], p_delays_ms bigint[],
    p_finished bigint[], p_careful boolean default false,
    p_mark_priorities smallint[] default null, p_mark_ages timestamptz[] default null, p_mark_runs uuid[] default null,
    p_mark_steps integer[] default null, p_mark_tasks integer[] default null,
    out p_state text, out p_reason text, out p_more boolean, out p_verdicts text[], out p_now timestamptz,
    out p_runs uuid[], out p_steps integer[], out p_tasks integer[], out p_attempts integer[], out p_items text[],
    out p_timeouts_ms bigint[], out p_exhausted boolean[],
    out p_value_runs uuid[], out p_value_steps integer[], out p_values text[],
    out p_places bigint[], out p_fates text[], out p_waits_ms bigint[], out p_max_attempts integer[],
    out p_failed_runs uuid[], out p_failed_steps integer[], out p_failed_errors text[],
    out p_read_priorities smallint[], out p_read_ages timestamptz[], out p_read_runs uuid[], out p_read_steps integer[],
    out p_read_tasks integer[], out p_read_us bigint, out p_next_due_ms bigint,
    out p_tell_queues integer[], out p_tell_runs uuid[], out p_tell_workers bigint[]
) language plpgsql set lock_timeout = '500ms' as $$
declare
    v_self flow.worker_state;
    v_marks flow.mark[];
    v_next_due timestamptz;
    v_results flow.result[];
    v_settled record;
    v_completed bigint[]; -- the places of the results that were settled in the usual way
    v_progress flow.progress;
    v_claimed record;
    v_claims flow.claim[];
    v_offer flow.offer;
    v_began timestamptz;
    v_looked_us bigint := 0; -- the microseconds that flow.first_waiting took
    v_is_empty boolean := false; -- flow.first_waiting found the queue empty, and this call sent nothing there
    v_suspects record; -- are_held by the process, are_waiting in the queue, one anywhere must_be_alone
    v_is_closed boolean; -- a suspect must be alone in the process
    v_found record;
begin
    if not (pg_try_advisory_xact_lock_shared(p_process) and pg_try_advisory_xact_lock(p_worker)) then
        p_state := 'busy';
        return;
    end if;
    -- This statement comes after the locks, so that it sees whoever ended the process before.
    v_self := flow.worker_state(p_worker);
    if v_self.process_id <> p_process and v_self.state <> 'upgrade_needed' then
        -- The worker belongs to another process by now, whose lock this call does not hold. What it held under the old process was
        -- recovered.
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
    if cardinality(p_mark_priorities) > 0 then
        v_marks := array(
            select row(m.priority, m.age, m.run_id, m.step_index, m.task_index)::flow.mark
            from unnest(p_mark_priorities, p_mark_ages, p_mark_runs, p_mark_steps, p_mark_tasks)
                 m(priority, age, run_id, step_index, task_index)
            order by m.priority);
    end if;
    if p_batch <= (select max(h.batch) from flow.hand h where h.worker_id = p_worker and h.is_exchange) then
        if cardinality(p_settled_runs) > 0 then
            v_results := flow.read_results(p_settled_runs, p_settled_steps, p_settled_tasks, p_settled_batches, p_outcomes, p_outputs,
                                           p_errors, p_delays_ms);
        end if;
        v_claimed := flow.repeat_exchange(v_self, p_batch, v_results);
        p_verdicts := v_claimed.p_verdicts;
        v_claims := v_claimed.p_claims;
        p_more := true;
        p_now := clock_timestamp();
        select v.p_runs, v.p_steps, v.p_values into p_value_runs, p_value_steps, p_values
        from flow.shared_values(v_self, v_claims) v;
    else
        select exists (select from flow.suspect s where s.process_id = p_process offset 0) as are_held,
               exists (select from flow.suspect s where s.queue_id = v_self.queue_id and s.process_id is null offset 0) as are_waiting,
               exists (select from flow.suspect s where s.suspect_limit = 0 offset 0) as must_be_alone
        into v_suspects;
        v_is_closed := v_suspects.must_be_alone and flow.is_closed(p_process);
        if v_self.state = 'ok' and p_limit > 0 then
            p_now := clock_timestamp();
            v_next_due := flow.move_due(v_self.queue_id, p_now);
        end if;
        if cardinality(p_settled_runs) > 0 then
            if v_self.state = 'ok' and p_limit > 0 and not p_careful and not v_is_closed then
                v_began := clock_timestamp();
                -- A queue of pgmq delivery has no order to compare new work with. A tenth of the slots, or one slot in every tenth
                -- exchange, stays free for what waits there, so that a long chain of steps cannot keep waiting work from being claimed.
                v_offer := row(p_worker, p_batch, v_self.queue_id, v_self.flow_id, v_self.steps,
                               p_limit - case when v_self.message_ids is null then 0
                                              else greatest(p_limit / 10, (p_batch % 10 = 0)::integer) end,
                               '{}', flow.first_waiting(v_self, v_marks));
                v_looked_us := extract(microseconds from clock_timestamp() - v_began);
            end if;
            if v_self.is_plain then
                v_settled := flow.settle_usual(
                    v_self, p_settled_runs, p_settled_steps, p_settled_tasks, p_settled_batches, p_outcomes, p_outputs, v_offer);
                v_progress := v_settled.p_progress;
                v_completed := v_settled.p_completed;
            end if;
            p_verdicts := array_fill('accepted'::text, array[cardinality(p_settled_runs)]);
            if cardinality(v_completed) is distinct from cardinality(p_settled_runs) then
                v_results := flow.read_results(p_settled_runs, p_settled_steps, p_settled_tasks, p_settled_batches, p_outcomes,
                                               p_outputs, p_errors, p_delays_ms);
                if v_completed is not null then
                    v_results := array(select r from unnest(v_results) r where r.ord <> all (v_completed) order by r.ord);
                    v_offer.slots := v_offer.slots - cardinality(v_progress.handed);
                end if;
                v_settled := flow.settle_work(v_self, v_results, v_offer);
                v_progress := case when v_progress is null then v_settled.p_progress
                                   else flow.join_progress(v_progress, v_settled.p_progress) end;
                p_verdicts := v_settled.p_verdicts || p_verdicts[cardinality(v_settled.p_verdicts) + 1:];
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
            if v_suspects.are_held then
                perform flow.clear_settled(v_self);
            end if;
            if v_is_closed then
                -- The results may have opened the process: it is empty now, or the suspect that had to be alone is settled.
                v_is_closed := flow.is_closed(p_process);
                v_progress.queues := v_progress.queues || array(
                    select w.queue_id from flow.worker w where w.process_id = p_process and w.stopped_at is null);
            end if;
        end if;
        p_now := clock_timestamp();
        v_claims := nullif(v_progress.handed, '{}');
        if v_self.state = 'ok' and p_limit > 0 then
            if v_results is not null or v_self.queue_id = any (v_progress.queues) then
                -- The results may have added delayed work.
                v_next_due := flow.move_due(v_self.queue_id, p_now);
            end if;
            if v_suspects.are_waiting then
                v_found := flow.claim_suspects(
                    v_self, p_batch, p_limit, coalesce(cardinality(v_claims), 0), p_careful, p_now, v_is_closed);
                v_is_closed := v_found.p_is_closed;
                v_claims := v_claims || v_found.p_claims;
                p_state := v_found.p_state;
                p_reason := v_found.p_reason;
                p_more := v_found.p_more;
            end if;
        end if;
        if p_state = 'ok' and p_limit > 0 and (v_claims is not null or not v_is_closed) then
            v_is_empty := v_offer.slots is not null and v_self.message_ids is null and v_offer.head is null
                          and v_self.queue_id <> all (v_progress.queues);
            v_claimed := flow.claim_work(
                v_self, p_batch, v_claims, case when v_is_closed then 0 else p_limit - coalesce(cardinality(v_claims), 0) end,
                p_careful and v_claims is null, v_marks, v_is_empty, p_now);
            p_state := v_claimed.p_state;
            p_reason := v_claimed.p_reason;
            p_more := p_more or v_claimed.p_more and not v_is_closed;
            v_claims := v_claimed.p_claims;
            p_value_runs := v_claimed.p_value_runs;
            p_value_steps := v_claimed.p_value_steps;
            p_values := v_claimed.p_values;
            p_read_us := v_claimed.p_read_us + v_looked_us;
            if cardinality(v_claimed.p_read) > 0 then
                select array_agg(r.priority), array_agg(r.age), array_agg(r.run_id), array_agg(r.step_index), array_agg(r.task_index)
                into p_read_priorities, p_read_ages, p_read_runs, p_read_steps, p_read_tasks from unnest(v_claimed.p_read) r;
            end if;
        end if;
        perform flow.list_hand(p_worker, p_batch, v_claims, p_finished);
    end if;

    p_next_due_ms := case when v_next_due is not null
        then ceil(extract(epoch from least(v_next_due, p_now + interval '1 d') - p_now) * 1000) end;
    if v_claims is not null then
        select array_agg(c.run_id), array_agg(c.step_index), array_agg(c.task_index), array_agg(c.attempt),
               array_agg(c.item::text), array_agg(c.timeout_ms), array_agg(c.is_exhausted)
        into p_runs, p_steps, p_tasks, p_attempts, p_items, p_timeouts_ms, p_exhausted from unnest(v_claims) c;
    end if;
    if v_progress is not null then
        -- The worker's own queue needs no notification when this exchange has left nothing due in it.
        if v_self.state = 'ok' and not p_more and p_limit > 0 and not v_is_closed then
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
