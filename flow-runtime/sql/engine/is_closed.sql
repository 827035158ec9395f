-- Tell whether a process may claim nothing more for now, because of a suspect that must be alone (limit 0): the process holds such a
-- suspect, or such a suspect is the oldest in an unpaused queue from which one of its workers claims, and waits for the process to be
-- empty.
create or replace function flow.is_closed(p_process bigint) returns boolean language plpgsql as $$
begin
    return exists (
            select from flow.suspect s where s.process_id = p_process and s.suspect_limit = 0 offset 0)
        or exists (
            select from flow.worker w
            cross join lateral (
                select q.queue_id from flow.queue q where q.queue_id = w.queue_id and q.paused_at is null offset 0
            ) q
            cross join lateral (
                select s.suspect_limit from flow.suspect s where s.queue_id = q.queue_id and s.process_id is null
                order by s.queued_at, s.run_id, s.step_index, s.task_index limit 1
            ) s
            where w.process_id = p_process and w.stopped_at is null and w.draining_at is null and s.suspect_limit = 0
              and not exists (
                  select from flow.worker_name n where n.name = w.name and n.disabled_at is not null offset 0)
            offset 0);
end $$;
