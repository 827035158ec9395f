-- Copy the step states of run p_old into run p_new, which retries it.
-- Steps that were completed or skipped are taken over with their tasks and attempt errors. Of a map that did not end so, the completed
-- tasks are taken over. A step that had begun becomes started, and flow.requeue_work queues the rest of its work; every other step is
-- created anew.
-- Copied rows are dated p_now, the instant of the copy. p_due_at is when the new run is due, which is the age of its steps.
-- The caller holds the old run's lock.
create or replace function flow.copy_steps(p_old uuid, p_new uuid, p_due_at timestamptz, p_now timestamptz)
returns void language plpgsql as $$
begin
    insert into flow.step_state (
        run_id, step_index, flow_id, age, remaining_deps, remaining_tasks, task_count, uncreated_tasks, taken_from, status, skip_reason, started_at, ended_at,
        queued_at, queue_id, priority, attempt, worker_id, batch, claimed_at, error, output)
    select p_new, o.step_index, o.flow_id, p_due_at,
           (select count(*) from unnest(s.dependencies) d(step_index)
            cross join lateral (
                select from flow.step_state od
                where od.run_id = p_old and od.step_index = d.step_index
                  and od.status not in ('completed', 'skipped') offset 0) od),
           case when o.ended_well or o.is_large then o.remaining_tasks
                when o.task_count is not null then o.task_count - (
                    select count(*) from flow.task t
                    where t.run_id = p_old and t.step_index = o.step_index and t.status = 'completed') end,
           o.task_count,
           case when o.is_large then o.uncreated_tasks else 0 end,
           case when o.is_large then p_old end,
           case when o.ended_well then o.status when o.task_count is not null then 'started' else 'created' end,
           o.skip_reason,
           case when o.started_at is not null and (o.ended_well or o.task_count is not null) then p_now end,
           case when o.ended_well then p_now end,
           case when o.ended_well and o.queued_at is not null then p_now end,
           case when o.ended_well then o.queue_id end,
           case when o.ended_well then o.priority end,
           case when o.ended_well then o.attempt else 0 end,
           case when o.ended_well then o.worker_id end,
           case when o.ended_well then o.batch end,
           case when o.ended_well and o.claimed_at is not null then p_now end,
           case when o.ended_well then o.error end,
           o.output
    from (select ss.*, ss.status in ('completed', 'skipped') as ended_well, ss.task_count > flow.large_map() as is_large
          from flow.step_state ss where ss.run_id = p_old offset 0) o
    cross join lateral (
        select s.dependencies from flow.step s
        where s.flow_id = o.flow_id and s.step_index = o.step_index offset 0
    ) s;

    insert into flow.task (
        run_id, step_index, task_index, flow_id, queue_id, priority, age, attempt, queued_at, status, worker_id, batch, claimed_at,
        ended_at, item, output)
    select p_new, t.step_index, t.task_index, t.flow_id, t.queue_id, t.priority, t.age, t.attempt, p_now, t.status, t.worker_id,
           t.batch, case when t.claimed_at is not null then p_now end, p_now, t.item, t.output
    from flow.step_state ss
    cross join lateral (
        select t.* from flow.task t
        where t.run_id = p_old and t.step_index = ss.step_index
          and (t.status = 'completed' or ss.status = 'skipped') offset 0
    ) t
    -- The completed tasks of a large map stay with the old run and count from there (taken_from).
    where ss.run_id = p_new and ss.task_count <= flow.large_map();

    insert into flow.attempt_error (
        run_id, step_index, task_index, worker_id, batch, attempt, cause, error, at, used_attempt, process_id, company, suspect_limit)
    select p_new, e.step_index, e.task_index, e.worker_id, e.batch, e.attempt, e.cause, e.error, e.at, e.used_attempt, e.process_id,
           e.company, e.suspect_limit
    from (
        select ss.step_index, -1 as task_index from flow.step_state ss
        where ss.run_id = p_new and ss.status in ('completed', 'skipped') and ss.queued_at is not null
        union all
        select t.step_index, t.task_index from flow.task t where t.run_id = p_new
    ) w
    cross join lateral (
        select e.* from flow.attempt_error e
        where e.run_id = p_old and e.step_index = w.step_index and e.task_index = w.task_index offset 0
    ) e;
end $$;
