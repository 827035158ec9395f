-- Count how far a run has come: its status, steps ended and in all, tasks ended and known so far. A single step counts as one task once it
-- has begun; a map's tasks are known once its source has ended. Reads only step states, never tasks. Returns no row when there is no such
-- run.
create or replace function flow.run_progress(p_run uuid)
returns table (status text, steps_done bigint, steps_total bigint, tasks_done bigint, tasks_known bigint)
language sql stable as $$
    select r.status::text,
           count(*) filter (where ss.ended_at is not null),
           count(*),
           coalesce(sum(case when ss.ended_at is not null then ss.task_count
                             else ss.task_count - ss.remaining_tasks end), 0),
           coalesce(sum(ss.task_count), 0)
    from flow.run r
    join flow.step_state ss on ss.run_id = r.run_id
    where r.run_id = p_run
    group by r.run_id
$$;
