-- Record how attempts of worker p_worker ended: completions first, then failures, each with everything that follows
-- from it: steps, dependents, skips, retries, runs. The arrays hold one entry a settlement.
-- p_outcomes: complete | error | permanent | timeout | panic | lease_expired. p_delays_ms: a chosen delay before the
-- retry, else null.
-- Returns one verdict a settlement, in the order of the arrays: accepted | already_settled | lost; the queues that got
-- messages and how many; the runs that ended; and the workers to tell that tasks of theirs were ended.
-- Locks runs by id, then tasks, step states and messages of those runs.
create or replace function flow.apply_settlements(
    p_worker bigint, p_queue_id integer, p_queue text,
    p_runs uuid[], p_steps integer[], p_tasks integer[], p_attempts integer[],
    p_outcomes text[], p_outputs text[], p_errors text[], p_delays_ms bigint[],
    out p_verdicts text[], out p_queues integer[], out p_queued integer[], out p_ended uuid[], out p_workers bigint[]
) language plpgsql as $$
declare
    v_now timestamptz;
    v_read record;
    v_items flow.settlement[];
    v_completed record;
    v_ready record;
    v_advanced record;
    v_failed record;
    v_ended_steps uuid[] := '{}';
begin
    p_queues := '{}';
    p_queued := '{}';
    p_ended := '{}';
    p_workers := '{}';

    perform from (select distinct u.run_id from unnest(p_runs) u(run_id) order by u.run_id) u
    cross join lateral (select from flow.run r where r.run_id = u.run_id for no key update) r;
    v_now := clock_timestamp();

    select * into v_read from flow.read_outputs(p_outputs);

    -- Read and lock the tasks, and judge each settlement by its fence: status, attempt and worker.
    select array_agg(j.verdict order by j.ord),
           array_agg(row(j.ord, j.run_id, j.step_index, j.task_index, j.flow_id, j.attempt, j.row_id, j.message_id,
                         j.kind, j.outcome, j.output, j.error, j.delay_ms)::flow.settlement
                     order by j.run_id, j.step_index, j.task_index) filter (where j.verdict = 'accepted')
    into p_verdicts, v_items
    from (
        select u.ord, u.run_id, u.step_index, u.task_index, t.flow_id, u.attempt, t.row_id, t.message_id, s.kind,
               case
                   when u.outcome <> 'complete' then u.outcome
                   when u.read_error is not null then 'permanent'
                   when s.feeds_map and s.kind = 'single' and jsonb_typeof(u.output) <> 'array' then 'type_violation'
                   else 'complete'
               end as outcome,
               u.output,
               case
                   when u.outcome <> 'complete' then coalesce(u.error, u.outcome)
                   when u.read_error is not null then u.read_error
                   when s.feeds_map and s.kind = 'single' and jsonb_typeof(u.output) <> 'array' then (
                       select format('step "%s" must return an array, because map "%s" runs over it; it returned %s',
                                     s.slug, m.slug, jsonb_typeof(u.output))
                       from flow.step m where m.flow_id = t.flow_id and m.over_step = u.step_index
                       order by m.step_index limit 1)
               end as error,
               u.delay_ms,
               case
                   when h.is_held then case when row_number() over (
                           partition by u.run_id, u.step_index, u.task_index, h.is_held order by u.ord) = 1
                       then 'accepted' else 'already_settled' end
                   when (t.status in ('completed', 'failed') and t.attempt = u.attempt and t.worker_id = p_worker)
                        or exists (
                            select from flow.attempt_error e
                            where e.run_id = u.run_id and e.step_index = u.step_index
                              and e.task_index = u.task_index and e.attempt = u.attempt
                              and e.worker_id = p_worker and e.cause <> 'lease_expired')
                       then 'already_settled'
                   else 'lost'
               end as verdict
        from (
            select * from unnest(p_runs, p_steps, p_tasks, p_attempts, p_outcomes, v_read.p_values, p_errors,
                                 p_delays_ms, v_read.p_errors) with ordinality
                 u(run_id, step_index, task_index, attempt, outcome, output, error, delay_ms, read_error, ord)
            order by u.run_id, u.step_index, u.task_index, u.ord
        ) u
        left join lateral (
            select l.ctid as row_id, l.flow_id, l.status, l.attempt, l.worker_id, l.queue_id, l.message_id
            from flow.task l
            where l.run_id = u.run_id and l.step_index = u.step_index and l.task_index = u.task_index
            for update
        ) t on true
        left join lateral (
            select s.slug, s.kind, s.feeds_map, s.max_attempts from flow.step s
            where s.flow_id = t.flow_id and s.step_index = u.step_index offset 0
        ) s on true
        cross join lateral (
            -- A task handed over without attempts left has its last one on record, and can only be given up.
            select t.status = 'started' and t.attempt = u.attempt and t.worker_id = p_worker
                   and t.queue_id = p_queue_id
                   and (u.outcome = 'lease_expired' or t.attempt < s.max_attempts or not exists (
                       select from flow.attempt_error e
                       where e.run_id = u.run_id and e.step_index = u.step_index and e.task_index = u.task_index
                         and e.attempt = u.attempt)) as is_held
            offset 0
        ) h
    ) j;
    if v_items is null then
        return;
    end if;

    select * into v_completed from flow.complete_tasks(v_items, p_queue, v_now);
    if cardinality(v_completed.p_runs) > 0 then
        v_ended_steps := v_completed.p_runs;
        select * into v_ready
        from flow.count_down_dependents(v_completed.p_runs, v_completed.p_steps, v_completed.p_flows);
        select * into v_advanced
        from flow.advance_steps(v_ready.p_ready_runs, v_ready.p_ready_steps, v_ready.p_ready_flows, '{}', v_now);
        v_ended_steps := v_ended_steps || v_advanced.p_ended;
        p_queues := p_queues || v_advanced.p_queues;
        p_queued := p_queued || v_advanced.p_queued;
        if cardinality(v_advanced.p_failed_runs) > 0 then
            p_ended := p_ended || v_advanced.p_failed_runs;
            p_workers := p_workers || flow.fail_unmet_runs(v_advanced.p_failed_runs, v_advanced.p_failed_steps, v_now);
        end if;
    end if;

    if exists (select from unnest(v_items) i where i.outcome <> 'complete') then
        select * into v_failed from flow.fail_tasks(p_worker, p_queue_id, p_queue, v_items, v_now);
        v_ended_steps := v_ended_steps || v_failed.p_ended_steps;
        p_queues := p_queues || v_failed.p_queues;
        p_queued := p_queued || v_failed.p_queued;
        p_ended := p_ended || v_failed.p_ended;
        p_workers := p_workers || v_failed.p_workers;
        select array_agg(case when n.verdict = 'accepted' and n.ord = any (v_failed.p_lost) then 'lost'
                              else n.verdict end order by n.ord)
        into p_verdicts from unnest(p_verdicts) with ordinality n(verdict, ord);
    end if;

    if cardinality(v_ended_steps) > 0 then
        p_ended := p_ended || flow.finish_runs(v_ended_steps, v_now);
    end if;
end $$;
