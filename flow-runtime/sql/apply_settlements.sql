-- Record how attempts of worker p_worker ended: completions first, then failures, each with everything that follows
-- from it: steps, dependents, skips, retries, runs. The arrays hold one entry a settlement.
-- p_outcomes: complete | error | permanent | undecodable | timeout | panic | lease_expired. p_delays_ms: a chosen delay before the
-- retry, else null.
-- Returns one verdict a settlement, in the order of the arrays: accepted | already_settled | lost; the queues that got
-- messages and how many; the runs that ended, and those of them that failed with step and text; the workers to tell that tasks of
-- theirs were ended; and what became of each accepted failure, by its place, as flow.fail_tasks tells.
-- Locks runs by id, then tasks, step states and messages of those runs.
create or replace function flow.apply_settlements(
    p_worker bigint, p_queue_id integer, p_queue text,
    p_runs uuid[], p_steps integer[], p_tasks integer[], p_attempts integer[],
    p_outcomes text[], p_outputs text[], p_errors text[], p_delays_ms bigint[],
    out p_verdicts text[], out p_queues integer[], out p_queued integer[], out p_ended uuid[], out p_workers bigint[],
    out p_failed_runs uuid[], out p_failed_steps integer[], out p_failed_errors text[],
    out p_places bigint[], out p_fates text[], out p_waits_ms bigint[], out p_max_attempts integer[]
) language plpgsql as $$
declare
    v_now timestamptz;
    v_read record;
    v_items flow.settlement[];
    v_completed record;
    v_ready record;
    v_advanced record;
    v_failed record;
    v_among bigint[]; -- the first settlement of each task; null when that is each settlement
    v_late bigint[];
    -- The steps that ended; of those that ended without a settlement of their own, the runs only.
    v_ended_runs uuid[];
    v_ended_steps integer[];
    v_ended_flows integer[];
    v_large_runs uuid[];
    v_large_steps integer[];
    v_large_errors text[];
begin
    p_queues := '{}';
    p_queued := '{}';
    p_ended := '{}';
    p_workers := '{}';

    perform from (select distinct u.run_id from unnest(p_runs) u(run_id) order by u.run_id) u
    cross join lateral (select from flow.run r where r.run_id = u.run_id for no key update) r;
    v_now := clock_timestamp();

    select * into v_read from flow.read_outputs(p_outputs);

    if (select count(*) from (select distinct u.* from unnest(p_runs, p_steps, p_tasks) u) d) < cardinality(p_runs) then
        -- Of several settlements of one task in a batch the first one counts.
        v_among := array(
            select min(u.ord) from unnest(p_runs, p_steps, p_tasks) with ordinality u(run_id, step_index, task_index, ord)
            group by u.run_id, u.step_index, u.task_index);
    end if;
    select * into v_completed from flow.complete_tasks(
        p_worker, p_queue_id, p_queue, v_among, p_runs, p_steps, p_tasks, p_attempts, p_outcomes, v_read.p_values,
        v_read.p_errors, v_now);
    v_ended_runs := v_completed.p_ended_runs;
    v_ended_steps := v_completed.p_ended_steps;
    v_ended_flows := v_completed.p_ended_flows;
    v_large_runs := v_completed.p_large_runs;
    v_large_steps := v_completed.p_large_steps;
    v_large_errors := v_completed.p_large_errors;
    if cardinality(v_completed.p_completed) = cardinality(p_runs) then
        p_verdicts := array_fill('accepted'::text, array[cardinality(p_runs)]);
    else
        select j.p_verdicts, j.p_accepted into p_verdicts, v_items from flow.judge_settlements(
            p_worker, p_queue_id, v_completed.p_completed, p_runs, p_steps, p_tasks, p_attempts, p_outcomes,
            v_read.p_values, p_errors, p_delays_ms, v_read.p_errors) j;
        v_late := array(select i.ord from unnest(v_items) i where i.outcome = 'complete');
        if cardinality(v_late) > 0 then
            -- A renewal had these rows at that moment; now they are locked.
            select * into v_completed from flow.complete_tasks(
                p_worker, p_queue_id, p_queue, v_late, p_runs, p_steps, p_tasks, p_attempts, p_outcomes,
                v_read.p_values, v_read.p_errors, v_now);
            v_ended_runs := v_ended_runs || v_completed.p_ended_runs;
            v_ended_steps := v_ended_steps || v_completed.p_ended_steps;
            v_ended_flows := v_ended_flows || v_completed.p_ended_flows;
            v_large_runs := v_large_runs || v_completed.p_large_runs;
            v_large_steps := v_large_steps || v_completed.p_large_steps;
            v_large_errors := v_large_errors || v_completed.p_large_errors;
            if cardinality(v_completed.p_completed) <> cardinality(v_late) then
                raise exception 'a settlement was accepted and did not complete its task' using errcode = 'WF021';
            end if;
        end if;
    end if;

    if cardinality(v_ended_runs) > 0 then
        select * into v_ready
        from flow.count_down_dependents(v_ended_runs, v_ended_steps, v_ended_flows, v_now);
        select * into v_advanced from flow.advance_steps(
            v_ready.p_started, v_ready.p_ready_runs, v_ready.p_ready_steps, v_ready.p_ready_flows, false, v_now);
        v_ended_runs := v_ended_runs || v_advanced.p_ended;
        p_queues := p_queues || v_advanced.p_queues;
        p_queued := p_queued || v_advanced.p_queued;
        if cardinality(v_advanced.p_failed_runs) > 0 then
            p_ended := p_ended || v_advanced.p_failed_runs;
            p_workers := p_workers || flow.fail_unmet_runs(v_advanced.p_failed_runs, v_advanced.p_failed_steps, v_now);
        end if;
    end if;

    if exists (select from unnest(v_items) i where i.outcome <> 'complete') then
        select * into v_failed from flow.fail_tasks(p_worker, p_queue_id, p_queue, v_items, v_now);
        v_ended_runs := v_ended_runs || v_failed.p_ended_steps;
        p_queues := p_queues || v_failed.p_queues;
        p_queued := p_queued || v_failed.p_queued;
        p_ended := p_ended || v_failed.p_ended;
        p_workers := p_workers || v_failed.p_workers;
        p_places := v_failed.p_places;
        p_fates := v_failed.p_fates;
        p_waits_ms := v_failed.p_waits_ms;
        p_max_attempts := v_failed.p_max_attempts;
        select array_agg(case when n.verdict = 'accepted' and n.ord = any (v_failed.p_lost) then 'lost'
                              else n.verdict end order by n.ord)
        into p_verdicts from unnest(p_verdicts) with ordinality n(verdict, ord);
    end if;

    if cardinality(v_large_runs) > 0 then
        p_workers := p_workers || flow.end_runs(v_large_runs, 'failed', v_large_steps, v_large_errors, v_now);
        p_ended := p_ended || v_large_runs;
    end if;
    if cardinality(v_ended_runs) > 0 then
        p_ended := p_ended || flow.finish_runs(v_ended_runs, v_now);
    end if;
    if cardinality(p_ended) > 0 then
        select array_agg(r.run_id), array_agg(r.error_step), array_agg(r.error)
        into p_failed_runs, p_failed_steps, p_failed_errors
        from unnest(p_ended) e(run_id)
        cross join lateral (
            select r.run_id, r.error_step, r.error from flow.run r
            where r.run_id = e.run_id and r.status = 'failed' offset 0
        ) r;
    end if;
end $$;
