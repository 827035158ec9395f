-- Record the attempts among p_items that did not succeed: queue the task again while attempts are left and the failure
-- allows it, else fail it and do as the step's `when_exhausted` says. A type violation always fails the run.
-- Returns the run of each step that ended by a skip, the queues that got messages, the runs that failed, the workers
-- to tell, the places (`ord`) of settlements whose task an earlier item of the same batch had ended, and what became of each
-- failure, by its place: `retry` with the wait, or the mode that was applied, and how many attempts its step allows.
-- The caller holds the locks of runs and tasks.
create or replace function flow.fail_tasks(
    p_worker bigint, p_queue_id integer, p_queue text, p_items flow.settlement[], p_now timestamptz,
    out p_ended_steps uuid[], out p_queues integer[], out p_queued integer[], out p_ended uuid[],
    out p_workers bigint[], out p_lost bigint[],
    out p_places bigint[], out p_fates text[], out p_waits_ms bigint[], out p_max_attempts integer[]
) language plpgsql as $$
declare
    v_failures flow.failure[];
    v_messages bigint[];
    v_until timestamptz[];
    v_due integer;
    v_steps integer[];
    v_errors text[];
    v_skipped record;
begin
    p_ended_steps := '{}';
    p_queues := '{}';
    p_queued := '{}';
    p_ended := '{}';
    p_workers := '{}';

    with judged as (
        select i.*, case when i.outcome = 'type_violation' then 'fail' else s.when_exhausted end as mode,
               s.max_attempts,
               i.attempt < s.max_attempts and i.outcome not in ('permanent', 'type_violation')
                   -- While types have changed under an unchanged shape, a worker of the other build may be able to read the value.
                   and (i.outcome <> 'undecodable' or exists (
                       select from flow.flow f where f.flow_id = i.flow_id and f.drifted_at is not null)) as is_retried,
               -- A task without attempts left that was handed over still carries the error of its last one.
               coalesce((select e.error from flow.attempt_error e
                         where i.outcome = 'lease_expired' and e.run_id = i.run_id and e.step_index = i.step_index
                           and e.task_index = i.task_index and e.attempt = i.attempt
                           and e.cause <> 'lease_expired'), left(i.error, 10000)) as reason,
               -- At most a year, whatever a handler asks for.
               least(coalesce(i.delay_ms, floor(flow.retry_delay(s.base_delay_ms, s.max_delay_ms, i.attempt)
                                                * (1 + random() * 0.1))::bigint), 31536000000) as wait_ms
        from unnest(p_items) i
        cross join lateral (
            select s.* from flow.step s where s.flow_id = i.flow_id and s.step_index = i.step_index offset 0
        ) s
        where i.outcome <> 'complete'
    ), ended as (
        update flow.task t
        set status = case when j.is_retried then 'queued' else 'failed' end::flow.task_status,
            worker_id = case when not j.is_retried then t.worker_id end,
            started_at = case when not j.is_retried then t.started_at end,
            ended_at = case when not j.is_retried then p_now end,
            lease_until = null
        from judged j
        where t.ctid = j.row_id and t.status = 'started'
        returning row(j.ord, j.run_id, j.step_index, j.task_index, j.flow_id, j.attempt, j.message_id,
                      case when j.outcome = 'type_violation' or (j.outcome = 'undecodable' and not j.is_retried)
                               then 'permanent'
                           when j.outcome = 'undecodable' then 'error'
                           else j.outcome end,
                      j.reason, j.is_retried, j.wait_ms, j.mode)::flow.failure as failure,
                  j.max_attempts
    )
    select coalesce(array_agg(e.failure), '{}'), array_agg((e.failure).ord),
           array_agg(case when (e.failure).is_retried then 'retry' else (e.failure).mode::text end),
           array_agg(case when (e.failure).is_retried then (e.failure).wait_ms end), array_agg(e.max_attempts)
    into v_failures, p_places, p_fates, p_waits_ms, p_max_attempts
    from ended e;

    select array_agg(l.ord) into p_lost
    from (select i.ord from unnest(p_items) i where i.outcome <> 'complete'
          except select f.ord from unnest(v_failures) f) l;

    insert into flow.attempt_error (run_id, step_index, task_index, attempt, cause, error, worker_id, at)
    select f.run_id, f.step_index, f.task_index, f.attempt, f.cause, f.error, p_worker, p_now
    from unnest(v_failures) f
    on conflict (run_id, step_index, task_index, attempt) do nothing;

    select array_agg(f.message_id), array_agg(p_now + f.wait_ms * interval '1 ms'),
           count(*) filter (where f.wait_ms = 0)
    into v_messages, v_until, v_due
    from unnest(v_failures) f where f.is_retried;
    if v_messages is not null then
        perform flow.queue_hide(p_queue, v_messages, v_until);
        if v_due > 0 then
            p_queues := p_queues || p_queue_id;
            p_queued := p_queued || v_due;
        end if;
    end if;

    select array_agg(f.message_id) into v_messages from unnest(v_failures) f where not f.is_retried;
    if v_messages is null then
        return;
    end if;
    perform flow.queue_remove(p_queue, v_messages);

    select coalesce(array_agg(f.run_id), '{}'), array_agg(f.step_index), array_agg(f.error)
    into p_ended, v_steps, v_errors
    from (
        select distinct on (f.run_id) f.run_id, f.step_index, f.error
        from unnest(v_failures) f where not f.is_retried and f.mode = 'fail'
        order by f.run_id, f.step_index, f.task_index
    ) f;
    if cardinality(p_ended) > 0 then
        -- Each step that failed says so, the run names the lowest one.
        update flow.step_state ss
        set status = 'failed', error = e.error, ended_at = p_now
        from (
            select distinct on (f.run_id, f.step_index) f.run_id, f.step_index, f.error
            from unnest(v_failures) f where not f.is_retried and f.mode = 'fail'
            order by f.run_id, f.step_index, f.task_index
        ) e
        cross join lateral (
            select t.ctid as row_id from flow.step_state t
            where t.run_id = e.run_id and t.step_index = e.step_index and t.status = 'started' offset 0
        ) t
        where ss.ctid = t.row_id;
        p_workers := flow.end_runs(p_ended, 'failed', v_steps, v_errors, p_now);
    end if;

    v_failures := array(select f from unnest(v_failures) f
                        where not f.is_retried and f.mode <> 'fail' and f.run_id <> all (p_ended));
    if cardinality(v_failures) > 0 then
        select * into v_skipped from flow.skip_failed_steps(v_failures, p_now);
        p_ended_steps := v_skipped.p_ended_steps;
        p_queues := p_queues || v_skipped.p_queues;
        p_queued := p_queued || v_skipped.p_queued;
        p_ended := p_ended || v_skipped.p_ended;
        p_workers := p_workers || v_skipped.p_workers;
    end if;
end $$;
