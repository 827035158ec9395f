-- Record how attempts of a worker ended: completions first, then failures, each with everything that follows for steps, dependents, retries
-- and runs. Outcomes are complete | error | permanent | undecodable | timeout | panic | lease_expired.
-- Returns a verdict for each result, at the result's place: accepted | already_settled | lost, or busy when somebody else has locked the
-- run and the result is to be sent again. Returns also the progress that was made, with the work handed out under p_offer, and the failures
-- that were accepted.
-- Results that are all of one run wait for its lock; of several runs, the locked ones are skipped, so that none keeps the others waiting.
-- Locks runs by id, then step states, tasks and messages of those runs.
create or replace function flow.settle_work(
    p_self flow.worker_state, p_results flow.result[], p_offer flow.offer,
    out p_verdicts text[], out p_progress flow.progress, out p_failed flow.failure[]
) language plpgsql as $$
declare
    v_now timestamptz;
    v_results flow.result[]; -- results whose runs this call has locked
    v_completed record;
    v_rest flow.result[];
    v_verdicts text[]; -- the verdicts of v_rest
    v_completions flow.result[];
    v_failures flow.failure[];
    v_late record; -- completed at the second try
    v_verdict record;
    v_ended flow.step_ref[];
    v_large flow.cause[];
    v_roomy flow.step_ref[];
    v_ready record;
    v_failed record;
begin
    p_progress := row('{}', '{}', '{}', '{}', '{}');
    v_results := flow.lock_runs(p_results, (select count(distinct u.run_id) = 1 from unnest(p_results) u));
    v_now := clock_timestamp();

    v_completed := flow.complete_work(p_self, v_results, v_now);
    v_ended := v_completed.p_ended;
    v_large := v_completed.p_large;
    v_roomy := v_completed.p_roomy;
    p_verdicts := array_fill('accepted'::text, array[(select max(r.ord) from unnest(p_results) r)::integer]);
    if cardinality(v_results) < cardinality(p_results) then
        for v_verdict in
            select u.ord, case when exists (select from flow.run r where r.run_id = u.run_id offset 0) then 'busy' else 'lost' end
                as verdict
            from unnest(p_results) u
            where u.ord not in (select r.ord from unnest(v_results) r)
        loop
            p_verdicts[v_verdict.ord] := v_verdict.verdict;
        end loop;
    end if;
    if cardinality(v_completed.p_completed) < cardinality(v_results) then
        v_rest := array(select r from unnest(v_results) r where r.ord <> all (v_completed.p_completed) order by r.ord);
        select j.p_verdicts, j.p_completions, j.p_failures into v_verdicts, v_completions, v_failures
        from flow.judge_results(p_self, v_rest, flow.lock_work(v_rest)) j;
        for v_verdict in
            select r.ord, r.verdict
            from unnest(v_rest, v_verdicts) r(
                ord, run_id, step_index, task_index, batch, outcome, output, error, delay_ms, is_repeat, verdict)
        loop
            p_verdicts[v_verdict.ord] := v_verdict.verdict;
        end loop;
        if v_completions is not null then
            -- At the first try other transactions were changing these rows; flow.lock_work has locked them since.
            v_late := flow.complete_work(p_self, v_completions, v_now);
            v_ended := v_ended || v_late.p_ended;
            v_large := v_large || v_late.p_large;
            v_roomy := v_roomy || v_late.p_roomy;
            if cardinality(v_late.p_completed) <> cardinality(v_completions) then
                raise exception 'a result was accepted and did not complete its work' using errcode = 'WF021';
            end if;
        end if;
    end if;

    if cardinality(v_ended) > 0 then
        p_progress.ended_steps := array(select e.run_id from unnest(v_ended) e);
        -- A run that also has a failure in this call may end by that failure, so none of its work is handed out.
        p_offer.barred := array(select r.run_id from unnest(v_results) r where r.outcome <> 'complete');
        v_ready := flow.count_down_dependents(v_ended, p_offer, v_now);
        p_progress.handed := v_ready.p_handed;
        p_offer.slots := p_offer.slots - cardinality(v_ready.p_handed);
        p_progress := flow.join_progress(
            p_progress, flow.advance_steps(v_ready.p_started, v_ready.p_ready, p_offer, v_now));
    end if;
    if v_failures is not null then
        v_failed := flow.fail_work(v_failures, v_now);
        p_failed := v_failed.p_failed;
        p_progress := flow.join_progress(p_progress, v_failed.p_progress);
        for v_verdict in
            select f.ord from unnest(v_failures) f where f.ord not in (select g.ord from unnest(p_failed) g)
        loop
            p_verdicts[v_verdict.ord] := 'lost';
        end loop;
    end if;
    if cardinality(v_large) > 0 then
        p_progress.workers := p_progress.workers || flow.abort_runs(v_large, 'failed', v_now);
        p_progress.ended_runs := p_progress.ended_runs || array(select l.run_id from unnest(v_large) l);
    end if;
    if cardinality(v_roomy) > 0 then
        -- flow.create_tasks leaves out maps whose runs this call has ended: such a map is no longer started.
        p_progress.queues := p_progress.queues || flow.create_tasks(v_roomy, 1, v_now);
    end if;
    p_progress := flow.count_down_runs(p_progress, v_now);
    if cardinality(p_progress.ended_runs) > 0 and cardinality(p_progress.handed) > 0 then
        -- Work that this call handed out, and whose run it ended afterwards, has never reached the worker: the claim is undone.
        update flow.step_state ss
        set attempt = 0, worker_id = null, batch = null, claimed_at = null, timeout_ms = null
        from unnest(p_progress.handed) c
        cross join lateral (
            select t.ctid as row_id from flow.step_state t
            where t.run_id = c.run_id and t.step_index = c.step_index offset 0
        ) t
        where c.run_id = any (p_progress.ended_runs) and ss.ctid = t.row_id;
        p_progress.handed := array(select c from unnest(p_progress.handed) c where c.run_id <> all (p_progress.ended_runs));
    end if;
end $$;
