-- Judge one by one the settlements that were not completed at once: failures, and whatever is late, foreign or told twice.
-- Reads and locks their tasks; status, attempt and worker are the fence. The arrays hold one entry a settlement; p_completed
-- names the completed ones, counted from 1; p_errors comes from the handler, p_read_errors says why an output cannot be taken.
-- Returns one verdict each (accepted | already_settled | lost), in the order of the arrays, and what was accepted here.
-- The caller holds the locks of the runs.
create or replace function flow.judge_settlements(
    p_worker bigint, p_queue_id integer, p_completed bigint[],
    p_runs uuid[], p_steps integer[], p_tasks integer[], p_attempts integer[],
    p_outcomes text[], p_outputs jsonb[], p_errors text[], p_delays_ms bigint[], p_read_errors text[],
    out p_verdicts text[], out p_accepted flow.settlement[]
) language plpgsql as $$
begin
    select array_agg(j.verdict order by j.ord),
           coalesce(array_agg(row(j.ord, j.run_id, j.step_index, j.task_index, j.flow_id, j.attempt, j.row_id,
                                  j.message_id, j.outcome, j.error, j.delay_ms)::flow.settlement
                              order by j.run_id, j.step_index, j.task_index)
                        filter (where j.verdict = 'accepted' and not j.is_completed), '{}')
    into p_verdicts, p_accepted
    from (
        select u.ord, u.run_id, u.step_index, u.task_index, t.flow_id, u.attempt, t.row_id, t.message_id, u.is_completed,
               case
                   when u.outcome <> 'complete' then u.outcome
                   when u.read_error is not null then 'permanent'
                   when s.feeds_map and s.kind = 'single' and jsonb_typeof(u.output) <> 'array' then 'type_violation'
                   else 'complete'
               end as outcome,
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
                   when u.is_completed then 'accepted'
                   when h.is_held then case when row_number() over (
                           partition by u.run_id, u.step_index, u.task_index, h.is_held order by u.ord) = 1
                       then 'accepted' else 'already_settled' end
                   when (t.status in ('completed', 'failed') and t.attempt = u.attempt and t.worker_id = p_worker)
                        or exists (
                            select from flow.attempt_error e
                            where e.run_id = u.run_id and e.step_index = u.step_index
                              and e.task_index = u.task_index and e.attempt = u.attempt
                              and e.worker_id = p_worker and e.cause <> 'lease_expired' offset 0)
                       then 'already_settled'
                   else 'lost'
               end as verdict
        from (
            select s.*, s.ord = any (p_completed) as is_completed
            from unnest(p_runs, p_steps, p_tasks, p_attempts, p_outcomes, p_outputs, p_errors, p_delays_ms, p_read_errors)
                 with ordinality
                 s(run_id, step_index, task_index, attempt, outcome, output, error, delay_ms, read_error, ord)
        ) u
        left join lateral (
            select l.ctid as row_id, l.flow_id, l.status, l.attempt, l.worker_id, l.queue_id, l.message_id
            from flow.task l
            where not u.is_completed and l.run_id = u.run_id and l.step_index = u.step_index and l.task_index = u.task_index
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
                         and e.attempt = u.attempt offset 0)) as is_held
            offset 0
        ) h
    ) j;
end $$;
