-- Judge one by one the results that flow.complete_work did not complete: failures, and results that are late, of another worker, or sent
-- again. p_work holds the rows of their work, in the order of the results. Status, worker and batch are the fence.
-- Returns a verdict for each result (accepted | already_settled | lost), in the order of the results; of the accepted ones, those that
-- complete their work (p_completions) and the failures with what follows from each (p_failures).
-- The caller holds the locks of the runs.
create or replace function flow.judge_results(
    p_self flow.worker_state, p_results flow.result[], p_work flow.work[],
    out p_verdicts text[], out p_completions flow.result[], out p_failures flow.failure[]
) language plpgsql as $$
begin
    with looked as (
        select u.*, s.max_attempts, s.base_delay_ms, s.max_delay_ms, s.when_exhausted,
               s.feeds_map and u.task_index < 0 and u.outcome = 'complete' and jsonb_typeof(u.output) <> 'array' as is_no_list,
               case
                   when u.status = 'started' and u.worker_id = p_self.worker_id and u.held_batch = u.batch
                        and u.queue_id = p_self.queue_id and (u.outcome = 'lease_expired' or not u.is_exhausted)
                       then case when u.is_repeat then 'already_settled' else 'accepted' end
                   when (u.status in ('completed', 'failed') and u.worker_id = p_self.worker_id and u.held_batch = u.batch)
                        or exists (
                            select from flow.attempt_error e
                            where e.run_id = u.run_id and e.step_index = u.step_index and e.task_index = u.task_index
                              and e.worker_id = p_self.worker_id and e.batch = u.batch and e.cause <> 'lease_expired'
                            offset 0)
                       then 'already_settled'
                   else 'lost'
               end as verdict
        from unnest(p_results, p_work) u(
            ord, run_id, step_index, task_index, batch, outcome, output, error, delay_ms, is_repeat,
            held_run, held_step, held_task, flow_id, row_id, status, queue_id, attempt, worker_id, held_batch, claimed_at,
            timeout_ms, is_exhausted)
        left join lateral (
            select s.max_attempts, s.base_delay_ms, s.max_delay_ms, s.when_exhausted, s.feeds_map from flow.step s
            where s.flow_id = u.flow_id and s.step_index = u.step_index offset 0
        ) s on true
    ), failed as (
        select l.*, l.attempt < l.max_attempts and not l.is_no_list and l.outcome <> 'permanent'
                   -- After a drift (types changed under an unchanged shape) a worker of the other build may be able to read the value.
                   and (l.outcome <> 'undecodable' or exists (
                       select from flow.flow f where f.flow_id = l.flow_id and f.drifted_at is not null)) as is_retried
        from looked l
        where l.verdict = 'accepted' and (l.outcome <> 'complete' or l.is_no_list)
    )
    select (select array_agg(l.verdict order by l.ord) from looked l),
           (select array_agg(row(l.ord, l.run_id, l.step_index, l.task_index, l.batch, l.outcome, l.output, l.error, l.delay_ms,
                                 l.is_repeat)::flow.result order by l.ord)
            from looked l where l.verdict = 'accepted' and l.outcome = 'complete' and not l.is_no_list),
           (select array_agg(row(
                f.ord, f.run_id, f.step_index, f.task_index, f.flow_id, f.row_id, f.queue_id, f.worker_id, f.batch, f.attempt,
                case when f.is_no_list or (f.outcome = 'undecodable' and not f.is_retried) then 'permanent'
                     when f.outcome = 'undecodable' then 'error'
                     else f.outcome end,
                case when f.is_no_list then (
                         select format('step "%s" must return an array, because map "%s" runs over it; it returned %s', s.slug,
                                       m.slug, jsonb_typeof(f.output))
                         from flow.step s
                         join flow.step m on m.flow_id = s.flow_id and m.over_step = s.step_index
                         where s.flow_id = f.flow_id and s.step_index = f.step_index order by m.step_index limit 1)
                     -- Exhausted work fails with the error of its last attempt, which is recorded already.
                     else coalesce((
                         select e.error from flow.attempt_error e
                         where f.outcome = 'lease_expired' and e.run_id = f.run_id and e.step_index = f.step_index
                           and e.task_index = f.task_index and e.attempt = f.attempt and e.cause <> 'lease_expired' limit 1),
                         left(f.error, 10000)) end,
                f.is_exhausted, f.is_retried,
                -- The wait is at most a year (in milliseconds), whatever a handler asks for.
                least(coalesce(f.delay_ms, floor(flow.retry_delay(f.base_delay_ms, f.max_delay_ms, f.attempt)
                                                 * (1 + random() * 0.1))::bigint), 31536000000),
                f.max_attempts, case when f.is_no_list then 'fail' else f.when_exhausted end)::flow.failure
                order by f.run_id, f.step_index, f.task_index)
            from failed f)
    into p_verdicts, p_completions, p_failures;
end $$;
